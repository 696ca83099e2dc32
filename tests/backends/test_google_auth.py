"""Who signs in: keys in every state that people paste them in, users, and nothing secret in any message."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from google.auth.exceptions import DefaultCredentialsError
from google.auth.transport.requests import AuthorizedSession, Request
from google.oauth2.credentials import Credentials as UserCredentials

from sheetsync.backends.google_auth import Asker, Login, default_login, find_login, scopes_for
from sheetsync.backends.google_errors import GoogleError
from sheetsync.backends.google_files import ABOUT
from sheetsync.backends.google_http import GoogleClient, Tempo
from sheetsync.domain.study import GoogleSettings
from sheetsync.errors import BackendError
from tests.backends.google_worlds import SERVICE
from tests.sheets_emulator import Emulator, VirtualClock, make_service_account_key

DEFAULT = GoogleSettings()
DRIVE_FILE, DRIVE, SHEETS = (
    "https://www.googleapis.com/auth/" + name for name in ("drive.file", "drive", "spreadsheets")
)


@pytest.fixture(scope="module")
def key() -> dict[str, str]:
    return make_service_account_key(SERVICE)


@pytest.fixture
def emulator(key: dict[str, str]) -> Emulator:
    made = Emulator(VirtualClock(), service_accounts_have_storage=True)
    made.oauth.trust(key)
    made.oauth.opaque_identities = False
    return made


def asker(environ: Mapping[str, str] | None = None, **more: Any) -> Asker:
    return Asker(environ or {}, **{"has_terminal": lambda: False, **more})


def google(emulator: Emulator, login: Login) -> GoogleClient:
    session = AuthorizedSession(login.credentials, auth_request=Request(emulator.session()))  # type: ignore[no-untyped-call]
    for prefix, adapter in emulator.session().adapters.items():
        session.mount(prefix, adapter)
    return GoogleClient(session, login.address, Tempo(emulator.clock.now, emulator.clock.advance))


def who(emulator: Emulator, login: Login | None) -> str:
    assert login is not None
    answer = google(emulator, login).call("get", ABOUT, {"fields": "user(emailAddress)"})
    return str(answer["user"]["emailAddress"])


def find(folder: Path, given: str = "", settings: GoogleSettings = DEFAULT, **more: Any) -> Login | None:
    environ = {"SHEETSYNC_CREDENTIALS": given} if given else {}
    return find_login(settings, folder, folder / ".sheetsync", asker(environ, **more))


# --- service accounts ---


def test_a_key_where_the_study_says(tmp_path: Path, emulator: Emulator, key: dict[str, str]) -> None:
    (tmp_path / "credentials.json").write_text(json.dumps(key))
    login = find(tmp_path)
    assert who(emulator, login) == SERVICE
    assert login is not None
    assert login.address == SERVICE
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys/mine.json").write_text("\ufeff" + json.dumps(key))
    assert who(emulator, find(tmp_path, settings=GoogleSettings(credentials="keys/mine.json"))) == SERVICE
    assert who(emulator, find(tmp_path, "keys/mine.json")) == SERVICE
    assert who(emulator, find(tmp_path, str(tmp_path / "credentials.json"))) == SERVICE


PASTED = {
    "as it is": json.dumps,
    "indented": lambda key: json.dumps(key, indent=2),
    "line breaks doubled": lambda key: json.dumps(
        {**key, "private_key": key["private_key"].replace("\n", "\\n")}
    ),
    "line breaks in the text": lambda key: json.dumps(key).replace("\\n", "\n"),
    "line breaks spelled out": lambda key: json.dumps(key, indent=2).replace("\n", "\\n"),
    "line breaks lost": lambda key: json.dumps({**key, "private_key": key["private_key"].replace("\n", " ")}),
    "windows": lambda key: json.dumps({**key, "private_key": key["private_key"].replace("\n", "\r\n")}),
    "all quoted": lambda key: json.dumps(key).replace('"', '\\"').replace("\\n", "\\\\n"),
    "blanks around": lambda key: f"\n  {json.dumps(key)}  \n",
}


@pytest.mark.parametrize("how", PASTED)
def test_a_key_pasted_into_the_environment(
    tmp_path: Path, emulator: Emulator, key: dict[str, str], how: str
) -> None:
    assert who(emulator, find(tmp_path, PASTED[how](key))) == SERVICE  # type: ignore[operator]


NO_KEY = "-----BEGIN PRIVATE KEY-----\nTUlJRXY=\n-----END PRIVATE KEY-----"
BAD: Mapping[str, tuple[Any, str]] = {
    "cut off": (lambda key: json.dumps(key)[:-40], "is no JSON"),
    "the key alone": (lambda key: key["private_key"], "a private key alone"),
    "half a key": (lambda key: json.dumps({**key, "private_key": key["private_key"][:900]}), "damaged or not complete"),
    "another key": (lambda key: json.dumps({**key, "private_key": NO_KEY}), "damaged"),
    "no address": (lambda key: json.dumps({n: v for n, v in key.items() if n != "client_email"}), "damaged"),
    "something else": (lambda key: json.dumps({"private_key": key["private_key"]}), "neither a service-account key"),
    "a list": (lambda key: json.dumps([key["private_key"]]).replace("[", "{", 1), "is no JSON"),
}  # fmt: skip


@pytest.mark.parametrize("how", BAD)
def test_keys_that_are_not_usable(tmp_path: Path, key: dict[str, str], how: str) -> None:
    make, words = BAD[how]
    with pytest.raises(BackendError, match=words) as refused:
        find(tmp_path, make(key))
    assert refused.value.remedy
    shown = str(refused.value) + repr(refused.value)
    shown += "".join(traceback.format_exception(refused.value))
    secret = key["private_key"].splitlines()[1:-1]
    assert not [line for line in secret if line[:20] in shown]
    (tmp_path / "credentials.json").write_text(make(key))
    with pytest.raises(BackendError, match=words):
        find(tmp_path)


def test_nothing_secret_in_a_login(tmp_path: Path, emulator: Emulator, key: dict[str, str]) -> None:
    login = find(tmp_path, json.dumps(key))
    assert login is not None
    client = google(emulator, login)
    assert repr(login) == f"Login(address={SERVICE!r})"
    assert key["private_key"].splitlines()[1] not in repr(client) + repr(vars(client))


def test_a_key_that_google_no_longer_knows(tmp_path: Path, emulator: Emulator, key: dict[str, str]) -> None:
    emulator.service_account_key(SERVICE)
    emulator.oauth.forget(key)
    with pytest.raises(GoogleError, match=f"the key of {SERVICE} any more") as refused:
        who(emulator, find(tmp_path, json.dumps(key)))
    assert key["private_key_id"] not in str(refused.value)


@pytest.mark.parametrize("skew", [-4000, 4000])
def test_a_clock_that_is_wrong(tmp_path: Path, emulator: Emulator, key: dict[str, str], skew: float) -> None:
    emulator.oauth.skew = skew
    with pytest.raises(GoogleError, match="this computer's clock is wrong"):
        who(emulator, find(tmp_path, json.dumps(key)))


def test_tokens_are_renewed(tmp_path: Path, emulator: Emulator, key: dict[str, str]) -> None:
    login = find(tmp_path, json.dumps(key))
    assert login is not None
    client = google(emulator, login)
    for _ in range(3):
        client.call("get", ABOUT, {"fields": "user"})
        emulator.oauth.tokens.clear()
    assert emulator.count("token") == 3


# --- scopes ---


def test_the_least_scopes_that_do() -> None:
    assert scopes_for(GoogleSettings()) == [DRIVE_FILE, SHEETS]
    assert scopes_for(GoogleSettings(folder="x")) == [DRIVE, SHEETS]
    assert scopes_for(GoogleSettings(adopt={"summary": "x"})) == [DRIVE, SHEETS]


# --- people who sign in ---


def client_file(emulator: Emulator) -> dict[str, Any]:
    name, secret = next(iter(emulator.oauth.clients.items()))
    return {"installed": {"client_id": name, "client_secret": secret, "redirect_uris": ["http://localhost"]}}


class Browser:
    """Somebody who signs in."""

    def __init__(self, emulator: Emulator) -> None:
        self.emulator, self.asked = emulator, list[list[str]]()

    def __call__(self, client: Mapping[str, Any], scopes: list[str]) -> Any:  # noqa: ARG002
        self.asked.append(scopes)
        info = self.emulator.oauth.make_user("ann@example.org", scopes)
        return UserCredentials.from_authorized_user_info(info, scopes)  # type: ignore[no-untyped-call]


def test_a_user_signs_in_once(tmp_path: Path, emulator: Emulator) -> None:
    (tmp_path / "credentials.json").write_text(json.dumps(client_file(emulator)))
    browser = Browser(emulator)
    first = find(tmp_path, has_terminal=lambda: True, sign_in=browser)
    assert who(emulator, first) == "ann@example.org"
    token = tmp_path / ".sheetsync/token.json"
    assert token.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in token.parent.iterdir()] == ["token.json"]
    assert who(emulator, find(tmp_path)) == "ann@example.org"
    assert browser.asked == [[DRIVE_FILE, SHEETS]]


def test_more_scopes_need_another_sign_in(tmp_path: Path, emulator: Emulator) -> None:
    (tmp_path / "credentials.json").write_text(json.dumps(client_file(emulator)))
    browser, wider = Browser(emulator), GoogleSettings(folder="x")
    find(tmp_path, has_terminal=lambda: True, sign_in=browser)
    with pytest.raises(BackendError, match="no terminal"):
        find(tmp_path, settings=wider)
    find(tmp_path, settings=wider, has_terminal=lambda: True, sign_in=browser)
    assert browser.asked == [[DRIVE_FILE, SHEETS], [DRIVE, SHEETS]]


@pytest.mark.parametrize("stored", ["", "{", "[]", '{"scopes": null}'])
def test_nobody_is_there_to_sign_in(tmp_path: Path, emulator: Emulator, stored: str) -> None:
    (tmp_path / ".sheetsync").mkdir()
    (tmp_path / ".sheetsync/token.json").write_text(stored)
    with pytest.raises(BackendError, match="no terminal is here") as refused:
        find(tmp_path, json.dumps(client_file(emulator)))
    assert "Run `sheetsync provision` once in a terminal" in refused.value.remedy


def test_a_sign_in_that_ended(tmp_path: Path, emulator: Emulator) -> None:
    (tmp_path / "credentials.json").write_text(json.dumps(client_file(emulator)))
    login = find(tmp_path, has_terminal=lambda: True, sign_in=Browser(emulator))
    emulator.oauth.revoke("ann@example.org")
    with pytest.raises(GoogleError, match=r"expired or was revoked.*seven days"):
        who(emulator, login)


def test_a_browser_flow_that_fails(tmp_path: Path, emulator: Emulator) -> None:
    def refuse(*_: object) -> Any:
        raise ValueError("secret code 4/0abc")

    text = json.dumps(client_file(emulator))
    with pytest.raises(BackendError, match="did not come to an end") as refused:
        find(tmp_path, text, has_terminal=lambda: True, sign_in=refuse)
    assert "4/0abc" not in "".join(traceback.format_exception(refused.value))


def test_without_the_package_for_users(
    tmp_path: Path, emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "google_auth_oauthlib.flow", None)
    with pytest.raises(BackendError, match="needs the package google-auth-oauthlib"):
        find(tmp_path, json.dumps(client_file(emulator)), has_terminal=lambda: True)


def test_stored_credentials_of_a_user(tmp_path: Path, emulator: Emulator) -> None:
    info = emulator.oauth.make_user("ann@example.org", [DRIVE_FILE, SHEETS])
    assert who(emulator, find(tmp_path, json.dumps(info))) == "ann@example.org"
    del info["refresh_token"]
    with pytest.raises(BackendError, match="authorized user credentials are damaged"):
        find(tmp_path, json.dumps(info))


# --- nothing named ---


def test_nothing_is_there(tmp_path: Path) -> None:
    assert find(tmp_path) is None
    with pytest.raises(BackendError, match=r"The credentials keys/x\.json cannot be read: No such file"):
        find(tmp_path, settings=GoogleSettings(credentials="keys/x.json"))
    with pytest.raises(BackendError, match=r"SHEETSYNC_CREDENTIALS \(x\.json\) cannot be read"):
        find(tmp_path, "x.json")


def test_application_default_credentials_come_last(emulator: Emulator) -> None:
    info = emulator.oauth.make_user("ann@example.org", [DRIVE_FILE, SHEETS])
    made = UserCredentials.from_authorized_user_info(info)  # type: ignore[no-untyped-call]
    assert who(emulator, default_login(DEFAULT, asker(default=lambda _: made))) == "ann@example.org"

    def none(_: list[str]) -> Any:
        raise DefaultCredentialsError("long text")  # type: ignore[no-untyped-call]

    with pytest.raises(BackendError, match=r"There are no credentials: credentials\.json is missing"):
        default_login(DEFAULT, asker(default=none))
