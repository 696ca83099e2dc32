"""USER_ENTERED: what Google makes of a text typed into a cell; RAW: next to nothing.

Where sheets-api.md says [?] this module chooses: `1/2` and `3-4` are dates of this year in the locale's
order; `5%` is 0.05; a leading apostrophe is dropped and the rest kept as text; a leading `+` before
something that is no number starts a formula; a cell formatted as text keeps what is typed, except formulas.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date
from typing import Any

from tests.sheets_emulator.errors import Invalid
from tests.sheets_emulator.locales import Locale, locale_of

EPOCH = date(1899, 12, 30).toordinal()
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
FULL_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september",
               "october", "november", "december")  # fmt: skip


@dataclass(frozen=True)
class Entered:
    """A stored value and the number format that typing it brings along."""

    value: dict[str, Any] | None
    number_format: dict[str, str] | None = None


def raw(value: Any) -> Entered:
    """Store a JSON value as it is; a text stays a text."""
    if isinstance(value, bool):
        return Entered({"boolValue": value})
    if isinstance(value, int | float):
        return Entered({"numberValue": value})
    if value == "":
        return Entered(None)
    return Entered({"stringValue": value})


def typed(value: Any, locale_name: str, today: date, cell_format: dict[str, Any] | None = None) -> Entered:
    """Store a value as if typed into a cell with this number format."""
    if not isinstance(value, str) or value == "":
        return raw(value)
    if value.startswith("=") and len(value) > 1:
        return Entered({"formulaValue": value})
    if value.startswith("'"):
        return Entered({"stringValue": value[1:]})
    if (cell_format or {}).get("type") == "TEXT":
        return Entered({"stringValue": value})
    locale = locale_of(locale_name)
    text = value.strip()
    found = (
        _boolean(text, locale) or parse_number(text, locale) or parse_date(text, locale, today) or _time(text)
    )
    if found is None and text.startswith("+") and len(text) > 1:
        return Entered({"formulaValue": "=" + text})
    if found is None:
        return Entered({"stringValue": value})
    return Entered(found.value) if cell_format else found


def check_type(value: Any, place: str) -> None:
    """Refuse what a cell cannot hold: lists and objects."""
    if isinstance(value, list):
        raise Invalid(f"Invalid {place}: list_value {{}}")
    if isinstance(value, dict):
        raise Invalid(f"Invalid {place}: struct_value {{}}")


def _boolean(text: str, locale: Locale) -> Entered | None:
    upper = text.upper()
    if upper in ("TRUE", locale.true):
        return Entered({"boolValue": True})
    if upper in ("FALSE", locale.false):
        return Entered({"boolValue": False})
    return None


def parse_number(text: str, locale: Locale) -> Entered | None:
    """`0042`, `-3.5`, `2,000,000.01`, `5%`, `$100.15`, `1e3`."""
    group = re.escape(locale.group) if locale.group != " " else "[ \u00a0\u202f]"
    point = re.escape(locale.decimal)
    pattern = (
        rf"(?P<sign>[+-]?)(?P<money>[$€£]?)(?P<whole>\d+|\d{{1,3}}(?:{group}\d{{3}})+)?"
        rf"(?:{point}(?P<part>\d*))?(?P<power>[eE][+-]?\d+)?(?P<percent>\s?%)?(?P<tail>\s?€)?"
    )
    found = re.fullmatch(pattern, text)
    if not found or not (found["whole"] or found["part"]):
        return None
    whole = re.sub(r"\D", "", found["whole"] or "0")
    number = float(f"{found['sign']}{whole}.{found['part'] or 0}{found['power'] or ''}")
    if not math.isfinite(number):
        return None
    value = number / 100 if found["percent"] else number
    if value.is_integer() and abs(value) < 2**53:
        value = int(value)
    grouped = (found["whole"] or "").isdigit() is False and bool(found["whole"])
    return Entered({"numberValue": value}, _number_format(found, grouped))


def _number_format(found: re.Match[str], grouped: bool) -> dict[str, str] | None:
    places = ".00" if found["part"] else ""
    if found["percent"]:
        return {"type": "PERCENT", "pattern": f"0{places}%"}
    if found["money"] or found["tail"]:
        return {"type": "CURRENCY", "pattern": f'"{found["money"] or "€"}"#,##0{places}'}
    if found["power"]:
        return {"type": "SCIENTIFIC", "pattern": "0.00E+00"}
    return {"type": "NUMBER", "pattern": f"#,##0{places}"} if grouped else None


def parse_date(text: str, locale: Locale, today: date) -> Entered | None:
    """A date in digits or words, optionally followed by a time."""
    day_text, _, time_text = text.partition(" ") if ":" in text else (text, "", "")
    found = _digits_date(day_text, locale, today) or _words_date(text)
    if found is None:
        return None
    serial, pattern = found
    if not time_text:
        return Entered({"numberValue": serial}, {"type": "DATE", "pattern": pattern})
    clock = _time(time_text)
    if clock is None or clock.value is None:
        return None
    return Entered(
        {"numberValue": serial + clock.value["numberValue"]},
        {"type": "DATE_TIME", "pattern": f"{pattern} hh:mm:ss"},
    )


def _digits_date(text: str, locale: Locale, today: date) -> tuple[int, str] | None:
    found = re.fullmatch(rf"(\d{{1,4}})([{re.escape(locale.separators)}])(\d{{1,2}})(?:\2(\d{{1,4}}))?", text)
    if not found:
        return None
    first, separator, second, third = found.groups()
    if len(first) == 4 and third:
        order, parts = "ymd", (first, second, third)
    elif third:
        order, parts = locale.date_order.replace("ymd", "mdy"), (first, second, third)
    else:
        order, parts = locale.date_order.replace("y", ""), (first, second, "")
    given = dict(zip(order, parts, strict=False))
    serial = _serial(given.get("y", str(today.year)), given["m"], given["d"])
    patterns = {
        "y": "yyyy",
        "m": "mm" if len(given["m"]) == 2 else "m",
        "d": "dd" if len(given["d"]) == 2 else "d",
    }
    return None if serial is None else (serial, separator.join(patterns[letter] for letter in order))


def _words_date(text: str) -> tuple[int, str] | None:
    found = re.fullmatch(r"(?:(\d{1,2}) )?([A-Za-z]{3,9})\.? (?:(\d{1,2}),? )?(\d{4})", text)
    if not found or bool(found[1]) == bool(found[3]):
        return None
    word = found[2].lower()
    if word[:3] not in MONTHS or word not in (word[:3], FULL_MONTHS[MONTHS.index(word[:3])]):
        return None
    serial = _serial(found[4], str(MONTHS.index(word[:3]) + 1), found[1] or found[3])
    name = "mmm" if len(word) == 3 else "mmmm"
    comma = "," if "," in text else ""
    return None if serial is None else (serial, f"d {name} yyyy" if found[1] else f"{name} d{comma} yyyy")


def _serial(year: str, month: str, day: str) -> int | None:
    full = int(year) + (2000 if len(year) <= 2 else 0)
    try:
        return date(full, int(month), int(day)).toordinal() - EPOCH
    except ValueError:
        return None


def _time(text: str) -> Entered | None:
    found = re.fullmatch(r"(\d{1,2}):([0-5]\d)(?::([0-5]\d))?", text)
    if not found or int(found[1]) > 23:
        return None
    seconds = int(found[1]) * 3600 + int(found[2]) * 60 + int(found[3] or 0)
    pattern = "hh:mm:ss" if found[3] else "hh:mm"
    return Entered({"numberValue": seconds / 86400}, {"type": "TIME", "pattern": pattern})
