"""The columns of a table of ratings: long (`unit,rater,value`) or wide (`unit` and one per rater)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sheetsync.config_faults import Faults, listed, quoted
from sheetsync.domain.agreement.ratings_table import RatingsTable, TableBuilder
from sheetsync.domain.cells import normalise
from sheetsync.services.ratings_scale import Wording
from sheetsync.services.ratings_source import RawTable

LONG = ("unit", "rater", "value")
DIMENSION = "dimension"
_SHOWN = 12


@dataclass(frozen=True)
class Columns:
    """Where the columns stand.

    Attributes:
        keys: `unit`, `dimension` where there is one, and by header those to slice by.
        rater, value: of a long table.
        raters: of a wide table, the column of each rater.
        slices: headers of the columns to slice by.
    """

    keys: Mapping[str, int]
    slices: Sequence[str]
    rater: int = -1
    value: int = -1
    raters: Mapping[str, int] | None = None


def find_columns(
    raw: RawTable, by: Sequence[str], wording: Wording, faults: Faults, *, wide: bool
) -> Columns | None:
    """Find the columns by header, without regard to case; None after a fault."""
    before = len(faults)
    header = _Header(raw, wording, faults)
    wanted = list(dict.fromkeys(normalise(column) for column in by))
    if not (header.is_of_other_kind(wanted, wide=wide)):
        header.check(LONG[:1] if wide else LONG, wanted)
    if len(faults) > before:
        return None
    places = {column: header.at(column) for column in ("unit", DIMENSION) if column in header.folded}
    slices = [header.written(column) for column in wanted]
    keys = places | dict(zip(slices, map(header.at, wanted), strict=True))
    if not wide:
        return Columns(keys, slices, header.at("rater"), header.at("value"))
    raters = header.raters(wanted)
    return Columns(keys, slices, raters=raters) if len(faults) == before else None


class _Header:
    """The header of a table and what is wrong with it."""

    def __init__(self, raw: RawTable, wording: Wording, faults: Faults) -> None:
        self.cells = [cell.strip() for cell in raw.header]
        self.folded = [normalise(cell) for cell in raw.header]
        self.place, self.name = raw.header_place, raw.source.name.rstrip(",") or "the table"
        self.wording, self.faults = wording, faults

    def at(self, column: str) -> int:
        return self.folded.index(column)

    def written(self, column: str) -> str:
        return self.cells[self.at(column)]

    @property
    def shown(self) -> str:
        return _named([cell for cell in self.cells if cell])

    def is_of_other_kind(self, by: Sequence[str], *, wide: bool) -> bool:
        """Say so where a wide table was read as a long one, or the other way round."""
        if "unit" not in self.folded:
            return False
        found = {"rater", "value"} & set(self.folded)
        if wide and len(found) == 2:
            self.faults.error(
                self.place,
                f"has the columns rater and value: it is a long table; leave out {self.wording.wide}",
            )
            return True
        others = [cell for cell, folded in zip(self.cells, self.folded, strict=True)
                  if folded and folded not in {"unit", DIMENSION, *by}]  # fmt: skip
        if wide or found or len(others) < 2:
            return False
        self.faults.error(
            self.place,
            f"has no columns rater and value, but {_named(others)}: "
            f"where each of these is a rater, add {self.wording.wide}",
        )
        return True

    def check(self, required: Sequence[str], by: Sequence[str]) -> None:
        """Add a fault per column that is missing or stands twice."""
        needed = "unit,rater,value" if len(required) > 1 else "unit and a column per rater"
        for column in dict.fromkeys((*required, DIMENSION, *by)):
            if column not in self.folded and column in required:
                self.faults.error(
                    self.place, f"has no column {column}, but {self.shown}; needed are {needed}"
                )
            elif column not in self.folded and column in by:
                self.faults.error(
                    self.wording.by,
                    f"there is no column {quoted(column)} in {self.name}, which has {self.shown}",
                )
            elif self.folded.count(column) > 1:
                self._twice(column)

    def raters(self, by: Sequence[str]) -> dict[str, int]:
        """Return the columns of raters."""
        taken = {"unit", DIMENSION, *by, ""}
        places = {at: folded for at, folded in enumerate(self.folded) if folded not in taken}
        for column in [each for each in dict.fromkeys(places.values()) if self.folded.count(each) > 1]:
            self._twice(column)
        if not places:
            self.faults.error(self.place, f"has no column for a rater, but {self.shown}")
        return {self.cells[at]: at for at in places}

    def _twice(self, column: str) -> None:
        times = self.folded.count(column)
        self.faults.error(self.place, f"has the column {column} {times} times; keep one")


def _named(columns: Sequence[str]) -> str:
    names = [quoted(column) for column in columns[:_SHOWN]] or ["no columns"]
    more = len(columns) - _SHOWN
    return listed([*names, f"{more} more"] if more > 0 else names, "and")


# --- rows --------------------------------------------------------------------------------------

Misfits = list[tuple[int, str]]
"""Number of a row and what is wrong with it."""


def gather_ratings(raw: RawTable, columns: Columns, faults: Faults) -> RatingsTable:
    """Read all rows; those with a fault are left out."""
    misfits: Misfits = []
    has_dimensions = DIMENSION in columns.keys
    builder = TableBuilder(columns.slices, has_dimensions=has_dimensions)
    nameless = {at for at, cell in enumerate(raw.header) if not cell.strip()}
    for numbers, rows in raw.blocks():
        kept, even = _evened(numbers, rows, len(raw.header), misfits)
        cells: list[Sequence[str]] = list(zip(*even, strict=True))
        if not cells:
            continue
        keys = {name: cells[at] for name, at in columns.keys.items()}
        if columns.raters is None:
            builder.add(kept, keys, cells[columns.rater], cells[columns.value])
            continue
        for rater, at in columns.raters.items():
            builder.add(kept, keys, rater, cells[at])
        for at in sorted(nameless):
            if any(map(str.strip, cells[at])):
                nameless.remove(at)
                faults.error(raw.header_place, f"column {at + 1} has no name; name it after its rater")
    table = builder.build()
    whole = without_gaps(table, raw.source.word, misfits)
    for number, message in sorted(misfits, key=lambda misfit: misfit[0]):
        faults.error(raw.source.row(number), message)
    return whole


def _evened(
    numbers: Sequence[int], rows: Sequence[Sequence[str]], width: int, misfits: Misfits
) -> tuple[Sequence[int], Sequence[Sequence[str]]]:
    """Return the rows with as many cells as the header has, blank where a row is shorter."""
    if set(map(len, rows)) == {width}:
        return numbers, rows
    kept: list[int] = []
    even: list[Sequence[str]] = []
    for number, row in zip(numbers, rows, strict=True):
        if any(map(str.strip, row[width:])):
            misfits.append(
                (number, f"has {len(row)} cells, the header {width}; quote cells that hold a comma")
            )
            continue
        kept.append(number)
        even.append([*row[:width], *[""] * (width - len(row))])
    return kept, even


def without_gaps(table: RatingsTable, row_word: str, misfits: Misfits) -> RatingsTable:
    """Leave out rows that do not say who rated what; the row of a wide table is named once."""
    named = (("unit", table.units), ("rater", table.raters), (DIMENSION, table.dimensions))
    for word, column in named:
        rows = column.blanks() if column else ()
        for number in dict.fromkeys(int(table.numbers[row]) for row in rows):
            misfits.append((number, f"has no {word}; fill it in or delete the {row_word}"))
    return table.without([column.blanks() for _, column in named if column])
