"""The client: paced, patient where that helps, and clear where it does not."""

from __future__ import annotations

import contextlib
import io
import logging
from collections import deque
from pathlib import Path

import pytest
import requests
from google.auth.exceptions import RefreshError

from sheetsync.backends import open_backend
from sheetsync.backends.base import Place
from sheetsync.backends.google import GoogleBackend
from sheetsync.backends.google_errors import GoogleError, UnansweredError, explain_sign_in
from sheetsync.backends.google_http import (
    CALLS_PER_WINDOW,
    TIMEOUT,
    GoogleClient,
    Tempo,
    cost_of,
)
from sheetsync.backends.google_session import emulator_host
from sheetsync.errors import BackendError
from tests.backends.contract import RATER, scoring_spec
from tests.backends.google_worlds import BOT, START, client, settings
from tests.sheets_emulator import Emulator, Person, Server, SystemClock, VirtualClock, faults

ROOT = "https://sheets.googleapis.com/v4/spreadsheets/"
FILES = "https://www.googleapis.com/drive/v3/files"


@pytest.fixture
def emulator() -> Emulator:
    return Emulator(VirtualClock(START), seed=1)


@pytest.fixture
def person(emulator: Emulator) -> Person:
    return emulator.person(BOT)


@pytest.fixture
def book(person: Person) -> str:
    return person.new_spreadsheet("x")


@pytest.fixture
def google(emulator: Emulator) -> GoogleClient:
    return client(emulator)


# --- pace ---


@pytest.mark.parametrize(
    ("method", "url", "cost"),
    [
        ("get", ROOT + "1", "read"),
        ("get", ROOT + "1/values/A1", "read"),
        ("POST", ROOT + "1:getByDataFilter", "read"),
        ("post", ROOT + "1/values:batchGetByDataFilter", "read"),
        ("post", ROOT + "1/developerMetadata:search", "read"),
        ("post", ROOT + "1:batchUpdate", "write"),
        ("put", ROOT + "1/values/A1", "write"),
        ("post", ROOT.rstrip("/"), "write"),
        ("get", FILES, ""),
        ("post", FILES, ""),
    ],
)
def test_what_a_call_costs(method: str, url: str, cost: str) -> None:
    assert cost_of(method, url) == cost


def test_reads_and_writes_are_held_back_apart(emulator: Emulator, google: GoogleClient, book: str) -> None:
    emulator.quotas.per_user = 60
    for _ in range(2 * CALLS_PER_WINDOW):
        google.call("get", ROOT + book)
    assert 61 <= emulator.clock.now() - START < 62
    start = emulator.clock.now()
    for _ in range(CALLS_PER_WINDOW):
        google.call("post", f"{ROOT}{book}/values/A1:clear", None, {})
        google.call("get", FILES)
    assert emulator.clock.now() == start
    assert {call.status for call in emulator.calls} == {200}


def test_the_window_slides(emulator: Emulator, google: GoogleClient, book: str) -> None:
    emulator.quotas.per_user = 60
    times: deque[float] = deque()
    for _ in range(400):
        google.call("get", ROOT + book)
        times.append(emulator.clock.now())
        emulator.clock.advance(0.7)
    assert all(later - sooner > 60 for sooner, later in zip(times, list(times)[60:], strict=False))
    assert emulator.count("read") == 400


def test_another_program_with_the_same_account_is_waited_for(
    emulator: Emulator, google: GoogleClient, book: str, person: Person
) -> None:
    emulator.quotas.per_user = 60
    for _ in range(60):
        person.read(book, "A1")
    google.call("get", ROOT + book)
    assert 60 <= emulator.clock.now() - START < 130


# --- patience ---


@pytest.mark.parametrize(
    "fault",
    [
        faults.rate_limit(),
        faults.refused("userRateLimitExceeded"),
        faults.refused("rateLimitExceeded"),
        faults.server_error(500),
        faults.server_error(502),
        faults.server_error(503, html=True),
        faults.timeout(),
        faults.dropped(),
        faults.slow(200),
    ],
    ids=lambda fault: fault.name,
)
@pytest.mark.parametrize("url", [ROOT + "BOOK", FILES + "/BOOK"])
def test_what_can_succeed_is_tried_again(
    emulator: Emulator, google: GoogleClient, book: str, fault: faults.Fault, url: str
) -> None:
    emulator.faults.add(fault, times=2)
    assert google.call("get", url.replace("BOOK", book))
    assert len(emulator.faults.met) == 2


@pytest.mark.parametrize("reason", ["PERMISSION_DENIED", "storageQuotaExceeded", "accessNotConfigured",
                                    "sharingRateLimitExceeded", "dailyLimitExceeded",
                                    "insufficientFilePermissions"])  # fmt: skip
