"""What the tests of `pickbest solve` share: problems, a folder of fake solvers, and calls."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

PROGRAM = [sys.executable, "-P", "-m", "pickbest.cli.solve"]
UNSAT_CNF = "p cnf 1 2\n1 0\n-1 0\n"
SAT_CNF = "p cnf 3 2\n1 -2 0\n2 3 0\n"
SAT_SMT = """(set-logic QF_BV)
(declare-const x (_ BitVec 8))
(assert (= (bvmul x #x03) #x0f))
(check-sat)
"""
UNSAT_SMT = SAT_SMT.replace("(check-sat)", "(assert (distinct x #x05))\n(check-sat)")
SLEEPS = "#!/bin/sh\nexec sleep 1000\n"


@dataclass
class Calls:
    """Calls of the program in a folder, with a data folder of their own."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.environment = {
            **os.environ,
            "XDG_DATA_HOME": str(self.folder / "data"),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            **self.environment,
        }
        (self.folder / "bin").mkdir(exist_ok=True)

    @property
    def data(self) -> Path:
        return self.folder / "data" / "pickbest" / "solve"

    def write(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text)
        return name

    def fake(self, name: str, text: str) -> None:
        """A program that stands before the real one of that name."""
        path = self.folder / "bin" / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        if not self.environment["PATH"].startswith(str(path.parent)):
            self.environment["PATH"] = f"{path.parent}{os.pathsep}{self.environment['PATH']}"

    def link(self, name: str) -> list[str]:
        """The program under another name, as pip installs it."""
        script, link = self.folder / "installed" / "pickbest-solve", self.folder / "links" / name
        for path in (script, link):
            path.parent.mkdir(exist_ok=True)
        script.write_text(
            f"#!{sys.executable}\nfrom pickbest.cli.solve import command\ncommand()\n"
        )
        script.chmod(0o755)
        link.symlink_to(script)
        return [str(link)]

    def start(self, *words: str, program: Sequence[str] = PROGRAM) -> subprocess.Popen[bytes]:
        self.started.append(
            subprocess.Popen(
                [*program, *words],
                cwd=self.folder,
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        )
        return self.started[-1]

    def run(
        self, *words: str, stdin: bytes = b"", program: Sequence[str] = PROGRAM
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*program, *words],
            cwd=self.folder,
            env=self.environment,
            input=stdin,
            capture_output=True,
            check=False,
            timeout=120,
        )
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
        )


@pytest.fixture
def calls(tmp_path: Path) -> Iterator[Calls]:
    made = Calls(tmp_path)
    for name, text in (
        ("sat.cnf", SAT_CNF),
        ("unsat.cnf", UNSAT_CNF),
        ("sat.smt2", SAT_SMT),
        ("unsat.smt2", UNSAT_SMT),
    ):
        made.write(name, text)
    yield made
    for process in made.started:  # a test that failed leaves nothing behind either
        if process.poll() is None:
            process.kill()
            process.communicate()


@pytest.fixture
def learner_off(calls: Calls) -> Iterator[None]:
    """No learning in the background: somebody else seems to be at it."""
    from pickbest.portfolio.solve.keep import alone

    calls.data.mkdir(parents=True)
    with alone(calls.data):
        yield
