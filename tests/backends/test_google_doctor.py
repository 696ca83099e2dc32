"""The doctor on an emulated Google: every fault is told from the others, with its own fix, and nothing is left."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import requests
from google.auth.exceptions import DefaultCredentialsError
from google.auth.transport.requests import AuthorizedSession, Request

from sheetsync.backends.base import Place
from sheetsync.backends.diagnosis import Finding
from sheetsync.backends.google import GoogleBackend
from sheetsync.backends.google_auth import Asker
from sheetsync.backends.google_doctor import diagnose_google
from sheetsync.backends.google_files import ANY_DRIVE, FILES, SPREADSHEET
from sheetsync.backends.google_http import Tempo
from sheetsync.backends.google_session import EMULATED
from sheetsync.backends.google_sign_in_steps import Means
from sheetsync.backends.google_throwaway import DOCTOR_KEY, LEFT_SECONDS
from sheetsync.domain.study import StudyFile
from tests.backends.contract import scoring_spec
from tests.backends.google_worlds import SERVICE, STUDY, client, settings
from tests.sheets_emulator import Emulator, VirtualClock, faults, make_service_account_key
from tests.sheets_emulator.drive_state import FOLDER, DriveFile

ANN, COORDINATOR = "ann@example.org", "c1@example.org"
TEXT = STUDY + f'coordinators = [{{ id = "C1", email = "{COORDINATOR}" }}]\n'
DRIVE_FILE, DRIVE, SHEETS = (
    "https://www.googleapis.com/auth/" + name for name in ("drive.file", "drive", "spreadsheets")
)
A1, A2 = Place("raters", "A1", "main"), Place("raters", "A2", "main")
DAY = 86_400.0

STEPS = (
    "network", "clock", "credentials", "token", "sign-in age", "Drive API", "account", "Sheets API", "leftovers",
    "folder", "storage", "listing", "writing", "reading", "sharing", "removal", "adopted", "workbooks", "access",
)  # fmt: skip


@pytest.fixture(scope="module")
def key() -> dict[str, str]:
    return make_service_account_key(SERVICE)


@dataclass
class Clinic:
    """An emulator, a study folder, and who signs in there: the robot with its key, unless told otherwise."""

    emulator: Emulator
    folder: Path
    key: dict[str, str]
    google: dict[str, Any] = field(default_factory=dict)
    text: str = TEXT
    places: Sequence[Place] = ()
    environ: dict[str, str] = field(default_factory=dict)
    local: float = 0.0
    """Seconds that this computer's clock is ahead of the emulator's."""

    @property
    def private(self) -> Path:
        return self.folder / ".sheetsync"

    @property
    def study(self) -> StudyFile:
        return settings(self.google, self.text)

    def drive(self, role: str = "fileOrganizer", address: str = SERVICE) -> str:
        """Let the study lie in a shared drive."""
        members = {COORDINATOR: "organizer", address: role}
        self.google["folder"] = self.emulator.shared_drive("Studies", members)
        return str(self.google["folder"])

    def put_key(self, text: str | None = None) -> Path:
        path = self.folder / "credentials.json"
        path.write_text(json.dumps(self.key) if text is None else text)
        path.chmod(0o600)
        return path

    def user(
        self, scopes: Sequence[str] = (DRIVE_FILE, SHEETS), *, days: float = 0.0, testing: bool = False
    ) -> None:
        """Let Ann have signed in so many days ago."""
        name, secret = next(iter(self.emulator.oauth.clients.items()))
        self.put_key(json.dumps({"installed": {"client_id": name, "client_secret": secret}}))
        info = self.emulator.oauth.make_user(ANN, list(scopes), testing=testing)
        self.private.mkdir(mode=0o700, exist_ok=True)
        token = self.private / "token.json"
        token.write_text(json.dumps({**info, "scopes": list(scopes)}))
        token.chmod(0o600)
        made = self.emulator.clock.now() - days * DAY
        os.utime(token, (made, made))
        self.emulator.oauth.refresh[info["refresh_token"]].made = made

    def means(self) -> Means:
        clock = self.emulator.clock

        def signed(credentials: Any, _: str) -> requests.Session:
            if credentials is None:
                return self.emulator.session(EMULATED)
            session = AuthorizedSession(credentials, auth_request=Request(self.emulator.session()))  # type: ignore[no-untyped-call]
            for prefix, adapter in self.emulator.session().adapters.items():
                session.mount(prefix, adapter)
            return session

        def none(_: list[str]) -> Any:
            raise DefaultCredentialsError("nothing")  # type: ignore[no-untyped-call]

        return Means(
            host=lambda: "",
            bare=lambda _: self.emulator.session(),
            signed=signed,
            asker=Asker(self.environ, lambda: False, default=none),
            tempo=Tempo(clock.now, clock.advance, lambda: 0.5, deadline=90.0),
            now=lambda: clock.now() + self.local,
        )

    def diagnose(self, progress: Callable[[str], None] = lambda _: None) -> list[Finding]:
        found = diagnose_google(self.study, self.folder, self.private, self.places, progress, self.means())
        return list(found)

    def backend(self, identity: str) -> GoogleBackend:
        return GoogleBackend(self.study, self.private, lambda: client(self.emulator, identity))

    def provision(self, identity: str, *places: Place) -> None:
        """Make workbooks and share them."""
        self.places = places
        backend = self.backend(identity)
        for place in places:
            backend.create(place, scoring_spec(f"study/{place.rater}/main"))
            backend.share(place)

    def file(self, owner: str, name: str = "book", mime_type: str = FOLDER, **roles: str) -> str:
        """Make a file of a person's; `roles` are those of the robot."""
        now = self.emulator.files.tick()
        root = self.emulator.files.root_of(owner)
        made = DriveFile(self.emulator.files.new_id(), name, mime_type, owner, now, now, [root])
        self.emulator.files.grant(made, "user", "owner", owner)
        for role in roles.values():
            self.emulator.files.grant(made, "user", role, SERVICE)
        return self.emulator.files.add(made).file_id

    def book(self, owner: str, role: str = "") -> str:
        """Make a blank spreadsheet of a person's, and give the robot that role."""
        made = client(self.emulator, owner).call(
            "post",
            FILES,
            {},
            {"name": "book", "mimeType": SPREADSHEET},
        )
        if role:
            self.emulator.files.grant(self.emulator.files.files[made["id"]], "user", role, SERVICE)
        return str(made["id"])

    def throwaways(self) -> list[DriveFile]:
        files = self.emulator.spreadsheets()
        return [file for file in files if DOCTOR_KEY in file.app_properties and not file.trashed]


