"""`provision`: workbooks that are missing are made, workbooks that exist are never touched."""

from __future__ import annotations

import random
import stat
import sys
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from sheetsync.backends.base import Place
from sheetsync.errors import StudyError
from sheetsync.services.session import PRIVATE_FOLDER, reading_session, writing_session
from tests.builders import QUESTIONS_CSV, RESPONSES_CSV
from tests.services.killing import killer
from tests.services.studies import (
    NOW,
    QUICK,
    QUICK_STUDY,
    Desk,
    Typed,
    memory_desk,
    quick_study,
    roster,
    tree,
    xlsx_desk,
)

RATERS = ("ann", "ben", "cat", "dan")
MORE_RESPONSES = RESPONSES_CSV + "Q1,Macrina,Cedar,cedar-2026-05-01,She led a community.\n"


def batches(desk: Desk) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the codes of every workbook that was issued, in the order of its rows."""
    with desk.session() as session:
        return {record.key: tuple(row.code for row in record.rows) for record in session.archive.workbooks()}


def everything(desk: Desk) -> object:
    """Return all that the archive knows of what was issued."""
    with desk.session() as session:
        archive = session.archive
        return archive.units(), archive.texts(), archive.workbooks(), archive.current_entries()


def holders(desk: Desk) -> Counter[str]:
    """Return by how many raters of the roster each unit is held."""
    with desk.session() as session:
        names = session.roster()
    return Counter(code for (rater, _), codes in batches(desk).items() if rater in names for code in codes)


def made(desk: Desk, *rescore: str) -> list[tuple[str, str, int]]:
    """Provision and return (rater, batch, rows) of what was made."""
    return [(m.rater, m.batch, m.units) for m in desk.provision(*rescore).made]


# --- the first run and the second ---


def test_a_first_run_makes_one_workbook_per_rater(tmp_path: Path) -> None:
    desk = xlsx_desk(tmp_path)
    result = desk.provision()
    assert [(m.rater, m.batch, m.kind, m.units) for m in result.made] == [
        ("ann", "main", "production", 6),
        ("ben", "main", "production", 6),
    ]
    assert [path.relative_to(tmp_path).as_posix() for path in sorted(tmp_path.glob("sheets/**/*.xlsx"))] == [
        "sheets/raters/ann/main.xlsx",
        "sheets/raters/ben/main.xlsx",
    ]
    assert sorted(path.name for path in (tmp_path / "sheets/raters/ann").iterdir()) == ["main.xlsx"]
    assert stat.S_IMODE((tmp_path / PRIVATE_FOLDER).stat().st_mode) == 0o700
    codes = batches(desk)
    assert set(codes["ann", "main"]) == set(codes["ben", "main"]) == set(desk.codes().values())
    assert codes["ann", "main"] != codes["ben", "main"]
    assert list(desk.cells("ann", "main")) == list(codes["ann", "main"])


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    desk = xlsx_desk(tmp_path)
    desk.provision()
    before, archived = tree(tmp_path), everything(desk)
    database = (tmp_path / PRIVATE_FOLDER / "archive.sqlite").read_bytes()
    with writing_session(tmp_path, "provision", NOW) as session:
        session.archive.units()
    result = desk.provision()
    assert result.made == ()
    assert result.existing == 2
    after = tree(tmp_path)
    assert {k: v for k, v in after.items() if not k.startswith(PRIVATE_FOLDER)} == {
        k: v for k, v in before.items() if not k.startswith(PRIVATE_FOLDER)
    }
    assert everything(desk) == archived
    assert (tmp_path / PRIVATE_FOLDER / "archive.sqlite").read_bytes() == database


def test_the_same_study_elsewhere_gets_the_same_codes_and_orders(tmp_path: Path) -> None:
    one, other = memory_desk(tmp_path / "one"), memory_desk(tmp_path / "other")
    one.provision()
    other.provision()
    assert batches(one) == batches(other)
    assert one.codes() == other.codes()


def test_bank_order_is_the_same_for_everybody(tmp_path: Path) -> None:
    desk = memory_desk(tmp_path, {"study.toml": QUICK_STUDY + '[design]\norder = "bank"\n'})
    desk.provision()
    by_question = {code: question for (question, _), code in desk.codes().items()}
    assert set(batches(desk).values()) == {
        tuple(sorted(by_question, key=lambda code: (by_question[code], code)))
    }


# --- additions ---


def test_an_added_question_goes_into_a_new_batch(tmp_path: Path) -> None:
    desk = xlsx_desk(tmp_path)
    desk.provision()
    before, codes = tree(tmp_path / "sheets"), desk.codes()
    quick_study(
        tmp_path,
        {
            "questions.csv": QUESTIONS_CSV + "Q4,,general,fact,Where did {figure} live?,,\n",
            "responses.csv": RESPONSES_CSV + "Q4,Macrina,Alder,alder-2026-03-14,In Annisa.\n",
        },
    )
    assert made(desk) == [("ann", "add-1", 1), ("ben", "add-1", 1)]
    after = tree(tmp_path / "sheets")
    for name in ("raters/ann/main.xlsx", "raters/ben/main.xlsx"):
        assert after[name] == before[name]
    assert desk.codes().items() >= codes.items()
    assert set(desk.cells("ann", "add-1")) == {desk.codes()["Q4", "Alder"]}
    assert made(desk) == []


def test_every_addition_has_its_own_number(tmp_path: Path) -> None:
    desk = memory_desk(tmp_path)
    desk.provision()
    quick_study(tmp_path, {"responses.csv": MORE_RESPONSES})
    assert made(desk) == [("ann", "add-1", 1), ("ben", "add-1", 1)]
    more = (
        MORE_RESPONSES
        + "Q2,Macrina,Cedar,cedar-2026-05-01,One Life.\nQ3,Macrina,Cedar,cedar-2026-05-01,No.\n"
    )
    quick_study(tmp_path, {"responses.csv": more})
    assert made(desk) == [("ann", "add-2", 2), ("ben", "add-2", 2)]


def test_a_new_rater_gets_main_and_nobody_else_anything(tmp_path: Path) -> None:
    desk = memory_desk(tmp_path)
    desk.provision()
    quick_study(tmp_path, {"study.toml": roster("ann", "ben", "cat")})
    assert made(desk) == [("cat", "main", 6)]
    quick_study(tmp_path, {"study.toml": roster("ann", "ben", "cat"), "responses.csv": MORE_RESPONSES})
    assert made(desk) == [("ann", "add-1", 1), ("ben", "add-1", 1), ("cat", "add-1", 1)]


# --- k raters per unit, and people who leave ---


def test_k_raters_per_unit_are_balanced_and_connected(tmp_path: Path) -> None:
    desk = memory_desk(tmp_path, {"study.toml": roster(*RATERS) + "[design]\nraters_per_unit = 2\n"})
    result = desk.provision()
    assert set(holders(desk).values()) == {2}
    assert set(result.design.load.values()) == {3}
    assert result.design.is_connected


def test_units_of_somebody_who_left_go_to_the_others(tmp_path: Path) -> None:
    study = "[design]\nraters_per_unit = 2\n"
    desk = memory_desk(tmp_path, {"study.toml": roster("ann", "ben", "cat") + study})
    desk.provision()
    before = batches(desk)
    quick_study(tmp_path, {"study.toml": roster("ann", "ben") + study})
    result = desk.provision()
    assert {(m.rater, m.batch) for m in result.made} <= {("ann", "add-1"), ("ben", "add-1")}
    assert sum(m.units for m in result.made) == len(before["cat", "main"])
    assert set(holders(desk).values()) == {2}
    assert len([note for note in result.notes if "cat" in note]) == 1
    assert len(result.notes) == 1
    assert {key: codes for key, codes in batches(desk).items() if key in before} == before
    assert Place("raters", "cat", "main") in desk.backend.versions([Place("raters", "cat", "main")])
    assert desk.provision().made == ()


def test_somebody_who_comes_back_gets_nothing_twice(tmp_path: Path) -> None:
    desk = memory_desk(tmp_path)
    desk.provision()
    quick_study(tmp_path, {"study.toml": roster("ann")})
    assert desk.provision().made == ()
    quick_study(tmp_path)
    result = desk.provision()
    assert (result.made, result.notes) == ((), ())


# --- practice ---


def test_drawn_practice_units_leave_production(tmp_path: Path) -> None:
    desk = memory_desk(tmp_path, {"study.toml": QUICK_STUDY + "[design]\ncalibration_units = 2\n"})
    assert made(desk) == [
        ("ann", "calibration", 2),
        ("ben", "calibration", 2),
        ("ann", "main", 4),
        ("ben", "main", 4),
    ]
    codes = batches(desk)
    assert set(codes["ann", "calibration"]) == set(codes["ben", "calibration"])
    assert not set(codes["ann", "calibration"]) & set(codes["ann", "main"])
    assert made(desk) == []


def test_marked_practice_responses_are_the_calibration_batch(tmp_path: Path) -> None:
    lines = RESPONSES_CSV.splitlines()
    marked = "\n".join([lines[0] + ",batch", lines[1] + ",calibration", *(line + "," for line in lines[2:])])
    desk = memory_desk(tmp_path, {"responses.csv": marked + "\n"})
    desk.provision()
    assert batches(desk)["ann", "calibration"] == (desk.codes()["Q1", "Alder"],)
    assert desk.codes()["Q1", "Alder"] not in batches(desk)["ann", "main"]


# --- scoring again ---


def test_a_unit_is_issued_again_to_everybody_who_had_it(tmp_path: Path) -> None:
    desk = xlsx_desk(tmp_path)
    desk.provision()
    code = desk.codes()["Q2", "Briar"]
    before = tree(tmp_path / "sheets")
    assert made(desk, code.lower()) == [("ann", "rescore-1", 1), ("ben", "rescore-1", 1)]
    assert list(desk.cells("ann", "rescore-1")) == [code]
    assert tree(tmp_path / "sheets").items() >= {k: v for k, v in before.items() if v}.items()


def test_asking_again_makes_no_second_batch(tmp_path: Path) -> None:
    desk = memory_desk(tmp_path)
    desk.provision()
    code = desk.codes()["Q2", "Briar"]
    assert len(made(desk, code)) == 2
    assert made(desk, code) == []
    other = desk.codes()["Q1", "Alder"]
    assert made(desk, code, other) == [("ann", "rescore-2", 1), ("ben", "rescore-2", 1)]
    assert batches(desk)["ann", "rescore-2"] == (other,)


def test_a_unit_that_was_scored_again_can_be_issued_a_third_time(tmp_path: Path) -> None:
    desk = memory_desk(tmp_path)
    desk.provision()
    code = desk.codes()["Q2", "Briar"]
    desk.provision(code)
    desk.type_into("ann", "rescore-1", {code: {"Accuracy": 4, "Coverage": 4}})
    desk.pull()
    assert made(desk, code) == [("ann", "rescore-2", 1)]


def test_only_those_who_had_a_unit_get_it_again(tmp_path: Path) -> None:
    desk = memory_desk(tmp_path, {"study.toml": roster(*RATERS) + "[design]\nraters_per_unit = 2\n"})
    desk.provision()
    code = desk.codes()["Q2", "Briar"]
    had = [rater for (rater, _), codes in batches(desk).items() if code in codes]
    assert [rater for rater, *_ in made(desk, code)] == had


def test_changed_texts_are_only_noted_until_somebody_asks(tmp_path: Path) -> None:
    desk = xlsx_desk(tmp_path)
    desk.provision()
    before = tree(tmp_path / "sheets")
    quick_study(tmp_path, {"responses.csv": RESPONSES_CSV.replace("She was not.", "She never was one.")})
    result = desk.provision()
    assert result.made == ()
    assert len(result.notes) == 1
    assert "--rescore changed" in result.notes[0]
    assert tree(tmp_path / "sheets") == before
    code = desk.codes()["Q3", "Alder"]
    assert made(desk, "changed") == [("ann", "rescore-1", 1), ("ben", "rescore-1", 1)]
    assert desk.cells("ben", "rescore-1")[code]["Response"] == "She never was one."
    assert desk.cells("ben", "main")[code]["Response"] == "She was not."
    again = desk.provision("changed")
    assert (again.made, again.notes) == ((), ())


def test_an_unknown_code_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    desk = memory_desk(tmp_path)
    desk.provision()
    known = everything(desk)
    with pytest.raises(StudyError, match="NOSUCH"):
        desk.provision("NOSUCH")
    assert everything(desk) == known


@pytest.mark.parametrize("gone", ["responses", "practice"])
def test_a_code_that_cannot_be_scored_again_is_refused(tmp_path: Path, gone: str) -> None:
    study = QUICK_STUDY + ("[design]\ncalibration_units = 2\n" if gone == "practice" else "")
    desk = memory_desk(tmp_path, {"study.toml": study})
    desk.provision()
    if gone == "practice":
        code = batches(desk)["ann", "calibration"][0]
    else:
        code = desk.codes()["Q3", "Briar"]
        quick_study(tmp_path, {"responses.csv": "\n".join(RESPONSES_CSV.splitlines()[:-1]) + "\n"})
    with pytest.raises(StudyError, match=code) as caught:
        desk.provision(code)
    assert caught.value.remedy


# --- a workbook that was lost ---


def test_a_deleted_workbook_comes_back_with_its_ratings(tmp_path: Path) -> None:
    desk = xlsx_desk(tmp_path)
    desk.provision()
    code = desk.codes()["Q1", "Alder"]
    typed: dict[str, Typed] = {
        "Accuracy": "N/A",
        "hallucination": "a claim",
        "evasion": "x",
        "Notes": "=1+1",
        "Coverage": 1,
    }
    desk.type_into("ann", "main", {code: typed})
    desk.pull()
    before = desk.cells("ann", "main")
    (tmp_path / "sheets/raters/ann/main.xlsx").unlink()
    result = desk.provision()
    assert [(m.rater, m.batch, m.restored) for m in result.made] == [("ann", "main", True)]
    after = desk.cells("ann", "main")
    assert list(after) == list(before)
    for header in typed.keys() - {"Notes"}:
        assert after[code][header] == before[code][header]
    counts = [(w.changes.new, w.changes.changed, w.changes.cleared) for w in desk.pull().workbooks]
    assert counts == [(0, 0, 0), (0, 0, 0)]


# --- dry runs ---


def test_a_dry_run_says_the_same_as_the_run(tmp_path: Path) -> None:
    desk = memory_desk(tmp_path)
    planned = desk.provision(dry_run=True)
    assert [(m.rater, m.batch, m.units, m.location) for m in planned.made] == [
        (m.rater, m.batch, m.units, m.location) for m in desk.provision().made
    ]
    quick_study(tmp_path, {"responses.csv": MORE_RESPONSES})
    before = everything(desk)
    planned = desk.provision(dry_run=True)
    assert planned.existing == 2
    assert everything(desk) == before
    assert [(m.rater, m.batch, m.units) for m in planned.made] == made(desk)


# --- blindness ---


def test_a_raters_workbook_holds_no_model_and_no_other_person(tmp_path: Path) -> None:
    study = f"""\
