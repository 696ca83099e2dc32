"""Alpha over dimensions: the formula of X4, its simulation, and what the naive figure is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import krippendorff
import numpy as np
import pytest

from sheetsync.domain.agreement.coincidences import Measure, tabulate
from sheetsync.domain.agreement.null_raters import shuffle_tables
from sheetsync.domain.agreement.pooled import Pooled, Stratum, describe_nothing, pool
from sheetsync.domain.agreement.statistic import IntArray
from sheetsync.domain.study import LevelValue, MeasurementLevel
from tests.domain.test_coincidences import enumerate_pairs, random_positions

Dimension = tuple[str, tuple[LevelValue, ...], MeasurementLevel, IntArray]

# Requirements X4: five dimensions of 36 responses by three raters, whose answers cluster per dimension.
CLUSTERED = (
    ("Depth", (0, 2, 4, 5), (0.02, 0.05, 0.28, 0.65)),
    ("Evidence", (0, 1, 2, 3), (0.35, 0.5, 0.1, 0.05)),
    ("Alternatives", (0, 2, 4, 5), (0.03, 0.22, 0.7, 0.05)),
    ("Structure", (0, 1, 2, 3), (0.02, 0.08, 0.2, 0.7)),
    ("Actionability", (0, 2, 4), (0.75, 0.2, 0.05)),
)


def stratum(
    name: str, scale: tuple[LevelValue, ...], level: MeasurementLevel, positions: IntArray
) -> Stratum:
    words = any(isinstance(value, str) for value in scale)
    numbers = np.arange(len(scale), dtype=float) if words else np.array(scale, dtype=float)
    found = tabulate(positions, Measure(numbers, level))
    shuffled = shuffle_tables(positions, len(scale), (1, len(name)))
    reason = None if found.alpha is not None else "no_variation"
    return Stratum(name, scale, found, shuffled, reason)


def pooled(*dimensions: Dimension) -> Pooled:
    found = pool([stratum(*each) for each in dimensions], "acceptance")
    assert found is not None
    return found


def clustered(seed: int) -> list[Dimension]:
    rng = np.random.default_rng(seed)
    return [
        (name, scale, "ordinal", rng.choice(len(scale), p=shares, size=(3, 36)))
        for name, scale, shares in CLUSTERED
    ]


def stacked(dimensions: Sequence[Dimension]) -> float:
    """Alpha of the package on all cells side by side."""
    values = np.concatenate(
        [np.array(scale, dtype=float)[cells] for _, scale, _, cells in dimensions], axis=1
    )
    return float(krippendorff.alpha(values, level_of_measurement="ordinal"))


def test_guessers_whose_answers_cluster_per_dimension_agree_only_when_stacked() -> None:
    found = [pooled(*clustered(seed)) for seed in range(8)]
    naive = [each.naive.value or 0.0 for each in found]
    stratified = [each.stratified.value or 0.0 for each in found]
    assert np.mean(naive) == pytest.approx(0.71, abs=0.03)
    assert np.mean(stratified) == pytest.approx(0, abs=0.03)
    for each in found:
        assert each.naive.null is not None
        assert each.naive.null.mean == pytest.approx(each.naive.value, abs=0.05)
        assert each.naive.band is None
        assert each.stratified.null is not None
        assert each.stratified.null.mean == pytest.approx(0, abs=0.02)


def test_stratified_alpha_is_the_formula_over_all_pairs() -> None:
    dimensions: list[Dimension] = [
        ("a", (1, 2, 3, 4, 5), "ordinal", random_positions(1)),
        ("b", (0, 1, 3, 7, 9), "interval", random_positions(2, raters=4, units=11)),
        ("c", ("v", "w", "x", "y", "z"), "nominal", random_positions(3)),
    ]
    observed = expected = 0.0
    for name, scale, level, positions in dimensions:
        one = stratum(name, scale, level, positions).found
        within, between = enumerate_pairs(positions, one.measure)
        pairable = positions[:, (positions >= 0).sum(axis=0) >= 2]
        n = (pairable >= 0).sum()
        observed, expected = observed + n * within, expected + n * between
    assert pooled(*dimensions).stratified.value == pytest.approx(1 - observed / expected)


def test_weights_make_it_the_mean_of_the_alphas() -> None:
    dimensions = clustered(4)
    found = pooled(*dimensions)
    alphas = [stratum(*each).found.alpha or 0.0 for each in dimensions]
    weights = [each.weight for each in found.weights]
    assert sum(weights) == pytest.approx(1)
    assert found.stratified.value == pytest.approx(np.dot(weights, alphas))
    assert [each.n_ratings for each in found.weights] == [108] * 5


def test_naive_figure_is_that_of_the_package_on_stacked_ratings() -> None:
    dimensions = clustered(5)
    assert pooled(*dimensions).naive.value == pytest.approx(stacked(dimensions))


def test_dimension_without_variation_is_named_and_changes_nothing() -> None:
    dimensions = clustered(6)
    still: Dimension = ("Same", (0, 1, 2), "ordinal", np.full((3, 36), 2))
    found = pooled(*dimensions, still)
    assert found.without_variation == ("Same",)
    assert found.weights[-1].reason == "no_variation"
    assert found.weights[-1].weight == 0
    assert found.stratified.value == pytest.approx(pooled(*dimensions).stratified.value)


def test_nothing_that_varies_gives_no_value() -> None:
    still = np.full((2, 5), 1)
    found = pooled(("a", (0, 1), "ordinal", still), ("b", (0, 1), "ordinal", still))
    assert (found.stratified.value, found.stratified.reason) == (None, "no_variation")
    assert found.naive.value is None
    assert found.without_variation == ("a", "b")


def test_every_dimension_that_brings_nothing_has_its_own_reason() -> None:
    apart = np.array([[1, 2, -1, -1], [-1, -1, 0, 1]])
    still = np.full((2, 5), 1)
    varied = random_positions(3, raters=2, units=5)
    nobody = replace(stratum("Nobody", (1, 2, 3), "ordinal", apart), reason="no_pairable_units")
    others = [
        stratum("Varied", (1, 2, 3, 4, 5), "ordinal", varied),
        stratum("Same", (1, 2), "ordinal", still),
    ]
    found = pool([*others, nobody], "acceptance")
    assert found is not None
    assert [each.reason for each in found.weights] == [None, "no_variation", "no_pairable_units"]
    assert describe_nothing(found) == (
        "Nothing varies on Same, which adds nothing. No response has two ratings on Nobody, which adds nothing."
    )
    alone = pool([nobody, nobody], "acceptance")
    assert alone is not None
    assert (alone.stratified.reason, alone.naive.reason) == ("no_pairable_units", "no_pairable_units")


def test_a_scale_without_ends_to_divide_by_is_left_out_and_said_so() -> None:
    positions = np.array([[0, 0, 1, 1, 0, 1], [0, 1, 1, 1, 0, 0]])
    opposite: Dimension = ("Balance", (-1, 0, 1), "ratio", positions)
    found = pooled(opposite, ("Size", (1, 2, 3), "ratio", positions))
    assert [each.reason for each in found.weights] == ["undefined_for_values", None]
    assert "not defined for the values on Balance" in describe_nothing(found)


def test_wider_numbers_on_one_scale_do_not_give_a_dimension_more_weight() -> None:
    first, second = random_positions(7), random_positions(8)
    narrow = pooled(("a", (0, 1, 2, 3, 4), "interval", first), ("b", (0, 1, 2, 3, 4), "interval", second))
    wide = pooled(("a", (0, 10, 20, 30, 40), "interval", first), ("b", (0, 1, 2, 3, 4), "interval", second))
    assert wide.stratified.value == pytest.approx(narrow.stratified.value)


def test_scales_of_different_kinds_are_not_stacked() -> None:
    mixed = pooled(
        ("a", (1, 2, 3, 4, 5), "ordinal", random_positions(1)),
        ("b", (1, 2, 3, 4, 5), "interval", random_positions(2)),
    )
    words = pooled(
        ("a", ("l", "m", "n", "o", "p"), "ordinal", random_positions(1)),
        ("b", ("q", "r", "s", "t", "u"), "ordinal", random_positions(2)),
    )
    for each in (mixed, words):
        assert (each.naive.value, each.naive.reason) == (None, "undefined_for_values")
        assert each.stratified.value is not None


def test_one_dimension_is_not_pooled() -> None:
    assert pool([stratum("a", (1, 2, 3, 4, 5), "ordinal", random_positions(1))], "acceptance") is None
