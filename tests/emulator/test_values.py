"""values.*: what is stored, what is shown, which ranges are possible."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sheets_emulator import Person, Refused
from tests.sheets_emulator.a1 import column_index, column_name, quote_title


@pytest.mark.parametrize(
    ("typed", "locale", "unformatted", "shown"),
    [
        ("0042", "en_US", 42, "42"),
        ("2,000,000.01", "en_US", 2000000.01, "2,000,000.01"),
        ("3_1_0", "en_US", "3_1_0", "3_1_0"),
        ("Артур", "en_US", "Артур", "Артур"),
        ("a\nb", "en_US", "a\nb", "a\nb"),
        ("2020-01-01", "en_US", 43831, "2020-01-01"),
        ("Mar 1 2016", "en_US", 42430, "Mar 1 2016"),
        ("$100.15", "en_US", 100.15, "$100.15"),
        ("=4/2", "en_US", 2, "2"),
        ("= 1 / 1024", "en_US", 0.0009765625, "0.0009765625"),
        ("1/2", "en_US", 46024, "1/2"),
        ("1/2", "fr_FR", 46054, "1/2"),
        ("3-4", "en_US", 46085, "3-4"),
        ("5%", "en_US", 0.05, "5%"),
        ("true", "en_US", True, "TRUE"),
        ("'0042", "en_US", "0042", "0042"),
        ("3,5", "en_US", "3,5", "3,5"),
        ("3,5", "fr_FR", 3.5, "3,5"),
        ("3.5", "fr_FR", "3.5", "3.5"),
        ("-5 is cold", "en_US", "-5 is cold", "-5 is cold"),
        ("4?", "en_US", "4?", "4?"),
        ("10:30", "en_US", 0.4375, "10:30"),
    ],
)
def test_typing_is_parsed_by_locale(
    bot: Person, book: str, typed: str, locale: str, unformatted: Any, shown: str
) -> None:
    bot.change(book, {"updateSpreadsheetProperties": {"properties": {"locale": locale}, "fields": "locale"}})
    bot.type(book, "A1", typed)
    assert bot.read(book, "A1") == [[unformatted]]
    assert bot.read(book, "A1", "FORMATTED_VALUE") == [[shown]]


@pytest.mark.parametrize("value", ["12345", "=1+2", "2020-01-01", "'x", "TRUE", "5%", "+1", 2, 2.5, True])
def test_raw_keeps_what_it_gets(bot: Person, book: str, value: Any) -> None:
    bot.paste(book, "A1", [[value]], "RAW")
    found = bot.read(book, "A1")[0][0]
    assert (found, type(found)) == (value, type(value))


def test_whole_numbers_have_no_decimals(bot: Person, book: str) -> None:
    bot.paste(book, "A1", [[2.0, 2.5]], "RAW")
    assert str(bot.read(book, "A1:B1")) == "[[2, 2.5]]"


def test_a_typed_date_is_a_serial_with_a_date_format(bot: Person, book: str) -> None:
    bot.type(book, "B2", "2020-01-01")
    sheet = bot.look(book, "sheets.data.rowData.values(effectiveValue,userEnteredFormat.numberFormat)")[
        "sheets"
    ][0]
    cell = sheet["data"][0]["rowData"][1]["values"][1]
    assert cell == {
        "effectiveValue": {"numberValue": 43831},
        "userEnteredFormat": {"numberFormat": {"type": "DATE", "pattern": "yyyy-mm-dd"}},
    }


def test_a_text_cell_keeps_digits_as_typed(bot: Person, book: str) -> None:
    look = {"userEnteredFormat": {"numberFormat": {"type": "TEXT"}}}
    area = {"sheetId": 0, "startColumnIndex": 0, "endColumnIndex": 1}
    bot.change(
        book, {"repeatCell": {"range": area, "cell": look, "fields": "userEnteredFormat.numberFormat"}}
    )
    bot.type(book, "A1", "0042")
    assert bot.read(book, "A1") == [["0042"]]


def test_null_skips_and_empty_text_clears(bot: Person, book: str) -> None:
    bot.paste(book, "A1", [["a", "b"], ["c", "d"]])
    answer = bot.paste(book, "A1:B2", [[None, ""], ["e", None]])
    assert answer["updatedCells"] == 2
    assert bot.read(book, "A1:B2") == [["a"], ["e", "d"]]


def test_a_single_cell_grows_and_a_range_does_not(bot: Person, book: str) -> None:
    assert bot.paste(book, "A1", [[1, 2], [3, 4]])["updatedRange"] == "Sheet1!A1:B2"
    with pytest.raises(
        Refused, match=r"Requested writing within range \[Sheet1!A1:B1\], but tried writing to row \[2\]"
    ):
        bot.paste(book, "A1:B1", [[1], [2]])
    with pytest.raises(Refused, match=r"tried writing to column \[B\]"):
        bot.paste(book, "A1:A2", [[1, 2]])


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("Nowhere!A1", "Unable to parse range: Nowhere!A1"),
        ("AA1", r"Range \(Sheet1!AA1\) exceeds grid limits. Max rows: 1000, max columns: 26"),
        ("A1001:B1002", r"Range \(Sheet1!A1001:B1002\) exceeds grid limits"),
        ("Sheet1!A0", "Unable to parse range"),
        ("'Sheet1", "Unable to parse range"),
        ("I'm odd!A1", "Unable to parse range"),
        ("A1:B2:C3", "Unable to parse range"),
    ],
)
def test_ranges_that_are_refused(bot: Person, book: str, cells: str, message: str) -> None:
    with pytest.raises(Refused, match=message) as refused:
        bot.read(book, cells)
    assert refused.value.status == 400
    assert refused.value.body["error"]["status"] == "INVALID_ARGUMENT"


def test_a_write_past_the_grid_is_refused(bot: Person, book: str) -> None:
    with pytest.raises(Refused, match="exceeds grid limits"):
        bot.paste(book, "Z1000", [[1, 2]])
    assert bot.read(book, "Z1000") == []


def test_a_title_like_a_cell_needs_quotes(bot: Person, book: str) -> None:
    bot.change(book, {"addSheet": {"properties": {"title": "D3"}}})
    bot.type(book, "'D3'!A1", "in the tab")
    assert bot.read(book, "D3") == []
    assert bot.read(book, "'D3'") == [["in the tab"]]


@pytest.mark.parametrize(
    ("title", "quoted"),
    [
        ("Sheet1", "Sheet1"),
        ("My tab", "'My tab'"),
        ("D3", "'D3'"),
        ("it's", "'it''s'"),
        ("a_1", "a_1"),
        ("é", "é"),
    ],
)
def test_titles_are_quoted_where_google_does(title: str, quoted: str) -> None:
    assert quote_title(title) == quoted


@pytest.mark.parametrize(("index", "name"), [(0, "A"), (25, "Z"), (26, "AA"), (701, "ZZ"), (18277, "ZZZ")])
def test_column_names(index: int, name: str) -> None:
    assert (column_name(index), column_index(name)) == (name, index)


def test_fifty_thousand_characters_fit_and_no_more(bot: Person, book: str) -> None:
    bot.paste(book, "A1", [["x" * 50_000]], "RAW")
    with pytest.raises(Refused, match="more than the maximum of 50000 characters in a single cell"):
        bot.paste(book, "A1", [["x" * 50_001]], "RAW")


def test_the_input_option_is_required(bot: Person, book: str) -> None:
    url = f"https://sheets.googleapis.com/v4/spreadsheets/{book}/values/A1"
    with pytest.raises(Refused, match="'valueInputOption' is required but not specified"):
        bot.call("PUT", url, {"values": [[1]]})


def test_a_batch_of_values_is_all_or_nothing(bot: Person, book: str) -> None:
    url = f"https://sheets.googleapis.com/v4/spreadsheets/{book}/values:batchUpdate"
    data = [{"range": "A1", "values": [[1]]}, {"range": "Nowhere!A1", "values": [[2]]}]
    with pytest.raises(Refused, match=r"Invalid data\[1\]: Unable to parse range: Nowhere!A1"):
        bot.call("POST", url, {"valueInputOption": "RAW", "data": data})
    assert bot.read(book, "A1") == []


def test_append_adds_rows_and_never_columns(bot: Person, book: str) -> None:
    bot.change(
        book,
        {
            "updateSheetProperties": {
                "properties": {"sheetId": 0, "gridProperties": {"rowCount": 1, "columnCount": 2}},
                "fields": "gridProperties(rowCount,columnCount)",
            }
        },
    )
    url = f"https://sheets.googleapis.com/v4/spreadsheets/{book}/values/Sheet1:append?valueInputOption=RAW"
    bot.call("POST", url, {"values": [["a", "b"]]})
    assert bot.call("POST", url, {"values": [["c", "d"]]})["updates"]["updatedRange"] == "Sheet1!A2:B2"
    with pytest.raises(Refused, match="exceeds grid limits"):
        bot.call("POST", url, {"values": [["c", "d", "e"]]})


def test_clear_keeps_formats_and_notes(bot: Person, book: str) -> None:
    rows = [{"values": [{"userEnteredValue": {"numberValue": 1}, "note": "n"}]}]
    start = {"sheetId": 0, "rowIndex": 0, "columnIndex": 0}
    bot.change(book, {"updateCells": {"start": start, "rows": rows, "fields": "*"}})
    assert bot.clear(book, "A1:B2")["clearedRange"] == "Sheet1!A1:B2"
    cell = bot.look(book, "sheets.data.rowData.values")["sheets"][0]["data"][0]["rowData"][0]["values"][0]
    assert cell["note"] == "n"
    assert "userEnteredValue" not in cell


def test_a_named_range_is_a_range(bot: Person, book: str) -> None:
    area = {"sheetId": 0, "startRowIndex": 0, "endRowIndex": 3, "startColumnIndex": 1, "endColumnIndex": 3}
    bot.change(book, {"addNamedRange": {"namedRange": {"name": "MyName", "range": area}}})
    bot.paste(book, "B1", [[1, 2]])
    assert bot.read(book, "MyName") == [[1, 2]]
    assert bot.read(book, "Sheet1!MyName") == [[1, 2]]
