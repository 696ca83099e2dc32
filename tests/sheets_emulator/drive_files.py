"""Drive's files.*: create, get, list, update, copy, delete, export."""

from __future__ import annotations

import csv
import io
from typing import Any

from tests.sheets_emulator.calling import Call
from tests.sheets_emulator.clock import rfc3339
from tests.sheets_emulator.defaults import new_sheet, new_spreadsheet
from tests.sheets_emulator.drive_state import (
    FOLDER,
    RANK,
    READ,
    SHEET,
    WRITE,
    DriveFile,
    is_service_account,
    permission_id,
)
from tests.sheets_emulator.entered import typed
from tests.sheets_emulator.errors import drive_error, file_not_found, no_drive_right, storage_full
from tests.sheets_emulator.formulas import Evaluator
from tests.sheets_emulator.schema import flag
from tests.sheets_emulator.value_reading import Rendering, read_area
from tests.sheets_emulator.wire import Response

PROPERTY_BYTES, PROPERTY_COUNT = 124, 30


def visible(call: Call, file_id: str, rank: int = READ) -> DriveFile:
    """The file, if this identity, its scopes and its flags let it be seen and used."""
    file = call.store.files.get(file_id)
    if file is None or (file.is_drive and not flag(call.request, "supportsAllDrives")):
        raise file_not_found(file_id)
    own = call.store.rank(file, call.identity)
    if own < READ or (file.drive_id and not flag(call.request, "supportsAllDrives")):
        raise file_not_found(file_id)
    if call.only_own_files and call.identity not in file.apps:
        raise file_not_found(file_id)
    if own < rank:
        raise no_drive_right()
    return file


def user(call: Call, address: str) -> dict[str, Any]:
    """A User resource."""
    return {
        "kind": "drive#user",
        "displayName": address.partition("@")[0],
        "me": address == call.identity,
        "permissionId": permission_id("user", address),
        "emailAddress": address,
    }


def file_resource(call: Call, file: DriveFile, seen: dict[str, Any] | None = None) -> dict[str, Any]:
    """The File resource; `seen` is what a lagging listing still shows."""
    known = seen or file.snapshot()
    made = {key: known[key] for key in ("id", "name", "mimeType", "starred", "appProperties", "properties")}
    made |= {
        "kind": "drive#file",
        "createdTime": rfc3339(known["created"]),
        "modifiedTime": rfc3339(known["modified"]),
        "version": str(known["version"]),
        "trashed": known["trashed"] or call.store.in_trash(file),
        "explicitlyTrashed": known["trashed"],
        "spaces": ["drive"],
        "ownedByMe": file.owner == call.identity,
        "lastModifyingUser": user(call, file.modified_by or file.owner or call.identity),
        "capabilities": capabilities(call, file),
    }
    if known["description"]:
        made["description"] = known["description"]
    if call.store.rank(file, call.identity) > READ or known["parents"]:
        made["parents"] = known["parents"]
    if file.drive_id:
        made["driveId"] = file.drive_id
    if file.owner:
        made["owners"] = [user(call, file.owner)]
        made["shared"] = len(call.store.all_permissions(file)) > 1
    if file.mime_type == SHEET:
        made["webViewLink"] = f"https://docs.google.com/spreadsheets/d/{file.file_id}/edit?usp=drivesdk"
    elif file.mime_type == FOLDER:
        made["webViewLink"] = f"https://drive.google.com/drive/folders/{file.file_id}"
    if call.store.rank(file, call.identity) >= WRITE:
        entries = call.store.all_permissions(file)
        made["permissionIds"] = sorted(entries)
        if not file.drive_id:
            made["permissions"] = [permission_resource(entry) for entry in entries.values()]
    return {key: held for key, held in made.items() if held not in ({}, None)}


def capabilities(call: Call, file: DriveFile) -> dict[str, bool]:
    rank = call.store.rank(file, call.identity)
    deleting = RANK["organizer"] if file.drive_id else RANK["owner"]
    return {
        "canEdit": rank >= WRITE,
        "canShare": rank >= WRITE,
        "canRename": rank >= WRITE,
        "canAddChildren": rank >= WRITE and file.mime_type == FOLDER,
        "canDelete": rank >= deleting,
        "canTrash": rank >= (RANK["fileOrganizer"] if file.drive_id else RANK["owner"]),
    }


