"""`[criteria]` and the file of internal scores: every fault at once, with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from sheetsync.config import check_study
from tests.builders import write_study
from tests.services.pair_studies import csv_text, pair_files, study_toml

RATERS = ("ann", "ben", "cy")
HEADER = ("question_id", "figure", "model", "depth", "evidence_use", "total")


def faults_of(folder: Path, files: dict[str, str | None], severity: str) -> list[str]:
    _, faults = check_study(write_study(folder, {**pair_files(2), **files}))
    return [str(fault) for fault in faults if fault.severity == severity]


def internal(*rows: tuple[object, ...]) -> dict[str, str | None]:
    return {"internal.csv": csv_text([HEADER, *rows])}


def test_a_valid_study_has_no_faults(tmp_path: Path) -> None:
    assert faults_of(tmp_path, {}, "error") == []
    assert faults_of(tmp_path, {}, "warning") == []


@pytest.mark.parametrize(
    ("criteria", "said"),
    [
        (
            'baseline = "baselin"',
            'study.toml [criteria] baseline: "baselin" is no model of the responses; did you mean',
        ),
        ('baseline = "improved"', "study.toml [criteria] improved: is the same model as baseline"),
        ("alpha = 1.5", "study.toml [criteria] alpha"),
        ("direction = 70", "study.toml [criteria] direction"),
        ("validators = 0", "study.toml [criteria] validators"),
    ],
)
def test_criteria_that_cannot_be_meant(tmp_path: Path, criteria: str, said: str) -> None:
    found = faults_of(tmp_path, {"study.toml": study_toml(RATERS, criteria)}, "error")
    assert any(each.startswith(said) for each in found), found


def test_criteria_need_pairs(tmp_path: Path) -> None:
    toml = study_toml(RATERS).replace('"pairs"\n\n[criteria]', '"single"\n\n[criteria]')
    found = faults_of(tmp_path, {"study.toml": toml}, "error")
    assert any("[design] layout" in each and "[criteria] compares two responses" in each for each in found), (
        found
    )


def test_a_missing_file_is_a_warning(tmp_path: Path) -> None:
    found = faults_of(tmp_path, {"internal.csv": None}, "warning")
    assert any("there is no file internal.csv" in each and "not a pass" in each for each in found)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("T9", "", "baseline", 2, 1, 3), 'internal.csv line 3: "T9 baseline" is no response of this study'),
        (("T1", "", "baseline", 4, 2, 6), "internal.csv line 3: repeats the response of line 2"),
        (
            ("T1", "", "improved", 3, 1, 4),
            'internal.csv line 3, column depth: found "3"; the levels are 0, 2, 4 or 5',
        ),
        (
            ("T1", "", "improved", 2, 1, 4),
            "internal.csv line 3, column total: found 4 but the scores add up to 3",
        ),
        (("T1", "", "improved", 2, 1, "x"), 'internal.csv line 3, column total: found "x"; write a number'),
    ],
)
def test_faults_of_internal_scores(tmp_path: Path, row: tuple[object, ...], said: str) -> None:
    found = faults_of(tmp_path, internal(("T1", "", "baseline", 4, 2, 6), row), "error")
    assert [each for each in found if each.startswith(said)], found


def test_totals_are_added_up_where_they_are_blank(tmp_path: Path) -> None:
    rows = [(case, "", model, 4, 2, "") for case in ("T1", "T2") for model in ("baseline", "improved")]
    assert faults_of(tmp_path, internal(*rows), "error") == []
    assert faults_of(tmp_path, internal(*rows), "warning") == []


def test_responses_without_internal_scores_are_a_warning(tmp_path: Path) -> None:
    found = faults_of(tmp_path, internal(("T1", "", "baseline", 4, 2, 6)), "warning")
    assert any("has no row for 3 responses (first: T1 improved)" in each for each in found), found


def test_neither_total_nor_scores(tmp_path: Path) -> None:
    files: dict[str, str | None] = {"internal.csv": "question_id,figure,model,depth\nT1,,baseline,4\n"}
    found = faults_of(tmp_path, files, "error")
    assert any("has no column total and lacks evidence_use to add it up" in each for each in found), found
