"""Google as the live tests call it: with somebody's own sign-in, inside one folder that goes away again."""

from __future__ import annotations

import json
import shutil
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from sheetsync.backends.google_auth import CREDENTIALS, TOKEN_FILE, Asker, find_login
from sheetsync.backends.google_errors import GoogleError
from sheetsync.backends.google_files import FILES, SPREADSHEET, id_in
from sheetsync.backends.google_http import GoogleClient, Tempo
from sheetsync.backends.google_session import emulator_host, open_session
from sheetsync.domain.study import GoogleSettings

CREDENTIALS_VARIABLE = "SHEETSYNC_LIVE_CREDENTIALS"
FOLDER_VARIABLE = "SHEETSYNC_LIVE_FOLDER"
RATER_VARIABLE = "SHEETSYNC_LIVE_RATER"
SHEETS = "https://sheets.googleapis.com/v4/spreadsheets"
FOLDER = "application/vnd.google-apps.folder"

_ANY_DRIVE = {"supportsAllDrives": "true"}

Json = Mapping[str, Any]
Values = Sequence[Sequence[Any]]


class Hurried:
    """Time for an emulator: whoever would wait goes on at once, and later."""

    def __init__(self) -> None:
        self._ahead = 0.0

    def now(self) -> float:
        return time.monotonic() + self._ahead

    def sleep(self, seconds: float) -> None:
        self._ahead += seconds


