"""Coefficients of agreement: reliability data -> Coefficient.

Reliability data is a float matrix, raters x units, NaN for blank and not applicable. Levels are
numbers: those of the scale itself, or positions 0, 1, 2 ... for words. The declared scale, from low
to high, always comes along. No thresholds here; a coefficient that is undefined is None with a
reason, never NaN. Intervals are added by `intervals`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sheetsync.domain.agreement import all_raters, rater_pairs
from sheetsync.domain.agreement.rater_pairs import KappaWeights, cross_table
from sheetsync.domain.agreement.statistic import FloatArray, Statistic
from sheetsync.domain.agreement.unit_counts import Weights, count_units
from sheetsync.domain.study import MeasurementLevel

REASONS = frozenset(
    {
        "no_variation",
        "no_pairable_units",
        "no_common_units",
        "constant_rater",
        "single_category",
        "no_complete_units",
        "too_few_units",
        "undefined_for_values",
        "no_disagreement",
        "not_requested",
        "cross_check_failed",
    }
)
"""Why a value or an interval is missing."""

Scale = Sequence[float] | FloatArray


@dataclass(frozen=True)
class Coefficient:
    """A value with its interval, or the reasons why there is none.

    Attributes:
        value: the coefficient, or None.
        low: lower limit of the interval, or None.
        high: upper limit of the interval, or None.
        confidence: confidence of the interval (0.95), None without one.
        method: how the interval was made (bca, percentile, jackknife, f, analytic), None without one.
        reason: why there is no value.
        interval_reason: why there is no interval.
        k: the distance that still counts as agreement; only for `within` and `within_all`.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    confidence: float | None = None
    method: str | None = None
    reason: str | None = None
    interval_reason: str | None = None
    k: float | None = None

    def to_dict(self) -> dict[str, float | str | None]:
        """Return the JSON object of the contract."""
        record = {
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "confidence": self.confidence,
            "method": self.method,
            "reason": self.reason,
            "interval_reason": self.interval_reason,
        }
        return record if self.k is None else record | {"k": self.k}


def undefined(reason: str, k: float | None = None) -> Coefficient:
    """Return a coefficient without a value; it has no interval for the same reason."""
    return Coefficient(None, reason=reason, interval_reason=reason, k=k)


def without_interval(statistic: Statistic, reason: str = "not_requested") -> Coefficient:
    """Return the value of a statistic alone."""
    if statistic.reason:
        return undefined(statistic.reason, statistic.k)
    return Coefficient(statistic.value, interval_reason=reason, k=statistic.k)


def krippendorff_alpha(data: FloatArray, scale: Scale, level: MeasurementLevel) -> Coefficient:
    """Return Krippendorff's alpha: any number of raters, missing ratings allowed.

    Args:
        data: reliability data, raters x units.
        scale: the declared levels, from low to high.
        level: which difference function; ordinal uses the order of `scale`.

    Krippendorff (2011) Computing Krippendorff's Alpha-Reliability, example C: four observers,
    twelve units. Printed there: nominal .743, ordinal .815, interval .849, ratio .797.

    >>> nan = np.nan
    >>> example_c = np.array([
    ...     [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
    ...     [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
    ...     [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
    ...     [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan]])
    >>> [round(krippendorff_alpha(example_c, [1, 2, 3, 4, 5], level).value, 3)
    ...  for level in ("nominal", "ordinal", "interval", "ratio")]
    [0.743, 0.815, 0.849, 0.797]
    """
    return without_interval(all_raters.alpha(count_units(data, scale), level))


def observed_disagreement(data: FloatArray, scale: Scale, level: MeasurementLevel) -> Coefficient:
    """Return the observed disagreement of alpha, which is 1 - observed / expected; arguments as there.

    In squared differences of values, for ordinal data of ranks, for nominal data the share of pairs.

    >>> observed_disagreement(np.array([[1.0, 2], [1, 3]]), [1, 2, 3], "interval").value
    0.5
    """
    return without_interval(all_raters.observed_disagreement(count_units(data, scale), level))


def expected_disagreement(data: FloatArray, scale: Scale, level: MeasurementLevel) -> Coefficient:
    """Return the expected disagreement of alpha: that of two ratings of whichever units.

    >>> round(expected_disagreement(np.array([[1.0, 2], [1, 3]]), [1, 2, 3], "interval").value, 3)
    1.833
    """
    return without_interval(all_raters.expected_disagreement(count_units(data, scale), level))


def package_alpha(data: FloatArray, scale: Scale, level: MeasurementLevel) -> float | None:
    """Return alpha as the `krippendorff` package computes it, None where it is undefined there.

    The second implementation behind `agreement.cross_check_alpha`; takes what
    `krippendorff_alpha` takes.
    """
    import krippendorff  # noqa: PLC0415 - only the cross-check pays for the import

    values = np.asarray(scale, dtype=float)
    with np.errstate(all="ignore"):
        try:
            value = krippendorff.alpha(
                reliability_data=data, level_of_measurement=level, value_domain=values, dtype=np.float64
            )
        except ValueError:  # one level, or no unit with two ratings
            return None
    return float(value) if np.isfinite(value) else None


