"""Points about spreadsheets, rules and Drive that are believed and not verified."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from sheetsync.backends.google_auth import CREDENTIALS, Asker, find_login
from sheetsync.backends.google_errors import GoogleError
from sheetsync.backends.google_http import GoogleClient, Tempo
from sheetsync.backends.google_session import emulator_host, open_session
from sheetsync.domain.study import GoogleSettings
from tests.live.live_google import SHEETS, Hurried, Live, Points

ROOT = {"sheetId": 0, "rowIndex": 0, "columnIndex": 0}
HERE = {"sheetId": 0, "startRowIndex": 0, "endRowIndex": 1, "startColumnIndex": 0, "endColumnIndex": 1}


def write(value: Any, fields: str = "userEnteredValue") -> dict[str, Any]:
    return {"updateCells": {"start": ROOT, "rows": [{"values": [value]}], "fields": fields}}


# --- rules ---


def listed(*words: str) -> dict[str, Any]:
    values = [{"userEnteredValue": word} for word in words]
    rule = {"condition": {"type": "ONE_OF_LIST", "values": values}, "strict": True, "showCustomUi": True}
    return {"setDataValidation": {"range": HERE, "rule": rule}}


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({"numberValue": 5}, "a 5"),
        ({"stringValue": "5"}, "the text 5"),
        ({"numberValue": 9}, "a 9, which is not on the list"),
    ],
)
def test_whether_a_strict_list_stops_a_write(
    live: Live, points: Points, value: dict[str, Any], name: str
) -> None:
    book = live.new_book("strict")
    live.change(book, listed("1", "5"))
    refusal = live.refusal(book, write({"userEnteredValue": value}))
    points.compare(f"a strict list 1, 5 stops {name} that is sent", believed="", seen=refusal)


# --- making and drawing ---


def test_whether_create_honours_a_whole_workbook(live: Live, points: Points) -> None:
    """The product makes files in Drive and draws with one batchUpdate, because of this doubt."""
    cell = {
        "userEnteredValue": {"stringValue": "=a"},
        "note": "n",
        "userEnteredFormat": {"textFormat": {"bold": True}},
        "dataValidation": {"condition": {"type": "BOOLEAN"}},
    }
    sheet = {
        "properties": {"sheetId": 77, "title": "T", "gridProperties": {"frozenRowCount": 1}},
        "data": [{"rowData": [{"values": [cell]}], "columnMetadata": [{"pixelSize": 222}]}],
        "merges": [{**HERE, "sheetId": 77, "endColumnIndex": 2}],
        "protectedRanges": [{"range": {"sheetId": 77}, "description": "ours"}],
        "developerMetadata": [
            {"metadataKey": "k", "metadataValue": "v", "location": {"sheetId": 77}, "visibility": "DOCUMENT"}
        ],
    }
    body = {"properties": {"title": "created whole", "locale": "en_US"}, "sheets": [sheet]}
    try:
        made = live.client.call("post", SHEETS, {"fields": "spreadsheetId"}, body, repeat=False)
    except GoogleError as error:
        points.tell("spreadsheets.create outside of a folder is refused", error.message)
        return
    book = str(made["spreadsheetId"])
    try:
        fields = (
            "sheets(properties(sheetId,gridProperties(frozenRowCount)),merges,protectedRanges(description),"
            "developerMetadata(metadataKey),data(columnMetadata(pixelSize),"
            "rowData(values(userEnteredValue,note,dataValidation(condition(type))))))"
        )
        found = live.look(book, fields)["sheets"][0]
        kept = {
            "sheetId": found["properties"]["sheetId"] == 77,
            "frozen": found["properties"].get("gridProperties", {}).get("frozenRowCount") == 1,
            "merges": len(found.get("merges", ())) == 1,
            "protection": [each.get("description") for each in found.get("protectedRanges", ())] == ["ours"],
            "metadata": len(found.get("developerMetadata", ())) == 1,
            "width": found["data"][0].get("columnMetadata", [{}])[0].get("pixelSize") == 222,
            "cell": {"userEnteredValue", "note", "dataValidation"} <= set(_first(found)),
        }
        points.compare("create honours", believed=dict.fromkeys(kept, True), seen=kept)
    finally:
        live.client.call(
            "delete", f"https://www.googleapis.com/drive/v3/files/{book}", {"supportsAllDrives": "true"}
        )


def _first(sheet: dict[str, Any]) -> dict[str, Any]:
    rows = sheet["data"][0].get("rowData", [])
    return dict(rows[0].get("values", [{}])[0]) if rows else {}


def test_whether_a_mask_on_a_batch_keeps_replies_without_content(live: Live, points: Points) -> None:
    book = live.new_book("replies")
    requests = [write({"note": "n"}, "note"), {"addSheet": {"properties": {"sheetId": 5}}}, write({}, "note")]
    fields = "replies,updatedSpreadsheet(spreadsheetId)"
    answer = live.change(book, *requests, fields=fields)
    points.compare("replies to three requests under a mask", believed=3, seen=len(answer.get("replies", ())))


def test_whether_a_way_in_a_format_leads_somewhere_and_leaves_the_text(live: Live, points: Points) -> None:
    """Codes lead to their reference sheet in this way, so that no text ever becomes a formula."""
    book = live.new_book("ways")
    live.change(book, write({"userEnteredValue": {"stringValue": "=1+1"}}))
    link = {"userEnteredFormat": {"textFormat": {"link": {"uri": "#gid=0&range=B2"}}}}
    live.change(book, write(link, "userEnteredFormat.textFormat.link"))
    cell = live.cell(book, "A1", "userEnteredValue,hyperlink,userEnteredFormat(textFormat(link))")
    assert cell.get("userEnteredValue") == {"stringValue": "=1+1"}, "on this the product depends"
    held = cell.get("userEnteredFormat", {}).get("textFormat", {}).get("link")
    points.compare("a link in a format", believed={"uri": "#gid=0&range=B2"}, seen=held)
    points.compare("is the cell's hyperlink", believed="#gid=0&range=B2", seen=cell.get("hyperlink"))


def test_editors_of_a_protection_in_a_shared_drive(live: Live, points: Points) -> None:
    if not live.drive_id:
        pytest.skip("the folder lies in no shared drive")
    book = live.new_book("editors")
    me = live.client.call(
        "get", "https://www.googleapis.com/drive/v3/about", {"fields": "user(emailAddress)"}
    )
    address = str(me["user"]["emailAddress"])
    protection = {"range": {"sheetId": 0}, "description": "ours", "editors": {"users": [address]}}
    refusal = live.refusal(book, {"addProtectedRange": {"protectedRange": protection}})
    points.compare("explicit editors in a shared drive are refused", believed="", seen=refusal)
    ranges = live.look(book, "sheets(protectedRanges(editors(users)))")["sheets"][0].get(
        "protectedRanges", []
    )
    users = [each.get("editors", {}).get("users") for each in ranges]
    points.compare("the editors afterwards", believed=[[address]], seen=users)


# --- Drive ---


def test_whether_reading_moves_the_version(live: Live, points: Points) -> None:
    book = live.new_book("version")
    live.put(book, "A1", [["a"]])
    time.sleep(0 if live.is_emulated else 20)  # what Drive counts after a write has to come in first
    before = live.file(book, "version,modifiedTime")
    live.look(book, "sheets(data(rowData(values(userEnteredValue))))")
    time.sleep(0 if live.is_emulated else 20)
    after = live.file(book, "version,modifiedTime")
    points.compare("reading moves version", believed=False, seen=before["version"] != after["version"])
    assert before["modifiedTime"] == after["modifiedTime"], "on this the product depends"


def test_how_long_a_new_file_is_missing_from_the_listing(live: Live, points: Points) -> None:
    started = time.monotonic()
    book = live.new_book("listing")
    while book not in live.listed():
        assert time.monotonic() - started < 300, "a new file is not listed after five minutes"
        time.sleep(1)
    seconds = time.monotonic() - started
    points.tell("seconds until a new file is listed", round(seconds, 1))
    points.compare("a new file is listed within a minute", believed=True, seen=seconds < 60)


def test_the_words_of_a_sign_in_that_fails(live: Live, points: Points, tmp_path: Path) -> None:
    info = json.loads(live.credentials.read_text(encoding="utf-8"))
    if info.get("type") != "service_account":
        pytest.skip("only the key of a service account can be spoiled without signing anybody out")
    spoiled = tmp_path / "spoiled.json"
    spoiled.write_text(
        json.dumps({**info, "private_key_id": "0" * 40, "client_email": f"no-{info['client_email']}"})
    )
    asker = Asker(environ={CREDENTIALS: str(spoiled)})
    login = find_login(GoogleSettings(folder="x"), tmp_path, tmp_path, asker)
    assert login is not None
    tempo = Tempo(Hurried().now, Hurried().sleep) if live.is_emulated else Tempo()
    client = GoogleClient(open_session(login.credentials, emulator_host()), login.address, tempo)
    with client.session, pytest.raises(GoogleError) as refused:
        client.call("get", f"https://www.googleapis.com/drive/v3/files/{live.folder}")
    assert "private_key" not in str(refused.value)
    points.tell("a sign-in that nobody knows is explained as", refused.value.message)
    known = "the key" in refused.value.message or "account" in refused.value.message
    points.compare("its words are known", believed=True, seen=known)
