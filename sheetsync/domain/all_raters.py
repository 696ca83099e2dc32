"""Coefficients over all raters.

Sums run over value counts, never over pairs of ratings.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sheetsync.domain.statistic import BoolArray, Evaluate, FloatArray, Statistic, ratio_or_nan
from sheetsync.domain.study import MeasurementLevel
from sheetsync.domain.unit_counts import UnitCounts, Weights, agreement_weights, distances


def alpha(units: UnitCounts, level: MeasurementLevel) -> Statistic:
    """Krippendorff's alpha: 1 - observed / expected disagreement, both from the pairable units."""
    seen = units.pairable_levels
    evaluate = _ordinal_alpha(units, seen) if level == "ordinal" else _metric_alpha(units, seen, level)
    values = units.scale[seen]
    opposite = (values[:, None] + values[None, :] == 0) & (values[:, None] != values[None, :])
    undefined = "undefined_for_values" if level == "ratio" and opposite.any() else None
    return units.statistic(evaluate, units.variation_reason or undefined)


def _squared_differences(values: FloatArray, level: MeasurementLevel) -> FloatArray:
    """The difference function of Krippendorff (2011) section 5, without the ordinal one."""
    if level == "nominal":
        return 1 - np.eye(len(values))
    difference = values[:, None] - values[None, :]
    if level == "interval":
        return np.asarray(difference**2)
    total = values[:, None] + values[None, :]
    return np.asarray(np.divide(difference, total, out=np.zeros_like(total), where=total != 0) ** 2)


def _metric_alpha(units: UnitCounts, seen: BoolArray, level: MeasurementLevel) -> Evaluate:
    """Alpha with a difference function that does not depend on the ratings."""
    counts, n_ratings = units.counts[units.pairable][:, seen], units.n_ratings[units.pairable]
    values = units.scale[seen]
    squared = _squared_differences(values, level)
    disagreement = ((counts @ squared) * counts).sum(axis=1) / (n_ratings - 1)
    centred = values - values.mean() if len(values) else values

    def expected(totals: FloatArray, n: FloatArray) -> FloatArray:
        """Sum of the squared differences of all pairs; short forms where there is one."""
        if level == "nominal":
            return np.asarray(n**2 - (totals**2).sum(axis=1))
        if level == "interval":
            return np.asarray(2 * (n * (totals @ centred**2) - (totals @ centred) ** 2))
        return np.asarray(((totals @ squared) * totals).sum(axis=1))

    def evaluate(weights: FloatArray) -> FloatArray:
        used = units.pairable_of(weights)
        totals = used @ counts
        n = totals.sum(axis=1)
        defined = (totals > 0).sum(axis=1) > 1
        return 1 - ratio_or_nan((n - 1) * (used @ disagreement), expected(totals, n), defined)

    return evaluate


def _ordinal_alpha(units: UnitCounts, seen: BoolArray) -> Evaluate:
    """Alpha on ranks: the squared difference of two levels is that of their mean ranks.

    Krippendorff's sum of n_g from c to k minus (n_c + n_k) / 2 is the distance of the mid-ranks of
    c and k, so both disagreements follow from sums of mid-ranks and of their squares.
    """
    counts, n_ratings = units.counts[units.pairable][:, seen], units.n_ratings[units.pairable]

    def evaluate(weights: FloatArray) -> FloatArray:
        used = units.pairable_of(weights)
        totals = used @ counts
        n = totals.sum(axis=1)
        ranks = np.cumsum(totals, axis=1) - totals / 2 - n[:, None] / 2
        within = n_ratings * (ranks**2 @ counts.T) - (ranks @ counts.T) ** 2
        observed = np.einsum("bp,bp,p->b", used, within, 1 / (n_ratings - 1))
        # The mean of the centred mid-ranks is 0, so their sum drops out here.
        expected = n * (totals * ranks**2).sum(axis=1)
        return 1 - ratio_or_nan((n - 1) * observed, expected, (totals > 0).sum(axis=1) > 1)

    return evaluate


def _unit_means(units: UnitCounts, weights: FloatArray) -> FloatArray:
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
    means = _unit_means(units, weights)

    def evaluate(multiplicity: FloatArray) -> FloatArray:
        n_pairable = units.pairable_of(multiplicity).sum(axis=1)
        return ratio_or_nan(multiplicity @ means, n_pairable, n_pairable > 0)

    return evaluate


def within(units: UnitCounts, k: float) -> Statistic:
    """Share of rater pairs at most k apart."""
    distance = distances(units.scale)
    agree = (distance <= k) | np.isclose(distance, k, rtol=1e-9, atol=0)
    return replace(mean_over_pairs(units, agree.astype(float), perfect=1.0, bounds=(0.0, 1.0)), k=k)


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
