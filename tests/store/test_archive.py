from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sheetsync.domain.assignment import CodedUnit
from sheetsync.domain.divergence import Verdict
from sheetsync.domain.ratings import Entry, EntryKind, Problem
from sheetsync.domain.workbook import DateCell, ErrorCell, FormulaCell, Grid
from sheetsync.errors import ArchiveError
from sheetsync.store.archive import Archive
from sheetsync.store.records import (
    AdjudicationReading,
    Changes,
    Event,
    Published,
    ReadingState,
    RowRecord,
    TextRecord,
    WorkbookReading,
    WorkbookRecord,
)
from tests.store.samples import AT, make_archive, read, score


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    with make_archive(tmp_path / "private") as made:
        yield made


def count(archive: Archive, table: str) -> int:
    with archive._reading() as connection:
        found: int = connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one()
        return found


# --- the file ----------------------------------------------------------------------------------


def test_file_and_folder_are_private(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        with make_archive(tmp_path / "private") as archive:
            archive.record_pull(AT, [])
            modes = {
                path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "private").iterdir()
            }
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "private").stat().st_mode) == 0o700
    assert modes == dict.fromkeys(("archive.sqlite", "archive.sqlite-wal", "archive.sqlite-shm"), 0o600)


def test_an_archive_that_was_opened_up_is_closed_again(tmp_path: Path) -> None:
    make_archive(tmp_path).close()
    (tmp_path / "archive.sqlite").chmod(0o644)
    Archive.open(tmp_path).close()
    assert stat.S_IMODE((tmp_path / "archive.sqlite").stat().st_mode) == 0o600


def test_commits_reach_the_disk(archive: Archive) -> None:
    with archive._reading() as connection:
        names = ("journal_mode", "synchronous", "foreign_keys")
        assert [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names] == ["wal", 2, 1]


def test_exists_makes_nothing(tmp_path: Path) -> None:
    assert not Archive.exists(tmp_path / "private")
    assert not (tmp_path / "private").exists()
    make_archive(tmp_path / "private").close()
    assert Archive.exists(tmp_path / "private")


def test_what_was_stored_is_there_after_reopening(tmp_path: Path) -> None:
    with make_archive(tmp_path) as archive:
        archive.record_pull(AT, [read("A1", score("u0", 3))])
    with Archive.open(tmp_path) as archive:
        assert archive.current_entries("A1") == {("A1", "main"): [score("u0", 3)]}


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_file_is_refused_and_kept(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "archive.sqlite").write_bytes(content)
    with pytest.raises(ArchiveError, match="damaged") as caught:
        Archive.open(tmp_path)
    assert caught.value.remedy
    assert (tmp_path / "archive.sqlite").read_bytes() == content


def test_damage_inside_the_file_is_reported(tmp_path: Path) -> None:
    make_archive(tmp_path, n_units=500).close()
    path = tmp_path / "archive.sqlite"
    content = bytearray(path.read_bytes())
    content[8192:] = b"\xaa" * (len(content) - 8192)
    path.write_bytes(content)
    with pytest.raises(ArchiveError, match="damaged"), Archive.open(tmp_path) as archive:
        archive.units()


def test_a_foreign_database_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "archive.sqlite"
    with sqlite3.connect(path) as foreign:
        foreign.execute("CREATE TABLE units (code)")
    foreign.close()
    with pytest.raises(ArchiveError, match="another program"):
        Archive.open(tmp_path)
    with sqlite3.connect(path) as foreign:
        assert foreign.execute("SELECT name FROM sqlite_master").fetchall() == [("units",)]
    foreign.close()


def test_a_folder_that_is_a_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "private").write_text("")
    with pytest.raises(ArchiveError, match="cannot be opened"):
        Archive.open(tmp_path / "private")


