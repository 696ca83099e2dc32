"""The endpoints of the Drive API, and what each shows when no `fields` are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.sheets_emulator import drive_files, drive_listing, drive_permissions
from tests.sheets_emulator.calling import Call
from tests.sheets_emulator.wire import Response

FILE = "kind,id,name,mimeType"
PERMISSION = "kind,id,type,role"
CHANGE = f"kind,changeType,type,time,removed,fileId,file({FILE})"

ENDPOINTS: dict[str, tuple[Callable[[Call], dict[str, Any] | Response], str]] = {
    "drive.files.create": (drive_files.create, FILE),
    "drive.files.get": (drive_files.get, FILE),
    "drive.files.list": (drive_listing.list_files, f"kind,incompleteSearch,nextPageToken,files({FILE})"),
    "drive.files.update": (drive_files.update, FILE),
    "drive.files.copy": (drive_files.copy, FILE),
    "drive.files.delete": (drive_files.delete, ""),
    "drive.files.export": (drive_files.export, ""),
    "drive.permissions.create": (drive_permissions.create, PERMISSION),
    "drive.permissions.list": (drive_permissions.listed, f"kind,nextPageToken,permissions({PERMISSION})"),
    "drive.permissions.get": (drive_permissions.get, PERMISSION),
    "drive.permissions.update": (drive_permissions.update, PERMISSION),
    "drive.permissions.delete": (drive_permissions.delete, ""),
    "drive.changes.getStartPageToken": (drive_listing.start_token, ""),
    "drive.changes.list": (
        drive_listing.list_changes,
        f"kind,nextPageToken,newStartPageToken,changes({CHANGE})",
    ),
    "drive.about.get": (drive_listing.about, ""),
    "drive.drives.list": (drive_listing.list_drives, "kind,nextPageToken,drives(kind,id,name)"),
    "drive.drives.get": (drive_listing.get_drive, "kind,id,name"),
    "drive.comments.list": (drive_listing.list_comments, ""),
}
