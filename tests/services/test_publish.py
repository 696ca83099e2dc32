"""`publish`: ours is rewritten whole, what people typed stays, and where that is not safe nothing is lost."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from sheetsync.backends.base import Known, Place, Replaced
from sheetsync.backends.memory import MemoryBackend
from sheetsync.backends.xlsx import XlsxBackend
from sheetsync.cli.main import cli
from sheetsync.domain.workbook import FormulaCell, Reading, WorkbookSpec
from sheetsync.services.publish import Published
from sheetsync.services.session import ADJUDICATION, PRIVATE_FOLDER, SUMMARY
from sheetsync.store.archive import Archive
from sheetsync.store.records import Published as WrittenBefore
from tests.builders import QUESTIONS_CSV, RESPONSES_CSV, RUBRIC_TOML
from tests.services.studies import (
    NOW,
    QUICK_STUDY,
    Desk,
    memory_desk,
    quick_study,
    roster,
    table_of,
    xlsx_desk,
)

SUMMARY_FILE = "sheets/summary/summary.xlsx"
ADJUDICATION_FILE = "sheets/adjudication/adjudication.xlsx"
WRITTEN = ("reports/agreement.json", "reports/report.html", SUMMARY_FILE, ADJUDICATION_FILE)


def filled(desk: Desk) -> Desk:
    """Provision, and let two raters disagree on two units of six."""
    desk.provision()
    desk.fill("ann", [(5, 4), (5, 4), (4, 4), ("N/A", 4), (4, 4), (5, 5)])
    desk.fill("ben", [(3, 4), (4, 4), (4, 4), (4, 4), (4, 4), (2, 5)])
    ticked = [desk.codes()["Q1", "Alder"], desk.codes()["Q3", "Briar"]]
    desk.type_into("ben", "main", {code: {"imprecision": "x", "Notes": f"see {code}"} for code in ticked})
    desk.pull()
    return desk


@pytest.fixture(params=[memory_desk, xlsx_desk], ids=["memory", "xlsx"])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Desk:
    """A filled and pulled study on each backend."""
    made: Desk = filled(request.param(tmp_path))
    return made


@pytest.fixture
def files(tmp_path: Path) -> Desk:
    """A filled, pulled and published study whose workbooks are files."""
    made = filled(xlsx_desk(tmp_path))
    assert made.publish() == Published(WRITTEN, ())
    return made


def edit(path: Path, change: Callable[[openpyxl.Workbook], object]) -> None:
    book = openpyxl.load_workbook(path)
    change(book)
    book.save(path)


def unit_table(desk: Desk) -> list[dict[str, Any]]:
    """Return the table of units below the summary of the tab Results."""
    grid = desk.grid(SUMMARY, "Results")
    start = next(n for n, row in enumerate(grid.rows) if row[:1] == ("Code",))
    return [dict(row) for row in table_of(type(grid)(grid.title, grid.rows[start:]))]


def state_of(desk: Desk, code: str) -> str | None:
    return next((d.state for d in desk.analyze().divergences if d.code == code), None)


# --- what the tabs hold ---


def test_every_tab_has_its_header_in_the_first_row(desk: Desk) -> None:
    desk.publish()
    reading = desk.backend.read(SUMMARY)
    titles = ["Summary", "Agreement", "Divergences", "Results", "Tags", "Progress", "Problems"]
    assert [grid.title for grid in reading.tabs] == titles
    assert all(grid.rows[0][0] for grid in reading.tabs)
    columns = {grid.title: list(grid.rows[0]) for grid in reading.tabs}
    names = "Code Question_ID Figure Dimension Kind ann ben Range State Verdict Reason"
    assert columns["Divergences"] == names.split()
    assert list(unit_table(desk)[0]) == (
        ["Code", "Question_ID", "Figure", "Model", "Accuracy", "Accuracy from", "Coverage", "Coverage from"]
    )
    assert list(desk.grid(ADJUDICATION, "Adjudication").rows[0]) == [
        "Code", "Dimension", "Kind", "Question", "Response", "ann", "ann Notes", "ben", "ben Notes",
        "Verdict", "Reason", "Comment", "Adjudicator",
    ]  # fmt: skip


def test_numbers_are_numbers_and_zero_is_zero(desk: Desk) -> None:
    desk.publish()
    (ann, ben) = desk.summary("Progress")
    assert (ann["Assigned"], ann["Complete"], ann["Untouched"], ann["Invalid"]) == (6, 6, 0, 0)
    assert ben["Invalid"] == 0
    accuracy = desk.summary("Agreement")[0]
    assert (accuracy["Dimension"], accuracy["By"], accuracy["Missing"], accuracy["N/A"]) == (
        "Accuracy",
        "all",
        0,
        1,
    )
    assert isinstance(accuracy["Alpha"], float)
    assert accuracy["Rated 1"] == 0
    assert [row["Range"] for row in desk.summary("Divergences")] == [2, None, 3]


def test_the_report_says_what_the_command_says(files: Desk) -> None:
    from click.testing import CliRunner

    printed = CliRunner().invoke(cli, ["-C", str(files.root), "agreement", "--json"])
    assert printed.exit_code == 0
    written = (files.root / "reports/agreement.json").read_text(encoding="utf-8")
    assert json.loads(written) == json.loads(printed.stdout)
    assert written == printed.stdout


def test_a_shorter_rewrite_leaves_nothing_behind(desk: Desk) -> None:
    desk.publish()
    assert len(desk.summary("Divergences")) == 3
    desk.fill("ben", [(5, 4), (4, 4), (4, 4), ("N/A", 4), (4, 4), (5, 5)])
    desk.pull()
    desk.publish()
    assert desk.grid(SUMMARY, "Divergences").rows[1:] == ()
    assert desk.grid(ADJUDICATION, "Adjudication").rows[1:] == ()


def test_the_adjudication_workbook_never_names_a_model(tmp_path: Path) -> None:
    responses = RESPONSES_CSV.replace("Alder", "Quercine-9").replace("Briar", "Rosacea Max")
    desk = xlsx_desk(tmp_path, {"responses.csv": responses})
    desk.provision()
    desk.fill("ann", [(5, 5)] * 6)
    desk.fill("ben", [(1, 1)] * 6)
    desk.run()
    assert no_words_in(tmp_path / ADJUDICATION_FILE, MODELS)
    assert not no_words_in(tmp_path / SUMMARY_FILE, MODELS)
    assert b"Quercine-9" in (tmp_path / "reports/report.html").read_bytes()
    desk.publish(blind=True)
    for name in (*WRITTEN, "reports/report.html"):
        assert no_words_in(tmp_path / name, MODELS), name


MODELS = ("Quercine-9", "Rosacea Max", "alder-2026-03-14", "briar-2026-04-02")


def no_words_in(path: Path, words: tuple[str, ...]) -> bool:
    """Return whether none of the words stands in any byte of a file, unzipped where it is a package."""
    contents = [path.read_bytes()]
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as package:
            contents += [package.read(name) for name in package.namelist()]
    return not any(word.lower().encode() in content.lower() for word in words for content in contents)


def test_a_study_may_keep_its_results_blind(tmp_path: Path) -> None:
    desk = filled(memory_desk(tmp_path, {"study.toml": QUICK_STUDY + "[publish]\nmodels = false\n"}))
    desk.publish()
    assert list(unit_table(desk)[0])[:4] == ["Code", "Question_ID", "Figure", "Model"]
    assert {row["Model"] for row in unit_table(desk)} == {None}
    assert "Alder" not in (tmp_path / "reports/report.html").read_text(encoding="utf-8")


# --- final values ---


def test_final_values_follow_their_order(tmp_path: Path) -> None:
    desk = memory_desk(tmp_path, {"study.toml": roster("ann", "ben", "cat")})
    desk.provision()
    desk.fill("ann", [(5, 4), (5, 4), (4, 4), (4, 4), (3, 4), (5, 5)])
    desk.fill("ben", [(3, 4), (5, 4), (4, 4), (4, 4), (4, 4), (2, 5)])
    desk.fill("cat", [(3, 4), (4, 4), (4, 4), (None, 4), (None, 4), (5, 5)])
    desk.pull()
    desk.publish()
    desk.decide(desk.codes()["Q3", "Briar"], Verdict=1)
    desk.run()
    rows = {row["Code"]: row for row in unit_table(desk)}
    found = [(rows[code]["Accuracy"], rows[code]["Accuracy from"]) for code in desk.codes().values()]
    assert found == [
        (None, "unresolved"),  # 5 3 3: two of three do not settle a divergence
        (5, "majority"),
        (4, "unanimous"),
        (4, "unanimous"),
        (3.5, "mean"),
        (1, "verdict"),
    ]
    models = {code: model for (_, model), code in desk.codes().items()}
    assert {code: row["Model"] for code, row in rows.items()} == models
    assert [row["Question_ID"] for row in rows.values()] == ["Q1", "Q1", "Q2", "Q2", "Q3", "Q3"]


# --- what people typed ---


def test_what_was_typed_survives_even_before_it_is_pulled(desk: Desk) -> None:
    desk.publish()
    first, second = desk.codes()["Q1", "Alder"], desk.codes()["Q3", "Briar"]
    desk.decide(first, Verdict=4, Reason="rater slip", Comment="=1+1 is no sum", Adjudicator="eve")
    desk.decide(second, Verdict="perhaps 3", Comment="ask ben")
    for _ in range(2):
        assert desk.publish().incomplete == ()
        rows = {str(row["Code"]): row for row in desk.adjudication() if row["Kind"] == "score"}
        assert [rows[first][h] for h in ("Verdict", "Reason", "Adjudicator")] == [4, "rater slip", "eve"]
        assert [rows[second][h] for h in ("Verdict", "Reason", "Comment")] == ["perhaps 3", None, "ask ben"]
    pulled = desk.pull()
    assert [(p.kind, p.code) for p in pulled.problems if p.rater is None] == [("not_a_level", second)]
    assert (state_of(desk, first), state_of(desk, second)) == ("settled", "open")


def test_a_verdict_cleared_before_publish_stays_cleared(desk: Desk) -> None:
    desk.publish()
    code = desk.codes()["Q1", "Alder"]
    desk.decide(code, Verdict=4, Reason="rater slip")
    desk.run()
    desk.decide(code, Verdict=None, Reason=None)
    desk.publish()
    row = next(row for row in desk.adjudication() if row["Code"] == code)
    assert (row["Verdict"], row["Reason"]) == (None, None)
    desk.pull()
    assert state_of(desk, code) == "open"


def test_a_lost_adjudication_workbook_comes_back_with_its_verdicts(files: Desk) -> None:
    code = files.codes()["Q1", "Alder"]
    files.decide(code, Verdict=4, Reason="rater slip", Comment="on the phone", Adjudicator="eve")
    files.pull()
    (files.root / ADJUDICATION_FILE).unlink()
    files.publish()
    row = next(row for row in files.adjudication() if row["Code"] == code)
    assert [row[h] for h in ("Verdict", "Reason", "Comment", "Adjudicator")] == [
        4, "rater slip", "on the phone", "eve",
    ]  # fmt: skip
    files.pull()
    assert state_of(files, code) == "settled"


def test_a_rating_that_changes_after_the_verdict_is_said_and_kept(desk: Desk) -> None:
    desk.publish()
    code = desk.codes()["Q3", "Briar"]
    desk.decide(code, Verdict=3, Reason="rubric ambiguity")
    desk.run()
    assert state_of(desk, code) == "settled"
    desk.type_into("ben", "main", {code: {"Accuracy": 4}})  # 5 and 4: below the threshold
    desk.run()
    assert state_of(desk, code) == "changed_since_verdict"
    desk.type_into("ben", "main", {code: {"Accuracy": None}})
    desk.run()
    assert state_of(desk, code) == "withdrawn"
    row = next(row for row in desk.adjudication() if row["Code"] == code)
    assert (row["ann"], row["ben"], row["Verdict"], row["Reason"]) == (5, None, 3, "rubric ambiguity")
    shown = next(row for row in desk.summary("Divergences") if row["Code"] == code)
    assert (shown["State"], shown["Verdict"], shown["Reason"]) == ("withdrawn", 3, "rubric ambiguity")
    assert {row["Code"]: row["Accuracy from"] for row in unit_table(desk)}[code] == "verdict"
    desk.type_into("ben", "main", {code: {"Accuracy": 2}})
    desk.run()
    assert state_of(desk, code) == "settled"


def test_a_divergence_without_verdict_that_ends_disappears_unless_somebody_wrote_in_its_row(
    desk: Desk,
) -> None:
    desk.publish()
    first, second = desk.codes()["Q1", "Alder"], desk.codes()["Q3", "Briar"]
    desk.decide(first, Comment="I have asked ben")
    desk.type_into("ben", "main", {first: {"Accuracy": 5}, second: {"Accuracy": 5}})
    desk.run()
    assert (state_of(desk, first), state_of(desk, second)) == (None, None)
    assert [(row["Code"], row["Comment"]) for row in desk.adjudication() if row["Kind"] == "score"] == [
        (first, "I have asked ben")
    ]


def test_a_verdict_on_a_unit_that_left_the_files_is_not_lost(desk: Desk) -> None:
    desk.publish()
    code = desk.codes()["Q3", "Briar"]
    desk.decide(code, Verdict=3, Comment="keep me")
    quick_study(desk.root, {"responses.csv": "\n".join(RESPONSES_CSV.splitlines()[:-1]) + "\n"})
    assert desk.run().incomplete == ()
    assert [row["Comment"] for row in desk.adjudication() if row["Code"] == code] == ["keep me"]
    quick_study(desk.root)
    desk.run()
    assert state_of(desk, code) == "settled"


# --- where it is not safe to replace ---


def new_files(desk: Desk) -> list[str]:
    return sorted(path.name for path in desk.root.glob("sheets/**/*.new.xlsx"))


@pytest.mark.parametrize("place", [SUMMARY, ADJUDICATION], ids=str)
@pytest.mark.parametrize("foreign", ["tab", "cell"])
def test_what_people_added_is_never_overwritten(files: Desk, place: Place, foreign: str) -> None:
    path = files.root / files.backend.location(place)
    before = path.read_bytes()

    def add(book: openpyxl.Workbook) -> None:
        if foreign == "tab":
            book.create_sheet("my notes")["A1"] = "important"
        else:
            book.worksheets[0]["Z3"] = "important"

    edit(path, add)
    changed = path.read_bytes()
    result = files.publish()
    assert [each.path for each in result.incomplete] == [files.backend.location(place)]
    assert "my notes" in result.incomplete[0].message or "Z3" in result.incomplete[0].message
    assert path.read_bytes() == changed
    assert new_files(files) == [path.name.replace(".xlsx", ".new.xlsx")]
    assert files.pull().problems == ()  # the result beside it is never read
    path.write_bytes(before)
    assert files.publish().incomplete == ()
    assert new_files(files) == []


@pytest.mark.parametrize("sign", ["~$summary.xlsx", ".~lock.summary.xlsx#"])
def test_an_open_workbook_is_left_alone(files: Desk, sign: str) -> None:
    lock = files.root / "sheets/summary" / sign
    lock.write_text("eve")
    before = (files.root / SUMMARY_FILE).read_bytes()
    result = files.publish()
    assert [each.path for each in result.incomplete] == [SUMMARY_FILE]
    assert result.written == (*WRITTEN[:2], "sheets/summary/summary.new.xlsx", ADJUDICATION_FILE)
    assert (files.root / SUMMARY_FILE).read_bytes() == before
    lock.unlink()
    assert files.publish() == Published(WRITTEN, ())
    assert new_files(files) == []


def test_force_replaces_after_a_backup(files: Desk) -> None:
    path = files.root / SUMMARY_FILE
    edit(path, lambda book: book.create_sheet("my notes"))
    changed = path.read_bytes()
    assert files.publish(force=True) == Published(WRITTEN, ())
    assert [grid.title for grid in files.backend.read(SUMMARY).tabs if grid.title == "my notes"] == []
    backups = [p.read_bytes() for p in (files.root / PRIVATE_FOLDER / "backups").iterdir()]
    assert changed in backups
    assert files.publish() == Published(WRITTEN, ())


def test_an_unreadable_adjudication_workbook_is_kept_and_the_verdicts_lie_beside_it(files: Desk) -> None:
    code = files.codes()["Q1", "Alder"]
    files.decide(code, Verdict=4)
    files.pull()
    path = files.root / ADJUDICATION_FILE
    path.write_bytes(b"broken")
    result = files.run()
    assert result.exit_code == 3
    assert {each.path for each in result.incomplete} == {ADJUDICATION_FILE}
    assert path.read_bytes() == b"broken"
    assert new_files(files) == ["adjudication.new.xlsx"]
    assert files.publish(force=True).incomplete == ()
    assert next(row for row in files.adjudication() if row["Code"] == code)["Verdict"] == 4


class BusyBackend(XlsxBackend):
    """Somebody saves the summary while it is being replaced."""

    def replace(
        self, place: Place, spec: WorkbookSpec, known: Known, *, version_read: str | None, force: bool = False
    ) -> Replaced:
        if place == ADJUDICATION:
            edit(self._path(place), lambda book: setattr(book["Adjudication"]["J2"], "value", 3))
        return super().replace(place, spec, known, version_read=version_read, force=force)


def test_what_was_typed_between_reading_and_replacing_is_not_lost(files: Desk) -> None:
    backend = BusyBackend(files.root, files.root / PRIVATE_FOLDER)
    result = Desk(files.root, backend).publish()
    assert [each.path for each in result.incomplete] == [ADJUDICATION_FILE]
    assert "changed after it was read" in result.incomplete[0].message
    assert files.adjudication()[0]["Verdict"] == 3
    assert files.publish().incomplete == ()
    assert files.adjudication()[0]["Verdict"] == 3


# --- a publish that died half-way ---


def dying(after: int) -> Callable[[Archive, str, WrittenBefore], None]:
    """Return a `record_published` that fails when it is called for the n-th time."""
    real, calls = Archive.record_published, 0

    def record(archive: Archive, place: str, published: WrittenBefore) -> None:
        nonlocal calls
        calls += 1
        if calls > after:
            raise KeyboardInterrupt
        real(archive, place, published)

    return record


@pytest.mark.parametrize("after", range(8))
def test_a_publish_that_died_between_writing_and_noting_it_is_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    desk = filled(memory_desk(tmp_path))
    desk.publish()
    code = desk.codes()["Q1", "Alder"]
    for values in ([(1, 4)] * 6, [(5, 2)] * 6):  # dying twice in a row, each time over other figures
        desk.fill("ann", values)
        desk.pull()
        with monkeypatch.context() as patch:
            patch.setattr(Archive, "record_published", dying(after))
            with suppress(KeyboardInterrupt):
                desk.publish()
    desk.fill("ann", [(5, 4)] * 6)
    desk.decide(code, Verdict=4)
    assert desk.run().incomplete == ()
    assert [row["ann"] for row in desk.summary("Divergences") if row["Code"] == code] == [5]
    assert next(row for row in desk.adjudication() if row["Code"] == code)["Verdict"] == 4


def test_a_publish_that_dies_again_before_it_replaces_anything_is_completed_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = filled(memory_desk(tmp_path))
    desk.publish()
    desk.fill("ann", [(1, 4)] * 6)
    desk.pull()
    with monkeypatch.context() as patch:
        patch.setattr(Archive, "record_published", dying(1))  # after replacing the summary
        with pytest.raises(KeyboardInterrupt):
            desk.publish()
    desk.fill("ann", [(5, 2)] * 6)
    desk.pull()
    with monkeypatch.context() as patch:

        def die(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        patch.setattr(MemoryBackend, "replace", die)
        with pytest.raises(KeyboardInterrupt):
            desk.publish()
    assert desk.publish().incomplete == ()


def test_the_basis_of_a_verdict_is_what_was_shown_even_after_a_crash(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.publish()
    code = desk.codes()["Q1", "Alder"]
    desk.type_into("ben", "main", {code: {"Accuracy": 2}})
    desk.pull()
    with monkeypatch.context() as patch:
        patch.setattr(Archive, "record_published", dying(4))  # the workbook is there, the note is not
        with pytest.raises(KeyboardInterrupt):
            desk.publish()
    assert next(row for row in desk.adjudication() if row["Code"] == code)["ben"] == 2
    desk.decide(code, Verdict=3)
    desk.pull()
    assert state_of(desk, code) == "settled"


# --- hostile texts ---

HOSTILE = (
    "=1+1",
    "<script>alert(1)</script>",
    "{{7*7}}",
    "@SUM(A1)",
    "+1",
    "-1+2",
    "=cmd|'/c calc'!A0",
    "[red]x",
)


def formulas(reading: Reading) -> list[FormulaCell]:
    return [
        cell for grid in reading.tabs for row in grid.rows for cell in row if isinstance(cell, FormulaCell)
    ]


def test_hostile_texts_stay_text_everywhere(tmp_path: Path) -> None:
    questions = "question_id,figure,tier,type,text\n" + "".join(
        f'{text!r},,"{text}",fact,"{text}"\n'.replace("'", "") for text in HOSTILE[:6]
    )
    responses = "question_id,figure,model,version,response\n" + "".join(
        f'{text!r},,"{text}",v-2026-01-01,"{text}"\n'.replace("'", "") for text in HOSTILE[:6]
    )
    study = QUICK_STUDY.replace('title = "A small study"', 'title = "=1+1 <b>{{7*7}}</b>"').replace(
        'id = "ben"', 'id = "=b+c"\nname = "<script>alert(1)</script>"'
    )
    desk = xlsx_desk(tmp_path, {"study.toml": study, "questions.csv": questions, "responses.csv": responses,
                                "reference/Macrina.md": None})  # fmt: skip
    desk.provision()
    codes = list(desk.codes().values())
    desk.fill("ann", [(5, 4)] * 6)
    desk.fill("=b+c", [(1, 4)] * 6)
    quoted = {
        code: {"Notes": f" {text}", "hallucination": f" {text}"}
        for code, text in zip(codes, HOSTILE, strict=False)
    }
    desk.type_into("=b+c", "main", quoted)
    desk.run()
    for code, text in zip(codes, HOSTILE, strict=False):
        desk.decide(code, Comment=f" {text}", Reason=f" {text}", Verdict=f" {text}")
    assert desk.run().published.incomplete == ()
    desk.publish()
    for code, text in zip(codes, HOSTILE, strict=False):
        row = next(row for row in desk.adjudication() if row["Code"] == code)
        assert (row["Response"], str(row["Comment"]).strip(), str(row["=b+c Notes"]).strip()) == (text,) * 3
    for place in (SUMMARY, ADJUDICATION):
        assert formulas(desk.backend.read(place)) == []
    assert [row["Rater"] for row in desk.summary("Progress")] == ["ann", "=b+c"]
    page = (tmp_path / "reports/report.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    assert "{{7*7}}" in page
    for path in (tmp_path / "sheets").rglob("*.xlsx"):
        book = openpyxl.load_workbook(io.BytesIO(path.read_bytes()))
        cells = [cell for sheet in book.worksheets for line in sheet.iter_rows() for cell in line]
        live = {str(cell.value) for cell in cells if cell.data_type == "f"}
        assert not [text for text in live if text.startswith(HOSTILE)]


@pytest.mark.parametrize("column", ["Accuracy", "evasion", "Code"])
def test_as_much_as_a_cell_holds_in_the_wrong_place_stops_nothing(tmp_path: Path, column: str) -> None:
    desk = xlsx_desk(tmp_path)
    desk.provision()
    desk.type_into("ann", "main", {desk.codes()["Q1", "Alder"]: {column: "y\n" * 16_383, "Coverage": 4}})
    ran = desk.run()
    assert (ran.exit_code, len(ran.pulled.problems)) == (0, 1 if column != "Code" else 2)
    (row,) = [row for row in desk.summary("Problems") if row["Found"]]
    assert str(row["Found"]).startswith("y")


# --- further parts ---


def test_a_reports_folder_that_cannot_be_written_stops_nothing_else(files: Desk) -> None:
    from click.testing import CliRunner

    for path in (files.root / "reports").iterdir():
        path.unlink()
    (files.root / "reports").rmdir()
    (files.root / "reports").write_text("in the way")
    done = CliRunner().invoke(cli, ["-C", str(files.root), "publish", "--json"])
    assert done.exit_code == 3
    assert [line.split(":")[0] for line in done.stderr.splitlines()] == [
        "reports/agreement.json",
        "reports/report.html",
    ]
    assert json.loads(done.stdout)["written"] == [
        "sheets/summary/summary.xlsx",
        "sheets/adjudication/adjudication.xlsx",
    ]


def test_a_study_without_figures_is_published(tmp_path: Path) -> None:
    strip: Mapping[str, str] = {
        "questions.csv": QUESTIONS_CSV.replace("Macrina,specific", ",specific").replace("{figure}", "she"),
        "responses.csv": RESPONSES_CSV.replace("Macrina,", ",").replace("Macrina", "she"),
        "rubric.toml": RUBRIC_TOML,
    }
    desk = filled(memory_desk(tmp_path, strip))
    assert desk.run(NOW).exit_code == 0
    assert {row["Figure"] for row in unit_table(desk)} == {None}