def test_what_cannot_succeed_is_said_at_once(
    emulator: Emulator, google: GoogleClient, book: str, reason: str
) -> None:
    emulator.faults.add(faults.refused(reason), times=9)
    with pytest.raises(GoogleError):
        google.call("get", f"{FILES}/{book}")
    assert len(emulator.faults.met) == 1
    assert emulator.clock.now() == START


def test_retry_after_is_honoured(emulator: Emulator, google: GoogleClient, book: str) -> None:
    emulator.faults.add(faults.rate_limit(retry_after=33))
    google.call("get", ROOT + book)
    assert 33 <= emulator.clock.now() - START < 35


def test_pauses_grow_and_end(emulator: Emulator, book: str) -> None:
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        emulator.clock.advance(seconds)

    google = GoogleClient(emulator.session(BOT), BOT, Tempo(emulator.clock.now, sleep, lambda: 0.25))
    emulator.faults.add(faults.server_error(503), times=99)
    with pytest.raises(UnansweredError, match=r"Google has trouble \(error 503\).*several attempts"):
        google.call("get", ROOT + book)
    assert pauses == [1.25, 2.25, 4.25, 8.25, 16.25, 32.25, 64.25]


def test_a_deadline_for_all_attempts_together(emulator: Emulator, google: GoogleClient, book: str) -> None:
    emulator.faults.add(faults.timeout(), times=99)
    with pytest.raises(UnansweredError, match="did not answer in time"):
        google.call("get", ROOT + book)
    assert emulator.clock.now() - START < 600 + TIMEOUT[1]
    emulator.faults.clear()
    emulator.faults.add(faults.rate_limit(retry_after=3600))
    start = emulator.clock.now()
    with pytest.raises(GoogleError, match="limit of calls per minute"):
        google.call("get", ROOT + book)
    assert emulator.clock.now() == start, "nobody waits an hour for an answer"


@pytest.mark.parametrize("fault", [faults.server_error(503, when="after"), faults.timeout("after"),
                                   faults.dropped("after")], ids=lambda fault: fault.name)  # fmt: skip
def test_what_may_have_been_done_is_not_repeated_blindly(
    emulator: Emulator, google: GoogleClient, fault: faults.Fault
) -> None:
    emulator.faults.add(fault)
    with pytest.raises(UnansweredError):
        google.call("post", FILES, None, {"name": "one"}, repeat=False)
    assert emulator.count(kind="files.create") == 1
    emulator.faults.add(faults.refused("userRateLimitExceeded"), times=2)
    google.call("post", FILES, None, {"name": "two"}, repeat=False)
    assert emulator.count(kind="files.create") == 4


def test_every_call_has_a_timeout(monkeypatch: pytest.MonkeyPatch, google: GoogleClient, book: str) -> None:
    seen: list[object] = []
    send = google.session.request

    def noting(*args: object, **more: object) -> requests.Response:
        seen.append(more["timeout"])
        return send(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(google.session, "request", noting)
    google.call("get", ROOT + book)
    google.request("get", ROOT + book)
    google.batch_update(book, {"requests": []}) if False else google.fetch_sheet_metadata(book)
    assert seen == [TIMEOUT] * 3


# --- words ---


@pytest.mark.parametrize(
    ("reason", "message", "remedy"),
    [
        ("storageQuotaExceeded", "bot@example.org has no room", "Name a folder of a shared drive"),
        ("accessNotConfigured", "The Google Drive API is not enabled", "library/drive.googleapis.com"),
        ("insufficientFilePermissions", "does not let bot@example.org", "Share the file or folder with bot@"),
        ("sharingRateLimitExceeded", "limit for sharing files", "`notify = false`"),
        ("dailyLimitExceeded", "calls per day", "tomorrow"),
    ],
)
def test_each_refusal_names_the_way_out(
    emulator: Emulator, google: GoogleClient, book: str, reason: str, message: str, remedy: str
) -> None:
    emulator.faults.add(faults.refused(reason))
    with pytest.raises(GoogleError) as refused:
        google.call("get", f"{FILES}/{book}")
    assert message in refused.value.message
    assert remedy in refused.value.remedy


def test_the_sheets_api_that_is_off(emulator: Emulator, google: GoogleClient, book: str) -> None:
    emulator.disabled_apis.add("sheets")
    with pytest.raises(GoogleError, match="Google Sheets API is not enabled"):
        google.call("get", ROOT + book)


def test_files_that_are_not_there_or_not_shared(emulator: Emulator, google: GoogleClient) -> None:
    theirs = emulator.person("ann@example.org").new_spreadsheet("x")
    with pytest.raises(GoogleError, match=f"does not let {BOT} do this: The caller does not have permission"):
        google.call("get", ROOT + theirs)
    for url in (f"{FILES}/{theirs}", ROOT + "nothing"):
        with pytest.raises(GoogleError, match=f"no such file or folder, or {BOT} may not see it") as refused:
            google.call("get", url)
        assert refused.value.status == 404


def test_a_request_that_is_wrong(google: GoogleClient, book: str) -> None:
    with pytest.raises(GoogleError, match=r"refused a call \(error 400\): .*Unknown name"):
        google.call("post", f"{ROOT}{book}:batchUpdate", None, {"wrong": 1})


def test_a_token_that_is_not_accepted(emulator: Emulator) -> None:
    session = emulator.session()
    session.headers["Authorization"] = "Bearer ya29.secret-token"
    google = GoogleClient(session, "", Tempo(emulator.clock.now, emulator.clock.advance))
    with pytest.raises(GoogleError) as refused:
        google.call("get", ROOT + "x")
    assert "does not accept the sign-in of the account that is signed in" in str(refused.value)
    assert "secret" not in str(refused.value) + repr(google) + repr(refused.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "invalid_grant: Invalid JWT: Token must be in a reasonable timeframe. Check your iat",
            "clock is wrong",
        ),
        ("invalid_grant: Invalid JWT Signature.", "deleted or replaced"),
        ("invalid_grant: Invalid grant: account not found", "knows no account bot@example.org"),
        ("invalid_grant: Token has been expired or revoked.", "expired or was revoked"),
        ("invalid_client: The OAuth client was not found.", "OAuth client"),
        ("something else with secrets", "does not accept the sign-in of bot@example.org"),
    ],
)
def test_sign_ins_that_fail_are_told_apart(text: str, words: str) -> None:
    error = explain_sign_in(RefreshError(text), BOT)  # type: ignore[no-untyped-call]
    assert words in error.message
    assert error.remedy
    assert "secrets" not in str(error)


