"""One arm on one problem: what an engine is given, what becomes of it, and the round's result."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from pickbest.core.checks import check_count, check_not_negative, check_positive
from pickbest.core.codec import EXCLUDED, SPARSE


class RunStatus(StrEnum):
    """What a run amounts to.

    FINISHED: it ended on its own in time. TIMEOUT: the deadline stopped it. STOPPED: it was
    stopped because another arm had answered, so its cost is not known (censored). CRASHED:
    it failed (cost 1, with the reason). BROKEN: the arm is set up wrongly: it cannot start, or
    what it gives is not what the cost needs (cost 1, with the reason). NO_ANSWER: it ended by
    itself, and says that it does not know, or nothing. WRONG: its answer is refuted: a model that
    is none, or a check of the user's refuses it.
    """

    FINISHED = "finished"
    TIMEOUT = "timeout"
    STOPPED = "stopped"
    CRASHED = "crashed"
    BROKEN = "broken"
    NO_ANSWER = "no answer"
    WRONG = "wrong"


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where an arm runs, and with what around it.

    env: variables in addition to the usual ones.
    cores: how many a cluster reserves for it.
    after: seconds for which it lets the others go first; it starts earlier if they have all ended,
        and not at all if one of them has answered.
    """

    cwd: str | None = None
    env: tuple[tuple[str, str], ...] = ()
    cores: int = 1
    after: float = 0.0

    def __post_init__(self) -> None:
        check_count("cores", self.cores)


@dataclass(frozen=True)
class Limits:
    """What each arm may use; None: as much as it likes.

    memory_bytes, cpu_seconds, processes: of all processes of an arm together, see
        `engine.tree`. memory_bytes is also the most that each process can ask for (RLIMIT_AS),
        so that one that asks for too much is told so.
    grace: seconds between SIGTERM and SIGKILL when it is stopped; 0: SIGKILL at once.
    """

    memory_bytes: int | None = None
    cpu_seconds: float | None = None
    processes: int | None = None
    grace: float = 0.0

    def __post_init__(self) -> None:
        check_not_negative("grace", self.grace)
        for each in fields(self):
            if each.name != "grace" and (value := getattr(self, each.name)) is not None:
                check_positive(each.name, value)

    @property
    def of_the_tree(self) -> bool:
        """Whether anything is limited that all processes of an arm use together."""
        return any((self.memory_bytes, self.cpu_seconds, self.processes))


