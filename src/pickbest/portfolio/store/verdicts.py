"""What arms said of problems, and who contradicts whom, in one round or across rounds."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from pickbest.core import PickbestError
from pickbest.core.codec import decode, encode, plain
from pickbest.core.savefile import Arrays
from pickbest.portfolio.runs import Run, RunStatus

# More of them say nothing new; they are counted all the same.
MOST_KEPT = 1000


@dataclass(frozen=True, slots=True)
class Said:
    """A verdict of an arm; checked: a model proves it."""

    verdict: str
    arm: str
    round: int
    checked: bool = False

    def __str__(self) -> str:
        proved = ", its model holds" if self.checked else ""
        return f"{self.verdict} by {self.arm} (round {self.round}{proved})"


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two arms that cannot both be right about a problem; `second` spoke later."""

    problem: str
    first: Said
    second: Said

    def __str__(self) -> str:
        return f"{self.problem}: {self.second} contradicts {self.first}"

    @property
    def rounds(self) -> tuple[int, int]:
        return self.first.round, self.second.round


class Verdicts:
    """The first verdict on each problem (a proved one replaces it), and what contradicts it.

    Problems are known by a digest of their names, so that many of them take little room.
    """

    def __init__(self) -> None:
        self.count = 0
        self.found: list[Contradiction] = []
        self._known: dict[int, Said] = {}

    def note(self, problem: str, number: int, runs: Iterable[Run]) -> None:
        """Take in a round; a problem without a name is not known again."""
        known = self._known if problem else {}
        key = int.from_bytes(blake2b(encode(problem).encode(), digest_size=8).digest(), signed=True)
        # A verdict that is refuted is held against the others, but nothing is held against it.
        for run in sorted(runs, key=lambda run: run.status is RunStatus.WRONG):
            if not run.verdict:
                continue
            said = Said(run.verdict, run.arm, number, run.checked)
            before = known.get(key)
            if before is not None and before.verdict != said.verdict:
                self.count += 1
                if len(self.found) < MOST_KEPT:
                    self.found.append(Contradiction(problem, before, said))
            proves = said.checked and before is not None and not before.checked
            if run.status is not RunStatus.WRONG and (before is None or proves):
                known[key] = said

    def of_round(self, number: int) -> tuple[Contradiction, ...]:
        """Those in which a round has a part."""
        return tuple(each for each in self.found if number in each.rounds)

    def stored(self) -> tuple[dict[str, Any], Arrays]:
        """As data: what is said, and on which problem in which round."""
        words: dict[tuple[str, str, bool], int] = {}
        places = [
            words.setdefault((said.verdict, said.arm, said.checked), len(words))
            for said in self._known.values()
        ]
        arrays = {
            "verdicts/problems": np.array(list(self._known), dtype=np.int64),
            "verdicts/rounds": np.array([s.round for s in self._known.values()], dtype=np.int64),
            "verdicts/words": np.array(places, dtype=np.int64),
        }
        header = {"count": self.count, "found": plain(self.found), "words": [*map(list, words)]}
        return header, arrays

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        """Take over what `stored` gave; raises where it does not fit."""
        self.count = header["count"]
        self.found = [decode(Contradiction, encode(each)) for each in header["found"]]
        columns = [arrays[f"verdicts/{name}"].tolist() for name in ("problems", "rounds", "words")]
        words = header["words"]
        if any(not 0 <= place < len(words) for place in columns[2]):
            raise PickbestError("a verdict is not among those that were said")
        for key, number, place in zip(*columns, strict=True):
            verdict, arm, checked = words[place]
            self._known[key] = Said(verdict, arm, number, checked)
