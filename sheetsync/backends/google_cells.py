"""Single cells in Google Sheets: values, formulas and notes, within Google's limits."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from sheetsync.backends.google_formats import Json
from sheetsync.domain.workbook import Cell, ColumnSpec, Formula, Link, TabSpec, Tick, Value, cell_length

MAX_CHARACTERS = 50_000
"""Google's limit for one cell; a longer text or formula is refused."""

_CHUNK = 400_000
"""How many bytes of cells one request holds, so that a payload can be split between requests."""

_LINK = "userEnteredFormat.textFormat.link"

Area = tuple[int, int, int, int]
"""First row, first column, row after the last, column after the last."""


def grid_range(sheet_id: int, area: Area) -> Json:
    """Return a range as the API has it."""
    top, left, bottom, right = area
    rows = {"startRowIndex": top, "endRowIndex": bottom}
    return {"sheetId": sheet_id, **rows, "startColumnIndex": left, "endColumnIndex": right}


class CellWriter:
    """Writes the cells of one tab; `links` maps titles of tabs to their ids."""

    def __init__(self, tab: TabSpec, sheet_id: int, links: Mapping[str, int]) -> None:
        self.tab, self.sheet_id, self.links = tab, sheet_id, links
        self.first = int(tab.header)
        self._covered = {
            (row, column)
            for top, left, bottom, right in tab.merged
            for row in range(top, bottom + 1)
            for column in range(left, right + 1)
            if (row, column) != (top, left)
        }

    def requests(self) -> list[Json]:
        """Return the requests that write everything.

        Raises:
            ValueError: a text, number or formula that no cell can hold, or a link to a tab that is not there.
        """
        return [*self._values(), *self._formulas(), *self._ways(), *self._notes()]

    def _values(self) -> Iterator[Json]:
        yield from self._writes(self._value_rows(), "userEnteredValue")

    def _writes(self, cells: Iterable[Json], fields: str, first: int = 0, column: int = 0) -> Iterator[Json]:
        """Write rows from one cell on; a request ends before it grows too large."""
        start, rows, size = first, list[Json](), 0
        for number, row in enumerate(cells, start=first):
            length = len(json.dumps(row))
            if rows and size + length > _CHUNK:
                yield self._write(start, rows, fields, column)
                start, rows, size = number, [], 0
            rows.append(row)
            size += length
        if rows and any(rows):
            yield self._write(start, rows, fields, column)

    def _write(self, start: int, rows: list[Json], fields: str, column: int = 0) -> Json:
        place = {"sheetId": self.sheet_id, "rowIndex": start, "columnIndex": column}
        return {"updateCells": {"start": place, "rows": rows, "fields": fields}}

    def _value_rows(self) -> Iterator[Json]:
        if self.tab.header:
            yield _row(self._entered(column.header, None) for column in self.tab.columns)
        for number, cells in enumerate(self.tab.rows, start=self.first):
            given = [cell.value if isinstance(cell, Cell) else cell for cell in cells]
            yield _row(
                {}
                if (number, index) in self._covered or _repeats(value)
                else self._entered(value, column, number)
                for index, (value, column) in enumerate(zip(given, self.tab.columns, strict=False))
            )

    def _entered(self, value: Value, column: ColumnSpec | None, row: int = 0) -> Json:
        """Return a value as exactly what it is: no text becomes a formula, a number or a date."""
        if column is not None and isinstance(column.validation, Tick) and value == "x":
            value = True
        if value is None or value == "" or (isinstance(value, Link) and not value.text):
            return {}
        if isinstance(value, bool):
            entered: Json = {"boolValue": value}
        elif isinstance(value, str):
            entered = {"stringValue": _checked(value)}
        elif isinstance(value, Formula):
            entered = {"formulaValue": _checked("=" + value.text.replace("{row}", str(row + 1)))}
        elif isinstance(value, Link):
            entered = {"formulaValue": self._link(value)}
        elif math.isfinite(value):
            entered = {"numberValue": value}
        else:
            raise ValueError(f"{value} is not a number that a cell can hold")
        return {"userEnteredValue": entered}

    def _link(self, link: Link) -> str:
        text = link.text.replace('"', '""')
        return _checked(f'=HYPERLINK("{self._address(link)}","{text}")')

    def _address(self, link: Link) -> str:
        if link.tab not in self.links:
            raise ValueError(f"a link goes to {link.tab}, and there is no such tab")
        return f"#gid={self.links[link.tab]}&range={link.cell}"

    def _ways(self) -> Iterator[Json]:
        """Make texts clickable as a part of their format: they stay texts, and reading does not see it.

        Sent after values and formats, because a value that is written anew may lose its link.
        """
        for column in range(len(self.tab.columns)):
            ways = [self._way(row, column) for row in range(len(self.tab.rows))]
            for is_there, span in groupby(enumerate(ways, start=self.first), lambda placed: bool(placed[1])):
                if is_there:
                    placed = list(span)
                    yield from self._writes((_linked(uri) for _, uri in placed), _LINK, placed[0][0], column)

    def _way(self, row: int, column: int) -> str:
        cells = self.tab.rows[row]
        cell = cells[column] if column < len(cells) else None
        if not isinstance(cell, Cell) or not cell.leads_to or not isinstance(cell.value, str):
            return ""
        is_shown = cell.value != "" and (row + self.first, column) not in self._covered
        return self._address(cell.leads_to) if is_shown else ""

    def _formulas(self) -> Iterator[Json]:
        """Write formulas that differ in their row only once for many rows: Google counts the rows up."""
        for column in range(len(self.tab.columns)):
            texts = [self._repeated(row, column) for row in range(len(self.tab.rows))]
            for is_there, span in groupby(enumerate(texts), lambda placed: placed[1] is not None):
                if is_there:
                    yield from self._repeat([(row, text or "") for row, text in span], column)

    def _repeated(self, row: int, column: int) -> str | None:
        cells = self.tab.rows[row]
        cell = cells[column] if column < len(cells) else None
        value = cell.value if isinstance(cell, Cell) else cell
        if isinstance(value, Formula) and _repeats(value) and (row + self.first, column) not in self._covered:
            return value.text
        return None

    def _repeat(self, placed: list[tuple[int, str]], column: int) -> Iterator[Json]:
        """Write the commonest formula into all the rows, then the others over it."""
        commonest = Counter(text for _, text in placed).most_common(1)[0][0]
        yield self._counted_up(commonest, placed[0][0], placed[-1][0], column)
        for text, span in groupby(placed, lambda each: each[1]):
            if text != commonest:
                rows = [row for row, _ in span]
                yield self._counted_up(text, rows[0], rows[-1], column)

    def _counted_up(self, text: str, first: int, last: int, column: int) -> Json:
        first, last = first + self.first, last + self.first
        formula = _checked("=" + text.replace("{row}", str(first + 1)))
        area = grid_range(self.sheet_id, (first, column, last + 1, column + 1))
        cell = {"userEnteredValue": {"formulaValue": formula}}
        return {"repeatCell": {"range": area, "cell": cell, "fields": "userEnteredValue"}}

    def _notes(self) -> Iterator[Json]:
        notes = [{"note": _checked(column.note)} if column.note else {} for column in self.tab.columns]
        if self.tab.header and any(notes):
            yield self._write(0, [_row(notes)], "note")