def permission_resource(entry: dict[str, Any]) -> dict[str, Any]:
    made = {"kind": "drive#permission", **entry}
    if "emailAddress" in entry:
        made |= {
            "displayName": entry["emailAddress"].partition("@")[0],
            "deleted": False,
            "pendingOwner": False,
        }
    return made


def _parent(call: Call, given: list[str] | None) -> tuple[list[str], str | None]:
    """The parents of a new file and the shared drive it lands in."""
    if not given or given in (["root"], [call.store.root_of(call.identity)]):
        return [call.store.root_of(call.identity)], None
    if len(given) > 1:
        raise drive_error(400, "invalid", "A file must have at most one parent folder.")
    parent = visible(call, given[0])
    if parent.mime_type != FOLDER:
        raise drive_error(403, "parentNotAFolder", "The specified parent is not a folder.")
    if call.store.rank(parent, call.identity) < WRITE:
        raise drive_error(
            403, "insufficientParentPermissions", "Insufficient permissions for the specified parent."
        )
    return [parent.file_id], parent.file_id if parent.is_drive else parent.drive_id


def check_storage(call: Call, drive_id: str | None) -> None:
    """Service accounts own nothing since 2025: they need a shared drive."""
    stuck = is_service_account(call.identity) and not call.world.service_accounts_have_storage
    if drive_id is None and (stuck or call.identity in call.world.full_storage):
        raise storage_full()


def new_file(call: Call, name: str, mime_type: str, place: tuple[list[str], str | None]) -> DriveFile:
    """A file of this identity; in a shared drive it belongs to the drive."""
    now = call.store.tick()
    owner = None if place[1] else call.identity
    file = DriveFile(call.store.new_id(), name, mime_type, owner, now, now, list(place[0]), place[1])
    file.modified_by = call.identity
    file.apps.add(call.identity)
    if owner:
        call.store.grant(file, "user", "owner", owner)
    return file


def _check_properties(body: dict[str, Any], file: DriveFile) -> None:
    for name, held in (("appProperties", file.app_properties), ("properties", file.properties)):
        merged = {**held, **body.get(name, {})}
        for key, value in merged.items():
            if len(f"{key}{value or ''}".encode()) > PROPERTY_BYTES:
                message = (
                    f"The combined length of the key and value of a property exceeds {PROPERTY_BYTES} bytes."
                )
                raise drive_error(403, "propertyTooLong", message)
        if len(merged) > PROPERTY_COUNT:
            raise drive_error(
                403, "tooManyProperties", f"A file may have at most {PROPERTY_COUNT} properties of an app."
            )
        held.update({key: value for key, value in body.get(name, {}).items() if value is not None})
        for key in [key for key, value in body.get(name, {}).items() if value is None]:
            held.pop(key, None)


def create(call: Call) -> dict[str, Any]:
    body = call.body
    place = _parent(call, body.get("parents"))
    check_storage(call, place[1])
    mime_type = body.get("mimeType", "application/octet-stream")
    file = new_file(call, body.get("name") or "Untitled", mime_type, place)
    if "id" in body:
        _choose_id(call, file, body["id"])
    _check_properties(body, file)
    file.description = body.get("description", "")
    if mime_type == SHEET:
        file.book = new_spreadsheet(file.file_id, file.name)
    call.store.add(file)
    return file_resource(call, file)


def _choose_id(call: Call, file: DriveFile, wanted: str) -> None:
    if wanted in call.store.files:
        raise drive_error(409, "fileIdInUse", "A file already exists with the provided ID.")
    file.file_id = wanted


def get(call: Call) -> dict[str, Any]:
    return file_resource(call, visible(call, call.parameters["fileId"]))


def copy(call: Call) -> dict[str, Any]:
    source = visible(call, call.parameters["fileId"])
    given = call.body.get("parents") or (source.parents if source.drive_id else None)
    place = _parent(call, given)
    check_storage(call, place[1])
    file = new_file(call, call.body.get("name") or f"Copy of {source.name}", source.mime_type, place)
    file.app_properties.update(source.app_properties)
    _check_properties(call.body, file)
    if source.book:
        file.book = source.book.clone()
        file.book.spreadsheet_id = file.file_id
        file.book.properties = {**source.book.properties, "title": file.name}
        for sheet in file.book.sheets:
            sheet.protected_ranges = [
                {**entry, "editors": {"users": [call.identity]}} for entry in sheet.protected_ranges
            ]
    call.store.add(file)
    return file_resource(call, file)