@pytest.fixture
def clinic(tmp_path: Path, key: dict[str, str]) -> Clinic:
    emulator = Emulator(VirtualClock(), seed=1, quota="real")
    emulator.check_answers = True
    emulator.oauth.trust(key)
    made = Clinic(emulator, tmp_path, key)
    made.put_key()
    return made


def states(findings: Sequence[Finding], *wanted: str) -> list[str]:
    return [f"{each.step}: {each.state}" for each in findings if each.state in wanted]


def of(findings: Sequence[Finding], step: str) -> Finding:
    (found,) = (each for each in findings if each.step == step)
    return found


# --- everything in order ---


def test_a_robot_in_a_shared_drive(clinic: Clinic) -> None:
    clinic.drive()
    findings = clinic.diagnose()
    assert tuple(each.step for each in findings) == STEPS
    assert states(findings, "warning", "failed", "skipped") == []
    assert SERVICE in of(findings, "credentials").found
    assert "shared drive" in of(findings, "folder").found
    assert COORDINATOR in of(findings, "sharing").found
    assert "moved to the trash" in of(findings, "removal").found
    assert clinic.emulator.mails == []
    assert not any(each.fix for each in findings)


def test_a_user_in_the_own_drive(clinic: Clinic) -> None:
    clinic.user(days=30)
    findings = clinic.diagnose()
    assert states(findings, "warning", "failed", "skipped") == []
    assert "deleted" in of(findings, "removal").found
    assert clinic.emulator.spreadsheets() == []
    assert "30 days ago and still works" in of(findings, "sign-in age").found


