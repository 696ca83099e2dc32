"""The self-check: confidence over answered scores, totals that stand out, and what supersedes what."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Literal

import pytest

from sheetsync.domain.current import BatchEntries
from sheetsync.domain.protocols import SelfCheck
from sheetsync.domain.ratings import BatchKind, Entry
from sheetsync.domain.scoring.self_check import (
    Answer,
    UsualTotals,
    answers_in_force,
    check_oneself,
    check_raters,
    middle_total,
    total_column,
    usual_totals,
)
from sheetsync.domain.study import Rubric
from sheetsync.templates_folder import templates_dir
from tests.builders import make_rubric

DEFAULT = SelfCheck()


def pairs_rubric() -> Rubric:
    path = templates_dir() / "blinded-pairs" / "rubric.toml"
    return Rubric.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))


RUBRIC = pairs_rubric()
NAMES = [dimension.id for dimension in RUBRIC.dimensions]


def row(code: str, values: Sequence[int | None], confidence: str | None = "High") -> list[Answer]:
    return [
        Answer(code, name, value, confidence)
        for name, value in zip(NAMES, values, strict=True)
        if value is not None
    ]


def test_a_complete_rater_of_the_protocol() -> None:
    """36 responses on five dimensions are 180 answered scores (X21); 126 of them are 70 %."""
    answers = [a for n in range(36) for a in row(f"K{n}", (4, 2, 4, 3, 2), None)]
    given = ["High"] * 63 + ["Medium"] * 63 + ["Low"] * 50 + [None] * 4
    answers = [Answer(a.code, a.dimension, a.value, g) for a, g in zip(answers, given, strict=True)]
    checked = check_oneself(answers, RUBRIC, DEFAULT)
    assert (checked.answered, checked.confident, checked.share) == (180, 126, 0.7)
    assert len(checked.low) == 50
    assert checked.low[0] == (answers[126].code, answers[126].dimension)
    assert set(checked.totals.values()) == {15}


def test_nothing_answered_has_no_share() -> None:
    checked = check_oneself([], RUBRIC, DEFAULT)
    assert (checked.answered, checked.share, checked.usual, checked.unusual) == (0, None, None, ())


def test_blanks_n_a_and_dimensions_that_ask_for_none_do_not_count() -> None:
    rubric = make_rubric()
    answers = [Answer("K1", "accuracy", "N/A"), Answer("K1", "coverage", 3)]
    assert check_oneself(answers, rubric, DEFAULT).answered == 0
    with_na = [*row("K1", (4, 2, None, 3, 2)), Answer("K1", "alternatives", "N/A", "Low")]
    checked = check_oneself(with_na, RUBRIC, DEFAULT)
    assert (checked.answered, checked.low, dict(checked.totals)) == (4, (), {})


# --- totals


def totals_checked(
    totals: Sequence[int], typical: tuple[int, int] | Literal["literal"] | None
) -> tuple[UsualTotals | None, set[str]]:
    """The total stands in the first score, which is enough for the arithmetic."""
    answers = [a for n, total in enumerate(totals) for a in row(f"K{n}", (total, 0, 0, 0, 0))]
    checked = check_oneself(answers, RUBRIC, SelfCheck(typical_total=typical))
    return checked.usual, set(checked.unusual)


def test_a_declared_range_holds_both_its_ends() -> None:
    usual, unusual = totals_checked([5, 6, 10, 16, 17], (6, 16))
    assert (usual, unusual) == (UsualTotals(6, 16, "declared"), {"K0", "K4"})


def test_the_literal_rule_flags_all_but_the_middle() -> None:
    assert (total_column(RUBRIC), middle_total(RUBRIC)) == ("Total_Score", 10)
    usual, unusual = totals_checked([9, 10, 11, 10], "literal")
    assert (usual, unusual) == (UsualTotals(10, 10, "literal"), {"K0", "K2"})


def test_fences_are_those_of_a_spreadsheet() -> None:
    """QUARTILE of 2, 4, 4, 5, 7, 20 is 4 and 6.5 in Excel, so the fences are 0.25 and 10.25."""
    usual, unusual = totals_checked([2, 4, 4, 5, 7, 20], None)
    assert (usual, unusual) == (UsualTotals(0.25, 10.25, "fences"), {"K5"})


def test_three_totals_have_no_fences() -> None:
    assert totals_checked([0, 10, 20], None) == (None, set())
    assert usual_totals([0, 10, 10, 20], RUBRIC, DEFAULT) is not None


def test_without_a_total_there_is_nothing_to_stand_out() -> None:
    answers = [Answer(f"K{n}", "coverage", n % 5 + 1) for n in range(9)]
    for typical in (None, "literal"):
        checked = check_oneself(answers, make_rubric(), SelfCheck(typical_total=typical))
        assert (checked.totals, checked.usual, checked.unusual) == ({}, None, ())


# --- out of the archive


def batch(
    name: str, kind: BatchKind, *cells: tuple[str, str, int, str | None], rater: str = "ann"
) -> BatchEntries:
    entries = []
    for code, dimension, value, sure in cells:
        entries.append(Entry(code, "score", dimension, value))
        if sure:
            entries.append(Entry(code, "confidence", dimension, sure))
    return BatchEntries(rater, name, kind, {code: 1 for code, *_ in cells}, entries)


def test_a_second_score_supersedes_the_first_with_its_confidence() -> None:
    first = batch("main", "production", ("K1", "depth", 4, "Low"), ("K1", "evidence", 2, "Low"))
    again = batch("rescore-1", "rescore", ("K1", "depth", 5, None))
    assert answers_in_force([first, again])["ann"] == [
        Answer("K1", "depth", 5, None),
        Answer("K1", "evidence", 2, "Low"),
    ]


def test_practice_units_of_others_and_values_off_the_scale_are_left_out() -> None:
    batches = [
        batch("calibration", "calibration", ("P1", "depth", 4, "Low")),
        batch("main", "production", ("K1", "depth", 4, "High"), ("K2", "depth", 3, "High")),
        batch("main", "production", ("K1", "gone", 4, "High"), ("GONE", "depth", 4, "Low"), rater="ben"),
    ]
    checked = check_raters(batches, ["K1", "K2", "P1"], RUBRIC, DEFAULT)
    assert {rater: (found.answered, found.low) for rater, found in checked.items()} == {
        "ann": (1, ()),
        "ben": (0, ()),
    }


@pytest.mark.parametrize("name", NAMES)
def test_the_template_says_what_the_protocol_says(name: str) -> None:
    scales = {
        "depth": (0, 2, 4, 5),
        "evidence": (0, 1, 2, 3),
        "alternatives": (0, 2, 4, 5),
        "structure": (0, 1, 2, 3),
        "actionability": (0, 2, 4),
    }
    counts = {"depth": (0, 2, 4, 6), "alternatives": (0, 1, 2, 3), "actionability": (0, 1, 3)}
    dimension = RUBRIC.by_id[name]
    assert dimension.scale == scales[name]
    assert dimension.confidence
    assert tuple(
        level.count_from for level in dimension.levels if level.count_from is not None
    ) == counts.get(name, ())
    assert len(dimension.checklist) == (3 if name in {"evidence", "structure"} else 0)
