"""Drive's permissions.*, and the mails that sharing sends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.sheets_emulator.calling import Call
from tests.sheets_emulator.drive_files import permission_resource, visible
from tests.sheets_emulator.drive_state import RANK, WRITE, DriveFile, permission_id
from tests.sheets_emulator.errors import drive_error, no_drive_right, sharing_limit
from tests.sheets_emulator.schema import flag
from tests.sheets_emulator.wire import Response

DAY = 86_400.0


@dataclass(frozen=True)
class Mail:
    """A sharing mail that would have gone out."""

    time: float
    sender: str
    to: str
    file_id: str
    message: str


def _shareable(call: Call) -> DriveFile:
    file = visible(call, call.parameters["fileId"], WRITE)
    if file.is_drive and call.store.rank(file, call.identity) < RANK["organizer"]:
        raise no_drive_right()
    return file


def _check_body(body: dict[str, Any], file: DriveFile) -> None:
    kind, role = body.get("type"), body.get("role")
    if kind not in ("user", "group", "domain", "anyone"):
        raise drive_error(
            400, "invalid", "The permission type field is required.", location=("other", "permission.type")
        )
    _check_role(role, file)
    if kind in ("user", "group") and "@" not in body.get("emailAddress", ""):
        message = "The specified emailAddress is invalid or not applicable for the given permission type."
        raise drive_error(400, "invalid", message, location=("other", "permission.emailAddress"))
    if kind == "domain" and not body.get("domain"):
        raise drive_error(
            400, "invalid", "The specified domain is invalid or not applicable for the given permission type."
        )


def _check_role(role: str | None, file: DriveFile) -> None:
    if role not in RANK:
        raise drive_error(
            400, "invalid", "The permission role field is required.", location=("other", "permission.role")
        )
    if role == "owner":
        message = "The transferOwnership parameter must be enabled when the permission role is 'owner'."
        raise drive_error(403, "forbidden", message, location=("parameter", "transferOwnership"))
    if role in ("organizer", "fileOrganizer") and not file.is_drive:
        raise drive_error(
            403, "fileOrganizerOnNonTeamDriveNotSupported", f"The role {role} is only for shared drives."
        )


def _notify(call: Call, file: DriveFile, body: dict[str, Any]) -> None:
    """Count the mail; the sharing quota is one of mails."""
    address = str(body["emailAddress"])
    notify = flag(call.request, "sendNotificationEmail", default=True)
    if not notify and address.casefold() in call.world.addresses_without_account:
        message = (
            f'Bad Request. User message: "You are trying to invite {address}. Since there is no Google account '
            'associated with this email address, you must check the "Notify people" box to invite this recipient."'
        )
        raise drive_error(400, "invalidSharingRequest", message)
    if not notify or file.is_drive:
        return
    now, limit = call.world.clock.now(), call.world.quotas.sharing_mails_per_day
    sent = [mail for mail in call.world.mails if mail.sender == call.identity and mail.time > now - DAY]
    if limit is not None and len(sent) >= limit:
        raise sharing_limit()
    text = call.request.first("emailMessage") or ""
    call.world.mails.append(Mail(now, call.identity, address, file.file_id, text))


def create(call: Call) -> dict[str, Any]:
    """Grant; for an address that has a stronger role nothing changes."""
    file, body = _shareable(call), call.body
    _check_body(body, file)
    if body["type"] in ("user", "group"):
        _notify(call, file, body)
    address = body.get("domain", "") if body["type"] == "domain" else body.get("emailAddress", "")
    old = file.permissions.get(permission_id(body["type"], address))
    if old and RANK[old["role"]] >= RANK[body["role"]]:
        return permission_resource(old)
    made = call.store.grant(file, body["type"], body["role"], address)
    call.store.touch(file, call.identity, content=False)
    return permission_resource(made)


def listed(call: Call) -> dict[str, Any]:
    file = visible(call, call.parameters["fileId"], WRITE)
    entries = list(call.store.all_permissions(file).values())
    given = call.request.first("pageSize")
    size = int(given) if given else 100 if file.drive_id else len(entries) or 1
    start = int(call.request.first("pageToken") or 0)
    made: dict[str, Any] = {"kind": "drive#permissionList"}
    if start + size < len(entries):
        made["nextPageToken"] = str(start + size)
    return {**made, "permissions": [permission_resource(entry) for entry in entries[start : start + size]]}


def _own(call: Call, file: DriveFile) -> dict[str, Any]:
    wanted = call.parameters["permissionId"]
    if wanted in file.permissions:
        return file.permissions[wanted]
    if wanted in call.store.all_permissions(file):
        message = "Cannot delete inherited permissions. Remove them on the folder instead."
        raise drive_error(403, "cannotDeleteInheritedPermissions", message)
    message = f"Permission not found: {wanted}."
    raise drive_error(404, "notFound", message, location=("parameter", "permissionId"))


def get(call: Call) -> dict[str, Any]:
    file = visible(call, call.parameters["fileId"], WRITE)
    found = call.store.all_permissions(file).get(call.parameters["permissionId"])
    return permission_resource(found if found else _own(call, file))


def update(call: Call) -> dict[str, Any]:
    file = _shareable(call)
    old = _own(call, file)
    _check_role(call.body.get("role"), file)
    if old["role"] == "owner":
        raise no_drive_right()
    file.permissions[old["id"]] = {**old, "role": call.body["role"]}
    call.store.touch(file, call.identity, content=False)
    return permission_resource(file.permissions[old["id"]])


def delete(call: Call) -> Response:
    """Anyone may take their own away; the owner's stays."""
    file = visible(call, call.parameters["fileId"])
    entry = _own(call, file)
    mine = entry.get("emailAddress") == call.identity
    if entry["role"] == "owner" or (not mine and call.store.rank(file, call.identity) < WRITE):
        raise no_drive_right()
    del file.permissions[entry["id"]]
    call.store.touch(file, call.identity, content=False)
    return Response(204)
