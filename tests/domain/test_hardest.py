"""Which parts are hardest to score alike: ranks, too few, and what is counted."""

from __future__ import annotations

import numpy as np
import pytest

from sheetsync.domain.agreement.assessment import Options, assess_agreement
from sheetsync.domain.agreement.explanation_records import HardPart
from sheetsync.domain.agreement.reliability import RatedRows, Row
from sheetsync.domain.study import LevelValue, MeasurementLevel

UNITS = tuple(f"u{at:02}" for at in range(36))


def parts_of(
    second: dict[str, int], per_question: int = 12, level: MeasurementLevel = "ordinal"
) -> tuple[HardPart, ...]:
    """The first rater gives 3 everywhere and 5 to the last unit, the second what is named here, else the same."""
    values: dict[Row, LevelValue] = {("a", unit): 5 if unit == UNITS[-1] else 3 for unit in UNITS}
    values |= {("b", unit): second.get(unit, values["a", unit]) for unit in UNITS}
    figures = {unit: "Macrina" if at < 18 else "Olympias" for at, unit in enumerate(UNITS)}
    questions = tuple(f"Q{at // per_question}" for at in range(36))
    data = RatedRows(
        "Coverage",
        level,
        (1, 2, 3, 4, 5),
        ("a", "b"),
        UNITS,
        frozenset(values),
        False,
        values,
        slices={"figure": figures},
        questions=questions,
    ).index()
    return assess_agreement([data], (), Options(resamples=200)).explanations[0].hardest


SECOND = {"u00": 1, "u01": 5, "u14": 4, "u15": 4, "u30": 2}


def test_parts_are_ranked_within_their_kind() -> None:
    found = [(part.by, part.value, part.rank) for part in parts_of(SECOND)]
    assert found == [
        ("figure", "Macrina", 1),
        ("figure", "Olympias", 2),
        ("question", "Q0", 1),
        ("question", "Q1", 2),
        ("question", "Q2", 3),
    ]


def test_mean_differences_are_those_of_the_units() -> None:
    found = {part.value: part for part in parts_of(SECOND)}
    assert found["Macrina"].mean_abs_difference.value == pytest.approx(6 / 18)
    assert found["Olympias"].mean_abs_difference.value == pytest.approx(1 / 18)
    assert found["Q0"].mean_abs_difference.value == pytest.approx(4 / 12)
    assert (found["Q0"].n_pairable, found["Q0"].too_few) == (12, False)
    assert found["Q0"].mean_abs_difference.low is not None


def test_parts_share_the_measure_of_the_whole_dimension() -> None:
    found = parts_of(SECOND)
    by_kind = {kind: [part for part in found if part.by == kind] for kind in ("figure", "question")}
    sums = [sum(part.observed_scaled * part.n_pairable for part in parts) for parts in by_kind.values()]
    assert sums[0] == pytest.approx(sums[1])


def test_too_few_units_are_listed_without_a_rank() -> None:
    questions = [part for part in parts_of(SECOND, per_question=6) if part.by == "question"]
    assert [part.value for part in questions][:2] == ["Q0", "Q2"]
    assert all(part.too_few and part.rank is None for part in questions)
    assert all(
        part.mean_abs_difference.interval_reason == "too_few_units"
        for part in questions
        if part.observed_scaled
    )


def test_only_the_hardest_questions_are_listed() -> None:
    questions = [part for part in parts_of({"u35": 1}, per_question=2) if part.by == "question"]
    assert len(questions) == 10
    assert questions[0].value == "Q17"


def test_categories_are_ranked_by_disagreement() -> None:
    found = parts_of(SECOND, level="nominal")
    macrina = next(part for part in found if part.value == "Macrina")
    assert macrina.mean_abs_difference.reason == "undefined_for_values"
    assert macrina.observed_scaled == pytest.approx(4 / 18)
    assert macrina.rank == 1


def test_order_of_rows_does_not_matter() -> None:
    shuffled = dict(sorted(SECOND.items(), key=lambda _: np.random.default_rng(1).random()))
    assert parts_of(SECOND) == parts_of(shuffled)
