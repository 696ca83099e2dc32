"""Who may open which workbook: whom it is shared with, and what looks wrong. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sheetsync.backends.base import Place
from sheetsync.domain.study import StudyFile

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Guest:
    """Somebody a workbook is for; `address` is empty where study.toml gives none."""

    name: str
    address: str


def guests_of(place: Place, settings: StudyFile) -> list[Guest]:
    """Return whom a workbook is to be shared with, each address once.

    Coordinators have access to a folder of theirs, and so to what lies in it; without one they are let in here.
    """
    coordinators = [Guest(person.id, person.email) for person in settings.people.coordinators]
    if place.audience == "raters":
        guests = [Guest(rater.id, rater.email) for rater in settings.raters if rater.id == place.rater]
    elif place.audience == "adjudication":
        guests = [Guest(person.id, person.email) for person in settings.people.adjudicators]
    else:
        guests = coordinators
    if not settings.backend.google.folder:
        guests = [*guests, *coordinators]
    return list({guest.address.casefold() or guest.name: guest for guest in reversed(guests)}.values())[::-1]


@dataclass(frozen=True)
class Access:
    """A workbook and who may open it.

    Attributes:
        place: which workbook.
        location: its address.
        permissions: as Drive lists them.
        granted: ids of the permissions that we gave, by address: an alias comes back under another address.
        ours: addresses that are always right: the account that makes the files, and the study's contact.
    """

    place: Place
    location: str
    permissions: Sequence[Json]
    granted: Mapping[str, str] = field(default_factory=dict)
    ours: Sequence[str] = ()


@dataclass(frozen=True)
class Exposure:
    """Who can open a workbook and should not, or should and cannot; `is_open` tells the two apart."""

    found: str
    fix: str
    is_open: bool

    def __str__(self) -> str:
        return f"{self.found} {self.fix}"


def exposures_of(access: Access, settings: StudyFile) -> Iterator[Exposure]:
    """Yield who can open a workbook and should not, and who should and cannot."""
    named = f"{access.place} ({access.location})"
    guests = guests_of(access.place, settings)
    coordinators = [person.email for person in settings.people.coordinators]
    right = {
        address.casefold()
        for address in [*access.ours, *coordinators, *(g.address for g in guests)]
        if address
    }
    ids = {access.granted[guest.address] for guest in guests if guest.address in access.granted}
    inside = {str(p.get("emailAddress", "")).casefold() for p in access.permissions}
    present = {str(p.get("id", "")) for p in access.permissions}
    for entry in access.permissions:
        who = _stranger(entry, right, ids, is_private=access.place.audience == "raters")
        if who:
            fix = "Take that away under Share in the spreadsheet."
            yield Exposure(f"{named}: {who} can open it and should not.", fix, is_open=True)
    for guest in guests:
        is_in = guest.address.casefold() in inside or access.granted.get(guest.address) in present
        if guest.address and not is_in:
            found = f"{named}: {guest.name} ({guest.address}) cannot open it."
            yield Exposure(found, "Share it with that address as an editor.", is_open=False)


def _stranger(entry: Json, right: set[str], ids: set[str], *, is_private: bool) -> str:
    """Return whom a permission lets in who should stay out."""
    if entry.get("deleted"):
        return ""
    if entry.get("type") == "anyone":
        return "anyone who has the link"
    if entry.get("type") == "domain":
        return f"everybody at {entry.get('domain', 'the organisation')}"
    address = str(entry.get("emailAddress", ""))
    is_known = address.casefold() in right or entry.get("id") in ids or entry.get("role") == "owner"
    return address if is_private and not is_known else ""
