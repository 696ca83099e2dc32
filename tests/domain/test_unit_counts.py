"""Counting units by every route: the same patterns, whatever the size, the gaps and the order."""

from __future__ import annotations

import tracemalloc
from collections import Counter

import krippendorff
import numpy as np
import pytest

from sheetsync.domain.agreement import all_raters
from sheetsync.domain.agreement.statistic import FloatArray
from sheetsync.domain.agreement.unit_counts import UnitCounts, count_cells, count_tables, count_units
from sheetsync.domain.study import MeasurementLevel

LEVELS: tuple[MeasurementLevel, ...] = ("nominal", "ordinal", "interval", "ratio")


def rate(n: int, raters: int, n_levels: int, missing: float = 0.3, seed: int = 1) -> FloatArray:
    rng = np.random.default_rng(seed)
    near = np.clip(rng.integers(1, n_levels + 1, n) + rng.integers(-1, 2, (raters, n)), 1, n_levels)
    kept = rng.random(near.shape) >= missing
    data = np.full(near.shape, np.nan)
    data[kept] = near[kept]
    return data


def scale_of(n_levels: int) -> FloatArray:
    return np.arange(1, n_levels + 1, dtype=np.float64)


def one_by_one(data: FloatArray, n_levels: int) -> Counter[tuple[int, ...]]:
    found = Counter(tuple(int((unit == level).sum()) for level in scale_of(n_levels)) for unit in data.T)
    del found[(0,) * n_levels]
    return found


def as_counter(units: UnitCounts) -> Counter[tuple[int, ...]]:
    rows = [tuple(map(int, row)) for row in units.counts]
    return Counter(dict(zip(rows, map(int, units.multiplicity), strict=True)))


# A table of keys, sorted keys, and keys that would need more than 62 bits; one block and several.
SHAPES = [(40, 2, 5), (30_000, 5, 5), (300, 9, 9), (200, 3, 40), (50, 1, 3), (0, 2, 3), (7, 0, 3)]


@pytest.mark.parametrize(("n", "raters", "n_levels"), SHAPES)
def test_counts_are_those_of_counting_one_by_one(n: int, raters: int, n_levels: int) -> None:
    data = rate(n, raters, n_levels)
    assert as_counter(count_units(data, scale_of(n_levels))) == one_by_one(data, n_levels)


@pytest.mark.parametrize(("n", "raters", "n_levels"), SHAPES)
def test_cells_in_any_order_count_as_the_matrix(n: int, raters: int, n_levels: int) -> None:
    data = rate(n, raters, n_levels)
    units = np.nonzero(~np.isnan(data))[1]
    positions = data[~np.isnan(data)].astype(np.int64) - 1
    order = np.random.default_rng(2).permutation(len(units))
    found = count_cells(units[order], positions[order], scale_of(n_levels))
    assert as_counter(found) == one_by_one(data, n_levels)


@pytest.mark.parametrize("n_levels", [5, 40])
def test_dimensions_in_one_pass_count_as_one_by_one(n_levels: int) -> None:
    dimensions = [rate(200, 4, n_levels, seed=seed) for seed in range(3)]
    table, rater, unit = np.nonzero(~np.isnan(dimensions))
    positions = np.array(dimensions)[table, rater, unit].astype(np.int64) - 1
    found = count_tables(unit, positions, table, 4, scale_of(n_levels))
    assert [as_counter(each) for each in found[:3]] == [one_by_one(data, n_levels) for data in dimensions]
    assert not as_counter(found[3])


@pytest.mark.parametrize(("n", "raters", "n_levels"), SHAPES)
def test_patterns_come_in_one_order(n: int, raters: int, n_levels: int) -> None:
    data = rate(n, raters, n_levels)
    rng = np.random.default_rng(3)
    shuffled = data[rng.permutation(raters)][:, rng.permutation(n)]
    one, two = count_units(data, scale_of(n_levels)), count_units(shuffled, scale_of(n_levels))
    assert np.array_equal(one.counts, two.counts)
    assert np.array_equal(one.multiplicity, two.multiplicity)


@pytest.mark.parametrize("n_levels", [5, 40])
def test_a_rating_off_the_scale_is_refused(n_levels: int) -> None:
    data = rate(100, 3, n_levels)
    data[1, 50] = 2.5
    with pytest.raises(ValueError, match="level of the declared scale"):
        count_units(data, scale_of(n_levels))


def test_more_raters_than_a_byte_can_count() -> None:
    data = np.ones((300, 2))
    assert as_counter(count_units(data, [1, 2])) == {(300, 0): 2}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("n", "raters", "n_levels"), [(210, 2, 5), (5000, 6, 7), (400, 4, 30)])
def test_alpha_is_that_of_the_krippendorff_package(
    n: int, raters: int, n_levels: int, level: MeasurementLevel
) -> None:
    data, scale = rate(n, raters, n_levels), scale_of(n_levels)
    theirs = krippendorff.alpha(reliability_data=data, value_domain=scale, level_of_measurement=level)
    ours = all_raters.alpha(count_units(data, scale), level).value
    assert ours == pytest.approx(theirs, rel=0, abs=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_many_levels_by_ratings_and_few_by_pairs_of_levels_agree(
    missing: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    units = count_units(rate(200, 4, 9, missing), scale_of(9))
    weights = np.random.default_rng(1).multinomial(200, np.full(len(units.counts), 1 / len(units.counts)), 50)
    by_levels = all_raters.alpha(units, "ordinal").evaluate(weights.astype(float))
    monkeypatch.setattr(all_raters, "_FEW_LEVELS", 0)
    by_ratings = all_raters.alpha(units, "ordinal").evaluate(weights.astype(float))
    assert by_levels == pytest.approx(by_ratings, rel=0, abs=1e-12)


def test_counting_needs_little_memory_beside_the_matrix() -> None:
    """A matrix of 40 MB is looked at in blocks; the largest extra is one byte per rating."""
    data = np.tile(rate(1000, 5, 5), (1, 1000))
    tracemalloc.start()
    found = count_units(data, scale_of(5))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.multiplicity.sum() == 1000 * sum(one_by_one(data[:, :1000], 5).values())
    assert peak < 1.5 * data.size
