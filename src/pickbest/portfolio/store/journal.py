"""The journal: an append-only list of records that many processes share (extra: portfolio).

It lies in SQLite or PostgreSQL. All processes see the same records in the same order. A round is
opened once and closed once: a second such record is refused, whatever a client does.

Writers take turns: SQLite by BEGIN IMMEDIATE, PostgreSQL by a lock on the portfolio's row; so
positions have no gaps and every reader sees the same order. Readers need no lock.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from pickbest.core import PickbestError
from pickbest.core.codec import encode
from pickbest.portfolio.processes import without_passwords
from pickbest.portfolio.store import databases
from pickbest.portfolio.store.databases import WRITES, as_url, file_of, shown
from pickbest.portfolio.store.records import (
    DamagedError,
    Entry,
    Finished,
    Lost,
    NoPortfolioError,
    Picked,
    Record,
    StorageError,
    decode_record,
    kind_of,
)

# Entries that are read at a time, so that memory does not grow with a journal.
CHUNK = 2_000
# One number that all pickbest clients of a PostgreSQL server agree on, to make tables one by one.
TABLES_LOCK = 7_021_989
# A body that is longer was not written by us; nothing larger is read into memory.
LONGEST_BODY = 8_000_000
LONGEST_SNAPSHOT = 64_000_000

# Compiled once: the text of these is the same on both databases.
_COLUMNS = "position, kind, CASE WHEN length(body) <= :longest THEN body END"
_NEWS = sa.text(
    f"SELECT {_COLUMNS} FROM pickbest_records "
    "WHERE portfolio = :portfolio AND position > :after ORDER BY position LIMIT :limit"
)
_OF_ROUNDS = sa.text(
    " UNION ALL ".join(
        f"SELECT {_COLUMNS} FROM pickbest_records WHERE portfolio = :portfolio AND {which}"
        for which in ("opens >= :first AND opens < :end", "closes >= :first AND closes < :end")
    )
)
_LAST = sa.text(
    "SELECT COALESCE(MAX(position), 0) FROM pickbest_records WHERE portfolio = :portfolio"
)
_INSERT = sa.text(
    "INSERT INTO pickbest_records (portfolio, position, kind, body, opens, closes) "
    "VALUES (:portfolio, :position, :kind, :body, :opens, :closes)"
)
_LOCK = sa.text("SELECT id FROM pickbest_portfolios WHERE id = :portfolio FOR UPDATE")
_KEEP = sa.text(
    "INSERT INTO pickbest_snapshots (portfolio, body) VALUES (:portfolio, :body) "
    "ON CONFLICT (portfolio) DO UPDATE SET body = excluded.body"
)


class Turn:
    """The right to write, which one process has at a time.

    news: every entry after the position that was asked for; nothing can come between them
        and what is appended.
    appended: what counts once the turn has ended without an error.
    """

    def __init__(self, connection: Connection, portfolio: int, after: int) -> None:
        self.news = _entries(connection, portfolio, after)
        self.appended: list[Entry] = []
        self._rows: list[dict[str, Any]] = []
        self._connection, self._portfolio = connection, portfolio
        self._last = self.news[-1].position if self.news else self._checked(connection, after)

    def append(self, record: Record) -> Entry:
        """Add a record; it counts once the turn has ended without an error."""
        self._last += 1
        self._rows.append(
            {
                "portfolio": self._portfolio,
                "position": self._last,
                "kind": kind_of(record),
                "body": encode(record),
                "opens": record.round if isinstance(record, Picked) else None,
                "closes": record.round if isinstance(record, Finished | Lost) else None,
            }
        )
        self.appended.append(Entry(self._last, record))
        return self.appended[-1]

    def of_round(self, number: int) -> list[Entry]:
        """The entries of a round, in order."""
        return _of_rounds(self._connection, self._portfolio, number, number + 1)

    def write(self) -> None:
        """Send what was appended to the database."""
        if self._rows:
            self._connection.execute(_INSERT, self._rows)

    def _checked(self, connection: Connection, after: int) -> int:
        last = int(connection.execute(_LAST, {"portfolio": self._portfolio}).scalar_one())
        if last < after:
            raise PickbestError(
                f"the journal ends at record {last}, but record {after} was seen before: the "
                "database was replaced or cut; open the portfolio again"
            )
        return last


class Journal:
    """The records of one named portfolio in a database.

    url: sqlite:///runs.db, postgresql://user@host/database, or sqlite:// for memory only.
    create: whether a portfolio of that name is made where there is none.
    readonly: nothing is written, and no lock is taken.
    """

    def __init__(
        self, url: str, name: str = "default", create: bool = True, readonly: bool = False
    ) -> None:
        self.url = as_url(url)
        if not isinstance(name, str) or not 1 <= len(name) <= 200 or not name.isprintable():
            raise PickbestError(
                "a portfolio's name must be printable text of 1 to 200 characters, got "
                f"{name!r:.80}"
            )
        self.name = name
        self.readonly = readonly
        self._where = shown(self.url)
        file = file_of(self.url)
        place = without_passwords(str(file))[:200]
        try:
            missing = file is not None and (readonly or not create) and not file.exists()
        except OSError as error:  # the name is too long
            raise PickbestError(f"{place}: cannot be opened ({error.strerror})") from error
        if missing:
            raise NoPortfolioError(f"{place}: there is no such database; `pickbest run` makes one")
        self._engine = databases.open_engine(self.url, readonly)
        try:
            with self._errors():
                self._portfolio = self._found() if readonly else self._made(create)
            if file is not None and not readonly:
                databases.sync_folder(file)
        except BaseException:
            self._engine.dispose()
            raise

    def read_from(self, position: int, limit: int | None = None) -> list[Entry]:
        """Entries after `position`, in order; at most `limit` of them."""
        with self._reading() as connection:
            return _entries(connection, self._portfolio, position, limit)

    def entries(self, after: int = 0, last: int | None = None) -> Iterator[Entry]:
        """Entries after a position, up to and including `last`, without holding them all."""
        while chunk := self.read_from(after, CHUNK):
            for entry in chunk:
                if last is not None and entry.position > last:
                    return
                yield entry
            after = chunk[-1].position

    @contextmanager
    def turn(self, after: int) -> Iterator[Turn]:
        """Write alone. What was appended is on disk when the block ends, whole or not at all."""
        with self._errors(), self._writing() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(_LOCK, {"portfolio": self._portfolio})
            turn = Turn(connection, self._portfolio, after)
            yield turn
            turn.write()

    def of_rounds(self, first: int, end: int) -> list[Entry]:
        """The entries of the rounds from `first` up to, not including, `end`, in order."""
        with self._reading() as connection:
            return _of_rounds(connection, self._portfolio, first, end)

    def snapshot(self) -> bytes | None:
        """The newest snapshot."""
        table = databases.snapshots
        wanted = sa.select(table.c.body).where(
            table.c.portfolio == self._portfolio, sa.func.length(table.c.body) <= LONGEST_SNAPSHOT
        )
        with self._reading() as connection:
            body = connection.execute(wanted).scalar_one_or_none()
        if body is not None and not isinstance(body, bytes):
            raise DamagedError("the snapshot cannot be used (it is not bytes)")
        return body

    def keep(self, snapshot: bytes) -> None:
        """Keep a snapshot in place of an older one, whole or not at all."""
        with self._errors(), self._writing() as connection:
            connection.execute(_KEEP, {"portfolio": self._portfolio, "body": snapshot})

    def close(self) -> None:
        self._engine.dispose()

    def _made(self, create: bool) -> int:
        with self._writing() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(TABLES_LOCK)))
            databases.make_tables(connection, self._where)
            if create and self.name not in _portfolios(connection):
                connection.execute(databases.portfolios.insert().values(name=self.name))
            return self._required(_portfolios(connection))

    def _found(self) -> int:
        with self._engine.connect() as connection:
            ours = databases.has_tables(connection, self._where)
            return self._required(_portfolios(connection) if ours else {})

    def _required(self, known: Mapping[str, int]) -> int:
        if self.name not in known:
            names = ", ".join(sorted(known)) or "none"
            raise NoPortfolioError(
                f"{self._where} holds no portfolio named {self.name!r} (known: {names})"
            )
        return known[self.name]

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._errors(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        if self.readonly:
            raise PickbestError(f"{self._where}: opened for reading only")
        with self._engine.connect() as connection:
            writing = connection.execution_options(**{WRITES: True})
            with writing.begin():
                yield writing

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Errors of a database as one sentence each, without the password."""
        try:
            yield
        except sa.exc.DBAPIError as error:
            raise StorageError(f"{self._where}: {self._shown(error.orig)}") from error
        except (sa.exc.SQLAlchemyError, UnicodeError, OverflowError) as error:
            reason = self._shown(error)[:300]
            raise DamagedError(f"{self._where}: the database is damaged ({reason})") from error

    def _shown(self, error: object) -> str:
        """What a database says, in one line, without the password in any form."""
        text = " ".join(str(error).split())
        password = self.url.password
        return without_passwords(text.replace(str(password), "***") if password else text)


