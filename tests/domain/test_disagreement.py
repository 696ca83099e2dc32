"""Where the disagreement lies: against counting by hand, and against the package without units and raters."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest

from sheetsync.domain.agreement.coincidences import Coincidences, Measure, tabulate
from sheetsync.domain.agreement.disagreement import find_boundaries, find_heavy_units, leave_raters_out
from sheetsync.domain.agreement.statistic import IntArray
from sheetsync.domain.study import MeasurementLevel
from tests.domain.test_coincidences import LEVELS, random_positions

SCALE = (1, 2, 3, 4, 5)


def tabulated(positions: IntArray, level: MeasurementLevel = "ordinal") -> Coincidences:
    return tabulate(positions, Measure(np.arange(1.0, 6.0), level))


def package(positions: IntArray, level: MeasurementLevel = "ordinal") -> float:
    ratings = np.where(positions >= 0, positions + 1.0, np.nan)
    return float(krippendorff.alpha(ratings, value_domain=[1, 2, 3, 4, 5], level_of_measurement=level))


def test_boundaries_of_a_table_that_can_be_counted() -> None:
    # Pairs: 4-5, 4-5, 3-5, 1-2 and two that agree; interval distances 1, 1, 4, 1.
    positions = np.array([[3, 4, 2, 0, 4, 1], [4, 3, 4, 1, 4, 1]])
    found = {each.between: each for each in find_boundaries(tabulated(positions, "interval"), SCALE)}
    assert set(found) == {(4, 5), (3, 4), (1, 2)}
    assert found[4, 5].differing_pairs == pytest.approx(3 / 4)
    assert found[4, 5].disagreement == pytest.approx(6 / 7)
    assert found[3, 4].differing_pairs == pytest.approx(1 / 4)
    assert found[3, 4].disagreement == pytest.approx(4 / 7)
    assert found[1, 2].disagreement == pytest.approx(1 / 7)


def test_heaviest_boundary_comes_first() -> None:
    shares = [each.disagreement for each in find_boundaries(tabulated(random_positions(2)), SCALE)]
    assert shares == sorted(shares, reverse=True)


def test_nominal_boundaries_are_any_two_categories_and_add_up_to_1() -> None:
    positions = np.array([[0, 4, 2, 2], [4, 0, 2, 3]])
    found = find_boundaries(tabulated(positions, "nominal"), SCALE)
    assert [(each.between, round(each.differing_pairs, 3)) for each in found] == [
        ((1, 5), 0.667),
        ((3, 4), 0.333),
    ]


def test_no_disagreement_has_no_place() -> None:
    positions = np.array([[0, 4, 2], [0, 4, 2]])
    assert find_boundaries(tabulated(positions), SCALE) == ()
    units = find_heavy_units(positions, tabulated(positions), "ab", "xyz", SCALE)
    assert (units.n_differing, units.n_half, units.heaviest) == (0, 0, ())


def test_units_that_carry_half_of_the_disagreement() -> None:
    # Squared distances 9, 1, 1, 1, 0: one unit carries 9 of 12.
    positions = np.array([[0, 3, 3, 0, 4], [3, 4, 4, 1, 4]])
    found = find_heavy_units(positions, tabulated(positions, "interval"), "ab", "vwxyz", SCALE)
    assert (found.n_pairable, found.n_differing, found.n_half) == (5, 4, 1)
    assert [each.unit for each in found.heaviest] == ["v", "w", "x", "y"]
    assert found.heaviest[0].share == pytest.approx(9 / 12)
    assert found.heaviest[0].values == {"a": 1, "b": 4}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(4))
def test_alpha_without_a_unit_is_that_of_the_package_without_it(level: MeasurementLevel, seed: int) -> None:
    positions = random_positions(seed, raters=3, units=12)
    names = [f"u{at}" for at in range(12)]
    found = find_heavy_units(positions, tabulated(positions, level), "abc", names, SCALE)
    assert len(found.heaviest) == 5
    for each in found.heaviest:
        rest = np.delete(positions, names.index(each.unit), axis=1)
        assert each.alpha_without == pytest.approx(package(rest, level))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(4))
def test_alpha_without_a_rater_is_that_of_the_package_without_them(
    level: MeasurementLevel, seed: int
) -> None:
    positions = random_positions(seed, raters=4, units=15)
    for at, each in enumerate(leave_raters_out(positions, tabulated(positions, level), "abcd")):
        rest = np.delete(positions, at, axis=0)
        assert each.rater == "abcd"[at]
        assert each.n_pairable == ((rest >= 0).sum(axis=0) >= 2).sum()
        assert each.alpha == pytest.approx(package(rest, level))


def test_two_raters_are_not_left_out() -> None:
    positions = random_positions(1, raters=2)
    assert leave_raters_out(positions, tabulated(positions), "ab") == ()


def test_alpha_without_the_only_unit_that_varies_is_undefined() -> None:
    positions = np.full((3, 9), 4)
    positions[2, 0] = 0
    found = find_heavy_units(positions, tabulated(positions), "abc", "123456789", SCALE)
    assert [(each.unit, each.alpha_without) for each in found.heaviest] == [("1", None)]
    assert [each.alpha for each in leave_raters_out(positions, tabulated(positions), "abc")][2] is None
