"""`doctor`: tries every step that a study takes, and names the exact fix of each that fails.

It holds no lock while it looks, and changes nothing of the study.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from sheetsync.backends import diagnose_backend
from sheetsync.backends.base import Place
from sheetsync.backends.diagnosis import Finding, Step, examine
from sheetsync.config import load_study
from sheetsync.errors import ArchiveError, LockedError
from sheetsync.services.session import PRIVATE_FOLDER, place_of
from sheetsync.store.archive import Archive
from sheetsync.store.lock import HOLDER_NAME, study_lock


@dataclass(frozen=True)
class Diagnosis:
    """What every step found."""

    findings: tuple[Finding, ...]

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the steps that failed, each once."""
        return tuple(dict.fromkeys(each.step for each in self.findings if each.state == "failed"))

    def to_dict(self) -> dict[str, object]:
        """Return what `doctor --json` prints."""
        keys = ("step", "state", "found", "fix")
        steps = [{key: asdict(each)[key] for key in keys} for each in self.findings]
        return {"schema": "sheetsync.doctor/1", "steps": steps}


def doctor(folder: Path, progress: Callable[[str], None] = lambda _: None) -> Diagnosis:
    """Return what is in order and what is not, with the fix.

    Args:
        folder: the study folder.
        progress: told the name of a step before it is tried.

    Raises:
        StudyError: the study's files are not valid.
    """
    study = load_study(folder)
    root = folder.resolve()
    private = root / PRIVATE_FOLDER
    places: list[Place] = []
    steps = (
        Step("study folder", lambda: _folder(root)),
        Step("private folder", lambda: _private(private)),
        Step("lock", lambda: _lock(private), ["study folder"]),
        Step("archive", lambda: _archive(private, places)),
    )
    found = list(examine(steps, progress))
    found += diagnose_backend(study.settings, root, private, places, progress)
    return Diagnosis(tuple(found))


def _folder(root: Path) -> Iterator[Finding]:
    """Try to write and to lock in a folder of our own, which is gone afterwards."""
    try:
        with (
            tempfile.TemporaryDirectory(prefix=".sheetsync-doctor-", dir=root) as probe,
            study_lock(Path(probe)),
        ):
            pass
    except OSError as error:
        raise ArchiveError(
            f"Nothing can be written to {root} ({error.strerror or error}).",
            "Make the folder writable for you, with space left on the disk.",
        ) from None
    yield Finding("ok", "The study folder can be written to, and its file system has locks.")


def _private(private: Path) -> Iterator[Finding]:
    if not private.exists():
        yield Finding("ok", f"There is no {PRIVATE_FOLDER} yet; `sheetsync provision` makes it.")
        return
    mode = private.stat().st_mode & 0o777
    if os.name == "posix" and mode & 0o077:
        yield Finding(
            "warning",
            f"Others on this computer may read {PRIVATE_FOLDER} (mode {mode:04o}): it holds which code is which model.",
            f"Run `chmod 700 {private}`.",
        )
        return
    yield Finding("ok", f"{PRIVATE_FOLDER} is closed to others.")


def _lock(private: Path) -> Iterator[Finding]:
    """Say whether a command is at work. Without a note of one the lock is not touched: it might be taken now."""
    if (private / HOLDER_NAME).exists():
        try:
            with study_lock(private, "doctor"):
                pass
        except LockedError as error:
            fix = "Wait until it has finished: what it changes can look like a fault."
            yield Finding("warning", error.message, fix)
            return
    yield Finding("ok", "No other command is at work on this study.")


def _archive(private: Path, places: list[Place]) -> Iterator[Finding]:
    """Open the archive, and note the places of its workbooks."""
    if not Archive.exists(private):
        yield Finding("ok", "Nothing is provisioned yet, so there is no archive.")
        return
    with Archive.open(private) as archive:
        places += [place_of(record) for record in archive.workbooks()]
        last = archive.last_pull()
    pulled = f"last pulled at {last.at}" if last else "not pulled yet"
    yield Finding("ok", f"The archive opens: {len(places)} workbooks, {pulled}.")
