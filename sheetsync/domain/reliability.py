"""What was rated, and how it becomes reliability data.

Ratings come joined on unit and rater ids, never by position. Blank, not applicable and invalid
cells are told apart and counted; none of them is a rating.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sheetsync.domain.statistic import BoolArray, FloatArray, IntArray
from sheetsync.domain.study import NOT_APPLICABLE, LevelValue, MeasurementLevel

Row = tuple[str, str]
"""A rater and a unit."""

_BLANK, _NOT_APPLICABLE, _INVALID = -1, -2, -3


@dataclass(frozen=True)
class DimensionData:
    """Everything that was rated on one dimension.

    Attributes:
        dimension: its name.
        level: its level of measurement.
        scale: the declared levels, from low to high.
        raters: rater ids in the order of reports.
        units: unit ids.
        rows: the assignments of a study, or the rows that stand in a file.
        full_grid: whether every rater was to rate every unit (a file), or `rows` only (a study).
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

    @property
    def numbers(self) -> FloatArray:
        """The levels as numbers, with shape (K,): the scale itself, or positions for words."""
        if any(isinstance(level, str) for level in self.scale):
            return np.arange(len(self.scale), dtype=float)
        return np.array(self.scale, dtype=float)


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


@dataclass(frozen=True)
class Cells:
    """Rows as three equally long arrays of indexes.

    Attributes:
        raters: index of the rater.
        units: index of the unit.
        codes: position of the rating on the scale, or why there is none (negative).
    """

    raters: IntArray
    units: IntArray
    codes: IntArray

    def __len__(self) -> int:
        return len(self.codes)

    def where(self, keep: BoolArray) -> Cells:
        """Return some of the rows."""
        return Cells(self.raters[keep], self.units[keep], self.codes[keep])

    @property
    def rated(self) -> Cells:
        """The rows with a level."""
        return self.where(self.codes >= 0)

    @property
    def n_not_applicable(self) -> int:
        """Number of ratings without a value."""
        return int((self.codes == _NOT_APPLICABLE).sum())

    @property
    def n_invalid(self) -> int:
        """Number of unreadable cells."""
        return int((self.codes == _INVALID).sum())

    def positions(self, raters: IntArray, units: IntArray) -> IntArray:
        """Return positions on the scale, raters x units (sorted indexes), -1 where there is none."""
        matrix = np.full((len(raters), len(units)), -1, dtype=np.int64)
        rated = self.rated
        matrix[np.searchsorted(raters, rated.raters), np.searchsorted(units, rated.units)] = rated.codes
        return matrix


def build_cells(data: DimensionData, rows: Sequence[Row]) -> Cells:
    """Look up what stands in each row."""
    rater_at = {rater: at for at, rater in enumerate(data.raters)}
    unit_at = {unit: at for at, unit in enumerate(data.units)}
    code_of: dict[LevelValue, int] = {NOT_APPLICABLE: _NOT_APPLICABLE}
    code_of |= {level: at for at, level in enumerate(data.scale)}

    def code(row: Row) -> int:
        if row in data.invalid:
            return _INVALID
        return code_of.get(data.values[row], _INVALID) if row in data.values else _BLANK

    return Cells(
        np.array([rater_at[rater] for rater, _ in rows], dtype=np.int64),
        np.array([unit_at[unit] for _, unit in rows], dtype=np.int64),
        np.array([code(row) for row in rows], dtype=np.int64),
    )


def reliability_data(positions: IntArray, numbers: FloatArray) -> FloatArray:
    """Return the levels' numbers for positions on the scale, NaN for -1."""
    if not len(numbers):
        return np.full(positions.shape, np.nan)
    return np.where(positions >= 0, numbers[positions], np.nan)


def find_slices(data: DimensionData, rows: Sequence[Row]) -> Iterator[tuple[str, str, BoolArray]]:
    """Yield by what and which value, in the order values first appear, with the rows of that slice."""
    for by, labels, declared in _labels(data, rows):
        array = np.array(labels, dtype=object)
        for value in dict.fromkeys(declared):
            keep = np.asarray(array == value, dtype=bool)
            if value and keep.any():
                yield by, value, keep


def _labels(data: DimensionData, rows: Sequence[Row]) -> Iterator[tuple[str, list[str], Iterable[str]]]:
    for by, of_unit in data.slices.items():
        yield by, [of_unit.get(unit, "") for _, unit in rows], of_unit.values()
    for by, of_row in data.row_slices.items():
        yield by, [of_row.get(row, "") for row in rows], of_row.values()
