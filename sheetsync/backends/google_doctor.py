"""`doctor` on Google: every step that a study takes there, tried in a throw-away file.

Nothing of the study is changed: neither a workbook nor the index, so that a command at work is not disturbed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from gspread.urls import SPREADSHEET_URL

from sheetsync.backends.base import Place
from sheetsync.backends.diagnosis import Finding, Step, examine
from sheetsync.backends.google_errors import GoogleError
from sheetsync.backends.google_files import SPREADSHEET, id_in
from sheetsync.backends.google_places import address_of
from sheetsync.backends.google_sharing import exposures_of
from sheetsync.backends.google_sign_in_steps import Means, SignIn
from sheetsync.backends.google_trial_steps import Reach, Trial
from sheetsync.domain.study import StudyFile

_NO_SUCH_FILE = "1" + "A" * 43
"""An id that nothing has: that Sheets says so shows that it answers."""


def diagnose_google(
    settings: StudyFile,
    root: Path,
    private: Path,
    places: Sequence[Place],
    progress: Callable[[str], None] = lambda _: None,
    means: Means | None = None,
) -> Iterator[Finding]:
    """Yield what every step finds; the throw-away file is gone afterwards, also after Ctrl-C.

    Args:
        settings: the study's settings.
        root: the study folder.
        private: its `.sheetsync` folder.
        places: the raters' workbooks that the archive knows.
        progress: told the name of a step before it is tried.
        means: what reaches Google.
    """
    doctor = _GoogleDoctor(settings, SignIn(settings, root, private, means or Means()), places)
    try:
        yield from examine(doctor.steps(), progress)
    finally:
        doctor.trial.clean_up()


class _GoogleDoctor:
    def __init__(self, settings: StudyFile, sign_in: SignIn, known: Sequence[Place]) -> None:
        self._settings, self._known = settings, known
        self._google = settings.backend.google
        self._reach = Reach(settings, sign_in)
        self.trial = Trial(self._reach, known)

    def steps(self) -> list[Step]:
        """Return the steps in the order of their needs."""
        first, trial = self._reach.sign_in, self.trial
        return [
            Step("network", first.network),
            Step("clock", first.clock, ["network"]),
            Step("credentials", first.credentials),
            Step("token", first.token, ["network", "credentials"]),
            Step("sign-in age", first.age, ["network", "credentials"]),
            Step("Drive API", self._drive_api, ["token"]),
            Step("account", self._account, ["Drive API"]),
            Step("Sheets API", self._sheets_api, ["token"]),
            Step("leftovers", trial.leftovers, ["Drive API"]),
            Step("folder", trial.folder, ["Drive API"]),
            Step("storage", trial.storage, ["folder"]),
            Step("listing", trial.listing, ["storage"]),
            Step("writing", trial.writing, ["Sheets API", "storage"]),
            Step("reading", trial.reading, ["writing"]),
            Step("sharing", trial.sharing, ["storage"]),
            Step("removal", trial.removal, ["storage"]),
            Step("adopted", self._adopted, ["Drive API"]),
            Step("workbooks", self._workbooks, ["Drive API"]),
            Step("access", self._access, ["Drive API"]),
        ]

    # --- both APIs, and who we are

    def _drive_api(self) -> Iterator[Finding]:
        self._reach.client.address = self._reach.places.files.me() or self._reach.client.address
        yield Finding("ok", "The Google Drive API answers.")

    def _account(self) -> Iterator[Finding]:
        me, before = self._reach.me, self._reach.places.index.address
        if before and before.casefold() != me.casefold():
            yield Finding(
                "warning",
                f"Signed in as {me}, but {before} made the study's workbooks: perhaps the wrong account.",
                f"To go on as {before}, name its credentials in study.toml, or delete .sheetsync/token.json and run "
                "`sheetsync provision` in a terminal.",
            )
            return
        rater = next((r.id for r in self._settings.raters if r.email.casefold() == me.casefold()), "")
        if rater:
            yield Finding(
                "warning",
                f"Signed in as {me}, which is the rater {rater}: the owner of the files can open all of them.",
                "Sign in as somebody who does not rate, or with a service account.",
            )
            return
        yield Finding("ok", f"Signed in as {me}.")

    def _sheets_api(self) -> Iterator[Finding]:
        try:
            self._reach.client.call("get", SPREADSHEET_URL % _NO_SUCH_FILE, {"fields": "spreadsheetId"})
        except GoogleError as error:
            if error.status != 404:
                raise
        yield Finding("ok", "The Google Sheets API answers.")

    # --- what the study has

    def _adopted(self) -> Iterator[Finding]:
        faulty = False
        for name, address in self._google.adopt.items():
            finding = self._adopted_one(name, id_in(address))
            faulty |= finding is not None
            if finding:
                yield finding
        if not faulty:
            number = len(self._google.adopt)
            edited = f"Adopted spreadsheets that can be edited: {number}."
            yield Finding("ok", edited if number else "study.toml adopts no spreadsheet.")

    def _adopted_one(self, name: str, file_id: str) -> Finding | None:
        found = self._reach.look(file_id, "mimeType,trashed,capabilities")
        share = f"Share {address_of(file_id)} with {self._reach.me} as an editor."
        if found is None:
            return Finding(
                "failed", f"The spreadsheet adopted as {name} is not there for {self._reach.me}.", share
            )
        if found.get("trashed"):
            return Finding("failed", f"The spreadsheet adopted as {name} is in the trash.", "Take it out.")
        if found.get("mimeType") != SPREADSHEET:
            fix = "Save it as a Google spreadsheet and put that one's address into study.toml."
            return Finding("failed", f"What is adopted as {name} is no Google spreadsheet.", fix)
        if not found.get("capabilities", {}).get("canEdit"):
            return Finding(
                "failed", f"{self._reach.me} may only look at the spreadsheet adopted as {name}.", share
            )
        return None

    @property
    def _made(self) -> list[Place]:
        """Return the workbooks that should be there."""
        others = [
            place
            for place in (Place("summary"), Place("adjudication"))
            if self._reach.places.index.find(place)
        ]
        return [*self._known, *others]

    def _workbooks(self) -> Iterator[Finding]:
        made = self._made
        if made:
            self._reach.places.refresh()
        missing = [place for place in made if self._reach.places.current(place) is None]
        if missing:
            which = ", ".join(f"{place} ({self._reach.places.location(place)})" for place in missing[:3])
            more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
            yield Finding(
                "failed",
                f"{len(missing)} of {len(made)} workbooks are not there for {self._reach.me}: {which}{more}.",
                f"If another account made them, use its credentials or share them with {self._reach.me}; else take "
                "them out of the trash, or run `sheetsync provision` and `sheetsync publish`, which make them anew.",
            )
        else:
            yield Finding("ok", f"Workbooks that are there: {len(made)}.")

    def _access(self) -> Iterator[Finding]:
        accesses = list(self._reach.places.accesses(self._made))
        found = [each for access in accesses for each in exposures_of(access, self._settings)]
        for each in found:
            yield Finding("warning", each.found, each.fix)
        if not found:
            number = len(accesses)
            words = f"Workbooks that are open to those they are for, and to nobody else: {number}."
            yield Finding("ok", words if number else "There is no workbook that somebody could open.")
