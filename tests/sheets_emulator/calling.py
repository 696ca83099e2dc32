"""One API call on its way: who, what, with which body, against which world."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from tests.sheets_emulator.discovery import Method
from tests.sheets_emulator.drive_state import Files
from tests.sheets_emulator.wire import Request

if TYPE_CHECKING:
    from tests.sheets_emulator.emulator import Emulator


@dataclass
class Call:
    """What an endpoint gets to see."""

    world: Emulator
    request: Request
    method: Method
    parameters: dict[str, str]
    body: dict[str, Any]
    identity: str
    only_own_files: bool = False
    """The token has no scope but drive.file: files that the app did not make do not exist for it."""
    lag: float = 0.0
    """How many seconds old the metadata in listings is."""

    @property
    def store(self) -> Files:
        return self.world.files

    @property
    def today(self) -> date:
        return datetime.fromtimestamp(self.world.clock.now(), UTC).date()
