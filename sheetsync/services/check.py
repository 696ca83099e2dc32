"""`check`: every file of the study, all faults at once."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from sheetsync.config import Fault, check_study
from sheetsync.domain.study import Study


@dataclass(frozen=True)
class Checked:
    """What is wrong with the study's files, and what they hold where nothing is."""

    faults: tuple[Fault, ...]
    study: Study | None

    @property
    def errors(self) -> tuple[Fault, ...]:
        """What must be corrected."""
        return tuple(fault for fault in self.faults if fault.severity == "error")

    @property
    def warnings(self) -> tuple[Fault, ...]:
        """What is worth a look."""
        return tuple(fault for fault in self.faults if fault.severity == "warning")

    def to_dict(self) -> dict[str, object]:
        """Return what `check --json` prints."""
        return {"schema": "sheetsync.check/1", "faults": [asdict(fault) for fault in self.faults]}


def check(folder: Path) -> Checked:
    """Return every fault of a study's files.

    Raises:
        StudyError: the folder holds no study.
    """
    study, faults = check_study(folder)
    return Checked(tuple(faults), study)
