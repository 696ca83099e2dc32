"""What one rater was given, as files name it: cases, sides and codes, and the columns of the wide format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sheetsync.config_faults import listed, nearest, quoted
from sheetsync.domain.scoring.conditions import CellKey
from sheetsync.domain.scoring.sheet import ScoringSheet
from sheetsync.domain.scoring.wide_format import SIDE, WideColumn, repeated_headers, wide_columns
from sheetsync.errors import StudyError
from sheetsync.services.session import Session
from sheetsync.store.records import WorkbookKey, WorkbookRecord


@dataclass(frozen=True)
class RaterDesk:
    """What a rater was given, and the columns of the wide format.

    Attributes:
        rater: whose.
        columns: of the wide format.
        sheets: per workbook, in the order of issue, as it was issued.
        production: codes of the production rows.
        questions: question id by code.
        values: what is in force in each row, by code and cell; a later batch supersedes an earlier one.
    """

    rater: str
    columns: tuple[WideColumn, ...]
    sheets: Mapping[WorkbookKey, ScoringSheet]
    production: frozenset[str]
    questions: Mapping[str, str]
    values: Mapping[str, Mapping[CellKey, object]]

    @property
    def pairs(self) -> bool:
        """Whether rows are sides of cases."""
        return any(column.header == SIDE for column in self.columns)

    def batches(self, code: str) -> list[WorkbookKey]:
        """Return the workbooks that hold a unit, in the order of issue."""
        return [key for key, sheet in self.sheets.items() if any(row.code == code for row in sheet.rows)]

    def cases(self) -> dict[tuple[str, str], str]:
        """Return the unit of every (case number, side) of the rater."""
        return {(row.case, row.side): row.code for sheet in self.sheets.values() for row in sheet.rows}

    def labels(self) -> list[tuple[str, str]]:
        """Return (number, question id) of every case."""
        found = {(row.case, self.questions[row.code]) for s in self.sheets.values() for row in s.rows}
        return sorted(found)


def open_desk(session: Session, rater: str) -> RaterDesk:
    """Return what a rater of the roster was given.

    Raises:
        NotProvisionedError: there are no workbooks yet.
        StudyError: nobody of that id is on the roster, or the columns would not be unique.
    """
    if rater not in session.roster():
        policy = session.study.settings.study.judge_policy
        near = nearest(rater, session.roster())
        judged = " Ratings of a judge cannot be taken: judge_policy is forbidden." * (policy == "forbidden")
        raise StudyError(
            f"{quoted(rater)} is not on the roster.{judged}",
            f"Raters are {', '.join(session.roster())}{f'; did you mean {quoted(near)}?' if near else '.'}",
        )
    records: list[WorkbookRecord] = [record for record in session.workbooks() if record.rater == rater]
    sheets = session.sheets()
    pairs = session.study.design.layout == "pairs"
    columns = wide_columns(session.study.rubric, pairs=pairs)
    if again := repeated_headers(columns):
        raise StudyError(
            f"The wide format would have two columns {listed(again, 'and')}.",
            "Give the dimensions or remarks of rubric.toml other ids or names.",
        )
    production = {row.code for record in records if record.kind == "production" for row in record.rows}
    return RaterDesk(
        rater,
        columns,
        {record.key: sheets.sheet(record) for record in records},
        frozenset(production),
        {code: unit.question_id for code, unit in sheets.units.items()},
        _values_in_force(session, [record.key for record in records]),
    )


def _values_in_force(session: Session, keys: Sequence[WorkbookKey]) -> dict[str, dict[CellKey, object]]:
    entries = session.archive.current_entries()
    values: dict[str, dict[CellKey, object]] = {}
    for key in keys:
        for entry in entries.get(key, ()):
            values.setdefault(entry.code, {})[entry.kind, entry.column] = entry.value
    return values
