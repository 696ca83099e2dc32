"""How many ratings of each level a unit received: what every coefficient over all raters is made of.

Units with the same counts are handled together (see `statistic`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log2
from typing import Literal, Self

import numpy as np

from sheetsync.domain.agreement.statistic import (
    BoolArray,
    Evaluate,
    FloatArray,
    IntArray,
    Statistic,
    positions_on_scale,
)

Weights = Literal["identity", "linear", "quadratic", "ordinal"]
"""How far two levels agree; linear and quadratic go by their numbers, ordinal by their order alone."""


@dataclass(frozen=True)
class UnitCounts:
    """The distinct value counts of the units that have a rating, sorted.

    Attributes:
        counts: ratings of each level, with shape (P, K).
        multiplicity: units with these counts, with shape (P,).
        scale: the declared levels as numbers, with shape (K,).
    """

    counts: FloatArray
    multiplicity: FloatArray
    scale: FloatArray

    @cached_property
    def n_ratings(self) -> FloatArray:
        """Ratings per unit, with shape (P,)."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def pairable(self) -> BoolArray:
        """Which patterns have two or more ratings, with shape (P,)."""
        return np.asarray(self.n_ratings >= 2)

    def pairable_of(self, weights: FloatArray) -> FloatArray:
        """Return the columns of the pairable patterns, without a copy where that is all of them."""
        return weights if self.pairable.all() else weights[:, self.pairable]

    @cached_property
    def unpaired_reason(self) -> str | None:
        """Why nothing can be compared, or None."""
        return None if self.pairable.any() else "no_pairable_units"

    @cached_property
    def pairable_levels(self) -> BoolArray:
        """Which levels occur among pairable ratings, with shape (K,)."""
        return np.asarray(self.pairable @ self.counts > 0)

    @cached_property
    def variation_reason(self) -> str | None:
        """Why a coefficient that needs two different ratings is undefined, or None."""
        if self.unpaired_reason or self.pairable_levels.sum() > 1:
            return self.unpaired_reason
        return "no_variation"

    @cached_property
    def category_reason(self) -> str | None:
        """Why a coefficient that needs two categories is undefined, or None."""
        return self.unpaired_reason or (None if len(self.scale) > 1 else "single_category")

    def statistic(
        self,
        evaluate: Evaluate,
        reason: str | None,
        *,
        unpaired: bool = False,
        perfect: float = 1.0,
        bounds: tuple[float, float] = (-np.inf, 1.0),
    ) -> Statistic:
        """Return a statistic over these units; `unpaired` units matter where their ratings enter it."""
        matters = np.ones_like(self.pairable) if unpaired else self.pairable
        return Statistic(evaluate, self.multiplicity, self.pairable, matters, reason, perfect, bounds)


def count_units(data: FloatArray, scale: Sequence[float] | FloatArray) -> UnitCounts:
    """Count the ratings of each level per unit and merge equal units.

    Args:
        data: reliability data, raters x units, levels as numbers, NaN for a missing rating.
        scale: the declared levels, from low to high, each once.

    Raises:
        ValueError: a rating is not on the scale.
    """
    levels = np.asarray(scale, dtype=float)
    matrix = np.asarray(data, dtype=float)
    radix = matrix.shape[0] + 1
    if len(levels) * log2(radix) > _KEY_BITS:
        return _count_sorted(positions_on_scale(matrix, levels), levels)
    powers = radix ** np.arange(len(levels) - 1, -1, -1, dtype=np.int64)
    tally = _Tally(radix ** len(levels))
    small = np.uint8 if radix <= 256 else np.int64  # a third of the time where it is enough
    for block in _blocks(matrix, len(levels)):
        counts = np.add.reduce(block == levels[:, None, None], axis=1, dtype=small)
        tally.add(powers @ counts)
    found = _decode(tally, powers, radix, levels)
    n_found = found.multiplicity @ found.n_ratings
    if n_found < matrix.size and n_found < np.count_nonzero(matrix == matrix):  # noqa: PLR0124 - NaN is not
        raise ValueError("Every rating must be a level of the declared scale.")
    return found


def count_cells(units: IntArray, positions: IntArray, scale: FloatArray) -> UnitCounts:
    """Count as `count_units`, from one row per rating, without ever laying out raters x units.

    Args:
        units: index of the unit of each rating, from 0; no unit has two of one rater.
        positions: the rating as its position on the scale.
        scale: the declared levels as numbers.
    """
    return count_tables(units, positions, np.zeros(len(units), dtype=np.int64), 1, scale)[0]


