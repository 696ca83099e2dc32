"""Reading a formula: tokens and the expression tree. Arguments part at `,`, or at `;` in comma locales."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

TOKEN = re.compile(
    r"""\s*(?:(?P<number>\d+(?:[.]\d+)?(?:[eE][+-]?\d+)?|[.]\d+)
    |(?P<text>"(?:[^"]|"")*")
    |(?P<ref>(?:(?:'(?:[^']|'')+'|[A-Za-z_]\w*)!)?\$?[A-Za-z]{1,3}\$?\d+(?::\$?[A-Za-z]{1,3}\$?\d*)?(?![\w(])
      |(?:(?:'(?:[^']|'')+'|[A-Za-z_]\w*)!)?\$?[A-Za-z]{1,3}:\$?[A-Za-z]{1,3}(?![\w(]))
    |(?P<name>[A-Za-z_][\w.]*)
    |(?P<operator><>|<=|>=|[-+*/^&=<>%(),;]))""",
    re.VERBOSE,
)
BINARY = ({"=", "<>", "<", ">", "<=", ">="}, {"&"}, {"+", "-"}, {"*", "/"}, {"^"})


class FormulaError(Exception):
    """A formula's error value, e.g. NAME or DIVIDE_BY_ZERO."""

    def __init__(self, kind: str, message: str = "") -> None:
        super().__init__(message or kind)
        self.kind = kind


@dataclass(frozen=True)
class Node:
    """kind: number, text, ref, call, binary, unary, percent, name; `value` its text, `parts` its operands."""

    kind: str
    value: str
    parts: tuple[Node, ...] = ()


@lru_cache(maxsize=65_536)
def read_formula(formula: str, separator: str) -> Node:
    """Parse `=1+A1`; raises FormulaError("ERROR")."""
    tokens: list[tuple[str, str]] = []
    text, position = formula.removeprefix("=").strip(), 0
    if separator == ";":
        text = re.sub(r'(?<=\d),(?=\d)(?=(?:[^"]*"[^"]*")*[^"]*$)', ".", text)
    while position < len(text):
        found = TOKEN.match(text, position)
        if not found or found.end() == position or found.lastgroup is None:
            raise FormulaError("ERROR", "Formula parse error.")
        tokens.append((found.lastgroup, found[found.lastgroup]))
        position = found.end()
    reader = _Reader(tokens, separator)
    node = reader.level(0)
    if reader.position != len(tokens):
        raise FormulaError("ERROR", "Formula parse error.")
    return node


class _Reader:
    def __init__(self, tokens: list[tuple[str, str]], separator: str) -> None:
        self.tokens, self.separator, self.position = tokens, separator, 0

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.position] if self.position < len(self.tokens) else ("end", "")

    def take(self, wanted: str = "") -> tuple[str, str]:
        token = self.peek()
        if token[0] == "end" or (wanted and token[1] != wanted):
            raise FormulaError("ERROR", "Formula parse error.")
        self.position += 1
        return token

    def level(self, depth: int) -> Node:
        if depth == len(BINARY):
            return self.unary()
        node = self.level(depth + 1)
        while self.peek()[0] == "operator" and self.peek()[1] in BINARY[depth]:
            node = Node("binary", self.take()[1], (node, self.level(depth + 1)))
        return node

    def unary(self) -> Node:
        if self.peek() in (("operator", "-"), ("operator", "+")):
            return Node("unary", self.take()[1], (self.unary(),))
        node = self.atom()
        while self.peek() == ("operator", "%"):
            self.take()
            node = Node("percent", "%", (node,))
        return node

    def atom(self) -> Node:
        kind, text = self.take()
        if kind == "operator":
            if text != "(":
                raise FormulaError("ERROR", "Formula parse error.")
            node = self.level(0)
            self.take(")")
            return node
        if kind == "name" and self.peek()[1] == "(":
            return Node("call", text.upper(), self.arguments())
        if kind == "text":
            return Node("text", text[1:-1].replace('""', '"'))
        return Node(kind, text)

    def arguments(self) -> tuple[Node, ...]:
        self.take("(")
        found: list[Node] = []
        if self.peek()[1] == ")":
            self.take()
            return ()
        while True:
            empty = self.peek()[1] in (self.separator, ")")
            found.append(Node("text", "") if empty else self.level(0))
            if self.peek()[1] == ")":
                self.take()
                return tuple(found)
            self.take(self.separator)