def test_a_read_only_archive_is_reported(archive: Archive) -> None:
    with archive._reading() as connection:
        connection.exec_driver_sql("PRAGMA query_only = ON")
    with pytest.raises(ArchiveError, match="read-only"):
        archive.record_pull(AT, [])


def test_an_interrupted_creation_starts_again(tmp_path: Path) -> None:
    (tmp_path / "archive.sqlite.unfinished").write_bytes(b"half")
    (tmp_path / "archive.sqlite.unfinished-journal").write_bytes(b"half")
    make_archive(tmp_path).close()
    assert {path.name for path in tmp_path.iterdir()} == {"archive.sqlite"}


APPEND_ONLY = ["units", "texts", "rubrics", "workbooks", "rows", "columns", "pulls", "readings", "entries"]


@pytest.mark.parametrize("table", [*APPEND_ONLY, "problems", "verdicts", "creations", "events", "migrations"])
@pytest.mark.parametrize("statement", ["DELETE FROM {}", "UPDATE {} SET {} = {}"])
def test_the_database_itself_refuses_to_forget(archive: Archive, table: str, statement: str) -> None:
    fill(archive)
    with archive._reading() as connection:
        column = connection.exec_driver_sql(f"PRAGMA table_info({table})").all()[0][1]
    with pytest.raises(ArchiveError, match=f"{table} is append-only"), archive._writing() as connection:
        connection.exec_driver_sql(statement.format(table, column, column))


def fill(archive: Archive) -> None:
    """Put a row into every table that `make_archive` leaves empty."""
    archive.mark_created("A1", "main", location="x", version="1", at=AT)
    archive.add_event(AT, "pull", "done")
    verdict = Verdict("u0", "coverage", "score", 3)
    problem = Problem("formula", "A formula.")
    archive.record_pull(
        AT, [read("A1", score("u0", 3), problems=[problem])], AdjudicationReading("read", "1", [verdict])
    )


# --- key, texts, rubrics, workbooks ------------------------------------------------------------


def test_units_keep_their_order(archive: Archive) -> None:
    late = CodedUnit("a-late-one", "q9", "", "model-y", calibration=True, side="A")
    archive.add_units([late])
    assert [unit.code for unit in archive.units()] == ["u0", "u1", "u2", "a-late-one"]
    assert archive.units()[-1] == late


@pytest.mark.parametrize(
    "again", [CodedUnit("u0", "q9", "", "model-x"), CodedUnit("other", "u0", "Macrina", "model-x")]
)
def test_a_unit_is_added_once(archive: Archive, again: CodedUnit) -> None:
    with pytest.raises(ArchiveError, match=f"{again.code} is in the key already"):
        archive.add_units([CodedUnit("new", "q8", "", "model-x"), again])
    assert len(archive.units()) == 3


def test_a_text_gets_a_number_when_it_is_new(archive: Archive) -> None:
    first = ("Question u0?", "Answer u0.")
    edited = ("Question u0?", "Answer u0, edited.")
    assert [archive.add_texts({"u0": text})["u0"] for text in (first, edited, edited, first)] == [1, 2, 2, 3]
    assert archive.texts()["u0"] == [TextRecord(1, *first), TextRecord(2, *edited), TextRecord(3, *first)]


def test_a_text_of_an_unknown_unit_is_refused(archive: Archive) -> None:
    with pytest.raises(ArchiveError, match="refused a record"):
        archive.add_texts({"nobody": ("", "")})


def test_a_text_that_is_not_unicode_is_explained(archive: Archive) -> None:
    with pytest.raises(ArchiveError, match=r"\\ud800"):
        archive.add_texts({"u0": ("", "half a character: \ud800")})


def test_a_rubric_is_kept_under_its_hash(archive: Archive) -> None:
    name = archive.add_rubric('{"version": "2"}')
    assert archive.add_rubric('{"version": "2"}') == name
    assert archive.rubric(name) == '{"version": "2"}'
    with pytest.raises(ArchiveError, match="no rubric"):
        archive.rubric("other")


