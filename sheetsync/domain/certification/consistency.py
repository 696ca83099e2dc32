"""Part 1 of a certification: does the judge score the same response the same way twice?

Cohen's kappa between the two looks, per metric; unweighted decides, as the protocol has it (X26). A look without an
answer agrees with nothing: it is a class of its own, another one on the first look than on the second, so that
declining the same response twice is no agreement. Every response is therefore in the denominator. Quadratic kappa
needs distances and AC1 the categories of the scale: both are over responses answered twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sheetsync.domain.agreement import all_raters, rater_pairs
from sheetsync.domain.agreement.coefficients import Coefficient
from sheetsync.domain.agreement.intervals import IntervalOptions, estimate
from sheetsync.domain.agreement.proportions import proportion
from sheetsync.domain.agreement.rater_pairs import CrossTable, cross_table_of_positions
from sheetsync.domain.agreement.statistic import IntArray
from sheetsync.domain.agreement.unit_counts import count_units
from sheetsync.domain.certification.cases import Metric
from sheetsync.domain.certification.decision_figures import Answer
from sheetsync.domain.record import Record

PartStatus = Literal["PASS", "PASS_WITH_DISCLOSURE", "FAIL"]

_TOLERANCE = 1e-12


@dataclass(frozen=True)
class MetricConsistency(Record):
    """One metric on two looks.

    Attributes:
        metric: its id.
        name: its name.
        n: responses that were shown twice.
        n_answered: of those, answered both times.
        kappa: unweighted, over all `n`; decides.
        kappa_quadratic: over those answered twice.
        exact: share of equal scores, over all `n`.
        ac1: Gwet's AC1, over those answered twice; says something where kappa is undefined.
        status: whether kappa reaches the bar.
        fragile: whether the lower limit of kappa misses the bar, or there is none.
    """

    metric: str
    name: str
    n: int
    n_answered: int
    kappa: Coefficient
    kappa_quadratic: Coefficient
    exact: Coefficient
    ac1: Coefficient
    status: PartStatus
    fragile: bool


def assess_consistency(
    metric: Metric,
    looks: Sequence[tuple[Answer, Answer]],
    bar: float,
    options: IntervalOptions,
    *,
    strict: bool,
) -> MetricConsistency:
    """Return how consistently a metric was scored.

    Args:
        metric: with its scale.
        looks: the score of every response on the first and on the second look, None without an answer.
        bar: what kappa has to reach.
        options: of the intervals.
        strict: whether the lower limit has to reach it too.
    """
    first, second = (_positions(metric, [look[at] for look in looks]) for at in (0, 1))
    both = (first >= 0) & (second >= 0)
    kappa = _kappa(first, second, len(metric.scale), options)
    answered = _table(first[both], second[both], len(metric.scale))
    quadratic = estimate({"_": rater_pairs.cohen_kappa(answered, "quadratic")}, options)["_"]
    units = count_units(
        np.array([first[both], second[both]], dtype=float), np.arange(len(metric.scale), dtype=float)
    )
    ac1 = estimate({"_": all_raters.gwet_ac(units, "identity")}, options)["_"]
    reached = kappa.low if strict else kappa.value
    return MetricConsistency(
        metric.id,
        metric.name,
        len(looks),
        int(both.sum()),
        kappa,
        quadratic,
        _exact(first, second, options.confidence),
        ac1,
        "PASS" if reached is not None and reached >= bar - _TOLERANCE else "FAIL",
        kappa.low is None or kappa.low < bar - _TOLERANCE,
    )


def _positions(metric: Metric, scores: Sequence[Answer]) -> IntArray:
    """Return positions on the scale, -1 where there is no answer."""
    return np.array([-1 if score is None else metric.scale.index(score) for score in scores], dtype=np.int64)


def _table(first: IntArray, second: IntArray, n_levels: int) -> CrossTable:
    return cross_table_of_positions(first, second, np.arange(n_levels, dtype=float))


def _kappa(first: IntArray, second: IntArray, n_levels: int, options: IntervalOptions) -> Coefficient:
    """Return kappa over all responses, a look without an answer being a class of its own."""
    whole = _table(
        np.where(first < 0, n_levels, first), np.where(second < 0, n_levels + 1, second), n_levels + 2
    )
    found = estimate({"_": rater_pairs.cohen_kappa(whole, "none")}, options)["_"]
    if found.interval_reason != "no_disagreement":
        return found
    # Without a disagreement resampling finds no spread. Wilson's lower limit of exact agreement, put into
    # kappa beside the chance agreement observed, says how much so many responses can bear out (X28).
    n = whole.n_units
    shares = np.bincount(first, minlength=n_levels) / n
    chance = float((shares**2).sum())
    least = proportion(n, n, options.confidence).low or 0.0
    return replace(
        found,
        low=(least - chance) / (1 - chance),
        high=1.0,
        confidence=options.confidence,
        method="wilson",
        interval_reason=None,
    )


def _exact(first: IntArray, second: IntArray, confidence: float) -> Coefficient:
    equal = int(((first == second) & (first >= 0)).sum())
    found = proportion(equal, len(first), confidence)
    if found.value is None:
        return Coefficient(None, reason="no_common_units", interval_reason="no_common_units")
    return Coefficient(found.value, found.low, found.high, confidence, found.method)
