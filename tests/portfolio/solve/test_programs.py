"""Real programs that call a solver, and callers that do what others do; skipped where absent."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from pickbest.portfolio.solve.known import SMTLIB, installed
from tests.portfolio.solve.conftest import PROGRAM, Calls

pytestmark = [
    pytest.mark.usefixtures("learner_off"),
    pytest.mark.skipif(
        len(installed(SMTLIB, "QF_BV")) < 2, reason="two SMT solvers are needed (extra: solvers)"
    ),
]
COUNTER = """
module counter(input clk, input rst, input up);
  reg [3:0] count = 0;
  always @(posedge clk) if (rst) count <= 0; else if (up && count != 10) count <= count + 1;
`ifdef FORMAL
  always @* assert (count <= 10);
  always @* cover (count == 3);
`endif
endmodule
"""


@pytest.fixture
def links(calls: Calls) -> Path:
    """A folder with z3 and yices-smt2 that are ours, first on PATH."""
    folder = calls.folder / "links"
    folder.mkdir()
    script = folder / "pickbest-solve"
    script.write_text(f"#!{sys.executable}\nfrom pickbest.cli.solve import command\ncommand()\n")
    script.chmod(0o755)
    for name in ("z3", "yices-smt2"):
        (folder / name).symlink_to(script)
    calls.environment["PATH"] = f"{folder}{os.pathsep}{calls.environment['PATH']}"
    return folder


def test_as_cbmc_calls_a_sat_solver(calls: Calls, links: Path) -> None:
    """An empty first word, no standard input; it refuses a model that leaves a variable out."""
    calls.write("sat.cnf", "p cnf 10 2\n1 2 0\n-1 9 0\n")
    done = subprocess.run(
        ["", "sat.cnf"], executable=str(links / "pickbest-solve"), stdin=subprocess.DEVNULL,
        cwd=calls.folder, env=calls.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert lines[0] == "s SATISFIABLE"
    values = {abs(int(w)) for line in lines[1:] for w in line.split()[1:]} - {0}
    assert values == set(range(1, 11))


def test_as_halmos_calls_a_solver(calls: Calls, links: Path) -> None:
    """It reads the first line, and then the definitions, of any width."""
    calls.write(
        "q.smt2",
        "(set-logic QF_AUFBV)\n(declare-fun p_x () (_ BitVec 256))\n"
        "(assert (= (bvadd p_x #x"
        + "0" * 63
        + "1) #x"
        + "0" * 62
        + "10))\n(check-sat)\n(get-model)\n",
    )
    for _ in range(4):
        done = calls.run("q.smt2", program=[str(links / "pickbest-solve")])
        first, rest = done.stdout.split("\n", 1)
        found = re.search(r"define-fun\s+p_x\s+\(\)\s+\(_ BitVec 256\)\s+#([xb])([0-9a-f]+)", rest)
        assert first == "sat"
        assert found is not None, done.stdout
        assert int(found[2], 16 if found[1] == "x" else 2) == 15


@pytest.mark.skipif(find_spec("pysmt") is None, reason="pysmt is not installed (pip install pysmt)")
def test_pysmt(calls: Calls) -> None:
    code = f"""
from pysmt.environment import get_env
from pysmt.logics import QF_BV
from pysmt.shortcuts import BV, BVMul, BVType, BVUGT, Equals, Solver, Symbol
get_env().factory.add_generic_solver("ours", {[*PROGRAM, "-in"]!r}, [QF_BV])
x, y = (Symbol(name, BVType(16)) for name in "xy")
with Solver(name="ours", logic=QF_BV) as solver:
    solver.add_assertion(Equals(BVMul(x, y), BV(15, 16)))
    solver.add_assertion(BVUGT(x, BV(1, 16)))
    said = [solver.solve()]
    solver.push(); solver.add_assertion(Equals(x, BV(2, 16))); said.append(solver.solve())
    solver.pop(); said.append(solver.solve())
    model = solver.get_model()
    product = model[x].constant_value() * model[y].constant_value() % 65536
