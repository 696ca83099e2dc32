"""Intraclass correlations against published tables, textbook formulas and second implementations."""

from __future__ import annotations

from itertools import product
from typing import get_args

import numpy as np
import pytest
from scipy.stats import f as f_distribution

from sheetsync.domain.agreement.coefficients import REASONS
from sheetsync.domain.agreement.icc import Form, icc, icc_interval
from sheetsync.domain.agreement.statistic import FloatArray

NAN = np.nan
FORMS: tuple[Form, ...] = get_args(Form)

# Shrout and Fleiss (1979) Psychol Bull 86, 420-428, table 2: six targets, four judges.
SHROUT_FLEISS = np.array([[9.0, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]])


@pytest.mark.parametrize(
    ("form", "published"),
    [
        ("ICC(1,1)", 0.17),
        ("ICC(2,1)", 0.29),
        ("ICC(3,1)", 0.71),
        ("ICC(1,k)", 0.44),
        ("ICC(2,k)", 0.62),
        ("ICC(3,k)", 0.91),
    ],
)
def test_shrout_fleiss_1979(form: Form, published: float) -> None:
    """Table 4."""
    assert icc(SHROUT_FLEISS, form).value == pytest.approx(published, abs=5e-3)


@pytest.mark.parametrize(
    ("form", "limits"),
    [
        # psych 2.2.9 (R) on the same table.
        ("ICC(1,1)", [-0.133, 0.723]),
        ("ICC(2,1)", [0.019, 0.761]),
        ("ICC(3,1)", [0.342, 0.946]),
        ("ICC(1,k)", [-0.884, 0.912]),
        ("ICC(2,k)", [0.071, 0.927]),
        ("ICC(3,k)", [0.676, 0.986]),
    ],
)
def test_limits_of_shrout_fleiss_1979(form: Form, limits: list[float]) -> None:
    found = icc_interval(SHROUT_FLEISS, form)
    assert [found.low, found.high] == pytest.approx(limits, abs=5.1e-4)
    assert (found.method, found.confidence) == ("f", 0.95)


