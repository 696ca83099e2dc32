"""A coefficient as a function of how often each kind of unit occurs.

Units with the same pattern of ratings are interchangeable, so a sample is a list of patterns with a
multiplicity each. Whatever reweights patterns (resampling units, leaving one out) is then a matrix
of multiplicities, and a coefficient is evaluated on all its rows at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

Evaluate = Callable[[FloatArray], FloatArray]
"""Multiplicities, with shape (B, P), to values, with shape (B,); NaN where undefined."""


@dataclass(frozen=True)
class OfSums:
    """An evaluation that sees the units only through sums over them: one matrix product for all samples.

    Attributes:
        summands: what each pattern adds to the sums, with shape (P, C).
        finish: sums, with shape (B, C), to values, with shape (B,); NaN where undefined.
    """

    summands: FloatArray
    finish: Evaluate

    def __call__(self, weights: FloatArray) -> FloatArray:
        """Evaluate on multiplicities, with shape (B, P)."""
        return self.finish(weights @ self.summands)

    def without_one(self, multiplicity: FloatArray, patterns: IntArray) -> FloatArray:
        """Evaluate without one unit of each of these patterns, from the sums over all units."""
        return self.finish(multiplicity @ self.summands - self.summands[patterns])


@dataclass(frozen=True)
class Statistic:
    """A coefficient that can be evaluated on reweighted units.

    Attributes:
        evaluate: the coefficient on B samples of P patterns.
        multiplicity: how many units show each pattern, with shape (P,).
        pairable: which patterns have two or more ratings, with shape (P,).
        matters: which patterns enter the coefficient, with shape (P,).
        reason: why it is undefined on these units, or None.
        perfect: the value where no two ratings differ.
        bounds: between which values it can lie.
        k: the distance that still counts as agreement, for `within`.
    """

    evaluate: Evaluate
    multiplicity: FloatArray
    pairable: BoolArray
    matters: BoolArray
    reason: str | None = None
    perfect: float = 1.0
    bounds: tuple[float, float] = (-np.inf, 1.0)
    k: float | None = None

    @cached_property
    def value(self) -> float | None:
        """The coefficient on the units as they are; None where there is a reason."""
        if self.reason:
            return None
        low, high = self.bounds
        return min(max(float(self.evaluate(self.multiplicity[None, :])[0]), low), high)

    @property
    def n_pairable(self) -> int:
        """Number of units with two or more ratings."""
        return int(self.multiplicity[self.pairable].sum())


def ratio_or_nan(numerator: FloatArray, denominator: FloatArray, defined: BoolArray) -> FloatArray:
    """Divide where defined, NaN elsewhere; never a warning."""
    if defined.all() and defined.shape == denominator.shape:
        return np.asarray(numerator / denominator)
    out = np.full(np.broadcast(numerator, denominator).shape, np.nan)
    return np.asarray(np.divide(numerator, denominator, out=out, where=defined))


def positions_on_scale(data: FloatArray, scale: FloatArray) -> IntArray:
    """Return the position of each rating on the declared scale, -1 for a missing one.

    Raises:
        ValueError: a rating is not on the scale.
    """
    rated = ~np.isnan(data)
    positions = np.full(data.shape, -1, dtype=np.int64)
    order = np.argsort(scale, kind="stable")
    places = np.searchsorted(scale, data[rated], sorter=order)
    found = order[np.minimum(places, max(len(scale) - 1, 0))] if len(scale) else places
    if (len(scale) == 0 and rated.any()) or (scale[found] != data[rated]).any():
        raise ValueError("Every rating must be a level of the declared scale.")
    positions[rated] = found
    return positions
