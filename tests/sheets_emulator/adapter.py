"""The way in for tests: a requests transport that hands calls to an emulator in the same process."""

from __future__ import annotations

import io
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import requests
from requests.adapters import BaseAdapter
from requests.structures import CaseInsensitiveDict

if TYPE_CHECKING:
    from tests.sheets_emulator.emulator import Emulator

HOSTS = (
    "https://sheets.googleapis.com",
    "https://www.googleapis.com",
    "https://oauth2.googleapis.com",
    "https://accounts.google.com",
)
LONGEST = 180.0


class Unmounted(BaseAdapter):
    """Everything that is not Google: refused, so that no test reaches the network."""

    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:
        raise requests.exceptions.ConnectionError(f"the test tried to reach {request.url}")

    def close(self) -> None:
        pass


class EmulatorAdapter(BaseAdapter):
    """Mount it for each of HOSTS. Calls without an Authorization header are made as `identity`.

    A lost answer becomes ReadTimeout or ConnectionError as in real life; time passes on the emulator's clock.
    """

    def __init__(self, emulator: Emulator, identity: str | None = None) -> None:
        super().__init__()
        self.emulator, self.identity = emulator, identity

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,  # noqa: ARG002 - the transport's signature
        timeout: float | tuple[float, float] | tuple[float, None] | None = None,
        verify: bool | str = True,  # noqa: ARG002
        cert: bytes | str | tuple[bytes | str, bytes | str] | None = None,  # noqa: ARG002
        proxies: Mapping[str, str] | None = None,  # noqa: ARG002
    ) -> requests.Response:
        """Let the emulator answer."""
        headers = dict(request.headers)
        if self.identity and "authorization" not in {name.lower() for name in headers}:
            headers["Authorization"] = f"Bearer {self.identity}"
        body = request.body
        if body is not None and not isinstance(body, bytes | str):
            body = b"".join(part if isinstance(part, bytes) else str(part).encode() for part in body)
        answer = self.emulator.handle(str(request.method), str(request.url), headers, body)
        limit = timeout[1] if isinstance(timeout, tuple) else timeout
        patience = LONGEST if limit is None else float(limit)
        if answer.lost == "dropped":
            message = (
                "('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))"
            )
            raise requests.exceptions.ConnectionError(message, request=request)
        if answer.lost == "timeout" or answer.slow > patience:
            self.emulator.clock.advance(patience)
            raise requests.exceptions.ReadTimeout(
                f"Read timed out. (read timeout={patience:g})", request=request
            )
        self.emulator.clock.advance(answer.slow)
        return self._response(
            request, answer.status, answer.body, {**answer.headers, "Content-Type": answer.content_type}
        )

    def _response(
        self, request: requests.PreparedRequest, status: int, body: bytes, headers: dict[str, str]
    ) -> requests.Response:
        made = requests.Response()
        made.status_code = status
        made.headers = CaseInsensitiveDict({**headers, "Content-Length": str(len(body))})
        made.reason = _phrase(status)
        made.encoding = "utf-8"
        made.raw = io.BytesIO(body)
        made._content = body
        made.url, made.request = str(request.url), request
        return made

    def close(self) -> None:
        """Nothing is open."""


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def mounted_session(emulator: Emulator, identity: str | None = None) -> requests.Session:
    """A session that reaches the emulator and nothing else."""
    session = requests.Session()
    session.mount("https://", Unmounted())
    session.mount("http://", Unmounted())
    for host in HOSTS:
        session.mount(host, EmulatorAdapter(emulator, identity))
    return session
