"""Claims: the rule, the differences and their intervals, and the sentences."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sheetsync.domain.agreement.coefficients import Coefficient, undefined
from sheetsync.domain.agreement.report import AgreementReport, DimensionAgreement
from sheetsync.domain.assignment import CodedUnit
from sheetsync.domain.claims.claims import Claim, ClaimClass, Claims, compare_models
from sheetsync.domain.claims.words import claim_sentence, count_words, rule_words
from sheetsync.domain.divergence import FinalValue
from sheetsync.domain.results import UnitResult
from sheetsync.domain.study import NOT_APPLICABLE, AgreementSettings, Rubric
from tests.builders import make_rubric

LEVELS = [{"value": value} for value in range(1, 6)]


def rubric_of(*names: str, level: str = "ordinal") -> Rubric:
    dimensions = [{"id": name.lower(), "name": name, "level": level, "levels": LEVELS} for name in names]
    return make_rubric(dimension=dimensions, tag=[], rule=[], remark=[])


COVERAGE = rubric_of("Coverage")
QUICK = AgreementSettings(resamples=2000)


def results_of(values: Mapping[str, Sequence[float | None]], dimension: str = "coverage") -> list[UnitResult]:
    """Return final values per model in the order of questions; None is unresolved."""
    return [
        UnitResult(
            CodedUnit(f"{model}{at}", f"Q{at}", "Macrina", model),
            {dimension: FinalValue(value, "mean", value)},
        )
        for model, row in values.items()
        for at, value in enumerate(row)
    ]


def agreement_of(alpha: Coefficient, raters: Coefficient, name: str = "Coverage") -> AgreementReport:
    found = {"alpha": alpha, "mean_abs_difference": raters}
    return AgreementReport(
        (DimensionAgreement(name, "ordinal", (1, 2, 3, 4, 5), None, 1, 1, 1, 1, 0, 0, 0, found, {}, (), ()),)
    )


GOOD = agreement_of(Coefficient(0.4, 0.2, 0.6, 0.95, "bca"), Coefficient(0.3))


def only(found: Claims) -> Claim:
    (claim,) = found.claims
    return claim


# --- the rule (X8) ---


def a_claim(
    difference: float | None, low: float | None, alpha_low: float | None, raters: float | None
) -> Claim:
    return Claim(
        "coverage",
        ("Alder", "Briar"),
        35,
        undefined("no_common_units")
        if difference is None
        else Coefficient(difference, low, None if low is None else low + 1, interval_reason="too_few_units"),
        Coefficient(0.3, alpha_low, None if alpha_low is None else 0.9, interval_reason="too_few_units"),
        undefined("no_pairable_units") if raters is None else Coefficient(raters),
    )


@pytest.mark.parametrize(
    ("difference", "low", "alpha_low", "raters", "strength"),
    [
        (0.5, 0.1, 0.05, 0.4, "finding"),
        (-0.5, -1.2, 0.05, 0.4, "finding"),
        (0.4, 0.1, 0.05, 0.4, "provisional"),  # equal to the raters' difference is not larger
        (0.5, 0.1, 0.0, 0.4, "provisional"),  # a bound at 0 is not above it
        (0.5, 0.0, 0.05, 0.4, "provisional"),  # an interval that touches 0 contains it
        (0.5, 0.0, -0.1, 0.4, "provisional"),  # larger than the raters' difference alone
        (0.1, -0.1, 0.05, 0.4, "provisional"),  # agreement alone
        (0.2, 0.1, -0.1, 0.4, "provisional"),  # interval alone
        (0.1, -0.1, -0.1, 0.4, "not_separable"),
        (0.5, None, 0.05, 0.4, "provisional"),  # what cannot be checked does not hold
        (0.5, 0.1, None, None, "provisional"),
        (0.5, None, None, None, "not_separable"),
        (None, None, 0.5, 0.1, None),
    ],
)
def test_all_three_conditions_make_a_finding_and_none_makes_nothing(
    difference: float | None,
    low: float | None,
    alpha_low: float | None,
    raters: float | None,
    strength: ClaimClass | None,
) -> None:
    assert a_claim(difference, low, alpha_low, raters).strength == strength


def test_raters_who_never_differ_need_no_bound() -> None:
    claim = replace(a_claim(0.5, 0.1, None, 0.0), alpha=Coefficient(1.0, interval_reason="no_disagreement"))
    assert claim.strength == "finding"


# --- the differences ---


def test_a_difference_is_the_mean_over_the_questions_both_have() -> None:
    values: dict[str, list[float | None]] = {
        "Alder": [5, 4, 4.5, None, 3, *[4] * 9],
        "Briar": [4, 4, 4, 5, None, *[4] * 9],
    }
    claim = only(compare_models(results_of(values), COVERAGE, GOOD, QUICK))
    assert (claim.models, claim.n) == (("Alder", "Briar"), 12)
    assert claim.difference.value == pytest.approx((1 + 0 + 0.5) / 12)


def test_not_applicable_is_no_value() -> None:
    results = results_of({"Alder": [5] * 12, "Briar": [3] * 12})
    results[0] = replace(results[0], finals={"coverage": FinalValue(NOT_APPLICABLE, "unanimous")})
    assert only(compare_models(results, COVERAGE, GOOD, QUICK)).n == 11


def test_words_count_in_steps_and_nominal_levels_have_no_mean() -> None:
    words = [{"value": value} for value in ("low", "medium", "high")]
    ordered = [{"id": "tone", "name": "Tone", "level": "ordinal", "levels": words}]
    rubric = make_rubric(dimension=ordered, tag=[], rule=[], remark=[])
    results = [
        replace(
            result, finals={"tone": FinalValue("high" if result.unit.model == "Alder" else "low", "mean", n)}
        )
        for result in results_of({"Alder": [0] * 12, "Briar": [0] * 12})
        for n in [3.0 if result.unit.model == "Alder" else 1.0]
    ]
    found = compare_models(results, rubric, AgreementReport(()), QUICK)
    assert only(found).difference.value == 2
    assert "scored 2.00 steps higher" in claim_sentence(only(found), found, rubric.dimensions[0])
    nominal = rubric_of("Coverage", level="nominal")
    claim = only(compare_models(results_of({"Alder": [1] * 12, "Briar": [2] * 12}), nominal, GOOD, QUICK))
    assert (claim.strength, claim.difference.reason) == (None, "undefined_for_values")


@pytest.mark.parametrize(
    ("questions", "resamples", "reason"),
    [(9, 2000, "too_few_units"), (10, 2000, None), (10, 0, "not_requested")],
)
def test_few_questions_or_no_resamples_give_no_interval(
    questions: int, resamples: int, reason: str | None
) -> None:
    values = {"Alder": [5.0, 4] * 5, "Briar": [4.0, 4] * 5}
    values = {model: row[:questions] for model, row in values.items()}
    found = compare_models(results_of(values), COVERAGE, GOOD, AgreementSettings(resamples=resamples))
    assert only(found).difference.interval_reason == reason
    assert (only(found).difference.low is None) == (reason is not None)
    assert found.n_compared == (reason is None)


def test_without_a_common_question_nothing_is_said() -> None:
    values: dict[str, list[float | None]] = {"Alder": [5, None], "Briar": [None, 5]}
    found = compare_models(results_of(values), COVERAGE, GOOD, QUICK)
    assert (only(found).strength, only(found).n, only(found).difference.reason) == (
        None,
        0,
        "no_common_units",
    )
    assert count_words(found).endswith("0 as not separable; 1 cannot be made.")


def test_one_model_leaves_nothing_to_compare() -> None:
    found = compare_models(results_of({"Alder": [5] * 12}), COVERAGE, GOOD, QUICK)
    assert found.claims == ()
    assert count_words(found) == "There are no two models to compare."


# --- intervals ---


def random_results(seed: int, n_models: int, n_questions: int, rubric: Rubric) -> list[UnitResult]:
    """Return final values near the top of the scale from models that are all alike."""
    rng = random.Random(seed)
    results = []
    for question in range(n_questions):
        hard = rng.gauss()
        for model in range(n_models):
            finals = {}
            for dimension in rubric.dimensions:
                quality = 0.55 * hard + 0.84 * rng.gauss()
                level = 5 - sum(quality < cut for cut in (-0.7, -1.4, -1.9, -2.3))
                value = level - 0.5 if level > 1 and rng.random() < 0.3 else float(level)
                finals[dimension.id] = FinalValue(value, "mean", value)
            unit = CodedUnit(f"{model}-{question}", f"Q{question}", "Macrina", f"M{model:02}")
            results.append(UnitResult(unit, finals))
    return results


def test_limits_are_the_outer_of_percentile_and_t_adjusted_for_all_comparisons() -> None:
    """A second implementation: scipy's bootstrap and its t interval, one comparison at a time."""
    rubric = rubric_of("Coverage", "Accuracy")
    results = random_results(3, 3, 30, rubric)
    found = compare_models(results, rubric, AgreementReport(()), AgreementSettings())
    assert found.n_compared == 6
    level = 1 - 0.05 / 6
    for claim in found.claims:
        by_key = {(r.unit.model, r.unit.question_id): r.finals[claim.dimension].number for r in results}
        first, second = claim.models
        row = np.array([by_key[first, f"Q{q}"] for q in range(30)], dtype=float)
        row -= np.array([by_key[second, f"Q{q}"] for q in range(30)], dtype=float)
        student = stats.ttest_1samp(row, 0).confidence_interval(level)
        drawn = stats.bootstrap(
            (row,), np.mean, n_resamples=10000, confidence_level=level, method="percentile", rng=5
        ).confidence_interval
        assert claim.difference.value == pytest.approx(row.mean())
        assert claim.difference.low == pytest.approx(min(student.low, drawn.low), abs=0.03)
        assert claim.difference.high == pytest.approx(max(student.high, drawn.high), abs=0.03)
        assert claim.difference.low <= student.low + 1e-9
        assert claim.difference.high >= student.high - 1e-9