@dataclass
class Live:
    """One run of the live tests.

    Attributes:
        credentials: the file with the sign-in.
        parent: the throw-away folder that was named.
        rater: a further address to share with, empty for none.
        private: a folder for the token of a signed-in user.
        folder: the folder of this run, in `parent`.
        drive_id: the shared drive that it lies in, empty for My Drive.
    """

    credentials: Path
    parent: str
    rater: str
    private: Path
    folder: str = ""
    drive_id: str = ""
    client: GoogleClient = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.private.mkdir(parents=True, exist_ok=True)
        token = self.credentials.with_name(TOKEN_FILE)
        if token.is_file():
            shutil.copy(token, self.private / TOKEN_FILE)
        settings = GoogleSettings(folder=id_in(self.parent))
        asker = Asker(environ={CREDENTIALS: str(self.credentials)})
        login = find_login(settings, self.private, self.private, asker)
        assert login is not None, "credentials that are named are found or refused"
        hurried = Hurried()
        tempo = Tempo(hurried.now, hurried.sleep) if self.is_emulated else Tempo()
        self.client = GoogleClient(open_session(login.credentials, emulator_host()), login.address, tempo)

    @property
    def is_emulated(self) -> bool:
        """Whether an emulator stands in for Google."""
        return bool(emulator_host())

    # --- the folder of the run

    def begin(self) -> None:
        """Make the folder of this run."""
        name = f"sheetsync live test {uuid.uuid4().hex[:8]} (may be deleted)"
        body = {"name": name, "mimeType": FOLDER, "parents": [id_in(self.parent)]}
        made = self.client.call("post", FILES, {"fields": "id,driveId", **_ANY_DRIVE}, body, repeat=False)
        self.folder, self.drive_id = str(made["id"]), str(made.get("driveId", ""))

    def end(self) -> str:
        """Take the folder away with all that is in it, and return how; the bin where deleting is refused."""
        if not self.folder:
            return "nothing was made"
        url = f"{FILES}/{self.folder}"
        try:
            self.client.call("delete", url, _ANY_DRIVE)
        except GoogleError:
            self.client.call("patch", url, _ANY_DRIVE, {"trashed": True})
            return f"folder {self.folder} lies in the bin"
        return f"folder {self.folder} was deleted"

    # --- Drive

    def new_book(self, name: str, locale: str = "") -> str:
        """Make a blank spreadsheet in the folder of the run; return its id."""
        body = {"name": name, "mimeType": SPREADSHEET, "parents": [self.folder]}
        made = self.client.call("post", FILES, {"fields": "id", **_ANY_DRIVE}, body, repeat=False)
        if locale:
            properties = {"properties": {"locale": locale}, "fields": "locale"}
            self.change(str(made["id"]), {"updateSpreadsheetProperties": properties})
        return str(made["id"])

    def file(self, file_id: str, fields: str) -> Json:
        """Return some fields of a file."""
        return self.client.call("get", f"{FILES}/{file_id}", {"fields": fields, **_ANY_DRIVE})

    def listed(self) -> list[str]:
        """Return the ids of what Drive lists in the folder of the run."""
        asked = {
            "q": f"'{self.folder}' in parents and trashed = false",
            "fields": "files(id)",
            "corpora": "allDrives",
            "includeItemsFromAllDrives": "true",
            **_ANY_DRIVE,
        }
        return [str(file["id"]) for file in self.client.call("get", FILES, asked)["files"]]

    def permitted(self, file_id: str) -> set[str]:
        """Return the addresses that may open a file."""
        asked = {"fields": "permissions(emailAddress)", "pageSize": "100", **_ANY_DRIVE}
        found = self.client.call("get", f"{FILES}/{file_id}/permissions", asked).get("permissions", ())
        return {str(each.get("emailAddress", "")).casefold() for each in found}

    # --- Sheets

    def change(self, book: str, *requests: Json, fields: str = "") -> Json:
        """Return the answer to a batchUpdate."""
        asked = {"fields": fields} if fields else None
        return self.client.call(
            "post", f"{SHEETS}/{book}:batchUpdate", asked, {"requests": [dict(each) for each in requests]}
        )

    def look(self, book: str, fields: str) -> Json:
        """Return some fields of a spreadsheet."""
        return self.client.call("get", f"{SHEETS}/{book}", {"fields": fields})

    def put(self, book: str, cells: str, rows: Values, option: str = "USER_ENTERED") -> Json:
        """Write values from a cell on, as the keyboard gives them."""
        url = f"{SHEETS}/{book}/values/{quote(cells, safe='')}"
        return self.client.call(
            "put", url, {"valueInputOption": option}, {"values": [list(row) for row in rows]}
        )

    def values(self, book: str, cells: str, option: str = "UNFORMATTED_VALUE") -> list[list[Any]]:
        """Return the values of a range."""
        url = f"{SHEETS}/{book}/values/{quote(cells, safe='')}"
        return list(self.client.call("get", url, {"valueRenderOption": option}).get("values", []))

    def cell(self, book: str, name: str, fields: str) -> Json:
        """Return some fields of one cell."""
        asked = {"ranges": name, "fields": f"sheets(data(rowData(values({fields}))))"}
        rows = self.client.call("get", f"{SHEETS}/{book}", asked)["sheets"][0]["data"][0].get("rowData", [])
        return dict((rows[0].get("values") or [{}])[0]) if rows else {}

    def refusal(self, book: str, *requests: Json) -> str:
        """Return what Google says against a batchUpdate, empty where it carries it out."""
        try:
            self.change(book, *requests)
        except GoogleError as error:
            return error.message
        return ""


@dataclass(frozen=True)
class Points:
    """Compares what was believed with what is seen."""

    name: str
    lines: list[str]
    is_emulated: bool

    def compare(self, question: str, *, believed: object, seen: object) -> None:
        """Note both; another thing than was believed fails on Google, and is only told of an emulator."""
        is_so = believed == seen
        where = " (emulator)" if self.is_emulated else ""
        verdict = "as believed" if is_so else "NOT as believed"
        line = f"{verdict}{where}: {question}: believed {believed!r}, seen {seen!r} [{self.name}]"
        self.lines.append(line)
        if not is_so and not self.is_emulated:
            pytest.fail(f"{line}. The product does not depend on it: correct the notes and the emulator.")

    def tell(self, question: str, seen: object) -> None:
        """Note what nobody had a belief about."""
        where = " (emulator)" if self.is_emulated else ""
        self.lines.append(f"seen{where}: {question}: {seen!r} [{self.name}]")


def environment_of(credentials: Path) -> dict[str, str]:
    """Return what a study has to find in its environment to sign in in the same way."""
    return {CREDENTIALS: str(credentials)}


def is_json(path: Path) -> bool:
    """Say whether a file holds what credentials are made of."""
    try:
        return isinstance(json.loads(path.read_text(encoding="utf-8")), dict)
    except (OSError, ValueError):
        return False
