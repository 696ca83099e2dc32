"""What Google refuses, in one sentence that names the way out; nothing secret ever stands in it."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import requests
from google.auth.exceptions import RefreshError

from sheetsync.errors import BackendError

RATE_REASONS = frozenset({"rateLimitExceeded", "userRateLimitExceeded", "RATE_LIMIT_EXCEEDED"})
"""Why Drive (403) and Sheets (429) refuse for a moment; nothing was carried out then."""

SERVER_TROUBLE = frozenset({408, 500, 502, 503, 504})
"""Answers after which a write may have been carried out all the same."""

AGAIN = "Run the command again; what is done already is kept."


class GoogleError(BackendError):
    """Google refused a call; `status` and `reason` are Google's."""

    def __init__(self, message: str, remedy: str = "", *, status: int = 0, reason: str = "") -> None:
        super().__init__(message, remedy)
        self.status, self.reason = status, reason


class UnansweredError(GoogleError):
    """No usable answer came; the call may have been carried out all the same."""


@dataclass(frozen=True)
class Refusal:
    """An answer that is no success.

    Attributes:
        status: of HTTP.
        reason: Google's word for it, empty where there is none.
        words: Google's sentence, one line.
        api: `Sheets` or `Drive`.
        retry_after: seconds that Google asks to wait, None where it does not say.
    """

    status: int
    reason: str
    words: str
    api: str
    retry_after: float | None = None

    @property
    def is_temporary(self) -> bool:
        """Whether the same call can succeed a moment later."""
        return self.is_rate or self.status in SERVER_TROUBLE

    @property
    def is_rate(self) -> bool:
        """Whether there were too many calls; this one was not carried out."""
        return self.status == 429 or (self.status == 403 and self.reason in RATE_REASONS)


def refusal_in(response: requests.Response) -> Refusal:
    """Read what an answer refuses; a body that is no JSON (5xx often have HTML) says nothing."""
    try:
        error = response.json()["error"]
    except (ValueError, KeyError, TypeError):
        error = {}
    if not isinstance(error, Mapping):  # as the token endpoint answers
        error = {"status": str(error)}
    api = "Drive" if "/drive/" in str(response.url) else "Sheets"
    words = " ".join(str(error.get("message", "")).split())[:300]
    wait = _seconds(response.headers.get("Retry-After", ""))
    return Refusal(response.status_code, _reason(error), words, api, wait)


def _reason(error: Mapping[str, Any]) -> str:
    named = [*error.get("errors", ()), *error.get("details", ())]
    reasons = [str(entry["reason"]) for entry in named if isinstance(entry, Mapping) and "reason" in entry]
    known = [reason for reason in reasons if reason in _SENTENCES]
    return next(iter([*known, *reasons]), str(error.get("status", "")))


def _seconds(text: str) -> float | None:
    """Read a Retry-After: seconds, or the time in Google's words."""
    if text.strip().isdigit():
        return float(text)
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, moment.timestamp() - time.time())


# --- sentences -----------------------------------------------------------------------------------

_NO_ROOM = (
    "{who} has no room for another file in Drive; service accounts have no room of their own at all.",
    (
        "Name a folder of a shared drive under [backend.google] `folder`, sign in as a user (an OAuth client as "
        "`credentials`), or make blank spreadsheets yourself, share them with {who} and list them under `adopt`."
    ),
)
_API_OFF = (
    "The Google {api} API is not enabled in the project of these credentials.",
    (
        "Enable it at https://console.cloud.google.com/apis/library/{service}.googleapis.com, wait a few minutes "
        "and run the command again."
    ),
)
_NOT_SHARED = (
    "Google does not let {who} do this: {words}",
    "Share the file or folder with {who} as an editor and run the command again.",
)
_NOT_FOUND = (
    "Google finds no such file or folder, or {who} may not see it.",
    "Take it out of the trash, share it with {who} as an editor, or correct its address in study.toml.",
)
_SCOPES = (
    "The sign-in of {who} does not cover what this study needs.",
    "Delete .sheetsync/token.json, run the command in a terminal, sign in and tick every box.",
)
_SHARING_LIMIT = (
    "Google's limit for sharing files is reached.",
    "Set `notify = false` under [backend.google] and run the command again tomorrow, or share the workbook by hand.",
)
_NO_ACCOUNT = (
    "Google does not share with this address without a mail: it belongs to no Google account.",
    "Set `notify = true` under [backend.google], or give an address of a Google account in study.toml.",
)
_DAY_LIMIT = ("Google's limit of calls per day is reached.", "Run the command again tomorrow.")
_SIGN_IN = (
    "Google does not accept the sign-in of {who}.",
    "Check the credentials, or delete .sheetsync/token.json and sign in again by running a command in a terminal.",
)
_RATE = (
    "Google's limit of calls per minute was still exceeded after several attempts.",
    "Wait some minutes. " + AGAIN,
)
_TROUBLE = (
    "Google has trouble (error {status}) and still had after several attempts.",
    AGAIN + " If it lasts, look whether {who} can still open the file.",
)
_OTHER = ("Google refused a call (error {status}): {words}", AGAIN)

