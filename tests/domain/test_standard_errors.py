"""Linearised standard errors against published values, a textbook implementation and the jackknife."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from scipy.stats import norm, t

from sheetsync.domain.agreement import coefficients as c
from sheetsync.domain.agreement.coefficients import REASONS, Coefficient
from sheetsync.domain.agreement.conger import conger_kappa
from sheetsync.domain.agreement.standard_errors import (
    Name,
    PairName,
    analytic_interval,
    analytic_interval_of_pair,
    kappa_standard_error,
    standard_error,
)
from sheetsync.domain.agreement.statistic import FloatArray
from sheetsync.domain.agreement.unit_counts import Weights, agreement_weights

NAN = np.nan
SCALE = [1.0, 2, 3, 4, 5]
NAMES: tuple[Name, ...] = get_args(Name)
PAIR_NAMES: tuple[PairName, ...] = get_args(PairName)
WEIGHTS: tuple[Weights, ...] = get_args(Weights)

# Gwet (2014) Handbook of Inter-Rater Reliability, 4th ed., as in the irrCAC vignettes (cac.raw4raters).
RAW_4_RATERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, NAN],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
)


@pytest.mark.parametrize(
    ("name", "weights", "published", "low"),
    [
        ("ac", "identity", 0.14295, 0.461),
        ("fleiss_kappa", "identity", 0.15302, 0.424),
        ("conger_kappa", "identity", 0.14917, 0.435),
        ("brennan_prediger", "identity", 0.14472, 0.454),
        ("ac", "quadratic", 0.10396, 0.685),
        ("fleiss_kappa", "quadratic", 0.14603, 0.544),
        ("conger_kappa", "quadratic", 0.14367, 0.541),
        ("brennan_prediger", "quadratic", 0.11089, 0.657),
    ],
)
def test_published(name: Name, weights: Weights, published: float, low: float) -> None:
    """irrCAC vignettes: standard error and lower limit; the upper one is cut at 1."""
    assert standard_error(name, RAW_4_RATERS, SCALE, weights).error == pytest.approx(published, abs=5.1e-6)
    found = analytic_interval(name, RAW_4_RATERS, SCALE, weights)
    assert (found.low, found.high) == pytest.approx((low, 1.0), abs=5.1e-4)
    assert (found.method, found.confidence, found.interval_reason) == ("analytic", 0.95, None)


def abstractors() -> FloatArray:
    """Gwet (2014), cont3x3abstractors: ectopic, AIU and NIU pregnancies, two abstractors, 100 patients."""
    cells = {(0, 0): 13, (1, 1): 20, (1, 2): 7, (2, 1): 4, (2, 2): 56}
    both = [pair for pair, n in cells.items() for _ in range(n)]
    return np.array([[pair[rater] for pair in both] for rater in (0, 1)], dtype=float)


def test_published_of_cohen_kappa() -> None:
    """statsmodels and irrCAC, to eight digits: .05891072 unweighted, .03535151 quadratic."""
    first, second = abstractors()
    plain = kappa_standard_error("kappa", first, second, [0, 1, 2])
    weighted = kappa_standard_error("kappa_quadratic", first, second, [0, 1, 2])
    assert plain.error == pytest.approx(0.05891072, abs=6e-9)
    assert weighted.error == pytest.approx(0.03535151, abs=6e-9)


def test_raw_ratings_divide_by_n_less_one() -> None:
    """irrCAC's functions for tables divide by n and print .0432 for the same data."""
    found = standard_error("ac", abstractors(), [0, 1, 2]).error or 0
    assert found == pytest.approx(0.043435, abs=5e-7)
    assert found * np.sqrt(99 / 100) == pytest.approx(0.04321747, abs=5e-8)


