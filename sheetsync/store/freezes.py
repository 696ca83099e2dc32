"""What was frozen before scoring, and when scores came in relative to that."""

from __future__ import annotations

from sqlalchemy import Connection, insert, select

from sheetsync.store import tables
from sheetsync.store.database import driver
from sheetsync.store.records import Freeze


def record_freeze(connection: Connection, freeze: Freeze) -> None:
    """Append what was frozen."""
    connection.execute(insert(tables.freezes).values(at=freeze.at, hash=freeze.hash, content=freeze.content))


def last_freeze(connection: Connection) -> Freeze | None:
    """Return what is frozen, None where nothing is."""
    row = connection.execute(select(tables.freezes).order_by(tables.freezes.c.id.desc()).limit(1)).first()
    return None if row is None else Freeze(row.at, row.hash, row.content)


def score_times(connection: Connection) -> list[tuple[str, int]]:
    """Return when scores of production units were typed, changed or imported: time and number of cells."""
    found = driver(connection).execute(
        """
        WITH revisions AS (
            SELECT workbook, row, "column", pull FROM entries
            UNION SELECT workbook, row, "column", pull FROM imported
        )
        SELECT pulls.at, count(*)
        FROM revisions
        JOIN columns ON columns.id = revisions."column" AND columns.kind = 'score'
        JOIN rows ON rows.workbook = revisions.workbook AND rows.position = revisions.row
        JOIN units ON units.code = rows.code AND NOT units.calibration
        JOIN pulls ON pulls.number = revisions.pull
        GROUP BY pulls.number ORDER BY pulls.number
        """
    )
    return [(at, count) for at, count in found]
