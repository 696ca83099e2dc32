"""Workbooks as xlsx files in a folder that somebody shares: drawn whole, read whole, never edited.

Files are written elsewhere first (`private/tmp`) and then put in place in one step, so whoever shares
the folder sees a whole workbook or none.
"""

from __future__ import annotations

import errno
import hashlib
import os
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from sheetsync.backends.base import Known, Place, Replaced, WorkbooksAtHand
from sheetsync.backends.known import foreign_cells
from sheetsync.backends.xlsx_draw import draw_workbook
from sheetsync.backends.xlsx_read import read_workbook
from sheetsync.domain.workbook import Reading, WorkbookSpec
from sheetsync.errors import BackendError, WorkbookBusyError, WorkbookMissingError, WorkbookUnreadableError

_LITTER = {"desktop.ini", "thumbs.db"}
"""What Windows and sync programs leave in folders."""


class XlsxBackend(WorkbooksAtHand):
    """The contract over `<root>/sheets`.

    Args:
        root: the study folder.
        private: its `.sheetsync` folder: temporary files and backups.
    """

    def __init__(self, root: Path, private: Path) -> None:
        self._root, self._private = root, private

    def location(self, place: Place) -> str:
        """Return the file's path relative to the study, with forward slashes."""
        if place.audience == "raters":
            return f"sheets/raters/{place.rater}/{place.batch}.xlsx"
        return f"sheets/{place.audience}/{place.audience}.xlsx"

    def create(self, place: Place, spec: WorkbookSpec) -> str:
        """Draw the workbook; one with the same marker that is there already stays as it is."""
        path = self._path(place)
        if path.exists():
            return self._adopt(place, spec)
        content = draw_workbook(spec)
        with self._temporary(content, place) as made:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                _put_new(made, path)
            except FileExistsError:
                return self._adopt(place, spec)
            except OSError as error:
                raise self._not_written(place, error) from error
        return _digest(content)

    def versions(self, places: Sequence[Place]) -> Mapping[Place, str | None]:
        """Return a hash of each file's bytes."""
        return {place: _version(self._path(place)) for place in places}

    def read(self, place: Place) -> Reading:
        """Read the workbook."""
        return read_workbook(self._path(place), self.location(place))

    def replace(
        self, place: Place, spec: WorkbookSpec, known: Known, *, version_read: str | None, force: bool = False
    ) -> Replaced:
        """Draw the workbook anew and put it in place, or beside it as `<name>.new.xlsx`."""
        path, content = self._path(place), draw_workbook(spec)
        with self._temporary(content, place) as made:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                if force and path.exists():
                    self._back_up(place)
                # Looked at last, so that next to nothing can happen between looking and replacing.
                obstacle = "" if force else self._obstacle(place, known, version_read)
                if not obstacle:
                    obstacle = self._put_in_place(place, made)
                if obstacle:
                    return self._put_beside(place, made, obstacle)
            except OSError as error:
                raise self._not_written(place, error) from error
        with suppress(OSError):
            _beside(path).unlink(missing_ok=True)
        return Replaced(self.location(place), _digest(content))

    def type_cells(
        self, place: Place, tab: str, cells: Mapping[tuple[int, int], str | int | float | bool | None]
    ) -> None:
        """Enter values with openpyxl, which drops cached results of formulas as it saves."""
        import openpyxl  # noqa: PLC0415 - only demonstrations type

        path = self._path(place)
        if not path.exists():
            raise WorkbookMissingError(f"{self.location(place)} is missing.", "Provision it.")
        book = openpyxl.load_workbook(path)
        title = next((name for name in book.sheetnames if name.casefold() == tab.casefold()), None)
        if title is None:
            raise BackendError(f"{self.location(place)} has no tab {tab!r}.", "Check the tab's title.")
        sheet = book[title]
        for (row, column), value in cells.items():
            sheet.cell(row + 1, column + 1).value = value
        with self._temporary(b"", place) as made:
            book.save(made)
            _move(made, path)

    def strangers(self, places: Sequence[Place]) -> Sequence[str]:
        """Return files under `sheets` that are at none of the places."""
        known = {self.location(place) for place in places}
        found = {file.relative_to(self._root).as_posix() for file in _files(self._root / "sheets")}
        return sorted(found - known)

    def _path(self, place: Place) -> Path:
        return self._root / self.location(place)

    def _adopt(self, place: Place, spec: WorkbookSpec) -> str:
        version = _version(self._path(place))
        try:
            same = bool(spec.marker) and self.read(place).marker == spec.marker
        except BackendError:
            same = False
        if not same or version is None:
            raise BackendError(
                f"{self.location(place)} is in the way: it is not the workbook that belongs there.",
                "Move it somewhere else and run the command again.",
            )
        return version

    @contextmanager
    def _temporary(self, content: bytes, place: Place) -> Iterator[Path]:
        """Write bytes to a file of its own that vanishes afterwards, if it was not moved away."""
        folder = self._private / "tmp"
        made = folder / f"{uuid.uuid4().hex}.xlsx"
        try:
            self._private.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            _write(made, content)
        except OSError as error:
            made.unlink(missing_ok=True)
            raise self._not_written(place, error) from error
        try:
            yield made
        finally:
            with suppress(OSError):
                made.unlink(missing_ok=True)

    def _obstacle(self, place: Place, known: Known, version_read: str | None) -> str:
        """Return why replacing would lose something, "" if it would not."""
        path = self._path(place)
        version = _version(path)
        if version is None:
            return ""
        sign = _sign_of_use(path)
        if sign:
            return (
                f"It is open in a spreadsheet program ({sign} lies beside it). Close it and run again; if nobody "
                f"has it open, delete {sign}."
            )
        if version != version_read:
            return "It changed after it was read. Run again."
        if version == known.version:
            return ""
        try:
            foreign = foreign_cells(self.read(place), known)
        except WorkbookUnreadableError as error:
            return error.message
        if not foreign:
            return ""
        more = f" and {len(foreign) - 3} more" if len(foreign) > 3 else ""
        return (
            f"It holds what sheetsync did not write: {', '.join(foreign[:3])}{more}. Move that elsewhere, or run "
            "`sheetsync publish --force`, which keeps a backup."
        )

    def _put_in_place(self, place: Place, made: Path) -> str:
        try:
            _move(made, self._path(place))
        except PermissionError:
            return "It is open, or may not be replaced (permission denied). Close it and run again."
        return ""

    def _put_beside(self, place: Place, made: Path, obstacle: str) -> Replaced:
        beside = _beside(self._path(place))
        location = f"{self.location(place).removesuffix('.xlsx')}.new.xlsx"
        try:
            _move(made, beside)
        except PermissionError as error:
            raise WorkbookBusyError(
                f"{obstacle} Nor could {location} be written (permission denied).",
                "Close both files, check who may write there, and run the command again.",
            ) from error
        return Replaced(location, obstacle=f"{obstacle} The result went to {location}.")

    def _back_up(self, place: Place) -> None:
        """Copy the file to the first free number; an earlier backup is never touched."""
        folder = self._private / "backups"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._path(place)
        content, number = path.read_bytes(), 1
        while True:
            try:
                _write(folder / f"{number:04d}-{path.name}", content)
            except FileExistsError:
                number += 1
            else:
                return

    def _not_written(self, place: Place, error: OSError) -> BackendError:
        return BackendError(
            f"{self.location(place)} cannot be written ({error.strerror or error}).",
            "Check free space and who may write to the study folder, and run the command again.",
        )


