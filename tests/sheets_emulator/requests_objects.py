"""batchUpdate requests on what lies over cells: protection, formats by rule, banding, filters, charts."""

from __future__ import annotations

from typing import Any

from tests.sheets_emulator.conditions import check_format_rule
from tests.sheets_emulator.editing import Editing, Handler
from tests.sheets_emulator.errors import Invalid
from tests.sheets_emulator.field_masks import apply_mask, update_mask
from tests.sheets_emulator.protection import check_own, check_structure, is_whole_sheet
from tests.sheets_emulator.state import Sheet

Found = tuple[Sheet, int]


def normal_range(edit: Editing, given: dict[str, Any]) -> dict[str, Any]:
    """Check a GridRange; sheetId 0 is left out as in answers."""
    edit.area(given)
    return {key: held for key, held in given.items() if key != "sheetId" or held}


def filled_range(edit: Editing, given: dict[str, Any] | None) -> dict[str, Any]:
    """A GridRange with all its bounds, as filters and bandings keep it."""
    return edit.area(given).grid_range()


def find_object(edit: Editing, name: str, key: str, wanted: int | None) -> Found | None:
    """Where an object with this id is: its sheet and position."""
    for sheet in edit.book.sheets:
        for position, entry in enumerate(getattr(sheet, name)):
            if entry[key] == wanted:
                return sheet, position
    return None


def require_object(edit: Editing, name: str, key: str, wanted: int | None, noun: str) -> Found:
    found = find_object(edit, name, key, wanted)
    if found is None:
        raise Invalid(f"No {noun} with id: {wanted}")
    return found


def choose_id(edit: Editing, name: str, key: str, given: int | None, noun: str) -> int:
    """The client's id if it is free, else a new one."""
    taken = {int(entry[key]) for sheet in edit.book.sheets for entry in getattr(sheet, name)}
    if given is None:
        return edit.new_id(taken)
    if given in taken:
        raise Invalid(f"{noun} with id {given} already exists.")
    return given


def _editors(edit: Editing, given: dict[str, Any]) -> dict[str, Any]:
    """Whoever protects a range may always edit it."""
    editors = dict(given.get("editors", {}))
    users = list(editors.get("users", ()))
    return {**editors, "users": users if edit.identity in users else [*users, edit.identity]}


def _check_protected(edit: Editing, sheet: Sheet, protected: dict[str, Any]) -> None:
    editors = protected.get("editors", {})
    if protected.get("warningOnly") and (editors.get("users") or editors.get("groups")):
        raise Invalid("ProtectedRange is warningOnly. Editors cannot be set on it.")
    holes = protected.get("unprotectedRanges", [])
    if holes and not is_whole_sheet(protected):
        raise Invalid("Unprotected ranges are only supported on protected sheets.")
    for hole in holes:
        if edit.area(hole, "unprotectedRanges").sheet_id != sheet.sheet_id:
            raise Invalid("Unprotected ranges must be on the protected sheet.")


def add_protected_range(edit: Editing, request: dict[str, Any]) -> dict[str, Any]:
    given = request.get("protectedRange", {})
    if ("range" in given) == ("namedRangeId" in given):
        raise Invalid("Exactly one of range or namedRangeId must be specified.")
    if "protectedRangeId" in given:
        raise Invalid("Field 'protectedRangeId' is read-only.")
    named = [
        entry["range"]
        for entry in edit.book.named_ranges
        if entry["namedRangeId"] == given.get("namedRangeId")
    ]
    if "range" not in given and not named:
        raise Invalid(f"No named range with id: {given['namedRangeId']}")
    place = given["range"] if "range" in given else named[0]
    sheet = edit.sheet(edit.area(place))
    if "range" in given:
        given = {**given, "range": normal_range(edit, given["range"])}
    _check_protected(edit, sheet, given)
    if is_whole_sheet(given) and any(is_whole_sheet(other) for other in sheet.protected_ranges):
        raise Invalid(f'Sheet "{sheet.title}" already has sheet protection.')
    made = {**given, "protectedRangeId": choose_id(edit, "protected_ranges", "protectedRangeId", None, "")}
    editors = {key: held for key, held in given.get("editors", {}).items() if held}
    sheet.protected_ranges.append({**made, "editors": _editors(edit, given)})
    return {"protectedRange": {**made, "requestingUserCanEdit": True, "editors": editors}}


