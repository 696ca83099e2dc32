"""One change under way: a copy of the spreadsheet, and who makes it; kept only when all of it succeeds."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from tests.sheets_emulator.formulas import Hook
from tests.sheets_emulator.state import Area, Sheet, Spreadsheet


@dataclass
class Editing:
    """What a handler needs to change a spreadsheet."""

    book: Spreadsheet
    identity: str
    privileged: bool
    """Owner of the file (in a shared drive: its manager): no protection stops them."""
    today: date
    random: random.Random
    hook: Hook | None = None
    reserved: set[int] = field(default_factory=set)

    def area(self, grid_range: dict[str, Any] | None, name: str = "range") -> Area:
        return self.book.area_of(grid_range, name)

    def sheet(self, area: Area) -> Sheet:
        return self.book.require_sheet(area.sheet_id)

    def new_id(self, taken: set[int]) -> int:
        """A free positive int32."""
        while True:
            made = self.random.randrange(1, 2**31)
            if made not in taken and made not in self.reserved:
                self.reserved.add(made)
                return made


Handler = Callable[[Editing, dict[str, Any]], dict[str, Any] | None]
"""Carries out one request of a batchUpdate; returns the content of its reply, if its kind has one."""