def test_workbooks_come_back_as_planned(archive: Archive) -> None:
    rubric = archive.workbooks()[0].rubric
    rows = (RowRecord("u2"), RowRecord("u0"))
    planned = WorkbookRecord("A0", "rescore-1", "rescore", rubric, rows, None, "sheets/x.xlsx", "")
    made = replace(planned, batch="add-1", created=AT, version="7")
    archive.plan_workbooks([planned, made])
    assert archive.workbooks()[2:] == [planned, made]
    archive.mark_created("A0", "rescore-1", location="sheets/y.xlsx", version="8", at=AT)
    assert archive.workbooks()[2] == replace(planned, created=AT, location="sheets/y.xlsx", version="8")


def test_a_plan_is_written_down_as_a_whole(archive: Archive) -> None:
    first = archive.workbooks()[0]
    with pytest.raises(ArchiveError, match="A1/main is planned already"):
        archive.plan_workbooks([replace(first, batch="add-1"), first])
    with pytest.raises(ArchiveError, match="refused a record"):
        archive.plan_workbooks([replace(first, batch="add-1", rows=(RowRecord("u0", text=2),))])
    assert len(archive.workbooks()) == 2


# --- pulls -------------------------------------------------------------------------------------


def test_a_pull_counts_scores_only(archive: Archive) -> None:
    note = Entry("u0", "remark", "notes", "Fine.")
    tag = Entry("u0", "tag", "evasion", True)
    first = archive.record_pull(AT, [read("A1", score("u0", 3), score("u1", "N/A"), note, tag), read("A2")])
    assert first.changes == {("A1", "main"): Changes(new=2), ("A2", "main"): Changes()}
    second = archive.record_pull(AT, [read("A1", score("u1", 4), score("u2", 1))])
    assert second.changes == {("A1", "main"): Changes(new=1, changed=1, cleared=1)}
    assert archive.last_pull() == second
    assert (first.number, second.number) == (1, 2)


def test_before_the_first_pull_there_is_nothing(archive: Archive) -> None:
    assert archive.last_pull() is None
    assert archive.current_entries() == {("A1", "main"): [], ("A2", "main"): []}
    assert archive.current_problems() == []
    assert archive.versions() == {}
    assert archive.adjudication_version() is None
    assert archive.last_change("A1", "main") is None


def test_the_same_reading_twice_adds_no_revision(archive: Archive) -> None:
    reading = read("A1", score("u0", 3), problems=[Problem("formula", "A formula.", cell="B2")])
    archive.record_pull("t1", [reading])
    before = [count(archive, table) for table in ("entries", "problems")]
    assert archive.record_pull("t2", [reading]).changes == {("A1", "main"): Changes()}
    assert [count(archive, table) for table in ("entries", "problems")] == before
    assert archive.last_change("A1", "main") == "t1"


def test_history_keeps_every_value_with_its_text_over_batches(archive: Archive) -> None:
    archive.add_texts({"u0": ("Question?", "Another answer.")})
    rubric = archive.workbooks()[0].rubric
    archive.plan_workbooks([WorkbookRecord("A1", "rescore-1", "rescore", rubric, (RowRecord("u0", 2),))])
    archive.record_pull("t1", [read("A1", score("u0", 3))])
    archive.record_pull("t2", [read("A1")])
    archive.record_pull(
        "t3", [read("A1", score("u0", 3)), WorkbookReading("A1", "rescore-1", "read", "v", [score("u0", 5)])]
    )
    archive.record_pull("t4", [read("A2", score("u0", 1))])
    found = [
        (r.pull, r.at, r.value, r.batch, r.text) for r in archive.history("A1", "u0", "score", "coverage")
    ]
    assert found == [
        (1, "t1", 3, "main", 1),
        (2, "t2", None, "main", 1),
        (3, "t3", 3, "main", 1),
        (3, "t3", 5, "rescore-1", 2),
    ]
    assert archive.history("A1", "u0", "score", "other") == []


