"""What the tests of portfolios share."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from pickbest.portfolio import AskTell
from pickbest.portfolio.engine import tree
from pickbest.portfolio.engine.engines import Engine, make_engine
from pickbest.portfolio.runs import Task
from tests.portfolio import postgres
from tests.portfolio.helpers import eventually, serve

SATISFIABLE = "p cnf 3 3\n1 -2 0\n2\n0\n-1 3 0\n"
QUERY = "(set-logic QF_BV)\n(declare-fun |a b| () (_ BitVec 8))\n(declare-fun c () (_ BitVec 8))\n"
QUERY += "(assert (= (bvadd |a b| c) #x07))\n(assert (bvult |a b| #x03))\n"
QUERY += "(check-sat)\n(get-model)\n"


@pytest.fixture(autouse=True)
def no_process_left_behind() -> Iterator[None]:
    """Every test of a portfolio must leave no child process behind."""
    before = set(tree.children(os.getpid()))
    yield
    assert eventually(lambda: before.issuperset(tree.children(os.getpid()))), "a process was left"


@pytest.fixture
def database(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'runs.db'}"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """A PostgreSQL server of this test run."""
    with contextlib.ExitStack() as stack:
        try:
            url = stack.enter_context(postgres.server()).url
        except postgres.NoServerError as error:
            pytest.skip(str(error))
        yield url


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def any_database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of either kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'runs.db'}"
    url: str = request.getfixturevalue("postgres_server")
    name = f"test_{secrets.token_hex(6)}"
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:", 1))
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return url.replace("/postgres?", f"/{name}?", 1)


@pytest.fixture(scope="module", params=["local", pytest.param("ray", marks=pytest.mark.ray)])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Each engine in turn, where Ray is installed."""
    options = {}
    if request.param == "ray":
        pytest.importorskip("ray", reason="Ray is not installed (extra: ray)")
        options = {"num_cpus": 8}
    built = make_engine(request.param, options)
    # Started before the first test, so that each test sees only its own processes.
    built.race([Task("warm", 60.0, argv=("true",))], lambda run: False, lambda: False)
    yield built
    built.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """`pickbest serve` in a process of its own: its address and its database."""
    store = tmp_path / "runs.db"
    book = AskTell(["a", "b", "c"], 2, store, learner="thompson")
    for number in range(12):
        ticket = book.ask(f"problem <b>{number}</b>")
        book.tell(ticket, [{"a": 0.1, "b": 0.5, "c": 0.9}[arm] for arm in ticket.arms])
    book.close()
    process, address = serve(store)
    try:
        yield address, store
    finally:
        process.terminate()
        process.wait(timeout=30.0)


@pytest.fixture
def formula(tmp_path: Path) -> str:
    path = tmp_path / "small.cnf"
    path.write_text(SATISFIABLE)
    return str(path)


@pytest.fixture
def query(tmp_path: Path) -> str:
    path = tmp_path / "small.smt2"
    path.write_text(QUERY)
    return str(path)
