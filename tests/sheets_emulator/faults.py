"""Faults on demand: for the nth matching call, or at random from a seed.

`emulator.faults.add(faults.rate_limit(), kind="values", nth=2)` lets the second matching call fail;
`emulator.faults.at_random(seed=1, share=0.05)` lets every twentieth call fail some way.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.sheets_emulator.errors import (
    ApiError,
    api_disabled,
    drive_error,
    drive_rate_limit,
    forbidden,
    quota_exceeded,
    sharing_limit,
    sheets_error,
    storage_full,
)
from tests.sheets_emulator.wire import Response

When = Literal["before", "after"]
HTML = (
    "<!DOCTYPE html>\n<html lang=en>\n  <title>Error {status} (Server Error)!!1</title>\n"
    "  <p><b>{status}.</b> <ins>That's an error.</ins>\n  <p>The server encountered a temporary error and could "
    "not complete your request.<p>Please try again in 30 seconds.  <ins>That's all we know.</ins>\n"
)


@dataclass(frozen=True)
class Fault:
    """What goes wrong, and whether the write was applied before it did."""

    name: str
    answer: Callable[[str], Response] | None = None
    """Makes the answer from the call's cost (read, write, drive); None leaves the real one."""
    when: When = "before"
    slow: float = 0.0
    lost_rows: int = 0
    lag: float = 0.0


@dataclass
class Rule:
    """Which calls a fault meets."""

    fault: Fault
    kind: str = ""
    """Part of the method's id, e.g. `batchUpdate`, `drive.files.list`, `oauth.token`."""
    method: str = ""
    path: str = ""
    identity: str = ""
    nth: int = 1
    times: int = 1
    seen: int = 0

    def meets(self, kind: str, method: str, path: str, identity: str) -> bool:
        """Count a matching call; true from the nth on, `times` times."""
        fits = self.kind in kind and (not self.method or self.method == method)
        if not (fits and re.search(self.path, path) and self.identity in ("", identity)):
            return False
        self.seen += 1
        return self.nth <= self.seen < self.nth + self.times


@dataclass
class Faults:
    """The faults that wait, and those that were met."""

    rules: list[Rule] = field(default_factory=list)
    met: list[tuple[str, str]] = field(default_factory=list)
    """(fault, kind of call) in order."""
    _random: random.Random | None = None
    _share: float = 0.0
    _choices: Sequence[Fault] = ()
    _kinds: str = ""

    def add(self, fault: Fault, kind: str = "", **where: Any) -> Rule:
        """Let calls fail; `where` takes method, path, identity, nth, times."""
        rule = Rule(fault, kind, **where)
        self.rules.append(rule)
        return rule

    def at_random(
        self,
        seed: int,
        share: float,
        choices: Sequence[Fault] | None = None,
        kinds: str = r"^(sheets|drive)\.",
    ) -> None:
        """Let a share of the calls whose kind fits fail; the seed repeats which."""
        self._random, self._share, self._kinds = random.Random(seed), share, kinds
        self._choices = list(COMMON.values()) if choices is None else choices

    def clear(self) -> None:
        """No more faults; those met stay on record."""
        self.rules, self._random = [], None

    def pick(self, kind: str, method: str, path: str, identity: str) -> Fault | None:
        """The fault that this call meets."""
        met = [rule.fault for rule in self.rules if rule.meets(kind, method, path, identity)]
        fault = met[0] if met else self._by_chance(kind)
        if fault:
            self.met.append((fault.name, kind))
        return fault

    def _by_chance(self, kind: str) -> Fault | None:
        if self._random is None or not re.search(self._kinds, kind):
            return None
        return self._random.choice(self._choices) if self._random.random() < self._share else None


def _error(
    name: str, made: Callable[[str], ApiError], when: When = "before", retry_after: int | None = None
) -> Fault:
    def answer(cost: str) -> Response:
        response = made(cost).response()
        if retry_after is not None:
            response.headers["Retry-After"] = str(retry_after)
        return response

    return Fault(name, answer, when)


