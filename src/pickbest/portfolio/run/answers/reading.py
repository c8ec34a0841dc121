"""What an answer format is, and what it makes of a run."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pickbest.core import PickbestError
from pickbest.portfolio.runs import Run, RunStatus

# (script, program not to use) to what a solver says of it: "sat", "unsat", or "" where none can.
Evaluate = Callable[[str, str], str]


def unevaluated(script: str, besides: str) -> str:
    """Where no second solver is to be asked."""
    return ""


class BadAnswerError(PickbestError):
    """What an arm gave is not what the cost needs: the arm is set up wrongly."""


class RejectedError(PickbestError):
    """Raised by a user's cost, check or answer function: the answer is wrong, and why."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a run that ended by itself amounts to.

    status: FINISHED: it answered. NO_ANSWER: unknown, timeout, nothing. WRONG: its own words or
        its model show that the answer cannot be right. CRASHED: it failed.
    verdict: the answer in one word on which all arms must agree (SAT, UNSAT); value: in a number.
    reason: why it is no answer, or wrong. checked: a model was held against the problem.
    """

    status: RunStatus = RunStatus.FINISHED
    verdict: str = ""
    reason: str = ""
    checked: bool = False
    value: float | None = None


@runtime_checkable
class AnswerFormat(Protocol):
    """How the answers of an arm are read.

    name: as users write it. exit_codes: those that do not mean a failure.
    """

    @property
    def name(self) -> str: ...
    @property
    def exit_codes(self) -> tuple[int, ...]: ...

    def read(self, run: Run, evaluate: Evaluate) -> Reading:
        """Read a run that ended by itself with a fine exit code; see `Run` for what it holds."""
        ...


def no_answer(what: str) -> Reading:
    """A run that says, in its own way, that it has no answer."""
    return Reading(RunStatus.NO_ANSWER, reason=f"no answer: {what}")


def wrong(verdict: str, reason: str) -> Reading:
    """An answer that cannot be right."""
    return Reading(RunStatus.WRONG, verdict, f"wrong: {reason}")
