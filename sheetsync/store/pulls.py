"""Pulls: the readings of workbooks and their problems.

A reading names the reading whose problems stand now (`problems_from`): usually itself, an earlier
one where the problems are the same, and for an unchanged workbook that of the last successful read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from typing import Literal

from sqlalchemy import ColumnElement, Connection, case, func, insert, select

from sheetsync.domain.habits.pace import FirstScores
from sheetsync.domain.ratings import Problem
from sheetsync.errors import ArchiveError
from sheetsync.store import tables
from sheetsync.store.database import driver
from sheetsync.store.entries import Appended, append_entries, read_columns
from sheetsync.store.records import (
    AdjudicationReading,
    Changes,
    PullRecord,
    ReadingState,
    WorkbookKey,
    WorkbookReading,
)
from sheetsync.store.registry import workbook_id, workbook_ids
from sheetsync.store.verdicts import append_verdicts

_PROBLEM_FIELDS = tuple(field.name for field in fields(Problem))

_readings = tables.readings


@dataclass(frozen=True)
class _Source:
    """What was looked at: one rater's workbook, the adjudication workbook, or the study as a whole."""

    kind: Literal["workbook", "adjudication", "study"]
    workbook: int | None = None

    @property
    def condition(self) -> ColumnElement[bool]:
        """Which readings are of this source."""
        return (_readings.c.source == self.kind) & _readings.c.workbook.is_(self.workbook)


@dataclass(frozen=True)
class _Look:
    """How looking at a source went."""

    state: ReadingState
    version: str
    problems: Sequence[Problem]


def record_pull(
    connection: Connection,
    at: str,
    readings: Sequence[WorkbookReading],
    adjudication: AdjudicationReading | None,
    problems: Sequence[Problem],
) -> PullRecord:
    """Append a whole pull; see `Archive.record_pull`."""
    result = connection.execute(insert(tables.pulls).values(at=at))
    (pull,) = result.inserted_primary_key or (0,)
    ids = workbook_ids(connection)
    columns = read_columns(connection)
    changes: dict[WorkbookKey, Changes] = {}
    for reading in readings:
        key = (reading.rater, reading.batch)
        if key in changes:
            raise ArchiveError(
                f"A pull has two readings of {key[0]}/{key[1]}.", "Please report this message."
            )
        workbook = workbook_id(ids, key)
        appended = Appended()
        if reading.entries is not None:
            appended = append_entries(connection, workbook, pull, reading.entries, columns)
        look = _Look(reading.state, reading.version, reading.problems)
        _add_reading(connection, pull, _Source("workbook", workbook), look, appended)
        changes[key] = appended.changes
    if adjudication is not None:
        append_verdicts(connection, pull, adjudication.verdicts or ())
        look = _Look(adjudication.state, adjudication.version, adjudication.problems)
        _add_reading(connection, pull, _Source("adjudication"), look, Appended())
    _add_reading(connection, pull, _Source("study"), _Look("read", "", problems), Appended())
    return PullRecord(pull, at, changes)


def _add_reading(connection: Connection, pull: int, source: _Source, look: _Look, appended: Appended) -> None:
    reading = (connection.execute(select(func.max(_readings.c.id))).scalar() or 0) + 1
    problems_from = _standing_problems(connection, source, look)
    connection.execute(
        insert(_readings).values(
            id=reading,
            pull=pull,
            source=source.kind,
            workbook=source.workbook,
            state=look.state,
            version=look.version,
            problems_from=problems_from or reading,
            new=appended.changes.new,
            changed=appended.changes.changed,
            cleared=appended.changes.cleared,
            revisions=appended.revisions,
        )
    )
    if problems_from is None:
        _add_problems(connection, reading, look.problems)


def _standing_problems(connection: Connection, source: _Source, look: _Look) -> int | None:
    """Return the earlier reading whose problems stand, None where the problems are new."""
    earlier = (
        select(_readings.c.problems_from).where(source.condition).order_by(_readings.c.id.desc()).limit(1)
    )
    if look.state == "unchanged":
        found: int | None = connection.execute(earlier.where(_readings.c.state == "read")).scalar()
        return found
    latest: int | None = connection.execute(earlier).scalar()
    if latest is not None and _problems_of(connection, latest) == list(look.problems):
        return latest
    return None


