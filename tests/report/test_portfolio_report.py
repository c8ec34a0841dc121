"""The report about a portfolio, and its runs as tables: from journals whose numbers are known."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from pickbest.core import PickbestError
from pickbest.portfolio import AskTell, Portfolio, Run, RunStatus
from pickbest.portfolio.store.export import COLUMNS, chosen_format
from pickbest.portfolio.store.records import Entry, Finished, Opened, Picked, Record, Roster
from pickbest.report.portfolio_numbers import PortfolioNumbers
from pickbest.report.portfolio_page import portfolio_report
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
        [run("a", "wrong", 1.0, "SAT", "wrong: no"), run("b", "finished", 3.0, "SAT")],
        "b",
    ),
    ("x/1.cnf", [run("b", "finished", 0.5, "UNSAT"), run("c", "crashed", 0.1, reason="boom")], "b"),
]


def entries() -> list[Entry]:
    records: list[Record] = [Opened(0, "uniform"), Roster(("a", "b", "c"), 2)]
    for number, (problem, runs, winner) in enumerate(ROUNDS):
        arms = tuple(each.arm for each in runs)
        costs = [each.cost for each in runs if each.cost is not None]
        records += [
            Picked(number, arms, (1.5, 1.5), 1e9, problem=problem, at=1e9 + number),
            Finished(number, tuple(runs), *[(1.0, 1.0)] * 3, winner=winner, cost=min(costs)),
        ]
    return [Entry(place, record) for place, record in enumerate(records, 1)]


def test_numbers_with_bounds_where_runs_were_stopped() -> None:
    numbers = PortfolioNumbers.of(entries(), 10.0)
    assert numbers.times_are_costs
    assert numbers.portfolio_par2() == pytest.approx((1 + 2 + 20 + 3 + 0.5) / 5)
    # x/1.cnf was solved in half a second once, so its first round could have been, too.
    assert numbers.virtual_best_par2() == pytest.approx((0.5 + 2 + 20 + 3 + 0.5) / 5)
    arms = {arm.name: arm for arm in numbers.arms()}
    assert arms["a"].par2 == pytest.approx(((1 + 4 + 20) / 3,) * 2)
    assert arms["b"].par2 == pytest.approx(((1 + 20 + 3 + 0.5) / 4, (20 + 20 + 3 + 0.5) / 4))
    assert arms["b"].mean_cost == pytest.approx(((0.1 + 1 + 0.3 + 0.05) / 4, (2 + 0.35) / 4))
    c = arms["c"]
    assert (c.runs, c.won, c.solved) == (3, 1, 1)
    assert c.ended == dict.fromkeys(map(RunStatus, ("finished", "no answer", "crashed")), 1)
    assert arms["a"].ended[RunStatus.WRONG] == 1
    assert arms["b"].ended[RunStatus.STOPPED] == arms["b"].ended[RunStatus.TIMEOUT] == 1
    assert numbers.cactus() == {"": [0.5, 1, 2, 3], "a": [1, 4], "b": [0.5, 3], "c": [2]}
    assert list(numbers.places()) == ["x/*.cnf", "y/*.cnf"]
    assert numbers.arm_curve("b")[1][-1] == pytest.approx((0.1 + 1 + 0.3 + 0.05) / 4)
    (found,) = numbers.verdicts.found
    assert found.rounds == (0, 4)
    # One arm is as good as the mean of the arms, whatever they have to do with each other.
    for alike in (True, False):
        one = numbers.random_sets(1, alike)
        mean = sum(arm.mean_cost[0] for arm in arms.values()) / 3
        assert one == pytest.approx(mean, abs=0.08)
        assert numbers.random_sets(2, alike) < one
        assert numbers.random_sets(3, alike) <= numbers.random_sets(2, alike)


def test_a_deadline_that_is_not_known_is_said_to_be_guessed() -> None:
    numbers = PortfolioNumbers.of(entries())
    assert (numbers.deadline, numbers.guessed) == (10.0, True)
    assert "longest time seen" in dict(portfolio_report(numbers, 2, "p", "x").facts)["deadline"]
    with pytest.raises(PickbestError, match="no round is finished"):
        PortfolioNumbers.of(entries()[:2])


@pytest.fixture
def store(tmp_path: Path) -> Path:
    from pickbest.portfolio.store.journal import Journal
    from pickbest.portfolio.store.ledger import Ledger

    path = tmp_path / "runs.db"
    journal = Journal(str(path))
    Ledger(journal).restore([entry.record for entry in entries()])
    journal.close()
    return path


def test_the_page_needs_nothing_else_and_names_everything(store: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="Matplotlib is not installed (extra: report)")
    pytest.importorskip("jinja2", reason="Jinja2 is not installed (extra: report)")
    out = tmp_path / "page"
    told = pickbest("report", store, "--out", out, "--deadline", "10")
    assert told == f"5 rounds: {out / 'report.html'}\n"
    page = (out / "report.html").read_text()
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page
    assert "<script" not in page
    for words in ("In 1 cases two arms contradict", "boom", "wrong: no", "virtual best", "x/*.cnf",
                  "Cactus plot", "What random sets would have paid is not known"):  # fmt: skip
        assert words in page
    table = {row["who"]: row for row in csv.DictReader((out / "tables" / "par2.csv").open())}
    # What was measured is a number; what is not known is never a bound alone.
    assert table["the portfolio"]["PAR2, seconds"] == "5.3"
    assert table["b"]["PAR2, seconds"] == "between 6.125 and 10.88"
    assert table["b"]["mean cost"] == "between 0.3625 and 0.5875"
    assert {path.name for path in (out / "figures").glob("*.png")} == {
        "cactus.png",
        "cost-over-time.png",
    }


def test_runs_as_tables(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = list(csv.DictReader(io.StringIO(pickbest("export", store, "--format", "csv"))))
    assert (len(rows), tuple(rows[0])) == (10, COLUMNS)
    assert [row["arm"] for row in rows if row["won"] == "True"] == ["a", "c", "b", "b"]
    assert {row["round"] for row in rows if row["contradicted"] == "True"} == {"0", "4"}
    out = tmp_path / "runs.csv"
    pickbest("export", store, "--out", out)
    assert list(csv.DictReader(out.open())) == rows
    pytest.importorskip("pandas", reason="pandas is not installed (extra: data)")
    with AskTell.reopened(store) as book:
        frame = book.to_pandas()
    assert list(frame.columns) == list(COLUMNS)
    assert frame["verdict"].tolist() == [row["verdict"] for row in rows]
    assert frame["cost"].isna().sum() == 1
    assert exit_of(monkeypatch, "export", store, "--format", "xls") == 2
    assert chosen_format(None, Path("a.db")) == "jsonl"


def test_arms_of_a_lost_round_have_a_row_each_and_no_result() -> None:
    with AskTell(("a", "b", "c"), 2) as book:
        ticket = book.ask()
        book.ledger.lose([ticket.round], "cut off")
        frame = book.to_pandas()
    assert frame["arm"].tolist() == list(ticket.arms)
    assert set(frame["state"]) == {"lost"}
    assert set(frame["reason"]) == {"cut off"}
    assert not frame[["won", "checked", "learned", "contradicted"]].to_numpy().any()
    assert frame[["cost", "seconds", "status"]].isna().all(axis=None)


def test_reprs_are_short_and_say_what_matters(tmp_path: Path) -> None:
    with Portfolio({"a": ["echo", "x" * 5000]}, 1, 20.0, answer="text") as portfolio:
        result = portfolio.solve("p")
        frame = portfolio.to_pandas()
        shown = repr(portfolio)
        status = str(portfolio.status())
    assert shown == "Portfolio(1 arms, 1 a round, deadline 20 s, 1 rounds finished)"
    assert repr(result).startswith("Result('p': won by a, ")
    assert len(repr(result)) < 200
    assert "a: picked 1, won 1, failed 0, wrong 0, picked next 100%" in status
    assert frame["won"].tolist() == [True]


def test_an_answer_in_no_time_is_an_answer() -> None:
    """0.0 is a number."""
    quick = run("a", "finished", 0.0)
    records: list[Record] = [
        Opened(0, "uniform"),
        Roster(("a",), 1),
        Picked(0, ("a",), (1.0,), 1e9, problem="p", at=1e9),
        Finished(0, (quick,), *[(1.0,)] * 3, winner="a", cost=0.0),
    ]
    numbers = PortfolioNumbers.of([Entry(n, record) for n, record in enumerate(records, 1)], 10.0)
    assert numbers.portfolio_par2() == numbers.virtual_best_par2() == 0.0


def test_random_sets_are_compared_where_every_cost_is_known() -> None:
    known = [entry for entry in entries() if "stopped" not in repr(entry.record)]
    gone = {0}  # the round in which a run was stopped
    kept = [entry for entry in known if getattr(entry.record, "round", None) not in gone]
    made = portfolio_report(PortfolioNumbers.of(kept, 10.0), 2, "name", "command")
    assert "Random sets of 2 arms would have paid" in repr(made)