def textbook(name: Name, data: FloatArray, weights: Weights) -> float:
    """Gwet (2014) chapter 5 with loops over units, raters and categories."""
    w, q = agreement_weights(np.array(SCALE), weights), len(SCALE)
    data = data[:, ~np.isnan(data).all(axis=0)]
    counts = np.array([[np.sum(unit == level) for level in SCALE] for unit in data.T], dtype=float)
    n, r = counts.shape[0], counts.sum(axis=1)
    pairable = [i for i in range(n) if r[i] >= 2]
    weighted = counts @ w
    agreement = {
        i: sum(counts[i, k] * (weighted[i, k] - 1) for k in range(q)) / (r[i] * (r[i] - 1)) for i in pairable
    }
    pa = sum(agreement.values()) / len(pairable)
    pi = [sum(counts[i, k] / r[i] for i in range(n)) / n for k in range(q)]
    if name == "ac":
        factor = w.sum() / (q * (q - 1))
        pe = factor * sum(p * (1 - p) for p in pi)
        parts = [factor * sum(counts[i, k] / r[i] * (1 - pi[k]) for k in range(q)) for i in range(n)]
    elif name == "fleiss_kappa":
        pe = sum(w[k, m] * pi[k] * pi[m] for k in range(q) for m in range(q))
        parts = [sum(counts[i, k] / r[i] * w[k] @ pi for k in range(q)) for i in range(n)]
    elif name == "conger_kappa":
        pe, parts = textbook_conger(data, w)
    else:
        pe = w.sum() / q**2 if name == "brennan_prediger" else 0.0
        parts = [pe] * n
    kappa = (pa - pe) / (1 - pe)
    total = 0.0
    for i in range(n):
        own = n / len(pairable) * (agreement[i] - pe) / (1 - pe) if i in agreement else 0.0
        total += (own - 2 * (1 - kappa) * (parts[i] - pe) / (1 - pe) - kappa) ** 2
    return float(np.sqrt(total / (n * (n - 1))))


def textbook_conger(data: FloatArray, w: FloatArray) -> tuple[float, list[float]]:
    """Conger's chance agreement through the variance of the raters' shares, and its linearisation."""
    raters, n = data.shape
    q = len(SCALE)
    ng = [np.sum(~np.isnan(row)) for row in data]
    p = np.array([[np.sum(data[g] == level) / ng[g] for level in SCALE] for g in range(raters)])
    mean = p.mean(axis=0)
    s2 = (p.T @ p - raters * np.outer(mean, mean)) / (raters - 1)
    pe = float((w * (np.outer(mean, mean) - s2 / raters)).sum())
    parts = []
    for i in range(n):
        part = 0.0
        for g in range(raters):
            rated = float(not np.isnan(data[g, i]))
            for k in range(q):
                inner = sum(
                    w[k, m] * (float(data[g, i] == SCALE[m]) - (rated - ng[g] / n) * p[g, m])
                    for m in range(q)
                )
                part += n / ng[g] * inner * (raters * mean[k] - p[g, k])
        parts.append(part / (raters * (raters - 1)))
    return pe, parts


def random_data(seed: int, units: int = 25, missing: float = 0.25) -> FloatArray:
    rng = np.random.default_rng(seed)
    drawn = rng.integers(1, 6, units) + rng.integers(-1, 2, (3, units))
    data: FloatArray = np.clip(drawn, 1, 5).astype(float)
    data[rng.random(data.shape) < missing] = NAN
    return data


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", NAMES)
def test_equals_the_textbook(name: Name, weights: Weights, seed: int) -> None:
    data = random_data(seed)
    expected = textbook(name, data, weights)
    assert standard_error(name, data, SCALE, weights).error == pytest.approx(expected, abs=1e-12)


def value_of(name: Name, data: FloatArray, weights: Weights) -> float:
    found: Coefficient
    if name == "conger_kappa":
        found = conger_kappa(data, SCALE, weights)
    elif name == "exact":
        found = c.exact(data, SCALE)
    else:
        found = {
            "ac": c.gwet_ac,
            "brennan_prediger": c.brennan_prediger,
            "fleiss_kappa": c.fleiss_kappa,
        }[name](data, SCALE, weights)
    assert found.value is not None
    return found.value


@pytest.mark.parametrize(
    ("name", "weights"),
    [*((name, weights) for name in NAMES if name != "exact" for weights in WEIGHTS), ("exact", "identity")],
)
def test_is_close_to_the_jackknife_on_many_units(name: Name, weights: Weights) -> None:
    """Leaving one unit out knows nothing of derivatives."""
    data = random_data(9, units=300, missing=0)
    data[np.arange(60) % 3, np.arange(60)] = NAN
    left_out = np.array([value_of(name, np.delete(data, at, axis=1), weights) for at in range(300)])
    jackknife = np.sqrt(299 / 300 * ((left_out - left_out.mean()) ** 2).sum())
    found = standard_error(name, data, SCALE, weights)
    assert found.error == pytest.approx(jackknife, rel=0.01)
    assert found.coefficient.value == value_of(name, data, weights)


def test_units_rated_once_widen_the_published_formula() -> None:
    """As published it takes a unit rated once for one with agreement 0: here every pair agrees, yet not 0.

    irrCAC-py and irrCAC-R 1.4 print .333333 for these four units.
    """
    data = np.array([[2.0, 2, 2, NAN], [2.0, 2, NAN, 4], [NAN, 2, 2, NAN]])
    found = standard_error("ac", data, [1, 2, 3, 4])
    assert found.coefficient.value == 1.0
    assert found.error == pytest.approx(1 / 3)
    assert analytic_interval("ac", data, [1, 2, 3, 4]).interval_reason == "no_disagreement"


