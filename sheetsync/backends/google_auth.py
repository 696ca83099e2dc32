"""Who signs in to Google, and with which rights; key material is never shown.

The scopes are the least that do:

- `drive.file` lets the program see the files it made itself, and only those. That is enough where it makes
  the workbooks in its own Drive.
- A folder, a shared drive or an adopted spreadsheet was made by a person, so `drive.file` does not show it:
  only then the whole `drive` is asked for.
- `spreadsheets` reads and writes cells; without it an adopted spreadsheet could be listed and not opened.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import google.auth
from google.auth.exceptions import DefaultCredentialsError, GoogleAuthError
from google.oauth2.credentials import Credentials as UserCredentials
from google.oauth2.service_account import Credentials as ServiceCredentials

from sheetsync.domain.study import GoogleSettings
from sheetsync.errors import BackendError

CREDENTIALS = "SHEETSYNC_CREDENTIALS"
"""A path, or the whole JSON; it overrides `credentials` of study.toml."""

TOKEN_FILE = "token.json"  # noqa: S105 - a file name
_SCOPE = "https://www.googleapis.com/auth/"
_SIGN_IN_SECONDS = 300
_DEFAULT_NAME = GoogleSettings().credentials

_HOW = (
    "Put a service-account key or an OAuth client there, or name one in " + CREDENTIALS + " (README, Google)."
)


@dataclass(frozen=True)
class Login:
    """A sign-in: what signs, and whose it is (empty where Google has to be asked)."""

    credentials: Any = field(repr=False)
    address: str = ""


@dataclass(frozen=True)
class Given:
    """The credentials as somebody gave them.

    Attributes:
        info: what the JSON holds.
        is_repaired: whether its line breaks were lost in pasting.
        name: where it stands, for messages.
        path: its file; None where the JSON itself stands in the environment.
    """

    info: Mapping[str, Any] = field(repr=False)
    is_repaired: bool
    name: str
    path: Path | None = None


@dataclass(frozen=True)
class Asker:
    """What signing in depends on besides the study.

    Attributes:
        environ: the environment.
        has_terminal: whether somebody is there who can sign in with a browser.
        sign_in: runs the browser flow for a client and scopes.
        default: finds the application default credentials for scopes.
    """

    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    has_terminal: Callable[[], bool] = lambda: sys.stdin.isatty() and sys.stderr.isatty()
    sign_in: Callable[[Mapping[str, Any], list[str]], Any] = field(default_factory=lambda: _browser)
    default: Callable[[list[str]], Any] = lambda scopes: google.auth.default(scopes=scopes)[0]


def scopes_for(settings: GoogleSettings) -> list[str]:
    """Return the least scopes that do for a study."""
    reaches_out = bool(settings.folder or settings.adopt)
    return [_SCOPE + ("drive" if reaches_out else "drive.file"), _SCOPE + "spreadsheets"]


def find_login(
    settings: GoogleSettings, root: Path, private: Path, asker: Asker | None = None
) -> Login | None:
    """Return the sign-in that a study names; None where it names none and nothing lies at the usual place.

    Args:
        settings: `[backend.google]`.
        root: the study folder.
        private: its `.sheetsync` folder, for the token of a signed-in user.
        asker: the environment and the terminal.

    Raises:
        BackendError: what is named cannot be used, or somebody has to sign in and nobody is there.
    """
    asker = asker or Asker()
    given = given_credentials(settings, root, asker)
    return _login(given.info, settings, private, asker) if given else None


def given_credentials(settings: GoogleSettings, root: Path, asker: Asker | None = None) -> Given | None:
    """Return what the environment or the study names, None where nothing lies at the usual place.

    Raises:
        BackendError: it cannot be read, or is no JSON.
    """
    given = (asker or Asker()).environ.get(CREDENTIALS, "").strip()
    if given.startswith(("{", "-----")):
        return Given(*_parsed(given, CREDENTIALS), CREDENTIALS)
    path = root / Path(given or settings.credentials).expanduser()
    name = f"{CREDENTIALS} ({path.name})" if given else settings.credentials
    if not path.is_file() and not given and settings.credentials == _DEFAULT_NAME:
        return None
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        kind = (error.strerror or "unreadable") if isinstance(error, OSError) else "no text"
        raise BackendError(f"The credentials {name} cannot be read: {kind}.", _HOW) from None
    return Given(*_parsed(text, name), name, path)


def default_login(settings: GoogleSettings, asker: Asker | None = None) -> Login:
    """Return the application default credentials of this machine: the last resort.

    Raises:
        BackendError: there are none.
    """
    asker = asker or Asker()
    try:
        credentials = asker.default(scopes_for(settings))
    except DefaultCredentialsError:
        raise BackendError(f"There are no credentials: {settings.credentials} is missing.", _HOW) from None
    address = str(getattr(credentials, "service_account_email", "") or "")
    return Login(credentials, address if "@" in address else "")


# --- what is in the file -------------------------------------------------------------------------


def _parsed(text: str, name: str) -> tuple[dict[str, Any], bool]:
    """Read the JSON, also where pasting it made other line breaks of its line breaks; say whether it did."""
    if text.lstrip().startswith("-----"):
        raise BackendError(
            f"{name} holds a private key alone.", "Give the whole JSON file that the key came in."
        )
    ways: tuple[Callable[[], str], ...] = (
        lambda: text,
        lambda: text.replace("\\n", "\n"),
        lambda: str(json.loads(f'"{text}"', strict=False)),  # quoted once too often
    )
    for number, way in enumerate(ways):
        with contextlib.suppress(ValueError):
            found = json.loads(way(), strict=False)
            if isinstance(found, dict):
                key = str(found.get("private_key", ""))
                return found, number > 0 or repaired_key(key).strip() != key.strip()
    raise BackendError(
        f"{name} is no JSON.", "Give the file as Google's console made it, or the whole of its text."
    )


def _login(info: Mapping[str, Any], settings: GoogleSettings, private: Path, asker: Asker) -> Login:
    scopes = scopes_for(settings)
    if "installed" in info or "web" in info:
        return Login(_signed_in(info, scopes, private / TOKEN_FILE, asker))
    kind = str(info.get("type", ""))
    try:
        if kind == "service_account":
            key = {**info, "private_key": repaired_key(str(info.get("private_key", "")))}
            made = ServiceCredentials.from_service_account_info(key, scopes=scopes)  # type: ignore[no-untyped-call]
            return Login(made, str(info.get("client_email", "")))
        if kind == "authorized_user":
            return Login(UserCredentials.from_authorized_user_info(info))  # type: ignore[no-untyped-call]
        if kind in ("external_account", "impersonated_service_account", "external_account_authorized_user"):
            return Login(google.auth.load_credentials_from_dict(info, scopes=scopes)[0])  # type: ignore[no-untyped-call]
    except (ValueError, TypeError, KeyError, GoogleAuthError):
        raise BackendError(
            f"The {kind.replace('_', ' ')} credentials are damaged or not complete.",
            "Download them again from the Google Cloud console; nothing may be left out or changed.",
        ) from None
    raise BackendError(
        "The credentials are neither a service-account key nor an OAuth client.",
        "Give the JSON file of one of these, whole.",
    )


_PEM = re.compile(r"-----BEGIN ([A-Z ]+)-----(.*?)-----END \1-----", re.DOTALL)


def repaired_key(text: str) -> str:
    r"""Return a private key with its line breaks, whatever pasting made of them.

    >>> repaired_key("-----BEGIN KEY-----\\nABCD\\nEF==\\n-----END KEY-----\\n")
    '-----BEGIN KEY-----\nABCDEF==\n-----END KEY-----\n'
    """
    found = _PEM.search(text)
    if not found:
        return text
    body = re.sub(r"\\r|\\n|\s", "", found[2])
    lines = "\n".join(body[start : start + 64] for start in range(0, len(body), 64))
    return f"-----BEGIN {found[1]}-----\n{lines}\n-----END {found[1]}-----\n"


# --- a person who signs in -----------------------------------------------------------------------


def _signed_in(client: Mapping[str, Any], scopes: list[str], token: Path, asker: Asker) -> Any:
    """Return the credentials of a user: as stored, or after signing in with the browser."""
    known = client.get("installed") or client.get("web") or {}
    stored = _stored(token, scopes, known.get("client_id"))
    if stored is not None:
        return stored
    if not asker.has_terminal():
        raise BackendError(
            "Somebody has to sign in to Google first, and no terminal is here to do it in.",
            "Run `sheetsync provision` once in a terminal; after that no browser is needed.",
        )
    try:
        credentials = asker.sign_in(client, scopes)
    except ImportError:
        raise BackendError(
            "Signing in as a user needs the package google-auth-oauthlib.",
            "Install it: pip install 'sheetsync-study[google-user]'.",
        ) from None
    except Exception as error:
        raise BackendError(
            f"The sign-in did not come to an end ({type(error).__name__}).", "Run the command again."
        ) from None
    _store(token, credentials.to_json())
    return credentials


def _stored(token: Path, scopes: list[str], client_id: object) -> Any:
    """Return the stored credentials if they are of this client and cover the scopes."""
    try:
        info = json.loads(token.read_text(encoding="utf-8"))
        if info.get("client_id") == client_id and set(scopes) <= set(info.get("scopes") or ()):
            return UserCredentials.from_authorized_user_info(info, scopes)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, AttributeError, TypeError):
        pass
    return None


def _store(token: Path, text: str) -> None:
    """Write the token so that nobody else may read it, not even for a moment."""
    token.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, made = tempfile.mkstemp(prefix=".token-", dir=token.parent)  # 0600 from the start
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    Path(made).replace(token)


def _browser(client: Mapping[str, Any], scopes: list[str]) -> Any:
    from google_auth_oauthlib.flow import (  # type: ignore[import-untyped,import-not-found,unused-ignore] # noqa: PLC0415
        InstalledAppFlow,  # only who signs in needs it
    )

    flow = InstalledAppFlow.from_client_config(dict(client), scopes)
    with contextlib.redirect_stdout(sys.stderr):  # results alone go to stdout
        return flow.run_local_server(port=0, timeout_seconds=_SIGN_IN_SECONDS)
