"""DataFilters: a GridRange, an A1 range, or a lookup of developer metadata."""

from __future__ import annotations

from typing import Any

from tests.sheets_emulator import a1
from tests.sheets_emulator.dimensions import span_area
from tests.sheets_emulator.errors import Invalid, plain_bad_request
from tests.sheets_emulator.protection import clipped_area
from tests.sheets_emulator.state import Area, Spreadsheet


def location_type(location: dict[str, Any]) -> str:
    if "dimensionRange" in location:
        return "ROW" if location["dimensionRange"]["dimension"] == "ROWS" else "COLUMN"
    return "SPREADSHEET" if location.get("spreadsheet") else "SHEET"


def shown(entry: dict[str, Any]) -> dict[str, Any]:
    """Developer metadata as answers show it."""
    location = {**entry["location"], "locationType": location_type(entry["location"])}
    if location["locationType"] == "SHEET" and not location.get("sheetId"):
        location.pop("sheetId", None)
        location["sheetId"] = 0
    return {**entry, "location": location}


def location_areas(book: Spreadsheet, location: dict[str, Any]) -> list[Area]:
    """The cells that a metadata location stands for."""
    kind = location_type(location)
    if kind == "SPREADSHEET":
        return [sheet.area for sheet in book.sheets]
    if kind == "SHEET":
        sheet = book.sheet_by_id(int(location.get("sheetId", 0)))
        return [sheet.area] if sheet else []
    given = location["dimensionRange"]
    sheet = book.sheet_by_id(int(given.get("sheetId", 0)))
    return [span_area(sheet, given["dimension"], given["startIndex"], given["endIndex"])] if sheet else []


def matches(book: Spreadsheet, entry: dict[str, Any], lookup: dict[str, Any]) -> bool:
    """Whether developer metadata fits a lookup: every field given must agree."""
    for key in ("metadataId", "metadataKey", "metadataValue", "visibility"):
        if key in lookup and entry.get(key) != lookup[key]:
            return False
    if "locationType" in lookup and location_type(entry["location"]) != lookup["locationType"]:
        return False
    if "metadataLocation" in lookup:
        return _located(book, entry, lookup)
    return True


def _located(book: Spreadsheet, entry: dict[str, Any], lookup: dict[str, Any]) -> bool:
    wanted, own = lookup["metadataLocation"], entry["location"]
    if lookup.get("locationMatchingStrategy") == "INTERSECTING_LOCATION":
        return any(a.overlaps(b) for a in location_areas(book, own) for b in location_areas(book, wanted))
    same_kind = location_type(own) == location_type(wanted)
    return same_kind and location_areas(book, own) == location_areas(book, wanted)


def find_metadata(book: Spreadsheet, lookup: dict[str, Any]) -> list[dict[str, Any]]:
    return [entry for entry in book.developer_metadata if matches(book, entry, lookup)]


def filter_areas(book: Spreadsheet, data_filter: dict[str, Any], position: int) -> list[Area]:
    """The areas a filter selects; none where a metadata lookup finds nothing."""
    if "a1Range" in data_filter:
        return [a1.resolve(book, data_filter["a1Range"])]
    if "gridRange" in data_filter:
        given = data_filter["gridRange"]
        if book.sheet_by_id(int(given.get("sheetId", 0))) is None:
            raise plain_bad_request(
                f"Invalid dataFilters[{position}]: No grid with id: {given.get('sheetId', 0)}"
            )
        area = clipped_area(book, given)
        if area is None:
            raise plain_bad_request(f"Invalid dataFilters[{position}]: gridRange exceeds grid limits.")
        return [area]
    lookup = data_filter.get("developerMetadataLookup")
    if lookup is None:
        raise plain_bad_request(f"Invalid dataFilters[{position}]: Must specify a filter.")
    return [area for entry in find_metadata(book, lookup) for area in location_areas(book, entry["location"])]


def filter_metadata(book: Spreadsheet, data_filter: dict[str, Any], position: int) -> list[dict[str, Any]]:
    """developerMetadata.search: what a filter finds."""
    if "developerMetadataLookup" in data_filter:
        return find_metadata(book, data_filter["developerMetadataLookup"])
    areas = filter_areas(book, data_filter, position)
    return [
        entry
        for entry in book.developer_metadata
        if any(own.overlaps(area) for own in location_areas(book, entry["location"]) for area in areas)
    ]


def one_area(book: Spreadsheet, data_filter: dict[str, Any], position: int) -> Area:
    """The single area that a write by filter needs."""
    areas = filter_areas(book, data_filter, position)
    if len(areas) != 1:
        raise Invalid(f"Data filter {position} matches {len(areas)} ranges.")
    return areas[0]
