"""Drive's files.list, changes.*, about.get, drives.* and comments.list."""

from __future__ import annotations

from typing import Any

from tests.sheets_emulator.calling import Call
from tests.sheets_emulator.clock import rfc3339
from tests.sheets_emulator.drive_files import file_resource, user, visible
from tests.sheets_emulator.drive_query import parse_query
from tests.sheets_emulator.drive_state import FOLDER, RANK, READ, WRITE, DriveFile
from tests.sheets_emulator.errors import drive_error
from tests.sheets_emulator.schema import flag

SORT_KEYS = {"modifiedTime": "modified", "createdTime": "created", "name": "name", "name_natural": "name",
             "recency": "modified", "modifiedByMeTime": "modified", "folder": "folder"}  # fmt: skip


def _page_size(call: Call, default: int, most: int = 1000) -> int:
    size = int(call.request.first("pageSize") or default)
    if not 1 <= size <= most:
        message = f"Invalid value '{size}'. Values must be within the range: [1, {most}]"
        raise drive_error(400, "invalidParameter", message, location=("parameter", "pageSize"))
    return size


def _all_drives(call: Call) -> bool:
    wanted = flag(call.request, "includeItemsFromAllDrives")
    if wanted and not flag(call.request, "supportsAllDrives"):
        message = "The supportsAllDrives parameter must be set to true when includeItemsFromAllDrives is set to true."
        raise drive_error(400, "invalid", message)
    return wanted


def _check_corpora(call: Call) -> str | None:
    """The shared drive that a listing is limited to."""
    drive_id, corpora = call.request.first("driveId"), call.request.first("corpora") or ""
    if corpora == "drive" and not drive_id:
        raise drive_error(400, "required", "Required parameter: driveId", location=("parameter", "driveId"))
    if drive_id and corpora != "drive":
        raise drive_error(400, "invalid", "The driveId parameter can be specified only if corpora=drive.")
    if corpora in ("drive", "allDrives") and not _all_drives(call):
        message = "includeItemsFromAllDrives and supportsAllDrives must be true for this corpora."
        raise drive_error(400, "invalid", message)
    if drive_id and call.store.rank(visible(call, drive_id), call.identity) < READ:
        raise drive_error(404, "notFound", f"Shared drive not found: {drive_id}")
    return drive_id


def _candidates(call: Call, drive_id: str | None) -> list[tuple[DriveFile, dict[str, Any]]]:
    found = []
    everywhere = _all_drives(call)
    moment = call.world.clock.now() - call.lag
    for file in call.store.files.values():
        if file.is_drive or (file.drive_id and not everywhere) or (drive_id and file.drive_id != drive_id):
            continue
        if call.only_own_files and call.identity not in file.apps:
            continue
        public = [entry["type"] == "anyone" for entry in file.permissions.values()]
        if call.store.rank(file, call.identity) < READ or (any(public) and not _personal(call, file)):
            continue
        seen = call.store.seen_at(file, moment)
        if seen is not None:
            found.append((file, seen))
    return found


def _personal(call: Call, file: DriveFile) -> bool:
    """A file that only a link opens is not listed."""
    entries = call.store.all_permissions(file).values()
    return file.owner == call.identity or any(entry.get("emailAddress") == call.identity for entry in entries)


def _entry(call: Call, file: DriveFile, seen: dict[str, Any]) -> dict[str, Any]:
    entries = call.store.all_permissions(file).values()
    return {
        **seen,
        "trashed": seen["trashed"] or call.store.in_trash(file),
        "root": call.store.root_of(call.identity),
        "me": call.identity,
        "owners": [file.owner],
        "writers": [e.get("emailAddress") for e in entries if RANK[e["role"]] >= WRITE],
        "readers": [e.get("emailAddress") for e in entries],
        "sharedWithMe": file.owner not in (None, call.identity),
        "folder": file.mime_type != FOLDER,
        "fullText": file.name,
    }


def _ordered(
    call: Call, found: list[tuple[DriveFile, dict[str, Any]]]
) -> list[tuple[DriveFile, dict[str, Any]]]:
    order = call.request.first("orderBy") or "modifiedTime desc"
    for part in reversed(order.split(",")):
        key, _, direction = part.strip().partition(" ")
        if key not in SORT_KEYS or direction not in ("", "desc"):
            raise drive_error(400, "invalid", "Invalid Value", location=("parameter", "orderBy"))
        name = SORT_KEYS[key]
        found.sort(
            key=lambda pair, name=name: pair[0].mime_type != FOLDER if name == "folder" else pair[1][name],  # type: ignore[misc]
            reverse=direction == "desc",
        )
    return found


