"""Intraclass correlations in the six forms of Shrout and Fleiss (1979), from mean squares.

Shrout and Fleiss, Psychol Bull 86, 420-428; McGraw and Wong (1996) Psychol Methods 1, 30-46. In
the form's name the first number is the model: 1, raters differ from unit to unit (one-way); 2, the
same raters, drawn from many (two-way random, absolute agreement, "ICC(A,1)"); 3, these very raters
(two-way mixed, consistency, "ICC(C,1)"). The second is 1 for the rating of one rater and k for the
mean of all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import fdtri

from sheetsync.domain.agreement.coefficients import Coefficient, undefined
from sheetsync.domain.agreement.statistic import FloatArray

Form = Literal["ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(3,k)"]


@dataclass(frozen=True)
class MeanSquares:
    """A two-way analysis of variance without replication, n units x k raters."""

    n: int
    k: int
    units: float
    raters: float
    error: float

    @property
    def within(self) -> float:
        """The mean square within units of a one-way analysis: raters and error together."""
        return (self.raters + (self.n - 1) * self.error) / self.n

    def terms(self, form: Form) -> tuple[float, float]:
        """Return the numerator and the denominator of a form, Shrout and Fleiss (1979) p. 423."""
        noise = self.within if form.startswith("ICC(1") else self.error
        bias = (self.raters - self.error) / self.n if form.startswith("ICC(2") else 0.0
        if form.endswith("k)"):
            return self.units - noise, self.units + bias
        return self.units - noise, self.units + (self.k - 1) * noise + self.k * bias

    def limits(self, form: Form, confidence: float) -> tuple[float, float]:
        """Return the F-based limits, Shrout and Fleiss (1979) pp. 424-426; NaN where there are none.

        Those of ICC(2,k) are the limits of ICC(2,1), stepped up by the formula of Spearman and
        Brown as Shrout and Fleiss do it; McGraw and Wong give others.
        """
        if form == "ICC(2,1)":
            return self._agreement_limits(confidence)
        if form == "ICC(2,k)":
            low, high = self._agreement_limits(confidence)
            return self._stepped_up(low), self._stepped_up(high)
        one_way = form.startswith("ICC(1")
        noise = self.within if one_way else self.error
        above, below = self.n - 1, (self.n if one_way else self.n - 1) * (self.k - 1)
        upper_tail = (1 + confidence) / 2
        low = self.units / noise / fdtri(above, below, upper_tail)
        high = self.units / noise * fdtri(below, above, upper_tail)
        if form.endswith("k)"):
            return (1 - 1 / low, 1 - 1 / high) if low > 0 else (np.nan, np.nan)
        return (low - 1) / (low + self.k - 1), (high - 1) / (high + self.k - 1)

    def _stepped_up(self, single: float) -> float:
        """Return the reliability of the mean of k ratings; NaN where that of one is too low for it."""
        below = 1 + (self.k - 1) * single
        return self.k * single / below if below > 0 else np.nan

    def _agreement_limits(self, confidence: float) -> tuple[float, float]:
        """The limits of ICC(A,1), McGraw and Wong (1996) table 7; NaN where units and error vary nothing."""
        n, k = self.n, self.k
        over, under = self.terms("ICC(2,1)")
        value = over / under
        a = k * value / (n * (1 - value))
        b = 1 + k * value * (n - 1) / (n * (1 - value))
        rest = ((a * self.raters) ** 2 / (k - 1)) + (b * self.error) ** 2 / ((n - 1) * (k - 1))
        if rest == 0:
            return np.nan, np.nan
        df = (a * self.raters + b * self.error) ** 2 / rest
        upper_tail = (1 + confidence) / 2
        spread = k * self.raters + (k * n - k - n) * self.error
        f_low, f_high = fdtri(n - 1, df, upper_tail), fdtri(df, n - 1, upper_tail)
        with np.errstate(divide="ignore", invalid="ignore"):  # three units can leave a denominator of 0
            low = n * (self.units - f_low * self.error) / (f_low * spread + n * self.units)
            high = n * (f_high * self.units - self.error) / (spread + n * f_high * self.units)
        return float(low), float(high)


def mean_squares(data: FloatArray) -> MeanSquares | str:
    """Return the analysis of variance of the complete units, or why there is none.

    Args:
        data: reliability data, raters x units. Raters without any rating are left out; a unit is
            complete when all others rated it.
    """
    rated = ~np.isnan(data)
    complete = data[rated.any(axis=1)]
    if not (rated.sum(axis=0) >= 2).any():
        return "no_pairable_units"
    complete = complete[:, ~np.isnan(complete).any(axis=0)]
    k, n = complete.shape
    if n < 2:
        return "too_few_units" if n else "no_complete_units"
    if np.ptp(complete) == 0:
        return "no_variation"
    centred = complete - complete.mean()
    units, raters = centred.mean(axis=0), centred.mean(axis=1)
    residual = centred - units[None, :] - raters[:, None]
    sums = np.array([k * (units**2).sum(), n * (raters**2).sum(), (residual**2).sum()])
    sums[sums < 1e-12 * (centred**2).sum()] = 0  # what rounding leaves of nothing
    return MeanSquares(
        n,
        k,
        units=float(sums[0] / (n - 1)),
        raters=float(sums[1] / (k - 1)),
        error=float(sums[2] / ((n - 1) * (k - 1))),
    )


def icc(data: FloatArray, form: Form = "ICC(2,1)") -> Coefficient:
    """Return an intraclass correlation of the units that every rater scored.

    Args:
        data: reliability data, raters x units.
        form: which of the six; ICC(2,1) is two-way random effects, absolute agreement, one rater.

    Shrout and Fleiss (1979), tables 2 and 4, four judges and six targets: .17, .29, .71, .44, .62,
    .91.

    >>> judges = np.array([[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]])
    >>> [round(icc(judges.astype(float), form).value, 2) for form in ("ICC(1,1)", "ICC(2,1)", "ICC(3,1)")]
    [0.17, 0.29, 0.71]
    >>> [round(icc(judges.astype(float), form).value, 2) for form in ("ICC(1,k)", "ICC(2,k)", "ICC(3,k)")]
    [0.44, 0.62, 0.91]
    """
    squares = mean_squares(data)
    if isinstance(squares, str):
        return undefined(squares)
    over, under = squares.terms(form)
    if under <= 0:
        return undefined("no_variation")
    return Coefficient(min(over / under, 1.0), interval_reason="not_requested")


def icc_interval(data: FloatArray, form: Form = "ICC(2,1)", confidence: float = 0.95) -> Coefficient:
    """Return an intraclass correlation with its F-based interval; the other arguments as `icc`.

    >>> judges = np.array([[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]])
    >>> found = icc_interval(judges.astype(float))
    >>> round(found.low, 3), round(found.high, 3)
    (0.019, 0.761)
    """
    point, squares = icc(data, form), mean_squares(data)
    if point.value is None or isinstance(squares, str):
        return point
    if point.value >= 1:
        return replace(point, interval_reason="no_disagreement")
    low, high = squares.limits(form, confidence)
    if not (np.isfinite(low) and np.isfinite(high)) or high - low < 1e-12:  # F of 0, or of no error
        return replace(point, interval_reason="no_variation")
    floor = -np.inf if form.endswith("k)") else -1.0
    return Coefficient(
        point.value,
        low=min(max(low, floor), point.value),
        high=max(min(high, 1.0), point.value),
        confidence=confidence,
        method="f",
    )