print(said, product)
"""
    done = calls.run(program=[sys.executable, "-c", code])
    assert done.stdout == "[True, False, True] 15\n", done.stderr


@pytest.mark.skipif(
    not shutil.which("yosys") or not shutil.which("yosys-smtbmc"),
    reason="yosys is not installed (apt install yosys)",
)
@pytest.mark.parametrize("solver", ["z3", "yices"])
def test_yosys_smtbmc(calls: Calls, links: Path, solver: str) -> None:
    """Bounded checks, induction, and a trace of what is covered."""
    calls.write("counter.v", COUNTER)
    steps = "read_verilog -formal counter.v; prep -top counter; write_smt2 -wires counter.smt2"
    calls.run("-q", "-p", steps, program=["yosys"])
    for words in (["-t", "8"], ["-i", "-t", "8"], ["-c", "-t", "8", "--dump-vcd", "c.vcd"]):
        done = calls.run("-s", solver, *words, "counter.smt2", program=["yosys-smtbmc"])
        assert "Status: PASSED" in done.stdout, done.stdout + done.stderr
    assert "$enddefinitions" in (calls.folder / "c.vcd").read_text()


BOOGIE = """
procedure Sum(n: int) returns (s: int) requires n >= 0; ensures 2 * s == n * (n + 1);
{ var i: int; i := 0; s := 0;
  while (i < n) invariant 0 <= i && i <= n; invariant 2 * s == i * (i + 1);
  { i := i + 1; s := s + i; } }
procedure Wrong(x: int) returns (y: int) ensures y > x; { y := x; }
"""
DAFNY = """
method Max(a: array<int>) returns (m: int) requires a.Length > 0
  ensures forall i :: 0 <= i < a.Length ==> a[i] <= m
{ m := a[0]; var i := 1;
  while i < a.Length invariant 1 <= i <= a.Length invariant forall j :: 0 <= j < i ==> a[j] <= m
  { if a[i] > m { m := a[i]; } i := i + 1; } }
lemma Wrong(x: int) ensures x * x > x {}
"""
WHY3 = """
module T
  use int.Int
  goal right: forall x y: int. 0 <= x <= y -> x + x <= y + y
  goal wrong: forall x: int. x + x > x
end
"""


def needs(program: str, how: str) -> pytest.MarkDecorator:
    absent = shutil.which(program) is None
    return pytest.mark.skipif(absent, reason=f"{program} is not installed ({how})")


@pytest.mark.slow
@needs("boogie", "apt install boogie")
def test_boogie(calls: Calls, links: Path) -> None:
    """It talks, and asks z3 for labels where a proof fails."""
    calls.write("a.bpl", BOOGIE)
    done = calls.run(f"/proverOpt:PROVER_PATH={links}/z3", "a.bpl", program=["boogie"])
    assert "1 verified, 1 error" in done.stdout, done.stdout


@pytest.mark.slow
@needs("dafny", "apt install dafny")
def test_dafny(calls: Calls, links: Path) -> None:
    calls.write("a.dfy", DAFNY)
    words = ["/compile:0", f"/proverOpt:PROVER_PATH={links}/z3", "a.dfy"]
    done = calls.run(*words, program=["dafny"])
    assert "2 verified, 1 error" in done.stdout, done.stdout


@pytest.mark.slow
@needs("why3", "apt install why3")
def test_why3(calls: Calls, links: Path) -> None:
    """It finds provers by what they say of their version, and limits their memory."""
    calls.environment["HOME"] = str(calls.folder)
    calls.write("t.mlw", WHY3)
    found = calls.run("config", "detect", program=["why3"])
    assert "Z3" in found.stdout + found.stderr
    done = calls.run("prove", "-t", "5", "-P", "z3", "t.mlw", program=["why3"])
    said = re.findall(r"Goal (\w+)\.\s+Prover result is: (\w+)", done.stdout)
    assert dict(said)["right"] == "Valid", done.stdout + done.stderr
    assert dict(said)["wrong"] != "Valid"


@pytest.mark.slow
@needs("jsi", "pip install just-solve-it")
def test_jsi(calls: Calls, links: Path) -> None:
    calls.environment["HOME"] = str(calls.folder)
    for name in ("sat", "unsat"):
        done = calls.run("--sequence", "z3", f"{name}.smt2", program=["jsi"])
        assert done.stdout.split()[0] == name, done.stdout + done.stderr
