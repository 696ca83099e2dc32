"""`pull`: what changed is archived once, a broken workbook stops nothing, people's files stay as they are."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest

from sheetsync.backends.base import Place
from sheetsync.backends.memory import MemoryBackend
from sheetsync.domain.ratings import Problem
from sheetsync.domain.workbook import Grid
from sheetsync.services.pull import Pulled
from sheetsync.services.session import ADJUDICATION
from tests.services.studies import (
    Desk,
    memory_desk,
    quick_study,
    reading_with,
    roster,
    tree,
    xlsx_desk,
)

ANN = Place("raters", "ann", "main")
MakeDesk = Callable[[Path], Desk]


@pytest.fixture(params=[memory_desk, xlsx_desk], ids=["memory", "xlsx"])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Desk:
    """A provisioned study on each backend."""
    made: Desk = request.param(tmp_path)
    made.provision()
    return made


@pytest.fixture
def files(tmp_path: Path) -> Desk:
    """A provisioned study whose workbooks are files, filled in by both raters and pulled."""
    made = xlsx_desk(tmp_path)
    made.provision()
    made.fill("ann")
    made.fill("ben")
    made.pull()
    return made


def counts(pulled: Pulled) -> dict[tuple[str, str], tuple[str, int, int, int]]:
    """Return state, new, changed and cleared of every workbook."""
    return {
        (w.rater, w.batch): (w.state, w.changes.new, w.changes.changed, w.changes.cleared)
        for w in pulled.workbooks
    }


def kinds(pulled: Pulled) -> list[tuple[str | None, str]]:
    return [(problem.rater, problem.kind) for problem in pulled.problems]


def only(pulled: Pulled) -> Problem:
    assert len(pulled.problems) == 1, pulled.problems
    return pulled.problems[0]


def scores(desk: Desk, rater: str = "ann", batch: str = "main") -> int:
    """Return how many scores are archived."""
    with desk.session() as session:
        found = session.archive.current_entries(rater, batch)[rater, batch]
    return sum(entry.kind == "score" for entry in found)


def path_of(desk: Desk, rater: str = "ann") -> Path:
    return desk.root / f"sheets/raters/{rater}/main.xlsx"


def edit(path: Path, change: Callable[[openpyxl.Workbook], object]) -> None:
    """Change a workbook as a person would who has it open."""
    book = openpyxl.load_workbook(path)
    change(book)
    book.save(path)


# --- what changed ---


def test_new_changed_and_cleared_scores_are_counted(desk: Desk) -> None:
    codes = list(desk.codes().values())
    desk.fill("ann", [(4, 4), ("N/A", 2)])
    assert counts(desk.pull()) == {("ann", "main"): ("read", 4, 0, 0), ("ben", "main"): ("read", 0, 0, 0)}
    desk.type_into("ann", "main", {codes[0]: {"Accuracy": 5, "Coverage": None}, codes[2]: {"Coverage": 1}})
    assert counts(desk.pull())["ann", "main"] == ("read", 1, 1, 1)


def test_tags_and_remarks_are_archived_but_not_counted(desk: Desk) -> None:
    code = desk.codes()["Q1", "Alder"]
    desk.type_into(
        "ann", "main", {code: {"evasion": "x", "hallucination": "nine of ten", "Notes": "see Life"}}
    )
    assert counts(desk.pull())["ann", "main"] == ("read", 0, 0, 0)
    with desk.session() as session:
        found = {(e.kind, e.column, e.value) for e in session.archive.current_entries("ann")["ann", "main"]}
    assert found == {
        ("tag", "evasion", True),
        ("tag", "hallucination", "nine of ten"),
        ("remark", "notes", "see Life"),
    }


def test_a_second_pull_stores_nothing_new(desk: Desk) -> None:
    code = desk.codes()["Q1", "Alder"]
    desk.type_into("ann", "main", {code: {"Accuracy": 4, "Coverage": "four"}})
    first = desk.pull()
    with desk.session() as session:
        before = session.archive.current_entries(), session.archive.last_change("ann", "main")
    second = desk.pull("2026-07-02T02:00:00Z")
    assert counts(second) == {
        ("ann", "main"): ("unchanged", 0, 0, 0),
        ("ben", "main"): ("unchanged", 0, 0, 0),
    }
    assert second.pull == first.pull + 1
    assert second.problems == first.problems
    assert [w.problems for w in second.workbooks] == [1, 0]
    with desk.session() as session:
        assert (session.archive.current_entries(), session.archive.last_change("ann", "main")) == before
        assert len(session.archive.history("ann", code, "score", "accuracy")) == 1


def test_history_keeps_what_was_changed_and_cleared(desk: Desk) -> None:
    code = desk.codes()["Q1", "Alder"]
    desk.fill("ann")
    for number, value in enumerate((4, 5, None, "5"), start=1):
        desk.type_into("ann", "main", {code: {"Accuracy": value}})
        desk.pull(f"2026-07-0{number}T02:00:00Z")
    with desk.session() as session:
        history = session.archive.history("ann", code, "score", "accuracy")
    assert [(each.value, each.at[:10]) for each in history] == [
        (4, "2026-07-01"),
        (5, "2026-07-02"),
        (None, "2026-07-03"),
        (5, "2026-07-04"),
    ]


def test_a_value_that_became_unreadable_is_cleared(desk: Desk) -> None:
    code = desk.codes()["Q1", "Alder"]
    desk.type_into("ann", "main", {code: {"Accuracy": 4}})
    desk.pull()
    desk.fill("ben")
    desk.type_into("ann", "main", {code: {"Accuracy": "4?", "Coverage": 3}})
    pulled = desk.pull()
    assert counts(pulled)["ann", "main"] == ("read", 1, 0, 1)
    problem = only(pulled)
    assert (problem.rater, problem.batch, problem.code, problem.column) == ("ann", "main", code, "Accuracy")
    assert (problem.found, problem.kind, problem.severity, problem.tab) == (
        "4?",
        "not_a_level",
        "error",
        "Scoring",
    )


def test_problems_have_exactly_the_keys_of_the_contract(desk: Desk) -> None:
    desk.type_into("ann", "main", {desk.codes()["Q1", "Alder"]: {"Accuracy": 9}})
    result = desk.pull().to_dict()
    assert list(result) == ["schema", "pull", "at", "workbooks", "problems"]
    workbooks, problems = result["workbooks"], result["problems"]
    assert isinstance(workbooks, list)
    assert isinstance(problems, list)
    assert list(workbooks[0]) == ["rater", "batch", "state", "ratings", "problems"]
    assert workbooks[0]["ratings"] == {"new": 0, "changed": 0, "cleared": 0}
    names = "rater batch tab cell code column found kind severity message"
    assert [list(problem) for problem in problems] == [names.split()]
    assert problems[0]["cell"] is not None


@pytest.mark.parametrize("value", [True, "TRUE", "3 or 4", "3-4", "4?", 0, 6, 3.5, "3,5", "=2+2"])
def test_what_is_no_level_stays_out(desk: Desk, value: str | float) -> None:
    desk.type_into("ann", "main", {desk.codes()["Q1", "Alder"]: {"Accuracy": value}})
    pulled = desk.pull()
    assert only(pulled).kind == ("formula" if value == "=2+2" else "not_a_level")
    assert counts(pulled)["ann", "main"] == ("read", 0, 0, 0)


@pytest.mark.parametrize("value", [3, 3.0, "3", " 3 ", "3.0", "٣"])
def test_what_is_a_level_counts(desk: Desk, value: str | float) -> None:
    code = desk.codes()["Q1", "Alder"]
    desk.type_into("ann", "main", {code: {"Accuracy": value, "imprecision": "x"}})
    pulled = desk.pull()
    assert pulled.problems == ()
    with desk.session() as session:
        assert session.archive.history("ann", code, "score", "accuracy")[0].value == 3


def test_a_broken_rule_is_a_problem_and_the_rating_counts(desk: Desk) -> None:
    desk.type_into(
        "ann", "main", {desk.codes()["Q1", "Alder"]: {"evasion": "x", "Accuracy": 5, "Coverage": 4}}
    )
    pulled = desk.pull()
    assert only(pulled).kind == "rule:evasion-coverage"
    assert counts(pulled)["ann", "main"] == ("read", 2, 0, 0)


# --- workbooks that cannot be read ---


def renamed_csv(desk: Desk) -> bytes:
    return b"Code,Accuracy\nABCDEF,4\n"


def protected_with_a_password(desk: Desk) -> bytes:
    return (
        bytes.fromhex("d0cf11e0a1b11ae1")
        + b"\0" * 500
        + "EncryptedPackage".encode("utf-16-le")
        + b"\0" * 2000
    )


def truncated(desk: Desk) -> bytes:
    content = path_of(desk).read_bytes()
    return content[: len(content) // 2]


def with_a_broken_part(desk: Desk) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(path_of(desk)) as package, zipfile.ZipFile(target, "w") as broken:
        for name in package.namelist():
            broken.writestr(name, b"<worksheet><sheetData" if "sheet1.xml" in name else package.read(name))
    return target.getvalue()


def of_another_rater(desk: Desk) -> bytes:
    return path_of(desk, "ben").read_bytes()


def of_another_study(desk: Desk) -> bytes:
    other = xlsx_desk(desk.root / ".other")
    study = (other.root / "study.toml").read_text(encoding="utf-8").replace('id = "demo"', 'id = "elsewhere"')
    (other.root / "study.toml").write_text(study, encoding="utf-8")
    other.provision()
    return path_of(other).read_bytes()


def of_no_study(desk: Desk) -> bytes:
    book = openpyxl.Workbook()
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


@pytest.mark.parametrize(
    ("broken", "kind"),
    [
        (lambda _: b"", "not_a_workbook"),
        (lambda _: b"PK\x03\x04 no more than this", "not_a_workbook"),
        (renamed_csv, "not_a_workbook"),
        (protected_with_a_password, "not_a_workbook"),
        (truncated, "not_a_workbook"),
        (with_a_broken_part, "not_a_workbook"),
        (of_another_rater, "not_in_study"),
        (of_another_study, "not_in_study"),
        (of_no_study, "not_in_study"),
    ],
    ids=["empty", "corrupt", "csv", "password", "truncated", "broken part", "rater", "study", "foreign"],
)
def test_a_broken_workbook_stops_no_other(files: Desk, broken: Callable[[Desk], bytes], kind: str) -> None:
    good, content = path_of(files).read_bytes(), broken(files)
    path_of(files).write_bytes(content)
    code = files.codes()["Q1", "Alder"]
    files.type_into("ben", "main", {code: {"Accuracy": 5}})
    pulled = files.pull()
    assert counts(pulled) == {("ann", "main"): ("unreadable", 0, 0, 0), ("ben", "main"): ("read", 0, 1, 0)}
    problem = only(pulled)
    assert (problem.rater, problem.batch, problem.kind) == ("ann", "main", kind)
    assert problem.found == "sheets/raters/ann/main.xlsx"
    assert problem.cell is None
    assert [each.path for each in pulled.incomplete] == ["sheets/raters/ann/main.xlsx"]
    assert path_of(files).read_bytes() == content
    assert scores(files) == 12
    assert kinds(files.pull()) == [("ann", kind)]
    path_of(files).write_bytes(good)
    repaired = files.pull()
    assert (repaired.problems, repaired.incomplete) == ((), ())
    assert counts(repaired)["ann", "main"][1:] == (0, 0, 0)


def test_a_missing_workbook_keeps_its_ratings(files: Desk) -> None:
    path_of(files).unlink()
    pulled = files.pull()
    assert counts(pulled)["ann", "main"] == ("missing", 0, 0, 0)
    assert [each.path for each in pulled.incomplete] == ["sheets/raters/ann/main.xlsx"]
    assert "provision" in pulled.incomplete[0].message
    assert scores(files) == 12


def test_a_folder_in_the_place_of_a_workbook_stops_no_other(files: Desk) -> None:
    path_of(files).unlink()
    path_of(files).mkdir()
    pulled = files.pull()
    assert counts(pulled)["ann", "main"][0] == "unreadable"
    assert counts(pulled)["ben", "main"][0] == "unchanged"


# --- workbooks that came back with less ---


def clear_scores(desk: Desk, keep: int) -> None:
    """Clear all but some scores of ann."""
    codes = list(desk.codes().values())
    desk.type_into("ann", "main", {c: {"Accuracy": None, "Coverage": None} for c in codes[keep // 2 :]})


@pytest.mark.parametrize(("keep", "state"), [(0, "guarded"), (4, "guarded"), (6, "guarded"), (8, "read")])
def test_emptied_or_halved_workbooks_are_guarded(desk: Desk, keep: int, state: str) -> None:
    desk.fill("ann")
    desk.pull()
    clear_scores(desk, keep)
    desk.fill("ben")
    pulled = desk.pull()
    assert counts(pulled)["ann", "main"][0] == state
    assert counts(pulled)["ben", "main"] == ("read", 12, 0, 0)
    if state == "read":
        assert (counts(pulled)["ann", "main"][3], pulled.problems) == (12 - keep, ())
        return
    assert scores(desk) == 12
    assert kinds(pulled) == [("ann", "emptied")]
    assert "--force" in pulled.incomplete[0].message
    assert counts(desk.pull())["ann", "main"][0] == "guarded"
    forced = desk.pull(force=True)
    assert counts(forced)["ann", "main"] == ("read", 0, 0, 12 - keep)
    assert (forced.incomplete, scores(desk)) == ((), keep)


def test_a_guarded_workbook_that_was_repaired_is_read(desk: Desk) -> None:
    desk.fill("ann")
    desk.pull()
    clear_scores(desk, 0)
    desk.pull()
    desk.fill("ann", [(5, 4)] * 6)
    pulled = desk.pull()
    assert counts(pulled)["ann", "main"] == ("read", 0, 6, 0)
    assert (pulled.problems, pulled.incomplete) == ((), ())


def test_a_lost_column_is_guarded(files: Desk) -> None:
    good = path_of(files).read_bytes()

    def rename(book: openpyxl.Workbook) -> None:
        header = next(cell for cell in book["Scoring"][1] if cell.value == "Coverage")
        header.value = "Breadth"

    edit(path_of(files), rename)
    pulled = files.pull()
    assert counts(pulled)["ann", "main"] == ("guarded", 0, 0, 0)
    problem = only(pulled)
    assert (problem.kind, problem.column) == ("missing_column", "Coverage")
    assert "Breadth" in problem.message
    assert scores(files) == 12
    path_of(files).write_bytes(good)
    assert files.pull().problems == ()
    edit(path_of(files), rename)
    assert counts(files.pull(force=True))["ann", "main"] == ("read", 0, 0, 6)


def test_deleted_rows_keep_their_last_ratings(files: Desk) -> None:
    code = files.codes()["Q1", "Alder"]
    row = list(files.cells("ann", "main")).index(code) + 2
    edit(path_of(files), lambda book: book["Scoring"].delete_rows(row))
    pulled = files.pull()
    assert counts(pulled)["ann", "main"] == ("read", 0, 0, 0)
    assert [(p.kind, p.code) for p in pulled.problems if p.kind == "missing_row"] == [("missing_row", code)]
    assert pulled.incomplete == ()
    assert scores(files) == 12
    state, _, _, cleared = counts(files.pull(force=True))["ann", "main"]
    assert (state, cleared) == ("read", 2)
    assert scores(files) == 10


# --- what people do to a workbook ---


def test_a_renamed_tab_and_moved_columns_do_not_matter(files: Desk) -> None:
    def rearrange(book: openpyxl.Workbook) -> None:
        sheet = book["Scoring"]
        sheet.title = "my scores"
        sheet.insert_rows(1)
        sheet["A1"] = "remember: 4 is good"
        sheet.insert_cols(1, 2)
        header = next(cell for cell in sheet[2] if cell.value == "Coverage")
        header.value = " COVERAGE\u00a0"
        book.move_sheet("my scores", 2)

    edit(path_of(files), rearrange)
    pulled = files.pull()
    assert counts(pulled)["ann", "main"] == ("read", 0, 0, 0)
    assert [p for p in pulled.problems if p.severity == "error"] == []
    assert scores(files) == 12


def test_sorted_rows_foreign_rows_and_foreign_tabs_do_not_matter(files: Desk) -> None:
    def sort(book: openpyxl.Workbook) -> None:
        sheet = book["Scoring"]
        rows = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2)]
        for number, row in enumerate(sorted(rows, key=str), start=2):
            for column, value in enumerate(row, start=1):
                sheet.cell(number, column).value = value
        sheet.cell(40, 3).value = "mean of my scores: 4"
        book.create_sheet("notes")["A1"] = "=SUM(1,2)"

    edit(path_of(files), sort)
    pulled = files.pull()
    assert counts(pulled)["ann", "main"] == ("read", 0, 0, 0)
    assert pulled.problems == ()


def test_a_code_twice_with_different_scores_keeps_that_dimension_out(desk: Desk) -> None:
    desk.fill("ann")
    desk.pull()
    grid = desk.grid(ANN, "Scoring")
    code, accuracy = str(grid.rows[1][0]), list(grid.rows[0]).index("Accuracy")
    last = len(grid.rows)
    cells = {(last, n): v for n, v in enumerate(grid.rows[1]) if isinstance(v, str | int | float)}
    desk.backend.type_cells(ANN, "Scoring", cells | {(last, accuracy): 5})
    pulled = desk.pull()
    assert counts(pulled)["ann", "main"] == ("read", 0, 0, 1)
    problem = only(pulled)
    assert (problem.kind, problem.code) == ("conflicting_rows", code)
    assert "rows 2 and 8" in problem.message
    desk.backend.type_cells(ANN, "Scoring", {(last, accuracy): 4})
    assert (only(desk.pull()).kind, scores(desk)) == ("duplicate_row", 12)


# --- beside the workbooks ---


def test_copies_are_reported_and_not_read(files: Desk) -> None:
    folder = path_of(files).parent
    for name in ("main (conflicted copy 2026-07-01).xlsx", "main - Kopie.xlsx", "holiday.jpg"):
        (folder / name).write_bytes(path_of(files).read_bytes())
    pulled = files.pull()
    assert [(p.rater, p.kind, p.severity) for p in pulled.problems] == [(None, "not_in_study", "warning")] * 3
    assert {str(p.found).rpartition("/")[0] for p in pulled.problems} == {"sheets/raters/ann"}
    assert pulled.incomplete == ()
    assert set(counts(pulled).values()) == {("unchanged", 0, 0, 0)}


def test_lock_files_of_programs_are_ignored(files: Desk) -> None:
    folder = path_of(files).parent
    for name in (".~lock.main.xlsx#", "~$main.xlsx", ".DS_Store", "Thumbs.db", "desktop.ini"):
        (folder / name).write_bytes(b"x")
    assert files.pull().problems == ()


def test_pull_never_writes_into_the_sheets(files: Desk) -> None:
    files.type_into("ann", "main", {files.codes()["Q1", "Alder"]: {"Accuracy": "nonsense"}})
    path_of(files, "ben").write_bytes(b"broken")
    before = tree(files.root / "sheets")
    files.pull(force=True)
    assert tree(files.root / "sheets") == before


def test_somebody_who_left_is_not_read(files: Desk) -> None:
    files.type_into("ben", "main", {files.codes()["Q1", "Alder"]: {"Accuracy": "nonsense"}})
    quick_study(files.root, {"study.toml": roster("ann")})
    pulled = files.pull()
    assert list(counts(pulled)) == [("ann", "main")]
    assert pulled.problems == ()
    assert scores(files, "ben") == 12


# --- adjudication ---


@pytest.fixture
def disputed(desk: Desk) -> Desk:
    """Four divergences in Accuracy, published."""
    desk.fill("ann", [(5, 4), (5, 4), (5, 4), (5, 4), (4, 4), (4, 4)])
    desk.fill("ben", [(1, 4), (1, 4), (1, 4), (1, 4), (4, 4), (4, 4)])
    for rater in ("ann", "ben"):
        desk.type_into(rater, "main", {code: {"imprecision": "x"} for code in desk.codes().values()})
    desk.pull()
    desk.publish()
    return desk


def states(desk: Desk) -> dict[str, str]:
    """Return the state of every divergence by code."""
    return {each.code: each.state for each in desk.analyze().divergences}


def test_a_verdict_settles_and_clearing_it_reopens(disputed: Desk) -> None:
    code = disputed.codes()["Q1", "Alder"]
    disputed.decide(code, Verdict=2, Reason="rater slip", Comment="agreed by phone", Adjudicator="eve")
    disputed.pull()
    assert states(disputed)[code] == "settled"
    with disputed.session() as session:
        (verdict,) = session.archive.current_verdicts()
    assert (verdict.verdict, verdict.reason, verdict.comment) == (2, "rater slip", "agreed by phone")
    assert (verdict.adjudicator, verdict.basis) == ("eve", {"ann": 5, "ben": 1})
    disputed.decide(code, Verdict=None)
    disputed.pull()
    assert states(disputed)[code] == "open"
    with disputed.session() as session:
        assert [v.verdict for v in session.archive.verdict_history(code, "accuracy", "score")] == [2, None]


def test_a_verdict_may_be_not_applicable(disputed: Desk) -> None:
    code = disputed.codes()["Q1", "Alder"]
    disputed.decide(code, Verdict="n/a")
    assert disputed.pull().problems == ()
    assert states(disputed)[code] == "settled"


@pytest.mark.parametrize("nonsense", ["maybe", 7, "2 or 3", True])
def test_a_verdict_that_is_no_level_settles_nothing(disputed: Desk, nonsense: str | int) -> None:
    code = disputed.codes()["Q1", "Alder"]
    disputed.decide(code, Verdict=nonsense)
    problem = only(disputed.pull())
    assert (problem.rater, problem.batch, problem.kind) == (None, "adjudication", "not_a_level")
    assert (problem.code, problem.column, problem.tab) == (code, "Verdict", "Adjudication")
    assert states(disputed)[code] == "open"
    assert kinds(disputed.pull()) == [(None, "not_a_level")]


def test_a_verdict_in_a_row_of_no_unit_is_reported(disputed: Desk) -> None:
    code = disputed.codes()["Q1", "Alder"]
    grid = disputed.grid(ADJUDICATION, "Adjudication")
    row = next(n for n, cells in enumerate(grid.rows) if cells[0] == code)
    verdict = list(grid.rows[0]).index("Verdict")
    disputed.backend.type_cells(ADJUDICATION, "Adjudication", {(row, 0): "ZZZZZZ", (row, verdict): 3})
    problem = only(disputed.pull())
    assert (problem.kind, problem.batch, problem.found) == ("unknown_code", "adjudication", "ZZZZZZ")
    assert set(states(disputed).values()) == {"open"}


def test_a_verdict_twice_with_different_values_is_not_read(disputed: Desk) -> None:
    code = disputed.codes()["Q1", "Alder"]
    grid = disputed.grid(ADJUDICATION, "Adjudication")
    header = list(grid.rows[0])
    disputed.decide(code, Verdict=2)
    last = len(grid.rows)
    again = {
        (last, header.index(name)): value
        for name, value in zip(header, (code, "Accuracy", "score"), strict=False)
    }
    disputed.backend.type_cells(ADJUDICATION, "Adjudication", again | {(last, header.index("Verdict")): 3})
    assert kinds(disputed.pull()) == [(None, "conflicting_rows")]
    assert states(disputed)[code] == "open"


def test_verdicts_that_all_vanish_are_guarded(disputed: Desk) -> None:
    open_ones = [code for code, state in states(disputed).items() if state == "open"]
    for code in open_ones:
        disputed.decide(code, Verdict=2)
    disputed.pull()
    for code in open_ones:
        disputed.decide(code, Verdict=None)
    pulled = disputed.pull()
    assert kinds(pulled) == [(None, "emptied")]
    assert len(pulled.incomplete) == 1
    assert set(states(disputed).values()) == {"settled"}
    disputed.pull(force=True)
    assert set(states(disputed).values()) == {"open"}


def test_a_lost_adjudication_tab_keeps_the_verdicts(disputed: Desk) -> None:
    code = disputed.codes()["Q1", "Alder"]
    disputed.decide(code, Verdict=2)
    disputed.pull()
    if (disputed.root / "sheets").exists():
        edit(
            disputed.root / "sheets/adjudication/adjudication.xlsx",
            lambda book: setattr(book["Adjudication"], "title", "Other"),
        )
    else:
        grid = disputed.grid(ADJUDICATION, "Adjudication")
        changed = reading_with(disputed.backend, ADJUDICATION, {"Adjudication": Grid("Other", grid.rows)})
        assert isinstance(disputed.backend, MemoryBackend)
        disputed.backend.put(ADJUDICATION, changed)
    pulled = disputed.pull()
    assert kinds(pulled) == [(None, "missing_column")]
    assert len(pulled.incomplete) == 1
    assert states(disputed)[code] == "settled"


def test_an_unreadable_adjudication_workbook_stops_nothing(files: Desk) -> None:
    files.publish()
    (files.root / "sheets/adjudication/adjudication.xlsx").write_bytes(b"broken")
    files.fill("ann", [(5, 5)])
    pulled = files.pull()
    assert counts(pulled)["ann", "main"] == ("read", 0, 2, 0)
    problem = only(pulled)
    assert (problem.rater, problem.batch, problem.kind) == (None, "adjudication", "not_a_workbook")
    assert problem.found == "sheets/adjudication/adjudication.xlsx"
    assert [each.path for each in pulled.incomplete] == ["sheets/adjudication/adjudication.xlsx"]


def test_the_adjudication_workbook_of_another_study_is_not_read(files: Desk) -> None:
    files.publish()
    other = xlsx_desk(files.root / ".other")
    study = (other.root / "study.toml").read_text(encoding="utf-8").replace('id = "demo"', 'id = "elsewhere"')
    (other.root / "study.toml").write_text(study, encoding="utf-8")
    other.provision()
    other.publish()
    name = "sheets/adjudication/adjudication.xlsx"
    (files.root / name).write_bytes((other.root / name).read_bytes())
    pulled = files.pull()
    assert kinds(pulled) == [(None, "not_a_workbook")]
    assert "elsewhere/adjudication" in pulled.incomplete[0].message
