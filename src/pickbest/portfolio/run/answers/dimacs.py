"""Answers of SAT solvers: `s SATISFIABLE` and `v` lines, or MiniSat's words, or exit codes 10, 20.

http://www.satcompetition.org/2009/format-benchmarks2009.html
"""

import re
from array import array
from dataclasses import dataclass
from typing import Any

from pickbest.core import PickbestError
from pickbest.portfolio.run.answers.cnf import Literals, broken_clause, literals_of, numbers
from pickbest.portfolio.run.answers.problems import suffix_of
from pickbest.portfolio.run.answers.reading import Evaluate, Reading, no_answer, wrong
from pickbest.portfolio.runs import Run

_WORDS = {
    "SATISFIABLE": "SAT", "SAT": "SAT", "UNSATISFIABLE": "UNSAT", "UNSAT": "UNSAT",
    "UNKNOWN": "", "INDETERMINATE": "", "INDET": "", "TIMEOUT": "",
}  # fmt: skip
_CODES = {10: "SAT", 20: "UNSAT"}
# MiniSat writes its model as a bare line of numbers after the word SAT.
_BARE_MODEL = re.compile(rb"-?\d+( |$)")


@dataclass(frozen=True)
class Dimacs:
    """The format of SAT solvers; models are held against the formula here."""

    name: str = "dimacs"
    exit_codes: tuple[int, ...] = (0, 10, 20)

    def read(self, run: Run, evaluate: Evaluate) -> Reading:
        words, model = _said(run)
        if run.exit_code in _CODES:
            words.append(_CODES[run.exit_code])
        verdicts = sorted({word for word in words if word})
        if "" in words or not verdicts:
            return no_answer("unknown" if words else "it names no verdict" + _cut(run))
        if len(verdicts) > 1:
            return wrong("", f"it says both {' and '.join(verdicts)} (exit code {run.exit_code})")
        (verdict,) = verdicts
        formula = suffix_of(run.problem) == ".cnf" or isinstance(run.problem, list | tuple)
        if verdict == "UNSAT" or model is None or not formula:
            return Reading(verdict=verdict)
        if run.cut:
            return no_answer(f"its model is not whole{_cut(run)}")
        try:
            reason = broken_clause(_numbers_of(model), literals_of(run.problem))
        except ValueError as error:
            return wrong(verdict, f"its model is no list of numbers: {error}")
        except PickbestError:  # the file is gone, or no DIMACS: nothing to hold it against
            return Reading(verdict=verdict)
        if reason:
            return wrong(verdict, f"its model is none: {reason}")
        return Reading(verdict=verdict, checked=True)


def _said(run: Run) -> tuple[list[str], Any]:
    """(verdicts as they were said, the model: bytes or a list; None where there is none)."""
    if run.answer is not None:
        return _returned(run.answer)
    words: list[str] = []
    model: list[bytes] = []
    for line in run.lines():
        if line.startswith((b"v ", b"V ")):
            model.append(line[2:])
        elif not line.startswith(b"c"):
            word = line.removeprefix(b"s ").strip()
            if len(word) < 20 and (text := word.decode(errors="replace").upper()) in _WORDS:
                words.append(_WORDS[text])
            elif words == ["SAT"] and not model and _BARE_MODEL.match(word):
                model.append(word)
    return words, b"\n".join(model) if model else None


def _returned(answer: Any) -> tuple[list[str], Any]:
    """What a function returned: a verdict, or (verdict, model)."""
    verdict, model = answer, None
    if isinstance(answer, list | tuple) and len(answer) == 2:
        verdict, model = answer
    if isinstance(verdict, bool):
        return ["SAT" if verdict else "UNSAT"], model
    word = _WORDS.get(str(verdict).strip().upper())
    return ([] if word is None else [word]), model


def _numbers_of(model: Any) -> Literals:
    if isinstance(model, bytes):
        return numbers(model)
    try:
        return array("q", model)
    except (TypeError, OverflowError) as error:
        raise ValueError(str(error)) from error


def _cut(run: Run) -> str:
    return " in what was kept of its output" if run.cut else ""
