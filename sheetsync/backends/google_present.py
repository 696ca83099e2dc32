"""Answers of the Sheets API -> `Present`: what a rewrite finds in a spreadsheet, and what of it is ours.

Ids of tabs, charts and filter views follow from titles, so nothing has to be asked or remembered.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sheetsync.backends.google_read import (
    CELLS,
    LISTS_TAB,
    MARKER_KEY,
    MARKS,
    PROPERTIES,
    TAB_KEY,
    mark_of,
    rows_of,
)

OUR_PROTECTION = "sheetsync"
"""Start of the description of protections of ours."""

_OBJECTS = (
    "merges,protectedRanges(protectedRangeId,description,range),conditionalFormats(ranges),"
    "charts(chartId),filterViews(filterViewId),basicFilter(range)"
)
_NAMES = "namedRanges(namedRangeId,name,range)"

PRESENT_FIELDS = f"spreadsheetId,{MARKS},{_NAMES},sheets({PROPERTIES},{MARKS},{_OBJECTS})"
"""What `present_in` needs of spreadsheets.get or getByDataFilter."""

READ_AND_PRESENT_FIELDS = f"spreadsheetId,{MARKS},{_NAMES},sheets({PROPERTIES},{MARKS},{_OBJECTS},{CELLS})"
"""For `present_in` and `parse_spreadsheet` in one read; only so an initial tab is known to be blank."""

Json = Mapping[str, Any]


@dataclass(frozen=True)
class PresentTab:
    """A tab as it stands, and what lies over its cells.

    Attributes:
        sheet_id: stays through renaming and moving.
        title: as it is now.
        mark: the title it was drawn under, if it is one of ours.
        protections: ids of whole-sheet protections and of others of ours.
        format_rules: how many conditional formats there are.
        charts, filter_views: ids.
        has_merges, has_filter: whether there is any.
        is_blank: known to hold nothing; such a tab gives way.
    """

    sheet_id: int
    title: str
    mark: str = ""
    protections: tuple[int, ...] = ()
    format_rules: int = 0
    charts: tuple[int, ...] = ()
    filter_views: tuple[int, ...] = ()
    has_merges: bool = False
    has_filter: bool = False
    is_blank: bool = False


@dataclass(frozen=True)
class Present:
    """A spreadsheet as it stands.

    Attributes:
        tabs: in order.
        named_ranges: id and sheet id by name.
        marks: ids of the developer metadata that holds the marker.
    """

    tabs: tuple[PresentTab, ...]
    named_ranges: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    marks: tuple[int, ...] = ()


NEW_FILE = Present((PresentTab(0, "Sheet1", is_blank=True),))
"""What Drive's files.create makes: one blank tab, named in the language of the account."""


def present_in(answer: Json) -> Present:
    """Read a spreadsheet that was got with `PRESENT_FIELDS` or `READ_AND_PRESENT_FIELDS`."""
    sheets = answer.get("sheets", ())
    names = {
        entry["name"]: (entry["namedRangeId"], entry.get("range", {}).get("sheetId", 0))
        for entry in answer.get("namedRanges", ())
    }
    marks = (m for m in answer.get("developerMetadata", ()) if m.get("metadataKey") == MARKER_KEY)
    tabs = tuple(_present_tab(sheet, alone=len(sheets) == 1) for sheet in sheets)
    return Present(tabs, names, tuple(mark["metadataId"] for mark in marks))


def _present_tab(sheet: Json, *, alone: bool) -> PresentTab:
    properties = sheet["properties"]
    objects = ("protectedRanges", "conditionalFormats", "charts", "developerMetadata")
    is_blank = alone and "data" in sheet and not any(sheet.get(name) for name in objects)
    return PresentTab(
        sheet_id=properties.get("sheetId", 0),
        title=properties.get("title", ""),
        mark=mark_of(sheet, TAB_KEY),
        protections=tuple(p["protectedRangeId"] for p in sheet.get("protectedRanges", ()) if _is_ours(p)),
        format_rules=len(sheet.get("conditionalFormats", ())),
        charts=tuple(chart["chartId"] for chart in sheet.get("charts", ())),
        filter_views=tuple(view["filterViewId"] for view in sheet.get("filterViews", ())),
        has_merges=bool(sheet.get("merges")),
        has_filter="basicFilter" in sheet,
        is_blank=is_blank and not rows_of(sheet),
    )


def _is_ours(protection: Json) -> bool:
    is_whole_sheet = "namedRangeId" not in protection and not set(protection.get("range", ())) - {"sheetId"}
    return is_whole_sheet or str(protection.get("description", "")).startswith(OUR_PROTECTION)


# --- what of it is ours --------------------------------------------------------------------------


def tab_id(title: str) -> int:
    """Return the id of a tab: 1 to 2^31 - 1, always the same for a title.

    >>> tab_id("Scoring"), tab_id("Scoring") == tab_id("scoring")
    (1684946760, False)
    """
    return object_id("tab", title)


def object_id(*parts: object) -> int:
    """Return an id that is always the same for the same parts, in the range of `tab_id`."""
    digest = hashlib.sha256("\0".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "big") % (2**31 - 1) + 1


_SIGNS: Sequence[Callable[[str, PresentTab], bool]] = (
    lambda title, tab: tab.sheet_id == tab_id(title),
    lambda title, tab: tab.mark == title == tab.title,
    lambda title, tab: tab.mark == title,
    lambda title, tab: tab.title.casefold() == title.casefold() != LISTS_TAB.casefold(),
)
"""What makes a tab ours, the surest first; a tab that is merely called as the hidden one is not."""


def match_tabs(titles: Sequence[str], present: Present) -> dict[str, PresentTab]:
    """Return which present tab is which of these; none is taken twice."""
    found: dict[str, PresentTab] = {}
    left = list(present.tabs)
    for sign in _SIGNS:
        for title in titles:
            tab = next((tab for tab in left if title not in found and sign(title, tab)), None)
            if tab is not None:
                found[title] = tab
                left.remove(tab)
    return found