# --- the emulator in Google's place ---


@pytest.mark.parametrize(
    ("given", "host"),
    [
        ("", ""),
        ("127.0.0.1:8765", "127.0.0.1:8765"),
        ("http://127.0.0.1:8765/", "127.0.0.1:8765"),
        ("localhost:9", "localhost:9"),
        ("[::1]:8765", "[::1]:8765"),
        ("127.9.9.9", "127.9.9.9:80"),
    ],
)
def test_an_emulator_on_this_machine(given: str, host: str) -> None:
    assert emulator_host({"SHEETS_EMULATOR_HOST": given}) == host


@pytest.mark.parametrize("given", ["example.org:80", "10.0.0.1:80", "https://127.0.0.1:1", "me@127.0.0.1:1",
                                   "127.0.0.1.example.org:1", "127.0.0.1:port", "0.0.0.0:1"])  # fmt: skip
def test_an_emulator_elsewhere_is_refused(given: str) -> None:
    with pytest.raises(BackendError, match="must name a port of this machine"):
        emulator_host({"SHEETS_EMULATOR_HOST": given})


@pytest.mark.parametrize("how", ["no credentials", "a key"])
def test_all_calls_go_to_the_emulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    import json

    emulator = Emulator(SystemClock(), service_accounts_have_storage=True)
    server = Server(emulator).start()
    monkeypatch.setenv("SHEETS_EMULATOR_HOST", server.address)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("SHEETSYNC_CREDENTIALS", raising=False)
    if how == "a key":
        key = emulator.service_account_key("bot@project.iam.gserviceaccount.com")
        monkeypatch.setenv("SHEETSYNC_CREDENTIALS", json.dumps(key))
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            backend = open_backend(settings(), tmp_path, tmp_path / ".sheetsync")
            assert isinstance(backend, GoogleBackend)
            assert f"127.0.0.1:{server.server_address[1]} stands in for Google" in backend.announcement
            backend.create(RATER, scoring_spec())
            assert backend.share(RATER) == ""
            assert backend.versions([RATER])[RATER]
            assert backend.read(RATER).marker == "study/A1/main"
            backend._places.client.session.close()
    finally:
        server.stop()
    assert emulator.count("token") == (1 if how == "a key" else 0)
    assert output.getvalue() == ""


def test_google_itself_is_not_announced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHEETS_EMULATOR_HOST", raising=False)
    backend = open_backend(settings(), tmp_path, tmp_path / ".sheetsync")
    assert isinstance(backend, GoogleBackend)
    assert backend.announcement == ""
    assert backend.location(Place("summary")) == "(not made yet)"


def test_nothing_secret_is_logged(emulator: Emulator, book: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    session = emulator.session()
    token = emulator.oauth.issue(BOT, frozenset({"https://www.googleapis.com/auth/spreadsheets"}))
    session.headers["Authorization"] = f"Bearer {token}"
    google = GoogleClient(session, BOT, Tempo(emulator.clock.now, emulator.clock.advance))
    emulator.faults.add(faults.server_error(503))
    google.call("get", ROOT + book)
    assert token not in caplog.text
