"""Live races in stages: an arm is killed after its slice, and its successors start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pickbest.core import PickbestError
from pickbest.portfolio import Command, Portfolio, Ticket
from pickbest.portfolio.run.costs import Runtime
from pickbest.portfolio.run.portfolio_file import read_portfolio_file
from pickbest.portfolio.run.race import Race
from pickbest.portfolio.runs import Result, Run, RunStatus, Task

# Three arms that sleep for as long as the problem says.
ARMS = {
    name: Command(("sh", "-c", f"sleep $(echo {{problem}} | cut -d: -f{place})"))
    for place, name in enumerate("abc", 1)
}


def in_stages(portfolio: Portfolio, problem: str) -> Result:
    """`a` for a quarter of the deadline, then `b` and `c`."""
    ticket = Ticket(0, ("a", "b", "c"), problem, watched=False, until=(0.25, 1.0, 1.0))
    return portfolio.race.run(ticket, problem, lambda: False)


def test_an_arm_gets_its_slice_and_others_take_over() -> None:
    with Portfolio(ARMS, 2, 2.0, cost="runtime") as portfolio:
        a, b, c = in_stages(portfolio, "9:0.3:9").runs
        assert (a.status, b.status, c.status) == (
            RunStatus.STOPPED,
            RunStatus.FINISHED,
            RunStatus.STOPPED,
        )
        assert 0.45 < a.seconds < 1.5
        assert a.cost is None
        assert a.low == pytest.approx(a.seconds / 2.0)
        assert 0.3 < b.seconds < 1.5
        # The answer came when both had run, one after the other.
        assert b.cost is not None
        assert b.cost > (a.seconds + 0.3) / 2.0 - 0.01
        quick = in_stages(portfolio, "0.1:9:9")
        assert quick.winner == "a"
        assert [run.seconds for run in quick.runs[1:]] == [0.0, 0.0]
        nobody = in_stages(portfolio, "9:9:9")
        assert nobody.winner is None
        assert [run.status for run in nobody.runs[1:]] == [RunStatus.TIMEOUT] * 2
        assert nobody.seconds < 6.0


def test_three_slices_share_one_deadline() -> None:
    """An engine that lets every arm run to its own end: the slices add up to the deadline."""
    slices: list[float] = []

    class Engine:
        def race(self, tasks: list[Task], on_end: Any, given_up: Any) -> list[Run]:
            for task in tasks:
                slices.append(task.deadline)
                on_end(Run(task.arm, RunStatus.TIMEOUT, seconds=task.deadline))
            return []

    arms = {name: Command(("true",)) for name in "abc"}
    race = Race(arms, Engine(), Runtime(), 8.0)  # type: ignore[arg-type]
    ticket = Ticket(0, ("a", "b", "c"), "p", watched=False, until=(0.25, 0.5, 1.0))
    runs = race.run(ticket, "p").runs
    assert slices == [2.0, 2.0, 4.0]
    assert [run.seconds for run in runs] == slices
    assert [run.status.value for run in runs] == ["stopped", "stopped", "timeout"]


def test_prices_make_plans_that_are_journalled_and_resumed(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/runs.db"
    settings = {"price": 1.0, "prices": {"c": 0.4}, "trade": 0.5, "cost": "runtime", "seed": 3}
    with Portfolio(ARMS, 2, 0.6, store, **settings) as portfolio:  # type: ignore[arg-type]
        for _ in range(4):
            portfolio.solve("0.05:0.2:9")
        portfolio.verify()
        first = portfolio.ledger.state.live.state
    with Portfolio(ARMS, 2, 0.6, store, **settings) as portfolio:  # type: ignore[arg-type]
        assert portfolio.ledger.state.live.state.mass.tolist() == first.mass.tolist()
        assert portfolio.ledger.state.live.learner.price == 1.0
        assert portfolio.ledger.state.live.learner.call_price == (0.0, 0.0, 0.2)
        portfolio.solve("0.05:0.2:9")
        assert portfolio.status().learned == 5
        portfolio.remove_arm("b")
        portfolio.solve("0.05:0.2:9")
        portfolio.add_arm("b", portfolio.race.arms["b"])
        portfolio.verify()


TOML = """
budget = 2
deadline = 4.0
cost = "runtime"
{more}
[arms.a]
command = ["sleep", "{{problem}}"]
[arms.b]
command = ["sleep", "{{problem}}"]
"""


def read(folder: Path, more: str = ""):  # type: ignore[no-untyped-def]
    path = folder / "portfolio.toml"
    path.write_text(TOML.format(more=more))
    return read_portfolio_file(path).settings


def test_prices_in_toml(tmp_path: Path) -> None:
    opened = read(tmp_path, "price = 0.5\nprices = {a = 0.1}").opened
    assert opened.learner == "schedules"
    assert opened.options == {"price": 0.5, "call_price": {"": 0.0, "a": 0.1}, "cost": "runtime"}
    assert read(tmp_path).opened.learner == "auto"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("prices = {z = 1.0}", "unknown arm of the prices 'z'"),
        ("cascade = true", "unknown key .cascade."),
        ('price = 1.0\nlearner = "thompson"', "need the learner 'schedules'"),
        ("price = -1.0", "price must be a number of at least 0"),
    ],
)
def test_mistakes_are_one_sentence(tmp_path: Path, more: str, message: str) -> None:
    (tmp_path / "portfolio.toml").write_text(TOML.format(more=more))
    with pytest.raises(PickbestError, match=message):
        read_portfolio_file(tmp_path / "portfolio.toml").open()
