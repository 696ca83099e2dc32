"""The total of a response: what one rater's scores of it add up to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sheetsync.domain.current import CurrentRatings
from sheetsync.domain.study import Rubric

Totals = Mapping[tuple[str, str], float]
"""(rater, unit) -> total."""


def total_parts(rubric: Rubric) -> tuple[str, ...]:
    """Return the dimensions a total is made of: those of the rubric's sum, else all with numbers."""
    for rule in rubric.rules:
        if rule.then is not None and rule.then.sum_of:
            return rule.then.sum_of
    return tuple(dimension.id for dimension in rubric.dimensions if dimension.is_numeric)


def add_up(current: CurrentRatings, parts: Sequence[str]) -> dict[tuple[str, str], float]:
    """Return the total of each rater and unit that has a number for every part; others have none."""
    found: dict[tuple[str, str], list[float]] = {}
    for part in parts:
        for row, value in current.values(part).items():
            if not isinstance(value, str):  # N/A is no number, nor is a word
                found.setdefault(row, []).append(float(value))
    return {row: sum(values) for row, values in found.items() if len(values) == len(parts)}
