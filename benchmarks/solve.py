"""What a call of `pickbest solve` takes more than the solver itself.

A small problem, solved in turns by the solver's own program and by a call that runs the same
solver; the shortest of many runs each. Bytecode is written as for any installed package.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from pickbest.portfolio.solve.known import DIMACS, SMTLIB, installed
from timing import Row, row, seconds

RUNS = 25
MOST_SECONDS = 0.100
PROBLEMS = {
    SMTLIB: (
        "z3",
        "(set-logic QF_BV)\n(declare-const x (_ BitVec 8))\n"
        "(assert (= (bvmul x #x03) #x0f))\n(check-sat)\n",
    ),
    DIMACS: ("kissat", "p cnf 3 2\n1 -2 0\n2 3 0\n"),
}
PARTNERS = {"z3": "yices", "kissat": "yices-sat"}
PROGRAM = [sys.executable, "-P", "-m", "pickbest.cli.solve"]


def rows() -> list[Row]:
    """The table's rows; see benchmarks/run.py."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_DATA_HOME": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        return [*_compared(folder, environment)]


def _compared(folder: str, environment: dict[str, str]) -> Iterator[Row]:
    for format, (solver, text) in PROBLEMS.items():
        logic = "QF_BV" if format == SMTLIB else "ALL"
        here = installed(format, logic)
        if solver not in here:
            continue
        path = Path(folder, "problem.smt2" if format == SMTLIB else "problem.cnf")
        path.write_text(text)
        pair = [word for name in (solver, PARTNERS[solver]) for word in ("--solver", name)]
        for what, words in ((f"{solver} alone", pair[:2]), (f"{solver} and another", pair)):
            ours, reference = _in_turns(
                [*PROGRAM, *words, str(path)], here[solver].on(str(path)), environment
            )
            target = f"≤ {MOST_SECONDS * 1e3:g} ms more"
            met = ours - reference <= MOST_SECONDS
            yield row(f"a call, {what}, compared with {solver}", ours, reference, target, met)


def _in_turns(
    ours: Sequence[str], bare: Sequence[str], environment: dict[str, str]
) -> tuple[float, float]:
    times: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(RUNS):
        for command, is_ours in ((bare, False), (ours, True)):
            call = partial(subprocess.run, command, env=environment, stdout=subprocess.DEVNULL)
            times[is_ours].append(seconds(call))
    return min(times[True]), min(times[False])
