"""Alpha and its interval against the `krippendorff` package: `python -m benchmarks.agreement_speed`.

Ratings are 1 to 5 with 15 % gaps, as a float matrix with NaN, and the package is given the levels, which
spares it a search for them. Values are checked to be the same to 1e-12. The peer of the interval is what
one would write by hand: resample units, call the package, 10,000 times; fewer are timed and scaled up.
"""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable
from functools import partial

# A setting for another processor would slow down both sides, and not alike.
os.environ.pop("OPENBLAS_CORETYPE", None)
os.environ.pop("OPENBLAS_L2_SIZE", None)

import krippendorff
import numpy as np
import pandas as pd

from benchmarks.measure import Ratio, Row, paired, print_rows
from sheetsync.domain.agreement import all_raters
from sheetsync.domain.agreement.coefficients import krippendorff_alpha
from sheetsync.domain.agreement.intervals import IntervalOptions, estimate
from sheetsync.domain.agreement.statistic import FloatArray
from sheetsync.domain.agreement.unit_counts import count_tables, count_units

SCALE = np.arange(1.0, 6.0)
RESAMPLES = 10_000

ALPHA_LIMITS = {(210, 2): 1.5, (2_000, 3): 1 / 4, (100_000, 10): 1 / 3, (1_000_000, 5): 1 / 4}
"""Units and raters, and the largest part of the package's time."""
ALPHA_CALLS = {(210, 2): 200, (2_000, 3): 200}
"""How often the small ones are called in one timing."""
MEMORY_LIMIT = 1 / 5
INTERVAL_LIMITS = {(210, 2): (1 / 35, 500), (2_000, 3): (1 / 90, 200), (100_000, 10): (1 / 200, 20)}
"""Units and raters; the largest part of the loop's time, and how many resamples of the loop are timed."""
TABLE_ROWS, TABLE_LIMIT = 1_000_000, 1 / 15
DIMENSIONS = ["Accuracy", "Coverage", "Depth", "Tone"]


def rate(units: int, raters: int, seed: int = 1) -> FloatArray:
    """Return ratings 1 to 5, raters x units, with 15 % gaps; two raters correlate by about 0.7."""
    rng = np.random.default_rng(seed)
    seen = rng.standard_normal(units) + 0.65 * rng.standard_normal((raters, units))
    data: FloatArray = SCALE[np.digitize(seen, [-1.6, -1.0, -0.5, 0.3])]
    data[rng.random(data.shape) < 0.15] = np.nan
    return data


def run(rounds: int, *, quick: bool = False) -> list[Row]:
    """Measure everything; `quick` leaves out the large sizes."""
    most = 10_000 if quick else 1_000_000
    rows = [_run_alpha(*size, rounds) for size in ALPHA_LIMITS if size[0] <= most]
    rows += [_run_memory()] if not quick else []
    rows += [_run_interval(*size, rounds) for size in INTERVAL_LIMITS if size[0] <= most]
    return [*rows, _run_table(TABLE_ROWS // 20 if quick else TABLE_ROWS, rounds)]


def _ours(data: FloatArray) -> float | None:
    return krippendorff_alpha(data, SCALE, "ordinal").value


def alpha_of_package(data: FloatArray) -> float:
    """Return ordinal alpha as the package computes it."""
    return float(
        krippendorff.alpha(reliability_data=data, value_domain=SCALE, level_of_measurement="ordinal")
    )


def _repeat(work: Callable[[], object], times: int) -> None:
    for _ in range(times):
        work()


def _run_alpha(units: int, raters: int, rounds: int) -> Row:
    data = rate(units, raters)
    ours, theirs = _ours(data), alpha_of_package(data)
    assert ours is not None
    assert abs(ours - theirs) < 1e-12, "the two values differ"
    calls = ALPHA_CALLS.get((units, raters), 1)
    ratio = paired(
        partial(_repeat, partial(_ours, data), calls),
        partial(_repeat, partial(alpha_of_package, data), calls),
        rounds,
    )
    what = f"ordinal alpha, {units:,} units x {raters} raters"
    return Row(what, "krippendorff", ratio, ALPHA_LIMITS[units, raters])


def _run_memory() -> Row:
    data = rate(1_000_000, 5)
    share = _peak(partial(_ours, data)) / _peak(partial(alpha_of_package, data))
    what = "its memory beside the matrix, 1,000,000 x 5"
    return Row(what, "krippendorff", Ratio(share, share, share), MEMORY_LIMIT)


def _peak(work: Callable[[], object]) -> int:
    work()
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def _run_interval(units: int, raters: int, rounds: int) -> Row:
    data = rate(units, raters)
    limit, timed = INTERVAL_LIMITS[units, raters]
    rng = np.random.default_rng(1)

    def ours() -> object:
        alpha = all_raters.alpha(count_units(data, SCALE), "ordinal")
        return estimate({"alpha": alpha}, IntervalOptions(resamples=RESAMPLES))

    def theirs() -> object:
        return [alpha_of_package(data[:, rng.integers(0, units, units)]) for _ in range(timed)]

    ratio = _scale(paired(ours, theirs, rounds), timed / RESAMPLES)
    what = f"BCa interval, 10,000 resamples, {units:,} x {raters}"
    return Row(what, f"loop over krippendorff, {timed} timed", ratio, limit)


def _scale(ratio: Ratio, factor: float) -> Ratio:
    return Ratio(ratio.median * factor, ratio.min * factor, ratio.max * factor)


def _run_table(n_rows: int, rounds: int) -> Row:
    """A long table with unit, rater, dimension and value to one alpha per dimension."""
    frame = _long_table(n_rows)

    def ours() -> list[float | None]:
        unit, value = frame["unit"].to_numpy(), frame["value"].to_numpy()
        dimension = frame["dimension"].cat.codes.to_numpy().astype(np.int64)
        tables = count_tables(unit, value - 1, dimension, len(DIMENSIONS), SCALE)
        return [all_raters.alpha(units, "ordinal").value for units in tables]

    def theirs() -> list[float | None]:
        return [
            alpha_of_package(part.pivot(index="rater", columns="unit", values="value").to_numpy(dtype=float))
            for _, part in frame.groupby("dimension", observed=True)
        ]

    for one, other in zip(ours(), theirs(), strict=True):
        assert one is not None
        assert other is not None
        assert abs(one - other) < 1e-12, "the two values differ"
    what = f"long table, {len(frame):,} rows, 4 dimensions, to four alphas"
    return Row(what, "pandas pivot + krippendorff", paired(ours, theirs, rounds), TABLE_LIMIT)


def _long_table(n_rows: int) -> pd.DataFrame:
    """Return shuffled rows: five raters, so many units that 15 % gaps leave `n_rows` ratings."""
    units = int(n_rows / 5 / len(DIMENSIONS) / 0.85 * 1.01)
    ratings = np.stack([rate(units, 5, seed) for seed in range(len(DIMENSIONS))])
    dimension, rater, unit = np.nonzero(~np.isnan(ratings))
    value = ratings[dimension, rater, unit].astype(np.int64)
    order = np.random.default_rng(1).permutation(len(value))[:n_rows]
    names = pd.Categorical([DIMENSIONS[at] for at in dimension[order].tolist()], categories=DIMENSIONS)
    return pd.DataFrame(
        {"unit": unit[order], "rater": rater[order], "dimension": names, "value": value[order]}
    )


if __name__ == "__main__":
    print_rows(run(rounds=7))
