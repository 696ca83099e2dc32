"""Refusals, worded as Google words them (see sheets-api.md, section 5)."""

from __future__ import annotations

from typing import Any

from tests.sheets_emulator.wire import Response, json_response

STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}
PROJECT = "project_number:123456789012"
UNAUTHENTICATED = (
    "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid "
    "authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project."
)
PROTECTED = (
    "You are trying to edit a protected cell or object. "
    "Please contact the spreadsheet owner to remove protection if you need to edit."
)


class ApiError(Exception):
    """A refused call: the answer that goes back."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(body.get("error", {}))
        self.status = status
        self.body = body

    def response(self) -> Response:
        return json_response(self.body, self.status)


class Invalid(Exception):  # noqa: N818 - a reason, turned into an ApiError by the caller that knows the prefix
    """A value that a request cannot have; the dispatcher adds `Invalid requests[i].kind: `."""


def sheets_error(status: int, message: str, details: list[dict[str, Any]] | None = None) -> ApiError:
    """Make an error of the Sheets API."""
    error: dict[str, Any] = {"code": status, "message": message, "status": STATUS.get(status, "UNKNOWN")}
    if details:
        error["details"] = details
    return ApiError(status, {"error": error})


def bad_request(message: str, field: str | None = None, description: str | None = None) -> ApiError:
    """400 INVALID_ARGUMENT, with a field violation where Google gives one."""
    violation: dict[str, Any] = {"description": description or message}
    if field:
        violation = {"field": field, **violation}
    details = [{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [violation]}]
    return sheets_error(400, message, details)


def plain_bad_request(message: str) -> ApiError:
    """400 INVALID_ARGUMENT without details: refused by the product rather than by its JSON reader."""
    return sheets_error(400, message)


def forbidden() -> ApiError:
    return sheets_error(403, "The caller does not have permission")


def missing() -> ApiError:
    return sheets_error(404, "Requested entity was not found.")


def drive_error(
    status: int, reason: str, message: str, domain: str = "global", location: tuple[str, str] | None = None
) -> ApiError:
    """Make an error of the Drive API; `location` is e.g. ("parameter", "fileId")."""
    entry = {"message": message, "domain": domain, "reason": reason}
    if location:
        entry |= {"location": location[1], "locationType": location[0]}
    return ApiError(status, {"error": {"code": status, "message": message, "errors": [entry]}})


def file_not_found(file_id: str) -> ApiError:
    return drive_error(404, "notFound", f"File not found: {file_id}.", location=("parameter", "fileId"))


def no_drive_right() -> ApiError:
    message = "The user does not have sufficient permissions for this file."
    return drive_error(403, "insufficientFilePermissions", message)


def storage_full() -> ApiError:
    message = "The user's Drive storage quota has been exceeded."
    return drive_error(403, "storageQuotaExceeded", message, "usageLimits")


def sharing_limit() -> ApiError:
    message = 'Rate limit exceeded. User message: "Sorry, you have exceeded your sharing quota."'
    return drive_error(403, "sharingRateLimitExceeded", message)


def quota_exceeded(kind: str, per_user: bool, limit: int) -> ApiError:
    """429 with the body Google sends; `kind` is `read` or `write`."""
    name = kind.capitalize()
    whose = " per user" if per_user else ""
    message = (
        f"Quota exceeded for quota metric '{name} requests' and limit '{name} requests per minute{whose}' "
        f"of service 'sheets.googleapis.com' for consumer '{PROJECT}'."
    )
    limit_name = f"{name}RequestsPerMinutePer{'User' if per_user else 'Project'}"
    metadata = {
        "service": "sheets.googleapis.com",
        "consumer": f"projects/{PROJECT.partition(':')[2]}",
        "quota_metric": f"sheets.googleapis.com/{kind}_requests",
        "quota_limit": limit_name,
        "quota_limit_value": str(limit),
        "quota_location": "global",
        "quota_unit": "1/min/{project}/{user}" if per_user else "1/min/{project}",
    }
    info = {"reason": "RATE_LIMIT_EXCEEDED", "domain": "googleapis.com", "metadata": metadata}
    link = {
        "description": "Request a higher quota limit.",
        "url": "https://cloud.google.com/docs/quotas/help/request_increase",
    }
    return sheets_error(
        429,
        message,
        [
            {"@type": "type.googleapis.com/google.rpc.ErrorInfo", **info},
            {"@type": "type.googleapis.com/google.rpc.Help", "links": [link]},
        ],
    )


def drive_rate_limit(reason: str = "userRateLimitExceeded", status: int = 403) -> ApiError:
    message = "User Rate Limit Exceeded" if reason.startswith("user") else "Rate Limit Exceeded"
    return drive_error(status, reason, message, "usageLimits")


def scope_missing(service: str, method: str) -> ApiError:
    """403 for a token whose scopes do not cover the call."""
    message = "Request had insufficient authentication scopes."
    info = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "ACCESS_TOKEN_SCOPE_INSUFFICIENT",
        "domain": "googleapis.com",
        "metadata": {"method": method, "service": f"{service}.googleapis.com"},
    }
    made = sheets_error(403, message, [info])
    if service == "drive":
        entry = {
            "message": "Insufficient Permission",
            "domain": "global",
            "reason": "insufficientPermissions",
        }
        made.body["error"]["errors"] = [entry]
    return made


def api_disabled(service: str) -> ApiError:
    """403 where the API was never switched on in the project."""
    number = PROJECT.partition(":")[2]
    title = "Google Sheets API" if service == "sheets" else "Google Drive API"
    url = f"https://console.developers.google.com/apis/api/{service}.googleapis.com/overview?project={number}"
    message = (
        f"{title} has not been used in project {number} before or it is disabled. Enable it by visiting {url} then "
        "retry. If you enabled this API recently, wait a few minutes for the action to propagate to our systems "
        "and retry."
    )
    info = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "SERVICE_DISABLED",
        "domain": "googleapis.com",
        "metadata": {"service": f"{service}.googleapis.com", "consumer": f"projects/{number}"},
    }
    made = sheets_error(403, message, [info])
    if service == "drive":
        entry = {
            "message": message,
            "domain": "usageLimits",
            "reason": "accessNotConfigured",
            "extendedHelp": url,
        }
        made.body["error"]["errors"] = [entry]
    return made
