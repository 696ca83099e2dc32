from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sheetsync.domain.certification.assessment import CONTRADICTORY_TEST, Outcome
from tests.certifying import PUBLISHED, Look, Run, looks_of

FAITHFUL: list[Look] = [(0, 0), (1, 1), (2, 2), (3, 3)] * 12
FIRM = ("PASS", "FAIL")


def good_run() -> Run:
    """A judge that gets everything right."""
    right = [({"care": level, "depth": level}, level) for level in (0, 1, 2, 3)] * 10
    gates = [("FAIL", "FAIL"), ("PASS", "PASS")] * 20
    run = Run().looked(FAITHFUL, FAITHFUL).known(*right).pressed(*[FIRM] * 20)
    return run.gated("care", *gates).gated("depth", *gates)


def fixes_of(outcome: Outcome, part: str) -> list[str]:
    return [f"{fix.severity}: {fix.what} {fix.fix}" for fix in outcome.fixes if fix.part == part]


def test_a_judge_that_gets_everything_right_is_cleared() -> None:
    outcome = good_run().outcome()
    assert outcome.cleared
    assert set(outcome.statuses.values()) == {"PASS"}
    assert (outcome.failed, outcome.fixes, outcome.disclosures) == ((), (), ())
    json.dumps(outcome.to_dict(), allow_nan=False)


# --- part 1 ---


def test_the_published_table() -> None:
    looks = [looks_of(counts) for _, counts in PUBLISHED.values()]
    part = Run(metrics=list(PUBLISHED)).looked(*looks).outcome().consistency
    for found, (kappa, _) in zip(part.metrics, PUBLISHED.values(), strict=True):
        assert round(found.kappa.value or 0, 2) == kappa
        assert found.n == 50
        assert found.status == ("FAIL" if kappa == 0.35 else "PASS")
    assert part.status == "FAIL"
    assert [each.name for each in part.below] == ["Pastoral Appropriateness"]


def test_a_kappa_of_73_on_50_responses_passes_and_is_fragile() -> None:
    """X28: roughly 0.57 to 0.89."""
    looks = looks_of(PUBLISHED["Completeness"][1])
    run = Run(["Care"]).looked(looks)
    found = run.outcome(resamples=2000).consistency.metrics[0]
    assert found.status == "PASS"
    assert found.fragile
    assert found.kappa.low == pytest.approx(0.57, abs=0.025)
    assert found.kappa.high == pytest.approx(0.87, abs=0.025)
    assert run.outcome(resamples=2000, strict=True).consistency.status == "FAIL"


def test_kappa_by_hand() -> None:
    """Two levels, 20 looks: 8 + 8 agree, 4 differ; chance is one half, so kappa is (0.8 - 0.5) / 0.5."""
    looks: list[Look] = [*[(0, 0)] * 8, *[(3, 3)] * 8, *[(0, 3)] * 2, *[(3, 0)] * 2]
    found = Run(["Care"]).looked(looks).outcome().consistency.metrics[0]
    assert found.kappa.value == pytest.approx(0.6)
    assert found.exact.value == 0.8
    assert found.kappa_quadratic.value == pytest.approx(0.6)


def test_one_value_only_is_undefined_and_no_pass() -> None:
    """X27."""
    constant: list[Look] = [(3, 3)] * 50
    outcome = Run(["Care"]).looked(constant).outcome()
    found = outcome.consistency.metrics[0]
    assert (found.kappa.value, found.kappa.reason) == (None, "no_variation")
    assert (found.exact.value, found.ac1.value) == (1.0, 1.0)
    assert (found.status, found.fragile) == ("FAIL", True)
    assert (
        "undefined: no variation, which is not a pass. Looks agree on 100.0%, AC1 1.00."
        in fixes_of(outcome, "consistency")[0]
    )


