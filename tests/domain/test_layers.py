"""Figures over all dimensions, against counts made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from sheetsync.domain.agreement.coincidences import Measure
from sheetsync.domain.agreement.intervals import IntervalOptions
from sheetsync.domain.agreement.layers import Layer, count_identical, pair_kappas, stratified_alpha

OPTIONS = IntervalOptions("percentile", 0.95, 500, 1)


def layer(name: str, *raters: str, levels: int = 3) -> Layer:
    """Return a layer from digits per rater; - is a blank."""
    rows = [[-1 if each == "-" else int(each) for each in rater] for rater in raters]
    return Layer(name, np.array(rows, dtype=np.int64), Measure(np.arange(float(levels)), "interval"))


def test_stratified_alpha_by_hand() -> None:
    # Interval differences, divided by the scale's squared width 4; ten units of two ratings each.
    # First: no unit differs; ten 0 and ten 2: expected 2 * 10 * 10 * 1 / (20 * 19) = 0.526316.
    # Second: all units differ by one step, ten 0 and ten 1: observed 1/4, expected 0.526316 / 4.
    layers = [layer("a", "0000022222", "0000022222"), layer("b", "0000000000", "1111111111")]
    observed = 20 * 0 + 20 * 0.25
    expected = 20 * 200 / 380 + 20 * 200 / 380 / 4
    found = stratified_alpha(layers, list(range(10)))
    assert found.value == pytest.approx(1 - observed / expected)


def test_the_interval_draws_whole_cases() -> None:
    rng = np.random.default_rng(3)
    digits = "".join(map(str, rng.integers(0, 3, 12)))
    other = "".join(map(str, rng.integers(0, 3, 12)))
    doubled = [layer("a", "".join(d * 2 for d in digits), "".join(d * 2 for d in other))]
    by_case = stratified_alpha(doubled, [at // 2 for at in range(24)], OPTIONS)
    by_unit = stratified_alpha(doubled, list(range(24)), OPTIONS)
    assert by_case.value == by_unit.value
    assert None not in (by_case.low, by_case.high, by_unit.low, by_unit.high)
    # Two equal responses of a case say what one says: drawing them singly would promise too much.
    assert (by_case.high or 0) - (by_case.low or 0) > 1.2 * ((by_unit.high or 0) - (by_unit.low or 0))


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (("012012012", "012012012"), "too_few_units"),
        (("0" * 12, "-" * 12), "no_pairable_units"),
        (("1" * 12, "1" * 12), "no_variation"),
    ],
)
def test_no_figure_without_units_or_variation(rows: tuple[str, str], reason: str) -> None:
    found = stratified_alpha([layer("a", *rows)], list(range(len(rows[0]))), OPTIONS)
    assert (found.value, found.reason) == (None, reason)


def test_identical_scores_by_hand() -> None:
    # Cells of three raters: 000 (3 pairs same, all same), 001 (1 of 3), 12- (0 of 1), 2-- (no pair).
    found = count_identical([layer("a", "0012", "002-", "01--")])
    assert (found.pairs, found.same_pairs, found.cells, found.same_cells) == (7, 4, 3, 1)
    assert (found.pairwise, found.by_all) == (4 / 7, 1 / 3)
    empty = count_identical([layer("a", "--", "00")])
    assert (empty.pairwise, empty.by_all) == (None, None)


def test_kappa_within_dimensions_by_hand() -> None:
    # a: 0011 and 0111: one of four differs; chance: 2*1 + 2*3 = 8 of 16 agree, so 2 of 4 differ.
    # b: 2222 and 2222: nothing differs, nor by chance: it brings nothing and has no kappa of its own.
    (found,) = pair_kappas([layer("a", "0011", "0111"), layer("b", "2222", "2222")], ["ann", "ben"])
    assert found.kappa.value == pytest.approx(1 - 1 / 2)
    assert (found.by_dimension, found.n) == ({"a": 0.5, "b": None}, 8)
    (apart,) = pair_kappas([layer("a", "01--", "--01")], ["ann", "ben"])
    assert apart.kappa.reason == "no_common_units"