def gwet_ac(data: FloatArray, scale: Scale, weights: Weights) -> Coefficient:
    """Return Gwet's AC1 (identity weights) or AC2.

    Args:
        data: reliability data, raters x units.
        scale: the declared levels; their number is the number of categories.
        weights: identity; linear or quadratic, on the levels' numbers; ordinal, on their order.

    Gwet (2008) BJMSP 61, 29-48; Gwet (2014) Handbook of Inter-Rater Reliability, 4th ed., table 2.3
    (also in the irrCAC vignettes): AC1 .77544.

    >>> nan = np.nan
    >>> table = np.array([
    ...     [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
    ...     [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
    ...     [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
    ...     [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan]])
    >>> round(gwet_ac(table, [1, 2, 3, 4, 5], "identity").value, 5)
    0.77544
    """
    return without_interval(all_raters.gwet_ac(count_units(data, scale), weights))


def brennan_prediger(data: FloatArray, scale: Scale, weights: Weights) -> Coefficient:
    """Return Brennan and Prediger's coefficient (1981, EPM 41, 687-699); arguments as `gwet_ac`.

    >>> round(brennan_prediger(np.array([[1.0, 1, 2, 2], [1, 1, 2, 1]]), [1, 2], "identity").value, 3)
    0.5
    """
    return without_interval(all_raters.brennan_prediger(count_units(data, scale), weights))


def fleiss_kappa(data: FloatArray, scale: Scale, weights: Weights = "identity") -> Coefficient:
    """Return Fleiss' kappa, generalised by Gwet to missing ratings; arguments as `gwet_ac`.

    Category shares come from units with a rating, observed agreement from units with two or more.

    Feinstein and Cicchetti (1990) J Clin Epidemiol 43, 543-549, table 1: 40 yes-yes, 9 yes-no,
    6 no-yes, 45 no-no; with two raters this is Scott's pi.

    >>> first, second = [1] * 49 + [0] * 51, [1] * 40 + [0] * 9 + [1] * 6 + [0] * 45
    >>> round(fleiss_kappa(np.array([first, second], dtype=float), [0, 1]).value, 2)
    0.7
    """
    return without_interval(all_raters.fleiss_kappa(count_units(data, scale), weights))


def within_k(data: FloatArray, scale: Scale, k: float) -> Coefficient:
    """Return the share of rater pairs at most k apart, within units, then the mean over units (X19).

    >>> within_k(np.array([[1.0, 2, 5], [1, 3, 2]]), [1, 2, 3, 4, 5], 1).value
    0.6666666666666666
    """
    return without_interval(all_raters.within(count_units(data, scale), k))


def within_k_of_all(data: FloatArray, scale: Scale, k: float) -> Coefficient:
    """Return the share of units whose ratings all lie at most k apart, among those with two or more.

    With two raters the same as `within_k`, with more of them never higher; `irr::agree`.

    >>> within_k_of_all(np.array([[1.0, 2, 5], [1, 3, 2], [1, 2, 4]]), [1, 2, 3, 4, 5], 1).value
    0.6666666666666666
    """
    return without_interval(all_raters.within_all(count_units(data, scale), k))


def exact(data: FloatArray, scale: Scale) -> Coefficient:
    """Return the share of rater pairs that agree exactly: `within_k` with k = 0."""
    return without_interval(all_raters.exact(count_units(data, scale)))


def mean_abs_difference(data: FloatArray, scale: Scale) -> Coefficient:
    """Return the mean distance of two raters, in levels' units, within units, then over units.

    >>> mean_abs_difference(np.array([[1.0, 2, 5], [1, 3, 3]]), [1, 2, 3, 4, 5]).value
    1.0
    """
    return without_interval(all_raters.mean_abs_difference(count_units(data, scale)))


def cohen_kappa(first: FloatArray, second: FloatArray, scale: Scale, weights: KappaWeights) -> Coefficient:
    """Return Cohen's kappa of two raters (1960, 1968).

    Args:
        first: the first rater's levels, one per unit, NaN for a missing rating.
        second: the second rater's, in the same order of units.
        scale: the declared levels; weights are distances of positions on it.
        weights: none, linear or quadratic.

    Feinstein and Cicchetti (1990), table 1: .70.

    >>> first, second = [1] * 49 + [0] * 51, [1] * 40 + [0] * 9 + [1] * 6 + [0] * 45
    >>> round(cohen_kappa(np.array(first), np.array(second), [0, 1], "none").value, 2)
    0.7
    """
    return without_interval(rater_pairs.cohen_kappa(cross_table(first, second, scale), weights))


def spearman(first: FloatArray, second: FloatArray, scale: Scale) -> Coefficient:
    """Return Spearman's rho of two raters: Pearson's correlation of mid-ranks; arguments as `cohen_kappa`.

    >>> spearman(np.array([1.0, 2, 3]), np.array([1.0, 3, 2]), [1, 2, 3]).value
    0.5
    """
    return without_interval(rater_pairs.spearman(cross_table(first, second, scale)))


def mean_difference(first: FloatArray, second: FloatArray, scale: Scale) -> Coefficient:
    """Return the mean of first minus second, in levels' units; arguments as `cohen_kappa`.

    >>> mean_difference(np.array([5.0, 4, 3]), np.array([3.0, 4, 4]), [1, 2, 3, 4, 5]).value
    0.3333333333333333
    """
    return without_interval(rater_pairs.mean_difference(cross_table(first, second, scale)))
