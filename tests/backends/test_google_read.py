"""What Google answers, with all that it leaves out, is read as what stands in the cells."""

from __future__ import annotations

from typing import Any

import pytest

from sheetsync.backends.google_present import (
    PRESENT_FIELDS,
    READ_AND_PRESENT_FIELDS,
    Present,
    PresentTab,
    present_in,
)
from sheetsync.backends.google_read import READ_FIELDS, confirm_replies, parse_spreadsheet
from sheetsync.domain.workbook import DateCell, ErrorCell, FormulaCell, RawCell
from sheetsync.errors import BackendError
from tests.discovery import mask_faults

Json = dict[str, Any]


def read_cell(cell: Json) -> RawCell:
    answer = {"sheets": [{"properties": {"title": "T"}, "data": [{"rowData": [{"values": [cell]}]}]}]}
    rows = parse_spreadsheet(answer).tabs[0].rows
    return rows[0][0] if rows else None


def text(value: str) -> Json:
    return {"userEnteredValue": {"stringValue": value}, "effectiveValue": {"stringValue": value}}


def formula(entered: str, shown: Json | None) -> Json:
    return {"userEnteredValue": {"formulaValue": entered}, **({"effectiveValue": shown} if shown else {})}


def number(value: float, kind: str = "", where: str = "effectiveFormat") -> Json:
    form = {where: {"numberFormat": {"type": kind}}} if kind else {}
    return {"userEnteredValue": {"numberValue": value}, "effectiveValue": {"numberValue": value}, **form}


@pytest.mark.parametrize("fields", [READ_FIELDS, PRESENT_FIELDS, READ_AND_PRESENT_FIELDS])
def test_masks_are_by_the_schema(fields: str) -> None:
    assert not mask_faults("Spreadsheet", fields)


# --- cells ---


@pytest.mark.parametrize(
    ("cell", "read"),
    [
        ({}, None),
        ({"effectiveFormat": {"numberFormat": {"type": "TEXT"}}}, None),
        (text(" 007 "), " 007 "),
        (text("=1+1"), "=1+1"),
        (text(""), None),
        (number(3), 3),
        (number(3.0), 3),
        (number(0), 0),
        (number(2.5, "NUMBER"), 2.5),
        (number(0.5, "PERCENT"), 0.5),
        ({"userEnteredValue": {"boolValue": True}}, True),
        ({"userEnteredValue": {"boolValue": False}}, False),
        (number(43831, "DATE"), DateCell(43831.0, "2020-01-01")),
        (number(43831, "DATE", "userEnteredFormat"), DateCell(43831.0, "2020-01-01")),
        (number(43831.5, "DATE"), DateCell(43831.5, "2020-01-01T12:00:00")),
        (number(43831.5, "DATE_TIME"), DateCell(43831.5, "2020-01-01T12:00:00")),
        (number(3, "DATE"), DateCell(3.0, "1900-01-02")),
        (number(0.25, "TIME"), DateCell(0.25, "06:00:00")),
        (number(2.25, "TIME"), DateCell(2.25, "PT54H0M0S")),
        (number(1e12, "DATE"), DateCell(1e12, "1e+12")),
        (formula("=1+2", {"numberValue": 3.0}), FormulaCell("1+2", 3)),
        (formula("=A1", {"stringValue": "x"}), FormulaCell("A1", "x")),
        (formula("=A1=1", {"boolValue": False}), FormulaCell("A1=1", False)),
        (formula('=""', {"stringValue": ""}), FormulaCell('""', "")),
        (formula("=IF(1,)", None), FormulaCell("IF(1,)", "")),
        (formula("=1/0", {"errorValue": {"type": "DIVIDE_BY_ZERO"}}), FormulaCell("1/0", "#DIV/0!")),
        (formula("=X(", {"errorValue": {"type": "ERROR", "message": "?"}}), FormulaCell("X(", "#ERROR!")),
        (formula("=SLOW()", {"errorValue": {"type": "LOADING"}}), FormulaCell("SLOW()", None)),
        ({"userEnteredValue": {"errorValue": {"type": "N_A"}}}, ErrorCell("#N/A")),
        ({"effectiveValue": {"numberValue": 4}}, FormulaCell("", 4)),
        ({"effectiveValue": {"boolValue": False}}, None),
        (formula('=HYPERLINK("#gid=12&range=B7","say ""go"",\nnow")', None), 'say "go",\nnow'),
        (formula('=HYPERLINK("#gid=12&range=B7";"go")', None), "go"),
        (
            formula('=HYPERLINK("https://x.org","go")', None),
            FormulaCell('HYPERLINK("https://x.org","go")', ""),
        ),
    ],
)
def test_cells(cell: Json, read: RawCell) -> None:
    found = read_cell(cell)
    assert found == read
    assert type(found) is type(read)


def test_blocks_are_put_where_they_start_and_blanks_are_trimmed() -> None:
    block = {"startRow": 2, "startColumn": 1, "rowData": [{"values": [text("c"), {}]}, {}, {"values": [{}]}]}
    first = {"rowData": [{"values": [text("a")]}]}
    answer = {
        "sheets": [{"properties": {"title": "T"}, "data": [first, block]}, {"properties": {"title": "U"}}]
    }
    reading = parse_spreadsheet(answer)
    assert [(grid.title, grid.rows) for grid in reading.tabs] == [("T", (("a",), (), (None, "c"))), ("U", ())]