_SENTENCES: Mapping[str, tuple[str, str]] = {
    "storageQuotaExceeded": _NO_ROOM,
    "accessNotConfigured": _API_OFF,
    "SERVICE_DISABLED": _API_OFF,
    "ACCESS_TOKEN_SCOPE_INSUFFICIENT": _SCOPES,
    "insufficientPermissions": _SCOPES,
    "sharingRateLimitExceeded": _SHARING_LIMIT,
    "invalidSharingRequest": _NO_ACCOUNT,
    "dailyLimitExceeded": _DAY_LIMIT,
}
_BY_STATUS: Mapping[int, tuple[str, str]] = {
    401: _SIGN_IN,
    403: _NOT_SHARED,
    404: _NOT_FOUND,
    429: _RATE,
    **dict.fromkeys(SERVER_TROUBLE, _TROUBLE),
}


def explain(refusal: Refusal, who: str) -> GoogleError:
    """Return the error for a refusal; `who` is the address that calls."""
    rate = _RATE if refusal.is_rate else None
    sentence, remedy = rate or _SENTENCES.get(refusal.reason) or _BY_STATUS.get(refusal.status, _OTHER)
    kind = UnansweredError if refusal.status in SERVER_TROUBLE else GoogleError
    words = {
        "who": who or "the account that is signed in",
        "api": refusal.api,
        "service": refusal.api.lower(),
        "status": refusal.status,
        "words": refusal.words or refusal.reason or "no reason given",
    }
    message = sentence.format(**words)
    message = message[:1].upper() + message[1:] if not who else message
    return kind(
        message if message.endswith((".", "!", "?")) else f"{message}.",
        remedy.format(**words),
        status=refusal.status,
        reason=refusal.reason,
    )


def unreachable(error: Exception) -> UnansweredError:
    """Return the error for a call without an answer; only the kind of trouble is told."""
    kind = "it did not answer in time" if isinstance(error, requests.Timeout) else "the connection failed"
    return UnansweredError(f"Google could not be reached: {kind}.", "Check the network. " + AGAIN)


_REFRESH: tuple[tuple[str, str, str], ...] = (
    (
        "timeframe",
        "Google does not accept the key because this computer's clock is wrong.",
        "Set the clock (or switch on its synchronisation) and run the command again.",
    ),
    (
        "signature",
        "Google does not know the key of {who} any more: it was deleted or replaced.",
        "Make a new key of the service account in the Google Cloud console and put it in its place.",
    ),
    (
        "account not found",
        "Google knows no account {who}: it was deleted, or the key is of another project.",
        "Make a new key of a service account that exists and put it in its place.",
    ),
    (
        "expired or revoked",
        "The sign-in has expired or was revoked (an app whose consent screen is in testing mode gets seven days).",
        (
            "Delete .sheetsync/token.json, run a command in a terminal and sign in again; publish the consent "
            "screen to stay signed in."
        ),
    ),
    (
        "invalid_client",
        "Google does not know the OAuth client of these credentials.",
        "Download the client's JSON again from the Google Cloud console.",
    ),
    (
        "unauthorized_client",
        "The service account may not act for that user.",
        "Have an administrator allow domain-wide delegation, or leave it out.",
    ),
)


def explain_sign_in(error: RefreshError, who: str) -> GoogleError:
    """Return the error for credentials that get no access token; Google's answer itself is not shown."""
    text = str(error).casefold()
    name = who or "that is signed in"
    for sign, sentence, remedy in _REFRESH:
        if sign in text:
            return GoogleError(sentence.format(who=name), remedy, status=400, reason="invalid_grant")
    reason = "invalid_grant" if "invalid_grant" in text else ""
    sentence, remedy = _SIGN_IN
    return GoogleError(sentence.format(who=who or "the account"), remedy, status=400, reason=reason)
