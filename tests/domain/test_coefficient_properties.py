"""What holds for every coefficient on whatever ratings; every warning is an error here."""

from __future__ import annotations

from itertools import combinations
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sheetsync.domain.agreement import all_raters
from sheetsync.domain.agreement import coefficients as c
from sheetsync.domain.agreement.coefficients import Coefficient, Scale
from sheetsync.domain.agreement.conger import conger_kappa
from sheetsync.domain.agreement.icc import Form, icc, icc_interval
from sheetsync.domain.agreement.pair_means import mean_spearman
from sheetsync.domain.agreement.standard_errors import Name, analytic_interval
from sheetsync.domain.agreement.statistic import FloatArray
from sheetsync.domain.agreement.unit_counts import Weights, count_units
from sheetsync.domain.study import MeasurementLevel

NAN = np.nan
SCALE = [1, 2, 3, 4, 5]
LEVELS: tuple[MeasurementLevel, ...] = get_args(MeasurementLevel)
WEIGHTS: tuple[Weights, ...] = get_args(Weights)
FORMS: tuple[Form, ...] = get_args(Form)
NAMES: tuple[Name, ...] = get_args(Name)

ratings = st.integers(1, 5).map(float)
cells = st.one_of(st.just(NAN), ratings)


def tables(of: st.SearchStrategy[float], raters: int = 1) -> st.SearchStrategy[FloatArray]:
    """Reliability data of up to four raters and twelve units."""
    return (
        st.integers(raters, 4)
        .flatmap(lambda n: st.lists(st.lists(of, min_size=n, max_size=n), min_size=1, max_size=12))
        .map(lambda units: np.array(units, dtype=float).T)
    )


def over_raters(data: FloatArray, scale: Scale = SCALE) -> dict[str, Coefficient]:
    """Every coefficient over all raters."""
    units = count_units(data, scale)
    statistics = {
        "exact": all_raters.exact(units),
        "within": all_raters.within(units, 1),
        "within all": all_raters.within_all(units, 1),
        "distance": all_raters.mean_abs_difference(units),
    }
    for level in LEVELS:
        statistics[f"alpha {level}"] = all_raters.alpha(units, level)
        statistics[f"observed {level}"] = all_raters.observed_disagreement(units, level)
        statistics[f"expected {level}"] = all_raters.expected_disagreement(units, level)
    for weights in WEIGHTS:
        statistics[f"ac {weights}"] = all_raters.gwet_ac(units, weights)
        statistics[f"bp {weights}"] = all_raters.brennan_prediger(units, weights)
        statistics[f"fleiss {weights}"] = all_raters.fleiss_kappa(units, weights)
    found = {name: c.without_interval(statistic) for name, statistic in statistics.items()}
    found |= {f"conger {weights}": conger_kappa(data, scale, weights) for weights in WEIGHTS}
    found |= {form: icc(data, form) for form in FORMS}
    return found | {
        "spearman": mean_spearman(data, scale),
        "spearman z": mean_spearman(data, scale, "fisher_z"),
    }


def of_pair(first: FloatArray, second: FloatArray, scale: Scale = SCALE) -> dict[str, Coefficient]:
    """Every coefficient of two raters that does not care who is first."""
    return {
        "kappa": c.cohen_kappa(first, second, scale, "none"),
        "kappa linear": c.cohen_kappa(first, second, scale, "linear"),
        "kappa quadratic": c.cohen_kappa(first, second, scale, "quadratic"),
        "rho": c.spearman(first, second, scale),
    }


def with_errors(data: FloatArray, scale: Scale = SCALE) -> dict[str, Coefficient]:
    """The coefficients that have a linearised standard error, and the F intervals."""
    found = {name: analytic_interval(name, data, scale, "ordinal") for name in NAMES}
    return found | {form: icc_interval(data, form) for form in FORMS}


def same(found: dict[str, Coefficient], other: dict[str, Coefficient]) -> None:
    for name, coefficient in found.items():
        assert (other[name].reason, other[name].interval_reason) == (
            coefficient.reason,
            coefficient.interval_reason,
        ), name
        for part in ("value", "low", "high"):
            wanted = getattr(coefficient, part)
            assert getattr(other[name], part) == pytest.approx(wanted, abs=1e-8), name


@settings(deadline=None, max_examples=40)
@given(tables(cells), st.integers(0, 2**32))
def test_order_of_units_and_raters_means_nothing(data: FloatArray, seed: int) -> None:
    rng = np.random.default_rng(seed)
    units = rng.permutation(data.shape[1])
    shuffled = data[rng.permutation(len(data))][:, units]
    found, other = over_raters(data), over_raters(shuffled)
    # Which of several reasons a mean of pairs gives depends on which pair comes first.
    for name in ("spearman", "spearman z"):
        if found[name].value is None and other[name].value is None:
            del found[name]
    same(found, other)
    same(with_errors(data), with_errors(shuffled))
    for first, second in combinations(data, 2):
        same(of_pair(first, second), of_pair(second[units], first[units]))


@settings(deadline=None, max_examples=40)
@given(tables(cells))
def test_empty_units_and_raters_mean_nothing(data: FloatArray) -> None:
    wider = np.pad(data, ((0, 1), (0, 2)), constant_values=NAN)
    same(over_raters(data), over_raters(wider))
    same(with_errors(data), with_errors(wider))
    for first, second in combinations(range(len(data)), 2):
        same(of_pair(data[first], data[second]), of_pair(wider[first], wider[second]))


