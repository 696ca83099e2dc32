"""One client for Google: paced within its limits, patient where that helps, with a timeout on every call.

gspread's own client has no timeout, no pace and either no patience or endless patience.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import requests
import tenacity
from google.auth.exceptions import GoogleAuthError, RefreshError, TransportError
from gspread.http_client import FileType, HTTPClient, ParamsType

from sheetsync.backends.google_errors import (
    AGAIN,
    GoogleError,
    UnansweredError,
    explain,
    explain_sign_in,
    refusal_in,
    unreachable,
)

Json = dict[str, Any]

TIMEOUT = (10.0, 190.0)
"""Seconds to connect and to answer: Google itself gives up after 180, so nothing is on its way after ours."""

CALLS_PER_WINDOW = 60
WINDOW = 61.0
"""Google counts 60 reads and 60 writes a minute and user; the second more is for calls that took their time."""

_LONGEST_PAUSE = 64.0
_MOST_ATTEMPTS = 8
"""More than two minutes where calls fail at once."""

# --- the pace ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tempo:
    """Time and chance, given so that tests need neither.

    Attributes:
        clock: seconds that only grow.
        sleep: waits for so many seconds.
        random: a number from 0 to 1, which keeps several clients from trying again together.
        deadline: how many seconds one call may take with all its attempts.
    """

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    random: Callable[[], float] = random.random
    deadline: float = 600.0

    def backoff(self, attempt: int) -> float:
        """Return how long to wait after the attempt of that number (the first is 1)."""
        return min(2.0 ** (attempt - 1), _LONGEST_PAUSE) + self.random()


@dataclass
class Pace:
    """Holds calls back so that no sliding window of time has too many of one cost."""

    tempo: Tempo
    times: dict[str, deque[float]] = field(default_factory=dict)

    def wait(self, cost: str) -> None:
        """Wait for the turn of a call that costs a `read` or a `write`; others ("") do not wait."""
        if not cost:
            return
        times = self.times.setdefault(cost, deque())
        while True:
            now = self.tempo.clock()
            while times and times[0] <= now - WINDOW:
                times.popleft()
            if len(times) < CALLS_PER_WINDOW:
                times.append(now)
                return
            self.tempo.sleep(max(0.01, times[0] + WINDOW - now))


def cost_of(method: str, url: str) -> str:
    """Return what a call counts as: `read`, `write`, or nothing for Drive.

    >>> cost_of("post", "https://sheets.googleapis.com/v4/spreadsheets/1:getByDataFilter")
    'read'
    """
    parts = urlsplit(url)
    if parts.hostname != "sheets.googleapis.com":
        return ""
    reads = method.lower() == "get" or parts.path.endswith(
        (":getByDataFilter", "ByDataFilter:get", ":search")
    )
    return "read" if reads or parts.path.endswith(":batchGetByDataFilter") else "write"


# --- the client ----------------------------------------------------------------------------------


class _TemporaryError(Exception):
    """An attempt failed and another one may succeed."""

    def __init__(self, error: GoogleError, wait: float | None = None) -> None:
        super().__init__(error.message)
        self.error, self.wait = error, wait


class GoogleClient(HTTPClient):
    """Every call to Google goes through here, one after the other.

    Args:
        session: what sends, with the sign-in built in.
        address: whose sign-in it is, for messages; empty where that is not known.
        tempo: time and chance.
    """

    def __init__(self, session: requests.Session, address: str = "", tempo: Tempo | None = None) -> None:
        super().__init__(None, session)  # type: ignore[arg-type] # as gspread says: auth=None with a session
        self.address = address
        self.tempo = tempo or Tempo()
        self.timeout = TIMEOUT
        self._pace = Pace(self.tempo)

    def __repr__(self) -> str:
        return f"GoogleClient({self.address!r})"

    def request(  # noqa: PLR0913, PLR0917 - gspread's signature
        self,
        method: str,
        endpoint: str,
        params: ParamsType | None = None,
        data: bytes | None = None,
        json: Mapping[str, Any] | None = None,
        files: FileType = None,
        headers: Any = None,
    ) -> requests.Response:
        """Make a call that may be repeated.

        Raises:
            GoogleError: Google refused it.
            UnansweredError: no usable answer came, however often it was asked.
        """
        given = {"params": params, "data": data, "json": json, "files": files, "headers": headers}
        return self._patiently(method, endpoint, given, repeat=True)

    def call(
        self,
        method: str,
        url: str,
        params: Mapping[str, str] | None = None,
        body: Json | None = None,
        *,
        repeat: bool = True,
    ) -> Json:
        """Make a call and return the answer's JSON; with `repeat` False only after it surely was not carried out.

        Raises:
            GoogleError: Google refused it.
            UnansweredError: no usable answer came; without `repeat` it may have been carried out.
        """
        response = self._patiently(method, url, {"params": params, "json": body}, repeat=repeat)
        try:
            return dict(response.json()) if response.content else {}
        except ValueError:
            raise UnansweredError("Google's answer was cut off.", AGAIN) from None

    def _patiently(
        self, method: str, url: str, given: Mapping[str, Any], *, repeat: bool
    ) -> requests.Response:
        started = self.tempo.clock()

        def is_over(state: tenacity.RetryCallState) -> bool:
            passed = self.tempo.clock() - started
            return state.attempt_number >= _MOST_ATTEMPTS or passed + self._pause(state) > self.tempo.deadline

        def can_be_tried_again(error: BaseException) -> bool:
            may_be_done = isinstance(error, _TemporaryError) and isinstance(error.error, UnansweredError)
            return isinstance(error, _TemporaryError) and (repeat or not may_be_done)

        attempts = tenacity.Retrying(
            retry=tenacity.retry_if_exception(can_be_tried_again),
            wait=self._pause,
            stop=is_over,
            sleep=self.tempo.sleep,
            reraise=True,
        )
        try:
            return attempts(self._attempt, method, url, given)
        except _TemporaryError as last:
            raise last.error from None

    def _pause(self, state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.wait if isinstance(error, _TemporaryError) else None
        return self.tempo.backoff(state.attempt_number) if asked is None else asked + 0.5

    def _attempt(self, method: str, url: str, given: Mapping[str, Any]) -> requests.Response:
        self._pace.wait(cost_of(method, url))
        try:
            response = self.session.request(method, url, timeout=self.timeout, **given)
        except RefreshError as error:
            if error.retryable:
                raise _TemporaryError(_no_token()) from None
            raise explain_sign_in(error, self.address) from None
        except TransportError:
            raise _TemporaryError(_no_token()) from None
        except GoogleAuthError as error:
            raise GoogleError(
                f"The sign-in does not work ({type(error).__name__}).", "Check the credentials."
            ) from None
        except requests.exceptions.SSLError:
            raise GoogleError("The connection to Google is not secure.", "Check proxy and clock.") from None
        except requests.RequestException as error:
            raise _TemporaryError(unreachable(error)) from None
        if response.ok:
            return response
        refusal = refusal_in(response)
        refused = explain(refusal, self.address)
        if refusal.is_temporary:
            raise _TemporaryError(refused, refusal.retry_after)
        raise refused


def _no_token() -> GoogleError:
    """No access token could be had, so the call itself was never made."""
    return GoogleError("Google's sign-in could not be reached.", "Check the network. " + AGAIN)
