"""What the archive remembers about claims, and about when rows were first scored."""

from __future__ import annotations

from pathlib import Path

import pytest

from sheetsync.domain.habits.pace import FirstScores
from sheetsync.errors import ArchiveError
from sheetsync.store.archive import Archive
from sheetsync.store.records import WorkbookReading
from tests.store.samples import AT, make_archive, read, score


def test_only_what_changed_is_appended(tmp_path: Path) -> None:
    first, second = ("coverage", "Alder", "Briar"), ("coverage", "Alder", "Cedar")
    with make_archive(tmp_path) as archive:
        assert archive.last_claims() == {}
        archive.record_claims(AT, {first: "finding", second: "provisional"})
        archive.record_claims("2026-07-02T02:00:00Z", {first: "finding", second: "not_separable"})
        archive.record_claims("2026-07-03T02:00:00Z", {first: "finding"})
    with Archive.open(tmp_path) as archive:
        assert archive.last_claims() == {first: "finding", second: "not_separable"}
        with archive._reading() as connection:
            assert connection.exec_driver_sql("SELECT count(*) FROM claims").scalar_one() == 3


@pytest.mark.parametrize("statement", ["DELETE FROM claims", "UPDATE claims SET strength = 'finding'"])
def test_claims_are_append_only(tmp_path: Path, statement: str) -> None:
    with make_archive(tmp_path) as archive:
        archive.record_claims(AT, {("coverage", "Alder", "Briar"): "provisional"})
        with pytest.raises(ArchiveError), archive._writing() as connection:
            connection.exec_driver_sql(statement)
        assert list(archive.last_claims().values()) == ["provisional"]


def test_rows_count_at_the_pull_that_saw_their_first_score(tmp_path: Path) -> None:
    days = [f"2026-07-0{day}T02:00:00Z" for day in range(1, 6)]
    with make_archive(tmp_path) as archive:
        archive.mark_created("A1", "main", location="a", version="v", at="2026-06-30T02:00:00Z")
        archive.record_pull(days[0], [read("A1", score("u0", 3), score("u0", 4, "accuracy"))])
        archive.record_pull(days[1], [WorkbookReading("A1", "main", "missing")])
        archive.record_pull(days[2], [read("A1", score("u0", 5), score("u1", 2))])  # u0 was scored before
        archive.record_pull(days[3], [WorkbookReading("A1", "main", "unchanged"), read("A2", score("u2", 1))])
        archive.record_pull(days[4], [read("A1", score("u1", 2), score("u2", 2)), read("A2")])
        found = archive.first_scores()
    assert found == [
        FirstScores("A1", "main", "2026-06-30T02:00:00Z", days[0], 1),
        FirstScores("A1", "main", days[0], days[2], 1),
        FirstScores("A1", "main", days[3], days[4], 1),
        FirstScores("A2", "main", None, days[3], 1),
    ]
