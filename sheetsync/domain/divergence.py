"""Where raters differ by the threshold, and what adjudicators made of it; original ratings stay.

A *score* divergence: the highest and the lowest value of a unit and dimension lie at least the
threshold apart (X6, X7); on a nominal scale, which knows no distance, no value is given by more than half. An
*applicability* divergence: some say N/A and others gave a value; it has
no range and is counted apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Literal

from sheetsync.domain.current import CurrentRatings
from sheetsync.domain.study import NOT_APPLICABLE, Dimension, DivergenceSettings, LevelValue, Rubric

DivergenceKind = Literal["score", "applicability"]
DivergenceState = Literal["open", "settled", "changed_since_verdict", "withdrawn"]
FinalSource = Literal["verdict", "unresolved", "unanimous", "majority", "mean", ""]

DivergenceKey = tuple[str, str, DivergenceKind]
"""Code, dimension id, kind."""


@dataclass(frozen=True)
class Verdict:
    """What an adjudicator decided about one divergence.

    `verdict` is a level, "N/A", or None while nothing valid is typed. `basis` are the values per
    rater that stood in the adjudication workbook when the verdict was typed, `text` the number of the
    text version they were given on.
    """

    code: str
    dimension: str
    kind: DivergenceKind
    verdict: LevelValue | None
    reason: str = ""
    comment: str = ""
    adjudicator: str = ""
    basis: Mapping[str, LevelValue] = field(default_factory=dict)
    text: int = 1

    @property
    def key(self) -> DivergenceKey:
        """Which row of the adjudication workbook it stands in."""
        return (self.code, self.dimension, self.kind)

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all is typed."""
        return self.verdict is None and not (self.reason or self.comment or self.adjudicator)


@dataclass(frozen=True)
class Divergence:
    """One row of the adjudication workbook; `values` in roster order, `dimension` is an id."""

    code: str
    dimension: str
    kind: DivergenceKind
    values: Mapping[str, LevelValue]
    range: float | None
    state: DivergenceState
    verdict: Verdict | None = None

    @property
    def key(self) -> DivergenceKey:
        """Which unit, dimension and kind."""
        return (self.code, self.dimension, self.kind)


@dataclass(frozen=True)
class FinalValue:
    """The value of a unit and dimension that results use, and where it comes from.

    `value` is None while unresolved or without ratings. `number` is the value as a number (positions
    for scales of words, counted from 1), None for N/A and on nominal scales.
    """

    value: LevelValue | None
    source: FinalSource
    number: float | None = None


def measure_unit(dimension: Dimension, settings: DivergenceSettings) -> Literal["points", "steps"]:
    """Return whether distances on this dimension are counted in points or in steps (X6)."""
    if not dimension.is_numeric:
        return "steps"
    if settings.unit == "auto":
        return "points" if dimension.has_consecutive_levels else "steps"
    return settings.unit


def _distance(values: Sequence[LevelValue], dimension: Dimension, unit: Literal["points", "steps"]) -> float:
    """Return highest minus lowest, in points of the scale or in steps between its levels."""
    if unit == "points":
        numbers = [value for value in values if not isinstance(value, str)]
        return max(numbers) - min(numbers)
    positions = [dimension.scale.index(value) for value in values]
    return max(positions) - min(positions)


def find_divergences(
    current: CurrentRatings,
    rubric: Rubric,
    settings: DivergenceSettings,
    verdicts: Sequence[Verdict],
    order: Mapping[str, int],
) -> list[Divergence]:
    """Return all divergences, also those whose verdict has lost its ground.

    Args:
        current: the ratings in force.
        rubric: dimensions and scales.
        settings: threshold and unit of distance.
        verdicts: the newest verdict per row.
        order: position of units and raters; rows are sorted by unit, then dimension.
    """
    by_place = _values_by_place(current, order)
    texts = {rating.code: rating.text for rating in current.ratings}
    latest = {verdict.key: verdict for verdict in verdicts if not verdict.is_empty}
    found: list[Divergence] = []
    keys = sorted(
        {*by_place, *((v.code, v.dimension) for v in latest.values())}, key=lambda k: order.get(k[0], 0)
    )
    for code, dimension_id in _in_rubric_order(keys, rubric):
        dimension = rubric.by_id[dimension_id]
        values = by_place.get((code, dimension_id), {})
        for kind, diverges, distance in _kinds(values, dimension, settings):
            verdict = latest.get((code, dimension_id, kind))
            state = _state(diverges, values, texts.get(code), verdict)
            if state is not None:
                found.append(Divergence(code, dimension_id, kind, values, distance, state, verdict))
    return found


