"""`import`: take in the ratings of somebody who works without our workbooks, as a pull would.

A file is read as if it stood in the rater's scoring tab. Where its form is wrong (columns, unknown cases,
rows that stand twice) nothing is taken and every fault is named; a cell that cannot be read is a problem of
its row, as in a workbook, and the rest counts. The workbook of the same rater stays a source of its own:
a blank there or in the file yields to a value, and of two values the one that came later counts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from sheetsync.config_faults import Faults, listed, quoted, suggestion
from sheetsync.domain.cells import normalise, show
from sheetsync.domain.ratings import Entry, Problem
from sheetsync.domain.scoring.conditions import CellKey
from sheetsync.domain.scoring.wide_format import (
    CASE,
    CODE,
    SIDE,
    WideRows,
    find_case,
    parse_wide,
)
from sheetsync.errors import StudyError
from sheetsync.services.pull import problem_dict
from sheetsync.services.rater_desk import RaterDesk, open_desk
from sheetsync.services.session import Session
from sheetsync.services.submission_files import SubmissionFile, read_submission
from sheetsync.store.records import Changes, Submission, WorkbookKey


@dataclass(frozen=True)
class ImportedBatch:
    """What a file said of one batch."""

    batch: str
    rows: int
    changes: Changes
    problems: int


@dataclass(frozen=True)
class Imported:
    """What was taken in; `not_in_file` are the production rows of the rater that the file does not hold."""

    rater: str
    file: str
    pull: int | None
    batches: tuple[ImportedBatch, ...]
    problems: tuple[Problem, ...]
    not_in_file: int
    dry_run: bool = False

    def to_dict(self) -> dict[str, object]:
        """Return what `import --json` prints."""
        return {
            "schema": "sheetsync.import/1",
            "rater": self.rater,
            "file": self.file,
            "pull": self.pull,
            "dry_run": self.dry_run,
            "batches": [
                {
                    "batch": each.batch,
                    "rows": each.rows,
                    "ratings": asdict(each.changes),
                    "problems": each.problems,
                }
                for each in self.batches
            ],
            "rows_not_in_file": self.not_in_file,
            "problems": [problem_dict(problem) for problem in self.problems],
        }


def import_ratings(session: Session, path: Path, rater: str, now: str, *, dry_run: bool = False) -> Imported:
    """Take in one file of one rater, all of it or nothing.

    Args:
        session: the study.
        path: the file; `-` is standard input.
        rater: whose ratings these are.
        now: the time, UTC ISO 8601.
        dry_run: say what would change, and archive nothing.

    Raises:
        NotProvisionedError: there are no workbooks yet.
        StudyError: the rater is not on the roster, or the file's form is wrong; `faults` lists all.
        ArchiveError: the archive cannot be written; nothing is stored then.
    """
    desk = open_desk(session, rater)
    faults = Faults()
    file = read_submission(path, [column.header for column in desk.columns], faults)
    placed = _place_rows(file, desk, faults) if file else None
    if placed is None or file is None or faults:
        count = "one fault" if len(faults) == 1 else f"{len(faults)} faults"
        raise StudyError(
            f"{path} holds {count}; nothing of it was taken.", "Correct the file and import it again.", faults
        )
    submissions = _submissions(file, desk, placed)
    write = session.archive.preview_import if dry_run else session.archive.record_import
    stored = write(now, submissions)
    return Imported(
        rater,
        file.grid.title,
        None if dry_run else stored.number,
        tuple(
            ImportedBatch(each.batch, len(each.codes), stored.changes[rater, each.batch], len(each.problems))
            for each in submissions
        ),
        tuple(problem for each in submissions for problem in each.problems),
        len(desk.production - set(placed.codes.values())),
        dry_run,
    )


# --- the form of the file ---


@dataclass(frozen=True)
class _Placed:
    """Which cell each column is, and which unit each row is about."""

    columns: tuple[CellKey | None, ...]
    codes: Mapping[int, str]


def _place_rows(file: SubmissionFile, desk: RaterDesk, faults: Faults) -> _Placed | None:
    columns = _find_columns(file, desk, faults)
    if columns is None:
        return None
    at = {key: place for place, key in enumerate(columns) if key is not None}
    codes: dict[int, str] = {}
    first: dict[str, int] = {}
    for row in range(file.header_row + 1, len(file.grid.rows)):
        cells = file.grid.rows[row]
        if not any(show(cell).strip() for cell in cells):
            continue
        _check_width(file, row, columns, faults)
        code = _find_unit(file, row, at, desk, faults)
        if code is None:
            continue
        if code in first:
            faults.error(
                file.place(row),
                f"is about the same response as {file.word} {first[code] + 1}; keep the one that is meant",
            )
        first.setdefault(code, row)
        codes[row] = code
    if not codes and not faults:
        faults.error(file.grid.title, "holds no row below its header; add the scores")
    return _Placed(tuple(columns), codes)


def _find_columns(file: SubmissionFile, desk: RaterDesk, faults: Faults) -> list[CellKey | None] | None:
    """Return the cell of every column of the file; None where a column is missing, unknown or repeated."""
    known = {normalise(column.header): column for column in desk.columns}
    names = [column.header for column in desk.columns]
    found = [show(cell).strip() for cell in file.grid.rows[file.header_row]]
    place, before = file.place(file.header_row), len(faults)
    if not any(normalise(text) in known for text in found):
        faults.error(place, f"names none of the columns; they come first, in any order: {', '.join(names)}")
        return None
    seen: set[str] = set()
    columns: list[CellKey | None] = []
    for text in found:
        column = known.get(normalise(text))
        columns.append(column.key if column else None)
        if text and column is None:
            faults.error(place, f"column {quoted(text)} is not known; {suggestion(text, names)}")
        elif column and column.header in seen:
            faults.error(place, f"column {quoted(column.header)} stands twice; keep one of them")
        seen |= {column.header} if column else set()
    missing = [name for name in names if name not in seen]
    if missing:
        faults.error(
            place,
            f"has no column {listed(missing, 'and')}; the {len(names)} columns are {', '.join(names)}",
        )
    return columns if len(faults) == before else None


def _check_width(file: SubmissionFile, row: int, columns: Sequence[CellKey | None], faults: Faults) -> None:
    for place, cell in enumerate(file.grid.rows[row]):
        if show(cell).strip() and (place >= len(columns) or columns[place] is None):
            faults.error(
                file.place(row),
                f"field {place + 1} holds {quoted(show(cell))} but no column is named there; a text that holds "
                "the delimiter needs quotation marks around it (in pipe text \\| for |)",
            )
            return


def _find_unit(
    file: SubmissionFile, row: int, at: Mapping[CellKey, int], desk: RaterDesk, faults: Faults
) -> str | None:
    def text(header: str) -> str:
        return show(file.grid.cell(row, at["fixed", header])).strip()

    if not desk.pairs:
        codes = {each.code.casefold(): each.code for sheet in desk.sheets.values() for each in sheet.rows}
        code = codes.get(text(CODE).casefold())
        if code is None:
            faults.error(file.place(row, CODE), f"{quoted(text(CODE))} is no code of {desk.rater}")
        return code
    cases = find_case(text(CASE), desk.labels())
    side = text(SIDE).removeprefix("Response").removeprefix("response").strip().upper()
    if side not in ("A", "B"):
        faults.error(file.place(row, SIDE), f"found {quoted(text(SIDE))}; write A or B")
    if len(cases) != 1:
        faults.error(file.place(row, CASE), _case_fault(text(CASE), cases, desk))
    return desk.cases().get((cases[0], side)) if len(cases) == 1 and side in ("A", "B") else None


def _case_fault(label: str, cases: Sequence[str], desk: RaterDesk) -> str:
    if cases:
        return (
            f"{quoted(label)} may be case {listed(cases)}; write the number that the workbook shows as Case"
        )
    labels = desk.labels()
    example = f"{labels[0][0]} or {labels[0][1]}" if labels else "001"
    return (
        f"{quoted(label)} is no case of {desk.rater}; write its number or its question id, such as {example}"
    )


# --- what the rows say ---


def _submissions(file: SubmissionFile, desk: RaterDesk, placed: _Placed) -> list[Submission]:
    rows: dict[WorkbookKey, dict[int, str]] = {}
    for row, code in placed.codes.items():
        rows.setdefault(desk.batches(code)[-1], {})[row] = code
    digest = hashlib.sha256(file.data).hexdigest()
    found = []
    for key in (key for key in desk.sheets if key in rows):
        part = WideRows(file.grid, file.header_row, placed.columns, rows[key])
        entries, problems = parse_wide(part, desk.sheets[key])
        said_before = _said_before(entries, rows[key].values(), desk)
        entries = [entry for entry in entries if entry.code not in said_before]
        codes = tuple(code for code in rows[key].values() if code not in said_before)
        lines = {code: row for row, code in rows[key].items()}
        shown = [_with_line(problem, file, lines) for problem in problems]
        found.append(Submission(*key, file.grid.title, digest, codes, entries, shown))
    return found


def _said_before(entries: Sequence[Entry], codes: Iterable[str], desk: RaterDesk) -> set[str]:
    """Return units that were issued again and whose row repeats what is in force: that is no re-score."""
    said: dict[str, dict[CellKey, object]] = {}
    for entry in entries:
        said.setdefault(entry.code, {})[entry.kind, entry.column] = entry.value
    kinds = {column.key for column in desk.columns}
    return {
        code
        for code in codes
        if len(desk.batches(code)) > 1
        and said.get(code, {}) == {k: v for k, v in desk.values.get(code, {}).items() if k in kinds}
    }


def _with_line(problem: Problem, file: SubmissionFile, lines: Mapping[str, int]) -> Problem:
    """Say in which line it stands: a text file has no cell names."""
    row = lines.get(problem.code or "")
    return problem if row is None else replace(problem, message=f"{file.place(row)}: {problem.message}")
