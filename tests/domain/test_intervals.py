"""Intervals: their rules, their reproducibility, and their agreement with slow implementations."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap, sem, t

from sheetsync.domain.agreement import all_raters, rater_pairs
from sheetsync.domain.agreement import intervals as module
from sheetsync.domain.agreement.coefficients import REASONS, Coefficient, krippendorff_alpha
from sheetsync.domain.agreement.intervals import (
    IntervalMethod,
    IntervalOptions,
    draw_units,
    estimate,
    estimate_icc,
    leave_one_out,
)
from sheetsync.domain.agreement.rater_pairs import cross_table
from sheetsync.domain.agreement.statistic import FloatArray, Statistic
from sheetsync.domain.agreement.unit_counts import count_units
from sheetsync.domain.agreement.verdicts import MIN_PAIRABLE

SCALE = [1, 2, 3, 4, 5]
METHODS: Sequence[IntervalMethod] = ("bca", "percentile", "jackknife")


def simulate(n: int, raters: int = 2, seed: int = 1, missing: float = 0.0) -> FloatArray:
    """Raters who follow the unit's own level most of the time."""
    rng = np.random.default_rng(seed)
    truth = rng.choice([2, 3, 4, 5], p=[0.1, 0.2, 0.3, 0.4], size=n)
    noise = rng.integers(1, 6, size=(raters, n))
    data = np.where(rng.random((raters, n)) < 0.7, truth, noise).astype(float)
    data[rng.random(data.shape) < missing] = np.nan
    return data


def every_statistic(data: FloatArray) -> dict[str, Statistic]:
    units = count_units(data, SCALE)
    return {
        "alpha": all_raters.alpha(units, "ordinal"),
        "nominal": all_raters.alpha(units, "nominal"),
        "ac": all_raters.gwet_ac(units, "quadratic"),
        "brennan_prediger": all_raters.brennan_prediger(units, "quadratic"),
        "fleiss_kappa": all_raters.fleiss_kappa(units, "identity"),
        "exact": all_raters.exact(units),
        "within": all_raters.within(units, 1),
        "mean_abs_difference": all_raters.mean_abs_difference(units),
    }


def pair_statistics(data: FloatArray) -> dict[str, Statistic]:
    table = cross_table(data[0], data[1], SCALE)
    return {
        "kappa": rater_pairs.cohen_kappa(table, "none"),
        "kappa_quadratic": rater_pairs.cohen_kappa(table, "quadratic"),
        "spearman": rater_pairs.spearman(table),
        "exact": rater_pairs.exact(table),
        "mean_difference": rater_pairs.mean_difference(table),
    }


def intervals(data: FloatArray, **options: object) -> dict[str, Coefficient]:
    return estimate(every_statistic(data), IntervalOptions(**options))  # type: ignore[arg-type]


def alpha_interval(data: FloatArray, **options: object) -> Coefficient:
    return intervals(data, **options)["alpha"]


@pytest.mark.parametrize("method", METHODS)
def test_an_interval_names_its_method_and_confidence(method: IntervalMethod) -> None:
    found = alpha_interval(simulate(60), method=method, confidence=0.9, resamples=500)
    assert (found.method, found.confidence, found.interval_reason) == (method, 0.9, None)


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_numbers_in_any_order(method: IntervalMethod) -> None:
    data = simulate(60, raters=3, missing=0.2)
    rng = np.random.default_rng(5)
    shuffled = data[rng.permutation(3)][:, rng.permutation(60)]
    assert intervals(data, method=method) == intervals(shuffled, method=method)


