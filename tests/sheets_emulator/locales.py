"""How a spreadsheet's locale reads and writes numbers and dates. Languages not listed follow en_US.

sheets-api.md knows of the decimal comma, the order of day and month and the semicolon in formulas;
the details below it marks [?] are choices, so product tests must not lean on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

COMMA = frozenset(
    [
        "cs",
        "da",
        "de",
        "el",
        "es",
        "fi",
        "fr",
        "hu",
        "id",
        "it",
        "nb",
        "nl",
        "no",
        "pl",
        "pt",
        "ro",
        "ru",
        "sk",
        "sl",
        "sv",
        "tr",
        "uk",
        "bg",
        "hr",
        "sr",
    ]
)
DOT_DATES = frozenset(
    ["cs", "de", "fi", "nb", "no", "pl", "ro", "ru", "sk", "tr", "uk", "bg", "hr", "sl", "sr", "da"]
)
YEAR_FIRST = frozenset(["ja", "ko", "zh", "hu", "lt", "sv"])
DOT_DECIMAL = frozenset({"en_GB", "en_AU", "en_IE", "en_IN", "en_NZ", "en_ZA"})
SPACED = frozenset(["fr", "fi", "cs", "nb", "no", "pl", "ru", "sk", "sv", "uk", "bg", "hu"])
TRUE_WORDS = {"fr": ("VRAI", "FAUX"), "de": ("WAHR", "FALSCH"), "es": ("VERDADERO", "FALSO")}


@dataclass(frozen=True)
class Locale:
    """What parsing and formatting need to know."""

    decimal: str
    group: str
    date_order: str
    separators: str
    argument: str
    true: str
    false: str


@cache
def locale_of(name: str) -> Locale:
    """The rules of e.g. `fr_FR`."""
    language = name.partition("_")[0]
    decimal = "," if language in COMMA else "."
    group = "," if decimal == "." else (" " if language in SPACED else ".")
    order = "ymd" if language in YEAR_FIRST else "mdy" if name in ("en_US", "en", "") else "dmy"
    if language == "en" and name not in DOT_DECIMAL and order == "dmy":
        order = "mdy"
    true, false = TRUE_WORDS.get(language, ("TRUE", "FALSE"))
    separators = "/-" + ("." if language in DOT_DATES else "")
    return Locale(decimal, group, order, separators, ";" if decimal == "," else ",", true, false)
