"""Confidence intervals: resampling over units, and the F interval of the ICC.

Units are resampled, not pairs of ratings, and expected disagreement is recomputed in every sample:
pairs of one unit are not independent, and a fixed expected disagreement makes intervals too narrow
(Zapf et al. 2016, BMC Med Res Methodol 16:93). Patterns of ratings stand for units, so a sample is
a multinomial draw of multiplicities, and the same seed gives the same numbers in whatever order
units, raters and rows come.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import fdtri, ndtr, ndtri, stdtrit

from sheetsync.domain.coefficients import Coefficient, undefined, without_interval
from sheetsync.domain.icc import MeanSquares, mean_squares
from sheetsync.domain.statistic import FloatArray, Statistic
from sheetsync.domain.verdicts import MIN_PAIRABLE

IntervalMethod = Literal["bca", "percentile", "jackknife"]


_CELLS = 100_000
"""Numbers in a block of resamples: small enough for the processor's cache, which halves the time."""


@dataclass(frozen=True)
class IntervalOptions:
    """How intervals are made; `resamples` 0 makes none."""

    method: IntervalMethod = "bca"
    confidence: float = 0.95
    resamples: int = 10000
    seed: int = 1


@dataclass(frozen=True)
class LeftOut:
    """A statistic with one unit left out in turn.

    Attributes:
        values: the statistic without one unit of each pattern that matters; NaN where undefined.
        multiplicity: units with that pattern.
    """

    values: FloatArray
    multiplicity: FloatArray

    @property
    def varies(self) -> bool:
        """Whether it makes any difference which unit is left out."""
        finite = self.values[np.isfinite(self.values)]
        return len(finite) > 1 and bool(np.ptp(finite) > 1e-12)

    def moment(self, power: int) -> float:
        """Sum over units of (mean - value) to a power, over the units where it is defined."""
        finite = np.isfinite(self.values)
        values, units = self.values[finite], self.multiplicity[finite]
        return float((units * (np.average(values, weights=units) - values) ** power).sum())


def estimate(statistics: Mapping[str, Statistic], options: IntervalOptions) -> dict[str, Coefficient]:
    """Return each statistic with its interval; all of them share the same units and resamples."""
    left_out = {name: leave_one_out(statistic) for name, statistic in statistics.items()}
    refused = {name: _refusal(each, left_out[name], options) for name, each in statistics.items()}
    drawn = {name: each for name, each in statistics.items() if refused[name] is None}
    samples = {} if options.method == "jackknife" else _resample(drawn, options)
    return {
        name: without_interval(each, refused[name] or "")
        if refused[name]
        else _interval(each, left_out[name], samples.get(name), options)
        for name, each in statistics.items()
    }


def _refusal(statistic: Statistic, left_out: LeftOut, options: IntervalOptions) -> str | None:
    """Why a statistic gets no interval, or None."""
    if statistic.value is None or options.resamples == 0:
        return statistic.reason or "not_requested"
    if not left_out.varies and abs(statistic.value - statistic.perfect) < 1e-12:
        return "no_disagreement"
    if statistic.n_pairable < MIN_PAIRABLE:
        return "too_few_units"
    return None if left_out.varies else "no_variation"


def leave_one_out(statistic: Statistic) -> LeftOut:
    """Evaluate a statistic without one unit of each pattern."""
    patterns = np.flatnonzero(statistic.matters)
    multiplicity = statistic.multiplicity[patterns]
    if statistic.reason:
        return LeftOut(np.zeros(0), multiplicity)
    values = [
        statistic.evaluate(_without(statistic.multiplicity, patterns[start : start + step]))
        for step in [_rows(len(statistic.multiplicity))]
        for start in range(0, len(patterns), step)
    ]
    return LeftOut(np.concatenate(values), multiplicity)


def _without(multiplicity: FloatArray, patterns: np.ndarray[tuple[int], np.dtype[np.intp]]) -> FloatArray:
    samples = np.repeat(multiplicity[None, :], len(patterns), axis=0)
    samples[np.arange(len(patterns)), patterns] -= 1
    return samples


