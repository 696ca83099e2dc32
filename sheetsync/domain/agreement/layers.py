"""Figures over all dimensions at once that never compare one dimension with another (X4).

Every rating is compared within its dimension; what is added up are disagreements, divided by those
between the ends of the scale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from sheetsync.domain.agreement.coefficients import Coefficient, undefined
from sheetsync.domain.agreement.coincidences import Measure, count_levels
from sheetsync.domain.agreement.intervals import IntervalOptions
from sheetsync.domain.agreement.pooled import stratified_alphas
from sheetsync.domain.agreement.reliability import DimensionData
from sheetsync.domain.agreement.statistic import FloatArray, IntArray
from sheetsync.domain.agreement.verdicts import MIN_PAIRABLE, is_too_few

_FEWEST_DEFINED = 0.95
"""Share of resamples in which alpha must be defined for an interval."""


@dataclass(frozen=True, eq=False)
class Layer:
    """One dimension: its ratings as positions on the scale, raters x units, -1 where there is none."""

    dimension: str
    positions: IntArray
    measure: Measure

    def of_units(self, units: Sequence[int]) -> Layer:
        """Return some of the units."""
        return replace(self, positions=self.positions[:, list(units)])


def layers_of(data: Sequence[DimensionData]) -> list[Layer]:
    """Return what was rated on every dimension; all have the same raters and units."""
    return [Layer(each.dimension, each.positions, Measure(each.numbers, each.level)) for each in data]


# --- alpha ---


def stratified_alpha(
    layers: Sequence[Layer], groups: Sequence[int], options: IntervalOptions | None = None
) -> Coefficient:
    """Return the stratified alpha with a percentile interval.

    Whole groups are drawn: the two responses of a case are scored together and may share what makes them
    hard. With fewer than ten pairable units there is no figure (X20).

    Args:
        layers: one per dimension.
        groups: per unit the number of its case, from 0.
        options: confidence, resamples and seed; None for no interval.
    """
    pairable = max((int(((each.positions >= 0).sum(axis=0) >= 2).sum()) for each in layers), default=0)
    if is_too_few(pairable):
        return undefined("too_few_units" if pairable else "no_pairable_units")
    tables = [_tables_of_groups(each, groups) for each in layers]
    measures = [each.measure for each in layers]
    value = float(_alphas([each.sum(axis=0) for each in tables], measures))
    if np.isnan(value):
        return undefined("no_variation")
    if options is None or not options.resamples:
        return Coefficient(value, interval_reason="not_requested")
    n = max(groups) + 1
    rng = np.random.default_rng(options.seed)
    drawn = rng.multinomial(n, np.full(n, 1 / n), size=options.resamples).astype(float)
    sample = _alphas([np.tensordot(drawn, each, axes=1) for each in tables], measures)
    sample = sample[~np.isnan(sample)]
    if n < MIN_PAIRABLE or len(sample) < _FEWEST_DEFINED * options.resamples:
        return Coefficient(value, interval_reason="too_few_units")
    tail = (1 - options.confidence) / 2
    low, high = np.quantile(sample, [tail, 1 - tail])
    return Coefficient(value, float(low), float(high), options.confidence, "percentile")


def _alphas(tables: Sequence[FloatArray], measures: Sequence[Measure]) -> FloatArray:
    return np.asarray(stratified_alphas(list(zip(tables, measures, strict=True))))


def _tables_of_groups(layer: Layer, groups: Sequence[int]) -> FloatArray:
    """Return the coincidences of every group, with shape (G, K, K)."""
    k = len(layer.measure.numbers)
    counts = count_levels(layer.positions, k)
    ratings = counts.sum(axis=1)
    used = ratings >= 2
    tables = counts[:, :, None] * counts[:, None, :]
    levels = np.arange(k)
    tables[:, levels, levels] -= counts
    tables *= np.where(used, 1 / np.maximum(ratings - 1, 1), 0)[:, None, None]
    out = np.zeros((max(groups, default=-1) + 1, k, k))
    np.add.at(out, list(groups), tables)
    return out


# --- identical scores ---


@dataclass(frozen=True)
class Identical:
    """How often scores are the same: of two raters, and of all who scored a cell."""

    pairs: int
    same_pairs: int
    cells: int
    same_cells: int

    @property
    def pairwise(self) -> float | None:
        """Share of rater pairs that agree."""
        return self.same_pairs / self.pairs if self.pairs else None

    @property
    def by_all(self) -> float | None:
        """Share of cells with two or more scores in which all are the same."""
        return self.same_cells / self.cells if self.cells else None


def count_identical(layers: Sequence[Layer]) -> Identical:
    """Count identical scores over all dimensions."""
    pairs = same = cells = same_cells = 0
    for layer in layers:
        counts = count_levels(layer.positions, len(layer.measure.numbers))
        ratings = counts.sum(axis=1)
        pairs += int((ratings * (ratings - 1) / 2).sum())
        same += int((counts * (counts - 1) / 2).sum())
        cells += int((ratings >= 2).sum())
        same_cells += int(((ratings >= 2) & (counts.max(axis=1, initial=0) == ratings)).sum())
    return Identical(pairs, same, cells, same_cells)


# --- two raters ---


@dataclass(frozen=True)
class PairKappa:
    """Cohen's kappa of two raters over all dimensions, unweighted, compared within dimensions."""

    raters: tuple[str, str]
    n: int
    kappa: Coefficient
    by_dimension: Mapping[str, float | None]


def pair_kappas(layers: Sequence[Layer], raters: Sequence[str]) -> list[PairKappa]:
    """Return kappa of every two raters: 1 minus observed over expected disagreements, added up."""
    found = []
    for a, b in combinations(range(len(raters)), 2):
        parts = {each.dimension: _disagreements(each, a, b) for each in layers}
        observed, expected, n = (sum(part[at] for part in parts.values()) for at in range(3))
        kappa = undefined("no_common_units" if not n else "no_variation")
        if expected > 0:
            kappa = Coefficient(1 - observed / expected, interval_reason="not_requested")
        by_dimension = {name: 1 - part[0] / part[1] if part[1] > 0 else None for name, part in parts.items()}
        found.append(PairKappa((raters[a], raters[b]), round(n), kappa, by_dimension))
    return found


def _disagreements(layer: Layer, a: int, b: int) -> tuple[float, float, float]:
    """Return observed and expected number of units on which two raters differ, and how many they share."""
    common = (layer.positions[a] >= 0) & (layer.positions[b] >= 0)
    first, second = layer.positions[a][common], layer.positions[b][common]
    n = float(common.sum())
    if not n:
        return 0.0, 0.0, 0.0
    k = len(layer.measure.numbers)
    margins = np.bincount(first, minlength=k) * np.bincount(second, minlength=k)
    return float((first != second).sum()), n - float(margins.sum()) / n, n
