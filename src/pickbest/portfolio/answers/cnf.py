"""DIMACS CNF files, and whether a model satisfies one.

Not by PySAT's reader: it takes one clause a line only (DIMACS lets a clause span lines; releases
without its compiled parser drop a literal of such clauses without a word), and it refuses the
lone % with which the files of SATLIB end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pickbest.core import PickbestError
from pickbest.portfolio.answers.problems import read_problem

Clauses = Sequence[Sequence[int]]
Literals = NDArray[np.int64]

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
    if not text.strip():
        return np.zeros(0, dtype=np.int64)
    return np.fromstring(text.decode("ascii"), dtype=np.int64, sep=" ")


def read_literals(path: str | Path) -> Literals:
    """All clauses of a file one after the other, each with a 0 at its end."""
    text = read_problem(path)
    if end := _END.search(text):
        text = text[: end.start()]
    try:
        found = numbers(_NO_CLAUSES.sub(b"", text))
    except ValueError as error:
        raise PickbestError(f"{path}: not a line of DIMACS: {str(error)!r}") from error
    return np.append(found, 0) if found.size and found[-1] else found


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
    return np.array([each for clause in problem for each in (*clause, 0)], dtype=np.int64)


def broken_clause(model: Literals, literals: Literals) -> str:
    """Why a model is none; "" if it makes a literal of every clause true.

    >>> broken_clause(numbers(b"1 -2 0"), numbers(b"1 2 0 -1 2 0"))
    'it does not satisfy clause 2: -1 2'
    """
    if not literals.size:
        return ""
    signs = np.zeros((2, int(np.abs(literals).max()) + 1), dtype=bool)
    known = model[(np.abs(model) < signs.shape[1]) & (model != 0)]
    signs[0, known[known > 0]] = True
    signs[1, -known[known < 0]] = True
    if both := np.flatnonzero(signs[0] & signs[1]).tolist():
        return f"it makes variable {both[0]} both true and false"
    true = signs[(literals < 0).astype(np.int8), np.abs(literals)]
    ends = np.flatnonzero(literals == 0)
    starts = np.append(0, ends[:-1] + 1)
    held = np.logical_or.reduceat(true, starts)
    if held.all():
        return ""
    first = int(np.argmin(held))
    shown = " ".join(map(str, literals[starts[first] : ends[first]].tolist()))
    return f"it does not satisfy clause {first + 1}: {shown[:80]}"