def update_protected_range(edit: Editing, request: dict[str, Any]) -> None:
    given = request.get("protectedRange", {})
    mask = update_mask(request.get("fields"), "ProtectedRange")
    place = given.get("protectedRangeId")
    sheet, position = require_object(edit, "protected_ranges", "protectedRangeId", place, "protected range")
    old = sheet.protected_ranges[position]
    check_own(edit, old)
    if "range" in given:
        given = {**given, "range": normal_range(edit, given["range"])}
    made = {**apply_mask(old, given, mask), "protectedRangeId": place}
    _check_protected(edit, sheet, {**made, "editors": given.get("editors", {})})
    sheet.protected_ranges[position] = {**made, "editors": _editors(edit, made)}


def delete_protected_range(edit: Editing, request: dict[str, Any]) -> None:
    place = request.get("protectedRangeId", 0)
    sheet, position = require_object(edit, "protected_ranges", "protectedRangeId", place, "protected range")
    check_own(edit, sheet.protected_ranges[position])
    del sheet.protected_ranges[position]


def _format_rule(edit: Editing, given: dict[str, Any] | None) -> tuple[Sheet, dict[str, Any]]:
    if given is None:
        raise Invalid("A rule must be specified.")
    check_format_rule(given)
    areas = [edit.area(item, "ranges") for item in given["ranges"]]
    if len({area.sheet_id for area in areas}) != 1:
        raise Invalid("All ranges of a conditional format rule must be on the same sheet.")
    return edit.sheet(areas[0]), {**given, "ranges": [area.grid_range() for area in areas]}


def add_format_rule(edit: Editing, request: dict[str, Any]) -> None:
    sheet, rule = _format_rule(edit, request.get("rule"))
    check_structure(edit, sheet)
    index = request.get("index", 0)
    if not 0 <= index <= len(sheet.conditional_formats):
        raise Invalid(f"index[{index}] is after the last conditional format rule.")
    sheet.conditional_formats.insert(index, rule)


def _rule_place(edit: Editing, request: dict[str, Any]) -> Sheet:
    sheet = edit.book.require_sheet(request.get("sheetId", 0))
    check_structure(edit, sheet)
    if request.get("index", 0) >= len(sheet.conditional_formats):
        raise Invalid(f"No conditional format on sheet: {sheet.sheet_id} at index: {request.get('index', 0)}")
    return sheet


def update_format_rule(edit: Editing, request: dict[str, Any]) -> dict[str, Any]:
    """Replace a rule, or move it to `newIndex`."""
    index = request.get("index", 0)
    if "rule" in request:
        sheet, rule = _format_rule(edit, request["rule"])
        old = _rule_place(edit, {"sheetId": sheet.sheet_id, "index": index}).conditional_formats[index]
        sheet.conditional_formats[index] = rule
        return {"newRule": rule, "newIndex": index, "oldRule": old, "oldIndex": index}
    sheet = _rule_place(edit, request)
    rule = sheet.conditional_formats.pop(index)
    new = request.get("newIndex", 0)
    sheet.conditional_formats.insert(new, rule)
    return {"newRule": rule, "newIndex": new, "oldIndex": index}


def delete_format_rule(edit: Editing, request: dict[str, Any]) -> dict[str, Any]:
    return {"rule": _rule_place(edit, request).conditional_formats.pop(request.get("index", 0))}