@pytest.mark.parametrize("n", [60, 2000])
def test_threads_and_blocks_change_nothing(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = simulate(n, raters=3, missing=0.2)
    monkeypatch.setattr(module, "_MOST_THREADS", 1)
    found = intervals(data, resamples=2500)
    monkeypatch.setattr(module, "_MOST_THREADS", 3)
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    assert intervals(data, resamples=2500) == found


@pytest.mark.parametrize("counts", [[1.0] * 40, [700, 200, 99, 1], [3, 2000]])
def test_drawn_units_are_multinomial(counts: list[float]) -> None:
    """Sums, means and covariances of both ways of drawing; the rare redrawn row among them."""
    every = np.ones(len(counts), dtype=bool)
    statistic = Statistic(lambda weights: weights[:, 0], np.array(counts), every, every)
    drawn = np.concatenate([*draw_units(statistic, 20_000, (1,))])
    n, shares = sum(counts), np.array(counts) / sum(counts)
    assert (drawn.sum(axis=1) == n).all()
    assert (drawn >= 0).all()
    error = np.sqrt(n * shares * (1 - shares) / len(drawn))
    assert (np.abs(drawn.mean(axis=0) - n * shares) < 5 * error).all()
    covariance = n * (np.diag(shares) - np.outer(shares, shares))
    assert np.cov(drawn.T) == pytest.approx(covariance, abs=0.06 * covariance.max())


def test_another_seed_gives_other_numbers() -> None:
    data = simulate(60)
    assert alpha_interval(data, seed=1) != alpha_interval(data, seed=2)


def test_the_jackknife_uses_no_random_numbers() -> None:
    data = simulate(60)
    one, two = (alpha_interval(data, method="jackknife", seed=seed) for seed in (1, 2))
    assert one == two


def test_units_rated_once_do_not_move_the_interval_of_alpha() -> None:
    data = simulate(60)
    wider = np.pad(data, ((0, 0), (0, 5)), constant_values=np.nan)
    wider[0, -5:] = 3
    assert alpha_interval(data) == alpha_interval(wider)


def test_bca_equals_scipy() -> None:
    """The same statistic through scipy's general bootstrap, which recomputes alpha 2,000 times."""
    data = simulate(80)

    def alpha(first: FloatArray, second: FloatArray) -> float:
        value = krippendorff_alpha(np.array([first, second]), SCALE, "ordinal").value
        assert value is not None
        return value

    for method in ("bca", "percentile"):
        slow = bootstrap(
            (data[0], data[1]),
            alpha,
            paired=True,
            vectorized=False,
            n_resamples=2000,
            method=method,
            rng=np.random.default_rng(1),
        ).confidence_interval
        fast = alpha_interval(data, method=method)
        assert [fast.low, fast.high] == pytest.approx([slow.low, slow.high], abs=0.025)


def test_leaving_a_unit_out_equals_computing_without_it() -> None:
    data = simulate(30, raters=3, missing=0.1)
    left_out = leave_one_out(all_raters.alpha(count_units(data, SCALE), "ordinal"))
    one_by_one = [
        krippendorff_alpha(np.delete(data, unit, axis=1), SCALE, "ordinal").value
        for unit in range(30)
        if (~np.isnan(data[:, unit])).sum() >= 2
    ]
    compressed = np.repeat(left_out.values, left_out.multiplicity.astype(int))
    assert np.sort(compressed) == pytest.approx(sorted(value for value in one_by_one if value is not None))


@pytest.mark.parametrize("method", METHODS)
def test_the_three_methods_roughly_agree(method: IntervalMethod) -> None:
    found, other = alpha_interval(simulate(210), method=method), alpha_interval(simulate(210))
    assert [found.low, found.high] == pytest.approx([other.low, other.high], abs=0.03)


@pytest.mark.parametrize("method", METHODS)
def test_half_of_the_intervals_are_not_wrong(method: IntervalMethod) -> None:
    """A coarse coverage check: 95 % intervals of 60 units cover what 20,000 units show."""
    truth = krippendorff_alpha(simulate(20_000, seed=99), SCALE, "ordinal").value
    assert truth is not None
    found = [alpha_interval(simulate(60, seed=seed), method=method, resamples=400) for seed in range(60)]
    covered = sum(
        each.low <= truth <= each.high for each in found if each.low is not None and each.high is not None
    )
    assert covered >= 51


class TestReasons:
    @pytest.mark.parametrize("method", METHODS)
    def test_perfect_agreement(self, method: IntervalMethod) -> None:
        row = np.array([1.0, 2, 3, 4, 5] * 4)
        for found in intervals(np.array([row, row]), method=method).values():
            assert (found.low, found.high, found.interval_reason) == (None, None, "no_disagreement")

    def test_perfect_agreement_of_few_units(self) -> None:
        found = alpha_interval(np.array([[1.0, 2, 3], [1, 2, 3]]))
        assert (found.value, found.interval_reason) == (1.0, "no_disagreement")

    @pytest.mark.parametrize("method", METHODS)
    def test_too_few_units(self, method: IntervalMethod) -> None:
        few, enough = simulate(MIN_PAIRABLE - 1, seed=3), simulate(MIN_PAIRABLE, seed=3)
        assert alpha_interval(few, method=method).interval_reason == "too_few_units"
        assert alpha_interval(enough, method=method).interval_reason is None

    @pytest.mark.parametrize("method", METHODS)
    def test_not_requested(self, method: IntervalMethod) -> None:
        data = simulate(60)
        found = [*intervals(data, method=method, resamples=0).values()]
        found.append(estimate_icc(data, IntervalOptions(resamples=0)))
        assert {each.interval_reason for each in found} == {"not_requested"}
        assert all(each.value is not None for each in found)

    def test_undefined(self) -> None:
        found = alpha_interval(np.full((2, 20), 3.0))
        assert (found.reason, found.interval_reason) == ("no_variation", "no_variation")

    def test_every_unit_alike(self) -> None:
        """All units 4 against 5: nothing varies between units, so nothing can be resampled."""
        found = intervals(np.array([[4.0] * 20, [5.0] * 20]))
        assert found["exact"].value == 0.0
        assert {each.interval_reason for each in found.values()} <= {"no_variation", "no_disagreement"}

    def test_all_variation_in_one_unit(self) -> None:
        """19 of 20 alike, alpha 0 (F27): without the odd unit alpha is undefined."""
        data = np.full((2, 20), 5.0)
        data[1, 0] = 4
        assert alpha_interval(data, method="jackknife").interval_reason == "no_variation"
        found = alpha_interval(data)
        assert found.value == pytest.approx(0.0, abs=1e-12)

    def test_icc_without_error(self) -> None:
        assert estimate_icc(simulate(20)[[0, 0]], IntervalOptions()).interval_reason == "no_disagreement"

    def test_icc_of_two_constant_raters(self) -> None:
        found = estimate_icc(np.array([[4.0] * 12, [5.0] * 12]), IntervalOptions())
        assert (found.value, found.interval_reason) == (0.0, "no_variation")


def test_icc_interval_of_shrout_fleiss_1979() -> None:
    """McGraw and Wong's limits on Shrout and Fleiss' table 2, as in psych and pingouin: .019, .761."""
    data = np.array(
        [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]], dtype=float
    )
    found = estimate_icc(data, IntervalOptions())
    assert (found.method, found.confidence) == ("f", 0.95)
    assert [found.low, found.high] == pytest.approx([0.019, 0.761], abs=5e-4)


