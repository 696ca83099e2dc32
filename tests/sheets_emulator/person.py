"""A person at a spreadsheet: types, clears, sorts, through the same door and with the same rights as anybody."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from tests.sheets_emulator.wire import Response

Handle = Callable[[str, str, Mapping[str, str] | None, bytes | str | None], Response]
ROOT = "https://sheets.googleapis.com/v4/spreadsheets/"
DRIVE = "https://www.googleapis.com/drive/v3/"


class Refused(Exception):  # noqa: N818 - a person is refused something
    """What somebody tried was not allowed or not possible."""

    def __init__(self, response: Response) -> None:
        self.status = response.status
        self.body: dict[str, Any] = response.json() if response.body else {}
        super().__init__(self.body.get("error", {}).get("message", f"status {response.status}"))


@dataclass(frozen=True)
class Person:
    """Calls are made as `identity`; a refusal raises Refused."""

    handle: Handle
    identity: str

    def call(self, method: str, url: str, body: Any = None) -> Any:
        """Make any call of either API; the answer's JSON."""
        headers = {"Authorization": f"Bearer {self.identity}", "Content-Type": "application/json"}
        response = self.handle(method, url, headers, None if body is None else json.dumps(body))
        if response.lost or response.status >= 400:
            raise Refused(response)
        return (
            response.json()
            if response.body and response.content_type.startswith("application/json")
            else None
        )

    def type(self, spreadsheet_id: str, cell: str, value: Any, *more: Any) -> Any:
        """Type values into a cell and the ones right of it, as the keyboard would."""
        url = f"{ROOT}{spreadsheet_id}/values/{quote(cell, safe='')}?valueInputOption=USER_ENTERED"
        return self.call("PUT", url, {"values": [[value, *more]]})

    def paste(
        self, spreadsheet_id: str, cell: str, rows: list[list[Any]], option: str = "USER_ENTERED"
    ) -> Any:
        """Paste a block of cells."""
        url = f"{ROOT}{spreadsheet_id}/values/{quote(cell, safe='')}?valueInputOption={option}"
        return self.call("PUT", url, {"values": rows})

    def clear(self, spreadsheet_id: str, cells: str) -> Any:
        """Press Delete on a range."""
        return self.call("POST", f"{ROOT}{spreadsheet_id}/values/{quote(cells, safe='')}:clear", {})

    def read(self, spreadsheet_id: str, cells: str, option: str = "UNFORMATTED_VALUE") -> list[list[Any]]:
        """Look at a range."""
        url = f"{ROOT}{spreadsheet_id}/values/{quote(cells, safe='')}?valueRenderOption={option}"
        return list(self.call("GET", url).get("values", []))

    def change(self, spreadsheet_id: str, *requests: dict[str, Any]) -> list[dict[str, Any]]:
        """Do anything the menus do: insert rows, rename tabs, sort, delete, ..."""
        return list(
            self.call("POST", f"{ROOT}{spreadsheet_id}:batchUpdate", {"requests": list(requests)})["replies"]
        )

    def look(self, spreadsheet_id: str, fields: str = "") -> dict[str, Any]:
        """The spreadsheet resource."""
        query = f"?fields={quote(fields)}" if fields else ""
        return dict(self.call("GET", f"{ROOT}{spreadsheet_id}{query}"))

    def new_spreadsheet(self, name: str, parent: str | None = None) -> str:
        """Make a blank spreadsheet in My Drive, a folder or a shared drive; its id."""
        body: dict[str, Any] = {"name": name, "mimeType": "application/vnd.google-apps.spreadsheet"}
        body |= {"parents": [parent]} if parent else {}
        return str(self.call("POST", f"{DRIVE}files?supportsAllDrives=true", body)["id"])

    def new_folder(self, name: str, parent: str | None = None) -> str:
        """Make a folder; its id."""
        body: dict[str, Any] = {"name": name, "mimeType": "application/vnd.google-apps.folder"}
        body |= {"parents": [parent]} if parent else {}
        return str(self.call("POST", f"{DRIVE}files?supportsAllDrives=true", body)["id"])

    def share(self, file_id: str, address: str, role: str = "writer", *, mail: bool = False) -> Any:
        """Share a file or folder with an address."""
        url = f"{DRIVE}files/{file_id}/permissions?supportsAllDrives=true&sendNotificationEmail={str(mail).lower()}"
        return self.call("POST", url, {"type": "user", "role": role, "emailAddress": address})

    def share_link(self, file_id: str, role: str = "reader") -> Any:
        """Let anyone with the link in."""
        url = f"{DRIVE}files/{file_id}/permissions?supportsAllDrives=true"
        return self.call("POST", url, {"type": "anyone", "role": role})

    def trash(self, file_id: str) -> Any:
        return self.call("PATCH", f"{DRIVE}files/{file_id}?supportsAllDrives=true", {"trashed": True})

    def delete(self, file_id: str) -> Any:
        return self.call("DELETE", f"{DRIVE}files/{file_id}?supportsAllDrives=true")
