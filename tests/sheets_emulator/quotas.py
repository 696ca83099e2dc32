"""Quotas of the Sheets API on the emulator's clock: the last sixty seconds count (stricter than a refill)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from tests.sheets_emulator.clock import Clock
from tests.sheets_emulator.errors import quota_exceeded

MINUTE = 60.0


@dataclass
class Quotas:
    """None is no limit. A refused call uses nothing up."""

    clock: Clock
    per_user: int | None = None
    per_project: int | None = None
    sharing_mails_per_day: int | None = None
    used: dict[tuple[str, str], deque[float]] = field(default_factory=dict)

    @staticmethod
    def real(clock: Clock) -> Quotas:
        """Sixty reads and sixty writes per minute and user, three hundred per project."""
        return Quotas(clock, per_user=60, per_project=300)

    def _recent(self, cost: str, whose: str) -> deque[float]:
        times = self.used.setdefault((cost, whose), deque())
        while times and times[0] <= self.clock.now() - MINUTE:
            times.popleft()
        return times

    def spend(self, cost: str, identity: str) -> None:
        """Count one read or write; raises 429 where nothing is left."""
        if self.per_user is None and self.per_project is None:
            return
        own, all_users = self._recent(cost, identity), self._recent(cost, "")
        if self.per_user is not None and len(own) >= self.per_user:
            raise quota_exceeded(cost, per_user=True, limit=self.per_user)
        if self.per_project is not None and len(all_users) >= self.per_project:
            raise quota_exceeded(cost, per_user=False, limit=self.per_project)
        own.append(self.clock.now())
        all_users.append(self.clock.now())
