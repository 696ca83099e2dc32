"""batchUpdate requests on rows and columns: insert, delete, move, append, sizes, groups."""

from __future__ import annotations

from typing import Any

from tests.sheets_emulator.defaults import COLUMN_PIXELS
from tests.sheets_emulator.dimensions import (
    axis,
    count_of,
    delete_dimension,
    insert_dimension,
    move_dimension,
    span_area,
    span_of,
)
from tests.sheets_emulator.editing import Editing, Handler
from tests.sheets_emulator.errors import Invalid
from tests.sheets_emulator.field_masks import apply_mask, update_mask
from tests.sheets_emulator.formulas import Evaluator
from tests.sheets_emulator.protection import check_area, check_structure
from tests.sheets_emulator.rendering import formatted
from tests.sheets_emulator.state import Dimension, Sheet
from tests.sheets_emulator.value_reading import number_format


def _place(edit: Editing, given: dict[str, Any] | None) -> tuple[Sheet, Dimension, int, int]:
    if given is None:
        raise Invalid("range must be specified.")
    sheet = edit.book.require_sheet(given.get("sheetId", 0))
    return (sheet, *span_of(sheet, given))


def insert(edit: Editing, request: dict[str, Any]) -> None:
    given = request.get("range", {})
    sheet = edit.book.require_sheet(given.get("sheetId", 0))
    dimension = given.get("dimension")
    if dimension not in ("ROWS", "COLUMNS") or "startIndex" not in given or "endIndex" not in given:
        raise Invalid("range must have a dimension, a startIndex and an endIndex.")
    span = given["startIndex"], given["endIndex"]
    insert_dimension(edit, sheet, dimension, span, inherit=request.get("inheritFromBefore", False))


def append(edit: Editing, request: dict[str, Any]) -> None:
    sheet = edit.book.require_sheet(request.get("sheetId", 0))
    dimension, length = request.get("dimension"), request.get("length", 0)
    if dimension not in ("ROWS", "COLUMNS") or length < 1:
        raise Invalid("appendDimension needs a dimension and a positive length.")
    check_structure(edit, sheet)
    sheet.set_grid(**{f"{axis(dimension).lower()}Count": count_of(sheet, dimension) + length})
    edit.book.check_size()


def delete(edit: Editing, request: dict[str, Any]) -> None:
    given = request.get("range", {})
    sheet = edit.book.require_sheet(given.get("sheetId", 0))
    dimension = given.get("dimension")
    if dimension in ("ROWS", "COLUMNS") and given.get("startIndex", 0) >= count_of(sheet, dimension):
        noun, count, start = axis(dimension).lower(), count_of(sheet, dimension), given["startIndex"]
        raise Invalid(
            f"Cannot delete a {noun} that doesn't exist. Tried to delete {noun} index {start} "
            f"but there are only {count} {noun}s."
        )
    delete_dimension(edit, sheet, *span_of(sheet, given))


def move(edit: Editing, request: dict[str, Any]) -> None:
    sheet, dimension, start, end = _place(edit, request.get("source"))
    move_dimension(edit, sheet, dimension, (start, end), request.get("destinationIndex", 0))


def update_properties(edit: Editing, request: dict[str, Any]) -> None:
    sheet, dimension, start, end = _place(edit, request.get("range"))
    mask = update_mask(request.get("fields"), "DimensionProperties")
    if "developerMetadata" in mask:
        raise Invalid("Field 'developerMetadata' cannot be updated here.")
    given = request.get("properties", {})
    if "pixelSize" in mask and given.get("pixelSize", 0) <= 0:
        raise Invalid("pixelSize must be positive.")
    check_structure(edit, sheet)
    sizes = sheet.row_metadata if dimension == "ROWS" else sheet.column_metadata
    for index in range(start, end):
        sizes[index] = apply_mask(sizes.get(index, {}), given, mask)


