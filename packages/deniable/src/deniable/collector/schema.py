"""The tables of a store, and how a store of an earlier release gets them. The SQL is SQLite's; PostgreSQL translates it."""

import sqlite3
from functools import cache
from typing import NamedTuple

from deniable.errors import InvalidParameter

# Each entry brings the schema from the version of its place to the next one. Never change one that was released: add one.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE surveys (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, fingerprint TEXT NOT NULL, "
        "spec TEXT NOT NULL)",
        "CREATE TABLE seen (survey INTEGER NOT NULL, id BLOB NOT NULL, period INTEGER NOT NULL, PRIMARY KEY (survey, id)) "
        "WITHOUT ROWID",
        "CREATE TABLE tallies (survey INTEGER NOT NULL, period INTEGER NOT NULL, question TEXT NOT NULL, n BIGINT NOT NULL, "
        "counts BLOB NOT NULL, PRIMARY KEY (survey, period, question))",
        "CREATE TABLE people (survey INTEGER NOT NULL, period INTEGER NOT NULL, n BIGINT NOT NULL, "
        "PRIMARY KEY (survey, period))",
    ),
    (
        "CREATE TABLE tokens (role TEXT NOT NULL, hash BLOB NOT NULL, PRIMARY KEY (role, hash))",
        "CREATE TABLE kept (number INTEGER PRIMARY KEY AUTOINCREMENT, survey INTEGER NOT NULL, period INTEGER NOT NULL, "
        "part BLOB NOT NULL, reports BIGINT NOT NULL, payload BLOB NOT NULL)",
    ),
    (
        # Ids by period: those of a period lie together, so that they are dropped without looking at the others.
        "ALTER TABLE seen RENAME TO seen_before",
        "CREATE TABLE seen (survey INTEGER NOT NULL, period INTEGER NOT NULL, id BLOB NOT NULL, "
        "PRIMARY KEY (survey, period, id)) WITHOUT ROWID",
        "INSERT INTO seen (survey, period, id) SELECT survey, period, id FROM seen_before ORDER BY survey, period, id",
        "DROP TABLE seen_before",
        "ALTER TABLE surveys ADD COLUMN oldest BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE surveys ADD COLUMN stage BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE surveys ADD COLUMN title TEXT",
        "ALTER TABLE surveys ADD COLUMN delete_after BIGINT",
        # A period that has people but no ids has been forgotten: it is not accepted again.
        "UPDATE surveys SET oldest = COALESCE((SELECT MAX(people.period) + 1 FROM people WHERE people.survey = "
        "surveys.number AND NOT EXISTS (SELECT 1 FROM seen WHERE seen.survey = people.survey AND seen.period = "
        "people.period)), 0)",
        # Tokens of the whole store become tokens of each of its surveys. Without any, they wait for the first one.
        "CREATE TABLE access (survey TEXT NOT NULL, role TEXT NOT NULL, hash BLOB NOT NULL, name TEXT NOT NULL, "
        "made BIGINT NOT NULL, expires BIGINT, revoked BIGINT, PRIMARY KEY (survey, role, hash))",
        "INSERT INTO access (survey, role, hash, name, made) "
        "SELECT surveys.id, tokens.role, tokens.hash, 'earlier', 0 FROM surveys CROSS JOIN tokens",
        "DELETE FROM tokens WHERE EXISTS (SELECT 1 FROM surveys)",
        # Large tallies in pieces, of which a transaction writes only those that change.
        "CREATE TABLE cells (survey INTEGER NOT NULL, period INTEGER NOT NULL, question TEXT NOT NULL, "
        "chunk INTEGER NOT NULL, counts BLOB NOT NULL, PRIMARY KEY (survey, period, question, chunk))",
        "CREATE TABLE store (id TEXT NOT NULL PRIMARY KEY, probe BIGINT NOT NULL)",
        # The kept messages that are being written to files under this name.
        "CREATE TABLE segments (survey INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, last BIGINT NOT NULL)",
    ),
    (
        # Each collector adds to rows of its own, its shard, so that several on one database do not wait for each other.
        "ALTER TABLE tallies RENAME TO tallies_before",
        "CREATE TABLE tallies (survey INTEGER NOT NULL, period INTEGER NOT NULL, question TEXT NOT NULL, "
        "shard INTEGER NOT NULL, n BIGINT NOT NULL, counts BLOB NOT NULL, PRIMARY KEY (survey, period, question, shard))",
        "INSERT INTO tallies (survey, period, question, shard, n, counts) "
        "SELECT survey, period, question, 0, n, counts FROM tallies_before",
        "DROP TABLE tallies_before",
        "ALTER TABLE people RENAME TO people_before",
        "CREATE TABLE people (survey INTEGER NOT NULL, period INTEGER NOT NULL, shard INTEGER NOT NULL, n BIGINT NOT NULL, "
        "PRIMARY KEY (survey, period, shard))",
        "INSERT INTO people (survey, period, shard, n) SELECT survey, period, 0, n FROM people_before",
        "DROP TABLE people_before",
        "ALTER TABLE cells RENAME TO cells_before",
        "CREATE TABLE cells (survey INTEGER NOT NULL, period INTEGER NOT NULL, question TEXT NOT NULL, "
        "shard INTEGER NOT NULL, chunk INTEGER NOT NULL, counts BLOB NOT NULL, "
        "PRIMARY KEY (survey, period, question, shard, chunk))",
        "INSERT INTO cells (survey, period, question, shard, chunk, counts) "
        "SELECT survey, period, question, 0, chunk, counts FROM cells_before",
        "DROP TABLE cells_before",
    ),
    (
        "ALTER TABLE surveys ADD COLUMN listed BIGINT NOT NULL DEFAULT 0",
        # The hash of the file that a survey was registered from: an unchanged file is not planned again.
        "ALTER TABLE surveys ADD COLUMN source TEXT",
        # Surveys that are being copied into this database under these numbers; they are not served until that has ended.
        "CREATE TABLE transfers (survey TEXT NOT NULL PRIMARY KEY, source TEXT NOT NULL, number BIGINT NOT NULL)",
    ),
    (
        # The keys that sign tokens for a survey, in the order in which they are used.
        "CREATE TABLE issuers (survey TEXT NOT NULL, id TEXT NOT NULL, place INTEGER NOT NULL, public BLOB NOT NULL, "
        "private BLOB NOT NULL, state TEXT NOT NULL, PRIMARY KEY (survey, id))",
        # By hash and without times, so that neither order nor moment connects an invitation with a report.
        "CREATE TABLE invitations (survey INTEGER NOT NULL, hash BLOB NOT NULL, state INTEGER NOT NULL, blinded BLOB, "
        "PRIMARY KEY (survey, hash)) WITHOUT ROWID",
        "CREATE TABLE spent (survey INTEGER NOT NULL, nonce BLOB NOT NULL, PRIMARY KEY (survey, nonce)) WITHOUT ROWID",
    ),
    (
        # The rounds of a survey from the second on, each a survey of its own.
        "CREATE TABLE rounds (survey INTEGER NOT NULL, round INTEGER NOT NULL, spec TEXT NOT NULL, "
        "PRIMARY KEY (survey, round))",
    ),
    ("ALTER TABLE surveys ADD COLUMN limits TEXT",),  # of one survey, instead of those of the server
)  # fmt: skip


