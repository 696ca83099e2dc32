"""Null raters: against all permutations, against shuffling one by one, and what they must not depend on."""

from __future__ import annotations

from itertools import permutations

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sheetsync.domain.agreement.coefficients import Coefficient
from sheetsync.domain.agreement.coincidences import Measure, alphas, tabulate
from sheetsync.domain.agreement.null_raters import (
    NullRaters,
    ShuffledTables,
    describe_null_raters,
    null_raters,
    shuffle_tables,
)
from sheetsync.domain.agreement.statistic import IntArray

FIVE = Measure(np.array([1.0, 2, 3, 4, 5]), "ordinal")


def shuffled(positions: IntArray, seed: int = 1, n: int = 1000) -> ShuffledTables:
    tables = shuffle_tables(positions, 5, seed, n)
    assert tables is not None
    return tables


def assess(positions: IntArray, seed: int = 1, within: float = 1) -> NullRaters:
    found = tabulate(positions, FIVE)
    return null_raters(shuffled(positions, seed), found, within, seed, Coefficient(found.alpha))


def test_mean_over_shuffles_is_the_mean_over_all_permutations() -> None:
    first, second = [0, 0, 4, 3], [4, 1, 4, 3]
    orders = [list(order) for order in permutations(second)]
    exact = np.mean([np.mean(np.array(first) == order) for order in orders])
    within = np.mean([np.mean(np.abs(np.array(first) - order) <= 1) for order in orders])
    theirs = [tabulate(np.array([first, order]), FIVE).alpha or 0.0 for order in orders]
    found = shuffled(np.array([first, second]), n=20_000)
    null = null_raters(found, tabulate(np.array([first, second]), FIVE), 1, 1, Coefficient(0.0))
    assert null.exact is not None
    assert null.within is not None
    assert null.alpha is not None
    assert null.exact.mean == pytest.approx(exact, abs=0.01)
    assert null.within.mean == pytest.approx(within, abs=0.01)
    assert null.alpha.mean == pytest.approx(np.mean(theirs), abs=0.015)


def test_range_is_that_of_shuffling_one_by_one_with_gaps() -> None:
    rng = np.random.default_rng(5)
    positions = rng.choice(5, p=[0.02, 0.03, 0.1, 0.25, 0.6], size=(3, 40))
    positions[rng.random(positions.shape) < 0.15] = -1
    theirs = []
    for _ in range(1500):
        ratings = np.where(positions >= 0, positions + 1.0, np.nan)
        for row in ratings:
            row[~np.isnan(row)] = rng.permutation(row[~np.isnan(row)])
        theirs.append(
            krippendorff.alpha(ratings, value_domain=[1, 2, 3, 4, 5], level_of_measurement="ordinal")
        )
    null = assess(positions).alpha
    assert null is not None
    assert (null.mean, null.low, null.high) == pytest.approx(
        (np.mean(theirs), *np.quantile(theirs, [0.025, 0.975])), abs=0.025
    )


def test_gaps_and_marginals_stay() -> None:
    positions = np.array([[0, 1, 2, -1, 4], [4, 4, -1, 3, 2], [-1, 0, 0, 0, -1]])
    tables = shuffled(positions)
    # Everybody's ratings of pairable units: all of them here, whatever the shuffle.
    assert np.allclose(tables.coincidences.sum(axis=(1, 2)), 11)
    assert np.allclose(tables.pairs.sum(axis=(1, 2)), 1)
    assert np.allclose(tables.coincidences.sum(axis=2), [4, 1, 2, 1, 3])


@given(seed=st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_order_of_units_and_raters_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    positions = rng.integers(-1, 5, (3, 15))
    positions[:, :2] = [[0, 1], [1, 2], [4, 4]]
    histograms = {tuple(np.bincount(row[row >= 0], minlength=5)) for row in positions}
    again = positions[:, rng.permutation(15)]
    if len(histograms) == 3:
        again = again[rng.permutation(3)]
    assert np.allclose(shuffled(positions, n=100).coincidences, shuffled(again, n=100).coincidences)


def test_raters_who_follow_the_text_lie_above_the_range_and_guessers_inside() -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 5, 60)
    same = np.array([truth, np.clip(truth + rng.integers(-1, 2, 60), 0, 4)])
    assert assess(same).holds_alpha is False
    assert assess(np.array([truth, rng.permutation(truth)])).holds_alpha is True


def test_too_much_data_gives_no_shuffles_and_says_so() -> None:
    positions = np.zeros((3, 200_000), dtype=np.int64)
    assert shuffle_tables(positions, 5, 1) is None
    found = null_raters(None, tabulate(positions, FIVE), 1, 1, Coefficient(None))
    assert (found.n, found.reason) == (0, "too_many_ratings")
    words = describe_null_raters(found, Coefficient(0.5), "landis-koch")
    assert words == "Raters who ignore the text: not computed: too many ratings."


def test_nothing_comparable_gives_no_shuffles() -> None:
    positions = np.array([[0, -1], [-1, 2]])
    assert shuffle_tables(positions, 5, 1) is None
    assert null_raters(None, tabulate(positions, FIVE), 1, 1, Coefficient(None)).reason == "no_pairable_units"


def test_without_variation_alpha_has_no_null_but_exact_agreement_has() -> None:
    null = assess(np.full((2, 12), 4))
    assert null.alpha is None
    assert null.holds_alpha is None
    assert null.exact is not None
    assert null.exact.low == 1


def test_nominal_ratings_have_no_distance() -> None:
    positions = np.array([[0, 1, 2, 0], [0, 2, 1, 0]])
    found = tabulate(positions, Measure(np.arange(3.0), "nominal"))
    null = null_raters(shuffle_tables(positions, 3, 1), found, 1, 1, Coefficient(found.alpha))
    assert null.within is None
    assert null.alpha is not None


def test_shuffles_of_one_seed_are_the_same_and_of_another_are_not() -> None:
    positions = np.random.default_rng(1).integers(0, 5, (2, 30))
    first, second = (alphas(shuffled(positions, seed).coincidences, FIVE) for seed in (1, 2))
    assert np.array_equal(first, alphas(shuffled(positions, 1).coincidences, FIVE))
    assert not np.array_equal(first, second)


def test_sentence_says_where_alpha_lies() -> None:
    positions = np.random.default_rng(1).integers(0, 5, (2, 30))
    null = assess(positions)
    assert null.alpha is not None
    above = describe_null_raters(
        NullRaters(**{**vars(null), "holds_alpha": False}), Coefficient(0.91), "landis-koch"
    )
    assert above.startswith("Raters who ignore the text, each keeping the scores they gave, get alpha ")
    assert above.endswith("alpha of these raters, 0.91, lies above it.")
    below = describe_null_raters(
        NullRaters(**{**vars(null), "holds_alpha": False}), Coefficient(-0.91), "landis-koch"
    )
    assert below.endswith("alpha of these raters, −0.91, lies below it.")