def rate_limit(retry_after: int | None = None) -> Fault:
    """429 with the real body; on Drive calls 403 userRateLimitExceeded."""

    def made(cost: str) -> ApiError:
        return drive_rate_limit() if cost == "drive" else quota_exceeded(cost, per_user=True, limit=60)

    return _error("rate limit", made, retry_after=retry_after)


FORBIDDEN: dict[str, Callable[[str], ApiError]] = {
    "PERMISSION_DENIED": lambda _: forbidden(),
    "userRateLimitExceeded": lambda _: drive_rate_limit(),
    "rateLimitExceeded": lambda _: drive_rate_limit("rateLimitExceeded"),
    "sharingRateLimitExceeded": lambda _: sharing_limit(),
    "storageQuotaExceeded": lambda _: storage_full(),
    "accessNotConfigured": lambda cost: api_disabled("drive" if cost == "drive" else "sheets"),
    "insufficientFilePermissions": lambda _: drive_error(
        403, "insufficientFilePermissions", "The user does not have sufficient permissions for this file."
    ),
    "dailyLimitExceeded": lambda _: drive_error(
        403, "dailyLimitExceeded", "Daily Limit Exceeded", "usageLimits"
    ),
}


def refused(reason: str) -> Fault:
    """403 of one of the reasons in FORBIDDEN."""
    return _error(reason, FORBIDDEN[reason])


def server_error(
    status: int = 503, *, html: bool = False, when: When = "before", retry_after: int | None = None
) -> Fault:
    """500, 502 or 503, JSON or HTML; `when="after"`: the write was applied all the same."""
    if html or status == 502:
        text = HTML.format(status=status).encode()
        return Fault(
            f"{status} html {when}", lambda _: Response(status, text, "text/html; charset=UTF-8"), when
        )
    message = "Internal error encountered." if status == 500 else "The service is currently unavailable."
    return _error(f"{status} {when}", lambda _: sheets_error(status, message), when, retry_after)


def timeout(when: When = "before") -> Fault:
    """No answer until the client gives up."""
    return Fault(f"timeout {when}", lambda _: Response(0, lost="timeout"), when)


def dropped(when: When = "before") -> Fault:
    """The connection breaks without an answer."""
    return Fault(f"dropped {when}", lambda _: Response(0, lost="dropped"), when)


def slow(seconds: float) -> Fault:
    """The answer comes after `seconds` of the emulator's clock; a shorter client timeout does not see it."""
    return Fault(f"slow {seconds:g}", slow=seconds)


def fewer_cells(rows: int = 1) -> Fault:
    """Success, but the last rows of the last write were neither written nor counted."""
    return Fault(f"fewer cells {rows}", lost_rows=rows)


def stale(seconds: float) -> Fault:
    """This call's listing shows Drive metadata as it was `seconds` ago."""
    return Fault(f"stale {seconds:g}", lag=seconds)


COMMON: dict[str, Fault] = {
    fault.name: fault
    for fault in (
        rate_limit(),
        server_error(500),
        server_error(502),
        server_error(503),
        server_error(503, when="after"),
        server_error(503, html=True),
        timeout("before"),
        timeout("after"),
        dropped("before"),
        dropped("after"),
        refused("userRateLimitExceeded"),
        slow(5.0),
    )
}
"""What at_random chooses from unless told otherwise: all of it can be survived by trying again."""


def lose_rows(body: dict[str, Any], count: int) -> dict[str, Any]:
    """A request body without the last rows of its last write."""
    if "values" in body:
        return {**body, "values": body["values"][:-count]}
    if body.get("data"):
        return {**body, "data": [*body["data"][:-1], lose_rows(body["data"][-1], count)]}
    requests = list(body.get("requests", ()))
    for position in reversed(range(len(requests))):
        content = requests[position].get("updateCells")
        if content and content.get("rows"):
            requests[position] = {"updateCells": {**content, "rows": content["rows"][:-count]}}
            return {**body, "requests": requests}
    return body
