"""Effective values. A small set of formulas is computed; the rest comes from a hook or shows `Loading...`.

Computed: constants, references within the file, `+ - * / ^ & % = <> < > <= >=` and the functions below,
without array arithmetic. `Emulator.formula_values(spreadsheet_id, title, a1, formula)` may give any value;
it is asked first. A formula nobody knows has the error value LOADING, as a slow one has on Google:
code that takes that for an answer is caught.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.sheets_emulator import a1
from tests.sheets_emulator.errors import ApiError
from tests.sheets_emulator.formula_text import FormulaError, Node, read_formula
from tests.sheets_emulator.locales import locale_of
from tests.sheets_emulator.rendering import formatted, plain
from tests.sheets_emulator.state import Area, Sheet, Spreadsheet

Hook = Callable[[str, str, str, str], Any]
Value = Any
"""bool, float, int, str, or None for a blank cell."""


class UnsupportedError(FormulaError):
    """A function this evaluator does not know."""

    def __init__(self, name: str) -> None:
        super().__init__("LOADING", f"{name} is not computed by the emulator")


class Evaluator:
    """Effective values of one spreadsheet during one call; remembers what it computed."""

    def __init__(self, book: Spreadsheet, hook: Hook | None = None) -> None:
        self.book, self.hook = book, hook
        self.known: dict[tuple[int, int, int], dict[str, Any] | None] = {}

    def effective(self, sheet: Sheet, row: int, column: int) -> dict[str, Any] | None:
        """The effectiveValue of a cell, or None for a blank one."""
        entered = sheet.get(row, column).get("userEnteredValue")
        if not entered or "formulaValue" not in entered:
            return dict(entered) if entered else None
        key = (sheet.sheet_id, row, column)
        if key not in self.known:
            self.known[key] = {"errorValue": {"type": "REF", "message": "Circular dependency detected."}}
            self.known[key] = self._formula(sheet, row, column, entered["formulaValue"])
        return self.known[key]

    def _formula(self, sheet: Sheet, row: int, column: int, formula: str) -> dict[str, Any]:
        if self.hook:
            place = f"{a1.column_name(column)}{row + 1}"
            given = self.hook(self.book.spreadsheet_id, sheet.title, place, formula)
            if given is not None:
                return extended(given)
        try:
            node = read_formula(formula, locale_of(self.book.locale).argument)
            return extended(self.value(node, sheet))
        except FormulaError as fault:
            return {"errorValue": {"type": fault.kind, "message": str(fault)}}
        except RecursionError:
            return {"errorValue": {"type": "REF", "message": "Circular dependency detected."}}

    def value(self, node: Node, sheet: Sheet) -> Value:
        return KINDS[node.kind](self, node, sheet)

    def cells(self, node: Node, sheet: Sheet) -> Iterator[Value]:
        """Every value of an operand: a range's cells, or the one value."""
        if node.kind != "ref" or ":" not in node.value:
            yield self.value(node, sheet)
            return
        target, area = self.area(node, sheet)
        for row, column in area.cells():
            yield self.cell(target, row, column)

    def cell(self, sheet: Sheet, row: int, column: int) -> Value:
        found = self.effective(sheet, row, column)
        if found and "errorValue" in found:
            raise FormulaError(found["errorValue"]["type"])
        return plain(found) if found else None

    def area(self, node: Node, sheet: Sheet) -> tuple[Sheet, Area]:
        title, cells = a1.split_title(node.value.replace("$", ""))
        target = sheet if title is None else self.book.sheet_by_title(title)
        if target is None:
            raise FormulaError("REF", f"Unresolved sheet name '{title}'.")
        try:
            return target, a1.cells_area(target, cells)
        except ApiError:
            raise FormulaError("REF", "Reference does not exist.") from None


def extended(value: Value) -> dict[str, Any]:
    """Wrap a computed value."""
    if isinstance(value, dict):
        return value
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int | float):
        return {"numberValue": value}
    return {"stringValue": "" if value is None else str(value)} if value is not None else {"numberValue": 0}


