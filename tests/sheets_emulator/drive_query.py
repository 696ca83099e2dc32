"""The `q` of files.list."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tests.sheets_emulator.clock import milliseconds_of
from tests.sheets_emulator.errors import drive_error

Entry = dict[str, Any]
"""A file's snapshot with `owners`, `writers`, `readers`, `sharedWithMe` and `root` added."""
Test = Callable[[Entry], bool]

STRING = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
TOKEN = re.compile(rf"\s*(?:(?P<string>{STRING})|(?P<operator><=|>=|!=|[=<>(){{}}])|(?P<word>\w+))")
FIELDS = {
    "name": "name",
    "mimeType": "mimeType",
    "modifiedTime": "modified",
    "createdTime": "created",
    "trashed": "trashed",
    "starred": "starred",
    "sharedWithMe": "sharedWithMe",
    "fullText": "fullText",
}
TIMES = ("modifiedTime", "createdTime")
OPERATORS: dict[str, tuple[str, ...]] = {
    "name": ("=", "!=", "contains"), "mimeType": ("=", "!=", "contains"), "fullText": ("contains",),
    "modifiedTime": ("=", "!=", "<", "<=", ">", ">="), "createdTime": ("=", "!=", "<", "<=", ">", ">="),
    "trashed": ("=", "!="), "starred": ("=", "!="), "sharedWithMe": ("=", "!="),
}  # fmt: skip
COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


class QueryError(ValueError):
    """A query that cannot be read."""


def parse_query(text: str | None) -> Test:
    """Compile a query; a bad one is 400 `Invalid Value`."""
    if not text or not text.strip():
        return lambda _: True
    try:
        reader = _Reader(_tokens(text))
        test = reader.either()
        reader.end()
    except (QueryError, ValueError):
        raise drive_error(400, "invalid", "Invalid Value", location=("parameter", "q")) from None
    return test


def _tokens(text: str) -> list[tuple[str, str]]:
    found, position, text = [], 0, text.strip()
    while position < len(text):
        match = TOKEN.match(text, position)
        if not match or match.lastgroup is None:
            raise QueryError(text[position:])
        value = match[match.lastgroup]
        if match.lastgroup == "string":
            value = re.sub(r"\\(.)", r"\1", value[1:-1])
        found.append((match.lastgroup, value))
        position = match.end()
    return found


class _Reader:
    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens, self.position = tokens, 0

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.position] if self.position < len(self.tokens) else ("end", "")

    def take(self, kind: str = "", value: str = "") -> str:
        token = self.peek()
        if token[0] == "end" or (kind and token[0] != kind) or (value and token[1] != value):
            raise QueryError(token[1])
        self.position += 1
        return token[1]

    def end(self) -> None:
        if self.peek()[0] != "end":
            raise QueryError(self.peek()[1])

    def either(self) -> Test:
        tests = [self.both()]
        while self.peek() == ("word", "or"):
            self.take()
            tests.append(self.both())
        return lambda entry: any(test(entry) for test in tests)

    def both(self) -> Test:
        tests = [self.term()]
        while self.peek() == ("word", "and"):
            self.take()
            tests.append(self.term())
        return lambda entry: all(test(entry) for test in tests)

    def term(self) -> Test:
        kind, value = self.peek()
        if (kind, value) == ("word", "not"):
            self.take()
            inner = self.term()
            return lambda entry: not inner(entry)
        if (kind, value) == ("operator", "("):
            self.take()
            inner = self.either()
            self.take("operator", ")")
            return inner
        if kind == "string":
            return self.membership()
        if value in ("appProperties", "properties"):
            return self.has()
        return self.comparison()

    def membership(self) -> Test:
        wanted = self.take("string")
        self.take("word", "in")
        where = self.take("word")
        if where not in ("parents", "owners", "writers", "readers"):
            raise QueryError(where)

        def test(entry: Entry) -> bool:
            aliases = {"root": entry["root"], "me": entry["me"]}
            return aliases.get(wanted, wanted) in entry[where]

        return test

    def has(self) -> Test:
        where = self.take("word")
        self.take("word", "has")
        self.take("operator", "{")
        self.take("word", "key")
        self.take("operator", "=")
        key = self.take("string")
        self.take("word", "and")
        self.take("word", "value")
        self.take("operator", "=")
        value = self.take("string")
        self.take("operator", "}")
        return lambda entry: entry[where].get(key) == value

    def comparison(self) -> Test:
        name, operator = self.take("word"), self.take()
        if operator not in OPERATORS.get(name, ()):
            raise QueryError(f"{name} {operator}")
        kind, text = self.peek()
        self.take()
        key = FIELDS[name]
        if name in TIMES:
            return _compared(key, operator, milliseconds_of(text))
        if name in ("trashed", "starred", "sharedWithMe"):
            if kind != "word" or text not in ("true", "false"):
                raise QueryError(text)
            return _compared(key, operator, text == "true")
        if kind != "string":
            raise QueryError(text)
        return _contains(key, text) if operator == "contains" else _compared(key, operator, text)


def _compared(key: str, operator: str, wanted: Any) -> Test:
    return lambda entry: COMPARE[operator](entry[key], wanted)


def _contains(key: str, text: str) -> Test:
    """`name contains` looks at the beginnings of words; other fields anywhere."""
    wanted = text.casefold()
    if key == "name":
        pattern = re.compile(rf"(?:^|\W|_){re.escape(wanted)}")
        return lambda entry: bool(pattern.search(entry["name"].casefold()))
    return lambda entry: wanted in str(entry.get(key) or entry["name"]).casefold()
