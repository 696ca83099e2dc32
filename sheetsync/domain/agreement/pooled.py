"""Alpha over all dimensions: stratified (X4), and the naive pooled figure beside what null raters get.

Stacking the ratings of all dimensions counts the levels of dimensions as agreement: where one dimension
is mostly scored high and another mostly low, raters who ignore the text agree on that much. The
stratified alpha compares ratings within their dimension only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sheetsync.domain.agreement.coincidences import Coincidences, Measure, alphas, mean_disagreements
from sheetsync.domain.agreement.null_raters import NullFigure, ShuffledTables, summarise_null
from sheetsync.domain.agreement.statistic import FloatArray, IntArray, ratio_or_nan
from sheetsync.domain.agreement.verdicts import BandSet, band_of
from sheetsync.domain.record import Record
from sheetsync.domain.study import LevelValue, MeasurementLevel


@dataclass(frozen=True)
class StratumWeight(Record):
    """What one dimension brings into the stratified alpha.

    Attributes:
        dimension: its name.
        n_ratings: ratings in pairable units.
        observed_scaled: mean squared difference within units; 1 is the whole scale.
        expected_scaled: the same of two ratings of whichever units.
        weight: share in the expected disagreement of all; with these weights the stratified alpha is the
            mean of the dimensions' alphas.
        reason: why it brings nothing, or None.
    """

    dimension: str
    n_ratings: int
    observed_scaled: float
    expected_scaled: float
    weight: float
    reason: str | None = None


@dataclass(frozen=True)
class PooledFigure(Record):
    """An alpha over all dimensions, its band, and what null raters get."""

    value: float | None
    reason: str | None
    band: str | None
    null: NullFigure | None


@dataclass(frozen=True)
class Pooled(Record):
    """Alpha over all dimensions.

    Attributes:
        stratified: the figure that counts.
        weights: what each dimension brings.
        without_variation: dimensions that bring nothing, as nothing varies there or nothing is comparable.
        naive: all ratings stacked, whichever dimension they belong to; for a footnote.
    """

    stratified: PooledFigure
    weights: tuple[StratumWeight, ...]
    without_variation: tuple[str, ...]
    naive: PooledFigure


@dataclass(frozen=True, eq=False)
class Stratum:
    """One dimension as it is pooled.

    Attributes:
        dimension: its name.
        scale: the declared levels.
        found: the coincidences of its ratings.
        shuffled: those of null raters, None where there are none.
        reason: why its alpha is undefined, or None.
    """

    dimension: str
    scale: tuple[LevelValue, ...]
    found: Coincidences
    shuffled: ShuffledTables | None
    reason: str | None

    @property
    def why_nothing(self) -> str | None:
        """Why it brings nothing: its alpha is undefined, or its scale has no ends to divide by; or None."""
        if self.reason or not self.found.measure.has_ends:
            return self.reason or "undefined_for_values"
        return None if self.found.expected else "no_variation"


def pool(strata: Sequence[Stratum], bands: BandSet) -> Pooled | None:
    """Pool dimensions; None where there is only one."""
    if len(strata) < 2:
        return None
    used = [stratum for stratum in strata if not stratum.why_nothing]
    total = sum(each.found.n * each.found.expected for each in used)
    return Pooled(
        _stratify(used, bands) if used else PooledFigure(None, _common_reason(strata), None, None),
        tuple(_weigh(stratum, total) for stratum in strata),
        tuple(stratum.dimension for stratum in strata if stratum.why_nothing),
        _stack(strata),
    )


def _common_reason(strata: Sequence[Stratum]) -> str:
    """Why no dimension brings anything: what they have in common, else that nothing varies where one can look."""
    reasons = {stratum.why_nothing or "no_variation" for stratum in strata}
    return reasons.pop() if len(reasons) == 1 else "no_variation"


_WHY_NOTHING = {
    "no_variation": "Nothing varies on {}, which adds nothing.",
    "no_pairable_units": "No response has two ratings on {}, which adds nothing.",
    "undefined_for_values": "Alpha is not defined for the values on {}, which adds nothing.",
}


def describe_nothing(pooled: Pooled) -> str:
    """Return in words which dimensions bring nothing, and why; blank where all bring something."""
    by_reason: dict[str, list[str]] = {}
    for each in pooled.weights:
        if each.reason:
            by_reason.setdefault(each.reason, []).append(each.dimension)
    return " ".join(_WHY_NOTHING[reason].format(", ".join(names)) for reason, names in by_reason.items())


def _weigh(stratum: Stratum, total: float) -> StratumWeight:
    found = stratum.found
    return StratumWeight(
        stratum.dimension,
        round(found.n),
        found.observed,
        found.expected,
        0.0 if stratum.why_nothing else found.n * found.expected / total,
        stratum.why_nothing,
    )


def _stratify(strata: Sequence[Stratum], bands: BandSet) -> PooledFigure:
    """1 - sum of n * observed / sum of n * expected."""
    value = float(stratified_alphas([(each.found.table, each.found.measure) for each in strata]))
    shuffled = [each.shuffled for each in strata if each.shuffled is not None]
    null = None
    if len(shuffled) == len(strata):
        n = min(len(tables) for tables in shuffled)
        pairs = [
            (tables.coincidences[:n], each.found.measure)
            for tables, each in zip(shuffled, strata, strict=True)
        ]
        null = summarise_null(stratified_alphas(pairs))
    return PooledFigure(value, None, band_of(value, bands), null)


def stratified_alphas(strata: Sequence[tuple[FloatArray, Measure]]) -> FloatArray:
    """Return the stratified alpha of tables, each with shape (..., K, K); NaN where nothing varies."""
    observed: FloatArray = np.zeros(())
    expected: FloatArray = np.zeros(())
    for tables, measure in strata:
        n = tables.sum(axis=(-1, -2))
        within, between = mean_disagreements(tables, measure)
        observed, expected = observed + n * within, expected + n * between
    return 1 - ratio_or_nan(observed, expected, expected > 0)


# --- naive ---


@dataclass(frozen=True, eq=False)
class _Union:
    """The levels of all dimensions on one scale, and where those of each stand on it."""

    measure: Measure
    places: tuple[IntArray, ...]

    def embed(self, tables: FloatArray, stratum: int) -> FloatArray:
        """Return tables of one dimension, with shape (..., K, K), on the common scale."""
        k, places = len(self.measure.numbers), self.places[stratum]
        out = np.zeros((*tables.shape[:-2], k, k))
        out[..., places[:, None], places[None, :]] = tables
        return out


def _unite(strata: Sequence[Stratum]) -> _Union | None:
    """Return the common scale: numbers by value, words only where every dimension has the same ones."""
    measures = [stratum.found.measure for stratum in strata]
    levels: set[MeasurementLevel] = {measure.level for measure in measures}
    scales = {stratum.scale for stratum in strata}
    words = any(isinstance(value, str) for scale in scales for value in scale)
    if len(levels) > 1 or (words and len(scales) > 1):
        return None
    if words:
        return _Union(measures[0], (np.arange(len(measures[0].numbers)),) * len(strata))
    numbers = np.unique(np.concatenate([measure.numbers for measure in measures]))
    places = tuple(np.searchsorted(numbers, measure.numbers) for measure in measures)
    return _Union(Measure(numbers, levels.pop()), places)


def _stack(strata: Sequence[Stratum]) -> PooledFigure:
    """Alpha of all ratings as if a response and its dimension made a unit; no band is named for it."""
    union = _unite(strata)
    if union is None or any(stratum.reason == "undefined_for_values" for stratum in strata):
        return PooledFigure(None, "undefined_for_values", None, None)
    table = sum((union.embed(each.found.table, at) for at, each in enumerate(strata)), np.zeros(()))
    value = Coincidences(table, union.measure).alpha
    comparable = [at for at, each in enumerate(strata) if each.found.n]
    null = None
    if value is not None and all(strata[at].shuffled for at in comparable):
        null = summarise_null(alphas(_stacked_shuffles(strata, comparable, union), union.measure))
    return PooledFigure(value, _common_reason(strata) if value is None else None, None, null)


def _stacked_shuffles(strata: Sequence[Stratum], used: Sequence[int], union: _Union) -> FloatArray:
    """Null raters shuffle within each dimension, so that what dimensions differ by stays."""
    parts = [(at, strata[at].shuffled) for at in used]
    n = min(len(tables) for _, tables in parts if tables is not None)
    return np.asarray(
        sum(union.embed(tables.coincidences[:n], at) for at, tables in parts if tables is not None)
    )
