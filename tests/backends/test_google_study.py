"""A whole study on Google, with people who type through accounts of their own: the same results as in memory."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sheetsync.backends.base import Place
from sheetsync.config import load_study
from sheetsync.domain.workbook import cell_name
from sheetsync.errors import SheetsyncError
from sheetsync.services.session import ADJUDICATION, SUMMARY
from sheetsync.services.status import status
from tests.backends.google_worlds import BOT, World, marks, world
from tests.services.studies import QUICK, Desk, Typed, memory_desk, plain, quick_study
from tests.sheets_emulator import Refused, faults

GOOGLE_STUDY = f"""
[study]
id = "demo"
title = "A small study"
contact = "coordinator@example.org"
[backend]
kind = "google"
[[raters]]
id = "ann"
email = "ann@example.org"
[[raters]]
id = "ben"
email = "ben@example.org"
[people]
adjudicators = [{{ id = "eve", email = "eve@example.org" }}]
{QUICK}
"""

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


def google_desk(folder: Path, place: World) -> Desk:
    quick_study(folder, {"study.toml": GOOGLE_STUDY})
    place.study = load_study(folder).settings
    return Desk(folder, place.backend)


@pytest.fixture
def place(tmp_path: Path) -> World:
    return world(tmp_path / "google")


@pytest.fixture
def desk(tmp_path: Path, place: World) -> Desk:
    return google_desk(tmp_path / "google", place)


def by_hand(
    place: World, desk: Desk, rater: str, typed: Mapping[tuple[str, str], Mapping[str, Typed]]
) -> None:
    """Type cell by cell, as the rater's own account, where the rater sees code and header."""
    book = place.id_of(Place("raters", rater, "main"))
    rows = place.person(f"{rater}@example.org").read(book, "Scoring!A1:Z20")
    row_of = {row[0]: number for number, row in enumerate(rows) if row}
    for unit, values in typed.items():
        for header, value in values.items():
            cell = cell_name(row_of[desk.codes()[unit]], rows[0].index(header))
            place.person(f"{rater}@example.org").type(book, f"Scoring!{cell}", value)


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


class KilledError(BaseException):
    """The process dies."""


@contextmanager
def dying(place: World, rng: random.Random, share: float) -> Iterator[None]:
    """Kill the process at a share of its calls, before or after Google did what was asked."""
    handle = place.emulator.handle

    def may_die(method: str, url: str, *more: Any) -> Any:
        if rng.random() >= share:
            return handle(method, url, *more)
        if rng.random() < 0.5:
            handle(method, url, *more)
        raise KilledError

    with pytest.MonkeyPatch.context() as patch, suppress(KilledError, SheetsyncError):
        patch.setattr(place.emulator, "handle", may_die)
        yield


NIGHTLY = [
    *faults.COMMON.values(),
    faults.refused("PERMISSION_DENIED"),
    faults.refused("sharingRateLimitExceeded"),
    faults.stale(600),
    faults.fewer_cells(2),
]


@pytest.mark.parametrize("seed", range(6))
def test_bad_nights(tmp_path: Path, place: World, desk: Desk, seed: int) -> None:
    """Whatever goes wrong meanwhile: no rating lost, none invented, no twin, no half workbook, and then all is well."""
    rng, world_faults = random.Random(seed), place.emulator.faults
    place.emulator.clock.advance(3600)
    for _ in range(4):
        world_faults.at_random(rng.randrange(1000), 0.3, NIGHTLY)
        with dying(place, rng, 0.1):
            Desk(desk.root, place.backend).provision()
    world_faults.clear()
    Desk(desk.root, place.backend).provision()
    for rater in ("ann", "ben"):
        assert place.backend.share(Place("raters", rater, "main")) == ""
    for night in range(3):
        for rater in ("ann", "ben"):
            typed = {unit: {"Coverage": rng.randint(1, 5)} for unit in TYPED[rater] if rng.random() < 0.6}
            by_hand(place, desk, rater, typed)
        place.emulator.clock.advance(rng.choice([1, 3600]))
        world_faults.at_random(rng.randrange(1000), 0.3, NIGHTLY)
        with dying(place, rng, 0.05):
            Desk(desk.root, place.backend).run(f"2026-07-0{night + 1}T02:00:00Z")
        world_faults.clear()
    last = Desk(desk.root, place.backend)
    assert last.run("2026-07-09T02:00:00Z").incomplete == ()
    with last.session() as session:
        entries = session.archive.current_entries()
    for rater in ("ann", "ben"):
        typed_now = {
            code: row["Coverage"] for code, row in last.cells(rater, "main").items() if row["Coverage"]
        }
        kept = {e.code: e.value for e in entries.get((rater, "main"), ()) if e.column == "coverage"}
        assert kept == typed_now
        assert kept
    assert marks(place.emulator) == ["adjudication", "raters/ann/main", "raters/ben/main", "summary"]
