"""The steps of `doctor` in a throw-away file: is there room, can it be found, written, read, shared and removed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from sheetsync.backends.base import Place
from sheetsync.backends.diagnosis import Finding
from sheetsync.backends.google_errors import RATE_REASONS, GoogleError
from sheetsync.backends.google_files import ANY_DRIVE, FILES
from sheetsync.backends.google_formats import Json
from sheetsync.backends.google_http import GoogleClient
from sheetsync.backends.google_places import GooglePlaces, address_of
from sheetsync.backends.google_present import NEW_FILE
from sheetsync.backends.google_read import parse_spreadsheet
from sheetsync.backends.google_sign_in_steps import SignIn
from sheetsync.backends.google_throwaway import PATTERN, Throwaway, take_away
from sheetsync.domain.study import StudyFile
from sheetsync.domain.workbook import expected_reading
from sheetsync.errors import BackendError

_LIMITS = RATE_REASONS | {"sharingRateLimitExceeded", "dailyLimitExceeded"}
"""Why sharing is refused for a while only."""

_FOLDER = "application/vnd.google-apps.folder"


class Reach:
    """What the steps after the sign-in reach Google with; nothing is asked before the first of them."""

    def __init__(self, settings: StudyFile, sign_in: SignIn) -> None:
        self.settings, self.sign_in = settings, sign_in

    @cached_property
    def client(self) -> GoogleClient:
        """The one client."""
        return self.sign_in.client()

    @cached_property
    def places(self) -> GooglePlaces:
        """The study's spreadsheets; its index is looked at and never saved."""
        return GooglePlaces(self.settings, self.sign_in.private, lambda: self.client)

    @property
    def me(self) -> str:
        """The address that is signed in, or words for it."""
        return self.client.address or "the account that is signed in"

    def look(self, file_id: str, fields: str) -> Json | None:
        """Return what Drive says of a file, None where it is not to be seen."""
        try:
            return self.client.call("get", f"{FILES}/{file_id}", {"fields": fields, **ANY_DRIVE})
        except GoogleError as error:
            if error.status == 404:
                return None
            raise


