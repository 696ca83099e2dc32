"""The endpoints of the Sheets API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.sheets_emulator import a1, batch_update, data_filters, value_writing
from tests.sheets_emulator.calling import Call
from tests.sheets_emulator.defaults import new_spreadsheet
from tests.sheets_emulator.drive_files import check_storage, new_file
from tests.sheets_emulator.drive_state import READ, SHEET, WRITE, DriveFile
from tests.sheets_emulator.editing import Editing
from tests.sheets_emulator.errors import (
    ApiError,
    Invalid,
    forbidden,
    missing,
    plain_bad_request,
    sheets_error,
)
from tests.sheets_emulator.field_masks import Tree, response_mask, wants
from tests.sheets_emulator.formulas import Evaluator
from tests.sheets_emulator.grid_data import View, resource, shown_properties
from tests.sheets_emulator.requests_sheets import check_title, copy_sheet, insert_sheet
from tests.sheets_emulator.schema import flag
from tests.sheets_emulator.state import Spreadsheet
from tests.sheets_emulator.value_reading import Rendering, get_values, read_area

Answer = dict[str, Any]


def open_file(call: Call, rank: int = READ, file_id: str | None = None) -> tuple[DriveFile, Spreadsheet]:
    """The spreadsheet: 404 where there is none, 403 where this identity may not do this."""
    file = call.store.files.get(file_id or call.parameters["spreadsheetId"])
    if file is None or (call.only_own_files and call.identity not in file.apps):
        raise missing()
    if call.store.rank(file, call.identity) < rank:
        raise forbidden()
    if file.book is None:
        fault = sheets_error(400, "This operation is not supported for this document")
        fault.body["error"]["status"] = "FAILED_PRECONDITION"
        raise fault
    return file, file.book


def _evaluator(call: Call, book: Spreadsheet) -> Evaluator:
    return Evaluator(book, call.world.formula_values)


def editing(call: Call, file: DriveFile, book: Spreadsheet) -> Editing:
    privileged = call.store.privileged(file, call.identity)
    return Editing(
        book.clone(), call.identity, privileged, call.today, call.world.random, call.world.formula_values
    )


def change(call: Call, work: Callable[[Editing], Answer]) -> Answer:
    """Let `work` change a copy, and keep it when nothing was refused."""
    file, book = open_file(call, WRITE)
    edit = editing(call, file, book)
    try:
        answer = work(edit)
    except Invalid as fault:
        raise plain_bad_request(str(fault)) from None
    keep(call, file, edit)
    return answer


def keep(call: Call, file: DriveFile, edit: Editing) -> None:
    file.book = edit.book
    file.name = edit.book.title
    call.store.touch(file, call.identity)


def _in_part(work: Callable[[], Answer], place: str) -> Answer:
    """Name the part of a batch that was refused."""
    try:
        return work()
    except Invalid as fault:
        raise plain_bad_request(f"Invalid {place}: {fault}") from None
    except ApiError as fault:
        if fault.status != 400:
            raise
        raise plain_bad_request(f"Invalid {place}: {fault.body['error']['message']}") from None


# --- spreadsheets ------------------------------------------------------------------------------


def _view(call: Call, book: Spreadsheet, file: DriveFile, mask: Tree | None, with_data: bool) -> View:
    privileged = call.store.privileged(file, call.identity)
    return View(_evaluator(call, book), call.identity, privileged, mask, with_data)


def _mask(call: Call) -> Tree | None:
    text = call.request.first("fields")
    return response_mask(text, "sheets", call.method.response or "") if text else None


def get(call: Call) -> Answer:
    """`includeGridData` is ignored where a mask is given: then the mask decides."""
    file, book = open_file(call)
    mask = _mask(call)
    ranges = call.request.all("ranges")
    areas = [a1.resolve(book, text) for text in ranges] if ranges else None
    with_data = (
        "sheets" in mask and wants(mask, "sheets", "data") if mask else flag(call.request, "includeGridData")
    )
    return resource(_view(call, book, file, mask, with_data), areas)


def get_by_data_filter(call: Call) -> Answer:
    file, book = open_file(call)
    mask, filters = _mask(call), call.body.get("dataFilters", [])
    areas = [area for at, entry in enumerate(filters) for area in data_filters.filter_areas(book, entry, at)]
    with_data = wants(mask, "sheets", "data") if mask else call.body.get("includeGridData", False)
    return resource(_view(call, book, file, mask, with_data), areas if filters else None)


def create(call: Call) -> Answer:
    if _no_storage(call):
        raise forbidden()
    title = call.body.get("properties", {}).get("title") or "Untitled spreadsheet"
    file = new_file(call, title, SHEET, ([call.store.root_of(call.identity)], None))
    book = new_spreadsheet(file.file_id, title)
    edit = Editing(book, call.identity, True, call.today, call.world.random, call.world.formula_values)
    batch_update.create(edit, call.body)
    file.book, file.name = edit.book, edit.book.title
    call.store.add(file)
    return resource(_view(call, edit.book, file, None, False), None)


def _no_storage(call: Call) -> bool:
    try:
        check_storage(call, None)
    except ApiError:
        return True
    return False


def run_batch(call: Call) -> Answer:
    file, _ = open_file(call, WRITE)

    def work(edit: Editing) -> Answer:
        replies = batch_update.apply_requests(edit, call.body.get("requests", []))
        made: Answer = {"spreadsheetId": edit.book.spreadsheet_id, "replies": replies}
        if call.body.get("includeSpreadsheetInResponse"):
            ranges = call.body.get("responseRanges", [])
            areas = [a1.resolve(edit.book, text) for text in ranges] if ranges else None
            with_data = call.body.get("responseIncludeGridData", False)
            made["updatedSpreadsheet"] = resource(_view(call, edit.book, file, None, with_data), areas)
        return made

    return change(call, work)


def copy_to(call: Call) -> Answer:
    """Copy one tab into another spreadsheet."""
    _, book = open_file(call)
    source = book.sheet_by_id(int(call.parameters["sheetId"]))
    if source is None:
        raise plain_bad_request(f"The sheet (ID: {call.parameters['sheetId']}) doesn't exist")
    target, other = open_file(call, WRITE, call.body.get("destinationSpreadsheetId", "?"))
    edit = editing(call, target, other)
    title = f"Copy of {source.title}"
    try:
        check_title(edit.book, title)
        made = copy_sheet(edit, source, title, edit.new_id({sheet.sheet_id for sheet in other.sheets}))
        made.protected_ranges = []
        insert_sheet(edit, made, None)
    except Invalid as fault:
        raise plain_bad_request(str(fault)) from None
    keep(call, target, edit)
    return shown_properties(made)


def get_metadata(call: Call) -> Answer:
    _, book = open_file(call)
    found = data_filters.find_metadata(book, {"metadataId": int(call.parameters["metadataId"])})
    if not found:
        raise plain_bad_request(f"No developer metadata found with id: {call.parameters['metadataId']}")
    return data_filters.shown(found[0])


def search_metadata(call: Call) -> Answer:
    _, book = open_file(call)
    matched: list[Answer] = []
    for position, entry in enumerate(call.body.get("dataFilters", ())):
        found = data_filters.filter_metadata(book, entry, position)
        matched += [{"developerMetadata": data_filters.shown(one), "dataFilters": [entry]} for one in found]
    return {"matchedDeveloperMetadata": matched} if matched else {}


# --- values ------------------------------------------------------------------------------------


def _options(call: Call) -> Rendering:
    first = call.request.first
    return Rendering.of(first("valueRenderOption"), first("dateTimeRenderOption"), first("majorDimension"))


def values_get(call: Call) -> Answer:
    _, book = open_file(call)
    return get_values(book, _evaluator(call, book), call.parameters["range"], _options(call))


def values_batch_get(call: Call) -> Answer:
    _, book = open_file(call)
    run, options = _evaluator(call, book), _options(call)
    found = [get_values(book, run, text, options) for text in call.request.all("ranges")]
    return {"spreadsheetId": book.spreadsheet_id} | ({"valueRanges": found} if found else {})


def values_batch_get_by_filter(call: Call) -> Answer:
    _, book = open_file(call)
    body, run = call.body, _evaluator(call, book)
    options = Rendering.of(
        body.get("valueRenderOption"), body.get("dateTimeRenderOption"), body.get("majorDimension")
    )
    found: list[Answer] = []
    for position, entry in enumerate(body.get("dataFilters", ())):
        areas = data_filters.filter_areas(book, entry, position)
        found += [{"valueRange": read_area(run, area, options), "dataFilters": [entry]} for area in areas]
    return {"spreadsheetId": book.spreadsheet_id} | ({"valueRanges": found} if found else {})


def _echo(call: Call, from_body: bool = False) -> Rendering | None:
    """How the answer repeats what was written, if at all."""
    given = call.body.get if from_body else call.request.first
    wanted = (
        call.body.get("includeValuesInResponse", False)
        if from_body
        else flag(call.request, "includeValuesInResponse")
    )
    if not wanted:
        return None
    return Rendering.of(given("responseValueRenderOption"), given("responseDateTimeRenderOption"))


def values_update(call: Call) -> Answer:
    option = value_writing.require_option(call.request.first("valueInputOption"))
    echo = _echo(call)
    return change(
        call,
        lambda edit: value_writing.update_values(edit, call.parameters["range"], call.body, option, echo),
    )


def values_append(call: Call) -> Answer:
    option = value_writing.require_option(call.request.first("valueInputOption"))
    options, echo = (option, call.request.first("insertDataOption") or "OVERWRITE"), _echo(call)
    return change(
        call,
        lambda edit: value_writing.append_values(edit, call.parameters["range"], call.body, options, echo),
    )


def values_clear(call: Call) -> Answer:
    return change(
        call,
        lambda edit: {
            "spreadsheetId": edit.book.spreadsheet_id,
            "clearedRange": value_writing.clear_values(edit, call.parameters["range"]),
        },
    )


def values_batch_update(call: Call) -> Answer:
    option = value_writing.require_option(call.body.get("valueInputOption"))
    echo = _echo(call, from_body=True)

    def work(edit: Editing) -> Answer:
        def one(entry: Answer) -> Answer:
            return value_writing.update_values(
                edit, entry.get("range", ""), {**entry, "range": ""}, option, echo
            )

        data = call.body.get("data", [])
        made = [_in_part(lambda entry=entry: one(entry), f"data[{at}]") for at, entry in enumerate(data)]  # type: ignore[misc]
        return value_writing.totals(edit.book.spreadsheet_id, made)

    return change(call, work)


def values_batch_update_by_filter(call: Call) -> Answer:
    option = value_writing.require_option(call.body.get("valueInputOption"))
    echo = _echo(call, from_body=True)

    def work(edit: Editing) -> Answer:
        made = []
        for position, entry in enumerate(call.body.get("data", ())):
            area = data_filters.one_area(edit.book, entry.get("dataFilter", {}), position)
            made.append(
                value_writing.update_area(edit, area, entry, option, echo)
                | {"dataFilter": entry["dataFilter"]}
            )
        return value_writing.totals(edit.book.spreadsheet_id, made)

    return change(call, work)


def values_batch_clear(call: Call) -> Answer:
    def work(edit: Editing) -> Answer:
        cleared = [value_writing.clear_values(edit, text) for text in call.body.get("ranges", ())]
        return {"spreadsheetId": edit.book.spreadsheet_id} | ({"clearedRanges": cleared} if cleared else {})

    return change(call, work)


def values_batch_clear_by_filter(call: Call) -> Answer:
    def work(edit: Editing) -> Answer:
        filters = call.body.get("dataFilters", [])
        areas = [
            area
            for at, entry in enumerate(filters)
            for area in data_filters.filter_areas(edit.book, entry, at)
        ]
        cleared = [value_writing.clear_area(edit, area) for area in areas]
        return {"spreadsheetId": edit.book.spreadsheet_id} | ({"clearedRanges": cleared} if cleared else {})

    return change(call, work)


ENDPOINTS: dict[str, Callable[[Call], Answer]] = {
    "sheets.spreadsheets.get": get,
    "sheets.spreadsheets.getByDataFilter": get_by_data_filter,
    "sheets.spreadsheets.create": create,
    "sheets.spreadsheets.batchUpdate": run_batch,
    "sheets.spreadsheets.sheets.copyTo": copy_to,
    "sheets.spreadsheets.developerMetadata.get": get_metadata,
    "sheets.spreadsheets.developerMetadata.search": search_metadata,
    "sheets.spreadsheets.values.get": values_get,
    "sheets.spreadsheets.values.batchGet": values_batch_get,
    "sheets.spreadsheets.values.batchGetByDataFilter": values_batch_get_by_filter,
    "sheets.spreadsheets.values.update": values_update,
    "sheets.spreadsheets.values.append": values_append,
    "sheets.spreadsheets.values.clear": values_clear,
    "sheets.spreadsheets.values.batchUpdate": values_batch_update,
    "sheets.spreadsheets.values.batchUpdateByDataFilter": values_batch_update_by_filter,
    "sheets.spreadsheets.values.batchClear": values_batch_clear,
    "sheets.spreadsheets.values.batchClearByDataFilter": values_batch_clear_by_filter,
}
