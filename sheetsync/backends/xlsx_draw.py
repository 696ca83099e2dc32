"""`WorkbookSpec` -> the bytes of an xlsx file, the same bytes every time."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import xlsxwriter
from xlsxwriter.utility import xl_range_formula

from sheetsync.backends.xlsx_cells import comment_options, validation_options, write_value
from sheetsync.backends.xlsx_charts import make_chart
from sheetsync.backends.xlsx_package import MARKER_PROPERTY
from sheetsync.backends.xlsx_read import LISTS_SIGN, LISTS_TAB
from sheetsync.backends.xlsx_styles import NUMBERS, Formats, Look, needs_quote
from sheetsync.domain.workbook import (
    Cell,
    CellSpec,
    ColumnSpec,
    NamedList,
    Style,
    TabSpec,
    WorkbookSpec,
    cell_name,
)

_OPTIONS = {
    "in_memory": True,
    "strings_to_numbers": False,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "default_format_properties": {"font_name": "Calibri", "font_size": 11},
}
_LONG_AGO = dt.datetime(2000, 1, 1)

_ALLOWED = (
    "select_locked_cells",
    "select_unlocked_cells",
    "format_columns",
    "format_rows",
    "sort",
    "autofilter",
)


def draw_workbook(spec: WorkbookSpec) -> bytes:
    """Draw a workbook.

    Raises:
        ValueError: a text, number or formula that no cell can hold.
    """
    buffer = io.BytesIO()
    book = xlsxwriter.Workbook(buffer, _OPTIONS)
    book.set_properties({"title": spec.title, "author": "", "created": _LONG_AGO})
    if spec.marker:
        book.set_custom_property(MARKER_PROPERTY, spec.marker, "text")
    formats = Formats(book)
    sheets = [book.add_worksheet(tab.title) for tab in spec.tabs]
    for sheet, tab in zip(sheets, spec.tabs, strict=True):
        _Tab(book, sheet, formats, tab).draw()
    _draw_lists(book, spec)
    shown = next((sheet for sheet, tab in zip(sheets, spec.tabs, strict=True) if not tab.hidden), None)
    if shown is not None:
        shown.activate()
        shown.set_first_sheet()
    book.close()
    return buffer.getvalue()


def _draw_lists(book: Any, spec: WorkbookSpec) -> None:
    """Draw the tab that nobody sees: the marker in the first column, a list in each further one."""
    if not spec.lists and not spec.marker:
        return
    sheet = book.add_worksheet(LISTS_TAB)
    sheet.write_string(0, 0, LISTS_SIGN)
    sheet.write_string(1, 0, spec.marker)
    for column, items in enumerate(spec.lists, start=1):
        sheet.write_string(0, column, items.name)
        for row, item in enumerate((*items.offered, *items.accepted), start=1):
            write_value(sheet, row, column, item, None)
        _name_ranges(book, items, column)
    sheet.protect("")
    if spec.tabs:
        sheet.very_hidden()


def _name_ranges(book: Any, items: NamedList, column: int) -> None:
    offered = len(items.offered)
    for name, last in ((items.name, offered + len(items.accepted)), (f"{items.name}_offered", offered)):
        book.define_name(name, xl_range_formula(LISTS_TAB, 1, column, max(last, 1), column))


class _Tab:
    """One tab while it is being drawn."""

    def __init__(self, book: Any, sheet: Any, formats: Formats, tab: TabSpec) -> None:
        self.book, self.sheet, self.formats, self.tab = book, sheet, formats, tab
        self.first = 1 if tab.header else 0
        self.last = self.first + len(tab.rows) - 1
        self._boxed = tab.table or tab.input_rows
        self._looks: dict[tuple[Style, bool], Any] = {}

    def draw(self) -> None:
        """Draw all of it."""
        for index, column in enumerate(self.tab.columns):
            self.sheet.set_column(index, index, column.width)
        for row, height in self.tab.row_heights.items():
            self.sheet.set_row(row, height)
        self._merge()
        if self.tab.header:
            self._draw_header()
        self._draw_rows()
        self._validate()
        self._highlight()
        for chart in self.tab.charts:
            self.sheet.insert_chart(chart.anchor, make_chart(self.book, self.tab, chart))
        self._set_up_view()
        self._set_up_page()

    def _look(self, style: Style, text: object = None) -> Any:
        """Return the format of a cell of a row."""
        key = style, isinstance(text, str) and needs_quote(text)
        if key not in self._looks:
            look = Look(style, unlocked=self.tab.input_rows, bordered=self._boxed, quoted=key[1])
            self._looks[key] = self.formats.get(look)
        return self._looks[key]

    def _merge(self) -> None:
        for first_row, first_column, last_row, last_column in self.tab.merged:
            if (first_row, first_column) != (last_row, last_column):
                look = self._look(self._style_at(first_row, first_column))
                self.sheet.merge_range(first_row, first_column, last_row, last_column, "", look)

    def _style_at(self, row: int, column: int) -> Style:
        specification = self.tab.columns[column]
        if row < self.first:
            return specification.header_style
        cells = self.tab.rows[row - self.first] if row <= self.last else ()
        cell = cells[column] if column < len(cells) else None
        return cell.style if isinstance(cell, Cell) else specification.style

    def _draw_header(self) -> None:
        for index, column in enumerate(self.tab.columns):
            look = self.formats.get(
                Look(
                    column.header_style,
                    bordered=self._boxed,
                    quoted=needs_quote(column.header),
                    right=column.style in NUMBERS,
                )
            )
            write_value(self.sheet, 0, index, column.header, look)
            if column.note:
                self.sheet.write_comment(0, index, column.note, comment_options(column.note))

    def _draw_rows(self) -> None:
        covered = {
            (row, column)
            for top, left, bottom, right in self.tab.merged
            for row in range(top, bottom + 1)
            for column in range(left, right + 1)
            if (row, column) != (top, left)
        }
        for number, cells in enumerate(self.tab.rows, start=self.first):
            for index, (column, cell) in enumerate(self._paired(cells)):
                value, style = (cell.value, cell.style) if isinstance(cell, Cell) else (cell, column.style)
                if (number, index) in covered or (
                    value is None and not self._boxed and not isinstance(cell, Cell)
                ):
                    continue
                look = self._look(style, value)
                if isinstance(cell, Cell) and cell.leads_to and isinstance(value, str):
                    value = replace(cell.leads_to, text=value)
                write_value(self.sheet, number, index, value, look)

    def _paired(self, cells: tuple[CellSpec, ...]) -> Iterator[tuple[ColumnSpec, CellSpec]]:
        for index, column in enumerate(self.tab.columns):
            yield column, cells[index] if index < len(cells) else None

    def _validate(self) -> None:
        if self.last < self.first:
            return
        for index, column in enumerate(self.tab.columns):
            if column.validation is not None:
                options = validation_options(column.validation)
                self.sheet.data_validation(self.first, index, self.last, index, options)

    def _highlight(self) -> None:
        if self.last < self.first:
            return
        for highlight in self.tab.highlights:
            self.sheet.conditional_format(
                self.first,
                highlight.first_column,
                self.last,
                highlight.last_column,
                {
                    "type": "formula",
                    "criteria": f"={highlight.formula}",
                    "format": self.formats.highlight(highlight.style),
                },
            )

    def _set_up_view(self) -> None:
        tab, sheet = self.tab, self.sheet
        if tab.frozen_rows or tab.frozen_columns:
            sheet.freeze_panes(tab.frozen_rows, tab.frozen_columns)
        if tab.table and tab.columns:
            sheet.autofilter(0 if tab.header else self.first, 0, max(self.last, 0), len(tab.columns) - 1)
        if tab.protected:
            sheet.protect("", dict.fromkeys(_ALLOWED, True))
        if tab.hidden:
            sheet.hide()
        if not self._boxed:
            sheet.hide_gridlines(2)
        if tab.columns:
            area = f"A1:{cell_name(max(self.last, 0), len(tab.columns) - 1)}"
            sheet.ignore_errors({"number_stored_as_text": area})

    def _set_up_page(self) -> None:
        sheet = self.sheet
        if self.tab.landscape:
            sheet.set_landscape()
        sheet.set_paper(9)
        sheet.set_margins(left=0.4, right=0.4, top=0.5, bottom=0.6)
        sheet.fit_to_pages(1, 0)
        sheet.set_footer("&L&8&A&R&8&P / &N")
        if self.tab.header:
            sheet.repeat_rows(0)
