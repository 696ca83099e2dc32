"""Submissions: ratings that came as a file, beside those that stand in the rater's workbook.

A workbook and the files a rater sends are two sources for the same cells, and neither may undo the other:
reading a workbook again, in which nothing was typed, must not clear what was imported. So each keeps its
own revisions, and what is in force is decided when it is read: a blank yields to a value, and of two
values the one that came later counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields

from sqlalchemy import Connection, func, insert, select

from sheetsync.domain.ratings import Problem
from sheetsync.store import tables
from sheetsync.store.database import driver
from sheetsync.store.entries import (
    CellKey,
    Columns,
    cells_of_entries,
    count_scores,
    read_columns,
    values_in_force,
)
from sheetsync.store.records import Changes, PullRecord, Submission, WorkbookKey
from sheetsync.store.registry import workbook_id, workbook_ids

_PROBLEM_FIELDS = tuple(field.name for field in fields(Problem))

_Values = Mapping[CellKey, str | None]


@dataclass(frozen=True)
class _Written:
    """What a submission changed in one workbook: score cells in force, and revisions of any kind."""

    changes: Changes
    revisions: int


def record_import(connection: Connection, at: str, submissions: Sequence[Submission]) -> PullRecord:
    """Append submissions as one pull; see `Archive.record_import`."""
    result = connection.execute(insert(tables.pulls).values(at=at))
    (pull,) = result.inserted_primary_key or (0,)
    ids = workbook_ids(connection)
    columns = read_columns(connection)
    changes: dict[WorkbookKey, Changes] = {}
    for submission in submissions:
        workbook = workbook_id(ids, (submission.rater, submission.batch))
        problems = [*submission.problems, *_standing_elsewhere(connection, workbook, submission.codes)]
        written = _append(connection, workbook, pull, submission, columns)
        result = connection.execute(
            insert(tables.imports).values(
                pull=pull,
                workbook=workbook,
                file=submission.file,
                hash=submission.hash,
                revisions=written.revisions,
            )
        )
        (number,) = result.inserted_primary_key or (0,)
        _add_problems(connection, number, problems)
        changes[submission.rater, submission.batch] = written.changes
    return PullRecord(pull, at, changes)


def _append(
    connection: Connection, workbook: int, pull: int, submission: Submission, columns: Columns
) -> _Written:
    """Append a revision where the file says something new, or takes something back."""
    found = cells_of_entries(connection, workbook, submission.entries, columns)
    before = values_in_force(connection, workbook)
    own = _own_values(connection, workbook)
    rows = _rows_of(connection, workbook, submission.codes)
    revisions: list[tuple[CellKey, str | None]] = [
        (cell, value) for cell, value in found.items() if before.get(cell) != value
    ]
    revisions += [
        (cell, None)
        for cell, value in own.items()
        if value is not None and cell[0] in rows and cell not in found
    ]
    confirmed = {
        cell for cell, value in found.items() if before.get(cell) == value and own.get(cell) != value
    }
    typed_in = _pulls_of_typed(connection, workbook) if confirmed else {}
    # What the workbook said first is kept as said then: it is no news, but outlives a cell that is emptied.
    said = [(cell, value, pull) for cell, value in revisions]
    said += [(cell, found[cell], pull if cell in own else typed_in[cell]) for cell in sorted(confirmed)]
    driver(connection).executemany(
        'INSERT INTO imported (workbook, row, "column", pull, value) VALUES (?, ?, ?, ?, ?)',
        ((workbook, row, column, moment, value) for (row, column), value, moment in said),
    )
    after = values_in_force(connection, workbook)
    changed = [(cell, after.get(cell)) for cell, _ in revisions if after.get(cell) != before.get(cell)]
    return _Written(count_scores(changed, before, columns), len(revisions))


def _pulls_of_typed(connection: Connection, workbook: int) -> Mapping[CellKey, int]:
    """Return in which pull each cell of the workbook itself last changed."""
    found = driver(connection).execute(
        'SELECT row, "column", max(pull) FROM entries WHERE workbook = ? GROUP BY row, "column"', (workbook,)
    )
    return {(row, column): pull for row, column, pull in found}


def _own_values(connection: Connection, workbook: int) -> _Values:
    """Return what the files alone said last."""
    found = driver(connection).execute(
        'SELECT row, "column", value FROM imported WHERE workbook = ? ORDER BY row, "column", pull',
        (workbook,),
    )
    return {(row, column): value for row, column, value in found}


def _rows_of(connection: Connection, workbook: int, codes: Iterable[str]) -> set[int]:
    wanted = set(codes)
    found = driver(connection).execute("SELECT code, position FROM rows WHERE workbook = ?", (workbook,))
    return {position for code, position in found if code in wanted}


# --- problems ---


def _add_problems(connection: Connection, number: int, problems: Sequence[Problem]) -> None:
    names = ", ".join(f'"{name}"' for name in _PROBLEM_FIELDS)
    marks = ", ".join("?" * (len(_PROBLEM_FIELDS) + 2))
    driver(connection).executemany(
        f"INSERT INTO import_problems (import, position, {names}) VALUES ({marks})",  # noqa: S608 - field names
        ((number, position, *astuple(problem)) for position, problem in enumerate(problems)),
    )


def current_problems(connection: Connection) -> list[Problem]:
    """Return what is wrong in submissions, without rows that were typed into the workbook since."""
    latest = select(func.max(tables.imports.c.id)).group_by(tables.imports.c.workbook)
    found = connection.execute(
        select(tables.imports.c.id, tables.imports.c.workbook)
        .where(tables.imports.c.id.in_(latest))
        .order_by(tables.imports.c.workbook)
    )
    return [problem for row in found.all() for problem in _standing(connection, row.id, row.workbook)]


def _standing(connection: Connection, number: int, workbook: int) -> list[Problem]:
    c = tables.import_problems.c
    query = select(*(c[name] for name in _PROBLEM_FIELDS)).where(c["import"] == number).order_by(c.position)
    problems = [Problem(*row) for row in connection.execute(query)]
    if not problems:
        return []
    typed_since = driver(connection).execute(
        """
        SELECT DISTINCT rows.code FROM entries
        JOIN rows ON rows.workbook = entries.workbook AND rows.position = entries.row
        WHERE entries.workbook = ? AND entries.pull > (SELECT pull FROM imports WHERE id = ?)
        """,
        (workbook, number),
    )
    settled = {code for (code,) in typed_since}
    return [problem for problem in problems if problem.code not in settled]


def _standing_elsewhere(connection: Connection, workbook: int, codes: Iterable[str]) -> list[Problem]:
    """Return the problems of earlier submissions in rows that this one does not hold."""
    latest = connection.execute(
        select(func.max(tables.imports.c.id)).where(tables.imports.c.workbook == workbook)
    ).scalar()
    again = set(codes)
    standing = _standing(connection, latest, workbook) if latest is not None else []
    return [problem for problem in standing if problem.code not in again]


def last_change(connection: Connection, workbook: int) -> str | None:
    """Return when a submission last changed anything of a workbook's cells."""
    i, p = tables.imports.c, tables.pulls.c
    found: str | None = connection.execute(
        select(p.at)
        .join_from(tables.imports, tables.pulls, i.pull == p.number)
        .where(i.workbook == workbook, i.revisions > 0)
        .order_by(i.id.desc())
        .limit(1)
    ).scalar()
    return found
