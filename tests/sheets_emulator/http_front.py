"""The way in for tools: HTTP/1.1 with keep-alive, one write per answer, TCP_NODELAY.

The standard library's request handler parses headers with the e-mail package, which alone costs half of
the thousand answers a second that one connection must get; here a few lines do.
"""

from __future__ import annotations

import json
import pickle
import socketserver
import threading
import time
from http import HTTPStatus
from pathlib import Path

from tests.sheets_emulator.emulator import Emulator
from tests.sheets_emulator.wire import Response, json_response

CONTROL = "/_emulator/"
HANG = 300.0


class Handler(socketserver.StreamRequestHandler):
    """One connection."""

    disable_nagle_algorithm = True
    wbufsize = 65536
    server: Server

    def handle(self) -> None:
        try:
            while self._one():
                pass
        except (ConnectionError, TimeoutError, ValueError):
            return

    def _one(self) -> bool:
        """Answer one request; false ends the connection."""
        line = self.rfile.readline(65536)
        if not line.strip():
            return False
        method, target, version = line.decode("latin-1").split()
        headers = self._headers()
        if headers.get("expect", "").lower() == "100-continue":
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.wfile.flush()
        body = self._body(headers)
        answer = self.server.answer(method, target, headers, body)
        if answer.lost:
            if answer.lost == "timeout":
                self._hang()
            return False
        self.server.emulator.clock.advance(answer.slow)
        keep = headers.get("connection", "").lower() != "close" and version == "HTTP/1.1"
        self._write(answer, keep)
        return keep

    def _headers(self) -> dict[str, str]:
        headers: dict[str, str] = {}
        while True:
            line = self.rfile.readline(65536)
            if line in (b"\r\n", b"\n", b""):
                return headers
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()

    def _body(self, headers: dict[str, str]) -> bytes:
        if "chunked" not in headers.get("transfer-encoding", "").lower():
            return self.rfile.read(int(headers.get("content-length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self._headers()
        return b"".join(parts)

    def _hang(self) -> None:
        """Say nothing until the client goes away."""
        self.connection.settimeout(min(HANG, self.server.hang_seconds))
        try:
            self.connection.recv(1)
        except OSError:
            return

    def _write(self, answer: Response, keep: bool) -> None:
        try:
            phrase = HTTPStatus(answer.status).phrase
        except ValueError:
            phrase = "Unknown"
        lines = [
            f"HTTP/1.1 {answer.status} {phrase}",
            f"Content-Type: {answer.content_type}",
            f"Content-Length: {len(answer.body)}",
            *(f"{name}: {value}" for name, value in answer.headers.items()),
            "Connection: keep-alive" if keep else "Connection: close",
        ]
        self.wfile.write("\r\n".join([*lines, "", ""]).encode("latin-1") + answer.body)
        self.wfile.flush()


class Server(socketserver.ThreadingTCPServer):
    """The emulator behind a port of this machine."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self, emulator: Emulator, port: int = 0, *, state: Path | None = None, hang_seconds: float = HANG
    ) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.emulator, self.state, self.hang_seconds = emulator, state, hang_seconds
        self._saved, self._changed = 0.0, False
        if state and state.exists():
            load_state(emulator, state)

    @property
    def address(self) -> str:
        """What clients connect to."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def answer(self, method: str, target: str, headers: dict[str, str], body: bytes) -> Response:
        if target.startswith(CONTROL):
            return control(self.emulator, target.removeprefix(CONTROL), body)
        self._changed |= method != "GET"
        return self.emulator.handle(method, target, headers, body)

    def service_actions(self) -> None:
        """Keep the state file no more than a second behind."""
        if self.state and self._changed and time.monotonic() > self._saved + 1:
            self.save()

    def save(self) -> None:
        if self.state:
            self._changed, self._saved = False, time.monotonic()
            save_state(self.emulator, self.state)

    def start(self) -> Server:
        """Serve from a thread of its own."""
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def stop(self) -> None:
        self.shutdown()
        self.save()
        self.server_close()


def control(emulator: Emulator, what: str, body: bytes) -> Response:
    """`GET calls`, `POST advance {"seconds": 60}`, `POST reset`: for tools in another process."""
    with emulator.lock:
        if what == "calls":
            return json_response([vars(call) for call in emulator.calls])
        if what == "advance":
            emulator.clock.advance(float(json.loads(body)["seconds"]))
            return json_response({"now": emulator.clock.now()})
        if what == "reset":
            emulator.files.files.clear()
            emulator.calls.clear()
            return json_response({})
    return json_response({"error": f"unknown control {what!r}"}, 404)


def save_state(emulator: Emulator, path: Path) -> None:
    """Write files, changes and tokens; a half-written file never replaces a whole one."""
    with emulator.lock:
        files, oauth = emulator.files, emulator.oauth
        kept = (files.files, files.changes, files.groups, files.last_modified, oauth.tokens, oauth.refresh)
        data = pickle.dumps(kept)
    partial = path.with_name(path.name + ".partial")
    partial.write_bytes(data)
    partial.replace(path)


def load_state(emulator: Emulator, path: Path) -> None:
    """Read what save_state wrote; only files of one's own are to be trusted."""
    files, oauth = emulator.files, emulator.oauth
    kept = pickle.loads(path.read_bytes())
    files.files, files.changes, files.groups, files.last_modified, oauth.tokens, oauth.refresh = kept
