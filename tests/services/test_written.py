"""A publish that died while it wrote a workbook that then cannot be judged: said loudly, and nothing is forgotten."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sheetsync.backends.base import Place
from sheetsync.backends.memory import MemoryBackend
from sheetsync.domain.workbook import Reading
from sheetsync.errors import BackendError
from sheetsync.services.session import ADJUDICATION, PRIVATE_FOLDER, SUMMARY
from sheetsync.store.archive import Archive
from sheetsync.store.records import Published
from tests.backends.google_worlds import World, world
from tests.services.studies import Desk, memory_desk, quick_study, xlsx_desk

FILES = {SUMMARY: "sheets/summary/summary.xlsx", ADJUDICATION: "sheets/adjudication/adjudication.xlsx"}
NOTES_UNTIL_WRITTEN = {SUMMARY: 1, ADJUDICATION: 4}
"""How many notes a publish takes before it has replaced the workbook and would note that."""


def filled(desk: Desk) -> Desk:
    desk.provision()
    desk.fill("ann", [(5, 4)] * 6)
    desk.fill("ben", [(3, 4)] * 6)
    desk.pull()
    return desk


def die_after_writing(desk: Desk, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Publish other figures than before, and die when the workbook is there and the note is not."""
    desk.fill("ann", [(1, 4)] * 6)
    desk.pull()
    real, notes = Archive.record_published, 0

    def record(archive: Archive, name: str, published: Published) -> None:
        nonlocal notes
        notes += 1
        if notes > NOTES_UNTIL_WRITTEN[place]:
            raise KeyboardInterrupt
        real(archive, name, published)

    with monkeypatch.context() as patch:
        patch.setattr(Archive, "record_published", record)
        with pytest.raises(KeyboardInterrupt):
            desk.publish()


@pytest.mark.parametrize("place", FILES)
@pytest.mark.parametrize("times", [1, 3])
def test_a_file_that_is_unreadable_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: Place, times: int
) -> None:
    desk = filled(xlsx_desk(tmp_path))
    desk.publish()
    die_after_writing(desk, place, monkeypatch)
    path = desk.root / FILES[place]
    whole = path.read_bytes()
    path.write_bytes(b"half of it is still being synced")
    for number in range(times):
        desk.fill("ann", [(5, number + 1)] * 6)
        ran = desk.run()
        assert ran.exit_code == 3
        told = [each.message for each in ran.incomplete if each.path == FILES[place]]
        assert any("interrupted" in message for message in told)
        assert path.read_bytes() == b"half of it is still being synced"
        assert path.with_suffix(".new.xlsx").exists()
    path.write_bytes(whole)
    assert desk.run().incomplete == ()
    assert not list(desk.root.glob("sheets/**/*.new.xlsx"))
    assert {row["ann"] for row in desk.summary("Divergences") if row["Dimension"] == "Accuracy"} == {5}


def test_an_unreadable_file_is_replaced_by_force_and_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = filled(xlsx_desk(tmp_path))
    desk.publish()
    die_after_writing(desk, SUMMARY, monkeypatch)
    (desk.root / FILES[SUMMARY]).write_bytes(b"broken for good")
    assert desk.publish().incomplete
    assert desk.publish(force=True).incomplete == ()
    backups = [path.read_bytes() for path in (desk.root / PRIVATE_FOLDER / "backups").iterdir()]
    assert b"broken for good" in backups
    desk.fill("ann", [(2, 4)] * 6)
    assert desk.run().incomplete == ()


@pytest.mark.parametrize("make", [memory_desk, xlsx_desk])
def test_what_somebody_typed_after_the_crash_is_named_alone_and_then_moved_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], Desk]
) -> None:
    desk = filled(make(tmp_path))
    desk.publish()
    die_after_writing(desk, SUMMARY, monkeypatch)
    tab = desk.backend.read(SUMMARY).tabs[0].title
    desk.backend.type_cells(SUMMARY, tab, {(99, 7): "mine"})
    for accuracy in (2, 4):
        desk.fill("ann", [(accuracy, 4)] * 6)
        ran = desk.run()
        assert ran.exit_code == 3
        (message,) = (each.message for each in ran.incomplete)
        assert f"{tab}!H100. " in f"{message} "
    desk.backend.type_cells(SUMMARY, tab, {(99, 7): None})
    assert desk.run().incomplete == ()


def test_a_missing_workbook_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = filled(xlsx_desk(tmp_path))
    desk.publish()
    die_after_writing(desk, SUMMARY, monkeypatch)
    (desk.root / FILES[SUMMARY]).unlink()
    assert desk.publish().incomplete == ()
    assert {row["ann"] for row in desk.summary("Divergences")} == {1}
    desk.fill("ann", [(2, 4)] * 6)
    assert desk.run().incomplete == ()


class SecondLookFails(MemoryBackend):
    """The adjudication workbook can be read once a minute, so to speak."""

    looks = 0

    def read(self, place: Place) -> Reading:
        self.looks += place == ADJUDICATION
        if place == ADJUDICATION and self.looks > 1:
            raise BackendError("The service is currently unavailable.", "Try again later.")
        return super().read(place)


def test_a_verdict_never_gets_the_figures_of_an_earlier_workbook_as_its_basis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = filled(memory_desk(tmp_path))
    desk.publish()
    code = desk.codes()["Q1", "Alder"]
    die_after_writing(desk, ADJUDICATION, monkeypatch)
    shown = next(row for row in desk.adjudication() if row["Code"] == code)
    desk.decide(code, Verdict=2)
    memory = desk.backend
    assert isinstance(memory, MemoryBackend)
    flaky: Any = SecondLookFails(memory.workbooks, _changes=memory._changes)
    Desk(desk.root, flaky).pull()
    with desk.session() as session:
        (verdict,) = session.archive.current_verdicts()
    assert (verdict.basis["ann"], verdict.basis["ben"]) == (shown["ann"], shown["ben"]) == (1, 3)


def test_a_tab_of_somebody_in_a_spreadsheet_hides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On Google tabs of people stay where they are, so one of them is no reason to doubt the rest."""
    place: World = world(tmp_path)
    desk = filled(Desk(quick_study(tmp_path), place.backend))
    desk.publish()
    book = place.id_of(SUMMARY)
    place.person().change(book, {"addSheet": {"properties": {"title": "Mine"}}})
    die_after_writing(desk, SUMMARY, monkeypatch)
    desk.backend = place.backend  # a new process
    desk.fill("ann", [(5, 4)] * 6)
    told = [each for each in desk.run().incomplete if book in each.path]
    assert [each.message for each in told if "share" not in each.message] == []
    assert {row["ann"] for row in desk.summary("Divergences") if row["Dimension"] == "Accuracy"} == {5}
    assert "Mine" in [grid.title for grid in desk.backend.read(SUMMARY).tabs]