def list_files(call: Call) -> dict[str, Any]:
    """One page; the token continues the very list that the first page began."""
    size, token = _page_size(call, 100), call.request.first("pageToken")
    if token:
        if token not in call.world.pages:
            raise drive_error(400, "invalid", "Invalid Value", location=("parameter", "pageToken"))
        ids = call.world.pages[token]
    else:
        test = parse_query(call.request.first("q"))
        found = _candidates(call, _check_corpora(call))
        ids = [(f.file_id, s) for f, s in _ordered(call, [p for p in found if test(_entry(call, *p))])]
    page, rest = ids[:size], ids[size:]
    made: dict[str, Any] = {"kind": "drive#fileList", "incompleteSearch": False}
    if rest:
        made["nextPageToken"] = _remember(call, rest)
    present = [(call.store.files[file_id], seen) for file_id, seen in page if file_id in call.store.files]
    return {**made, "files": [file_resource(call, file, seen) for file, seen in present]}


def _remember(call: Call, rest: list[tuple[str, dict[str, Any]]]) -> str:
    token = "~!!~" + call.store.new_id(60)
    call.world.pages[token] = rest
    return token


def start_token(call: Call) -> dict[str, Any]:
    return {"kind": "drive#startPageToken", "startPageToken": str(len(call.store.changes) + 1)}


def list_changes(call: Call) -> dict[str, Any]:
    """Every file changed or removed since the token, once each."""
    token = call.request.first("pageToken") or ""
    if not token.isdigit() or int(token) > len(call.store.changes) + 1:
        raise drive_error(400, "invalid", "Invalid Value", location=("parameter", "pageToken"))
    size, moment = _page_size(call, 100), call.world.clock.now() - call.lag
    known = [change for change in call.store.changes[int(token) - 1 :] if change.time <= moment]
    page = known[:size]
    latest = {change.file_id: change for change in page}
    made: dict[str, Any] = {"kind": "drive#changeList"}
    following = str(int(token) + len(page))
    made["nextPageToken" if len(known) > size else "newStartPageToken"] = following
    made["changes"] = [
        _change(call, change.file_id, change.time) for change in latest.values() if _may(call, change.file_id)
    ]
    return made


def _may(call: Call, file_id: str) -> bool:
    file = call.store.files.get(file_id)
    if file is None:
        return flag(call.request, "includeRemoved", default=True)
    shown = not file.drive_id or _all_drives(call)
    return shown and not file.is_drive and call.store.rank(file, call.identity) >= READ


def _change(call: Call, file_id: str, moment: float) -> dict[str, Any]:
    file = call.store.files.get(file_id)
    made = {
        "kind": "drive#change",
        "type": "file",
        "changeType": "file",
        "fileId": file_id,
        "removed": file is None,
    }
    made["time"] = rfc3339(int(moment * 1000))
    return made | ({"file": file_resource(call, file)} if file else {})


def about(call: Call) -> dict[str, Any]:
    if not call.request.first("fields"):
        message = "The 'fields' parameter is required for this method."
        raise drive_error(400, "required", message, location=("parameter", "fields"))
    usage = str(sum(file.owner == call.identity for file in call.store.files.values()))
    quota = {"usage": usage, "usageInDrive": usage, "usageInDriveTrash": "0"}
    return {
        "kind": "drive#about",
        "user": user(call, call.identity),
        "storageQuota": {"limit": "16106127360", **quota},
    }


def _drive(call: Call, file: DriveFile) -> dict[str, Any]:
    rank = call.store.rank(file, call.identity)
    rights = {
        "canAddChildren": rank >= WRITE,
        "canShare": rank >= RANK["organizer"],
        "canEdit": rank >= WRITE,
    }
    return {
        "kind": "drive#drive",
        "id": file.file_id,
        "name": file.name,
        "createdTime": rfc3339(file.created),
        "capabilities": rights,
    }


def list_drives(call: Call) -> dict[str, Any]:
    _page_size(call, 10, 100)
    mine = [f for f in call.store.files.values() if f.is_drive and call.store.rank(f, call.identity) >= READ]
    return {"kind": "drive#driveList", "drives": [_drive(call, file) for file in mine]}


def get_drive(call: Call) -> dict[str, Any]:
    file = call.store.files.get(call.parameters["driveId"])
    if file is None or not file.is_drive or call.store.rank(file, call.identity) < READ:
        raise drive_error(404, "notFound", f"Shared drive not found: {call.parameters['driveId']}")
    return _drive(call, file)


def list_comments(call: Call) -> dict[str, Any]:
    """Comments are not emulated: every file has none."""
    visible(call, call.parameters["fileId"])
    return {"kind": "drive#commentList", "comments": []}