@pytest.mark.parametrize("state", ["unchanged", "missing", "unreadable", "guarded"])
def test_a_workbook_that_was_not_read_keeps_its_ratings(archive: Archive, state: ReadingState) -> None:
    archive.record_pull("t1", [read("A1", score("u0", 3), version="v1")])
    archive.record_pull("t2", [WorkbookReading("A1", "main", state, "v2")])
    assert archive.current_entries("A1")["A1", "main"] == [score("u0", 3)]
    assert archive.versions() == {("A1", "main"): "v1"}
    assert archive.last_change("A1", "main") == "t1"


def test_problems_stand_until_the_next_reading(archive: Archive) -> None:
    cell = Problem("not_a_level", "Not a level.", "A1", "main", "Scoring", "C2", "u0", "Coverage", "3 or 4")
    gone = Problem("not_a_workbook", "It is missing.", "A1", "main")
    unchanged = WorkbookReading("A1", "main", "unchanged", "v1")
    archive.record_pull("t1", [read("A1", version="v1", problems=[cell])])
    archive.record_pull("t2", [unchanged])
    assert archive.current_problems() == [cell]
    archive.record_pull("t3", [WorkbookReading("A1", "main", "missing", problems=[gone])])
    assert archive.current_problems() == [gone]
    archive.record_pull("t4", [unchanged])
    assert archive.current_problems() == [cell]
    archive.record_pull("t5", [read("A1", version="v2")])
    assert archive.current_problems() == []


def test_problems_come_in_workbook_order_then_adjudication_then_study(archive: Archive) -> None:
    def problem(text: str) -> Problem:
        return Problem("formula", text, severity="warning")

    archive.record_pull("t1", [read("A2", problems=[problem("c"), problem("b")])])
    archive.record_pull(
        "t2",
        [read("A1", problems=[problem("a")])],
        AdjudicationReading("read", "1", [], [problem("d")]),
        [problem("e")],
    )
    assert "".join(p.message for p in archive.current_problems()) == "acbde"
    archive.record_pull("t3", [], AdjudicationReading("unchanged", "1"))
    assert "".join(p.message for p in archive.current_problems()) == "acbd"


def test_a_pull_is_stored_as_a_whole(archive: Archive) -> None:
    impossible = [
        [read("A1", score("u0", 3)), read("A3")],
        [read("A1", score("u0", 3)), read("A2", score("nobody", 3))],
        [read("A1", score("u0", 3)), read("A2", score("u0", 3), score("u0", 4))],
        [read("A1", score("u0", 3)), read("A1", score("u0", 4))],
    ]
    for readings in impossible:
        with pytest.raises(ArchiveError):
            archive.record_pull(AT, readings)
    assert archive.last_pull() is None
    assert [count(archive, table) for table in ("entries", "readings", "columns")] == [0, 0, 0]


# --- verdicts ----------------------------------------------------------------------------------


def test_a_verdict_gets_a_revision_when_anything_differs(archive: Archive) -> None:
    first = Verdict("u0", "coverage", "score", 3, "Because.", "", "E1", {"A1": 2, "A2": 4})
    same = replace(first, basis={"A2": 4, "A1": 2})
    steps = [first, same, replace(first, verdict=3.0), replace(first, basis={"A1": 2, "A2": 5})]
    for step in steps:
        archive.record_pull(AT, [], AdjudicationReading("read", "1", [step]))
    assert archive.verdict_history("u0", "coverage", "score") == [first, steps[2], steps[3]]
    assert archive.current_verdicts() == [steps[3]]


