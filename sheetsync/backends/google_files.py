"""The Drive part: which files are ours, who may open them. Files are known by marks, never by name or place.

Terminology:

MARK
    Two appProperties of a file: the study, and the place in it. Only the same OAuth project sees them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sheetsync.backends.base import Place
from sheetsync.backends.google_errors import GoogleError, UnansweredError
from sheetsync.backends.google_http import GoogleClient
from sheetsync.domain.study import GoogleSettings

FILES = "https://www.googleapis.com/drive/v3/files"
ABOUT = "https://www.googleapis.com/drive/v3/about"
SPREADSHEET = "application/vnd.google-apps.spreadsheet"
STUDY_KEY, PLACE_KEY = "sheetsync", "sheetsyncPlace"

_PAGE = "1000"
_PROPERTY_BYTES = 124
"""Google's limit for key and value together."""
_ATTEMPTS = 6
_LOOKS = 3
"""How often a file is looked for that may have been made, before another one is."""
_FILE = "id,appProperties,version,createdTime,modifiedTime,trashed"
_PERMISSIONS = "permissions(id,type,role,emailAddress,domain,deleted)"
ANY_DRIVE = {"supportsAllDrives": "true"}

Json = Mapping[str, Any]


@dataclass(frozen=True)
class DriveFile:
    """A spreadsheet as Drive shows it.

    `permissions` is None where they were not asked for or Drive did not tell (files of shared drives).
    """

    file_id: str
    mark: str
    version: str
    created: str = ""
    modified: str = ""
    permissions: Sequence[Json] | None = None


def mark_of_place(place: Place) -> str:
    """Return the value that marks a file: the place itself, or a digest of one that is too long."""
    return _fitting(str(place), PLACE_KEY)


def _fitting(text: str, key: str) -> str:
    room = _PROPERTY_BYTES - len(key)
    return text if len(text.encode()) <= room else hashlib.sha256(text.encode()).hexdigest()


def id_in(text: str) -> str:
    """Return the id in an address of a file or folder, or the id itself.

    >>> id_in("https://docs.google.com/spreadsheets/d/1AbC-d_9/edit#gid=0")
    '1AbC-d_9'
    """
    found = re.search(r"/(?:d|folders)/([\w-]+)", text) or re.search(r"[?&]id=([\w-]+)", text)
    return found[1] if found else text.strip()


