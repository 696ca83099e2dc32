"""One `TabSpec` -> the requests that fill a tab which is empty and has the right size."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TypeVar

from sheetsync.backends.google_cells import Area, CellWriter, grid_range
from sheetsync.backends.google_charts import anchor_of
from sheetsync.backends.google_formats import (
    Json,
    Look,
    cell_format,
    column_pixels,
    has_text_format,
    header_is_right,
    highlight_format,
    row_pixels,
)
from sheetsync.domain.workbook import (
    Cell,
    Choice,
    FreeText,
    ReadOnly,
    TabSpec,
    Tick,
    Validation,
)

K = TypeVar("K", bound=Hashable)


class TabDrawing:
    """One tab while its requests are being made.

    `links` maps titles of tabs to their ids, `choices` the names of lists to where their offered items
    stand (`'Lists'!$B$2:$B$7`).
    """

    def __init__(
        self, tab: TabSpec, sheet_id: int, links: Mapping[str, int], choices: Mapping[str, str]
    ) -> None:
        self.tab, self.sheet_id, self.links, self.choices = tab, sheet_id, links, choices
        self.first = int(tab.header)
        self.after = self.first + len(tab.rows)
        self._boxed = tab.table or tab.input_rows

    def requests(self) -> list[Json]:
        """Return all of them.

        Raises:
            ValueError: a text, number or formula that no cell can hold, or a link to a tab that is not there.
        """
        return [
            *self._sizes(),
            *self._formats(),
            *self._merges(),
            *CellWriter(self.tab, self.sheet_id, self.links).requests(),
            *self._validations(),
            *self._highlights(),
        ]

    def area(self, area: Area) -> Json:
        """Return a range of the tab."""
        return grid_range(self.sheet_id, area)

    # --- looks

    def _formats(self) -> Iterator[Json]:
        for look, area in rectangles(self._looks()):
            cell = {"userEnteredFormat": cell_format(look)}
            yield {"repeatCell": {"range": self.area(area), "cell": cell, "fields": "userEnteredFormat"}}

    def _looks(self) -> list[list[Look]]:
        """Return the look of every cell; blank cells look as their column does."""
        looks = []
        if self.tab.header:
            looks.append(
                [Look(c.header_style, self._boxed, right=header_is_right(c.style)) for c in self.tab.columns]
            )
        plain = {index for index in range(len(self.tab.columns)) if self._holds_numbers(index)}
        for cells in self.tab.rows:
            line = []
            for index, column in enumerate(self.tab.columns):
                cell = cells[index] if index < len(cells) else None
                style = cell.style if isinstance(cell, Cell) else column.style
                any_value = index in plain and has_text_format(style)
                line.append(Look(style, self._boxed, any_value=any_value))
            looks.append(line)
        return looks

    def _holds_numbers(self, column: int) -> bool:
        for cells in self.tab.rows:
            cell = cells[column] if column < len(cells) else None
            value = cell.value if isinstance(cell, Cell) else cell
            if value is not None and not isinstance(value, str):
                return True
        return False

    def _sizes(self) -> Iterator[Json]:
        widths = [column_pixels(column.width) for column in self.tab.columns]
        rows = range(max(self.tab.row_heights, default=-1) + 1)
        heights = [row_pixels(h) if (h := self.tab.row_heights.get(row)) else None for row in rows]
        for dimension, sizes in (("COLUMNS", widths), ("ROWS", heights)):
            for size, start, end in runs(sizes):
                if size is not None:
                    span = {
                        "sheetId": self.sheet_id,
                        "dimension": dimension,
                        "startIndex": start,
                        "endIndex": end,
                    }
                    change = {"range": span, "properties": {"pixelSize": size}, "fields": "pixelSize"}
                    yield {"updateDimensionProperties": change}

    def _merges(self) -> Iterator[Json]:
        for top, left, bottom, right in self.tab.merged:
            if (top, left) != (bottom, right):
                area = self.area((top, left, bottom + 1, right + 1))
                yield {"mergeCells": {"range": area, "mergeType": "MERGE_ALL"}}

    def _highlights(self) -> Iterator[Json]:
        if self.after == self.first:
            return
        for index, highlight in enumerate(self.tab.highlights):
            area = (self.first, highlight.first_column, self.after, highlight.last_column + 1)
            condition = _condition("CUSTOM_FORMULA", f"={highlight.formula}")
            rule = {
                "ranges": [self.area(area)],
                "booleanRule": {"condition": condition, "format": highlight_format(highlight.style)},
            }
            yield {"addConditionalFormatRule": {"rule": rule, "index": index}}

    # --- validation

    def _validations(self) -> Iterator[Json]:
        if self.after == self.first:
            return
        for index, column in enumerate(self.tab.columns):
            rule = self._rule(column.validation)
            if rule:
                area = self.area((self.first, index, self.after, index + 1))
                yield {"setDataValidation": {"range": area, "rule": rule}}

    def _rule(self, validation: Validation | None) -> Json | None:
        if isinstance(validation, Choice):
            condition = _condition("ONE_OF_RANGE", f"={self.choices[validation.list_name]}")
            rule: Json = {
                "condition": condition,
                "strict": not validation.extra_allowed,
                "showCustomUi": True,
            }
            return _with_message(rule, validation.prompt or validation.title)
        if isinstance(validation, Tick):
            # Not strict: an x that is typed, as the texts say, stands with a mark and counts.
            rule = {"condition": {"type": "BOOLEAN"}, "strict": False, "showCustomUi": True}
            return _with_message(rule, validation.prompt or validation.title)
        if isinstance(validation, FreeText):
            # A rule that everything meets is the only way to show a text at a cell.
            text = validation.prompt or validation.title
            rule = {"condition": _condition("CUSTOM_FORMULA", "=TRUE"), "strict": False}
            return _with_message(rule, text) if text else None
        if isinstance(validation, ReadOnly) and not self.tab.protected:
            rule = {"condition": _condition("CUSTOM_FORMULA", "=FALSE"), "strict": True}
            return _with_message(rule, validation.error)
        return None


def grid_size(tab: TabSpec) -> tuple[int, int]:
    """Return how many rows and columns a tab needs; a row and a column can always be scrolled to."""
    anchors = [anchor_of(chart) for chart in tab.charts]
    rows = [int(tab.header) + len(tab.rows), tab.frozen_rows + 1, *(row + 1 for row, _ in anchors)]
    columns = [len(tab.columns), tab.frozen_columns + 1, *(column + 1 for _, column in anchors)]
    rows += [bottom + 1 for _, _, bottom, _ in tab.merged] + [row + 1 for row in tab.row_heights]
    columns += [right + 1 for _, _, _, right in tab.merged]
    return max(rows), max(columns)


def runs(items: Sequence[K]) -> Iterator[tuple[K, int, int]]:
    """Yield equal neighbours as (item, first, after the last).

    >>> list(runs("aab"))
    [('a', 0, 2), ('b', 2, 3)]
    """
    for item, places in groupby(range(len(items)), lambda place: items[place]):
        span = list(places)
        yield item, span[0], span[-1] + 1


def rectangles(grid: Sequence[Sequence[K]]) -> list[tuple[K, Area]]:
    """Cover a grid with rectangles of equal items, in reading order.

    >>> rectangles(["aab", "aab", "aac"])
    [('a', (0, 0, 3, 2)), ('b', (0, 2, 2, 3)), ('c', (2, 2, 3, 3))]
    """
    width = max((len(line) for line in grid), default=0)
    found: dict[tuple[K, int, int, int], int] = {}  # item, first row, row after, column after -> first column
    for column in range(width):
        for item, top, bottom in runs([line[column] for line in grid]):
            left = found.pop((item, top, bottom, column), column)
            found[item, top, bottom, column + 1] = left
    areas = [(item, (top, left, bottom, right)) for (item, top, bottom, right), left in found.items()]
    return sorted(areas, key=lambda each: each[1])


def _condition(kind: str, value: str) -> Json:
    return {"type": kind, "values": [{"userEnteredValue": value}]}


def _with_message(rule: Json, text: str) -> Json:
    return {**rule, "inputMessage": text} if text else rule
