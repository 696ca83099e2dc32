"""Requests are held to the discovery schema and refused in Google's words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sheets_emulator import Emulator, Person, Refused
from tests.sheets_emulator.field_masks import MaskError, parse_mask

ONE = {"sheetId": 0, "startRowIndex": 0, "endRowIndex": 1}

BODIES: list[tuple[dict[str, Any], str]] = [
    (
        {"requests": [{"makeCoffee": {}}]},
        "Invalid JSON payload received. Unknown name \"makeCoffee\" at 'requests[0]': Cannot find field.",
    ),
    (
        {"request": []},
        'Invalid JSON payload received. Unknown name "request": Cannot find field.',
    ),
    (
        {"requests": [{"repeatCell": {"cell": {"userEnteredFormat": {"bold": True}}}}]},
        "Unknown name \"bold\" at 'requests[0].repeat_cell.cell.user_entered_format': Cannot find field.",
    ),
    (
        {"requests": [{"deleteSheet": {"sheetId": "abc"}}]},
        "Invalid value at 'requests[0].delete_sheet.sheet_id' (TYPE_INT32), \"abc\"",
    ),
    (
        {"requests": [{"deleteSheet": {"sheetId": 3_000_000_000}}]},
        "(TYPE_INT32), 3000000000",
    ),
    (
        {"requests": [{"mergeCells": {"range": ONE, "mergeType": "MERGE_SOME"}}]},
        '(type.googleapis.com/google.apps.sheets.v4.MergeCellsRequest.MergeType), "MERGE_SOME"',
    ),
    (
        {"requests": [{"addSheet": {}, "deleteSheet": {"sheetId": 1}}]},
        "oneof field 'kind' is already set. Cannot set 'deleteSheet'",
    ),
    (
        {"requests": [{"updateCells": {"range": [ONE]}}]},
        "Unknown name \"range\" at 'requests[0].update_cells': Proto field is not repeating, cannot start list.",
    ),
    (
        {
            "requests": [
                {
                    "updateCells": {
                        "range": ONE,
                        "rows": [{"values": [{"formattedValue": "x"}]}],
                        "fields": "*",
                    }
                }
            ]
        },
        "Field 'formattedValue' is read-only",
    ),
    (
        {"requests": "x"},
        "Invalid value at 'requests' (type.googleapis.com/google.apps.sheets.v4.Request), \"x\"",
    ),
]


@pytest.mark.parametrize(("body", "message"), BODIES)
def test_bodies_that_are_refused(bot: Person, book: str, body: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused) as refused:
        bot.call("POST", f"https://sheets.googleapis.com/v4/spreadsheets/{book}:batchUpdate", body)
    error = refused.value.body["error"]
    assert message in error["message"]
    assert (error["code"], error["status"]) == (400, "INVALID_ARGUMENT")


def test_the_recorded_violation_has_its_details(bot: Person, book: str) -> None:
    url = f"https://sheets.googleapis.com/v4/spreadsheets/{book}/values/A1?valueInputOption=RAW"
    with pytest.raises(Refused) as refused:
        bot.call("PUT", url, {"values": "A1:D4"})
    text = "Invalid value at 'data.values' (type.googleapis.com/google.protobuf.ListValue), \"A1:D4\""
    assert refused.value.body["error"]["details"] == [
        {
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": [{"field": "data.values", "description": text}],
        }
    ]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("includeGridDate=true", 'Unknown name "includeGridDate": Cannot bind query parameter'),
        ("includeGridData=perhaps", "Invalid value at 'include_grid_data' (TYPE_BOOL), \"perhaps\""),
        ("fields=sheets.colour", "Request contains an invalid argument."),
        ("fields=sheets(", "Request contains an invalid argument."),
        ("ranges=Nowhere!A1", "Unable to parse range: Nowhere!A1"),
    ],
)
def test_queries_that_are_refused(bot: Person, book: str, query: str, message: str) -> None:
    with pytest.raises(Refused) as refused:
        bot.call("GET", f"https://sheets.googleapis.com/v4/spreadsheets/{book}?{query}")
    assert message in refused.value.body["error"]["message"]


def test_a_bad_mask_names_the_path(bot: Person, book: str) -> None:
    with pytest.raises(Refused) as refused:
        bot.look(book, "sheets.properties.colour")
    violation = refused.value.body["error"]["details"][0]["fieldViolations"][0]
    assert violation["description"].endswith(
        "Cannot find matching fields for path 'sheets.properties.colour'."
    )


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ({"nmae": "x"}, 400, None),
        ({"name": "x", "version": "3"}, 403, "fieldNotWritable"),
    ],
)
def test_drive_bodies_that_are_refused(
    bot: Person, body: dict[str, Any], status: int, reason: str | None
) -> None:
    with pytest.raises(Refused) as refused:
        bot.call("POST", "https://www.googleapis.com/drive/v3/files", body)
    assert refused.value.status == status
    if reason:
        assert refused.value.body["error"]["errors"][0]["reason"] == reason


def test_json_that_is_none(emulator: Emulator, book: str) -> None:
    url = f"https://sheets.googleapis.com/v4/spreadsheets/{book}:batchUpdate"
    answer = emulator.handle("POST", url, {"Authorization": "Bearer bot@example.org"}, "{nope")
    assert answer.status == 400
    assert "Invalid JSON payload received." in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a.b,a.c", {"a": {"b": {}, "c": {}}}),
        ("a/b", {"a": {"b": {}}}),
        ("a(b,c.d),e", {"a": {"b": {}, "c": {"d": {}}}, "e": {}}),
        ("a,a.b", {"a": {}}),
        ("*", {"*": {}}),
    ],
)
def test_masks_are_read(text: str, tree: dict[str, Any]) -> None:
    assert parse_mask(text) == tree


@pytest.mark.parametrize("text", ["", "a(", "a)", "a..b", "a,", "(a)", "a b"])
def test_masks_that_cannot_be_read(text: str) -> None:
    with pytest.raises(MaskError):
        parse_mask(text)
