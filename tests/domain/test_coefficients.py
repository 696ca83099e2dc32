"""Coefficients against published tables and second implementations; their properties have a file of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import krippendorff
import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from sheetsync.domain.agreement import coefficients as c
from sheetsync.domain.agreement.coefficients import Coefficient
from sheetsync.domain.agreement.rater_pairs import KappaWeights
from sheetsync.domain.agreement.statistic import FloatArray
from sheetsync.domain.agreement.unit_counts import agreement_weights
from sheetsync.domain.study import MeasurementLevel

NAN = np.nan
LEVELS: tuple[MeasurementLevel, ...] = get_args(MeasurementLevel)
SCALE = [1, 2, 3, 4, 5]


def ratings(*rows: str) -> FloatArray:
    """One row per rater: `ratings("1 2 -", "1 3 2")`."""
    return np.array([[NAN if cell == "-" else float(cell) for cell in row.split()] for row in rows])


# Krippendorff (2011/2013) Computing Krippendorff's Alpha-Reliability, example C.
EXAMPLE_C = ratings(
    "1 2 3 3 2 1 4 1 2 - - -",
    "1 2 3 3 2 2 4 1 2 5 - 3",
    "- 3 3 3 2 3 4 2 2 5 1 -",
    "1 2 3 3 2 4 4 1 2 5 1 -",
)
# The same, example A (binary, two observers): .095.
EXAMPLE_A = ratings("0 1 0 0 0 0 0 0 1 0", "1 1 1 0 0 1 0 0 0 0")
# Fleiss (1971) Psychol Bull 76, 378-382, table 1: 30 patients, 6 psychiatrists, kappa .430.
FLEISS_1971 = (
    "00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031"
    " 00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"
)


def fleiss_1971() -> FloatArray:
    units = [
        [level + 1.0 for level, n in enumerate(row) for _ in range(int(n))] for row in FLEISS_1971.split()
    ]
    return np.array(units).T


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_alpha_of_krippendorff_2011_example_c(level: MeasurementLevel, published: float) -> None:
    assert c.krippendorff_alpha(EXAMPLE_C, SCALE, level).value == pytest.approx(published, abs=5e-4)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_of_krippendorff_2011_example_a(level: MeasurementLevel) -> None:
    assert c.krippendorff_alpha(EXAMPLE_A, [0, 1], level).value == pytest.approx(0.095, abs=5e-4)


def test_gwet_handbook_table() -> None:
    """Gwet (2014), as in the irrCAC vignettes: example C read as four raters of twelve subjects."""
    assert c.gwet_ac(EXAMPLE_C, SCALE, "identity").value == pytest.approx(0.77544, abs=5e-6)
    assert c.fleiss_kappa(EXAMPLE_C, SCALE).value == pytest.approx(0.76117, abs=5e-6)
    assert c.brennan_prediger(EXAMPLE_C, SCALE, "identity").value == pytest.approx(0.77273, abs=5e-6)


def test_fleiss_1971() -> None:
    assert c.fleiss_kappa(fleiss_1971(), SCALE).value == pytest.approx(0.430, abs=5e-4)


def test_feinstein_cicchetti_paradox() -> None:
    """Feinstein and Cicchetti (1990), tables 1 and 2: 85 % agreement, kappa .70 and .32."""
    balanced = np.array([[1] * 49 + [0] * 51, [1] * 40 + [0] * 9 + [1] * 6 + [0] * 45], dtype=float)
    skewed = np.array([[1] * 85 + [0] * 15, [1] * 80 + [0] * 5 + [1] * 10 + [0] * 5], dtype=float)
    for data, published in ((balanced, 0.70), (skewed, 0.32)):
        assert c.exact(data, [0, 1]).value == 0.85
        assert c.cohen_kappa(data[0], data[1], [0, 1], "none").value == pytest.approx(published, abs=5e-3)


def random_data(seed: int, missing: float = 0.2, scale: int = 5) -> FloatArray:
    rng = np.random.default_rng(seed)
    data = rng.integers(1, scale + 1, size=(3, 25)).astype(float)
    data[1] = np.where(rng.random(25) < 0.6, data[0], data[1])
    data[rng.random(data.shape) < missing] = NAN
    return data


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("level", LEVELS)
def test_alpha_equals_the_krippendorff_package(seed: int, level: MeasurementLevel) -> None:
    data = random_data(seed)
    expected = krippendorff.alpha(reliability_data=data, level_of_measurement=level, value_domain=SCALE)
    assert c.krippendorff_alpha(data, SCALE, level).value == pytest.approx(expected, abs=1e-12)
    assert c.package_alpha(data, SCALE, level) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_fleiss_kappa_equals_statsmodels(seed: int) -> None:
    data = random_data(seed, missing=0)
    table, _ = aggregate_raters(data.T)
    assert c.fleiss_kappa(data, SCALE).value == pytest.approx(statsmodels_fleiss(table), abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_cohen_kappa_equals_sklearn(seed: int, weights: KappaWeights) -> None:
    first, second, _ = random_data(seed, missing=0)
    expected = cohen_kappa_score(first, second, labels=SCALE, weights=None if weights == "none" else weights)
    assert c.cohen_kappa(first, second, SCALE, weights).value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_spearman_equals_scipy(seed: int) -> None:
    first, second, _ = random_data(seed)
    both = ~np.isnan(first) & ~np.isnan(second)
    expected = spearmanr(first[both], second[both]).statistic
    assert c.spearman(first, second, SCALE).value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("k", [0, 1, 2])
def test_within_and_differences_equal_loops_over_pairs(k: int) -> None:
    data = random_data(3)
    shares, distances = [], []
    for unit in data.T:
        given_values = unit[~np.isnan(unit)]
        pairs = [abs(a - b) for i, a in enumerate(given_values) for b in given_values[i + 1 :]]
        if pairs:
            shares.append(np.mean(np.array(pairs) <= k))
            distances.append(np.mean(pairs))
    assert c.within_k(data, SCALE, k).value == pytest.approx(np.mean(shares), abs=1e-12)
    assert c.mean_abs_difference(data, SCALE).value == pytest.approx(np.mean(distances), abs=1e-12)


@pytest.mark.parametrize("k", [0, 1, 2])
def test_within_of_all_equals_the_range_of_each_unit(k: int) -> None:
    data = random_data(4)
    given_units = [unit[~np.isnan(unit)] for unit in data.T]
    agree = [np.ptp(unit) <= k for unit in given_units if len(unit) > 1]
    assert c.within_k_of_all(data, SCALE, k).value == pytest.approx(np.mean(agree), abs=1e-12)


def test_within_of_all_is_below_within_of_pairs_for_three_raters() -> None:
    """One unit, ratings 1, 2 and 4: one of three pairs lies within one, all three do not."""
    data = ratings("1", "2", "4")
    assert c.within_k(data, SCALE, 1).value == pytest.approx(1 / 3)
    assert c.within_k_of_all(data, SCALE, 1).value == 0.0
    assert c.within_k_of_all(data, SCALE, 3).value == 1.0


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_is_made_of_its_two_disagreements(level: MeasurementLevel) -> None:
    observed = c.observed_disagreement(EXAMPLE_C, SCALE, level).value
    expected = c.expected_disagreement(EXAMPLE_C, SCALE, level).value
    assert observed is not None
    assert expected is not None
    alpha = c.krippendorff_alpha(EXAMPLE_C, SCALE, level).value
    assert 1 - observed / expected == pytest.approx(alpha, abs=1e-12)


def test_disagreements_of_krippendorff_2011_example_a() -> None:
    """Ten units, four of them with different ratings; 14 zeros and 6 ones: 8 / 20 and 2 * 14 * 6 / (20 * 19)."""
    assert c.observed_disagreement(EXAMPLE_A, [0, 1], "nominal").value == pytest.approx(0.4)
    assert c.expected_disagreement(EXAMPLE_A, [0, 1], "nominal").value == pytest.approx(168 / 380)


def test_disagreements_equal_loops_over_pairs_of_ratings() -> None:
    data = random_data(6)
    given_units = [unit[~np.isnan(unit)] for unit in data.T]
    units = [unit for unit in given_units if len(unit) > 1]
    within = [sum((a - b) ** 2 for a in unit for b in unit) / (len(unit) - 1) for unit in units]
    everything = np.concatenate(units)
    n = len(everything)
    between = sum((a - b) ** 2 for a in everything for b in everything) / (n * (n - 1))
    assert c.observed_disagreement(data, SCALE, "interval").value == pytest.approx(sum(within) / n)
    assert c.expected_disagreement(data, SCALE, "interval").value == pytest.approx(between)


def test_without_variation_both_disagreements_are_nothing() -> None:
    assert c.observed_disagreement(SAME, SCALE, "ordinal").value == 0.0
    assert c.expected_disagreement(SAME, SCALE, "ordinal").value == 0.0


def test_ordinal_weights_count_pairs_of_levels() -> None:
    """Gwet (2014) section 3.5: 1 - C(|i - j| + 1, 2) / C(5, 2) on five levels, whatever their numbers."""
    found = agreement_weights(np.array([0.0, 1, 5, 6, 9]), "ordinal")
    assert found[0] == pytest.approx([1, 0.9, 0.7, 0.4, 0])
    assert found[3] == pytest.approx([0.4, 0.7, 0.9, 1, 0.9])
    assert found == pytest.approx(found.T)


def test_gwet_handbook_table_with_ordinal_weights() -> None:
    """irrCAC, its own unit tests: AC2 .899 with ordinal weights, .859 with linear."""
    assert c.gwet_ac(EXAMPLE_C, SCALE, "ordinal").value == pytest.approx(0.899, abs=5e-4)
    assert c.gwet_ac(EXAMPLE_C, SCALE, "linear").value == pytest.approx(0.859, abs=5e-4)


def test_half_points_are_levels_like_any_other() -> None:
    """Halves of a scale are the scale: only what counts in values halves with it."""
    data = random_data(7)
    halves, scale = data / 2, [level / 2 for level in SCALE]
    for level in LEVELS:
        whole = c.krippendorff_alpha(data, SCALE, level).value
        assert c.krippendorff_alpha(halves, scale, level).value == pytest.approx(whole, abs=1e-12)
    difference = c.mean_abs_difference(data, SCALE).value or 0
    assert c.mean_abs_difference(halves, scale).value == pytest.approx(difference / 2, abs=1e-12)
    assert c.within_k_of_all(halves, scale, 0.5).value == c.within_k_of_all(data, SCALE, 1).value


def test_an_unused_level_is_a_category() -> None:
    """The declared scale counts: a sixth level nobody used lowers chance for AC and Brennan-Prediger."""
    data = random_data(8)
    wider = [*SCALE, 6]
    assert (c.gwet_ac(data, wider, "identity").value or 0) > (c.gwet_ac(data, SCALE, "identity").value or 0)
    agreement = c.exact(data, SCALE).value or 0
    found = c.brennan_prediger(data, wider, "identity").value
    assert found == pytest.approx((agreement - 1 / 6) / (1 - 1 / 6), abs=1e-12)
    assert c.fleiss_kappa(data, wider).value == pytest.approx(c.fleiss_kappa(data, SCALE).value, abs=1e-12)


def test_within_counts_a_distance_of_exactly_k_on_fractions() -> None:
    assert c.within_k(ratings("0.4 0.3", "0.3 0.2"), [0.2, 0.3, 0.4], 0.1).value == 1.0


def test_mean_difference_is_first_minus_second() -> None:
    assert c.mean_difference(np.array([5.0, 4, NAN]), np.array([3.0, 4, 1]), SCALE).value == 1.0


def test_kappa_weights_are_positions_on_the_declared_scale() -> None:
    """An unused level in between makes two steps of one."""
    first, second = np.array([1.0, 1, 4, 4, 5, 5]), np.array([1.0, 4, 4, 5, 4, 5])
    steps = c.cohen_kappa(first, second, [1, 4, 5], "linear").value
    assert c.cohen_kappa(first, second, [1, 2, 3, 4, 5], "linear").value != pytest.approx(steps)


def test_ordinal_alpha_follows_the_declared_order() -> None:
    """Levels declared from 5 down to 1 are the same order turned round."""
    turned = c.krippendorff_alpha(EXAMPLE_C, SCALE[::-1], "ordinal").value
    assert turned == pytest.approx(0.8153875038, abs=1e-9)


SAME, ONCE = ratings("3 3 3", "3 3 3"), ratings("1 2 -", "- - 3")
UNDEFINED: list[tuple[Callable[[], Coefficient], str]] = [
    *((lambda level=level: c.krippendorff_alpha(SAME, SCALE, level), "no_variation") for level in LEVELS),
    *(
        (lambda level=level: c.krippendorff_alpha(ONCE, SCALE, level), "no_pairable_units")
        for level in LEVELS
    ),
    (lambda: c.krippendorff_alpha(ratings("1 -1", "-1 1"), [-1, 1], "ratio"), "undefined_for_values"),
    (lambda: c.fleiss_kappa(SAME, SCALE), "no_variation"),
    (lambda: c.fleiss_kappa(ONCE, SCALE), "no_pairable_units"),
    (lambda: c.gwet_ac(SAME, [3], "identity"), "single_category"),
    (lambda: c.brennan_prediger(SAME, [3], "quadratic"), "single_category"),
    (lambda: c.gwet_ac(ONCE, SCALE, "quadratic"), "no_pairable_units"),
    (lambda: c.exact(ONCE, SCALE), "no_pairable_units"),
    (lambda: c.within_k(ONCE, SCALE, 1), "no_pairable_units"),
    (lambda: c.within_k_of_all(ONCE, SCALE, 1), "no_pairable_units"),
    (lambda: c.within_k_of_all(np.zeros((0, 0)), [], 1), "no_pairable_units"),
    (lambda: c.observed_disagreement(ONCE, SCALE, "ordinal"), "no_pairable_units"),
    (lambda: c.expected_disagreement(ONCE, SCALE, "interval"), "no_pairable_units"),
    (lambda: c.observed_disagreement(ratings("1 -1", "-1 1"), [-1, 1], "ratio"), "undefined_for_values"),
    (lambda: c.mean_abs_difference(ONCE, SCALE), "no_pairable_units"),
    (lambda: c.cohen_kappa(SAME[0], SAME[1], SCALE, "none"), "no_variation"),
    (lambda: c.cohen_kappa(ONCE[0], ONCE[1], SCALE, "linear"), "no_common_units"),
    (lambda: c.spearman(np.array([3.0, 3]), np.array([3.0, 4]), SCALE), "constant_rater"),
    (lambda: c.spearman(np.array([3.0]), np.array([4.0]), SCALE), "too_few_units"),
    (lambda: c.mean_difference(ONCE[0], ONCE[1], SCALE), "no_common_units"),
    (lambda: c.krippendorff_alpha(np.zeros((0, 0)), [], "ordinal"), "no_pairable_units"),
    (lambda: c.gwet_ac(np.full((2, 3), NAN), [], "identity"), "no_pairable_units"),
]


@pytest.mark.parametrize(("compute", "reason"), UNDEFINED)
def test_an_undefined_coefficient_has_a_reason(compute: Callable[[], Coefficient], reason: str) -> None:
    found = compute()
    assert (found.value, found.low, found.high) == (None, None, None)
    assert (found.reason, found.interval_reason) == (reason, reason)
    assert {found.reason, found.interval_reason} <= c.REASONS


def test_without_variation_agreement_is_still_shown() -> None:
    assert c.exact(SAME, SCALE).value == 1.0
    assert c.gwet_ac(SAME, SCALE, "quadratic").value == 1.0


def test_a_rating_off_the_scale_is_refused() -> None:
    with pytest.raises(ValueError, match="declared scale"):
        c.exact(ratings("1 6", "1 2"), SCALE)


def test_to_dict_has_the_keys_of_the_contract() -> None:
    keys = ["value", "low", "high", "confidence", "method", "reason", "interval_reason"]
    assert list(c.exact(SAME, SCALE).to_dict()) == keys
    assert list(c.within_k(SAME, SCALE, 2).to_dict()) == [*keys, "k"]
    assert c.within_k(ONCE, SCALE, 2).to_dict()["k"] == 2
