"""What a workbook must look like, and what was found in one: plain values, no scoring knowledge.

Terminology:

WorkbookSpec
    A workbook to be drawn: tabs, lists and a marker. A backend draws it and decides nothing.
TabSpec
    A tab to be drawn. Rows and columns are 0-based here; row 0 is the header where there is one.
Reading
    What a backend found in a workbook: one `Grid` per tab, and the marker.
Grid
    The cells of one tab, row by row. Rows may differ in length and blank rows are empty tuples.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

# --- drawing -----------------------------------------------------------------------------------

Style = Literal[
    "text",  # wrapped text, top aligned, not for input
    "code",  # a unit's code: fixed-width, centred, never read as a number
    "header",  # column header of something not for input
    "header_input",  # column header of an input column
    "input",  # a cell people choose a value in (centred, shaded)
    "input_text",  # a cell people write text in (wrapped, shaded)
    "check",  # the live Check column
    "title",
    "heading",
    "note",  # small, muted
    "integer",
    "number",  # two decimals
    "signed",  # two decimals with sign
    "percent",  # a proportion 0-1 shown as a percentage with one decimal
    "link",
    "good",
    "fair",
    "poor",
    "waiting",  # greyed out: not yet
]
"""Named looks; each backend has one table from these to its own formats."""


@dataclass(frozen=True)
class Formula:
    """A formula in English function names with comma arguments, without the leading `=`.

    `{row}` stands for the row's own 1-based number. `shown` is the value that the cell shows before
    anything recalculates.
    """

    text: str
    shown: str | float = ""


@dataclass(frozen=True)
class Link:
    """A cell that jumps to another cell of the same workbook (`cell` in A1 notation)."""

    text: str
    tab: str
    cell: str = "A1"


Value = str | int | float | bool | Formula | Link | None


@dataclass(frozen=True)
class Cell:
    """A value with a look of its own, where the column's look does not fit.

    `leads_to` makes a text clickable where the format can do so without turning it into a formula; it
    reads back as the text that it is.
    """

    value: Value
    style: Style
    leads_to: Link | None = None


CellSpec = Value | Cell


@dataclass(frozen=True)
class Choice:
    """A drop-down: the cell takes one of the items of a named list of the workbook.

    `extra_allowed` lets other text stand too (the drop-down only suggests).
    """

    list_name: str
    title: str = ""
    prompt: str = ""
    error: str = ""
    extra_allowed: bool = False


@dataclass(frozen=True)
class Tick:
    """A yes/no cell: `x` from a drop-down in xlsx, a checkbox in Google Sheets."""

    title: str = ""
    prompt: str = ""
    error: str = ""


@dataclass(frozen=True)
class FreeText:
    """Text that people write; `prompt` is shown when the cell is selected."""

    title: str = ""
    prompt: str = ""


@dataclass(frozen=True)
class ReadOnly:
    """A cell of a table row that refuses typing (locking it would make sorting impossible)."""

    error: str = "This column is filled in already."


Validation = Choice | Tick | FreeText | ReadOnly


@dataclass(frozen=True)
class ColumnSpec:
    """A column of a table: header, width in characters, look, header note and validation of its rows."""

    header: str
    width: float = 12
    style: Style = "text"
    header_style: Style = "header"
    note: str = ""
    validation: Validation | None = None


@dataclass(frozen=True)
class Highlight:
    """Colour rows or cells where a formula is true.

    `formula` is written for the first data row with `$`-absolute columns where needed, without `=`.
    Columns are 0-based and inclusive; the highlight covers all data rows.
    """

    first_column: int
    last_column: int
    formula: str
    style: Style


@dataclass(frozen=True)
class ChartSpec:
    """A chart over columns of the same tab.

    Rows are 0-based and inclusive. `kind` "bar" draws one bar per row and series; "stacked" stacks
    the series to 100 %; "points" draws points with bounds (`low_column`, `high_column` hold the
    length of the bars below and above the point). `value_range` fixes the ends of the value axis.
    """

    kind: Literal["bar", "stacked", "points"]
    title: str
    category_column: int
    series_columns: tuple[int, ...]
    first_row: int
    last_row: int
    anchor: str
    low_column: int | None = None
    high_column: int | None = None
    x_title: str = ""
    y_title: str = ""
    value_range: tuple[float, float] | None = None
    width: int = 620
    height: int = 300


@dataclass(frozen=True)
class TabSpec:
    r"""A tab.

    Attributes:
        title: shown on the tab; at most 31 characters, none of `: \ / ? * [ ]`.
        columns: one per column; their headers form row 0 unless `header` is False.
        rows: the cells under the header; short rows are padded with blanks.
        header: whether row 0 holds the columns' headers (False: a page of text).
        table: rows are a table that people sort and filter (autofilter, banding by borders).
        input_rows: rows are for people to fill in: cells unlocked inside a protected sheet.
        protected: the sheet is protected (no password).
        frozen_rows, frozen_columns: how many stay in view.
        row_heights: heights in points by 0-based row; others are the default height.
        highlights, charts: see there.
        hidden: not shown.
        merged: 0-based (first row, first column, last row, last column) ranges.
        landscape: page orientation when printed.
    """

    title: str
    columns: tuple[ColumnSpec, ...]
    rows: tuple[tuple[CellSpec, ...], ...] = ()
    header: bool = True
    table: bool = False
    input_rows: bool = False
    protected: bool = False
    frozen_rows: int = 0
    frozen_columns: int = 0
    row_heights: Mapping[int, float] = field(default_factory=dict)
    highlights: tuple[Highlight, ...] = ()
    charts: tuple[ChartSpec, ...] = ()
    hidden: bool = False
    merged: tuple[tuple[int, int, int, int], ...] = ()
    landscape: bool = True


@dataclass(frozen=True)
class NamedList:
    """Items on the hidden `Lists` tab with a workbook-wide defined name.

    `offered` are what drop-downs show: they stand first, and a further name `<name>_offered`
    covers only them where `accepted` adds more spellings.
    """

    name: str
    offered: tuple[str | int | float, ...]
    accepted: tuple[str | int | float, ...] = ()


@dataclass(frozen=True)
class WorkbookSpec:
    """A workbook to be drawn.

    `marker` says which workbook this is (`study/rater/batch`); backends keep it where people do not
    see or lose it, and hand it back in `Reading.marker`. `title` is the document's title.
    """

    title: str
    tabs: tuple[TabSpec, ...]
    lists: tuple[NamedList, ...] = ()
    marker: str = ""


# --- reading -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class FormulaCell:
    """A cell that holds a formula; `cached` is its last result, None where there is none."""

    text: str
    cached: str | int | float | bool | None


@dataclass(frozen=True)
class DateCell:
    """A number in a date format; `text` is what it stands for in ISO 8601.

    `serial` is the number as stored: days from 1899-12-30, in a workbook of the 1904 date system from
    1904-01-01. So a 3 typed into a cell that happens to be formatted as a date is 3 in both.
    """

    serial: float
    text: str


@dataclass(frozen=True)
class ErrorCell:
    """A spreadsheet error such as `#REF!`."""

    text: str


RawCell = str | int | float | bool | FormulaCell | DateCell | ErrorCell | None


@dataclass(frozen=True)
class Grid:
    """The cells of one tab; numbers without a fraction may be int or float."""

    title: str
    rows: tuple[tuple[RawCell, ...], ...]

    def cell(self, row: int, column: int) -> RawCell:
        """Return the cell at 0-based row and column; outside of the grid it is None."""
        if row >= len(self.rows) or column >= len(self.rows[row]):
            return None
        return self.rows[row][column]


@dataclass(frozen=True)
class Reading:
    """What was found in a workbook; `marker` is empty where none was found."""

    tabs: tuple[Grid, ...]
    marker: str = ""

    def tab(self, title: str) -> Grid | None:
        """Return the tab of that title (compared without case and outer blanks), or None."""
        wanted = title.strip().casefold()
        return next((grid for grid in self.tabs if grid.title.strip().casefold() == wanted), None)


def expected_reading(spec: WorkbookSpec) -> Reading:
    """Return what reading gives right after `spec` was drawn and before anybody touched it."""
    return Reading(tuple(_expected_grid(tab) for tab in spec.tabs), spec.marker)


def _expected_grid(tab: TabSpec) -> Grid:
    header = [tuple(column.header for column in tab.columns)] if tab.header else []
    body = [tuple(cell.value if isinstance(cell, Cell) else cell for cell in row) for row in tab.rows]
    rows = [
        [_expected_cell(value, index) for value in row] for index, row in enumerate([*header, *body], start=1)
    ]
    return Grid(tab.title, trimmed(rows))


def _expected_cell(value: Value, row_number: int) -> RawCell:
    if isinstance(value, Formula):
        return FormulaCell(value.text.replace("{row}", str(row_number)), value.shown)
    if isinstance(value, Link):
        return value.text or None
    return None if value == "" else value


def trimmed(rows: Iterable[Sequence[RawCell]]) -> tuple[tuple[RawCell, ...], ...]:
    """Return rows without blank cells at their ends and without blank rows at the end.

    >>> trimmed([["a", None], [], [None, 0], [None]])
    (('a',), (), (None, 0))
    """
    kept = [tuple(row) if row and row[-1] is not None else _without_blank_end(row) for row in rows]
    while kept and not kept[-1]:
        kept.pop()
    return tuple(kept)


def _without_blank_end(row: Sequence[RawCell]) -> tuple[RawCell, ...]:
    end = len(row)
    while end and row[end - 1] is None:
        end -= 1
    return tuple(row[:end])


def column_letter(index: int) -> str:
    """Return the letters of a 0-based column.

    >>> column_letter(0), column_letter(25), column_letter(26), column_letter(701)
    ('A', 'Z', 'AA', 'ZZ')
    """
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def cell_name(row: int, column: int) -> str:
    """Return the A1 name of a 0-based cell.

    >>> cell_name(0, 0), cell_name(6, 27)
    ('A1', 'AB7')
    """
    return f"{column_letter(column)}{row + 1}"


# --- limits of the formats ---------------------------------------------------------------------

MAX_CELL_CHARACTERS = 32_767
"""Excel's limit of characters in one cell (support.microsoft.com, "Excel specifications and limits").

Google Sheets takes 50,000; texts are split at the smaller so that one study fits both.
"""


def cell_length(text: str) -> int:
    """Return how long a spreadsheet finds a text: UTF-16 units, so an emoji counts twice.

    >>> cell_length("ab"), cell_length("😀")
    (2, 2)
    """
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


MAX_ROW_POINTS = 409
"""Excel's largest row height in points (same page)."""
