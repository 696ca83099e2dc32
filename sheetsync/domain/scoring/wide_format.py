"""The wide format: one row per response, a column per score, for raters who work without our workbooks.

The columns are those that the instructions for external validators name (S1.42): the case and the side, or
the code where there are no pairs; per dimension `<Id>_Score` and, where it is asked for, `<Id>_Confidence`;
the computed columns; the remarks. `<Id>` is the id of the dimension with capitals: `historical_accuracy`
becomes `Historical_Accuracy`. Ticks of tags have no place in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sheetsync.domain.cells import normalise, read_number, show
from sheetsync.domain.ratings import Entry, Problem
from sheetsync.domain.scoring.columns import CHECK_COLUMN, SCORING_TAB, scoring_columns, sum_columns
from sheetsync.domain.scoring.conditions import CellKey
from sheetsync.domain.scoring.reading import parse_scoring_workbook
from sheetsync.domain.scoring.sheet import ScoringSheet
from sheetsync.domain.study import Rubric
from sheetsync.domain.workbook import Grid, RawCell, Reading

CASE, SIDE, CODE = "Test_Case", "Response", "Code"


@dataclass(frozen=True)
class WideColumn:
    """One column: its header in the file, and which cell of a scoring row it is."""

    header: str
    key: CellKey


def wide_columns(rubric: Rubric, *, pairs: bool) -> tuple[WideColumn, ...]:
    """Return the columns in the order in which they are written.

    >>> from sheetsync.domain.study import Dimension, Level
    >>> rubric = Rubric(version="1", dimensions=(Dimension(id="depth", name="Depth", levels=(Level(value=1),)),))
    >>> [column.header for column in wide_columns(rubric, pairs=True)]
    ['Test_Case', 'Response', 'Depth_Score']
    """
    columns = [WideColumn(header, ("fixed", header)) for header in ((CASE, SIDE) if pairs else (CODE,))]
    for dimension in rubric.dimensions:
        stem = "_".join(part.capitalize() for part in re.split(r"[_\s-]+", dimension.id) if part)
        columns.append(WideColumn(f"{stem}_Score", ("score", dimension.id)))
        if dimension.confidence:
            columns.append(WideColumn(f"{stem}_Confidence", ("confidence", dimension.id)))
    columns += [WideColumn(header, ("sum", header)) for header in sum_columns(rubric)]
    columns += [WideColumn(remark.name, ("remark", remark.id)) for remark in rubric.remarks]
    return tuple(columns)


def repeated_headers(columns: Sequence[WideColumn]) -> list[str]:
    """Return headers that two columns would share, so that the format cannot be used."""
    seen: set[str] = set()
    again = []
    for column in columns:
        folded = normalise(column.header)
        again += [column.header] if folded in seen else []
        seen.add(folded)
    return again


# --- cases ---


def find_case(label: str, cases: Iterable[tuple[str, str]]) -> list[str]:
    """Return the case numbers that a label may mean: that number, or a case with that question id.

    Args:
        label: what stands in the file.
        cases: (number as the workbook shows it, question id) of every case of the rater.

    >>> find_case("1", [("001", "TC-001"), ("002", "TC-002")]), find_case("tc-002", [("002", "TC-002")])
    (['001'], ['002'])
    """
    wanted = normalise(label)
    number = _whole(wanted)
    found = {
        shown
        for shown, question in cases
        if wanted in (normalise(shown), normalise(question))
        or (number is not None and number == _whole(shown))
    }
    return sorted(found)


def _whole(text: str) -> int | None:
    number = read_number(text)
    return int(number) if number is not None and number == number.to_integral_value() else None


# --- reading ---


@dataclass(frozen=True)
class WideRows:
    """The rows of one batch in a file.

    Attributes:
        grid: the whole file.
        header_row: where its header stands.
        columns: per column of the file the cell it is, None for a column without a header.
        codes: per row of the grid the unit it is about.
    """

    grid: Grid
    header_row: int
    columns: Sequence[CellKey | None]
    codes: Mapping[int, str]


def parse_wide(rows: WideRows, sheet: ScoringSheet) -> tuple[list[Entry], list[Problem]]:
    """Read rows of a file as if they stood in the rater's scoring tab; places are those of the file."""
    given = set(rows.codes.values())
    part = replace(sheet, rows=tuple(row for row in sheet.rows if row.code in given))
    parsed = parse_scoring_workbook(Reading((_as_scoring_tab(rows, sheet),)), part)
    # Columns that a file does not have by design are not missing.
    problems = [p for p in parsed.problems if p.kind != "missing_column"]
    return list(parsed.entries), [replace(problem, tab=rows.grid.title) for problem in problems]


def _as_scoring_tab(rows: WideRows, sheet: ScoringSheet) -> Grid:
    """Return the same cells under the headers of the scoring tab, with the codes in a column of their own."""
    title_of = {
        c.key: c.header for c in scoring_columns(sheet.rubric, pairs=sheet.pairs) if c.key[0] != "fixed"
    }
    width = len(rows.columns)
    header: list[RawCell] = [title_of.get(key) if key else None for key in rows.columns]
    table: list[tuple[RawCell, ...]] = [()] * len(rows.grid.rows)
    # A scoring tab is known by three headers, and a study may have a single score.
    table[rows.header_row] = (*header, CODE, CHECK_COLUMN)
    for at, code in rows.codes.items():
        cells = [
            _cell(rows.grid.cell(at, column), rows.columns[column]) if header[column] else None
            for column in range(width)
        ]
        table[at] = (*cells, code)
    return Grid(SCORING_TAB, tuple(table))


def _cell(raw: RawCell, key: CellKey | None) -> RawCell:
    """A total that came as text is a number all the same."""
    if key is not None and key[0] == "sum" and isinstance(raw, str):
        number = read_number(raw)
        return raw if number is None else float(number)
    return raw


# --- writing ---

_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def escape_formula(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would take for a formula.

    >>> escape_formula("=1+1"), escape_formula("fine"), escape_formula("'=x")
    ("'=1+1", 'fine', "''=x")
    """
    return f"'{text}" if _FORMULA.match(text) else text


def unescape_formula(text: str) -> str:
    """Take away the apostrophe that `escape_formula` put.

    >>> unescape_formula("'=1+1"), unescape_formula("'tis fine")
    ('=1+1', "'tis fine")
    """
    return text[1:] if text.startswith("'") and _FORMULA.match(text[1:]) else text


def wide_row(
    columns: Sequence[WideColumn], fixed: Mapping[str, str], values: Mapping[CellKey, object], rubric: Rubric
) -> list[str]:
    """Return one row as texts.

    Args:
        columns: those of the file.
        fixed: case and side, or code.
        values: what is in force in the row, by cell.
        rubric: for the computed columns.
    """
    sums = {("sum", header): parts for header, parts in sum_columns(rubric).items()}
    cells = []
    for column in columns:
        if column.key[0] == "fixed":
            cells.append(escape_formula(fixed[column.header]))
        elif column.key in sums:
            cells.append(_total([values.get(part) for part in sums[column.key]]))
        else:
            cells.append(_text(values.get(column.key)))
    return cells


def _total(parts: Sequence[object]) -> str:
    numbers = [part for part in parts if isinstance(part, int | float)]
    return show(sum(numbers)) if len(numbers) == len(parts) else ""


def _text(value: object) -> str:
    """A number is never escaped, though it may begin with a minus; words and notes may be formulas."""
    if isinstance(value, bool | int | float):
        return show(value)
    return escape_formula(str(value)) if value is not None else ""
