"""The archive's schema, step by step: numbered functions that are never edited once released.

Each runs in one transaction together with the record that it ran, so an archive is always at a
whole number of steps. A later schema is a further function at the end of `MIGRATIONS`; `tables`
describes the result of all of them and a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import Connection, Engine

from sheetsync.errors import ArchiveError

Migration = Callable[[Connection], None]

APPLICATION_ID = 0x53535931
"""Marks an SQLite file as ours ("SSY1"), so that somebody else's database is never written to."""


def m001_initial(connection: Connection) -> None:
    """Create the tables of the first release."""
    for statement in _M001_TABLES.split(";"):
        if statement.strip():
            connection.exec_driver_sql(statement)
    for table in _M001_APPEND_ONLY.split():
        for verb in ("UPDATE", "DELETE"):
            connection.exec_driver_sql(
                f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
            )


_M001_TABLES = """
CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE units (
    id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE,
    question_id TEXT NOT NULL, figure TEXT NOT NULL, model TEXT NOT NULL,
    calibration INTEGER NOT NULL, side TEXT NOT NULL, has_false_premise INTEGER NOT NULL,
    UNIQUE (question_id, figure, model)
);
CREATE TABLE texts (
    code TEXT NOT NULL REFERENCES units (code), number INTEGER NOT NULL,
    question TEXT NOT NULL, response TEXT NOT NULL,
    PRIMARY KEY (code, number)
);
CREATE TABLE rubrics (hash TEXT PRIMARY KEY NOT NULL, json TEXT NOT NULL);
CREATE TABLE workbooks (
    id INTEGER PRIMARY KEY, rater TEXT NOT NULL, batch TEXT NOT NULL, kind TEXT NOT NULL,
    rubric TEXT NOT NULL REFERENCES rubrics (hash), location TEXT NOT NULL, version TEXT NOT NULL,
    UNIQUE (rater, batch)
);
CREATE TABLE rows (
    workbook INTEGER NOT NULL REFERENCES workbooks (id), position INTEGER NOT NULL,
    code TEXT NOT NULL, text INTEGER NOT NULL,
    PRIMARY KEY (workbook, position), UNIQUE (workbook, code),
    FOREIGN KEY (code, text) REFERENCES texts (code, number)
) WITHOUT ROWID;
CREATE TABLE creations (
    id INTEGER PRIMARY KEY, workbook INTEGER NOT NULL REFERENCES workbooks (id),
    at TEXT NOT NULL, location TEXT NOT NULL, version TEXT NOT NULL
);
CREATE TABLE columns (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (kind, name));
CREATE TABLE pulls (number INTEGER PRIMARY KEY, at TEXT NOT NULL);
CREATE TABLE readings (
    id INTEGER PRIMARY KEY, pull INTEGER NOT NULL REFERENCES pulls (number),
    source TEXT NOT NULL CHECK (source IN ('workbook', 'adjudication', 'study')),
    workbook INTEGER REFERENCES workbooks (id), state TEXT NOT NULL, version TEXT NOT NULL,
    problems_from INTEGER NOT NULL REFERENCES readings (id),
    new INTEGER NOT NULL, changed INTEGER NOT NULL, cleared INTEGER NOT NULL, revisions INTEGER NOT NULL,
    CHECK ((source = 'workbook') = (workbook IS NOT NULL)), UNIQUE (pull, workbook)
);
CREATE INDEX readings_of_workbook ON readings (source, workbook, id);
CREATE TABLE problems (
    reading INTEGER NOT NULL REFERENCES readings (id), position INTEGER NOT NULL,
    kind TEXT NOT NULL, message TEXT NOT NULL, rater TEXT, batch TEXT, tab TEXT, cell TEXT, code TEXT,
    "column" TEXT, found TEXT, severity TEXT NOT NULL,
    PRIMARY KEY (reading, position)
) WITHOUT ROWID;
CREATE TABLE entries (
    workbook INTEGER NOT NULL, row INTEGER NOT NULL, "column" INTEGER NOT NULL REFERENCES columns (id),
    pull INTEGER NOT NULL REFERENCES pulls (number), value TEXT,
    PRIMARY KEY (workbook, row, "column", pull),
    FOREIGN KEY (workbook, row) REFERENCES rows (workbook, position)
) WITHOUT ROWID;
CREATE TABLE verdicts (
    id INTEGER PRIMARY KEY, pull INTEGER NOT NULL REFERENCES pulls (number),
    code TEXT NOT NULL REFERENCES units (code), dimension TEXT NOT NULL, kind TEXT NOT NULL,
    verdict TEXT, reason TEXT NOT NULL, comment TEXT NOT NULL, adjudicator TEXT NOT NULL, basis TEXT NOT NULL,
    text INTEGER NOT NULL
);
CREATE INDEX verdicts_of_unit ON verdicts (code, dimension, kind, id);
CREATE TABLE published (
    place TEXT PRIMARY KEY NOT NULL, tabs TEXT NOT NULL, people_columns TEXT NOT NULL, version TEXT NOT NULL
);
CREATE TABLE events (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, command TEXT NOT NULL, outcome TEXT NOT NULL
)
"""

_M001_APPEND_ONLY = """
migrations units texts rubrics workbooks rows creations columns pulls readings problems entries verdicts events
"""


