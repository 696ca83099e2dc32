"""What an external validation looks at without a bar (S1.24, S1.25, S1.28-S1.30)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from sheetsync.domain.agreement.intervals import IntervalOptions
from sheetsync.domain.agreement.layers import Layer, count_identical, pair_kappas, stratified_alpha
from sheetsync.domain.agreement.report import AgreementReport
from sheetsync.domain.current import CurrentRatings
from sheetsync.domain.study import Rubric
from sheetsync.domain.validation.direction import CaseDirection, Pair, assess_directions
from sheetsync.domain.validation.records import (
    ConfidenceClass,
    DimensionReliability,
    Exploratory,
    PairReliability,
    SliceReliability,
)

Confidences = Mapping[tuple[str, str, str], str]
"""(rater, unit, dimension id) -> Low, Medium or High."""

_HIGH = "High"
_CLASSES = ("both_high", "one_high", "none_high")


@dataclass(frozen=True, eq=False)
class ExplorationData:
    """What is explored.

    Attributes:
        agreement: the figures per dimension.
        layers: the ratings per dimension.
        raters: along the rows of the layers.
        codes: along their columns.
        groups: per unit the number of its case.
        pairs: the cases.
        directions: what raters say of each, in the same order.
        slices: by question column, the value of each unit.
        rubric: for the scales.
        current: the ratings in force.
        confidences: what was given beside them.
        share: the bar of the direction criterion, for the counts it needs.
        options: how intervals are made.
    """

    agreement: AgreementReport
    layers: Sequence[Layer]
    raters: Sequence[str]
    codes: Sequence[str]
    groups: Sequence[int]
    pairs: Sequence[Pair]
    directions: Sequence[CaseDirection]
    slices: Mapping[str, Mapping[str, str]]
    rubric: Rubric
    current: CurrentRatings
    confidences: Confidences
    share: float
    options: IntervalOptions


def explore(data: ExplorationData) -> Exploratory:
    """Return everything that has no bar."""
    pairs = pair_kappas(data.layers, data.raters)
    ranked = sorted((p for p in pairs if p.kappa.value is not None), key=lambda p: p.kappa.value or 0)
    classes = compare_confidence(data.rubric, data.current, data.confidences, data.raters)
    identical = count_identical(data.layers)
    return Exploratory(
        tuple(
            DimensionReliability(
                each.dimension, each.coefficients["alpha"], each.band, each.coefficients["exact"]
            )
            for each in data.agreement.dimensions
        ),
        tuple(_slice(data, by, value) for by, of_unit in data.slices.items() for value in _values(of_unit)),
        classes,
        high_agrees_more(classes),
        tuple(PairReliability(p.raters, p.n, p.kappa, p.by_dimension) for p in pairs),
        ranked[-1].raters if ranked else None,
        ranked[0].raters if ranked else None,
        identical.pairwise,
        identical.by_all,
    )


def _values(of_unit: Mapping[str, str]) -> list[str]:
    return [value for value in dict.fromkeys(of_unit.values()) if value]


def _slice(data: ExplorationData, by: str, value: str) -> SliceReliability:
    of_unit = data.slices[by]
    places = [at for at, code in enumerate(data.codes) if of_unit.get(code) == value]
    layers = [layer.of_units(places) for layer in data.layers]
    numbers = {group: at for at, group in enumerate(dict.fromkeys(data.groups[place] for place in places))}
    alpha = stratified_alpha(layers, [numbers[data.groups[place]] for place in places], data.options)
    here = [
        said
        for pair, said in zip(data.pairs, data.directions, strict=True)
        if of_unit.get(pair.codes[0]) == value
    ]
    found = assess_directions(here, data.share, data.options.confidence)
    identical = count_identical(layers).pairwise
    return SliceReliability(by, value, len(here), len(places), alpha, identical, found.unanimous)


# --- confidence ---


def compare_confidence(
    rubric: Rubric, current: CurrentRatings, confidences: Confidences, raters: Sequence[str]
) -> tuple[ConfidenceClass, ...]:
    """Return how alike two scores of one cell are, by how sure both raters were; nothing without confidences.

    Distances are in steps of the scale, so that scales with gaps count like others (X6).
    """
    if not confidences:
        return ()
    apart: dict[str, list[int]] = {name: [] for name in _CLASSES}
    for dimension in (each for each in rubric.dimensions if each.confidence):
        places = {value: at for at, value in enumerate(dimension.scale)}
        by_unit: dict[str, list[tuple[int, str]]] = {}
        for (rater, code), value in current.values(dimension.id).items():
            sure = confidences.get((rater, code, dimension.id))
            if rater in raters and value in places and sure:
                by_unit.setdefault(code, []).append((places[value], sure))
        for given in by_unit.values():
            for (first, sure), (second, other) in combinations(given, 2):
                n_high = (sure == _HIGH) + (other == _HIGH)
                apart[_CLASSES[2 - n_high]].append(abs(first - second))
    return tuple(
        ConfidenceClass(
            name,
            len(steps),
            sum(step == 0 for step in steps) / len(steps) if steps else None,
            fmean(steps) if steps else None,
        )
        for name, steps in apart.items()
    )


def high_agrees_more(classes: Sequence[ConfidenceClass]) -> bool | None:
    """Return whether two High scores are the same more often than all others; None where there are none."""
    high = [each for each in classes if each.confidence == "both_high"]
    rest = [each for each in classes if each.confidence != "both_high"]
    n = sum(each.pairs for each in rest)
    if not high or high[0].identical is None or not n:
        return None
    return high[0].identical > sum((each.identical or 0) * each.pairs for each in rest) / n
