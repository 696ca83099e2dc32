"""Sides of cases: the same for all raters or drawn for each, and never moved once they were issued."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sheetsync.domain.assignment import Batch, CodedUnit, assign_units, code_units, rescore_batches, sides_of
from sheetsync.domain.sides import case_names, draw_sides, issued_sides
from sheetsync.domain.study import Study
from tests.builders import make_study, make_units

RATERS = ("ann", "ben", "cy")


def pairs(sides: str = "rater", seed: int = 1, cases: int = 30) -> Study:
    return make_study(
        RATERS, units=make_units(cases), design={"layout": "pairs", "sides": sides, "seed": seed}
    )


def issued(study: Study) -> tuple[list[CodedUnit], list[Batch]]:
    units = code_units(study, [])
    return units, assign_units(study, units, [])


def test_every_rater_has_sides_of_their_own_and_a_stands_before_b() -> None:
    study = pairs()
    units, batches = issued(study)
    models = {unit.code: unit.model for unit in units}
    seen = {}
    for batch in batches:
        sides = sides_of(study, batch.rater, units, batches)
        assert [sides[code] for code in batch.codes] == ["A", "B"] * 30
        seen[batch.rater] = {code for code in batch.codes if sides[code] == "A"}
        assert 5 < sum(models[code] == "Alder" for code in seen[batch.rater]) < 25
    assert len({frozenset(codes) for codes in seen.values()}) == 3


def test_without_it_all_raters_see_the_same() -> None:
    study = pairs("case")
    units, batches = issued(study)
    seen = [sides_of(study, rater, units, batches) for rater in RATERS]
    assert seen[0] == seen[1] == seen[2] == {unit.code: unit.side for unit in units}


@pytest.mark.parametrize("change", [{"sides": "case"}, {"seed": 99}, {"sides": "case", "seed": 99}])
def test_what_was_issued_stays_whatever_becomes_of_the_settings(change: dict[str, object]) -> None:
    study = pairs()
    units, batches = issued(study)
    settings = study.settings.model_copy(update={"design": study.settings.design.model_copy(update=change)})
    later = replace(study, settings=settings)
    for rater in RATERS:
        before = sides_of(study, rater, units, batches)
        assert sides_of(later, rater, units, batches) == before
        codes = [code for batch in batches if batch.rater == rater for code in batch.codes]
        (again,) = rescore_batches(later, units, batches, {rater: codes})
        assert [before[code] for code in again.codes] == ["A", "B"] * 30


def test_the_first_workbook_with_both_rows_decides() -> None:
    cases = {"X1": ("Q", ""), "X2": ("Q", ""), "Y1": ("R", "")}
    assert issued_sides(cases, [["X1"], ["X2", "Y1", "X1"], ["X1", "X2"]]) == {"X2": "A", "X1": "B"}
    assert issued_sides(cases, [["Y1", "X1"]]) == {}


def test_lots_repeat() -> None:
    assert draw_sides(["b", "a"], 1, "x") == draw_sides(["a", "b"], 1, "x")
    drawn = [draw_sides(["a", "b"], seed)["a"] for seed in range(200)]
    assert 70 < drawn.count("A") < 130


def test_case_names_say_where_in_the_bank_and_nothing_else() -> None:
    units = code_units(pairs(cases=3), [])
    marked = [replace(unit, calibration=unit.question_id == "Q2") for unit in units]
    names = case_names((unit.case, unit.calibration) for unit in marked)
    assert list(names.values()) == ["001", "P01", "002"]
