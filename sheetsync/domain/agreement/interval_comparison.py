"""The interval of alpha beside those of other methods, and what to hold against each.

Shown for comparison, without alarm. The methods answer the same question, how much alpha would move
with other units, except the pair bootstrap that other tools use: it resamples pairs of ratings as if
pairs of one unit knew nothing of each other, and holds expected disagreement fixed, so with more than
two ratings per unit it is too narrow (docs/statistics.md has the figures).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sheetsync.domain.agreement import all_raters
from sheetsync.domain.agreement.coefficients import Coefficient, without_interval
from sheetsync.domain.agreement.coincidences import Measure
from sheetsync.domain.agreement.intervals import (
    IntervalMethod,
    IntervalOptions,
    add_interval,
    leave_one_out,
    refusal,
    resample,
)
from sheetsync.domain.agreement.statistic import FloatArray
from sheetsync.domain.agreement.unit_counts import UnitCounts
from sheetsync.domain.record import Record
from sheetsync.domain.study import MeasurementLevel

NARROW_UNITS = 60
NARROW_SHARE = 0.75
"""With fewer pairable units than the one and more of the ratings in the top level than the other, hardly
any unit tells raters apart: resamples without the few that do are too alike, and the interval is too
narrow. The figures are in docs/statistics.md."""


@dataclass(frozen=True)
class IntervalComparison(Record):
    """One dimension's alpha with every interval; all hold for these raters and say nothing of others.

    Attributes:
        default: by the method that was asked for.
        jackknife: leave one unit out, on Fisher's z scale; no random numbers.
        percentile: the plain quantiles of the resamples.
        pair_bootstrap: for comparison with other tools only.
        resamples: how many were drawn; the same for all methods that draw.
        seed: of all draws.
        n_undefined: resamples without any variation, on which alpha is undefined; they were left out.
        n_pairable: units with two or more ratings.
        top_share: share of the ratings in the highest declared level, None without ratings.
        is_narrow: whether few units and most ratings in the top level make the intervals too narrow.
        is_pair_bootstrap_narrow: whether a unit has more than two ratings.
    """

    default: Coefficient
    jackknife: Coefficient
    percentile: Coefficient
    pair_bootstrap: Coefficient
    resamples: int
    seed: int
    n_undefined: int
    n_pairable: int
    top_share: float | None
    is_narrow: bool
    is_pair_bootstrap_narrow: bool


def compare_intervals(
    units: UnitCounts, level: MeasurementLevel, options: IntervalOptions
) -> IntervalComparison:
    """Return alpha's intervals by every method, on the same resamples.

    Args:
        units: the dimension's units, from `count_units` or `count_cells`.
        level: its level of measurement.
        options: method of the default interval, confidence, resamples and seed.
    """
    alpha = all_raters.alpha(units, level)
    left_out = leave_one_out(alpha)
    refused = refusal(alpha, left_out, options)
    drawn = None if refused else resample({"alpha": alpha}, options)["alpha"]

    def by(method: IntervalMethod) -> Coefficient:
        if refused:
            return without_interval(alpha, refused)
        return add_interval(alpha, left_out, drawn, replace(options, method=method))

    return IntervalComparison(
        default=by(options.method),
        jackknife=by("jackknife"),
        percentile=by("percentile"),
        pair_bootstrap=without_interval(alpha, refused) if refused else pair_bootstrap(units, level, options),
        resamples=options.resamples,
        seed=options.seed,
        n_undefined=drawn.n_undefined if drawn else 0,
        n_pairable=alpha.n_pairable,
        top_share=top_share(units),
        is_narrow=is_narrow(units),
        is_pair_bootstrap_narrow=bool((units.n_ratings > 2).any()),
    )


def top_share(units: UnitCounts) -> float | None:
    """Return the share of the ratings in the highest declared level, None without ratings."""
    totals = units.multiplicity @ units.counts
    return float(totals[-1] / totals.sum()) if totals.any() else None


def is_narrow(units: UnitCounts) -> bool:
    """Return whether intervals over these units are known to be too narrow."""
    n_pairable = units.multiplicity[units.pairable].sum()
    return bool(n_pairable < NARROW_UNITS) and (top_share(units) or 0) > NARROW_SHARE


def pair_bootstrap(units: UnitCounts, level: MeasurementLevel, options: IntervalOptions) -> Coefficient:
    """Return alpha with the interval of Hayes and Krippendorff (2007) Commun. Methods Meas. 1, 77-89.

    Each resample draws as many pairs of ratings as there are, two levels with their share of the
    coincidences; alpha is 1 minus the mean difference drawn over the expected one of the data.
    """
    alpha = all_raters.alpha(units, level)
    if alpha.value is None:
        return without_interval(alpha)
    shares, deviations, n_pairs = _coincidences(units, level)
    drawn = np.random.default_rng(options.seed).multinomial(n_pairs, shares, options.resamples)
    tails = np.array([(1 - options.confidence) / 2, (1 + options.confidence) / 2])
    resampled = 1 - drawn @ (deviations * (1 - alpha.value) / n_pairs)
    low, high = np.clip(np.quantile(resampled, tails), -1, 1)
    return Coefficient(
        alpha.value,
        low=min(float(low), alpha.value),
        high=max(float(high), alpha.value),
        confidence=options.confidence,
        method="pairs",
    )


def _coincidences(units: UnitCounts, level: MeasurementLevel) -> tuple[FloatArray, FloatArray, int]:
    """Return the shares of pairs by squared difference, these differences, 1 on average, and all pairs."""
    seen, pairable = units.pairable_levels, units.pairable
    counts, multiplicity, ratings = (
        units.counts[pairable][:, seen],
        units.multiplicity[pairable],
        units.n_ratings[pairable],
    )
    weighted = counts * (multiplicity / (ratings - 1))[:, None]
    table = np.maximum(weighted.T @ counts - np.diag(weighted.sum(axis=0)), 0)  # -1e-16 is no share
    squared = Measure(units.scale[seen], level).squared(table.sum(axis=0))
    # Levels that differ by the same draw alike, equal ones among them.
    differences, kind = np.unique(squared, return_inverse=True)
    shares = np.bincount(kind.ravel(), weights=table.ravel()) / table.sum()
    n_pairs = int((multiplicity * ratings * (ratings - 1)).sum()) // 2
    return shares, differences / (float(shares @ differences) or 1), n_pairs
