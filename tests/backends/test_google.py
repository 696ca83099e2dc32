"""Workbooks on Google: the contract, and what only Google can do to us."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from sheetsync.backends.base import Known, Place, SheetBackend
from sheetsync.backends.google import GoogleBackend
from sheetsync.backends.google_http import GoogleClient
from sheetsync.backends.google_present import tab_id
from sheetsync.domain.workbook import Cell, ColumnSpec, Link, TabSpec, WorkbookSpec, expected_reading
from sheetsync.errors import BackendError, WorkbookMissingError, WorkbookUnreadableError
from tests.backends.contract import OTHER, RATER, SUMMARY, BackendContract, scoring_spec, summary_spec
from tests.backends.google_worlds import (
    ADJUDICATION,
    BOT,
    SERVICE,
    START,
    STUDY,
    World,
    marks,
    settings,
    tempo,
    world,
)
from tests.sheets_emulator import faults
from tests.sheets_emulator.faults import Fault


class TestGoogleBackend(BackendContract):
    is_live = True

    def make(self, folder: Path) -> SheetBackend:
        self.world = world(folder)
        return self.world.backend

    def add_tab(self, backend: SheetBackend, place: Place, title: str) -> None:
        file_id = backend.location(place).split("/")[-2]
        self.world.person(BOT).change(file_id, {"addSheet": {"properties": {"title": title}}})

    def open_elsewhere(self, backend: SheetBackend, place: Place) -> None:
        """Everybody has it open all the time."""

    def backups(self, backend: SheetBackend) -> int:
        return len(list((cast("GoogleBackend", backend)._private / "backups").iterdir()))

    def has_result_beside(self, backend: SheetBackend, place: Place) -> bool:  # noqa: ARG002
        return len(self.world.emulator.spreadsheets()) > 1

    # --- calls

    def test_the_calls_of_each_task(self, backend: SheetBackend) -> None:
        calls = self.world.emulator.calls
        backend.create(RATER, scoring_spec())
        assert backend.share(RATER) == ""
        assert self.world.kinds() == ["files.create", "spreadsheets.batchUpdate", "permissions.create"]
        start = len(calls)
        assert backend.share(RATER) == ""
        assert backend.missing([RATER, OTHER]) == []
        assert self.world.kinds(start) == []
        assert backend.versions([RATER, OTHER])[OTHER] is None
        backend.read(RATER)
        assert self.world.kinds(start) == ["files.list", "spreadsheets.get"]

    def test_another_process_goes_on(self, backend: SheetBackend) -> None:
        backend.create(RATER, scoring_spec())
        start = len(self.world.emulator.calls)
        self.world.backend.create(OTHER, scoring_spec("study/A2/main"))
        assert self.world.kinds(start) == ["files.create", "spreadsheets.batchUpdate"]

    def test_a_rewrite_of_what_nobody_touched_reads_nothing(
        self, backend: SheetBackend, published: Known
    ) -> None:
        assert self.replace_again(backend, published) == ""
        version = backend.versions([SUMMARY])[SUMMARY]
        known = Known(expected_reading(summary_spec((0.9,))).tabs, {"Agreement": ["Comment"]}, version or "")
        start = len(self.world.emulator.calls)
        done = self.world.backend.replace(SUMMARY, summary_spec((0.7, 0.1)), known, version_read=version)
        assert (done.obstacle, done.version) == ("", backend.versions([SUMMARY])[SUMMARY])
        assert self.world.emulator.count("read", since=start) == 0
        assert self.world.emulator.count("write", since=start) == 1
        assert backend.read(SUMMARY) == expected_reading(summary_spec((0.7, 0.1)))

    def test_a_way_lies_under_a_text_until_it_is_drawn_without(self, backend: SheetBackend) -> None:
        def spec(*, leads: bool) -> WorkbookSpec:
            cell = Cell("=A1", "code", Link("", "T", "A2") if leads else None)
            return WorkbookSpec("T", (TabSpec("T", (ColumnSpec("a"),), ((cell,),)),), marker="study/summary")

        def link() -> object:
            fields = "sheets(data(rowData(values(userEnteredFormat(textFormat(link))))))"
            found = self.world.person(BOT).look(self.world.id_of(SUMMARY), fields)
            rows = found["sheets"][0]["data"][0]["rowData"]
            return rows[1]["values"][0].get("userEnteredFormat", {}).get("textFormat", {}).get("link")

        backend.create(SUMMARY, spec(leads=True))
        assert link() == {"uri": f"#gid={tab_id('T')}&range=A2"}
        assert backend.read(SUMMARY) == expected_reading(spec(leads=True))
        version = backend.versions([SUMMARY])[SUMMARY]
        known = Known(expected_reading(spec(leads=True)).tabs, {}, version or "")
        start = len(self.world.emulator.calls)
        assert not backend.replace(SUMMARY, spec(leads=False), known, version_read=version).obstacle
        assert self.world.emulator.count("write", since=start) == 1
        assert link() is None

    # --- tabs

    def test_a_renamed_tab_of_ours_is_rewritten_where_it_is(
        self, backend: SheetBackend, published: Known
    ) -> None:
        book, bot = self.world.id_of(SUMMARY), self.world.person(BOT)
        before = [sheet["properties"]["sheetId"] for sheet in bot.look(book)["sheets"]]
        renamed = {"sheetId": tab_id("Agreement"), "title": "Old"}
        bot.change(book, {"updateSheetProperties": {"properties": renamed, "fields": "title"}})
        assert backend.read(SUMMARY).tabs[0].title == "Old"
        assert self.replace_again(backend, published) == ""
        assert backend.read(SUMMARY) == expected_reading(summary_spec((0.9,)))
        assert [sheet["properties"]["sheetId"] for sheet in bot.look(book)["sheets"]] == before

    def test_cells_of_people_in_a_renamed_tab_are_kept(self, backend: SheetBackend, published: Known) -> None:
        renamed = {"sheetId": tab_id("Agreement"), "title": "Old"}
        book = self.world.id_of(SUMMARY)
        self.world.person(BOT).change(
            book, {"updateSheetProperties": {"properties": renamed, "fields": "title"}}
        )
        self.world.person(BOT).type(book, "Old!B2", "mine")
        assert "Agreement!B2" in self.replace_again(backend, published)

    def test_a_deleted_tab_of_ours_comes_back(self, backend: SheetBackend, published: Known) -> None:
        self.add_tab(backend, SUMMARY, "Mine")
        book = self.world.id_of(SUMMARY)
        self.world.person(BOT).change(book, {"deleteSheet": {"sheetId": tab_id("Agreement")}})
        assert self.replace_again(backend, published) == ""
        titles = [grid.title for grid in backend.read(SUMMARY).tabs]
        assert sorted(titles) == ["Agreement", "Mine"]

    def test_a_tab_that_was_deleted_and_made_anew_is_read(self, backend: SheetBackend) -> None:
        backend.create(RATER, scoring_spec())
        book, bot = self.world.id_of(RATER), self.world.person(BOT)
        copy = {"sourceSheetId": tab_id("Scoring"), "newSheetName": "Scores"}
        bot.change(book, {"duplicateSheet": copy}, {"deleteSheet": {"sheetId": tab_id("Scoring")}})
        reading = backend.read(RATER)
        assert reading.marker == "study/A1/main"
        assert sorted(grid.title for grid in reading.tabs) == ["Scores", "Start here"]
        assert next(grid for grid in reading.tabs if grid.title == "Scores").cell(1, 0) == "00001E"


# --- what Google does to us ----------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path) -> World:
    return world(tmp_path)


FAULTS: list[Fault] = [*faults.COMMON.values(), faults.rate_limit(retry_after=7), faults.server_error(500, html=True),
                       faults.slow(400), faults.refused("rateLimitExceeded")]  # fmt: skip
STEPS = ("files.create", "spreadsheets.batchUpdate", "permissions.create", "files.list", "spreadsheets.get")


@pytest.mark.parametrize("kind", STEPS)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
@pytest.mark.parametrize("times", [1, 3])
def test_a_fault_at_any_step_is_survived(place: World, fault: Fault, kind: str, times: int) -> None:
    place.emulator.faults.add(fault, kind=kind, times=times)
    backend = place.backend
    backend.create(RATER, scoring_spec())
    assert backend.share(RATER) == ""
    assert backend.versions([RATER])[RATER]
    assert backend.read(RATER) == expected_reading(scoring_spec())
    assert marks(place.emulator) == ["raters/A1/main"]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
@pytest.mark.parametrize("kind", ["spreadsheets.batchUpdate", "spreadsheets.get", "files.get", "files.list"])
def test_a_fault_while_rewriting_is_survived(place: World, fault: Fault, kind: str) -> None:
    backend = place.backend
    backend.replace(SUMMARY, summary_spec((0.1,) * 9), Known(), version_read=None)
    backend.type_cells(SUMMARY, "Agreement", {(1, 2): "mine"})
    place.emulator.faults.add(fault, kind=kind)
    version = backend.versions([SUMMARY])[SUMMARY]
    known = Known(expected_reading(summary_spec((0.1,) * 9)).tabs, {"Agreement": ["Comment"]})
    done = backend.replace(SUMMARY, summary_spec(), known, version_read=version)
    assert done.obstacle == ""
    assert backend.read(SUMMARY) == expected_reading(summary_spec())
    assert done.version == backend.versions([SUMMARY])[SUMMARY]


class Killed(BaseException):
    """The process dies."""


@pytest.mark.parametrize("kind", ["files.create", "batchUpdate", "permissions.create"])
@pytest.mark.parametrize("is_applied", [False, True])
@pytest.mark.parametrize("has_index", [False, True])
def test_killed_at_any_call(
    place: World, monkeypatch: pytest.MonkeyPatch, kind: str, is_applied: bool, has_index: bool
) -> None:
    answer = place.emulator.handle
    path = {
        "files.create": "/drive/v3/files?",
        "batchUpdate": ":batchUpdate",
        "permissions.create": "/permissions",
    }[kind]

    def dying(method: str, url: str, *more: Any) -> Any:
        if path in url and method == "POST":
            if is_applied:
                answer(method, url, *more)
            raise Killed
        return answer(method, url, *more)

    with monkeypatch.context() as dies:
        dies.setattr(place.emulator, "handle", dying)
        backend = place.backend
        with pytest.raises(Killed):
            backend.share(RATER) if backend.create(RATER, scoring_spec()) else None
    if not has_index:
        (place.folder / ".sheetsync/google.json").unlink()
    backend = place.backend
    if kind != "permissions.create" and has_index:
        assert backend.versions([RATER]) == {RATER: None}, "what is not drawn to the end is not there yet"
    backend.create(RATER, scoring_spec())
    assert backend.share(RATER) == ""
    assert backend.read(RATER) == expected_reading(scoring_spec())
    assert marks(place.emulator) == ["raters/A1/main"]
    assert backend.versions([RATER])[RATER]


def test_killed_while_a_large_workbook_is_drawn(place: World) -> None:
    rows = tuple((f"{number:06X}", "word " * 6000) for number in range(100))
    tab = TabSpec("Responses", (ColumnSpec("Code"), ColumnSpec("Response")), rows)
    spec = WorkbookSpec("Large", (tab,), (), "study/A1/main")
    place.emulator.faults.add(faults.refused("PERMISSION_DENIED"), kind="batchUpdate", nth=2)
    with pytest.raises(BackendError, match=r"does not let bot@example\.org"):
        place.backend.create(RATER, spec)
    start = len(place.emulator.calls)
    place.backend.create(RATER, spec)
    assert place.kinds(start).count("spreadsheets.batchUpdate") > 1
    assert place.backend.read(RATER) == expected_reading(spec)
    assert marks(place.emulator) == ["raters/A1/main"]


def test_google_writes_fewer_cells_than_it_was_sent(place: World) -> None:
    place.emulator.faults.add(faults.fewer_cells(3), kind="batchUpdate", times=2)
    backend = place.backend
    backend.replace(SUMMARY, summary_spec((0.1,) * 9, marker=""), Known(), version_read=None)
    assert backend.read(SUMMARY).tabs == expected_reading(summary_spec((0.1,) * 9)).tabs
    assert [name for name, _ in place.emulator.faults.met] == ["fewer cells 3"] * 2


def test_listings_that_lag(place: World) -> None:
    place.emulator.clock.advance(1000)
    backend = place.backend
    backend.create(RATER, scoring_spec())
    place.emulator.faults.add(faults.stale(500), kind="files.list")
    version = backend.versions([RATER])[RATER]
    assert version, "a file that is not listed yet is not missing"
    place.emulator.clock.advance(100)
    place.person("bot@example.org").type(place.id_of(RATER), "Scoring!C2", 4)
    changed = backend.versions([RATER])[RATER]
    assert changed != version
    place.emulator.faults.add(faults.stale(50), kind="files.list")
    assert backend.versions([RATER])[RATER] == changed, "what was seen once does not go back"


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_file_that_may_have_been_made_is_looked_for_more_than_once(
    place: World, monkeypatch: pytest.MonkeyPatch, is_killed: bool
) -> None:
    place.emulator.clock.advance(1000)
    place.emulator.faults.add(faults.dropped("after"), kind="files.create")
    place.emulator.faults.add(faults.stale(500), kind="files.list")
    if is_killed:
        with monkeypatch.context() as dies:
            dies.setattr(place.emulator.clock, "advance", _die)
            with pytest.raises(Killed):
                place.backend.create(RATER, scoring_spec())
    place.backend.create(RATER, scoring_spec())
    assert marks(place.emulator) == ["raters/A1/main"]
    assert ("stale 500", "drive.files.list") in place.emulator.faults.met


def _die(seconds: float) -> None:
    if seconds:
        raise Killed


def test_fifty_workbooks_within_the_real_quotas(tmp_path: Path) -> None:
    place = world(tmp_path, quota="real")
    places = [Place("raters", "A1", f"add-{number}") for number in range(50)]
    backend = place.backend
    for each in places:
        backend.create(each, scoring_spec(f"study/{each}"))
        backend.share(each)
    for _ in range(3):
        backend.versions(places)
        for each in places:
            backend.read(each)
    assert place.emulator.count("read") == 150
    assert {call.status for call in place.emulator.calls} == {200}
    assert place.emulator.clock.now() - START < 3 * 61


# --- whose files, and where ----------------------------------------------------------------------


def test_a_service_account_without_room(tmp_path: Path) -> None:
    place = replace(world(tmp_path), identity=SERVICE)
    with pytest.raises(BackendError) as refused:
        place.backend.create(RATER, scoring_spec())
    assert f"{SERVICE} has no room for another file" in refused.value.message
    assert all(way in refused.value.remedy for way in ("shared drive", "sign in as a user", "`adopt`"))
    assert place.kinds() == ["files.create"], "at once"


def test_a_shared_drive(tmp_path: Path) -> None:
    place = replace(world(tmp_path), identity=SERVICE)
    drive = place.emulator.shared_drive("Study", {"c1@example.org": "organizer", SERVICE: "fileOrganizer"})
    place.study = settings({"folder": f"https://drive.google.com/drive/folders/{drive}"}, WITH_COORDINATOR)
    backend = place.backend
    backend.create(RATER, scoring_spec())
    assert backend.share(RATER) == ""
    assert backend.replace(SUMMARY, summary_spec(), Known(), version_read=None).obstacle == ""
    assert place.backend.versions([RATER])[RATER]
    assert place.backend.read(RATER) == expected_reading(scoring_spec())
    for values in ((0.9,), (0.8, 0.7)):
        version = backend.versions([SUMMARY])[SUMMARY]
        known = Known(backend.read(SUMMARY).tabs, {}, version or "")
        assert backend.replace(SUMMARY, summary_spec(values), known, version_read=version).obstacle == ""
    assert backend.exposures([RATER]) == []
    place.person("c1@example.org").share(place.id_of(RATER), "a2@example.org", "reader")
    assert "a2@example.org can open it" in backend.exposures([RATER])[0]


WITH_COORDINATOR = STUDY.replace(
    "[people]", '[people]\ncoordinators = [{ id = "C1", email = "c1@example.org" }]'
)


def test_coordinators_are_let_in_where_there_is_no_folder(tmp_path: Path) -> None:
    place = world(tmp_path, text=WITH_COORDINATOR)
    backend = place.backend
    for each, spec in ((RATER, scoring_spec()), (ADJUDICATION, summary_spec()), (SUMMARY, summary_spec())):
        backend.create(each, spec)
        assert backend.share(each) == ""
    assert place.kinds().count("permissions.create") == 5
    for each in (RATER, ADJUDICATION, SUMMARY):
        place.person("c1@example.org").look(place.id_of(each))
    place.person("e1@example.org").look(place.id_of(ADJUDICATION))
    assert backend.exposures([RATER, ADJUDICATION, SUMMARY]) == []
    assert place.emulator.mails == []


def test_mails_when_they_are_wanted(tmp_path: Path) -> None:
    place = world(tmp_path, {"notify": True})
    place.backend.create(RATER, scoring_spec())
    place.backend.share(RATER)
    assert [mail.to for mail in place.emulator.mails] == ["a1@example.org"]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (faults.refused("sharingRateLimitExceeded"), "limit for sharing"),
        (faults.refused("insufficientFilePermissions"), "does not let bot@example.org"),
    ],
)
def test_a_share_that_is_refused_is_made_up_for(place: World, fault: Fault, words: str) -> None:
    place.emulator.faults.add(fault, kind="permissions.create")
    place.backend.create(RATER, scoring_spec())
    obstacle = place.backend.share(RATER)
    assert "a1@example.org" in obstacle
    assert words in obstacle
    assert "A1 (a1@example.org) cannot open it" in place.backend.exposures([RATER])[0]
    assert place.backend.share(RATER) == ""
    assert place.backend.exposures([RATER]) == []


def test_addresses_that_google_cannot_share_with(tmp_path: Path) -> None:
    place = world(tmp_path, text=STUDY.replace('email = "a2@example.org"', ""))
    place.emulator.addresses_without_account.add("a1@example.org")
    for each in (RATER, OTHER):
        place.backend.create(each, scoring_spec(f"study/{each.rater}/main"))
    assert "belongs to no Google account" in place.backend.share(RATER)
    assert place.backend.share(OTHER) == "It is not shared with A2, who has no email in study.toml."
    assert place.backend.share(SUMMARY) == "It is not made yet, so it is not shared."


def test_an_alias_is_no_stranger(place: World) -> None:
    place.backend.create(RATER, scoring_spec())
    place.backend.share(RATER)
    file = place.emulator.files.files[place.id_of(RATER)]
    for entry in file.permissions.values():
        if entry["role"] == "writer":
            entry["emailAddress"] = "first.last@example.org"
    assert place.backend.exposures([RATER]) == []


# --- adopted files -------------------------------------------------------------------------------


@pytest.fixture
def adopted(tmp_path: Path) -> World:
    place = replace(world(tmp_path), identity=SERVICE)
    ann = place.person("c1@example.org")
    books = {name: ann.new_spreadsheet(name) for name in ("A1/main", "summary", "adjudication")}
    for book in books.values():
        ann.share(book, SERVICE)
    url = "https://docs.google.com/spreadsheets/d/{}/edit#gid=0"
    place.study = settings({"adopt": {name: url.format(book) for name, book in books.items()}})
    return place


def test_adopted_files_are_filled_and_found_again(adopted: World) -> None:
    assert adopted.backend.location(RATER).endswith("/edit")
    assert adopted.backend.versions([RATER, SUMMARY]) == {RATER: None, SUMMARY: None}
    adopted.backend.create(RATER, scoring_spec())
    assert adopted.backend.share(RATER) == ""
    assert adopted.backend.replace(SUMMARY, summary_spec(), Known(), version_read=None).obstacle == ""
    assert adopted.backend.read(RATER) == expected_reading(scoring_spec())
    assert "files.create" not in adopted.kinds(since=6)
    version = adopted.backend.versions([SUMMARY])[SUMMARY]
    known = Known(expected_reading(summary_spec()).tabs, {}, version or "")
    for values in ((0.9,), (0.8,)):
        version = adopted.backend.versions([SUMMARY])[SUMMARY]
        known = Known(adopted.backend.read(SUMMARY).tabs, {}, version or "")
        done = adopted.backend.replace(SUMMARY, summary_spec(values), known, version_read=version)
        assert done.obstacle == "", "whoever draws stays among the editors of what is protected"
    assert adopted.backend.create(RATER, scoring_spec()) == adopted.backend.versions([RATER])[RATER]
    assert len(adopted.emulator.spreadsheets()) == 3


def test_an_adopted_file_that_is_not_shared(adopted: World) -> None:
    file = adopted.emulator.files.files[adopted.id_of(RATER)]
    file.permissions = {key: entry for key, entry in file.permissions.items() if entry["role"] == "owner"}
    with pytest.raises(BackendError, match=f"Share it with {SERVICE} as an editor"):
        adopted.backend.create(RATER, scoring_spec())


def test_an_adopted_file_that_is_not_blank(adopted: World) -> None:
    book = adopted.id_of(RATER)
    adopted.person("c1@example.org").type(book, "Sheet1!A1", "my notes")
    with pytest.raises(BackendError, match=r"in the way.*'Sheet1' holds something"):
        adopted.backend.create(RATER, scoring_spec())
    assert adopted.person("c1@example.org").read(book, "Sheet1!A1") == [["my notes"]]


# --- files that people move about ----------------------------------------------------------------


def test_trashed_deleted_restored(place: World) -> None:
    backend, bot = place.backend, place.person()
    backend.create(RATER, scoring_spec())
    book = place.id_of(RATER)
    bot.trash(book)
    assert backend.versions([RATER]) == {RATER: None}
    assert place.backend.missing([RATER, OTHER]) == [RATER]
    with pytest.raises(WorkbookMissingError):
        backend.read(RATER)
    bot.call("PATCH", f"https://www.googleapis.com/drive/v3/files/{book}", {"trashed": False})
    assert backend.versions([RATER])[RATER]
    assert backend.missing([RATER]) == []
    bot.delete(book)
    with pytest.raises(WorkbookMissingError):
        backend.read(RATER)
    assert backend.versions([RATER]) == {RATER: None}
    backend.create(RATER, scoring_spec())
    assert backend.read(RATER) == expected_reading(scoring_spec())
    assert backend.missing([RATER]) == []


def test_of_twins_the_finished_one_counts(place: World) -> None:
    place.backend.create(RATER, scoring_spec())
    kept, bot = place.id_of(RATER), place.person()
    body = {
        "name": "twin",
        "mimeType": "application/vnd.google-apps.spreadsheet",
        "appProperties": {"sheetsync": "study", "sheetsyncPlace": "raters/A1/main"},
    }
    twin = bot.call("POST", "https://www.googleapis.com/drive/v3/files", body)["id"]
    place.emulator.files.files[twin].created = 0
    (place.folder / ".sheetsync/google.json").unlink()
    backend = place.backend
    assert backend.versions([RATER])[RATER]
    assert backend.read(RATER) == expected_reading(scoring_spec())
    assert place.id_of(RATER) == kept
    assert backend.strangers([RATER]) == [f"https://docs.google.com/spreadsheets/d/{twin}/edit"]


def test_names_that_do_not_fit_a_mark(tmp_path: Path) -> None:
    name = "א" * 64
    place = world(tmp_path, text=STUDY.replace('id = "A1"', f'id = "{name}"').replace('"study"', '"it\'s"'))
    long = Place("raters", name, "main")
    place.backend.create(long, scoring_spec())
    assert place.backend.share(long) == ""
    (place.folder / ".sheetsync/google.json").unlink()
    assert place.backend.versions([long])[long]
    assert place.backend.create(long, scoring_spec()) == place.backend.versions([long])[long]


def test_a_text_that_no_cell_can_hold(place: World) -> None:
    tab = TabSpec("T", (ColumnSpec("a"),), (("x" * 50_001,),))
    with pytest.raises(BackendError, match="Bad cannot be drawn: a text of 50001 characters"):
        place.backend.create(RATER, WorkbookSpec("Bad", (tab,)))


def test_the_index_is_private_and_looking_leaves_no_trace(place: World) -> None:
    assert place.backend.versions([RATER]) == {RATER: None}
    assert place.backend.location(RATER) == "(not made yet)"
    assert not (place.folder / ".sheetsync").exists()
    place.backend.create(RATER, scoring_spec())
    assert (place.folder / ".sheetsync/google.json").stat().st_mode & 0o777 == 0o600
    (place.folder / ".sheetsync/google.json").write_text("{")
    assert place.backend.versions([RATER])[RATER]


# --- versions, and whose account it is -----------------------------------------------------------


def test_what_nobody_can_see_is_no_change(place: World) -> None:
    """Drive's version moves with sharing too; only the time of the last change tells what is in the cells."""
    backend = place.backend
    backend.replace(SUMMARY, summary_spec(), Known(), version_read=None)
    version = backend.versions([SUMMARY])[SUMMARY]
    place.person().share(place.id_of(SUMMARY), "c1@example.org")
    known = Known(expected_reading(summary_spec()).tabs, {}, version or "")
    assert backend.replace(SUMMARY, summary_spec((0.9,)), known, version_read=version).obstacle == ""
    version = backend.versions([SUMMARY])[SUMMARY]
    place.person("c1@example.org").type(place.id_of(SUMMARY), "Agreement!C2", "mine")
    known = Known(expected_reading(summary_spec((0.9,))).tabs, {}, version or "")
    assert "changed" in backend.replace(SUMMARY, summary_spec(), known, version_read=version).obstacle


