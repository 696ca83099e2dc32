"""Where workbooks live: one contract (`base`), several backends."""

from __future__ import annotations

from pathlib import Path

from sheetsync.backends.base import SheetBackend
from sheetsync.domain.study import StudyFile


def open_backend(settings: StudyFile, root: Path, private: Path) -> SheetBackend:
    """Return the backend of that kind for a study folder; loads only the libraries it needs.

    Args:
        settings: `study.toml`: which backend, and whom workbooks are for.
        root: the study folder.
        private: its `.sheetsync` folder, for temporary files and backups.

    Raises:
        BackendError: the backend cannot be used.
    """
    if settings.backend.kind == "google":
        from sheetsync.backends.google import open_google  # noqa: PLC0415

        return open_google(settings, root, private)
    from sheetsync.backends.xlsx import XlsxBackend  # noqa: PLC0415

    return XlsxBackend(root, private)
