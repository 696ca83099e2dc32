"""How severe each rater is beside the others, and whether that changes along the sheet.

The intervals are Student's t on the units, adjusted for all raters and dimensions (Bonferroni).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from sheetsync.domain.agreement.coefficients import Coefficient, undefined
from sheetsync.domain.agreement.statistic import FloatArray
from sheetsync.domain.agreement.verdicts import MIN_PAIRABLE
from sheetsync.domain.assignment import Batch
from sheetsync.domain.current import CurrentRatings
from sheetsync.domain.divergence import as_number
from sheetsync.domain.study import Rubric

ALARM = 0.05
"""In how many studies without any habit a kind of fact may be marked by chance."""


@dataclass(frozen=True)
class Severity:
    """A rater's values minus the mean of the others', on the units that others scored too (X9).

    `difference` is the mean over `n` units: above 0 the rater scores higher. `drift` is how much it
    changes from the first to the last row of the rater's sheets, by a straight line.
    """

    rater: str
    dimension: str
    n: int
    difference: Coefficient
    drift: Coefficient


def severities(
    rubric: Rubric, raters: Sequence[str], batches: Sequence[Batch], current: CurrentRatings
) -> tuple[Severity, ...]:
    """Return severity and drift per dimension and rater; positions count over a rater's workbooks."""
    position: dict[tuple[str, str], int] = {}
    issued: Counter[str] = Counter()
    for batch in batches:
        for code in batch.codes:
            position.setdefault((batch.rater, code), issued[batch.rater])
            issued[batch.rater] += 1
    ordered = [dimension for dimension in rubric.dimensions if dimension.level != "nominal"]
    tail = ALARM / 2 / max(1, len(raters) * len(ordered))
    found = []
    for dimension in rubric.dimensions:
        numbers = {level: as_number(level, dimension) for level in dimension.scale}
        values = {
            row: number
            for row, value in current.values(dimension.id).items()
            if (number := numbers.get(value)) is not None
        }
        off = _deviations(values)
        for rater in raters:
            rows = [(position.get((rater, code), -1), each) for code, each in off.get(rater, {}).items()]
            rows = sorted(row for row in rows if row[0] >= 0)
            at = np.array([row[0] for row in rows], dtype=float)
            by = np.array([row[1] for row in rows], dtype=float)
            severity = Severity(
                rater, dimension.id, len(rows), _mean(by, tail), _drift(at, by, tail, issued[rater])
            )
            if dimension not in ordered:
                none = undefined("undefined_for_values")
                severity = replace(severity, difference=none, drift=none)
            found.append(severity)
    return tuple(found)


def _deviations(values: Mapping[tuple[str, str], float]) -> dict[str, dict[str, float]]:
    """Return per rater and unit the value minus the mean of the other raters' values."""
    by_unit: dict[str, dict[str, float]] = {}
    for (rater, code), value in values.items():
        by_unit.setdefault(code, {})[rater] = value
    off: dict[str, dict[str, float]] = {}
    for code, row in by_unit.items():
        total, n = sum(row.values()), len(row)
        if n > 1:
            for rater, value in row.items():
                off.setdefault(rater, {})[code] = value - (total - value) / (n - 1)
    return off


def _mean(values: FloatArray, tail: float) -> Coefficient:
    """Return a mean with Student's t interval."""
    n = len(values)
    if not n:
        return undefined("no_common_units")
    mean = float(values.mean())
    if n < MIN_PAIRABLE:
        return Coefficient(mean, interval_reason="too_few_units")
    reach = float(-stdtrit(n - 1, tail)) * float(values.std(ddof=1)) / n**0.5
    return Coefficient(mean, mean - reach, mean + reach, 1 - ALARM, "t")


def _drift(positions: FloatArray, values: FloatArray, tail: float, rows: int) -> Coefficient:
    """Return the change from the first of `rows` rows to the last, by least squares, with its t interval."""
    n = len(values)
    if n < MIN_PAIRABLE:
        return undefined("too_few_units")
    centred = positions - positions.mean()
    spread = float((centred**2).sum())
    slope = float((centred * values).sum()) / spread
    rest = values - values.mean() - slope * centred
    error = (float((rest**2).sum()) / (n - 2) / spread) ** 0.5
    reach = float(-stdtrit(n - 2, tail)) * error
    length = rows - 1
    return Coefficient(slope * length, (slope - reach) * length, (slope + reach) * length, 1 - ALARM, "t")
