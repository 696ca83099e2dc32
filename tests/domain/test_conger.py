"""Conger's kappa and the mean of pairwise correlations against published values and loops over pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from sheetsync.domain.agreement import coefficients as c
from sheetsync.domain.agreement.coefficients import Coefficient
from sheetsync.domain.agreement.conger import conger_kappa
from sheetsync.domain.agreement.pair_means import mean_correlation, mean_spearman
from sheetsync.domain.agreement.statistic import FloatArray
from sheetsync.domain.agreement.unit_counts import Weights, agreement_weights

NAN = np.nan
SCALE = [1.0, 2, 3, 4, 5]
WEIGHTS: list[Weights] = ["identity", "linear", "quadratic", "ordinal"]

# Gwet (2014) Handbook of Inter-Rater Reliability, 4th ed., as in the irrCAC vignettes (cac.raw4raters).
RAW_4_RATERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, NAN],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
)


def random_data(seed: int, raters: int = 4, missing: float = 0.2) -> FloatArray:
    rng = np.random.default_rng(seed)
    data = rng.integers(1, 6, 30) + rng.integers(-1, 2, (raters, 30)) * 1.0
    data = np.clip(data, 1, 5)
    data[rng.random(data.shape) < missing] = NAN
    return data


@pytest.mark.parametrize(("weights", "published"), [("identity", 0.76282), ("quadratic", 0.85771)])
def test_published(weights: Weights, published: float) -> None:
    """irrCAC vignettes."""
    assert conger_kappa(RAW_4_RATERS, SCALE, weights).value == pytest.approx(published, abs=5e-6)


def by_pairs(data: FloatArray, weights: Weights) -> float:
    """Observed agreement pair by pair within units; chance as the mean of Cohen's over pairs of raters."""
    agree = agreement_weights(np.array(SCALE), weights)
    at = {level: place for place, level in enumerate(SCALE)}
    observed = []
    for unit in data.T:
        given = [at[value] for value in unit if not np.isnan(value)]
        pairs = [agree[a, b] for a, b in combinations(given, 2)]
        if pairs:
            observed.append(np.mean(pairs))
    shares = [[np.mean(row[~np.isnan(row)] == level) for level in SCALE] for row in data]
    chances = [
        sum(agree[k, m] * first[k] * second[m] for k in range(5) for m in range(5))
        for first, second in combinations(shares, 2)
    ]
    chance = float(np.mean(chances))
    return (float(np.mean(observed)) - chance) / (1 - chance)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weights", WEIGHTS)
def test_equals_loops_over_pairs_of_raters(seed: int, weights: Weights) -> None:
    data = random_data(seed)
    assert conger_kappa(data, SCALE, weights).value == pytest.approx(by_pairs(data, weights), abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_of_two_raters_is_cohen_kappa(seed: int) -> None:
    data = random_data(seed, raters=2, missing=0)
    for weights, kappa in (("identity", "none"), ("linear", "linear"), ("quadratic", "quadratic")):
        cohen = c.cohen_kappa(data[0], data[1], SCALE, kappa).value  # type: ignore[arg-type]
        found = conger_kappa(data, SCALE, weights).value  # type: ignore[arg-type]
        assert found == pytest.approx(cohen, abs=1e-12)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (np.full((2, 3), 3.0), "no_variation"),
        (np.array([[1, NAN], [NAN, 2]]), "no_pairable_units"),
        (np.array([[2, 2, 4], [2, 2, NAN]]), "no_variation"),
        (np.zeros((0, 0)), "no_pairable_units"),
        (np.full((2, 3), NAN), "no_pairable_units"),
    ],
)
def test_undefined(data: FloatArray, reason: str) -> None:
    found = conger_kappa(data, SCALE)
    assert (found.value, found.reason, found.interval_reason) == (None, reason, reason)


@pytest.mark.parametrize("seed", range(4))
def test_mean_spearman_equals_scipy_and_pandas(seed: int) -> None:
    data = random_data(seed, raters=3, missing=0)
    rhos = [spearmanr(first, second).statistic for first, second in combinations(data, 2)]
    assert mean_spearman(data, SCALE).value == pytest.approx(np.mean(rhos), abs=1e-12)
    table = pd.DataFrame(data.T).corr(method="spearman").to_numpy()
    assert mean_spearman(data, SCALE).value == pytest.approx(table[np.triu_indices(3, 1)].mean(), abs=1e-12)
    z = np.tanh(np.mean(np.arctanh(rhos)))
    assert mean_spearman(data, SCALE, "fisher_z").value == pytest.approx(z, abs=1e-12)


def test_mean_spearman_leaves_out_pairs_without_one() -> None:
    """The first rater is constant, the last shares no unit: one pair remains."""
    data = np.array([[4, 4, 4, NAN], [1, 2, 3, NAN], [1, 3, 2, NAN], [NAN, NAN, NAN, 5]])
    assert mean_spearman(data, SCALE).value == pytest.approx(0.5)
    assert mean_spearman(data, SCALE, "fisher_z").value == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (np.array([[4, 4, 4], [1, 2, 3]]), "constant_rater"),
        (np.array([[1, NAN], [NAN, 2]]), "no_pairable_units"),
        (np.array([[1, 2, 3]]), "no_pairable_units"),
        (np.array([[1, NAN], [2, 2]]), "too_few_units"),
    ],
)
def test_no_pair_has_a_correlation(data: FloatArray, reason: str) -> None:
    assert mean_spearman(data * 1.0, SCALE).reason == reason
    assert mean_spearman(data * 1.0, SCALE, "fisher_z").reason == reason


def test_a_perfect_pair_has_no_fisher_z() -> None:
    """Infinite on that scale; dropping it without a word, as `irr::meanrho` does, would lower the mean."""
    mixed = [Coefficient(1.0), Coefficient(0.5)]
    assert mean_correlation(mixed, "fisher_z").reason == "undefined_for_values"
    assert mean_correlation(mixed, "arithmetic").value == 0.75
    assert mean_correlation([Coefficient(1.0)] * 3, "fisher_z").value == 1.0
