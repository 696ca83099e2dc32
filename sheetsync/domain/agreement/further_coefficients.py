"""What stands behind the coefficients of every table: figures for those who ask the report for them."""

from __future__ import annotations

from collections.abc import Sequence

from sheetsync.domain.agreement import all_raters
from sheetsync.domain.agreement.coefficients import Coefficient, undefined, without_interval
from sheetsync.domain.agreement.conger import RatedUnits, kappa_of, rated_positions
from sheetsync.domain.agreement.intervals import IntervalOptions
from sheetsync.domain.agreement.pair_means import mean_correlation
from sheetsync.domain.agreement.standard_errors import conger_interval
from sheetsync.domain.agreement.statistic import IntArray
from sheetsync.domain.agreement.unit_counts import UnitCounts
from sheetsync.domain.study import MeasurementLevel


def further_coefficients(
    positions: IntArray,
    units: UnitCounts,
    level: MeasurementLevel,
    correlations: Sequence[Coefficient],
    options: IntervalOptions,
) -> dict[str, Coefficient]:
    """Return Conger's kappa, mean correlations and the two disagreements alpha is made of.

    Args:
        positions: the ratings as positions on the scale, raters x units, -1 for a missing one.
        units: their value counts.
        level: the level of measurement; nominal data have no ranks to correlate.
        correlations: Spearman's rho of every two raters.
        options: Conger's kappa gets the interval of its standard error where any are wanted.
    """
    ranked = {
        "mean_spearman": mean_correlation(correlations, "arithmetic"),
        "mean_spearman_z": mean_correlation(correlations, "fisher_z"),
    }
    return {
        "conger_kappa": _conger(rated_positions(positions, units.scale), options),
        **({name: undefined("undefined_for_values") for name in ranked} if level == "nominal" else ranked),
        "observed_disagreement": without_interval(all_raters.observed_disagreement(units, level)),
        "expected_disagreement": without_interval(all_raters.expected_disagreement(units, level)),
    }


def _conger(rated: RatedUnits, options: IntervalOptions) -> Coefficient:
    if options.resamples == 0:
        return kappa_of(rated, "identity")
    return conger_interval(rated, options.confidence, options.minimum_units)
