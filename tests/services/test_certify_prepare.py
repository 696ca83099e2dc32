"""`certify prepare`: one run until somebody judges it, its key apart, nothing written where files are wrong."""

from __future__ import annotations

import json
import re
import stat
import sys
from pathlib import Path

import pytest

from sheetsync.backends.base import Place
from sheetsync.errors import StudyError
from tests.certification_study import CASES, FILES, MODELS, with_judge, write
from tests.services.certifying import Bench, bench


def test_it_writes_what_the_judge_may_see_and_keeps_the_key_apart(tmp_path: Path) -> None:
    made = bench(tmp_path).prepare()
    assert (made.run, made.new, made.cases, made.seed, made.minimum_gap) == (1, True, CASES, 1, 5)
    assert made.parts == {"consistency": 24, "anchors": 3, "discrimination": 4, "gates": 8}
    assert made.gap is not None
    assert made.gap >= 5
    shared, private, key = (tmp_path / name for name in made.files)
    assert shared == tmp_path / "certification/presentation.jsonl"
    assert shared.read_bytes() == private.read_bytes()
    assert len(shared.read_text().splitlines()) == CASES
    content = json.loads(key.read_text())
    assert (content["run"], len(content["cases"])) == (1, CASES)
    for model in MODELS:
        assert model.encode() not in shared.read_bytes()
        assert model in key.read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX rights")
def test_what_is_private_is_private(tmp_path: Path) -> None:
    made = bench(tmp_path).prepare()
    folder = tmp_path / ".sheetsync/certification/1"
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert modes == {"presentation.jsonl": 0o600, "key.json": 0o600}
    assert stat.S_IMODE((tmp_path / ".sheetsync").stat().st_mode) == 0o700
    assert made.to_dict()["schema"] == "sheetsync.certify.prepare/1"


def test_a_run_that_waits_is_prepared_once_and_again_when_files_change(tmp_path: Path) -> None:
    at_work = bench(tmp_path)
    first = at_work.prepare()
    assert (at_work.prepare().run, at_work.prepare().new) == (1, False)
    at_work.change("rubric.toml", "About tone.", "About the tone of it.")
    second = at_work.prepare()
    assert (second.run, second.new, second.seed) == (2, True, first.seed + 1)
    with at_work.session() as session:
        runs = session.archive.certification_runs()
        kept = session.archive.rubric(runs[0].rubric)
    assert [run.number for run in runs] == [1, 2]
    assert "About tone." in kept
    assert runs[0].hashes["prompts"] != runs[1].hashes["prompts"]


def test_prompts_of_two_runs_have_one_hash_whatever_the_order(tmp_path: Path) -> None:
    at_work = bench(tmp_path)
    at_work.prepare()
    at_work.change("study.toml", "minimum_gap = 5", "minimum_gap = 6")
    at_work.prepare()
    with at_work.session() as session:
        first, second = session.archive.certification_runs()
    assert first.hashes["prompts"] == second.hashes["prompts"]
    assert first.hashes == second.hashes
    assert at_work.presentation(1).lines() != at_work.presentation(2).lines()
    assert first.rubric == second.rubric == first.hashes["rubric"]


def test_a_mismatch_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    """S2.14: a gate case whose question is about something else."""
    wrong = FILES["certification/gates.csv"].replace("Bread,Q1", "Bread,Q3", 1)
    at_work = bench(tmp_path, {"certification/gates.csv": wrong})
    with pytest.raises(StudyError) as caught:
        at_work.prepare()
    assert "65 %" in str(caught.value.faults[0])
    assert not (tmp_path / ".sheetsync").exists()
    assert not (tmp_path / "certification/presentation.jsonl").exists()


def test_a_study_without_certification_says_so(tmp_path: Path) -> None:
    text = FILES["study.toml"].split("[judge]")[0]
    with pytest.raises(StudyError, match="certifies no judge"):
        bench(tmp_path, {"study.toml": text}).prepare()


def test_ids_are_unlike_the_codes_of_the_study(tmp_path: Path) -> None:
    from sheetsync.services.provision import provision

    at_work = bench(tmp_path)
    with at_work.session() as session:
        provision(session, "2026-07-01T02:00:00Z")
        codes = {unit.code for unit in session.archive.units()}
    at_work.prepare()
    ids = {case.id for case in at_work.presentation().cases}
    assert len(ids) == CASES
    assert not ids & codes
    assert all(re.fullmatch(r"[B-Z][B-Z2-9]{5}", name) for name in ids)


# --- a workbook for a human ---


def test_a_workbook_holds_the_cases_in_the_order_of_judging_and_no_key(tmp_path: Path) -> None:
    at_work = bench(tmp_path)
    made = at_work.prepare("ann")
    assert made.files[0] == "sheets/raters/ann/certification-1.xlsx"
    with at_work.session() as session:
        grids = session.backend.read(Place("raters", "ann", "certification-1")).tabs
    scoring = next(grid for grid in grids if grid.title == "Scoring")
    assert [row[0] for row in scoring.rows[1:]] == [case.id for case in at_work.presentation().cases]
    text = repr(grids)
    assert not [
        word for word in (*MODELS, "holds_firm", "anchor", "consistency", "discrimination") if word in text
    ]


def test_a_workbook_run_belongs_to_its_rater(tmp_path: Path) -> None:
    at_work = bench(tmp_path)
    assert [at_work.prepare("ann").run, at_work.prepare("ann").run] == [1, 1]
    assert at_work.prepare("ben").run == 2
    assert at_work.prepare().run == 3
    assert [at_work.prepare(rater).run for rater in ("ann", "ben", "")] == [1, 2, 3]


def test_a_run_that_was_left_in_the_middle_is_gone_on_with(tmp_path: Path) -> None:
    at_work = bench(tmp_path, {"study.toml": with_judge(verdicts='"verdicts.jsonl"')})
    at_work.prepare()
    lines = [json.dumps({"id": case.id, "refused": True}) for case in at_work.presentation().cases]
    (tmp_path / "verdicts.jsonl").write_text("\n".join(lines[:5]), encoding="utf-8")
    at_work.judge()
    again = at_work.prepare()
    assert (again.run, again.new, again.judged) == (1, False, 5)
    (tmp_path / "verdicts.jsonl").write_text("\n".join(lines), encoding="utf-8")
    at_work.judge()
    later = at_work.prepare()
    assert (later.run, later.new, later.judged) == (2, True, 0)


def test_an_unknown_rater_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="There is no rater 'zoe'") as caught:
        bench(tmp_path).prepare("zoe")
    assert "ann, ben" in caught.value.remedy


def test_a_certification_workbook_is_no_stranger_to_pull(tmp_path: Path) -> None:
    from sheetsync.services.provision import provision
    from sheetsync.services.pull import pull

    at_work = Bench(write(tmp_path))
    at_work.prepare("ann")
    with at_work.session() as session:
        provision(session, "2026-07-01T02:00:00Z")
        found = pull(session, "2026-07-01T02:00:00Z")
    assert [problem.message for problem in found.problems] == []
