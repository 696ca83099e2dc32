"""Faults: before and after the write, by count and by chance; quotas; the log."""

from __future__ import annotations

from typing import Any

import pytest
import requests

from tests.sheets_emulator import Emulator, Person, Refused, VirtualClock, faults

ROOT = "https://sheets.googleapis.com/v4/spreadsheets/"
PUT = "/values/A1?valueInputOption=RAW"
ONE = {"values": [[1]]}


@pytest.fixture
def session(emulator: Emulator) -> requests.Session:
    return emulator.session("bot@example.org")


def test_the_nth_matching_call_fails(emulator: Emulator, bot: Person, book: str) -> None:
    emulator.faults.add(faults.rate_limit(), kind="values.update", nth=2)
    bot.type(book, "A1", 1)
    with pytest.raises(Refused) as refused:
        bot.type(book, "A1", 2)
    error = refused.value.body["error"]
    assert (error["code"], error["status"]) == (429, "RESOURCE_EXHAUSTED")
    assert (
        "Quota exceeded for quota metric 'Write requests' and limit 'Write requests per minute per user'"
        in error["message"]
    )
    metadata = error["details"][0]["metadata"]
    assert metadata["quota_metric"] == "sheets.googleapis.com/write_requests"
    assert metadata["quota_limit"] == "WriteRequestsPerMinutePerUser"
    bot.type(book, "A1", 3)
    assert emulator.faults.met == [("rate limit", "sheets.spreadsheets.values.update")]


@pytest.mark.parametrize(
    ("fault", "status", "html", "applied"),
    [
        (faults.server_error(500), 500, False, False),
        (faults.server_error(502), 502, True, False),
        (faults.server_error(503), 503, False, False),
        (faults.server_error(503, when="after"), 503, False, True),
        (faults.server_error(503, html=True), 503, True, False),
        (faults.refused("PERMISSION_DENIED"), 403, False, False),
        (faults.refused("accessNotConfigured"), 403, False, False),
        (faults.rate_limit(retry_after=7), 429, False, False),
    ],
)
def test_answers_that_are_faults(
    *,
    emulator: Emulator,
    session: requests.Session,
    bot: Person,
    book: str,
    fault: faults.Fault,
    status: int,
    html: bool,
    applied: bool,
) -> None:
    emulator.faults.add(fault, method="PUT")
    answer = session.put(ROOT + book + PUT, json=ONE)
    assert answer.status_code == status
    assert answer.headers["Content-Type"].startswith("text/html" if html else "application/json")
    assert answer.headers.get("Retry-After") == ("7" if status == 429 else None)
    assert bot.read(book, "A1") == ([[1]] if applied else [])


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    ("make", "raised"),
    [
        (faults.timeout, requests.exceptions.ReadTimeout),
        (faults.dropped, requests.exceptions.ConnectionError),
    ],
)
def test_answers_that_never_come(
    *,
    emulator: Emulator,
    session: requests.Session,
    bot: Person,
    book: str,
    make: Any,
    raised: Any,
    when: Any,
) -> None:
    emulator.faults.add(make(when), method="PUT")
    before = emulator.clock.now()
    with pytest.raises(raised):
        session.put(ROOT + book + PUT, json=ONE, timeout=(5, 30))
    assert emulator.clock.now() - before == (30 if make is faults.timeout else 0)
    assert bot.read(book, "A1") == ([[1]] if when == "after" else [])
    assert emulator.calls[-2].status == 0


def test_a_slow_answer_and_an_impatient_client(
    emulator: Emulator, session: requests.Session, bot: Person, book: str
) -> None:
    emulator.faults.add(faults.slow(40), method="PUT", times=2)
    before = emulator.clock.now()
    assert session.put(ROOT + book + PUT, json=ONE, timeout=60).status_code == 200
    assert emulator.clock.now() - before == 40
    with pytest.raises(requests.exceptions.ReadTimeout):
        session.put(ROOT + book + PUT, json={"values": [[2]]}, timeout=30)
    assert bot.read(book, "A1") == [[2]]


