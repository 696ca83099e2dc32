"""Reading by data filter: what a pull needs to see."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sheets_emulator import Emulator, Person, Refused

CELLS = "userEnteredValue,effectiveValue,userEnteredFormat.numberFormat,effectiveFormat.numberFormat,note"
MASK = f"sheets(properties(sheetId,title),data(startRow,startColumn,rowData.values({CELLS})))"


def by_filter(
    person: Person, book: str, *filters: dict[str, Any], fields: str = MASK
) -> list[dict[str, Any]]:
    url = f"https://sheets.googleapis.com/v4/spreadsheets/{book}:getByDataFilter?fields={fields}"
    return list(person.call("POST", url, {"dataFilters": list(filters)}).get("sheets", []))


def test_a_renamed_tab_is_read_by_its_id(bot: Person, book: str) -> None:
    bot.change(book, {"addSheet": {"properties": {"sheetId": 7, "title": "Scores"}}})
    bot.paste(book, "Scores!B2", [[4, "=1+1", "2020-01-01"]])
    bot.change(
        book, {"updateSheetProperties": {"properties": {"sheetId": 7, "title": "Mine"}, "fields": "title"}}
    )
    grid = {"sheetId": 7, "startRowIndex": 1, "endRowIndex": 3, "startColumnIndex": 1, "endColumnIndex": 20}
    [sheet] = by_filter(bot, book, {"gridRange": grid})
    assert sheet["properties"] == {"sheetId": 7, "title": "Mine"}
    date = {"numberFormat": {"type": "DATE", "pattern": "yyyy-mm-dd"}}
    number = {"numberValue": 43831}
    assert sheet["data"] == [
        {
            "startRow": 1,
            "startColumn": 1,
            "rowData": [
                {
                    "values": [
                        {
                            "userEnteredValue": {"numberValue": 4},
                            "effectiveValue": {"numberValue": 4},
                            "effectiveFormat": {},
                        },
                        {
                            "userEnteredValue": {"formulaValue": "=1+1"},
                            "effectiveValue": {"numberValue": 2},
                            "effectiveFormat": {},
                        },
                        {
                            "userEnteredValue": number,
                            "effectiveValue": number,
                            "userEnteredFormat": date,
                            "effectiveFormat": date,
                        },
                    ]
                }
            ],
        }
    ]


def test_several_filters_give_several_grids(bot: Person, book: str) -> None:
    bot.paste(book, "A1", [[1, 2], [3, 4]])
    [sheet] = by_filter(bot, book, {"a1Range": "A1"}, {"a1Range": "Sheet1!B2"})
    assert [grid["rowData"][0]["values"][0]["effectiveValue"]["numberValue"] for grid in sheet["data"]] == [
        1,
        4,
    ]


def test_a_tab_is_found_by_its_marker(bot: Person, book: str) -> None:
    marker = {
        "metadataKey": "tab",
        "metadataValue": "scores",
        "visibility": "DOCUMENT",
        "location": {"sheetId": 7},
    }
    bot.change(
        book,
        {"addSheet": {"properties": {"sheetId": 7, "title": "Scores"}}},
        {"createDeveloperMetadata": {"developerMetadata": marker}},
    )
    lookup = {"developerMetadataLookup": {"metadataKey": "tab", "metadataValue": "scores"}}
    assert [sheet["properties"]["sheetId"] for sheet in by_filter(bot, book, lookup)] == [7]
    nothing = {"developerMetadataLookup": {"metadataKey": "tab", "metadataValue": "other"}}
    assert by_filter(bot, book, nothing) == []


def test_an_unknown_tab_is_refused(bot: Person, book: str) -> None:
    with pytest.raises(Refused, match=r"Invalid dataFilters\[0\]: No grid with id: 99"):
        by_filter(bot, book, {"gridRange": {"sheetId": 99}})


def test_metadata_alone_carries_no_cells(bot: Person, book: str) -> None:
    bot.type(book, "A1", 1)
    assert "data" not in bot.look(book)["sheets"][0]
    assert "data" not in bot.look(book, "sheets.properties")["sheets"][0]


def test_values_by_filter(bot: Person, book: str) -> None:
    bot.paste(book, "A1", [[1, 2]])
    url = f"https://sheets.googleapis.com/v4/spreadsheets/{book}/values:batchGetByDataFilter"
    body = {"dataFilters": [{"gridRange": {"sheetId": 0}}], "valueRenderOption": "UNFORMATTED_VALUE"}
    [found] = bot.call("POST", url, body)["valueRanges"]
    assert found["valueRange"]["values"] == [[1, 2]]


def test_a_batch_can_answer_with_what_it_made(bot: Person, book: str) -> None:
    rows = [{"values": [{"userEnteredValue": {"numberValue": 1}}]}] * 3
    start = {"sheetId": 0, "rowIndex": 0, "columnIndex": 0}
    body = {
        "requests": [{"updateCells": {"start": start, "rows": rows, "fields": "userEnteredValue"}}],
        "includeSpreadsheetInResponse": True,
        "responseIncludeGridData": True,
        "responseRanges": ["Sheet1!A1:A5"],
    }
    made = bot.call("POST", f"https://sheets.googleapis.com/v4/spreadsheets/{book}:batchUpdate", body)
    assert len(made["updatedSpreadsheet"]["sheets"][0]["data"][0]["rowData"]) == 3


def test_long_answers_are_written_compactly(emulator: Emulator, bot: Person, book: str) -> None:
    bot.paste(book, "A1", [["x" * 100] * 26] * 50, "RAW")
    url = f"https://sheets.googleapis.com/v4/spreadsheets/{book}/values/"
    headers = {"Authorization": f"Bearer {bot.identity}"}
    assert b"\n" not in emulator.handle("GET", url + "Sheet1", headers).body
    assert b'\n  "range"' in emulator.handle("GET", url + "A1", headers).body
