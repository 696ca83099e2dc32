"""Sessions that sign in, and the stand-in for Google that they may go to instead: on this machine only."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import requests
from google.auth.transport.requests import AuthorizedSession, Request
from requests.adapters import HTTPAdapter

from sheetsync.errors import BackendError

EMULATOR_HOST = "SHEETS_EMULATOR_HOST"
"""Names a stand-in for Google on this machine, such as `127.0.0.1:8765`."""

HOSTS = ("https://sheets.googleapis.com", "https://www.googleapis.com", "https://oauth2.googleapis.com")


def emulator_host(environ: Mapping[str, str] | None = None) -> str:
    """Return host and port of the emulator that calls go to, empty for Google itself.

    Raises:
        BackendError: it is not on this machine.
    """
    given = (os.environ if environ is None else environ).get(EMULATOR_HOST, "").strip()
    if not given:
        return ""
    parts = urlsplit(given if "//" in given else f"//{given}")
    try:
        host, port = parts.hostname or "", parts.port
        is_here = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_here, port = False, None
    if not is_here or parts.scheme not in ("", "http") or parts.username is not None:
        raise BackendError(
            f"{EMULATOR_HOST} must name a port of this machine, such as 127.0.0.1:8765.",
            "Correct it, or unset it to use Google itself.",
        )
    return f"[{host}]:{port or 80}" if ":" in host else f"{host}:{port or 80}"


class _Rerouted(HTTPAdapter):
    """Sends what is meant for Google to the emulator."""

    def __init__(self, host: str) -> None:
        super().__init__()
        self.host = host

    def send(self, request: requests.PreparedRequest, *args: Any, **more: Any) -> requests.Response:
        parts = urlsplit(str(request.url))
        request.url = urlunsplit(("http", self.host, parts.path, parts.query, ""))
        return super().send(request, *args, **{**more, "proxies": None})


def open_session(credentials: Any, host: str = "") -> requests.Session:
    """Return a session that signs in with these credentials; with `host` all of it goes to the emulator.

    Without credentials an emulator takes the calls for those of somebody of its own.
    """
    if credentials is None:
        made = bare_session(host)
        made.headers["Authorization"] = f"Bearer {EMULATED}"
        return made
    asking = Request(bare_session(host))
    return _rerouted(AuthorizedSession(credentials, auth_request=asking), host)  # type: ignore[no-untyped-call]


def bare_session(host: str = "") -> requests.Session:
    """Return a session that signs nothing; with `host` all that is meant for Google goes to the emulator."""
    return _rerouted(requests.Session(), host)


def _rerouted(session: requests.Session, host: str) -> requests.Session:
    for name in HOSTS if host else ():
        session.mount(name, _Rerouted(host))
    return session


EMULATED = "sheetsync@emulator.test"
"""Who calls an emulator when there are no credentials."""