@dataclass(frozen=True)
class Task(Place):
    """One arm to run on one problem, as an engine takes it.

    argv: the command line; or, where it is None,
    call: a pickled (function, arguments) pair.
    preload: modules that the function needs, each with the folder where it may lie (""
        where it is installed); they are imported once and not for every run.
    pass_env: names of variables of this process that it also gets, see
        `engine.engines.environment`.
    spool: a file for all of its standard output once that is long; "": only the end is kept.
    """

    arm: str
    deadline: float
    argv: tuple[str, ...] | None = None
    call: bytes | None = None
    preload: tuple[tuple[str, str], ...] = ()
    pass_env: tuple[str, ...] = ()
    spool: str = ""
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True, repr=False)
class Run:
    """One arm's part in a round, from the engine to the journal; no process of it is left.

    An engine reports how it ended (FINISHED, TIMEOUT, STOPPED, BROKEN), the seconds, and why
    it could not start or what a function raised; judging adds the cost, the value and the
    final status. What the journal keeps and JSON shows are the fields up to `price`. Costs,
    checks and answer formats are given a Run; `lines`, `text` and `number` read its output.

    cost: None while it is not known: before judging, and for good where the run was stopped
        early; then it lies within `bounds`.
    value: the number in the answer, where a quality cost or the format "number" read one.
    verdict: the answer in one word on which all arms must agree: SAT, UNSAT; "": none.
    checked: the model was held against the problem, and holds.
    price: of the call, where calls have one.
    problem: what it was run on. program: the first word of a command.
    answer: what a function returned, or (once judged) what a command wrote to standard output.
    accepted: whether the answer may win the round; ends_race: whether nobody need go on then.
    exit_code: negative: the signal that ended it.
    truncated: stdout is only the end of the output; spool: the file that holds all of it, unless
        there was no room for one.
    """

    arm: str
    status: RunStatus
    cost: float | None = None
    seconds: float = 0.0
    reason: str = ""
    value: float | None = None
    verdict: str = field(default="", metadata=SPARSE)
    checked: bool = field(default=False, metadata=SPARSE)
    price: float | None = field(default=None, metadata=SPARSE)
    problem: Any = field(default=None, metadata=EXCLUDED)
    program: str = field(default="", metadata=EXCLUDED)
    answer: Any = field(default=None, metadata=EXCLUDED)
    bounds: tuple[float, float] = field(default=(0.0, 1.0), metadata=EXCLUDED)
    accepted: bool = field(default=False, metadata=EXCLUDED)
    ends_race: bool = field(default=False, metadata=EXCLUDED)
    exit_code: int | None = field(default=None, metadata=EXCLUDED)
    stdout: str = field(default="", metadata=EXCLUDED)
    stderr: str = field(default="", metadata=EXCLUDED)
    truncated: bool = field(default=False, metadata=EXCLUDED)
    spool: str = field(default="", metadata=EXCLUDED)
    cpu_seconds: float = field(default=0.0, metadata=EXCLUDED)

    @property
    def low(self) -> float:
        """The lowest cost that it can have had."""
        return self.bounds[0] if self.cost is None else self.cost

    @property
    def high(self) -> float:
        """The highest cost that it can have had."""
        return self.bounds[1] if self.cost is None else self.cost

    def __repr__(self) -> str:
        cost = "" if self.cost is None else f"cost {self.cost:.4g}"
        checked, took = "model checked" if self.checked else "", f"{self.seconds:.3g} s"
        told = (self.status.value, self.verdict, checked, took, cost, self.reason)
        return f"Run({self.arm}: {', '.join(filter(None, told))})"

    def lines(self) -> Iterator[bytes]:
        """All of a command's output, line by line, without the ends of lines."""
        if self.spool:
            with open(self.spool, "rb") as file:
                for line in file:
                    yield line.rstrip(b"\r\n")
        else:
            yield from self.stdout.encode(errors="replace").splitlines()

    @property
    def text(self) -> str:
        """All of a command's output."""
        if not self.spool:
            return self.stdout
        return Path(self.spool).read_text(encoding="utf-8", errors="replace")

    @property
    def is_whole(self) -> bool:
        """Whether all of a command's output is there: on a full disk, only its end is."""
        return not self.truncated or bool(self.spool)

    @property
    def last_line(self) -> str:
        """The last line that a command wrote, or what a function returned."""
        said = self.stdout if self.answer is None else str(self.answer)
        return (said.strip().splitlines() or [""])[-1]

    @property
    def last_error(self) -> str:
        """The last line on standard error, where exceptions say what they are."""
        return (self.stderr.strip().splitlines() or [""])[-1][:200]

    @property
    def number(self) -> float | None:
        """The number in an answer: a function's value, or the last line of a command's output."""
        if self.answer is None:
            return _number(self.last_line) if _NUMBER.fullmatch(self.last_line.strip()) else None
        return _number(self.answer)

    def kept(self) -> Run:
        """As the journal keeps it: equal to what is read back."""
        seconds = round(self.seconds, 6)
        told = (self.arm, self.status, self.cost, seconds, self.reason, self.value)
        return Run(*told, self.verdict, self.checked, self.price)


_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


def _number(data: Any) -> float | None:
    try:
        number = float(data)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


# Whether a run that has ended ends those of the others; whether all of them are to be ended.
EndsRace = Callable[[Run], bool]
GivenUp = Callable[[], bool]


def contradictions(problem: Any, runs: Sequence[Run]) -> tuple[str, ...]:
    """Which arms cannot both be right about a problem, in words."""
    said = [run for run in runs if run.verdict]
    # A verdict that a model proves is held against the others; one that is refuted is not.
    said.sort(key=lambda run: (run.status is RunStatus.WRONG, not run.checked))
    return tuple(
        f"{problem}: {run.verdict} by {run.arm} contradicts {said[0].verdict} by {said[0].arm}"
        for run in said[1:]
        if run.verdict != said[0].verdict
    )


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """A round that is over, journalled before anyone sees it.

    winner: the arm with the best answer; None when no arm gave an acceptable one.
    output: the file with all of the winner's output, where that is longer than its answer here.
    contradictions: which of its arms cannot both be right, in words.
    """

    round: int
    problem: Any
    winner: str | None
    cost: float | None
    seconds: float
    answer: Any
    runs: tuple[Run, ...]
    output: str = field(default="", metadata=SPARSE)
    contradictions: tuple[str, ...] = field(default=(), metadata=SPARSE)

    @property
    def verdict(self) -> str:
        """The winner's verdict."""
        return next((run.verdict for run in self.runs if run.arm == self.winner), "")

    def __repr__(self) -> str:
        won = f"won by {self.winner}" if self.winner else "not solved"
        told = [self.verdict, won, f"{self.seconds:.3g} s", *map(repr, self.runs)]
        disputed = f", {len(self.contradictions)} contradictions" if self.contradictions else ""
        return f"Result({self.problem!r:.80}: {', '.join(filter(None, told))}{disputed})"

    @property
    def solved(self) -> bool:
        """Whether any arm gave an acceptable answer."""
        return self.winner is not None

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms that were picked."""
        return tuple(run.arm for run in self.runs)
