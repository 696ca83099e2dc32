"""Checks across `study.toml`: ids that name folders, the roster, the design, the schedule."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from zoneinfo import ZoneInfo, available_timezones

from sheetsync.config_faults import Faults, listed, quoted, suggestion
from sheetsync.config_records import Document
from sheetsync.domain.cells import normalise
from sheetsync.domain.study import (
    About,
    BackendSettings,
    Design,
    Files,
    People,
    Person,
    Rater,
    ScheduleSettings,
    StudyFile,
)

MAX_ID_LENGTH = 64

ADJUDICATION_HEADERS = (
    *("Code", "Dimension", "Kind", "Question", "Response"),
    *("Verdict", "Reason", "Comment", "Adjudicator"),
)
DIVERGENCE_HEADERS = (
    *("Code", "Question_ID", "Figure", "Dimension", "Kind"),
    *("Range", "State", "Verdict", "Reason"),
)
"""Columns that rater ids stand beside in the adjudication and `Divergences` tabs."""

_DEVICE_NAME = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])", re.IGNORECASE)
_EMAIL = re.compile(r"[^@\s,;<>]+@[^@\s,;<>]+\.[^@\s,;<>.]+")
_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d", re.ASCII)


def check_settings(document: Document, faults: Faults) -> StudyFile | None:
    """Check `study.toml` on its own; the settings are returned when their form is valid."""
    settings = document.read(StudyFile, faults)
    raters = document.entries("raters", Rater)
    about = document.section("study", About)
    people = document.section("people", People)
    backend = document.section("backend", BackendSettings)
    if about:
        _check_id(document.place(("study", "id")), about.id, faults)
        if about.contact and "@" in about.contact:
            _check_email(document.place(("study", "contact")), about.contact, faults)
        _check_judges(raters, about, faults)
    _check_files(document, faults)
    _check_people(raters, faults)
    for group in ("adjudicators", "coordinators"):
        persons: Sequence[Person] = getattr(people, group, ())
        places = [document.place(("people", group, index)) for index in range(len(persons))]
        _check_people(list(zip(places, persons, strict=True)), faults)
    if backend and backend.kind == "google":
        _warn_of_unshared(raters, faults)
    _check_roster(document, raters, faults)
    _check_schedule(document, faults)
    return settings


def check_rater_columns(document: Document, remark_names: Sequence[str], faults: Faults) -> None:
    """Check that no rater id is taken for a column of the tabs that show raters side by side."""
    raters = document.entries("raters", Rater)
    fixed = {normalise(header): header for header in (*ADJUDICATION_HEADERS, *DIVERGENCE_HEADERS)}
    beside = {
        normalise(f"{rater.id} {name}"): f"{rater.id} {name}" for _, rater in raters for name in remark_names
    }
    for where, rater in raters:
        taken = (fixed | beside).get(normalise(rater.id))
        if taken:
            faults.error(
                f"{where} id",
                f"{quoted(rater.id)} is also the column {quoted(taken)} of the adjudication or "
                "divergences tab; choose another id",
            )


def _check_files(document: Document, faults: Faults) -> None:
    files = document.section("files", Files)
    for key, name in files.model_dump().items() if files else ():
        if not name:
            faults.error(document.place(("files", key)), "is blank; name the file, or delete the line")


def _check_people(people: Sequence[tuple[str, Person | Rater]], faults: Faults) -> None:
    first: dict[str, str] = {}
    for where, person in people:
        _check_id(f"{where} id", person.id, faults)
        if person.email:
            _check_email(f"{where} email", person.email, faults)
        folded = normalise(person.id)
        if folded and folded in first:
            faults.error(
                f"{where} id",
                f"{quoted(person.id)} is the same as the id at {first[folded]} (capitals and kinds of "
                "letters do not count); choose another id",
            )
        first.setdefault(folded, where)


def _check_id(where: str, text: str, faults: Faults) -> None:
    fault = id_fault(text)
    if fault:
        found = f"{quoted(text)} " if text else ""
        faults.error(where, f"{found}{fault}; an id names files and folders, so choose another one")


def id_fault(text: str) -> str | None:
    """Return why a text cannot name a folder on every system, None when it can.

    >>> id_fault("A1"), id_fault(".a"), id_fault("Con.2")
    (None, 'begins or ends with a dot or a space', 'is a device name on Windows')
    """
    forbidden = next((char for char in text if char in '/\\:*?"<>|'), None)
    unseen = next((char for char in text if not char.isprintable()), None)
    if not text:
        return "is blank"
    if forbidden:
        return f'holds {forbidden} (not allowed: / \\ : * ? " < > |)'
    if unseen:
        return f"holds the control or invisible character U+{ord(unseen):04X}"
    if text != text.strip(" ."):
        return "begins or ends with a dot or a space"
    if _DEVICE_NAME.fullmatch(unicodedata.normalize("NFKC", text.partition(".")[0].strip())):
        return "is a device name on Windows"
    return f"is longer than {MAX_ID_LENGTH} characters" if len(text) > MAX_ID_LENGTH else None


def _check_email(where: str, email: str, faults: Faults) -> None:
    if not _EMAIL.fullmatch(email):
        faults.error(where, f"{quoted(email)} is no e-mail address; write one such as a1@example.org")


def _check_judges(raters: Sequence[tuple[str, Rater]], about: About, faults: Faults) -> None:
    for where, rater in raters:
        if rater.kind == "judge" and about.judge_policy == "forbidden":
            faults.error(
                f"{where} kind",
                'found "judge" but [study] judge_policy is "forbidden": all scoring is human; '
                'remove the rater, or set judge_policy = "certify"',
            )


def _warn_of_unshared(raters: Sequence[tuple[str, Rater]], faults: Faults) -> None:
    for where, rater in raters:
        if not rater.email:
            faults.warn(f"{where} email", "is blank: the Google sheet will not be shared; add the address")


def _check_roster(document: Document, raters: Sequence[tuple[str, Rater]], faults: Faults) -> None:
    entries = document.data.get("raters")
    if not isinstance(entries, list):
        return
    if not entries:
        faults.error(
            f"{document.name} [[raters]]", "names nobody; add at least one [[raters]] block with an id"
        )
    elif len(entries) == 1:
        faults.warn(
            f"{document.name} [[raters]]", "names one rater: agreement cannot be computed; add a second one"
        )
    design = document.section("design", Design)
    if design is None or design.raters_per_unit == "all" or not raters:
        return
    where, wanted = document.place(("design", "raters_per_unit")), design.raters_per_unit
    if wanted > len(entries):
        faults.warn(
            where,
            f"found {wanted} but the roster has {len(entries)}: every unit counts as short of raters; lower it, "
            "or add raters",
        )
    elif wanted < 2:
        faults.warn(
            where, "found 1: agreement cannot be computed from one rating per unit; 2 or more allow it"
        )


def _check_schedule(document: Document, faults: Faults) -> None:
    schedule = document.section("schedule", ScheduleSettings)
    if schedule is None:
        return
    where = document.place(("schedule", "at"))
    if not schedule.at:
        faults.error(where, 'holds no time; write at least one, such as ["02:00"]')
    wrong = [time for time in schedule.at if not _TIME.fullmatch(time)]
    if wrong:
        found = listed([quoted(time) for time in wrong], "and")
        faults.error(where, f"found {found}; a time is written HH:MM, from 00:00 to 23:59")
    if not _is_zone(schedule.timezone):
        faults.error(
            document.place(("schedule", "timezone")),
            f"{quoted(schedule.timezone)} is no known time zone; {_zone_hint(schedule.timezone)}",
        )


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return False
    return True


def _zone_hint(name: str) -> str:
    zones = sorted(available_timezones())
    by_city = {zone.rpartition("/")[2].casefold(): zone for zone in zones}
    exact = by_city.get(name.strip().replace(" ", "_").casefold())
    hint = suggestion(exact or name, zones)
    return hint if hint.startswith("did") else "write one such as Europe/Berlin or UTC"
