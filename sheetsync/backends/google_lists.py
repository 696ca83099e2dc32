"""The hidden tab of lists: items of drop-downs, words of formulas, bounds of charts, and the marker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sheetsync.backends.google_cells import grid_range
from sheetsync.backends.google_charts import bounds_of
from sheetsync.backends.google_formats import Json
from sheetsync.backends.google_present import Present
from sheetsync.backends.google_read import LISTS_SIGN, LISTS_TAB
from sheetsync.domain.workbook import ColumnSpec, TabSpec, WorkbookSpec, column_letter


@dataclass(frozen=True)
class Lists:
    """The tab, without its marker, and the column where bounds of charts stand by tab title and chart."""

    tab: TabSpec
    bounds: Mapping[tuple[str, int], int]


def lists_of(spec: WorkbookSpec) -> Lists | None:
    """Return the tab: the sign in the first column, a list in each further one; None if nothing needs it.

    Raises:
        ValueError: the spec has a tab of that title itself.
    """
    if any(tab.title.casefold() == LISTS_TAB.casefold() for tab in spec.tabs):
        raise ValueError(f"no tab can be called {LISTS_TAB}: that is the hidden one")
    columns: list[tuple[str, tuple[str | int | float | None, ...]]] = [(LISTS_SIGN, ())]
    columns += [(items.name, (*items.offered, *items.accepted)) for items in spec.lists]
    bounds: dict[tuple[str, int], int] = {}
    for tab in spec.tabs:
        for index, chart in enumerate(tab.charts):
            found = bounds_of(tab, chart)
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
    return Lists(TabSpec(LISTS_TAB, headers, rows, protected=True, hidden=True), bounds)


def list_places(spec: WorkbookSpec, title: str) -> dict[str, str]:
    """Return where the offered items of each list stand, as an address on the tab of that title."""
    title = title.replace("'", "''")
    return {
        items.name: f"'{title}'!${letter}$2:${letter}${max(len(items.offered), 1) + 1}"
        for letter, items in ((column_letter(index), items) for index, items in enumerate(spec.lists, 1))
    }


def name_requests(spec: WorkbookSpec, lists_id: int, present: Present) -> Iterator[Json]:
    """Name each list, and what it offers; names that no list has any longer are taken away."""
    wanted = {}
    for column, items in enumerate(spec.lists, start=1):
        offered = len(items.offered)
        for name, count in ((items.name, offered + len(items.accepted)), (f"{items.name}_offered", offered)):
            wanted[name] = grid_range(lists_id, (1, column, max(count, 1) + 1, column + 1))
    known = {name.casefold(): place for name, (place, _) in present.named_ranges.items()}
    here = [name for name, (_, sheet_id) in present.named_ranges.items() if sheet_id == lists_id]
    for gone in sorted({name.casefold() for name in here} - {name.casefold() for name in wanted}):
        yield {"deleteNamedRange": {"namedRangeId": known[gone]}}
    for name, area in wanted.items():
        entry: Json = {"name": name, "range": area}
        if name.casefold() in known:
            entry["namedRangeId"] = known[name.casefold()]
            yield {"updateNamedRange": {"namedRange": entry, "fields": "name,range"}}
        else:
            yield {"addNamedRange": {"namedRange": entry}}
