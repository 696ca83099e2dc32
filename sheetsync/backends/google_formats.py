"""The one table from named styles to looks in Google Sheets, in the colours of the xlsx backend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sheetsync.backends.xlsx_styles import COLOURS, INK, LINE, MUTED, NUMBERS
from sheetsync.domain.workbook import Style

Json = dict[str, Any]
"""A message of the Sheets API."""

_FONT = "Calibri"
_TITLE, _LINK, _CHECK = "#1B3B57", "#1B5FA8", "#FAFBFC"
_AS_TEXT = {"numberFormat": {"type": "TEXT", "pattern": "@"}}
_TOP = {"verticalAlignment": "TOP", "wrapStrategy": "WRAP"}
_NUMBER = {"verticalAlignment": "TOP", "horizontalAlignment": "RIGHT"}
_CENTRE = {"verticalAlignment": "TOP", "horizontalAlignment": "CENTER"}
_HEADER = {"verticalAlignment": "MIDDLE", "wrapStrategy": "WRAP"}

_CELLS: Mapping[Style, Mapping[str, Any]] = {
    "text": {
        **_TOP,
        "horizontalAlignment": "LEFT",
        "padding": {"top": 2, "right": 3, "bottom": 2, "left": 8},
    },
    "code": {**_CENTRE, **_AS_TEXT},
    "header": {**_HEADER, "horizontalAlignment": "LEFT"},
    "header_input": {**_HEADER, "horizontalAlignment": "CENTER"},
    "input": _CENTRE,
    "input_text": {**_TOP, **_AS_TEXT},
    "check": _TOP,
    "title": {"verticalAlignment": "MIDDLE"},
    "heading": {"verticalAlignment": "BOTTOM"},
    "note": _TOP,
    "integer": {**_NUMBER, "numberFormat": {"type": "NUMBER", "pattern": "0"}},
    "number": {**_NUMBER, "numberFormat": {"type": "NUMBER", "pattern": "0.00"}},
    "signed": {**_NUMBER, "numberFormat": {"type": "NUMBER", "pattern": "+0.00;-0.00;0.00"}},
    "percent": {**_NUMBER, "numberFormat": {"type": "PERCENT", "pattern": "0.0%"}},
    "link": _TOP,
    "good": _CENTRE,
    "fair": _CENTRE,
    "poor": _CENTRE,
    "waiting": _TOP,
}

_TEXTS: Mapping[Style, Mapping[str, Any]] = {
    "code": {"fontFamily": "Consolas", "fontSize": 10},
    "header": {"bold": True},
    "header_input": {"bold": True},
    "input": {"fontSize": 12, "bold": True},
    "check": {"fontSize": 10},
    "title": {"bold": True, "fontSize": 18},
    "heading": {"bold": True, "fontSize": 13},
    "note": {"fontSize": 10},
    "link": {"underline": True},
    "good": {"bold": True},
    "fair": {"bold": True},
    "poor": {"bold": True},
}

_INKS: Mapping[Style, str] = {"check": MUTED, "title": _TITLE, "heading": _TITLE, "link": _LINK}
_FILLS: Mapping[Style, str] = {"check": _CHECK}


@dataclass(frozen=True)
class Look:
    """A style in its surroundings.

    `right` is for the header of a column of numbers. `any_value` drops the text format of a style: a
    number under a text format may turn into a text.
    """

    style: Style
    bordered: bool = False
    right: bool = False
    any_value: bool = False


def colour_style(colour: str) -> Json:
    """Return a colour such as `#1F2933` as the API has it; channels of 0 are left out.

    >>> colour_style("#FF0033")
    {'rgbColor': {'red': 1.0, 'blue': 0.2}}
    """
    channels = zip(("red", "green", "blue"), bytes.fromhex(colour.removeprefix("#")), strict=True)
    return {"rgbColor": {name: round(value / 255, 4) for name, value in channels if value}}


def cell_format(look: Look) -> Json:
    """Return the whole format of a cell, so that nothing of an earlier one is left."""
    style = look.style
    ours = COLOURS.get(style, {})
    made: Json = dict(_CELLS[style])
    if look.any_value and made.get("numberFormat") == _AS_TEXT["numberFormat"]:
        del made["numberFormat"]
    if look.right:
        made["horizontalAlignment"] = "RIGHT"
    fill = ours.get("bg_color") or _FILLS.get(style)
    if fill:
        made["backgroundColorStyle"] = colour_style(fill)
    ink = _INKS.get(style) or ours.get("font_color") or INK
    text = {"fontFamily": _FONT, "fontSize": 11, **_TEXTS.get(style, {})}
    made["textFormat"] = {**text, "foregroundColorStyle": colour_style(ink)}
    if look.bordered:
        line = {"style": "SOLID", "colorStyle": colour_style(LINE)}
        made["borders"] = dict.fromkeys(("top", "bottom", "left", "right"), line)
    return made


def highlight_format(style: Style) -> Json:
    """Return the format that a highlight lays over a cell: the API takes colours and bold only."""
    ours = COLOURS.get(style)
    if ours is None:
        return {"textFormat": {"bold": True}}
    made: Json = {}
    if "bg_color" in ours:
        made["backgroundColorStyle"] = colour_style(ours["bg_color"])
    if "font_color" in ours:
        made["textFormat"] = {"foregroundColorStyle": colour_style(ours["font_color"])}
    return made


def has_text_format(style: Style) -> bool:
    """Say whether what is typed into a cell of this style stays a text."""
    return _CELLS[style].get("numberFormat") == _AS_TEXT["numberFormat"]


def header_is_right(style: Style) -> bool:
    """Say whether the header over a column of this style stands at the right."""
    return style in NUMBERS


def column_pixels(characters: float) -> int:
    """Return how wide a column of so many characters is.

    >>> column_pixels(12)
    89
    """
    return round(characters * 7) + 5


def row_pixels(points: float) -> int:
    """Return how high a row of so many points is.

    >>> row_pixels(15)
    20
    """
    return round(points * 4 / 3)
