"""The formats that have a name, a user's own, and which one a problem's name suggests."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pickbest.core import PickbestError, unknown_name
from pickbest.portfolio.run.answers.dimacs import Dimacs
from pickbest.portfolio.run.answers.problems import suffix_of
from pickbest.portfolio.run.answers.reading import (
    AnswerFormat,
    Evaluate,
    Reading,
    RejectedError,
    no_answer,
    wrong,
)
from pickbest.portfolio.run.answers.smtlib import SmtLib
from pickbest.portfolio.runs import Run, RunStatus

_NO_ANSWERS = ("unknown", "timeout")


@dataclass(frozen=True)
class Number:
    """A number: what a function returns, or the last line of a command's output."""

    name: str = "number"
    exit_codes: tuple[int, ...] = (0,)

    def read(self, run: Run, evaluate: Evaluate) -> Reading:
        value = run.number
        if value is None:
            return no_answer(f"not a number: {run.last_line[:80]!r}")
        return Reading(value=value)


@dataclass(frozen=True)
class Text:
    """Anything: a command that ends with exit code 0 has answered, with or without words.

    No answer: None from a function, and the bare words unknown and timeout.
    """

    name: str = "text"
    exit_codes: tuple[int, ...] = (0,)

    def read(self, run: Run, evaluate: Evaluate) -> Reading:
        said = run.stdout if run.answer is None else run.answer
        # A word is short: whoever wrote more than that did not say just this.
        short = isinstance(said, str) and len(said) < 80 and not run.truncated
        if short and said.strip().lower() in _NO_ANSWERS:
            return no_answer(said.strip())
        return Reading()


@dataclass(frozen=True)
class OwnFormat:
    """A function of the user: a run to its verdict.

    It returns the verdict as text (two different ones contradict each other), True for an answer
    without one, and None or False for no answer. RejectedError makes the answer wrong.
    """

    function: Callable[[Run], str | bool | None]
    exit_codes: tuple[int, ...] = (0,)
    name: str = "python"

    def read(self, run: Run, evaluate: Evaluate) -> Reading:
        try:
            verdict = self.function(run)
        except RejectedError as error:
            return wrong("", str(error))
        except Exception as error:
            return Reading(RunStatus.BROKEN, reason=f"the answer function failed: {error!r}")
        if verdict is None or verdict is False:
            return no_answer("the answer function found none")
        return Reading(verdict="" if verdict is True else str(verdict))


DIMACS, SMTLIB, NUMBER, TEXT = Dimacs(), SmtLib(), Number(), Text()
NAMED: dict[str, AnswerFormat] = {each.name: each for each in (DIMACS, SMTLIB, NUMBER, TEXT)}
_BY_SUFFIX: dict[str, AnswerFormat] = {".cnf": DIMACS, ".smt2": SMTLIB}

FormatSpec = str | AnswerFormat | Callable[[Run], str | bool | None]


def as_format(spec: FormatSpec) -> AnswerFormat:
    """A format from its name, an AnswerFormat, or a function of a run.

    >>> as_format("dimacs").exit_codes
    (0, 10, 20)
    """
    if isinstance(spec, str):
        if spec not in NAMED:
            raise unknown_name("answer format", spec, NAMED)
        return NAMED[spec]
    if isinstance(spec, AnswerFormat):
        return spec
    if callable(spec):
        return OwnFormat(spec)
    raise PickbestError(f"answer must be a name or a function of a run, got {spec!r}")


def guess_format(problem: Any) -> AnswerFormat:
    """What the answers of commands on a problem look like, from the problem's name.

    >>> guess_format("uf250-01.cnf.gz").name
    'dimacs'
    """
    return _BY_SUFFIX.get(suffix_of(problem), TEXT)
