"""What people of other spreadsheet tools reported (F01 to F21), done to workbooks on an emulated Google by people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sheetsync.backends.base import Place
from sheetsync.backends.google_present import tab_id
from sheetsync.services.session import SUMMARY
from tests.backends.google_worlds import World, by_hand, google_desk, world
from tests.services.studies import Desk, Typed
from tests.sheets_emulator import Refused, faults

ANN, BEN = Place("raters", "ann", "main"), Place("raters", "ben", "main")
SCORING = tab_id("Scoring")


@pytest.fixture
def place(tmp_path: Path) -> World:
    return world(tmp_path / "google")


@pytest.fixture
def desk(tmp_path: Path, place: World) -> Desk:
    made = google_desk(tmp_path / "google", place)
    made.provision()
    return made


def change(place: World, *requests: dict[str, Any]) -> None:
    """Do something with ann's workbook as the account that owns it, which no protection stops."""
    place.person().change(place.id_of(ANN), *requests)


def scores(desk: Desk, rater: str = "ann") -> dict[tuple[str, str], object]:
    """Return what is archived of Accuracy, by unit."""
    with desk.session() as session:
        entries = session.archive.current_entries().get((rater, "main"), [])
    names = {code: unit for unit, code in desk.codes().items()}
    found = {names[e.code]: e.value for e in entries if (e.kind, e.column) == ("score", "accuracy")}
    return dict(sorted(found.items()))


def typed(desk: Desk, place: World, rater: str = "ann") -> dict[tuple[str, str], object]:
    values: dict[tuple[str, str], Typed] = {
        unit: number % 5 + 1 for number, unit in enumerate(sorted(desk.codes()))
    }
    by_hand(place, desk, rater, {unit: {"Accuracy": value} for unit, value in values.items()})
    return dict(values)


def insert(dimension: str, start: int) -> dict[str, Any]:
    span = {"sheetId": SCORING, "dimension": dimension, "startIndex": start, "endIndex": start + 1}
    return {"insertDimension": {"range": span, "inheritFromBefore": False}}


def test_f01_f03_a_column_more_a_tally_beside_and_a_header_spelled_otherwise(
    desk: Desk, place: World
) -> None:
    values = typed(desk, place)
    column = list(desk.grid(ANN, "Scoring").rows[0]).index("Accuracy")
    change(place, insert("COLUMNS", 1))
    book, person = place.id_of(ANN), place.person()
    header = {"userEnteredValue": {"stringValue": "\u00a0ACCURACY "}}
    start = {"sheetId": SCORING, "rowIndex": 0, "columnIndex": column + 1}
    change(
        place, {"updateCells": {"start": start, "rows": [{"values": [header]}], "fields": "userEnteredValue"}}
    )
    change(place, {"appendDimension": {"sheetId": SCORING, "dimension": "COLUMNS", "length": 4}})
    width = len(desk.grid(ANN, "Scoring").rows[0])
    letter = chr(ord("A") + width + 1)
    person.type(book, f"Scoring!{letter}2", "done so far", 3)
    assert desk.pull().incomplete == ()
    assert scores(desk) == values


def test_f02_phantom_rows_are_no_data(desk: Desk, place: World) -> None:
    values = typed(desk, place)
    change(place, {"appendDimension": {"sheetId": SCORING, "dimension": "ROWS", "length": 3000}})
    area = {"sheetId": SCORING, "startRowIndex": 500, "endRowIndex": 3000}
    bold = {"userEnteredFormat": {"textFormat": {"bold": True}}}
    change(
        place, {"repeatCell": {"range": area, "cell": bold, "fields": "userEnteredFormat.textFormat.bold"}}
    )
    assert desk.pull().incomplete == ()
    assert scores(desk) == values
    assert len(desk.grid(ANN, "Scoring").rows) == 7


def test_f04_f05_sorted_rows_a_line_below_and_a_renamed_tab(desk: Desk, place: World) -> None:
    values = typed(desk, place)
    area = {"sheetId": SCORING, "startRowIndex": 1, "endRowIndex": 7}
    change(
        place, {"sortRange": {"range": area, "sortSpecs": [{"dimensionIndex": 0, "sortOrder": "DESCENDING"}]}}
    )
    change(place, insert("ROWS", 3))
    renamed = {"sheetId": SCORING, "title": "Mine now"}
    change(place, {"updateSheetProperties": {"properties": renamed, "fields": "title"}})
    pulled = desk.pull()
    assert scores(desk) == values
    assert pulled.incomplete == ()


