"""spreadsheets.batchUpdate and spreadsheets.create: every request or none."""

from __future__ import annotations

from typing import Any

from tests.sheets_emulator import (
    requests_blocks,
    requests_cells,
    requests_charts,
    requests_dimensions,
    requests_names,
    requests_objects,
    requests_sheets,
)
from tests.sheets_emulator.conditions import check_format_rule
from tests.sheets_emulator.editing import Editing, Handler
from tests.sheets_emulator.errors import ApiError, Invalid, plain_bad_request
from tests.sheets_emulator.state import Sheet

HANDLERS: dict[str, Handler] = {
    **requests_sheets.HANDLERS,
    **requests_cells.HANDLERS,
    **requests_blocks.HANDLERS,
    **requests_dimensions.HANDLERS,
    **requests_objects.HANDLERS,
    **requests_charts.HANDLERS,
    **requests_names.HANDLERS,
}


def apply_requests(edit: Editing, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Carry the requests out one by one on the copy; the first that fails refuses all."""
    if not requests:
        raise plain_bad_request("Must specify at least one request.")
    return [_apply(edit, position, request) for position, request in enumerate(requests)]


def _apply(edit: Editing, position: int, request: dict[str, Any]) -> dict[str, Any]:
    if not request:
        raise plain_bad_request(f"Invalid requests[{position}]: No request set.")
    kind, content = next(iter(request.items()))
    handler = HANDLERS.get(kind)
    if handler is None:
        raise plain_bad_request(f"Invalid requests[{position}].{kind}: This kind of request is not emulated.")
    try:
        reply = handler(edit, content)
    except Invalid as fault:
        raise plain_bad_request(f"Invalid requests[{position}].{kind}: {fault}") from None
    except ApiError as fault:
        message = fault.body["error"]["message"]
        raise plain_bad_request(f"Invalid requests[{position}].{kind}: {message}") from None
    return {} if reply is None else {kind: reply}


def create(edit: Editing, body: dict[str, Any]) -> None:
    """Fill a new spreadsheet from a whole Spreadsheet message; each part as its own request would."""
    edit.book.properties = {**edit.book.properties, **body.get("properties", {})}
    edit.book.properties.setdefault("title", "Untitled spreadsheet")
    try:
        requests_sheets.check_book_properties(edit.book.properties)
        if body.get("sheets"):
            edit.book.sheets = []
            for given in body["sheets"]:
                _create_sheet(edit, given)
        for named in body.get("namedRanges", ()):
            requests_names.add_named_range(edit, {"namedRange": named})
        for entry in body.get("developerMetadata", ()):
            requests_names.create_metadata(
                edit, {"developerMetadata": {"location": {"spreadsheet": True}, **entry}}
            )
    except Invalid as fault:
        raise plain_bad_request(f"Invalid spreadsheet: {fault}") from None


def _create_sheet(edit: Editing, given: dict[str, Any]) -> None:
    properties = given.get("properties", {})
    sheet = requests_sheets.make_sheet(edit, properties)
    requests_sheets.insert_sheet(edit, sheet, None)
    for data in given.get("data", ()):
        _fill(edit, sheet, data)
    here = {"sheetId": sheet.sheet_id}
    for merge in given.get("merges", ()):
        requests_blocks.merge_cells(edit, {"range": {**here, **merge}})
    for rule in reversed(given.get("conditionalFormats", [])):
        check_format_rule(rule)
        requests_objects.add_format_rule(edit, {"rule": rule})
    simple = {
        "protectedRanges": (requests_objects.add_protected_range, "protectedRange"),
        "bandedRanges": (requests_objects.add_banding, "bandedRange"),
        "filterViews": (requests_objects.add_filter_view, "filter"),
        "charts": (requests_charts.add_chart, "chart"),
        "developerMetadata": (requests_names.create_metadata, "developerMetadata"),
    }
    for name, (handler, key) in simple.items():
        for entry in given.get(name, ()):
            handler(edit, {key: entry})
    if "basicFilter" in given:
        requests_objects.set_basic_filter(edit, {"filter": given["basicFilter"]})


def _fill(edit: Editing, sheet: Sheet, data: dict[str, Any]) -> None:
    top, left = data.get("startRow", 0), data.get("startColumn", 0)
    if data.get("rowData"):
        start = {"sheetId": sheet.sheet_id, "rowIndex": top, "columnIndex": left}
        requests_cells.update_cells(edit, {"start": start, "rows": data["rowData"], "fields": "*"})
    for index, held in enumerate(data.get("rowMetadata", ())):
        sheet.row_metadata[top + index] = held
    for index, held in enumerate(data.get("columnMetadata", ())):
        sheet.column_metadata[left + index] = held
