"""Arms that contradict each other: remembered, refuted where a model proves it, told everywhere."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pickbest.core import PickbestError
from pickbest.portfolio import AskTell, Portfolio, RaceSettings, Run, RunStatus
from pickbest.portfolio.store.snapshots import digest_of, restore_snapshot, take_snapshot
from pickbest.portfolio.store.verdicts import MOST_KEPT, Verdicts
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


def test_verdicts_are_compared_within_and_across_rounds() -> None:
    verdicts = Verdicts()
    verdicts.note("p", 0, [said("a", "SAT"), said("b", "")])
    verdicts.note("p", 1, [said("a", "SAT"), said("c", "SAT")])
    verdicts.note("q", 2, [said("b", "UNSAT")])
    assert verdicts.found == []
    verdicts.note("p", 3, [said("b", "UNSAT")])
    (across,) = verdicts.found
    assert str(across) == "p: UNSAT by b (round 3) contradicts SAT by a (round 0)"
    verdicts.note("r", 4, [said("a", "UNSAT"), said("b", "SAT", checked=True)])
    assert str(verdicts.found[1]) == (
        "r: SAT by b (round 4, its model holds) contradicts UNSAT by a (round 4)"
    )
    # What is proved is what later rounds are compared with.
    verdicts.note("r", 5, [said("c", "SAT")])
    assert len(verdicts.found) == 2
    assert verdicts.of_round(4) == (verdicts.found[1],)
    assert verdicts.of_round(0) == (across,)
    assert verdicts.of_round(1) == ()


def test_refuted_verdicts_are_compared_but_nothing_is_compared_with_them() -> None:
    verdicts = Verdicts()
    verdicts.note("p", 0, [said("liar", "SAT", "wrong"), said("a", "UNSAT")])
    assert [each.second.arm for each in verdicts.found] == ["liar"]
    verdicts.note("p", 1, [said("b", "UNSAT")])
    verdicts.note("", 2, [said("a", "SAT")])
    verdicts.note("", 3, [said("b", "UNSAT")])
    assert verdicts.count == 1


def test_many_contradictions_are_counted_and_some_are_kept() -> None:
    verdicts = Verdicts()
    for number in range(MOST_KEPT + 5):
        verdicts.note(f"p{number}", number, [said("a", "SAT"), said("b", "UNSAT")])
    assert (verdicts.count, len(verdicts.found)) == (MOST_KEPT + 5, MOST_KEPT)


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
    assert (views["liar"].wrong, views["liar"].disputed, views["right"].wrong) == (1, 1, 0)


def test_double_check_lets_a_second_arm_finish(formula: str) -> None:
    arms = {"liar": UNSAT, "right": SAT}
    first = RaceSettings(stop="first", watch=0.0)
    with Portfolio(arms, 2, 20.0, settings=first) as portfolio:
        result = portfolio.solve(formula)
        assert (result.winner, result.contradictions) == ("liar", ())
    with Portfolio(arms, 2, 20.0, settings=first, double_check=1.0) as portfolio:
        result = portfolio.solve(formula)
        assert (result.winner, len(result.contradictions)) == ("right", 1)
    with Portfolio(arms, 2, 20.0, settings=first, double_check=0.5) as portfolio:
        checked = [all(run.verdict for run in portfolio.solve(formula).runs) for _ in range(6)]
    assert 0 < sum(checked) < 6
    with pytest.raises(PickbestError, match="double_check must be above 0 and at most 1"):
        Portfolio(arms, 2, 20.0, double_check=1.5)


def test_contradictions_across_rounds_processes_and_snapshots(
    formula: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pickbest.portfolio.store.ledger.SNAPSHOT_EVERY", 3)
    store = tmp_path / "r.db"
    with Portfolio({"liar": UNSAT, "right": BARE_SAT}, 1, 20.0, store) as portfolio:
        portfolio.pause_arm("liar")
        assert portfolio.solve(formula).contradictions == ()
        portfolio.resume_arm("liar")
        portfolio.pause_arm("right")
    with AskTell.reopened(store) as book:
        assert book.ledger.state.verdicts._known
    with Portfolio({"liar": UNSAT, "right": BARE_SAT}, 1, 20.0, store) as portfolio:
        result = portfolio.solve(formula)
        assert result.contradictions == (
            f"{formula}: UNSAT by liar (round 1) contradicts SAT by right (round 0)",
        )
        first, second = portfolio.history()
        assert first.contradictions == second.contradictions != ()
        portfolio.verify()
        state = portfolio.ledger.state
        last = list(portfolio.ledger.journal.entries())[-1]
        again = restore_snapshot(take_snapshot(state, last.record), last, None)
        assert digest_of(again) == digest_of(state)
        assert again.verdicts.found == state.verdicts.found


LIARS = f"""
budget = 2
deadline = 20.0
stop = "deadline"
[arms]
liar = {json.dumps(UNSAT)}
right = {json.dumps(BARE_SAT)}
unknown = ["echo", "s UNKNOWN"]
"""


def test_every_view_tells_and_so_does_the_exit_code(
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
    told = f"{formula}: SAT by right (round 0) contradicts UNSAT by liar (round 0)"
    other = f"{formula}: UNSAT by liar (round 0) contradicts SAT by right (round 0)"
    assert f"contradiction: {told}" in printed.err or f"contradiction: {other}" in printed.err
    assert 'reading answers as "dimacs"' in printed.err
    assert "UNSAT, won by liar" in printed.out
    assert "no answer: unknown" in printed.out
    for view in ("status", "history"):
        shown = pickbest(view, config)
        assert f"contradiction: {told}" in shown or f"contradiction: {other}" in shown
    assert "active, 1 disputed" in " ".join(pickbest("status", config).split())
    assert "! UNSAT" in pickbest("history", config)
    status = json.loads(pickbest("status", config, "--json"))
    assert {each[side]["arm"] for each in status["contradictions"] for side in ("first", "second")}
    (view,) = map(json.loads, pickbest("history", config, "--json").splitlines())
    assert view["contradictions"] == status["contradictions"]


def test_the_service_tells(formula: str, tmp_path: Path) -> None:
    testclient = pytest.importorskip("fastapi.testclient", reason="fastapi is not installed")
    from pickbest.portfolio.service.app import create_app

    store = tmp_path / "r.db"
    with Portfolio({"l": UNSAT, "r": BARE_SAT}, 2, 20.0, store, stop="deadline") as portfolio:
        portfolio.solve(formula)
    with AskTell.reopened(store) as book, testclient.TestClient(create_app(book)) as client:
        assert len(client.get("/api/status").json()["contradictions"]) == 1
        (view,) = client.get("/api/history").json()
        assert len(view["contradictions"]) == 1
        assert {run["verdict"] for run in view["runs"]} == {"SAT", "UNSAT"}
        assert 'id="contradictions"' in client.get("/").text


def fails_late(problem: object) -> None:
    raise ValueError("x" * 5000 + "\nthe last line says why")


def test_long_exceptions_keep_their_last_line() -> None:
    with Portfolio({"a": fails_late}, 1, 20.0) as portfolio:
        (run,) = portfolio.solve("p").runs
    assert run.reason.startswith("ValueError: xxx")
    assert run.reason.endswith("the last line says why")
    assert len(run.reason) <= 1000
    code = "raise ValueError('x' * 5000 + chr(10) + 'the last line')"
    with Portfolio({"a": [sys.executable, "-c", code]}, 1, 20.0) as portfolio:
        (run,) = portfolio.solve("p").runs
    assert run.reason == "exit code 1: the last line"


def test_outputs_that_speak_against_the_winner_are_kept_as_evidence(
    formula: str, tmp_path: Path
) -> None:
    arms = {"good": SAT, "liar": UNSAT, "same": SAT}
    with Portfolio(arms, 3, 60.0, tmp_path / "r.db", learner="thompson", stop="deadline") as book:
        result = book.solve(formula)
    assert result.winner in ("good", "same")
    (kept,) = (tmp_path / "r.db.outputs").iterdir()
    assert (kept.name, kept.read_text()) == ("0-liar.txt", "s UNSATISFIABLE\n")
    assert kept.stat().st_mode & 0o777 == 0o600
