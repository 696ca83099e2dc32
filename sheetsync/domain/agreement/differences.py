"""How far two levels are apart on alpha's own measure: Krippendorff (2011), section 5.

The ordinal difference is the distance of the levels' mean ranks, so it depends on how often each level was
given; the others on the levels alone.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from sheetsync.domain.agreement.statistic import BoolArray, FloatArray


def squared_differences(values: FloatArray, level: Literal["nominal", "interval", "ratio"]) -> FloatArray:
    """Return the squared difference of every two levels, with shape (K, K).

    Args:
        values: the levels as numbers, with shape (K,).
        level: the level of measurement. Two values of a ratio scale whose sum is 0 have no difference, see
            `without_ratio`; theirs is given as 0.
    """
    if level == "nominal":
        return 1 - np.eye(len(values))
    difference = values[:, None] - values[None, :]
    if level == "interval":
        return np.asarray(difference**2)
    total = values[:, None] + values[None, :]
    return np.asarray(np.divide(difference, total, out=np.zeros_like(total), where=total != 0) ** 2)


def squared_rank_differences(totals: FloatArray) -> FloatArray:
    """Return the squared distance of the mean ranks of every two levels, with shape (..., K, K).

    Krippendorff's sum of n_g from c to k minus (n_c + n_k) / 2 is the distance of the mid-ranks of c and k.

    Args:
        totals: how often each level was given, with shape (..., K).
    """
    ranks = mid_ranks(totals)
    return np.asarray((ranks[..., :, None] - ranks[..., None, :]) ** 2)


def mid_ranks(totals: FloatArray) -> FloatArray:
    """Return the mean rank of the ratings on each level, counted from the middle of all, with shape (..., K)."""
    middle = totals.sum(axis=-1, keepdims=True) / 2
    return np.asarray(np.cumsum(totals, axis=-1) - totals / 2 - middle)


def without_ratio(values: FloatArray) -> BoolArray:
    """Return which two of these values have no ratio difference: different ones whose sum is 0; shape (K, K)."""
    return np.asarray((values[:, None] + values[None, :] == 0) & (values[:, None] != values[None, :]))
