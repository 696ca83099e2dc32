"""batchUpdate requests that write cells: values, formats, notes, validation, borders, sorting."""

from __future__ import annotations

import re
from typing import Any

from tests.sheets_emulator.a1 import column_index, column_name
from tests.sheets_emulator.conditions import check_validation
from tests.sheets_emulator.editing import Editing, Handler
from tests.sheets_emulator.errors import Invalid
from tests.sheets_emulator.field_masks import Tree, apply_mask, update_mask
from tests.sheets_emulator.formulas import Evaluator
from tests.sheets_emulator.protection import check_area
from tests.sheets_emulator.rendering import plain
from tests.sheets_emulator.state import Area, Cell, Sheet, check_text

FORMAT_KEYS = ("userEnteredFormat", "dataValidation", "note")
Order = tuple[int, Any]


def clean_cell(cell: Cell) -> Cell:
    """Drop what amounts to nothing: empty strings and messages."""
    value = cell.get("userEnteredValue")
    if value is not None:
        for held in value.values():
            check_text(held)
        if not value or value == {"stringValue": ""}:
            cell = {key: held for key, held in cell.items() if key != "userEnteredValue"}
    check_text(cell.get("note"))
    if "dataValidation" in cell:
        check_validation(cell["dataValidation"])
    return {key: held for key, held in cell.items() if held not in ({}, "", [])}


def _check_formula(cell: Cell) -> None:
    formula = cell.get("userEnteredValue", {}).get("formulaValue", "=")
    if not formula.startswith("="):
        raise Invalid(f"Invalid formula: {formula}. A formula begins with =.")


def write(sheet: Sheet, place: tuple[int, int], new: Cell, mask: Tree) -> None:
    """Change one cell as far as the mask says."""
    old = sheet.get(*place)
    if old or new:
        _check_formula(new)
        sheet.put(*place, clean_cell(apply_mask(old, new, mask)))


def _check_rows(rows: list[dict[str, Any]], area: Area) -> None:
    if len(rows) > area.height:
        raise Invalid(
            f"Attempting to write row: {area.top + len(rows) - 1}, beyond the last requested row of: {area.bottom - 1}"
        )
    widest = max((len(row.get("values", ())) for row in rows), default=0)
    if widest > area.width:
        last = area.right - 1
        raise Invalid(
            f"Attempting to write column: {area.left + widest - 1}, beyond the last requested column of: {last}"
        )


def _start_area(edit: Editing, start: dict[str, Any], rows: list[dict[str, Any]]) -> Area:
    sheet = edit.book.require_sheet(start.get("sheetId", 0))
    top, left = start.get("rowIndex", 0), start.get("columnIndex", 0)
    width = max((len(row.get("values", ())) for row in rows), default=0)
    given = {"startRowIndex": top, "endRowIndex": top + max(len(rows), 1)}
    given |= {"startColumnIndex": left, "endColumnIndex": left + max(width, 1)}
    return edit.area({"sheetId": sheet.sheet_id, **given}, "start")


def update_cells(edit: Editing, request: dict[str, Any]) -> None:
    """Cells of a range that no row covers are cleared, as far as `fields` says."""
    mask = update_mask(request.get("fields"), "CellData")
    rows: list[dict[str, Any]] = request.get("rows", [])
    if ("range" in request) == ("start" in request):
        raise Invalid("Exactly one of 'range' or 'start' must be specified.")
    covering = "range" in request
    area = edit.area(request["range"]) if covering else _start_area(edit, request["start"], rows)
    _check_rows(rows, area)
    check_area(edit, area)
    sheet = edit.sheet(area)
    for down in range(area.height):
        values = rows[down].get("values", []) if down < len(rows) else []
        for across in range(area.width if covering else len(values)):
            new = values[across] if across < len(values) else {}
            write(sheet, (area.top + down, area.left + across), new, mask)


def repeat_cell(edit: Editing, request: dict[str, Any]) -> None:
    mask = update_mask(request.get("fields"), "CellData")
    area = edit.area(request.get("range"))
    check_area(edit, area)
    sheet, cell = edit.sheet(area), request.get("cell", {})
    formula = cell.get("userEnteredValue", {}).get("formulaValue")
    _check_formula(cell)
    if not formula:
        _repeat(sheet, area, cell, mask)
        return
    for row, column in area.cells():
        moved = shift_formula(formula, row - area.top, column - area.left)
        write(sheet, (row, column), {**cell, "userEnteredValue": {"formulaValue": moved}}, mask)


def _repeat(sheet: Sheet, area: Area, cell: Cell, mask: Tree) -> None:
    """Cells that were alike stay one object: a format over a whole tab costs next to nothing."""
    blank = clean_cell(apply_mask({}, cell, mask))
    made: dict[int, tuple[Cell, Cell]] = {}
    for row, column in area.cells():
        old = sheet.get(row, column)
        if not old:
            if blank:
                sheet.put(row, column, blank)
            continue
        if id(old) not in made:
            made[id(old)] = old, clean_cell(apply_mask(old, cell, mask))
        sheet.put(row, column, made[id(old)][1])


