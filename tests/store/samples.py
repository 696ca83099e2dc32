"""A small archive with its workbooks planned, and short spellings of readings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sheetsync.domain.assignment import CodedUnit
from sheetsync.domain.ratings import Entry, Problem
from sheetsync.domain.study import LevelValue
from sheetsync.store.archive import Archive
from sheetsync.store.records import RowRecord, WorkbookReading, WorkbookRecord

AT = "2026-07-01T02:00:00Z"


def make_archive(folder: Path, raters: Sequence[str] = ("A1", "A2"), n_units: int = 3) -> Archive:
    """Return an archive with units `u0`, `u1` ... and a `main` workbook with all of them per rater."""
    archive = Archive.open(folder)
    codes = [f"u{number}" for number in range(n_units)]
    archive.add_units([CodedUnit(code, code, "Macrina", "model-x") for code in codes])
    archive.add_texts({code: (f"Question {code}?", f"Answer {code}.") for code in codes})
    rubric = archive.add_rubric('{"version": "1"}')
    rows = tuple(RowRecord(code) for code in codes)
    archive.plan_workbooks([WorkbookRecord(rater, "main", "production", rubric, rows) for rater in raters])
    return archive


def score(code: str, value: LevelValue, dimension: str = "coverage") -> Entry:
    """Return a score."""
    return Entry(code, "score", dimension, value)


def read(
    rater: str, *entries: Entry, version: str = "v", problems: Sequence[Problem] = ()
) -> WorkbookReading:
    """Return the reading of a workbook that holds just these entries."""
    return WorkbookReading(rater, "main", "read", version, entries, problems)
