"""Every exception of sheetsync.

Bad *data* (a cell, a row, a workbook) is never an exception: it is a `Problem` in `domain.ratings`.
An exception means that the operation itself could not be done. The command line maps the class to
an exit code in one place (`cli.main`).

    SheetsyncError              1   the operation failed
    ├── StudyError              2   study files, command line or a ratings file are invalid
    │   └── RatingsError            what was given to `sheetsync.agreement` is invalid; also a ValueError
    ├── LockedError             4   another command holds the study's lock
    ├── NotProvisionedError     1   a command that needs workbooks was run before `provision`
    ├── ArchiveError            1   the archive cannot be read or written
    └── BackendError            1   a workbook cannot be created, read or replaced
        ├── WorkbookMissingError    it is not where it was put
        ├── WorkbookUnreadableError it is there and is not a workbook that can be read
        ├── WorkbookBusyError       it is open elsewhere, or changed while it was being replaced
        └── GoogleError             Google refused a call (`backends.google_errors`)
            └── UnansweredError         no usable answer came; the call may have been carried out
                └── HalfWrittenError        Google took less than was sent (`backends.google_books`)
"""

from __future__ import annotations

from collections.abc import Sequence


class SheetsyncError(Exception):
    """An operation failed; the message is one sentence, `remedy` the next step."""

    exit_code = 1

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


class StudyError(SheetsyncError):
    """User-written input is invalid; `faults` lists every fault found, one line each."""

    exit_code = 2

    def __init__(self, message: str, remedy: str = "", faults: Sequence[object] = ()) -> None:
        super().__init__(message, remedy)
        self.faults = tuple(faults)


class RatingsError(StudyError, ValueError):
    """What was given to `sheetsync.agreement` is invalid; the message lists every fault."""

    _SHOWN = 20

    def __str__(self) -> str:
        lines = [str(fault) for fault in self.faults[: self._SHOWN]]
        if len(self.faults) > self._SHOWN:
            lines.append(f"... and {len(self.faults) - self._SHOWN} more in `faults`")
        return "\n  ".join([super().__str__(), *lines])


class LockedError(SheetsyncError):
    """Another command is writing to this study."""

    exit_code = 4


class NotProvisionedError(SheetsyncError):
    """The study has no workbooks yet."""


class ArchiveError(SheetsyncError):
    """The archive cannot be opened, read or written."""


class BackendError(SheetsyncError):
    """A workbook could not be created, read, replaced or shared."""


class WorkbookMissingError(BackendError):
    """The workbook is not where it was put."""


class WorkbookUnreadableError(BackendError):
    """The file is there but is not a workbook that can be read."""


class WorkbookBusyError(BackendError):
    """The workbook is open elsewhere, or changed while it was being replaced."""