def number(value: Value) -> float:
    """A value as arithmetic takes it: blank is 0, a text must look like a number."""
    if value is None:
        return 0
    if isinstance(value, bool | int | float):
        return value
    try:
        return float(value)
    except ValueError:
        raise FormulaError("VALUE", f"'{value}' is a text and cannot be coerced to a number.") from None


def text(value: Value) -> str:
    """A value as text functions take it."""
    return "" if value is None else formatted(extended(value), None, "en_US")


def truth(value: Value) -> bool:
    return bool(number(value)) if not isinstance(value, str) else value.upper() == "TRUE"


def _reference(run: Evaluator, node: Node, sheet: Sheet) -> Value:
    target, area = run.area(node, sheet)
    return run.cell(target, area.top, area.left)


def _name(run: Evaluator, node: Node, sheet: Sheet) -> Value:
    del run, sheet
    if node.value.upper() in ("TRUE", "FALSE"):
        return node.value.upper() == "TRUE"
    raise FormulaError("NAME", f"Unknown range name: '{node.value}'.")


def _rank(value: Value) -> tuple[int, Any]:
    kind = 2 if isinstance(value, bool) else 1 if isinstance(value, str) else 0
    return kind, value.casefold() if isinstance(value, str) else value


def _compare(operator: str, left: Value, right: Value) -> bool:
    blank = {str: "", bool: False}
    left = blank.get(type(right), 0) if left is None else left
    right = blank.get(type(left), 0) if right is None else right
    first, second = _rank(left), _rank(right)
    return {
        "=": first == second, "<>": first != second, "<": first < second, ">": first > second,
        "<=": first <= second, ">=": first >= second,
    }[operator]  # fmt: skip


def _divide(left: Value, right: Value) -> float:
    if not number(right):
        raise FormulaError("DIVIDE_BY_ZERO", "Function DIVIDE parameter 2 cannot be zero.")
    return number(left) / number(right)


ARITHMETIC: dict[str, Callable[[Value, Value], Value]] = {
    "+": lambda left, right: number(left) + number(right),
    "-": lambda left, right: number(left) - number(right),
    "*": lambda left, right: number(left) * number(right),
    "/": _divide,
    "^": lambda left, right: number(left) ** number(right),
    "&": lambda left, right: text(left) + text(right),
}


def _binary(run: Evaluator, node: Node, sheet: Sheet) -> Value:
    left, right = (run.value(part, sheet) for part in node.parts)
    known = ARITHMETIC.get(node.value)
    return known(left, right) if known else _compare(node.value, left, right)


def _call(run: Evaluator, node: Node, sheet: Sheet) -> Value:
    if node.value in LAZY:
        return LAZY[node.value](run, node.parts, sheet)
    if node.value in OVER_CELLS:
        values = [value for part in node.parts for value in run.cells(part, sheet)]
        return OVER_CELLS[node.value](values)
    if node.value in PLAIN:
        return PLAIN[node.value](*(run.value(part, sheet) for part in node.parts))
    raise UnsupportedError(node.value)


KINDS: dict[str, Callable[[Evaluator, Node, Sheet], Value]] = {
    "number": lambda _run, node, _sheet: (
        float(node.value) if re.search(r"[.eE]", node.value) else int(node.value)
    ),
    "text": lambda _run, node, _sheet: node.value,
    "ref": _reference,
    "name": _name,
    "call": _call,
    "binary": _binary,
    "unary": lambda run, node, sheet: (
        (-1 if node.value == "-" else 1) * number(run.value(node.parts[0], sheet))
    ),
    "percent": lambda run, node, sheet: number(run.value(node.parts[0], sheet)) / 100,
}


def _if(run: Evaluator, parts: tuple[Node, ...], sheet: Sheet) -> Value:
    if truth(run.value(parts[0], sheet)):
        return run.value(parts[1], sheet)
    return run.value(parts[2], sheet) if len(parts) > 2 else False


