"""Which values diverge, what became of them, and the final value in the order of X12."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sheetsync.domain.current import CurrentRatings
from sheetsync.domain.divergence import (
    Divergence,
    DivergenceKind,
    DivergenceState,
    Verdict,
    final_value,
    find_divergences,
    measure_unit,
)
from sheetsync.domain.ratings import Rating
from sheetsync.domain.study import Dimension, DivergenceSettings, Level, LevelValue, Rubric

Unit = Literal["points", "steps", "auto"]
NA = "N/A"


def scale(*levels: LevelValue) -> Dimension:
    return Dimension(id="d", name="D", levels=tuple(Level(value=v) for v in levels), not_applicable=True)


FIVE, GAPS, TWOS, WORDS = scale(1, 2, 3, 4, 5), scale(0, 2, 4, 5), scale(0, 2, 4), scale("low", "mid", "high")
HALVES = scale(0, 0.5, 1, 1.5, 2)


def diverging(
    dimension: Dimension,
    values: Sequence[LevelValue | None],
    verdicts: Sequence[Verdict] = (),
    unit: Unit = "auto",
    threshold: float = 2,
) -> list[Divergence]:
    ratings = tuple(
        Rating(f"r{n}", "main", "production", "u1", "d", value)
        for n, value in enumerate(values, 1)
        if value is not None
    )
    rubric = Rubric(version="1", dimension=(dimension,))  # type: ignore[call-arg]
    settings = DivergenceSettings(threshold=threshold, unit=unit)
    order = {"u1": 0, **{f"r{n}": n for n in range(1, 9)}}
    return find_divergences(CurrentRatings(ratings), rubric, settings, verdicts, order)


@pytest.mark.parametrize(
    ("dimension", "unit", "measured"),
    [
        (FIVE, "auto", "points"),
        (GAPS, "auto", "steps"),
        (TWOS, "auto", "steps"),
        (HALVES, "auto", "steps"),
        (WORDS, "auto", "steps"),
        (WORDS, "points", "steps"),
        (GAPS, "points", "points"),
        (FIVE, "steps", "steps"),
    ],
)
def test_unit_of_distance(dimension: Dimension, unit: Unit, measured: str) -> None:
    assert measure_unit(dimension, DivergenceSettings(unit=unit)) == measured


@pytest.mark.parametrize(
    ("dimension", "values", "unit", "distance"),
    [
        (FIVE, (5, 3), "auto", 2),
        (FIVE, (5, 4), "auto", None),
        (FIVE, (5, 4, 3), "auto", 2),
        (FIVE, (4, 4, 1), "auto", 3),
        (FIVE, (5,), "auto", None),
        (FIVE, (5, None), "auto", None),
        (GAPS, (2, 4), "auto", None),
        (GAPS, (2, 4), "points", 2),
        (GAPS, (2, 5), "auto", 2),
        (GAPS, (4, 5), "points", None),
        (GAPS, (0, 5), "auto", 3),
        (HALVES, (0, 1), "auto", 2),
        (HALVES, (0, 1), "points", None),
        (WORDS, ("low", "high"), "auto", 2),
        (WORDS, ("low", "mid"), "points", None),
        (FIVE, (5, 3, NA), "auto", 2),
    ],
)
def test_score_divergences(
    dimension: Dimension, values: tuple[LevelValue | None, ...], unit: Unit, distance: float | None
) -> None:
    found = [d for d in diverging(dimension, values, unit=unit) if d.kind == "score"]
    assert [(d.range, d.state) for d in found] == ([(distance, "open")] if distance else [])


@pytest.mark.parametrize(
    ("values", "mixed"),
    [
        ((5, NA), True),
        ((5, 3, NA), True),
        ((NA, NA), False),
        ((NA,), False),
        ((5, 5), False),
        ((NA, None), False),
    ],
)
def test_applicability_is_apart_and_has_no_range(values: tuple[LevelValue | None, ...], mixed: bool) -> None:
    found = [d for d in diverging(FIVE, values) if d.kind == "applicability"]
    assert [(d.range, d.state) for d in found] == ([(None, "open")] if mixed else [])


def test_a_threshold_of_a_half_point() -> None:
    assert [d.range for d in diverging(HALVES, (0, 0.5), unit="points", threshold=0.5)] == [0.5]


def verdict(
    value: LevelValue | None,
    basis: Mapping[str, LevelValue],
    kind: DivergenceKind = "score",
    reason: str = "",
) -> Verdict:
    return Verdict("u1", "d", kind, value, reason, basis=basis)


@pytest.mark.parametrize(
    ("now", "given", "state"),
    [
        ((5, 3), verdict(4, {"r1": 5, "r2": 3}), "settled"),
        ((5, 2), verdict(4, {"r1": 5, "r2": 3}), "changed_since_verdict"),
        ((5, 4), verdict(4, {"r1": 5, "r2": 3}), "changed_since_verdict"),
        ((5, 5), verdict(4, {"r1": 5, "r2": 3}), "changed_since_verdict"),
        ((5, 3, 4), verdict(4, {"r1": 5, "r2": 3}), "changed_since_verdict"),
        ((5, None), verdict(4, {"r1": 5, "r2": 3}), "withdrawn"),
        ((None, None), verdict(4, {"r1": 5, "r2": 3}), "withdrawn"),
        ((5, 3), verdict(None, {"r1": 5, "r2": 3}, reason="rater slip"), "open"),
        ((5, 4), verdict(None, {"r1": 5, "r2": 3}, reason="rater slip"), None),
        ((5, 4), None, None),
        ((5, NA), verdict(NA, {"r1": 5, "r2": NA}, "applicability"), "settled"),
        ((NA, NA), verdict(NA, {"r1": 5, "r2": NA}, "applicability"), "changed_since_verdict"),
    ],
)
def test_states(
    now: tuple[LevelValue | None, ...], given: Verdict | None, state: DivergenceState | None
) -> None:
    found = diverging(FIVE, now, [given] if given else [])
    assert [d.state for d in found] == ([state] if state else [])
    if found and given and given.verdict is not None:
        assert found[0].verdict == given


def test_a_verdict_on_a_dimension_that_left_the_rubric_is_not_listed() -> None:
    assert diverging(FIVE, (5, 5), [Verdict("u1", "gone", "score", 4)]) == []


def test_rows_in_order_of_units_and_dimensions_values_in_order_of_the_roster() -> None:
    rubric = Rubric(version="1", dimension=(FIVE, FIVE.model_copy(update={"id": "e"})))  # type: ignore[call-arg]
    ratings = tuple(
        Rating(rater, "main", "production", code, dimension, value)
        for code in ("u1", "u2")
        for dimension in ("e", "d")
        for rater, value in (("ben", 5), ("ann", 1))
    )
    order = {"u2": 0, "u1": 1, "ann": 0, "ben": 1}
    found = find_divergences(CurrentRatings(ratings), rubric, DivergenceSettings(), [], order)
    assert [(d.code, d.dimension) for d in found] == [("u2", "d"), ("u2", "e"), ("u1", "d"), ("u1", "e")]
    assert all(list(d.values) == ["ann", "ben"] for d in found)


@pytest.mark.parametrize(
    ("dimension", "values", "verdicts", "final", "source", "number"),
    [
        (FIVE, (5, 3), [verdict(4, {"r1": 5, "r2": 3})], 4, "verdict", 4),
        (FIVE, (5, 2), [verdict(4, {"r1": 5, "r2": 3})], 4, "verdict", 4),
        (FIVE, (5, 3), [], None, "unresolved", None),
        (FIVE, (4, 4, 1), [], None, "unresolved", None),
        (FIVE, (4, 4, 1), [verdict(1, {"r1": 4, "r2": 4, "r3": 1})], 1, "verdict", 1),
        (FIVE, (4, 4), [], 4, "unanimous", 4),
        (FIVE, (4,), [], 4, "unanimous", 4),
        (FIVE, (4, 4, 5), [], 4, "majority", 4),
        (FIVE, (4, 5), [], 4.5, "mean", 4.5),
        (FIVE, (4, 4, 5, 5), [], 4.5, "mean", 4.5),
        (FIVE, (), [], None, "", None),
        (FIVE, (NA, NA), [], NA, "unanimous", None),
        (FIVE, (NA, 4), [], None, "unresolved", None),
        (FIVE, (NA, 4), [verdict(NA, {"r1": NA, "r2": 4}, "applicability")], NA, "verdict", None),
        (FIVE, (NA, 4), [verdict(3, {"r1": NA, "r2": 4}, "applicability")], 3, "verdict", 3),
        (GAPS, (2, 4), [], 3, "mean", 3),
        (WORDS, ("low", "mid"), [], "low / mid", "mean", 1.5),
        (WORDS, ("mid", "mid"), [], "mid", "unanimous", 2),
    ],
)
def test_final_values(
    dimension: Dimension,
    values: tuple[LevelValue, ...],
    verdicts: list[Verdict],
    final: LevelValue | None,
    source: str,
    number: float | None,
) -> None:
    found = final_value(values, dimension, diverging(dimension, values, verdicts))
    assert (found.value, found.source, found.number) == (final, source, number)


def test_while_one_kind_is_open_a_verdict_on_the_other_does_not_end_it() -> None:
    """5, 2 and N/A: that the dimension applies is settled, the score is not."""
    values: tuple[LevelValue, ...] = (5, 2, NA)
    basis: Mapping[str, LevelValue] = {"r1": 5, "r2": 2, "r3": NA}
    both = [verdict(3, basis), verdict(NA, basis, "applicability")]
    assert final_value(values, FIVE, diverging(FIVE, values, both)).value == NA
    assert final_value(values, FIVE, diverging(FIVE, values, both[:1])).value == 3


@pytest.mark.parametrize(
    ("values", "value", "source"),
    [
        (("letter", "dialogue"), None, "unresolved"),
        (("letter", "dialogue", "life"), None, "unresolved"),
        (("letter", "letter", "life"), "letter", "majority"),
        (("life", "life"), "life", "unanimous"),
    ],
)
def test_a_nominal_scale_knows_no_distance_and_no_mean(
    values: tuple[str, ...], value: str | None, source: str
) -> None:
    kinds = scale("letter", "dialogue", "life").model_copy(update={"level": "nominal"})
    found = final_value(values, kinds, diverging(kinds, values))
    assert (found.value, found.source, found.number) == (value, source, None)
    assert [(d.kind, d.range) for d in diverging(kinds, values)] == (
        [("score", None)] if source == "unresolved" else []
    )


@pytest.mark.parametrize(
    ("values", "final", "source"),
    [((7, 8), None, ""), ((7, NA), NA, "unanimous"), ((7, 4), 4, "unanimous"), ((7, 7, 4, 5), 4.5, "mean")],
)
def test_levels_that_left_the_rubric(
    values: tuple[LevelValue, ...], final: LevelValue | None, source: str
) -> None:
    found = final_value(values, FIVE, diverging(FIVE, values))
    assert (found.value, found.source) == (final, source)


@given(st.lists(st.sampled_from([1, 2, 3, 4, 5, NA]), max_size=6))
def test_never_a_value_from_an_open_divergence(values: list[LevelValue]) -> None:
    divergences = diverging(FIVE, values)
    final = final_value(values, FIVE, divergences)
    assert (final.source == "unresolved") == bool(divergences)
    numbers = [v for v in values if not isinstance(v, str)]
    if final.number is not None:
        assert min(numbers) <= final.number <= max(numbers)
        assert max(numbers) - min(numbers) < 2
