"""A file that a rater sends -> a grid: CSV, TSV, pipe text, or a tab of an .xlsx workbook. Read only."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sheetsync.config_faults import Faults, listed
from sheetsync.config_files import decode_text, find_delimiter, number_records
from sheetsync.domain.cells import normalise, show
from sheetsync.domain.scoring.wide_format import unescape_formula
from sheetsync.domain.workbook import Grid, RawCell
from sheetsync.errors import BackendError

STDIN = Path("-")

_WORKBOOKS = {".xlsx", ".xlsm"}
_WORKBOOK_STARTS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""How a workbook begins, today's and an old .xls, whatever the file is called."""
_HEADER_ROWS = 25
"""How far down a workbook the header is looked for."""
_MOST_LINES = 100_000
"""No rater scores as much; a file with more is another one."""


@dataclass(frozen=True)
class SubmissionFile:
    """A file as cells.

    Attributes:
        grid: rows by their line, so that row 0 of it is line 1; its title is the file's name.
        header_row: the row that names the columns.
        word: what a row is called: line, or row of a workbook.
        data: the bytes of the file.
    """

    grid: Grid
    header_row: int
    word: str
    data: bytes

    def place(self, row: int, header: str | None = None) -> str:
        """Return the place of a row, or of a cell in it, in words."""
        place = f"{self.grid.title} {self.word} {row + 1}"
        return place if header is None else f"{place}, {header}"


def read_submission(path: Path, columns: Sequence[str], faults: Faults) -> SubmissionFile | None:
    """Read a file; None where it cannot be understood.

    Args:
        path: the file; `-` is standard input.
        columns: those it should have, by which delimiter and header are found.
        faults: collects what is wrong.
    """
    name = "stdin" if path == STDIN else path.name
    try:
        data = sys.stdin.buffer.read() if path == STDIN else path.read_bytes()
    except OSError as error:
        faults.error(str(path), f"cannot be read ({error.strerror}); check the path")
        return None
    if path.suffix.lower() in _WORKBOOKS or data.startswith(_WORKBOOK_STARTS):
        return _of_workbook(data, name, columns, faults)
    names = {normalise(each) for each in columns}
    text = decode_text(data, name, faults)
    if text is None:
        return None
    before = len(faults)
    records = dict(_records(text, name, names, faults))
    if len(faults) > before:
        return None
    if not records:
        faults.error(name, "is empty; its first line must name the columns")
        return None
    if max(records) > _MOST_LINES:
        faults.error(name, f"has more than {_MOST_LINES:,} lines; this is no rater's submission")
        return None
    rows = [tuple(records.get(line, ())) for line in range(1, max(records) + 1)]
    return SubmissionFile(Grid(name, tuple(rows)), min(records) - 1, "line", data)


def _records(text: str, name: str, known: set[str], faults: Faults) -> Iterator[tuple[int, list[RawCell]]]:
    lines = text.lstrip("\r\n \t").splitlines()
    first = lines[0] if lines else ""
    if _hits(_pipe_cells(first), known) > _hits(first.split(find_delimiter(text, known)), known):
        found: Iterable[tuple[int, Sequence[str]]] = _pipe_records(text)
    else:
        found = number_records(text, find_delimiter(text, known), name, faults)
    for line, cells in found:
        yield line, [unescape_formula(cell.strip()) or None for cell in cells]


def _hits(cells: Sequence[str], known: set[str]) -> int:
    return sum(normalise(cell.strip().strip('"')) in known for cell in cells)


# --- pipe text ---

_PIPE = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)+\|?")


def _pipe_records(text: str) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the rows of a table in pipe text; blank lines and the rule below the header are none."""
    for line, source in enumerate(text.splitlines(), 1):
        if source.strip() and not _RULE.fullmatch(source.strip()):
            yield line, _pipe_cells(source)


def _pipe_cells(line: str) -> list[str]:
    r"""Return the cells of a line; outer pipes belong to the frame, and `\|` is a pipe of the text.

    >>> _pipe_cells("| TC-001 | A | |"), _pipe_cells("TC-001 | A | either\\|or")
    (['TC-001', 'A', ''], ['TC-001', 'A', 'either|or'])
    """
    framed = line.strip()
    if framed.startswith("|"):
        framed = framed[1:]
        framed = framed[:-1] if framed.endswith("|") and not framed.endswith("\\|") else framed
    return [cell.replace("\\|", "|").strip() for cell in _PIPE.split(framed)]


# --- workbooks ---


@dataclass(frozen=True)
class _Table:
    """A tab, the row of it that names the columns, and how many of them it names."""

    grid: Grid
    row: int
    hits: int


def _table_of(grid: Grid, known: set[str]) -> _Table | None:
    """Return the row of a tab in which most columns are named; None where there is none."""
    rows = [
        _Table(grid, row, _hits([show(cell) for cell in cells], known))
        for row, cells in enumerate(grid.rows[:_HEADER_ROWS])
    ]
    best = max(rows, key=lambda each: each.hits, default=None)
    return best if best is not None and best.hits else None


def _has_rows(table: _Table) -> bool:
    """Return whether a tab is a table of scores: it names some columns, and something stands below."""
    is_table = table.hits > 1
    return is_table and any(show(cell).strip() for row in table.grid.rows[table.row + 1 :] for cell in row)


def _of_workbook(data: bytes, name: str, columns: Sequence[str], faults: Faults) -> SubmissionFile | None:
    """Take the tab that names the columns, from the row on that does."""
    from sheetsync.backends.xlsx_read import parse_workbook  # noqa: PLC0415 - only workbooks need it

    try:
        reading = parse_workbook(data, name)
    except BackendError as error:
        faults.error(name, f"{error.message.removeprefix(name).strip()} {error.remedy}")
        return None
    if reading.marker:
        faults.error(
            name,
            f"is a workbook of a study ({reading.marker}), not a file of scores; put it in the place of the "
            "rater's workbook and run `sheetsync pull`",
        )
        return None
    known = {normalise(each) for each in columns}
    tables = [table for grid in reading.tabs if (table := _table_of(grid, known))]
    if not tables:
        faults.error(name, f"has no tab with a row that names the columns: {', '.join(columns)}")
        return None
    filled = [each for each in tables if _has_rows(each)]
    if len(filled) > 1:
        titles = listed([each.grid.title for each in filled], "and")
        faults.error(name, f"holds scores on the tabs {titles}; bring them together on one tab")
        return None
    table = max(filled or tables, key=lambda each: each.hits)
    row, grid = table.row, table.grid
    rows = tuple(tuple(None if cell == "" else cell for cell in cells) for cells in grid.rows)
    return SubmissionFile(Grid(name, rows), row, f"tab {grid.title} row", data)
