"""Simulated raters: the published shape, the rules kept, the few slips, and any other rubric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sheetsync.config import load_study
from sheetsync.domain.assignment import code_units
from sheetsync.domain.cells import read_claim
from sheetsync.domain.scoring.columns import scoring_columns
from sheetsync.domain.scoring.rules import row_checks
from sheetsync.domain.scoring.tab import read_state
from sheetsync.domain.simulate import FIRST_ROUND, Judgement, Profile, SimulatedUnit, simulate_ratings
from sheetsync.domain.simulated_rows import Row, quotable
from sheetsync.domain.study import Rubric, Study
from sheetsync.templates_folder import templates_dir
from tests.builders import make_rubric

RATERS = ("A1", "A2")
FAULTLESS = Profile(FIRST_ROUND.judgements, slips=0)
UNITS = tuple(
    SimulatedUnit(
        f"U{number}", f"She was born in {number}. She led a house.", number % 7 == 0, "ABC"[number % 3]
    )
    for number in range(60)
)

Typed = Mapping[str, Mapping[str, Row]]


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study(templates_dir() / "historical-figures")


@pytest.fixture(scope="module")
def units(study: Study) -> list[SimulatedUnit]:
    texts = {unit.key: unit.response for unit in study.units}
    coded = code_units(study, [])
    return [SimulatedUnit(u.code, texts[u.key], u.has_false_premise, u.model) for u in coded]


@pytest.fixture(scope="module")
def typed(study: Study, units: Sequence[SimulatedUnit]) -> Typed:
    return simulate_ratings(study.rubric, units, RATERS, study.design.seed)


def scores(typed: Typed, dimension: str) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    def number(row: Row) -> float:
        value = row.get(("score", dimension))
        return np.nan if value is None or isinstance(value, str) else float(value)

    return np.array([[number(row) for row in rows.values()] for rows in typed.values()])


def rows_of(typed: Typed) -> list[tuple[str, str, Row]]:
    return [(rater, code, row) for rater, rows in typed.items() for code, row in rows.items()]


def broken_rules(rubric: Rubric, row: Row, has_false_premise: bool) -> list[str]:
    columns = {column.key: column for column in scoring_columns(rubric) if column.is_input}
    states = {key: read_state(raw, columns[key]) for key, raw in row.items()}
    checks = row_checks(rubric, has_false_premise=has_false_premise)
    return [
        check.kind
        for check in checks
        if check.severity == "error" and check.at[0] != "sum" and check.fires.holds(states)
    ]


# --- the shape of the published first round ---


def test_the_template_is_210_units(units: Sequence[SimulatedUnit]) -> None:
    assert len(units) == 210


@pytest.mark.parametrize(
    "dimension", ["historical_accuracy", "coverage", "framing_and_agency", "epistemic_quality"]
)
def test_the_published_shape_comes_out(typed: Typed, dimension: str) -> None:
    data = scores(typed, dimension)
    alpha = krippendorff.alpha(
        reliability_data=data, level_of_measurement="ordinal", value_domain=[1, 2, 3, 4, 5]
    )
    apart = np.abs(data[0] - data[1])
    apart = apart[~np.isnan(apart)]
    assert 0.09 <= alpha <= 0.24
    assert 0.52 <= (apart == 0).mean() <= 0.75
    assert 0.87 <= (apart <= 1).mean() <= 0.92
    assert 0.57 <= (data == 5).sum() / (~np.isnan(data)).sum() <= 0.84
    assert 16 <= (apart >= 2).sum() <= 27


@pytest.mark.parametrize("seed", range(2, 8))
def test_other_seeds_have_nearly_the_same_shape(
    study: Study, units: Sequence[SimulatedUnit], seed: int
) -> None:
    drawn = simulate_ratings(study.rubric, units, RATERS, seed)
    for dimension, judgement in zip(study.rubric.dimensions, FIRST_ROUND.judgements, strict=True):
        data = scores(drawn, dimension.id)
        alpha = krippendorff.alpha(
            reliability_data=data, level_of_measurement="ordinal", value_domain=[1, 2, 3, 4, 5]
        )
        assert alpha == pytest.approx(judgement.shared**2, abs=0.06)


def test_two_raters_agree_beyond_chance_as_often_as_both_see_the_unit_as_it_is() -> None:
    rubric = make_rubric(tag=[], rule=[])
    judgement = Judgement(top=0.6, decay=0.4, shared=0.7)
    profile = Profile((judgement,), severity=0, rare=0, slips=0, draws=1)
    many = [SimulatedUnit(f"U{number}") for number in range(4000)]
    data = scores(simulate_ratings(rubric, many, ("a", "b", "c"), 5, profile), "coverage")
    alpha, exact, within, top = judgement.expected(5)
    found = krippendorff.alpha(
        reliability_data=data, level_of_measurement="ordinal", value_domain=[1, 2, 3, 4, 5]
    )
    assert found == pytest.approx(alpha, abs=0.03)
    assert (data[0] == data[1]).mean() == pytest.approx(exact, abs=0.03)
    assert (np.abs(data[0] - data[1]) <= 1).mean() == pytest.approx(within, abs=0.03)
    assert (data == 5).mean() == pytest.approx(top, abs=0.02)


def test_a_severe_rater_scores_lower() -> None:
    profile = Profile((Judgement(0.6, 0.4, 0.5),), severity=0.5, slips=0)
    data = scores(simulate_ratings(make_rubric(), UNITS, ("strict", "mild"), 1, profile), "coverage")
    assert np.nanmean(data[0]) < np.nanmean(data[1])


# --- tags, quotes, N/A ---


def test_low_accuracy_names_an_error_and_quotes_the_response(
    study: Study, units: Sequence[SimulatedUnit]
) -> None:
    responses = {unit.code: " ".join(unit.response.split()) for unit in units}
    tags = [("tag", tag.id) for tag in study.rubric.by_id["historical_accuracy"].tags]
    low = 0
    for _, code, row in rows_of(simulate_ratings(study.rubric, units, RATERS, 1, FAULTLESS)):
        score = row["score", "historical_accuracy"]
        quotes = [row[tag] for tag in tags if tag in row]
        if isinstance(score, int) and score <= 3:
            low += 1
            assert quotes
        for quote in quotes:
            assert read_claim(quote).value == quote
            assert str(quote).removesuffix(" ...") in responses[code]
    assert low > 10


def test_a_few_responses_are_evasive_and_then_some_dimensions_do_not_apply(
    study: Study, units: Sequence[SimulatedUnit]
) -> None:
    rows = rows_of(simulate_ratings(study.rubric, units, RATERS, 1, FAULTLESS))
    evasive = [row for _, _, row in rows if ("tag", "evasion") in row]
    assert 2 <= len(evasive) <= 8
    assert all(row["score", "coverage"] == 1 for row in evasive)
    for dimension in ("historical_accuracy", "epistemic_quality"):
        spared = [row for _, _, row in rows if row["score", dimension] == "N/A"]
        assert spared
        assert all(row in evasive for row in spared)


def test_false_premises_are_mostly_noticed(typed: Typed, units: Sequence[SimulatedUnit]) -> None:
    with_premise = {unit.code for unit in units if unit.has_false_premise}
    ticked = [code for _, code, row in rows_of(typed) if ("tag", "false-premise-corrected") in row]
    on_premises = [code for code in ticked if code in with_premise]
    assert 0.4 <= len(on_premises) / (2 * len(with_premise)) <= 0.9
    assert len(ticked) - len(on_premises) <= 8


def test_without_slips_every_row_is_complete_and_keeps_the_rules(
    study: Study, units: Sequence[SimulatedUnit]
) -> None:
    premises = {unit.code: unit.has_false_premise for unit in units}
    for _, code, row in rows_of(simulate_ratings(study.rubric, units, RATERS, 3, FAULTLESS)):
        assert {("score", dimension.id) for dimension in study.rubric.dimensions} <= set(row)
        assert broken_rules(study.rubric, row, premises[code]) == []


# --- slips ---


def test_each_slip_happens_once(study: Study, typed: Typed, units: Sequence[SimulatedUnit]) -> None:
    premises = {unit.code: unit.has_false_premise for unit in units}
    rows = rows_of(typed)
    doubtful = [
        value for *_, row in rows for key, value in row.items() if key[0] == "score" and value == "4?"
    ]
    unfinished = [row for *_, row in rows if sum(key[0] == "score" for key in row) < 4]
    broken = Counter(
        kind for _, code, row in rows for kind in broken_rules(study.rubric, row, premises[code])
    )
    assert len(doubtful) == 1
    assert [sum(key[0] == "score" for key in row) for row in unfinished] == [2]
    assert broken.pop("") == 1  # the doubtful cell itself
    assert broken.pop("rule:accuracy-tag-needs-claim") == 1
    assert sum(broken.values()) == 1


def test_slips_as_many_as_asked_for(study: Study, units: Sequence[SimulatedUnit]) -> None:
    profile = Profile(FIRST_ROUND.judgements, slips=3)
    rows = rows_of(simulate_ratings(study.rubric, units, RATERS, 1, profile))
    assert sum("4?" in row.values() for *_, row in rows) == 3


# --- any study ---


def test_the_same_seed_gives_the_same_cells(
    study: Study, units: Sequence[SimulatedUnit], typed: Typed
) -> None:
    assert simulate_ratings(study.rubric, units, RATERS, study.design.seed) == typed
    assert simulate_ratings(study.rubric, units, RATERS, study.design.seed + 1) != typed


@pytest.mark.parametrize("count", [0, 1, 2])
def test_tiny_studies(count: int) -> None:
    typed = simulate_ratings(make_rubric(), UNITS[:count], ("ann",), 1)
    assert [len(rows) for rows in typed.values()] == [count]


def test_quotes_are_text_for_every_spreadsheet() -> None:
    response = "=1+1 is no sum here.\n- It says: nobody\n* Born in 331, at Annisa.\nYes\n" + "long " * 60
    assert quotable(response)[:2] == ["1+1 is no sum here.", "It says: nobody"]
    assert all(
        not quote.startswith(("=", "-", "+", "@")) and len(quote) <= 170 for quote in quotable(response)
    )
    assert quotable("Yes. No.") == []


def test_without_a_response_quotes_are_generic() -> None:
    typed = simulate_ratings(make_rubric(), [SimulatedUnit(f"U{n}") for n in range(80)], RATERS, 1, FAULTLESS)
    quotes = {row["tag", "hallucination"] for *_, row in rows_of(typed) if ("tag", "hallucination") in row}
    assert quotes
    assert all(read_claim(str(quote)).value == quote for quote in quotes)


SCALES = st.one_of(
    st.lists(st.integers(-3, 12), min_size=1, max_size=7, unique=True).map(sorted),
    st.just([0, 2, 4, 5]),
    st.just([0.5, 1.0, 2.5]),
    st.just(["poor", "fair", "good"]),
    st.just(["no idea", "yes and no"]),
)


@st.composite
def rubrics(draw: st.DrawFn) -> Rubric:
    dimensions = []
    for index in range(draw(st.integers(1, 4))):
        tags = [
            {"id": f"t{index}{number}", "claim": draw(st.booleans())}
            for number in range(draw(st.integers(1, 3)))
        ]
        scale = draw(SCALES)
        dimensions.append(
            {
                "id": f"d{index}",
                "name": f"D{index}",
                "level": draw(st.sampled_from(["nominal", "ordinal"])),
                "not_applicable": draw(st.booleans()),
                "confidence": draw(st.booleans()),
                "levels": [{"value": value} for value in scale],
                "tags": tags,
            }
        )
    first = dimensions[0]
    top, low = (first["levels"][at]["value"] for at in (-1, 0))  # type: ignore[index]
    rule = draw(
        st.sampled_from(
            [
                [],
                [{"id": "r", "when": {"tag": "odd"}, "then": {"dimension": "d0", "equals": low}}],
                [{"id": "r", "when": {"tag": "odd"}, "then": {"tag": "t00"}}],
                [{"id": "r", "when": {"tag": "odd", "false_premise": False}}],
                [{"id": "r", "when": {"dimension": "d0", "not_applicable": True}, "then": {"tag": "odd"}}],
                [{"id": "r", "when": {"dimension": "d0", "not_applicable": True}}],
                [{"id": "r", "when": {"dimension": "d0", "equals": top}, "then": {"no_tag_of": "d0"}}],
                [{"id": "r", "when": {"dimension": "d0", "at_most": low}, "then": {"any_tag_of": "d0"}}],
                [{"id": "r", "then": {"any_tag_of": "d0"}}],
            ]
        )
    )
    return Rubric.model_validate(
        {
            "version": "1",
            "tag": [{"id": "odd"}, {"id": "quoted", "claim": True}],
            "dimension": dimensions,
            "remark": [{"id": "notes", "name": "Notes"}],
            "rule": rule,
        }
    )


@settings(max_examples=30, deadline=None)
@given(rubric=rubrics(), seed=st.integers(0, 10_000), count=st.integers(1, 4))
def test_any_rubric_gets_readable_rows_that_keep_its_rules(rubric: Rubric, seed: int, count: int) -> None:
    raters = [f"R{number}" for number in range(count)]
    profile = Profile((Judgement(0.5, 0.6, 0.5),), rare=0.2, slips=0, draws=2)
    columns = {column.key: column for column in scoring_columns(rubric) if column.is_input}
    premises = {unit.code: unit.has_false_premise for unit in UNITS}
    typed = simulate_ratings(rubric, UNITS[:15], raters, seed, profile)
    assert list(typed) == raters
    for _, code, row in rows_of(typed):
        states = {key: read_state(raw, columns[key]) for key, raw in row.items()}
        assert all(state.is_filled and not state.faults for state in states.values())
        assert all(("score", dimension.id) in states for dimension in rubric.dimensions)
        for dimension in rubric.dimensions:
            has_level = states["score", dimension.id].status == "value"
            assert (("confidence", dimension.id) in row) == (dimension.confidence and has_level)
        assert broken_rules(rubric, row, premises[code]) == []


@settings(max_examples=20, deadline=None)
@given(rubric=rubrics(), seed=st.integers(0, 10_000))
def test_slips_never_fail_on_any_rubric(rubric: Rubric, seed: int) -> None:
    profile = Profile(FIRST_ROUND.judgements, slips=2, draws=2)
    typed = simulate_ratings(rubric, UNITS[:6], ("a", "b", "c"), seed, profile)
    columns = {column.key for column in scoring_columns(rubric) if column.is_input}
    assert all(set(row) <= columns for _, _, row in rows_of(typed))