[study]
id = "blind"
title = "A blind study"
contact = "office@example.org"

[[raters]]
id = "R-amber"
name = "Annabel Quillfeather"
email = "annabel@amber.example"

[[raters]]
id = "R-basalt"
name = "Benedict Ravensworth"
email = "benedict@basalt.example"

[people]
adjudicators = [{{ id = "E-cobalt", email = "eve@cobalt.example" }}]

[design]
calibration_units = 2
{QUICK}"""
    responses = RESPONSES_CSV.replace("Alder", "Quercine-9").replace(
        "alder-2026-03-14", "quercine-9-2026-03-14"
    )
    responses = responses.replace("Briar", "Rosacea Max").replace("briar-2026-04-02", "rosacea-2026-04-02")
    desk = xlsx_desk(tmp_path, {"study.toml": study, "responses.csv": responses})
    desk.provision()
    desk.provision(batches(desk)["R-amber", "main"][0])
    own = {
        "R-amber": ("R-amber", "Annabel", "Quillfeather", "amber.example"),
        "R-basalt": ("R-basalt", "Benedict", "Ravensworth", "basalt.example"),
    }
    secrets = ("Quercine", "Rosacea", "E-cobalt", "cobalt.example", "rosacea-2026", "sqlite", str(tmp_path))
    looked_at = 0
    for path in (tmp_path / "sheets/raters").rglob("*.xlsx"):
        others = [word for rater, words in own.items() if rater != path.parent.name for word in words]
        with zipfile.ZipFile(path) as package:
            parts = {name: package.read(name) for name in package.namelist()}
        for name, content in {**parts, "names": " ".join(parts).encode(), "raw": path.read_bytes()}.items():
            looked_at += 1
            for word in (*secrets, *others):
                for encoding in ("utf-8", "utf-16-le"):
                    assert word.lower().encode(encoding) not in content.lower(), (path, name, word)
    assert looked_at > 6 * 8


# --- interrupted ---


def issued_cells(root: Path, desk: Desk) -> object:
    """Return everything that raters are given, cell by cell, and the key."""
    with reading_session(root) as session:
        records = session.archive.workbooks()
        assert all(record.created == NOW for record in records)
        rows = [(record.key, record.kind, record.rows) for record in records]
        key = session.archive.units()
    places = [Place("raters", rater, batch) for (rater, batch), *_ in rows]
    return rows, key, [desk.backend.read(place) for place in places]


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")
def test_interrupted_at_any_point_and_run_again_is_as_if_nothing_had_happened(tmp_path: Path) -> None:
    files = {"study.toml": roster(*RATERS) + "[design]\ncalibration_units = 2\nraters_per_unit = 2\n"}
    whole = xlsx_desk(tmp_path / "whole", files)
    whole.provision()
    expected = issued_cells(whole.root, whole)
    moment = random.Random(11)
    killed = 0
    with killer() as kill:
        for number in range(6):
            desk = xlsx_desk(tmp_path / f"killed-{number}", files)
            for _ in range(4):
                outcome = kill(desk.root, "provision", moment.uniform(0.005, 0.1))
                assert outcome in ("killed", "done")
                killed += outcome == "killed"
                for path in desk.root.glob("sheets/raters/*/*.xlsx"):
                    assert zipfile.is_zipfile(path)
            assert kill(desk.root, "provision", 60) == "done"
            assert issued_cells(desk.root, desk) == expected
            assert (
                sorted(p.name for p in desk.root.glob("sheets/raters/*/*"))
                == ["calibration.xlsx"] * 4 + ["main.xlsx"] * 4
            )
    assert killed > 6
