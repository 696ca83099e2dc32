"""Who scores what: balance, connection, codes, orders, additions, calibration, pairs, re-scores."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sheetsync.domain.assignment import (
    Batch,
    CodedUnit,
    assign_units,
    code_units,
    describe_design,
    make_code,
    rescore_batches,
)
from sheetsync.domain.cells import read_number
from sheetsync.domain.study import Study, Unit
from tests.builders import make_study, make_units

THREE = ("ann", "ben", "cy")


def study_of(raters: Sequence[str] = THREE, units: Sequence[Unit] | int = 10, **design: object) -> Study:
    return make_study(raters, units=make_units(units) if isinstance(units, int) else units, design=design)


def issue(
    study: Study, known: Sequence[CodedUnit] = (), issued: Sequence[Batch] = ()
) -> tuple[list[CodedUnit], list[Batch]]:
    """Return all units and batches after one `provision`."""
    units = [*known, *code_units(study, known)]
    return units, [*issued, *assign_units(study, units, issued)]


def names(batches: Sequence[Batch]) -> list[tuple[str, str]]:
    return [(batch.rater, batch.name) for batch in batches]


def codes_of(batches: Sequence[Batch], rater: str) -> list[str]:
    return [code for batch in batches if batch.rater == rater for code in batch.codes]


# --- codes ---


def test_codes_are_no_numbers_dates_or_words_and_name_nothing() -> None:
    units, _ = issue(study_of(units=500))
    codes = [unit.code for unit in units]
    assert len(set(codes)) == len(codes) == 1000
    for code in codes:
        assert re.fullmatch(r"[BCDFGHJKMNPQRSTVWXZ][BCDFGHJKMNPQRSTVWXZ2-9]{5}", code)
        assert read_number(code) is None
        assert not re.fullmatch(r"[A-Z]{1,3}\d+|\d+E\d+", code[:0] or code[1:] if code[1:].isdigit() else "-")


def test_codes_depend_on_seed_and_study_only() -> None:
    study = study_of()
    first, _ = issue(study)
    assert first == issue(study_of(raters=("ann",), raters_per_unit=1))[0]
    assert {u.code for u in first}.isdisjoint(u.code for u in issue(study_of(seed=2))[0])


def test_codes_are_stable_when_the_bank_grows_or_is_reordered() -> None:
    units = make_units(6)
    known, batches = issue(study_of(units=units[:8]))
    again, more = issue(study_of(units=units[::-1]), known, batches)
    assert again[:8] == known
    assert more[: len(batches)] == batches
    assert {batch.name for batch in more[len(batches) :]} == {"add-1"}


def test_a_taken_code_is_never_given_again() -> None:
    study = study_of()
    key = study.units[0].key
    code = make_code(study, "secret", key, ())
    assert make_code(study, "secret", key, [code]) != code


def test_codes_cannot_be_told_without_the_versions_of_the_models() -> None:
    study = study_of()
    other = study_of(units=tuple(replace(unit, version="another") for unit in study.units))
    ours = {unit.code for unit in code_units(study, ())}
    assert not ours & {unit.code for unit in code_units(other, ())}


# --- all raters ---


def test_all_raters_get_everything_each_in_an_order_of_their_own() -> None:
    units, batches = issue(study_of())
    assert names(batches) == [(rater, "main") for rater in THREE]
    assert all(set(batch.codes) == {unit.code for unit in units} for batch in batches)
    assert len({batch.codes for batch in batches}) == 3
    assert batches == issue(study_of())[1]
    assert batches[0].codes != issue(study_of(seed=5))[1][0].codes


def test_bank_order() -> None:
    units, batches = issue(study_of(order="bank"))
    (codes,) = {batch.codes for batch in batches}
    by_code = {unit.code: unit for unit in units}
    assert [by_code[code].question_id for code in codes] == [unit.question_id for unit in units]
    firsts = {by_code[code].model for code in codes[:: len({unit.model for unit in units})]}
    assert len(firsts) > 1  # no model always comes first


def test_a_new_rater_gets_main_and_nobody_else_anything() -> None:
    units, batches = issue(study_of())
    _, more = issue(study_of((*THREE, "dee")), units, batches)
    assert names(more[3:]) == [("dee", "main")]
    assert len(more[3].codes) == len(units)


# --- k raters ---


@given(count=st.integers(2, 6), k=st.integers(1, 6), questions=st.integers(1, 25), seed=st.integers(0, 999))
@settings(max_examples=30, deadline=None)
def test_k_raters_per_unit_balanced_and_connected(count: int, k: int, questions: int, seed: int) -> None:
    raters = [f"r{number}" for number in range(count)]
    study = study_of(raters, questions, raters_per_unit=k, seed=seed)
    units, batches = issue(study)
    for unit in units:
        assert sum(unit.code in batch.codes for batch in batches) == min(k, count)
    design = describe_design(raters, batches)
    assert max(design.load.values()) - min(design.load.values()) <= 1
    if k >= 2 and len(units) >= 3 * count:
        assert design.is_connected
        if k == 2:
            assert max(design.shared.values()) - min(design.shared.values()) <= max(3, len(units) // count)
    # Again, nothing.
    assert code_units(study, units) == []
    assert assign_units(study, units, batches) == []


def test_additions_go_to_add_n() -> None:
    bank = make_units(9)
    units, batches = issue(study_of(units=bank[:12], raters_per_unit=2))
    units, second = issue(study_of(units=bank[:15], raters_per_unit=2), units, batches)
    _, third = issue(study_of(units=bank, raters_per_unit=2), units, second)
    assert {batch.name for batch in second[len(batches) :]} == {"add-1"}
    # Whoever was left out the second time begins with add-1 now.
    assert {batch.name for batch in third[len(second) :]} <= {"add-1", "add-2"}
    for rater in THREE:
        held = codes_of(third, rater)
        assert len(held) == len(set(held))
    assert sum(len(batch.codes) for batch in third) == 36


def test_units_of_a_rater_who_left_are_issued_to_others() -> None:
    units, batches = issue(study_of(raters_per_unit=2))
    left = study_of(("ann", "ben"), raters_per_unit=2)
    _, more = issue(left, units, batches)
    assert {rater for rater, _ in names(more[3:])} <= {"ann", "ben"}
    for rater in ("ann", "ben"):
        assert set(codes_of(more, rater)) == {unit.code for unit in units}
    assert assign_units(left, units, more) == []


def test_a_rater_who_comes_back_keeps_the_old_batch() -> None:
    units, batches = issue(study_of())
    _, without = issue(study_of(("ann", "ben")), units, batches)
    assert without == batches
    assert issue(study_of(), units, without)[1] == batches


def test_units_that_left_the_bank_are_not_issued_again() -> None:
    bank = make_units(5)
    units, batches = issue(study_of(units=bank))
    again, more = issue(study_of((*THREE, "dee"), bank[:6]), units, batches)
    assert again == units
    assert set(codes_of(more, "dee")) == {unit.code for unit in units[:6]}


# --- calibration ---


def test_drawn_practice_units_leave_production() -> None:
    study = study_of(calibration_units=4)
    units, batches = issue(study)
    practice = {unit.code for unit in units if unit.calibration}
    assert len(practice) == 4
    assert names(batches) == [(r, "calibration") for r in THREE] + [(r, "main") for r in THREE]
    for batch in batches:
        assert (set(batch.codes) <= practice) == (batch.kind == "calibration")
        assert set(batch.codes).isdisjoint(practice) == (batch.kind == "production")
    assert describe_design(THREE, batches).load == dict.fromkeys(THREE, 16)
    assert issue(study_of(calibration_units=99))[1][0].kind == "calibration"


def test_practice_is_for_everybody_whatever_k_is_and_drawn_once() -> None:
    bank = make_units(8)
    study = study_of(units=bank[:12], calibration_units=3, raters_per_unit=1)
    units, batches = issue(study)
    assert all(len(b.codes) == 3 for b in batches if b.kind == "calibration")
    again, more = issue(
        study_of((*THREE, "dee"), bank, calibration_units=3, raters_per_unit=1), units, batches
    )
    assert sum(unit.calibration for unit in again) == 3
    assert ("dee", "calibration") in names(more)
    assert not any(batch.kind == "calibration" for batch in more[len(batches) :] if batch.rater != "dee")


def test_marked_practice_units_are_taken_instead_of_drawn_ones() -> None:
    bank = [replace(unit, calibration=number < 2) for number, unit in enumerate(make_units(5))]
    units, _ = issue(study_of(units=bank, calibration_units=5))
    assert [unit.calibration for unit in units] == [True, True] + [False] * 8


# --- pairs ---


@given(st.integers(0, 50), st.sampled_from(["random", "bank"]), st.sampled_from(["all", 1, 2]))
@settings(max_examples=25, deadline=None)
def test_pairs_stay_together_a_before_b(seed: int, order: str, k: int | str) -> None:
    study = study_of(units=12, layout="pairs", seed=seed, order=order, raters_per_unit=k, calibration_units=4)
    units, batches = issue(study)
    by_code = {unit.code: unit for unit in units}
    assert sum(unit.calibration for unit in units) == 4
    for batch in batches:
        rows = [by_code[code] for code in batch.codes]
        for first, second in zip(rows[::2], rows[1::2], strict=True):
            assert (first.side, second.side) == ("A", "B")
            assert first.case == second.case
            assert first.model != second.model


def test_sides_are_drawn_by_lot_and_the_same_for_everybody() -> None:
    units, _ = issue(study_of(units=40, layout="pairs"))
    on_a = sum(unit.side == "A" and unit.model == "Alder" for unit in units)
    assert 8 < on_a < 32
    assert {unit.side for unit in issue(study_of())[0]} == {""}


# --- re-scores ---


def test_rescores() -> None:
    study = study_of()
    units, batches = issue(study)
    wanted = [units[3].code, units[1].code]
    first = rescore_batches(
        study, units, batches, {"cy": wanted, "ann": wanted[:1], "gone": wanted, "ben": []}
    )
    assert names(first) == [("ann", "rescore-1"), ("cy", "rescore-1")]
    assert {batch.kind for batch in first} == {"rescore"}
    assert set(first[1].codes) == set(wanted)
    second = rescore_batches(study, units, [*batches, *first], {"ann": wanted})
    assert names(second) == [("ann", "rescore-2")]
    # A re-score changes nothing about who has what.
    assert assign_units(study, units, [*batches, *first, *second]) == []


# --- the report on a design ---


@pytest.mark.parametrize(
    ("held", "islands"),
    [
        ({"a": "12", "b": "23", "c": "34"}, [("a", "b", "c")]),
        ({"a": "12", "b": "12", "c": "34"}, [("a", "b"), ("c",)]),
        ({"a": "12", "b": "34", "c": "23"}, [("a", "b", "c")]),
        ({"a": "1", "b": ""}, [("a",)]),
        ({}, []),
    ],
)
def test_islands(held: dict[str, str], islands: list[tuple[str, ...]]) -> None:
    batches = [Batch(rater, "main", "production", tuple(codes)) for rater, codes in held.items()]
    batches += [Batch(rater, "calibration", "calibration", ("x",)) for rater in held]
    design = describe_design(list(held), batches)
    assert sorted(design.islands) == islands
    assert design.is_connected == (len(islands) <= 1)


@given(
    st.lists(st.sampled_from(["rater", "questions", "fewer"]), min_size=1, max_size=5),
    st.sampled_from(["all", 2]),
)
@settings(max_examples=25, deadline=None)
def test_whatever_is_added_what_was_issued_never_moves(steps: list[str], k: int | str) -> None:
    raters, questions = ["r0", "r1"], 3
    units: list[CodedUnit] = []
    batches: list[Batch] = []
    for step in steps:
        if step == "rater":
            raters.append(f"r{len(raters)}")
        questions += {"questions": 2, "fewer": -1}.get(step, 0)
        study = study_of(raters, max(1, questions), raters_per_unit=k)
        more_units, more = issue(study, units, batches)
        assert more_units[: len(units)] == units
        assert more[: len(batches)] == batches
        assert len({(b.rater, b.name) for b in more}) == len(more)
        assert assign_units(study, more_units, more) == []
        units, batches = more_units, more
    for rater in raters:
        held = codes_of(batches, rater)
        assert len(held) == len(set(held))
