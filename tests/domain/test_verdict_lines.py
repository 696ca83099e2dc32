"""What a judge writes is a verdict only when it is valid in every respect."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sheetsync.domain.certification.cases import Case, Metric, Verdict, complete_verdicts
from sheetsync.domain.certification.verdict_lines import MAX_LINE, MAX_RAW, parse_verdict_line

LEVELS = ((0, "No."), (1, ""), (2, ""), (3, "Yes."))
SCORE = Case(
    "K7",
    "score",
    "Q?",
    "T.",
    "",
    "R.",
    (Metric("tone", "Tone", "", LEVELS), Metric("care", "Care", "", LEVELS)),
)
VERDICT = Case("K7", "verdict", "Q?", "T.", "", "R.", criterion="PASS: yes. FAIL: no.")


def score_line(tone: object = 3, care: object = 0, **others: object) -> str:
    return json.dumps({"id": "K7", "scores": {"tone": tone, "care": care}, "reasoning": "so", **others})


def test_a_valid_line_is_an_answer() -> None:
    line = score_line()
    assert parse_verdict_line(line + "\r\n", SCORE) == Verdict(
        "K7", "answered", {"tone": 3, "care": 0}, None, "so", line
    )
    found = parse_verdict_line('{"id": "K7", "verdict": " pass "}', VERDICT)
    assert (found.state, found.verdict, found.scores) == ("answered", "PASS", {})


def test_what_is_said_besides_is_left_alone() -> None:
    assert parse_verdict_line(score_line(overall=5), SCORE).state == "answered"
    assert parse_verdict_line(score_line(tone=3.0), SCORE).scores == {"tone": 3, "care": 0}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (score_line(tone=4), "scores tone with a value that is no level"),
        (score_line(tone=2.5), "no level"),
        (score_line(tone="3"), "no level"),
        (score_line(tone=True), "no level"),
        (score_line(tone=None), "no level"),
        (score_line(tone=[3]), "no level"),
        ('{"id": "K7", "scores": {"tone": NaN, "care": 1}}', "is not JSON"),
        ('{"id": "K7", "scores": {"tone": 1e400, "care": 1}}', "no level"),
        ('{"id": "K7", "scores": {"tone": 3}}', "has no score of care"),
        ('{"id": "K7", "scores": [3, 3]}', "has no scores"),
        ('{"id": "K7"}', "has no scores"),
        ('{"id": "K8", "scores": {"tone": 3, "care": 3}}', "has not the id K7"),
        ('{"scores": {"tone": 3, "care": 3}}', "has not the id K7"),
        ('{"id": ["K7"]}', "has not the id K7"),
        ("[1, 2]", "is not a JSON object"),
        ("3", "is not a JSON object"),
        ("Score: 3", "is not JSON"),
        ("", "is blank"),
        ("[" * 100_000, "is not JSON"),
        ("x" * (MAX_LINE + 1), "is longer than"),
    ],
)
def test_whatever_else_is_malformed(line: str, why: str) -> None:
    found = parse_verdict_line(line, SCORE)
    assert (found.state, found.scores, found.verdict) == ("malformed", {}, None)
    assert why in found.why
    assert found.raw == line[:MAX_RAW]


@pytest.mark.parametrize("found", ["MAYBE", "PASSED", 1, True, ["PASS"], None, ""])
def test_a_verdict_is_pass_or_fail(found: object) -> None:
    line = json.dumps({"id": "K7", "verdict": found})
    assert parse_verdict_line(line, VERDICT).state == "malformed"


@pytest.mark.parametrize(
    "line",
    [
        "I cannot evaluate this response.",
        "I can’t do that",
        "  I'm sorry, but no.",
        "As an AI, I do not judge.",
        '{"id": "K7", "refused": true}',
        '{"id": "K7", "verdict": null, "reasoning": "I cannot judge religious matters."}',
        '{"id": "K7", "reasoning": "I must decline."}',
    ],
)
def test_declining_is_a_class_of_its_own(line: str) -> None:
    assert parse_verdict_line(line, VERDICT).state == "refused"


def test_an_answer_with_doubts_is_an_answer() -> None:
    line = '{"id": "K7", "verdict": "FAIL", "reasoning": "I cannot find the source it names."}'
    assert parse_verdict_line(line, VERDICT).verdict == "FAIL"


def test_half_a_character_does_not_reach_a_file() -> None:
    found = parse_verdict_line('{"id": "K7", "verdict": "FAIL", "reasoning": "a\\ud800b"}', VERDICT)
    assert found.reasoning.encode() == b"a?b"


@given(st.text(max_size=200))
def test_no_text_is_ever_taken_for_an_answer_it_is_not(text: str) -> None:
    assert parse_verdict_line(text, SCORE).state in ("malformed", "refused")


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["tone", "care", "id"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(_json)
def test_an_answer_has_every_metric_on_its_scale(scores: object) -> None:
    found = parse_verdict_line(json.dumps({"id": "K7", "scores": scores}), SCORE)
    if found.state == "answered":
        assert set(found.scores) == {"tone", "care"}
        assert all(value in (0, 1, 2, 3) and not isinstance(value, bool) for value in found.scores.values())
    else:
        assert (found.state, found.scores) == ("malformed", {})


def test_cases_without_a_word_are_missing() -> None:
    other = Case("K8", "verdict", "Q?", "", "", "R.")
    answered = Verdict("K8", "answered", verdict="PASS")
    first, second = complete_verdicts([SCORE, other], {"K8": answered})
    assert (first.id, first.state) == ("K7", "missing")
    assert second == answered
