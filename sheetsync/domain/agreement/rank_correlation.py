"""Spearman's rank correlation of two lists of numbers, whatever they measure."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sheetsync.domain.agreement import rater_pairs
from sheetsync.domain.agreement.coefficients import Coefficient, without_interval
from sheetsync.domain.agreement.intervals import IntervalOptions, estimate

_Z = 1.96


def rank_correlation(
    first: Sequence[float], second: Sequence[float], options: IntervalOptions | None = None
) -> Coefficient:
    """Return Spearman's rho with mid-ranks for ties; undefined where one of the lists is constant.

    Args:
        first: one number per unit.
        second: the other's, in the same order.
        options: how the interval is made, over units; None for no interval.

    >>> rank_correlation([1, 2, 3, 4], [1, 3, 2, 4]).value
    0.8
    >>> rank_correlation([1, 2, 3], [5, 5, 5]).reason
    'constant_rater'
    """
    values = np.array([first, second], dtype=float)
    scale = np.unique(values)
    statistic = rater_pairs.spearman(rater_pairs.cross_table(values[0], values[1], scale))
    if options is None:
        return without_interval(statistic)
    return estimate({"rho": statistic}, options)["rho"]


def is_beyond_chance(found: Coefficient, n: int) -> bool:
    """Return whether a correlation of n units is larger than chance leaves it nineteen times in twenty.

    Without a link rho is about normal with variance 1 / (n - 1) (Kendall and Gibbons 1990, Rank
    Correlation Methods, 5th ed., section 4.14).
    """
    return found.value is not None and n > 1 and abs(found.value) * math.sqrt(n - 1) > _Z
