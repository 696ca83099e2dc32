"""Where workbooks live: one contract (`base`), several backends."""

from __future__ import annotations

from pathlib import Path

from sheetsync.backends.base import SheetBackend
from sheetsync.errors import BackendError


def open_backend(kind: str, root: Path, private: Path) -> SheetBackend:
    """Return the backend of that kind for a study folder; loads only the libraries it needs.

    Args:
        kind: `xlsx`, `memory` or `google`.
        root: the study folder.
        private: its `.sheetsync` folder, for temporary files and backups.

    Raises:
        BackendError: there is no such backend.
    """
    if kind == "xlsx":
        from sheetsync.backends.xlsx import XlsxBackend  # noqa: PLC0415

        return XlsxBackend(root, private)
    if kind == "memory":
        from sheetsync.backends.memory import MemoryBackend  # noqa: PLC0415

        return MemoryBackend()
    if kind == "google":
        raise BackendError(
            "Google Sheets is not available in this version.", 'Set `kind = "xlsx"` under [backend].'
        )
    raise BackendError(f"There is no backend called {kind!r}.", "Use xlsx.")