def auto_resize(edit: Editing, request: dict[str, Any]) -> None:
    """Columns grow with their longest text, seven pixels a letter; rows stay as they are."""
    sheet, dimension, start, end = _place(edit, request.get("dimensions"))
    if dimension == "ROWS":
        return
    run = Evaluator(edit.book, edit.hook)
    for column in range(start, end):
        longest = 0
        for row, line in sheet.rows.items():
            if column in line:
                text = formatted(
                    run.effective(sheet, row, column), number_format(line[column]), edit.book.locale
                )
                longest = max(longest, *(len(part) for part in text.split("\n")))
        pixels = longest * 7 + 6 if longest else COLUMN_PIXELS
        sheet.column_metadata[column] = {**sheet.column_metadata.get(column, {}), "pixelSize": pixels}


def _groups(sheet: Sheet, dimension: str) -> list[dict[str, Any]]:
    return sheet.row_groups if dimension == "ROWS" else sheet.column_groups


def _group_range(sheet: Sheet, dimension: str, start: int, end: int) -> dict[str, Any]:
    made = {"sheetId": sheet.sheet_id} if sheet.sheet_id else {}
    return {**made, "dimension": dimension, "startIndex": start, "endIndex": end}


def add_group(edit: Editing, request: dict[str, Any]) -> dict[str, Any]:
    """A group inside another is one deeper; the control side becomes visible and stays so."""
    sheet, dimension, start, end = _place(edit, request.get("range"))
    groups = _groups(sheet, dimension)
    around = [g for g in groups if g["range"]["startIndex"] <= start and end <= g["range"]["endIndex"]]
    groups.append({"range": _group_range(sheet, dimension, start, end), "depth": len(around) + 1})
    sheet.set_grid(**{f"{axis(dimension).lower()}GroupControlAfter": True})
    return {"dimensionGroups": list(groups)}


def delete_group(edit: Editing, request: dict[str, Any]) -> dict[str, Any]:
    sheet, dimension, start, end = _place(edit, request.get("range"))
    groups = _groups(sheet, dimension)
    wanted = _group_range(sheet, dimension, start, end)
    found = next((group for group in reversed(groups) if group["range"] == wanted), None)
    if found is None:
        raise Invalid(f"No group over {dimension.lower()} {start} to {end}.")
    groups.remove(found)
    return {"dimensionGroups": list(groups)} if groups else {}


def insert_range(edit: Editing, request: dict[str, Any]) -> None:
    """Shift cells right or down to make room; what leaves the grid enlarges it."""
    area = edit.area(request.get("range"))
    sheet, dimension = edit.sheet(area), request.get("shiftDimension")
    if dimension == "ROWS" and area.width == sheet.column_count:
        insert_dimension(edit, sheet, "ROWS", (area.top, area.bottom))
    elif dimension == "COLUMNS" and area.height == sheet.row_count:
        insert_dimension(edit, sheet, "COLUMNS", (area.left, area.right))
    else:
        raise Invalid("insertRange is emulated for whole rows or columns only.")


def delete_range(edit: Editing, request: dict[str, Any]) -> None:
    """Delete cells and pull the rest up or left; the grid keeps its size."""
    area = edit.area(request.get("range"))
    sheet, dimension = edit.sheet(area), request.get("shiftDimension")
    if dimension not in ("ROWS", "COLUMNS"):
        raise Invalid("shiftDimension must be specified.")
    rows = dimension == "ROWS"
    count = sheet.row_count if rows else sheet.column_count
    check_area(edit, area if rows else span_area(sheet, "COLUMNS", area.left, area.right))
    size = area.height if rows else area.width
    for row in range(area.top, sheet.row_count if rows else area.bottom):
        for column in range(area.left, area.right if rows else sheet.column_count):
            source = (row + size, column) if rows else (row, column + size)
            inside = source[0] < count if rows else source[1] < count
            new = sheet.get(*source) if inside else {}
            if new or sheet.get(row, column):
                sheet.put(row, column, new)


HANDLERS: dict[str, Handler] = {
    "insertDimension": insert,
    "appendDimension": append,
    "deleteDimension": delete,
    "moveDimension": move,
    "updateDimensionProperties": update_properties,
    "autoResizeDimensions": auto_resize,
    "addDimensionGroup": add_group,
    "deleteDimensionGroup": delete_group,
    "insertRange": insert_range,
    "deleteRange": delete_range,
}
