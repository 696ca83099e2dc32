"""What goes over the wire: requests, responses, and JSON as Google prints it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

JSON_TYPE = "application/json; charset=UTF-8"
INDENT_LIMIT = 60_000
"""Longer bodies are written without indentation: only people need it, and it costs ten times the time."""


@dataclass(frozen=True)
class Request:
    """One call as received: path percent-decoded where the router asks for it, query parsed."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    headers: Mapping[str, str]
    body: bytes

    def first(self, name: str) -> str | None:
        """The last given value of a query parameter, as Google takes it, or None."""
        found = [value for key, value in self.query if key == name]
        return found[-1] if found else None

    def all(self, name: str) -> list[str]:
        """Every value of a repeated query parameter."""
        return [value for key, value in self.query if key == name]


@dataclass
class Response:
    """One answer; `lost` tells the transport that the client shall not see it."""

    status: int
    body: bytes = b""
    content_type: str = JSON_TYPE
    headers: dict[str, str] = field(default_factory=dict)
    lost: Literal["", "timeout", "dropped"] = ""
    slow: float = 0.0

    def json(self) -> Any:
        """Parse the body."""
        return json.loads(self.body)


def make_request(method: str, url: str, headers: Mapping[str, str], body: bytes | str | None) -> Request:
    """Take a URL, whole or only its path and query, apart."""
    parts = urlsplit(url)
    data = body.encode() if isinstance(body, str) else body or b""
    lowered = {name.lower(): value for name, value in headers.items()}
    query = tuple(parse_qsl(parts.query, keep_blank_values=True)) if parts.query else ()
    return Request(method.upper(), parts.path, query, lowered, data)


def decode(segment: str) -> str:
    """Decode one path segment."""
    return unquote(segment)


def json_response(value: Any, status: int = 200, *, pretty: bool = True) -> Response:
    """Answer with JSON, indented by two like Google's, unless it is long or prettyPrint=false."""
    if pretty:
        compact = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        text = (
            compact if len(compact) > INDENT_LIMIT else json.dumps(value, ensure_ascii=False, indent=2) + "\n"
        )
    else:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Response(status, text.encode("utf-8", "surrogatepass"))
