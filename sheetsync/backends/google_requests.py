"""`WorkbookSpec` -> one list of batchUpdate requests that turns a spreadsheet into it.

Terminology:

OUR TAB
    A tab of the spec as it is present already: it has the id that we chose for it, or carries our mark,
    or has its title. It is rewritten in place; every other tab is foreign and stays as it is.
MARKER
    Which workbook this is. It is taken away first and written last: a spreadsheet without it is unfinished.

Ids of tabs, charts and filter views follow from titles, so nothing has to be asked or remembered.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sheetsync.backends.google_cells import grid_range
from sheetsync.backends.google_charts import Bounds, ChartPlace, bounds_of, chart_request
from sheetsync.backends.google_formats import Json
from sheetsync.backends.google_present import OUR_PROTECTION, Present, PresentTab
from sheetsync.backends.google_read import LISTS_SIGN, LISTS_TAB, MARKER_KEY, TAB_KEY
from sheetsync.backends.google_tab import TabDrawing, grid_size, runs
from sheetsync.domain.workbook import (
    Choice,
    ColumnSpec,
    FreeText,
    TabSpec,
    Tick,
    WorkbookSpec,
    column_letter,
)

FILTER_VIEW = "Sort and filter here"
"""Title of the filter view on each table that people fill in."""

_MOST_CHARTS = 20
_CLEARED = "userEnteredValue,userEnteredFormat,dataValidation,note"
_SHEET_FIELDS = (
    "title,hidden,gridProperties(rowCount,columnCount,frozenRowCount,frozenColumnCount,hideGridlines)"
)


def tab_id(title: str) -> int:
    """Return the id of a tab: 1 to 2^31 - 1, always the same for a title.

    >>> tab_id("Scoring"), tab_id("Scoring") == tab_id("scoring")
    (2139286158, False)
    """
    return _id_of("tab", title)


def _id_of(*parts: object) -> int:
    digest = hashlib.sha256("\0".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "big") % (2**31 - 1) + 1


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


@dataclass(frozen=True)
class _Lists:
    """The hidden tab: its columns of lists, and where bounds of charts stand by tab title and chart."""

    tab: TabSpec
    bounds: Mapping[tuple[str, int], int]


def _lists_of(spec: WorkbookSpec) -> _Lists | None:
    columns: list[tuple[str, tuple[str | int | float | None, ...]]] = [(LISTS_SIGN, ())]
    columns += [(items.name, (*items.offered, *items.accepted)) for items in spec.lists]
    bounds: dict[tuple[str, int], int] = {}
    for tab in spec.tabs:
        for index, chart in enumerate(tab.charts):
            found: Bounds = bounds_of(tab, chart)
            if found:
                bounds[tab.title, index] = len(columns)
                columns += found
    if not spec.marker and len(columns) == 1:
        return None
    height = max([1, *(len(items) for _, items in columns)])
    rows = tuple(
        tuple(items[row] if row < len(items) else None for _, items in columns) for row in range(height)
    )
    headers = tuple(ColumnSpec(name) for name, _ in columns)
    return _Lists(TabSpec(LISTS_TAB, headers, rows, protected=True, hidden=True), bounds)


class _Drawing:
    """One workbook while its requests are being made."""

    def __init__(self, spec: WorkbookSpec, present: Present, editors: Sequence[str]) -> None:
        self.spec, self.present, self.editors = spec, present, list(editors)
        self.lists = _lists_of(spec)
        self.tabs = [*([self.lists.tab] if self.lists else []), *spec.tabs]
        self.ours = _match([tab.title for tab in self.tabs], present)
        self.ids = self._choose_ids()
        taken = {tab.title.casefold() for tab in present.tabs if not tab.is_blank}
        self.lists_title = LISTS_TAB
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
        yield from TabDrawing(tab, sheet_id, self.ids, self._choices()).requests()
        if self.lists and tab is self.lists.tab:
            yield from self._named_ranges()
        yield from self._filter(tab, old)
        for index, chart in enumerate(tab.charts):
            column = self.lists.bounds.get((tab.title, index)) if self.lists else None
            chart_id, lists_id = _id_of("chart", tab.title, index), self.ids.get(LISTS_TAB, 0)
            yield chart_request(tab, chart, ChartPlace(chart_id, sheet_id, lists_id, column))
        yield from self._protection(tab, old)
        if old is None or old.mark != tab.title:
            yield _metadata(TAB_KEY, tab.title, {"sheetId": sheet_id})

    def _emptied(self, tab: TabSpec, old: PresentTab) -> Iterator[Json]:
        """Take away all of an earlier drawing but the tab itself, its protection and its filter view."""
        here = {"sheetId": old.sheet_id}
        yield from [{"deleteConditionalFormatRule": {**here, "index": 0}}] * old.format_rules
        charts = {_id_of("chart", tab.title, index) for index in range(_MOST_CHARTS)}
        for chart in old.charts:
            if chart in charts:
                yield {"deleteEmbeddedObject": {"objectId": chart}}
        if old.has_merges:
            yield {"unmergeCells": {"range": here}}
        if old.has_filter:
            yield {"clearBasicFilter": here}
        properties, fields = self._properties(tab), _SHEET_FIELDS
        if any(other.title.casefold() == tab.title.casefold() for other in self.present.tabs if other != old):
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
        view = {"filterViewId": _id_of("filter", tab.title), "range": area}
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
            "warningOnly": False,
        }
        if self.editors:
            protection["editors"] = {"users": self.editors}
        if known:
            fields = ",".join(protection)
            protection["protectedRangeId"] = known[0]
            yield {"updateProtectedRange": {"protectedRange": protection, "fields": fields}}
        else:
            yield {"addProtectedRange": {"protectedRange": protection}}

    def _input_ranges(self, tab: TabSpec) -> list[Json]:
        if not tab.input_rows or not tab.rows:
            return []
        first, sheet_id = int(tab.header), self.ids[tab.title]
        kinds = [isinstance(column.validation, Choice | Tick | FreeText) for column in tab.columns]
        spans = [(start, end) for is_input, start, end in runs(kinds) if is_input]
        return [grid_range(sheet_id, (first, start, first + len(tab.rows), end)) for start, end in spans]

    # --- lists and markers

    def _choices(self) -> dict[str, str]:
        """Return where the offered items of each list stand, as an address."""
        return {
            items.name: f"'{self.lists_title}'!${letter}$2:${letter}${max(len(items.offered), 1) + 1}"
            for letter, items in ((column_letter(i), items) for i, items in enumerate(self.spec.lists, 1))
        }

    def _named_ranges(self) -> Iterator[Json]:
        lists_id, wanted = self.ids[LISTS_TAB], {}
        for column, items in enumerate(self.spec.lists, start=1):
            offered = len(items.offered)
            for name, count in (
                (items.name, offered + len(items.accepted)),
                (f"{items.name}_offered", offered),
            ):
                wanted[name] = grid_range(lists_id, (1, column, max(count, 1) + 1, column + 1))
        for name, (place, sheet_id) in self.present.named_ranges.items():
            if name not in wanted and sheet_id == lists_id and LISTS_TAB in self.ours:
                yield {"deleteNamedRange": {"namedRangeId": place}}
        known = {name.casefold(): place for name, (place, _) in self.present.named_ranges.items()}
        for name, area in wanted.items():
            entry: Json = {"name": name, "range": area}
            if name.casefold() in known:
                entry["namedRangeId"] = known[name.casefold()]
                yield {"updateNamedRange": {"namedRange": entry, "fields": "name,range"}}
            else:
                yield {"addNamedRange": {"namedRange": entry}}

    def _finish(self) -> Iterator[Json]:
        """Write the marker, also into a cell: it survives copies that drop developer metadata."""
        if self.spec.marker:
            place = {"sheetId": self.ids[LISTS_TAB], "rowIndex": 1, "columnIndex": 0}
            row = {"values": [{"userEnteredValue": {"stringValue": self.spec.marker}}]}
            yield {"updateCells": {"start": place, "rows": [row], "fields": "userEnteredValue"}}
            yield _metadata(MARKER_KEY, self.spec.marker, {"spreadsheet": True})


def _match(titles: Sequence[str], present: Present) -> dict[str, PresentTab]:
    """Return which present tab is which of ours; the surest sign goes first, and no tab is taken twice.

    The tab of lists is hidden, so one that merely has its title is somebody else's.
    """
    found: dict[str, PresentTab] = {}
    left = [tab for tab in present.tabs if not tab.is_blank]
    signs = (
        lambda title, tab: tab.sheet_id == tab_id(title),
        lambda title, tab: tab.mark == title == tab.title,
        lambda title, tab: tab.mark == title,
        lambda title, tab: tab.title.casefold() == title.casefold() != LISTS_TAB.casefold(),
    )
    for sign in signs:
        for title in titles:
            tab = next((tab for tab in left if title not in found and sign(title, tab)), None)
            if tab is not None:
                found[title] = tab
                left.remove(tab)
    return found


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
    places = [_place(request) for request in requests]
    for _, start, end in runs(places):
        yield list(requests[start:end])


def _place(request: Json) -> int:
    kind, content = next(iter(request.items()))
    if kind in ("updateSpreadsheetProperties", "deleteDeveloperMetadata", "addSheet", "deleteSheet"):
        return -1
    found = _sheet_id_in(content)
    return -1 if found is None else found


def _sheet_id_in(content: object) -> int | None:
    """Return the first `sheetId` in a message."""
    if isinstance(content, list):
        return next((place for item in content if (place := _sheet_id_in(item)) is not None), None)
    if not isinstance(content, dict):
        return None
    if "sheetId" in content:
        return int(content["sheetId"])
    return _sheet_id_in(list(content.values()))
