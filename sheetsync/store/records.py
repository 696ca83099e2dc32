"""What goes into the archive and what comes out of it: frozen, plain values.

Terminology:

WORKBOOK KEY
    `(rater, batch)`: which rater's workbook.
READING
    What one pull found in one workbook.
REVISION
    One change of one cell: a new value, another value, or None for a cell that was cleared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sheetsync.domain.divergence import Verdict
from sheetsync.domain.ratings import BatchKind, Entry, Problem
from sheetsync.domain.study import LevelValue
from sheetsync.domain.workbook import Grid

WorkbookKey = tuple[str, str]
"""(rater, batch)"""

ReadingState = Literal["read", "unchanged", "missing", "unreadable", "guarded"]


@dataclass(frozen=True)
class TextRecord:
    """One version of a unit's texts; versions count from 1."""

    number: int
    question: str
    response: str


@dataclass(frozen=True)
class RowRecord:
    """One row of a workbook: the unit, and the number of the text that was written into the row."""

    code: str
    text: int = 1


@dataclass(frozen=True)
class WorkbookRecord:
    """One rater's workbook; `rubric` is a hash, `created` is None until the workbook exists."""

    rater: str
    batch: str
    kind: BatchKind
    rubric: str
    rows: tuple[RowRecord, ...]
    created: str | None = None
    location: str = ""
    version: str = ""

    @property
    def key(self) -> WorkbookKey:
        """Which workbook it is."""
        return (self.rater, self.batch)


@dataclass(frozen=True)
class WorkbookReading:
    """What a pull found in one workbook.

    Attributes:
        rater: whose workbook.
        batch: which batch.
        state: how the reading went; only `read` makes the archive remember `version`.
        version: the version that was read.
        entries: everything that stands in the workbook now; what is archived and absent here counts
            as cleared. None leaves the archived entries as they are.
        problems: everything that is wrong now. For `unchanged` they are ignored: the problems of
            the last `read` stand again, also after a `missing`, `unreadable` or `guarded` in between.
    """

    rater: str
    batch: str
    state: ReadingState
    version: str = ""
    entries: Sequence[Entry] | None = None
    problems: Sequence[Problem] = ()


@dataclass(frozen=True)
class Submission:
    """What a file says of one of a rater's batches.

    Attributes:
        rater: whose ratings.
        batch: the batch that holds the rows.
        file: the name of the file.
        hash: of its bytes.
        codes: the units of its rows; what an earlier file said of them counts no more.
        entries: what stands in these rows.
        problems: what is wrong in them.
    """

    rater: str
    batch: str
    file: str
    hash: str
    codes: tuple[str, ...]
    entries: Sequence[Entry]
    problems: Sequence[Problem] = ()


@dataclass(frozen=True)
class AdjudicationReading:
    """What a pull found in the adjudication workbook; the fields mean what `WorkbookReading` says.

    A verdict that is archived and absent from `verdicts` stays: its row may have left the sheet.
    """

    state: ReadingState
    version: str = ""
    verdicts: Sequence[Verdict] | None = None
    problems: Sequence[Problem] = ()


@dataclass(frozen=True)
class Changes:
    """How many scores a reading brought: blank before, another value before, blank now."""

    new: int = 0
    changed: int = 0
    cleared: int = 0


@dataclass(frozen=True)
class PullRecord:
    """One pull; `changes` has a key for every workbook that the pull looked at."""

    number: int
    at: str
    changes: Mapping[WorkbookKey, Changes]


@dataclass(frozen=True)
class Revision:
    """One step in the history of a cell; `value` is None where it was cleared."""

    pull: int
    at: str
    value: LevelValue | bool | None
    batch: str
    text: int


@dataclass(frozen=True)
class Published:
    """What was last written into a workbook of ours; without tabs and version where nothing was.

    The attributes are those of `backends.base.Known`.
    """

    tabs: tuple[Grid, ...] = ()
    people_columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    version: str = ""


@dataclass(frozen=True)
class Freeze:
    """What was frozen: JSON text, with its hash."""

    at: str
    hash: str
    content: str


@dataclass(frozen=True)
class Event:
    """One line of the run log."""

    at: str
    command: str
    outcome: str