cells = st.one_of(st.just(np.nan), st.integers(1, 5).map(float))
tables = st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=30).map(
    lambda units: np.array(units, dtype=float).T
)


@settings(deadline=None, max_examples=60)
@given(tables, st.sampled_from(METHODS), st.integers(0, 40))
def test_limits_enclose_the_value_and_are_never_nan(
    data: FloatArray, method: IntervalMethod, resamples: int
) -> None:
    options = IntervalOptions(method=method, resamples=resamples)
    found = [
        *estimate(every_statistic(data), options).values(),
        *estimate(pair_statistics(data), options).values(),
    ]
    for each in [*found, estimate_icc(data, options)]:
        if each.value is None:
            assert each.interval_reason == each.reason
        elif each.low is None or each.high is None:
            assert (each.low, each.high, each.reason) == (None, None, None)
            assert each.interval_reason in REASONS
        else:
            assert np.isfinite([each.low, each.value, each.high]).all()
            assert each.low <= each.value <= each.high


def test_large_samples_stay_in_memory_and_time() -> None:
    """5,000 units with six raters: 10,000 resamples run in blocks."""
    start = time.perf_counter()
    found = alpha_interval(simulate(5000, raters=6), resamples=2000)
    assert found.low is not None
    assert time.perf_counter() - start < 5


@given(st.lists(st.integers(-4, 4), min_size=10, max_size=60).filter(lambda each: len(set(each)) > 1))
def test_the_interval_of_a_mean_difference_is_students(differences: list[int]) -> None:
    """The jackknife of a mean is the textbook's: scipy.stats gives the same limits."""

    table = cross_table(np.array(differences, float), np.zeros(len(differences)), np.arange(-4.0, 5.0))
    options = IntervalOptions(method="jackknife")
    found = estimate({"difference": rater_pairs.mean_difference(table)}, options)["difference"]
    mean, error = np.mean(differences), sem(differences)
    low, high = t.interval(0.95, len(differences) - 1, mean, error)
    assert [found.value, found.low, found.high] == pytest.approx([mean, low, high], rel=1e-9, abs=1e-9)
