"""Workbooks as spreadsheets of Google: shared one by one, found again by their marks, rewritten where they are.

Foreign tabs stay as they are, so a rewrite never has to put its result beside a workbook.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path

from sheetsync.backends.base import Known, Place, Replaced
from sheetsync.backends.google_auth import default_login, find_login
from sheetsync.backends.google_books import foreign_content, owned_reading
from sheetsync.backends.google_errors import GoogleError
from sheetsync.backends.google_files import DriveFile
from sheetsync.backends.google_formats import Json
from sheetsync.backends.google_http import GoogleClient
from sheetsync.backends.google_places import GooglePlaces, address_of, newest
from sheetsync.backends.google_present import NEW_FILE, READ_AND_PRESENT_FIELDS, present_in
from sheetsync.backends.google_read import READ_FIELDS, parse_spreadsheet
from sheetsync.backends.google_session import EMULATED, EMULATOR_HOST, emulator_host, open_session
from sheetsync.backends.google_sharing import exposures_of, guests_of
from sheetsync.backends.known import foreign_cells
from sheetsync.domain.study import StudyFile
from sheetsync.domain.workbook import Reading, WorkbookSpec
from sheetsync.errors import BackendError, WorkbookMissingError, WorkbookUnreadableError

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
        connect: signs in; called once, before the first call to Google.
        announcement: what people should be told, once, about where calls go; empty for Google itself.
    """

    def __init__(
        self, settings: StudyFile, private: Path, connect: Callable[[], GoogleClient], announcement: str = ""
    ) -> None:
        self._settings, self._private = settings, private
        self._places = GooglePlaces(settings, private, connect)
        self._seen: dict[Place, Json] = {}  # what `read` saw since versions were last asked for
        self.announcement = announcement

    def location(self, place: Place) -> str:
        """Return the spreadsheet's address."""
        return self._places.location(place)

    def missing(self, places: Sequence[Place]) -> Sequence[Place]:
        """Return the places whose spreadsheet was gone when Drive was last asked."""
        find = self._places.index.find
        return [place for place in places if (entry := find(place)) and entry.gone]

    def versions(self, places: Sequence[Place]) -> Mapping[Place, str | None]:
        """Return Drive's versions; a spreadsheet that is not drawn to the end counts as missing."""
        if not places:
            return {}
        self._seen.clear()
        self._places.refresh()
        files = {place: self._places.current(place) for place in places}
        self._places.index.save()
        drawn = {place for place in places if (e := self._places.index.find(place)) and e.done is not False}
        return {place: file.version if file and place in drawn else None for place, file in files.items()}

    def strangers(self, places: Sequence[Place]) -> Sequence[str]:
        """Return spreadsheets with marks of this study that are at none of the places, twins among them."""
        if self._places.listing is None:
            self._places.refresh()
        listed = (file for files in (self._places.listing or {}).values() for file in files)
        return sorted({address_of(file.file_id) for file in listed} - {self.location(p) for p in places})

    # --- making

    def create(self, place: Place, spec: WorkbookSpec) -> str:
        """Make the spreadsheet with one call and draw it with another; go on where an earlier run stopped."""
        file, is_new = self._places.found_or_made(place, spec.title)
        index, books = self._places.index, self._places.books
        present = NEW_FILE
        if not is_new:
            found = books.inside(file.file_id)
            if self._is_finished(place, found, spec):
                index.entry(place).done = True
                index.save(begin=True)
                return file.version
            present = present_in(found)
        address = self._places.client.address
        books.draw(file.file_id, spec, present, [address] if address else [], is_new=True)
        index.entry(place).done = True
        index.save(begin=True)
        # Drive's version is not known without asking; the first listing gives another one, and so a reading.
        return f"drawn {file.file_id}"

    def _is_finished(self, place: Place, found: Json, spec: WorkbookSpec) -> bool:
        """Say whether a file is the workbook; False for one that waits to be drawn.

        Raises:
            BackendError: it is something else.
        """
        marker = parse_spreadsheet(found).marker
        if marker and marker == spec.marker:
            return True
        foreign = foreign_content(found)
        if marker or foreign or self._places.index.entry(place).done is True:
            what = (
                f"its tab {foreign!r} holds something" if foreign and not marker else "it is another workbook"
            )
            raise BackendError(
                f"{self.location(place)} is in the way at {place}: {what}.",
                "Move it to the trash (or adopt a blank spreadsheet) and run the command again.",
            )
        return False

    # --- people

    def share(self, place: Place) -> str:
        """Let in everybody the workbook is for who has not been let in yet: one call for each, often none."""
        entry = self._places.index.find(place)
        if entry is None or not entry.file_id:
            return "It is not made yet, so it is not shared."
        guests, obstacles = guests_of(place, self._settings), []
        waiting = [guest for guest in guests if guest.address and guest.address not in entry.shared]
        try:
            me = self._me() if waiting else ""
        except GoogleError as error:
            return f"It could not be shared: {error}"
        for guest in guests:
            if not guest.address:
                obstacles.append(f"It is not shared with {guest.name}, who has no email in study.toml.")
            elif guest in waiting and guest.address.casefold() != me.casefold():
                try:
                    entry.shared[guest.address] = self._places.files.grant(entry.file_id, guest.address)
                except GoogleError as error:
                    obstacles.append(f"It could not be shared with {guest.address}: {error}")
        self._places.index.save(begin=True)
        return " ".join(obstacles)

    def exposures(self, places: Sequence[Place]) -> Sequence[str]:
        """Compare who can open each spreadsheet with whom it is for: one listing, more in a shared drive."""
        accesses = self._places.accesses(places)
        return [str(each) for access in accesses for each in exposures_of(access, self._settings)]

    # --- reading and rewriting

    def read(self, place: Place) -> Reading:
        """Read every tab with one call; of a workbook of ours also what a rewrite has to know."""
        if place.audience == "raters":
            return parse_spreadsheet(self._inside(place, READ_FIELDS))
        self._seen[place] = found = self._inside(place)
        return parse_spreadsheet(found)

    def _inside(self, place: Place, fields: str = READ_AND_PRESENT_FIELDS) -> Json:
        file_id = self._places.file_id(place)
        try:
            return self._places.books.inside(file_id, fields)
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
        entry = self._places.index.find(place)
        is_there = entry is not None and entry.file_id != "" and entry.done is not False
        file = self._places.files.look(entry.file_id) if entry and is_there else None
        if file is None and (version_read is None or force):
            return self._made(place, spec)
        if entry is None or file is None or not (force or self._is_as_read(place, file, version_read)):
            return Replaced(self.location(place), obstacle=_CHANGED)
        version, found = file.version, self._seen.get(place)
        if force:
            found = self._inside(place)
            self._back_up(place, found)
        elif version != known.version:
            found = found or self._inside(place)
            obstacle = _foreign(found, spec, known)
            if obstacle:
                return Replaced(self.location(place), obstacle=obstacle)
        if found is None and (entry.present is None or entry.present_version != version):
            found = self._inside(place)
        return self._drawn(place, spec, found or entry.present or {})

    def _is_as_read(self, place: Place, now: DriveFile, version_read: str | None) -> bool:
        """Say whether nobody changed a file since its version was listed.

        Drive counts what nobody can see as well, perhaps even that we read it; then the time of the last change
        still stands.
        """
        listed = self._places.listed(place, now.file_id)
        is_same = listed is not None and listed.version == version_read and listed.modified == now.modified
        return now.version == version_read or is_same

    def _made(self, place: Place, spec: WorkbookSpec) -> Replaced:
        """Make a workbook that is missing, or draw one to the end that an earlier run began."""
        file, is_new = self._places.found_or_made(place, spec.title)
        found = None if is_new else self._places.books.inside(file.file_id)
        if found is not None:
            self._is_finished(place, found, spec)
        return self._drawn(place, spec, found)

    def _drawn(self, place: Place, spec: WorkbookSpec, found: Json | None) -> Replaced:
        """Draw over what was found, and note what stands there then, so that the next rewrite need not look."""
        entry = self._places.index.entry(place)
        self._seen.pop(place, None)
        present = NEW_FILE if found is None else present_in(found)
        after = self._places.books.draw(entry.file_id, spec, present, [self._me()], is_new=False)
        tabs = [{name: held for name, held in tab.items() if name != "data"} for tab in after["sheets"]]
        entry.done, entry.gone, entry.present = True, False, {**after, "sheets": tabs}
        entry.present_version = self._places.version_now(entry.file_id)
        entry.version = newest(entry.version, entry.present_version)
        self._places.index.save(begin=True)
        return Replaced(self.location(place), entry.present_version)

    def _me(self) -> str:
        """Return who draws: whoever rewrites protected cells has to stay among their editors."""
        client, index = self._places.client, self._places.index
        if not client.address:
            client.address = index.address = self._places.files.me()
        return client.address

    def _back_up(self, place: Place, found: Json) -> None:
        """Keep what Google showed, under the first free number."""
        folder = self._private / "backups"
        names = (folder / f"{number:04d}-{place.audience}.json" for number in count(1))
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with next(name for name in names if not name.exists()).open("x", encoding="utf-8") as file:
                json.dump(found, file, ensure_ascii=False)
        except OSError as error:
            raise BackendError(
                f"No backup can be written to {folder} ({error.strerror or error}), so nothing was replaced.",
                "Check free space and who may write to the study folder, and run the command again.",
            ) from error

    def type_cells(
        self, place: Place, tab: str, cells: Mapping[tuple[int, int], str | int | float | bool | None]
    ) -> None:
        """Enter values as the account that is signed in."""
        self._seen.pop(place, None)
        self._places.books.enter(self._places.file_id(place), tab, cells)


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