def test_a_verdict_can_be_cleared_but_not_lost(archive: Archive) -> None:
    verdict = Verdict("u0", "coverage", "score", "N/A", adjudicator="E1")
    other = Verdict("u0", "coverage", "applicability", None, comment="Thinking.")
    cleared = Verdict("u0", "coverage", "score", None)
    archive.record_pull(AT, [], AdjudicationReading("read", "1", [verdict, other]))
    archive.record_pull(AT, [], AdjudicationReading("read", "2", []))
    archive.record_pull(AT, [], AdjudicationReading("unchanged", "2"))
    assert archive.current_verdicts() == [verdict, other]
    archive.record_pull(AT, [], AdjudicationReading("read", "3", [cleared, replace(cleared, code="u1")]))
    assert archive.current_verdicts() == [other]
    assert archive.verdict_history("u0", "coverage", "score") == [verdict, cleared]
    assert archive.verdict_history("u1", "coverage", "score") == []
    assert archive.adjudication_version() == "3"


# --- what we wrote, and the run log ------------------------------------------------------------


def test_published_tabs_come_back_cell_by_cell(archive: Archive) -> None:
    cells = (
        1,
        1.0,
        True,
        "x",
        "",
        None,
        FormulaCell("=A1", 2),
        DateCell(3.0, "1900-01-02"),
        ErrorCell("#REF!"),
    )
    known = Published((Grid("Summary", (cells, (), ("ä",))),), {"Summary": ["Reason"]}, "v1")
    assert archive.published("summary") == Published()
    archive.record_published("summary", Published((), {}, "v0"))
    archive.record_published("summary", known)
    found = archive.published("summary")
    assert found == known
    assert [type(cell) for cell in found.tabs[0].rows[0]] == [type(cell) for cell in cells]


def test_events_are_kept_in_order(archive: Archive) -> None:
    archive.add_event("t1", "run", "done")
    archive.add_event("t2", "pull", "incomplete")
    assert archive.events() == [Event("t1", "run", "done"), Event("t2", "pull", "incomplete")]


# --- properties --------------------------------------------------------------------------------

KINDS: list[EntryKind] = ["score", "confidence", "tag", "remark"]
values = st.one_of(st.integers(), st.floats(allow_nan=False), st.text(max_size=40), st.booleans())
cells = st.tuples(st.sampled_from(["u0", "u1", "u2"]), st.sampled_from(KINDS), st.sampled_from(["a", "b"]))
contents = st.dictionaries(cells, values, max_size=8).map(
    lambda found: [Entry(*cell, value) for cell, value in found.items()]
)
reading_steps = st.tuples(
    st.sampled_from(["A1", "A2"]), st.one_of(st.just("unchanged"), st.just("missing"), contents)
)


def exact(entries: list[Entry]) -> list[tuple[str, str, str, str]]:
    """Return entries in an order of their own, with the type of each value visible; -0.0 is 0.0."""
    values = [entry.value + 0.0 if isinstance(entry.value, float) else entry.value for entry in entries]
    return sorted((e.code, e.kind, e.column, repr(value)) for e, value in zip(entries, values, strict=True))


@settings(max_examples=30, deadline=None)
@given(st.lists(reading_steps, max_size=8))
def test_what_stands_is_the_last_reading_of_each_workbook(steps: list[tuple[str, str | list[Entry]]]) -> None:
    expected: dict[str, list[Entry]] = {"A1": [], "A2": []}
    with TemporaryDirectory() as folder, make_archive(Path(folder)) as archive:
        for rater, content in steps:
            if isinstance(content, str):
                state: ReadingState = "missing" if content == "missing" else "unchanged"
                archive.record_pull(AT, [WorkbookReading(rater, "main", state)])
                continue
            expected[rater] = content
            archive.record_pull(AT, [read(rater, *content)])
            revisions = count(archive, "entries")
            again = archive.record_pull(AT, [read(rater, *content)])
            assert again.changes == {(rater, "main"): Changes()}
            assert count(archive, "entries") == revisions
        for rater, content in expected.items():
            assert exact(archive.current_entries(rater)[rater, "main"]) == exact(content)
