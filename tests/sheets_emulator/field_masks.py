"""`fields`: parsing (`a.b`, `a/b`, `a(b,c)`, `*`), checking against the schema, applying to answers and updates."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from tests.sheets_emulator import discovery
from tests.sheets_emulator.discovery import Service
from tests.sheets_emulator.errors import Invalid, bad_request, drive_error
from tests.sheets_emulator.schema import IGNORED, READ_ONLY

Tree = dict[str, Any]
"""Field name -> Tree; an empty Tree takes everything below."""


class MaskError(ValueError):
    """A mask that cannot be read."""


def _read_list(tokens: list[str], position: int, *, nested: bool) -> tuple[Tree, int]:
    tree: Tree = {}
    while True:
        position = _read_path(tokens, position, tree)
        if position < len(tokens) and tokens[position] == ",":
            position += 1
            continue
        closed = position < len(tokens) and tokens[position] == ")"
        if closed != nested or (not nested and position != len(tokens)):
            raise MaskError("unbalanced")
        return tree, position + 1


def _read_path(tokens: list[str], position: int, tree: Tree) -> int:
    place, fresh = tree, True
    while True:
        if position >= len(tokens) or not re.fullmatch(r"[\w*]+", tokens[position]):
            raise MaskError("name expected")
        name = tokens[position]
        whole = name in place and not place[name]
        place[name] = place.get(name, {})
        position += 1
        following = tokens[position] if position < len(tokens) else ""
        if following in (".", "/"):
            place, fresh, position = ({} if whole else place[name]), fresh and not whole, position + 1
        elif following == "(":
            inner, position = _read_list(tokens, position + 1, nested=True)
            if not whole:
                place[name] = _union(place[name], inner) if place[name] else inner
            return position
        else:
            place[name] = {}
            return position


def _union(left: Tree, right: Tree) -> Tree:
    if not left or not right:
        return {}
    return {
        key: _union(left[key], right[key])
        if key in left and key in right
        else left.get(key, right.get(key, {}))
        for key in left | right
    }


@lru_cache(maxsize=4096)
def parse_mask(text: str) -> Tree:
    """Read a mask into a tree; raises MaskError."""
    tokens = re.findall(r"[\w*]+|[./(),]|\S", text)
    if not tokens:
        raise MaskError("empty")
    return _read_list(tokens, 0, nested=False)[0]


def _target(schema: dict[str, Any]) -> dict[str, Any]:
    while schema.get("type") == "array":
        schema = schema["items"]
    return schema


def find_unknown(
    tree: Tree, service: Service, name: str, *, writing: bool = False, prefix: str = ""
) -> str | None:
    """The first path of a mask that the message does not have (or, writing, may not be set)."""
    properties = discovery.schemas(service)[name].get("properties", {})
    for key, below in tree.items():
        path = prefix + key
        if key == "*":
            continue
        if key not in properties or (writing and (name, key) in READ_ONLY | IGNORED):
            return path
        schema = _target(properties[key])
        found = _unknown_below(below, service, schema, writing, path) if below else None
        if found:
            return found
    return None


def _unknown_below(
    below: Tree, service: Service, schema: dict[str, Any], writing: bool, path: str
) -> str | None:
    if "$ref" in schema:
        return find_unknown(below, service, schema["$ref"], writing=writing, prefix=path + ".")
    if "additionalProperties" in schema or list(below) == ["*"]:
        return None
    return f"{path}.{next(iter(below))}"


@lru_cache(maxsize=4096)
def response_mask(text: str, service: Service, name: str) -> Tree:
    """The checked mask of an answer of type `name`."""
    try:
        tree = parse_mask(text)
    except MaskError:
        unknown: str | None = text
    else:
        unknown = find_unknown(tree, service, name)
    if unknown is None:
        return tree
    if service == "drive":
        raise drive_error(
            400, "invalidParameter", f"Invalid field selection {unknown}", location=("parameter", "fields")
        )
    why = f"Error expanding 'fields' parameter. Cannot find matching fields for path '{unknown}'."
    raise bad_request("Request contains an invalid argument.", unknown, why)


def pick(value: Any, tree: Tree) -> Any:
    """Keep of an answer what the mask names."""
    if not tree:
        return value
    if isinstance(value, list):
        return [pick(item, tree) for item in value]
    if not isinstance(value, dict):
        return value
    if "*" in tree:
        return {key: pick(item, tree[key if key in tree else "*"]) for key, item in value.items()}
    return {key: pick(value[key], below) for key, below in tree.items() if key in value}


def wants(tree: Tree | None, *path: str) -> bool:
    """Whether an answer's mask reaches a field (no mask reaches everything)."""
    place = tree
    for name in path:
        if not place or "*" in place:
            return True
        if name not in place:
            return False
        place = place[name]
    return True


def update_mask(text: str | None, name: str) -> Tree:
    """The checked mask of an update of message `name` in a batchUpdate request."""
    if not text:
        raise Invalid("At least one field must be listed in 'fields'. (Use '*' to indicate all fields.)")
    return _checked_update(text, name)


@lru_cache(maxsize=4096)
def _checked_update(text: str, name: str) -> Tree:
    try:
        tree = parse_mask(text)
    except MaskError:
        raise Invalid(f"Invalid field: {text}") from None
    unknown = find_unknown(tree, "sheets", name, writing=True)
    if unknown is not None:
        raise Invalid(f"Invalid field: {unknown}")
    return _with_twins(tree)


def _with_twins(tree: Tree) -> Tree:
    """A colour and its style are one thing: naming one names both."""
    made = {key: _with_twins(below) if below else below for key, below in tree.items()}
    for key in tree:
        if key.endswith("ColorStyle"):
            made.setdefault(key.removesuffix("Style"), {})
        elif key.endswith("Color"):
            made.setdefault(key + "Style", {})
    for key in ("colorStyle", "color"):
        if key in tree:
            made.setdefault("color" if key == "colorStyle" else "colorStyle", {})
    return made


def apply_mask(old: dict[str, Any], new: dict[str, Any], tree: Tree) -> dict[str, Any]:
    """A copy of `old` in which the fields named are as in `new`: set, or cleared where `new` lacks them."""
    if not tree or "*" in tree:
        return dict(new)
    made = dict(old)
    for key, below in tree.items():
        if below and "*" not in below:
            inner: Any = apply_mask(made.get(key) or {}, new.get(key) or {}, below)
        else:
            inner = new.get(key)
        if inner in (None, {}):
            made.pop(key, None)
        else:
            made[key] = inner
    return made
