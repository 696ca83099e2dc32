"""The revisions of cells: the only part of the archive that grows to millions of rows.

A revision's place in the table is (workbook, row, column, pull), so the history of a workbook lies
together, in order, without a second index. Reading what stands in a workbook is one walk over it
in which later pulls win. Both directions go through the driver: building a statement object or a
result row per cell would cost more than SQLite does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection

from sheetsync.domain.ratings import Entry, EntryKind
from sheetsync.errors import ArchiveError
from sheetsync.store.database import driver
from sheetsync.store.records import Changes, Revision
from sheetsync.store.values import decode_value, encode_value

CellKey = tuple[int, int]
"""(position of the row, id of the column)"""

Columns = dict[tuple[EntryKind, str], int]


@dataclass(frozen=True)
class Appended:
    """What one reading added: score changes, and revisions of any kind."""

    changes: Changes = field(default_factory=Changes)
    revisions: int = 0


def read_columns(connection: Connection) -> Columns:
    """Return the id of every (kind, column) that was ever filled in."""
    found = driver(connection).execute("SELECT kind, name, id FROM columns")
    return {(kind, name): number for kind, name, number in found}


def append_entries(
    connection: Connection, workbook: int, pull: int, entries: Sequence[Entry], columns: Columns
) -> Appended:
    """Append a revision for every cell that differs from what stood in the workbook.

    Args:
        connection: inside a transaction.
        workbook: its id.
        pull: the number of the pull.
        entries: everything that stands in the workbook now.
        columns: see `read_columns`; grows by the columns that are new.
    """
    raw = driver(connection)
    found = cells_of_entries(connection, workbook, entries, columns)
    before = _current_values(connection, workbook)
    revisions: list[tuple[CellKey, str | None]] = [
        (cell, value) for cell, value in found.items() if before.get(cell) != value
    ]
    revisions += [(cell, None) for cell, value in before.items() if value is not None and cell not in found]
    raw.executemany(
        'INSERT INTO entries (workbook, row, "column", pull, value) VALUES (?, ?, ?, ?, ?)',
        ((workbook, row, column, pull, value) for (row, column), value in revisions),
    )
    return Appended(count_scores(revisions, before, columns), len(revisions))


def cells_of_entries(
    connection: Connection, workbook: int, entries: Sequence[Entry], columns: Columns
) -> dict[CellKey, str]:
    """Return entries by their cells, as values are kept; `columns` grows by those that are new."""
    for kind, name in sorted({(entry.kind, entry.column) for entry in entries} - columns.keys()):
        cursor = driver(connection).execute("INSERT INTO columns (kind, name) VALUES (?, ?)", (kind, name))
        columns[kind, name] = cursor.lastrowid or 0
    rows: dict[str, int] = dict(
        driver(connection).execute("SELECT code, position FROM rows WHERE workbook = ?", (workbook,))
    )
    try:
        found = {(rows[e.code], columns[e.kind, e.column]): encode_value(e.value) for e in entries}
    except KeyError as error:
        raise ArchiveError(
            f"A reading has an entry for {error.args[0]}, which its workbook does not contain.",
            "This is a fault of sheetsync: please report it with this message.",
        ) from error
    if len(found) < len(entries):
        raise ArchiveError(
            "A reading has two entries for one cell.",
            "This is a fault of sheetsync: please report it with this message.",
        )
    return found


def _current_values(connection: Connection, workbook: int) -> dict[CellKey, str | None]:
    found = driver(connection).execute(
        'SELECT row, "column", value FROM entries WHERE workbook = ? ORDER BY row, "column", pull',
        (workbook,),
    )
    return {(row, column): value for row, column, value in found}


def values_in_force(connection: Connection, workbook: int) -> dict[CellKey, str | None]:
    """Return what counts in each cell of a workbook: typed there, or imported from a file.

    A blank yields to a value, and of two values the one that came later counts. Cells come in the order of
    rows; None is a cell that was cleared.
    """
    query = 'SELECT row, "column", pull, value FROM {} WHERE workbook = ? ORDER BY row, "column", pull'
    raw = driver(connection)
    imported = {(r, c): (p, v) for r, c, p, v in raw.execute(query.format("imported"), (workbook,))}
    if not imported:
        return _current_values(connection, workbook)
    typed = {(r, c): (p, v) for r, c, p, v in raw.execute(query.format("entries"), (workbook,))}
    force: dict[CellKey, str | None] = {}
    for cell in sorted(typed.keys() | imported.keys()):
        said = [each for each in (typed.get(cell), imported.get(cell)) if each and each[1] is not None]
        force[cell] = max(said)[1] if said else None
    return force


def count_scores(
    revisions: Iterable[tuple[CellKey, str | None]], before: Mapping[CellKey, str | None], columns: Columns
) -> Changes:
    """Count the score cells among revisions that are new, changed or cleared."""
    scores = {number for (kind, _), number in columns.items() if kind == "score"}
    new = changed = cleared = 0
    for cell, value in revisions:
        if cell[1] in scores:
            if value is None:
                cleared += 1
            elif before.get(cell) is None:
                new += 1
            else:
                changed += 1
    return Changes(new, changed, cleared)


def current_entries(
    connection: Connection, workbook: int, columns: Columns, *, imported: bool = True
) -> list[Entry]:
    """Return what counts in a workbook, in the order of its rows; without imports: what is typed there."""
    raw = driver(connection)
    values = (values_in_force if imported else _current_values)(connection, workbook)
    names = {number: key for key, number in columns.items()}
    codes: dict[int, str] = dict(
        raw.execute("SELECT position, code FROM rows WHERE workbook = ?", (workbook,))
    )
    return [
        Entry(codes[row], *names[column], decode_value(value))
        for (row, column), value in values.items()
        if value is not None
    ]


def read_history(
    connection: Connection, rater: str, code: str, kind: EntryKind, column: str
) -> list[Revision]:
    """Return every revision of one cell of one rater, over all batches and imports, oldest first."""
    found = driver(connection).execute(
        """
        WITH revisions AS (
            SELECT workbook, row, "column", pull, value FROM entries
            UNION SELECT workbook, row, "column", pull, value FROM imported
        )
        SELECT revisions.pull, pulls.at, revisions.value, workbooks.batch, rows.text
        FROM workbooks
        JOIN rows ON rows.workbook = workbooks.id AND rows.code = :code
        JOIN columns ON columns.kind = :kind AND columns.name = :column
        JOIN revisions ON revisions.workbook = workbooks.id AND revisions.row = rows.position
            AND revisions."column" = columns.id
        JOIN pulls ON pulls.number = revisions.pull
        WHERE workbooks.rater = :rater
        ORDER BY revisions.pull, workbooks.id
        """,
        {"rater": rater, "code": code, "kind": kind, "column": column},
    )
    return [
        Revision(pull, at, None if value is None else decode_value(value), batch, text)
        for pull, at, value, batch, text in found
    ]
