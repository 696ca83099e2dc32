from __future__ import annotations

from pathlib import Path
from typing import cast

from sheetsync.backends.base import Place, SheetBackend
from sheetsync.backends.memory import MemoryBackend
from sheetsync.domain.workbook import Grid, Reading
from tests.backends.contract import BackendContract


class TestMemoryBackend(BackendContract):
    def make(self, folder: Path) -> SheetBackend:  # noqa: ARG002
        return MemoryBackend()

    def add_tab(self, backend: SheetBackend, place: Place, title: str) -> None:
        reading = backend.read(place)
        cast("MemoryBackend", backend).put(place, Reading((*reading.tabs, Grid(title, ())), reading.marker))

    def open_elsewhere(self, backend: SheetBackend, place: Place) -> None:
        cast("MemoryBackend", backend).busy.add(place)

    def backups(self, backend: SheetBackend) -> int:
        return len(cast("MemoryBackend", backend).backups)

    def has_result_beside(self, backend: SheetBackend, place: Place) -> bool:
        return place in cast("MemoryBackend", backend).beside
