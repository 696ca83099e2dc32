"""Intervals side by side: the same ones as alone, the pair bootstrap of other tools, and when to warn."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sheetsync.domain.agreement import all_raters
from sheetsync.domain.agreement.interval_comparison import (
    IntervalComparison,
    compare_intervals,
    is_narrow,
    pair_bootstrap,
)
from sheetsync.domain.agreement.intervals import IntervalMethod, IntervalOptions, estimate
from sheetsync.domain.agreement.statistic import FloatArray
from sheetsync.domain.agreement.unit_counts import UnitCounts, count_units

SCALE = [1, 2, 3, 4, 5]


def rate(n: int, raters: int = 3, seed: int = 1) -> UnitCounts:
    """Raters who follow the unit's own level most of the time, with gaps."""
    rng = np.random.default_rng(seed)
    truth = rng.choice([2, 3, 4, 5], p=[0.1, 0.2, 0.3, 0.4], size=n)
    noise = rng.integers(1, 6, size=(raters, n))
    data = np.where(rng.random((raters, n)) < 0.7, truth, noise).astype(float)
    data[rng.random(data.shape) < 0.1] = np.nan
    return count_units(data, SCALE)


def compare(units: UnitCounts, **options: object) -> IntervalComparison:
    return compare_intervals(units, "ordinal", IntervalOptions(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["bca", "percentile", "jackknife"])
def test_every_interval_is_the_one_of_its_method_alone(method: IntervalMethod) -> None:
    units = rate(60)
    found = compare(units, method=method, seed=4)
    alone = {
        each: estimate({"alpha": all_raters.alpha(units, "ordinal")}, IntervalOptions(each, seed=4))["alpha"]
        for each in (method, "jackknife", "percentile")
    }
    assert found.default == alone[method]
    assert (found.jackknife, found.percentile) == (alone["jackknife"], alone["percentile"])
    assert (found.resamples, found.seed, found.n_undefined) == (10000, 4, 0)


def test_the_seed_decides() -> None:
    assert compare(rate(60), seed=1) == compare(rate(60), seed=1)
    assert compare(rate(60), seed=1).pair_bootstrap != compare(rate(60), seed=2).pair_bootstrap


def test_the_pair_bootstrap_is_as_wide_as_others_make_it() -> None:
    """Krippendorff (2011) example C, nominal: kripp.boot 1.0.0 prints .615 to .872 (10,000 draws).

    It draws (raters - 1) * ratings / 2 = 60 pairs, of which this table has 54.
    """
    nan = np.nan
    example_c = np.array(
        [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
            [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
        ]
    )
    found = pair_bootstrap(count_units(example_c, SCALE), "nominal", IntervalOptions())
    assert found.value == pytest.approx(0.743, abs=5e-4)
    assert [found.low, found.high] == pytest.approx([0.615, 0.872], abs=0.02)
    assert found.method == "pairs"


def test_pairs_drawn_one_by_one_give_the_same() -> None:
    """Two raters without gaps, interval data: alpha 1 - mean drawn square / expected square."""
    rng = np.random.default_rng(3)
    first = rng.integers(1, 6, 80).astype(float)
    data = np.array([first, np.clip(first + rng.integers(-1, 2, 80), 1, 5)])
    square = (data[0] - data[1]) ** 2
    both = data.ravel()
    expected = ((both[:, None] - both[None, :]) ** 2).sum() / (160 * 159)
    drawn = 1 - square[rng.integers(0, 80, (20_000, 80))].mean(axis=1) / expected
    found = pair_bootstrap(count_units(data, SCALE), "interval", IntervalOptions())
    assert [found.low, found.high] == pytest.approx(np.quantile(drawn, [0.025, 0.975]).tolist(), abs=0.01)


def test_with_three_raters_the_pair_bootstrap_is_narrower_and_says_so() -> None:
    found = compare(rate(100, raters=5))
    assert found.is_pair_bootstrap_narrow
    assert _width(found) < 0.75 * ((found.default.high or 0) - (found.default.low or 0))
    assert not compare(rate(100, raters=2)).is_pair_bootstrap_narrow


def _width(found: IntervalComparison) -> float:
    assert found.pair_bootstrap.low is not None
    assert found.pair_bootstrap.high is not None
    return found.pair_bootstrap.high - found.pair_bootstrap.low


def ceiling(n: int, n_top: int) -> FloatArray:
    """Two raters, `n_top` of `n` units in the top level by both, the others one level apart."""
    return np.array([[5.0] * n_top + [4.0] * (n - n_top), [5.0] * n_top + [3.0] * (n - n_top)])


def test_few_units_at_the_ceiling_are_narrow() -> None:
    assert is_narrow(count_units(ceiling(59, 45), SCALE))
    assert not is_narrow(count_units(ceiling(60, 46), SCALE))
    assert not is_narrow(count_units(ceiling(40, 30), SCALE))  # 75 % exactly
    assert compare(count_units(ceiling(40, 30), SCALE)).top_share == 0.75


def test_draws_without_variation_are_counted() -> None:
    """18 of 20 alike: a resample misses both odd units with probability (18 / 20) ** 20, 12 %."""
    data = np.full((2, 20), 5.0)
    data[:, 0] = 4
    data[1, 1] = 4
    found = compare(count_units(data, SCALE))
    assert found.n_undefined / found.resamples == pytest.approx(0.1216, abs=0.01)
    assert found.default.low is not None


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ([[1.0, 2, 3, 4, 5] * 4] * 2, "no_disagreement"),
        ([[3.0] * 20] * 2, "no_variation"),
        ([[1.0, 2, 3], [1, 2, 4]], "too_few_units"),
        ([[np.nan] * 5] * 2, "no_pairable_units"),
    ],
)
def test_without_an_interval_every_method_says_why(data: list[list[float]], reason: str) -> None:
    found = compare(count_units(np.array(data), SCALE))
    every = [found.default, found.jackknife, found.percentile, found.pair_bootstrap]
    assert {(each.low, each.high, each.interval_reason) for each in every} == {(None, None, reason)}
    assert found.n_undefined == 0


def test_json() -> None:
    found = json.loads(json.dumps(compare(rate(30)).to_dict(), allow_nan=False))
    assert list(found) == [
        "default", "jackknife", "percentile", "pair_bootstrap", "resamples", "seed", "n_undefined",
        "n_pairable", "top_share", "is_narrow", "is_pair_bootstrap_narrow",
    ]  # fmt: skip
    assert found["jackknife"]["method"] == "jackknife"