def test_a_version_that_cannot_be_had_afterwards(place: World) -> None:
    place.emulator.faults.add(faults.refused("PERMISSION_DENIED"), kind="files.get")
    done = place.backend.replace(SUMMARY, summary_spec(), Known(), version_read=None)
    assert (done.obstacle, done.version) == ("", "")
    assert place.backend.read(SUMMARY) == expected_reading(summary_spec())


def test_a_user_is_asked_for_once(place: World) -> None:
    def unnamed() -> GoogleClient:
        return GoogleClient(place.emulator.session(BOT), "", tempo(place.emulator))

    for _ in range(2):
        backend = GoogleBackend(place.study, place.folder / ".sheetsync", unnamed)
        backend.create(RATER, scoring_spec())
        assert backend.share(RATER) == ""
        version = backend.versions([SUMMARY])[SUMMARY]
        known = Known(backend.read(SUMMARY).tabs if version else (), {}, version or "")
        assert backend.replace(SUMMARY, summary_spec(), known, version_read=version).obstacle == ""
    assert place.kinds().count("about.get") == 1


def test_typing_makes_room_and_comes_in_few_calls(place: World) -> None:
    backend = place.backend
    backend.create(RATER, scoring_spec())
    start = len(place.emulator.calls)
    cells: dict[tuple[int, int], Any] = {
        (row, column): row * column for row in range(30) for column in (2, 3, 9)
    }
    backend.type_cells(RATER, "Scoring", cells)
    assert place.kinds(start) == ["spreadsheets.get", "spreadsheets.batchUpdate"]
    grid = backend.read(RATER).tabs[1]
    assert all(grid.cell(*cell) == value for cell, value in cells.items())


def test_a_backup_that_cannot_be_written_stops_the_rewrite(place: World) -> None:
    backend = place.backend
    backend.replace(SUMMARY, summary_spec(), Known(), version_read=None)
    (place.folder / ".sheetsync/backups").write_text("in the way")
    with pytest.raises(BackendError, match="nothing was replaced"):
        backend.replace(SUMMARY, summary_spec((0.9,)), Known(), version_read="1", force=True)
    assert backend.read(SUMMARY) == expected_reading(summary_spec())


def test_an_uploaded_excel_file(place: World) -> None:
    place.backend.create(RATER, scoring_spec())
    place.emulator.files.files[place.id_of(RATER)].book = None
    with pytest.raises(WorkbookUnreadableError, match="is no Google spreadsheet"):
        place.backend.read(RATER)
