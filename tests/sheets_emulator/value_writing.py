"""values.update, append, clear and their batch forms."""

from __future__ import annotations

from typing import Any

from tests.sheets_emulator import a1
from tests.sheets_emulator.dimensions import insert_dimension
from tests.sheets_emulator.editing import Editing
from tests.sheets_emulator.entered import Entered, check_type, raw, typed
from tests.sheets_emulator.errors import Invalid, plain_bad_request
from tests.sheets_emulator.formulas import Evaluator
from tests.sheets_emulator.protection import check_area
from tests.sheets_emulator.state import Area, Cell, Sheet, check_text
from tests.sheets_emulator.value_reading import Rendering, number_format, read_area


def require_option(option: str | None) -> str:
    """valueInputOption has no default."""
    if option in (None, "", "INPUT_VALUE_OPTION_UNSPECIFIED"):
        raise plain_bad_request("'valueInputOption' is required but not specified")
    return str(option)


def as_rows(body: dict[str, Any]) -> list[list[Any]]:
    """The values of a ValueRange by row, None where nothing is to be written."""
    values: list[list[Any]] = body.get("values") or []
    if body.get("majorDimension") != "COLUMNS":
        return values
    height = max((len(column) for column in values), default=0)
    return [[column[row] if row < len(column) else None for column in values] for row in range(height)]


def write_cell(edit: Editing, cell: Cell, value: Any, option: str) -> Cell:
    """A cell with a new value; formats, notes and validation stay."""
    check_text(value)
    style = number_format(cell)
    stored = raw(value) if option == "RAW" else typed(value, edit.book.locale, edit.today, style)
    return with_value(cell, stored)


def with_value(cell: Cell, stored: Entered) -> Cell:
    made = {key: held for key, held in cell.items() if key not in ("userEnteredValue", "textFormatRuns")}
    if stored.value:
        made["userEnteredValue"] = stored.value
    if stored.number_format and not number_format(cell):
        made["userEnteredFormat"] = {
            **made.get("userEnteredFormat", {}),
            "numberFormat": stored.number_format,
        }
    return made


def write_rows(edit: Editing, sheet: Sheet, area: Area, rows: list[list[Any]], option: str) -> dict[str, int]:
    """Write from the area's first cell on; returns the counts of the answer."""
    check_area(edit, area)
    touched_rows: set[int] = set()
    touched_columns: set[int] = set()
    cells = 0
    for down, row in enumerate(rows):
        for across, value in enumerate(row):
            if value is None:
                continue
            check_type(value, f"values[{down}][{across}]")
            place = area.top + down, area.left + across
            sheet.put(*place, write_cell(edit, sheet.get(*place), value, option))
            touched_rows.add(place[0])
            touched_columns.add(place[1])
            cells += 1
    counts = {"updatedRows": len(touched_rows), "updatedColumns": len(touched_columns), "updatedCells": cells}
    return {name: count for name, count in counts.items() if count}


def _data_area(sheet: Sheet, area: Area, rows: list[list[Any]]) -> Area:
    """Where the data goes: a single cell grows with it, a larger range must hold it."""
    height, width = max(len(rows), 1), max((len(row) for row in rows), default=0) or 1
    target = Area(area.sheet_id, area.top, area.left, area.top + height, area.left + width)
    if area.height * area.width > 1:
        inside = f"Requested writing within range [{a1.echo(sheet, area)}], but tried writing to"
        if target.bottom > area.bottom:
            raise Invalid(f"{inside} row [{area.bottom + 1}]")
        if target.right > area.right:
            raise Invalid(f"{inside} column [{a1.column_name(area.right)}]")
    elif target.bottom > sheet.row_count or target.right > sheet.column_count:
        raise a1.exceeds(sheet, target)
    return target


def update_area(
    edit: Editing, area: Area, body: dict[str, Any], option: str, echo: Rendering | None
) -> dict[str, Any]:
    """One UpdateValuesResponse."""
    sheet, rows = edit.sheet(area), as_rows(body)
    target = _data_area(sheet, area, rows)
    counts = write_rows(edit, sheet, target, rows, option)
    made: dict[str, Any] = {
        "spreadsheetId": edit.book.spreadsheet_id,
        "updatedRange": a1.echo(sheet, target),
        **counts,
    }
    if echo:
        made["updatedData"] = read_area(Evaluator(edit.book, edit.hook), target, echo)
    return made