def test_how_many_calls_it_takes(clinic: Clinic) -> None:
    clinic.drive()
    clinic.diagnose()
    kinds = [call.kind for call in clinic.emulator.calls]
    assert len(kinds) <= 20
    assert clinic.emulator.count("read") + clinic.emulator.count("write") == 3


# --- one fault at a time ---


@dataclass(frozen=True)
class Case:
    """What is wrong, the step that tells, and words of the finding and of the fix."""

    arrange: Callable[[Clinic], Any]
    step: str
    found: str
    fix: str
    state: str = "failed"


def skewed(seconds: float) -> Callable[[Clinic], None]:
    def arrange(clinic: Clinic) -> None:
        clinic.drive()
        clinic.emulator.oauth.skew = seconds

    return arrange


def account_deleted(clinic: Clinic) -> None:
    clinic.drive()
    clinic.emulator.oauth.forget(clinic.key)


def key_deleted(clinic: Clinic) -> None:
    clinic.emulator.service_account_key(SERVICE)
    account_deleted(clinic)


def revoked(clinic: Clinic) -> None:
    clinic.user(days=2)
    clinic.emulator.oauth.revoke(ANN)


def other_client(clinic: Clinic) -> None:
    clinic.user()
    clinic.put_key(json.dumps({"installed": {"client_id": "other", "client_secret": "hush"}}))


def narrow(clinic: Clinic) -> None:
    clinic.user()
    clinic.drive(address=ANN)


def unsigned(clinic: Clinic) -> None:
    clinic.user()
    (clinic.private / "token.json").unlink()


def damaged_token(clinic: Clinic) -> None:
    clinic.user()
    (clinic.private / "token.json").write_text("{")


def folder(**roles: str) -> Callable[[Clinic], None]:
    def arrange(clinic: Clinic) -> None:
        clinic.google["folder"] = clinic.file("boss@example.org", **roles)

    return arrange


def no_folder_but_a_file(clinic: Clinic) -> None:
    clinic.google["folder"] = clinic.book("boss@example.org", "writer")


def trashed_folder(clinic: Clinic) -> None:
    folder(role="writer")(clinic)
    clinic.emulator.files.files[clinic.google["folder"]].trashed = True


def adopting(role: str, *names: str) -> Callable[[Clinic], None]:
    def arrange(clinic: Clinic) -> None:
        clinic.google["adopt"] = {name: clinic.book("boss@example.org", role) for name in names}

    return arrange


def adopting_a_folder(clinic: Clinic) -> None:
    clinic.drive()
    clinic.google["adopt"] = {"summary": clinic.file("boss@example.org", role="writer")}


def full(clinic: Clinic) -> None:
    clinic.user(days=30)
    clinic.emulator.full_storage.add(ANN)


def off(service: str) -> Callable[[Clinic], None]:
    def arrange(clinic: Clinic) -> None:
        clinic.drive()
        clinic.emulator.disabled_apis.add(service)

    return arrange


def fault(made: faults.Fault, kind: str, times: int = 99) -> Callable[[Clinic], None]:
    def arrange(clinic: Clinic) -> None:
        clinic.drive()
        clinic.emulator.faults.add(made, kind, times=times)

    return arrange


def unknown_address(clinic: Clinic) -> None:
    clinic.drive()
    clinic.emulator.addresses_without_account.add(COORDINATOR)


def other_account(clinic: Clinic) -> None:
    clinic.user(days=30)
    clinic.private.mkdir(exist_ok=True)
    index = {"study": "study", "address": "old@example.org", "complete": True, "places": {}}
    (clinic.private / "google.json").write_text(json.dumps(index))


