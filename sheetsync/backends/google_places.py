"""Which spreadsheet is which workbook: the index on disk, marks in Drive, and addresses that study.toml adopts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from sheetsync.backends.base import Place
from sheetsync.backends.google_books import Spreadsheets
from sheetsync.backends.google_errors import GoogleError
from sheetsync.backends.google_files import DriveFile, DriveFiles, id_in, mark_of_place
from sheetsync.backends.google_http import GoogleClient
from sheetsync.backends.google_index import Entry, Index
from sheetsync.backends.google_read import parse_spreadsheet
from sheetsync.backends.google_sharing import Access
from sheetsync.domain.study import StudyFile
from sheetsync.errors import WorkbookMissingError

NOT_MADE = "(not made yet)"


def address_of(file_id: str) -> str:
    """Return where people find a spreadsheet."""
    return f"https://docs.google.com/spreadsheets/d/{file_id}/edit"


class GooglePlaces:
    """The spreadsheets of one study, by place.

    Attributes:
        index: what is known without asking.
        listing: what Drive listed last, by mark; None before it was asked.
    """

    def __init__(self, settings: StudyFile, private: Path, connect: Callable[[], GoogleClient]) -> None:
        self._settings, self._connect = settings, connect
        self.index = Index(private, settings.study.id)
        self.listing: Mapping[str, Sequence[DriveFile]] | None = None

    @cached_property
    def client(self) -> GoogleClient:
        """The one client; signs in at its first call."""
        client = self._connect()
        client.address = client.address or self.index.address
        return client

    @cached_property
    def files(self) -> DriveFiles:
        """The Drive part of the API."""
        return DriveFiles(self.client, self._settings.backend.google, self._settings.study.id)

    @cached_property
    def books(self) -> Spreadsheets:
        """The Sheets part of the API."""
        return Spreadsheets(self.client)

    # --- without asking

    def location(self, place: Place) -> str:
        """Return the address of a workbook, as far as it is known."""
        entry = self.index.find(place)
        file_id = (entry.file_id if entry else "") or self.adopted(place)
        return address_of(file_id) if file_id else NOT_MADE

    def adopted(self, place: Place) -> str:
        """Return the id of the spreadsheet that study.toml names for a place, empty where it names none."""
        return id_in(self._settings.backend.google.adopt.get(str(place).removeprefix("raters/"), ""))

    # --- asking Drive

    def refresh(self) -> None:
        """Ask Drive for every file of the study."""
        self.listing = self.files.listed()
        if not self.index.is_complete:
            for mark, files in self.listing.items():
                self.index.entries.setdefault(mark, Entry(files[0].file_id, done=None))
            self.index.is_complete = True

    def listed(self, place: Place, file_id: str) -> DriveFile | None:
        """Return a file as it was in the last listing."""
        files = (self.listing or {}).get(mark_of_place(place), ())
        return next((file for file in files if file.file_id == file_id), None)

    def current(self, place: Place) -> DriveFile | None:
        """Return the file of a place by the last listing; where that cannot be right, Drive is asked again."""
        entry = self.index.find(place)
        file = self.chosen(place, (self.listing or {}).get(mark_of_place(place), ()))
        if entry and entry.file_id and not entry.gone and _is_behind(file, entry):
            # A listing may lag by minutes: new files are not in it yet, versions are old.
            other = file if file and file.file_id != entry.file_id else None
            file = self.files.look(entry.file_id) or other
            entry.gone = file is None
        return self._noted(place, file) if file else None

    def chosen(self, place: Place, files: Sequence[DriveFile]) -> DriveFile | None:
        """Return the file that counts: of twins the one we know, else the adopted, else a finished one."""
        if len(files) < 2:
            return files[0] if files else None
        entry, adopted = self.index.find(place), self.adopted(place)
        for file in files:
            if file.file_id == adopted or (entry and entry.done and entry.file_id == file.file_id):
                return file
        finished = (file for file in files if parse_spreadsheet(self.books.inside(file.file_id)).marker)
        return next(finished, files[0])

    def _noted(self, place: Place, file: DriveFile) -> DriveFile:
        entry = self.index.entry(place)
        if entry.file_id != file.file_id:
            # A file that was being made when a run ended is not known to be drawn.
            is_pending = not entry.file_id and entry.done is False
            entry = Entry(file.file_id, done=False if is_pending else None)
            self.index.entries[mark_of_place(place)] = entry
        entry.gone, entry.version = False, newest(entry.version, file.version)
        return file

    def accesses(self, places: Sequence[Place]) -> Iterator[Access]:
        """Yield who may open each workbook that is there: one listing, more in a shared drive."""
        listing = self.files.listed(permissions=True)
        ours = [self.client.address, self._settings.study.contact]
        for place in places:
            file = self.chosen(place, listing.get(mark_of_place(place), ()))
            if file:
                entry = self.index.find(place)
                granted = entry.shared if entry else {}
                yield Access(place, address_of(file.file_id), self.files.permissions(file), granted, ours)

    def version_now(self, file_id: str) -> str:
        """Return a file's version after a write, empty where Drive does not tell: the write stands all the same."""
        try:
            file = self.files.look(file_id)
        except GoogleError:
            return ""
        return file.version if file else ""

    def file_id(self, place: Place) -> str:
        """Return the id of a spreadsheet that has to be there.

        Raises:
            WorkbookMissingError: it is not.
        """
        entry = self.index.find(place)
        if entry is None or not entry.file_id:
            self.refresh()
            self.current(place)
            entry = self.index.find(place)
        if entry is None or not entry.file_id or entry.gone:
            raise WorkbookMissingError(f"The spreadsheet {place} is missing.", "Provision it.")
        return entry.file_id

    # --- making

    def found_or_made(self, place: Place, title: str) -> tuple[DriveFile, bool]:
        """Return the file of a place, and whether it is new and blank.

        Raises:
            WorkbookMissingError: a spreadsheet that is to be adopted cannot be seen.
        """
        file = self._adopt(place) if self.adopted(place) else self._found(place)
        if file:
            self._noted(place, file)
            self.index.save(begin=True)
            return file, False
        self.index.entries[mark_of_place(place)] = entry = Entry()
        self.index.save(begin=True)  # what is begun is looked for by the next run, should this one end here
        file, is_new = self.files.create(place, title)
        entry.file_id, entry.version = file.file_id, file.version
        self.index.save(begin=True)
        self.listing = None
        return file, is_new

    def _found(self, place: Place) -> DriveFile | None:
        entry = self.index.find(place)
        if entry and entry.file_id and not entry.gone:
            file = self.files.look(entry.file_id)
            if file:
                return file
            entry.gone = True
        if entry or not self.index.is_complete:
            self.refresh()
            is_begun = entry is not None and not entry.file_id  # perhaps it was made, and the run died then
            return self.current(place) or (self.files.begun(place) if is_begun else None)
        return None

    def _adopt(self, place: Place) -> DriveFile:
        file = self.files.adopt(place, self.adopted(place))
        if file is None:
            who = self.client.address or "the account that is signed in"
            raise WorkbookMissingError(
                f"The spreadsheet that study.toml adopts as {place} is not there for {who}.",
                f"Share it with {who} as an editor, take it out of the trash, or correct its address.",
            )
        entry = self.index.find(place)
        if entry is None or entry.file_id != file.file_id:
            self.index.entries[mark_of_place(place)] = Entry(file.file_id)
        return file


def newest(one: str, other: str) -> str:
    """Return the later of two versions of Drive's, which count up."""
    return max(one, other, key=lambda version: int(version) if version.isdigit() else -1)


def _is_behind(file: DriveFile | None, entry: Entry) -> bool:
    """Say whether a listing shows less than is known already."""
    if file is None:
        return True
    if file.file_id != entry.file_id:
        return entry.done is True
    return newest(file.version, entry.version) != file.version
