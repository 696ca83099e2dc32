"""Measuring two pieces of work against each other, in one process and side by side.

Absolute times say more about the machine than about the code. So each round runs A and B one right
after the other, and what counts is the ratio of the two within the round: a slow moment of the
machine hits both. The first round warms up and does not count.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter

Work = Callable[[], object]


@dataclass(frozen=True)
class Ratio:
    """Time of A divided by time of B: median, smallest and largest over the rounds."""

    median: float
    min: float
    max: float


@dataclass(frozen=True)
class Row:
    """One line of the table: what was compared, what came out, and the largest median allowed."""

    what: str
    ratio: Ratio
    limit: float | None = None

    @property
    def is_met(self) -> bool:
        """Whether the median is within the limit."""
        return self.limit is None or self.ratio.median <= self.limit


def paired(
    a: Work, b: Work, rounds: int = 7, *, before_a: Work | None = None, before_b: Work | None = None
) -> Ratio:
    """Return how many times as long as `b` the work `a` takes.

    Args:
        a: the work that is judged.
        b: the work it is compared with.
        rounds: how many pairs are timed, after one that is not.
        before_a: run before each `a`, not timed.
        before_b: run before each `b`, not timed.
    """
    pairs = [(_seconds(a, before_a), _seconds(b, before_b)) for _ in range(rounds + 1)][1:]
    ratios = [seconds_a / seconds_b for seconds_a, seconds_b in pairs]
    return Ratio(median(ratios), min(ratios), max(ratios))


def _seconds(work: Work, before: Work | None) -> float:
    if before is not None:
        before()
    gc.collect()
    start = perf_counter()
    work()
    return perf_counter() - start


def print_rows(rows: Sequence[Row]) -> None:
    """Print a table, one line per comparison."""
    width = max((len(row.what) for row in rows), default=0)
    print(f"{'':{width}}  median     min     max   limit")
    for row in rows:
        limit = "" if row.limit is None else f"{row.limit:7.2f} {'met' if row.is_met else 'NOT MET'}"
        print(f"{row.what:{width}} {row.ratio.median:7.2f} {row.ratio.min:7.2f} {row.ratio.max:7.2f} {limit}")