def _write(path: Path, content: bytes) -> None:
    """Write a new file and wait until it is on the disk."""
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _put_new(made: Path, path: Path) -> None:
    """Put a file in place, never over another one.

    Raises:
        FileExistsError: there is one.
    """
    try:
        os.link(made, path)
    except FileExistsError:
        raise
    except OSError:
        # No hard links here (FAT, some network drives), or another file system.
        if path.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        _move(made, path)
    _sync_folder(path.parent)


def _move(made: Path, path: Path) -> None:
    """Replace a file in one step, also where `made` lies on another file system."""
    try:
        made.replace(path)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        descriptor, near = tempfile.mkstemp(prefix=".sheetsync-", dir=path.parent)
        os.close(descriptor)
        try:
            Path(near).write_bytes(made.read_bytes())
            Path(near).chmod(made.stat().st_mode & 0o777)
            Path(near).replace(path)
        finally:
            Path(near).unlink(missing_ok=True)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Make a rename last through a power cut, where folders can be opened (not on Windows)."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _version(path: Path) -> str | None:
    try:
        return _digest(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError:
        # It is there and may not be read: reading it will say why.
        with suppress(OSError):
            return f"unreadable-{path.stat().st_mtime_ns}"
        return "unreadable"


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.stem}.new.xlsx")


def _sign_of_use(path: Path) -> str:
    """Return the name of the file by which Excel or LibreOffice says that it has a workbook open."""
    signs = (f"~${path.name}", f".~lock.{path.name}#")
    return next((sign for sign in signs if path.with_name(sign).exists()), "")


def _listing(folder: Path) -> Sequence[Path]:
    """Return what lies in a folder; nothing where it cannot be looked into: reading will say so."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return ()


def _files(folder: Path) -> Iterator[Path]:
    for item in _listing(folder):
        if item.name.startswith((".", "~$")):
            continue
        if item.is_dir():
            yield from _files(item)
        elif not item.name.endswith(".new.xlsx") and item.name.lower() not in _LITTER:
            yield item
