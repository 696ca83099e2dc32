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
    asking, made = requests.Session(), requests.Session()
    if credentials is not None:
        made = AuthorizedSession(credentials, auth_request=Request(asking))  # type: ignore[no-untyped-call]
    else:
        made.headers["Authorization"] = f"Bearer {EMULATED}"
    for name in HOSTS if host else ():
        asking.mount(name, _Rerouted(host))
        made.mount(name, _Rerouted(host))
    return made


EMULATED = "sheetsync@emulator.test"
"""Who calls an emulator when there are no credentials."""
