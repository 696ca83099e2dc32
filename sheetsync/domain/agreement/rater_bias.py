"""How much of the disagreement is a constant shift between raters, and how much is scatter.

Values are levels as numbers (positions for words), raters x units, NaN where there is no rating.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from sheetsync.domain.agreement.coefficients import Coefficient
from sheetsync.domain.agreement.explanation_records import BiasAndScatter, PairShift, RaterShift
from sheetsync.domain.agreement.statistic import FloatArray

Pair = tuple[str, str]


def split_bias(
    values: FloatArray, raters: Sequence[str], mean_differences: Mapping[Pair, Coefficient]
) -> BiasAndScatter:
    """Split the squared differences of raters into bias and scatter.

    Args:
        values: raters x units.
        raters: ids, one per row.
        mean_differences: of every pair of raters, first minus second.
    """
    pairs = tuple(
        _split_pair((raters[a], raters[b]), values[a] - values[b], mean_differences)
        for a, b in combinations(range(len(raters)), 2)
    )
    bias, scatter = (
        sum(pair.n * part for pair, part in zip(pairs, parts, strict=True))
        for parts in ([pair.bias_squared for pair in pairs], [pair.scatter for pair in pairs])
    )
    effects = rater_effects(values)
    pairable = values[:, (~np.isnan(values)).sum(axis=0) >= 2]
    return BiasAndScatter(
        bias / (bias + scatter) if bias + scatter > 0 else None,
        pairs,
        ()
        if effects is None
        else tuple(
            RaterShift(rater, int((~np.isnan(row)).sum()), float(effect))
            for rater, row, effect in zip(raters, pairable, effects, strict=True)
            if not np.isnan(effect)
        ),
        interval_alpha(values),
        None if effects is None else interval_alpha(values - np.nan_to_num(effects)[:, None]),
    )


def _split_pair(raters: Pair, differences: FloatArray, means: Mapping[Pair, Coefficient]) -> PairShift:
    known = differences[~np.isnan(differences)]
    bias, scatter = (float(known.mean() ** 2), float(known.var())) if len(known) else (0.0, 0.0)
    both = bias + scatter
    return PairShift(raters, len(known), means[raters], bias, scatter, bias / both if both > 0 else None)


def rater_effects(values: FloatArray) -> FloatArray | None:
    """Return how far each rater scores above the average one: least squares in units + raters.

    The effects sum to zero; NaN for a rater without a unit in common with another. None where the raters
    fall into groups without a common unit, for then no data say how the groups compare.

    >>> rater_effects(np.array([[5.0, 4, 3], [4, 3, 2]]))
    array([ 0.5, -0.5])
    """
    rated = ~np.isnan(values)
    rated = rated[:, (rated.sum(axis=0) >= 2)].astype(float)
    given = np.nan_to_num(values)[:, (~np.isnan(values)).sum(axis=0) >= 2]
    present = rated.any(axis=1)
    m = rated.sum(axis=0)
    # Normal equations with the units' own levels taken out: a Laplacian of who shares units with whom.
    laplacian = np.diag(rated.sum(axis=1)) - (rated / m) @ rated.T
    above = (rated * (given - given.sum(axis=0) / m)).sum(axis=1)
    laplacian, above = laplacian[np.ix_(present, present)], above[present]
    if not present.any() or np.linalg.matrix_rank(laplacian, hermitian=True) < present.sum() - 1:
        return None
    effects = np.full(len(values), np.nan)
    effects[present] = np.linalg.lstsq(laplacian, above, rcond=None)[0]
    return effects


def interval_alpha(values: FloatArray) -> float | None:
    """Return alpha on the interval metric of any numbers, levels or not; None where nothing varies."""
    rated = ~np.isnan(values)
    m = rated.sum(axis=0)
    values, rated, m = values[:, m >= 2], rated[:, m >= 2], m[m >= 2]
    n = int(m.sum())
    if not n:
        return None
    centred = np.where(rated, values - values.mean(where=rated), 0.0)
    squares, sums = centred**2, centred.sum(axis=0)
    # The squared differences of all ordered pairs of m numbers sum to 2 * (m * sum of squares - square of sum).
    observed = (2 * (m * squares.sum(axis=0) - sums**2) / (m - 1)).sum() / n
    expected = 2 * squares.sum() / (n - 1)
    return 1 - float(observed / expected) if expected > 1e-12 else None
