"""Where workbooks live: one contract (`base`), several backends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from sheetsync.backends.base import Place, SheetBackend
from sheetsync.backends.diagnosis import Finding
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


def diagnose_backend(
    settings: StudyFile, root: Path, private: Path, places: Sequence[Place], progress: Callable[[str], None]
) -> Iterator[Finding]:
    """Try every step that a study takes with its backend, and yield what is found; changes nothing of the study.

    Args:
        settings: `study.toml`.
        root: the study folder.
        private: its `.sheetsync` folder.
        places: the raters' workbooks that there should be.
        progress: told the name of a step before it is tried.
    """
    if settings.backend.kind == "google":
        from sheetsync.backends.google_doctor import diagnose_google  # noqa: PLC0415

        return diagnose_google(settings, root, private, places, progress)
    from sheetsync.backends.xlsx_doctor import diagnose_xlsx  # noqa: PLC0415

    return diagnose_xlsx(root, private, places, progress)
