"""What a race needs to know of answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pickbest.portfolio.answers.outputs import Outputs
from pickbest.portfolio.answers.reading import (
    AnswerFormat,
    BadAnswerError,
    Evaluate,
    RejectedError,
    unevaluated,
)
from pickbest.portfolio.runs import Run

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
