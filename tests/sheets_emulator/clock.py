"""Time as the emulator sees it: virtual for tests, the machine's own for the HTTP front."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Where the emulator reads the time, and how slow answers pass it."""

    def now(self) -> float:
        """Seconds since 1970."""
        ...

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        ...


class VirtualClock:
    """Stands still until somebody advances it; starts at the real time, so that real JWTs are valid."""

    def __init__(self, start: float | None = None) -> None:
        self._now = time.time() if start is None else start

    def now(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass; also usable as a `sleep` function of the product."""
        self._now += max(0.0, seconds)


class SystemClock:
    """The machine's clock; a slow answer really is slow."""

    def now(self) -> float:
        return time.time()

    def advance(self, seconds: float) -> None:
        time.sleep(max(0.0, seconds))


def rfc3339(milliseconds: int) -> str:
    """Write a time the way Drive does: `2023-08-17T10:52:47.380Z`."""
    moment = datetime.fromtimestamp(milliseconds // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03d}Z"


def milliseconds_of(text: str) -> int:
    """Read an RFC 3339 time; without a zone it is UTC, as in Drive queries."""
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)
