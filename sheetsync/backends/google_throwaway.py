"""A spreadsheet that `doctor` makes to try things in, and takes away again.

It has a mark of its own, so that nothing takes it for a workbook, and the mark of its run, so that it is found
also where Google's answer was lost.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sheetsync.backends.google_files import ANY_DRIVE, FILES, SPREADSHEET, DriveFiles
from sheetsync.backends.google_http import GoogleClient
from sheetsync.domain.workbook import ColumnSpec, TabSpec, WorkbookSpec
from sheetsync.errors import BackendError

DOCTOR_KEY, RUN_KEY = "sheetsyncDoctor", "sheetsyncDoctorRun"
NAME = "sheetsync doctor (may be deleted)"
LEFT_SECONDS = 900.0
"""After so long a throw-away file belongs to no run that is still at work."""

PATTERN = WorkbookSpec(
    NAME,
    (
        TabSpec(
            "Doctor",
            (ColumnSpec("Text"), ColumnSpec("Number")),
            (("=1+1", 4), ("007", 0.5), ("ä – 😀", None)),
            protected=True,
        ),
    ),
    marker="sheetsync/doctor",
)
"""What is written into it: texts that Google likes to make something else of, and numbers."""


class Throwaway:
    """The throw-away file of one run.

    Attributes:
        file_id: empty while there is none.
    """

    def __init__(self, files: DriveFiles) -> None:
        self._files = files
        self._run = uuid.uuid4().hex
        self._is_begun = False
        self.file_id = ""

    @property
    def _client(self) -> GoogleClient:
        return self._files.client

    def make(self) -> None:
        """Make the file where workbooks are made.

        Raises:
            BackendError: Google refused, or did not answer.
        """
        body: dict[str, Any] = {
            "name": NAME,
            "mimeType": SPREADSHEET,
            "appProperties": {DOCTOR_KEY: self._files.study, RUN_KEY: self._run},
        }
        if self._files.folder:
            body["parents"] = [self._files.folder]
        self._is_begun = True
        made = self._client.call("post", FILES, {"fields": "id", **ANY_DRIVE}, body, repeat=False)
        self.file_id = str(made["id"])

    def is_listed(self) -> bool:
        """Say whether Drive's listing shows the file by its mark, as it has to show workbooks."""
        return any(entry["id"] == self.file_id for entry in self._listed())

    def share(self, address: str) -> None:
        """Let somebody edit the file; no mail is sent."""
        asked = {"sendNotificationEmail": "false", "fields": "id", **ANY_DRIVE}
        body = {"type": "user", "role": "writer", "emailAddress": address}
        self._client.call("post", f"{FILES}/{self.file_id}/permissions", asked, body)

    def remove(self) -> str:
        """Take the file away, and return how: `deleted` or `moved to the trash`.

        Raises:
            BackendError: neither is allowed, or Google did not answer.
        """
        how = take_away(self._client, self.file_id)
        self.file_id, self._is_begun = "", False
        return how

    def give_up(self) -> None:
        """Leave the file where it is: it was tried, and somebody has been told."""
        self.file_id, self._is_begun = "", False

    def clean_up(self) -> None:
        """Take away what is still there, also where nobody learnt that it was made; what stays is told."""
        try:
            if self.file_id:
                self.remove()
            elif self._is_begun:
                for entry in self._listed():
                    if entry.get("appProperties", {}).get(RUN_KEY) == self._run:
                        take_away(self._client, str(entry["id"]))
        except BackendError as error:
            logging.getLogger(__name__).warning(
                "The throw-away file %r may still be there: %s", NAME, error.message
            )

    def leftovers(self, now: float) -> tuple[list[str], list[str]]:
        """Return the files of earlier runs: those that no run can be using any more, and younger ones.

        Args:
            now: seconds since 1970, by Google's clock.
        """
        old: list[str] = []
        young: list[str] = []
        for entry in self._listed():
            made = datetime.fromisoformat(str(entry["createdTime"])).timestamp()
            (old if now - made > LEFT_SECONDS else young).append(str(entry["id"]))
        return old, young

    def _listed(self) -> Sequence[Any]:
        return list(self._files.marked(DOCTOR_KEY, "id,createdTime,appProperties"))


def take_away(client: GoogleClient, file_id: str) -> str:
    """Delete a file, or move it to the trash where only that is allowed; one that is gone is deleted."""
    for method, body in (("delete", None), ("patch", {"trashed": True})):
        try:
            client.call(method, f"{FILES}/{file_id}", ANY_DRIVE, body)
        except BackendError as error:
            status = getattr(error, "status", 0)
            if status == 404:
                return "deleted"
            if method == "patch" or status != 403:
                raise
        else:
            return "deleted" if method == "delete" else "moved to the trash"
    raise AssertionError("the last attempt returns or raises")
