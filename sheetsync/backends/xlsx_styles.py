"""The one table from named styles to looks in xlsx."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sheetsync.domain.workbook import Style

INK, MUTED, LINE = "#1F2933", "#66717E", "#D3D9E0"
HEADER, HEADER_INPUT, INPUT = "#E9EDF2", "#D3E4F3", "#F3F8FD"

COLOURS: Mapping[Style, Mapping[str, str]] = {
    "good": {"bg_color": "#E3F3E8", "font_color": "#1F6B3B"},
    "fair": {"bg_color": "#FFF3D1", "font_color": "#7A5700"},
    "poor": {"bg_color": "#FBE4E1", "font_color": "#9B2C22"},
    "waiting": {"bg_color": "#E6E9ED", "font_color": "#B9C0C9"},
    "note": {"font_color": MUTED},
    "input": {"bg_color": INPUT},
    "input_text": {"bg_color": INPUT},
    "header": {"bg_color": HEADER},
    "header_input": {"bg_color": HEADER_INPUT},
}
"""What a highlight may change; also the colours of the styles themselves."""

CHART_COLOURS = ("#3B6FA0", "#8FB4D6", "#C9D6E2", "#E3B778", "#C4704F", "#7A8A99", "#5E9C76")

SHADES = ("#DCE6F0", "#B9CFE4", "#8FB4D6", "#5E8FBF", "#3B6FA0", "#24507A", "#16385A")
"""For the levels of a scale, from low to high."""

_TOP = {"valign": "top", "text_wrap": True}
_NUMBER = {"valign": "top", "align": "right"}
_BADGE = {"valign": "top", "align": "center", "bold": True}

_STYLES: Mapping[Style, Mapping[str, Any]] = {
    "text": {**_TOP, "align": "left", "indent": 1},
    "code": {"valign": "top", "align": "center", "num_format": "@", "font_name": "Consolas", "font_size": 10},
    "header": {"bold": True, "text_wrap": True, "valign": "vcenter", "align": "left"},
    "header_input": {"bold": True, "text_wrap": True, "valign": "vcenter", "align": "center"},
    "input": {"valign": "top", "align": "center", "font_size": 12, "bold": True},
    "input_text": {**_TOP, "num_format": "@"},
    "check": {**_TOP, "font_size": 10, "font_color": MUTED, "bg_color": "#FAFBFC"},
    "title": {"bold": True, "font_size": 18, "font_color": "#1B3B57", "valign": "vcenter"},
    "heading": {"bold": True, "font_size": 13, "font_color": "#1B3B57", "valign": "bottom"},
    "note": {**_TOP, "font_size": 10},
    "integer": {**_NUMBER, "num_format": "0"},
    "number": {**_NUMBER, "num_format": "0.00"},
    "signed": {**_NUMBER, "num_format": "+0.00;-0.00;0.00"},
    "percent": {**_NUMBER, "num_format": "0.0%"},
    "link": {**_TOP, "font_color": "#1B5FA8", "underline": 1},
    "good": _BADGE,
    "fair": _BADGE,
    "poor": _BADGE,
    "waiting": _TOP,
}

NUMBERS: frozenset[Style] = frozenset({"integer", "number", "signed", "percent"})
"""Styles that stand at the right of their cell."""

_LIKE_A_FORMULA = ("=", "+", "-", "@", "'")


@dataclass(frozen=True)
class Look:
    """A style in its surroundings; `right` for the header of a column of numbers."""

    style: Style
    unlocked: bool = False
    bordered: bool = False
    quoted: bool = False
    right: bool = False


@dataclass
class Formats:
    """The formats of one workbook, made when first needed (`book` is an `xlsxwriter.Workbook`)."""

    book: Any
    _made: dict[Look, Any] = field(default_factory=dict)

    def get(self, look: Look) -> Any:
        """Return the format of a look."""
        if look not in self._made:
            properties = {"font_color": INK, **COLOURS.get(look.style, {}), **_STYLES[look.style]}
            if look.bordered:
                properties |= {"border": 1, "border_color": LINE}
            if look.quoted:
                # Excel then keeps the text a text even when somebody edits the cell.
                properties["quote_prefix"] = True
            if look.right:
                properties["align"] = "right"
            self._made[look] = self.book.add_format({**properties, "locked": not look.unlocked})
        return self._made[look]

    def highlight(self, style: Style) -> Any:
        """Return the format that a highlight lays over a cell."""
        return self.book.add_format(dict(COLOURS.get(style, {"bold": True})))


def needs_quote(text: str) -> bool:
    """Say whether a spreadsheet would take a text for something else when it is edited."""
    return text.startswith(_LIKE_A_FORMULA)