def _if_error(run: Evaluator, parts: tuple[Node, ...], sheet: Sheet) -> Value:
    try:
        return run.value(parts[0], sheet)
    except UnsupportedError:
        raise
    except FormulaError:
        return run.value(parts[1], sheet) if len(parts) > 1 else ""


def _count_if(run: Evaluator, parts: tuple[Node, ...], sheet: Sheet) -> Value:
    wanted = run.value(parts[1], sheet)
    found = re.fullmatch(r"(<>|<=|>=|=|<|>)(.*)", wanted) if isinstance(wanted, str) else None
    operator, wanted = (found[1], found[2]) if found else ("=", wanted)
    wanted = float(wanted) if isinstance(wanted, str) and re.fullmatch(r"-?\d+(\.\d+)?", wanted) else wanted
    return sum(_compare(operator, value, wanted) for value in run.cells(parts[0], sheet) if value is not None)


def _substitute(value: Value, old: Value, new: Value) -> str:
    return text(value).replace(text(old), text(new)) if text(old) else text(value)


def _find(wanted: Value, value: Value) -> int:
    position = text(value).find(text(wanted))
    if position < 0:
        raise FormulaError("VALUE", "In FIND evaluation, cannot find the text.")
    return position + 1


def _numbers(values: list[Value]) -> list[float]:
    return [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]


def _average(values: list[Value]) -> float:
    found = _numbers(values)
    return _divide(sum(found), len(found))


def _text_join(values: list[Value]) -> str:
    between, skip_blanks, *rest = values
    return text(between).join(text(value) for value in rest if not truth(skip_blanks) or text(value))


LAZY: dict[str, Callable[[Evaluator, tuple[Node, ...], Sheet], Value]] = {
    "IF": _if, "IFERROR": _if_error, "IFNA": _if_error, "COUNTIF": _count_if,
}  # fmt: skip
OVER_CELLS: dict[str, Callable[[list[Value]], Value]] = {
    "SUM": lambda values: sum(_numbers(values)),
    "COUNT": lambda values: len(_numbers(values)),
    "COUNTA": lambda values: sum(value is not None for value in values),
    "COUNTBLANK": lambda values: sum(value in (None, "") for value in values),
    "AVERAGE": _average,
    "MIN": lambda values: min(_numbers(values), default=0),
    "MAX": lambda values: max(_numbers(values), default=0),
    "AND": lambda values: all(truth(value) for value in values),
    "OR": lambda values: any(truth(value) for value in values),
    "CONCATENATE": lambda values: "".join(map(text, values)),
    "TEXTJOIN": _text_join,
}
PLAIN: dict[str, Callable[..., Value]] = {
    "NOT": lambda value: not truth(value),
    "TRUE": lambda: True,
    "FALSE": lambda: False,
    "ISBLANK": lambda value: value is None,
    "ISNUMBER": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "ISTEXT": lambda value: isinstance(value, str),
    "ISLOGICAL": lambda value: isinstance(value, bool),
    "LEN": lambda value: len(text(value)),
    "TRIM": lambda value: " ".join(text(value).split(" ")).strip(),
    "LOWER": lambda value: text(value).lower(),
    "UPPER": lambda value: text(value).upper(),
    "EXACT": lambda left, right: text(left) == text(right),
    "LEFT": lambda value, count=1: text(value)[: int(number(count))],
    "RIGHT": lambda value, count=1: text(value)[-int(number(count)) :],
    "MID": lambda value, start, count: text(value)[int(start) - 1 : int(start) - 1 + int(count)],
    "SUBSTITUTE": _substitute,
    "FIND": _find,
    "ABS": lambda value: abs(number(value)),
    "INT": lambda value: number(value) // 1,
    "MOD": lambda left, right: number(left) % number(right),
    "ROUND": lambda value, places=0: round(number(value), int(number(places))),
    "VALUE": number,
    "N": lambda value: number(value) if not isinstance(value, str) else 0,
    "T": lambda value: value if isinstance(value, str) else "",
}