def add_banding(edit: Editing, request: dict[str, Any]) -> dict[str, Any]:
    given = request.get("bandedRange", {})
    area = edit.area(given.get("range"))
    sheet = edit.sheet(area)
    if any(edit.area(other["range"]).overlaps(area) for other in sheet.banded_ranges):
        raise Invalid(
            "You cannot add alternating background colors to a range that already has alternating colors."
        )
    made = {**given, "range": area.grid_range()}
    made["bandedRangeId"] = choose_id(
        edit, "banded_ranges", "bandedRangeId", given.get("bandedRangeId"), "Banded range"
    )
    sheet.banded_ranges.append(made)
    return {"bandedRange": made}


def update_banding(edit: Editing, request: dict[str, Any]) -> None:
    given, mask = request.get("bandedRange", {}), update_mask(request.get("fields"), "BandedRange")
    place = given.get("bandedRangeId")
    sheet, position = require_object(edit, "banded_ranges", "bandedRangeId", place, "banded range")
    made = {**apply_mask(sheet.banded_ranges[position], given, mask), "bandedRangeId": place}
    sheet.banded_ranges[position] = {**made, "range": filled_range(edit, made.get("range"))}


def delete_banding(edit: Editing, request: dict[str, Any]) -> None:
    place = request.get("bandedRangeId", 0)
    sheet, position = require_object(edit, "banded_ranges", "bandedRangeId", place, "banded range")
    del sheet.banded_ranges[position]


def set_basic_filter(edit: Editing, request: dict[str, Any]) -> None:
    given = request.get("filter", {})
    area = edit.area(given.get("range"))
    sheet = edit.sheet(area)
    check_structure(edit, sheet)
    sheet.basic_filter = {**given, "range": area.grid_range()}


def clear_basic_filter(edit: Editing, request: dict[str, Any]) -> None:
    sheet = edit.book.require_sheet(request.get("sheetId", 0))
    check_structure(edit, sheet)
    sheet.basic_filter = None


def add_filter_view(edit: Editing, request: dict[str, Any]) -> dict[str, Any]:
    """Anyone who may write may keep a view, on protected sheets too [?]."""
    given = request.get("filter", {})
    area = edit.area(given.get("range"))
    made = {"title": "Filter 1", **given, "range": area.grid_range()}
    made["filterViewId"] = choose_id(
        edit, "filter_views", "filterViewId", given.get("filterViewId"), "Filter view"
    )
    edit.sheet(area).filter_views.append(made)
    return {"filter": made}


def update_filter_view(edit: Editing, request: dict[str, Any]) -> None:
    given, mask = request.get("filter", {}), update_mask(request.get("fields"), "FilterView")
    place = given.get("filterViewId")
    sheet, position = require_object(edit, "filter_views", "filterViewId", place, "filter view")
    made = {**apply_mask(sheet.filter_views[position], given, mask), "filterViewId": place}
    sheet.filter_views[position] = {**made, "range": filled_range(edit, made.get("range"))}


def delete_filter_view(edit: Editing, request: dict[str, Any]) -> None:
    place = request.get("filterId", 0)
    sheet, position = require_object(edit, "filter_views", "filterViewId", place, "filter view")
    del sheet.filter_views[position]


HANDLERS: dict[str, Handler] = {
    "addProtectedRange": add_protected_range,
    "updateProtectedRange": update_protected_range,
    "deleteProtectedRange": delete_protected_range,
    "addConditionalFormatRule": add_format_rule,
    "updateConditionalFormatRule": update_format_rule,
    "deleteConditionalFormatRule": delete_format_rule,
    "addBanding": add_banding,
    "updateBanding": update_banding,
    "deleteBanding": delete_banding,
    "setBasicFilter": set_basic_filter,
    "clearBasicFilter": clear_basic_filter,
    "addFilterView": add_filter_view,
    "updateFilterView": update_filter_view,
    "deleteFilterView": delete_filter_view,
}
