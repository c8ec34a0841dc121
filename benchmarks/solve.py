"""What a call of `pickbest solve` takes more than the solver itself, with and without its daemon.

    python benchmarks/solve.py

A small problem, solved in turns by the solver's own program and by a call that runs the same
solver; the shortest of many runs each. Bytecode is written as for any installed package.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pickbest.portfolio.solve import client
from pickbest.portfolio.solve.known import DIMACS, SMTLIB, installed

RUNS = 25
WITHOUT_DAEMON, WITH_DAEMON = 0.150, 0.010
PROBLEMS = {
    SMTLIB: (
        "z3",
        "(set-logic QF_BV)\n(declare-const x (_ BitVec 8))\n"
        "(assert (= (bvmul x #x03) #x0f))\n(check-sat)\n",
    ),
    DIMACS: ("cadical", "p cnf 3 2\n1 -2 0\n2 3 0\n"),
}
PARTNERS = {"z3": "cvc5", "cadical": "kissat"}
FULL = [sys.executable, "-m", "pickbest.cli.solve"]


def rows() -> list[dict[str, Any]]:
    """The table's rows; see benchmarks/run.py."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_DATA_HOME": folder, "XDG_RUNTIME_DIR": ""}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        found = [*_compared(folder, environment, "without a daemon", FULL, WITHOUT_DAEMON)]
        with _daemon(environment):
            quick = [_installed(Path(folder, "bin"))]
            found += _compared(folder, environment, "with a daemon", quick, WITH_DAEMON)
    return found


def _installed(folder: Path) -> str:
    """`pickbest-solve` as it lies beside a Python."""
    folder.mkdir()
    (folder / "python").symlink_to(sys.executable)
    return shutil.copy(client.__file__, folder / "pickbest-solve")


def _compared(
    folder: str, environment: dict[str, str], how: str, program: Sequence[str], most: float
) -> Iterator[dict[str, Any]]:
    for format, (solver, text) in PROBLEMS.items():
        logic = "QF_BV" if format == SMTLIB else "ALL"
        if solver not in installed(format, logic):
            continue
        path = Path(folder, "problem.smt2" if format == SMTLIB else "problem.cnf")
        path.write_text(text)
        bare = installed(format, logic)[solver].on(str(path))
        pair = [word for name in (solver, PARTNERS[solver]) for word in ("--solver", name)]
        for what, words in ((f"{solver} alone", pair[:2]), (f"{solver} and another", pair)):
            ours, reference = _in_turns([*program, *words, str(path)], bare, environment)
            yield {
                "name": f"a call {how}, {what}, beside {solver}",
                "ours_seconds": ours,
                "reference_seconds": reference,
                "ratio": None,
                "target": f"≤ {most * 1e3:g} ms more",
                "met": ours - reference <= most,
            }


def _in_turns(
    ours: Sequence[str], bare: Sequence[str], environment: dict[str, str]
) -> tuple[float, float]:
    times: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(RUNS):
        for command, is_ours in ((bare, False), (ours, True)):
            started = time.perf_counter()
            subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False)
            times[is_ours].append(time.perf_counter() - started)
    return min(times[True]), min(times[False])


@contextmanager
def _daemon(environment: dict[str, str]) -> Iterator[None]:
    process = subprocess.Popen([*FULL, "--daemon"], env=environment, stderr=subprocess.PIPE)
    assert process.stderr is not None
    process.stderr.readline()
    try:
        yield
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    for row in rows():
        more = (row["ours_seconds"] - row["reference_seconds"]) * 1e3
        met = "yes" if row["met"] else "NO"
        print(f"{row['name']}: {more:.1f} ms more ({row['target']}: {met})")
