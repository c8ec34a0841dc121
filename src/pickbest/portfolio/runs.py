"""One arm on one problem: what an engine is given, what becomes of it, and the round's result."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pickbest.core.codec import EXCLUDED, SPARSE
from pickbest.portfolio.processes.limits import Ceiling


class RunStatus(StrEnum):
    """What a run amounts to.

    FINISHED: it ended by itself in time. TIMEOUT: the deadline stopped it. STOPPED: it was
    stopped because another arm had answered, so its cost is not known (censored). CRASHED:
    it failed (cost 1, with the reason). BROKEN: the arm is set up wrongly: it cannot start, or
    what it gives is not what the cost needs (cost 1, with the reason).
    """

    FINISHED = "finished"
    TIMEOUT = "timeout"
    STOPPED = "stopped"
    CRASHED = "crashed"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Task:
    """One arm to run on one problem, as an engine takes it.

    argv: the command line; or, where it is None,
    call: a pickled (function, arguments) pair.
    preload: modules that the function needs, imported once and not for every run.
    env: variables beside the usual ones; pass_env: names of variables of this process that it
        gets too, see `engines.environment`.
    memory_bytes, cpu_seconds, processes: limits of all of its processes together.
    output_bytes: how much of the end of its output is kept.
    answer_bytes: how long what a function returns may be, as it is sent; see `processes.values`.
    grace: seconds between SIGTERM and SIGKILL when it is stopped; 0: SIGKILL at once.
    cores: how many a cluster reserves for it, and to how many it is bound if it is pinned.
    """

    arm: str
    deadline: float
    argv: tuple[str, ...] | None = None
    call: bytes | None = None
    preload: tuple[str, ...] = ()
    cwd: str | None = None
    env: tuple[tuple[str, str], ...] = ()
    pass_env: tuple[str, ...] = ()
    memory_bytes: int | None = None
    cpu_seconds: float | None = None
    processes: int | None = None
    output_bytes: int = 65_536
    answer_bytes: int = 16 * 1024**2
    grace: float = 0.0
    cores: int = 1
    pin: bool = False

    @property
    def ceiling(self) -> Ceiling:
        """What all of its processes may use together."""
        return Ceiling(self.memory_bytes, self.cpu_seconds, self.processes)


@dataclass(frozen=True, slots=True)
class Run:
    """One arm's part in a round, from the engine to the journal; no process of it is left.

    An engine reports how it ended (FINISHED, TIMEOUT, STOPPED, BROKEN), the seconds, and why
    it could not start or what a function raised; judging adds the cost, the value and the
    final status. What the journal keeps and JSON shows are the first six fields, and `limits`.

    cost: None while it is not known: before judging, and for good where the run was stopped
        early; then it lies within `bounds`.
    value: the number that a quality cost read from the answer.
    limits: how limits of the arm or of the race were kept to ("cgroup v2", "polling"); "": there
        were none.
    answer: what a function returned, or (once judged) what a command wrote to standard output.
    accepted: whether the answer may win the round; ends_race: whether nobody need go on then.
    exit_code: negative: the signal that ended it. truncated: only the end of the output is here.
    """

    arm: str
    status: RunStatus
    cost: float | None = None
    seconds: float = 0.0
    reason: str = ""
    value: float | None = None
    limits: str = field(default="", metadata=SPARSE)
    answer: Any = field(default=None, metadata=EXCLUDED)
    bounds: tuple[float, float] = field(default=(0.0, 1.0), metadata=EXCLUDED)
    accepted: bool = field(default=False, metadata=EXCLUDED)
    ends_race: bool = field(default=False, metadata=EXCLUDED)
    exit_code: int | None = field(default=None, metadata=EXCLUDED)
    stdout: str = field(default="", metadata=EXCLUDED)
    stderr: str = field(default="", metadata=EXCLUDED)
    truncated: bool = field(default=False, metadata=EXCLUDED)
    cpu_seconds: float = field(default=0.0, metadata=EXCLUDED)
    peak_bytes: int = field(default=0, metadata=EXCLUDED)

    @property
    def low(self) -> float:
        """The lowest cost that it can have had."""
        return self.bounds[0] if self.cost is None else self.cost

    @property
    def high(self) -> float:
        """The highest cost that it can have had."""
        return self.bounds[1] if self.cost is None else self.cost

    def kept(self) -> Run:
        """As the journal keeps it: equal to what is read back."""
        seconds = round(self.seconds, 6)
        return Run(self.arm, self.status, self.cost, seconds, self.reason, self.value, self.limits)


@dataclass(frozen=True, slots=True)
class Result:
    """A round that is over, journalled before anyone sees it.

    winner: the arm with the best answer; None when no arm gave an acceptable one.
    """

    round: int
    problem: Any
    winner: str | None
    cost: float | None
    seconds: float
    answer: Any
    runs: tuple[Run, ...]

    @property
    def solved(self) -> bool:
        """Whether any arm gave an acceptable answer."""
        return self.winner is not None

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms that were picked."""
        return tuple(run.arm for run in self.runs)
