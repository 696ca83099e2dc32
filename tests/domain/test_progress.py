"""Complete, partial, untouched, invalid; and units short of raters."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sheetsync.domain.current import BatchEntries
from sheetsync.domain.progress import RowProgress, batch_progress, row_progress, units_short
from sheetsync.domain.ratings import Entry, EntryKind, Problem, Severity
from sheetsync.domain.study import LevelValue
from tests.builders import make_rubric

SURE = make_rubric(
    dimension=[
        {
            "id": "a",
            "name": "A",
            "not_applicable": True,
            "confidence": True,
            "levels": [{"value": 1}, {"value": 2}],
        },
        {"id": "b", "name": "B", "levels": [{"value": 1}, {"value": 2}]},
    ],
    rule=[],
)


def entry(kind: EntryKind, column: str, value: LevelValue | bool, code: str = "u1") -> Entry:
    return Entry(code, kind, column, value)


A, B = entry("score", "a", 1), entry("score", "b", 2)
NA, LOW = entry("score", "a", "N/A"), entry("confidence", "a", "Low")
TICK, NOTE = entry("tag", "evasion", True), entry("remark", "notes", "Hm.")


@pytest.mark.parametrize(
    ("entries", "has_error", "progress"),
    [
        ([], False, "untouched"),
        ([], True, "partial"),
        ([A], False, "partial"),
        ([TICK], False, "partial"),
        ([NOTE], False, "partial"),
        ([A, B], False, "partial"),
        ([A, LOW, B], False, "complete"),
        ([A, LOW, B], True, "partial"),
        ([NA, B], False, "complete"),
        ([NA, LOW, B, TICK, NOTE], False, "complete"),
    ],
)
def test_rows(entries: Sequence[Entry], has_error: bool, progress: RowProgress) -> None:
    assert row_progress(entries, SURE, has_error) == progress


def problem(code: str, severity: Severity = "error", batch: str = "main", rater: str = "ann") -> Problem:
    return Problem("not_a_level", "?", rater=rater, batch=batch, code=code, severity=severity)


def test_a_batch_adds_up() -> None:
    entries = [
        *(entry("score", "a", "N/A", code) for code in ("u1", "u2", "u3")),
        *(entry("score", "b", 1, code) for code in ("u1", "u2")),
    ]
    batch = BatchEntries(
        "ann", "main", "production", dict.fromkeys(("u1", "u2", "u3", "u4", "u5"), 1), entries
    )
    problems = [
        problem("u2", "warning"),
        problem("u1", batch="add-1"),
        problem("u1", rater="ben"),
        problem("u4"),
        problem("u4"),
        problem("not ours"),
    ]
    found = batch_progress(batch, SURE, problems, "2026-11-30T00:00:00Z")
    assert (found.assigned, found.complete, found.partial, found.untouched, found.invalid) == (5, 2, 2, 1, 1)
    assert found.complete + found.partial + found.untouched == found.assigned
    assert found.last_change == "2026-11-30T00:00:00Z"


def test_units_short_of_raters() -> None:
    holders = {"u1": ["ann", "ben"], "u2": ["ann", "gone"], "u3": ["ann", "ann"]}
    assert units_short(["u1", "u2", "u3", "u4"], holders, ["ann", "ben"], 2) == ("u2", "u3", "u4")