def test_declining_the_same_response_twice_is_no_agreement() -> None:
    half: list[Look] = [(0, 0), (3, 3)] * 10 + [(None, None)] * 20
    found = Run(["Care"]).looked(half).outcome().consistency.metrics[0]
    assert (found.n, found.n_answered, found.exact.value) == (40, 20, 0.5)
    # Observed 20/40; chance 2 x (10/40)^2.
    assert found.kappa.value == pytest.approx((0.5 - 0.125) / (1 - 0.125))
    assert found.kappa_quadratic.value == 1.0
    assert found.status == "FAIL"


@pytest.mark.parametrize(("n", "fragile"), [(8, True), (200, False)])
def test_a_flawless_metric_is_fragile_on_few_responses(n: int, fragile: bool) -> None:
    looks: list[Look] = [(0, 0), (3, 3)] * (n // 2)
    found = Run(["Care"]).looked(looks).outcome(resamples=100).consistency.metrics[0]
    assert found.kappa.value == 1.0
    assert found.fragile is fragile
    assert found.kappa.method == "wilson"
    # Chance is one half: kappa's limit is twice Wilson's limit of exact agreement, minus 1.
    assert found.kappa.low == pytest.approx(2 * n / (n + 1.959964**2) - 1, abs=1e-6)


def test_no_response_is_no_pass() -> None:
    outcome = Run().outcome()
    assert set(outcome.statuses.values()) == {"FAIL"}
    assert [fix.what for fix in outcome.fixes] == ["There is no case to judge."] * 4


# --- part 2 ---


def test_known_scores_and_the_confused_boundary() -> None:
    anchors: list[Any] = [({"care": level}, level) for level in (0, 1, 2, 3)] * 9
    anchors += [({"care": 3}, 2)] * 3 + [({"care": 2}, 3)] + [({"care": 0}, 3)]
    outcome = Run(["Care"]).known(*anchors).outcome()
    part = outcome.anchors
    assert (part.figures.accuracy.count, part.figures.accuracy.n) == (36, 41)
    assert part.status == "FAIL"
    assert part.boundary
    assert (part.boundary.between, part.boundary.n_confused, part.boundary.n_across) == ((2, 3), 4, 5)
    assert part.boundary.n_too_low == 3
    advice = fixes_of(outcome, "anchors")
    assert len(advice) == 1
    assert "36 of 41 right (87.8%), below 90%" in advice[0]
    assert "Sharpen the sentence “All of it.” against “Most of it.”" in advice[0]
    recall = {each.answer: (each.recall.count, each.recall.n) for each in part.metrics[0].figures.classes}
    assert recall == {0: (9, 10), 1: (9, 9), 2: (9, 10), 3: (9, 12)}


def test_overall_decides_and_the_worst_metric_is_named() -> None:
    """X29."""
    right: list[Any] = [({"care": level}, level) for level in (0, 1, 2, 3)] * 10
    wrong: list[Any] = [({"depth": 1}, 2), ({"depth": 2}, 2), ({"depth": 3}, 3)]
    outcome = Run().known(*right, *wrong).outcome()
    assert outcome.anchors.status == "PASS"
    assert outcome.anchors.worst == "depth"
    assert fixes_of(outcome, "anchors")[0].startswith("advice: Depth alone is at 66.7%, below 90%.")


def test_the_two_published_accuracies() -> None:
    """79.9 % before the rubric was revised, 98.3 % after: 143 and 176 of 179 known scores."""

    def anchors(right: int) -> list[Any]:
        kept = [({"care": (0, 1, 2, 3)[at % 4]}, (0, 1, 2, 3)[at % 4]) for at in range(right)]
        return kept + [({"care": 3}, 2)] * (179 - right)

    before, after = (Run(["Care"]).known(*anchors(right)).outcome().anchors for right in (143, 176))
    assert [round(each.figures.accuracy.value or 0, 3) for each in (before, after)] == [0.799, 0.983]
    assert [each.status for each in (before, after)] == ["FAIL", "PASS"]
    assert not after.fragile


# --- parts 3 and 4 ---


def test_firm_and_giving_way_by_hand() -> None:
    """X30: 27 of 30 responses; Wilson's lower limit is 0.74."""
    pairs = [FIRM] * 12 + [("PASS", "PASS")] * 3
    part = Run().pressed(*pairs).outcome().discrimination
    assert (part.figures.accuracy.value, part.status, part.fragile) == (0.9, "PASS", True)
    assert part.figures.accuracy.low == pytest.approx(0.7438, abs=1e-4)
    assert (part.pairs_right.count, part.pairs_right.n) == (12, 15)
    recall = {each.answer: (each.recall.count, each.recall.n) for each in part.figures.classes}
    assert recall == {"PASS": (15, 15), "FAIL": (12, 15)}
    precision = {each.answer: (each.precision.count, each.precision.n) for each in part.figures.classes}
    assert precision == {"PASS": (15, 18), "FAIL": (12, 12)}
    assert Run().pressed(*pairs).outcome(strict=True).discrimination.status == "FAIL"


def test_cases_without_an_answer_are_not_correct_and_counted_apart() -> None:
    pairs = [FIRM] * 8 + [("PASS", "missing"), ("nonsense", "FAIL")]
    outcome = Run().pressed(*pairs).outcome()
    part = outcome.discrimination
    assert (part.figures.accuracy.count, part.figures.accuracy.n, part.figures.n_unanswered) == (18, 20, 2)
    assert (part.answers.missing, part.answers.malformed, part.answers.answered) == (1, 1, 18)
    assert "2 of 20 cases have no answer (1 malformed, 1 missing)" in fixes_of(outcome, "discrimination")[0]
    assert [(each.source, each.given, each.states) for each in outcome.failed] == [
        ("AP-8", (None,), ("missing",)),
        ("AP-9", (None,), ("malformed",)),
    ]


def test_every_gate_has_to_reach_the_bar() -> None:
    good = [("FAIL", "FAIL"), ("PASS", "PASS")] * 20
    weak = [("FAIL", "FAIL")] * 10 + [("FAIL", "PASS")] * 6 + [("PASS", "PASS")] * 15 + [("PASS", "FAIL")]
    outcome = Run().gated("care", *good).gated("depth", *weak).outcome()
    care, depth = outcome.gates.gates
    assert (care.status, depth.status, outcome.gates.status) == ("PASS", "FAIL", "FAIL")
    assert (depth.precision.count, depth.precision.n) == (10, 11)
    assert (depth.recall.count, depth.recall.n) == (10, 16)
    assert (outcome.gates.figures.accuracy.count, outcome.gates.figures.accuracy.n) == (65, 72)
    assert (
        "It fired on 10 of 16 cases that must trigger it, and let 15 of 16 pass"
        in fixes_of(outcome, "gates")[0]
    )


def test_the_65_per_cent_story() -> None:
    """S2.14: every clean case is failed for its question. The verdict stands; the first step is the test itself."""
    mismatched = [("FAIL", "FAIL")] * 10 + [("PASS", "PASS")] * 3 + [("PASS", "FAIL")] * 7
    outcome = Run().gated("care", *mismatched).outcome()
    gate = outcome.gates.gates[0]
    assert gate.figures.accuracy.value == 0.65
    assert gate.status == "FAIL"
    assert CONTRADICTORY_TEST in fixes_of(outcome, "gates")[0]
    matched = Run().gated("care", *[("FAIL", "FAIL")] * 10, *[("PASS", "PASS")] * 10).outcome()
    assert (matched.gates.gates[0].figures.accuracy.value, matched.gates.status) == (1.0, "PASS")


def test_every_failed_case_has_its_reasoning() -> None:
    run = (
        Run(["Care"])
        .looked([(0, 0), (3, 2), (1, None)])
        .known(({"care": 3}, 1))
        .gated("care", ("FAIL", "PASS"))
    )
    failed = run.outcome().failed
    assert [(each.part, each.expected, each.given) for each in failed] == [
        ("anchors", 3, (1,)),
        ("gates", "FAIL", ("PASS",)),
        ("consistency", None, (3, 2)),
        ("consistency", None, (1, None)),
    ]
    assert failed[2].reasoning == ("Because of C2.", "Because of C3.")
    assert failed[3].reasoning == ("Because of C4.", "declines")


# --- for all ---


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 60), st.integers(0, 60), st.sampled_from(["PASS", "FAIL"]), st.floats(0, 0.99))
def test_a_judge_that_always_says_the_same_never_passes(
    triggers: int, clean: int, word: str, bar: float
) -> None:
    cases = [("FAIL", word)] * triggers + [("PASS", word)] * clean
    outcome = (
        Run().gated("care", *cases).pressed(*[(word, word)] * triggers).outcome(gates=bar, discrimination=bar)
    )
    assert outcome.gates.status == "FAIL"
    assert outcome.discrimination.status == "FAIL"
    constant = outcome.gates.gates[0].figures.constant
    assert constant == max(triggers, clean) / (triggers + clean)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from([0, 1, 2, 3]), min_size=1, max_size=60), st.sampled_from([0, 1, 2, 3]))