def update_values(
    edit: Editing, text: str, body: dict[str, Any], option: str, echo: Rendering | None = None
) -> dict[str, Any]:
    """values.update: the range of the body, if given, must be that of the path."""
    area = a1.resolve(edit.book, text, clip=False)
    if body.get("range") and a1.resolve(edit.book, body["range"]) != area:
        raise Invalid(f"Requested writing within range [{text}], but the body says [{body['range']}]")
    return update_area(edit, area, body, option, echo)


def totals(book_id: str, responses: list[dict[str, Any]]) -> dict[str, Any]:
    """The sums of a batch: columns are counted by number, sheets by name."""
    sheets = {answer["updatedRange"].rpartition("!")[0] for answer in responses}
    columns = [answer.get("updatedColumns", 0) for answer in responses]
    sums = {
        "totalUpdatedRows": sum(answer.get("updatedRows", 0) for answer in responses),
        "totalUpdatedColumns": max(columns, default=0),
        "totalUpdatedCells": sum(answer.get("updatedCells", 0) for answer in responses),
        "totalUpdatedSheets": len(sheets),
    }
    return {
        "spreadsheetId": book_id,
        **{name: count for name, count in sums.items() if count},
        "responses": responses,
    }


def find_table(sheet: Sheet, area: Area) -> Area | None:
    """The table that the last filled cell of an area belongs to: grown until blank all around."""
    filled = {(row, column) for row, line in sheet.rows.items() for column, cell in line.items()
              if "userEnteredValue" in cell}  # fmt: skip
    inside = [
        cell for cell in filled if area.top <= cell[0] < area.bottom and area.left <= cell[1] < area.right
    ]
    if not inside:
        return None
    row, column = max(inside)
    top, left, bottom, right = row, column, row + 1, column + 1
    while True:
        near = [cell for cell in filled if top - 1 <= cell[0] <= bottom and left - 1 <= cell[1] <= right]
        grown = (
            min(cell[0] for cell in near),
            min(cell[1] for cell in near),
            max(cell[0] for cell in near) + 1,
            max(cell[1] for cell in near) + 1,
        )
        if grown == (top, left, bottom, right):
            return Area(area.sheet_id, top, left, bottom, right)
        top, left, bottom, right = grown


def append_values(
    edit: Editing, text: str, body: dict[str, Any], options: tuple[str, str], echo: Rendering | None = None
) -> dict[str, Any]:
    """values.append; `options` are valueInputOption and insertDataOption."""
    area, rows = a1.resolve(edit.book, text), as_rows(body)
    sheet = edit.sheet(area)
    table = find_table(sheet, area)
    top, left = (table.bottom, table.left) if table else (area.top, area.left)
    if options[1] == "INSERT_ROWS" and rows and table and top < sheet.row_count:
        insert_dimension(edit, sheet, "ROWS", (top, top + len(rows)))
    if top + len(rows) > sheet.row_count:
        sheet.set_grid(rowCount=top + len(rows))
        edit.book.check_size()
    start = Area(area.sheet_id, top, left, top + 1, left + 1)
    made: dict[str, Any] = {"spreadsheetId": edit.book.spreadsheet_id}
    if table:
        made["tableRange"] = a1.echo(sheet, table)
    return made | {"updates": update_area(edit, start, body, options[0], echo)}


def clear_area(edit: Editing, area: Area) -> str:
    """Clear values only; returns the cleared range."""
    check_area(edit, area)
    sheet = edit.sheet(area)
    for row in [row for row in sheet.rows if area.top <= row < area.bottom]:
        for column, cell in list(sheet.rows[row].items()):
            if area.left <= column < area.right:
                sheet.put(row, column, with_value(cell, Entered(None)))
    return a1.echo(sheet, area)


def clear_values(edit: Editing, text: str) -> str:
    return clear_area(edit, a1.resolve(edit.book, text))