def sums_of_squares(data: FloatArray) -> tuple[float, float, float]:
    """Mean squares of units, raters and the rest, cell by cell."""
    k, n = data.shape
    grand = sum(data.flat) / (n * k)
    of_unit = [sum(data[:, u]) / k for u in range(n)]
    of_rater = [sum(data[r]) / n for r in range(k)]
    units = k * sum((mean - grand) ** 2 for mean in of_unit) / (n - 1)
    raters = n * sum((mean - grand) ** 2 for mean in of_rater) / (k - 1)
    rest = sum((data[r, u] - of_rater[r] - of_unit[u] + grand) ** 2 for r, u in product(range(k), range(n)))
    return units, raters, rest / ((n - 1) * (k - 1))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_forms_equal_the_textbook(seed: int, confidence: float) -> None:
    """McGraw and Wong (1996) tables 4 and 7, one-way and consistency forms."""
    rng = np.random.default_rng(seed)
    k, n = 3, 12
    data = rng.integers(1, 6, n) + rng.integers(0, 3, (k, n)) + rng.integers(0, 2, (k, 1)) * 1.0
    units, _, error = sums_of_squares(data)
    within = float(np.mean([np.var(data[:, u], ddof=1) for u in range(n)]))
    tail = 1 - (1 - confidence) / 2
    for form, noise, df in (("1", within, n * (k - 1)), ("3", error, (n - 1) * (k - 1))):
        ratio = units / noise
        low = ratio / f_distribution.ppf(tail, n - 1, df)
        high = ratio * f_distribution.ppf(tail, df, n - 1)
        single: Form = "ICC(1,1)" if form == "1" else "ICC(3,1)"
        mean: Form = "ICC(1,k)" if form == "1" else "ICC(3,k)"
        one, many = icc_interval(data, single, confidence), icc_interval(data, mean, confidence)
        assert one.value == pytest.approx((units - noise) / (units + (k - 1) * noise), abs=1e-12)
        assert [one.low, one.high] == pytest.approx([(x - 1) / (x + k - 1) for x in (low, high)], abs=1e-9)
        assert many.value == pytest.approx((units - noise) / units, abs=1e-12)
        assert [many.low, many.high] == pytest.approx([1 - 1 / low, 1 - 1 / high], abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_agreement_forms_equal_the_textbook(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k, n = 4, 15
    data = rng.normal(size=n) * 2 + rng.normal(size=(k, n)) + rng.normal(size=(k, 1))
    units, raters, error = sums_of_squares(data)
    one, many = icc_interval(data), icc_interval(data, "ICC(2,k)")
    below = units + (k - 1) * error + k * (raters - error) / n
    assert one.value == pytest.approx((units - error) / below, abs=1e-12)
    assert many.value == pytest.approx((units - error) / (units + (raters - error) / n), abs=1e-12)
    steps = [k * limit / (1 + (k - 1) * limit) for limit in (one.low or 0, one.high or 0)]
    assert [many.low, many.high] == pytest.approx(steps, abs=1e-9)


def test_consistency_does_not_see_a_constant_difference() -> None:
    """One rater always a point above: consistent throughout, not in absolute agreement."""
    shifted = np.array([[1.0, 2, 3, 4], [2, 3, 4, 5]])
    assert icc(shifted, "ICC(3,1)").value == pytest.approx(1)
    assert (icc(shifted, "ICC(2,1)").value or 1) < 0.9
    assert icc_interval(shifted, "ICC(3,k)").interval_reason == "no_disagreement"


def test_only_complete_units_enter() -> None:
    gaps = np.column_stack([SHROUT_FLEISS, [1, NAN, 5, 9], [NAN, NAN, NAN, NAN]])
    nobody = np.vstack([gaps, np.full(gaps.shape[1], NAN)])
    for form in FORMS:
        assert icc(nobody, form) == icc(SHROUT_FLEISS, form)


SAME = np.full((2, 3), 3.0)
UNDEFINED: list[tuple[FloatArray, str]] = [
    (SAME, "no_variation"),
    (np.array([[1, 2, NAN], [NAN, NAN, 3]]), "no_pairable_units"),
    (np.array([[1, 2, NAN], [2, NAN, 3], [NAN, 4, 4]]), "no_complete_units"),
    (np.array([[1, 2], [2, NAN]]), "too_few_units"),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("data", "reason"), UNDEFINED)
def test_an_undefined_correlation_has_a_reason(data: FloatArray, reason: str, form: Form) -> None:
    for found in (icc(data, form), icc_interval(data, form)):
        assert (found.value, found.reason, found.interval_reason) == (None, reason, reason)


@pytest.mark.parametrize("form", ["ICC(3,1)", "ICC(1,k)", "ICC(3,k)"])
def test_units_all_alike_leave_nothing_to_correlate(form: Form) -> None:
    """Every unit has the same mean: units vary nothing."""
    data = np.array([[1.0, 1, 1], [2, 2, 2]])
    assert icc(data, form).reason == "no_variation"


def test_absolute_agreement_of_two_raters_can_lie_below_minus_one() -> None:
    """Two raters, three units, opposite throughout: -n / (n - 2)."""
    assert icc(np.array([[1.0, 2, 3], [3, 2, 1]])).value == pytest.approx(-3)


def test_opposite_raters_have_no_interval_of_no_width() -> None:
    """Every unit has the same mean, so the F of units is 0 and says nothing about how sure the value is."""
    found = icc_interval(np.array([[1.0, 5, 5, 3, 2, 1], [5, 1, 1, 3, 4, 5]]))
    assert found.value is not None
    assert (found.low, found.high, found.interval_reason) == (None, None, "no_variation")


@pytest.mark.parametrize("seed", range(30))
def test_limits_enclose_the_value_and_are_never_nan(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = rng.integers(1, 4, (int(rng.integers(2, 4)), int(rng.integers(2, 6)))).astype(float)
    for form in FORMS:
        found = icc_interval(data, form)
        if found.value is None:
            assert found.reason in REASONS
        elif found.low is None or found.high is None:
            assert found.interval_reason in REASONS
        else:
            assert -np.inf < found.low <= found.value <= found.high <= 1
