"""Coefficients over all raters.

Sums run over value counts, never over pairs of ratings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import numpy as np

from sheetsync.domain.agreement.differences import mid_ranks, squared_differences, without_ratio
from sheetsync.domain.agreement.statistic import (
    BoolArray,
    Evaluate,
    FloatArray,
    IntArray,
    OfSums,
    Statistic,
    ratio_or_nan,
)
from sheetsync.domain.agreement.unit_counts import UnitCounts, Weights, agreement_weights, distances
from sheetsync.domain.study import MeasurementLevel


@dataclass(frozen=True)
class Disagreements:
    """What alpha compares, per sample; all four with shape (B,).

    Attributes:
        observed: sum over units of the squared differences of their pairs, per rating less one.
        expected: sum of the squared differences of all pairs of ratings, whatever their unit.
        n: pairable ratings.
        varied: whether two of them differ.
    """

    observed: FloatArray
    expected: FloatArray
    n: FloatArray
    varied: BoolArray


Compare = Callable[[FloatArray], Disagreements]
"""Sums over units, with shape (B, C), or multiplicities, with shape (B, P), to what alpha compares."""

_FEW_LEVELS = 12
"""Up to so many levels the pairs of levels are fewer numbers than the ratings of each pattern."""


def alpha(units: UnitCounts, level: MeasurementLevel) -> Statistic:
    """Krippendorff's alpha: 1 - observed / expected disagreement, both from the pairable units."""

    def value(found: Disagreements) -> FloatArray:
        return 1 - ratio_or_nan((found.n - 1) * found.observed, found.expected, found.varied)

    evaluate = _evaluate(units, level, value)
    return units.statistic(evaluate, units.variation_reason or _metric_reason(units, level))


def observed_disagreement(units: UnitCounts, level: MeasurementLevel) -> Statistic:
    """Alpha's mean squared difference within units; for ordinal data in squared ranks."""

    def value(found: Disagreements) -> FloatArray:
        return ratio_or_nan(found.observed, found.n, found.n > 0)

    return _disagreement(units, level, _evaluate(units, level, value))


def expected_disagreement(units: UnitCounts, level: MeasurementLevel) -> Statistic:
    """Alpha's mean squared difference of any two pairable ratings; for ordinal data in squared ranks."""

    def value(found: Disagreements) -> FloatArray:
        return ratio_or_nan(found.expected, found.n * (found.n - 1), found.n > 1)

    return _disagreement(units, level, _evaluate(units, level, value))


def _disagreement(units: UnitCounts, level: MeasurementLevel, evaluate: Evaluate) -> Statistic:
    """Return a disagreement, which without any variation is 0 and not undefined."""
    reason = units.unpaired_reason or _metric_reason(units, level)
    return units.statistic(evaluate, reason, perfect=0.0, bounds=(0.0, np.inf))


def _metric_reason(units: UnitCounts, level: MeasurementLevel) -> str | None:
    """Why the difference function is undefined: a ratio of two values whose sum is 0."""
    if level != "ratio":
        return None
    opposite = without_ratio(units.scale[units.pairable_levels])
    return "undefined_for_values" if opposite.any() else None


def _evaluate(
    units: UnitCounts, level: MeasurementLevel, value: Callable[[Disagreements], FloatArray]
) -> Evaluate:
    """Return how a number follows from what alpha compares."""
    if level != "ordinal":
        summands, compare = _compare_values(units, level)
    elif units.pairable_levels.sum() <= _FEW_LEVELS:
        summands, compare = _compare_ranks(units)
    else:
        compare = _compare_patterns(units)
        return lambda weights: value(compare(weights))
    return OfSums(summands, lambda sums: value(compare(sums)))


def _pairable_counts(units: UnitCounts) -> tuple[FloatArray, FloatArray]:
    """Counts of the levels that occur, 0 where a unit has one rating, and 1 / (ratings - 1)."""
    counts = units.counts if units.pairable_levels.all() else units.counts[:, units.pairable_levels]
    counts = counts if units.pairable.all() else counts * units.pairable[:, None]
    return counts, 1 / np.maximum(units.n_ratings - 1, 1)


