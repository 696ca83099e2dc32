"""Points about values that are believed and not verified (marked [?] in the notes on the Sheets API)."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from tests.live.live_google import Live, Points

EPOCH = dt.date(1899, 12, 30)


@pytest.fixture(scope="module")
def book(live: Live) -> str:
    """A spreadsheet in American English."""
    return live.new_book("values", "en_US")


@pytest.fixture(scope="module")
def german(live: Live) -> str:
    """A spreadsheet in German."""
    return live.new_book("Werte", "de_DE")


def typed(live: Live, book: str, text: str) -> tuple[Any, Any]:
    """Return what a text becomes when it is typed: the stored value and what is shown."""
    live.put(book, "A1", [[text]])
    try:
        ways = ("UNFORMATTED_VALUE", "FORMATTED_VALUE")
        stored, shown = (live.values(book, "A1", option) for option in ways)
    finally:
        live.change(book, {"updateCells": {"range": {"sheetId": 0}, "fields": "*"}})
    return (stored[0][0] if stored else None), (shown[0][0] if shown else None)


@pytest.mark.parametrize(
    ("text", "stored", "shown"),
    [
        ("5%", 0.05, "5%"),
        ("TRUE", True, "TRUE"),
        ("true", True, "TRUE"),
        ("'0042", "0042", "0042"),
        ("0042", 42, "42"),
        ("Mar 1 2016", 42430, "Mar 1 2016"),
    ],
)
def test_what_typing_makes_of_a_text(
    live: Live, points: Points, book: str, text: str, stored: object, shown: str
) -> None:
    points.compare(f"{text} typed (en_US)", believed=(stored, shown), seen=typed(live, book, text))


@pytest.mark.parametrize(("where", "month_and_day"), [("en_US", (1, 2)), ("de_DE", (2, 1))])
def test_one_half_typed_is_a_day_of_this_year(
    live: Live, points: Points, book: str, german: str, where: str, month_and_day: tuple[int, int]
) -> None:
    stored, _ = typed(live, book if where == "en_US" else german, "1/2")
    seen = EPOCH + dt.timedelta(days=stored) if isinstance(stored, int | float) else stored
    believed = dt.date(dt.date.today().year, *month_and_day)
    points.compare(f"1/2 typed ({where})", believed=believed, seen=seen)


@pytest.mark.parametrize(("text", "stored"), [("3,5", 3.5), ("1.000,25", 1000.25), ("31.12.2020", 44196)])
def test_numbers_and_days_typed_in_a_german_spreadsheet(
    live: Live, points: Points, german: str, text: str, stored: float
) -> None:
    points.compare(f"{text} typed (de_DE)", believed=stored, seen=typed(live, german, text)[0])


def test_values_sent_raw_are_not_parsed_in_a_german_spreadsheet(
    live: Live, points: Points, german: str
) -> None:
    live.put(german, "B1", [["3,5", "=1+1", "1/2", "TRUE"]], "RAW")
    points.compare(
        "texts sent RAW (de_DE)", believed=[["3,5", "=1+1", "1/2", "TRUE"]], seen=live.values(german, "B1:E1")
    )


@pytest.mark.parametrize("comma", [",", ";"])
def test_formulas_sent_to_a_german_spreadsheet(live: Live, points: Points, german: str, comma: str) -> None:
    """Ours are written with commas, into spreadsheets that we set to en_US."""
    cell = {"userEnteredValue": {"formulaValue": f"=IF(1=1{comma}2{comma}3)"}}
    start = {"sheetId": 0, "rowIndex": 4, "columnIndex": 0}
    write = {"updateCells": {"start": start, "rows": [{"values": [cell]}], "fields": "userEnteredValue"}}
    refusal = live.refusal(german, write)
    held = live.cell(german, "A5", "userEnteredValue,effectiveValue,formattedValue")
    points.tell(f"a formula with {comma} (de_DE)", refusal or held)
    believed = 2 if comma == ";" else "no number"
    seen = held.get("effectiveValue", {}).get("numberValue", "no number")
    points.compare(f"a formula with {comma} works (de_DE)", believed=believed, seen=seen)


def test_a_range_that_ends_outside_of_the_grid_is_clamped_in_reading(
    live: Live, points: Points, book: str
) -> None:
    size = {"sheetId": 0, "gridProperties": {"rowCount": 3, "columnCount": 2}}
    fields = "gridProperties(rowCount,columnCount)"
    live.change(book, {"updateSheetProperties": {"properties": size, "fields": fields}})
    live.put(book, "A1", [["a", "b"]])
    title = live.look(book, "sheets(properties(title))")["sheets"][0]["properties"]["title"]
    points.compare(
        "reading A1:Z99 of a grid of 3 rows and 2 columns",
        believed=[["a", "b"]],
        seen=live.values(book, f"'{title}'!A1:Z99"),
    )
