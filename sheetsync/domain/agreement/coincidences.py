"""The two disagreements that alpha compares, from Krippendorff's table of coincidences.

A table counts the ordered pairs of ratings within units: cell (c, k) is the sum over units of the pairs
of a c and a k, each pair weighted by 1 / (m - 1) with m ratings of the unit, so that rows add up to how
often each level was given in pairable units. Tables add up: over units, and over dimensions where their
levels are put on one scale. Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.

Positions are raters x units on the declared scale, -1 where there is no rating. The differences of
levels are divided by that of the lowest and the highest declared level (X4), which leaves alpha as it is
and makes disagreements of different scales comparable: 0 where ratings are equal, 1 where all pairs lie
the whole scale apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sheetsync.domain.agreement.differences import (
    squared_differences,
    squared_rank_differences,
    without_ratio,
)
from sheetsync.domain.agreement.reliability import reliability_data
from sheetsync.domain.agreement.statistic import BoolArray, FloatArray, IntArray, ratio_or_nan
from sheetsync.domain.agreement.unit_counts import count_units
from sheetsync.domain.study import MeasurementLevel


@dataclass(frozen=True, eq=False)
class Measure:
    """How far two levels are apart.

    Attributes:
        numbers: the declared levels as numbers, from low to high, with shape (K,).
        level: the level of measurement.
    """

    numbers: FloatArray
    level: MeasurementLevel

    def squared(self, totals: FloatArray) -> FloatArray:
        """Return the squared difference of every two levels; 1 between the ends of the scale.

        Args:
            totals: how often each level was given in pairable units, with shape (..., K); only the
                ordinal difference depends on it.

        Returns:
            Shape (..., K, K). Undivided where the ends have no difference, see `has_ends`.
        """
        if self.level == "ordinal":
            raw = squared_rank_differences(totals)
        else:
            raw = np.broadcast_to(
                squared_differences(self.numbers, self.level), (*totals.shape, len(self.numbers))
            )
        ends = raw[..., :1, -1:]
        return np.asarray(np.divide(raw, ends, out=raw.copy(), where=ends > 0))

    @property
    def has_ends(self) -> bool:
        """Whether the ends of the scale have a difference; not those of a ratio scale from -a to a."""
        return (
            self.level != "ratio" or not without_ratio(self.numbers[:: max(len(self.numbers) - 1, 1)]).any()
        )


@dataclass(frozen=True, eq=False)
class Coincidences:
    """The table of one dimension and what alpha makes of it.

    Attributes:
        table: weighted pairs of levels, with shape (K, K).
        measure: how far levels are apart.
    """

    table: FloatArray
    measure: Measure

    @cached_property
    def totals(self) -> FloatArray:
        """How often each level was given in pairable units, with shape (K,)."""
        return np.asarray(self.table.sum(axis=-1))

    @property
    def n(self) -> float:
        """Number of ratings in pairable units."""
        return float(self.totals.sum())

    @cached_property
    def squared(self) -> FloatArray:
        """The squared difference of every two levels, with shape (K, K)."""
        return self.measure.squared(self.totals)

    @property
    def observed(self) -> float:
        """Mean squared difference of two ratings of one unit, 0 without any."""
        return float(mean_disagreements(self.table, self.measure)[0])

    @property
    def expected(self) -> float:
        """Mean squared difference of two ratings of whichever units, 0 without any."""
        return float(mean_disagreements(self.table, self.measure)[1])

    @property
    def alpha(self) -> float | None:
        """1 minus observed over expected; None where nothing varies."""
        value = float(alphas(self.table, self.measure))
        return None if np.isnan(value) else value


def mean_disagreements(tables: FloatArray, measure: Measure) -> tuple[FloatArray, FloatArray]:
    """Return observed and expected disagreement of each table; 0 where a table is empty.

    Args:
        tables: shape (..., K, K).
        measure: how far levels are apart.
    """
    totals = tables.sum(axis=-1)
    squared = measure.squared(totals)
    n = totals.sum(axis=-1)
    observed = (tables * squared).sum(axis=(-1, -2)) / np.maximum(n, 1)
    # Differences of a level to itself are 0, so that n_c * n_k serves for all pairs of ratings.
    pairs = totals[..., :, None] * totals[..., None, :]
    expected = (pairs * squared).sum(axis=(-1, -2)) / np.maximum(n * (n - 1), 1)
    return observed, expected


def alphas(tables: FloatArray, measure: Measure) -> FloatArray:
    """Return alpha of each table, NaN where nothing varies."""
    observed, expected = mean_disagreements(tables, measure)
    return 1 - ratio_or_nan(observed, expected, expected > 0)


def count_levels(positions: IntArray, n_levels: int) -> FloatArray:
    """Return how many ratings of each level every unit received, with shape (U, K)."""
    counts = np.zeros((positions.shape[1], n_levels))
    for given in positions:
        units = np.flatnonzero(given >= 0)
        counts[units, given[units]] += 1
    return counts


def tabulate(positions: IntArray, measure: Measure) -> Coincidences:
    """Return the coincidences of a dimension."""
    units = count_units(reliability_data(positions, measure.numbers), measure.numbers)
    return Coincidences(table_of_counts(units.counts, units.multiplicity), measure)


def table_of_counts(counts: FloatArray, multiplicity: FloatArray) -> FloatArray:
    """Return the table of units given by their counts of levels, with shape (K, K).

    Args:
        counts: ratings of each level, with shape (P, K).
        multiplicity: how many units have these counts, with shape (P,).
    """
    ratings = counts.sum(axis=1)
    used = ratings >= 2
    pairable = counts[used]
    weighted = pairable * (multiplicity[used] / (ratings[used] - 1))[:, None]
    return np.asarray(weighted.T @ pairable - np.diag(weighted.sum(axis=0)))


def shares_of_units(counts: FloatArray, squared: FloatArray) -> FloatArray:
    """Return the share of every unit in the observed disagreement, with shape (U,); 0 where there is none."""
    ratings = counts.sum(axis=1)
    sums = ((counts @ squared) * counts).sum(axis=1)
    sums = np.divide(sums, ratings - 1, out=np.zeros_like(sums), where=ratings >= 2)
    total = sums.sum()
    return np.asarray(sums / total if total > 0 else np.zeros_like(sums))


def is_pairable(positions: IntArray) -> BoolArray:
    """Return which units have two or more ratings, with shape (U,)."""
    return np.asarray((positions >= 0).sum(axis=0) >= 2)
