"""What a call of `pickbest solve`, and a session, take more than the solver itself.

Calls: a small problem, solved in turns by the solver's own program and by a call that runs the
same solver; the shortest of many runs each. Sessions: a client that waits for each of 300 small
checks, with every solver and with pickbest, which has been through it before. Bytecode is written
as for any installed package.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from pickbest.portfolio.solve.known import DIMACS, SMTLIB, SOLVERS, installed, located, places
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
CHECKS, FACTOR, MORE_SECONDS = 300, 1.2, 0.050
PROGRAM = [sys.executable, "-P", "-m", "pickbest.cli.solve"]


def rows() -> list[Row]:
    """The table's rows; see benchmarks/run.py."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_DATA_HOME": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        return [*_compared(folder, environment), *_sessions(environment)]


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


def _sessions(environment: dict[str, str]) -> Iterator[Row]:
    found = (located(solver, places(), "QF_BV", session=True) for solver in SOLVERS)
    alone = {each.name: each.argv for each in found if each is not None and not each.is_module}
    ways = {"": [*PROGRAM, "-in"], **alone}
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(RUNS):
        for name, command in ways.items():
            taken[name].append(_talked(command, environment))
    for place, what in enumerate(("wall", "processor")):
        ours, *theirs = (min(run[place] for run in runs) for runs in taken.values())
        most = FACTOR * min(theirs) + MORE_SECONDS
        target = f"≤ {FACTOR:g} times + {MORE_SECONDS * 1e3:g} ms"
        yield row(
            f"a session of {CHECKS} checks, {what} time, compared with the best solver",
            ours, min(theirs), target, ours <= most,
        )  # fmt: skip


def _talked(command: Sequence[str], environment: dict[str, str]) -> tuple[float, float]:
    """Wall and processor seconds of a session in which each answer is waited for."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as talk:
        assert talk.stdin is not None
        assert talk.stdout is not None
        talk.stdin.write(b"(set-logic QF_BV)(declare-const x (_ BitVec 8))\n")
        for number in range(CHECKS):
            value = b"#x%02x" % (number % 256)
            talk.stdin.write(b"(push 1)(assert (= (bvmul x #x03) %s))(check-sat)\n" % value)
            assert talk.stdout.readline() == b"sat\n"
            talk.stdin.write(b"(pop 1)\n")
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _in_turns(
    ours: Sequence[str], bare: Sequence[str], environment: dict[str, str]
) -> tuple[float, float]:
    times: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(RUNS):
        for command, is_ours in ((bare, False), (ours, True)):
            call = partial(subprocess.run, command, env=environment, stdout=subprocess.DEVNULL)
            times[is_ours].append(seconds(call))
    return min(times[True]), min(times[False])
