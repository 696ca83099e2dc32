"""How far each rater has come, and which units still lack raters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sheetsync.domain.current import BatchEntries
from sheetsync.domain.ratings import BatchKind, Entry, Problem
from sheetsync.domain.study import NOT_APPLICABLE, Rubric

RowProgress = Literal["complete", "partial", "untouched"]


@dataclass(frozen=True)
class BatchProgress:
    """The rows of one workbook: complete + partial + untouched = assigned.

    `invalid` counts rows with an error problem; they are never complete.
    """

    rater: str
    batch: str
    kind: BatchKind
    assigned: int
    complete: int
    partial: int
    untouched: int
    invalid: int
    last_change: str | None = None


def row_progress(entries: Sequence[Entry], rubric: Rubric, has_error: bool) -> RowProgress:
    """Return how far one row is: complete needs a score or N/A for every dimension, and no error."""
    if not entries and not has_error:
        return "untouched"
    scores = {entry.column: entry.value for entry in entries if entry.kind == "score"}
    sure = {entry.column for entry in entries if entry.kind == "confidence"}
    complete = not has_error and all(
        dimension.id in scores
        and (not dimension.confidence or dimension.id in sure or scores[dimension.id] == NOT_APPLICABLE)
        for dimension in rubric.dimensions
    )
    return "complete" if complete else "partial"


def batch_progress(
    batch: BatchEntries, rubric: Rubric, problems: Iterable[Problem], last_change: str | None
) -> BatchProgress:
    """Return the progress of one workbook; `problems` are all that stand now."""
    wrong = {
        problem.code
        for problem in problems
        if problem.rater == batch.rater and problem.batch == batch.batch and problem.severity == "error"
    }
    entries: dict[str, list[Entry]] = {code: [] for code in batch.texts}
    for entry in batch.entries:
        entries.setdefault(entry.code, []).append(entry)
    rows = [row_progress(entries[code], rubric, code in wrong) for code in batch.texts]
    return BatchProgress(
        batch.rater,
        batch.batch,
        batch.kind,
        assigned=len(rows),
        complete=rows.count("complete"),
        partial=rows.count("partial"),
        untouched=rows.count("untouched"),
        invalid=len(wrong & set(batch.texts)),
        last_change=last_change,
    )


@dataclass(frozen=True)
class UnitCoverage:
    """Which production units have what the design wants.

    Attributes:
        total: production units issued.
        fully_rated: units complete on every dimension by as many roster raters as the design wants.
        short_of_raters: units issued to fewer roster raters than the design wants.
        changed_text: units whose text in the study's files is not the newest that was issued.
        older_text: (rater, code) whose ratings are left out because others rated a newer text.
    """

    total: int
    fully_rated: int
    short_of_raters: tuple[str, ...]
    changed_text: tuple[str, ...]
    older_text: tuple[tuple[str, str], ...]


def units_short(
    codes: Sequence[str], holders: Mapping[str, Iterable[str]], roster: Sequence[str], wanted: int
) -> tuple[str, ...]:
    """Return the codes that fewer than `wanted` raters of the roster hold."""
    return tuple(code for code in codes if len(set(holders.get(code, ())) & set(roster)) < wanted)