def _compare_values(
    units: UnitCounts, level: Literal["nominal", "interval", "ratio"]
) -> tuple[FloatArray, Compare]:
    """Compare by a difference function that does not depend on the ratings."""
    counts, shares = _pairable_counts(units)
    values = units.scale[units.pairable_levels]
    squared = squared_differences(values, level)
    disagreement = ((counts @ squared) * counts).sum(axis=1) * shares
    centred = values - values.mean() if len(values) else values

    def expected(totals: FloatArray, n: FloatArray) -> FloatArray:
        """Sum of the squared differences of all pairs; short forms where there is one."""
        if level == "nominal":
            return np.asarray(n**2 - (totals**2).sum(axis=1))
        if level == "interval":
            return np.asarray(2 * (n * (totals @ centred**2) - (totals @ centred) ** 2))
        return np.asarray(((totals @ squared) * totals).sum(axis=1))

    def compare(sums: FloatArray) -> Disagreements:
        totals = sums[:, 1:]
        n = totals.sum(axis=1)
        return Disagreements(sums[:, 0], expected(totals, n), n, (totals > 0).sum(axis=1) > 1)

    return np.column_stack([disagreement, counts]), compare


def _compare_ranks(units: UnitCounts) -> tuple[FloatArray, Compare]:
    """Compare by ranks: the squared difference of two levels is that of their mean ranks.

    What is summed over units are the totals and the coincidences of two different levels.
    """
    counts, shares = _pairable_counts(units)
    low, high = _level_pairs(counts.shape[1])
    coincidences = counts[:, low] * counts[:, high] * shares[:, None]

    def compare(sums: FloatArray) -> Disagreements:
        totals = sums[:, : counts.shape[1]]
        n, ranks = totals.sum(axis=1), mid_ranks(totals)
        apart = ranks.take(high, axis=1) - ranks.take(low, axis=1)
        observed = 2 * np.einsum("bl,bl,bl->b", sums[:, counts.shape[1] :], apart, apart)
        return Disagreements(observed, _expected_ranks(totals, ranks, n), n, (totals > 0).sum(axis=1) > 1)

    return np.concatenate([counts, coincidences], axis=1), compare


@cache
def _level_pairs(n_levels: int) -> tuple[IntArray, IntArray]:
    """Return the lower and the higher of every two levels."""
    low, high = np.triu_indices(n_levels, 1)
    return low, high


def _compare_patterns(units: UnitCounts) -> Compare:
    """Compare by ranks where there are many levels, without a number per pair of levels."""
    counts, shares = _pairable_counts(units)

    def compare(weights: FloatArray) -> Disagreements:
        totals = weights @ counts
        n, ranks = totals.sum(axis=1), mid_ranks(totals)
        within = units.n_ratings * (ranks**2 @ counts.T) - (ranks @ counts.T) ** 2
        observed = 2 * np.einsum("bp,bp,p->b", weights, within, shares)
        return Disagreements(observed, _expected_ranks(totals, ranks, n), n, (totals > 0).sum(axis=1) > 1)

    return compare


def _expected_ranks(totals: FloatArray, ranks: FloatArray, n: FloatArray) -> FloatArray:
    """Sum of the squared differences of all pairs; the mean of centred mid-ranks is 0, so it drops out."""
    return np.asarray(2 * n * (totals * ranks**2).sum(axis=1))


def unit_means(units: UnitCounts, weights: FloatArray) -> FloatArray:
    """Mean weight of the rater pairs within each unit, 0 where there is no pair; with shape (P,)."""
    pairs = units.n_ratings * (units.n_ratings - 1)
    sums = ((units.counts @ weights) * units.counts).sum(axis=1) - units.counts @ np.diag(weights)
    return np.asarray(np.divide(sums, pairs, out=np.zeros_like(pairs), where=units.pairable))


def mean_over_pairs(
    units: UnitCounts, weights: FloatArray, *, perfect: float, bounds: tuple[float, float]
) -> Statistic:
    """Mean over units of the mean weight of the rater pairs within the unit."""
    evaluate = _observed(units, weights)
    return units.statistic(evaluate, units.unpaired_reason, perfect=perfect, bounds=bounds)


