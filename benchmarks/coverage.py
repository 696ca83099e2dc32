"""How often the 95 % intervals of ordinal alpha cover the true value: `python -m benchmarks.coverage`.

Samples are drawn from two models whose alpha is known, and each gets its intervals. Raters are
exchangeable: rater r sees the unit's latent value t (standard normal) with an error of its own,

    x = sqrt(rho) * t + sqrt(1 - rho) * e,    t and e standard normal and independent,

and says the level between whose cuts x lies. Cuts are the normal quantiles of the level shares, so
shares are exactly these. Gaps are ratings missing completely at random. The true alpha of a model is
that of one sample of 4,000,000 units with two raters (its own error is about 0.0005 in `skewed`, 0.001
in `ceiling`). Models, sizes and repetitions are fixed here; everything follows from the seed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product

# One sample is small; the samples share the processors among processes, not within a product.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy.special import ndtri

from sheetsync.domain.agreement import all_raters
from sheetsync.domain.agreement.coefficients import Coefficient, without_interval
from sheetsync.domain.agreement.interval_comparison import pair_bootstrap
from sheetsync.domain.agreement.intervals import (
    IntervalMethod,
    IntervalOptions,
    Resampled,
    add_interval,
    draw_units,
    leave_one_out,
    refusal,
)
from sheetsync.domain.agreement.statistic import FloatArray, OfSums, Statistic
from sheetsync.domain.agreement.unit_counts import UnitCounts, count_units

SCALE = np.arange(1.0, 6.0)
SEED = 20260701


@dataclass(frozen=True)
class Model:
    """A way of making ratings: shares of the five levels, and rho, the latent correlation of two raters."""

    name: str
    shares: tuple[float, float, float, float, float]
    rho: float

    def draw(self, rng: np.random.Generator, raters: int, units: int, gaps: float) -> FloatArray:
        """Return reliability data, raters x units."""
        truth = rng.standard_normal(units)
        seen = np.sqrt(self.rho) * truth + np.sqrt(1 - self.rho) * rng.standard_normal((raters, units))
        cuts = ndtri(np.cumsum(self.shares)[:-1])
        data: FloatArray = SCALE[np.searchsorted(cuts, seen)]
        data[rng.random(data.shape) < gaps] = np.nan
        return data

    def true_alpha(self) -> float:
        """Return alpha of one huge sample."""
        data = self.draw(np.random.default_rng(SEED), 2, 4_000_000, 0.0)
        value = all_raters.alpha(count_units(data, SCALE), "ordinal").value
        assert value is not None
        return value


MODELS = (
    # A skewed scale on which raters agree fairly well.
    Model("skewed", (0.05, 0.10, 0.15, 0.30, 0.40), 0.7),
    # The ceiling of a first round: 83 % in the top level; rho makes two raters agree on 74 %.
    Model("ceiling", (0.0, 0.0, 0.024, 0.143, 0.833), 0.24),
)
RATERS = (2, 3, 5)
UNITS = (30, 50, 100, 210)
GAPS = (0.0, 0.15)
BAR = ((2, 210, 0.0), (3, 210, 0.15), (5, 210, 0.0))
"""Raters, units and gaps where the default interval is to cover 92 to 97 %."""

METHODS = ("bca", "percentile", "jackknife", "pairs")


@dataclass(frozen=True)
class Setting:
    """One cell of the table."""

    model: Model
    raters: int
    units: int
    gaps: float


@dataclass(frozen=True)
class Covered:
    """What came out of one setting.

    Attributes:
        share: per method, the share of its intervals that hold the true alpha.
        width: per method, their mean width.
        none: share of the samples without an interval, mostly for want of any disagreement.
    """

    setting: Setting
    share: dict[str, float]
    width: dict[str, float]
    none: float


def simulate(setting: Setting, truth: float, repetitions: int, resamples: int) -> Covered:
    """Draw samples of one setting and look which intervals hold the truth."""
    key = (SEED, MODELS.index(setting.model), setting.raters, setting.units, int(100 * setting.gaps))
    rng = np.random.default_rng(key)
    hits: dict[str, list[bool]] = {method: [] for method in METHODS}
    widths: dict[str, list[float]] = {method: [] for method in METHODS}
    samples = (
        count_units(setting.model.draw(rng, setting.raters, setting.units, setting.gaps), SCALE)
        for _ in range(repetitions)
    )
    for units, draws in _beside_draws(samples, resamples):
        for method, interval in _intervals(units, draws).items():
            if interval.low is not None and interval.high is not None:
                hits[method].append(interval.low <= truth <= interval.high)
                widths[method].append(interval.high - interval.low)
    return Covered(
        setting,
        {method: float(np.mean(hits[method])) for method in METHODS},
        {method: float(np.mean(widths[method])) for method in METHODS},
        1 - len(hits["bca"]) / repetitions,
    )


def _beside_draws(samples: Iterable[UnitCounts], resamples: int) -> Iterator[tuple[UnitCounts, FloatArray]]:
    """Yield each sample with how often each pairable unit is drawn, with shape (B, U).

    Samples of one size share their draws, which is what makes thousands of samples quick. They are
    independent of each other, so the share that is covered is as good as with draws of their own.
    """
    by_size = defaultdict(list)
    for units in samples:
        by_size[int(units.multiplicity[units.pairable].sum())].append(units)
    for size, group in sorted(by_size.items()):
        every = np.ones(size, dtype=bool)
        one_each = Statistic(lambda weights: weights[:, 0], np.ones(size), every, every)
        draws = np.concatenate([*draw_units(one_each, resamples, (SEED, size))])
        for units in group:
            yield units, draws


def _intervals(units: UnitCounts, draws: FloatArray) -> dict[str, Coefficient]:
    """Return alpha with the interval of each method, made as `compare_intervals` makes it."""
    alpha = all_raters.alpha(units, "ordinal")
    left_out = leave_one_out(alpha)
    if reason := refusal(alpha, left_out, IntervalOptions()):
        return dict.fromkeys(METHODS, without_interval(alpha, reason))
    assert isinstance(alpha.evaluate, OfSums)
    of_units = np.repeat(alpha.evaluate.summands, (alpha.multiplicity * alpha.pairable).astype(int), axis=0)
    values = alpha.evaluate.finish(draws @ of_units)
    resampled = Resampled(values[np.isfinite(values)], int((~np.isfinite(values)).sum()))
    methods: tuple[IntervalMethod, ...] = ("bca", "percentile", "jackknife")
    return {
        method: add_interval(alpha, left_out, resampled, IntervalOptions(method)) for method in methods
    } | {"pairs": pair_bootstrap(units, "ordinal", IntervalOptions(resamples=1000))}


def run(settings: Sequence[Setting], repetitions: int, resamples: int, jobs: int) -> list[Covered]:
    """Simulate all settings, several at a time; the largest first, so that none is left over."""
    truths = {model: model.true_alpha() for model in MODELS}
    for model, truth in truths.items():
        print(f"{model.name}: true alpha {truth:.4f}", flush=True)
    order = sorted(settings, key=lambda each: -each.units * each.raters)
    with ProcessPoolExecutor(jobs) as pool:
        work = partial(simulate, repetitions=repetitions, resamples=resamples)
        done = []
        for covered in pool.map(work, order, [truths[each.model] for each in order]):
            done.append(covered)
            print(f"{len(done)} of {len(order)}: {_line(covered)}", file=sys.stderr, flush=True)
    return sorted(done, key=lambda each: settings.index(each.setting))


def _line(covered: Covered) -> str:
    setting = covered.setting
    cells = [f"{100 * covered.share[method]:.1f} ({covered.width[method]:.3f})" for method in METHODS]
    head = [setting.model.name, f"{setting.raters}", f"{setting.units}", f"{setting.gaps:.0%}"]
    return "| " + " | ".join([*head, *cells, f"{100 * covered.none:.1f}"]) + " |"


def main() -> None:
    """Simulate and print a Markdown table: coverage in percent, and the mean width."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=2000, help="samples per setting (2000)")
    parser.add_argument("--resamples", type=int, default=10_000, help="resamples per interval (10000)")
    parser.add_argument("--units", type=int, nargs="*", default=UNITS, help="sizes to look at")
    parser.add_argument("--bar", action="store_true", help="only the sizes that have a bar")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (all)")
    given = parser.parse_args()
    sizes = BAR if given.bar else product(RATERS, given.units, GAPS)
    settings = [Setting(model, *size) for model, size in product(MODELS, sizes)]
    rows = run(settings, given.repetitions, given.resamples, given.jobs)
    print(f"\n{given.repetitions} samples per setting, {given.resamples} resamples, seed {SEED}\n")
    print("| model | raters | units | gaps | bca | percentile | jackknife | pair bootstrap | none |")
    print("|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        print(_line(row))


if __name__ == "__main__":
    main()
