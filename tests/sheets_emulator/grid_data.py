"""spreadsheets.get and getByDataFilter: the spreadsheet as a resource, with grid data where asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.sheets_emulator import data_filters, protection
from tests.sheets_emulator.defaults import COLUMN_PIXELS, DEFAULT_FORMAT, ROW_PIXELS
from tests.sheets_emulator.field_masks import Tree, wants
from tests.sheets_emulator.formulas import Evaluator
from tests.sheets_emulator.rendering import formatted
from tests.sheets_emulator.state import Area, Cell, Sheet, Spreadsheet
from tests.sheets_emulator.value_reading import number_format

STORED = ("userEnteredValue", "userEnteredFormat", "note", "dataValidation", "textFormatRuns", "chipRuns")
SHEET_LISTS = {
    "merges": "merges",
    "conditionalFormats": "conditional_formats",
    "filterViews": "filter_views",
    "charts": "charts",
    "bandedRanges": "banded_ranges",
    "rowGroups": "row_groups",
    "columnGroups": "column_groups",
    "slicers": "slicers",
    "tables": "tables",
}
DATA = ("sheets", "data")
CELLS = (*DATA, "rowData", "values")


@dataclass(frozen=True)
class View:
    """Who looks, and what for."""

    run: Evaluator
    identity: str
    privileged: bool
    mask: Tree | None
    with_data: bool


def effective_format(cell: Cell) -> dict[str, Any]:
    """The default look, changed by what was set."""
    entered = cell.get("userEnteredFormat", {})
    made = {**DEFAULT_FORMAT, "hyperlinkDisplayType": "PLAIN_TEXT", **entered}
    if "textFormat" in entered:
        made["textFormat"] = {**DEFAULT_FORMAT["textFormat"], **entered["textFormat"]}
    return made


def cell_data(view: View, sheet: Sheet, row: int, column: int) -> dict[str, Any]:
    """One CellData; costly parts only where the mask asks for them."""
    cell = sheet.get(row, column)
    made = {key: cell[key] for key in STORED if key in cell}
    if not cell:
        return made
    if "userEnteredValue" in cell and (
        wants(view.mask, *CELLS, "effectiveValue") or wants(view.mask, *CELLS, "formattedValue")
    ):
        effective = view.run.effective(sheet, row, column)
        if effective:
            made["effectiveValue"] = effective
            made["formattedValue"] = formatted(effective, number_format(cell), view.run.book.locale)
    if wants(view.mask, *CELLS, "effectiveFormat"):
        made["effectiveFormat"] = effective_format(cell)
    return made


def _row_data(view: View, sheet: Sheet, area: Area) -> list[dict[str, Any]]:
    last = max((row for row in sheet.rows if area.top <= row < area.bottom), default=-1)
    found: list[dict[str, Any]] = []
    for row in range(area.top, last + 1):
        line = sheet.rows.get(row, {})
        edge = max((column for column in line if area.left <= column < area.right), default=-1)
        values = [cell_data(view, sheet, row, column) for column in range(area.left, edge + 1)]
        found.append({"values": values} if values else {})
    while found and not found[-1]:
        found.pop()
    return found


def _metadata(
    book: Spreadsheet, sheet: Sheet, dimension: str, span: tuple[int, int], sizes: dict[int, dict[str, Any]]
) -> list[dict[str, Any]]:
    default = ROW_PIXELS if dimension == "ROWS" else COLUMN_PIXELS
    made = [{"pixelSize": default, **sizes.get(index, {})} for index in range(*span)]
    for entry in book.developer_metadata:
        given = entry["location"].get("dimensionRange", {})
        here = given.get("dimension") == dimension and int(given.get("sheetId", 0)) == sheet.sheet_id
        if here and span[0] <= given["startIndex"] < span[1]:
            item = made[given["startIndex"] - span[0]]
            item["developerMetadata"] = [*item.get("developerMetadata", ()), data_filters.shown(entry)]
    return made


def _grid_data(view: View, sheet: Sheet, area: Area) -> dict[str, Any]:
    made: dict[str, Any] = {}
    book = view.run.book
    if area.top:
        made["startRow"] = area.top
    if area.left:
        made["startColumn"] = area.left
    if wants(view.mask, *DATA, "rowData"):
        rows = _row_data(view, sheet, area)
        if rows:
            made["rowData"] = rows
    if wants(view.mask, *DATA, "rowMetadata"):
        made["rowMetadata"] = _metadata(book, sheet, "ROWS", (area.top, area.bottom), sheet.row_metadata)
    if wants(view.mask, *DATA, "columnMetadata"):
        made["columnMetadata"] = _metadata(
            book, sheet, "COLUMNS", (area.left, area.right), sheet.column_metadata
        )
    return made


def _sheet_metadata(book: Spreadsheet, sheet: Sheet) -> list[dict[str, Any]]:
    return [
        data_filters.shown(entry)
        for entry in book.developer_metadata
        if data_filters.location_type(entry["location"]) == "SHEET"
        and int(entry["location"].get("sheetId", 0)) == sheet.sheet_id
    ]


def sheet_resource(view: View, sheet: Sheet, areas: Iterable[Area]) -> dict[str, Any]:
    """One Sheet; empty lists are left out."""
    made: dict[str, Any] = {"properties": shown_properties(sheet)}
    if view.with_data:
        made["data"] = [_grid_data(view, sheet, area) for area in areas]
    for name, attribute in SHEET_LISTS.items():
        if getattr(sheet, attribute):
            made[name] = list(getattr(sheet, attribute))
    if sheet.protected_ranges:
        made["protectedRanges"] = [
            protection.shown(entry, view.identity, view.privileged) for entry in sheet.protected_ranges
        ]
    if sheet.basic_filter:
        made["basicFilter"] = sheet.basic_filter
    metadata = _sheet_metadata(view.run.book, sheet)
    return made | ({"developerMetadata": metadata} if metadata else {})


def shown_properties(sheet: Sheet) -> dict[str, Any]:
    """SheetProperties without false and empty fields."""
    return {key: held for key, held in sheet.properties.items() if held is not False and held != {}}


def resource(view: View, areas: list[Area] | None) -> dict[str, Any]:
    """The Spreadsheet: whole, or only the sheets and cells that `areas` name."""
    book = view.run.book
    sheets = []
    for sheet in book.sheets:
        own = [sheet.area] if areas is None else [area for area in areas if area.sheet_id == sheet.sheet_id]
        if own:
            sheets.append(sheet_resource(view, sheet, own))
    made: dict[str, Any] = {
        "spreadsheetId": book.spreadsheet_id,
        "properties": book.properties,
        "sheets": sheets,
        "spreadsheetUrl": f"https://docs.google.com/spreadsheets/d/{book.spreadsheet_id}/edit",
    }
    if book.named_ranges:
        made["namedRanges"] = list(book.named_ranges)
    found = [
        data_filters.shown(entry) for entry in book.developer_metadata if entry["location"].get("spreadsheet")
    ]
    return made | ({"developerMetadata": found} if found else {})