def rater(clinic: Clinic) -> None:
    clinic.user(days=30)
    clinic.text = clinic.text.replace("a1@example.org", ANN)


def not_seen(clinic: Clinic) -> None:
    clinic.drive()
    clinic.provision(SERVICE, A1, A2)
    book = clinic.backend(SERVICE).location(A1).split("/")[-2]
    client(clinic.emulator, SERVICE).call("patch", f"{FILES}/{book}", ANY_DRIVE, {"trashed": True})


def by_link(clinic: Clinic) -> None:
    clinic.drive()
    clinic.provision(SERVICE, A1, A2)
    book = clinic.emulator.files.files[clinic.backend(SERVICE).location(A2).split("/")[-2]]
    clinic.emulator.files.grant(book, "anyone", "reader")


def shut_out(clinic: Clinic) -> None:
    by_link(clinic)
    book = clinic.emulator.files.files[clinic.backend(SERVICE).location(A2).split("/")[-2]]
    book.permissions.clear()


def open_key(clinic: Clinic) -> None:
    clinic.drive()
    clinic.put_key().chmod(0o644)


def listing_lags(clinic: Clinic) -> None:
    clinic.drive()
    clinic.emulator.drive_lag = 120.0


SAYS = "Share the folder with " + SERVICE
CASES: Mapping[str, Case] = {
    "no credentials": Case(
        lambda c: (c.folder / "credentials.json").unlink(),
        "credentials",
        "There are no credentials",
        "Put a service-account key or an OAuth client there",
    ),
    "an OAuth client in place of a key": Case(
        unsigned,
        "credentials",
        "is an OAuth client, not a key",
        "put the key of a service account in its place",
    ),
    "a damaged sign-in": Case(
        damaged_token, "credentials", "token.json is damaged", "Delete .sheetsync/token.json"
    ),
    "another client's sign-in": Case(
        other_client, "credentials", "another OAuth client", "Delete .sheetsync/token.json"
    ),
    "a sign-in without the folder's scope": Case(
        narrow, "credentials", "does not cover", "ticking every box"
    ),
    "the key alone": Case(
        lambda c: c.put_key(c.key["private_key"]),
        "credentials",
        "holds a private key alone",
        "Give the whole JSON file",
    ),
    "half a key": Case(
        lambda c: c.put_key(json.dumps({**c.key, "private_key": c.key["private_key"][:900]})),
        "credentials",
        "damaged or not complete",
        "Download them again",
    ),
    "some other JSON": Case(
        lambda c: c.put_key('{"api_key": "AIza"}'),
        "credentials",
        "neither a service-account key",
        "one of these, whole",
    ),
    "a key that others may read": Case(
        open_key, "credentials", "Others on this computer may read credentials.json", "chmod 600", "warning"
    ),
    "a clock that is late": Case(skewed(4000), "clock", "66 minutes behind", "Set this computer's clock"),
    "a clock that is early": Case(skewed(-4000), "clock", "66 minutes ahead", "Set this computer's clock"),
    "a clock a little off": Case(
        skewed(130), "clock", "2 minutes behind", "Set this computer's clock", "warning"
    ),
    "a deleted key": Case(key_deleted, "token", "does not know the key", "Make a new key"),
    "a deleted account": Case(
        account_deleted, "token", f"knows no account {SERVICE}", "service account that exists"
    ),
    "a sign-in of eight days": Case(
        lambda c: c.user(days=8, testing=True),
        "sign-in age",
        "8 days ago; in testing mode it lasts seven",
        "Publish the app",
    ),
    "a sign-in taken back": Case(revoked, "token", "expired or was revoked", "sign in again"),
    "a young sign-in": Case(
        lambda c: c.user(days=2.5),
        "sign-in age",
        "2 days ago. If the app's consent",
        "Publish the app",
        "warning",
    ),
    "the Drive API": Case(
        off("drive"), "Drive API", "Google Drive API is not enabled", "/library/drive.googleapis.com"
    ),
    "the Sheets API": Case(
        off("sheets"), "Sheets API", "Google Sheets API is not enabled", "/library/sheets.googleapis.com"
    ),
    "a folder that is not shared": Case(folder(), "folder", f"or {SERVICE} may not see it", SAYS),
    "a folder to look at": Case(
        folder(role="reader"), "folder", "but add nothing to it", f"Make {SERVICE} an editor"
    ),
    "a shared drive to look at": Case(
        lambda c: c.drive("reader"), "folder", "but add nothing to it", "a content manager"
    ),
    "a folder in the trash": Case(trashed_folder, "folder", "in the trash", "Take it out"),
    "a file for a folder": Case(no_folder_but_a_file, "folder", "is a file", "the id of a folder"),
    "a robot without room": Case(
        lambda _: None, "storage", "no room of their own", "a folder of a shared drive"
    ),
    "a robot in a person's folder": Case(
        folder(role="writer"), "storage", "must be in a shared drive", "sign in as a user"
    ),
    "a robot that adopts one file": Case(
        adopting("writer", "A1/main"),
        "storage",
        "no room",
        "Not adopted yet: A2/main, summary, adjudication.",
    ),
    "a full Drive": Case(full, "storage", f"{ANN} has no room", "shared drive"),
    "a write that is refused": Case(
        fault(faults.refused("PERMISSION_DENIED"), "batchUpdate"), "writing", "does not let", "as an editor"
    ),
    "trouble at Google": Case(
        fault(faults.server_error(503), "spreadsheets.get"),
        "Sheets API",
        "error 503",
        "Run the command again",
    ),
    "Google's sharing limit": Case(
        fault(faults.refused("sharingRateLimitExceeded"), "permissions.create"),
        "sharing",
        "limit for sharing",
        "notify = false",
    ),
    "sharing that is not allowed": Case(
        fault(faults.refused("insufficientFilePermissions"), "permissions.create"),
        "sharing",
        f"may not be shared with {COORDINATOR}",
        f"have the shared drive's managers allow sharing files with {COORDINATOR}",
    ),
    "an address without account": Case(unknown_address, "sharing", "no Google account", "notify = true"),
    "a contributor cannot remove": Case(
        lambda c: c.drive("writer"),
        "removal",
        "The throw-away file stays",
        "make the account a content manager",
        "warning",
    ),
    "another account than before": Case(
        other_account,
        "account",
        "old@example.org made the study's workbooks",
        "delete .sheetsync/token.json",
        "warning",
    ),
    "a rater's account": Case(
        rater, "account", "which is the rater A1", "somebody who does not rate", "warning"
    ),
    "an adopted file that is not shared": Case(
        adopting("", "summary"),
        "adopted",
        f"adopted as summary is not there for {SERVICE}",
        f"with {SERVICE} as an editor",
    ),
    "an adopted file to look at": Case(
        adopting("reader", "summary"), "adopted", "may only look at", f"with {SERVICE} as an editor"
    ),
    "an adopted folder": Case(
        adopting_a_folder, "adopted", "is no Google spreadsheet", "Save it as a Google spreadsheet"
    ),
    "a workbook in the trash": Case(
        not_seen, "workbooks", "1 of 2 workbooks are not there", "out of the trash"
    ),
    "a workbook open by link": Case(
        by_link, "access", "anyone who has the link can open it", "Take that away under Share", "warning"
    ),
    "a rater who is shut out": Case(
        shut_out, "access", "A2 (a2@example.org) cannot open it", "Share it with that address", "warning"
    ),
    "a listing that lags": Case(
        listing_lags, "listing", "does not list the file yet", "Run again in some minutes", "warning"
    ),
}

