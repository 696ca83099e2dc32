"""A dimension's rows of a table of ratings -> its cells: one per rating, with a position on the scale.

Rows are only ever looked at one by one where several stand for the same rating.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from sheetsync.domain.agreement.ratings_table import Column, RatingsTable
from sheetsync.domain.agreement.reliability import BLANK, INVALID, WITHOUT_VALUE, Cells, DimensionData, Labels
from sheetsync.domain.agreement.statistic import IntArray
from sheetsync.domain.study import NOT_APPLICABLE, LevelValue, MeasurementLevel

Twice = Callable[[int, int], None]
"""Called with two rows that stand for the same rating and say something different."""


@dataclass(frozen=True)
class Meaning:
    """What the texts of one dimension stand for.

    Attributes:
        level: its level of measurement.
        scale: its levels, from low to high.
        values: a level or "N/A" per text; a text without an entry is off the scale.
        comparable: what two texts off the scale are compared by.
    """

    level: MeasurementLevel
    scale: tuple[LevelValue, ...]
    values: Mapping[str, LevelValue]
    comparable: Callable[[str], LevelValue]


def build_dimension(
    name: str, table: RatingsTable, meaning: Meaning, on_values: Twice, on_slices: Twice
) -> DimensionData:
    """Turn the rows of one dimension into its cells.

    Raters, units and slices are sorted. A rating that stands in several rows counts once; blanks
    yield to a value. The order of the rows means nothing to what is returned.

    Args:
        name: the dimension's name.
        table: its rows.
        meaning: what its values stand for.
        on_values: told about two rows that give the same rating different values.
        on_slices: told about two rows that put the same rating into different slices.
    """
    raters, units = table.raters.used(), table.units.used()
    rater, unit = table.raters.index_along(raters), table.units.index_along(units)
    codes = _codes(table.values, meaning)
    keep = _one_row_each(unit * max(len(raters), 1) + rater, _Compared(table, meaning, codes))
    for twice, told in ((keep.values, on_values), (keep.slices, on_slices)):
        for first, second in twice:
            told(first, second)
    return DimensionData(
        name,
        meaning.level,
        meaning.scale,
        tuple(raters),
        tuple(units),
        Cells(rater[keep.rows], unit[keep.rows], codes[keep.rows]),
        full_grid=True,
        slices={by: _labels(column, keep.rows) for by, column in table.slices.items()},
    )


def _codes(values: Column, meaning: Meaning) -> IntArray:
    """Return the position on the scale per row, or why there is none."""
    position: dict[LevelValue, int] = {level: at for at, level in enumerate(meaning.scale)}
    position[NOT_APPLICABLE] = WITHOUT_VALUE

    def code(text: str) -> int:
        if not text:
            return BLANK
        return position[meaning.values[text]] if text in meaning.values else INVALID

    return np.array([code(text) for text in values.texts], dtype=np.int64)[values.codes]


@dataclass(frozen=True)
class _Compared:
    table: RatingsTable
    meaning: Meaning
    codes: IntArray

    def content(self, row: int) -> tuple[int, LevelValue]:
        """Return what the rating in a row is compared by."""
        code = int(self.codes[row])
        return code, self.meaning.comparable(self.table.values.text(row)) if code == INVALID else ""

    def slices(self, row: int) -> tuple[str, ...]:
        """Return the slices of a row."""
        return tuple(column.text(row) for column in self.table.slices.values())


@dataclass(frozen=True)
class _Kept:
    """The rows that count, and pairs of rows that contradict each other."""

    rows: IntArray
    values: list[tuple[int, int]]
    slices: list[tuple[int, int]]


def _one_row_each(keys: IntArray, compared: _Compared) -> _Kept:
    """Choose one row per key; only keys that occur more than once cost a look at their rows."""
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(keys[order]) != 0][: len(keys)])
    kept = _Kept(order[starts], [], [])
    lengths = np.diff(np.r_[starts, len(keys)])
    for at in np.flatnonzero(lengths > 1).tolist():
        rows = order[starts[at] : starts[at] + lengths[at]].tolist()
        rows = [row for row in rows if compared.codes[row] != BLANK] or rows
        kept.values.extend(
            (rows[0], row) for row in rows[1:] if compared.content(row) != compared.content(rows[0])
        )
        chosen = min(rows, key=compared.slices)
        kept.slices.extend((chosen, row) for row in rows if compared.slices(row) != compared.slices(chosen))
        kept.rows[at] = chosen
    kept.values.sort(key=lambda pair: pair[1])
    return kept


def _labels(column: Column, rows: IntArray) -> Labels:
    part = column.where(rows)
    values = tuple(text for text in part.used() if text)
    return Labels(values, part.index_along(values))


def looks_turned(data: DimensionData) -> bool:
    """Say whether raters and units were probably confused.

    More raters than units is nothing special where many people rated a few units each. But where
    more raters than units meet in most cells, a table of units by raters was probably turned, or the
    two columns swapped: alpha then looks plausible and means nothing.
    """
    raters, units = len(data.raters), len(data.units)
    return raters > max(units, 5) and units > 0 and 2 * len(data.cells.rated) > raters * units
