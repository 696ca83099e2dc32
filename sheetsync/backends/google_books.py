"""Spreadsheets as the Sheets API has them: looking inside, drawing, typing. Every write is safe to repeat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from gspread.urls import SPREADSHEET_BATCH_UPDATE_URL, SPREADSHEET_URL

from sheetsync.backends.google_errors import AGAIN, GoogleError, UnansweredError
from sheetsync.backends.google_formats import Json
from sheetsync.backends.google_http import GoogleClient
from sheetsync.backends.google_present import (
    PRESENT_FIELDS,
    READ_AND_PRESENT_FIELDS,
    Present,
    match_tabs,
    present_in,
)
from sheetsync.backends.google_read import PROPERTIES, confirm_replies, parse_spreadsheet, rows_of
from sheetsync.backends.google_requests import draw_requests, split_requests
from sheetsync.domain.workbook import Grid, Reading, WorkbookSpec
from sheetsync.errors import BackendError

_ATTEMPTS = 6
_WRITTEN = "data(startRow,startColumn,rowData(values(userEnteredValue)))"
_ECHO_FIELDS = f"replies,updatedSpreadsheet({PRESENT_FIELDS.removesuffix(')')},{_WRITTEN}))"
"""What a batchUpdate answers when it is to show what stands there afterwards: saves the read of the next one."""

Typed = str | int | float | bool | None


class HalfWrittenError(UnansweredError):
    """Google took a write and reported less than was sent."""


class Spreadsheets:
    """The Sheets part of the API, by ids of files."""

    def __init__(self, client: GoogleClient) -> None:
        self.client = client

    def inside(self, file_id: str, fields: str = READ_AND_PRESENT_FIELDS) -> Json:
        """Return every tab of a spreadsheet, whatever it is called now: one read."""
        return self.client.call("get", SPREADSHEET_URL % file_id, {"fields": fields})

    def draw(
        self, file_id: str, spec: WorkbookSpec, present: Present, editors: Sequence[str], *, is_new: bool
    ) -> Json:
        """Turn a spreadsheet into `spec`, and return what stands there afterwards (nothing where one call made it).

        One batchUpdate, more only where it would be larger than 2 MB. After a call without an answer it is looked
        what stands there: a new workbook that has its marker is finished, everything else is drawn over.

        Raises:
            BackendError: it cannot be drawn, or Google refused.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return self._send(file_id, _payloads(spec, present, editors), is_new=is_new)
            except GoogleError as error:
                # A 400 after a lost answer: what was lost came through in the meantime.
                can_go_on = isinstance(error, UnansweredError) or (attempt > 1 and error.status == 400)
                if not can_go_on or attempt == _ATTEMPTS:
                    raise
                is_whole = not isinstance(error, HalfWrittenError)
            self.client.tempo.sleep(self.client.tempo.backoff(attempt))
            found = self.inside(file_id)
            if is_new and is_whole and spec.marker and parse_spreadsheet(found).marker == spec.marker:
                return found
            present = present_in(found)
        raise AssertionError("the last attempt returns or raises")

    def _send(self, file_id: str, payloads: Sequence[Sequence[Json]], *, is_new: bool) -> Json:
        shows = not is_new or len(payloads) > 1
        found: Json = {}
        for requests in payloads:
            body: Json = {"requests": list(requests)}
            if shows:
                body |= {"includeSpreadsheetInResponse": True, "responseIncludeGridData": True}
            asked = {"fields": _ECHO_FIELDS} if shows else None
            url = SPREADSHEET_BATCH_UPDATE_URL % file_id
            answer = self.client.call("post", url, asked, body, repeat=False)
            found = answer.get("updatedSpreadsheet", {})
            _confirm(requests, answer, found)
        return found

    def enter(self, file_id: str, title: str, cells: Mapping[tuple[int, int], Typed]) -> None:
        """Type values into the tab of that title, which grows where needed.

        Raises:
            BackendError: there is no such tab, or Google refused.
        """
        found = self.inside(file_id, f"sheets({PROPERTIES})").get("sheets", ())
        wanted = title.strip().casefold()
        tabs = (sheet["properties"] for sheet in found)
        tab = next((each for each in tabs if str(each.get("title", "")).strip().casefold() == wanted), None)
        if tab is None:
            raise BackendError(f"The spreadsheet has no tab {title!r}.", "Check the tab's title.")
        for requests in split_requests([*_grown(tab, cells), *_entered(tab.get("sheetId", 0), cells)]):
            url = SPREADSHEET_BATCH_UPDATE_URL % file_id
            confirm_replies(requests, self.client.call("post", url, None, {"requests": requests}))


def _payloads(spec: WorkbookSpec, present: Present, editors: Sequence[str]) -> list[list[Json]]:
    try:
        return split_requests(draw_requests(spec, present, editors=editors))
    except ValueError as error:
        raise BackendError(
            f"{spec.title} cannot be drawn: {error}.", "Correct the text in the study's files."
        ) from error


