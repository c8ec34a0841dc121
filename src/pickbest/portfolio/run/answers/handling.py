"""What a race needs to know of answers: how they are read and checked, and where they are kept."""

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from pickbest.portfolio.run.answers.reading import (
    AnswerFormat,
    BadAnswerError,
    Evaluate,
    RejectedError,
    unevaluated,
)
from pickbest.portfolio.runs import Run, RunStatus


class Outputs:
    """The files of a portfolio's long outputs.

    beside: the file of the journal; None: what is kept is kept until `close` only.
    """

    def __init__(self, beside: Path | None = None) -> None:
        self._spools = tempfile.TemporaryDirectory(prefix="pickbest-")
        self._kept = beside and beside.with_name(f"{beside.name}.outputs")

    def spool(self, number: int, place: int) -> str:
        """Where the output of a round's arm goes once it is long."""
        return os.path.join(self._spools.name, f"{number}-{place}")

    def keep(self, number: int, winner: Run | None, runs: Iterable[Run]) -> str:
        """Keep the winner's output, where it has a file, and remove the others': its place.

        What speaks against the winner, or was found wrong, is evidence: it is kept, too, however
        short it is.
        """
        for run in runs:
            if run is winner:
                continue
            disputed = run.verdict and winner is not None and run.verdict != winner.verdict
            if self._kept is not None and (disputed or run.status is RunStatus.WRONG):
                self._kept_file(number, run)
            if run.spool:
                with contextlib.suppress(OSError):
                    os.unlink(run.spool)
        return self._kept_file(number, winner) if winner is not None and winner.spool else ""

    def _kept_file(self, number: int, run: Run) -> str:
        """The output of a run, beside the journal where there is one."""
        if self._kept is None:
            return run.spool
        name = re.sub(r"[^\w.+-]", "_", run.arm)[:80]
        kept = self._kept / f"{number}-{name}.txt"
        try:
            self._kept.mkdir(mode=0o700, exist_ok=True)
            if run.spool:
                return str(shutil.move(run.spool, kept))
            kept.touch(0o600)
            kept.write_text(run.stdout, encoding="utf-8", errors="replace")
            return str(kept)
        except OSError:  # the journal still has the beginning and the end
            return run.spool

    def close(self) -> None:
        self._spools.cleanup()


def abridged(path: str, longest: int) -> str:
    """The text of a file; where it is long, its beginning and its end."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        if size <= longest:
            return file.read().decode(errors="replace")
        head = file.read(longest // 2)
        file.seek(size - longest // 2)
        tail = file.read()
    left_out = size - len(head) - len(tail)
    middle = f"\n… {left_out} bytes are left out here …\n"
    return head.decode(errors="replace") + middle + tail.decode(errors="replace")


# A run to: True or None (fine), False or the reason (refused). RejectedError refuses as well.
Check = Callable[[Run], bool | str | None]


@dataclass(frozen=True)
class Answers:
    """How a race reads, checks and keeps answers.

    format: for arms that have none of their own; None: guessed from the problem's name.
    check: a function of the user that may refuse an answer.
    wanted: how many answers end a race that is stopped at the first one.
    """

    format: AnswerFormat | None = None
    check: Check | None = None
    evaluate: Evaluate = unevaluated
    outputs: Outputs = field(default_factory=Outputs)
    wanted: int = 1

    def check_answer(self, run: Run) -> None:
        """RejectedError where the user's check refuses an answer."""
        try:
            said = None if self.check is None else self.check(run)
        except RejectedError:
            raise
        except Exception as error:
            raise BadAnswerError(f"the check failed: {error!r}") from error
        if said is False or isinstance(said, str):
            raise RejectedError(said or "the check refuses it")