def test_more_comparisons_make_wider_intervals() -> None:
    widths = []
    for n_models in (2, 4, 8):
        results = random_results(1, n_models, 35, COVERAGE)
        claim = compare_models(results, COVERAGE, GOOD, AgreementSettings()).claims[0]
        assert claim.difference.low is not None
        assert claim.difference.high is not None
        widths.append(claim.difference.high - claim.difference.low)
    assert all(narrow < wide for narrow, wide in pairwise(widths))


@pytest.mark.parametrize("n_questions", [10, 35])
def test_models_that_are_all_alike_seldom_show_a_difference(n_questions: int) -> None:
    """The share of studies with any interval off 0 keeps below 5 %, give or take the simulation."""
    rubric = rubric_of("Coverage", "Accuracy")
    studies, off = 200, 0
    for seed in range(studies):
        results = random_results(seed, 4, n_questions, rubric)
        found = compare_models(results, rubric, AgreementReport(()), AgreementSettings(resamples=1000))
        assert found.n_compared == 12
        off += any(claim.excludes_zero for claim in found.claims)
    assert off / studies <= 0.05 + 2 * (0.05 * 0.95 / studies) ** 0.5


def test_a_real_difference_is_found() -> None:
    rng = random.Random(1)
    values = {
        "Alder": [rng.choice([4, 4.5, 5, 5]) for _ in range(35)],
        "Briar": [rng.choice([2, 3, 3.5, 4]) for _ in range(35)],
    }
    found = compare_models(results_of(values), COVERAGE, GOOD, AgreementSettings())
    assert only(found).strength == "finding"
    assert (
        only(compare_models(results_of(values), COVERAGE, AgreementReport(()), QUICK)).strength
        == "provisional"
    )


