"""Answers in races: who wins, who is wrong, what is kept of long ones, what users may refuse."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pickbest.portfolio import Command, Function, Portfolio, Run, RunStatus
from pickbest.portfolio.engine import guard
from pickbest.portfolio.engine.local import LocalEngine
from pickbest.portfolio.run.answers.handling import DIMACS
from pickbest.portfolio.run.answers.reading import NUMBER, TEXT
from tests.portfolio.test_answers import runs_of, says

BIG = (
    "import sys\n"
    "print('s SATISFIABLE' if sys.argv[1] == 'first' else 'c begin')\n"
    "line = 'v ' + ' '.join(str(-i) for i in range(1, 13)) + '\\n'\n"
    "sys.stdout.write(line * (50_000_000 // len(line)))\n"
    "print('v 0'); print('s SATISFIABLE' if sys.argv[1] == 'last' else 'c end')\n"
    "sys.exit(10)\n"
)


def test_no_answer_never_wins_and_never_stops_a_race(formula: str, query: str) -> None:
    later = "sleep 0.3; "
    for problem, unknown, answer in (
        (formula, "s UNKNOWN", "s UNSATISFIABLE"),
        (query, "unknown", "unsat"),
        (query, "timeout", "unsat"),
    ):
        arms = {
            "unknown": says(unknown),
            "nothing": ["true"],
            "knows": ["sh", "-c", f"{later}echo '{answer}'"],
        }
        with Portfolio(arms, 3, 20.0, cost="runtime") as portfolio:
            result = portfolio.solve(problem)
        runs = runs_of(result)
        assert (result.winner, result.verdict) == ("knows", "UNSAT")
        for arm in ("unknown", "nothing"):
            assert runs[arm].status is RunStatus.NO_ANSWER
            assert runs[arm].cost == 1.0
            assert runs[arm].reason.startswith("no answer: ")


def test_liars_and_loudmouths_never_win_and_all_are_named(formula: str) -> None:
    """One lies, one gives up at once, two print 50 MB of a wrong model, one hangs."""
    arms = {
        "lies": says("s SATISFIABLE\\nv -1 -2 -3 0", 10),
        "unknown": says("s UNKNOWN"),
        "loud first": [sys.executable, "-c", BIG, "first"],
        "loud last": [sys.executable, "-c", BIG, "last"],
        "hangs": ["sleep", "60"],
    }
    with Portfolio(arms, 5, 8.0) as portfolio:
        result = portfolio.solve(formula)
        assert (result.winner, result.answer) == (None, None)
    runs = runs_of(result)
    assert runs["hangs"].status is RunStatus.TIMEOUT
    assert runs["unknown"].status is RunStatus.NO_ANSWER
    for arm in ("lies", "loud first", "loud last"):
        assert (runs[arm].status, runs[arm].verdict) == (RunStatus.WRONG, "SAT")
        assert "clause 2: 2" in runs[arm].reason


def test_long_outputs_are_kept_whole_beside_the_journal(formula: str, tmp_path: Path) -> None:
    script = "print('s SATISFIABLE'); print('v 1 2 3 0'); print('c x' * 100_000); exit(10)"
    arms = {"long": [sys.executable, "-c", script]}
    with Portfolio(arms, 1, 20.0, tmp_path / "r.db") as portfolio:
        result = portfolio.solve(formula)
        assert result.runs[0].checked
        assert result.runs[0].truncated
        assert len(result.answer) == 100_000
        assert result.answer.startswith("s SATISFIABLE")
        (view,) = portfolio.history()
    kept = tmp_path / "r.db.outputs" / "0-long.txt"
    assert result.output == str(kept)
    assert view.output == kept.name
    assert len(kept.read_text().splitlines()) == 3
    assert kept.stat().st_mode & 0o077 == 0


def test_who_writes_too_much_is_ended(formula: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "OUTPUT_BYTES", 1 << 20)
    loud = "print('s UNSATISFIABLE', flush=True)\nwhile True: print('c x' * 1_000_000)"
    arms = {"loud": [sys.executable, "-c", loud], "good": says("s UNSATISFIABLE", 20)}
    # Guards of a keeper that is a fork know what was set here.
    with Portfolio(arms, 2, 20.0, engine=LocalEngine(forked=True), stop="deadline") as portfolio:
        result = portfolio.solve(formula)
    run = runs_of(result)["loud"]
    assert (run.status, run.reason) == (RunStatus.CRASHED, "its output is larger than 1 MB")
    assert result.winner == "good"


def returns_model(problem: object) -> tuple[str, list[int]]:
    return "SAT", [1, 2, 3]


def test_formats_of_single_arms(formula: str) -> None:
    arms = {
        "text": Command(tuple(says("hello")), answer=TEXT),
        "number": Command(tuple(says("7")), answer=NUMBER),
        "function": Function(returns_model, answer=DIMACS),
        "as it is": returns_model,
    }
    with Portfolio(arms, 4, 20.0, stop="deadline") as portfolio:
        runs = runs_of(portfolio.solve(formula))
    assert {arm: (run.verdict, run.checked) for arm, run in runs.items()} == {
        "text": ("", False),
        "number": ("", False),
        "function": ("SAT", True),
        "as it is": ("", False),
    }
    assert runs["number"].value == 7.0


def refuses_long(run: Run) -> str | None:
    assert run.problem == "p"
    return f"{len(run.text)} letters" if len(run.text) > 3 else None


def test_a_check_refuses_answers_and_the_race_goes_on() -> None:
    arms = {"long": ["echo", "too long"], "short": ["sh", "-c", "sleep 2; printf yes"]}
    with Portfolio(arms, 2, 20.0, check=refuses_long) as portfolio:
        result = portfolio.solve("p")
    assert result.winner == "short"
    run = runs_of(result)["long"]
    assert (run.status, run.reason) == (RunStatus.WRONG, "wrong: 9 letters")


def fails(run: Run) -> bool:
    raise KeyError("oh")


def test_a_check_that_fails_is_the_users_fault() -> None:
    with Portfolio({"a": ["echo", "a"]}, 1, 20.0, check=fails) as portfolio:
        (run,) = portfolio.solve("p").runs
    assert run.status is RunStatus.BROKEN
    assert run.reason == "the check failed: KeyError('oh')"
