"""Intervals of shares and tests of paired differences, against hand-computed and published figures."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sheetsync.domain.agreement.proportions import count_needed, proportion, sign_test, signed_rank_test


def test_wilson_by_hand() -> None:
    # z = 1.96, n = 10, 7 of 10: z2 = 3.8415. Middle (0.7 + 0.1921) / 1.3841 = 0.6445,
    # half 1.96 / 1.3841 * sqrt(0.021 + 0.0096) = 0.2477.
    found = proportion(7, 10)
    assert (found.value, found.count, found.n) == (0.7, 7, 10)
    assert found.low == pytest.approx(0.3968, abs=5e-5)
    assert found.high == pytest.approx(0.8922, abs=5e-5)


@pytest.mark.parametrize(
    ("count", "n", "low", "high"),
    # Newcombe (1998), Statistics in Medicine 17, 857-872, table I, method 3 (score, without correction).
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_as_published(count: int, n: int, low: float, high: float) -> None:
    found = proportion(count, n)
    assert (round(found.low or 0, 4), round(found.high or 0, 4)) == (low, high)


def test_no_cases_give_no_share() -> None:
    found = proportion(0, 0)
    assert (found.value, found.low, found.high) == (None, None, None)
    with pytest.raises(ValueError, match="between 0 and n"):
        proportion(3, 2)


@given(st.integers(1, 300), st.data())
def test_wilson_holds_the_share_and_stays_in_range(n: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, n))
    found = proportion(count, n)
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= found.value <= found.high <= 1
    mirrored = proportion(n - count, n)
    assert mirrored.low == pytest.approx(1 - found.high, abs=1e-12)


@given(st.integers(1, 200), st.integers(0, 100))
def test_the_count_needed_is_the_smallest_that_reaches_the_share(n: int, percent: int) -> None:
    share = percent / 100
    needed = count_needed(n, share)
    assert needed / n >= share
    assert needed == 0 or (needed - 1) / n < share


def test_count_needed_of_eighteen() -> None:
    assert count_needed(18, 0.7) == 13  # S1.22
    assert count_needed(0, 0.7) == 0


def test_sign_test_by_hand() -> None:
    # 8 wins, 2 losses: 1 + 10 + 45 = 56 of 1024 in each tail.
    assert sign_test(8, 2).p == 112 / 1024
    assert sign_test(2, 8).p == 112 / 1024
    assert sign_test(3, 3).p == 1.0  # both tails would hold 42 of 64 each
    assert sign_test(0, 0, 5).p is None


@pytest.mark.parametrize(
    ("wins", "losses", "p"),
    # Published with the pdpa-ab workbooks (source README), four raters and all together.
    [(13, 20, 0.296206), (28, 15, 0.065994), (36, 14, 0.002602), (113, 63, 0.000202)],
)
def test_sign_test_as_published(wins: int, losses: int, p: float) -> None:
    assert round(sign_test(wins, losses).p or 0, 6) == p


def test_signed_ranks_by_hand() -> None:
    # Sizes 1 to 6, the 2 negative: sums 2 and 19. Subsets of {1..6} with sum 2 or less: {}, {1}, {2}.
    found = signed_rank_test([1, -2, 3, 4, 5, 6, 0])
    assert (found.n, found.statistic, found.method) == (6, 2.0, "exact")
    assert found.p == pytest.approx(2 * 3 / 64)


def test_signed_ranks_with_ties_are_approximated() -> None:
    found = signed_rank_test([1, 1, 1, -1, 2, 2, 3, 4])
    assert found.method == "approx"
    # Ranks 2.5 x4, 5.5 x2, 7, 8: the negative sum is 2.5; mean 18, variance 51 - (60 + 6) / 48 = 49.625.
    z = (2.5 - 18) / math.sqrt(49.625)
    assert found.p == pytest.approx(math.erfc(-z / math.sqrt(2)))
