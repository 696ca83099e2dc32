"""What was rated, and how it becomes reliability data.

Ratings come joined on unit and rater ids, never by position. Blank, not applicable and invalid
cells are told apart and counted; none of them is a rating.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sheetsync.domain.agreement.statistic import BoolArray, FloatArray, IntArray
from sheetsync.domain.study import NOT_APPLICABLE, LevelValue, MeasurementLevel

Row = tuple[str, str]
"""A rater and a unit."""

BLANK, WITHOUT_VALUE, INVALID = -1, -2, -3
"""Codes of rows that hold no level: nothing, "not applicable", something unreadable or off the scale."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows as three equally long arrays of indexes; a rater and a unit meet in one row at most.

    Attributes:
        raters: index of the rater.
        units: index of the unit.
        codes: position of the rating on the scale, or why there is none (negative: `BLANK`,
            `WITHOUT_VALUE` or `INVALID`).
    """

    raters: IntArray
    units: IntArray
    codes: IntArray

    def __len__(self) -> int:
        return len(self.codes)

    def where(self, keep: BoolArray) -> Cells:
        """Return some of the rows."""
        return Cells(self.raters[keep], self.units[keep], self.codes[keep])

    @cached_property
    def rated(self) -> Cells:
        """The rows with a level."""
        return self.where(self.codes >= 0)

    @property
    def n_not_applicable(self) -> int:
        """Number of ratings without a value."""
        return int((self.codes == WITHOUT_VALUE).sum())

    @property
    def n_invalid(self) -> int:
        """Number of unreadable cells."""
        return int((self.codes == INVALID).sum())

    def positions(self, raters: IntArray, units: IntArray) -> IntArray:
        """Return positions on the scale, raters x units (sorted indexes), -1 where there is none."""
        matrix = np.full((len(raters), len(units)), -1, dtype=np.int64)
        rated = self.rated
        matrix[np.searchsorted(raters, rated.raters), np.searchsorted(units, rated.units)] = rated.codes
        return matrix


@dataclass(frozen=True, eq=False)
class Labels:
    """Which slice each row belongs to, by one column.

    Attributes:
        values: the labels in the order of reports.
        codes: index into `values` per row of the cells, -1 for a row in no slice.
    """

    values: tuple[str, ...]
    codes: IntArray


@dataclass(frozen=True, eq=False)
class DimensionData:
    """Everything that was rated on one dimension, as arrays: `RatedRows.index` makes it from mappings.

    Attributes:
        dimension: its name.
        level: its level of measurement.
        scale: the declared levels, from low to high.
        raters: rater ids in the order of reports; `cells.raters` counts along them.
        units: unit ids; `cells.units` counts along them.
        cells: the assignments of a study, or the rows that stand in a file, in any order.
        full_grid: whether every rater was to rate every unit (a file), or the rows only (a study).
        slices: by what, then the slice of each row.
        questions: the question each unit answers, to name those that are hard to score; empty where
            units answer none.
    """

    dimension: str
    level: MeasurementLevel
    scale: tuple[LevelValue, ...]
    raters: tuple[str, ...]
    units: tuple[str, ...]
    cells: Cells
    full_grid: bool
    slices: Mapping[str, Labels] = field(default_factory=dict)
    questions: tuple[str, ...] = ()

    @property
    def numbers(self) -> FloatArray:
        """The levels as numbers, with shape (K,): the scale itself, or positions for words."""
        if any(isinstance(level, str) for level in self.scale):
            return np.arange(len(self.scale), dtype=float)
        return np.array(self.scale, dtype=float)

    @property
    def positions(self) -> IntArray:
        """The rating of each rater and unit as its position on the scale, -1 where there is none."""
        return self.cells.positions(np.arange(len(self.raters)), np.arange(len(self.units)))


@dataclass(frozen=True)
class RatedRows:
    """One dimension as mappings, for what is small enough to be looked up row by row.

    Attributes:
        dimension, level, scale, raters, units, full_grid: as in `DimensionData`.
        rows: the assignments of a study, or the rows that stand in a file.
        values: a declared level or "N/A" per row; a blank has no entry.
        invalid: rows with something unreadable or off the scale.
        slices: by what, then the value of each unit; a blank value belongs to no slice.
        row_slices: by what, then the value of each row: in a file a column may tell rows of one
            unit apart.
    """

    dimension: str
    level: MeasurementLevel
    scale: tuple[LevelValue, ...]
    raters: tuple[str, ...]
    units: tuple[str, ...]
    rows: frozenset[Row]
    full_grid: bool
    values: Mapping[Row, LevelValue]
    invalid: frozenset[Row] = frozenset()
    slices: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    row_slices: Mapping[str, Mapping[Row, str]] = field(default_factory=dict)
    questions: tuple[str, ...] = ()

    def index(self) -> DimensionData:
        """Return the same as arrays; a value that is not on the scale counts as invalid."""
        rows = sorted(self.rows)
        rater_at = {rater: at for at, rater in enumerate(self.raters)}
        unit_at = {unit: at for at, unit in enumerate(self.units)}
        cells = Cells(
            np.array([rater_at[rater] for rater, _ in rows], dtype=np.int64),
            np.array([unit_at[unit] for _, unit in rows], dtype=np.int64),
            np.array(self._codes(rows), dtype=np.int64),
        )
        labels = {
            by: _labels([of_unit.get(unit, "") for _, unit in rows], of_unit.values())
            for by, of_unit in self.slices.items()
        }
        labels |= {
            by: _labels([of_row.get(row, "") for row in rows], of_row.values())
            for by, of_row in self.row_slices.items()
        }
        return DimensionData(
            self.dimension,
            self.level,
            self.scale,
            self.raters,
            self.units,
            cells,
            self.full_grid,
            labels,
            self.questions,
        )

    def _codes(self, rows: Sequence[Row]) -> list[int]:
        code_of: dict[LevelValue, int] = {NOT_APPLICABLE: WITHOUT_VALUE}
        code_of |= {level: at for at, level in enumerate(self.scale)}

        def code(row: Row) -> int:
            if row in self.invalid:
                return INVALID
            return code_of.get(self.values[row], INVALID) if row in self.values else BLANK

        return [code(row) for row in rows]


def _labels(of_rows: Sequence[str], declared: Iterable[str]) -> Labels:
    """Number the labels of the rows, in the order in which they are declared; a blank is none."""
    values = tuple(value for value in dict.fromkeys(declared) if value)
    at = {value: index for index, value in enumerate(values)}
    return Labels(values, np.array([at.get(value, -1) for value in of_rows], dtype=np.int64))


@dataclass(frozen=True)
class TagData:
    """The ticks of one tag.

    Attributes:
        tag: its id.
        of: the dimension it belongs to, None for a tag of the response.
        raters: rater ids in the order of reports.
        values: ticked or not per row; no entry where the row has no score.
    """

    tag: str
    of: str | None
    raters: tuple[str, ...]
    values: Mapping[Row, bool]


def reliability_data(positions: IntArray, numbers: FloatArray) -> FloatArray:
    """Return the levels' numbers for positions on the scale, NaN for -1."""
    if not len(numbers):
        return np.full(positions.shape, np.nan)
    return np.where(positions >= 0, numbers[positions], np.nan)


def find_slices(data: DimensionData) -> Iterator[tuple[str, str, BoolArray]]:
    """Yield by what and which value, in the order of the labels, with the rows of that slice."""
    for by, labels in data.slices.items():
        for at, value in enumerate(labels.values):
            keep = np.asarray(labels.codes == at)
            if keep.any():
                yield by, value, keep