def _portfolios(connection: Connection) -> dict[str, int]:
    """Names and numbers of all that a database holds."""
    rows = connection.execute(sa.select(databases.portfolios.c.name, databases.portfolios.c.id))
    return {str(name): int(number) for name, number in rows}


def _entries(
    connection: Connection, portfolio: int, after: int, limit: int | None = None
) -> list[Entry]:
    bounds = {"after": after, "limit": 2**62 if limit is None else limit, "longest": LONGEST_BODY}
    return _decoded(connection.execute(_NEWS, {"portfolio": portfolio, **bounds}))


def _of_rounds(connection: Connection, portfolio: int, first: int, end: int) -> list[Entry]:
    given = {"portfolio": portfolio, "longest": LONGEST_BODY, "first": first, "end": end}
    return sorted(_decoded(connection.execute(_OF_ROUNDS, given)), key=lambda each: each.position)


def _decoded(rows: Iterable[Any]) -> list[Entry]:
    entries = []
    for position, kind, body in rows:
        if not (isinstance(position, int) and isinstance(kind, str) and isinstance(body, str)):
            raise DamagedError(
                f"the journal is damaged: record {position!r:.40} is not text of a known size"
            )
        try:
            entries.append(Entry(position, decode_record(kind, body)))
        except DamagedError as error:
            raise DamagedError(f"record {position}: {error}") from error
    return entries
