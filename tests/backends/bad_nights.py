"""Nights in which everything goes wrong: one is `bad_night`, many are `make soak`.

In one night a small study on the emulator is provisioned in four tries and worked on in three rounds: people
type scores and a verdict, and a run pulls and publishes. Three calls in ten meet a fault, and now and then the
process dies at a call, before or after Google did what was asked. After every step it is looked, without
faults, whether

- what the archive holds was typed, and nothing that it held is gone (no rating lost, none invented);
- no workbook has a twin;
- every workbook that was said to be made or written is whole, tab by tab, and shared with its rater;
- a run that does not say that it is incomplete has archived every score and drawn every workbook.

Two things no program can know, and then less is asked: a listing of Drive that lags shows no change, and a
process that dies right after Google wrote less than it was sent cannot repair it. The next run has to.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

from sheetsync.backends.base import Place
from sheetsync.backends.google_books import Spreadsheets
from sheetsync.backends.google_read import READ_FIELDS, parse_spreadsheet
from sheetsync.domain.divergence import Verdict
from sheetsync.domain.study import LevelValue
from sheetsync.domain.workbook import Reading, cell_name
from sheetsync.errors import SheetsyncError
from sheetsync.services.incomplete import Incomplete
from sheetsync.services.session import ADJUDICATION, SUMMARY
from tests.backends.google_worlds import World, by_hand, client, google_desk, marks, world
from tests.backends.noting import NotingBackend, is_whole
from tests.services.studies import Desk
from tests.sheets_emulator import Refused, faults

UNITS = (("Q1", "Alder"), ("Q1", "Briar"), ("Q2", "Alder"), ("Q2", "Briar"), ("Q3", "Alder"))
RATERS = ("ann", "ben")
WORKBOOKS = {rater: Place("raters", rater, "main") for rater in RATERS}
COLUMNS = {"accuracy": "Accuracy", "coverage": "Coverage"}

NIGHTLY = [
    *faults.COMMON.values(),
    faults.refused("PERMISSION_DENIED"),
    faults.refused("sharingRateLimitExceeded"),
    faults.stale(600),
    faults.fewer_cells(2),
]

Outcome = Literal["complete", "incomplete", "failed", "killed"]
Cell = tuple[str, str, str]
"""rater, code, column"""


class KilledError(BaseException):
    """The process dies."""


@dataclass
class Figures:
    """What was gone through.

    Attributes:
        steps: provisions and runs under faults, by how they ended; all but `complete` and `killed` said so.
        faults: calls that met one, by its name.
        ratings: how many archived scores were compared with what was typed.
        verdicts: the same for verdicts.
        workbooks: how many workbooks were compared cell by cell with what was to be drawn.
        unfinished: how many of them were not whole after a step that did not claim they were.
    """

    steps: Counter[Outcome] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    ratings: int = 0
    verdicts: int = 0
    workbooks: int = 0
    unfinished: int = 0

    def add(self, other: Figures) -> None:
        self.steps += other.steps
        self.faults += other.faults
        self.ratings += other.ratings
        self.verdicts += other.verdicts
        self.workbooks += other.workbooks
        self.unfinished += other.unfinished


def bad_night(folder: Path, seed: int) -> Figures:
    """Go through one night; an AssertionError says what came out wrong."""
    night = _Night(world(folder), random.Random(seed))
    night.place.emulator.clock.advance(3600)
    for _ in range(4):
        night.step(0.1, _provision)
        night.check_made()
    night.calm(_provision)
    night.check_made()
    for number in range(3):
        night.people_work()
        night.place.emulator.clock.advance(night.rng.choice([1, 3600]))
        night.step(0.05, _run(number + 1))
        night.check_archive()
        night.check_published()
    night.calm(_run(9))
    night.check_archive()
    night.check_published()
    assert marks(night.place.emulator) == sorted(map(str, (ADJUDICATION, SUMMARY, *WORKBOOKS.values())))
    return night.figures


Work = Callable[[Desk], Sequence[Incomplete]]


def _provision(desk: Desk) -> Sequence[Incomplete]:
    return desk.provision().incomplete


def _run(day: int) -> Work:
    return lambda desk: desk.run(f"2026-07-{day:02}T02:00:00Z").incomplete


class _Night:
    """One study; scores are `typed` there and `archived` here, verdicts `decided` and `settled`."""

    def __init__(self, place: World, rng: random.Random) -> None:
        self.place, self.rng = place, rng
        self.root = google_desk(place.folder, place).root
        self.figures = Figures()
        self.drawn: dict[Place, list[Reading]] = {}
        self.typed: dict[Cell, int] = {}
        self.archived: dict[Cell, object] = {}
        self.decided: dict[str, LevelValue] = {}
        self.settled: dict[str, LevelValue] = {}
        self.left: set[Place] = set()  # what is not whole, as a step knew or could not know
        self.outcome: Outcome = "complete"
        self.met: list[str] = []

    def desk(self) -> Desk:
        """Return what a new process has."""
        place = self.place
        backend = NotingBackend(
            place.study, place.folder / ".sheetsync", lambda: client(place.emulator, place.identity)
        )
        backend.drawn = self.drawn
        return Desk(self.root, backend)

    # --- what happens

    def step(self, deaths: float, work: Work) -> None:
        """Run a command while things go wrong."""
        emulator, start = self.place.emulator, len(self.place.emulator.faults.met)
        emulator.faults.at_random(self.rng.randrange(1000), 0.3, NIGHTLY)
        try:
            with _dying(self.place, self.rng, deaths):
                self.outcome = _told(work(self.desk()))
        except KilledError:
            self.outcome = "killed"
        except SheetsyncError as error:
            self.outcome = _failed(error)
        emulator.faults.clear()
        self.met = [name for name, _ in emulator.faults.met[start:]]
        self.figures.faults.update(self.met)
        self.figures.steps[self.outcome] += 1

    def calm(self, work: Work) -> None:
        """Run a command while nothing goes wrong: then all has to be well."""
        self.outcome, self.met = _told(work(self.desk())), []
        assert self.outcome == "complete"

    def people_work(self) -> None:
        """Let raters type some scores, and the adjudicator a verdict."""
        desk = self.desk()
        codes = desk.codes()
        for rater in RATERS:
            scored = [unit for unit in UNITS if self.rng.random() < 0.6]
            scores = {unit: {name: self.rng.randint(1, 5) for name in COLUMNS.values()} for unit in scored}
            by_hand(self.place, desk, rater, scores)
            for unit, row in scores.items():
                self.typed |= {(rater, codes[unit], column): row[name] for column, name in COLUMNS.items()}
        if self.can_open("eve", ADJUDICATION):
            self._decide()

    def _decide(self) -> None:
        """Give the first verdict that is wanting."""
        grid = self.found(ADJUDICATION).tab("Adjudication")
        rows = [] if grid is None else grid.rows
        for number, cells in enumerate(rows[1:], 1):
            key = "|".join(str(cell) for cell in cells[:3])
            if cells and key not in self.decided:
                cell = f"Adjudication!{cell_name(number, rows[0].index('Verdict'))}"
                self.decided[key] = value = self.rng.randint(1, 5)
                book = self.file_id(ADJUDICATION)
                self.place.person("eve@example.org").type(book, cell, value)
                return

    # --- what has to hold

    def file_id(self, place: Place) -> str:
        """Return the spreadsheet of a place as Drive has it, whatever the study's own index says."""
        files = self.place.emulator.spreadsheets()
        marked = (file.file_id for file in files if file.app_properties.get("sheetsyncPlace") == str(place))
        return next(marked, "")

    def found(self, place: Place) -> Reading:
        books = Spreadsheets(client(self.place.emulator, self.place.identity))
        return parse_spreadsheet(books.inside(self.file_id(place), READ_FIELDS))

    def check_no_twins(self) -> None:
        twins = [mark for mark, times in Counter(marks(self.place.emulator)).items() if times > 1]
        assert not twins, f"twins of {twins}"

    def check_made(self) -> None:
        """After provisioning: what was said to be made is whole, and whose it is can open it."""
        self.check_no_twins()
        with self.desk().session() as session:
            made = {record.rater for record in session.archive.workbooks() if record.created}
        assert self.outcome != "complete" or made == set(RATERS), "it did not say that workbooks are missing"
        for rater, workbook in WORKBOOKS.items():
            is_shared = self.can_open(rater, workbook)
            if rater in made or is_shared:
                self.check_whole(workbook, self.drawn[workbook])
            assert self.outcome != "complete" or is_shared, f"it did not say that {rater} was not let in"

    def can_open(self, who: str, workbook: Place) -> bool:
        if not self.file_id(workbook):
            return False
        try:
            self.place.person(f"{who}@example.org").look(self.file_id(workbook))
        except Refused:
            return False
        return True

    def check_archive(self) -> None:
        """No score lost, none invented; all of them there after a run that says nothing else."""
        with self.desk().session() as session:
            entries, verdicts = session.archive.current_entries(), session.archive.current_verdicts()
        now: dict[Cell, object] = {
            (rater, entry.code, entry.column): entry.value
            for (rater, _), rows in entries.items()
            for entry in rows
            if entry.column in COLUMNS
        }
        sees_all = self.outcome == "complete" and "stale 600" not in self.met
        for cell in self.typed.keys() | now.keys():
            allowed = [self.typed.get(cell)] if sees_all else [self.typed.get(cell), self.archived.get(cell)]
            assert now.get(cell) in allowed, f"{cell}: {now.get(cell)} is archived, not one of {allowed}"
        self.archived = now
        self.figures.ratings += len(self.typed)
        self._check_verdicts(verdicts, sees_all=sees_all)

    def _check_verdicts(self, verdicts: Sequence[Verdict], *, sees_all: bool) -> None:
        """Verdicts are never changed once given, so what is archived is a part of what was typed."""
        given = {
            "|".join((v.code, COLUMNS[v.dimension], v.kind)): v.verdict
            for v in verdicts
            if v.verdict is not None
        }
        assert given.items() >= self.settled.items(), f"verdicts are lost: {given} after {self.settled}"
        assert given.items() <= self.decided.items(), f"verdicts that nobody gave: {given} of {self.decided}"
        assert not sees_all or given == self.decided, f"verdicts are not read: {given} of {self.decided}"
        self.settled = given
        self.figures.verdicts += len(self.decided)

    def check_published(self) -> None:
        """Summary and adjudication are whole: as they are to be now, or as they were."""
        self.check_no_twins()
        for place in (SUMMARY, ADJUDICATION):
            if self.outcome == "complete":
                self.check_whole(place, self.drawn[place][-1:])
            elif self.file_id(place) and self.drawn.get(place):
                is_begun = place in self.left or not self.found(place).marker
                is_excused = is_begun or "fewer cells 2" in self.met
                self.check_whole(place, self.drawn[place], is_excused=is_excused)
        for workbook in WORKBOOKS.values():
            self.check_whole(workbook, self.drawn[workbook])

    def check_whole(self, place: Place, drawn: Sequence[Reading], *, is_excused: bool = False) -> None:
        """Compare with what was to be drawn; people's own cells may have been filled since."""
        found = self.found(place)
        self.figures.workbooks += 1
        if any(is_whole(found, wanted, can_type=place != SUMMARY) for wanted in drawn):
            self.left.discard(place)
            return
        assert is_excused, f"{place} is not whole after a step that was {self.outcome}: {self.met}"
        self.left.add(place)
        self.figures.unfinished += 1


def _failed(error: SheetsyncError) -> Outcome:
    assert error.message and error.remedy, "a failure says what failed and what to do"  # noqa: PT018 - one rule
    return "failed"


def _told(incomplete: Sequence[Incomplete]) -> Outcome:
    assert all(each.path and each.message for each in incomplete), (
        "what is incomplete is named, with its reason"
    )
    return "incomplete" if incomplete else "complete"


@contextmanager
def _dying(place: World, rng: random.Random, share: float) -> Iterator[None]:
    """Kill the process at a share of its calls, before or after Google did what was asked."""
    handle = place.emulator.handle

    def may_die(method: str, url: str, *more: Any) -> Any:
        if rng.random() >= share:
            return handle(method, url, *more)
        if rng.random() < 0.5:
            handle(method, url, *more)
        raise KilledError

    with patch.object(place.emulator, "handle", may_die):
        yield
