"""From TOML data to the frozen records of `domain.study`, with every fault in plain words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, get_args

from pydantic import BaseModel, ValidationError

from sheetsync.config_faults import Faults, listed, nearest, quoted, suggestion

Record = TypeVar("Record", bound=BaseModel)

Path = tuple[str | int, ...]
"""Keys and 0-based positions that lead to a value."""

_TAKES = {
    "string_type": "text in quotation marks",
    "int_type": "a whole number without quotation marks",
    "int_from_float": "a whole number",
    "float_type": "a number without quotation marks",
    "bool_type": "true or false, without quotation marks",
    "tuple_type": "a list in square brackets",
    "dict_type": "a table",
    "model_type": "a table with keys of its own",
}
_BOUNDS = {
    "greater_than": ("gt", "more than {}"),
    "greater_than_equal": ("ge", "{} or more"),
    "less_than": ("lt", "less than {}"),
    "less_than_equal": ("le", "{} or less"),
}
_SEVERAL_KINDS = {
    "value": "a number, or a word in quotation marks",
    "at_most": "a level: a number, or a word in quotation marks",
    "equals": "a level: a number, or a word in quotation marks",
    "raters_per_unit": '"all" or a whole number, 1 or more',
    "typical_total": '[lowest, highest] or "literal"',
}
"""Keys that take values of several kinds, and the words for them."""


@dataclass(frozen=True)
class Document:
    """The data of one TOML file under the name that faults call it by."""

    name: str
    data: Mapping[str, object]

    def read(self, model: type[Record], faults: Faults) -> Record | None:
        """Return the whole file as a record; None after faults."""
        before = len(faults)
        for path, key, known in _unknown_keys(model, self.data, ()):
            where = self.place(path) if path else self.name
            faults.error(where, f"{quoted(key)} is not a known key; {suggestion(key, known)}")
        for path, text in _texts(self.data, ()):
            faults.check_text(self.place(path), text)
        try:
            record = model.model_validate(_frozen(self.data), strict=True)
        except ValidationError as error:
            self._explain(error, model, faults)
            return None
        return record if len(faults) == before else None

    def section(self, key: str, model: type[Record]) -> Record | None:
        """Return one table of the file, or its default; None where it is not valid."""
        return _valid(model, self.data.get(key, {}))

    def entries(self, key: str, model: type[Record]) -> list[tuple[str, Record]]:
        """Return the valid entries of an array of tables, each with its place."""
        entries = self.data.get(key)
        if not isinstance(entries, list):
            return []
        records = ((self.place((key, index)), _valid(model, entry)) for index, entry in enumerate(entries))
        return [(where, record) for where, record in records if record is not None]

    def place(self, path: Path) -> str:
        """Return the place of a value in words: `study.toml [design] seed`."""
        words, rest = _heading(self.data, path)
        node = _value_at(self.data, path[: len(path) - len(rest)])
        for key in rest:
            node = _value_at(node, (key,))
            words.append(key if isinstance(key, str) else _numbered(key, node))
        return " ".join([self.name, *words])

    def _explain(self, error: ValidationError, model: type[BaseModel], faults: Faults) -> None:
        seen: set[Path] = set()
        for detail in error.errors(include_url=False):
            path = _path_of(detail["loc"])
            if detail["type"] == "extra_forbidden" or path in seen:
                continue
            seen.add(path)
            if detail["type"] == "missing":
                where, key = path[:-1], path[-1]
                shown = _bracketed(model, str(key)) if not where else str(key)
                faults.error(self.place(where), f"{shown} is missing; add it")
            else:
                found = _value_at(self.data, path)
                context = detail.get("ctx", {})
                faults.error(
                    self.place(path), _in_words(detail["type"], path, found, context) or detail["msg"]
                )


def _valid(model: type[Record], data: object) -> Record | None:
    """Return the entry, without what is wrong in it where the rest still is one: its other faults show too."""
    try:
        return model.model_validate(_frozen(data), strict=True)
    except ValidationError as error:
        wrong = {_path_of(detail["loc"])[0] for detail in error.errors(include_url=False) if detail["loc"]}
        if not isinstance(data, dict) or not wrong & set(data):
            return None
        return _valid(model, {key: value for key, value in data.items() if key not in wrong})


def _frozen(data: object) -> object:
    """Return the data with tuples for lists, as strict validation wants them."""
    if isinstance(data, Mapping):
        return {key: _frozen(value) for key, value in data.items()}
    return tuple(_frozen(value) for value in data) if isinstance(data, list) else data


def _texts(node: object, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(node, str):
        yield path, node
    elif isinstance(node, Mapping):
        for key, value in node.items():
            yield from _texts(value, (*path, key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from _texts(value, (*path, index))


# --- known keys --------------------------------------------------------------------------------


def _fields(model: type[BaseModel]) -> dict[str, object]:
    """Return the annotation of each key, under the name used in the file."""
    return {field.alias or name: field.annotation for name, field in model.model_fields.items()}


def _record_in(annotation: object) -> type[BaseModel] | None:
    """Return the record type inside an annotation such as `tuple[Rater, ...]`."""
    parts = get_args(annotation)
    if not parts:
        return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None
    return next((found for part in parts if (found := _record_in(part))), None)


def _unknown_keys(model: type[BaseModel], data: object, path: Path) -> Iterator[tuple[Path, str, list[str]]]:
    if isinstance(data, list):
        for index, entry in enumerate(data):
            yield from _unknown_keys(model, entry, (*path, index))
    if not isinstance(data, Mapping):
        return
    fields = _fields(model)
    for key, value in data.items():
        inner = _record_in(fields.get(key))
        if key not in fields:
            yield path, key, list(fields)
        elif inner is not None:
            yield from _unknown_keys(inner, value, (*path, key))


def _bracketed(model: type[BaseModel], key: str) -> str:
    """Return a top-level key as its heading is written in the file."""
    annotation = _fields(model).get(key)
    if _record_in(annotation) is None:
        return key
    return f"[[{key}]]" if get_args(annotation) else f"[{key}]"


# --- places ------------------------------------------------------------------------------------


def _path_of(location: Sequence[str | int]) -> Path:
    """Return the path of an error without the kinds that pydantic adds for alternatives."""
    for position, key in enumerate(location):
        if key in _SEVERAL_KINDS:
            return tuple(location[: position + 1])
    return tuple(location)


def _value_at(node: object, path: Path) -> object:
    for key in path:
        if isinstance(node, Mapping):
            node = node.get(str(key))
        elif isinstance(node, list) and isinstance(key, int) and key < len(node):
            node = node[key]
        else:
            return None
    return node


def _numbered(index: int, entry: object) -> str:
    label = entry.get("id") if isinstance(entry, Mapping) else None
    return f"{index + 1} ({label[:80]})" if isinstance(label, str) and label.strip() else f"{index + 1}"


def _heading(data: Mapping[str, object], path: Path) -> tuple[list[str], Path]:
    """Return the TOML heading a path lies under, and the rest of the path."""
    if len(path) > 1 and isinstance(path[1], int):
        return [f"[[{path[0]}]] {_numbered(path[1], _value_at(data, path[:2]))}"], path[2:]
    depth = 0
    while depth < len(path) and isinstance(_value_at(data, path[: depth + 1]), Mapping):
        depth += 1
    if not depth or not all(isinstance(key, str) for key in path[:depth]):
        return [], path
    return [f"[{'.'.join(str(key) for key in path[:depth])}]"], path[depth:]


# --- words -------------------------------------------------------------------------------------


def _in_words(kind: str, path: Path, found: object, context: Mapping[str, object]) -> str | None:
    """Return what is wrong in plain words, None for a kind without words of our own."""
    key = path[-1] if path else ""
    if isinstance(found, float) and not math.isfinite(found):
        return f"found {found}; it takes a finite number"
    if key in _SEVERAL_KINDS:
        return f"found {quoted(found)}; it takes {_SEVERAL_KINDS[str(key)]}"
    if kind == "tuple_type" and isinstance(found, Mapping):
        return f"found [{key}]; there can be several, so write it with two brackets: [[{key}]]"
    if kind in _TAKES:
        return f"found {quoted(found)}; it takes {_TAKES[kind]}"
    if kind in _BOUNDS:
        bound, words = _BOUNDS[kind]
        return f"found {quoted(found)}; it must be {words.format(f'{context.get(bound):g}')}"
    return _choice(found, str(context.get("expected", ""))) if kind == "literal_error" else None


def _choice(found: object, expected: str) -> str:
    allowed = re.findall(r"'([^']*)'", expected)
    if not allowed:
        return f"found {quoted(found)}; allowed: {expected.lower()}"
    match = nearest(found, allowed) if isinstance(found, str) else None
    hint = f'; did you mean "{match}"?' if match else ""
    return f"found {quoted(found)}; allowed: {listed(quoted(word) for word in allowed)}{hint}"
