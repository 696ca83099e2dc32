"""What the archive says: counts, which rating is in force, which text, slices, tags, progress."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sheetsync.errors import NotProvisionedError, StudyError
from sheetsync.services.divergences import divergences
from sheetsync.services.status import status
from tests.builders import QUESTIONS_CSV, RESPONSES_CSV
from tests.services.studies import QUICK_STUDY, Desk, memory_desk, quick_study, roster

COUNTS = ("n_units", "n_pairable", "n_raters", "n_ratings", "n_missing", "n_not_applicable", "n_invalid")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = memory_desk(tmp_path)
    made.provision()
    return made


def report(desk: Desk, by: list[str] | None = None) -> dict[str, Any]:
    return desk.analyze(by).agreement.to_dict()


def dimension(desk: Desk, name: str = "Accuracy", by: list[str] | None = None) -> dict[str, Any]:
    found: dict[str, Any] = next(d for d in report(desk, by)["dimensions"] if d["dimension"] == name)
    return found


def counted(desk: Desk, name: str = "Accuracy") -> tuple[int, ...]:
    found = dimension(desk, name)
    assigned = found["n_units"] * found["n_raters"]
    counts = tuple(found[key] for key in COUNTS)
    assert sum(counts[3:]) == assigned
    return counts


def status_dict(desk: Desk) -> dict[str, Any]:
    with desk.session() as session:
        return status(session).to_dict()


# --- what is counted ---


def test_before_provision_there_is_nothing_to_say(tmp_path: Path) -> None:
    with pytest.raises(NotProvisionedError):
        memory_desk(tmp_path).analyze()


def test_without_ratings_every_value_is_null_with_a_reason(desk: Desk) -> None:
    assert counted(desk) == (6, 0, 2, 0, 12, 0, 0)
    found = dimension(desk)
    assert found["band"] is None
    assert {c["value"] for c in found["coefficients"].values()} == {None}
    reasons = {name: c["reason"] for name, c in found["coefficients"].items()}
    assert set(reasons.values()) <= {"no_pairable_units", "no_complete_units"}
    assert found["distribution"] == {"1": 0, "2": 0, "3": 0, "4": 0, "5": 0}
    (pair,) = found["pairs"]
    assert (pair["raters"], pair["n"], pair["kappa"]["reason"]) == (["ann", "ben"], 0, "no_common_units")
    analysis = desk.analyze()
    assert (analysis.as_of, analysis.pull, analysis.divergences) == (None, None, ())


def test_ratings_missing_not_applicable_and_invalid_add_up(desk: Desk) -> None:
    desk.fill("ann", [(4, 4), ("N/A", 4), ("?", 4), (None, 4), (5, 4), (5, 4)])
    desk.fill("ben", [(4, 4), (4, 4), (4, 4), (4, 4), (True, 4)])
    desk.pull()
    assert counted(desk) == (6, 1, 2, 7, 2, 1, 2)
    assert counted(desk, "Coverage") == (6, 5, 2, 11, 1, 0, 0)
    assert dimension(desk)["distribution"] == {"1": 0, "2": 0, "3": 0, "4": 5, "5": 2}


def test_units_of_a_partial_design_count_what_was_issued(tmp_path: Path) -> None:
    desk = memory_desk(
        tmp_path, {"study.toml": roster("ann", "ben", "cat") + "[design]\nraters_per_unit = 2\n"}
    )
    desk.provision()
    desk.fill("cat")
    desk.pull()
    found = dimension(desk)
    assert tuple(found[key] for key in COUNTS) == (6, 0, 3, 4, 8, 0, 0)
    assert [pair["raters"] for pair in found["pairs"]] == [["ann", "ben"], ["ann", "cat"], ["ben", "cat"]]


def test_somebody_who_left_is_in_no_figure(desk: Desk) -> None:
    desk.fill("ann", [(5, 5)] * 6)
    desk.fill("ben", [(1, 1)] * 6)
    desk.pull()
    assert len(desk.analyze().divergences) == 12
    quick_study(desk.root, {"study.toml": roster("ann", "cat")})
    desk.provision()
    analysis = desk.analyze()
    assert counted(desk) == (6, 0, 2, 6, 6, 0, 0)
    assert analysis.divergences == ()
    assert {final.source for r in analysis.results for final in r.finals.values()} == {"unanimous"}
    assert status_dict(desk)["units"]["short_of_raters"] == []


def test_a_unit_that_left_the_files_is_in_no_figure(desk: Desk) -> None:
    desk.fill("ann")
    desk.fill("ben")
    desk.pull()
    quick_study(desk.root, {"responses.csv": "\n".join(RESPONSES_CSV.splitlines()[:-1]) + "\n"})
    assert counted(desk) == (5, 5, 2, 10, 0, 0, 0)
    assert len(desk.analyze().results) == 5


# --- which rating is in force ---


def test_a_re_score_supersedes_once_it_is_typed(desk: Desk) -> None:
    code = desk.codes()["Q1", "Alder"]
    desk.fill("ann", [(5, 4)])
    desk.fill("ben", [(1, 4)])
    desk.pull()
    desk.provision(code)
    desk.pull()
    assert [d.values for d in desk.analyze().divergences] == [{"ann": 5, "ben": 1}]
    desk.type_into("ben", "rescore-1", {code: {"Accuracy": 4}})
    desk.pull()
    analysis = desk.analyze()
    assert analysis.divergences == ()
    assert {(r.rater, r.dimension): (r.value, r.batch) for r in analysis.current.ratings} == {
        ("ann", "accuracy"): (5, "main"),
        ("ann", "coverage"): (4, "main"),
        ("ben", "accuracy"): (4, "rescore-1"),
        ("ben", "coverage"): (4, "main"),
    }
    assert counted(desk)[:4] == (6, 1, 2, 2)
    with desk.session() as session:
        history = session.archive.history("ben", code, "score", "accuracy")
    assert [(each.value, each.batch) for each in history] == [(1, "main"), (4, "rescore-1")]


def test_only_ratings_on_the_newest_rated_text_are_paired(desk: Desk) -> None:
    code = desk.codes()["Q3", "Alder"]
    desk.fill("ann", [(4, 4)] * 6)
    desk.fill("ben", [(4, 4)] * 6)
    desk.pull()
    quick_study(desk.root, {"responses.csv": RESPONSES_CSV.replace("She was not.", "She never was one.")})
    assert status_dict(desk)["units"]["changed_text"] == [code]
    assert counted(desk) == (6, 6, 2, 12, 0, 0, 0)
    desk.provision("changed")
    assert status_dict(desk)["units"]["changed_text"] == []
    assert counted(desk) == (6, 6, 2, 12, 0, 0, 0)
    desk.type_into("ann", "rescore-1", {code: {"Accuracy": 2, "imprecision": "x", "Coverage": 4}})
    desk.pull()
    units = status_dict(desk)["units"]
    assert units["older_text"] == [{"rater": "ben", "code": code}]
    assert counted(desk) == (6, 5, 2, 11, 1, 0, 0)
    assert desk.analyze().divergences == ()
    desk.type_into("ben", "rescore-1", {code: {"Accuracy": 4}})
    desk.pull()
    assert status_dict(desk)["units"]["older_text"] == [{"rater": "ben", "code": code}]  # Coverage
    desk.type_into("ben", "rescore-1", {code: {"Coverage": 4}})
    desk.pull()
    assert status_dict(desk)["units"]["older_text"] == []
    assert [d.values for d in desk.analyze().divergences] == [{"ann": 2, "ben": 4}]


# --- slices and tags ---


def test_slices_are_question_columns_that_vary_and_never_models(tmp_path: Path) -> None:
    lines = QUESTIONS_CSV.splitlines()
    extra = [lines[0] + ",century,same,empty", *(f"{line},{n},x," for n, line in enumerate(lines[1:]))]
    desk = memory_desk(tmp_path, {"questions.csv": "\n".join(extra) + "\n"})
    desk.provision()
    desk.fill("ann")
    desk.fill("ben")
    desk.pull()
    found = dimension(desk)["slices"]
    assert list(dict.fromkeys(s["by"] for s in found)) == ["tier", "type", "century"]
    assert [(s["value"], s["n_units"]) for s in found if s["by"] == "tier"] == [
        ("general", 4),
        ("specific", 2),
    ]
    assert {s["by"] for s in dimension(desk, by=["century"])["slices"]} == {"century"}
    expected = dimension(desk).keys() - {"dimension", "level", "scale", "slices"}
    assert all(expected - s.keys() <= {"dimension", "level", "scale"} for s in found)
    for refused in ("model", "version", "colour"):
        with pytest.raises(StudyError, match=refused):
            desk.analyze([refused])


def test_an_unticked_tag_is_no_only_in_a_row_with_a_score(desk: Desk) -> None:
    codes = list(desk.codes().values())
    desk.fill("ann", [(4, 4), (4, 4), (4, 4)])
    desk.fill("ben", [(4, 4), (4, 4)])
    desk.type_into("ann", "main", {codes[0]: {"evasion": "x"}, codes[5]: {"evasion": "x"}})
    desk.type_into("ben", "main", {codes[0]: {"evasion": "x"}, codes[1]: {"evasion": "yes"}})
    desk.pull()
    tags = report(desk)["tags"]
    assert [(tag["tag"], tag["of"]) for tag in tags] == [
        ("evasion", None),
        ("hallucination", "Accuracy"),
        ("imprecision", "Accuracy"),
    ]
    assert tags[0]["n_ticked"] == {"ann": 1, "ben": 2}
    (pair,) = tags[0]["pairs"]
    assert (pair["raters"], pair["n"], pair["exact"]["value"]) == (["ann", "ben"], 2, 0.5)


# --- practice ---


def test_practice_is_reported_apart(tmp_path: Path) -> None:
    desk = memory_desk(tmp_path, {"study.toml": QUICK_STUDY + "[design]\ncalibration_units = 2\n"})
    desk.provision()
    desk.fill("ann", [(5, 5), (5, 5)], "calibration")
    desk.fill("ben", [(1, 5), (5, 5)], "calibration")
    desk.pull()
    analysis = desk.analyze()
    assert counted(desk) == (4, 0, 2, 0, 8, 0, 0)
    assert analysis.divergences == ()
    assert analysis.practice is not None
    practice = analysis.practice.to_dict()["dimensions"]
    assert isinstance(practice, list)
    assert [practice[0][key] for key in COUNTS] == [2, 2, 2, 4, 0, 0, 0]
    assert {final.source for r in analysis.results for final in r.finals.values()} == {""}
    assert status_dict(desk)["units"]["total"] == 4


# --- status and divergences ---


def test_status_sums_add_up(desk: Desk) -> None:
    codes = list(desk.codes().values())
    desk.fill("ann", [(4, 4), (4, None), (2, 4), (4, "?"), (None, None)])
    desk.type_into("ann", "main", {codes[4]: {"Notes": "later"}})
    desk.fill("ben", [(4, 4), (4, 4), (4, 4)])
    desk.pull("2026-07-03T02:00:00Z")
    found = status_dict(desk)
    assert list(found) == ["schema", "workbooks", "units"]
    ann, ben = found["workbooks"]
    assert ann == {
        "rater": "ann",
        "batch": "main",
        "assigned": 6,
        "complete": 1,
        "partial": 4,
        "untouched": 1,
        "invalid": 2,
        "last_change": "2026-07-03T02:00:00Z",
    }
    for each in (ann, ben):
        assert each["complete"] + each["partial"] + each["untouched"] == each["assigned"]
    assert found["units"] == {
        "total": 6,
        "fully_rated": 1,
        "short_of_raters": [],
        "changed_text": [],
        "older_text": [],
    }


def test_units_short_of_raters_are_named(desk: Desk) -> None:
    quick_study(desk.root, {"study.toml": roster("ann", "ben", "cat")})
    assert sorted(status_dict(desk)["units"]["short_of_raters"]) == sorted(desk.codes().values())
    desk.provision()
    assert status_dict(desk)["units"]["short_of_raters"] == []


def test_divergences_have_the_keys_of_the_contract(desk: Desk) -> None:
    desk.fill("ann", [(5, 4), ("N/A", 4)])
    desk.fill("ben", [(3, 4), (4, 4)])
    desk.type_into("ben", "main", {desk.codes()["Q1", "Alder"]: {"imprecision": "x"}})
    desk.pull()
    with desk.session() as session:
        found = divergences(session).to_dict()
    assert found == {
        "schema": "sheetsync.divergences/1",
        "divergences": [
            {
                "code": desk.codes()["Q1", "Alder"],
                "dimension": "Accuracy",
                "kind": "score",
                "values": {"ann": 5, "ben": 3},
                "range": 2,
                "state": "open",
                "verdict": None,
                "reason": None,
            },
            {
                "code": desk.codes()["Q1", "Briar"],
                "dimension": "Accuracy",
                "kind": "applicability",
                "values": {"ann": "N/A", "ben": 4},
                "range": None,
                "state": "open",
                "verdict": None,
                "reason": None,
            },
        ],
    }


@pytest.mark.parametrize(("unit", "n"), [("auto", 0), ("points", 1), ("steps", 0)])
def test_scales_with_gaps_count_steps_unless_told_otherwise(tmp_path: Path, unit: str, n: int) -> None:
    rubric = 'version = "1"\n[[dimension]]\nid = "a"\nname = "A"\nlevels = [' + ", ".join(
        f"{{ value = {value} }}" for value in (0, 2, 4, 5)
    )
    study = QUICK_STUDY + f'[divergence]\nunit = "{unit}"\n'
    desk = memory_desk(tmp_path, {"rubric.toml": rubric + "]\n", "study.toml": study})
    desk.provision()
    code = desk.codes()["Q1", "Alder"]
    desk.type_into("ann", "main", {code: {"A": 0}})
    desk.type_into("ben", "main", {code: {"A": 2}})
    desk.pull()
    assert len(desk.analyze().divergences) == n