WITH_CAUSE = {
    "a clock that is late": {"token"},
    "a clock that is early": {"token"},
    "a sign-in of eight days": {"token"},
    "an adopted file that is not shared": {"storage"},
    "an adopted file to look at": {"storage"},
}
"""What fails together with the step that names the cause."""


@pytest.mark.parametrize("name", CASES)
def test_each_fault_is_told_from_the_others(clinic: Clinic, name: str) -> None:
    case = CASES[name]
    case.arrange(clinic)
    findings = clinic.diagnose()
    (found,) = (each for each in findings if each.step == case.step and each.state != "ok")
    assert found.state == case.state
    assert case.found in found.found
    assert case.fix in found.fix
    failed = {each.step for each in findings if each.state == "failed"}
    assert failed - WITH_CAUSE.get(name, set()) == ({case.step} if case.state == "failed" else set())
    assert list(dict.fromkeys(each.step for each in findings)) == list(STEPS)
    assert all(each.found for each in findings)
    assert all(each.fix for each in findings if each.state in ("failed", "warning"))
    if name != "a contributor cannot remove":
        clinic.emulator.faults.clear()
        assert clinic.throwaways() == []
    assert_nothing_secret(clinic, findings)


def assert_nothing_secret(clinic: Clinic, findings: Sequence[Finding]) -> None:
    shown = repr(findings)
    oauth = clinic.emulator.oauth
    lines = clinic.key["private_key"].splitlines()[1:-1]
    secrets = [
        *(line[:20] for line in lines),
        clinic.key["private_key_id"],
        *oauth.clients.values(),
        *oauth.tokens,
    ]
    assert not [each for each in [*secrets, *oauth.refresh, "hush"] if each in shown]