# --- marker and the tab of lists ---


def tab(title: str, *rows: str, mark: str = "") -> Json:
    marks = {"developerMetadata": [{"metadataKey": "sheetsync-tab", "metadataValue": mark}]} if mark else {}
    data = [{"rowData": [{"values": [text(row)]} for row in rows]}]
    return {"properties": {"title": title}, "data": data, **marks}


def test_the_marker_is_read_from_metadata_first() -> None:
    marks = [
        {"metadataKey": "other", "metadataValue": "x"},
        {"metadataKey": "sheetsync", "metadataValue": "s/A1/main"},
    ]
    lists = tab("Lists", "sheetsync lists", "s/A2/main")
    assert parse_spreadsheet({"developerMetadata": marks, "sheets": [lists]}).marker == "s/A1/main"
    assert parse_spreadsheet({"sheets": [lists]}).marker == "s/A2/main"
    assert parse_spreadsheet({"sheets": [tab("Lists", "sheetsync lists")]}).marker == ""
    assert parse_spreadsheet({}).tabs == ()


def test_the_tab_of_lists_is_no_part_of_a_reading() -> None:
    sheets = [
        tab("Renamed", "sheetsync lists", "s"),
        tab("Lists", mark="Lists"),
        tab("lists", "mine"),
        tab("Scoring", "Code", mark="Scoring"),
    ]
    assert [grid.title for grid in parse_spreadsheet({"sheets": sheets}).tabs] == ["lists", "Scoring"]


# --- what is present ---


def test_what_is_present() -> None:
    first = {
        "properties": {"sheetId": 0, "title": "Page"},
        "protectedRanges": [
            {"protectedRangeId": 1, "range": {}},
            {"protectedRangeId": 2, "range": {"startRowIndex": 1}},
            {"protectedRangeId": 3, "range": {"startRowIndex": 1}, "description": "sheetsync: old"},
            {"protectedRangeId": 4, "namedRangeId": "n"},
        ],
        "conditionalFormats": [{}, {}],
        "charts": [{"chartId": 5}],
        "filterViews": [{"filterViewId": 6}],
        "merges": [{}],
        "basicFilter": {},
        "developerMetadata": [{"metadataId": 9, "metadataKey": "sheetsync-tab", "metadataValue": "Page"}],
    }
    answer = {
        "developerMetadata": [
            {"metadataId": 8, "metadataKey": "sheetsync"},
            {"metadataId": 7, "metadataKey": "x"},
        ],
        "namedRanges": [
            {"namedRangeId": "a", "name": "one", "range": {"endRowIndex": 2}},
            {"namedRangeId": "b", "name": "lost"},
        ],
        "sheets": [first, {"properties": {"sheetId": 4, "title": "Mine"}}],
    }
    page = PresentTab(0, "Page", "Page", (1, 3), 2, (5,), (6,), has_merges=True, has_filter=True)
    names = {"one": ("a", 0), "lost": ("b", 0)}
    assert present_in(answer) == Present((page, PresentTab(4, "Mine")), names, (8,))


@pytest.mark.parametrize(
    ("sheet", "others", "blank"),
    [
        ({"data": [{}]}, 0, True),
        ({"data": [{"rowData": [{}, {"values": [{}]}]}]}, 0, True),
        ({}, 0, False),  # its cells were not asked for
        ({"data": [{"rowData": [{"values": [text("mine")]}]}]}, 0, False),
        ({"data": [{}], "charts": [{"chartId": 1}]}, 0, False),
        ({"data": [{}]}, 1, False),
    ],
)
def test_when_a_tab_is_known_to_be_blank(sheet: Json, others: int, blank: bool) -> None:
    rest = [{"properties": {"sheetId": 3, "title": "Other"}}] * others
    answer = {"sheets": [{"properties": {"title": "Tabelle1"}, **sheet}, *rest]}
    assert present_in(answer).tabs[0].is_blank is blank


# --- whether a write arrived ---


def test_replies_are_counted_and_compared() -> None:
    add: Json = {"addSheet": {"properties": {"sheetId": 5, "title": "T"}}}
    clear: Json = {"clearBasicFilter": {"sheetId": 5}}
    done: Json = {"addSheet": {"properties": {"sheetId": 5, "title": "T", "index": 1}}}
    confirm_replies([add, clear], {"replies": [done, {}]})
    confirm_replies([], {})
    with pytest.raises(BackendError, match="1 of 2"):
        confirm_replies([add, clear], {"replies": [done]})
    with pytest.raises(BackendError, match="0 of 1"):
        confirm_replies([clear], {"spreadsheetId": "x"})
    with pytest.raises(BackendError, match="addSheet of 5"):
        confirm_replies([add], {"replies": [{"addSheet": {"properties": {"sheetId": 6}}}]})
    with pytest.raises(BackendError, match="answered with None"):
        confirm_replies([add], {"replies": [{}]})