def test_success_that_reports_fewer_cells(emulator: Emulator, bot: Person, book: str) -> None:
    emulator.faults.add(faults.fewer_cells(1), kind="values.update")
    assert bot.paste(book, "A1", [[1], [2], [3]])["updatedCells"] == 2
    assert bot.read(book, "A1:A3") == [[1], [2]]


def test_a_batch_that_loses_rows(emulator: Emulator, bot: Person, book: str) -> None:
    emulator.faults.add(faults.fewer_cells(1), kind="spreadsheets.batchUpdate")
    rows = [{"values": [{"userEnteredValue": {"numberValue": n}}]} for n in (1, 2)]
    start = {"sheetId": 0, "rowIndex": 0, "columnIndex": 0}
    bot.change(book, {"updateCells": {"start": start, "rows": rows, "fields": "userEnteredValue"}})
    assert bot.read(book, "A1:A2") == [[1]]


def test_stale_metadata_for_one_call(emulator: Emulator, bot: Person, book: str) -> None:
    emulator.clock.advance(300)
    emulator.faults.add(faults.stale(1000), kind="files.list")
    url = "https://www.googleapis.com/drive/v3/files"
    assert bot.call("GET", url)["files"] == []
    assert [file["id"] for file in bot.call("GET", url)["files"]] == [book]


def test_faults_by_chance_repeat_with_the_seed() -> None:
    def night(seed: int) -> list[int]:
        emulator = Emulator(VirtualClock(0), seed=1)
        book = emulator.person("a@b.c").new_spreadsheet("x")
        emulator.faults.at_random(seed, share=0.5)
        for _ in range(40):
            emulator.handle("GET", ROOT + book, {"Authorization": "Bearer a@b.c"})
        return [call.status for call in emulator.calls]

    assert night(1) == night(1)
    assert night(1) != night(2)
    assert 5 < sum(status != 200 for status in night(1)) < 35


def test_real_quotas_are_sixty_a_minute_and_user_reads_and_writes_apart() -> None:
    emulator = Emulator(VirtualClock(0), quota="real")
    ann, ben = emulator.person("ann@example.org"), emulator.person("ben@example.org")
    book = ann.new_spreadsheet("x")
    ann.share(book, ben.identity)
    for number in range(60):
        ann.type(book, "A1", number)
    with pytest.raises(Refused, match="Write requests per minute per user"):
        ann.type(book, "A1", 0)
    ann.read(book, "A1")
    ben.type(book, "A1", "ben has a quota of his own")
    emulator.clock.advance(60)
    ann.type(book, "A1", 0)


def test_real_quotas_are_three_hundred_a_minute_and_project() -> None:
    emulator = Emulator(VirtualClock(0), quota="real")
    book = emulator.person("p0@example.org").new_spreadsheet("x")
    emulator.person("p0@example.org").share_link(book)
    for number in range(300):
        emulator.person(f"p{number // 60}@example.org").read(book, "A1")
    with pytest.raises(Refused, match="limit 'Read requests per minute' of service"):
        emulator.person("p9@example.org").read(book, "A1")


def test_the_log_counts(emulator: Emulator, bot: Person, book: str) -> None:
    start = len(emulator.calls)
    bot.type(book, "A1", 1)
    bot.read(book, "A1")
    bot.call("GET", "https://www.googleapis.com/drive/v3/files")
    assert [call.cost for call in emulator.calls[start:]] == ["write", "read", "drive"]
    assert emulator.count("read", since=start) == 1
    assert emulator.count(kind="files.list", identity=bot.identity) == 1
    assert emulator.calls[-1].kind == "drive.files.list"


def test_no_test_reaches_the_network(session: requests.Session) -> None:
    with pytest.raises(requests.exceptions.ConnectionError, match="the test tried to reach"):
        session.get("https://example.org/")
