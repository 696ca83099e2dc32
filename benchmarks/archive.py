"""Archiving a million ratings, against inserting the same rows blindly: `python -m benchmarks.archive`.

The comparison is one `executemany` of ready tuples into a table without any key, with the same
durability (WAL, `synchronous=FULL`). The archive also resolves codes and columns, encodes values,
checks foreign keys, keeps an order that it can be read back in, and compares with what is there.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import Row, paired, print_rows
from sheetsync.domain.assignment import CodedUnit
from sheetsync.domain.ratings import Entry
from sheetsync.store.archive import Archive
from sheetsync.store.records import RowRecord, WorkbookReading, WorkbookRecord

SHAPES = ((100, 10_000, 1), (100, 2_000, 5))
"""(workbooks, units in each, dimensions): a million scores either way."""

QUICK_SHAPES = ((10, 2_000, 1), (10, 400, 5))

FIRST_LIMIT = 3.0
SECOND_LIMIT = 2.5
AT = "2026-07-01T02:00:00Z"


def run(rounds: int = 7, *, quick: bool = False) -> list[Row]:
    """Measure the first and the second pull in each shape."""
    return [row for shape in (QUICK_SHAPES if quick else SHAPES) for row in _run_shape(shape, rounds)]


def _run_shape(shape: tuple[int, int, int], rounds: int) -> list[Row]:
    readings = _readings(shape)
    edited = [_edit_one_percent(reading) for reading in readings]
    rows = [
        (1, reading.rater, reading.batch, entry.code, entry.kind, entry.column, str(entry.value))
        for reading in readings
        for entry in reading.entries or ()
    ]
    with TemporaryDirectory() as name:
        bench = _Bench(Path(name), shape)

        def blind() -> None:
            bench.insert_blindly(rows)

        first = paired(
            lambda: bench.pull(readings), blind, rounds, before_a=bench.plan, before_b=bench.blank_table
        )
        # every round of the second pull toggles the same 1 %, so its work stays the same
        turns = [edited, readings]

        def second_pull() -> None:
            turns.reverse()
            changes = bench.pull(turns[1])
            assert sum(change for change in changes) == len(rows) // 100

        second = paired(second_pull, blind, rounds, before_b=bench.blank_table)
        bench.close()
    label = "{:,} workbooks x {:,} units x {:,} dimensions".format(*shape)
    peer = "blind sqlite3 executemany"
    return [
        Row(f"first pull of {label}", peer, first, FIRST_LIMIT),
        Row(f"second pull, 1 % changed, of {label}", peer, second, SECOND_LIMIT),
    ]


def _readings(shape: tuple[int, int, int]) -> list[WorkbookReading]:
    workbooks, units, dimensions = shape
    return [
        WorkbookReading(
            f"A{workbook}",
            "main",
            "read",
            "v1",
            [
                Entry(
                    f"u{unit:06}",
                    "score",
                    f"dimension-{dimension}",
                    (unit * 7 + dimension + workbook) % 5 + 1,
                )
                for unit in range(units)
                for dimension in range(dimensions)
            ],
        )
        for workbook in range(workbooks)
    ]


def _edit_one_percent(reading: WorkbookReading) -> WorkbookReading:
    entries = list(reading.entries or ())
    for index in range(0, len(entries), 100):
        entry = entries[index]
        entries[index] = Entry(entry.code, entry.kind, entry.column, int(entry.value) % 5 + 1)
    return replace(reading, version="v2", entries=entries)


class _Bench:
    """A folder with an archive and a plain database, each made anew when asked."""

    def __init__(self, folder: Path, shape: tuple[int, int, int]) -> None:
        self._folder = folder
        self._shape = shape
        self._archive: Archive | None = None
        self._blind: sqlite3.Connection | None = None
        self._count = 0

    def close(self) -> None:
        if self._archive is not None:
            self._archive.close()
        if self._blind is not None:
            self._blind.close()

    def plan(self) -> None:
        """Make an archive in which everything is planned and nothing is pulled."""
        if self._archive is not None:
            self._archive.close()
        self._count += 1
        self._archive = archive = Archive.open(self._folder / f"study-{self._count}")
        workbooks, units, _ = self._shape
        codes = [f"u{unit:06}" for unit in range(units)]
        archive.add_units([CodedUnit(code, code, "", "model") for code in codes])
        archive.add_texts(dict.fromkeys(codes, ("Question?", "Answer.")))
        rubric = archive.add_rubric("{}")
        rows = tuple(RowRecord(code) for code in codes)
        archive.plan_workbooks(
            [WorkbookRecord(f"A{n}", "main", "production", rubric, rows) for n in range(workbooks)]
        )

    def pull(self, readings: Sequence[WorkbookReading]) -> list[int]:
        """Record a pull and return how many scores changed in each workbook."""
        assert self._archive is not None
        return [changes.changed for changes in self._archive.record_pull(AT, readings).changes.values()]

    def blank_table(self) -> None:
        """Make a plain table in a new file."""
        if self._blind is not None:
            self._blind.close()
        self._count += 1
        self._blind = sqlite3.connect(self._folder / f"blind-{self._count}.sqlite", isolation_level=None)
        self._blind.execute("PRAGMA journal_mode = wal")
        self._blind.execute("PRAGMA synchronous = FULL")
        self._blind.execute("CREATE TABLE entries (pull, rater, batch, code, kind, column_id, value)")

    def insert_blindly(self, rows: Sequence[tuple[object, ...]]) -> None:
        """Insert ready rows in one transaction."""
        assert self._blind is not None
        self._blind.execute("BEGIN")
        self._blind.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        self._blind.execute("COMMIT")


if __name__ == "__main__":
    print_rows(run(int(sys.argv[1]) if len(sys.argv) > 1 else 7))
