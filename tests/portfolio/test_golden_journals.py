"""Journals that 0.1.0 wrote: they open, replay, and go on as they did (tests/golden/README.md)."""

from __future__ import annotations

import gzip
import sqlite3
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from pickbest.catalog import describe
from pickbest.core import Learner
from pickbest.core.codec import encode
from pickbest.core.states import same_state
from pickbest.learners.intervals import FromIntervals
from pickbest.learners.states_0_1 import from_flat
from pickbest.portfolio import AskTell, PortfolioState
from pickbest.portfolio.store.export import export_lines, read_export
from pickbest.portfolio.store.records import decode_record
from tests.golden.golden_assets import FOLDER, as_arrays, read_json, told_cost
from tests.golden.replay import auto_of_0_1 as auto_of_0_1, of_today

ROWS: list[dict[str, Any]] = read_json(FOLDER / "journals.json.gz")


@pytest.fixture
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of the journal: opening it may migrate it."""
    path = tmp_path / "golden.db"
    path.write_bytes(gzip.decompress((FOLDER / "journals" / request.param["file"]).read_bytes()))
    return path


# What later versions say of arms, and of a portfolio, that 0.1.0 did not.
LATER_OF_ARMS = {"wrong": 0, "disputed": 0}
LATER = {"late": 0, "stages": (), "mode": "", "contradictions": ()}


def told(state: PortfolioState) -> tuple[Learner, Any]:
    """The learner that 0.1.0 had, and its state: today's also knows what stopped runs say."""
    learner, known = state.live.learner, state.live.state
    return (learner.inner, known.inner) if isinstance(learner, FromIntervals) else (learner, known)


def check_state(state: PortfolioState, expected: dict[str, Any]) -> None:
    learner, known = told(state)
    flat = from_flat(learner, as_arrays(expected))
    assert same_state(known, flat), f"{known} differs from {flat}"


def as_in_0_1_0(status: dict[str, Any]) -> dict[str, Any]:
    """Without what was said later, which must be as for a portfolio that had nothing to say."""
    arms = [dict(arm) for arm in status["arms"]]
    for arm in arms:
        assert {name: arm.pop(name) for name in LATER_OF_ARMS} == LATER_OF_ARMS
    mode = status["mode"]
    assert {name: status.pop(name) for name in LATER} == {**LATER, "mode": mode}
    assert status.pop("limits") in ("cgroup v2", "polling")
    return {**status, "arms": arms}


@pytest.mark.usefixtures("auto_of_0_1")
@pytest.mark.parametrize(
    ("row", "store"), [pytest.param(row, row, id=row["label"]) for row in ROWS], indirect=["store"]
)
def test_a_journal_of_0_1_0_opens_replays_and_goes_on(row: dict[str, Any], store: Path) -> None:
    with AskTell.reopened(store) as book:
        book.verify()
        state, known = book.ledger.state, row["known"]
        assert as_in_0_1_0(asdict(book.status())) == known["status"]
        tallies = {arm: asdict(tally) for arm, tally in state.tallies.items()}
        assert [tally.pop("wrong") for tally in tallies.values()] == [0] * len(tallies)
        assert tallies == known["tallies"]
        lost = {str(each.round): each.reason for each in book.history() if each.state == "lost"}
        assert (lost, state.lost) == (known["lost"], len(known["lost"]))
        assert sorted(state.open) == known["open"]
        assert [ticket.round for ticket in book.open_tickets] == known["open"]
        assert describe(told(state)[0]) == of_today(known["described"])
        assert state.live.shares() == known["shares"]
        check_state(state, known["state"])
        picks = [{"round": view.round, "arms": list(view.arms)} for view in book.history()]
        assert picks == row["picks"]
        for following in row["next"]:
            ticket = book.ask("next")
            weights = book.ledger.picked(ticket.round).weights
            assert list(ticket.arms) == following["arms"]
            assert (None if weights is None else list(weights)) == following["weights"]
            costs = [told_cost(ticket.round, "abcdefgh".index(arm)) for arm in ticket.arms]
            book.tell(ticket, costs)
        check_state(state, row["state_after"])
        book.verify()


@pytest.mark.parametrize(
    "store", [pytest.param(row, id=row["label"]) for row in ROWS], indirect=True
)
def test_every_stored_record_would_be_written_the_same(store: Path) -> None:
    connection = sqlite3.connect(store)
    rows = connection.execute("SELECT kind, body FROM pickbest_records").fetchall()
    connection.close()
    assert len(rows) > 40
    for kind, body in rows:
        assert encode(decode_record(kind, body)) == body


@pytest.mark.parametrize("store", [ROWS[0]], indirect=True)
def test_an_export_of_0_1_0_is_read_and_written_the_same(store: Path) -> None:
    path = FOLDER / "journals" / "auto.jsonl"
    with AskTell.reopened(store) as book:
        entries = book.ledger.entries()
    assert ROWS[0]["label"] == "auto"
    assert [entry.record for entry in entries] == read_export(path)
    assert "".join(f"{line}\n" for line in export_lines(entries)) == path.read_text()
