"""Judges beside people: each judge against the people's majority, and against every person.

A unit that the judge was given and has no readable answer to (blocked, refused, unreadable, left blank) is a class of
its own: it counts as not right. Beside that stand the figures over answered units, and those with every such unit
taken as the lowest level ("No"), as some publications count them. Where no value has more than half of the people
behind it there is no majority, and the unit stays out of that comparison, counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from sheetsync.domain.agreement import all_raters
from sheetsync.domain.agreement.coefficients import Coefficient, undefined
from sheetsync.domain.agreement.intervals import IntervalOptions, estimate
from sheetsync.domain.agreement.proportions import Proportion, proportion
from sheetsync.domain.agreement.rater_pairs import CrossTable, cohen_kappa, cross_table_of_positions
from sheetsync.domain.agreement.statistic import BoolArray, Evaluate, FloatArray, IntArray, ratio_or_nan
from sheetsync.domain.agreement.unit_counts import count_units
from sheetsync.domain.record import Record
from sheetsync.domain.study import LevelValue, MeasurementLevel

MAJORITY = "majority"

UNREADABLE, MISSING = -1, -2
"""The positions of an answer that could not be read, and of one that was not given."""

Unit = TypeVar("Unit", bound=Hashable)
Positions = Mapping[Unit, int]
"""Units to positions on the scale."""


@dataclass(frozen=True)
class JudgeFigures(Record):
    """A judge against one reference, over some units.

    Precision, recall, F1 and phi are those of the upper of two levels ("Yes"), and undefined on longer
    scales. Balanced accuracy is the mean recall of the levels that the reference gives.
    """

    n: int
    accuracy: Proportion
    precision: Proportion | None
    recall: Proportion | None
    f1: Coefficient
    balanced_accuracy: Coefficient
    phi: Coefficient
    kappa: Coefficient
    kappa_quadratic: Coefficient
    ac: Coefficient


@dataclass(frozen=True)
class JudgeComparison(Record):
    """One judge against the majority or one person, on one dimension.

    Attributes:
        judge: its id.
        dimension: the dimension's name; None over all of them, where their scales are the same.
        against: `majority`, or a person's id.
        n_unreadable: units with a reference whose answer could not be read.
        n_missing: units with a reference that the judge was given and left without an answer.
        n_without_majority: units that people scored without a majority; 0 against one person.
        figures: no answer is a class of its own, and not right.
        answered: over answered units alone.
        as_lowest: no answer taken as the lowest level.
    """

    judge: str
    dimension: str | None
    against: str
    n_unreadable: int
    n_missing: int
    n_without_majority: int
    figures: JudgeFigures
    answered: JudgeFigures
    as_lowest: JudgeFigures


@dataclass(frozen=True)
class JudgedDimension:
    """What judges and people gave on one dimension: positions on its scale, per rater and unit.

    Attributes:
        dimension: its name.
        level: its level of measurement.
        scale: its levels, from low to high.
        judges: per judge what it was given; `UNREADABLE` or `MISSING` where there is no answer.
        people: per person.
    """

    dimension: str
    level: MeasurementLevel
    scale: tuple[LevelValue, ...]
    judges: Mapping[str, Positions[str]]
    people: Mapping[str, Positions[str]]


def compare_judges(
    dimensions: Sequence[JudgedDimension], options: IntervalOptions
) -> tuple[JudgeComparison, ...]:
    """Return every judge against the majority and every person, per dimension and over all of one scale."""
    found = [each for data in dimensions for each in _compare(data, data.dimension, options)]
    if len(dimensions) > 1 and len({(data.level, data.scale) for data in dimensions}) == 1:
        # The dimensions of one response are not independent, so figures over all of them get no interval.
        points = replace(options, resamples=0)
        found += [_without_limits(each) for each in _compare(_joined(dimensions), None, points)]
    return tuple(found)


def majority_of(people: Mapping[str, Positions[Unit]]) -> tuple[dict[Unit, int], int]:
    """Return the value that more than half of two or more people gave, and how many units have none.

    >>> majority_of({"a": {"u": 1, "v": 1}, "b": {"u": 1, "v": 0}, "c": {"u": 0}})
    ({'u': 1}, 1)
    """
    given: dict[Unit, list[int]] = {}
    for values in people.values():
        for unit, value in values.items():
            given.setdefault(unit, []).append(value)
    majority, n_without = {}, 0
    for unit, values_of_unit in given.items():
        value, n = Counter(values_of_unit).most_common(1)[0]
        if len(values_of_unit) > 1 and 2 * n > len(values_of_unit):
            majority[unit] = value
        elif len(values_of_unit) > 1:
            n_without += 1
    return majority, n_without


def _joined(dimensions: Sequence[JudgedDimension]) -> JudgedDimension:
    def join(of: Sequence[Mapping[str, Positions[str]]]) -> dict[str, dict[str, int]]:
        raters = dict.fromkeys(rater for each in of for rater in each)
        return {
            rater: {
                f"{at} {unit}": v for at, each in enumerate(of) for unit, v in each.get(rater, {}).items()
            }
            for rater in raters
        }

    return replace(
        dimensions[0],
        judges=join([data.judges for data in dimensions]),
        people=join([data.people for data in dimensions]),
    )


def _compare(data: JudgedDimension, name: str | None, options: IntervalOptions) -> list[JudgeComparison]:
    majority, n_without = majority_of(data.people)
    references = {MAJORITY: (majority, n_without), **{who: (given, 0) for who, given in data.people.items()}}
    return [
        _comparison(data, name, judge, (against, reference, n), options)
        for judge in data.judges
        for against, (reference, n) in references.items()
        if reference and (against != MAJORITY or len(data.people) > 1)
    ]


def _comparison(
    data: JudgedDimension,
    name: str | None,
    judge: str,
    against: tuple[str, Positions[str], int],
    options: IntervalOptions,
) -> JudgeComparison:
    who, reference, n_without = against
    given = data.judges[judge]
    units = sorted(unit for unit in reference if unit in given)
    truth = np.array([reference[unit] for unit in units], dtype=np.int64)
    answers = np.array([given[unit] for unit in units], dtype=np.int64)
    is_answered = answers >= 0
    figures = _Figures(data, options)
    return JudgeComparison(
        judge,
        name,
        who,
        int((answers == UNREADABLE).sum()),
        int((answers == MISSING).sum()),
        n_without,
        figures.of(truth, np.where(is_answered, answers, len(data.scale))),
        figures.of(truth[is_answered], answers[is_answered]),
        figures.of(truth, np.where(is_answered, answers, 0)),
    )


class _Figures:
    """Computes the figures of one dimension."""

    def __init__(self, data: JudgedDimension, options: IntervalOptions) -> None:
        self.n_levels, self.level, self.options = len(data.scale), data.level, options
        self.numbers = np.array(
            range(len(data.scale)) if any(isinstance(each, str) for each in data.scale) else data.scale,
            dtype=float,
        )

    def of(self, truth: IntArray, answers: IntArray) -> JudgeFigures:
        """Return the figures; an answer that could not be read stands one position above the scale."""
        has_own_class = bool((answers == self.n_levels).any())
        table = cross_table_of_positions(truth, answers, np.arange(self.n_levels + 1.0))
        is_binary = self.n_levels == 2
        found = estimate(
            {
                "kappa": cohen_kappa(table, "none"),
                "balanced_accuracy": table.statistic(_balanced(table), bounds=(0.0, 1.0)),
                "f1": table.statistic(_f1(table), "no_variation", bounds=(0.0, 1.0)),
                "phi": table.statistic(_phi(table), "constant_rater"),
            },
            self.options,
        )
        none = undefined("undefined_for_values")
        right = int((truth == answers).sum())
        confidence = self.options.confidence
        both = int(((truth == 1) & (answers == 1)).sum())
        return JudgeFigures(
            len(truth),
            proportion(right, len(truth), confidence),
            proportion(both, int((answers == 1).sum()), confidence) if is_binary else None,
            proportion(both, int((truth == 1).sum()), confidence) if is_binary else None,
            found["f1"] if is_binary else none,
            found["balanced_accuracy"],
            found["phi"] if is_binary and not has_own_class else none,
            found["kappa"],
            none if has_own_class or self.level == "nominal" else self._quadratic(table),
            none if has_own_class else self._ac(truth, answers),
        )

    def _quadratic(self, table: CrossTable) -> Coefficient:
        return estimate({"_": cohen_kappa(table, "quadratic")}, self.options)["_"]

    def _ac(self, truth: IntArray, answers: IntArray) -> Coefficient:
        """AC1 on nominal scales, else AC2 with quadratic weights."""
        matrix = self.numbers[np.array([truth, answers])]
        weights = all_raters.gwet_ac(
            count_units(matrix, self.numbers), "identity" if self.level == "nominal" else "quadratic"
        )
        return estimate({"_": weights}, self.options)["_"]


def _is(positions: IntArray, level: int) -> BoolArray:
    return np.asarray(positions == level)


def _balanced(table: CrossTable) -> Evaluate:
    """The mean recall of the levels that the reference gives."""
    of_level = table.indicators(table.first)
    right = of_level * (table.first == table.second)[:, None]

    def evaluate(multiplicity: FloatArray) -> FloatArray:
        n = multiplicity @ of_level
        recalls = ratio_or_nan(multiplicity @ right, n, n > 0)
        occurs = (n > 0).sum(axis=1).astype(float)
        return ratio_or_nan(np.nansum(recalls, axis=1), occurs, occurs > 0)

    return evaluate


def _f1(table: CrossTable) -> Evaluate:
    """The harmonic mean of precision and recall of the second level; undefined where nobody gives it."""
    first, second = _is(table.first, 1).astype(float), _is(table.second, 1).astype(float)

    def evaluate(multiplicity: FloatArray) -> FloatArray:
        given = multiplicity @ (first + second)
        return ratio_or_nan(2 * (multiplicity @ (first * second)), given, given > 0)

    return evaluate


def _phi(table: CrossTable) -> Evaluate:
    """The correlation of two levels, also known as Matthews's coefficient."""
    first, second = _is(table.first, 1).astype(float), _is(table.second, 1).astype(float)

    def evaluate(multiplicity: FloatArray) -> FloatArray:
        n = multiplicity.sum(axis=1)
        a, b = multiplicity @ first, multiplicity @ second
        spread = a * (n - a) * b * (n - b)
        return ratio_or_nan(n * (multiplicity @ (first * second)) - a * b, np.sqrt(spread), spread > 0)

    return evaluate


def _without_limits(found: JudgeComparison) -> JudgeComparison:
    def bare(share: Proportion | None) -> Proportion | None:
        return share and replace(share, low=None, high=None)

    def figures(each: JudgeFigures) -> JudgeFigures:
        accuracy = replace(each.accuracy, low=None, high=None)
        return replace(each, accuracy=accuracy, precision=bare(each.precision), recall=bare(each.recall))

    return replace(
        found,
        figures=figures(found.figures),
        answered=figures(found.answered),
        as_lowest=figures(found.as_lowest),
    )
