"""batchUpdate requests on named ranges and developer metadata."""

from __future__ import annotations

import re
from typing import Any

from tests.sheets_emulator.a1 import LOOKS_LIKE_CELL
from tests.sheets_emulator.data_filters import filter_metadata, shown
from tests.sheets_emulator.dimensions import span_of
from tests.sheets_emulator.editing import Editing, Handler
from tests.sheets_emulator.errors import Invalid
from tests.sheets_emulator.field_masks import apply_mask, update_mask


def _check_name(edit: Editing, name: str, own: str | None = None) -> None:
    if not re.fullmatch(r"[^\W\d]\w{0,249}", name) or LOOKS_LIKE_CELL.fullmatch(name):
        raise Invalid(f"Invalid name: {name}")
    for entry in edit.book.named_ranges:
        if entry["name"].casefold() == name.casefold() and entry["namedRangeId"] != own:
            raise Invalid(f"A named range with the name {name} already exists.")


def add_named_range(edit: Editing, request: dict[str, Any]) -> dict[str, Any]:
    given = request.get("namedRange", {})
    _check_name(edit, given.get("name", ""))
    taken = {entry["namedRangeId"] for entry in edit.book.named_ranges}
    place = given.get("namedRangeId") or str(edit.new_id(set()))
    if place in taken:
        raise Invalid(f"A named range with id {place} already exists.")
    made = {"namedRangeId": place, "name": given["name"], "range": edit.area(given.get("range")).grid_range()}
    edit.book.named_ranges.append(made)
    return {"namedRange": made}


def _named_place(edit: Editing, wanted: str) -> int:
    for position, entry in enumerate(edit.book.named_ranges):
        if entry["namedRangeId"] == wanted:
            return position
    raise Invalid(f"No named range with id: {wanted}")


def update_named_range(edit: Editing, request: dict[str, Any]) -> None:
    given, mask = request.get("namedRange", {}), update_mask(request.get("fields"), "NamedRange")
    position = _named_place(edit, given.get("namedRangeId", ""))
    old = edit.book.named_ranges[position]
    made = {**apply_mask(old, given, mask), "namedRangeId": old["namedRangeId"]}
    _check_name(edit, made.get("name", ""), old["namedRangeId"])
    edit.book.named_ranges[position] = {**made, "range": edit.area(made.get("range")).grid_range()}


def delete_named_range(edit: Editing, request: dict[str, Any]) -> None:
    del edit.book.named_ranges[_named_place(edit, request.get("namedRangeId", ""))]


def _location(edit: Editing, given: dict[str, Any] | None) -> dict[str, Any]:
    """Exactly one of spreadsheet, sheetId, or one row or column."""
    made = dict(given or {})
    if len(made) != 1:
        raise Invalid("Exactly one location must be specified for developer metadata.")
    if "sheetId" in made:
        edit.book.require_sheet(made["sheetId"], "sheet")
    if "dimensionRange" in made:
        sheet = edit.book.require_sheet(made["dimensionRange"].get("sheetId", 0))
        dimension, start, end = span_of(sheet, made["dimensionRange"])
        if end != start + 1:
            raise Invalid("Developer metadata can be attached to a single row or column only.")
        place = {"dimension": dimension, "startIndex": start, "endIndex": end}
        made["dimensionRange"] = {**({"sheetId": sheet.sheet_id} if sheet.sheet_id else {}), **place}
    return made


def create_metadata(edit: Editing, request: dict[str, Any]) -> dict[str, Any]:
    given = request.get("developerMetadata", {})
    _check_metadata(given)
    taken = {entry["metadataId"] for entry in edit.book.developer_metadata}
    place = given.get("metadataId")
    if place in taken:
        raise Invalid(f"Developer metadata with id {place} already exists.")
    made = {**given, "metadataId": place if place else edit.new_id(taken)}
    made["location"] = _location(edit, given.get("location"))
    edit.book.developer_metadata.append(made)
    return {"developerMetadata": shown(made)}


def _check_metadata(given: dict[str, Any]) -> None:
    if not given.get("metadataKey"):
        raise Invalid("Developer metadata must have a key.")
    if given.get("visibility") not in ("DOCUMENT", "PROJECT"):
        raise Invalid("Developer metadata must have a visibility.")


def _selected(edit: Editing, data_filters: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for position, data_filter in enumerate(data_filters):
        found += [entry for entry in filter_metadata(edit.book, data_filter, position) if entry not in found]
    return found


def update_metadata(edit: Editing, request: dict[str, Any]) -> dict[str, Any]:
    given, mask = (
        request.get("developerMetadata", {}),
        update_mask(request.get("fields"), "DeveloperMetadata"),
    )
    selected = _selected(edit, request.get("dataFilters", []))
    if not selected:
        raise Invalid("No developer metadata matches the data filters.")
    changed = []
    for position, entry in enumerate(edit.book.developer_metadata):
        if entry in selected:
            made = {**apply_mask(entry, given, mask), "metadataId": entry["metadataId"]}
            _check_metadata(made)
            made["location"] = _location(edit, made.get("location"))
            edit.book.developer_metadata[position] = made
            changed.append(shown(made))
    return {"developerMetadata": changed}


def delete_metadata(edit: Editing, request: dict[str, Any]) -> dict[str, Any]:
    data_filter = request.get("dataFilter")
    if not data_filter:
        raise Invalid("dataFilter must be specified.")
    gone = _selected(edit, [data_filter])
    edit.book.developer_metadata = [entry for entry in edit.book.developer_metadata if entry not in gone]
    return {"deletedDeveloperMetadata": [shown(entry) for entry in gone]} if gone else {}


HANDLERS: dict[str, Handler] = {
    "addNamedRange": add_named_range,
    "updateNamedRange": update_named_range,
    "deleteNamedRange": delete_named_range,
    "createDeveloperMetadata": create_metadata,
    "updateDeveloperMetadata": update_metadata,
    "deleteDeveloperMetadata": delete_metadata,
}