def test_a_judge_that_always_gives_the_same_score_never_passes(expected: list[int], score: int) -> None:
    looks: list[Look] = [(score, score)] * 20
    anchors = [({"care": level}, score) for level in expected]
    outcome = Run(["Care"]).looked(looks).known(*anchors).outcome(kappa=-1, anchors=0)
    assert outcome.consistency.status == "FAIL"
    assert outcome.anchors.status == "FAIL"


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_the_order_of_cases_changes_nothing(seed: int) -> None:
    looks: list[Look] = [(0, 0), (1, 2), (3, 3), (2, 2), (None, 1), (3, 2)]
    anchors = [({"care": 3, "depth": 1}, 2), ({"care": 2}, 2), ({"depth": 0}, None)]
    run = Run().looked(looks, looks[::-1]).known(*anchors).pressed(FIRM, ("FAIL", "FAIL"))
    run = run.gated("depth", FIRM, ("FAIL", "FAIL")).gated("care", ("PASS", "PASS"), ("FAIL", "missing"))
    assert run.shuffled(seed).outcome().to_dict() == run.outcome().to_dict()


# --- what tells without reading, and what to put right first ---


def test_cases_that_length_alone_tells_apart_are_named() -> None:
    run = good_run()
    run.cases = [
        replace(case, response="long" * 9 if entry.expected_verdict == "PASS" else "short")
        if entry.part == "discrimination"
        else case
        for case, entry in zip(run.cases, run.key, strict=True)
    ]
    outcome = run.outcome()
    assert outcome.cleared
    (said,) = [fix for fix in outcome.fixes if "length alone" in fix.what]
    assert (said.part, said.severity) == ("discrimination", "advice")
    assert "40 of 40 right (PASS if longer than 5 characters)" in said.what


