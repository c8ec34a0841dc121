"""Databases by URL: how SQLite and PostgreSQL are opened, and the tables that both have.

SQLite runs in WAL mode with synchronous=FULL: a commit has reached the disk when it returns,
so a power loss takes nothing that was reported. PostgreSQL does the same by default
(synchronous_commit=on). A PostgreSQL session that stands still with the turn in its hands is
ended by the server, so that one frozen client cannot stop all others.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pickbest.core import MissingExtraError, PickbestError
from pickbest.portfolio.processes import without_passwords
from pickbest.portfolio.store.records import DamagedError

try:
    import sqlalchemy as sa
    from sqlalchemy import event
    from sqlalchemy.engine import Connection, Engine
    from sqlalchemy.pool import StaticPool
except ImportError as _error:
    raise MissingExtraError("sqlalchemy", "portfolio", "a stored portfolio") from _error

BUSY_SECONDS = 60.0
CONNECT_SECONDS = 10
# The server ends a session that holds a transaction and does nothing, long before those that
# wait for it lose patience.
IDLE_SECONDS, LOCK_SECONDS, STATEMENT_SECONDS = 30, 60, 120
WRITES = "pickbest_writes"
WRITER_PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON")


def as_url(storage: str | Path) -> sa.URL:
    """A URL from a URL, or from the path of an SQLite file."""
    text = str(storage)
    if "://" not in text:
        return sa.URL.create("sqlite", database=text)
    try:
        url = sa.engine.make_url(text)
    except (sa.exc.ArgumentError, ValueError) as error:
        raise PickbestError(
            f"storage is not a database URL: {without_passwords(text)!r}"
        ) from error
    if url.drivername in ("postgresql", "postgres"):
        url = url.set(drivername="postgresql+psycopg")
    if url.drivername not in ("sqlite", "sqlite+pysqlite", "postgresql+psycopg"):
        raise PickbestError(
            f"storage must be sqlite:///FILE or postgresql://…, got {url.drivername}://…"
        )
    return url


def shown(storage: str | Path | sa.URL) -> str:
    """A storage as it may be printed: without any password.

    >>> shown("postgresql://me:secret@host/runs?password=secret")
    'postgresql://me:***@host/runs?password=***'
    """
    url = storage if isinstance(storage, sa.URL) else as_url(storage)
    text = without_passwords(url.render_as_string(hide_password=True))
    return text.replace("postgresql+psycopg://", "postgresql://", 1)


def file_of(url: sa.URL) -> Path | None:
    """The file of an SQLite database; None: it ends with the process, or is none of SQLite."""
    if url.get_backend_name() != "sqlite" or url.database in (None, "", ":memory:"):
        return None
    return Path(str(url.database))


def open_engine(url: sa.URL, readonly: bool = False) -> Engine:
    """Connections to a database. A new SQLite file can be read by its owner only."""
    try:
        if url.get_backend_name() == "postgresql":
            return _postgres(url, readonly)
        file = file_of(url)
        options: dict[str, Any] = {"timeout": BUSY_SECONDS, "check_same_thread": False}
        if file is None:
            engine = sa.create_engine(url, connect_args=options, poolclass=StaticPool)
        elif readonly:
            path = quote(os.fsencode(file.absolute()))
            readable = url.set(database=f"file:{path}", query={"mode": "ro", "uri": "true"})
            engine = sa.create_engine(readable, connect_args=options)
        else:
            _create_private(file)
            engine = sa.create_engine(url, connect_args=options)
    except ModuleNotFoundError as error:
        raise MissingExtraError(str(error.name), "portfolio", "this database") from error
    pragmas = ("query_only=ON",) if readonly else WRITER_PRAGMAS
    event.listen(engine, "connect", lambda connection, _: _configure(connection, pragmas))
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def sync_folder(file: Path) -> None:
    """A power loss must not take the name of a new file either."""
    folder = os.open(file.resolve().parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _postgres(url: sa.URL, readonly: bool) -> Engine:
    limits = {
        "lock_timeout": f"{LOCK_SECONDS}s",
        "statement_timeout": f"{STATEMENT_SECONDS}s",
        "idle_in_transaction_session_timeout": f"{IDLE_SECONDS}s",
        "default_transaction_read_only": "on" if readonly else "off",
    }
    given = str(url.query.get("options", ""))
    options = " ".join([f"-c {name}={value}" for name, value in limits.items()] + [given]).strip()
    arguments: dict[str, Any] = {"options": options}
    if "connect_timeout" not in url.query:
        arguments["connect_timeout"] = CONNECT_SECONDS
    return sa.create_engine(url, pool_size=1, max_overflow=8, connect_args=arguments)


def _create_private(file: Path) -> None:
    """Make the file before SQLite does: -wal and -shm get the permissions that it has."""
    try:
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except (OSError, ValueError):
        return  # It exists, or SQLite will say what is wrong.


def _configure(connection: Any, pragmas: Iterable[str]) -> None:
    # The driver would begin transactions late and by itself; _begin_sqlite does it instead.
    connection.isolation_level = None
    for pragma in pragmas:
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


# Tables ----------------------------------------------------------------------------------------

SCHEMA = 1
metadata = sa.MetaData()

portfolios = sa.Table(
    "pickbest_portfolios",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(200), nullable=False, unique=True),
)

records = sa.Table(
    "pickbest_records",
    metadata,
    sa.Column("portfolio", sa.ForeignKey("pickbest_portfolios.id"), primary_key=True),
    sa.Column("position", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("kind", sa.String(20), nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("opens", sa.BigInteger),
    sa.Column("closes", sa.BigInteger),
    # Fewer pages change with each commit, and the disk has less to write.
    sqlite_with_rowid=False,
)

# A round has one record that opens it and one that closes it: a doubled result is impossible,
# whatever a client does. PostgreSQL indexes all rows: a condition would load its dialect, in 15 ms.
for _column in (records.c.opens, records.c.closes):
    sa.Index(
        f"pickbest_round_{_column.name}_once",
        records.c.portfolio,
        _column,
        unique=True,
        sqlite_where=_column.is_not(None),
    )

# One row per portfolio: see `state`. It can be made again from the records at any time.
snapshots = sa.Table(
    "pickbest_snapshots",
    metadata,
    sa.Column("portfolio", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
)

versions = sa.Table("pickbest_schema", metadata, sa.Column("version", sa.Integer, nullable=False))


def make_tables(connection: Connection, where: str) -> None:
    """Make the tables of an empty database; call it while nobody else can write."""
    if not has_tables(connection, where):
        metadata.create_all(connection)
        connection.execute(versions.insert().values(version=SCHEMA))


def has_tables(connection: Connection, where: str) -> bool:
    """Whether a database has our tables; PickbestError where they are not those of this version."""
    if not sa.inspect(connection).has_table(versions.name):
        return False
    found = connection.execute(versions.select()).scalars().all()
    if len(found) != 1 or not isinstance(found[0], int):
        raise DamagedError(
            f"the table {versions.name} must hold one number, got {found!r:.80}; restore the "
            "database from a copy"
        )
    if found[0] != SCHEMA:
        raise PickbestError(
            f"{where}: written by another version of pickbest (schema {found[0]}, this one reads "
            f"{SCHEMA}); use that version, or another database"
        )
    return True
