"""Tokens: for keys, for users, and the ways they fail."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from google.auth.exceptions import RefreshError
from google.auth.transport.requests import AuthorizedSession, Request
from google.oauth2.credentials import Credentials as UserCredentials
from google.oauth2.service_account import Credentials

from tests.sheets_emulator import Emulator, VirtualClock, make_service_account_key

EMAIL = "bot@project.iam.gserviceaccount.com"
SHEETS = "https://www.googleapis.com/auth/spreadsheets"
DRIVE_FILE = "https://www.googleapis.com/auth/drive.file"
ABOUT = "https://www.googleapis.com/drive/v3/about?fields=user"


@pytest.fixture
def world() -> Emulator:
    return Emulator(VirtualClock(time.time()), service_accounts_have_storage=True)


@pytest.fixture(scope="module")
def fresh_key() -> dict[str, str]:
    return make_service_account_key(EMAIL)


@pytest.fixture
def key(world: Emulator, fresh_key: dict[str, str]) -> dict[str, str]:
    return world.oauth.trust(fresh_key)


def service(key: dict[str, str], *scopes: str, **more: Any) -> Any:
    wanted = list(scopes or [SHEETS, DRIVE_FILE])
    return Credentials.from_service_account_info(key, scopes=wanted, **more)  # type: ignore[no-untyped-call]


def refresh(world: Emulator, credentials: Any) -> None:
    credentials.refresh(Request(world.session()))


def authorized(world: Emulator, credentials: Any) -> AuthorizedSession:
    session = AuthorizedSession(credentials, auth_request=Request(world.session()))  # type: ignore[no-untyped-call]
    for prefix, adapter in world.session().adapters.items():
        session.mount(prefix, adapter)
    return session


def test_a_key_gets_a_token_that_works(world: Emulator, key: dict[str, str]) -> None:
    session = authorized(world, service(key))
    assert session.get(ABOUT).json()["user"]["emailAddress"] == EMAIL
    made = session.post("https://sheets.googleapis.com/v4/spreadsheets", json={"properties": {"title": "x"}})
    assert made.status_code == 200
    assert world.count("token") == 1


def test_a_key_nobody_knows(world: Emulator, fresh_key: dict[str, str]) -> None:
    with pytest.raises(RefreshError, match="Invalid grant: account not found"):
        refresh(world, service(fresh_key))


def test_a_key_that_was_replaced(world: Emulator, key: dict[str, str]) -> None:
    world.service_account_key(EMAIL)
    world.oauth.forget(key)
    with pytest.raises(RefreshError, match="Invalid JWT Signature"):
        refresh(world, service(key))


@pytest.mark.parametrize("skew", [-4000, -400, 400, 4000])
def test_a_clock_that_drifted(world: Emulator, key: dict[str, str], skew: float) -> None:
    world.oauth.skew = skew
    if skew == 400:  # behind by less than the hour that a token lives
        refresh(world, service(key))
        return
    with pytest.raises(RefreshError, match="Check your iat and exp values in the JWT claim"):
        refresh(world, service(key))


def test_the_answers_tell_googles_time(world: Emulator) -> None:
    world.oauth.skew = 4000
    answer = world.session("a@b.c").get(ABOUT)
    from email.utils import parsedate_to_datetime

    assert parsedate_to_datetime(answer.headers["Date"]).timestamp() == pytest.approx(
        time.time() + 4000, abs=30
    )


def test_tokens_last_an_hour(world: Emulator, key: dict[str, str]) -> None:
    credentials = service(key)
    refresh(world, credentials)
    headers = {"Authorization": f"Bearer {credentials.token}"}
    assert world.handle("GET", ABOUT, headers).status == 200
    world.clock.advance(3601)
    answer = world.handle("GET", ABOUT, headers)
    assert answer.status == 401
    assert answer.json()["error"]["status"] == "UNAUTHENTICATED"


@pytest.mark.parametrize(
    ("scopes", "url", "status"),
    [
        ([SHEETS], ABOUT, 403),
        ([SHEETS], "https://sheets.googleapis.com/v4/spreadsheets/ID", 200),
        ([DRIVE_FILE], "https://sheets.googleapis.com/v4/spreadsheets/ID", 404),
        ([DRIVE_FILE], "https://www.googleapis.com/drive/v3/files/ID", 404),
        (["https://www.googleapis.com/auth/drive"], "https://www.googleapis.com/drive/v3/files/ID", 200),
    ],
)
def test_scopes_bound_what_a_token_reaches(
    world: Emulator, key: dict[str, str], scopes: list[str], url: str, status: int
) -> None:
    ann = world.person("ann@example.org")
    book = ann.new_spreadsheet("adopted")
    ann.share(book, EMAIL)
    assert authorized(world, service(key, *scopes)).get(url.replace("ID", book)).status_code == status


def test_acting_for_a_user_needs_delegation(world: Emulator, key: dict[str, str]) -> None:
    credentials = service(key, subject="boss@example.org")
    with pytest.raises(RefreshError, match="unauthorized_client"):
        refresh(world, credentials)
    world.oauth.delegates.add(EMAIL)
    refresh(world, credentials)
    assert world.oauth.tokens[credentials.token].identity == "boss@example.org"


def user(world: Emulator, *, testing: bool = False) -> UserCredentials:
    info = world.oauth.make_user("ann@example.org", [SHEETS, DRIVE_FILE], testing=testing)
    return UserCredentials.from_authorized_user_info(info)  # type: ignore[no-untyped-call, no-any-return]


def test_a_signed_in_user(world: Emulator) -> None:
    assert authorized(world, user(world)).get(ABOUT).json()["user"]["emailAddress"] == "ann@example.org"


def test_testing_tokens_live_seven_days(world: Emulator) -> None:
    credentials = user(world, testing=True)
    world.clock.advance(6 * 86_400)
    refresh(world, credentials)
    world.clock.advance(2 * 86_400)
    with pytest.raises(RefreshError, match="Token has been expired or revoked"):
        refresh(world, credentials)


def test_a_revoked_token(world: Emulator) -> None:
    credentials = user(world)
    refresh(world, credentials)
    world.oauth.revoke("ann@example.org")
    with pytest.raises(RefreshError, match="Token has been expired or revoked"):
        refresh(world, credentials)
    assert world.handle("GET", ABOUT, {"Authorization": f"Bearer {credentials.token}"}).status == 401


@pytest.mark.parametrize(
    ("form", "error"),
    [
        ("grant_type=refresh_token&client_id=nobody&refresh_token=x", "invalid_client"),
        ("grant_type=password", "unsupported_grant_type"),
        ("grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=x", "invalid_grant"),
    ],
)
def test_token_requests_that_are_refused(world: Emulator, form: str, error: str) -> None:
    assert world.handle("POST", "https://oauth2.googleapis.com/token", {}, form).json()["error"] == error


def test_a_code_becomes_tokens_once(world: Emulator) -> None:
    client, secret = next(iter(world.oauth.clients.items()))
    code = world.oauth.make_code("ann@example.org", [SHEETS])
    form = f"grant_type=authorization_code&code={code}&client_id={client}&client_secret={secret}"
    first = world.handle("POST", "https://oauth2.googleapis.com/token", {}, form).json()
    assert first["refresh_token"]
    info = world.handle(
        "GET", f"https://oauth2.googleapis.com/tokeninfo?access_token={first['access_token']}"
    ).json()
    assert (info["email"], info["scope"]) == ("ann@example.org", SHEETS)
    assert world.handle("POST", "https://oauth2.googleapis.com/token", {}, form).status == 400


def test_nobody_is_refused(world: Emulator) -> None:
    for headers in ({}, {"Authorization": "Bearer ya29.made-up"}):
        answer = world.handle("GET", ABOUT, headers)
        assert answer.status == 401
    world.oauth.opaque_identities = False
    assert world.handle("GET", ABOUT, {"Authorization": "Bearer a@b.c"}).status == 401


def test_an_api_that_is_off(world: Emulator) -> None:
    world.disabled_apis.add("drive")
    answer = world.session("a@b.c").get(ABOUT)
    assert answer.json()["error"]["errors"][0]["reason"] == "accessNotConfigured"
    world.disabled_apis.add("sheets")
    answer = world.session("a@b.c").get("https://sheets.googleapis.com/v4/spreadsheets/x")
    assert answer.json()["error"]["details"][0]["reason"] == "SERVICE_DISABLED"


def test_the_key_looks_like_googles(fresh_key: dict[str, str]) -> None:
    assert json.loads(json.dumps(fresh_key))["token_uri"] == "https://oauth2.googleapis.com/token"
    assert fresh_key["private_key"].startswith("-----BEGIN PRIVATE KEY-----\n")
