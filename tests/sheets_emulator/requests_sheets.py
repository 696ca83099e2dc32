"""batchUpdate requests on the spreadsheet and its tabs."""

from __future__ import annotations

import zoneinfo
from typing import Any

from tests.sheets_emulator.defaults import COLUMNS, ROWS, new_sheet
from tests.sheets_emulator.dimensions import resize
from tests.sheets_emulator.editing import Editing, Handler
from tests.sheets_emulator.errors import Invalid
from tests.sheets_emulator.field_masks import apply_mask, update_mask
from tests.sheets_emulator.grid_data import shown_properties
from tests.sheets_emulator.protection import check_structure
from tests.sheets_emulator.state import Sheet, Spreadsheet


def check_title(book: Spreadsheet, title: str, own: int | None = None) -> None:
    """Titles are unique whatever the case, not empty, at most 100 characters."""
    if not title or len(title) > 100:
        raise Invalid("A sheet name must have between 1 and 100 characters.")
    for sheet in book.sheets:
        if sheet.sheet_id != own and sheet.title.casefold() == title.casefold():
            raise Invalid(f'A sheet with the name "{title}" already exists. Please enter another name.')


def _free_title(book: Spreadsheet) -> str:
    taken = {sheet.title.casefold() for sheet in book.sheets}
    number = len(book.sheets) + 1
    while f"sheet{number}" in taken:
        number += 1
    return f"Sheet{number}"


def _new_sheet_id(edit: Editing, given: int | None) -> int:
    taken = {sheet.sheet_id for sheet in edit.book.sheets}
    if given is None:
        return edit.new_id(taken)
    if given in taken:
        raise Invalid(f"A sheet with id {given} already exists.")
    if given < 0:
        raise Invalid(f"Sheet id {given} must not be negative.")
    return given


def make_sheet(edit: Editing, properties: dict[str, Any]) -> Sheet:
    """A tab from SheetProperties, checked, not yet in the book."""
    title = properties.get("title") or _free_title(edit.book)
    check_title(edit.book, title)
    if properties.get("sheetType", "GRID") != "GRID":
        raise Invalid(f"Cannot add a sheet of type {properties['sheetType']}.")
    grid = {"rowCount": ROWS, "columnCount": COLUMNS, **properties.get("gridProperties", {})}
    sheet = new_sheet(_new_sheet_id(edit, properties.get("sheetId")), title, len(edit.book.sheets))
    kept = {
        key: properties[key]
        for key in ("hidden", "rightToLeft", "tabColor", "tabColorStyle")
        if key in properties
    }
    sheet.properties = {**sheet.properties, "gridProperties": {k: v for k, v in grid.items() if v}}
    sheet.properties |= {key: held for key, held in kept.items() if held}
    check_frozen(sheet)
    return sheet


def check_frozen(sheet: Sheet) -> None:
    grid = sheet.grid
    if grid.get("frozenRowCount", 0) >= sheet.row_count and sheet.row_count > 1:
        raise Invalid("You can't freeze all visible rows on the sheet.")
    if grid.get("frozenColumnCount", 0) >= sheet.column_count and sheet.column_count > 1:
        raise Invalid("You can't freeze all visible columns on the sheet.")


def insert_sheet(edit: Editing, sheet: Sheet, index: int | None) -> None:
    place = len(edit.book.sheets) if index is None else index
    if not 0 <= place <= len(edit.book.sheets):
        raise Invalid(f"Sheet index {place} is out of range.")
    edit.book.sheets.insert(place, sheet)
    edit.book.number_sheets()
    edit.book.check_size()


def add_sheet(edit: Editing, request: dict[str, Any]) -> dict[str, Any]:
    properties = request.get("properties", {})
    sheet = make_sheet(edit, properties)
    insert_sheet(edit, sheet, properties.get("index"))
    return {"properties": shown_properties(sheet)}


def delete_sheet(edit: Editing, request: dict[str, Any]) -> None:
    sheet = edit.book.require_sheet(request.get("sheetId", 0), "sheet")
    check_structure(edit, sheet, any_range=True)
    if len(edit.book.sheets) == 1:
        raise Invalid("You can't remove all the sheets in a document.")
    edit.book.sheets.remove(sheet)
    _check_visible(edit.book)
    edit.book.number_sheets()
    gone = sheet.sheet_id
    edit.book.named_ranges = [e for e in edit.book.named_ranges if int(e["range"].get("sheetId", 0)) != gone]
    edit.book.developer_metadata = [
        e for e in edit.book.developer_metadata if _sheet_of(e["location"]) != gone
    ]


def _sheet_of(location: dict[str, Any]) -> int | None:
    if location.get("spreadsheet"):
        return None
    return int(location.get("dimensionRange", location).get("sheetId", 0))


def _check_visible(book: Spreadsheet) -> None:
    if all(sheet.properties.get("hidden") for sheet in book.sheets):
        raise Invalid("You can't hide all the sheets in a document.")


RANGES = ("range", "ranges", "unprotectedRanges", "sources", "anchorCell")


def with_sheet_id(value: Any, sheet_id: int, *, ranged: bool = False) -> Any:
    """A copy of a stored object whose ranges lie on another sheet (0 is left out)."""
    if isinstance(value, list):
        return [with_sheet_id(item, sheet_id, ranged=ranged) for item in value]
    if not isinstance(value, dict):
        return value
    made = {
        key: with_sheet_id(item, sheet_id, ranged=key in RANGES)
        for key, item in value.items()
        if key != "sheetId"
    }
    here = ranged or "sheetId" in value or "startRowIndex" in value
    return {"sheetId": sheet_id, **made} if sheet_id and here else made


