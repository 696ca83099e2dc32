"""`.sheetsync/google.json`: which spreadsheet is which workbook, so that Google need not be asked.

A cache: what it holds is found again in Drive by the marks on the files. It also notes what is being made
before it is made, which no listing could tell in time.
"""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sheetsync.backends.base import Place
from sheetsync.backends.google_files import mark_of_place
from sheetsync.errors import BackendError


@dataclass
class Entry:
    """What is known of one workbook.

    Attributes:
        file_id: of the spreadsheet; empty while it is being made.
        done: whether it was drawn to the end; None where nobody knows.
        gone: whether it was last found deleted or in the trash.
        version: the newest version of Drive's that is known.
        present: what lay over its cells after our last write, as the Sheets API shows it.
        present_version: Drive's version at that moment.
        shared: ids of permissions given by us, by address.
    """

    file_id: str = ""
    done: bool | None = False
    gone: bool = False
    version: str = ""
    present: dict[str, Any] | None = None
    present_version: str = ""
    shared: dict[str, str] = field(default_factory=dict)


class Index:
    """The entries of one study.

    Attributes:
        entries: by the mark of the place.
        address: whose account it is, where Google was asked.
        is_complete: whether every file there may be is in here; False when the index was lost.
    """

    def __init__(self, private: Path, study_id: str) -> None:
        self._path, self._begun = private / "google.json", private / "google.begun"
        self._study_id = study_id
        self.entries: dict[str, Entry] = {}
        self.address = ""
        self.is_complete = not self._path.exists() and not self._begun.exists()
        with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
            kept = json.loads(self._path.read_text(encoding="utf-8"))
            if kept["study"] == study_id:
                self.entries = {name: Entry(**entry) for name, entry in kept["places"].items()}
                self.address, self.is_complete = str(kept["address"]), bool(kept["complete"])
        self._saved = self._text()

    def entry(self, place: Place) -> Entry:
        """Return the entry of a place, a new one if there is none; it counts once it is saved."""
        return self.entries.setdefault(mark_of_place(place), Entry())

    def find(self, place: Place) -> Entry | None:
        """Return the entry of a place."""
        return self.entries.get(mark_of_place(place))

    def save(self, *, begin: bool = False) -> None:
        """Write what changed; only `begin` makes the folder, so that looking leaves no trace.

        Raises:
            BackendError: it cannot be written.
        """
        text = self._text()
        if text == self._saved or not (begin or self._path.parent.is_dir()):
            return
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if begin:
                self._begun.touch(mode=0o600)
            descriptor, made = tempfile.mkstemp(prefix=".google-", dir=self._path.parent)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(made).replace(self._path)
        except OSError as error:
            raise BackendError(
                f"{self._path} cannot be written ({error.strerror or error}).",
                "Check free space and who may write to the study folder, and run the command again.",
            ) from error
        self._saved = text

    def _text(self) -> str:
        kept = {
            "study": self._study_id,
            "address": self.address,
            "complete": self.is_complete,
            "places": {name: asdict(entry) for name, entry in self.entries.items()},
        }
        return json.dumps(kept, ensure_ascii=False, indent=1)