# --- what depends on what ---


def test_what_cannot_be_tried_is_not_tried(clinic: Clinic) -> None:
    findings = clinic.diagnose()
    skipped = [each.step for each in findings if each.state == "skipped"]
    assert skipped == ["listing", "writing", "reading", "sharing", "removal"]
    assert {each.found for each in findings if each.state == "skipped"} == {
        "Not tried, because storage comes first."
    }
    key_deleted(clinic)
    findings = clinic.diagnose()
    assert [each.state for each in findings][:5] == ["ok", "ok", "ok", "failed", "ok"]
    assert {each.state for each in findings[5:]} == {"skipped"}


def test_a_wrong_clock_comes_first_whatever_google_says(clinic: Clinic) -> None:
    key_deleted(clinic)
    clinic.local = -4000
    assert of(clinic.diagnose(), "token").fix.startswith("Set the clock first. Make a new key")


def test_a_robot_for_which_everything_is_adopted_needs_no_room(clinic: Clinic) -> None:
    adopting("writer", "A1/main", "A2/main", "summary", "adjudication")(clinic)
    findings = clinic.diagnose()
    assert states(findings, "failed", "warning") == []
    assert "needs none: all are adopted" in of(findings, "storage").found
    assert of(findings, "adopted").found == "Adopted spreadsheets that can be edited: 4."


def test_a_sign_in_that_was_taken_back_is_not_the_seven_days(clinic: Clinic) -> None:
    revoked(clinic)
    assert "so it is not the seven days" in of(clinic.diagnose(), "sign-in age").found


def test_a_key_whose_line_breaks_were_lost(clinic: Clinic) -> None:
    clinic.drive()
    text = json.dumps({**clinic.key, "private_key": clinic.key["private_key"].replace("\n", "\\n")})
    clinic.environ["SHEETSYNC_CREDENTIALS"] = text
    findings = clinic.diagnose()
    said = of(findings, "credentials").found
    assert "from SHEETSYNC_CREDENTIALS. Its line breaks were lost" in said
    assert "goes before credentials.json" in said
    assert states(findings, "failed", "warning", "skipped") == []
    assert_nothing_secret(clinic, findings)


def test_a_write_that_is_not_kept(clinic: Clinic) -> None:
    clinic.drive()

    def spoil(name: str) -> None:
        if name == "reading":
            (file,) = clinic.throwaways()
            clinic.emulator.person(SERVICE).type(file.file_id, "Doctor!A3", "7")

    findings = clinic.diagnose(spoil)
    assert states(findings, "failed", "skipped") == ["reading: failed"]
    assert "comes back changed" in of(findings, "reading").found
    assert "report it" in of(findings, "reading").fix
    assert clinic.throwaways() == []


