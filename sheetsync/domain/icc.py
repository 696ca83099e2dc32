"""The intraclass correlation of single ratings, ICC(2,1), from mean squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sheetsync.domain.coefficients import Coefficient, undefined
from sheetsync.domain.statistic import FloatArray


@dataclass(frozen=True)
class MeanSquares:
    """A two-way analysis of variance without replication, n units x k raters."""

    n: int
    k: int
    units: float
    raters: float
    error: float

    @property
    def denominator(self) -> float:
        """What the variance of a single rating is estimated by, times n."""
        return self.n * (self.units + (self.k - 1) * self.error) + self.k * (self.raters - self.error)

    @property
    def icc(self) -> float:
        """ICC(2,1), Shrout and Fleiss (1979) p. 423; ICC(A,1) of McGraw and Wong (1996)."""
        return min(self.n * (self.units - self.error) / self.denominator, 1.0)


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
    return MeanSquares(
        n,
        k,
        units=float(k * (units**2).sum() / (n - 1)),
        raters=float(n * (raters**2).sum() / (k - 1)),
        error=float((residual**2).sum() / ((n - 1) * (k - 1))),
    )


def icc(data: FloatArray) -> Coefficient:
    """Return ICC(2,1): two-way random effects, absolute agreement, single rating.

    Shrout and Fleiss (1979) Psychol Bull 86, 420-428, tables 2 and 4: four judges, six targets; .29.

    >>> judges = np.array([[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]])
    >>> round(icc(judges.astype(float)).value, 2)
    0.29
    """
    squares = mean_squares(data)
    if isinstance(squares, str):
        return undefined(squares)
    if squares.denominator <= 0:
        return undefined("no_variation")
    return Coefficient(squares.icc, interval_reason="not_requested")
