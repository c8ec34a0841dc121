"""What an engine reports of an arm that ran, and what a round makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any


class Ending(Enum):
    """How a run came to its end, as the engine saw it."""

    EXITED = "exited"
    DEADLINE = "deadline"
    STOPPED = "stopped"
    NOT_STARTED = "not started"


class Status(StrEnum):
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
    memory_bytes, cpu_seconds: limits on each process of the arm.
    output_bytes: how much of the end of its output is kept.
    grace: seconds between SIGTERM and SIGKILL when it is stopped; 0: SIGKILL at once.
    cpus: cores that a cluster reserves for it.
    """

    arm: str
    deadline: float
    argv: tuple[str, ...] | None = None
    call: bytes | None = None
    preload: tuple[str, ...] = ()
    cwd: str | None = None
    env: tuple[tuple[str, str], ...] = ()
    memory_bytes: int | None = None
    cpu_seconds: float | None = None
    output_bytes: int = 65_536
    grace: float = 0.0
    cpus: float = 1.0


@dataclass(frozen=True, slots=True)
class RawRun:
    """One run as the engine saw it; every process of the arm is gone when this exists.

    exit_code: negative: the signal that ended it. error: why it could not start, or the last
    line of the exception that a function raised. value: what a function returned.
    """

    arm: str
    ending: Ending
    seconds: float
    exit_code: int | None = None
    error: str = ""
    value: Any = None
    stdout: str = ""
    stderr: str = ""
    truncated: bool = False
    cpu_seconds: float = 0.0
    peak_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """One arm's part in a round.

    cost: None when it is not known, because the run was stopped early; then it lies between
        low and high.
    answer: what a function returned, or what a command wrote to its standard output.
    value: the number that a quality cost read from the answer.
    """

    arm: str
    status: Status
    seconds: float
    cost: float | None
    low: float
    high: float
    reason: str = ""
    answer: Any = None
    value: float | None = None
    raw: RawRun | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """A round that is over, journalled before anyone sees it.

    winner: the arm with the best answer; None when no arm gave an acceptable one.
    """

    round: int
    problem: Any
    runs: tuple[Run, ...]
    winner: str | None
    cost: float | None
    answer: Any
    seconds: float

    @property
    def solved(self) -> bool:
        """Whether any arm gave an acceptable answer."""
        return self.winner is not None

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms that were picked."""
        return tuple(run.arm for run in self.runs)
