"""What a cell shows: formatted text, unformatted JSON value, or formula."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Any

from tests.sheets_emulator.entered import EPOCH, FULL_MONTHS
from tests.sheets_emulator.locales import Locale, locale_of

ERROR_TEXT = {
    "ERROR": "#ERROR!", "NULL_VALUE": "#NULL!", "DIVIDE_BY_ZERO": "#DIV/0!", "VALUE": "#VALUE!", "REF": "#REF!",
    "NAME": "#NAME?", "NUM": "#NUM!", "N_A": "#N/A", "LOADING": "Loading...",
}  # fmt: skip
DATE_TYPES = ("DATE", "TIME", "DATE_TIME")


def plain(value: dict[str, Any] | None) -> Any:
    """The JSON value inside an ExtendedValue; whole numbers are ints; a blank is ''."""
    if not value:
        return ""
    kind, held = next(iter(value.items()))
    if kind == "numberValue":
        return whole(held)
    if kind == "errorValue":
        return ERROR_TEXT[held["type"]]
    return held


def whole(number: float) -> float | int:
    """2.0 is shown as 2."""
    return int(number) if isinstance(number, float) and number.is_integer() and abs(number) < 1e21 else number


def formatted(value: dict[str, Any] | None, number_format: dict[str, str] | None, locale_name: str) -> str:
    """The text a person sees."""
    held = plain(value)
    locale = locale_of(locale_name)
    if isinstance(held, bool):
        return locale.true if held else locale.false
    if isinstance(held, str):
        return held
    return _number(held, number_format or {}, locale)


def _number(number: float, number_format: dict[str, str], locale: Locale) -> str:
    kind, pattern = number_format.get("type", ""), number_format.get("pattern", "")
    if kind in DATE_TYPES:
        return _date(
            number, pattern or {"DATE": "m/d/yyyy", "TIME": "hh:mm:ss"}.get(kind, "m/d/yyyy hh:mm:ss")
        )
    if not pattern and kind in ("NUMBER", "PERCENT", "CURRENCY"):
        pattern = {"NUMBER": "#,##0.00", "PERCENT": "0.00%", "CURRENCY": '"$"#,##0.00'}[kind]
    return _pattern(number, pattern, locale) if re.search(r"[0#]", pattern) else general(number, locale)


def general(number: float, locale: Locale) -> str:
    """The automatic format: up to ten places, no trailing zeros."""
    if number and not 1e-9 < abs(number) < 1e15:
        return f"{number:.5E}".replace(".", locale.decimal)
    text = f"{number:.10f}".rstrip("0").rstrip(".") if isinstance(number, float) else str(number)
    return ("0" if text == "-0" else text).replace(".", locale.decimal)


def _pattern(number: float, pattern: str, locale: Locale) -> str:
    pattern = pattern.split(";", maxsplit=1)[0]
    found = re.search(r"[#0,.]*[#0]", pattern)
    digits = found[0] if found else "0"
    head, _, tail = pattern.partition(digits)
    percent = "%" in tail
    shown = abs(number) * (100 if percent else 1)
    places = len(digits.partition(".")[2])
    text = f"{shown:,.{places}f}" if "," in digits else f"{shown:.{places}f}"
    optional = len(digits.partition(".")[2]) - digits.partition(".")[2].count("0")
    for _ in range(optional):
        text = text.removesuffix("0")
    text = text.removesuffix(".") if optional else text
    text = text.translate(str.maketrans(",.", locale.group + locale.decimal))
    sign = "-" if number < 0 and re.search(r"[1-9]", text) else ""
    return sign + head.replace('"', "") + text + tail.replace('"', "")


def _date(number: float, pattern: str) -> str:
    days, fraction = divmod(number, 1)
    seconds = round(fraction * 86400)
    day = date.fromordinal(EPOCH + int(days)) + timedelta(days=seconds // 86400)
    hours, rest = divmod(seconds % 86400, 3600)
    minutes, second = divmod(rest, 60)
    month = FULL_MONTHS[day.month - 1].capitalize()
    parts = {
        "yyyy": f"{day.year:04d}", "yy": f"{day.year % 100:02d}", "mmmm": month, "mmm": month[:3],
        "dd": f"{day.day:02d}", "d": str(day.day), "hh": f"{hours:02d}", "h": str(hours), "ss": f"{second:02d}",
    }  # fmt: skip
    pattern = re.sub(r"(?<=h:)mm|(?<=h:)m|mm(?=:ss)", f"{minutes:02d}", pattern)
    parts |= {"mm": f"{day.month:02d}", "m": str(day.month)}
    return re.sub(r"y+|m+|d+|h+|s+", lambda found: parts.get(found[0], found[0]), pattern)
