"""Files, folders, shared drives and who may do what with them."""

from __future__ import annotations

import hashlib
import random
import string
from dataclasses import dataclass, field
from typing import Any

from tests.sheets_emulator.clock import Clock
from tests.sheets_emulator.state import Spreadsheet

SHEET = "application/vnd.google-apps.spreadsheet"
FOLDER = "application/vnd.google-apps.folder"
RANK = {"reader": 1, "commenter": 2, "writer": 3, "fileOrganizer": 4, "organizer": 5, "owner": 6}
READ, WRITE = 1, 3
LETTERS = string.ascii_letters + string.digits + "-_"
HISTORY = 100


@dataclass
class DriveFile:
    """One file or folder; `is_drive` marks a shared drive's root."""

    file_id: str
    name: str
    mime_type: str
    owner: str | None
    created: int
    modified: int
    parents: list[str] = field(default_factory=list)
    drive_id: str | None = None
    is_drive: bool = False
    version: int = 1
    trashed: bool = False
    starred: bool = False
    description: str = ""
    modified_by: str = ""
    app_properties: dict[str, str] = field(default_factory=dict)
    properties: dict[str, str] = field(default_factory=dict)
    permissions: dict[str, dict[str, Any]] = field(default_factory=dict)
    apps: set[str] = field(default_factory=set)
    """Identities whose app made or opened the file: all that the scope drive.file lets them see."""
    book: Spreadsheet | None = None
    history: list[tuple[float, dict[str, Any]]] = field(default_factory=list)

    def snapshot(self) -> dict[str, Any]:
        """What listings look at."""
        return {
            "id": self.file_id,
            "name": self.name,
            "mimeType": self.mime_type,
            "parents": list(self.parents),
            "trashed": self.trashed,
            "starred": self.starred,
            "created": self.created,
            "modified": self.modified,
            "version": self.version,
            "appProperties": dict(self.app_properties),
            "properties": dict(self.properties),
            "description": self.description,
        }


def permission_id(kind: str, address: str) -> str:
    """The same address has the same id everywhere."""
    if kind == "anyone":
        return "anyoneWithLink"
    digest = hashlib.sha256(f"{kind}:{address.casefold()}".encode()).hexdigest()
    return str(int(digest[:16], 16)).zfill(20)[:20]


def is_service_account(identity: str) -> bool:
    return identity.endswith(".gserviceaccount.com")


@dataclass
class Change:
    """One entry of the change log."""

    number: int
    time: float
    file_id: str
    removed: bool


class Files:
    """Everything stored; `random` makes ids, so that a seed repeats them."""

    def __init__(self, clock: Clock, rng: random.Random) -> None:
        self.clock, self.random = clock, rng
        self.files: dict[str, DriveFile] = {}
        self.changes: list[Change] = []
        self.groups: dict[str, set[str]] = {}
        self.last_modified = 0

    def new_id(self, length: int = 44) -> str:
        """An id shaped like Google's."""
        while True:
            made = "1" + "".join(self.random.choices(LETTERS, k=length - 1))
            if made not in self.files:
                return made

    def root_of(self, identity: str) -> str:
        """The id of somebody's My Drive."""
        return "0A" + hashlib.sha256(identity.encode()).hexdigest()[:17]

    def tick(self) -> int:
        """A time in milliseconds, later than any given before."""
        self.last_modified = max(int(self.clock.now() * 1000), self.last_modified + 1)
        return self.last_modified

    def add(self, file: DriveFile) -> DriveFile:
        self.files[file.file_id] = file
        self._record(file)
        return file

    def touch(self, file: DriveFile, identity: str, *, content: bool = True) -> None:
        """A change: the version moves; modifiedTime too unless only sharing changed."""
        if content:
            file.modified, file.modified_by = self.tick(), identity
        file.version += 1
        self._record(file)

    def _record(self, file: DriveFile) -> None:
        now = self.clock.now()
        file.history.append((now, file.snapshot()))
        del file.history[:-HISTORY]
        self.changes.append(Change(len(self.changes) + 1, now, file.file_id, removed=False))

    def remove(self, file: DriveFile) -> None:
        """Delete for good, with everything inside."""
        for child in [other for other in self.files.values() if file.file_id in other.parents]:
            self.remove(child)
        self.files.pop(file.file_id, None)
        self.changes.append(Change(len(self.changes) + 1, self.clock.now(), file.file_id, removed=True))

    def seen_at(self, file: DriveFile, moment: float) -> dict[str, Any] | None:
        """What a listing that lags knew of a file at a moment."""
        known = [snapshot for time, snapshot in file.history if time <= moment]
        return known[-1] if known else None

    def inherited(self, file: DriveFile) -> list[DriveFile]:
        """The file and all folders (and shared drive) above it."""
        found, waiting = [], [file]
        while waiting:
            here = waiting.pop()
            if here not in found:
                found.append(here)
                waiting += [self.files[parent] for parent in here.parents if parent in self.files]
                if here.drive_id and not here.is_drive and here.drive_id in self.files:
                    waiting.append(self.files[here.drive_id])
        return found

    def in_trash(self, file: DriveFile) -> bool:
        """Whether a folder above was trashed, and the file with it."""
        return any(place.trashed for place in self.inherited(file) if place is not file)

    def all_permissions(self, file: DriveFile) -> dict[str, dict[str, Any]]:
        """Own and inherited permissions, the strongest of each address."""
        made: dict[str, dict[str, Any]] = {}
        for place in self.inherited(file):
            for key, held in place.permissions.items():
                foreign = place is not file and held["role"] == "owner" and file.owner != place.owner
                entry = {**held, "role": "writer"} if foreign else held
                if key not in made or RANK[entry["role"]] > RANK[made[key]["role"]]:
                    made[key] = entry
        return made

    def rank(self, file: DriveFile, identity: str) -> int:
        """How much somebody may do: 0 nothing, READ, ..., WRITE, ..., owner."""
        if file.owner == identity:
            return RANK["owner"]
        own = [entry for entry in self.all_permissions(file).values() if self._covers(entry, identity)]
        return max((RANK[entry["role"]] for entry in own), default=0)

    def _covers(self, entry: dict[str, Any], identity: str) -> bool:
        if entry["type"] == "anyone":
            return True
        if entry["type"] == "domain":
            return identity.casefold().endswith("@" + str(entry["domain"]).casefold())
        address = str(entry.get("emailAddress", "")).casefold()
        if entry["type"] == "group":
            return identity.casefold() in {member.casefold() for member in self.groups.get(address, ())}
        return address == identity.casefold()

    def privileged(self, file: DriveFile, identity: str) -> bool:
        """Whether protected ranges do not stop somebody: the owner, or a manager of the shared drive."""
        return self.rank(file, identity) >= (RANK["organizer"] if file.drive_id else RANK["owner"])

    def grant(self, file: DriveFile, kind: str, role: str, address: str = "") -> dict[str, Any]:
        """Give a role; a second grant to an address replaces the first."""
        key = permission_id(kind, address)
        entry: dict[str, Any] = {"id": key, "type": kind, "role": role}
        if kind == "domain":
            entry["domain"] = address
        elif kind != "anyone":
            entry["emailAddress"] = address
        file.permissions[key] = entry
        return entry
