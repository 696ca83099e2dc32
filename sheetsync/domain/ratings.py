"""Ratings and problems: what parsing a workbook yields, and what the archive keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sheetsync.domain.study import LevelValue

BatchKind = Literal["calibration", "production", "rescore"]

EntryKind = Literal["score", "confidence", "tag", "remark"]
"""What a cell of a scoring tab can hold. Only a `score` is a rating; the others travel along."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What one input cell of one unit holds, read and valid.

    Attributes:
        code: the unit.
        kind: which sort of cell.
        column: the id within the kind: dimension id for score and confidence, tag id, remark id.
        value: a declared level or "N/A" for scores; Low/Medium/High; True, or the quoted claim for
            a tag (an unticked tag has no entry); the text of a remark.
    """

    code: str
    kind: EntryKind
    column: str
    value: LevelValue | bool


@dataclass(frozen=True)
class Rating:
    """A current rating as analysis uses it.

    `value` is a declared level or "N/A". `text` is the number of the text version it was given on.
    """

    rater: str
    batch: str
    kind: BatchKind
    code: str
    dimension: str
    value: LevelValue
    text: int = 1


Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Problem:
    """Something wrong in a cell, a row or a workbook, with its place.

    `kind` is one of `not_a_level`, `not_applicable_here`, `not_a_tick`, `formula`, `rule:<id>`,
    `duplicate_row`, `conflicting_rows`, `unknown_code`, `missing_row`, `edited_text`, `missing_column`,
    `repeated_column`, `not_a_workbook`, `not_in_study`, `emptied`, `date_format`.
    `cell` is in A1 notation of the workbook as it was read. `found` is what stood there, as text.
    """

    kind: str
    message: str
    rater: str | None = None
    batch: str | None = None
    tab: str | None = None
    cell: str | None = None
    code: str | None = None
    column: str | None = None
    found: str | None = None
    severity: Severity = "error"


COLUMNS_BETWEEN = "; "
"""Stands between headers in `Problem.column` where a problem concerns several columns."""