def test_nobody_to_share_with(clinic: Clinic) -> None:
    clinic.text = STUDY
    clinic.drive()
    findings = clinic.diagnose()
    assert states(findings, "skipped", "failed") == ["sharing: skipped"]
    assert "under [people]" in of(findings, "sharing").fix


def test_somebody_who_can_be_told_by_mail_only(clinic: Clinic) -> None:
    unknown_address(clinic)
    clinic.google["notify"] = True
    findings = clinic.diagnose()
    assert states(findings, "failed", "warning") == []
    assert "by mail only" in of(findings, "sharing").found
    assert clinic.emulator.mails == []


@dataclass
class Answering(requests.Session):
    """Gives one answer, or the trouble there is with the network."""

    answer: requests.Response | Exception

    def get(self, *_: Any, **__: Any) -> requests.Response:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def diagnose_with(clinic: Clinic, **changed: Any) -> list[Finding]:
    means = replace(clinic.means(), **changed)
    return list(diagnose_google(clinic.study, clinic.folder, clinic.private, (), means=means))


TROUBLE = {
    "the connection failed": requests.ConnectionError("secret proxy password"),
    "did not answer in time": requests.ReadTimeout(),
    "is not secure": requests.exceptions.SSLError(),
}


@pytest.mark.parametrize("words", TROUBLE)
def test_no_network(clinic: Clinic, words: str) -> None:
    findings = diagnose_with(clinic, bare=lambda _: Answering(TROUBLE[words]))
    assert words in of(findings, "network").found
    assert of(findings, "network").fix.startswith("Check")
    assert of(findings, "credentials").state == "ok"
    assert {each.state for each in findings if each.step not in ("network", "credentials")} == {"skipped"}
    assert "password" not in repr(findings)


