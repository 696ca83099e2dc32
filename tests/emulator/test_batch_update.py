"""batchUpdate: kinds of requests, atomicity, refusals."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sheets_emulator import Person, Refused
from tests.sheets_emulator.batch_update import HANDLERS
from tests.sheets_emulator.discovery import schemas

ONE = {"sheetId": 0, "startRowIndex": 0, "endRowIndex": 1, "startColumnIndex": 0, "endColumnIndex": 1}
TOP = {"sheetId": 0, "startRowIndex": 0, "endRowIndex": 5, "startColumnIndex": 0, "endColumnIndex": 3}
RED = {"red": 1, "green": 0.5}


def first_sheet(person: Person, book: str) -> dict[str, Any]:
    return dict(person.look(book)["sheets"][0])


def test_every_handler_is_a_kind_of_request() -> None:
    assert set(HANDLERS) <= set(schemas("sheets")["Request"]["properties"])


def test_all_or_nothing(bot: Person, book: str) -> None:
    rows = [{"values": [{"userEnteredValue": {"stringValue": "x"}}]}]
    with pytest.raises(Refused, match=r"Invalid requests\[2\]\.deleteSheet: No sheet with id: 99"):
        bot.change(
            book,
            {"addSheet": {"properties": {"sheetId": 7, "title": "New"}}},
            {"updateCells": {"range": ONE, "rows": rows, "fields": "userEnteredValue"}},
            {"deleteSheet": {"sheetId": 99}},
        )
    assert [sheet["properties"]["title"] for sheet in bot.look(book)["sheets"]] == ["Sheet1"]
    assert bot.read(book, "A1") == []


def validation(kind: str, *values: str) -> dict[str, Any]:
    condition = {"type": kind, "values": [{"userEnteredValue": value} for value in values]}
    return {"setDataValidation": {"range": ONE, "rule": {"condition": condition}}}


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"addSheet": {"properties": {"sheetId": 0, "title": "x"}}}, "already exists"),
    ({"addSheet": {"properties": {"title": "sheet1"}}}, 'A sheet with the name "sheet1" already exists'),
    ({"deleteSheet": {"sheetId": 0}}, "You can't remove all the sheets"),
    (
        {"updateSheetProperties": {"properties": {"sheetId": 0, "hidden": True}, "fields": "hidden"}},
        "You can't hide all the sheets in a document.",
    ),
    ({"updateSheetProperties": {"properties": {"sheetId": 0}, "fields": ""}}, "At least one field must be listed"),
    ({"updateSheetProperties": {"properties": {"sheetId": 0}, "fields": "colour"}}, "Invalid field: colour"),
    ({"repeatCell": {"range": ONE, "cell": {}, "fields": "effectiveValue"}}, "Invalid field: effectiveValue"),
    ({"updateCells": {"range": ONE, "rows": []}}, "Use '\\*' to indicate all fields"),
    (
        {
            "updateSheetProperties": {
                "properties": {"sheetId": 0, "gridProperties": {"rowCount": 400_000, "columnCount": 26}},
                "fields": "gridProperties(rowCount,columnCount)",
            }
        },
        "above the limit of 10000000 cells",
    ),
    (
        {"repeatCell": {"range": {"sheetId": 0, "endRowIndex": 1001}, "cell": {}, "fields": "note"}},
        r"endRowIndex\[1001\] is after last row in grid\[1000\]",
    ),
    ({"repeatCell": {"range": {"sheetId": 5}, "cell": {}, "fields": "note"}}, "No grid with id: 5"),
    (
        {"updateCells": {"range": ONE, "rows": [{}, {}], "fields": "note"}},
        "beyond the last requested row of: 0",
    ),
    (
        {"updateCells": {"range": ONE, "rows": [{"values": [{}, {}]}], "fields": "note"}},
        "Attempting to write column: 1, beyond the last requested column of: 0",
    ),
    ({"deleteProtectedRange": {"protectedRangeId": 3}}, "No protected range with id: 3"),
    (
        validation("NUMBER_BETWEEN", "1"),
        "requires 2 values, but 1 were provided",
    ),
    (
        validation("ONE_OF_LIST", "=A1"),
        "Formulas are not supported",
    ),
    ({"addConditionalFormatRule": {"rule": {"ranges": [ONE]}}}, "Exactly one of booleanRule and gradientRule"),
    (
        {"createDeveloperMetadata": {"developerMetadata": {"metadataKey": "k", "location": {"spreadsheet": True}}}},
        "must have a visibility",
    ),
    ({"deleteDimension": {"range": {"sheetId": 0, "dimension": "ROWS"}}}, "You can't delete all the rows"),
    (
        {"updateSpreadsheetProperties": {"properties": {"locale": "Klingon!"}, "fields": "locale"}},
        "Unsupported locale",
    ),
    (
        {"updateSpreadsheetProperties": {"properties": {"timeZone": "Mars/X"}, "fields": "timeZone"}},
        "Invalid time zone",
    ),
    ({"addNamedRange": {"namedRange": {"name": "A1", "range": ONE}}}, "Invalid name: A1"),
    ({"autoFill": {}}, "not emulated"),
    ({}, r"Invalid requests\[0\]: No request set"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("request_", "message"), REFUSED, ids=[str(next(iter(r), "none")) for r, _ in REFUSED]
)
def test_requests_that_are_refused(bot: Person, book: str, request_: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused, match=message) as refused:
        bot.change(book, request_)
    assert refused.value.status == 400


def test_no_requests_at_all(bot: Person, book: str) -> None:
    with pytest.raises(Refused, match="Must specify at least one request"):
        bot.change(book)


def test_a_tab_with_a_chosen_id_is_made_filled_and_formatted_in_one_call(bot: Person, book: str) -> None:
    area = {"sheetId": 42, "startRowIndex": 0, "endRowIndex": 2, "startColumnIndex": 0, "endColumnIndex": 2}
    cells = [{"userEnteredValue": {"stringValue": "=text"}}, {"userEnteredValue": {"numberValue": 0}}]
    rule = {"condition": {"type": "BOOLEAN"}, "strict": True, "showCustomUi": True}
    grid = {"rowCount": 10, "columnCount": 4, "frozenRowCount": 1}
    replies = bot.change(
        book,
        {"addSheet": {"properties": {"sheetId": 42, "title": "Scores", "index": 0, "gridProperties": grid}}},
        {"updateCells": {"range": area, "rows": [{"values": cells}], "fields": "userEnteredValue"}},
        {"setDataValidation": {"range": area, "rule": rule}},
        {
            "repeatCell": {
                "range": area,
                "cell": {"userEnteredFormat": {"backgroundColor": RED}},
                "fields": "userEnteredFormat",
            }
        },
    )
    assert replies[0]["addSheet"]["properties"]["sheetId"] == 42
    assert replies[1:] == [{}, {}, {}]
    assert bot.read(book, "Scores") == [["=text", 0]]
    sheet = bot.look(book, "sheets(properties,data.rowData.values(dataValidation,userEnteredFormat))")[
        "sheets"
    ][0]
    assert sheet["properties"]["gridProperties"] == grid
    cell = sheet["data"][0]["rowData"][1]["values"][1]
    assert cell["dataValidation"] == rule
    stored = {"red": 1, "green": 0.49803922}
    look = {"backgroundColor": stored, "backgroundColorStyle": {"rgbColor": stored}}
    assert cell["userEnteredFormat"] == look


def test_update_cells_clears_what_no_row_covers(bot: Person, book: str) -> None:
    bot.paste(book, "A1", [[1, 2, 3], [4, 5, 6]])
    rows = [{"values": [{"userEnteredValue": {"numberValue": 9}}]}]
    bot.change(book, {"updateCells": {"range": TOP, "rows": rows, "fields": "userEnteredValue"}})
    assert bot.read(book, "A1:C5") == [[9]]


def test_a_mask_changes_only_what_it_names(bot: Person, book: str) -> None:
    look = {
        "userEnteredFormat": {"textFormat": {"bold": True, "italic": True}, "wrapStrategy": "WRAP"},
        "note": "n",
    }
    bot.change(book, {"repeatCell": {"range": ONE, "cell": look, "fields": "*"}})
    bot.change(
        book, {"repeatCell": {"range": ONE, "cell": {}, "fields": "userEnteredFormat.textFormat.bold"}}
    )
    cell = bot.look(book, "sheets.data.rowData.values(note,userEnteredFormat)")["sheets"][0]["data"][0][
        "rowData"
    ][0]
    assert cell["values"] == [
        {"note": "n", "userEnteredFormat": {"textFormat": {"italic": True}, "wrapStrategy": "WRAP"}}
    ]


def test_rows_move_with_what_lies_on_them(bot: Person, book: str) -> None:
    bot.paste(book, "A1", [["a"], ["b"], ["c"]])
    area = {"sheetId": 0, "startRowIndex": 1, "endRowIndex": 2, "startColumnIndex": 0, "endColumnIndex": 2}
    bot.change(
        book,
        {"mergeCells": {"range": area, "mergeType": "MERGE_ALL"}},
        {"addNamedRange": {"namedRange": {"name": "b_row", "range": area}}},
        {"addProtectedRange": {"protectedRange": {"range": area}}},
        {"insertDimension": {"range": {"sheetId": 0, "dimension": "ROWS", "startIndex": 1, "endIndex": 3}}},
    )
    moved = {"startRowIndex": 3, "endRowIndex": 4, "startColumnIndex": 0, "endColumnIndex": 2}
    resource = bot.look(book)
    sheet = resource["sheets"][0]
    assert bot.read(book, "A1:A5") == [["a"], [], [], ["b"], ["c"]]
    assert sheet["merges"] == [moved]
    assert sheet["protectedRanges"][0]["range"] == moved
    assert resource["namedRanges"][0]["range"] == moved
    bot.change(
        book,
        {"deleteDimension": {"range": {"sheetId": 0, "dimension": "ROWS", "startIndex": 3, "endIndex": 4}}},
    )
    assert "merges" not in first_sheet(bot, book)
    assert bot.read(book, "A1:A5") == [["a"], [], [], ["c"]]


def test_moving_rows(bot: Person, book: str) -> None:
    bot.paste(book, "A1", [["a"], ["b"], ["c"], ["d"]])
    source = {"sheetId": 0, "dimension": "ROWS", "startIndex": 0, "endIndex": 2}
    bot.change(book, {"moveDimension": {"source": source, "destinationIndex": 3}})
    assert bot.read(book, "A1:A4") == [["c"], ["a"], ["b"], ["d"]]


def test_sorting_puts_numbers_before_texts_and_blanks_last(bot: Person, book: str) -> None:
    bot.paste(book, "A1", [["b", 1], [10, 2], ["", 3], [9, 4], ["A", 5]])
    area = {"sheetId": 0, "startRowIndex": 0, "endRowIndex": 5, "startColumnIndex": 0, "endColumnIndex": 2}
    bot.change(book, {"sortRange": {"range": area, "sortSpecs": [{"dimensionIndex": 0}]}})
    assert bot.read(book, "A1:B5") == [[9, 4], [10, 2], ["A", 5], ["b", 1], ["", 3]]


def chart(chart_id: int | None = None) -> dict[str, Any]:
    source = {"sourceRange": {"sources": [{"sheetId": 0, "startColumnIndex": 0, "endColumnIndex": 1}]}}
    spec = {"title": "T", "basicChart": {"chartType": "BAR", "series": [{"series": source}]}}
    position = {"overlayPosition": {"anchorCell": {"sheetId": 0, "rowIndex": 2}}}
    return {"spec": spec, "position": position} | ({"chartId": chart_id} if chart_id else {})


def test_charts_keep_their_ids(bot: Person, book: str) -> None:
    reply = bot.change(book, {"addChart": {"chart": chart(5)}})[0]["addChart"]["chart"]
    assert reply["chartId"] == 5
    with pytest.raises(Refused, match="Chart with id 5 already exists"):
        bot.change(book, {"addChart": {"chart": chart(5)}})
    spec = {**chart()["spec"], "title": "New"}
    bot.change(book, {"updateChartSpec": {"chartId": 5, "spec": spec}})
    assert first_sheet(bot, book)["charts"][0]["spec"]["title"] == "New"
    bot.change(book, {"deleteEmbeddedObject": {"objectId": 5}})
    assert "charts" not in first_sheet(bot, book)


def test_conditional_formats_are_kept_in_order(bot: Person, book: str) -> None:
    def rule(text: str) -> dict[str, Any]:
        condition = {"type": "CUSTOM_FORMULA", "values": [{"userEnteredValue": text}]}
        return {"ranges": [TOP], "booleanRule": {"condition": condition, "format": {"backgroundColor": RED}}}

    for text in ("=A1=1", "=A1=2"):
        bot.change(book, {"addConditionalFormatRule": {"rule": rule(text), "index": 0}})
    found = first_sheet(bot, book)["conditionalFormats"]
    texts = [entry["booleanRule"]["condition"]["values"][0]["userEnteredValue"] for entry in found]
    assert texts == ["=A1=2", "=A1=1"]
    assert "sheetId" not in found[0]["ranges"][0]
    bot.change(book, {"deleteConditionalFormatRule": {"sheetId": 0, "index": 0}})
    assert len(first_sheet(bot, book)["conditionalFormats"]) == 1


def test_banding_filters_borders_and_sizes_come_back(bot: Person, book: str) -> None:
    solid = {"style": "SOLID"}
    bot.change(
        book,
        {"addBanding": {"bandedRange": {"range": TOP, "rowProperties": {"firstBandColor": RED}}}},
        {"addFilterView": {"filter": {"title": "Mine", "range": TOP}}},
        {"setBasicFilter": {"filter": {"range": TOP}}},
        {"updateBorders": {"range": TOP, "bottom": solid}},
        {
            "updateDimensionProperties": {
                "range": {"sheetId": 0, "dimension": "COLUMNS", "startIndex": 0, "endIndex": 1},
                "properties": {"pixelSize": 250},
                "fields": "pixelSize",
            }
        },
    )
    sheet = first_sheet(bot, book)
    assert "firstBandColorStyle" in sheet["bandedRanges"][0]["rowProperties"]
    assert sheet["filterViews"][0]["title"] == "Mine"
    assert sheet["basicFilter"]["range"] == {key: held for key, held in TOP.items() if key != "sheetId"}
    data = bot.look(book, "sheets.data(columnMetadata,rowData.values.userEnteredFormat.borders)")["sheets"][
        0
    ]["data"][0]
    assert [column["pixelSize"] for column in data["columnMetadata"][:2]] == [250, 100]
    assert data["rowData"][4]["values"][0]["userEnteredFormat"]["borders"] == {"bottom": solid}


def test_metadata_finds_a_tab_again(bot: Person, book: str) -> None:
    entry = {"metadataId": 9, "metadataKey": "tab", "metadataValue": "scores", "visibility": "DOCUMENT"}
    bot.change(
        book, {"createDeveloperMetadata": {"developerMetadata": {**entry, "location": {"sheetId": 0}}}}
    )
    assert first_sheet(bot, book)["developerMetadata"][0]["location"] == {
        "sheetId": 0,
        "locationType": "SHEET",
    }
    url = f"https://sheets.googleapis.com/v4/spreadsheets/{book}/developerMetadata:search"
    lookup = {"developerMetadataLookup": {"metadataKey": "tab", "metadataValue": "scores"}}
    found = bot.call("POST", url, {"dataFilters": [lookup]})["matchedDeveloperMetadata"]
    assert found[0]["developerMetadata"]["metadataId"] == 9
    bot.change(book, {"duplicateSheet": {"sourceSheetId": 0, "newSheetName": "Other"}})
    bot.change(book, {"deleteSheet": {"sheetId": 0}})
    assert bot.call("POST", url, {"dataFilters": [lookup]}) == {}


def test_a_whole_spreadsheet_in_one_create(bot: Person) -> None:
    cells = [{"userEnteredValue": {"stringValue": "id"}, "note": "n"}]
    body = {
        "properties": {"title": "All", "locale": "en_US", "timeZone": "Europe/Berlin"},
        "sheets": [
            {
                "properties": {
                    "sheetId": 3,
                    "title": "Scores",
                    "gridProperties": {"rowCount": 5, "columnCount": 2},
                },
                "data": [{"rowData": [{"values": cells}], "columnMetadata": [{"pixelSize": 50}]}],
                "protectedRanges": [{"range": {"sheetId": 3}}],
                "merges": [
                    {
                        "sheetId": 3,
                        "startRowIndex": 1,
                        "endRowIndex": 2,
                        "startColumnIndex": 0,
                        "endColumnIndex": 2,
                    }
                ],
            }
        ],
    }
    made = bot.call("POST", "https://sheets.googleapis.com/v4/spreadsheets", body)
    assert made["properties"]["timeZone"] == "Europe/Berlin"
    assert made["sheets"][0]["merges"][0]["sheetId"] == 3
    assert bot.read(made["spreadsheetId"], "Scores") == [["id"]]