def update(call: Call) -> dict[str, Any]:
    """Rename, trash, move, mark."""
    file, body = visible(call, call.parameters["fileId"], WRITE), call.body
    if "trashed" in body:
        _check_trash(call, file)
    move(call, file)
    _check_properties(body, file)
    file.name = body.get("name", file.name)
    file.trashed = body.get("trashed", file.trashed)
    file.starred = body.get("starred", file.starred)
    file.description = body.get("description", file.description)
    if file.book and "name" in body:
        file.book.properties = {**file.book.properties, "title": file.name}
    call.store.touch(file, call.identity)
    return file_resource(call, file)


def _check_trash(call: Call, file: DriveFile) -> None:
    if not capabilities(call, file)["canTrash"]:
        raise no_drive_right()


def move(call: Call, file: DriveFile) -> None:
    added = [name for name in (call.request.first("addParents") or "").split(",") if name]
    removed = {name for name in (call.request.first("removeParents") or "").split(",") if name}
    if "root" in removed:
        removed.add(call.store.root_of(call.identity))
    if not added and not removed:
        return
    kept = [parent for parent in file.parents if parent not in removed]
    if added and kept and call.request.first("enforceSingleParent") != "true":
        raise drive_error(403, "cannotAddParent", "Increasing the number of parents is not allowed")
    file.parents = kept
    if added:
        file.parents, file.drive_id = _parent(call, added)
        if file.drive_id and file.owner:
            file.permissions = {
                key: held for key, held in file.permissions.items() if held["role"] != "owner"
            }
            file.owner = None


def delete(call: Call) -> Response:
    """For good, past the trash; owners only."""
    file = visible(call, call.parameters["fileId"])
    if not capabilities(call, file)["canDelete"]:
        raise no_drive_right()
    call.store.remove(file)
    return Response(204)


def export(call: Call) -> Response:
    """The first tab as csv or tsv; other formats are not emulated."""
    file = visible(call, call.parameters["fileId"])
    kind = call.request.first("mimeType") or ""
    if file.book is None:
        raise drive_error(403, "fileNotExportable", "Export only supports Docs Editors files.")
    if kind not in ("text/csv", "text/tab-separated-values"):
        raise drive_error(400, "badRequest", "The requested conversion is not supported.")
    rows = read_area(Evaluator(file.book, call.world.formula_values), file.book.sheets[0].area, Rendering())
    text = io.StringIO()
    writer = csv.writer(text, delimiter="," if kind == "text/csv" else "\t", lineterminator="\r\n")
    values = rows.get("values", [])
    width = max((len(row) for row in values), default=0)
    writer.writerows([*row, *[""] * (width - len(row))] for row in values)
    return Response(200, text.getvalue().removesuffix("\r\n").encode(), kind)


def import_csv(call: Call) -> dict[str, Any]:
    """The v2 upload that gspread's import_csv uses: one new tab replaces all others (recorded)."""
    file = visible(call, call.parameters["fileId"], WRITE)
    if file.book is None:
        raise file_not_found(file.file_id)
    book = file.book.clone()
    sheet = new_sheet(call.world.random.randrange(1, 2**31), file.name, 0)
    for row, line in enumerate(csv.reader(io.StringIO(call.request.body.decode("utf-8-sig")))):
        for column, text in enumerate(line):
            stored = typed(text, book.locale, call.today)
            if stored.value:
                sheet.put(row, column, {"userEnteredValue": stored.value})
    sheet.set_grid(rowCount=max(1000, len(sheet.rows)))
    book.sheets, book.named_ranges = [sheet], []
    book.properties = {**book.properties, "timeZone": "America/Los_Angeles"}
    file.book = book
    call.store.touch(file, call.identity)
    return {"kind": "drive#file", "id": file.file_id, "title": file.name, "mimeType": file.mime_type}
