"""Each form of a rule, severities, hints, and the order of messages in `Check`."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from sheetsync.domain.scoring.columns import scoring_columns
from sheetsync.domain.scoring.conditions import CellKey
from sheetsync.domain.scoring.rules import DONE, ERROR_IN_ROW, check_text, row_checks
from sheetsync.domain.scoring.tab import read_state
from sheetsync.domain.study import Rubric
from sheetsync.domain.workbook import ErrorCell, FormulaCell, RawCell
from tests.builders import make_rubric

Typed = Mapping[str, RawCell]
"""What is typed, by column header."""

FIVE = [{"value": value} for value in (1, 2, 3, 4, 5)]


def rubric(*rules: Mapping[str, object], **overrides: object) -> Rubric:
    return make_rubric(
        rule=[{"id": f"r{number}", **rule} for number, rule in enumerate(rules, 1)], **overrides
    )


def check(rubric: Rubric, typed: Typed, premise: bool = False) -> str:
    columns = {column.header: column for column in scoring_columns(rubric)}
    states = {columns[header].key: read_state(raw, columns[header]) for header, raw in typed.items()}
    return check_text(rubric, states, row_checks(rubric, has_false_premise=premise))


def fired(rule: Mapping[str, object], typed: Typed, premise: bool = False) -> bool:
    return "Fires." in check(rubric({**rule, "message": "Fires."}), typed, premise)


GOOD: Typed = {"Accuracy": 5, "Coverage": 4}


@pytest.mark.parametrize(
    ("when", "typed", "premise", "holds"),
    [
        ({"tag": "evasion"}, {"evasion": "x"}, False, True),
        ({"tag": "evasion"}, {"evasion": True}, False, True),
        ({"tag": "evasion"}, {"evasion": "no"}, False, False),
        ({"tag": "evasion"}, {"evasion": "maybe"}, False, False),
        ({"tag": "evasion"}, {}, False, False),
        ({"tag": "hallucination"}, {"hallucination": "She flew."}, False, True),
        ({"tag": "hallucination"}, {"hallucination": "-"}, False, False),
        ({"tag": "evasion", "false_premise": False}, {"evasion": "x"}, False, True),
        ({"tag": "evasion", "false_premise": False}, {"evasion": "x"}, True, False),
        ({"tag": "evasion", "false_premise": True}, {"evasion": "x"}, True, True),
        ({"dimension": "accuracy", "at_most": 3}, {"Accuracy": 3}, False, True),
        ({"dimension": "accuracy", "at_most": 3}, {"Accuracy": "1.0"}, False, True),
        ({"dimension": "accuracy", "at_most": 3}, {"Accuracy": 4}, False, False),
        ({"dimension": "accuracy", "at_most": 3}, {"Accuracy": 0}, False, False),
        ({"dimension": "accuracy", "at_most": 3}, {"Accuracy": "N/A"}, False, False),
        ({"dimension": "accuracy", "at_most": 3}, {}, False, False),
        ({"dimension": "accuracy", "equals": 4}, {"Accuracy": " 4"}, False, True),
        ({"dimension": "accuracy", "equals": 4}, {"Accuracy": 5}, False, False),
        ({"dimension": "accuracy", "not_applicable": True}, {"Accuracy": "na"}, False, True),
        ({"dimension": "accuracy", "not_applicable": True}, {"Accuracy": 1}, False, False),
        ({"dimension": "accuracy", "not_applicable": True}, {"Accuracy": "none"}, False, False),
    ],
)
def test_when(when: Mapping[str, object], typed: Typed, premise: bool, holds: bool) -> None:
    assert fired({"when": when}, typed, premise) is holds


@pytest.mark.parametrize(
    ("then", "typed", "broken"),
    [
        ({"dimension": "coverage", "equals": 1}, {"Coverage": 1}, False),
        ({"dimension": "coverage", "equals": 1}, {"Coverage": 2}, True),
        ({"dimension": "coverage", "equals": 1}, {}, False),  # missing, not wrong
        ({"dimension": "coverage", "equals": 1}, {"Coverage": "N/A"}, True),
        ({"tag": "evasion"}, {"evasion": "y"}, False),
        ({"tag": "evasion"}, {}, True),
        ({"tag": "hallucination"}, {"hallucination": "quote"}, False),
        ({"no_tag_of": "accuracy"}, {}, False),
        ({"no_tag_of": "accuracy"}, {"imprecision": 1}, True),
        ({"no_tag_of": "accuracy"}, {"hallucination": "quote"}, True),
        ({"no_tag_of": "accuracy"}, {"evasion": "x"}, False),
        ({"any_tag_of": "accuracy"}, {}, True),
        ({"any_tag_of": "accuracy"}, {"imprecision": "no", "hallucination": "0"}, True),
        ({"any_tag_of": "accuracy"}, {"imprecision": "x"}, False),
        ({"any_tag_of": "accuracy"}, {"hallucination": "quote"}, False),
        ({"claim_for_tags_of": "accuracy"}, {}, False),
        ({"claim_for_tags_of": "accuracy"}, {"hallucination": "quote"}, False),
        ({"claim_for_tags_of": "accuracy"}, {"imprecision": "x"}, False),  # takes no claim
        ({"claim_for_tags_of": "accuracy"}, {"hallucination": "x"}, True),
        ({"claim_for_tags_of": "accuracy"}, {"hallucination": True, "Notes": "no marks"}, True),
    ],
)
def test_then(then: Mapping[str, object], typed: Typed, broken: bool) -> None:
    assert fired({"then": then}, typed) is broken
    assert (
        fired({"when": {"tag": "evasion"}, "then": then}, {k: v for k, v in typed.items() if k != "evasion"})
        is False
    )


@pytest.mark.parametrize("notes", ['He wrote "so".', "“So”", "„So“", "«so»"])
def test_a_bare_tick_with_a_quotation_in_the_notes_is_a_hint(notes: str) -> None:
    claims = rubric({"then": {"claim_for_tags_of": "accuracy"}, "message": "Quote it."})
    assert check(claims, {**GOOD, "hallucination": "x"}) == "Quote it."
    assert check(claims, {**GOOD, "hallucination": "x", "Notes": notes}) == (
        f"{DONE} Accuracy: better quote the claim in its own tag's cell than in the remarks."
    )
    assert check(claims, {**GOOD, "hallucination": "A claim.", "Notes": notes}) == DONE


def test_sum_column() -> None:
    total = rubric(
        {"then": {"column": "Total", "sum_of": ["accuracy", "coverage"]}, "message": "Not the sum."}
    )
    cases: list[tuple[Typed, str]] = [
        ({**GOOD, "Total": 9}, DONE),
        ({**GOOD, "Total": FormulaCell("SUM(F2,G2)", 9)}, DONE),
        ({**GOOD, "Total": FormulaCell("SUM(F2,G2)", 9.0)}, DONE),
        ({**GOOD, "Total": 8}, "Not the sum."),
        ({**GOOD, "Total": "9"}, "Not the sum."),
        (GOOD, "Not the sum."),
        ({"Accuracy": "N/A", "Coverage": 4, "Total": ""}, DONE),
        ({"Accuracy": "N/A", "Coverage": 4, "Total": 4}, DONE),
        ({"Coverage": 4, "Total": 4}, "Missing: Accuracy."),
        ({"Accuracy": 9, "Coverage": 4, "Total": 13}, "Accuracy: choose 1, 2, 3, 4, 5 or N/A."),
        ({**GOOD, "Total": ErrorCell("#REF!")}, ERROR_IN_ROW),
    ]
    assert [(typed, check(total, typed)) for typed, _ in cases] == cases


def test_sum_of_fractions_is_compared_as_spreadsheets_do() -> None:
    tenths = [{"value": 0.1}, {"value": 0.2}, {"value": 0.3}]
    both = rubric(
        {"then": {"column": "Total", "sum_of": ["a", "b"]}},
        dimension=[{"id": "a", "name": "A", "levels": tenths}, {"id": "b", "name": "B", "levels": tenths}],
    )
    assert check(both, {"A": 0.1, "B": 0.2, "Total": 0.3}) == DONE


def test_order_of_messages() -> None:
    """What is missing, then cells in the order of columns, then rules, then ✓ only without those, hints last."""
    mixed = rubric(
        {"message": "Hint one.", "severity": "warning", "when": {"tag": "evasion"}},
        {"message": "Error one.", "when": {"tag": "imprecision"}},
        {"message": "Hint two.", "severity": "warning", "then": {"tag": "evasion"}},
        {"when": {"dimension": "coverage", "equals": 1}},
    )
    assert check(mixed, {}) == "Missing: Accuracy, Coverage. Hint two."
    assert check(mixed, {**GOOD, "evasion": "x"}) == f"{DONE} Hint one."
    assert check(mixed, {**GOOD, "imprecision": "x"}) == "Error one. Hint two."
    assert check(mixed, {"Accuracy": 9, "evasion": "perhaps", "imprecision": "x"}) == (
        "Missing: Coverage. evasion: put x to tick it, or leave it empty. "
        "Accuracy: choose 1, 2, 3, 4, 5 or N/A. Error one. Hint two."
    )
    assert check(mixed, {"Accuracy": 5, "Coverage": 1, "evasion": "x"}) == "Rule r4 is not met. Hint one."


@pytest.mark.parametrize(
    "broken",
    [
        {"Accuracy": ErrorCell("#N/A")},
        {"hallucination": ErrorCell("#REF!")},
        {"evasion": FormulaCell("1/0", "#DIV/0!")},
    ],
)
def test_an_error_in_an_input_cell_is_all_that_is_said(broken: Typed) -> None:
    assert check(rubric({"message": "Fires."}), {**GOOD, **broken}) == ERROR_IN_ROW


def test_an_error_in_a_remark_does_not_matter() -> None:
    assert check(rubric(), {**GOOD, "Notes": ErrorCell("#N/A")}) == DONE


def test_confidence_is_asked_for_once_there_is_a_level() -> None:
    sure = rubric(
        dimension=[{"id": "a", "name": "A", "levels": FIVE, "confidence": True, "not_applicable": True}],
        tag=[],
    )
    assert check(sure, {}) == "Missing: A."
    assert check(sure, {"A": 4}) == "Missing: A confidence."
    assert check(sure, {"A": 4, "A confidence": "low"}) == DONE
    assert check(sure, {"A": "N/A"}) == DONE
    assert check(sure, {"A": 9}) == "A: choose 1, 2, 3, 4, 5 or N/A."
    assert check(sure, {"A": 4, "A confidence": "sure"}) == "A confidence: choose Low, Medium or High."


def test_a_message_never_shows_a_tick_or_nothing() -> None:
    odd = rubric({"message": f" {DONE} well ", "when": {"tag": "evasion"}}, {"message": DONE})
    assert check(odd, {**GOOD, "evasion": "x"}) == "well Rule r2 is not met."


@pytest.mark.parametrize(
    ("rule", "at"),
    [
        ({"when": {"tag": "evasion"}, "then": {"dimension": "coverage", "equals": 1}}, ("score", "coverage")),
        ({"when": {"dimension": "accuracy", "equals": 1}, "then": {"tag": "evasion"}}, ("score", "accuracy")),
        ({"when": {"tag": "evasion"}}, ("tag", "evasion")),
        ({"then": {"any_tag_of": "accuracy"}}, ("score", "accuracy")),
        ({"then": {"claim_for_tags_of": "accuracy"}}, ("tag", "hallucination")),
        ({"then": {"column": "T", "sum_of": ["coverage"]}}, ("sum", "T")),
        ({"then": {"tag": "evasion"}}, ("score", "accuracy")),
    ],
)
def test_where_a_broken_rule_points(rule: Mapping[str, object], at: CellKey) -> None:
    found = [
        c for c in row_checks(rubric({**rule, "severity": "warning"}), has_false_premise=False) if c.kind
    ]
    assert {(c.kind, c.severity, c.at) for c in found} == {("rule:r1", "warning", at)}


def test_rules_on_the_other_kind_of_question_are_not_there() -> None:
    premise = rubric({"when": {"tag": "evasion", "false_premise": True}})
    counts = [sum(bool(c.kind) for c in row_checks(premise, has_false_premise=p)) for p in (True, False)]
    assert counts == [1, 0]
