"""batchUpdate requests that move or join blocks of cells: copy, cut, merge, unmerge, find and replace."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tests.sheets_emulator.editing import Editing, Handler
from tests.sheets_emulator.errors import Invalid
from tests.sheets_emulator.protection import check_area
from tests.sheets_emulator.requests_cells import clean_cell, moved_cell
from tests.sheets_emulator.state import Area, Cell


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
        moved = moved_cell(before[place], row - source.top - place[0], column - source.left - place[1])
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
    "copyPaste": copy_paste,
    "cutPaste": cut_paste,
    "mergeCells": merge_cells,
    "unmergeCells": unmerge_cells,
    "findReplace": find_replace,
}