def copy_sheet(edit: Editing, source: Sheet, title: str, sheet_id: int) -> Sheet:
    """A tab with the same content and new ids; protections are not copied to another file."""
    made = source.clone()
    made.properties = {**source.properties, "title": title, "sheetId": sheet_id}
    for name in (
        "merges",
        "conditional_formats",
        "banded_ranges",
        "protected_ranges",
        "charts",
        "filter_views",
    ):
        setattr(made, name, with_sheet_id(getattr(source, name), sheet_id))
    for name, key in (("protected_ranges", "protectedRangeId"), ("banded_ranges", "bandedRangeId"),
                      ("charts", "chartId"), ("filter_views", "filterViewId")):  # fmt: skip
        setattr(made, name, [{**entry, key: edit.new_id(set())} for entry in getattr(made, name)])
    if made.basic_filter:
        made.basic_filter = with_sheet_id(made.basic_filter, sheet_id)
    return made


def duplicate_sheet(edit: Editing, request: dict[str, Any]) -> dict[str, Any]:
    source = edit.book.require_sheet(request.get("sourceSheetId", 0), "sheet")
    title = request.get("newSheetName") or _copy_title(edit.book, source.title)
    check_title(edit.book, title)
    made = copy_sheet(edit, source, title, _new_sheet_id(edit, request.get("newSheetId")))
    insert_sheet(edit, made, request.get("insertSheetIndex", 0))
    return {"properties": shown_properties(made)}


def _copy_title(book: Spreadsheet, title: str) -> str:
    made, number = f"Copy of {title}", 1
    while book.sheet_by_title(made):
        number += 1
        made = f"Copy of {title} {number}"
    return made


def update_sheet_properties(edit: Editing, request: dict[str, Any]) -> None:
    given = request.get("properties", {})
    mask = update_mask(request.get("fields"), "SheetProperties")
    sheet = edit.book.require_sheet(given.get("sheetId", 0), "sheet")
    check_structure(edit, sheet)
    changed = apply_mask(
        sheet.properties, given, {key: below for key, below in mask.items() if key != "sheetId"}
    )
    if "*" in mask:
        changed = {**sheet.properties, **given}
    if "title" in mask or "*" in mask:
        check_title(edit.book, changed.get("title", ""), sheet.sheet_id)
    grid = {**changed.get("gridProperties", {})}
    old_rows, old_columns = sheet.row_count, sheet.column_count
    changed |= {"sheetId": sheet.sheet_id, "sheetType": "GRID", "index": sheet.properties["index"]}
    kept = {"rowCount": old_rows, "columnCount": old_columns}
    rest = {key: held for key, held in grid.items() if held and key not in kept}
    sheet.properties = {
        k: v for k, v in {**changed, "gridProperties": {**kept, **rest}}.items() if v is not False
    }
    if "gridProperties" in mask or "*" in mask:
        _resize(edit, sheet, grid)
    if "index" in mask or ("*" in mask and "index" in given):
        _move(edit.book, sheet, given.get("index", 0))
    _check_visible(edit.book)
    check_frozen(sheet)


def _resize(edit: Editing, sheet: Sheet, grid: dict[str, Any]) -> None:
    """Rows before columns, as Google checks them."""
    if grid.get("rowCount", 0) != sheet.row_count:
        resize(edit, sheet, "ROWS", grid.get("rowCount", 0))
    if grid.get("columnCount", 0) != sheet.column_count:
        resize(edit, sheet, "COLUMNS", grid.get("columnCount", 0))


def _move(book: Spreadsheet, sheet: Sheet, index: int) -> None:
    """Move a tab; the index counts before the move."""
    if not 0 <= index <= len(book.sheets):
        raise Invalid(f"Sheet index {index} is out of range.")
    old = book.sheets.index(sheet)
    book.sheets.remove(sheet)
    book.sheets.insert(index - 1 if index > old else index, sheet)
    book.number_sheets()


def update_spreadsheet_properties(edit: Editing, request: dict[str, Any]) -> None:
    mask = update_mask(request.get("fields"), "SpreadsheetProperties")
    if "defaultFormat" in mask:
        raise Invalid("Field 'defaultFormat' is read-only.")
    old = edit.book.properties
    changed = (
        {**old, **request["properties"]}
        if "*" in mask
        else apply_mask(old, request.get("properties", {}), mask)
    )
    check_book_properties(changed)
    edit.book.properties = changed


def check_book_properties(properties: dict[str, Any]) -> None:
    """Title, locale and time zone must be possible ones."""
    if not properties.get("title"):
        raise Invalid("Spreadsheet title must not be empty.")
    locale, zone = str(properties.get("locale", "")), str(properties.get("timeZone", ""))
    language, _, region = locale.partition("_")
    if not (2 <= len(language) <= 3 and language.islower() and (not region or region.isupper())):
        raise Invalid(f"Unsupported locale: {locale}")
    if not _is_zone(zone):
        raise Invalid(f"Invalid time zone: {zone}")


def _is_zone(name: str) -> bool:
    try:
        zoneinfo.ZoneInfo(name)
    except (ValueError, zoneinfo.ZoneInfoNotFoundError, OSError):
        return False
    return True


HANDLERS: dict[str, Handler] = {
    "addSheet": add_sheet,
    "deleteSheet": delete_sheet,
    "duplicateSheet": duplicate_sheet,
    "updateSheetProperties": update_sheet_properties,
    "updateSpreadsheetProperties": update_spreadsheet_properties,
}