def _confirm(requests: Sequence[Json], answer: Json, found: Json) -> None:
    """Check that everything arrived."""
    try:
        confirm_replies(requests, answer)
    except BackendError as error:
        raise HalfWrittenError(error.message, error.remedy) from None
    lacking = cells_missing(requests, found) if found else 0
    if lacking:
        raise HalfWrittenError(f"Google left out {lacking} cells of what was written.", AGAIN)


def cells_missing(requests: Sequence[Json], found: Json) -> int:
    """Count the cells that were written with a value and are blank in what stands there afterwards."""
    filled = {
        (sheet["properties"].get("sheetId", 0), row, column)
        for sheet in found.get("sheets", ())
        for row, column in _filled(sheet)
    }
    return sum(place not in filled for request in requests for place in _written(request))


def _filled(sheet: Json) -> Iterator[tuple[int, int]]:
    for block in sheet.get("data", ()):
        top, left = block.get("startRow", 0), block.get("startColumn", 0)
        for row, line in enumerate(block.get("rowData", ()), start=top):
            for column, cell in enumerate(line.get("values", ()), start=left):
                if cell.get("userEnteredValue"):
                    yield row, column


def _written(request: Json) -> Iterator[tuple[int, int, int]]:
    write = request.get("updateCells", {})
    start = write.get("start", {})
    for row, line in enumerate(write.get("rows", ()), start=start.get("rowIndex", 0)):
        for column, cell in enumerate(line.get("values", ()), start=start.get("columnIndex", 0)):
            if cell.get("userEnteredValue"):
                yield start.get("sheetId", 0), row, column


# --- what is ours of a spreadsheet ---------------------------------------------------------------


def owned_reading(found: Json, titles: Sequence[str]) -> Reading:
    """Return the tabs of ours under the titles they were drawn with, whatever they are called now.

    `titles` are those that will be drawn next; tabs with a mark of ours are ours too. The others stay in any case.
    """
    present = present_in(found)
    names = {tab.sheet_id: tab.mark for tab in present.tabs if tab.mark}
    names |= {tab.sheet_id: title for title, tab in match_tabs(titles, present).items()}
    grids = (
        Grid(names[sheet_id], rows_of(sheet))
        for sheet in found.get("sheets", ())
        if (sheet_id := sheet["properties"].get("sheetId", 0)) in names
    )
    hidden = {grid.title for grid in parse_spreadsheet(found).tabs}
    return Reading(tuple(grid for grid in grids if grid.title in titles or grid.title in hidden))


def foreign_content(found: Json) -> str:
    """Return the title of a tab that holds something and has no mark of ours, empty where there is none."""
    marked = {tab.sheet_id for tab in present_in(found).tabs if tab.mark}
    for sheet in found.get("sheets", ()):
        properties = sheet["properties"]
        if properties.get("sheetId", 0) not in marked and rows_of(sheet):
            return str(properties.get("title", ""))
    return ""


# --- typing --------------------------------------------------------------------------------------


def _grown(tab: Json, cells: Mapping[tuple[int, int], Typed]) -> Iterator[Json]:
    grid = tab.get("gridProperties", {})
    rows = max([grid.get("rowCount", 0), *(row + 1 for row, _ in cells)])
    columns = max([grid.get("columnCount", 0), *(column + 1 for _, column in cells)])
    if (rows, columns) != (grid.get("rowCount", 0), grid.get("columnCount", 0)):
        size = {"rowCount": rows, "columnCount": columns}
        properties = {"sheetId": tab.get("sheetId", 0), "gridProperties": size}
        fields = "gridProperties(rowCount,columnCount)"
        yield {"updateSheetProperties": {"properties": properties, "fields": fields}}


def _entered(sheet_id: int, cells: Mapping[tuple[int, int], Typed]) -> Iterator[Json]:
    """Write neighbours in a row together."""
    places = enumerate(sorted(cells))
    for (row, _), run in groupby(places, lambda each: (each[1][0], each[1][1] - each[0])):
        columns = [column for _, (_, column) in run]
        values = [_as_typed(cells[row, column]) for column in columns]
        start = {"sheetId": sheet_id, "rowIndex": row, "columnIndex": columns[0]}
        yield {"updateCells": {"start": start, "rows": [{"values": values}], "fields": "userEnteredValue"}}


def _as_typed(value: Typed) -> Json:
    """Return a value as the keyboard gives it, but that a text stays the text it is."""
    if value is None or value == "":
        return {}
    if isinstance(value, bool):
        return {"userEnteredValue": {"boolValue": value}}
    if isinstance(value, int | float):
        return {"userEnteredValue": {"numberValue": value}}
    kind = "formulaValue" if value.startswith("=") and len(value) > 1 else "stringValue"
    return {"userEnteredValue": {kind: value}}
