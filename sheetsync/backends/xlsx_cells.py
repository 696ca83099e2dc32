"""Single cells in xlsx: values, comments and validations, within Excel's limits."""

from __future__ import annotations

import math
import re
from functools import cache
from typing import Any

from sheetsync.domain.workbook import (
    MAX_CELL_CHARACTERS,
    Formula,
    FreeText,
    Link,
    ReadOnly,
    Tick,
    Validation,
    Value,
    cell_length,
)

MAX_PROMPT, MAX_ERROR, MAX_TITLE, MAX_FORMULA = 255, 225, 32, 8192
"""Excel's limits for a validation's texts and for a formula; beyond them it offers to repair the file."""

_NEWER = re.compile(
    r"(?<![\w.])(CONCAT|DAYS|FORMULATEXT|IFNA|IFS|ISFORMULA|ISOWEEKNUM|MAXIFS|MINIFS|NUMBERVALUE|SHEETS?"
    r"|SWITCH|TEXTAFTER|TEXTBEFORE|TEXTJOIN|UNICHAR|UNICODE|VALUETOTEXT|XLOOKUP|XMATCH|XOR)\("
)
"""Those of XlsxWriter's list (docs, "Formulas added in Excel 2010 and later") that a study might use."""


def write_value(sheet: Any, row: int, column: int, value: Value, look: Any) -> None:
    """Write a value as exactly what it is: no text becomes a formula, a number or a link.

    Raises:
        ValueError: no cell can hold the value.
    """
    if value is None or value == "":
        sheet.write_blank(row, column, None, look)
    elif isinstance(value, str):
        sheet.write_string(row, column, _checked(value), look)
    elif isinstance(value, bool):
        sheet.write_boolean(row, column, value, look)
    elif isinstance(value, Formula):
        text = _prefixed(value.text).replace("{row}", str(row + 1))
        if len(text) >= MAX_FORMULA:
            raise ValueError(f"a formula of {len(text)} characters is longer than Excel's {MAX_FORMULA}")
        sheet.write_formula(row, column, f"={text}", look, value.shown)
    elif isinstance(value, Link):
        tab = value.tab.replace("'", "''")
        sheet.write_url(row, column, f"internal:'{tab}'!{value.cell}", look, _checked(value.text))
    elif math.isfinite(value):
        sheet.write_number(row, column, value, look)
    else:
        raise ValueError(f"{value} is not a number that a cell can hold")


@cache
def _prefixed(formula: str) -> str:
    """Return a formula with the prefix that files must give to functions newer than Excel 2007.

    >>> _prefixed('IFNA(TEXTJOIN(", ",TRUE,A{row}:B{row}),"IFNA(")')
    '_xlfn.IFNA(_xlfn.TEXTJOIN(", ",TRUE,A{row}:B{row}),"IFNA(")'
    """
    parts = formula.split('"')  # the odd ones are texts
    return '"'.join(part if index % 2 else _NEWER.sub(r"_xlfn.\1(", part) for index, part in enumerate(parts))


def _checked(text: str) -> str:
    length = cell_length(text)
    if length > MAX_CELL_CHARACTERS:
        raise ValueError(f"a text of {length} characters is longer than a cell's {MAX_CELL_CHARACTERS}")
    text.encode()  # a lone surrogate is a ValueError here, and half a file later
    return text


def comment_options(text: str) -> dict[str, Any]:
    """Return options for a comment that shows all of its text when pointed at."""
    width = 220 if len(text) < 120 else 320
    lines = sum(max(1, math.ceil(len(line) * 6.2 / (width - 16))) for line in text.split("\n"))
    return {
        "author": "",
        "width": width,
        "height": min(18 + 16 * lines, 640),
        "font_name": "Calibri",
        "font_size": 10,
        "color": "#FFFDF2",
    }


def validation_options(validation: Validation) -> dict[str, Any]:
    """Return a validation as XlsxWriter's options."""
    if isinstance(validation, ReadOnly):
        # A formula that is never true refuses whatever is typed.
        rule: dict[str, Any] = {"validate": "custom", "value": "=FALSE", "ignore_blank": False}
        return {**rule, "error_title": "Not for typing", "error_message": _cut(validation.error, MAX_ERROR)}
    prompt = {
        "input_title": _cut(validation.title, MAX_TITLE),
        "input_message": _cut(validation.prompt, MAX_PROMPT),
    }
    if isinstance(validation, FreeText):
        return {"validate": "any", **prompt}
    refusal = {
        "error_title": _cut(validation.title, MAX_TITLE),
        "error_message": _cut(validation.error, MAX_ERROR),
    }
    if isinstance(validation, Tick):
        return {"validate": "list", "source": ["x"], **prompt, **refusal}
    source = f"={validation.list_name}_offered"
    return {
        "validate": "list",
        "source": source,
        "show_error": not validation.extra_allowed,
        **prompt,
        **refusal,
    }


def _cut(text: str, limit: int) -> str | None:
    """Return a text within a limit (in UTF-16 units, as Excel counts), None for none."""
    if cell_length(text) <= limit:
        return text or None
    while cell_length(text) > limit - 1:
        text = text[:-1]
    return text.rstrip() + "…"
