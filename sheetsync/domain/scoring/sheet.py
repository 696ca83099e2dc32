"""What a rater's workbook is made of, and which row of the `Scoring` tab holds what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sheetsync.domain.protocols import Resource, SelfCheck, TimeBudget
from sheetsync.domain.ratings import BatchKind
from sheetsync.domain.scoring.conditions import CellKey
from sheetsync.domain.study import Rubric
from sheetsync.domain.workbook import RawCell

START_TAB = "Start here"
CHECKLIST_TAB = "Checklist"
SELF_CHECK_TAB = "Self-check"
RUBRIC_TAB = "Rubric"
HELPER_TAB = "Helper"
REFERENCE_TAB = "Reference"

REMINDER_EVERY = 6
"""After so many cases raters are asked to read the rubric again (S1.33)."""


@dataclass(frozen=True)
class ScoringRow:
    """One unit as it stands in a workbook: what was written into its row, and what is typed there.

    `case`, `side` and `domain` are those of a pairs layout; cases of one domain are compared.
    """

    code: str
    figure: str
    question: str
    response: str
    has_false_premise: bool = False
    case: str = ""
    side: str = ""
    reference: str = ""
    domain: str = ""
    typed: Mapping[CellKey, RawCell] = field(default_factory=dict)


@dataclass(frozen=True)
class Guidance:
    """What raters are told besides the rubric.

    Attributes:
        version: version and date of the instructions.
        resources: what to read besides the workbook.
        time: how long it should take.
        self_check: what to look at again at the end.
        has_practice: whether the study has practice units, in a workbook of their own.
    """

    version: str = ""
    resources: tuple[Resource, ...] = ()
    time: TimeBudget = field(default_factory=TimeBudget)
    self_check: SelfCheck = field(default_factory=SelfCheck)
    has_practice: bool = False


@dataclass(frozen=True)
class ScoringSheet:
    """Everything one rater's workbook is made of; holds no model and no other rater."""

    study_id: str
    title: str
    rater: str
    rater_name: str
    batch: str
    kind: BatchKind
    rubric: Rubric
    rows: tuple[ScoringRow, ...]
    contact: str = ""
    pairs: bool = False
    references: Mapping[str, str] = field(default_factory=dict)
    guidance: Guidance = field(default_factory=Guidance)

    @property
    def has_self_check(self) -> bool:
        """Whether there is something to look at again at the end: confidence, or cases to compare."""
        return self.pairs or any(dimension.confidence for dimension in self.rubric.dimensions)

    @property
    def has_helper(self) -> bool:
        """Whether some score follows from a count."""
        return any(dimension.is_counted for dimension in self.rubric.dimensions)

    @property
    def marker(self) -> str:
        """Which workbook this is."""
        return f"{self.study_id}/{self.rater}/{self.batch}"


@dataclass(frozen=True)
class Reminder:
    """A row of the table that is no unit: it has no code, so whatever reads rows by code passes it by."""

    text: str


TableRow = ScoringRow | Reminder


def table_rows(sheet: ScoringSheet) -> tuple[TableRow, ...]:
    """Return the rows under the header as they are drawn: units, and in pairs the reminders among them."""
    rows: list[TableRow] = []
    cases: dict[str, None] = {}
    for row in sheet.rows:
        if sheet.pairs and row.case not in cases and cases and len(cases) % REMINDER_EVERY == 0:
            rows.append(Reminder(_reminder(len(cases))))
        cases[row.case] = None
        rows.append(row)
    return tuple(rows)


def _reminder(cases: int) -> str:
    return (
        f"{cases} cases are behind you. Before you go on, read the Rubric tab again: the next response is "
        "measured by it, not by the ones before."
    )


def row_numbers(sheet: ScoringSheet) -> dict[str, int]:
    """Return in which row of the drawn tab each code stands; row 0 is the header."""
    return {row.code: n for n, row in enumerate(table_rows(sheet), 1) if isinstance(row, ScoringRow)}
