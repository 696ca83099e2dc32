"""How fast rows filled between pulls, as far as pulls can tell: coarse, and never faster than it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

_SHORTEST = 0.1
"""Hours; what was filled in a shorter stretch says more about when pulls were made."""


@dataclass(frozen=True)
class FirstScores:
    """How many rows of a workbook had their first score at a pull (times in UTC, ISO 8601).

    `since` is when the workbook was read before, or made; None where neither is known.
    """

    rater: str
    batch: str
    since: str | None
    until: str
    rows: int


@dataclass(frozen=True)
class Pace:
    """The rows of a workbook that got a score, and the stretch between two pulls that brought most per hour.

    The rows of a stretch were filled somewhere inside it, perhaps in the last of its hours, so
    `per_hour` is a lower bound. None where every stretch was too short to say anything.

    Attributes:
        rater, batch: whose workbook.
        n_rows: rows with a first score so far.
        n_stretches: pulls that brought any.
        rows, hours, per_hour: of the fastest stretch.
    """

    rater: str
    batch: str
    n_rows: int
    n_stretches: int
    rows: int | None = None
    hours: float | None = None
    per_hour: float | None = None


def describe_pace(first_scores: Sequence[FirstScores]) -> tuple[Pace, ...]:
    """Return one line per workbook with scores, in the order of `first_scores`."""
    found = []
    for rater, batch in dict.fromkeys((each.rater, each.batch) for each in first_scores):
        here = [each for each in first_scores if (each.rater, each.batch) == (rater, batch)]
        timed = [(each.rows, hours) for each in here if (hours := _hours(each)) is not None]
        n_rows = sum(each.rows for each in here)
        if timed:
            rows, hours = max(timed, key=lambda stretch: stretch[0] / stretch[1])
            found.append(Pace(rater, batch, n_rows, len(here), rows, hours, rows / hours))
        else:
            found.append(Pace(rater, batch, n_rows, len(here)))
    return tuple(found)


def _hours(each: FirstScores) -> float | None:
    if each.since is None:
        return None
    try:
        stretch = datetime.fromisoformat(each.until) - datetime.fromisoformat(each.since)
    except (ValueError, TypeError):  # not a time, or only one of them has a zone
        return None
    hours = stretch.total_seconds() / 3600
    return hours if hours >= _SHORTEST else None