class Trial:
    """The steps that need the throw-away file, from the folder it goes to up to its removal."""

    def __init__(self, reach: Reach, known: Sequence[Place]) -> None:
        self._reach, self._known = reach, known
        self._settings, self._google = reach.settings, reach.settings.backend.google
        self._is_shared_drive = False

    @cached_property
    def _throwaway(self) -> Throwaway:
        return Throwaway(self._reach.places.files)

    def clean_up(self) -> None:
        """Take the throw-away file away if a step or Ctrl-C left it there."""
        if "_throwaway" in self.__dict__:  # else no step came so far
            self._throwaway.clean_up()

    def leftovers(self) -> Iterator[Finding]:
        """Take away what earlier runs had to leave."""
        now = self._reach.sign_in.google_now()
        old, young = self._throwaway.leftovers(now)
        stuck = []
        for file_id in old:
            try:
                take_away(self._reach.client, file_id)
            except BackendError:
                stuck.append(file_id)
        if stuck:
            yield Finding("warning", "Throw-away files of earlier runs cannot be removed.", _by_hand(stuck))
        if young:
            found = "A throw-away file is there that another run made a moment ago."
            yield Finding(
                "warning", found, "If no other `sheetsync doctor` is at work, run it again in 15 minutes."
            )
        removed = len(old) - len(stuck)
        if removed:
            yield Finding("ok", f"Throw-away files of earlier runs that are removed now: {removed}.")
        elif not stuck and not young:
            yield Finding("ok", "No throw-away file of an earlier run is left.")

    def folder(self) -> Iterator[Finding]:
        """Look whether files may be made where study.toml says."""
        if not self._google.folder:
            yield Finding(
                "ok", f"study.toml names no folder: new files lie in the Drive of {self._reach.me}."
            )
            return
        fields = "name,mimeType,trashed,driveId,capabilities"
        found = self._reach.look(self._reach.places.files.folder, fields)
        if found is None:
            raise BackendError(
                f"The folder of study.toml is not there, or {self._reach.me} may not see it.",
                f"Share the folder with {self._reach.me} as an editor (in a shared drive: make it a content manager), "
                "or correct [backend.google] `folder`.",
            )
        name = f"The folder {found.get('name', '')!r}"
        if found.get("mimeType") != _FOLDER:
            raise BackendError(f"{name} is a file.", "Put the id of a folder into [backend.google] `folder`.")
        if found.get("trashed"):
            raise BackendError(f"{name} is in the trash.", "Take it out of the trash, or name another one.")
        if not found.get("capabilities", {}).get("canAddChildren"):
            raise BackendError(
                f"{self._reach.me} may see {name[0].lower()}{name[1:]}, but add nothing to it.",
                f"Make {self._reach.me} an editor of it (in a shared drive: a content manager).",
            )
        self._is_shared_drive = bool(found.get("driveId"))
        where = "a shared drive" if self._is_shared_drive else "somebody's own Drive, not in a shared drive"
        yield Finding("ok", f"{name} can be written to; it lies in {where}.")

    def storage(self) -> Iterator[Finding]:
        """Make the throw-away file."""
        try:
            self._throwaway.make()
        except GoogleError as error:
            if error.reason != "storageQuotaExceeded":
                raise
            lacking = self._not_adopted() if self._google.adopt else []
            if lacking or not self._google.adopt:
                raise self._without_room(error, lacking) from None
            yield Finding(
                "skipped", f"{self._reach.me} has no room for files and needs none: all are adopted."
            )
            return
        yield Finding("ok", "A throw-away spreadsheet was made where new workbooks go.")

    def _without_room(self, error: GoogleError, lacking: Sequence[str]) -> BackendError:
        found, fix = error.message, error.remedy
        if self._google.folder and not self._is_shared_drive:
            found += " A folder in somebody's own Drive does not change that: it must be in a shared drive."
        if lacking:
            fix += f" Not adopted yet: {', '.join(lacking)}."
        return BackendError(found, fix)

    def _not_adopted(self) -> list[str]:
        """Return the workbooks that have to be made sooner or later, as `adopt` would name them."""
        planned = self._known or [Place("raters", rater.id, "main") for rater in self._settings.raters]
        named = (str(place).removeprefix("raters/") for place in planned)
        return [name for name in (*named, "summary", "adjudication") if name not in self._google.adopt]

    def listing(self) -> Iterator[Finding]:
        """Look whether Drive finds it, as it has to find workbooks."""
        where = "shared drives included" if self._google.folder or self._google.adopt else "in the own Drive"
        if self._throwaway.is_listed():
            yield Finding("ok", f"Drive lists the file by its mark, {where}.")
        else:
            found = "Drive does not list the file yet; it sometimes takes minutes."
            fix = "Run again in some minutes."
            if self._is_shared_drive:
                fix += " If that lasts, make the account a member of the shared drive itself, not of a folder only."
            yield Finding("warning", found, fix)

    def writing(self) -> Iterator[Finding]:
        """Draw into it as workbooks are drawn."""
        me = self._reach.client.address
        file_id = self._throwaway.file_id
        self._reach.places.books.draw(file_id, PATTERN, NEW_FILE, [me] if me else [], is_new=True)
        yield Finding("ok", "Cells, formats and a protected tab were written into it.")

    def reading(self) -> Iterator[Finding]:
        """Read it as workbooks are read."""
        reading = parse_spreadsheet(self._reach.places.books.inside(self._throwaway.file_id))
        wanted = expected_reading(PATTERN)
        tab = wanted.tabs[0]
        if reading.marker != wanted.marker or reading.tab(tab.title) != tab:
            found = "What was written into the file comes back changed."
            raise BackendError(
                found, "Run again. If that lasts, report it: workbooks would not be kept whole."
            )
        yield Finding("ok", "What was written comes back unchanged.")

    def sharing(self) -> Iterator[Finding]:
        """Share it with a coordinator, without a mail."""
        me = self._reach.client.address.casefold()
        emails = [person.email for person in self._settings.people.coordinators if person.email]
        address = next((email for email in emails if email.casefold() != me), "")
        if not address:
            found = "Not tried: study.toml has no coordinator with another email than that of the account."
            yield Finding("skipped", found, "To have it tried, give a coordinator an `email` under [people].")
            return
        try:
            self._throwaway.share(address)
        except GoogleError as error:
            if error.status == 403 and error.reason not in _LIMITS:
                raise self._may_not_share(error, address) from None
            if error.reason != "invalidSharingRequest" or not self._google.notify:
                raise
            yield Finding(
                "ok", f"{address} belongs to no Google account and can be shared with by mail only."
            )
            return
        yield Finding("ok", f"The file could be shared with {address}; no mail was sent.")

    def _may_not_share(self, error: GoogleError, address: str) -> BackendError:
        place = "the shared drive's managers" if self._is_shared_drive else "the organisation's administrator"
        role = f"make {self._reach.me} a content manager, and " if self._is_shared_drive else ""
        fix = f"{role}have {place} allow sharing files with {address}."
        return BackendError(
            f"A file may not be shared with {address}: {error.message}", fix[0].upper() + fix[1:]
        )

    def removal(self) -> Iterator[Finding]:
        """Take it away."""
        file_id = self._throwaway.file_id
        try:
            how = self._throwaway.remove()
        except BackendError as error:
            self._throwaway.give_up()
            role = " Then make the account a content manager." if self._is_shared_drive else ""
            yield Finding(
                "warning", f"The throw-away file stays: {error.message}", _by_hand([file_id]) + role
            )
            return
        yield Finding("ok", f"The throw-away file was {how}.")


def _by_hand(file_ids: Sequence[str]) -> str:
    return f"Delete by hand: {', '.join(address_of(file_id) for file_id in file_ids)}."
