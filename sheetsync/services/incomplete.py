"""What a command could not do, though it did the rest."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Incomplete:
    """A workbook or file that could not be read, written or shared, and why."""

    path: str
    message: str
