"""DIMACS CNF files, and whether a model satisfies one.

Not by PySAT's reader: it takes one clause a line only (DIMACS lets a clause span lines; releases
without its compiled parser drop a literal of such clauses without a word), and it refuses the
lone % with which the files of SATLIB end.
"""

import re
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from pickbest.core import PickbestError
from pickbest.portfolio.run.answers.problems import read_problem

Clauses = Sequence[Sequence[int]]
Literals: TypeAlias = "array[int]"
# Up to here a plain loop takes less time than to import NumPy.
SMALL = 200_000
MOST_VARIABLES = 10**9

_NO_CLAUSES = re.compile(rb"(?m)^[ \t]*[cp].*$")
_END = re.compile(rb"(?m)^%")
# Longer numbers do not fit, and would wrap around without a word.
_NUMBERS = re.compile(rb"(?:\s*+-?\d{1,18}(?!\S))*+\s*+")


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
