"""Words, scales turned round, unused levels, fractions and several tags, up to the report."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sheetsync.domain.agreement.assessment import (
    DimensionAgreement,
    Options,
    RatedRows,
    TagData,
    assess_agreement,
)
from sheetsync.domain.study import LevelValue, MeasurementLevel

QUICK = Options(resamples=0)


def rated(
    *rows: tuple[LevelValue, ...], scale: tuple[LevelValue, ...], level: MeasurementLevel = "ordinal"
) -> RatedRows:
    """One tuple per rater, one value per unit."""
    raters = tuple(f"r{at}" for at in range(len(rows)))
    values = {
        (rater, f"u{at}"): value
        for rater, row in zip(raters, rows, strict=True)
        for at, value in enumerate(row)
    }
    units = tuple(f"u{at}" for at in range(len(rows[0])))
    return RatedRows("Tone", level, scale, raters, units, frozenset(values), False, values)


def assess(data: RatedRows, options: Options = QUICK) -> DimensionAgreement:
    return assess_agreement([data.index()], [], options).dimensions[0]


NUMBERS = rated((1, 2, 3, 3, 5, 1), (1, 3, 3, 2, 5, 2), (2, 2, 3, 3, 5, 1), scale=(1, 2, 3, 4, 5))
WORDS = ("bad", "poor", "fair", "good", "best")


def in_words(data: RatedRows, words: tuple[str, ...]) -> RatedRows:
    called = dict(zip(data.scale, words, strict=True))
    return replace(data, scale=words, values={row: called[value] for row, value in data.values.items()})


def test_words_give_what_their_positions_give() -> None:
    """Alphabetical order would be bad, best, fair, good, poor."""
    words, numbers = assess(in_words(NUMBERS, WORDS)), assess(NUMBERS)
    assert words.coefficients == numbers.coefficients
    assert words.pairs == numbers.pairs
    assert words.distribution == {"bad": 4, "poor": 5, "fair": 6, "good": 0, "best": 3}


def test_the_declared_order_of_words_decides() -> None:
    declared = assess(in_words(NUMBERS, WORDS)).coefficients
    sorted_words = replace(in_words(NUMBERS, WORDS), scale=tuple(sorted(WORDS)))
    alphabetical = assess(sorted_words).coefficients
    assert declared["alpha"].value != pytest.approx(alphabetical["alpha"].value, abs=0.05)
    assert declared["exact"].value == pytest.approx(alphabetical["exact"].value)


@pytest.mark.parametrize("level", ["ordinal", "interval"])
def test_a_dimension_declared_from_best_to_worst(level: MeasurementLevel) -> None:
    """Agreement is the same; words turn the sign of a difference, numbers keep their values."""
    forward = assess(replace(NUMBERS, level=level))
    backward = assess(replace(NUMBERS, level=level, scale=NUMBERS.scale[::-1]))
    for name, coefficient in forward.coefficients.items():
        assert backward.coefficients[name].value == pytest.approx(coefficient.value, abs=1e-12), name
    here, there = forward.pairs[0].mean_difference.value, backward.pairs[0].mean_difference.value
    assert there == here
    words = in_words(NUMBERS, WORDS)
    turned = assess(replace(words, scale=WORDS[::-1])).pairs[0]
    assert turned.mean_difference.value == pytest.approx(-(assess(words).pairs[0].mean_difference.value or 0))
    assert turned.kappa_quadratic.value == pytest.approx(forward.pairs[0].kappa_quadratic.value)


def test_an_unused_level_of_the_declared_scale_counts() -> None:
    used = replace(NUMBERS, scale=(1, 2, 3, 5))
    all_levels, used_levels = assess(NUMBERS), assess(used)
    assert all_levels.coefficients["alpha"] == used_levels.coefficients["alpha"]
    assert all_levels.coefficients["ac"].value != used_levels.coefficients["ac"].value
    # From 3 to 5 are two steps on the declared scale, one among the levels used.
    assert all_levels.pairs[0].kappa_linear.value != used_levels.pairs[0].kappa_linear.value
    assert all_levels.pairs[0].kappa.value == used_levels.pairs[0].kappa.value


def test_half_points() -> None:
    halves = rated((1, 1.5, 2.5, 3), (1.5, 1.5, 3, 3), scale=(1, 1.5, 2, 2.5, 3))
    found = assess(halves, replace(QUICK, within=0.5))
    assert found.coefficients["within"].value == found.coefficients["within_all"].value == 1.0
    assert found.coefficients["mean_abs_difference"].value == 0.25
    assert found.pairs[0].mean_difference.value == -0.25


def test_labels_without_an_order() -> None:
    """Krippendorff (2011) example B: two observers, five labels; alpha .692."""
    ben, gerry = tuple("aabbdcccedda"), tuple("babbbccceddd")
    found = assess(rated(ben, gerry, scale=("a", "b", "c", "d", "e"), level="nominal"))
    assert found.coefficients["alpha"].value == pytest.approx(0.692, abs=5e-4)
    assert found.coefficients["mean_spearman"].reason == "undefined_for_values"
    assert found.coefficients["within_all"].k == 1
    assert found.coefficients["conger_kappa"].value == pytest.approx(found.pairs[0].kappa.value)


def test_a_response_with_several_tags_counts_in_each() -> None:
    """Multi-label: every tag is a question of its own, ticked or not."""
    ticks = {"a": [{"x", "y"}, {"x"}, set(), {"y"}], "b": [{"x", "y"}, set(), set(), {"x", "y"}]}
    tags = [
        TagData(
            tag,
            None,
            ("a", "b"),
            {(rater, f"u{at}"): tag in given for rater, row in ticks.items() for at, given in enumerate(row)},
        )
        for tag in ("x", "y", "z")
    ]
    by_tag = {found.tag: found for found in assess_agreement([], tags, QUICK).tags}
    assert (by_tag["x"].n_ticked, by_tag["y"].n_ticked) == ({"a": 2, "b": 2}, {"a": 2, "b": 2})
    assert (by_tag["x"].pairs[0].exact.value, by_tag["x"].pairs[0].kappa.value) == (0.5, 0.0)
    assert (by_tag["y"].pairs[0].exact.value, by_tag["y"].pairs[0].kappa.value) == (1.0, 1.0)
    assert (by_tag["z"].pairs[0].exact.value, by_tag["z"].pairs[0].kappa.reason) == (1.0, "no_variation")


def test_conger_gets_the_interval_of_its_standard_error() -> None:
    many = rated((1, 2, 3, 3, 5, 1) * 3, (1, 3, 3, 2, 5, 2) * 3, scale=(1, 2, 3, 4, 5))
    with_interval, without = assess(many, Options(resamples=200, within=0)), assess(many)
    assert with_interval.coefficients["conger_kappa"].method == "analytic"
    assert with_interval.coefficients["within_all"].method == "bca"
    assert without.coefficients["conger_kappa"].interval_reason == "not_requested"
    for name in ("mean_spearman", "observed_disagreement", "expected_disagreement"):
        assert with_interval.coefficients[name].interval_reason == "not_requested"
    few = assess(NUMBERS, Options(resamples=200)).coefficients["conger_kappa"]
    assert (few.interval_reason, few.value) == (
        "too_few_units",
        assess(NUMBERS).coefficients["conger_kappa"].value,
    )
