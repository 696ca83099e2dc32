"""values.get and its batch forms: trimming, render options, range echo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.sheets_emulator import a1
from tests.sheets_emulator.formulas import Evaluator
from tests.sheets_emulator.rendering import DATE_TYPES, formatted, plain
from tests.sheets_emulator.state import Area, Cell, Sheet, Spreadsheet


@dataclass(frozen=True)
class Rendering:
    """The three options of a read."""

    values: str = "FORMATTED_VALUE"
    dates: str = "SERIAL_NUMBER"
    major: str = "ROWS"

    @staticmethod
    def of(values: str | None, dates: str | None, major: str | None = None) -> Rendering:
        """Fill in the defaults; an unspecified dimension means rows."""
        if major in (None, "", "DIMENSION_UNSPECIFIED"):
            major = "ROWS"
        return Rendering(values or "FORMATTED_VALUE", dates or "SERIAL_NUMBER", major)


def number_format(cell: Cell) -> dict[str, str] | None:
    """The number format written on a cell."""
    found = cell.get("userEnteredFormat", {}).get("numberFormat")
    return dict(found) if found else None


def render(cell: Cell, effective: dict[str, Any] | None, options: Rendering, locale: str) -> Any:
    """One value as the options ask for it; '' for a blank."""
    if effective is None:
        return ""
    style = number_format(cell)
    if options.values == "FORMULA":
        entered = cell.get("userEnteredValue", {})
        if "formulaValue" in entered:
            return entered["formulaValue"]
    if options.values == "FORMATTED_VALUE":
        return formatted(effective, style, locale)
    is_date = style is not None and style.get("type") in DATE_TYPES and "numberValue" in effective
    if is_date and options.dates == "FORMATTED_STRING":
        return formatted(effective, style, locale)
    return plain(effective)


def _row_values(run: Evaluator, sheet: Sheet, row: int, area: Area, options: Rendering) -> list[Any]:
    line = sheet.rows.get(row)
    if not line:
        return []
    columns = [
        column for column in line if area.left <= column < area.right and "userEnteredValue" in line[column]
    ]
    if not columns:
        return []
    values: list[Any] = [""] * (max(columns) - area.left + 1)
    for column in columns:
        effective = run.effective(sheet, row, column)
        values[column - area.left] = render(line[column], effective, options, run.book.locale)
    return trimmed(values)


def trimmed(values: list[Any]) -> list[Any]:
    """Without the blanks at the end."""
    while values and values[-1] in ("", []):
        values.pop()
    return values


def _transposed(rows: list[list[Any]]) -> list[list[Any]]:
    width = max((len(row) for row in rows), default=0)
    return [trimmed([row[column] if column < len(row) else "" for row in rows]) for column in range(width)]


def read_area(run: Evaluator, area: Area, options: Rendering) -> dict[str, Any]:
    """One ValueRange: the range as asked, the values without blanks at the end."""
    sheet = run.book.require_sheet(area.sheet_id)
    last = max((row for row in sheet.rows if row < area.bottom), default=-1)
    rows = [_row_values(run, sheet, row, area, options) for row in range(area.top, last + 1)]
    values = trimmed(rows if options.major == "ROWS" else _transposed(rows))
    made: dict[str, Any] = {"range": a1.echo(sheet, area), "majorDimension": options.major}
    return made | ({"values": values} if values else {})


def get_values(book: Spreadsheet, run: Evaluator, text: str, options: Rendering) -> dict[str, Any]:
    """Read the range a client named."""
    return read_area(run, a1.resolve(book, text), options)
