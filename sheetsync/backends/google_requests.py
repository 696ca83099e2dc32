"""`WorkbookSpec` -> one list of batchUpdate requests that turns a spreadsheet into it.

Terminology:

OUR TAB
    A tab of the spec as it is present already: it has the id that we chose for it, or carries our mark,
    or has its title. It is rewritten in place; every other tab is foreign and stays as it is.
MARKER
    Which workbook this is. It is taken away first and written last: a spreadsheet without it is unfinished.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from sheetsync.backends.google_cells import grid_range
from sheetsync.backends.google_charts import ChartPlace, chart_request
from sheetsync.backends.google_formats import Json
from sheetsync.backends.google_lists import list_places, lists_of, name_requests
from sheetsync.backends.google_present import (
    OUR_PROTECTION,
    Present,
    PresentTab,
    match_tabs,
    object_id,
    tab_id,
)
from sheetsync.backends.google_read import LISTS_TAB, MARKER_KEY, TAB_KEY
from sheetsync.backends.google_tab import TabDrawing, grid_size, runs
from sheetsync.domain.workbook import (
    Choice,
    FreeText,
    TabSpec,
    Tick,
    WorkbookSpec,
)

FILTER_VIEW = "Sort and filter here"
"""Title of the filter view on each table that people fill in."""

_MOST_CHARTS = 20
_CLEARED = "userEnteredValue,userEnteredFormat,dataValidation,note"
_SHEET_FIELDS = (
    "title,hidden,gridProperties(rowCount,columnCount,frozenRowCount,frozenColumnCount,hideGridlines)"
)


def draw_requests(
    spec: WorkbookSpec,
    present: Present,
    *,
    locale: str = "en_US",
    time_zone: str = "Etc/UTC",
    editors: Sequence[str] = (),
) -> list[Json]:
    """Return the requests that turn a spreadsheet into `spec`, in order.

    Args:
        spec: what to draw.
        present: the spreadsheet as it stands (`NEW_FILE` for one that was just made).
        locale: of the spreadsheet; formulas are written in English with commas.
        time_zone: of the spreadsheet.
        editors: addresses that may change protected cells besides the account that draws.

    Raises:
        ValueError: a text, number or formula that no cell can hold, or a link to a tab that is not there.
    """
    properties = {"title": spec.title, "locale": locale, "timeZone": time_zone}
    change = {"properties": properties, "fields": ",".join(properties)}
    return [{"updateSpreadsheetProperties": change}, *_Drawing(spec, present, editors).requests()]


class _Drawing:
    """One workbook while its requests are being made."""

    def __init__(self, spec: WorkbookSpec, present: Present, editors: Sequence[str]) -> None:
        self.spec, self.present, self.editors = spec, present, list(editors)
        self.lists = lists_of(spec)
        self.tabs = [*([self.lists.tab] if self.lists else []), *spec.tabs]
        self.ours = match_tabs([tab.title for tab in self.tabs], present)
        self.ids = self._choose_ids()
        taken = {tab.title.casefold() for tab in present.tabs if not tab.is_blank}
        self.lists_title = self.ours[LISTS_TAB].title if LISTS_TAB in self.ours else LISTS_TAB
        while LISTS_TAB not in self.ours and self.lists_title.casefold() in taken:
            self.lists_title += "_"

    def _choose_ids(self) -> dict[str, int]:
        ids = {title: tab.sheet_id for title, tab in self.ours.items()}
        taken = {tab.sheet_id for tab in self.present.tabs}
        for tab in self.tabs:
            if tab.title not in ids:
                wanted = tab_id(tab.title)
                while wanted in taken:
                    wanted = wanted % (2**31 - 1) + 1
                ids[tab.title] = wanted
                taken.add(wanted)
        return ids

    def requests(self) -> Iterator[Json]:
        for mark in self.present.marks:
            lookup = {"developerMetadataLookup": {"metadataId": mark}}
            yield {"deleteDeveloperMetadata": {"dataFilter": lookup}}
        yield from self._frame()
        if self.lists:
            yield from self._tab(self.lists.tab)
        for tab in self.spec.tabs:
            yield from self._tab(tab)
        yield from self._finish()

    # --- which tabs there are

    def _frame(self) -> Iterator[Json]:
        """Add the tabs that are missing, then remove what is blank or left over from an earlier spec."""
        is_new = not self.ours
        for index, tab in enumerate([*self.spec.tabs, *self.tabs[: len(self.tabs) - len(self.spec.tabs)]]):
            if tab.title not in self.ours:
                place = {"index": index} if is_new else {}
                yield {"addSheet": {"properties": {**self._properties(tab), **place}}}
        kept = {tab.sheet_id for tab in self.ours.values()}
        for old in self.present.tabs:
            left_over = old.mark != "" and old.mark == old.title and old.sheet_id == tab_id(old.mark)
            if old.sheet_id not in kept and (old.is_blank or left_over):
                yield {"deleteSheet": {"sheetId": old.sheet_id}}

    def _properties(self, tab: TabSpec) -> Json:
        rows, columns = grid_size(tab)
        grid = {
            "rowCount": rows,
            "columnCount": columns,
            "frozenRowCount": tab.frozen_rows,
            "frozenColumnCount": tab.frozen_columns,
            "hideGridlines": not (tab.table or tab.input_rows),
        }
        title = self.lists_title if tab.title == LISTS_TAB else tab.title
        shown = {"title": title, "hidden": tab.hidden, "gridProperties": grid}
        return {"sheetId": self.ids[tab.title], **shown}

    # --- one tab

    def _tab(self, tab: TabSpec) -> Iterator[Json]:
        sheet_id, old = self.ids[tab.title], self.ours.get(tab.title)
        if old:
            yield from self._emptied(tab, old)
        yield from TabDrawing(tab, sheet_id, self.ids, list_places(self.spec, self.lists_title)).requests()
        if self.lists and tab is self.lists.tab:
            yield from name_requests(self.spec, sheet_id, self.present)
        yield from self._filter(tab, old)
        for index, chart in enumerate(tab.charts):
            column = self.lists.bounds.get((tab.title, index)) if self.lists else None
            chart_id, lists_id = object_id("chart", tab.title, index), self.ids.get(LISTS_TAB, 0)
            yield chart_request(chart, ChartPlace(chart_id, sheet_id, lists_id, column))
        yield from self._protection(tab, old)
        if old is None or old.mark != tab.title:
            yield _metadata(TAB_KEY, tab.title, {"sheetId": sheet_id})

    def _emptied(self, tab: TabSpec, old: PresentTab) -> Iterator[Json]:
        """Take away all of an earlier drawing but the tab itself, its protection and its filter view."""
        here = {"sheetId": old.sheet_id}
        yield from [{"deleteConditionalFormatRule": {**here, "index": 0}}] * old.format_rules
        charts = {object_id("chart", tab.title, index) for index in range(_MOST_CHARTS)}
        for chart in old.charts:
            if chart in charts:
                yield {"deleteEmbeddedObject": {"objectId": chart}}
        if old.has_merges:
            yield {"unmergeCells": {"range": here}}
        if old.has_filter:
            yield {"clearBasicFilter": here}
        properties, fields = self._properties(tab), _SHEET_FIELDS
        title = properties["title"].casefold()
        if any(other.title.casefold() == title for other in self.present.tabs if other != old):
            del properties["title"]  # a foreign tab took it
            fields = fields.removeprefix("title,")
        yield {"updateSheetProperties": {"properties": properties, "fields": fields}}
        yield {"updateCells": {"range": here, "fields": _CLEARED}}
        if len(tab.row_heights) < len(tab.rows) + int(tab.header):
            yield {"autoResizeDimensions": {"dimensions": {**here, "dimension": "ROWS"}}}

    def _filter(self, tab: TabSpec, old: PresentTab | None) -> Iterator[Json]:
        """Offer a view to sort in where the tab is protected; elsewhere the table itself can be sorted."""
        if not tab.table or not tab.columns:
            return
        height = max(1, len(tab.rows) + int(tab.header))
        area = grid_range(self.ids[tab.title], (0, 0, height, len(tab.columns)))
        if not tab.input_rows:
            yield {"setBasicFilter": {"filter": {"range": area}}}
            return
        view = {"filterViewId": object_id("filter", tab.title), "range": area}
        if old and view["filterViewId"] in old.filter_views:
            yield {"updateFilterView": {"filter": view, "fields": "range"}}
        else:
            yield {"addFilterView": {"filter": {**view, "title": FILTER_VIEW}}}

    def _protection(self, tab: TabSpec, old: PresentTab | None) -> Iterator[Json]:
        """Protect the whole tab but its input columns; a protection that is there is changed, never lifted."""
        known = old.protections if old else ()
        for extra in known[1:] if tab.protected else known:
            yield {"deleteProtectedRange": {"protectedRangeId": extra}}
        if not tab.protected:
            return
        words = "only the input columns are for typing" if tab.input_rows else "filled in by sheetsync"
        protection: Json = {
            "range": {"sheetId": self.ids[tab.title]},
            "description": f"{OUR_PROTECTION}: {words}",
            "unprotectedRanges": self._input_ranges(tab),
        }
        if known:
            protection |= {"warningOnly": False, "editors": {"users": self.editors}}
            change = {"protectedRange": {"protectedRangeId": known[0], **protection}}
            yield {"updateProtectedRange": {**change, "fields": ",".join(protection)}}
        else:
            editors = {"editors": {"users": self.editors}} if self.editors else {}
            yield {"addProtectedRange": {"protectedRange": {**protection, **editors}}}

    def _input_ranges(self, tab: TabSpec) -> list[Json]:
        if not tab.input_rows or not tab.rows:
            return []
        first, sheet_id = int(tab.header), self.ids[tab.title]
        kinds = [isinstance(column.validation, Choice | Tick | FreeText) for column in tab.columns]
        spans = [(start, end) for is_input, start, end in runs(kinds) if is_input]
        return [grid_range(sheet_id, (first, start, first + len(tab.rows), end)) for start, end in spans]

    def _finish(self) -> Iterator[Json]:
        """Write the marker, also into a cell: it survives copies that drop developer metadata."""
        if self.spec.marker:
            place = {"sheetId": self.ids[LISTS_TAB], "rowIndex": 1, "columnIndex": 0}
            row = {"values": [{"userEnteredValue": {"stringValue": self.spec.marker}}]}
            yield {"updateCells": {"start": place, "rows": [row], "fields": "userEnteredValue"}}
            yield _metadata(MARKER_KEY, self.spec.marker, {"spreadsheet": True})


def _metadata(key: str, value: str, location: Json) -> Json:
    entry = {"metadataKey": key, "metadataValue": value, "location": location, "visibility": "DOCUMENT"}
    return {"createDeveloperMetadata": {"developerMetadata": entry}}


# --- payloads -----------------------------------------------------------------------------------


def payload_size(requests: Sequence[Json]) -> int:
    """Return how many bytes a batchUpdate of these has, written as `requests` and gspread write it."""
    return len(json.dumps({"requests": list(requests)}))


def split_requests(requests: Sequence[Json], limit: int = 2_000_000) -> list[list[Json]]:
    """Cut a list into payloads within `limit` bytes; order stays, and tabs are cut only where one is larger.

    The marker is the last request of all, so nothing that was drawn in part is taken for finished.
    """
    payloads: list[list[Json]] = []
    room = 0
    for group in _groups(requests):
        sizes = [len(json.dumps(request)) + 2 for request in group]
        if not payloads or sum(sizes) > room:
            payloads.append([])
            room = limit - payload_size([])
        for request, size in zip(group, sizes, strict=True):
            if size > room and payloads[-1]:
                payloads.append([])
                room = limit - payload_size([])
            payloads[-1].append(request)
            room -= size
    return payloads


def _groups(requests: Sequence[Json]) -> Iterator[list[Json]]:
    """Yield neighbours about the same tab; what is about the spreadsheet as a whole stays together."""
    places: list[int] = []
    for request in requests:
        place = _place(request)
        places.append(place if place is not None else places[-1] if places else _WHOLE)
    for _, start, end in runs(places):
        yield list(requests[start:end])


_WHOLE = -1
_ABOUT_ALL = ("updateSpreadsheetProperties", "deleteDeveloperMetadata", "addSheet", "deleteSheet")


def _place(request: Json) -> int | None:
    """Return the tab a request is about, None where it does not say."""
    kind, content = next(iter(request.items()))
    return _WHOLE if kind in _ABOUT_ALL else _sheet_id_in(content)


def _sheet_id_in(content: object) -> int | None:
    """Return the first `sheetId` in a message."""
    if isinstance(content, list):
        return next((place for item in content if (place := _sheet_id_in(item)) is not None), None)
    if not isinstance(content, dict):
        return None
    if "sheetId" in content:
        return int(content["sheetId"])
    return _sheet_id_in(list(content.values()))
