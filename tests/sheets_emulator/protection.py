"""Protected ranges, enforced per identity: owners and editors pass, warnings stop nobody."""

from __future__ import annotations

from typing import Any

from tests.sheets_emulator.editing import Editing
from tests.sheets_emulator.errors import PROTECTED, Invalid
from tests.sheets_emulator.state import Area, Sheet, Spreadsheet


def clipped_area(book: Spreadsheet, grid_range: dict[str, Any]) -> Area | None:
    """The part of a stored GridRange that is in today's grid."""
    sheet = book.sheet_by_id(int(grid_range.get("sheetId", 0)))
    if sheet is None:
        return None
    top, left = grid_range.get("startRowIndex", 0), grid_range.get("startColumnIndex", 0)
    bottom = min(grid_range.get("endRowIndex", sheet.row_count), sheet.row_count)
    right = min(grid_range.get("endColumnIndex", sheet.column_count), sheet.column_count)
    return Area(sheet.sheet_id, top, left, bottom, right) if bottom > top and right > left else None


def is_whole_sheet(protected: dict[str, Any]) -> bool:
    return not set(protected.get("range", {"x": 0})) - {"sheetId"}


def may_edit(protected: dict[str, Any], identity: str, privileged: bool) -> bool:
    """Whether someone may edit inside a protected range (and change or remove it)."""
    editors = protected.get("editors", {})
    return privileged or identity in editors.get("users", ()) or bool(editors.get("domainUsersCanEdit"))


def _blocking(edit: Editing, sheet: Sheet) -> list[dict[str, Any]]:
    return [
        protected
        for protected in sheet.protected_ranges
        if not protected.get("warningOnly") and not may_edit(protected, edit.identity, edit.privileged)
    ]


def _range_of(edit: Editing, protected: dict[str, Any]) -> dict[str, Any] | None:
    if "range" in protected:
        return dict(protected["range"])
    name = protected.get("namedRangeId")
    found = [entry["range"] for entry in edit.book.named_ranges if entry["namedRangeId"] == name]
    return dict(found[0]) if found else None


def check_area(edit: Editing, area: Area) -> None:
    """Refuse to change cells that someone else protected."""
    sheet = edit.sheet(area)
    if not sheet.protected_ranges or edit.privileged:
        return
    for protected in _blocking(edit, sheet):
        grid_range = _range_of(edit, protected)
        inside = clipped_area(edit.book, grid_range) if grid_range is not None else None
        if inside and inside.overlaps(area) and not _is_open(edit, protected, area, inside):
            raise Invalid(PROTECTED)


def _is_open(edit: Editing, protected: dict[str, Any], area: Area, inside: Area) -> bool:
    given = (clipped_area(edit.book, hole) for hole in protected.get("unprotectedRanges", ()))
    holes = [hole for hole in given if hole]
    wanted = Area(
        area.sheet_id,
        max(area.top, inside.top),
        max(area.left, inside.left),
        min(area.bottom, inside.bottom),
        min(area.right, inside.right),
    )
    if any(hole.contains(wanted) for hole in holes):
        return True
    single = (Area(area.sheet_id, row, column, row + 1, column + 1) for row, column in wanted.cells())
    return all(any(hole.contains(cell) for hole in holes) for cell in single)


def check_structure(edit: Editing, sheet: Sheet, *, any_range: bool = False) -> None:
    """Refuse to rename, resize, re-order or (any_range) delete a tab that someone else protected."""
    for protected in _blocking(edit, sheet):
        if any_range or is_whole_sheet(protected):
            raise Invalid(PROTECTED)


def check_own(edit: Editing, protected: dict[str, Any]) -> None:
    """Refuse to change or remove a protection by someone it binds."""
    if not may_edit(protected, edit.identity, edit.privileged):
        raise Invalid(PROTECTED)


def shown(protected: dict[str, Any], identity: str, privileged: bool) -> dict[str, Any]:
    """A protected range as this identity sees it; editors are hidden from those it binds."""
    made = dict(protected)
    if may_edit(protected, identity, privileged):
        return {**made, "requestingUserCanEdit": True}
    made.pop("editors", None)
    return {**made, "requestingUserCanEdit": True} if protected.get("warningOnly") else made
