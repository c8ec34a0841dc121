"""SQLite and PostgreSQL: the same schema, the same journal, shared by many processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa

from pickbest.core import PickbestError
from pickbest.core.states import same_state
from pickbest.portfolio import AskTell
from pickbest.portfolio.store.databases import as_url, versions
from tests.portfolio.clients import ARMS

HERE = Path(__file__).parent


def test_both_databases_give_the_same_bits(any_database: str) -> None:
    """The picks and the state depend on the journal's content, not on where it lies."""
    here, memory = AskTell(ARMS, 2, any_database, seed=9), AskTell(ARMS, 2, seed=9)
    for number in range(30):
        first, second = here.ask(), memory.ask()
        assert first.arms == second.arms
        for book, ticket in ((here, first), (memory, second)):
            book.tell(ticket, [number / 30, 1.0 / 3.0])
    assert same_state(here.ledger.state.live.state, memory.ledger.state.live.state)
    here.close()
    memory.close()


def test_sixteen_clients_lose_and_double_nothing(any_database: str) -> None:
    clients, rounds = 16, 8
    command = [sys.executable, str(HERE / "clients.py"), any_database]
    done = subprocess.run(
        [*command, str(clients), str(rounds)], check=False, capture_output=True, timeout=240
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    told = [number for line in done.stdout.splitlines() for number in json.loads(line)]
    assert sorted(told) == list(range(clients * rounds))
    book = AskTell(ARMS, 2, any_database, seed=4)
    status = book.status()
    assert (status.asked, status.finished, status.lost) == (clients * rounds, clients * rounds, 0)
    assert status.learned == clients * rounds
    book.verify()
    book.close()


def test_two_portfolios_share_a_database(any_database: str) -> None:
    first = AskTell(ARMS, 2, any_database, name="first")
    second = AskTell(("x", "y"), 1, any_database, name="second", learner="uniform")
    first.tell(first.ask(), [0, 0])
    assert (first.status().asked, second.status().asked) == (1, 0)
    assert second.ask().arms[0] in ("x", "y")
    second.close()
    first.close()


def test_another_schema_is_refused_on_either_database(any_database: str) -> None:
    AskTell(ARMS, 2, any_database).close()
    engine = sa.create_engine(as_url(any_database))
    with engine.begin() as connection:
        connection.execute(versions.update().values(version=99))
    with pytest.raises(PickbestError, match="another version of pickbest \\(schema 99"):
        AskTell(ARMS, 2, any_database)
    engine.dispose()


@pytest.mark.slow
@pytest.mark.parametrize("where", [(), pytest.param(("--postgres",), marks=pytest.mark.postgres)])
def test_random_kills_lose_and_double_nothing(where: tuple[str, ...]) -> None:
    """The full size, 300 kills in 2,000 rounds, is `python portfolio_torture.py`."""
    command = [sys.executable, str(HERE / "portfolio_torture.py"), "--kills", "12", *where]
    done = subprocess.run(
        [*command, "--rounds", "60"], check=False, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    killed = found["killed"]
    assert killed["worker"] + killed["keeper"] + killed["guards"] >= 12
    assert found["orphans"] == 0
    assert found["finished"] >= 60
    assert found["noted"] <= found["finished"]