def _in_rubric_order(keys: Sequence[tuple[str, str]], rubric: Rubric) -> list[tuple[str, str]]:
    rank = {dimension.id: index for index, dimension in enumerate(rubric.dimensions)}
    codes = list(dict.fromkeys(code for code, _ in keys))
    place = {code: index for index, code in enumerate(codes)}
    known = [key for key in keys if key[1] in rank]
    return sorted(known, key=lambda key: (place[key[0]], rank[key[1]]))


def _values_by_place(
    current: CurrentRatings, order: Mapping[str, int]
) -> dict[tuple[str, str], dict[str, LevelValue]]:
    places: dict[tuple[str, str], dict[str, LevelValue]] = {}
    for rating in sorted(current.ratings, key=lambda r: order.get(r.rater, 0)):
        places.setdefault((rating.code, rating.dimension), {})[rating.rater] = rating.value
    return places


def _kinds(
    values: Mapping[str, LevelValue], dimension: Dimension, settings: DivergenceSettings
) -> list[tuple[DivergenceKind, bool, float | None]]:
    """Return for each kind whether the values diverge, and how far they lie apart."""
    scores = [value for value in values.values() if value != NOT_APPLICABLE and value in dimension.scale]
    mixed = bool(scores) and NOT_APPLICABLE in values.values()
    if dimension.level == "nominal":
        split = bool(scores) and max(map(scores.count, scores)) * 2 <= len(scores)
        return [("score", split and len(scores) >= 2, None), ("applicability", mixed, None)]
    distance = _distance(scores, dimension, measure_unit(dimension, settings)) if len(scores) >= 2 else None
    diverges = distance is not None and distance >= settings.threshold
    return [("score", diverges, distance), ("applicability", mixed, None)]


def _state(
    diverges: bool, values: Mapping[str, LevelValue], text: int | None, verdict: Verdict | None
) -> DivergenceState | None:
    """Return the state of a row, or None where there is nothing to list."""
    if verdict is None or verdict.verdict is None:
        return "open" if diverges else None
    if len(values) < 2:
        return "withdrawn"
    is_same = dict(values) == dict(verdict.basis) and text == verdict.text
    return "settled" if is_same else "changed_since_verdict"


def final_value(
    values: Sequence[LevelValue], dimension: Dimension, divergences: Sequence[Divergence]
) -> FinalValue:
    """Return the value that results use for one unit and dimension.

    In this order: the verdict; unresolved while a divergence is open; the value all gave; the value
    more than half gave; the mean. A divergence is never settled by majority (X12).
    """
    verdict = _verdict_in_force(divergences)
    if verdict is not None:
        return _final(verdict, "verdict", dimension)
    if any(divergence.state == "open" for divergence in divergences):
        return FinalValue(None, "unresolved")
    # A level that has left the rubric since is no value of this dimension any more.
    values = [value for value in values if value == NOT_APPLICABLE or value in dimension.scale]
    if not values:
        return FinalValue(None, "")
    most = max(set(values), key=values.count)
    if values.count(most) == len(values):
        return _final(most, "unanimous", dimension)
    if values.count(most) * 2 > len(values):
        return _final(most, "majority", dimension)
    return _mean(values, dimension)


def _verdict_in_force(divergences: Sequence[Divergence]) -> LevelValue | None:
    """A verdict that the dimension does not apply stands before one on the score."""
    given = {d.kind: d.verdict.verdict for d in divergences if d.verdict is not None}
    if given.get("applicability") == NOT_APPLICABLE:
        return NOT_APPLICABLE
    score = given.get("score")
    return score if score is not None else given.get("applicability")


def _final(value: LevelValue, source: FinalSource, dimension: Dimension) -> FinalValue:
    return FinalValue(value, source, as_number(value, dimension))


def as_number(value: LevelValue, dimension: Dimension) -> float | None:
    """Return a level as a number: its value, or its position from 1 on an ordered scale of words."""
    if value == NOT_APPLICABLE or value not in dimension.scale or dimension.level == "nominal":
        return None
    return float(value) if not isinstance(value, str) else float(dimension.scale.index(value) + 1)


def _mean(values: Sequence[LevelValue], dimension: Dimension) -> FinalValue:
    numbers = [number for value in values if (number := as_number(value, dimension)) is not None]
    mean = fmean(numbers)
    if dimension.is_numeric:
        return FinalValue(mean, "mean", mean)
    words = sorted({str(value) for value in values}, key=dimension.scale.index)
    return FinalValue(" / ".join(words), "mean", mean)