def shift_formula(formula: str, down: int, across: int) -> str:
    """Move the relative references of a formula, as copying does."""

    def moved(found: re.Match[str]) -> str:
        if found[1] or found[2]:
            return found[0]
        fixed_column, column, fixed_row, row = found[3], found[4], found[5], found[6]
        name = column if fixed_column else column_name(column_index(column) + across)
        number = row if fixed_row else str(int(row) + down)
        return f"{fixed_column}{name}{fixed_row}{number}"

    return re.sub(
        r"(\"(?:[^\"]|\"\")*\")|('(?:[^']|'')*')|(?<![\w.])(\$?)([A-Z]{1,3})(\$?)(\d+)(?![\w(])",
        moved,
        formula,
    )


def append_cells(edit: Editing, request: dict[str, Any]) -> None:
    """Write below the last row with data; rows are added where needed."""
    mask = update_mask(request.get("fields"), "CellData")
    sheet = edit.book.require_sheet(request.get("sheetId", 0))
    rows: list[dict[str, Any]] = request.get("rows", [])
    top = sheet.used_bottom()
    if top + len(rows) > sheet.row_count:
        sheet.set_grid(rowCount=top + len(rows))
        edit.book.check_size()
    if rows:
        area = Area(sheet.sheet_id, top, 0, top + len(rows), sheet.column_count)
        _check_rows(rows, area)
        check_area(edit, area)
    for down, row in enumerate(rows):
        for across, cell in enumerate(row.get("values", [])):
            write(sheet, (top + down, across), cell, mask)


def set_data_validation(edit: Editing, request: dict[str, Any]) -> None:
    """Set, or without a rule remove, validation; existing values stay, strict or not."""
    area = edit.area(request.get("range"))
    check_area(edit, area)
    rule = request.get("rule")
    if rule is not None:
        check_validation(rule)
    sheet = edit.sheet(area)
    for row, column in area.cells():
        cell = sheet.get(row, column)
        rest = {key: held for key, held in cell.items() if key != "dataValidation"}
        if rule is not None or cell:
            sheet.put(row, column, rest | ({"dataValidation": rule} if rule is not None else {}))


def update_borders(edit: Editing, request: dict[str, Any]) -> None:
    """Sides are set on the edge cells, inner ones between cells; style NONE removes."""
    area = edit.area(request.get("range"))
    check_area(edit, area)
    sheet = edit.sheet(area)
    for row, column in area.cells():
        sides = {
            "top": request.get("top" if row == area.top else "innerHorizontal"),
            "bottom": request.get("bottom" if row == area.bottom - 1 else "innerHorizontal"),
            "left": request.get("left" if column == area.left else "innerVertical"),
            "right": request.get("right" if column == area.right - 1 else "innerVertical"),
        }
        given = {side: style for side, style in sides.items() if style}
        if given:
            _set_borders(sheet, row, column, given)


def _set_borders(sheet: Sheet, row: int, column: int, given: dict[str, Any]) -> None:
    cell = sheet.get(row, column)
    look = dict(cell.get("userEnteredFormat", {}))
    borders = {**look.get("borders", {}), **given}
    look["borders"] = {side: style for side, style in borders.items() if style.get("style") != "NONE"}
    kept = {key: held for key, held in look.items() if held != {}}
    rest = {key: held for key, held in cell.items() if key != "userEnteredFormat"}
    sheet.put(row, column, rest | ({"userEnteredFormat": kept} if kept else {}))


def _order(effective: dict[str, Any] | None) -> Order | None:
    """Numbers before texts before booleans; None for a blank."""
    value = plain(effective)
    if value == "":
        return None
    if isinstance(value, bool):
        return (2, value)
    return (1, value.casefold()) if isinstance(value, str) else (0, value)


def sort_range(edit: Editing, request: dict[str, Any]) -> None:
    """Sort rows by the given columns; blanks come last either way."""
    area = edit.area(request.get("range"))
    check_area(edit, area)
    sheet, run = edit.sheet(area), Evaluator(edit.book, edit.hook)
    specs = request.get("sortSpecs", [])
    if not specs:
        raise Invalid("At least one sort spec must be specified.")
    order = list(range(area.top, area.bottom))
    for spec in reversed(specs):
        column, backwards = spec.get("dimensionIndex", 0), spec.get("sortOrder") == "DESCENDING"
        if not area.left <= column < area.right:
            raise Invalid(f"sortSpecs.dimensionIndex[{column}] is outside of the range.")
        keys = {row: _order(run.effective(sheet, row, column)) for row in order}
        filled = [row for row in order if keys[row] is not None]
        filled.sort(key=lambda row, keys=keys: keys[row] or (), reverse=backwards)  # type: ignore[misc]
        order = filled + [row for row in order if keys[row] is None]
    before = {row: {c: sheet.get(row, c) for c in range(area.left, area.right)} for row in order}
    for row, source in zip(range(area.top, area.bottom), order, strict=True):
        for column, cell in before[source].items():
            sheet.put(row, column, moved_cell(cell, row - source, 0))


def moved_cell(cell: Cell, down: int, across: int) -> Cell:
    formula = cell.get("userEnteredValue", {}).get("formulaValue")
    if not formula or not (down or across):
        return cell
    return {**cell, "userEnteredValue": {"formulaValue": shift_formula(formula, down, across)}}


HANDLERS: dict[str, Handler] = {
    "updateCells": update_cells,
    "repeatCell": repeat_cell,
    "appendCells": append_cells,
    "setDataValidation": set_data_validation,
    "updateBorders": update_borders,
    "sortRange": sort_range,
}
