"""Arms that contradict each other: refuted where a model proves it, and told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pickbest.portfolio import Portfolio, Run, RunStatus
from pickbest.portfolio.runs import contradictions
from tests.portfolio.test_commands import exit_of, pickbest

FORMULA = "p cnf 2 2\n1 2 0\n-1 0\n"
# So much later that a busy machine does not turn the order round.
SAT = ["sh", "-c", "sleep 2; printf 's SATISFIABLE\\nv -1 2 0\\n'; exit 10"]
BARE_SAT = ["sh", "-c", "sleep 0.2; echo s SATISFIABLE; exit 10"]
UNSAT = ["sh", "-c", "echo s UNSATISFIABLE; exit 20"]


@pytest.fixture
def formula(tmp_path: Path) -> str:
    path = tmp_path / "f.cnf"
    path.write_text(FORMULA)
    return str(path)


def said(arm: str, verdict: str, status: str = "finished", checked: bool = False) -> Run:
    return Run(arm, RunStatus(status), verdict=verdict, checked=checked)


def test_who_cannot_both_be_right() -> None:
    assert contradictions("p", [said("a", "SAT"), said("b", ""), said("c", "SAT")]) == ()
    runs = [said("a", "UNSAT"), said("b", "SAT", checked=True), said("c", "SAT")]
    assert contradictions("p", runs) == ("p: UNSAT by a contradicts SAT by b",)
    runs = [said("liar", "SAT", "wrong"), said("a", "UNSAT")]
    assert contradictions("p", runs) == ("p: SAT by liar contradicts UNSAT by a",)


def test_a_model_that_holds_refutes_who_says_otherwise(formula: str) -> None:
    with Portfolio({"liar": UNSAT, "right": SAT}, 2, 20.0, stop="deadline") as portfolio:
        result = portfolio.solve(formula)
        status = portfolio.status()
    assert (result.winner, result.verdict) == ("right", "SAT")
    liar = next(run for run in result.runs if run.arm == "liar")
    assert (liar.status, liar.verdict, liar.cost) == (RunStatus.WRONG, "UNSAT", 1.0)
    assert liar.reason == "wrong: right has a model that holds"
    assert len(result.contradictions) == 1
    views = {arm.name: arm for arm in status.arms}
    assert (views["liar"].wrong, views["right"].wrong) == (1, 0)


LIARS = f"""
budget = 2
deadline = 20.0
stop = "deadline"
[arms]
liar = {json.dumps(UNSAT)}
right = {json.dumps(BARE_SAT)}
unknown = ["echo", "s UNKNOWN"]
"""


def test_the_exit_code_and_the_history_tell(
    formula: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    config = tmp_path / "portfolio.toml"
    config.write_text(LIARS.replace("budget = 2", "budget = 3"))
    monkeypatch.setenv("COLUMNS", "160")
    assert exit_of(monkeypatch, "run", config, formula) == 3
    printed = capsys.readouterr()
    told = f"{formula}: SAT by right contradicts UNSAT by liar"
    other = f"{formula}: UNSAT by liar contradicts SAT by right"
    assert f"contradiction: {told}" in printed.err or f"contradiction: {other}" in printed.err
    assert 'reading answers as "dimacs"' in printed.err
    assert "UNSAT, won by liar" in printed.out
    assert "no answer: unknown" in printed.out
    shown = pickbest("history", config)
    assert f"contradiction: {told}" in shown or f"contradiction: {other}" in shown
    assert "! UNSAT" in shown
