"""The emulator: Google Sheets v4, Drive v3 and the token endpoint as one object.

In a test:

    emulator = Emulator(VirtualClock(0), seed=1)
    session = emulator.session("bot@example.org")       # a requests.Session that reaches nothing else
    client = gspread.Client(auth=None, session=session)
    emulator.person("ann@example.org").type(book_id, "Scores!C2", "4")

Any bearer token with an @ is an identity; `emulator.oauth` gives out real tokens for keys and users.

Not emulated: formula texts are not rewritten when rows or columns move (sorting and copying do shift
them), array formulas, pivot tables, slicers, tables, comments, data sources, text to columns, autofill,
xlsx and pdf export, uploads, revisions, watching, ownership transfer, batch requests over HTTP. Where Google's
behaviour is unknown ([?] in sheets-api.md) the module concerned names its choice; among them: strict
validation does not stop a write through the API, and a filter view may be made on a protected tab.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import formatdate
from typing import Any, Literal

import requests

from tests.sheets_emulator import discovery, drive_api, drive_files, sheets_api
from tests.sheets_emulator.calling import Call
from tests.sheets_emulator.clock import Clock, VirtualClock
from tests.sheets_emulator.drive_permissions import Mail
from tests.sheets_emulator.drive_state import FOLDER, SHEET, DriveFile, Files
from tests.sheets_emulator.errors import ApiError, api_disabled, drive_error, scope_missing
from tests.sheets_emulator.faults import Fault, Faults, lose_rows
from tests.sheets_emulator.field_masks import pick, response_mask
from tests.sheets_emulator.formulas import Hook
from tests.sheets_emulator.oauth import OAuth, make_service_account_key
from tests.sheets_emulator.person import Person
from tests.sheets_emulator.quotas import Quotas
from tests.sheets_emulator.schema import check_answer, check_body, check_query
from tests.sheets_emulator.wire import Request, Response, decode, json_response, make_request

Cost = Literal["read", "write", "drive", "token", "none"]
DRIVE_FILE = "https://www.googleapis.com/auth/drive.file"
UPLOAD, UPLOAD_KIND = "/upload/drive/v2/files/", "drive.files.upload"
NOT_FOUND = b"<!DOCTYPE html>\n<title>Error 404 (Not Found)!!1</title>\n"


@dataclass(frozen=True)
class Logged:
    """One call in the log; `status` is what the client saw (0: nothing)."""

    time: float
    identity: str
    method: str
    kind: str
    cost: Cost
    status: int
    path: str


@dataclass(frozen=True)
class Route:
    """Where a call goes."""

    kind: str
    cost: Cost
    found: tuple[discovery.Method, dict[str, str]] | None = None


def _route(request: Request) -> Route:
    found = discovery.find_method(request.method, request.path)
    if found:
        return Route(found[0].id, found[0].cost, found)
    if request.method == "PUT" and request.path.startswith(UPLOAD):
        return Route(UPLOAD_KIND, "drive")
    if request.path in ("/token", "/revoke", "/tokeninfo"):
        return Route("oauth" + request.path.replace("/", "."), "token")
    return Route("unknown", "none")


class Emulator:
    """Everything Google would hold, and one way in: `handle`."""

    def __init__(
        self,
        clock: Clock | None = None,
        seed: int = 0,
        quota: Literal["real"] | None = None,
        *,
        service_accounts_have_storage: bool = False,
    ) -> None:
        self.clock: Clock = clock or VirtualClock()
        self.random = random.Random(seed)
        self.files = Files(self.clock, self.random)
        self.oauth = OAuth(self.clock, self.random)
        self.faults = Faults()
        self.quotas = Quotas.real(self.clock) if quota == "real" else Quotas(self.clock)
        self.service_accounts_have_storage = service_accounts_have_storage
        self.full_storage: set[str] = set()
        self.disabled_apis: set[str] = set()
        self.addresses_without_account: set[str] = set()
        self.drive_lag = 0.0
        self.check_answers = False
        self.formula_values: Hook | None = None
        self.mails: list[Mail] = []
        self.pages: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        self.calls: list[Logged] = []
        self.lock = threading.RLock()

    # --- for test writers ----------------------------------------------------------------------

    def session(self, identity: str | None = None) -> requests.Session:
        """A requests.Session whose calls to Google come here; as `identity` unless they carry a token."""
        from tests.sheets_emulator.adapter import mounted_session

        return mounted_session(self, identity)

    def person(self, identity: str) -> Person:
        """Somebody who types into spreadsheets."""
        return Person(self.handle, identity)

    def service_account_key(self, email: str) -> dict[str, str]:
        """A valid key for a service account."""
        return self.oauth.trust(make_service_account_key(email))

    def shared_drive(self, name: str, members: Mapping[str, str]) -> str:
        """Make a shared drive; `members` maps addresses to organizer, fileOrganizer, writer, ...; returns its id."""
        now = self.files.tick()
        drive = DriveFile("0A" + self.files.new_id(17), name, FOLDER, None, now, now, is_drive=True)
        drive.drive_id = drive.file_id
        for address, role in members.items():
            self.files.grant(drive, "user", role, address)
        return self.files.add(drive).file_id

    def count(self, cost: Cost | None = None, kind: str = "", since: int = 0, identity: str = "") -> int:
        """How many calls the log holds; `kind` is part of e.g. `sheets.spreadsheets.values.get`."""
        return sum(
            (cost is None or call.cost == cost) and kind in call.kind and identity in ("", call.identity)
            for call in self.calls[since:]
        )

    def spreadsheets(self) -> list[DriveFile]:
        """Every spreadsheet there is, trashed ones too."""
        return [file for file in self.files.files.values() if file.mime_type == SHEET]

    # --- the way in ----------------------------------------------------------------------------

    def handle(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, body: bytes | str | None = None
    ) -> Response:
        """Answer one call."""
        request = make_request(method, url, headers or {}, body)
        with self.lock:
            return self._handle(request)

    def _handle(self, request: Request) -> Response:
        route, identity = _route(request), ""
        try:
            if route.cost not in ("token", "none"):
                identity = self.oauth.identify(request)[0]
            response = self._faulty(request, route, identity)
        except ApiError as fault:
            response = fault.response()
        response.headers.setdefault("Date", formatdate(self.oauth.now(), usegmt=True))
        status = 0 if response.lost else response.status
        line = self.clock.now(), identity, request.method, route.kind, route.cost, status, request.path
        self.calls.append(Logged(*line))
        return response

    def _faulty(self, request: Request, route: Route, identity: str) -> Response:
        """The answer, or what a fault makes of it; a refusal stays one, whatever comes after it."""
        if route.cost in ("read", "write"):
            self.quotas.spend(route.cost, identity)
        fault = self.faults.pick(route.kind, request.method, request.path, identity)
        if fault and fault.answer and fault.when == "before":
            return fault.answer(route.cost)
        try:
            response = self._answer(request, route, fault)
        except ApiError as refused:
            response = refused.response()
        if fault and fault.answer and response.status < 400:
            response = fault.answer(route.cost)
        response.slow = fault.slow if fault else 0.0
        return response

    def _answer(self, request: Request, route: Route, fault: Fault | None) -> Response:
        if route.cost == "token":
            own = {"oauth.token": self.oauth.token, "oauth.revoke": self.oauth.revoke_token}
            return own.get(route.kind, self.oauth.token_info)(request)
        if route.kind == UPLOAD_KIND:
            return self._upload(request)
        if route.found is None:
            return Response(404, NOT_FOUND, "text/html; charset=UTF-8")
        call = self._call(request, *route.found)
        if fault:
            call.lag = max(call.lag, fault.lag)
            call.body = lose_rows(call.body, fault.lost_rows) if fault.lost_rows else call.body
        return self._run(call)

    def _call(self, request: Request, method: discovery.Method, raw: dict[str, str]) -> Call:
        """Check everything that comes before the method's own work."""
        identity, scopes = self.oauth.identify(request)
        if method.service in self.disabled_apis:
            raise api_disabled(method.service)
        own_only = False
        if scopes is not None:
            usable = scopes & method.scopes
            if not usable:
                raise scope_missing(method.service, method.id)
            own_only = usable == {DRIVE_FILE}
        check_query(method, request)
        body = check_body(method, request)
        parameters = {name: decode(value) for name, value in raw.items()}
        return Call(self, request, method, parameters, body, identity, own_only, self.drive_lag)

    def _run(self, call: Call) -> Response:
        service, name, fields = call.method.service, call.method.response or "", call.request.first("fields")
        work: Callable[[Call], dict[str, Any] | Response]
        if service == "sheets":
            work, default = sheets_api.ENDPOINTS[call.method.id], ""
        else:
            known = drive_api.ENDPOINTS.get(call.method.id)
            if known is None:
                raise drive_error(501, "notImplemented", f"{call.method.id} is not emulated.")
            work, default = known
        fields = fields or default
        mask = response_mask(fields, service, name) if fields and name else {}
        made = work(call)
        if isinstance(made, Response):
            return made
        if self.check_answers and name:
            check_answer(service, name, made)
        return json_response(pick(made, mask), pretty=call.request.first("prettyPrint") not in ("false", "0"))

    def _upload(self, request: Request) -> Response:
        """PUT /upload/drive/v2/files/{id}: gspread's import_csv, the only v2 call known."""
        identity, _ = self.oauth.identify(request)
        method = next(one for one in discovery.methods("drive")["PATCH"] if one.id == "drive.files.update")
        parameters = {"fileId": decode(request.path.removeprefix(UPLOAD))}
        return json_response(drive_files.import_csv(Call(self, request, method, parameters, {}, identity)))
