"""The steps of `doctor` up to an access token: network, clock, credentials, sign-in. Nothing secret is ever shown."""

from __future__ import annotations

import email.utils
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import requests
from google.auth.exceptions import GoogleAuthError, RefreshError, TransportError
from google.auth.transport.requests import Request

from sheetsync.backends.diagnosis import Finding
from sheetsync.backends.google_auth import (
    CREDENTIALS,
    TOKEN_FILE,
    Asker,
    Given,
    Login,
    default_login,
    find_login,
    given_credentials,
    scopes_for,
)
from sheetsync.backends.google_errors import GoogleError, explain_sign_in, unreachable
from sheetsync.backends.google_files import ABOUT
from sheetsync.backends.google_http import GoogleClient, Tempo
from sheetsync.backends.google_session import (
    EMULATED,
    EMULATOR_HOST,
    bare_session,
    emulator_host,
    open_session,
)
from sheetsync.domain.study import StudyFile
from sheetsync.errors import BackendError

NOTABLE_DRIFT, MOST_DRIFT = 60.0, 300.0
"""Seconds that a clock may be off before it is worth a word, and before sign-ins fail."""

PATIENCE = (10.0, 30.0)
"""Seconds to connect and to answer: people wait for a diagnosis, and a throw-away file may come late."""

_TESTING_DAYS = 7
"""How long a sign-in lasts while the app's consent screen is in testing mode."""

_PUBLISH = (
    "Publish the app on the consent screen in the Google Cloud console (APIs & Services, OAuth consent screen), "
    "then sign in again; or let a service account run the study."
)
_AGAIN = "Delete .sheetsync/token.json, run `sheetsync provision` in a terminal and sign in again"


@dataclass(frozen=True)
class Means:
    """What a diagnosis reaches Google with, given so that tests need no network.

    Attributes:
        host: returns where the stand-in for Google is, empty for Google itself.
        bare: makes a session for that host that signs nothing.
        signed: makes one that signs with these credentials.
        asker: the environment; a diagnosis never waits for a browser.
        tempo: time and chance of the client.
        now: this computer's clock, in seconds since 1970.
    """

    host: Callable[[], str] = emulator_host
    bare: Callable[[str], requests.Session] = bare_session
    signed: Callable[[Any, str], requests.Session] = open_session
    asker: Asker = field(default_factory=lambda: Asker(has_terminal=lambda: False))
    tempo: Tempo = field(default_factory=lambda: Tempo(deadline=90.0))
    now: Callable[[], float] = time.time