@pytest.mark.parametrize("name", PAIR_NAMES)
def test_of_kappa_is_close_to_the_jackknife(name: PairName) -> None:
    first, second, _ = random_data(3, units=400, missing=0)

    def kappa(keep: FloatArray) -> float:
        at = keep.astype(int)
        weights = {"kappa": "none", "kappa_linear": "linear", "kappa_quadratic": "quadratic"}[name]
        return c.cohen_kappa(first[at], second[at], SCALE, weights).value or 0  # type: ignore[arg-type]

    everything = np.arange(400.0)
    left_out = np.array([kappa(np.delete(everything, at)) for at in range(400)])
    jackknife = np.sqrt(399 / 400 * ((left_out - left_out.mean()) ** 2).sum())
    found = kappa_standard_error(name, first, second, SCALE)
    assert found.error == pytest.approx(jackknife, rel=0.01)
    interval = analytic_interval_of_pair(name, first, second, SCALE, 0.9)
    reach = norm.ppf(0.95) * (found.error or 0)
    value = interval.value or 0
    assert (interval.low, interval.high) == pytest.approx((value - reach, value + reach), abs=1e-12)


def test_limits_take_student_t_over_rated_units() -> None:
    """A unit rated once is a degree of freedom, one rated by nobody is not."""
    data = np.column_stack([random_data(2, units=14, missing=0), [3, NAN, NAN], [NAN, NAN, NAN]])
    found = standard_error("fleiss_kappa", data, SCALE)
    assert (found.df, found.n_pairable) == (14, 14)
    interval = analytic_interval("fleiss_kappa", data, SCALE, confidence=0.9)
    value, reach = interval.value or 0, t.ppf(0.95, 14) * (found.error or 0)
    assert (interval.low, interval.high) == pytest.approx((value - reach, value + reach), abs=1e-12)
    assert interval.confidence == 0.9


SAME = np.full((2, 12), 3.0)
PERFECT = np.vstack([np.arange(12) % 3 + 1.0] * 2)
OPPOSITE = np.array([[1.0, 2] * 6, [2.0, 1] * 6])


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("fleiss_kappa", SAME, "no_variation"),
        ("conger_kappa", SAME, "no_variation"),
        ("ac", SAME, "no_disagreement"),
        ("exact", SAME, "no_disagreement"),
        ("conger_kappa", PERFECT, "no_disagreement"),
        ("ac", PERFECT, "no_disagreement"),
        ("exact", OPPOSITE, "no_variation"),
        ("ac", OPPOSITE, "no_variation"),
        ("ac", RAW_4_RATERS[:, :9], "too_few_units"),
        ("ac", RAW_4_RATERS[:, :1], "no_disagreement"),
        ("exact", np.array([[1.0], [2.0]]), "too_few_units"),
        ("ac", np.full((2, 3), NAN), "no_pairable_units"),
        ("conger_kappa", np.zeros((0, 0)), "no_pairable_units"),
    ],
)
def test_no_interval_without_a_reason(name: Name, data: FloatArray, reason: str) -> None:
    found = analytic_interval(name, data, SCALE)
    assert (found.low, found.high, found.method, found.confidence) == (None, None, None, None)
    assert found.interval_reason == reason
    assert found.reason in {None, reason}


def test_no_interval_of_a_pair_without_a_reason() -> None:
    def reason(first: FloatArray, second: FloatArray) -> str | None:
        return analytic_interval_of_pair("kappa", first, second, SCALE).interval_reason

    assert reason(SAME[0], SAME[1]) == "no_variation"
    assert reason(PERFECT[0], PERFECT[1]) == "no_disagreement"
    assert reason(np.array([1.0, NAN]), np.array([NAN, 2.0])) == "no_common_units"
    assert reason(np.array([1.0, 2, 1]), np.array([1.0, 2, 2])) == "too_few_units"


def test_limits_stay_within_bounds() -> None:
    rng = np.random.default_rng(5)
    for _ in range(40):
        data = rng.integers(1, 4, (3, 11)).astype(float)
        data[:, 3:] = data[0, 3:]
        data[rng.random(data.shape) < 0.1] = NAN
        for name in NAMES:
            found = analytic_interval(name, data, SCALE)
            if found.value is None or found.low is None or found.high is None:
                assert found.interval_reason in REASONS
            else:
                assert found.low <= found.value <= found.high <= 1
                assert found.low >= 0 or name != "exact"
