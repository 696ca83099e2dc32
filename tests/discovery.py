"""Checks messages of the Sheets API against the discovery document of google-api-python-client.

Independent of the emulator, so that the product's requests and the emulator cannot share a mistake.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import pytest

Json = Mapping[str, Any]

IDENTIFIES = {("updateProtectedRange", "protectedRangeId")}
"""Fields the schema calls read-only, and that say which object a request means."""

MASKED = {
    "updateCells": "CellData",
    "repeatCell": "CellData",
    "updateSpreadsheetProperties": "SpreadsheetProperties",
    "updateSheetProperties": "SheetProperties",
    "updateDimensionProperties": "DimensionProperties",
    "updateFilterView": "FilterView",
    "updateNamedRange": "NamedRange",
    "updateProtectedRange": "ProtectedRange",
}
"""What the `fields` of a request are fields of."""

ONE_OF = {"Request": 1, "ExtendedValue": 1, "ColorStyle": 1, "ConditionalFormatRule": 2}
"""Unions: at most one field may be set (of a rule besides its ranges)."""


@cache
def schemas() -> dict[str, Any]:
    """Every message by name; skips the test where the package is not installed."""
    pytest.importorskip("googleapiclient", reason="google-api-python-client is not installed: no schema")
    folder = resources.files("googleapiclient") / "discovery_cache" / "documents"
    return dict(json.loads((folder / "sheets.v4.json").read_text(encoding="utf-8"))["schemas"])


def faults_of_requests(requests: Sequence[Json]) -> list[str]:
    """Return what a batchUpdate of these does wrong by the schema."""
    found = []
    for number, request in enumerate(requests):
        kind = next(iter(request), "")
        faults = [*faults_of("Request", request, kind), *_mask_faults(kind, request.get(kind, {}))]
        found += [f"requests[{number}].{fault}" for fault in faults]
    return found


def faults_of(name: str, value: object, kind: str = "") -> Iterator[str]:
    """Yield the faults of one message: unknown or read-only names, wrong types, unknown enum values."""
    if not isinstance(value, dict):
        yield f": {name} must be an object, not {value!r}"
        return
    properties = schemas()[name]["properties"]
    if name in ONE_OF and len(value) > ONE_OF[name]:
        yield f": {name} is one of its fields, not {sorted(value)}"
    for key, held in value.items():
        if key not in properties:
            yield f"{key}: unknown name in {name}"
            continue
        schema = properties[key]
        if _is_read_only(schema) and (kind, key) not in IDENTIFIES:
            yield f"{key}: read-only in {name}"
        for fault in _value_faults(schema, held, kind):
            yield f"{key}{'' if fault.startswith(':') else '.'}{fault}"


def _is_read_only(schema: Json) -> bool:
    text = schema.get("description", "")
    return bool(schema.get("readOnly")) or "is read-only" in text or text.startswith("Output only")


def _value_faults(schema: Json, value: object, kind: str) -> Iterator[str]:
    if "$ref" in schema:
        yield from faults_of(schema["$ref"], value, kind)
    elif schema["type"] == "array":
        if not isinstance(value, list):
            yield f": a list, not {value!r}"
            return
        for number, item in enumerate(value):
            yield from (f"[{number}]{fault}" for fault in _value_faults(schema["items"], item, kind))
    elif "enum" in schema and value not in schema["enum"]:
        yield f": {value!r} is none of {schema['enum']}"
    elif not _has_type(schema, value):
        yield f": {schema['type']} ({schema.get('format', '')}), not {value!r}"


def _has_type(schema: Json, value: object) -> bool:
    kind = schema["type"]
    if kind == "integer":
        bits = 31 if schema.get("format") == "int32" else 63
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**bits
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, {"string": str, "boolean": bool, "object": dict, "any": object}[kind])


def _mask_faults(kind: str, content: Json) -> Iterator[str]:
    properties = schemas()["Request"]["properties"]
    if kind not in properties or "fields" not in schemas()[properties[kind]["$ref"]]["properties"]:
        return
    if not content.get("fields"):
        yield f"{kind}.fields: missing"
        return
    for path in mask_paths(content["fields"]):
        fault = _path_fault(MASKED[kind], path)
        if fault:
            yield f"{kind}.fields: {fault}"


def mask_faults(name: str, mask: str) -> list[str]:
    """Return what is wrong with a `fields` mask of a message."""
    return [fault for path in mask_paths(mask) if (fault := _path_fault(name, path))]


def _path_fault(name: str, path: Sequence[str]) -> str:
    for key in path:
        properties = schemas()[name]["properties"] if name else {}
        if key not in properties:
            return f"{'.'.join(path)}: {name} has no {key}"
        schema = properties[key]
        name = schema.get("items", schema).get("$ref", "")
    return ""


def mask_paths(mask: str, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths of a mask.

    >>> list(mask_paths("a,b(c,d.e)"))
    [('a',), ('b', 'c'), ('b', 'd', 'e')]
    """
    depth, start = 0, 0
    for place, letter in enumerate(mask + ","):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            head, _, rest = mask[start:place].partition("(")
            path = (*before, *head.split("."))
            if rest:
                yield from mask_paths(rest.removesuffix(")"), path)
            else:
                yield path
            start = place + 1