@pytest.mark.parametrize("text", ["3,5", "4,0000001"])
def test_f06_a_decimal_comma_is_never_read_ten_times_too_big(desk: Desk, place: World, text: str) -> None:
    properties = {"properties": {"locale": "de_DE"}, "fields": "locale"}
    change(place, {"updateSpreadsheetProperties": properties})
    unit = ("Q1", "Alder")
    by_hand(place, desk, "ann", {unit: {"Accuracy": text, "Coverage": "4"}})
    problems = [p for p in desk.pull().problems if p.code == desk.codes()[unit]]
    assert scores(desk).get(unit) is None
    assert [p.found for p in problems if p.column == "Accuracy"] == [text.replace(",", ".")]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("NA", "N/A"),  # F07
        ("None", None),
        ("=2+2", 4),  # F08: a live spreadsheet has the result
        ("=1/0", None),
        ('=""', None),
        ("4, 5", None),  # F09
        ("4?", None),
        ("99", None),
        ("0", None),
        ("４", 4),
        (" 4 ", 4),
    ],
)
def test_f07_f08_f09_what_stands_where_a_rating_should_be(
    desk: Desk, place: World, text: str, value: object
) -> None:
    unit = ("Q1", "Alder")
    by_hand(place, desk, "ann", {unit: {"Accuracy": text, "Coverage": "4"}})
    pulled = desk.pull()
    assert scores(desk).get(unit) == value
    named = [p for p in pulled.problems if (p.code, p.column) == (desk.codes()[unit], "Accuracy")]
    assert (named != []) is (value is None or text.startswith("="))


def test_f12_nothing_is_ever_written_into_a_raters_workbook_after_it_was_made(
    desk: Desk, place: World
) -> None:
    typed(desk, place)
    typed(desk, place, "ben")
    before = [place.person().look(place.id_of(each)) for each in (ANN, BEN)]
    versions = desk.backend.versions([ANN, BEN])
    desk.run()
    desk.publish(force=True)
    assert [place.person().look(place.id_of(each)) for each in (ANN, BEN)] == before
    assert desk.backend.versions([ANN, BEN]) == versions


def test_f14_a_summary_in_another_locale_gets_the_same_values(desk: Desk, place: World) -> None:
    typed(desk, place)
    typed(desk, place, "ben")
    desk.run()
    before = desk.grid(SUMMARY, "Agreement")
    german = {"properties": {"locale": "de_DE"}, "fields": "locale"}
    place.person().change(place.id_of(SUMMARY), {"updateSpreadsheetProperties": german})
    told = [each.message for each in desk.run().incomplete]
    assert [message for message in told if "did not write" in message] == []
    assert desk.grid(SUMMARY, "Agreement") == before
    found = place.person().look(place.id_of(SUMMARY), "properties(locale)")
    assert found["properties"]["locale"] == "en_US"


def test_f19_texts_cannot_be_edited_by_raters_and_an_edit_of_the_owner_is_named(
    desk: Desk, place: World
) -> None:
    column = list(desk.grid(ANN, "Scoring").rows[0]).index("Response")
    cell = f"Scoring!{chr(ord('A') + column)}2"
    with pytest.raises(Refused):
        place.person("ann@example.org").type(place.id_of(ANN), cell, "something else")
    assert desk.pull().problems == ()
    place.person().type(place.id_of(ANN), cell, "something else")
    assert [p.kind for p in desk.pull().problems] == ["edited_text"]


@pytest.mark.parametrize("fault", [faults.server_error(500), faults.server_error(503)])
def test_f21_a_file_that_fails_for_good_stops_no_other(desk: Desk, place: World, fault: Any) -> None:
    values = typed(desk, place, "ben")
    typed(desk, place)
    place.emulator.faults.add(fault, kind="spreadsheets.get", path=place.id_of(ANN), times=1000)
    pulled = desk.pull()
    assert {w.rater: w.state for w in pulled.workbooks} == {"ann": "unreadable", "ben": "read"}
    assert [each.path for each in pulled.incomplete] == [desk.backend.location(ANN)]
    assert scores(desk, "ben") == values
