"""How many ratings of each level a unit received: what every coefficient over all raters is made of.

Units with the same counts are handled together (see `statistic`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from sheetsync.domain.statistic import (
    BoolArray,
    Evaluate,
    FloatArray,
    Statistic,
    positions_on_scale,
)

Weights = Literal["identity", "linear", "quadratic"]


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
        return np.asarray(self.counts[self.pairable].any(axis=0))

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
        scale: the declared levels, from low to high.
    """
    levels = np.asarray(scale, dtype=float)
    positions = positions_on_scale(np.asarray(data, dtype=float), levels)
    n_units = positions.shape[1]
    raters, units = np.nonzero(positions >= 0)
    cells = units * len(levels) + positions[raters, units]
    counts = np.bincount(cells, minlength=n_units * len(levels)).reshape(n_units, len(levels))
    counts = counts[counts.any(axis=1)]
    if not len(counts):
        return UnitCounts(np.zeros((0, len(levels))), np.zeros(0), levels)
    patterns, multiplicity = np.unique(counts, axis=0, return_counts=True)
    return UnitCounts(patterns.astype(float), multiplicity.astype(float), levels)


def agreement_weights(scale: FloatArray, weights: Weights) -> FloatArray:
    """Return how far two levels agree, from 0 to 1, with shape (K, K)."""
    if weights == "identity" or len(scale) < 2:
        return np.eye(len(scale))
    distance = distances(scale) / np.ptp(scale)
    return 1 - distance if weights == "linear" else 1 - distance**2


def distances(scale: FloatArray) -> FloatArray:
    """Return |a - b| for every two levels, with shape (K, K)."""
    return np.asarray(np.abs(scale[:, None] - scale[None, :]))
