"""Certifications in the archive: numbered, append-only, the latest word on a case counts and no word is lost."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from sheetsync.domain.certification.cases import Case, KeyEntry, Metric, Presentation, Verdict
from sheetsync.errors import ArchiveError
from sheetsync.store.archive import Archive
from sheetsync.store.certifications import Judging
from tests.store.samples import AT

LATER = "2026-07-02T02:00:00Z"
CASES = (
    Case("K1", "score", "Q?", "T.", "", "Ré.", (Metric("tone", "Tone", "", ((0, "No."), ("hi", "Yes."))),)),
    Case("K2", "verdict", "Q?", "", "Admit it.", "R.", criterion="PASS: yes."),
)
KEY = (
    KeyEntry("K1", "anchors", "A1", expected={"tone": "hi"}, question_id="Q1", topic="Bread"),
    KeyEntry("K2", "discrimination", "P1", expected_verdict="FAIL", member="caves"),
)
SHOWN = Presentation(CASES, KEY, seed=4, minimum_gap=2, gap=3, second_look=1)
JUDGING = Judging(AT, "command", "judge-1", '["judge"]', "abc", fresh_session=True)


def add(archive: Archive) -> int:
    return archive.add_certification(AT, '{"version": "1"}', SHOWN, {"cases": "c"})


def test_a_run_comes_back_as_it_was(tmp_path: Path) -> None:
    with Archive.open(tmp_path) as archive:
        assert (add(archive), add(archive)) == (1, 2)
    with Archive.open(tmp_path) as archive:
        first, second = archive.certification_runs()
        assert archive.certification_presentation(1) == SHOWN
        assert (first.number, first.at, first.seed, first.minimum_gap, first.gap) == (1, AT, 4, 2, 3)
        assert (first.hashes, first.judgings, second.number) == ({"cases": "c"}, (), 2)
        assert archive.rubric(first.rubric) == '{"version": "1"}'
        assert [verdict.state for verdict in archive.certification_verdicts(1)] == ["missing", "missing"]


def test_the_latest_word_on_a_case_counts(tmp_path: Path) -> None:
    timeout = Verdict("K1", "timeout", why="slow")
    answer = Verdict("K1", "answered", {"tone": "hi"}, None, "so", "{}")
    other = Verdict("K2", "answered", verdict="FAIL")
    with Archive.open(tmp_path) as archive:
        run = add(archive)
        first = archive.start_judging(run, JUDGING)
        archive.add_judged(first, AT, [timeout, other])
        archive.end_judging(first, AT, "incomplete")
        second = archive.start_judging(run, JUDGING)
        archive.add_judged(second, LATER, [answer])
        assert archive.certification_verdicts(run) == [answer, other]
        assert archive.certification_order(run) == ["K2", "K1"]
        judgings = archive.certification_runs()[0].judgings
    assert [(each.state, each.ended, each.verdicts) for each in judgings] == [
        ("incomplete", AT, 2),
        ("", "", 1),
    ]
    assert (judgings[0].fresh_session, judgings[0].called) == (True, '["judge"]')


def test_runs_do_not_mix(tmp_path: Path) -> None:
    with Archive.open(tmp_path) as archive:
        first, second = add(archive), add(archive)
        judging = archive.start_judging(second, JUDGING)
        archive.add_judged(judging, AT, [Verdict("K2", "answered", verdict="PASS")])
        assert {each.state for each in archive.certification_verdicts(first)} == {"missing"}
        assert archive.certification_verdicts(second)[1].verdict == "PASS"


@pytest.mark.parametrize("table", ["certifications", "judgings", "judging_ends", "judged"])
@pytest.mark.parametrize("statement", ["DELETE FROM {}", "UPDATE {} SET at = ''"])
def test_nothing_is_changed_or_taken_away(tmp_path: Path, table: str, statement: str) -> None:
    with Archive.open(tmp_path) as archive:
        judging = archive.start_judging(add(archive), JUDGING)
        archive.add_judged(judging, AT, [Verdict("K1", "refused")])
        archive.end_judging(judging, AT, "complete")
    connection = sqlite3.connect(tmp_path / "archive.sqlite")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute(statement.format(table))
    connection.close()


def test_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    with Archive.open(tmp_path) as archive:
        assert archive.certification_runs() == []
        with pytest.raises(ArchiveError, match="no certification run 7"):
            archive.certification_presentation(7)
        with pytest.raises(ArchiveError):
            archive.start_judging(7, JUDGING)