def _observed(units: UnitCounts, weights: FloatArray) -> Evaluate:
    return _mean_of_pairable(units, unit_means(units, weights))


def _mean_of_pairable(units: UnitCounts, means: FloatArray) -> Evaluate:
    """Mean over the pairable units of a number per pattern, which is 0 for the others."""

    def evaluate(multiplicity: FloatArray) -> FloatArray:
        n_pairable = units.pairable_of(multiplicity).sum(axis=1)
        return ratio_or_nan(multiplicity @ means, n_pairable, n_pairable > 0)

    return evaluate


def within(units: UnitCounts, k: float) -> Statistic:
    """Share of rater pairs at most k apart."""
    distance = distances(units.scale)
    agree = (distance <= k) | np.isclose(distance, k, rtol=1e-9, atol=0)
    return replace(mean_over_pairs(units, agree.astype(float), perfect=1.0, bounds=(0.0, 1.0)), k=k)


def within_all(units: UnitCounts, k: float) -> Statistic:
    """Share of pairable units in which all ratings lie at most k apart."""
    given = units.counts > 0
    highest = np.where(given, units.scale, -np.inf).max(axis=1, initial=-np.inf)
    lowest = np.where(given, units.scale, np.inf).min(axis=1, initial=np.inf)
    spread = highest - lowest
    agree = units.pairable & ((spread <= k) | np.isclose(spread, k, rtol=1e-9, atol=0))
    evaluate = _mean_of_pairable(units, agree.astype(float))
    return replace(units.statistic(evaluate, units.unpaired_reason, bounds=(0.0, 1.0)), k=k)


def exact(units: UnitCounts) -> Statistic:
    """Share of rater pairs that agree."""
    return replace(within(units, 0), k=None)


def mean_abs_difference(units: UnitCounts) -> Statistic:
    """Mean distance of two raters of a unit."""
    return mean_over_pairs(units, distances(units.scale), perfect=0.0, bounds=(0.0, np.inf))


def gwet_ac(units: UnitCounts, weights: Weights) -> Statistic:
    """Gwet's AC1 (identity weights) or AC2: chance from how evenly the categories are used."""
    agree = agreement_weights(units.scale, weights)
    q = max(len(units.scale), 2)

    def chance(shares: FloatArray) -> FloatArray:
        return np.asarray(agree.sum() / (q * (q - 1)) * (shares * (1 - shares)).sum(axis=1))

    return units.statistic(_corrected(units, agree, chance), units.category_reason, unpaired=True)


def fleiss_kappa(units: UnitCounts, weights: Weights) -> Statistic:
    """Fleiss' kappa in Gwet's generalisation: chance from the category shares."""
    agree = agreement_weights(units.scale, weights)

    def chance(shares: FloatArray) -> FloatArray:
        both = shares if weights == "identity" else shares @ agree
        return np.asarray((both * shares).sum(axis=1))

    return units.statistic(_corrected(units, agree, chance), units.variation_reason, unpaired=True)


def brennan_prediger(units: UnitCounts, weights: Weights) -> Statistic:
    """Brennan and Prediger's coefficient: every category equally likely by chance."""
    agree = agreement_weights(units.scale, weights)

    def chance(shares: FloatArray) -> FloatArray:
        return np.full(len(shares), agree.mean())

    return units.statistic(_corrected(units, agree, chance), units.category_reason)


def _corrected(units: UnitCounts, agree: FloatArray, chance: Evaluate) -> Evaluate:
    """(observed - chance) / (1 - chance), chance from the mean category shares of rated units."""
    shares = units.counts / np.maximum(units.n_ratings, 1)[:, None]
    observed = _observed(units, agree)

    def evaluate(multiplicity: FloatArray) -> FloatArray:
        total = np.maximum(multiplicity.sum(axis=1, keepdims=True), 1)
        expected = chance(multiplicity @ shares / total)
        return ratio_or_nan(observed(multiplicity) - expected, 1 - expected, expected < 1 - 1e-12)

    return evaluate
