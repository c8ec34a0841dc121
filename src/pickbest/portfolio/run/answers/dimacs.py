"""DIMACS: formulas (CNF files), the answers of SAT solvers, and whether a model satisfies one.

Solvers answer `s SATISFIABLE` and `v` lines, or MiniSat's words, or exit codes 10 and 20:
http://www.satcompetition.org/2009/format-benchmarks2009.html

Formulas are not read by PySAT's reader: it takes one clause per line only (DIMACS lets a clause
span lines; releases without its compiled parser drop a literal of such clauses without a word),
and it refuses the lone % with which the files of SATLIB end.
"""

import re
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from pickbest.core import PickbestError
from pickbest.portfolio.run.answers.reading import (
    Evaluate,
    Reading,
    no_answer,
    read_problem,
    suffix_of,
    wrong,
)
from pickbest.portfolio.runs import Run

Literals: TypeAlias = "array[int]"
# Up to here a plain loop takes less time than to import NumPy.
SMALL = 200_000
MOST_VARIABLES = 10**9

_NO_CLAUSES = re.compile(rb"(?m)^[ \t]*[cp].*$")
_END = re.compile(rb"(?m)^%")
# Longer numbers do not fit, and would wrap around without a word.
_NUMBERS = re.compile(rb"(?:\s*+-?\d{1,18}(?!\S))*+\s*+")
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
            return no_answer("unknown" if words else "it names no verdict")
        if len(verdicts) > 1:
            return wrong("", f"it says both {' and '.join(verdicts)} (exit code {run.exit_code})")
        (verdict,) = verdicts
        # A function that gives a model has read a formula, whatever the file is called.
        named = suffix_of(run.problem) == ".cnf" or run.answer is not None
        file = isinstance(run.problem, str | Path) and named
        formula = file or isinstance(run.problem, list | tuple)
        if verdict == "UNSAT" or model is None or not formula:
            return Reading(verdict=verdict)
        if not run.is_whole:
            return no_answer("its model is not whole: there was no room for all of its output")
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


# Formulas -------------------------------------------------------------------------------------


def numbers(text: bytes) -> Literals:
    """Whole numbers between blanks; ValueError for anything else.

    >>> numbers(b"1 -2 0").tolist()
    [1, -2, 0]
    """
    found = _NUMBERS.match(text)
    end = found.end() if found else 0
    if end < len(text):
        raise ValueError(text[end : end + 80].split(b"\n")[0].decode(errors="replace"))
    if len(text) < SMALL:
        return array("q", map(int, text.split()))
    import numpy as np

    return array("q", np.fromstring(text.decode("ascii"), dtype=np.int64, sep=" ").tobytes())


def read_literals(path: str | Path) -> Literals:
    """All clauses of a file one after the other, each with a 0 at its end."""
    text = read_problem(path)
    if end := _END.search(text):
        text = text[: end.start()]
    try:
        found = numbers(_NO_CLAUSES.sub(b"", text))
    except ValueError as error:
        raise PickbestError(f"{path}: not a line of DIMACS: {str(error)!r}") from error
    return found + array("q", [0]) if found and found[-1] else found


def read_dimacs(path: str | Path) -> list[list[int]]:
    """The clauses of a DIMACS CNF file."""
    clauses: list[list[int]] = [[]]
    for literal in read_literals(path).tolist():
        if literal:
            clauses[-1].append(literal)
        else:
            clauses.append([])
    return clauses[:-1]


def solve_by_pysat(problem: Any, solver: str) -> tuple[str, list[int] | None]:
    """("SAT", model) or ("UNSAT", None) of a DIMACS file or clauses, by a solver of PySAT."""
    from pysat.solvers import Solver

    clauses = read_dimacs(Path(problem)) if isinstance(problem, str | Path) else problem
    with Solver(name=solver, bootstrap_with=clauses) as built:
        return ("SAT", built.get_model() or []) if built.solve() else ("UNSAT", None)


def literals_of(problem: Any) -> Literals:
    """The clauses of a problem: a DIMACS file, or a list of lists of numbers."""
    if isinstance(problem, str | Path):
        return read_literals(problem)
    return array("q", (each for clause in problem for each in (*clause, 0)))


def broken_clause(model: Literals, literals: Literals) -> str:
    """Why a model is none; "" if it makes a literal of every clause true.

    >>> broken_clause(numbers(b"1 -2 0"), numbers(b"1 2 0 -1 2 0"))
    'it does not satisfy clause 2: -1 2'
    """
    if not literals:
        return ""
    small = len(model) + len(literals) < SMALL
    both, place = (_looked_up if small else _computed)(model, literals)
    if both:
        return f"it makes variable {both} both true and false"
    if place is None:
        return ""
    clause = literals[place : literals.index(0, place)]
    number = literals[:place].count(0) + 1
    return f"it does not satisfy clause {number}: {' '.join(map(str, clause))[:80]}"


def _looked_up(model: Literals, literals: Literals) -> tuple[int, int | None]:
    """(a variable that is both true and false, where the first clause that fails begins)."""
    true = set(model) - {0}
    both = min((literal for literal in true if literal > 0 and -literal in true), default=0)
    start, held = 0, False
    for place, literal in enumerate(literals):
        if literal == 0:
            if not held:
                return both, start
            start, held = place + 1, False
        elif literal in true:
            held = True
    return both, None


def _computed(model: Literals, formula: Literals) -> tuple[int, int | None]:
    """The same, for what is large."""
    import numpy as np

    literals, chosen = np.frombuffer(formula, np.int64), np.frombuffer(model, np.int64)
    largest = int(np.abs(literals).max())
    if largest > MOST_VARIABLES:
        raise PickbestError(f"the formula names variable {largest}, which is too many to check")
    signs = np.zeros((2, largest + 1), dtype=bool)
    known = chosen[(np.abs(chosen) < signs.shape[1]) & (chosen != 0)]
    signs[(known < 0).astype(np.int8), np.abs(known)] = True
    both = np.flatnonzero(signs[0] & signs[1])
    true = signs[(literals < 0).astype(np.int8), np.abs(literals)]
    starts = np.append(0, np.flatnonzero(literals == 0)[:-1] + 1)
    held = np.logical_or.reduceat(true, starts)
    return int(both[0]) if both.size else 0, None if held.all() else int(starts[np.argmin(held)])
