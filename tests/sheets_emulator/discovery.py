"""The official discovery documents: which calls exist, with which parameters, bodies and scopes."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

Service = Literal["sheets", "drive"]


@dataclass(frozen=True)
class Method:
    """One API method, e.g. `sheets.spreadsheets.values.get`."""

    id: str
    service: Service
    http_method: str
    pattern: re.Pattern[str]
    parameters: dict[str, dict[str, Any]]
    request: str | None
    response: str | None
    scopes: frozenset[str]

    @property
    def cost(self) -> Literal["read", "write", "drive"]:
        """Which quota the call uses."""
        if self.service == "drive":
            return "drive"
        reading = self.http_method == "GET" or re.search(r"(ByDataFilter|\.search)$", self.id)
        changing = re.search(r"\.batch(Clear|Update)", self.id)
        return "read" if reading and not changing else "write"


@cache
def document(service: Service) -> dict[str, Any]:
    """Load one discovery document from google-api-python-client."""
    name = {"sheets": "sheets.v4.json", "drive": "drive.v3.json"}[service]
    folder = resources.files("googleapiclient") / "discovery_cache" / "documents"
    return dict(json.loads((folder / name).read_text(encoding="utf-8")))


@cache
def schemas(service: Service) -> dict[str, Any]:
    """Every message of a service, by name."""
    return dict(document(service)["schemas"])


def _collect(node: dict[str, Any]) -> list[dict[str, Any]]:
    found = list(node.get("methods", {}).values())
    for child in node.get("resources", {}).values():
        found.extend(_collect(child))
    return found


def _pattern(path: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", path)
    text = ""
    for position, part in enumerate(parts):
        if position % 2:
            text += f"(?P<{part}>[^/:]+)" if part == "spreadsheetId" else f"(?P<{part}>[^/]+)"
        else:
            text += re.escape(part)
    return re.compile("/" + text)


def _method(service: Service, prefix: str, raw: dict[str, Any], shared: dict[str, Any]) -> Method:
    return Method(
        id=raw["id"],
        service=service,
        http_method=raw["httpMethod"],
        pattern=_pattern(prefix + raw["path"]),
        parameters=shared | raw.get("parameters", {}),
        request=raw.get("request", {}).get("$ref"),
        response=raw.get("response", {}).get("$ref"),
        scopes=frozenset(raw.get("scopes", ())),
    )


@cache
def methods(service: Service) -> dict[str, list[Method]]:
    """Methods by HTTP verb, the most literal path first."""
    doc = document(service)
    made: dict[str, list[Method]] = {}
    for raw in _collect(doc):
        method = _method(service, doc["servicePath"], raw, doc["parameters"])
        made.setdefault(method.http_method, []).append(method)
    for group in made.values():
        group.sort(key=lambda method: len(re.sub(r"\(\?P<.*?\+\)", "", method.pattern.pattern)), reverse=True)
    return made


def find_method(http_method: str, path: str) -> tuple[Method, dict[str, str]] | None:
    """Which method a call means, and its raw path parameters."""
    service: Service = "sheets" if path.startswith("/v4/") else "drive"
    for method in methods(service).get(http_method, ()):
        found = method.pattern.fullmatch(path)
        if found:
            return method, found.groupdict()
    return None
