from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from sheetsync.backends import open_backend
from sheetsync.backends.base import Place, SheetBackend
from sheetsync.backends.memory import MemoryBackend
from sheetsync.domain.workbook import Grid, Reading
from sheetsync.errors import BackendError
from tests.backends.contract import BackendContract


class TestMemoryBackend(BackendContract):
    def make(self, folder: Path) -> SheetBackend:
        return open_backend("memory", folder, folder / ".sheetsync")

    def add_tab(self, backend: SheetBackend, place: Place, title: str) -> None:
        reading = backend.read(place)
        cast("MemoryBackend", backend).put(place, Reading((*reading.tabs, Grid(title, ())), reading.marker))

    def open_elsewhere(self, backend: SheetBackend, place: Place) -> None:
        cast("MemoryBackend", backend).busy.add(place)

    def backups(self, backend: SheetBackend) -> int:
        return len(cast("MemoryBackend", backend).backups)

    def has_result_beside(self, backend: SheetBackend, place: Place) -> bool:
        return place in cast("MemoryBackend", backend).beside


def test_backends_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="not available in this version"):
        open_backend("google", tmp_path, tmp_path)
    with pytest.raises(BackendError, match="no backend"):
        open_backend("excel", tmp_path, tmp_path)
