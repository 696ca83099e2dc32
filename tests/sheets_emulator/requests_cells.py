"""batchUpdate requests that write cells: values, formats, notes, validation, merges, borders, sorting, copies."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

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


def write(sheet: Sheet, place: tuple[int, int], new: Cell, mask: Tree) -> None:
    old = sheet.get(*place)
    if not old and not new:
        return
    if not isinstance(new.get("userEnteredValue", {}).get("formulaValue", "="), str):
        raise Invalid("formulaValue must be a text.")
    formula = new.get("userEnteredValue", {}).get("formulaValue")
    if formula is not None and not formula.startswith("="):
        raise Invalid(f"Invalid formula: {formula}. A formula begins with =.")
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
    for row, column in area.cells():
        new = cell
        if formula:
            moved = shift_formula(formula, row - area.top, column - area.left)
            new = {**cell, "userEnteredValue": {"formulaValue": moved}}
        write(sheet, (row, column), new, mask)


def shift_formula(formula: str, down: int, across: int) -> str:
    """Move the relative references of a formula, as copying does."""
    from tests.sheets_emulator.a1 import column_index, column_name

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
            sheet.put(row, column, _moved(cell, row - source, 0))


def _moved(cell: Cell, down: int, across: int) -> Cell:
    formula = cell.get("userEnteredValue", {}).get("formulaValue")
    if not formula or not (down or across):
        return cell
    return {**cell, "userEnteredValue": {"formulaValue": shift_formula(formula, down, across)}}


def paste_parts(kind: str) -> Callable[[Cell, Cell], Cell]:
    """How a pasted cell joins what is there."""

    def join(old: Cell, new: Cell) -> Cell:
        if kind in ("PASTE_NORMAL", "PASTE_NO_BORDERS"):
            return new
        if kind in ("PASTE_VALUES", "PASTE_FORMULA"):
            value = {"userEnteredValue": new["userEnteredValue"]} if "userEnteredValue" in new else {}
            return {key: held for key, held in old.items() if key != "userEnteredValue"} | value
        key = "dataValidation" if kind == "PASTE_DATA_VALIDATION" else "userEnteredFormat"
        rest = {name: held for name, held in old.items() if name != key}
        return rest | ({key: new[key]} if key in new else {})

    return join


def copy_paste(edit: Editing, request: dict[str, Any]) -> None:
    source, target = (
        edit.area(request.get("source"), "source"),
        edit.area(request.get("destination"), "destination"),
    )
    if request.get("pasteOrientation") == "TRANSPOSE":
        raise Invalid("Transposed pasting is not emulated.")
    height = max(source.height, target.height // source.height * source.height)
    width = max(source.width, target.width // source.width * source.width)
    given = {"startRowIndex": target.top, "endRowIndex": target.top + height}
    given |= {"startColumnIndex": target.left, "endColumnIndex": target.left + width}
    target = edit.area({"sheetId": target.sheet_id, **given}, "destination")
    check_area(edit, target)
    before, sheet, join = (
        _snapshot(edit, source),
        edit.sheet(target),
        paste_parts(request.get("pasteType", "PASTE_NORMAL")),
    )
    for row, column in target.cells():
        place = (row - target.top) % source.height, (column - target.left) % source.width
        moved = _moved(before[place], row - source.top - place[0], column - source.left - place[1])
        sheet.put(row, column, join(sheet.get(row, column), moved))


def _snapshot(edit: Editing, area: Area) -> dict[tuple[int, int], Cell]:
    sheet = edit.sheet(area)
    return {(row - area.top, column - area.left): sheet.get(row, column) for row, column in area.cells()}


def cut_paste(edit: Editing, request: dict[str, Any]) -> None:
    """Formulas keep their references when cut."""
    source = edit.area(request.get("source"), "source")
    given = request.get("destination", {})
    top, left = given.get("rowIndex", 0), given.get("columnIndex", 0)
    place = {"startRowIndex": top, "endRowIndex": top + source.height}
    place |= {"startColumnIndex": left, "endColumnIndex": left + source.width}
    target = edit.area({"sheetId": given.get("sheetId", 0), **place}, "destination")
    check_area(edit, source)
    check_area(edit, target)
    before, join = _snapshot(edit, source), paste_parts(request.get("pasteType", "PASTE_NORMAL"))
    for row, column in source.cells():
        edit.sheet(source).put(row, column, {})
    for (down, across), cell in before.items():
        old = edit.sheet(target).get(top + down, left + across)
        edit.sheet(target).put(top + down, left + across, join(old, cell))


def _pieces(area: Area, kind: str) -> list[Area]:
    if kind == "MERGE_ROWS":
        return [
            Area(area.sheet_id, row, area.left, row + 1, area.right) for row in range(area.top, area.bottom)
        ]
    if kind == "MERGE_COLUMNS":
        return [
            Area(area.sheet_id, area.top, column, area.bottom, column + 1)
            for column in range(area.left, area.right)
        ]
    return [area]


def _whole_merges(edit: Editing, area: Area) -> list[dict[str, Any]]:
    """The merges inside an area; a merge only partly inside is refused."""
    found = [(merge, edit.area(merge)) for merge in edit.sheet(area).merges]
    touched = [(merge, own) for merge, own in found if own.overlaps(area)]
    if any(not area.contains(own) for _, own in touched):
        raise Invalid("You must select all cells in a merged range to merge or unmerge them.")
    return [merge for merge, _ in touched]


def merge_cells(edit: Editing, request: dict[str, Any]) -> None:
    """A larger merge swallows smaller ones; only the first cell keeps its value."""
    area = edit.area(request.get("range"))
    check_area(edit, area)
    sheet, swallowed = edit.sheet(area), _whole_merges(edit, area)
    pieces = [
        piece
        for piece in _pieces(area, request.get("mergeType", "MERGE_ALL"))
        if piece.height * piece.width > 1
    ]
    sheet.merges = [merge for merge in sheet.merges if merge not in swallowed] + [
        piece.grid_range() for piece in pieces
    ]
    for piece in pieces:
        for row, column in list(piece.cells())[1:]:
            cell = sheet.get(row, column)
            sheet.put(row, column, {key: held for key, held in cell.items() if key != "userEnteredValue"})


def unmerge_cells(edit: Editing, request: dict[str, Any]) -> None:
    area = edit.area(request.get("range"))
    check_area(edit, area)
    gone = _whole_merges(edit, area)
    edit.sheet(area).merges = [merge for merge in edit.sheet(area).merges if merge not in gone]


def find_replace(edit: Editing, request: dict[str, Any]) -> dict[str, Any]:
    """Replace in plain texts of the named range, sheet, or all sheets."""
    if request.get("searchByRegex") or request.get("includeFormulas"):
        raise Invalid("Searching by expression or in formulas is not emulated.")
    if "range" in request:
        areas = [edit.area(request["range"])]
    else:
        own = None if request.get("allSheets") else request.get("sheetId", 0)
        areas = [sheet.area for sheet in edit.book.sheets if own in (None, sheet.sheet_id)]
    pattern = re.compile(re.escape(request.get("find", "")), 0 if request.get("matchCase") else re.IGNORECASE)
    changed = [hit for area in areas for hit in _replace_in(edit, area, pattern, request)]
    counts = {"valuesChanged": len(changed), "occurrencesChanged": sum(count for _, _, count in changed)}
    counts |= {
        "rowsChanged": len({hit[:2] for hit in changed}),
        "sheetsChanged": len({hit[0] for hit in changed}),
    }
    return {name: count for name, count in counts.items() if count}


def _replace_in(
    edit: Editing, area: Area, pattern: re.Pattern[str], request: dict[str, Any]
) -> list[tuple[int, int, int]]:
    sheet, hits = edit.sheet(area), []
    for row, column in area.cells():
        text = sheet.get(row, column).get("userEnteredValue", {}).get("stringValue", "")
        whole = request.get("matchEntireCell") and not pattern.fullmatch(text)
        new, count = (
            pattern.subn(lambda _: request.get("replacement", ""), text) if text and not whole else (text, 0)
        )
        if count:
            place = Area(area.sheet_id, row, column, row + 1, column + 1)
            check_area(edit, place)
            sheet.put(
                row, column, clean_cell({**sheet.get(row, column), "userEnteredValue": {"stringValue": new}})
            )
            hits.append((sheet.sheet_id, row, count))
    return hits


HANDLERS: dict[str, Handler] = {
    "updateCells": update_cells,
    "repeatCell": repeat_cell,
    "appendCells": append_cells,
    "setDataValidation": set_data_validation,
    "updateBorders": update_borders,
    "sortRange": sort_range,
    "copyPaste": copy_paste,
    "cutPaste": cut_paste,
    "mergeCells": merge_cells,
    "unmergeCells": unmerge_cells,
    "findReplace": find_replace,
}
