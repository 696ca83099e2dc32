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
    """One line of the table.

    Attributes:
        what: what was measured.
        peer: what it was measured against.
        ratio: what came out.
        limit: the largest median allowed, None for a figure that only informs.
        reason: why the limit cannot be kept; printed where it is not.
    """

    what: str
    peer: str
    ratio: Ratio
    limit: float | None = None
    reason: str = ""

    @property
    def is_met(self) -> bool:
        """Whether the median is within the limit."""
        return self.limit is None or self.ratio.median <= self.limit


@dataclass(frozen=True)
class Bar:
    """A figure that is no ratio, and the most it may be; with `is_least` the least."""

    what: str
    value: float
    bar: float
    is_least: bool = False

    @property
    def is_met(self) -> bool:
        """Whether the figure keeps to its bar."""
        return self.value >= self.bar if self.is_least else self.value <= self.bar


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
    return _ratio([(_seconds(a, before_a), _seconds(b, before_b)) for _ in range(rounds + 1)][1:])


def beside(a: Work, peers: Sequence[Work], rounds: int = 7) -> list[Ratio]:
    """Return how many times as long as each peer the work `a` takes, all of them timed in every round."""
    times = [[_seconds(work) for work in (a, *peers)] for _ in range(rounds + 1)][1:]
    return [_ratio([(own, theirs[index]) for own, *theirs in times]) for index in range(len(peers))]


def _ratio(pairs: Sequence[tuple[float, float]]) -> Ratio:
    ratios = [seconds_a / seconds_b for seconds_a, seconds_b in pairs]
    return Ratio(median(ratios), min(ratios), max(ratios))


def _seconds(work: Work, before: Work | None = None) -> float:
    if before is not None:
        before()
    gc.collect()
    start = perf_counter()
    work()
    return perf_counter() - start


def print_rows(rows: Sequence[Row]) -> None:
    """Print a table, one line per comparison, and below it why a limit is not met."""
    what, peer = (max((len(text) for text in texts), default=0) for texts in _labels(rows))
    print(f"{'what':{what}}  {'peer':{peer}}  median     min     max   limit")
    for row in rows:
        limit = "" if row.limit is None else f"{_digits(row.limit)} {'met' if row.is_met else 'NOT MET'}"
        ratio = row.ratio
        figures = f"{_digits(ratio.median)} {_digits(ratio.min)} {_digits(ratio.max)} {limit}".rstrip()
        print(f"{row.what:{what}}  {row.peer:{peer}} {figures}")
    for row in rows:
        if row.reason and not row.is_met:
            print(f"\n{row.what}: {row.reason}")


def _digits(ratio: float) -> str:
    return f"{ratio:7.2f}" if ratio >= 0.1 else f"{ratio:7.4f}"


def print_bars(bars: Sequence[Bar]) -> None:
    """Print a table, one line per bar."""
    what = max((len(bar.what) for bar in bars), default=0)
    print(f"{'what':{what}}  measured          bar")
    for bar in bars:
        most, met = ("at least" if bar.is_least else "at most"), ("met" if bar.is_met else "NOT MET")
        print(f"{bar.what:{what}}  {bar.value:8,.2f}  {most:>8} {bar.bar:5,.0f}  {met}")


def _labels(rows: Sequence[Row]) -> tuple[list[str], list[str]]:
    return [row.what for row in rows], [row.peer for row in rows]
