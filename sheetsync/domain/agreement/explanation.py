"""Why alpha is what it is: everything that is said about a dimension beside its coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sheetsync.domain.agreement.coincidences import Coincidences, Measure, tabulate
from sheetsync.domain.agreement.disagreement import find_boundaries, find_heavy_units, leave_raters_out
from sheetsync.domain.agreement.explanation_question import Facts, choose_question
from sheetsync.domain.agreement.explanation_records import Explanation, LevelShare
from sheetsync.domain.agreement.explanation_words import write_sentences
from sheetsync.domain.agreement.hardest import Ruler, rank_parts
from sheetsync.domain.agreement.interval_comparison import compare_intervals
from sheetsync.domain.agreement.intervals import IntervalOptions
from sheetsync.domain.agreement.null_raters import ShuffledTables, null_raters, shuffle_tables
from sheetsync.domain.agreement.pooled import Pooled, Stratum, pool
from sheetsync.domain.agreement.rater_bias import split_bias
from sheetsync.domain.agreement.reliability import DimensionData, reliability_data
from sheetsync.domain.agreement.report import DimensionAgreement
from sheetsync.domain.agreement.statistic import FloatArray, IntArray
from sheetsync.domain.agreement.unit_counts import UnitCounts, count_units
from sheetsync.domain.agreement.verdicts import BandSet
from sheetsync.domain.study import LevelValue


@dataclass(frozen=True)
class ExplanationOptions:
    """How figures are explained: bands, K of `within`, and how intervals are made."""

    bands: BandSet
    within: float
    over_raters: IntervalOptions
    of_parts: IntervalOptions


@dataclass(frozen=True, eq=False)
class _Dimension:
    """One dimension, with what several parts of its explanation rest on."""

    data: DimensionData
    agreement: DimensionAgreement
    positions: IntArray
    found: Coincidences
    shuffled: ShuffledTables | None

    @cached_property
    def values(self) -> FloatArray:
        """Levels as numbers, raters x units, NaN where there is no rating."""
        return reliability_data(self.positions, self.data.numbers)

    @cached_property
    def units(self) -> UnitCounts:
        """The counts of levels per unit."""
        return count_units(self.values, self.data.numbers)


def explain_agreement(
    dimensions: Sequence[DimensionData], assessed: Sequence[DimensionAgreement], options: ExplanationOptions
) -> tuple[tuple[Explanation, ...], Pooled | None]:
    """Explain every dimension, and pool them.

    Args:
        dimensions: what was rated.
        assessed: the agreement of each of them.
        options: how.

    Returns:
        One explanation per dimension, and alpha over all of them where there are several.
    """
    prepared = [
        _prepare(data, agreement, (options.over_raters.seed, at))
        for at, (data, agreement) in enumerate(zip(dimensions, assessed, strict=True))
    ]
    strata = [
        Stratum(
            each.data.dimension,
            each.data.scale,
            each.found,
            each.shuffled,
            each.agreement.coefficients["alpha"].reason,
        )
        for each in prepared
    ]
    return tuple(_explain(each, options) for each in prepared), pool(strata, options.bands)


def _prepare(data: DimensionData, agreement: DimensionAgreement, seed: tuple[int, int]) -> _Dimension:
    positions = data.positions
    found = tabulate(positions, Measure(data.numbers, data.level))
    return _Dimension(data, agreement, positions, found, shuffle_tables(positions, len(data.scale), seed))


def _explain(dimension: _Dimension, options: ExplanationOptions) -> Explanation:
    data, found, each = dimension.data, dimension.found, dimension.agreement.coefficients
    facts = _facts(dimension, options)
    question = choose_question(facts)
    means = {
        (part.by, part.value): part.agreement.coefficients["mean_abs_difference"]
        for part in dimension.agreement.slices
    }
    return Explanation(
        dimension=data.dimension,
        question=question,
        sentences=write_sentences(question, facts),
        n_ratings=round(found.n),
        top_level=_top_level(dimension),
        most_used=facts.most_used,
        is_narrow=facts.is_narrow,
        observed_scaled=facts.observed,
        expected_scaled=facts.expected,
        alpha=each["alpha"],
        exact=each["exact"],
        ac=each["ac"],
        null_raters=facts.null,
        bias=facts.bias,
        boundaries=find_boundaries(found, data.scale),
        units=find_heavy_units(dimension.positions, found, data.raters, data.units, data.scale),
        without_raters=leave_raters_out(dimension.positions, found, data.raters),
        intervals=compare_intervals(dimension.units, data.level, options.over_raters),
        hardest=rank_parts(Ruler(data, found, options.of_parts), means),
    )


def _facts(dimension: _Dimension, options: ExplanationOptions) -> Facts:
    data, found, agreement = dimension.data, dimension.found, dimension.agreement
    each = agreement.coefficients
    alpha = each["alpha"]
    ordered = data.level != "nominal"
    measured = found.n > 0 and alpha.reason != "undefined_for_values" and found.measure.has_ends
    pairs = {pair.raters: pair.mean_difference for pair in agreement.pairs}
    return Facts(
        alpha=alpha,
        exact=each["exact"],
        ac=each["ac"],
        bands=options.bands,
        n_pairable=agreement.n_pairable,
        too_few=agreement.too_few,
        top=data.scale[-1] if ordered and data.scale else None,
        bottom=data.scale[0] if ordered and data.scale else None,
        most_used=_most_used(dimension),
        only_level=_only_level(found, data.scale),
        observed=found.observed if measured else None,
        expected=found.expected if measured else None,
        null=null_raters(dimension.shuffled, found, options.within, options.over_raters.seed, alpha),
        bias=split_bias(dimension.values, data.raters, pairs) if ordered else None,
        boundary=next(iter(find_boundaries(found, data.scale)), None),
    )


def _share(dimension: _Dimension, at: int) -> LevelShare | None:
    counts = list(dimension.agreement.distribution.values())
    total = sum(counts)
    return LevelShare(dimension.data.scale[at], counts[at], counts[at] / total) if total else None


def _top_level(dimension: _Dimension) -> LevelShare | None:
    if dimension.data.level == "nominal" or not dimension.data.scale:
        return None
    return _share(dimension, len(dimension.data.scale) - 1)


def _most_used(dimension: _Dimension) -> LevelShare | None:
    counts = list(dimension.agreement.distribution.values())
    return _share(dimension, int(np.argmax(counts))) if counts else None


def _only_level(found: Coincidences, scale: Sequence[LevelValue]) -> LevelValue | None:
    given = np.flatnonzero(found.totals)
    return scale[int(given[0])] if len(given) == 1 else None