class Table(NamedTuple):
    """One table: its columns with their types, and the key by which rows are ordered."""

    name: str
    columns: dict[str, str]
    key: tuple[str, ...]


@cache
def tables() -> tuple[Table, ...]:
    """The tables that all migrations together make. Whoever adds a migration need not list its tables anywhere else."""
    found = []
    connection = sqlite3.connect(":memory:")
    try:
        for statement in (statement for migration in MIGRATIONS for statement in migration):
            connection.execute(statement)
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        for (name,) in names.fetchall():
            rows = connection.execute(f"PRAGMA table_info({name})").fetchall()
            key = sorted((place, column) for _, column, _, _, _, place in rows if place)
            found.append(Table(name, {row[1]: row[2] for row in rows}, tuple(column for _, column in key)))
    finally:
        connection.close()
    return tuple(sorted(found))


def tables_of_surveys() -> list[tuple[str, bool]]:
    """The tables whose rows belong to a survey, and whether they name it by its number or by its id."""
    return [(table.name, table.columns["survey"] != "TEXT") for table in tables() if "survey" in table.columns]


def check_version(found: int) -> None:
    """Refuse a database of a later release."""
    if found > len(MIGRATIONS):
        raise InvalidParameter(
            f"This database has schema {found}; this release supports schemas up to {len(MIGRATIONS)}. Update deniable."
        )