def count_tables(
    units: IntArray, positions: IntArray, tables: IntArray, n_tables: int, scale: FloatArray
) -> list[UnitCounts]:
    """Count several dimensions with one scale in one pass over their ratings.

    Args:
        units: index of the unit of each rating, from 0; no unit has two of one rater on one dimension.
        positions: the rating as its position on the scale.
        tables: index of the dimension of each rating.
        n_tables: number of dimensions.
        scale: the declared levels as numbers.
    """
    places = units * n_tables + tables
    n_ratings = np.bincount(places, minlength=n_tables)
    radix = int(n_ratings.max()) + 1
    if len(scale) * log2(radix) > _KEY_BITS:
        sheet = _lay_out(places, positions, n_ratings)
        return [_count_sorted(sheet[:, table::n_tables], scale) for table in range(n_tables)]
    powers = radix ** np.arange(len(scale) - 1, -1, -1, dtype=np.int64)
    keys = np.zeros(len(n_ratings), dtype=np.int64)
    np.add.at(keys, places, powers[positions])
    return [
        _decode(_Tally.of(keys[table::n_tables], radix ** len(scale)), powers, radix, scale)
        for table in range(n_tables)
    ]


def _lay_out(places: IntArray, positions: IntArray, n_ratings: IntArray) -> IntArray:
    """Return the ratings of each place, sorted, in a column of its own; -1 where there are no more."""
    order = np.lexsort((positions, places))
    sheet = np.full((int(n_ratings.max()), len(n_ratings)), -1, dtype=np.int64)
    starts = np.cumsum(n_ratings) - n_ratings
    sheet[np.arange(len(places)) - np.repeat(starts, n_ratings), places[order]] = positions[order]
    return sheet


def _decode(tally: _Tally, powers: IntArray, radix: int, levels: FloatArray) -> UnitCounts:
    keys, multiplicity = tally.found
    return UnitCounts((keys[:, None] // powers % radix).astype(float), multiplicity.astype(float), levels)


_KEY_BITS = 62
"""What a key of a unit's counts may need; with more, units are compared rating by rating."""

_TABLE = 1 << 20
"""Up to so many possible keys they are counted in a table, beyond by sorting."""

_BLOCK = 1 << 18
"""Comparisons in a block of units: they stay in the processor's cache, and so memory stays small."""


def _blocks(matrix: FloatArray, n_levels: int) -> Iterator[FloatArray]:
    step = max(1, _BLOCK // max(matrix.shape[0] * n_levels, 1))
    for start in range(0, matrix.shape[1], step):
        yield matrix[:, start : start + step]


class _Tally:
    """How often each key occurs; key 0, a unit without ratings, does not count."""

    def __init__(self, size: int) -> None:
        self._table = np.zeros(size, dtype=np.int64) if size <= _TABLE else None
        self._keys: list[IntArray] = []

    def add(self, keys: IntArray) -> None:
        if self._table is None:
            self._keys.append(keys)
        else:
            self._table += np.bincount(keys, minlength=len(self._table))

    @classmethod
    def of(cls, keys: IntArray, size: int) -> Self:
        tally = cls(size)
        tally.add(keys)
        return tally

    @property
    def found(self) -> tuple[IntArray, IntArray]:
        """The keys that occur, sorted, and how often."""
        if self._table is not None:
            self._table[:1] = 0
            keys = np.flatnonzero(self._table)
            return keys, self._table[keys]
        keys, multiplicity = np.unique(np.concatenate(self._keys), return_counts=True)
        start = int(len(keys) > 0 and keys[0] == 0)
        return keys[start:], multiplicity[start:]


def _count_sorted(positions: IntArray, levels: FloatArray) -> UnitCounts:
    """Count where keys would be too large: equal units show the same ratings once these are sorted."""
    ratings = np.sort(positions, axis=0)[::-1]
    ratings, multiplicity = np.unique(ratings[:, (ratings >= 0).any(axis=0)], axis=1, return_counts=True)
    raters, patterns = np.nonzero(ratings >= 0)
    counts = np.zeros((ratings.shape[1], len(levels)))
    np.add.at(counts, (patterns, ratings[raters, patterns]), 1)
    return UnitCounts(counts, multiplicity.astype(float), levels)


def agreement_weights(scale: FloatArray, weights: Weights) -> FloatArray:
    """Return how far two levels agree, from 0 to 1, with shape (K, K).

    Gwet (2014) Handbook of Inter-Rater Reliability, 4th ed., section 3.5. Ordinal weights count the
    pairs of levels that can be formed from two levels and those between them.
    """
    if weights == "identity" or len(scale) < 2:
        return np.eye(len(scale))
    if weights == "ordinal":
        steps = distances(np.arange(float(len(scale))))
        return 1 - (steps + 1) * steps / (len(scale) * (len(scale) - 1))
    distance = distances(scale) / np.ptp(scale)
    return 1 - distance if weights == "linear" else 1 - distance**2


def distances(scale: FloatArray) -> FloatArray:
    """Return |a - b| for every two levels, with shape (K, K)."""
    return np.asarray(np.abs(scale[:, None] - scale[None, :]))
