"""Which parts of a study are hardest to score consistently (S0.60).

A part is a slice (the units of one figure, say) or one question on one figure over all models. Parts with
fewer units than a verdict needs are listed without a rank: their order would be noise (X20).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sheetsync.domain.agreement import all_raters
from sheetsync.domain.agreement.coefficients import Coefficient, undefined
from sheetsync.domain.agreement.coincidences import Coincidences, count_levels, is_pairable, tabulate
from sheetsync.domain.agreement.explanation_records import HardPart
from sheetsync.domain.agreement.intervals import IntervalOptions, estimate
from sheetsync.domain.agreement.reliability import DimensionData, find_slices, reliability_data
from sheetsync.domain.agreement.statistic import IntArray
from sheetsync.domain.agreement.unit_counts import count_units
from sheetsync.domain.agreement.verdicts import is_too_few

QUESTION = "question"
MOST_QUESTIONS = 10
"""So many single questions are listed."""


@dataclass(frozen=True)
class Ruler:
    """What parts are measured with.

    Attributes:
        data: what was rated.
        found: the coincidences of the whole dimension; its measure serves for every part.
        intervals: how mean differences of questions get their intervals.
    """

    data: DimensionData
    found: Coincidences
    intervals: IntervalOptions

    def measure(self, by: str, value: str, positions: IntArray, mean: Coefficient) -> HardPart:
        """Return one part, without a rank."""
        table = tabulate(positions, self.found.measure).table
        n_pairable = int(is_pairable(positions).sum())
        observed = float((table * self.found.squared).sum() / max(table.sum(), 1))
        return HardPart(by, value, None, n_pairable, mean, observed, self.is_too_few(n_pairable))

    def is_too_few(self, n_pairable: int) -> bool:
        """Return whether a part has too few units to be ranked."""
        return is_too_few(n_pairable, self.intervals.minimum_units)

    def mean_difference(self, positions: IntArray) -> Coefficient:
        """Return the mean distance of two raters on some units."""
        if self.found.measure.level == "nominal":
            return undefined("undefined_for_values")
        numbers = self.data.numbers
        units = count_units(reliability_data(positions, numbers), numbers)
        return estimate({"mean": all_raters.mean_abs_difference(units)}, self.intervals)["mean"]


def rank_parts(ruler: Ruler, means: Mapping[tuple[str, str], Coefficient]) -> tuple[HardPart, ...]:
    """Return the parts of a dimension, per kind of part the hardest first.

    Args:
        ruler: what parts are measured with.
        means: the mean absolute difference of every slice, by kind and value.
    """
    data = ruler.data
    slices = []
    for by, value, keep in find_slices(data):
        part = data.cells.where(keep)
        positions = part.positions(np.unique(part.raters), np.unique(part.units))
        slices.append(ruler.measure(by, value, positions, means[by, value]))
    kinds = {by: [part for part in slices if part.by == by] for by in data.slices}
    if QUESTION not in kinds:
        kinds[QUESTION] = _questions(ruler)
    return tuple(part for parts in kinds.values() for part in _rank(parts))


def _rank(parts: Sequence[HardPart]) -> list[HardPart]:
    ordered = sorted(
        (part for part in parts if part.n_pairable), key=lambda part: (part.too_few, *_hardness(part))
    )
    enough = sum(not part.too_few for part in ordered)
    return [replace(part, rank=at + 1 if at < enough else None) for at, part in enumerate(ordered)]


def _hardness(part: HardPart) -> tuple[float, float]:
    return (-(part.mean_abs_difference.value or 0.0), -part.observed_scaled)


def _questions(ruler: Ruler) -> list[HardPart]:
    """Return the questions on which raters lie furthest apart."""
    names = ruler.data.questions
    if not names:
        return []
    labels, of_unit = np.unique(np.array(names, dtype=object).astype(str), return_inverse=True)
    positions = ruler.data.positions
    means = _mean_differences(ruler, positions)
    pairable = is_pairable(positions)
    n = np.bincount(of_unit[pairable], minlength=len(labels))
    sums = np.bincount(of_unit[pairable], weights=means[pairable], minlength=len(labels))
    enough = ~np.array([ruler.is_too_few(int(each)) for each in n])
    hardest = np.lexsort((-sums / np.maximum(n, 1), ~enough))
    chosen = [at for at in hardest.tolist() if labels[at] and n[at]][:MOST_QUESTIONS]
    return [
        ruler.measure(QUESTION, str(labels[at]), part, ruler.mean_difference(part))
        for at in chosen
        for part in [positions[:, of_unit == at]]
    ]


def _mean_differences(ruler: Ruler, positions: IntArray) -> np.ndarray:
    """Return the mean distance of two raters per unit (nominal: the share of pairs that differ)."""
    counts = count_levels(positions, len(ruler.data.scale))
    numbers = ruler.data.numbers
    apart = np.abs(numbers[:, None] - numbers[None, :])
    if ruler.found.measure.level == "nominal":
        apart = np.sign(apart)
    m = counts.sum(axis=1)
    return np.asarray(((counts @ apart) * counts).sum(axis=1) / np.maximum(m * (m - 1), 1))
