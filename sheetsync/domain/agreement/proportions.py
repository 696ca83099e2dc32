"""Shares of a small count, and tests of paired differences: exact where the numbers are small."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from sheetsync.domain.record import Record


@dataclass(frozen=True)
class Proportion(Record):
    """A share of a count with its interval.

    Attributes:
        count: how many.
        n: out of how many.
        value: the share, None where `n` is 0.
        low: lower limit of the interval, None where `n` is 0.
        high: upper limit.
        confidence: of the interval.
        method: how the interval was made.
    """

    count: int
    n: int
    value: float | None
    low: float | None
    high: float | None
    confidence: float
    method: str = "wilson"


def proportion(count: int, n: int, confidence: float = 0.95) -> Proportion:
    """Return a share with Wilson's score interval.

    Wilson (1927), JASA 22, 209-212. The score interval of 27 out of 30 begins at 0.74 (X28); a flawless
    count reaches 0.90 from 35 on.

    >>> found = proportion(27, 30)
    >>> round(found.low, 2), round(found.high, 2)
    (0.74, 0.97)
    >>> round(proportion(34, 34).low, 4), round(proportion(35, 35).low, 4)
    (0.8985, 0.9011)
    """
    if not 0 <= count <= n:
        raise ValueError("A count lies between 0 and n.")
    if n == 0:
        return Proportion(0, 0, None, None, None, confidence)
    share = count / n
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    # At the ends the limit is the end itself, whatever rounding makes of it.
    low = 0.0 if count == 0 else max(middle - half, 0.0)
    high = 1.0 if count == n else min(middle + half, 1.0)
    return Proportion(count, n, share, low, high, confidence)


def count_needed(n: int, share: float) -> int:
    """Return how many of `n` reach a share.

    >>> count_needed(18, 0.70), count_needed(10, 0.70), count_needed(3, 1.0)
    (13, 7, 3)
    """
    return next((count for count in range(n + 1) if count / n >= share), n) if n else 0


@dataclass(frozen=True)
class SignTest(Record):
    """The exact sign test: ties are left out, and counted.

    Attributes:
        wins: differences above zero.
        losses: differences below zero.
        ties: differences of zero.
        p: two-sided, None without wins and losses.
    """

    wins: int
    losses: int
    ties: int
    p: float | None


def sign_test(wins: int, losses: int, ties: int = 0) -> SignTest:
    """Return the exact two-sided sign test (Dixon and Mood 1946, JASA 41, 557-566).

    Five wins and one loss: both tails hold 7 of 64 outcomes each.

    >>> sign_test(5, 1).p
    0.21875
    >>> round(sign_test(36, 14).p, 6), sign_test(0, 0, 3).p
    (0.002602, None)
    """
    n = wins + losses
    if n == 0:
        return SignTest(0, 0, ties, None)
    tail = sum(math.comb(n, k) for k in range(min(wins, losses) + 1))
    return SignTest(wins, losses, ties, min(1.0, 2 * tail / 2**n))


@dataclass(frozen=True)
class SignedRankTest(Record):
    """Wilcoxon's signed-rank test over the differences that are not zero.

    Attributes:
        n: how many differences are not zero.
        statistic: the smaller of the two sums of ranks, None without any.
        p: two-sided, None without any.
        method: exact, or approx (normal, with ties corrected), None without any.
    """

    n: int
    statistic: float | None
    p: float | None
    method: str | None


_EXACT_UP_TO = 50


def signed_rank_test(differences: Sequence[float]) -> SignedRankTest:
    """Return Wilcoxon's signed-rank test (1945, Biometrics Bulletin 1, 80-83), zeros left out.

    Exact where no two differences have the same size, the normal approximation otherwise.

    >>> signed_rank_test([1, 2, 3, 4, 5])
    SignedRankTest(n=5, statistic=0.0, p=0.0625, method='exact')
    >>> signed_rank_test([0, 0])
    SignedRankTest(n=0, statistic=None, p=None, method=None)
    """
    moved = [float(each) for each in differences if each]
    if not moved:
        return SignedRankTest(0, None, None, None)
    from scipy.stats import wilcoxon  # noqa: PLC0415 - slow to load, and only this needs it

    tied = len({abs(each) for each in moved}) < len(moved)
    method = "approx" if tied or len(moved) > _EXACT_UP_TO else "exact"
    found = wilcoxon(moved, zero_method="wilcox", correction=False, method=method)
    return SignedRankTest(len(moved), float(found.statistic), float(found.pvalue), method)