def test_a_stand_in_on_another_machine(clinic: Clinic, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHEETS_EMULATOR_HOST", "example.org:80")
    findings = diagnose_with(clinic, host=Means().host)
    assert "must name a port of this machine" in of(findings, "network").found
    assert clinic.emulator.calls == []


def test_an_answer_without_a_time(clinic: Clinic) -> None:
    clinic.drive()
    calls: list[requests.Session] = [Answering(requests.Response()), clinic.emulator.session()]
    findings = diagnose_with(clinic, bare=lambda _: calls.pop(0))
    assert of(findings, "clock").state == "warning"
    assert "cannot be compared" in of(findings, "clock").found


def test_a_stand_in_for_google_is_named(clinic: Clinic) -> None:
    (clinic.folder / "credentials.json").unlink()
    findings = diagnose_with(clinic, host=lambda: "127.0.0.1:8765")
    assert states(findings, "failed", "warning", "skipped") == ["network: warning"]
    assert of(findings, "network").fix == "Unset SHEETS_EMULATOR_HOST to use Google itself."
    assert EMULATED in of(findings, "account").found


# --- what is left ---


class Stop(BaseException):
    """Ctrl-C."""


@pytest.mark.parametrize("step", ["listing", "writing", "reading", "sharing", "removal"])
def test_nothing_is_left_after_an_interruption(clinic: Clinic, step: str) -> None:
    clinic.drive()

    def interrupt(name: str) -> None:
        if name == step:
            assert len(clinic.throwaways()) == 1
            raise Stop

    with pytest.raises(Stop):
        clinic.diagnose(interrupt)
    assert clinic.throwaways() == []


@pytest.mark.parametrize(
    "how", [faults.timeout("after"), faults.server_error(503, when="after")], ids=["timeout", "503"]
)
def test_nothing_is_left_where_the_answer_was_lost(clinic: Clinic, how: faults.Fault) -> None:
    clinic.drive()
    clinic.emulator.faults.add(how, "drive.files.create")
    findings = clinic.diagnose()
    assert of(findings, "storage").state == "failed"
    assert len(clinic.emulator.spreadsheets()) == 1
    assert clinic.throwaways() == []


def test_a_removal_whose_answer_was_lost(clinic: Clinic) -> None:
    clinic.user(days=30)
    clinic.emulator.faults.add(faults.timeout("after"), "drive.files.delete")
    assert of(clinic.diagnose(), "removal").found == "The throw-away file was deleted."
    assert clinic.emulator.spreadsheets() == []


def test_a_file_that_cannot_be_removed_is_named_once(
    clinic: Clinic, caplog: pytest.LogCaptureFixture
) -> None:
    clinic.drive("writer")
    findings = clinic.diagnose()
    (left,) = clinic.throwaways()
    assert f"https://docs.google.com/spreadsheets/d/{left.file_id}/edit" in of(findings, "removal").fix
    assert caplog.text == ""
    refused = [call for call in clinic.emulator.calls if call.status == 403]
    assert [call.kind for call in refused] == ["drive.files.delete", "drive.files.update"]


def test_a_file_that_stays_after_an_interruption_is_told(
    clinic: Clinic, caplog: pytest.LogCaptureFixture
) -> None:
    clinic.drive("writer")

    def interrupt(name: str) -> None:
        if name == "writing":
            raise Stop

    with pytest.raises(Stop):
        clinic.diagnose(interrupt)
    assert "may still be there" in caplog.text


def leave_one(clinic: Clinic) -> None:
    clinic.drive("writer")
    clinic.diagnose()
    clinic.emulator.files.grant(
        clinic.emulator.files.files[clinic.google["folder"]], "user", "fileOrganizer", SERVICE
    )


def test_a_leftover_is_removed(clinic: Clinic) -> None:
    leave_one(clinic)
    clinic.emulator.clock.advance(LEFT_SECONDS + 1)
    clinic.local = -LEFT_SECONDS  # age is by Google's clock
    findings = clinic.diagnose()
    assert "removed now: 1" in of(findings, "leftovers").found
    assert clinic.throwaways() == []


def test_the_file_of_a_doctor_at_work_is_left_alone(clinic: Clinic) -> None:
    leave_one(clinic)
    findings = clinic.diagnose()
    assert of(findings, "leftovers").state == "warning"
    assert "run it again in 15 minutes" in of(findings, "leftovers").fix
    assert len(clinic.throwaways()) == 1


def test_a_leftover_that_cannot_be_removed_is_named(clinic: Clinic) -> None:
    clinic.drive("writer")
    clinic.diagnose()
    clinic.emulator.clock.advance(LEFT_SECONDS + 1)
    (left,) = clinic.throwaways()
    found = of(clinic.diagnose(), "leftovers")
    assert (found.state, left.file_id in found.fix) == ("warning", True)


def test_a_throwaway_is_no_workbook(clinic: Clinic) -> None:
    clinic.drive("writer")
    clinic.diagnose()
    assert len(clinic.throwaways()) == 1
    backend = clinic.backend(SERVICE)
    assert backend.versions([A1]) == {A1: None}
    assert backend.strangers([A1]) == []


def test_nothing_of_the_study_changes(clinic: Clinic) -> None:
    clinic.drive()
    clinic.provision(SERVICE, A1, A2)
    index = (clinic.private / "google.json").read_bytes()
    before = {file.file_id: (file.version, file.modified) for file in clinic.emulator.spreadsheets()}
    findings = clinic.diagnose()
    assert states(findings, "failed", "warning", "skipped") == []
    assert of(findings, "workbooks").found == "Workbooks that are there: 2."
    assert (clinic.private / "google.json").read_bytes() == index
    after = {file.file_id: (file.version, file.modified) for file in clinic.emulator.spreadsheets()}
    assert {file_id: after[file_id] for file_id in before} == before


def test_it_looks_and_leaves_no_trace_in_the_folder(clinic: Clinic) -> None:
    clinic.drive()
    clinic.diagnose()
    assert [file.name for file in clinic.folder.iterdir()] == ["credentials.json"]