class SignIn:
    """The steps that end with somebody being signed in.

    Attributes:
        host: where the stand-in for Google is, once the network was looked at.
        drift: seconds that this computer's clock is ahead of Google's; None where that is not known.
        login: who signs in; None before, and where the stand-in needs nobody.
    """

    def __init__(self, settings: StudyFile, root: Path, private: Path, means: Means) -> None:
        self.settings, self.root, self.private, self.means = settings, root, private, means
        self.host = ""
        self.drift: float | None = None
        self.login: Login | None = None
        self._given: Given | None = None
        self._refused: GoogleError | None = None

    def client(self) -> GoogleClient:
        """Return the client for everything that follows."""
        login = self.login or Login(None, EMULATED)
        client = GoogleClient(
            self.means.signed(login.credentials, self.host), login.address, self.means.tempo
        )
        client.timeout = PATIENCE
        return client

    def google_now(self) -> float:
        """Return the time by Google's clock, or by this computer's where Google's is not known."""
        return self.means.now() - (self.drift or 0.0)

    # --- network and clock

    def network(self) -> Iterator[Finding]:
        """Ask Google something that needs no sign-in, and note its time."""
        self.host = self.means.host()
        before = self.means.now()
        try:
            answer = self.means.bare(self.host).get(ABOUT, params={"fields": "user"}, timeout=PATIENCE)
        except requests.exceptions.SSLError:
            raise GoogleError("The connection to Google is not secure.", "Check proxy and clock.") from None
        except requests.RequestException as error:
            raise unreachable(error) from None
        here = (before + self.means.now()) / 2
        there = _moment(answer.headers.get("Date", ""))
        self.drift = None if there is None else here - there
        if self.host:
            found = f"{EMULATOR_HOST} is set: {self.host} stands in for Google, and answers."
            yield Finding("warning", found, f"Unset {EMULATOR_HOST} to use Google itself.")
        else:
            yield Finding("ok", "Google answers.")

    def clock(self) -> Iterator[Finding]:
        """Compare the clocks; the answer's time is in whole seconds."""
        if self.drift is None:
            found = "Google's answer bears no time, so the clocks cannot be compared."
            yield Finding("warning", found, "Look whether a proxy answers in Google's place.")
            return
        off = abs(self.drift)
        if off <= NOTABLE_DRIFT:
            yield Finding("ok", "This computer's clock agrees with Google's.")
            return
        found = (
            f"This computer's clock is {_span(off)} {'ahead of' if self.drift > 0 else 'behind'} Google's."
        )
        fix = "Set this computer's clock, or switch on its synchronisation."
        yield Finding("failed" if off > MOST_DRIFT else "warning", found, fix)

    # --- credentials

    def credentials(self) -> Iterator[Finding]:
        """Find the credentials and say what they are."""
        google, asker = self.settings.backend.google, self.means.asker
        self._given = given_credentials(google, self.root, asker)
        client = self._client()
        obstacle = self._not_signed_in() if client else ""
        if obstacle:
            raise BackendError(obstacle, self._how_to_sign_in())
        self.login = find_login(google, self.root, self.private, asker)
        if self.login is None and not self.host:
            self.login = default_login(google, asker)
        yield Finding("ok", self._described())
        token = self.private / TOKEN_FILE if client else None
        for path in (self._given.path if self._given else None, token):
            if path and os.name == "posix" and path.stat().st_mode & 0o077:
                found = f"Others on this computer may read {path.name}, which is a secret."
                yield Finding("warning", found, f"Run `chmod 600 {path}`.")

    def _described(self) -> str:
        given, google = self._given, self.settings.backend.google
        if given is None and self.login is None:
            return f"There is no {google.credentials}, and {self.host} needs none."
        if given is None:
            return f"The application default credentials of this computer; there is no {google.credentials}."
        what = {
            "service_account": f"The key of the service account {self.login.address if self.login else ''}",
            "authorized_user": "The stored sign-in of a user",
        }.get(str(given.info.get("type", "")), "Credentials")
        if self._client():
            what = f"An OAuth client, signed in with .sheetsync/{TOKEN_FILE}"
        words = f"{what}, from {given.name}."
        if given.is_repaired:
            words += " Its line breaks were lost in pasting and are put back."
        if given.name.startswith(CREDENTIALS) and (self.root / google.credentials).is_file():
            words += f" That goes before {google.credentials}."
        return words

    def _client(self) -> Mapping[str, Any]:
        """Return the OAuth client that was given, nothing where something else was."""
        info = self._given.info if self._given else {}
        client = info.get("installed") or info.get("web")
        return client if isinstance(client, Mapping) else {}

    def _not_signed_in(self) -> str:
        """Return why the stored sign-in of a user cannot be used."""
        name = self._given.name if self._given else ""
        try:
            stored = json.loads((self.private / TOKEN_FILE).read_text(encoding="utf-8"))
            scopes, client = set(stored.get("scopes") or ()), stored.get("client_id")
        except FileNotFoundError:
            return f"{name} is an OAuth client, not a key, and nobody has signed in with it here."
        except (OSError, ValueError, AttributeError, TypeError):
            return f"The stored sign-in .sheetsync/{TOKEN_FILE} is damaged."
        if client != self._client().get("client_id"):
            return f"The stored sign-in .sheetsync/{TOKEN_FILE} belongs to another OAuth client than {name}."
        if not set(scopes_for(self.settings.backend.google)) <= scopes:
            return f"The stored sign-in .sheetsync/{TOKEN_FILE} does not cover what this study needs."
        return ""

    def _how_to_sign_in(self) -> str:
        package = (
            "" if find_spec("google_auth_oauthlib") else "pip install 'sheetsync-study[google-user]', then "
        )
        how = _AGAIN.replace("run `", f"{package}run `")
        if not (self.private / TOKEN_FILE).exists():
            how = how.removeprefix("Delete .sheetsync/token.json, ").removesuffix(" again")
            how = how[0].upper() + how[1:]
        return f"{how}, ticking every box; or put the key of a service account in its place."

    # --- the token

    def token(self) -> Iterator[Finding]:
        """Get an access token."""
        if self.login is None:
            yield Finding("ok", f"{self.host} needs none.")
            return
        try:
            self.login.credentials.refresh(Request(self.means.bare(self.host)))
        except RefreshError as error:
            self._refused = refused = explain_sign_in(error, self.login.address)
            is_late = abs(self.drift or 0) > MOST_DRIFT and not refused.remedy.startswith("Set the clock")
            raise BackendError(
                refused.message, f"{'Set the clock first. ' if is_late else ''}{refused.remedy}"
            ) from None
        except TransportError:
            raise BackendError(
                "Google's sign-in could not be reached.", "Check the network and run again."
            ) from None
        except GoogleAuthError as error:
            raise BackendError(
                f"The sign-in does not work ({type(error).__name__}).", "Check the credentials."
            ) from None
        yield Finding("ok", "Google gives an access token for these credentials.")

    def age(self) -> Iterator[Finding]:
        """Say how old the sign-in of a user is: in testing mode it lasts seven days."""
        made = self._signed_in_at()
        if made is None:
            is_user = self._given is not None and self._given.info.get("type") == "authorized_user"
            unknown = "Nobody can tell when this sign-in was made; an app in testing mode gives seven days."
            yield Finding("ok", unknown if is_user else "These credentials do not expire after seven days.")
            return
        days = max(0.0, self.means.now() - made) / 86_400
        found = f"The sign-in was made {_span(days * 86_400)} ago"
        if self._refused:
            if days < _TESTING_DAYS:
                yield Finding("ok", f"{found}, so it is not the seven days of an app in testing mode.")
            else:
                yield Finding("failed", f"{found}; in testing mode it lasts seven days.", _PUBLISH)
        elif days < _TESTING_DAYS:
            end = datetime.fromtimestamp(made + _TESTING_DAYS * 86_400, UTC)
            words = f"{found}. If the app's consent screen is in testing mode, it ends on {end:%Y-%m-%d}."
            yield Finding("warning", words, _PUBLISH)
        else:
            yield Finding("ok", f"{found} and still works, so the app is not in testing mode.")

    def _signed_in_at(self) -> float | None:
        """Return when a user signed in; the token's file is written then and never again."""
        info = self._given.info if self._given else {}
        path = self.private / TOKEN_FILE if self._client() else None
        if info.get("type") == "authorized_user" and self._given:
            path = self._given.path
        return path.stat().st_mtime if path else None


def _moment(text: str) -> float | None:
    try:
        return email.utils.parsedate_to_datetime(text).timestamp()
    except ValueError:
        return None


def _span(seconds: float) -> str:
    """Return a span of time in words.

    >>> _span(4000), _span(90), _span(200_000)
    ('66 minutes', '90 seconds', '2 days')
    """
    for name, size in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if seconds >= 2 * size:
            return f"{int(seconds / size)} {name}s"
    return f"{int(seconds)} seconds"