def _add_problems(connection: Connection, reading: int, problems: Sequence[Problem]) -> None:
    names = ", ".join(f'"{name}"' for name in _PROBLEM_FIELDS)
    marks = ", ".join("?" * (len(_PROBLEM_FIELDS) + 2))
    driver(connection).executemany(
        f"INSERT INTO problems (reading, position, {names}) VALUES ({marks})",  # noqa: S608 - field names
        ((reading, position, *astuple(problem)) for position, problem in enumerate(problems)),
    )


def _problems_of(connection: Connection, reading: int) -> list[Problem]:
    c = tables.problems.c
    query = select(*(c[name] for name in _PROBLEM_FIELDS)).where(c.reading == reading).order_by(c.position)
    return [Problem(*row) for row in connection.execute(query)]


def current_problems(connection: Connection) -> list[Problem]:
    """Return what is wrong now: workbooks in order, then adjudication, then the study as a whole."""
    latest = select(func.max(_readings.c.id)).group_by(_readings.c.source, _readings.c.workbook)
    order = case({"workbook": 0, "adjudication": 1}, value=_readings.c.source, else_=2)
    query = (
        select(_readings.c.problems_from)
        .where(_readings.c.id.in_(latest))
        .order_by(order, _readings.c.workbook)
    )
    standing = connection.execute(query).scalars().all()
    return [problem for reading in standing for problem in _problems_of(connection, reading)]


def last_pull(connection: Connection) -> PullRecord | None:
    """Return the latest pull."""
    pull = connection.execute(select(tables.pulls).order_by(tables.pulls.c.number.desc()).limit(1)).first()
    if pull is None:
        return None
    c, w = _readings.c, tables.workbooks.c
    query = (
        select(w.rater, w.batch, c.new, c.changed, c.cleared)
        .join_from(_readings, tables.workbooks, c.workbook == w.id)
        .where(c.pull == pull.number)
        .order_by(c.id)
    )
    found = connection.execute(query)
    return PullRecord(
        pull.number, pull.at, {(r.rater, r.batch): Changes(r.new, r.changed, r.cleared) for r in found}
    )


def read_versions(connection: Connection) -> dict[WorkbookKey, str]:
    """Return the version of each rater's workbook at its last successful read."""
    c, w = _readings.c, tables.workbooks.c
    latest = select(func.max(c.id)).where(c.state == "read").group_by(c.source, c.workbook)
    query = (
        select(w.rater, w.batch, c.version)
        .join_from(_readings, tables.workbooks, c.workbook == w.id)
        .where(c.id.in_(latest))
        .order_by(w.id)
    )
    return {(row.rater, row.batch): row.version for row in connection.execute(query)}


def adjudication_version(connection: Connection) -> str | None:
    """Return the version of the adjudication workbook at its last successful read."""
    c = _readings.c
    query = select(c.version).where(c.source == "adjudication", c.state == "read")
    found: str | None = connection.execute(query.order_by(c.id.desc()).limit(1)).scalar()
    return found


def last_change(connection: Connection, workbook: int) -> str | None:
    """Return when a pull last appended a revision of the workbook."""
    c, p = _readings.c, tables.pulls.c
    query = (
        select(p.at)
        .join_from(_readings, tables.pulls, c.pull == p.number)
        .where(c.source == "workbook", c.workbook == workbook, c.revisions > 0)
        .order_by(c.id.desc())
        .limit(1)
    )
    found: str | None = connection.execute(query).scalar()
    return found


def first_scores(connection: Connection) -> list[FirstScores]:
    """Return in which pulls rows got their first score, workbook by workbook, oldest first."""
    found = driver(connection).execute(
        """
        WITH firsts AS (
            SELECT entries.workbook, entries.row, min(entries.pull) AS pull
            FROM entries JOIN columns ON columns.id = entries."column" AND columns.kind = 'score'
            WHERE entries.value IS NOT NULL
            GROUP BY entries.workbook, entries.row
        )
        SELECT workbooks.rater, workbooks.batch,
            coalesce(
                (SELECT max(pulls.at) FROM readings JOIN pulls ON pulls.number = readings.pull
                 WHERE readings.workbook = firsts.workbook AND readings.pull < firsts.pull
                     AND readings.state IN ('read', 'unchanged')),
                (SELECT min(creations.at) FROM creations WHERE creations.workbook = firsts.workbook)
            ),
            pulls.at, count(*)
        FROM firsts
        JOIN workbooks ON workbooks.id = firsts.workbook
        JOIN pulls ON pulls.number = firsts.pull
        GROUP BY firsts.workbook, firsts.pull
        ORDER BY firsts.workbook, firsts.pull
        """
    )
    return [FirstScores(*row) for row in found]
