"""A whole study on Google, with people who type through accounts of their own: the same results as in memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from sheetsync.backends.base import Place
from sheetsync.domain.workbook import cell_name
from sheetsync.services.session import ADJUDICATION, SUMMARY
from sheetsync.services.status import status
from tests.backends.bad_nights import bad_night
from tests.backends.google_worlds import BOT, World, by_hand, google_desk, marks, world
from tests.services.studies import Desk, Typed, memory_desk, plain
from tests.sheets_emulator import Refused, faults

TYPED: Mapping[str, Mapping[tuple[str, str], Mapping[str, Typed]]] = {
    "ann": {
        ("Q1", "Alder"): {"Accuracy": 5, "Coverage": 4, "Notes": "the eldest of nine?"},
        ("Q1", "Briar"): {"Accuracy": 2, "Coverage": 4, "imprecision": True},
        ("Q2", "Alder"): {"Accuracy": "N/A", "Coverage": " 3 "},
        ("Q2", "Briar"): {"Accuracy": 3, "Coverage": 5},
        ("Q3", "Alder"): {"evasion": "x", "Coverage": 2, "Accuracy": 4},
    },
    "ben": {
        ("Q1", "Alder"): {"Accuracy": 5, "Coverage": 4},
        ("Q1", "Briar"): {"Accuracy": 5, "Coverage": 4, "hallucination": "She taught him Greek"},
        ("Q2", "Alder"): {"Accuracy": 4, "Coverage": 3},
        ("Q2", "Briar"): {"Accuracy": "4?", "Coverage": 9},
        ("Q3", "Alder"): {"Accuracy": 4, "Coverage": 5, "imprecision": "perhaps"},
    },
}
LATER: Mapping[tuple[str, str], Mapping[str, Typed]] = {("Q3", "Briar"): {"Accuracy": 1, "Coverage": 1}}


@pytest.fixture
def place(tmp_path: Path) -> World:
    return world(tmp_path / "google")


@pytest.fixture
def desk(tmp_path: Path, place: World) -> Desk:
    return google_desk(tmp_path / "google", place)


def in_memory(desk: Desk, rater: str, typed: Mapping[tuple[str, str], Mapping[str, Typed]]) -> None:
    codes = desk.codes()
    desk.type_into(rater, "main", {codes[unit]: values for unit, values in typed.items()})


def settle(desk: Desk, place: World | None) -> None:
    """Let the adjudicator decide the first divergence."""
    grid = desk.grid(ADJUDICATION, "Adjudication")
    header = list(grid.rows[0])
    typed: dict[str, Typed] = {"Verdict": 4, "Reason": "rater slip", "Adjudicator": "eve"}
    for name, value in typed.items():
        column = header.index(name)
        if place is None:
            desk.backend.type_cells(ADJUDICATION, "Adjudication", {(1, column): value})
        else:
            cell = f"Adjudication!{cell_name(1, column)}"
            place.person("eve@example.org").type(place.id_of(ADJUDICATION), cell, value)


def results(desk: Desk, now: str) -> dict[str, object]:
    ran = desk.run(now).to_dict()
    return {key: ran[key] for key in ("pull", "agreement", "divergences")}


def test_the_same_study_in_memory_and_on_google(tmp_path: Path, place: World, desk: Desk) -> None:
    memory = memory_desk(tmp_path / "memory")
    assert (memory.provision().existing, desk.provision().existing) == (0, 0)
    assert memory.codes() == desk.codes()
    for rater, typed in TYPED.items():
        in_memory(memory, rater, typed)
        by_hand(place, desk, rater, typed)
    first = results(memory, "2026-07-01T02:00:00Z")
    assert plain(results(desk, "2026-07-01T02:00:00Z")) == plain(first)
    assert len(first["divergences"]["divergences"]) > 1  # type: ignore[index]
    assert first["pull"]["problems"]  # type: ignore[index]
    settle(memory, None)
    settle(desk, place)
    in_memory(memory, "ann", LATER)
    by_hand(place, desk, "ann", LATER)
    assert plain(results(desk, "2026-07-02T02:00:00Z")) == plain(results(memory, "2026-07-02T02:00:00Z"))
    for tab in ("Summary", "Agreement", "Divergences", "Results", "Tags", "Progress"):
        assert desk.grid(SUMMARY, tab) == memory.grid(SUMMARY, tab)
    assert desk.adjudication() == memory.adjudication()
    reports = [folder / "reports/agreement.json" for folder in (memory.root, desk.root)]
    assert json.loads(reports[0].read_text()) == json.loads(reports[1].read_text())


def test_the_calls_of_each_task(place: World, desk: Desk) -> None:
    calls = place.emulator.calls

    def since(start: int) -> list[str]:
        return place.kinds(start)

    desk.provision()
    assert since(0) == ["files.create", "spreadsheets.batchUpdate", "permissions.create"] * 2
    start = len(calls)
    desk.provision()
    assert since(start) == []
    by_hand(place, desk, "ann", TYPED["ann"])
    start = len(calls)
    desk.pull()
    assert since(start) == ["files.list", "spreadsheets.get", "spreadsheets.get"]
    start = len(calls)
    desk.pull()
    assert since(start) == ["files.list"]
    by_hand(place, desk, "ben", TYPED["ben"])
    start = len(calls)
    desk.pull()
    assert since(start) == ["files.list", "spreadsheets.get"]
    desk.publish()
    for _ in range(3):
        start = len(calls)
        desk.publish()
        sheets = [kind for kind in since(start) if kind.startswith("spreadsheets")]
        assert sheets == ["spreadsheets.batchUpdate", "spreadsheets.get", "spreadsheets.batchUpdate"]
        assert since(start).count("files.list") == 1
    assert marks(place.emulator) == ["adjudication", "raters/ann/main", "raters/ben/main", "summary"]


def test_nobody_sees_more_than_is_theirs(place: World, desk: Desk) -> None:
    desk.provision()
    desk.run()
    anns = place.id_of(Place("raters", "ann", "main"))
    with pytest.raises(Refused):
        place.person("ben@example.org").read(anns, "Scoring!A1")
    for cell in ("Scoring!A2", "Scoring!A1", "'Start here'!A1"):
        with pytest.raises(Refused, match="protected"):
            place.person("ann@example.org").type(anns, cell, "mine")
    assert place.emulator.mails == []
    with desk.session() as session:
        assert not [note for note in status(session).notes if "open it" in note]
    place.person(BOT).share_link(anns)
    place.person(BOT).share(anns, "ben@example.org")
    with desk.session() as session:
        notes = [note for note in status(session).notes if "open it" in note]
    assert len(notes) == 2
    assert "anyone who has the link can open it and should not" in " ".join(notes)
    assert "ben@example.org can open it and should not" in " ".join(notes)


def test_a_workbook_that_was_deleted_is_made_again_with_its_ratings(place: World, desk: Desk) -> None:
    desk.provision()
    by_hand(place, desk, "ann", TYPED["ann"])
    desk.pull()
    old = place.id_of(Place("raters", "ann", "main"))
    place.person(BOT).trash(old)
    assert [book.state for book in desk.pull().workbooks] == ["missing", "unchanged"]
    assert [(made.rater, made.restored) for made in desk.provision().made] == [("ann", True)]
    again = desk.pull()
    assert [book.state for book in again.workbooks] == ["read", "unchanged"]
    assert replace(again.workbooks[0].changes, new=0) == again.workbooks[0].changes
    assert again.workbooks[0].changes.cleared == 0
    assert place.id_of(Place("raters", "ann", "main")) != old


def test_a_study_without_its_index(place: World, desk: Desk) -> None:
    desk.provision()
    by_hand(place, desk, "ann", TYPED["ann"])
    desk.run()
    (desk.root / ".sheetsync/google.json").unlink()
    fresh = Desk(desk.root, place.backend)
    assert fresh.provision().made == ()
    assert [book.state for book in fresh.pull().workbooks] == ["unchanged", "unchanged"]
    assert fresh.run().exit_code == 0
    assert len(place.emulator.spreadsheets()) == 4


def test_an_answer_that_is_lost_and_then_the_network(place: World, desk: Desk) -> None:
    desk.provision()
    by_hand(place, desk, "ann", TYPED["ann"])
    desk.run()
    by_hand(place, desk, "ben", TYPED["ben"])
    place.emulator.faults.add(faults.dropped("after"), kind="batchUpdate")
    place.emulator.faults.add(faults.dropped(), kind="spreadsheets.get", nth=2, times=8)
    ran = desk.run("2026-07-02T02:00:00Z")
    assert [each.message for each in ran.incomplete] == [
        (
            "Google could not be reached: the connection failed. Check the network. Run the command again; what is "
            "done already is kept."
        )
    ]
    assert desk.run("2026-07-03T02:00:00Z").exit_code == 0, "what was written after all is known to be ours"


@pytest.mark.parametrize("seed", range(6))
def test_bad_nights(tmp_path: Path, seed: int) -> None:
    """The first of the nights that `make soak` goes through."""
    figures = bad_night(tmp_path, seed)
    assert sum(figures.steps.values()) == 7
    assert figures.faults
    assert figures.ratings
