"""`export --wide`: ratings in the format that `import` takes."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sheetsync.config_faults import listed
from sheetsync.domain.cells import normalise
from sheetsync.domain.scoring.sheet import ScoringRow
from sheetsync.domain.scoring.wide_format import CASE, CODE, SIDE, find_case, wide_row
from sheetsync.errors import StudyError
from sheetsync.services.publish import write_atomically
from sheetsync.services.rater_desk import RaterDesk, open_desk
from sheetsync.services.session import PRIVATE_FOLDER, Session
from sheetsync.services.submission_files import STDIN as STDOUT

EXPORTS_FOLDER = "exports"


@dataclass(frozen=True)
class Export:
    """The ratings of one rater as a file; `path` is None for standard output."""

    rater: str
    rows: int
    path: Path | None
    text: str


@dataclass(frozen=True)
class Exported:
    """What was written."""

    exports: tuple[Export, ...]
    dry_run: bool = False

    @property
    def to_stdout(self) -> str | None:
        """The text that goes to standard output, None where files were written."""
        return next((each.text for each in self.exports if each.path is None), None)

    def to_dict(self) -> dict[str, object]:
        """Return what `export --json` prints."""
        return {
            "schema": "sheetsync.export/1",
            "dry_run": self.dry_run,
            "files": [
                {"rater": each.rater, "path": str(each.path) if each.path else "-", "rows": each.rows}
                for each in self.exports
            ],
        }


def export_wide(
    session: Session, path: Path | None = None, rater: str | None = None, *, dry_run: bool = False
) -> Exported:
    """Write the ratings in force of one rater, or of everybody into a file each.

    Args:
        session: the study.
        path: the file; `-` is standard output; None writes `exports/<rater>.csv`.
        rater: whose ratings; needed with a path where the roster names several, for the format has no
            column for raters.
        dry_run: write nothing.

    Raises:
        NotProvisionedError: there are no workbooks yet.
        StudyError: the rater is unknown or missing.
        SheetsyncError: a file cannot be written.
    """
    roster = session.roster()
    if path is not None and rater is None and len(roster) > 1:
        raise StudyError(
            "The format has no column for raters, so a file holds the ratings of one.",
            f"Add --rater {listed(roster)}, or leave the file out to write one for each.",
        )
    exports = []
    for each in [rater] if rater is not None else roster:
        desk = open_desk(session, each)
        rows = _rows(desk, session)
        target = path or Path(EXPORTS_FOLDER) / f"{each}.csv"
        exports.append(Export(each, len(rows) - 1, None if target == STDOUT else target, _csv(rows)))
    for export in exports:
        if export.path is not None and not dry_run:
            # A path of ours lies in the study, one that somebody typed where they are.
            where = session.root / export.path if path is None else export.path
            workshop = session.root / PRIVATE_FOLDER / "tmp" if path is None else where.parent
            write_atomically(where, export.text, workshop)
    return Exported(tuple(exports), dry_run)


def _rows(desk: RaterDesk, session: Session) -> list[list[str]]:
    """Return the header and one row per production unit, in the order of the rater's workbooks."""
    rows = {row.code: row for sheet in desk.sheets.values() for row in sheet.rows}
    table = [[column.header for column in desk.columns]]
    for code in (code for code in rows if code in desk.production):
        fixed = _fixed(rows[code], desk)
        table.append(wide_row(desk.columns, fixed, desk.values.get(code, {}), session.study.rubric))
    return table


def _fixed(row: ScoringRow, desk: RaterDesk) -> dict[str, str]:
    """The question's id names a case where it can mean no other, else the number does."""
    question = desk.questions[row.code]
    label = question if find_case(question, desk.labels()) == [row.case] and normalise(question) else row.case
    return {CASE: label, SIDE: row.side, CODE: row.code}


def _csv(rows: Sequence[Sequence[str]]) -> str:
    target = io.StringIO()
    csv.writer(target, lineterminator="\n").writerows(rows)
    return target.getvalue()
