"""Confidence intervals: resampling over units, and the F interval of the ICC.

Units are resampled, not pairs of ratings, and expected disagreement is recomputed in every sample:
pairs of one unit are not independent, and a fixed expected disagreement makes intervals too narrow
(Zapf et al. 2016, BMC Med Res Methodol 16:93). Patterns of ratings stand for units, so a sample is
a multinomial draw of multiplicities, and the same seed gives the same numbers in whatever order
units, raters and rows come.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri, stdtrit

from sheetsync.domain.agreement.coefficients import Coefficient, without_interval
from sheetsync.domain.agreement.icc import icc, icc_interval
from sheetsync.domain.agreement.statistic import FloatArray, IntArray, OfSums, Statistic
from sheetsync.domain.agreement.verdicts import MIN_PAIRABLE, is_too_few

IntervalMethod = Literal["bca", "percentile", "jackknife"]


_CELLS = 16_000
"""Numbers in a block of resamples: small enough for the processor's cache, and for a matrix product that
starts no threads of its own, which would get in the way of ours."""

_CHUNK = 1000
"""Resamples that share a seed; chunks run on several threads, and how many never changes a number."""

_MOST_THREADS = 4

_FEW_PER_PATTERN = 16
"""Up to so many units per pattern, drawing all one by one takes less time than a Poisson count per pattern."""


@dataclass(frozen=True)
class IntervalOptions:
    """How intervals are made; `resamples` 0 makes none, and fewer pairable units than `minimum_units` get none."""

    method: IntervalMethod = "bca"
    confidence: float = 0.95
    resamples: int = 10000
    seed: int = 1
    minimum_units: int = MIN_PAIRABLE


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


@dataclass(frozen=True)
class Resampled:
    """What a statistic is on resamples of the units.

    Attributes:
        values: the statistic on each resample on which it is defined.
        n_undefined: resamples on which it is not, such as one without any variation.
    """

    values: FloatArray
    n_undefined: int


def estimate(statistics: Mapping[str, Statistic], options: IntervalOptions) -> dict[str, Coefficient]:
    """Return each statistic with its interval; all of them share the same units and resamples."""
    left_out = {name: leave_one_out(statistic) for name, statistic in statistics.items()}
    refused = {name: refusal(each, left_out[name], options) for name, each in statistics.items()}
    drawn = {name: each for name, each in statistics.items() if refused[name] is None}
    samples = {} if options.method == "jackknife" else resample(drawn, options)
    return {
        name: without_interval(each, refused[name] or "")
        if refused[name]
        else add_interval(each, left_out[name], samples.get(name), options)
        for name, each in statistics.items()
    }


def refusal(statistic: Statistic, left_out: LeftOut, options: IntervalOptions) -> str | None:
    """Why a statistic gets no interval, or None."""
    if statistic.value is None or options.resamples == 0:
        return statistic.reason or "not_requested"
    if not left_out.varies and abs(statistic.value - statistic.perfect) < 1e-12:
        return "no_disagreement"
    if is_too_few(statistic.n_pairable, options.minimum_units):
        return "too_few_units"
    return None if left_out.varies else "no_variation"


def leave_one_out(statistic: Statistic) -> LeftOut:
    """Evaluate a statistic without one unit of each pattern."""
    patterns = np.flatnonzero(statistic.matters)
    multiplicity = statistic.multiplicity[patterns]
    if statistic.reason:
        return LeftOut(np.zeros(0), multiplicity)
    if isinstance(statistic.evaluate, OfSums):
        return LeftOut(statistic.evaluate.without_one(statistic.multiplicity, patterns), multiplicity)
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
    return max(64, _CELLS // max(width, 1))


def resample(statistics: Mapping[str, Statistic], options: IntervalOptions) -> dict[str, Resampled]:
    """Evaluate the statistics, which are over the same units, on the same seeded resamples of these."""
    if not statistics:
        return {}
    units = next(iter(statistics.values()))
    chunks = [
        (at, min(_CHUNK, options.resamples - at * _CHUNK)) for at in range(-(-options.resamples // _CHUNK))
    ]

    def evaluate(chunk: tuple[int, int]) -> dict[str, FloatArray]:
        drawn = [
            [statistic.evaluate(weights) for statistic in statistics.values()]
            for weights in draw_units(units, chunk[1], (options.seed, chunk[0]))
        ]
        return {name: np.concatenate(values) for name, *values in zip(statistics, *drawn, strict=True)}

    workers = min(_MOST_THREADS, os.cpu_count() or 1, len(chunks))
    if workers == 1:
        parts = [evaluate(chunk) for chunk in chunks]
    else:
        with ThreadPoolExecutor(workers) as pool:
            parts = list(pool.map(evaluate, chunks))
    joined = {name: np.concatenate([part[name] for part in parts]) for name in statistics}
    return {
        name: Resampled(values[defined], int((~defined).sum()))
        for name, values in joined.items()
        for defined in [np.isfinite(values)]
    }


def draw_units(statistic: Statistic, resamples: int, seed: tuple[int, ...]) -> Iterator[FloatArray]:
    """Yield multiplicities of resampled units, with shape (B, P), in blocks.

    Units with one rating are resampled among themselves, from a seed of their own: how many units
    can be compared is part of the design, and what only depends on those does not notice the rest.
    """
    groups = [
        (group, _Urn(statistic.multiplicity[group], (*seed, at)))
        for at, group in enumerate((np.flatnonzero(statistic.pairable), np.flatnonzero(~statistic.pairable)))
        if len(group)
    ]
    step = _rows(len(statistic.multiplicity))
    for start in range(0, resamples, step):
        weights = np.empty((min(step, resamples - start), len(statistic.multiplicity)))
        for group, urn in groups:
            weights[:, group] = urn.draw(len(weights))
        yield weights


class _Urn:
    """Draws as many units as there are, with replacement, and counts them by pattern.

    Independent Poisson counts, given their sum, are multinomial. They take half the time of numpy's
    multinomial, which goes from pattern to pattern. So a little fewer units than wanted are drawn
    in that way (3 standard deviations fewer), and the missing ones one by one. The rare row with
    too many is drawn anew; as that depends on its sum alone, every row is exactly multinomial.
    With few units per pattern all are drawn one by one.
    """

    def __init__(self, multiplicity: FloatArray, seed: tuple[int, ...]) -> None:
        self._counts, self._rest, self._anew = (np.random.default_rng((*seed, part)) for part in range(3))
        self._n = int(multiplicity.sum())
        self._shares = multiplicity / self._n
        self._unit_patterns = np.repeat(np.arange(len(multiplicity)), multiplicity.astype(np.int64))

    def draw(self, resamples: int) -> IntArray:
        """Return counts of units, with shape (B, P); every row sums to the number of units."""
        if self._n < _FEW_PER_PATTERN * len(self._shares):
            step = max(1, _CELLS // self._n)
            sizes = [min(step, resamples - start) for start in range(0, resamples, step)]
            return np.concatenate([self._draw_one_by_one(size) for size in sizes])
        mean = self._n - 3 * np.sqrt(self._n)
        drawn = self._counts.poisson(mean * self._shares, (resamples, len(self._shares)))
        missing = self._n - drawn.sum(axis=1)
        for row in np.flatnonzero(missing < 0):
            drawn[row] = self._anew.multinomial(self._n, self._shares)
        rows = np.repeat(np.arange(resamples), np.maximum(missing, 0))
        patterns = self._unit_patterns[self._rest.integers(0, self._n, len(rows))]
        np.add.at(drawn.reshape(-1), rows * len(self._shares) + patterns, 1)
        return drawn

    def _draw_one_by_one(self, resamples: int) -> IntArray:
        places = self._unit_patterns[self._rest.integers(0, self._n, (resamples, self._n))]
        places += np.arange(resamples)[:, None] * len(self._shares)
        counts = np.bincount(places.ravel(), minlength=resamples * len(self._shares))
        return counts.reshape(resamples, len(self._shares))


def add_interval(
    statistic: Statistic, left_out: LeftOut, resampled: Resampled | None, options: IntervalOptions
) -> Coefficient:
    """Return the statistic with its limits, which always enclose the value; the jackknife needs no resamples."""
    value = statistic.value
    if value is None:
        return without_interval(statistic)
    tails = np.array([(1 - options.confidence) / 2, (1 + options.confidence) / 2])
    if resampled is None or options.method == "jackknife":
        if not np.isfinite(left_out.values).all():  # all variation hangs on one unit
            return without_interval(statistic, "no_variation")
        limits = _jackknife_limits(statistic, left_out, tails)
    elif not len(sample := resampled.values):
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


def _jackknife_limits(statistic: Statistic, left_out: LeftOut, tails: FloatArray) -> FloatArray:
    """Leave-one-unit-out standard error, t with n - 1 df, on the scale that suits the statistic.

    Coefficients that end at 1 are taken to Fisher's z, shares from 0 to 1 to their log odds; a difference in
    points is taken as it is.
    """
    value = statistic.value or 0.0
    n = float(left_out.multiplicity.sum())
    error = np.sqrt((n - 1) / n * left_out.moment(2)) * stdtrit(n - 1, tails)
    low, high = statistic.bounds
    if high != 1 or not max(low, -1) < value < 1:
        return np.asarray(value + error)
    if low == 0:
        return np.asarray(expit(logit(value) + error / (value * (1 - value))))
    return np.asarray(np.tanh(np.arctanh(value) + error / (1 - value**2)))


def estimate_icc(data: FloatArray, options: IntervalOptions) -> Coefficient:
    """Return ICC(2,1), with its F-based interval unless none is wanted."""
    return icc(data) if options.resamples == 0 else icc_interval(data, confidence=options.confidence)
