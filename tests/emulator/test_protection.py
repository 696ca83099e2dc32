"""Protected ranges stop those they should, and nobody else."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sheets_emulator import Person, Refused

PROTECTED = "You are trying to edit a protected cell or object"
WHOLE = {"sheetId": 0}
INPUTS = {"sheetId": 0, "startRowIndex": 1, "endRowIndex": 10, "startColumnIndex": 2, "endColumnIndex": 4}
COLUMN = {"sheetId": 0, "startColumnIndex": 0, "endColumnIndex": 1}


def protect(person: Person, book: str, **protected: Any) -> int:
    reply = person.change(book, {"addProtectedRange": {"protectedRange": protected}})[0]
    return int(reply["addProtectedRange"]["protectedRange"]["protectedRangeId"])


@pytest.fixture
def shared(bot: Person, ann: Person, book: str) -> str:
    bot.share(book, ann.identity)
    return book


def test_inputs_stay_open_in_a_protected_tab(bot: Person, ann: Person, shared: str) -> None:
    protect(bot, shared, range=WHOLE, unprotectedRanges=[INPUTS])
    ann.type(shared, "C2", 4)
    for cell in ("A1", "E2", "C11"):
        with pytest.raises(Refused, match=PROTECTED):
            ann.type(shared, cell, "x")
    with pytest.raises(Refused, match=PROTECTED):
        ann.paste(shared, "C2", [[1, 2, 3]])
    bot.type(shared, "A1", "the owner may")
    assert bot.read(shared, "A1:C2") == [["the owner may"], ["", "", 4]]


STRUCTURE: list[dict[str, Any]] = [
    {"deleteSheet": {"sheetId": 0}},
    {"updateSheetProperties": {"properties": {"sheetId": 0, "title": "Mine"}, "fields": "title"}},
    {"insertDimension": {"range": {"sheetId": 0, "dimension": "ROWS", "startIndex": 1, "endIndex": 2}}},
    {"deleteDimension": {"range": {"sheetId": 0, "dimension": "COLUMNS", "startIndex": 1, "endIndex": 2}}},
    {"sortRange": {"range": {"sheetId": 0, "startRowIndex": 1}, "sortSpecs": [{"dimensionIndex": 0}]}},
    {"setDataValidation": {"range": {"sheetId": 0, "endRowIndex": 1}}},
    {"repeatCell": {"range": {"sheetId": 0, "endRowIndex": 1}, "cell": {}, "fields": "*"}},
    {"setBasicFilter": {"filter": {"range": {"sheetId": 0}}}},
]


@pytest.mark.parametrize("request_", STRUCTURE, ids=[next(iter(request)) for request in STRUCTURE])
def test_a_protected_tab_keeps_its_structure(
    bot: Person, ann: Person, shared: str, request_: dict[str, Any]
) -> None:
    bot.change(shared, {"addSheet": {"properties": {"title": "Second"}}})
    protect(bot, shared, range=WHOLE, unprotectedRanges=[INPUTS])
    with pytest.raises(Refused, match=PROTECTED) as refused:
        ann.change(shared, request_)
    assert refused.value.status == 400
    bot.change(shared, request_)


def test_a_column_binds_only_itself(bot: Person, ann: Person, shared: str) -> None:
    place = protect(bot, shared, range=COLUMN)
    ann.type(shared, "B1", 1)
    with pytest.raises(Refused, match=PROTECTED):
        ann.clear(shared, "A1:B1")
    with pytest.raises(Refused, match=PROTECTED):
        ann.change(shared, {"deleteProtectedRange": {"protectedRangeId": place}})
    ann.change(
        shared,
        {
            "insertDimension": {
                "range": {"sheetId": 0, "dimension": "COLUMNS", "startIndex": 3, "endIndex": 4}
            }
        },
    )


def test_editors_pass(bot: Person, ann: Person, shared: str) -> None:
    protect(bot, shared, range=COLUMN, editors={"users": [ann.identity]})
    ann.type(shared, "A1", 1)


def test_a_warning_stops_nobody(bot: Person, ann: Person, shared: str) -> None:
    protect(bot, shared, range=COLUMN, warningOnly=True)
    ann.type(shared, "A1", 1)


def test_whoever_protects_may_edit_but_not_the_others(bot: Person, ann: Person, shared: str) -> None:
    protect(ann, shared, range=COLUMN)
    ann.type(shared, "A1", 1)
    bot.type(shared, "A1", 2)


def test_the_bound_see_the_protection_but_not_its_editors(bot: Person, ann: Person, shared: str) -> None:
    protect(bot, shared, range=COLUMN)
    mine = bot.look(shared)["sheets"][0]["protectedRanges"][0]
    hers = ann.look(shared)["sheets"][0]["protectedRanges"][0]
    assert mine["editors"] == {"users": [bot.identity]}
    assert mine["requestingUserCanEdit"] is True
    assert "editors" not in hers
    assert "requestingUserCanEdit" not in hers


@pytest.mark.parametrize(
    ("protected", "message"),
    [
        (
            {"range": COLUMN, "warningOnly": True, "editors": {"users": ["a@b.c"]}},
            "Editors cannot be set on it",
        ),
        ({"range": COLUMN, "unprotectedRanges": [INPUTS]}, "only supported on protected sheets"),
        ({}, "Exactly one of range or namedRangeId"),
    ],
)
def test_protections_that_are_refused(
    bot: Person, book: str, protected: dict[str, Any], message: str
) -> None:
    with pytest.raises(Refused, match=message):
        protect(bot, book, **protected)


def test_a_tab_is_protected_once(bot: Person, book: str) -> None:
    protect(bot, book, range=WHOLE)
    with pytest.raises(Refused, match=r'addProtectedRange: Sheet "Sheet1" already has sheet protection.'):
        protect(bot, book, range=WHOLE)
