"""Observed and expected disagreement against direct enumeration of pairs, and alpha against the package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sheetsync.domain.agreement.coincidences import Measure, shares_of_units, tabulate
from sheetsync.domain.agreement.statistic import IntArray
from sheetsync.domain.study import MeasurementLevel

LEVELS: tuple[MeasurementLevel, ...] = get_args(MeasurementLevel)


def measure(level: MeasurementLevel = "ordinal", numbers: Sequence[float] = (1, 2, 3, 4, 5)) -> Measure:
    return Measure(np.array(numbers, dtype=float), level)


def squared_difference(a: int, b: int, values: Sequence[int], of: Measure) -> float:
    """Krippendorff (2011) section 5, as printed; `values` are all pairable ratings, as positions."""
    x, y = of.numbers[a], of.numbers[b]
    if of.level == "nominal":
        return float(a != b)
    if of.level == "interval":
        return float((x - y) ** 2)
    if of.level == "ratio":
        return float(((x - y) / (x + y)) ** 2)
    low, high = min(a, b), max(a, b)
    between = sum(values.count(level) for level in range(low, high + 1))
    return float((between - (values.count(low) + values.count(high)) / 2) ** 2)


def enumerate_pairs(positions: IntArray, of: Measure) -> tuple[float, float]:
    """Observed and expected disagreement over every pair of ratings, in plain loops."""
    units = [[int(p) for p in column if p >= 0] for column in positions.T]
    units = [unit for unit in units if len(unit) > 1]
    values = [value for unit in units for value in unit]
    n, top = len(values), len(of.numbers) - 1

    def apart(a: int, b: int) -> float:
        return squared_difference(a, b, values, of) / squared_difference(0, top, values, of)

    observed = sum(
        apart(a, b) / (len(unit) - 1)
        for unit in units
        for i, a in enumerate(unit)
        for j, b in enumerate(unit)
        if i != j
    )
    expected = sum(apart(a, b) for i, a in enumerate(values) for j, b in enumerate(values) if i != j)
    return observed / n, expected / (n * (n - 1))


def random_positions(seed: int, raters: int = 3, units: int = 8, gaps: float = 0.2) -> IntArray:
    rng = np.random.default_rng(seed)
    positions = rng.integers(0, 5, (raters, units))
    positions[rng.random(positions.shape) < gaps] = -1
    positions[:2, 0] = 0, 4
    return positions


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(5))
def test_disagreements_are_those_of_all_pairs(level: MeasurementLevel, seed: int) -> None:
    positions = random_positions(seed)
    found = tabulate(positions, measure(level))
    assert (found.observed, found.expected) == pytest.approx(enumerate_pairs(positions, measure(level)))


@given(seed=st.integers(0, 10_000), raters=st.integers(2, 5), units=st.integers(2, 12))
@settings(max_examples=30, deadline=None)
def test_alpha_is_that_of_the_package(seed: int, raters: int, units: int) -> None:
    positions = random_positions(seed, raters, units)
    for level in LEVELS:
        ratings = np.where(positions >= 0, positions + 1.0, np.nan)
        theirs = krippendorff.alpha(ratings, value_domain=[1, 2, 3, 4, 5], level_of_measurement=level)
        assert tabulate(positions, measure(level)).alpha == pytest.approx(theirs, abs=1e-9)


def test_disagreement_is_1_where_all_pairs_lie_the_whole_scale_apart() -> None:
    for level in LEVELS:
        assert tabulate(np.array([[0, 4], [4, 0]]), measure(level)).observed == pytest.approx(1)


def test_without_variation_both_are_0_and_alpha_has_no_value() -> None:
    found = tabulate(np.full((2, 6), 4), measure())
    assert (found.observed, found.expected, found.alpha) == (0, 0, None)


def test_nothing_comparable_is_not_an_error() -> None:
    found = tabulate(np.array([[0, -1], [-1, 3]]), measure())
    assert (found.n, found.observed, found.expected, found.alpha) == (0, 0, 0, None)


@pytest.mark.parametrize("level", LEVELS)
def test_shares_of_units_are_what_is_missing_without_them(level: MeasurementLevel) -> None:
    positions = random_positions(3, units=6, gaps=0)
    found = tabulate(positions, measure(level))
    counts = np.array([np.bincount(column, minlength=5) for column in positions.T], dtype=float)
    shares = shares_of_units(counts, found.squared)
    assert shares.sum() == pytest.approx(1)
    by_hand = [
        sum(found.squared[a, b] for i, a in enumerate(u) for j, b in enumerate(u) if i != j) / 2
        for u in positions.T
    ]
    assert shares == pytest.approx(np.array(by_hand) / sum(by_hand))


def test_a_ratio_scale_whose_ends_have_no_ratio_still_has_its_alpha() -> None:
    """-1 and 1 add up to 0, so there is nothing to divide by; -1 and 0 have a difference all the same."""
    positions = np.array([[0, 0, 1, 1, 0, 1], [0, 1, 1, 1, 0, 0]])
    found = tabulate(positions, measure("ratio", (-1, 0, 1)))
    assert not found.measure.has_ends
    values = found.measure.numbers[positions]
    expected = krippendorff.alpha(reliability_data=values, level_of_measurement="ratio")
    assert found.alpha == pytest.approx(expected, abs=1e-12)
    assert measure("ratio", (-1, 0, 2)).has_ends
    assert measure("ratio", (0,)).has_ends
