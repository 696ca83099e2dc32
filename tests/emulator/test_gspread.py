"""gspread, unchanged, does real work against the emulator in the same process."""

from __future__ import annotations

import gspread
import pytest
from gspread.utils import ValidationConditionType

from tests.sheets_emulator import Emulator


@pytest.fixture
def client(emulator: Emulator) -> gspread.Client:
    return gspread.Client(auth=None, session=emulator.session("bot@example.org"))  # type: ignore[arg-type]


def test_a_study_by_hand(client: gspread.Client, emulator: Emulator) -> None:
    book = client.create("Study")
    tab = book.add_worksheet("Scores", 10, 2)
    tab.update([["unit", "score"], ["u1", 4], ["u2", 2.5]], "A1")
    tab.format("A1:B1", {"textFormat": {"bold": True}})
    tab.add_validation("B2:B3", ValidationConditionType.number_between, ["1", "5"], strict=True)
    tab.add_protected_range("A1:A10", ["bot@example.org"])
    book.share("ann@example.org", perm_type="user", role="writer", notify=False)
    records = client.open_by_key(book.id).worksheet("Scores").get_all_records()
    assert records == [{"unit": "u1", "score": 4}, {"unit": "u2", "score": 2.5}]
    assert [entry["role"] for entry in book.list_permissions()] == ["owner", "writer"]
    assert emulator.mails == []
    assert [file["name"] for file in client.list_spreadsheet_files()] == ["Study"]
    book.del_worksheet(tab)
    assert [sheet.title for sheet in book.worksheets()] == ["Sheet1"]
    client.del_spreadsheet(book.id)
    with pytest.raises(gspread.SpreadsheetNotFound):
        client.open_by_key(book.id)


def test_refusals_arrive_as_gspreads_errors(client: gspread.Client) -> None:
    tab = client.create("x").sheet1
    with pytest.raises(gspread.exceptions.APIError, match="exceeds grid limits") as refused:
        tab.acell("ZZ1")
    assert refused.value.code == 400


def test_what_a_person_types_is_what_gspread_reads(client: gspread.Client, emulator: Emulator) -> None:
    book = client.create("x")
    book.share("ann@example.org", perm_type="user", role="writer", notify=False)
    emulator.person("ann@example.org").type(book.id, "B2", "=1+1", "2020-01-01", "3,5")
    assert book.sheet1.get("B2:D2") == [["2", "2020-01-01", "3,5"]]
