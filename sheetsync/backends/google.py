"""Workbooks as spreadsheets of Google: private ones that are shared one by one, rewritten where they are.

Files are found again by marks in Drive, tabs by marks inside; names and titles may be changed by anybody.
Foreign tabs stay as they are, so a rewrite never has to put its result beside a workbook.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from sheetsync.backends.base import Known, Place, Replaced
from sheetsync.backends.google_auth import default_login, find_login
from sheetsync.backends.google_books import Spreadsheets, foreign_content, owned_reading
from sheetsync.backends.google_errors import GoogleError
from sheetsync.backends.google_files import DriveFile, DriveFiles, id_in, mark_of_place
from sheetsync.backends.google_formats import Json
from sheetsync.backends.google_http import EMULATED, EMULATOR_HOST, GoogleClient, emulator_host, open_session
from sheetsync.backends.google_index import Entry, Index
from sheetsync.backends.google_present import NEW_FILE, READ_AND_PRESENT_FIELDS, Present, present_in
from sheetsync.backends.google_read import READ_FIELDS, parse_spreadsheet
from sheetsync.backends.google_sharing import Access, exposures_of, guests_of
from sheetsync.backends.known import foreign_cells
from sheetsync.domain.study import StudyFile
from sheetsync.domain.workbook import Reading, WorkbookSpec
from sheetsync.errors import BackendError, WorkbookMissingError, WorkbookUnreadableError

NOT_MADE = "(not made yet)"
_CHANGED = "It changed after it was read. Run again."


def open_google(settings: StudyFile, root: Path, private: Path) -> GoogleBackend:
    """Return the backend of a study folder; nobody signs in before something is asked of Google.

    Raises:
        BackendError: `SHEETS_EMULATOR_HOST` does not name this machine.
    """
    host = emulator_host()

    def connect() -> GoogleClient:
        login = find_login(settings.backend.google, root, private)
        if login is None and host:
            return GoogleClient(open_session(None, host), EMULATED)
        login = login or default_login(settings.backend.google)
        return GoogleClient(open_session(login.credentials, host), login.address)

    announcement = f"{EMULATOR_HOST} is set: {host} stands in for Google." if host else ""
    return GoogleBackend(settings, private, connect, announcement)


class GoogleBackend:
    """The contract over Google Sheets and Drive.

    Args:
        settings: the study's settings: whom workbooks are for, where they lie.
        private: its `.sheetsync` folder: the index and backups.
        connect: signs in; called once, at the first call to Google.
        announcement: what people should be told about where calls go, once.
    """

    def __init__(
        self, settings: StudyFile, private: Path, connect: Callable[[], GoogleClient], announcement: str = ""
    ) -> None:
        self._settings, self._private, self._connect = settings, private, connect
        self.announcement = announcement
        self._index = Index(private, settings.study.id)
        self._listing: Mapping[str, Sequence[DriveFile]] | None = None
        self._seen: dict[Place, Json] = {}  # what `read` saw since the last listing

    # --- where things are

    @cached_property
    def _client(self) -> GoogleClient:
        client = self._connect()
        client.address = client.address or self._index.address
        return client

    @cached_property
    def _files(self) -> DriveFiles:
        return DriveFiles(self._client, self._settings.backend.google, self._settings.study.id)

    @cached_property
    def _books(self) -> Spreadsheets:
        return Spreadsheets(self._client)

    def location(self, place: Place) -> str:
        """Return the spreadsheet's address."""
        entry = self._index.find(place)
        file_id = (entry.file_id if entry else "") or self._adopted(place)
        return f"https://docs.google.com/spreadsheets/d/{file_id}/edit" if file_id else NOT_MADE

    def missing(self, places: Sequence[Place]) -> Sequence[Place]:
        """Return the places whose spreadsheet was gone when Drive was last asked."""
        return [place for place in places if (entry := self._index.find(place)) and entry.gone]

    def versions(self, places: Sequence[Place]) -> Mapping[Place, str | None]:
        """Return Drive's versions; a spreadsheet that is not drawn to the end counts as missing."""
        if not places:
            return {}
        self._list()
        found = {place: self._current(place) for place in places}
        self._index.save()
        return {
            place: file.version if file and self._is_drawn(place) else None for place, file in found.items()
        }

    def strangers(self, places: Sequence[Place]) -> Sequence[str]:
        """Return spreadsheets with marks of this study that are at none of the places, twins among them."""
        if self._listing is None:
            self._list()
        ours = {self.location(place) for place in places}
        found = {
            f"https://docs.google.com/spreadsheets/d/{file.file_id}/edit"
            for files in (self._listing or {}).values()
            for file in files
        }
        return sorted(found - ours)

    def _is_drawn(self, place: Place) -> bool:
        entry = self._index.find(place)
        return entry is not None and entry.done is not False

    def _adopted(self, place: Place) -> str:
        return id_in(self._settings.backend.google.adopt.get(str(place).removeprefix("raters/"), ""))

    def _list(self) -> None:
        """Ask Drive for every file of the study."""
        self._listing = self._files.listed()
        self._seen.clear()
        if not self._index.is_complete:
            for mark, files in self._listing.items():
                self._index.entries.setdefault(mark, Entry(files[0].file_id, done=None))
            self._index.is_complete = True

    def _current(self, place: Place) -> DriveFile | None:
        """Return the file of a place by the last listing; where that cannot be right, Drive is asked again."""
        entry = self._index.find(place)
        file = self._chosen(place, (self._listing or {}).get(mark_of_place(place), ()))
        if entry and entry.file_id and not entry.gone and _is_behind(file, entry):
            # A listing may lag by minutes: new files are not in it yet, versions are old.
            file = self._files.look(entry.file_id) or (
                file if file and file.file_id != entry.file_id else None
            )
            entry.gone = file is None
        return self._noted(place, file) if file else None

    def _noted(self, place: Place, file: DriveFile) -> DriveFile:
        entry = self._index.entry(place)
        if entry.file_id != file.file_id:
            is_pending = not entry.file_id and not entry.gone and entry.done is False
            entry.__dict__.update(Entry(file.file_id, done=False if is_pending else None).__dict__)
        entry.gone, entry.version = False, _newest(entry.version, file.version)
        return file

    def _chosen(self, place: Place, files: Sequence[DriveFile]) -> DriveFile | None:
        """Return the file that counts: of twins the one we know, else the adopted, else a finished one."""
        if len(files) < 2:
            return files[0] if files else None
        entry, adopted = self._index.find(place), self._adopted(place)
        for file in files:
            if file.file_id == adopted or (entry and entry.done and entry.file_id == file.file_id):
                return file
        finished = (file for file in files if parse_spreadsheet(self._books.inside(file.file_id)).marker)
        return next(finished, files[0])

    # --- making

    def create(self, place: Place, spec: WorkbookSpec) -> str:
        """Make the spreadsheet with one call and draw it with another; go on where an earlier run stopped."""
        file, is_new = self._found_or_made(place, spec.title)
        entry, present = self._index.entry(place), NEW_FILE
        if not is_new:
            found = self._books.inside(file.file_id)
            if self._is_finished(place, found, spec):
                entry.done = True
                self._index.save(begin=True)
                return file.version
            present = present_in(found)
        self._draw_first(place, spec, present)
        # Drive's version is not known without asking; the first listing gives another one, and so a reading.
        return f"drawn {file.file_id}"

    def _draw_first(self, place: Place, spec: WorkbookSpec, present: Present) -> None:
        entry = self._index.entry(place)
        editors = [self._client.address] if self._client.address else []
        self._books.draw(entry.file_id, spec, present, editors, is_new=True)
        entry.done, entry.gone = True, False
        self._index.save(begin=True)
        self._listing = None

    def _found_or_made(self, place: Place, title: str) -> tuple[DriveFile, bool]:
        """Return the file of a place, and whether it is new and blank."""
        file = self._adopt(place) if self._adopted(place) else self._found(place)
        if file:
            self._noted(place, file)
            self._index.save(begin=True)
            return file, False
        self._index.entries[mark_of_place(place)] = Entry()
        self._index.save(begin=True)  # what is begun is looked for by the next run, should this one end here
        file, is_new = self._files.create(place, title)
        entry = self._index.entry(place)
        entry.file_id, entry.version = file.file_id, file.version
        self._index.save(begin=True)
        return file, is_new

    def _found(self, place: Place) -> DriveFile | None:
        entry = self._index.find(place)
        if entry and entry.file_id and not entry.gone:
            file = self._files.look(entry.file_id)
            if file:
                return file
            entry.gone = True
        if entry or not self._index.is_complete:
            self._list()
            return self._current(place)
        return None

    def _adopt(self, place: Place) -> DriveFile:
        file = self._files.adopt(place, self._adopted(place))
        if file is None:
            who = self._client.address or "the account that is signed in"
            raise WorkbookMissingError(
                f"The spreadsheet that study.toml adopts as {place} is not there for {who}.",
                f"Share it with {who} as an editor, take it out of the trash, or correct its address.",
            )
        entry = self._index.find(place)
        if entry is None or entry.file_id != file.file_id:
            self._index.entries[mark_of_place(place)] = Entry(file.file_id)
        return file

    def _is_finished(self, place: Place, found: Json, spec: WorkbookSpec) -> bool:
        """Say whether a file is the workbook; False for one that waits to be drawn.

        Raises:
            BackendError: it is something else.
        """
        marker = parse_spreadsheet(found).marker
        if marker and marker == spec.marker:
            return True
        foreign = foreign_content(found)
        if marker or foreign or self._index.entry(place).done is True:
            what = "it holds something already" if foreign and not marker else "it is another workbook"
            raise BackendError(
                f"{self.location(place)} is in the way at {place}: {what}.",
                "Move it to the trash (or adopt a blank spreadsheet) and run the command again.",
            )
        return False

    # --- people

    def share(self, place: Place) -> str:
        """Share with everybody the workbook is for who has not been let in yet."""
        entry = self._index.find(place)
        if entry is None or not entry.file_id:
            return "It is not made yet, so it is not shared."
        obstacles = []
        for guest in guests_of(place, self._settings):
            if not guest.address:
                obstacles.append(f"It is not shared with {guest.name}, who has no email in study.toml.")
            elif guest.address not in entry.shared and guest.address != self._client.address:
                try:
                    entry.shared[guest.address] = self._files.grant(entry.file_id, guest.address)
                except GoogleError as error:
                    obstacles.append(f"It could not be shared with {guest.address}: {error}")
        self._index.save(begin=True)
        return " ".join(obstacles)

    def exposures(self, places: Sequence[Place]) -> Sequence[str]:
        """Compare who can open each spreadsheet with whom it is for."""
        listing = self._files.listed(permissions=True)
        ours = [address for address in (self._client.address, self._settings.study.contact) if address]
        found: list[str] = []
        for place in places:
            file = self._chosen(place, listing.get(mark_of_place(place), ()))
            if file:
                granted = entry.shared if (entry := self._index.find(place)) else {}
                permissions = self._files.permissions(file)
                access = Access(place, self.location(place), permissions, granted, ours)
                found += exposures_of(access, self._settings)
        return found

    # --- reading and rewriting

    def read(self, place: Place) -> Reading:
        """Read every tab with one call."""
        is_ours_to_rewrite = place.audience != "raters"
        found = self._inside(place, READ_AND_PRESENT_FIELDS if is_ours_to_rewrite else READ_FIELDS)
        if is_ours_to_rewrite:
            self._seen[place] = found
        return parse_spreadsheet(found)

    def _inside(self, place: Place, fields: str = READ_AND_PRESENT_FIELDS) -> Json:
        entry = self._index.find(place)
        if entry is None or not entry.file_id:
            self._list()
            self._current(place)
            entry = self._index.find(place)
        if entry is None or not entry.file_id or entry.gone:
            raise WorkbookMissingError(f"The spreadsheet {place} is missing.", "Provision it.")
        try:
            return self._books.inside(entry.file_id, fields)
        except GoogleError as error:
            if error.status == 404:
                raise WorkbookMissingError(error.message, error.remedy) from None
            if error.reason == "FAILED_PRECONDITION":
                raise WorkbookUnreadableError(
                    f"{self.location(place)} is no Google spreadsheet.",
                    "An uploaded Excel file has to be saved as a Google spreadsheet first.",
                ) from None
            raise

    def replace(
        self, place: Place, spec: WorkbookSpec, known: Known, *, version_read: str | None, force: bool = False
    ) -> Replaced:
        """Draw the tabs of `spec` where they are; other tabs stay, and so nothing is ever put beside."""
        entry = self._index.find(place)
        file = (
            self._files.look(entry.file_id) if entry and entry.file_id and entry.done is not False else None
        )
        if file is None and version_read is None:
            self.create(place, spec)
            return self._replaced(place, {})
        version = file.version if file else None
        if file is None or entry is None or (version != version_read and not force):
            return Replaced(self.location(place), obstacle=_CHANGED)
        found = self._seen.get(place) if version == version_read else None
        if force:
            self._back_up(place, found := self._inside(place))
        elif version != known.version:
            found = found or self._inside(place)
            obstacle = _foreign(found, spec, known)
            if obstacle:
                return Replaced(self.location(place), obstacle=obstacle)
        if found is None and entry.present_version != version:
            found = self._inside(place)
        present = present_in(found or entry.present or {})
        return self._replaced(
            place, self._books.draw(file.file_id, spec, present, [self._me()], is_new=False)
        )

    def _replaced(self, place: Place, after: Json) -> Replaced:
        """Note what stands there now, so that the next rewrite need not look."""
        entry = self._index.entry(place)
        self._seen.pop(place, None)
        file = self._files.look(entry.file_id)
        version = file.version if file else ""
        entry.version = _newest(entry.version, version)
        tabs = [{k: v for k, v in tab.items() if k != "data"} for tab in after.get("sheets", ())]
        entry.present, entry.present_version = ({**after, "sheets": tabs}, version) if after else (None, "")
        self._index.save(begin=True)
        return Replaced(self.location(place), version)

    def _me(self) -> str:
        """Return who draws: whoever rewrites protected cells has to stay among their editors."""
        if not self._client.address:
            self._client.address = self._index.address = self._files.me()
        return self._client.address

    def _back_up(self, place: Place, found: Json) -> None:
        """Keep what Google showed, under the first free number."""
        folder = self._private / "backups"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        number = sum(1 for _ in folder.iterdir()) + 1
        while True:
            try:
                with (folder / f"{number:04d}-{place.audience}.json").open("x", encoding="utf-8") as file:
                    json.dump(found, file, ensure_ascii=False)
            except FileExistsError:
                number += 1
            else:
                return

    def type_cells(
        self, place: Place, tab: str, cells: Mapping[tuple[int, int], str | int | float | bool | None]
    ) -> None:
        """Enter values as the account that is signed in."""
        entry = self._index.find(place)
        if entry is None or not entry.file_id:
            raise WorkbookMissingError(f"The spreadsheet {place} is missing.", "Provision it.")
        self._seen.pop(place, None)
        self._books.enter(entry.file_id, tab, cells)


def _foreign(found: Json, spec: WorkbookSpec, known: Known) -> str:
    """Return why a rewrite would lose something that people typed, empty where it would not."""
    foreign = foreign_cells(owned_reading(found, [tab.title for tab in spec.tabs]), known)
    if not foreign:
        return ""
    more = f" and {len(foreign) - 3} more" if len(foreign) > 3 else ""
    return (
        f"It holds what sheetsync did not write: {', '.join(foreign[:3])}{more}. Move that to a tab of your own, "
        "or run `sheetsync publish --force`, which keeps a backup."
    )


def _newest(one: str, other: str) -> str:
    """Return the later of two versions of Drive's, which count up."""
    return max(one, other, key=lambda version: int(version) if version.isdigit() else -1)


def _is_behind(file: DriveFile | None, entry: Entry) -> bool:
    """Say whether a listing shows less than is known already."""
    if file is None:
        return True
    if file.file_id != entry.file_id:
        return entry.done is True
    return _newest(file.version, entry.version) != file.version
