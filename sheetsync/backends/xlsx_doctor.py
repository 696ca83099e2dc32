"""`doctor` on workbooks in a folder: can they be written, are they there, and what lies among them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from sheetsync.backends.base import Place
from sheetsync.backends.diagnosis import Finding, Step, examine
from sheetsync.backends.xlsx import XlsxBackend
from sheetsync.errors import BackendError

_SHOWN = 3


def diagnose_xlsx(
    root: Path, private: Path, places: Sequence[Place], progress: Callable[[str], None] = lambda _: None
) -> Iterator[Finding]:
    """Yield what every step finds.

    Args:
        root: the study folder.
        private: its `.sheetsync` folder.
        places: the raters' workbooks that the archive knows.
        progress: told the name of a step before it is tried.
    """
    backend, sheets = XlsxBackend(root, private), root / "sheets"
    steps = (
        Step("sheets folder", lambda: _sheets(sheets)),
        Step("workbooks", lambda: _workbooks(backend, places)),
        Step("strangers", lambda: _strangers(backend, places)),
    )
    yield from examine(steps, progress)


def _sheets(sheets: Path) -> Iterator[Finding]:
    if not sheets.exists():
        yield Finding("ok", "There is no folder sheets/ yet; `sheetsync provision` makes it.")
        return
    folders = [sheets, *(folder for folder in sorted(sheets.glob("*/**")) if folder.is_dir())]
    for folder in folders:
        try:
            with tempfile.NamedTemporaryFile(prefix=".sheetsync-doctor-", dir=folder):
                pass  # a dot file, which those who share the folder do not see
        except OSError as error:
            name = folder.relative_to(sheets.parent).as_posix()
            raise BackendError(
                f"Nothing can be written to {name} ({error.strerror or error}).",
                "Make it a folder that you may write to, with space left on the disk.",
            ) from None
    yield Finding("ok", "Workbooks can be written to every folder in sheets/.")


def _workbooks(backend: XlsxBackend, places: Sequence[Place]) -> Iterator[Finding]:
    missing = [backend.location(place) for place in backend.missing(places)]
    faulty = bool(missing)
    if missing:
        yield Finding(
            "failed",
            f"{len(missing)} of {len(places)} workbooks are missing: {_some(missing)}.",
            "Put them back, or run `sheetsync provision`, which makes them anew with every archived rating.",
        )
    for place in places:
        if backend.location(place) in missing:
            continue
        try:
            backend.read(place)
        except BackendError as error:
            faulty = True
            yield Finding("failed", error.message, error.remedy)
    if not faulty:
        yield Finding("ok", f"Workbooks that are there and can be read: {len(places)}.")


def _strangers(backend: XlsxBackend, places: Sequence[Place]) -> Iterator[Finding]:
    found = backend.strangers([*places, Place("summary"), Place("adjudication")])
    if found:
        yield Finding(
            "warning",
            f"Files in sheets/ that are no workbook of this study: {_some(found)}.",
            "Move them out of sheets/: whoever shares the folder can see them.",
        )
    else:
        yield Finding("ok", "Nothing foreign lies in sheets/.")


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"