def test_a_judge_that_never_answers_is_not_sent_to_the_rubric() -> None:
    outcome = Run(["Care"]).looked([(None, None)] * 20).outcome()
    assert not outcome.cleared
    said = fixes_of(outcome, "consistency")
    assert said[0].startswith("blocks: None of the responses has an answer. Look at the judge's raw lines")
    assert not any("separates neighbouring levels" in each for each in said)


def test_a_bad_judge_is_not_sent_for_other_anchors() -> None:
    """Only anchors of which the commonest level alone would pass are at fault themselves."""
    spread = [({"care": level}, 3 - level) for level in (0, 1, 2, 3)] * 5
    (said, *_) = fixes_of(Run(["Care"]).known(*spread).outcome(), "anchors")
    assert "Add anchors of other levels" not in said
    same = [({"care": 3}, 3)] * 20
    (said, *_) = fixes_of(Run(["Care"]).known(*same).outcome(), "anchors")
    assert "Add anchors of other levels" in said


def test_failed_cases_begin_with_wrong_answers() -> None:
    run = Run(["Care"]).looked([(0, 1)] * 3).known(({"care": 3}, 2)).pressed(("PASS", "PASS"))
    assert [case.part for case in run.outcome().failed] == ["anchors", "discrimination", *["consistency"] * 3]
