"""Coefficients of two raters, from the cells of their cross table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from sheetsync.domain.agreement.statistic import (
    Evaluate,
    FloatArray,
    IntArray,
    Statistic,
    positions_on_scale,
    ratio_or_nan,
)

KappaWeights = Literal["none", "linear", "quadratic"]


@dataclass(frozen=True)
class CrossTable:
    """The occupied cells of the cross table of two raters, over the units both rated.

    Attributes:
        first: position of the first rater's level, with shape (P,).
        second: position of the second rater's level, with shape (P,).
        multiplicity: units in the cell, with shape (P,).
        scale: the declared levels as numbers, with shape (K,).
    """

    first: IntArray
    second: IntArray
    multiplicity: FloatArray
    scale: FloatArray

    @property
    def n_units(self) -> int:
        """Number of units both raters rated."""
        return int(self.multiplicity.sum())

    @cached_property
    def levels(self) -> IntArray:
        """The positions that occur, sorted, with shape (L,)."""
        return np.unique(np.concatenate([self.first, self.second]))

    def indicators(self, positions: IntArray) -> FloatArray:
        """Which of the occurring levels a rater gave in each cell, with shape (P, L)."""
        return np.asarray(positions[:, None] == self.levels[None, :], dtype=float)

    def statistic(
        self,
        evaluate: Evaluate,
        undefined: str = "no_variation",
        perfect: float = 1.0,
        bounds: tuple[float, float] = (-1.0, 1.0),
    ) -> Statistic:
        """Return a statistic over the cells; `undefined` is the reason where it gives no number."""
        every = np.ones(len(self.multiplicity), dtype=bool)
        reason = None if self.n_units else "no_common_units"
        if reason is None and np.isnan(evaluate(self.multiplicity[None, :])[0]):
            reason = undefined
        return Statistic(evaluate, self.multiplicity, every, every, reason, perfect, bounds)


def cross_table(first: FloatArray, second: FloatArray, scale: Sequence[float] | FloatArray) -> CrossTable:
    """Count the units two raters both rated, per pair of levels.

    Args:
        first: the first rater's levels as numbers, one per unit, NaN for a missing rating.
        second: the second rater's, in the same order of units.
        scale: the declared levels, from low to high.
    """
    levels = np.asarray(scale, dtype=float)
    positions = positions_on_scale(np.asarray([first, second], dtype=float), levels)
    return cross_table_of_positions(positions[0], positions[1], levels)


def cross_table_of_positions(first: IntArray, second: IntArray, scale: FloatArray) -> CrossTable:
    """Count pairs of positions on the scale; -1 is a missing rating."""
    common = (first >= 0) & (second >= 0)
    size = max(len(scale), 1)
    cells, multiplicity = np.unique(first[common] * size + second[common], return_counts=True)
    return CrossTable(cells // size, cells % size, multiplicity.astype(float), scale)


def disagreements(table: CrossTable, weights: KappaWeights) -> FloatArray:
    """Return how far the occurring levels disagree, with shape (L, L): by positions on the declared scale."""
    steps = np.abs(table.levels[:, None] - table.levels[None, :]).astype(float)
    return np.asarray({"none": np.sign(steps), "linear": steps, "quadratic": steps**2}[weights])


def cohen_kappa(table: CrossTable, weights: KappaWeights) -> Statistic:
    """Cohen's kappa; weights are distances of positions on the declared scale."""
    disagree = disagreements(table, weights)
    rows, columns = table.indicators(table.first), table.indicators(table.second)
    observed = ((rows @ disagree) * columns).sum(axis=1)

    def evaluate(multiplicity: FloatArray) -> FloatArray:
        n = multiplicity.sum(axis=1)
        expected = (((multiplicity @ rows) @ disagree) * (multiplicity @ columns)).sum(axis=1)
        return 1 - ratio_or_nan(n * (multiplicity @ observed), expected, expected > 0)

    return table.statistic(evaluate)


def spearman(table: CrossTable) -> Statistic:
    """Spearman's rho: Pearson's correlation of mid-ranks."""
    rows, columns = table.indicators(table.first), table.indicators(table.second)

    def mid_ranks(multiplicity: FloatArray, indicators: FloatArray) -> FloatArray:
        totals = multiplicity @ indicators
        ranks = np.cumsum(totals, axis=1) - totals / 2 - totals.sum(axis=1, keepdims=True) / 2
        return np.asarray(ranks @ indicators.T)

    def evaluate(multiplicity: FloatArray) -> FloatArray:
        x, y = mid_ranks(multiplicity, rows), mid_ranks(multiplicity, columns)
        spread = (multiplicity * x**2).sum(axis=1) * (multiplicity * y**2).sum(axis=1)
        return ratio_or_nan((multiplicity * x * y).sum(axis=1), np.sqrt(spread), spread > 0)

    return table.statistic(evaluate, "constant_rater" if table.n_units > 1 else "too_few_units")


def exact(table: CrossTable) -> Statistic:
    """Share of units on which both gave the same level."""
    return table.statistic(_mean(table.first == table.second), bounds=(0.0, 1.0))


def mean_difference(table: CrossTable) -> Statistic:
    """Mean of the first rater's level minus the second's."""
    difference = table.scale[table.first] - table.scale[table.second]
    return table.statistic(_mean(difference), perfect=0.0, bounds=(-np.inf, np.inf))


def _mean(cells: FloatArray | np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Evaluate:
    """The mean over units of a number per cell."""

    def evaluate(multiplicity: FloatArray) -> FloatArray:
        n = multiplicity.sum(axis=1)
        return ratio_or_nan(multiplicity @ cells.astype(float), n, n > 0)

    return evaluate
