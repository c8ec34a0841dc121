"""The report about a portfolio, and its runs as tables: from journals whose numbers are known."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest

from pickbest.core import PickbestError
from pickbest.portfolio import AskTell, Portfolio, Run, RunStatus
from pickbest.portfolio.store.export import COLUMNS, chosen_format, run_rows
from pickbest.portfolio.store.records import Entry, Finished, Opened, Picked, Record, Roster
from pickbest.report.portfolio_page import Races, portfolio_report
from tests.portfolio.test_commands import exit_of, pickbest


def run(arm: str, status: str, seconds: float, verdict: str = "", reason: str = "") -> Run:
    solved = status == "finished"
    cost = None if status == "stopped" else seconds / 10.0 if solved else 1.0
    return Run(arm, RunStatus(status), cost, seconds, reason, verdict=verdict)


ROUNDS = [
    ("x/1.cnf", [run("a", "finished", 1.0, "SAT"), run("b", "stopped", 1.0)], "a"),
    ("x/2.cnf", [run("a", "finished", 4.0, "UNSAT"), run("c", "finished", 2.0, "UNSAT")], "c"),
    (
        "y/3.cnf",
        [run("b", "timeout", 10.0), run("c", "no answer", 1.0, reason="no answer: u")],
        None,
    ),
    (
        "y/1.cnf",
        [run("a", "wrong", 1.0, "SAT", "wrong: no"), run("b", "finished", 3.0, "UNSAT")],
        "b",
    ),
    ("x/1.cnf", [run("b", "finished", 0.5, "UNSAT"), run("c", "crashed", 0.1, reason="boom")], "b"),
]


def entries() -> list[Entry]:
    records: list[Record] = [Opened(0, "uniform"), Roster(("a", "b", "c"), 2)]
    for number, (problem, runs, winner) in enumerate(ROUNDS):
        arms = tuple(each.arm for each in runs)
        costs = [each.cost for each in runs if each.cost is not None]
        times = tuple(1.0 if each.cost == 1.0 else each.seconds / 10.0 for each in runs)
        records += [
            Picked(number, arms, (1.5, 1.5), 1e9, problem=problem, at=1e9 + number),
            Finished(number, tuple(runs), *[(1.0, 1.0)] * 2, times, winner=winner, cost=min(costs)),
        ]
    return [Entry(place, record) for place, record in enumerate(records, 1)]


def test_what_was_measured_and_what_is_estimated() -> None:
    races = Races(entries())
    assert list(races.runs) == ["b", "a", "c"]  # by wins
    alone = races.alone()
    assert {name: each.mean for name, each in alone.items()} == {
        "a": pytest.approx((0.1 + 0.4 + 1.0) / 3),
        "b": pytest.approx((1.0 + 0.3 + 0.05) / 3),
        "c": pytest.approx((0.2 + 1.0 + 1.0) / 3),
    }
    assert all(0.0 <= each.low < each.mean < each.high <= 1.0 for each in alone.values())


def raced(quick: float, slow: float, rounds: int) -> list[Entry]:
    """Rounds of two arms that always take the same time; the slower one is always stopped."""
    records: list[Record] = [Opened(0, "uniform"), Roster(("quick", "slow"), 2)]
    for number in range(rounds):
        watched = number % 4 == 0
        ends = run("slow", "finished", slow) if watched else run("slow", "stopped", quick)
        runs = (run("quick", "finished", quick), ends)
        times = (quick / 10.0, ends.seconds / 10.0)
        records += [
            Picked(number, ("quick", "slow"), (1.0, 1.0), 1e9, None, "p", watched, watch=0.25),
            Finished(number, runs, times, times, times, winner="quick", cost=quick / 10.0),
        ]
    return [Entry(place, record) for place, record in enumerate(records, 1)]


def test_only_rounds_that_were_watched_say_what_arms_cost_alone() -> None:
    alone = Races(raced(1.0, 4.0, 80)).alone()
    assert alone["quick"].mean == pytest.approx(0.1)
    assert alone["slow"].high == pytest.approx(0.4)


def test_a_portfolio_without_a_finished_round_has_no_report() -> None:
    with AskTell(("a", "b"), 1) as book, pytest.raises(PickbestError, match="no round is finished"):
        portfolio_report(book.status(), book.ledger.state.course, [], "p", "pickbest report")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    from pickbest.portfolio.store.journal import Journal

    path = tmp_path / "runs.db"
    journal = Journal(str(path))
    with journal.turn(0) as turn:
        for entry in entries():
            turn.append(entry.record)
    journal.close()
    return path


def test_the_page_needs_nothing_else_and_names_everything(store: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="Matplotlib is not installed (extra: report)")
    pytest.importorskip("jinja2", reason="Jinja2 is not installed (extra: report)")
    out = tmp_path / "page"
    told = pickbest("report", store, "--out", out)
    assert told == f"5 problems: {out / 'report.html'}\n"
    page = (out / "report.html").read_text()
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page
    assert "<script" not in page
    for words in ("boom", "wrong: no", "The portfolio paid 0.33 per problem"):
        assert words in page
    table = {row["arm"]: row for row in csv.DictReader((out / "tables" / "alone.csv").open())}
    # What was measured is a number; what is not known is never a bound alone.
    assert table.pop("the portfolio (measured)")["mean cost"] == "0.33"
    for row in table.values():
        assert re.fullmatch(r"[\d.]+ \([\d.]+ to [\d.]+\)", row["mean cost"])
    figures = {path.name for path in (out / "figures").glob("*.png")}
    assert figures == {"cost.png"}


def test_runs_as_tables(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = list(csv.DictReader(io.StringIO(pickbest("export", store, "--format", "csv"))))
    assert (len(rows), tuple(rows[0])) == (10, COLUMNS)
    assert [row["arm"] for row in rows if row["won"] == "True"] == ["a", "c", "b", "b"]
    assert {row["round"] for row in rows if row["contradicted"] == "True"} == {"3"}
    out = tmp_path / "runs.csv"
    pickbest("export", store, "--out", out)
    assert list(csv.DictReader(out.open())) == rows
    assert sum(row["cost"] == "" for row in rows) == 1
    assert exit_of(monkeypatch, "export", store, "--format", "xls") == 2
    assert chosen_format(None, Path("a.db")) == "jsonl"


def test_arms_of_a_lost_round_have_a_row_each_and_no_result() -> None:
    with AskTell(("a", "b", "c"), 2) as book:
        ticket = book.ask()
        book.ledger.lose([ticket.round], "cut off")
        rows = [dict(zip(COLUMNS, row, strict=True)) for row in run_rows(book.history())]
    assert [row["arm"] for row in rows] == list(ticket.arms)
    for row in rows:
        assert (row["state"], row["reason"]) == ("lost", "cut off")
        assert not any(row[name] for name in ("won", "checked", "learned", "contradicted"))
        assert [row[name] for name in ("cost", "seconds", "status")] == [None] * 3


def test_reprs_are_short_and_say_what_matters(tmp_path: Path) -> None:
    with Portfolio({"a": ["echo", "x" * 5000]}, 1, 20.0, answer="text") as portfolio:
        result = portfolio.solve("p")
        shown = repr(portfolio)
        status = str(portfolio.status())
    assert shown == "Portfolio(1 arms, 1 per round, deadline 20 s, 1 rounds finished)"
    assert repr(result).startswith("Result('p': won by a, ")
    assert len(repr(result)) < 200
    assert "a: picked 1, won 1, failed 0, wrong 0, picked next 100%" in status
