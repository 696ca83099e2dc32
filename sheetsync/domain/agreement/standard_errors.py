"""Standard errors from linearised formulas, and the intervals that follow from them.

They need no resampling, and are what published tables and other programs print. Over all raters:
Gwet (2008) BJMSP 61, 29-48 and (2014) Handbook of Inter-Rater Reliability, 4th ed., chapter 5, with
n - 1 in the denominator and n - 1 degrees of freedom, n the units with a rating. Cohen's kappas:
Fleiss, Cohen and Everitt (1969) Psychol Bull 72, 323-327, with the normal distribution.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import ndtri, stdtrit

from sheetsync.domain.agreement import all_raters
from sheetsync.domain.agreement.coefficients import Coefficient, Scale, undefined, without_interval
from sheetsync.domain.agreement.conger import RatedUnits, kappa_of, rated_units
from sheetsync.domain.agreement.rater_pairs import KappaWeights, cohen_kappa, cross_table, disagreements
from sheetsync.domain.agreement.statistic import FloatArray
from sheetsync.domain.agreement.unit_counts import UnitCounts, Weights, agreement_weights, count_units
from sheetsync.domain.agreement.verdicts import MIN_PAIRABLE, is_too_few

Name = Literal["ac", "brennan_prediger", "fleiss_kappa", "conger_kappa", "exact"]
"""A coefficient over all raters, by its key in reports; `exact` with weights is weighted agreement."""

PairName = Literal["kappa", "kappa_linear", "kappa_quadratic"]
"""A coefficient of two raters, by its key in reports."""

_KAPPA_WEIGHTS: dict[PairName, KappaWeights] = {
    "kappa": "none",
    "kappa_linear": "linear",
    "kappa_quadratic": "quadratic",
}


@dataclass(frozen=True)
class Estimate:
    """A coefficient with its standard error.

    Attributes:
        coefficient: its value, or why there is none.
        error: the standard error; None where there is no value, or only one unit to take it from.
        df: degrees of freedom of Student's t, infinite for the normal distribution.
        n_pairable: number of units with two or more ratings.
    """

    coefficient: Coefficient
    error: float | None
    df: float
    n_pairable: int


def standard_error(name: Name, data: FloatArray, scale: Scale, weights: Weights = "identity") -> Estimate:
    """Return a coefficient over all raters with its linearised standard error over units.

    Args:
        name: which coefficient.
        data: reliability data, raters x units.
        scale: the declared levels, from low to high.
        weights: identity; linear or quadratic, on the levels' numbers; ordinal, on their order.

    Gwet (2014), in the irrCAC vignettes: AC1 .77544, standard error .14295.

    >>> nan = np.nan
    >>> table = np.array([
    ...     [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
    ...     [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, nan],
    ...     [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
    ...     [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan]])
    >>> round(standard_error("ac", table, [1, 2, 3, 4, 5]).error, 5)
    0.14295
    """
    rated = rated_units(data, scale)
    if name == "conger_kappa":
        return _estimate(name, rated, kappa_of(rated, weights), weights)
    return _estimate(name, rated, _coefficient(name, count_units(data, scale), weights), weights)


def _estimate(name: Name, rated: RatedUnits, coefficient: Coefficient, weights: Weights) -> Estimate:
    units, agree = rated.units, agreement_weights(rated.scale, weights)
    n, n_pairable = len(units.counts), int(units.pairable.sum())
    if coefficient.value is None or n < 2:
        return Estimate(coefficient, None, n - 1, n_pairable)
    chances = _chances(name, rated, units, agree)
    chance = chances.mean()
    # A unit rated once adds nothing to observed agreement, but its share of chance.
    scores = n / n_pairable * units.pairable * (all_raters.unit_means(units, agree) - chance)
    linear = scores - 2 * (1 - coefficient.value) * (chances - chance)
    error = np.sqrt((((linear / (1 - chance)) - coefficient.value) ** 2).sum() / (n * (n - 1)))
    return Estimate(coefficient, float(error), n - 1, n_pairable)


def _coefficient(name: Name, units: UnitCounts, weights: Weights) -> Coefficient:
    """Return one that is made of value counts, summed over equal units as reports sum it."""
    if name == "exact":
        agree = agreement_weights(units.scale, weights)
        return without_interval(all_raters.mean_over_pairs(units, agree, perfect=1.0, bounds=(0.0, 1.0)))
    make = {
        "ac": all_raters.gwet_ac,
        "brennan_prediger": all_raters.brennan_prediger,
        "fleiss_kappa": all_raters.fleiss_kappa,
    }[name]
    return without_interval(make(units, weights))


def _chances(name: Name, rated: RatedUnits, units: UnitCounts, agree: FloatArray) -> FloatArray:
    """Return what each unit adds to chance agreement, which is their mean; with shape (U,)."""
    shares = units.counts / units.n_ratings[:, None]
    overall = shares.mean(axis=0)
    if name == "ac":
        q = max(len(agree), 2)
        return np.asarray(agree.sum() / (q * (q - 1)) * (shares @ (1 - overall)))
    if name == "fleiss_kappa":
        return np.asarray(shares @ (agree @ overall))
    if name == "conger_kappa":
        return rated.chances(agree)
    return np.full(len(shares), agree.mean() if name == "brennan_prediger" else 0.0)


def kappa_standard_error(name: PairName, first: FloatArray, second: FloatArray, scale: Scale) -> Estimate:
    """Return Cohen's kappa with its large-sample standard error.

    Args:
        name: which weights, on positions on the declared scale.
        first: the first rater's levels, one per unit, NaN for a missing rating.
        second: the second rater's, in the same order of units.
        scale: the declared levels, from low to high.

    Feinstein and Cicchetti (1990) J Clin Epidemiol 43, 543-549, table 1; `vcd` gives .0714.

    >>> first, second = [1] * 49 + [0] * 51, [1] * 40 + [0] * 9 + [1] * 6 + [0] * 45
    >>> round(kappa_standard_error("kappa", np.array(first), np.array(second), [0, 1]).error, 4)
    0.0714
    """
    table = cross_table(first, second, scale)
    coefficient = without_interval(cohen_kappa(table, _KAPPA_WEIGHTS[name]))
    if coefficient.value is None:
        return Estimate(coefficient, None, np.inf, table.n_units)
    disagree = disagreements(table, _KAPPA_WEIGHTS[name])
    rows, columns = table.indicators(table.first), table.indicators(table.second)
    shares = table.multiplicity / table.n_units
    of_first, of_second = shares @ rows, shares @ columns
    expected = of_first @ disagree @ of_second
    both = rows @ (disagree @ of_second) + columns @ (of_first @ disagree)
    observed = ((rows @ disagree) * columns).sum(axis=1)
    linear = ((1 - coefficient.value) * both - observed) / expected
    variance = shares @ (linear - shares @ linear) ** 2
    return Estimate(coefficient, float(np.sqrt(variance / table.n_units)), np.inf, table.n_units)


def analytic_interval(
    name: Name, data: FloatArray, scale: Scale, weights: Weights = "identity", confidence: float = 0.95
) -> Coefficient:
    """Return a coefficient over all raters with the interval of its standard error; see there.

    >>> data = np.array([[1.0] * 8 + [2] * 4, [1] * 6 + [2] * 6])
    >>> found = analytic_interval("ac", data, [1, 2])
    >>> round(found.value, 3), round(found.low, 3), found.high, found.method
    (0.676, 0.185, 1.0, 'analytic')
    """
    lowest = 0.0 if name == "exact" else -np.inf
    return _with_limits(standard_error(name, data, scale, weights), confidence, lowest)


def conger_interval(rated: RatedUnits, confidence: float, minimum_units: int = MIN_PAIRABLE) -> Coefficient:
    """Return Conger's kappa, unweighted, with its interval, of ratings that are laid out already."""
    found = _estimate("conger_kappa", rated, kappa_of(rated, "identity"), "identity")
    return _with_limits(found, confidence, lowest=-np.inf, minimum_units=minimum_units)


def analytic_interval_of_pair(
    name: PairName, first: FloatArray, second: FloatArray, scale: Scale, confidence: float = 0.95
) -> Coefficient:
    """Return Cohen's kappa with the interval of its standard error; arguments as there."""
    return _with_limits(kappa_standard_error(name, first, second, scale), confidence, lowest=-1.0)


def _with_limits(
    found: Estimate, confidence: float, lowest: float, minimum_units: int = MIN_PAIRABLE
) -> Coefficient:
    """Add the limits, or why there are none; the reasons are those of resampled intervals."""
    point, error = found.coefficient, found.error
    if point.value is None:
        return undefined(point.reason or "no_variation")
    if abs(point.value - 1) < 1e-12:
        return replace(point, interval_reason="no_disagreement")
    if error is None or is_too_few(found.n_pairable, minimum_units):
        return replace(point, interval_reason="too_few_units")
    if error < 1e-12:
        return replace(point, interval_reason="no_variation")
    tail = (1 + confidence) / 2
    reach = float(error * (ndtri(tail) if np.isinf(found.df) else stdtrit(found.df, tail)))
    return replace(
        point,
        low=max(point.value - reach, min(lowest, point.value)),
        high=min(point.value + reach, 1.0),
        confidence=confidence,
        method="analytic",
        interval_reason=None,
    )