ROWS = st.lists(
    st.tuples(*[st.none() | st.sampled_from([1.0, 2.0, 3.5, 4.0, 5.0])] * 2), min_size=1, max_size=25
)


@settings(max_examples=30, deadline=None)
@given(rows=ROWS, seed=st.integers(0, 1000))
def test_exchanged_models_turn_the_sign_and_shuffled_units_change_nothing(
    rows: list[tuple[float | None, float | None]], seed: int
) -> None:
    first, second = [row[0] for row in rows], [row[1] for row in rows]
    quick = AgreementSettings(resamples=200)
    results = results_of({"Alder": first, "Briar": second})
    one = compare_models(results, COVERAGE, GOOD, quick)
    random.Random(seed).shuffle(results)
    assert compare_models(results, COVERAGE, GOOD, quick) == one
    other = only(compare_models(results_of({"Alder": second, "Briar": first}), COVERAGE, GOOD, quick))
    claim = only(one)
    assert (other.strength, other.n) == (claim.strength, claim.n)
    if claim.difference.value is None:
        assert other.difference.value is None
        return
    assert other.difference.value == pytest.approx(-claim.difference.value)
    if claim.difference.low is None or claim.difference.high is None:
        assert other.difference.low is None
        return
    assert claim.difference.low <= claim.difference.value <= claim.difference.high
    assert other.difference.low == pytest.approx(-claim.difference.high)
    assert other.difference.high == pytest.approx(-claim.difference.low)