def _linked(uri: str) -> Json:
    return {"values": [{"userEnteredFormat": {"textFormat": {"link": {"uri": uri}}}}]}


def _row(cells: Iterable[Json]) -> Json:
    """Return a row without blank cells at its end."""
    kept = list(cells)
    while kept and not kept[-1]:
        kept.pop()
    return {"values": kept} if kept else {}


_RELATIVE_ROW = re.compile(r"(?<![\w.])\$?[A-Za-z]{1,3}\d+(?![\w(])")


def _repeats(value: object) -> bool:
    """Say whether a formula, written for one row and counted up, is what the spec means in the others.

    >>> _repeats(Formula('IF($C{row}="A1",1,$B$2)')), _repeats(Formula("C{row}+A1"))
    (True, False)
    """
    if not isinstance(value, Formula):
        return False
    bare = "".join(value.text.split('"')[::2])  # without texts
    return _RELATIVE_ROW.search(re.sub(r"'[^']*'|\{row\}", "", bare)) is None


def _checked(text: str) -> str:
    length = cell_length(text)
    if length > MAX_CHARACTERS:
        raise ValueError(f"a text of {length} characters is longer than a cell's {MAX_CHARACTERS}")
    text.encode()  # a lone surrogate is a ValueError here, and a refused request later
    return text
