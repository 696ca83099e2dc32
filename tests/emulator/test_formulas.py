"""Effective values: the computed set, errors, the hook, and what nobody knows."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sheets_emulator import Emulator, Person


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("=4/2", 2),
        ("=A1*2+B1", 9),
        ("=SUM(A1:B2)", 9),
        ("=Sheet1!A1", 4),
        ("='Sheet1'!$A$1", 4),
        ("=-A1^2", 16),
        ('=IF(AND(A1>3,A2="X"),"yes","no")', "yes"),
        ('=IF(C1="","blank",C1)', "blank"),
        ('=TEXTJOIN("; ",TRUE,A2,C1,A1)', "x; 4"),
        ("=COUNTIF(A:A,4)", 1),
        ("=COUNTA(A1:C2)", 4),
        ("=NOT(ISNUMBER(A2))", True),
        ('=SUBSTITUTE(TRIM(" a  b "),"a","c")', "c  b"),
        ("=IFERROR(1/0,7)", 7),
        ("=1/0", "#DIV/0!"),
        ("=nonsense", "#NAME?"),
        ("=(", "#ERROR!"),
        ('="a"+1', "#VALUE!"),
        ("=E9", "#REF!"),
        ("=IMPORTRANGE(1)", "Loading..."),
    ],
)
def test_a_formula_is_computed(bot: Person, book: str, formula: str, value: Any) -> None:
    bot.paste(book, "A1", [[4, 1], ["x", 4]])
    bot.type(book, "E9", formula)
    assert bot.read(book, "E9") == [[value]]
    assert bot.read(book, "E9", "FORMULA") == [[formula]]


def test_a_comma_locale_parts_arguments_at_semicolons(bot: Person, book: str) -> None:
    bot.change(book, {"updateSpreadsheetProperties": {"properties": {"locale": "de_DE"}, "fields": "locale"}})
    bot.type(book, "A1", "=SUM(1,5;2)")
    assert bot.read(book, "A1") == [[3.5]]


def test_a_hook_gives_values(emulator: Emulator, bot: Person, book: str) -> None:
    emulator.formula_values = lambda _, title, cell, text: (
        f"{title} {cell} {text}" if "QUERY" in text else None
    )
    bot.paste(book, "A1", [["=QUERY(B:B)", "=1+1"]])
    assert bot.read(book, "A1:B1") == [["Sheet1 A1 =QUERY(B:B)", 2]]
