"""The key, the texts, the rubrics and the workbooks: what is written down before anybody scores."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from sheetsync.domain.assignment import CodedUnit
from sheetsync.errors import ArchiveError
from sheetsync.store import tables
from sheetsync.store.database import driver
from sheetsync.store.records import RowRecord, TextRecord, WorkbookKey, WorkbookRecord

_FAULT = "This is a fault of sheetsync: please report it with this message."


def add_units(connection: Connection, units: Sequence[CodedUnit]) -> None:
    """Append units to the key; one that is in it already is an error."""
    known = read_units(connection)
    codes = {unit.code for unit in known}
    keys = {unit.key for unit in known}
    for unit in units:
        if unit.code in codes or unit.key in keys:
            raise ArchiveError(f"The unit {unit.code} is in the key already.", _FAULT)
        codes.add(unit.code)
        keys.add(unit.key)
    if units:
        connection.execute(insert(tables.units), [asdict(unit) for unit in units])


def read_units(connection: Connection) -> list[CodedUnit]:
    """Return the key in the order of registration."""
    rows = connection.execute(select(tables.units).order_by(tables.units.c.id))
    return [
        CodedUnit(
            row.code,
            row.question_id,
            row.figure,
            row.model,
            row.calibration,
            row.side,
            row.has_false_premise,
        )
        for row in rows
    ]


def add_texts(connection: Connection, texts: Mapping[str, tuple[str, str]]) -> dict[str, int]:
    """Append texts that differ from the latest of their unit; return the number of each."""
    latest = {code: versions[-1] for code, versions in read_texts(connection).items()}
    numbers: dict[str, int] = {}
    new: list[dict[str, object]] = []
    for code, (question, response) in texts.items():
        last = latest.get(code)
        if last and (last.question, last.response) == (question, response):
            numbers[code] = last.number
            continue
        numbers[code] = last.number + 1 if last else 1
        new.append({"code": code, "number": numbers[code], "question": question, "response": response})
    if new:
        connection.execute(insert(tables.texts), new)
    return numbers


def read_texts(connection: Connection) -> dict[str, list[TextRecord]]:
    """Return every version of every unit's texts, oldest first."""
    c = tables.texts.c
    rows = connection.execute(select(tables.texts).order_by(c.code, c.number))
    return {
        code: [TextRecord(row.number, row.question, row.response) for row in versions]
        for code, versions in groupby(rows, key=lambda row: str(row.code))
    }


def add_rubric(connection: Connection, rubric_json: str) -> str:
    """Keep a rubric under its hash and return the hash."""
    name = hashlib.sha256(rubric_json.encode()).hexdigest()
    if connection.execute(select(tables.rubrics.c.hash).filter_by(hash=name)).first() is None:
        connection.execute(insert(tables.rubrics).values(hash=name, json=rubric_json))
    return name


def read_rubric(connection: Connection, name: str) -> str:
    """Return the rubric of a hash."""
    found: str | None = connection.execute(select(tables.rubrics.c.json).filter_by(hash=name)).scalar()
    if found is None:
        raise ArchiveError(f"The archive holds no rubric {name}.", _FAULT)
    return found


def plan_workbooks(connection: Connection, records: Sequence[WorkbookRecord]) -> None:
    """Write down workbooks that are to be made; one that is planned already is an error."""
    planned = set(workbook_ids(connection))
    for record in records:
        if record.key in planned:
            raise ArchiveError(f"The workbook {record.rater}/{record.batch} is planned already.", _FAULT)
        planned.add(record.key)
        _plan_workbook(connection, record)


def _plan_workbook(connection: Connection, record: WorkbookRecord) -> None:
    fields = ("rater", "batch", "kind", "rubric", "location", "version")
    values = {name: getattr(record, name) for name in fields}
    result = connection.execute(insert(tables.workbooks).values(values))
    (workbook,) = result.inserted_primary_key or (0,)
    driver(connection).executemany(
        "INSERT INTO rows (workbook, position, code, text) VALUES (?, ?, ?, ?)",
        ((workbook, position, row.code, row.text) for position, row in enumerate(record.rows)),
    )
    if record.created is not None:
        _add_creation(connection, workbook, record.location, record.version, record.created)


def mark_created(connection: Connection, key: WorkbookKey, location: str, version: str, at: str) -> None:
    """Write down that a planned workbook exists."""
    _add_creation(connection, workbook_id(workbook_ids(connection), key), location, version, at)


def _add_creation(connection: Connection, workbook: int, location: str, version: str, at: str) -> None:
    values = {"workbook": workbook, "at": at, "location": location, "version": version}
    connection.execute(insert(tables.creations).values(values))


def workbook_ids(connection: Connection) -> dict[WorkbookKey, int]:
    """Return the id of every planned workbook, in the order of planning."""
    c = tables.workbooks.c
    rows = connection.execute(select(c.rater, c.batch, c.id).order_by(c.id))
    return {(row.rater, row.batch): row.id for row in rows}


def workbook_id(ids: Mapping[WorkbookKey, int], key: WorkbookKey) -> int:
    """Return the id of one workbook.

    Raises:
        ArchiveError: it was never planned.
    """
    if key not in ids:
        raise ArchiveError(f"The archive knows no workbook {key[0]}/{key[1]}.", _FAULT)
    return ids[key]


def read_workbooks(connection: Connection) -> list[WorkbookRecord]:
    """Return every workbook in the order of planning."""
    created = {
        row.workbook: row
        for row in connection.execute(select(tables.creations).order_by(tables.creations.c.id))
    }
    found = connection.execute(select(tables.workbooks).order_by(tables.workbooks.c.id)).all()
    return [_workbook_record(connection, row, created.get(row.id)) for row in found]


def _workbook_record(connection: Connection, row: Row[Any], created: Row[Any] | None) -> WorkbookRecord:
    rows = driver(connection).execute(
        "SELECT code, text FROM rows WHERE workbook = ? ORDER BY position", (row.id,)
    )
    return WorkbookRecord(
        rater=row.rater,
        batch=row.batch,
        kind=row.kind,
        rubric=row.rubric,
        rows=tuple(RowRecord(code, text) for code, text in rows),
        created=created.at if created else None,
        location=created.location if created else row.location,
        version=created.version if created else row.version,
    )
