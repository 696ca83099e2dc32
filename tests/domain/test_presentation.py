"""The order of a certification: its distances are guaranteed, and no line says what it must not."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sheetsync.domain.certification.cases import KeyEntry, Presentation
from sheetsync.domain.certification.presentation import FIRM_CRITERION, present
from sheetsync.domain.certification.presentation_order import Look, draw_order, greatest_gap, smallest_gap
from sheetsync.domain.study import Study
from sheetsync.errors import StudyError
from tests.certification_study import CASES, FILES, METRICS, MODELS, STUDY, TOPICS, study_in


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return study_in(tmp_path_factory.mktemp("study"))


def with_gap(study: Study, gap: int) -> Study:
    assert study.settings.certification is not None
    certification = study.settings.certification.model_copy(update={"minimum_gap": gap})
    return replace(study, settings=study.settings.model_copy(update={"certification": certification}))


def order_of(presentation: Presentation, look: int) -> list[str]:
    return [
        entry.source
        for entry in presentation.key
        if entry.part == "consistency" and entry.presentation == look
    ]


def look(part: str, source: str, presentation: int = 1, twin: str = "") -> Look:
    assert part in ("consistency", "anchors", "discrimination")
    return Look(part, source, source, "R.", KeyEntry("", part, source, presentation), twin)  # type: ignore[arg-type]


def looks(responses: int, pairs: int, others: int) -> tuple[list[tuple[Look, Look]], list[Look]]:
    repeats = [
        (look("consistency", f"u{n}", 1, f"u{n}"), look("consistency", f"u{n}", 2, f"u{n}"))
        for n in range(responses)
    ]
    repeats += [
        (look("discrimination", f"p{n}", 1, f"p{n}"), look("discrimination", f"p{n}", 1, f"p{n}"))
        for n in range(pairs)
    ]
    return repeats, [look("anchors", f"a{n}") for n in range(others)]


# --- distance ---


@given(
    st.integers(1, 25), st.integers(0, 8), st.integers(0, 20), st.integers(0, 2**32), st.floats(0, 1)
)  # fmt: skip
@settings(max_examples=30, deadline=None)
def test_every_gap_up_to_the_greatest_holds(
    responses: int, pairs: int, others: int, seed: int, share: float
) -> None:
    repeats, between = looks(responses, pairs, others)
    gap = round(share * greatest_gap(responses, pairs, others))
    first, second = draw_order(repeats, between, gap, random.Random(seed))
    shown = [*first, *second]
    assert (smallest_gap(shown) or 0) >= gap
    assert Counter(map(id, shown)) == Counter(
        map(id, [*between, *(each for pair in repeats for each in pair)])
    )
    assert {each.entry.presentation for each in first} == {1}
    assert all(each.entry.presentation == 2 for each in second if each.part == "consistency")
    orders = [[each.source for each in half if each.part == "consistency"] for half in (first, second)]
    assert len(orders[0]) == len(orders[1]) == responses
    assert responses == 1 or orders[0] != orders[1]


def test_no_gap_beyond_the_greatest_exists() -> None:
    """Tried out: of all orders of three responses, none keeps 2 cases between with two different orders."""
    widest = []
    for second in permutations(range(3)):
        for first in permutations(range(3)):
            gap = min(3 + second.index(n) - first.index(n) - 1 for n in range(3))
            widest += [gap] if first != second else []
    assert max(widest) == greatest_gap(3, 0, 0) == 1


def test_a_study_too_small_is_told_the_greatest_gap(study: Study) -> None:
    with pytest.raises(
        StudyError, match="found 24, but with 12 responses, 2 pairs, 3 anchors and 8 gate cases at most 23"
    ):
        present(with_gap(study, 24), 1)
    widest = present(with_gap(study, 23), 1)
    assert widest.gap == 23
    assert order_of(widest, 1) != order_of(widest, 2)


def test_the_two_orders_are_not_alike(study: Study) -> None:
    """Over many runs a response is as likely to go up as down between the two orders."""
    shown = [present(study, number) for number in range(1, 41)]
    kept = 0
    for presentation in shown:
        first, second = order_of(presentation, 1), order_of(presentation, 2)
        assert sorted(first) == sorted(second)
        pairs = [(a, b) for n, a in enumerate(first) for b in first[n + 1 :]]
        kept += sum(second.index(a) < second.index(b) for a, b in pairs)
    assert 0.4 < kept / (40 * 66) < 0.75


def test_anchors_of_one_question_stand_apart_where_there_is_room() -> None:
    between = [look("anchors", f"q{n % 6}") for n in range(24)]
    for seed in range(20):
        first, second = draw_order(looks(6, 0, 0)[0], between, 3, random.Random(seed))
        questions = [each.question_id for each in [*first, *second] if each.part == "anchors"]
        assert all(a != b for a, b in pairwise(questions))


# --- what is in it ---


def test_each_part_has_its_cases_and_key(study: Study) -> None:
    presentation = present(study, 1)
    assert len(presentation.cases) == CASES
    assert Counter(entry.part for entry in presentation.key) == {
        "consistency": 24, "gates": 8, "discrimination": 4, "anchors": 3,
    }  # fmt: skip
    assert [case.id for case in presentation.cases] == [entry.id for entry in presentation.key]
    for case, entry in zip(presentation.cases, presentation.key, strict=True):
        assert case.ground_truth.endswith("is food.")
        if entry.part in ("consistency", "anchors"):
            assert (case.task, case.criterion, case.context) == ("score", "", "")
            assert [metric.id for metric in case.metrics] == list(METRICS)
        elif entry.part == "discrimination":
            assert (case.criterion, case.context) == (FIRM_CRITERION, f"Admit it, {entry.question_id}.")
            assert (entry.expected_verdict == "PASS") == ("holds" in case.response)
        else:
            assert "FAIL: No. PASS: Yes." in case.criterion
            assert (entry.expected_verdict == "PASS") == ("kept" in case.response)
            assert entry.topic == {"Q1": "Bread", "Q2": "Wine"}[entry.question_id]


def test_it_is_repeatable_and_every_run_has_its_own_order_and_ids(study: Study) -> None:
    first, second = present(study, 1), present(study, 2)
    assert present(study, 1) == first
    assert order_of(first, 1) != order_of(second, 1)
    assert not {case.id for case in first.cases} & {case.id for case in second.cases}
    assert (first.seed, second.seed) == (1, 2)


def test_texts_and_back(study: Study) -> None:
    presentation = present(study, 1)
    assert Presentation.from_texts(presentation.lines(), presentation.key_json()) == presentation


# --- what must not be in it ---


def test_no_line_says_what_a_judge_must_not_know(study: Study) -> None:
    presentation = present(study, 1, taken=["BCDFGH"])
    words = [
        *MODELS,
        "alder-2026",
        "holds_firm",
        'caves"',
        "consistency",
        "anchors",
        "discrimination",
        "expected",
        "gates",
    ]
    assert not [word for word in words if word in presentation.lines()]
    for line in presentation.lines().splitlines():
        shown = json.loads(line)
        rest = {"metrics"} if shown["task"] == "score" else {"criterion"}
        assert set(shown) == {"id", "task", "question", "ground_truth", "context", "response"} | rest


def test_anchors_look_like_responses_and_pairs_like_each_other(study: Study) -> None:
    presentation = present(study, 1)
    forms: dict[str, set[Sequence[str]]] = {}
    for case, entry in zip(presentation.cases, presentation.key, strict=True):
        form = (*case.to_dict(), case.criterion, str(bool(case.context)))
        forms.setdefault(entry.part, set()).add(form)
    assert forms["anchors"] == forms["consistency"]
    assert len(forms["discrimination"]) == 1


def test_ids_are_those_of_no_unit_and_of_no_other_case(study: Study) -> None:
    presentation = present(study, 1)
    ids = [case.id for case in presentation.cases]
    assert len(set(ids)) == len(ids)
    again = present(study, 1, taken=ids[:5])
    assert not set(ids[:5]) & {case.id for case in again.cases}


def test_a_study_that_certifies_nobody_says_so(tmp_path: Path) -> None:
    bare = study_in(tmp_path, {"study.toml": STUDY.split("[certification]")[0]})
    with pytest.raises(StudyError, match="certifies no judge"):
        present(bare, 1)


def test_a_question_about_a_figure_is_shown_with_its_name(tmp_path: Path) -> None:
    asked = FILES["questions.csv"].replace("question_id,", "question_id,figure,")
    asked = re.sub(r"^(Q\d),", r"\1,Ada,", asked, flags=re.MULTILINE).replace(
        "What is", "What does {figure} say of"
    )
    presentation = present(study_in(tmp_path, {"questions.csv": asked}), 1)
    assert {case.question for case in presentation.cases} == {
        f"What does Ada say of {topic}?" for topic in TOPICS
    }
    assert {entry.figure for entry in presentation.key if entry.part == "consistency"} == {"Ada"}
