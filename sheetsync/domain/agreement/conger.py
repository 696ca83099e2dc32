"""Conger's kappa: chance agreement from each rater's own use of the categories.

The mean of the chance agreements of all pairs of raters; with two raters it is Cohen's kappa. It
has to know who gave which rating, so it is not made of value counts as the others are. Conger
(1980) Psychol Bull 88, 322-328; Gwet (2014) Handbook of Inter-Rater Reliability, 4th ed., for gaps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sheetsync.domain.agreement.all_raters import unit_means
from sheetsync.domain.agreement.coefficients import Coefficient, Scale, undefined
from sheetsync.domain.agreement.statistic import FloatArray, IntArray, positions_on_scale
from sheetsync.domain.agreement.unit_counts import UnitCounts, Weights, agreement_weights


@dataclass(frozen=True)
class RatedUnits:
    """The units with a rating and the raters with one, each as itself.

    Attributes:
        positions: position of each rating on the scale, raters x units, -1 for a missing one.
        scale: the declared levels as numbers, with shape (K,).
    """

    positions: IntArray
    scale: FloatArray

    @cached_property
    def units(self) -> UnitCounts:
        """The value counts, unit by unit and in their order."""
        n_units = self.positions.shape[1]
        counts = self._count(n_units, np.broadcast_to(np.arange(n_units), self.positions.shape))
        return UnitCounts(counts, np.ones(n_units), self.scale)

    @cached_property
    def _by_rater(self) -> FloatArray:
        """How often each rater gave each level, with shape (R, K)."""
        n_raters = len(self.positions)
        return self._count(n_raters, np.broadcast_to(np.arange(n_raters)[:, None], self.positions.shape))

    def _count(self, n: int, of: IntArray) -> FloatArray:
        """Count the levels of what each rating is of, with shape (n, K)."""
        given, size = self.positions >= 0, len(self.scale)
        cells = of[given] * size + self.positions[given]
        return np.bincount(cells, minlength=n * size).reshape(n, size).astype(float)

    def _agreement_with_others(self, agree: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how far each level agrees with what the other raters give, and the rater's mean of that."""
        shares = self._by_rater / self._by_rater.sum(axis=1, keepdims=True)
        others = (shares.sum(axis=0) - shares) @ agree
        return others, (others * shares).sum(axis=1)

    def chance(self, agree: FloatArray) -> float:
        """Return the chance agreement of two raters.

        Args:
            agree: how far two levels agree, with shape (K, K).
        """
        n_raters = len(self.positions)
        return float(self._agreement_with_others(agree)[1].sum() / (n_raters * (n_raters - 1)))

    def chances(self, agree: FloatArray) -> FloatArray:
        """Return what each unit adds to chance agreement, which is their mean; with shape (U,)."""
        n_raters, n_units = self.positions.shape
        others, mean = self._agreement_with_others(agree)
        per_rating = (others - mean[:, None]) * (n_units / self._by_rater.sum(axis=1, keepdims=True))
        # A missing rating, at -1, takes the last column: it adds nothing.
        table = np.column_stack([per_rating, np.zeros(n_raters)])
        parts = np.take_along_axis(table, self.positions, axis=1).sum(axis=0) + mean.sum()
        return np.asarray(parts / (n_raters * (n_raters - 1)))


def rated_units(data: FloatArray, scale: Scale) -> RatedUnits:
    """Leave out the units and the raters without any rating; arguments as `conger_kappa`."""
    levels = np.asarray(scale, dtype=float)
    return rated_positions(positions_on_scale(np.asarray(data, dtype=float), levels), levels)


def rated_positions(positions: IntArray, scale: FloatArray) -> RatedUnits:
    """Do the same to positions on the scale, -1 for a missing rating."""
    given = positions >= 0
    raters, units = given.any(axis=1), given.any(axis=0)
    if not (raters.all() and units.all()):
        positions = positions[raters][:, units]
    return RatedUnits(positions, scale)


def conger_kappa(data: FloatArray, scale: Scale, weights: Weights = "identity") -> Coefficient:
    """Return Conger's kappa.

    Args:
        data: reliability data, raters x units.
        scale: the declared levels, from low to high.
        weights: identity; linear or quadratic, on the levels' numbers; ordinal, on their order.

    Gwet (2014), table 2.10, also in the irrCAC vignettes: .76282.

    >>> nan = np.nan
    >>> table = np.array([
    ...     [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
    ...     [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, nan],
    ...     [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
    ...     [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan]])
    >>> round(conger_kappa(table, [1, 2, 3, 4, 5]).value, 5)
    0.76282
    """
    return kappa_of(rated_units(data, scale), weights)


def kappa_of(rated: RatedUnits, weights: Weights) -> Coefficient:
    """Return Conger's kappa of ratings that are laid out already."""
    units, agree = rated.units, agreement_weights(rated.scale, weights)
    if units.variation_reason:
        return undefined(units.variation_reason)
    observed, chance = unit_means(units, agree)[units.pairable].mean(), rated.chance(agree)
    return Coefficient(min(float((observed - chance) / (1 - chance)), 1.0), interval_reason="not_requested")