# --- words ---

SIXTY = Claims((), 60, 0.95)


def sentence(claim: Claim) -> str:
    return claim_sentence(claim, SIXTY, COVERAGE.dimensions[0])


def test_sentences_are_ready_to_paste() -> None:
    finding = replace(a_claim(-0.42, None, 0.05, 0.31), difference=Coefficient(-0.42, -0.74, -0.1))
    assert sentence(finding) == (
        "On Coverage, Briar scored 0.42 points higher than Alder on average (95% interval, adjusted for 60 "
        "comparisons, 0.10 to 0.74; n = 35 questions): a finding. Raters agree beyond chance (alpha 0.30, lower "
        "bound 0.05), and the difference is larger than the mean difference between two raters (0.31 points)."
    )
    weak = replace(a_claim(0.2, None, -0.05, 0.31), difference=Coefficient(0.2, -0.1, 0.5))
    assert sentence(weak) == (
        "On Coverage, Alder scored 0.20 points higher than Briar on average (95% interval, adjusted for 60 "
        "comparisons, −0.10 to 0.50; n = 35 questions): not separable, because the lower bound of alpha (−0.05) "
        "is not above 0, the difference is not larger than the mean difference between two raters (0.31 points) "
        "and the interval contains 0."
    )
    few = replace(a_claim(0.5, None, 0.05, 0.31), n=6)
    assert sentence(few) == (
        "On Coverage, Alder scored 0.50 points higher than Briar on average (n = 6 questions): provisional: "
        "the lower bound of alpha (0.05) is above 0 and the difference is larger than the mean difference between "
        "two raters (0.31 points), but the difference has no interval (fewer than 10 questions)."
    )
    assert sentence(a_claim(None, None, None, None)) == (
        "On Coverage, Alder and Briar cannot be compared: no question has a final value for both."
    )


def test_a_provisional_claim_says_what_holds_and_what_fails() -> None:
    """By the rule of X8 no difference at all is provisional where raters agree; nobody may take it for one."""
    same = replace(a_claim(0.0, None, 0.05, 0.31), difference=Coefficient(0.0, -0.3, 0.3))
    assert sentence(same).endswith(
        "Alder and Briar have the same mean score (95% interval, adjusted for 60 comparisons, −0.30 to 0.30; "
        "n = 35 questions): provisional: the lower bound of alpha (0.05) is above 0, but the difference is not "
        "larger than the mean difference between two raters (0.31 points) and the interval contains 0."
    )
    alone = replace(a_claim(0.2, None, -0.05, 0.31), difference=Coefficient(0.2, 0.1, 0.3))
    assert "provisional: the interval does not contain 0, but the lower bound of alpha (−0.05)" in sentence(
        alone
    )
    never = replace(alone, alpha=Coefficient(1.0, interval_reason="no_disagreement"))
    assert "provisional: raters never differed and the interval does not contain 0, but" in sentence(never)


def test_figures_get_decimals_enough_to_show_why() -> None:
    near = replace(a_claim(0.4209, 0.1, 0.001, 0.4241), difference=Coefficient(0.4209, 0.0004, 0.9))
    words = sentence(near)
    assert "scored 0.421 points higher" in words
    assert "0.0004 to 0.90" in words
    assert "(0.424 points)" in words


def test_the_rule_says_for_how_many_comparisons_it_is_adjusted() -> None:
    words = rule_words(SIXTY)
    assert "adjusted for 60 comparisons," in words
    assert "the lower bound of alpha’s 95% interval is above 0" in words
    assert "adjusted" not in rule_words(Claims((), 1))
