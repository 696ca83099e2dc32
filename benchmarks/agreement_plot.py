"""Draw time against the number of ratings: `python -m benchmarks.agreement_plot [docs/agreement_speed.svg]`.

Ordinal alpha of five raters, from 1,000 to 10,000,000 ratings, here and in the `krippendorff` package,
and the BCa interval with 10,000 resamples here. Each point is the least of some runs, the two works in turn.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter

from benchmarks.agreement_speed import SCALE, alpha_of_package, rate
from sheetsync.domain.agreement import all_raters
from sheetsync.domain.agreement.coefficients import krippendorff_alpha
from sheetsync.domain.agreement.intervals import IntervalOptions, estimate
from sheetsync.domain.agreement.unit_counts import count_units

RATERS = 5
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
COLOURS = {"krippendorff 0.9": "#b4552d", "sheetsync": "#1f5fa8", "sheetsync, with BCa interval": "#7aa5d6"}
"""Told apart also by their brightness."""


def measure(ratings: int, runs: int) -> dict[str, float]:
    """Return seconds by what was done."""
    data = rate(ratings // RATERS, RATERS)

    def with_interval() -> object:
        alpha = all_raters.alpha(count_units(data, SCALE), "ordinal")
        return estimate({"alpha": alpha}, IntervalOptions())

    works: tuple[Callable[[], object], ...] = (
        lambda: alpha_of_package(data),
        lambda: krippendorff_alpha(data, SCALE, "ordinal"),
        with_interval,
    )
    rounds = [[_seconds(work) for work in works] for _ in range(runs)]
    return dict(zip(COLOURS, map(min, zip(*rounds, strict=True)), strict=True))


def _seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def draw(points: dict[int, dict[str, float]], path: Path) -> None:
    """Write the plot."""
    mpl.rcParams["svg.hashsalt"] = "agreement"  # the same file for the same figures
    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for name, colour in COLOURS.items():
        axes.plot(
            list(points), [each[name] for each in points.values()], marker="o", color=colour, label=name
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("ratings (five raters, 15 % gaps)")
    axes.set_ylabel("seconds")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.grid(which="major", alpha=0.3)
    axes.legend(frameon=False)
    axes.set_title("Ordinal alpha: time against the number of ratings")
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Measure and draw."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agreement_plot", description=__doc__)
    parser.add_argument("path", type=Path, nargs="?", default=Path("docs/agreement_speed.svg"))
    parser.add_argument("--runs", type=int, default=5, help="runs per point (5)")
    given = parser.parse_args()
    points = {}
    for size in SIZES:
        points[size] = measure(size, given.runs)
        print(
            f"{size:>12,}  " + "  ".join(f"{name} {s:.4f} s" for name, s in points[size].items()), flush=True
        )
    draw(points, given.path)


if __name__ == "__main__":
    main()