class DriveFiles:
    """The files of one study."""

    def __init__(self, client: GoogleClient, settings: GoogleSettings, study_id: str) -> None:
        self.client, self.settings = client, settings
        self.study = _fitting(study_id, STUDY_KEY)
        self.folder = id_in(settings.folder)

    # --- finding

    def listed(self, *, permissions: bool = False) -> dict[str, list[DriveFile]]:
        """Return the files of the study by mark, oldest first: one call per thousand."""
        fields = f"{_FILE},{_PERMISSIONS}" if permissions else _FILE
        found: dict[str, list[DriveFile]] = {}
        for entry in self.marked(STUDY_KEY, fields):
            file = _file(entry)
            found.setdefault(file.mark, []).append(file)
        return {mark: sorted(files, key=lambda file: file.created) for mark, files in found.items()}

    def marked(self, key: str, fields: str) -> Iterator[Json]:
        """Yield the files whose property of that name is the study, with the fields asked for."""
        escaped = self.study.replace("\\", "\\\\").replace("'", "\\'")
        reaches_out = bool(self.folder or self.settings.adopt)
        asked = {
            "q": f"appProperties has {{ key='{key}' and value='{escaped}' }} and trashed = false",
            "pageSize": _PAGE,
            "fields": f"nextPageToken,files({fields})",
            "corpora": "allDrives" if reaches_out else "user",
            "includeItemsFromAllDrives": "true",
            **ANY_DRIVE,
        }
        while True:
            answer = self.client.call("get", FILES, asked)
            yield from answer.get("files", ())
            if not answer.get("nextPageToken"):
                return
            asked = {**asked, "pageToken": answer["nextPageToken"]}

    def look(self, file_id: str) -> DriveFile | None:
        """Return a file as it is now, None where it is deleted, in the trash, or not to be seen."""
        try:
            entry = self.client.call("get", f"{FILES}/{file_id}", {"fields": _FILE, **ANY_DRIVE})
        except GoogleError as error:
            if error.status == 404:
                return None
            raise
        return None if entry.get("trashed") else _file(entry)

    def me(self) -> str:
        """Return the address of the account that is signed in."""
        user = self.client.call("get", ABOUT, {"fields": "user(emailAddress)"}).get("user", {})
        return str(user.get("emailAddress", ""))

    # --- making

    def create(self, place: Place, name: str) -> tuple[DriveFile, bool]:
        """Make a marked spreadsheet; return it, and whether it is surely new and blank.

        After a call without an answer the file is looked for first, so that no twin is made.
        """
        properties = {STUDY_KEY: self.study, PLACE_KEY: mark_of_place(place)}
        body: dict[str, Any] = {"name": name, "mimeType": SPREADSHEET, "appProperties": properties}
        if self.folder:
            body["parents"] = [self.folder]
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                made = self.client.call("post", FILES, {"fields": _FILE, **ANY_DRIVE}, body, repeat=False)
                return _file(made), True
            except UnansweredError:
                if attempt == _ATTEMPTS:
                    raise
            found = self.begun(place)
            if found:
                return found, False
        raise AssertionError("the last attempt returns or raises")

    def begun(self, place: Place) -> DriveFile | None:
        """Look for a file that may have been made; more than once, as a listing may lag, and a twin is worse."""
        for look in range(1, _LOOKS + 1):
            self.client.tempo.sleep(self.client.tempo.backoff(look))
            found = self.listed().get(mark_of_place(place))
            if found:
                return found[0]
        return None

    def adopt(self, place: Place, file_id: str) -> DriveFile | None:
        """Mark a spreadsheet that a person made, unless it is marked; None where it cannot be seen."""
        file = self.look(file_id)
        if file is None or file.mark == mark_of_place(place):
            return file
        properties = {STUDY_KEY: self.study, PLACE_KEY: mark_of_place(place)}
        asked = {"fields": _FILE, **ANY_DRIVE}
        return _file(self.client.call("patch", f"{FILES}/{file_id}", asked, {"appProperties": properties}))

    # --- people

    def grant(self, file_id: str, address: str) -> str:
        """Let somebody edit a file, and return the permission's id; safe to repeat."""
        asked = {
            "sendNotificationEmail": "true" if self.settings.notify else "false",
            "fields": "id",
            **ANY_DRIVE,
        }
        body = {"type": "user", "role": "writer", "emailAddress": address}
        return str(self.client.call("post", f"{FILES}/{file_id}/permissions", asked, body).get("id", ""))

    def permissions(self, file: DriveFile) -> Sequence[Json]:
        """Return who may open a file; files of shared drives have to be asked about one by one."""
        if file.permissions is not None:
            return file.permissions
        asked = {"fields": f"nextPageToken,{_PERMISSIONS}", "pageSize": "100", **ANY_DRIVE}
        found: list[Json] = []
        while True:
            answer = self.client.call("get", f"{FILES}/{file.file_id}/permissions", asked)
            found += answer.get("permissions", ())
            if not answer.get("nextPageToken"):
                return found
            asked = {**asked, "pageToken": answer["nextPageToken"]}


def _file(entry: Json) -> DriveFile:
    properties = entry.get("appProperties", {})
    return DriveFile(
        str(entry["id"]),
        str(properties.get(PLACE_KEY, "")),
        str(entry.get("version", "")),
        str(entry.get("createdTime", "")),
        str(entry.get("modifiedTime", "")),
        entry.get("permissions"),
    )
