"""The database schema, the same on SQLite and PostgreSQL, built up by numbered migrations.

A fresh database runs all of them in order; an older one runs those that it lacks; a newer one
is refused. Migrations only ever add: old records stay as they were written.
"""

from collections.abc import Callable

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from pickbest.core import PickbestError
from pickbest.portfolio.store.records import DamagedError

metadata, later = sa.MetaData(), sa.MetaData()

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
# whatever a client does.
for _column in (records.c.opens, records.c.closes):
    sa.Index(
        f"pickbest_round_{_column.name}_once",
        records.c.portfolio,
        _column,
        unique=True,
        sqlite_where=_column.is_not(None),
        postgresql_where=_column.is_not(None),
    )

# One row a portfolio: the fold of its records up to a position. It can be made again from the
# records at any time, so losing it costs nothing but time.
snapshots = sa.Table(
    "pickbest_snapshots",
    later,
    sa.Column("portfolio", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("position", sa.BigInteger, nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
)

# Who has rounds open renews its lease; see `leases`.
leases = sa.Table(
    "pickbest_leases",
    later,
    sa.Column("portfolio", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("lease", sa.String(500), primary_key=True),
    sa.Column("beats", sa.BigInteger, nullable=False),
)

versions = sa.Table(
    "pickbest_schema", sa.MetaData(), sa.Column("version", sa.Integer, nullable=False)
)


def _add_written_at(connection: Connection) -> None:
    """When the database took a record in, for `pickbest history` and for people who look."""
    column = sa.Column("written_at", sa.Float)
    kind = column.type.compile(connection.dialect)
    connection.execute(sa.text(f"ALTER TABLE pickbest_records ADD COLUMN written_at {kind}"))


MIGRATIONS: tuple[Callable[[Connection], None], ...] = (
    metadata.create_all,
    _add_written_at,
    later.create_all,
)
NEWEST = len(MIGRATIONS)
WITH_SNAPSHOTS = 3


def migrate(connection: Connection, where: str) -> int:
    """Bring a database to the newest schema; call it while nobody else can write."""
    present = checked_version(connection, where)
    if present == NEWEST:
        return NEWEST
    if present == 0:
        versions.create(connection)
        connection.execute(versions.insert().values(version=0))
    for step in MIGRATIONS[present:]:
        step(connection)
    connection.execute(versions.update().values(version=NEWEST))
    return NEWEST


def checked_version(connection: Connection, where: str) -> int:
    """The schema version of a database that this pickbest can read."""
    present = version_of(connection)
    if not 0 <= present <= NEWEST:
        raise PickbestError(
            f"{where}: written by a newer pickbest (schema {present}, this one reads up to "
            f"{NEWEST}); upgrade with pip install --upgrade pickbest"
        )
    return present


def version_of(connection: Connection) -> int:
    """The schema version of a database; 0 for one that is empty of our tables."""
    if not sa.inspect(connection).has_table(versions.name):
        return 0
    found = connection.execute(versions.select()).scalars().all()
    if len(found) != 1 or not isinstance(found[0], int):
        raise DamagedError(
            f"the table pickbest_schema must hold one number, got {found!r:.80}; restore the "
            "database from a copy"
        )
    return int(found[0])
