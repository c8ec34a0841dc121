"""Journals in SQLite and PostgreSQL, through SQLAlchemy (extra: portfolio).

SQLite runs in WAL mode with synchronous=FULL: a commit has reached the disk when it returns,
so a power loss takes nothing that was reported. PostgreSQL does the same by default
(synchronous_commit=on). Writers take turns: SQLite by BEGIN IMMEDIATE, PostgreSQL by a lock
on the portfolio's row; so positions have no gaps and every reader sees the same order.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pickbest.core import MissingExtraError, PickbestError
from pickbest.core.codec import encode

try:
    import sqlalchemy as sa
    from sqlalchemy import event
    from sqlalchemy.engine import Connection, Engine
    from sqlalchemy.pool import StaticPool
except ImportError as _error:
    raise MissingExtraError("sqlalchemy", "portfolio", "a stored portfolio") from _error

from pickbest.portfolio.journal import schema
from pickbest.portfolio.journal.protocol import Entry, StorageError
from pickbest.portfolio.journal.records import (
    Finished,
    Lost,
    Picked,
    Record,
    decode_record,
    kind_of,
)

BUSY_SECONDS = 60.0
# One number that all pickbest clients of a PostgreSQL server agree on, to migrate one by one.
MIGRATION_LOCK = 7_021_989
_WRITES = "pickbest_writes"

# Compiled once: the text of these is the same on both databases.
_NEWS = sa.text(
    "SELECT position, kind, body FROM pickbest_records "
    "WHERE portfolio = :portfolio AND position > :after ORDER BY position"
)
_LAST = sa.text(
    "SELECT COALESCE(MAX(position), 0) FROM pickbest_records WHERE portfolio = :portfolio"
)
_INSERT = sa.text(
    "INSERT INTO pickbest_records (portfolio, position, kind, body, opens, closes, written_at) "
    "VALUES (:portfolio, :position, :kind, :body, :opens, :closes, :written_at)"
)
_LOCK = sa.text("SELECT id FROM pickbest_portfolios WHERE id = :portfolio FOR UPDATE")


class SqlTurn:
    """See protocol.Turn."""

    def __init__(self, connection: Connection, portfolio: int, after: int) -> None:
        self.news = _entries(connection, portfolio, after)
        self._rows: list[dict[str, Any]] = []
        self._portfolio = portfolio
        self._last = self.news[-1].position if self.news else self._checked(connection, after)

    def append(self, record: Record) -> Entry:
        self._last += 1
        self._rows.append(
            {
                "portfolio": self._portfolio,
                "position": self._last,
                "kind": kind_of(record),
                "body": encode(record),
                "opens": record.round if isinstance(record, Picked) else None,
                "closes": record.round if isinstance(record, Finished | Lost) else None,
                "written_at": time.time(),
            }
        )
        return Entry(self._last, record)

    def write(self, connection: Connection) -> None:
        """Send what was appended to the database."""
        if self._rows:
            connection.execute(_INSERT, self._rows)

    def _checked(self, connection: Connection, after: int) -> int:
        last = int(connection.execute(_LAST, {"portfolio": self._portfolio}).scalar_one())
        if last < after:
            raise PickbestError(
                f"the journal ends at record {last}, but record {after} was seen before: the "
                "database was replaced or cut; open the portfolio again"
            )
        return last


class SqlJournal:
    """One named portfolio in a database.

    url: sqlite:///runs.db, postgresql://user@host/database, or sqlite:// for memory only.
    create: whether a portfolio of that name is made where there is none.
    """

    def __init__(self, url: str, name: str = "default", create: bool = True) -> None:
        self.url = as_url(url)
        self.name = name
        self._where = self.url.render_as_string(hide_password=True)
        if self.url.drivername.startswith("sqlite") and not create:
            _require_file(self.url)
        self._engine = _engine(self.url)
        try:
            with self._errors():
                self._portfolio = self._prepare(create)
            _sync_folder(self.url)
        except BaseException:
            self._engine.dispose()
            raise

    def read_from(self, position: int) -> list[Entry]:
        with self._errors(), self._engine.connect() as connection:
            return _entries(connection, self._portfolio, position)

    @contextmanager
    def turn(self, after: int) -> Iterator[SqlTurn]:
        with self._errors(), self._writing() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(_LOCK, {"portfolio": self._portfolio})
            turn = SqlTurn(connection, self._portfolio, after)
            yield turn
            turn.write(connection)

    def close(self) -> None:
        self._engine.dispose()

    def _prepare(self, create: bool) -> int:
        with self._writing() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(MIGRATION_LOCK)))
            schema.migrate(connection, self._where)
            table = schema.portfolios
            wanted = sa.select(table.c.id).where(table.c.name == self.name)
            found = connection.execute(wanted).scalar_one_or_none()
            if found is not None:
                return int(found)
            if not create:
                names = connection.execute(sa.select(table.c.name)).scalars().all()
                raise _unknown_portfolio(self._where, self.name, names)
            connection.execute(table.insert().values(name=self.name))
            return int(connection.execute(wanted).scalar_one())

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self._engine.connect() as connection:
            writing = connection.execution_options(**{_WRITES: True})
            with writing.begin():
                yield writing

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Errors of a database as one sentence each, without the password."""
        try:
            yield
        except sa.exc.DBAPIError as error:
            reason = " ".join(str(error.orig).split())
            raise StorageError(f"{self._where}: {reason}") from error


def as_url(storage: str | Path) -> sa.URL:
    """A URL from a URL, or from the path of an SQLite file."""
    text = str(storage)
    if "://" not in text:
        return sa.URL.create("sqlite", database=text)
    try:
        url = sa.engine.make_url(text)
    except sa.exc.ArgumentError as error:
        raise PickbestError(f"storage is not a database URL: {text!r}") from error
    if url.drivername in ("postgresql", "postgres"):
        url = url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise PickbestError(
            f"storage must be sqlite:///FILE or postgresql://…, got {url.drivername}://…"
        )
    return url


def _engine(url: sa.URL) -> Engine:
    try:
        if url.get_backend_name() == "postgresql":
            return sa.create_engine(url, pool_size=1, max_overflow=8)
        options: dict[str, Any] = {"timeout": BUSY_SECONDS, "check_same_thread": False}
        if url.database in (None, "", ":memory:"):
            engine = sa.create_engine(url, connect_args=options, poolclass=StaticPool)
        else:
            engine = sa.create_engine(url, connect_args=options)
    except ModuleNotFoundError as error:
        raise MissingExtraError(str(error.name), "portfolio", "this database") from error
    event.listen(engine, "connect", _configure_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _configure_sqlite(connection: Any, _record: object) -> None:
    # The driver would begin transactions late and by itself; _begin_sqlite does it instead.
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _entries(connection: Connection, portfolio: int, after: int) -> list[Entry]:
    rows = connection.execute(_NEWS, {"portfolio": portfolio, "after": after})
    return [Entry(position, decode_record(kind, body)) for position, kind, body in rows]


def _sync_folder(url: sa.URL) -> None:
    """A power loss must not take the name of a new file either."""
    if url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:"):
        folder = os.open(Path(url.database or ".").resolve().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _require_file(url: sa.URL) -> None:
    if url.database and not Path(url.database).exists():
        raise PickbestError(f"{url.database}: there is no such database; `pickbest run` makes one")


def _unknown_portfolio(where: str, name: str, names: Sequence[str]) -> PickbestError:
    known = ", ".join(sorted(names)) or "none"
    return PickbestError(f"{where} holds no portfolio named {name!r} (known: {known})")
