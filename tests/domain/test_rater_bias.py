"""Constant shifts between raters: tables that can be computed by hand, and a second implementation."""

from __future__ import annotations

from itertools import combinations

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sheetsync.domain.agreement.coefficients import Coefficient
from sheetsync.domain.agreement.explanation_records import BiasAndScatter
from sheetsync.domain.agreement.rater_bias import interval_alpha, rater_effects, split_bias
from sheetsync.domain.agreement.statistic import FloatArray

NAN = np.nan


def split(values: FloatArray) -> BiasAndScatter:
    raters = "abcdef"[: len(values)]
    return split_bias(values, raters, {pair: Coefficient(None) for pair in combinations(raters, 2)})


def test_bias_and_scatter_add_up_to_the_mean_squared_difference() -> None:
    # Differences 1, 1, 3, -1: mean 1, mean square 3, variance 2.
    found = split(np.array([[5.0, 4, 5, 2], [4, 3, 2, 3]]))
    pair = found.pairs[0]
    assert (pair.n, pair.bias_squared, pair.scatter) == (4, 1, 2)
    assert pair.bias_share == pytest.approx(1 / 3)
    assert found.bias_share == pytest.approx(1 / 3)


def test_a_constant_shift_is_all_bias_and_gone_with_equal_means() -> None:
    found = split(np.array([[5.0, 4, 3, 2], [4, 3, 2, 1]]))
    assert found.bias_share == 1
    assert [each.rater for each in found.raters] == ["a", "b"]
    assert [each.severity for each in found.raters] == pytest.approx([0.5, -0.5])
    assert found.interval_alpha_equal_means == pytest.approx(1)
    assert (found.interval_alpha or 1) < 0.75


def test_raters_who_never_differ_have_no_share() -> None:
    found = split(np.array([[5.0, 4, 3], [5, 4, 3]]))
    assert (found.bias_share, found.pairs[0].bias_share) == (None, None)


def test_pairs_weigh_by_the_units_they_share() -> None:
    values = np.array([[5.0, 5, 5, 5], [4, 4, 4, NAN], [5, NAN, NAN, 5]])
    found = split(values)
    assert [(pair.n, pair.bias_squared, pair.scatter) for pair in found.pairs] == [
        (3, 1, 0),
        (2, 0, 0),
        (1, 1, 0),
    ]
    assert found.bias_share == 1


@given(seed=st.integers(0, 500))
@settings(max_examples=30, deadline=None)
def test_effects_are_least_squares_over_units_and_raters(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 6, (4, 9)).astype(float)
    values[rng.random(values.shape) < 0.3] = NAN
    values[:, 0] = [1, 2, 3, 4]  # connects everybody
    raters, units = np.nonzero(~np.isnan(values) & ((~np.isnan(values)).sum(axis=0) >= 2))
    design = np.zeros((len(raters) + 1, 4 + 9))
    design[np.arange(len(raters)), raters] = 1
    design[np.arange(len(raters)), 4 + units] = 1
    design[-1, :4] = 1  # effects sum to zero
    theirs = np.linalg.lstsq(design, np.append(values[raters, units], 0), rcond=None)[0][:4]
    effects = rater_effects(values)
    assert effects is not None
    assert effects == pytest.approx(theirs, abs=1e-8)


def test_effects_of_complete_data_are_means_over_the_grand_mean() -> None:
    values = np.random.default_rng(1).integers(1, 6, (3, 20)).astype(float)
    assert rater_effects(values) == pytest.approx(values.mean(axis=1) - values.mean())


def test_raters_without_a_chain_of_common_units_cannot_be_compared() -> None:
    values = np.array([[5.0, 4, NAN, NAN], [4, 3, NAN, NAN], [NAN, NAN, 2, 1], [NAN, NAN, 1, 1]])
    assert rater_effects(values) is None
    found = split(values)
    assert (found.raters, found.interval_alpha_equal_means) == ((), None)


def test_rater_alone_on_their_units_is_left_out_of_the_shifts() -> None:
    found = split(np.array([[5.0, 4, NAN], [4, 3, NAN], [NAN, NAN, 2]]))
    assert [each.rater for each in found.raters] == ["a", "b"]


def test_nothing_comparable_is_not_an_error() -> None:
    found = split(np.array([[5.0, NAN], [NAN, 3]]))
    assert (found.bias_share, found.interval_alpha, found.raters) == (None, None, ())


@given(seed=st.integers(0, 500))
@settings(max_examples=30, deadline=None)
def test_interval_alpha_is_that_of_the_package(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.round(rng.normal(3, 1, (3, 10)), 1)
    values[rng.random(values.shape) < 0.2] = NAN
    values[:2, 0] = [1.0, 2.5]
    theirs = krippendorff.alpha(values, level_of_measurement="interval")
    assert interval_alpha(values) == pytest.approx(theirs)