def m002_claims(connection: Connection) -> None:
    """Add what was claimed about models, so that a run can say what has changed since the last one."""
    connection.exec_driver_sql(
        "CREATE TABLE claims (id INTEGER PRIMARY KEY, at TEXT NOT NULL, dimension TEXT NOT NULL, "
        "first TEXT NOT NULL, second TEXT NOT NULL, strength TEXT NOT NULL)"
    )
    for verb in ("UPDATE", "DELETE"):
        connection.exec_driver_sql(
            f"CREATE TRIGGER claims_no_{verb.lower()} BEFORE {verb} ON claims "
            "BEGIN SELECT RAISE(ABORT, 'claims is append-only'); END"
        )


def m003_imports_and_freezes(connection: Connection) -> None:
    """Add ratings that came as files, and what was frozen before scoring."""
    for statement in _M003_TABLES.split(";"):
        connection.exec_driver_sql(statement)
    for table in ("imports", "imported", "import_problems", "freezes"):
        for verb in ("UPDATE", "DELETE"):
            connection.exec_driver_sql(
                f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
            )


_M003_TABLES = """
CREATE TABLE imports (
    id INTEGER PRIMARY KEY, pull INTEGER NOT NULL REFERENCES pulls (number),
    workbook INTEGER NOT NULL REFERENCES workbooks (id), file TEXT NOT NULL, hash TEXT NOT NULL,
    revisions INTEGER NOT NULL,
    UNIQUE (pull, workbook)
);
CREATE TABLE imported (
    workbook INTEGER NOT NULL, row INTEGER NOT NULL, "column" INTEGER NOT NULL REFERENCES columns (id),
    pull INTEGER NOT NULL REFERENCES pulls (number), value TEXT,
    PRIMARY KEY (workbook, row, "column", pull),
    FOREIGN KEY (workbook, row) REFERENCES rows (workbook, position)
) WITHOUT ROWID;
CREATE TABLE import_problems (
    import INTEGER NOT NULL REFERENCES imports (id), position INTEGER NOT NULL,
    kind TEXT NOT NULL, message TEXT NOT NULL, rater TEXT, batch TEXT, tab TEXT, cell TEXT, code TEXT,
    "column" TEXT, found TEXT, severity TEXT NOT NULL,
    PRIMARY KEY (import, position)
) WITHOUT ROWID;
CREATE TABLE freezes (id INTEGER PRIMARY KEY, at TEXT NOT NULL, hash TEXT NOT NULL, content TEXT NOT NULL)
"""


def m004_certifications(connection: Connection) -> None:
    """Add what judges were shown when they were to be certified, and what they answered."""
    for statement in _M004_TABLES.split(";"):
        connection.exec_driver_sql(statement)
    for table in ("certifications", "judgings", "judging_ends", "judged"):
        for verb in ("UPDATE", "DELETE"):
            connection.exec_driver_sql(
                f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
            )


_M004_TABLES = """
CREATE TABLE certifications (
    number INTEGER PRIMARY KEY, at TEXT NOT NULL, rubric TEXT NOT NULL REFERENCES rubrics (hash),
    cases TEXT NOT NULL, "key" TEXT NOT NULL, hashes TEXT NOT NULL
);
CREATE TABLE judgings (
    id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES certifications (number), at TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('command', 'file', 'workbook')),
    judge TEXT NOT NULL, called TEXT NOT NULL, hash TEXT NOT NULL, fresh INTEGER NOT NULL
);
CREATE TABLE judging_ends (
    judging INTEGER PRIMARY KEY REFERENCES judgings (id), at TEXT NOT NULL, state TEXT NOT NULL, detail TEXT NOT NULL
);
CREATE TABLE judged (
    id INTEGER PRIMARY KEY, judging INTEGER NOT NULL REFERENCES judgings (id), at TEXT NOT NULL,
    "case" TEXT NOT NULL, state TEXT NOT NULL, verdict TEXT NOT NULL
);
CREATE INDEX judged_of_judging ON judged (judging, id)
"""


MIGRATIONS: tuple[Migration, ...] = (m001_initial, m002_claims, m003_imports_and_freezes, m004_certifications)


def applied(connection: Connection) -> int:
    """Return how many migrations the archive has had.

    Raises:
        ArchiveError: the file is some other program's database.
    """
    tables = connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar_one()
    if not tables:
        return 0
    if connection.exec_driver_sql("PRAGMA application_id").scalar_one() != APPLICATION_ID:
        raise ArchiveError(
            "The file archive.sqlite is a database of another program.",
            "Move it away, and put the study's own archive back if there was one.",
        )
    count: int = connection.exec_driver_sql("SELECT count(*) FROM migrations").scalar_one()
    return count


def migrate(engine: Engine, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Apply what is missing, each migration in a transaction of its own.

    Args:
        engine: begins transactions that may write.
        migrations: all migrations, in order.

    Raises:
        ArchiveError: the archive was made by a newer sheetsync, or by another program.
    """
    with engine.begin() as connection:
        done = applied(connection)
    if done > len(migrations):
        raise ArchiveError(
            f"The archive has schema {done}, made by a newer sheetsync; this one knows {len(migrations)}.",
            "Install the newer version: `pip install --upgrade sheetsync-study`.",
        )
    for number, migration in enumerate(migrations[done:], start=done + 1):
        with engine.begin() as connection:
            if applied(connection) < number:  # another process may have been faster
                connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
                migration(connection)
                connection.exec_driver_sql(
                    "INSERT INTO migrations (number, name) VALUES (?, ?)", (number, migration.__name__)
                )