def _rows(width: int) -> int:
    return max(256, _CELLS // max(width, 1))


def _resample(statistics: Mapping[str, Statistic], options: IntervalOptions) -> dict[str, FloatArray]:
    """Evaluate the statistics on the same seeded resamples; undefined ones are left out."""
    if not statistics:
        return {}
    values: dict[str, list[FloatArray]] = {name: [] for name in statistics}
    for weights in draw_units(next(iter(statistics.values())), options.resamples, options.seed):
        for name, statistic in statistics.items():
            values[name].append(statistic.evaluate(weights))
    joined = {name: np.concatenate(parts) for name, parts in values.items()}
    return {name: sample[np.isfinite(sample)] for name, sample in joined.items()}


def draw_units(statistic: Statistic, resamples: int, seed: int) -> Iterator[FloatArray]:
    """Yield multiplicities of resampled units, with shape (B, P), in blocks.

    Units with one rating are resampled among themselves, after the others: how many units can be
    compared is part of the design, and what only depends on those does not notice the rest.
    """
    rng = np.random.default_rng(seed)
    groups = [np.flatnonzero(statistic.pairable), np.flatnonzero(~statistic.pairable)]
    step = _rows(len(statistic.multiplicity))
    for start in range(0, resamples, step):
        weights = np.zeros((min(step, resamples - start), len(statistic.multiplicity)))
        for group in groups:
            units = statistic.multiplicity[group]
            if len(group):
                weights[:, group] = rng.multinomial(int(units.sum()), units / units.sum(), len(weights))
        yield weights


def _interval(
    statistic: Statistic, left_out: LeftOut, sample: FloatArray | None, options: IntervalOptions
) -> Coefficient:
    """Return the statistic with its limits, which always enclose the value."""
    value = statistic.value
    if value is None:
        return without_interval(statistic)
    tails = np.array([(1 - options.confidence) / 2, (1 + options.confidence) / 2])
    if sample is None:
        if not np.isfinite(left_out.values).all():  # all variation hangs on one unit
            return without_interval(statistic, "no_variation")
        limits = _jackknife_limits(value, left_out, tails)
    elif not len(sample):
        return without_interval(statistic, "too_few_units")
    else:
        at = tails if options.method == "percentile" else _bca_tails(value, sample, left_out, tails)
        limits = np.quantile(sample, at)
    low, high = np.clip(limits, *statistic.bounds)
    return Coefficient(
        value,
        low=min(float(low), value),
        high=max(float(high), value),
        confidence=options.confidence,
        method=options.method,
        k=statistic.k,
    )


def _bca_tails(value: float, sample: FloatArray, left_out: LeftOut, tails: FloatArray) -> FloatArray:
    """Where to cut the resamples: bias-corrected and accelerated, Efron (1987) JASA 82, 171-185."""
    below = ((sample < value - 1e-12).sum() + (sample <= value + 1e-12).sum()) / (2 * len(sample))
    bias = ndtri(np.clip(below, 0.5 / len(sample), 1 - 0.5 / len(sample)))
    acceleration = left_out.moment(3) / (6 * left_out.moment(2) ** 1.5)
    shifted = bias + ndtri(tails)
    return np.asarray(ndtr(bias + shifted / np.maximum(1 - acceleration * shifted, 1e-6)))


def _jackknife_limits(value: float, left_out: LeftOut, tails: FloatArray) -> FloatArray:
    """Leave-one-unit-out standard error, t with n - 1 df, on Fisher's z scale where there is one."""
    n = float(left_out.multiplicity.sum())
    error = np.sqrt((n - 1) / n * left_out.moment(2)) * stdtrit(n - 1, tails)
    if abs(value) >= 1:
        return np.asarray(value + error)
    return np.asarray(np.tanh(np.arctanh(value) + error / (1 - value**2)))


def estimate_icc(data: FloatArray, options: IntervalOptions) -> Coefficient:
    """Return ICC(2,1) with the F-based interval of McGraw and Wong (1996) Psychol Methods 1, 30-46."""
    squares = mean_squares(data)
    if isinstance(squares, str):
        return undefined(squares)
    if squares.denominator <= 0:
        return undefined("no_variation")
    point = Coefficient(squares.icc, interval_reason="not_requested")
    if options.resamples == 0:
        return point
    if squares.icc >= 1:
        return replace(point, interval_reason="no_disagreement")
    low, high = _f_limits(squares, options.confidence)
    if not (np.isfinite(low) and np.isfinite(high)):
        return replace(point, interval_reason="no_variation")
    return Coefficient(
        squares.icc,
        low=min(max(low, -1.0), squares.icc),
        high=max(min(high, 1.0), squares.icc),
        confidence=options.confidence,
        method="f",
    )


def _f_limits(squares: MeanSquares, confidence: float) -> tuple[float, float]:
    """The limits of ICC(A,1), McGraw and Wong (1996) table 7; NaN where units and error vary nothing."""
    n, k, value = squares.n, squares.k, squares.icc
    a = k * value / (n * (1 - value))
    b = 1 + k * value * (n - 1) / (n * (1 - value))
    rest = ((a * squares.raters) ** 2 / (k - 1)) + (b * squares.error) ** 2 / ((n - 1) * (k - 1))
    if rest == 0:
        return np.nan, np.nan
    df = (a * squares.raters + b * squares.error) ** 2 / rest
    upper_tail = (1 + confidence) / 2
    spread = k * squares.raters + (k * n - k - n) * squares.error
    f_low, f_high = fdtri(n - 1, df, upper_tail), fdtri(df, n - 1, upper_tail)
    with np.errstate(divide="ignore", invalid="ignore"):  # three units can leave a denominator of 0
        low = n * (squares.units - f_low * squares.error) / (f_low * spread + n * squares.units)
        high = n * (f_high * squares.units - squares.error) / (spread + n * f_high * squares.units)
    return float(low), float(high)
