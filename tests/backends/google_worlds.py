"""Studies on an emulated Google: a world, a backend in it, and the people who type there."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sheetsync.backends.base import Place
from sheetsync.backends.google import GoogleBackend
from sheetsync.backends.google_http import GoogleClient, Tempo
from sheetsync.config import load_study
from sheetsync.domain.study import StudyFile
from sheetsync.domain.workbook import cell_name
from tests.services.studies import QUICK, Desk, Typed, quick_study
from tests.sheets_emulator import Emulator, Person, VirtualClock

BOT = "bot@example.org"
SERVICE = "bot@project.iam.gserviceaccount.com"
START = 1_767_600_000.0

ADJUDICATION = Place("adjudication")

STUDY = """
[study]
id = "study"
[backend]
kind = "google"
[[raters]]
id = "A1"
email = "a1@example.org"
[[raters]]
id = "A2"
email = "a2@example.org"
[people]
adjudicators = [{ id = "E1", email = "e1@example.org" }]
"""

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
"""The study of `tests.services.studies`, on Google."""


def settings(google: Mapping[str, Any] | None = None, text: str = STUDY) -> StudyFile:
    """Return the small study, with other `[backend.google]` settings."""
    parsed = tomllib.loads(text)
    parsed["backend"] = {"kind": "google", "google": dict(google or {})}
    return StudyFile.model_validate(parsed)


def tempo(emulator: Emulator, seed: int = 1) -> Tempo:
    """Return time as the emulator has it."""
    return Tempo(emulator.clock.now, emulator.clock.advance, random.Random(seed).random)


def client(emulator: Emulator, identity: str = BOT) -> GoogleClient:
    """Return a client that calls the emulator as somebody."""
    return GoogleClient(emulator.session(identity), identity, tempo(emulator))


@dataclass
class World:
    """An emulator with one study in it; `backend` is what a new process would have."""

    emulator: Emulator
    folder: Path
    study: StudyFile
    identity: str = BOT

    @property
    def backend(self) -> GoogleBackend:
        private = self.folder / ".sheetsync"
        return GoogleBackend(self.study, private, lambda: client(self.emulator, self.identity))

    def person(self, identity: str = BOT) -> Person:
        return self.emulator.person(identity)

    def id_of(self, place: Place) -> str:
        return self.backend.location(place).split("/")[-2]

    def kinds(self, since: int = 0) -> list[str]:
        """Return the calls since then, in short."""
        return [call.kind.split(".", 1)[1] for call in self.emulator.calls[since:]]


def world(folder: Path, google: Mapping[str, Any] | None = None, text: str = STUDY, **emulated: Any) -> World:
    """Return a world without anything in it."""
    emulator = Emulator(VirtualClock(START), seed=1, **emulated)
    return World(emulator, folder, settings(google, text))


def marks(emulator: Emulator) -> list[str]:
    """Return the place of every spreadsheet that has a mark."""
    files = emulator.spreadsheets()
    return sorted(file.app_properties["sheetsyncPlace"] for file in files if file.app_properties)


def google_desk(folder: Path, place: World) -> Desk:
    quick_study(folder, {"study.toml": GOOGLE_STUDY})
    place.study = load_study(folder).settings
    return Desk(folder, place.backend)


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
