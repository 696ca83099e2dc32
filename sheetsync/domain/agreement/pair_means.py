"""Spearman's rank correlation over all raters: the mean over their pairs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Literal

import numpy as np

from sheetsync.domain.agreement.coefficients import Coefficient, Scale, spearman, undefined
from sheetsync.domain.agreement.statistic import FloatArray

Average = Literal["arithmetic", "fisher_z"]


def mean_correlation(pairs: Sequence[Coefficient], average: Average) -> Coefficient:
    """Return the mean of the correlations that are defined; no interval, for pairs share raters.

    Args:
        pairs: the correlation of every two raters.
        average: arithmetic; or fisher_z, the mean on Fisher's scale, which a correlation of 1 or -1
            makes infinite: then there is none, unless all pairs are equal.

    >>> found = [Coefficient(0.2), Coefficient(0.8), Coefficient(None, reason="constant_rater")]
    >>> mean_correlation(found, "arithmetic").value, round(mean_correlation(found, "fisher_z").value, 3)
    (0.5, 0.572)
    """
    values = np.array([each.value for each in pairs if each.value is not None])
    if not len(values):
        return undefined(_first_reason(pairs))
    mean = float(values.mean())
    if average == "fisher_z" and np.ptp(values) > 0:
        if np.abs(values).max() >= 1:
            return undefined("undefined_for_values")
        mean = float(np.tanh(np.arctanh(values).mean()))
    return Coefficient(mean, interval_reason="not_requested")


def _first_reason(pairs: Sequence[Coefficient]) -> str:
    """Why no pair has a correlation: that of a pair which has units at all, if there is one."""
    reasons = [each.reason for each in pairs if each.reason and each.reason != "no_common_units"]
    return reasons[0] if reasons else "no_pairable_units"


def mean_spearman(data: FloatArray, scale: Scale, average: Average = "arithmetic") -> Coefficient:
    """Return the mean of Spearman's rho over the pairs of raters in which it is defined.

    Args:
        data: reliability data, raters x units.
        scale: the declared levels, from low to high.
        average: see `mean_correlation`.

    The `anxiety` data of the R package irr, three raters and twenty subjects: arithmetic .310,
    `irr::meanrho` .314.
    """
    pairs = [spearman(first, second, scale) for first, second in combinations(np.asarray(data), 2)]
    return mean_correlation(pairs, average)