ONLY_ORDER = {
    "alpha nominal",
    "alpha ordinal",
    "observed ordinal",
    "expected ordinal",
    "exact",
    "spearman",
    "spearman z",
    *(
        f"{name} {weights}"
        for name in ("ac", "bp", "fleiss", "conger")
        for weights in ("identity", "ordinal")
    ),
}


def relabelled(data: FloatArray, levels: list[float]) -> FloatArray:
    places = np.nan_to_num(data, nan=1).astype(int) - 1
    return np.where(np.isnan(data), NAN, np.array(levels)[places])


@settings(deadline=None, max_examples=40)
@given(
    tables(cells), st.lists(st.integers(-50, 50).map(lambda n: n / 4), min_size=5, max_size=5, unique=True)
)
def test_some_coefficients_only_know_the_order(data: FloatArray, levels: list[float]) -> None:
    """Any numbers, fractions and negative ones too, in the same order; kappas take positions."""
    levels = sorted(levels)
    renamed = relabelled(data, levels)
    found, other = over_raters(data), over_raters(renamed, levels)
    same({name: found[name] for name in ONLY_ORDER}, other)
    for first, second in combinations(range(len(data)), 2):
        same(of_pair(data[first], data[second]), of_pair(renamed[first], renamed[second], levels))


@settings(deadline=None, max_examples=40)
@given(tables(cells))
def test_a_scale_turned_round_is_the_same_scale(data: FloatArray) -> None:
    """A dimension on which 1 is best, or words declared from high to low; only the ratio metric has a zero."""
    turned = 6 - data
    found, other = over_raters(data), over_raters(turned)
    same({name: each for name, each in found.items() if "ratio" not in name}, other)
    same(over_raters(data), over_raters(data, SCALE[::-1]))
    for first, second in combinations(range(len(data)), 2):
        same(of_pair(data[first], data[second]), of_pair(turned[first], turned[second]))
        difference = c.mean_difference(data[first], data[second], SCALE)
        other_way = c.mean_difference(turned[first], turned[second], SCALE)
        assert difference.reason == other_way.reason
        assert difference.value is None or difference.value == pytest.approx(-(other_way.value or 0))


BOUNDS = {"exact": (0.0, 1.0), "within": (0.0, 1.0), "within all": (0.0, 1.0), "distance": (0.0, 4.0)}


def expect_bounds(name: str, found: Coefficient) -> None:
    assert found.value is not None
    low, high = BOUNDS.get(name, (-np.inf, 1.0))
    if name.startswith(("alpha", "kappa", "rho", "spearman")):
        low = -1
    elif name in {"ac identity", "bp identity"}:
        low = -1 / 4
    elif name.startswith(("observed", "expected")):
        low, high = 0, np.inf
    assert low - 1e-9 <= found.value <= high, name


@settings(deadline=None, max_examples=60)
@given(tables(cells))
def test_values_lie_within_bounds_and_are_never_nan(data: FloatArray) -> None:
    everything = list(over_raters(data).items())
    for first, second in combinations(data, 2):
        everything += of_pair(first, second).items()
    for name, found in everything:
        if found.value is None:
            assert found.reason in c.REASONS
        else:
            assert np.isfinite(found.value)
            expect_bounds(name, found)


@settings(deadline=None, max_examples=60)
@given(tables(ratings, raters=2))
def test_without_gaps_fleiss_and_conger_are_bounded_below(data: FloatArray) -> None:
    for weights in WEIGHTS:
        for found, low in (
            (c.fleiss_kappa(data, SCALE, weights), -1 / (len(data) - 1)),
            (conger_kappa(data, SCALE, weights), -1),
        ):
            assert found.value is None or found.value >= low - 1e-9


def test_what_has_no_bound_at_minus_one() -> None:
    """Units rated once move chance but not observed agreement; spread weights make chance large."""
    gaps = np.array([[1.0, *[1.0] * 9], [2.0, *[NAN] * 9]])
    assert (c.fleiss_kappa(gaps, SCALE).value or 0) == pytest.approx(-9.526, abs=5e-4)
    alone = np.array([[1.0, *[1.0] * 9, *[NAN] * 9], [2.0, *[NAN] * 9, *[1.0] * 9]])
    assert conger_kappa(alone, SCALE).value == pytest.approx(-9)
    ends = np.array([[1.0, 1, 1], [5.0, 5, 5]])
    assert c.brennan_prediger(ends, SCALE, "quadratic").value == pytest.approx(-3)
    ten = np.array([[1.0, 2, 1, 2], [10.0, 9, 10, 9]])
    assert (c.gwet_ac(ten, range(1, 11), "quadratic").value or 0) < -1.1
    assert icc(np.array([[1.0, 2, 3], [3, 2, 1]])).value == pytest.approx(-3)
    signs = np.array([[-1.0, 100, 100, 100], [1.001, 100, 100, 100]])
    assert (c.krippendorff_alpha(signs, [-1, 1.001, 100], "ratio").value or 0) < -5


@settings(deadline=None, max_examples=40)
@given(tables(cells))
def test_alpha_agrees_with_the_package_wherever_it_is_defined(data: FloatArray) -> None:
    for level in LEVELS:
        theirs = c.package_alpha(data, SCALE, level)
        assert c.krippendorff_alpha(data, SCALE, level).value == pytest.approx(theirs, abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(tables(cells))
def test_intervals_enclose_the_value_or_have_a_reason(data: FloatArray) -> None:
    wide = np.tile(data, 3)  # enough units for an interval
    for found in with_errors(wide).values():
        if found.low is None or found.high is None:
            assert found.interval_reason in c.REASONS
        else:
            assert found.value is not None
            assert found.interval_reason is None
            assert -np.inf < found.low <= found.value <= found.high <= 1
