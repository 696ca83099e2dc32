"""Every fault of a certification's files is found at once, with its place and the way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from sheetsync.config import check_study
from sheetsync.config_faults import Fault
from tests.certification_study import FILES, METRICS, STUDY, study_in, write

ANCHORS, PAIRS = "certification/anchors.csv", "certification/adversarial.csv"
GATES, WEIGHTS = "certification/gates.csv", "certification/weights.csv"


def faults_of(folder: Path, *edits: tuple[str, str, str]) -> list[Fault]:
    files = dict(FILES)
    for name, old, new in edits:
        assert old in files[name], f"{old!r} is not in {name}"
        files[name] = files[name].replace(old, new, 1)
    study, faults = check_study(write(folder, files))
    assert (study is None) == any(fault.severity == "error" for fault in faults)
    return faults


def test_the_valid_study_is_loaded_with_its_material(tmp_path: Path) -> None:
    material = study_in(tmp_path).certification
    assert material is not None
    assert [anchor.id for anchor in material.anchors] == ["A1", "A2", "A3"]
    assert material.anchors[0].scores == {METRICS[0]: 3, METRICS[1]: 3}
    assert [pair.id for pair in material.pairs] == ["P1", "P2"]
    assert [(case.gate, case.expected) for case in material.gates[:2]] == [
        (METRICS[0], "FAIL"),
        (METRICS[0], "PASS"),
    ]
    assert material.authorities == ("food", "drink")
    assert material.weights["tone"] == (0.05, 0.02)
    assert material.questions["Q2"].ground_truth == "Wine is food."
    assert check_study(tmp_path)[1] == []


@pytest.mark.parametrize(
    ("edit", "where", "words"),
    [
        (
            (ANCHORS, "A1,Q1", "A1,Q9"),
            f"{ANCHORS} line 2, column question_id",
            '"Q9" is not in the questions file',
        ),
        (
            (ANCHORS, "hallucination", "halucination"),
            f"{ANCHORS} line 2, column metric",
            'did you mean "hallucination"?',
        ),
        (
            (ANCHORS, ",3\n", ",4\n"),
            f"{ANCHORS} line 2, column score",
            'found "4"; hallucination takes 0, 1, 2 or 3',
        ),
        (
            (ANCHORS, "relativism_resistance", "hallucination"),
            f"{ANCHORS} line 3, column metric",
            "has a score of hallucination already",
        ),
        ((ANCHORS, "Anchor on Q1.", "Another."), f"{ANCHORS} line 3, column response", "differs from line 2"),
        ((PAIRS, "P2,Q2", "P1,Q2"), f"{PAIRS} line 3, column pair_id", '"P1" stands twice'),
        (
            (PAIRS, "It caves on Q1.", "It holds on Q1."),
            f"{PAIRS} line 2, column caves",
            "the same text as holds_firm",
        ),
        ((PAIRS, '"Admit it, Q1."', ""), f"{PAIRS} line 2, column adversarial_prompt", "is blank"),
        (
            (GATES, "hallucination,FAIL", "halucination,FAIL"),
            f"{GATES} line 2, column gate",
            'did you mean "hallucination"?',
        ),
        (
            (GATES, "hallucination,FAIL", "hallucination,fail"),
            f"{GATES} line 2, column set",
            'found "fail"; write FAIL',
        ),
        ((GATES, "hallucination,FAIL", "hallucination,PASS"), GATES, "1 cases of set FAIL and 3 of set PASS"),
        (
            (GATES, "Bread,Q1", "Bread,Q2"),
            f"{GATES} line 2, column topic",
            'the topic of question Q2 is "Wine"',
        ),
        (
            (GATES, "Bread,Q1", "Bread,Q9"),
            f"{GATES} line 2, column question_id",
            '"Q9" is not in the questions file',
        ),
        ((GATES, "Bread,Q1", ",Q1"), f"{GATES} line 2, column topic", "found a blank"),
        ((WEIGHTS, "0.5,", "0.6,"), f"{WEIGHTS}, column food", "sums to 1.1"),
        (
            (WEIGHTS, "0.5,", "half,"),
            f"{WEIGHTS} line 2, column food",
            'found "half"; a weight is a number from 0 to 1',
        ),
        ((WEIGHTS, "0.5,", "nan,"), f"{WEIGHTS} line 2, column food", "a weight is a number from 0 to 1"),
        ((WEIGHTS, "tone", "tune"), f"{WEIGHTS} line 4, column metric", 'did you mean "tone"?'),
        (
            ("questions.csv", "Bread,food", "Bread,fod"),
            "questions.csv line 2, column authority",
            'did you mean "food"?',
        ),
        (
            ("study.toml", "minimum_gap = 5", "minimum_gap = 25"),
            "study.toml [certification] minimum_gap",
            "at most 23 cases can lie",
        ),
        (("study.toml", '"certify"', '"forbidden"'), "study.toml [judge]", "all scoring is human"),
        (
            ("study.toml", 'name = "judge-1"', 'command = ["a"]\nverdicts = "b"'),
            "study.toml [judge] verdicts",
            "beside a command",
        ),
    ],
)
def test_one_fault_has_one_place_and_a_remedy(
    tmp_path: Path, edit: tuple[str, str, str], where: str, words: str
) -> None:
    faults = faults_of(tmp_path, edit)
    found = [fault for fault in faults if fault.where == where and words in fault.message]
    assert len(found) == 1, "\n".join(map(str, faults))
    assert found[0].severity == "error"


def test_a_mismatched_topic_is_refused_with_the_reason(tmp_path: Path) -> None:
    """S2.14: gates that work would read as 65 % right."""
    (fault,) = faults_of(tmp_path, (GATES, "Bread,Q1", "Bread,Q2"))
    assert "65 %" in fault.message
    assert "name a question of the response's topic" in fault.message


def test_a_gate_case_needs_a_question_with_ground_truth_and_others_are_warned_of(tmp_path: Path) -> None:
    faults = faults_of(tmp_path, ("questions.csv", "Bread is food.", ""))
    told = {fault.where: fault.severity for fault in faults}
    assert told[f"{GATES} line 2, column question_id"] == "error"
    assert told[f"{ANCHORS} line 2, column question_id"] == "warning"
    assert told[f"{PAIRS} line 2, column question_id"] == "warning"


def test_a_gate_that_no_case_tries_is_named(tmp_path: Path) -> None:
    lines = FILES[GATES].splitlines()
    only = "\n".join([lines[0], *(line for line in lines if ",hallucination," in line)]) + "\n"
    study, faults = check_study(write(tmp_path, {GATES: only}))
    assert study is None
    assert "gate relativism_resistance has 0 cases" in faults[0].message


def test_all_faults_come_at_once(tmp_path: Path) -> None:
    faults = faults_of(
        tmp_path,
        (ANCHORS, ",3\n", ",9\n"),
        (PAIRS, "P2,Q2", "P2,Q8"),
        (GATES, "Bread,Q1", "Bread,Q2"),
        (WEIGHTS, "tone", "tune"),
    )
    assert {fault.where.split()[0] for fault in faults} == {ANCHORS, PAIRS, GATES, WEIGHTS}


@pytest.mark.parametrize(
    ("keys", "where", "words"),
    [
        ('metric = "tome"\nweights = [0.02, 0.05]\nsentence = "S."', "metric", 'did you mean "tone"?'),
        ('metric = "tone"\nweights = [0.02, 0.06]\nsentence = "S."', "weights", "write [0.02, 0.05]"),
        ('metric = "tone"\nweights = [0.02, 0.05]\nsentence = " "', "sentence", "is blank"),
    ],
)
def test_a_disclosure_says_what_the_files_say(tmp_path: Path, keys: str, where: str, words: str) -> None:
    text = f"{STUDY}\n[[certification.disclosure]]\n{keys}\n"
    study, (fault,) = check_study(write(tmp_path, {"study.toml": text}))
    assert study is None
    assert fault.where.endswith(where)
    assert words in fault.message


def test_missing_files_are_faults_and_nothing_is_read_without_the_section(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / GATES).unlink()
    assert [fault.where for fault in check_study(tmp_path)[1]] == [GATES]
    (tmp_path / "study.toml").write_text(STUDY.split("[certification]")[0], encoding="utf-8")
    study, faults = check_study(tmp_path)
    assert study is not None
    assert (study.certification, faults) == (None, [])


def test_ground_truth_is_no_slice_for_reports(tmp_path: Path) -> None:
    assert set(study_in(tmp_path).units[0].slices) == {"topic", "authority"}
