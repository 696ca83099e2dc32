"""`provision`: make the workbooks that are missing; touch none that exists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from sheetsync.backends.base import Place
from sheetsync.domain.assignment import (
    Batch,
    CodedUnit,
    DesignReport,
    assign_units,
    code_units,
    describe_design,
    rescore_batches,
)
from sheetsync.domain.scoring.workbook import build_scoring_workbook
from sheetsync.domain.study import Study, Unit
from sheetsync.errors import BackendError, StudyError
from sheetsync.services.incomplete import Incomplete
from sheetsync.services.session import Session, batch_of, place_of
from sheetsync.store.records import RowRecord, WorkbookRecord

BEGAN = "began"
"""The event that says with how many raters a study began."""

CHANGED = "changed"
"""`--rescore changed`: every unit whose text is newer than what a rater was given."""

Progress = Callable[[str], None]


@dataclass(frozen=True)
class MadeWorkbook:
    """A workbook that this run made (or would make), with where it is."""

    rater: str
    batch: str
    kind: str
    units: int
    location: str
    restored: bool = False


@dataclass(frozen=True)
class Provisioned:
    """What a run made, what was there already, and what the coordinator should know."""

    made: tuple[MadeWorkbook, ...]
    existing: int
    design: DesignReport
    notes: tuple[str, ...] = ()
    incomplete: tuple[Incomplete, ...] = ()
    dry_run: bool = False

    def to_dict(self) -> dict[str, object]:
        """Return what `provision --json` prints."""
        return {
            "schema": "sheetsync.provision/1",
            "dry_run": self.dry_run,
            "made": [asdict(each) for each in self.made],
            "existing": self.existing,
            "connected": self.design.is_connected,
            "notes": list(self.notes),
            "incomplete": [asdict(each) for each in self.incomplete],
        }


@dataclass(frozen=True)
class _Plan:
    """What has to be written down before the first new workbook is made."""

    units: list[CodedUnit] = field(default_factory=list)
    batches: list[Batch] = field(default_factory=list)


def provision(
    session: Session,
    now: str,
    *,
    rescore: Sequence[str] = (),
    dry_run: bool = False,
    progress: Progress = lambda _: None,
) -> Provisioned:
    """Make every workbook that the design wants and that is not there.

    What is to be made is written down first, so an interrupted run is completed by the next one with
    the same codes and orders. A workbook that has disappeared is made again with the ratings archived
    so far.

    Args:
        session: the study.
        now: the time, UTC ISO 8601.
        rescore: codes to issue again to every rater who had them, or `changed`.
        dry_run: say what would be made and write nothing.
        progress: told of every workbook before it is made.

    Raises:
        StudyError: a code of `rescore` is not one of the study's.
        BackendError: no workbook could be made; where some were, the others are told as incomplete and
            the next run goes on from there.
    """
    plan = _plan(session, rescore)
    if dry_run:
        return _preview(session, plan)
    if not session.archive.workbooks():
        session.archive.add_event(now, BEGAN, str(len(session.roster())))
    _write_down(session, plan)
    records = [record for record in session.archive.workbooks() if record.rater in session.roster()]
    absent = _absent(session, records)
    refused = _share(session, [record for record in records if record not in absent])
    made, failures = _make(session, absent, now, progress)
    refused += failures
    batches = [batch_of(record) for record in records]
    return Provisioned(
        tuple(made),
        len(records) - len(absent),
        describe_design(session.roster(), batches),
        tuple(_notes(session, records)),
        tuple(refused),
    )


def _absent(session: Session, records: Sequence[WorkbookRecord]) -> list[WorkbookRecord]:
    """Return the records whose workbook is to be made, or made again."""
    made = {place_of(record): record for record in records if record.created is not None}
    gone = {made[place].key for place in session.backend.missing(list(made))}
    return [record for record in records if record.created is None or record.key in gone]


def _plan(session: Session, rescore: Sequence[str]) -> _Plan:
    known = session.archive.units()
    new = code_units(session.study, known)
    units = [*known, *new]
    records = session.archive.workbooks()
    issued = [batch_of(record) for record in records]
    batches = assign_units(session.study, units, issued)
    if rescore:
        wanted = _wanted_again(session, units, records, rescore)
        batches += rescore_batches(session.study, units, [*issued, *batches], wanted)
    return _Plan(new, batches)


def _wanted_again(
    session: Session, units: Sequence[CodedUnit], records: Sequence[WorkbookRecord], rescore: Sequence[str]
) -> dict[str, list[str]]:
    """Return per rater the codes to issue again: to everybody who had them.

    A code that already waits to be scored again, with its text of today, is not issued once more, so the
    same command twice makes one batch.
    """
    named = {code.upper() for code in rescore if code != CHANGED}
    _refuse_codes(session, units, named)
    outdated = _outdated(session, records) if CHANGED in rescore else {}
    waiting = _waiting_again(session, records) if named else set()
    wanted: dict[str, list[str]] = {}
    for record in records:
        if record.kind == "calibration":
            continue
        codes = [row.code for row in record.rows]
        asked = [c for c in codes if c in named and (record.rater, c) not in waiting]
        again = [*asked, *(c for c in codes if c in outdated.get(record.rater, ()))]
        wanted[record.rater] = list(dict.fromkeys([*wanted.get(record.rater, []), *again]))
    return wanted


def _refuse_codes(session: Session, units: Sequence[CodedUnit], named: set[str]) -> None:
    """Raise for codes that cannot be issued again."""
    known = {unit.code: unit for unit in units}
    present = {unit.key for unit in session.study.units}
    reasons: tuple[tuple[str, Callable[[str], bool]], ...] = (
        ("No unit of this study has the code", lambda code: code not in known),
        ("Not in the study's files any more:", lambda code: known[code].key not in present),
        ("Practice units are not scored again:", lambda code: known[code].calibration),
    )
    for reason, applies in reasons:
        refused = sorted(code for code in named if applies(code))
        if refused:
            raise StudyError(
                f"{reason} {', '.join(refused)}.",
                "Name codes as they stand in the workbooks `main` and `add-N`, or `--rescore changed`.",
            )


def _waiting_again(session: Session, records: Sequence[WorkbookRecord]) -> set[tuple[str, str]]:
    """Return (rater, code) issued again with the text of today and not scored there yet."""
    today, sheets = texts_today(session), session.sheets()
    entries = session.archive.current_entries()
    waiting = set()
    for record in records:
        if record.kind == "rescore":
            scored = {entry.code for entry in entries.get(record.key, ()) if entry.kind == "score"}
            for row in record.rows:
                text = sheets.text(row.code, row.text)
                if row.code not in scored and today.get(row.code) == (text.question, text.response):
                    waiting.add((record.rater, row.code))
    return waiting


def _outdated(session: Session, records: Sequence[WorkbookRecord]) -> dict[str, set[str]]:
    """Return per rater the codes whose newest issued text is not the study's text of today."""
    newest: dict[tuple[str, str], int] = {}
    for record in records:
        for row in record.rows:
            key = (record.rater, row.code)
            newest[key] = max(newest.get(key, 0), row.text)
    today = texts_today(session)
    sheets = session.sheets()
    outdated: dict[str, set[str]] = {}
    for (rater, code), number in newest.items():
        issued = sheets.text(code, number)
        if code in today and today[code] != (issued.question, issued.response):
            outdated.setdefault(rater, set()).add(code)
    return outdated


def texts_today(session: Session) -> dict[str, tuple[str, str]]:
    """Return (question, response) of every coded unit that is in the study's files."""
    by_key = {unit.key: unit for unit in session.study.units}
    return {u.code: _texts(by_key[u.key]) for u in session.archive.units() if u.key in by_key}


def _texts(unit: Unit) -> tuple[str, str]:
    return (unit.question, unit.response)


def _write_down(session: Session, plan: _Plan) -> None:
    """Archive codes, texts, the rubric and the planned workbooks before anything is made."""
    archive = session.archive
    if plan.units:
        archive.add_units(plan.units)
    if not plan.batches:
        return
    today = texts_today(session)
    issued = {code for batch in plan.batches for code in batch.codes}
    numbers = archive.add_texts({code: today[code] for code in today if code in issued})
    rubric = archive.add_rubric(session.study.rubric.model_dump_json(by_alias=True))
    archive.plan_workbooks([_record(batch, rubric, numbers) for batch in plan.batches])


def _record(batch: Batch, rubric: str, numbers: Mapping[str, int]) -> WorkbookRecord:
    rows = tuple(RowRecord(code, numbers[code]) for code in batch.codes)
    return WorkbookRecord(batch.rater, batch.name, batch.kind, rubric, rows)


def _make(
    session: Session, records: Sequence[WorkbookRecord], now: str, progress: Progress
) -> tuple[list[MadeWorkbook], list[Incomplete]]:
    made: list[MadeWorkbook] = []
    refused: list[Incomplete] = []
    failure: BackendError | None = None
    if not records:
        return made, refused
    sheets = session.sheets()
    entries = session.archive.current_entries()
    for record in records:
        place = place_of(record)
        progress(str(place))
        archived = entries.get(record.key, [])
        spec = build_scoring_workbook(sheets.sheet(record, archived))
        try:
            version = session.backend.create(place, spec)
        except BackendError as error:
            refused.append(Incomplete(session.backend.location(place), str(error)))
            failure = failure or error
            continue
        location = session.backend.location(place)
        obstacle = session.backend.share(place)
        if obstacle:
            refused.append(Incomplete(location, obstacle))
        session.archive.mark_created(record.rater, record.batch, location=location, version=version, at=now)
        made.append(
            MadeWorkbook(
                record.rater,
                record.batch,
                record.kind,
                len(record.rows),
                location,
                record.created is not None,
            )
        )
    if failure is not None and not made:
        raise failure
    return made, refused


def _share(session: Session, records: Sequence[WorkbookRecord]) -> list[Incomplete]:
    """Let people into workbooks that are there already, where an earlier run was refused."""
    places = [place_of(record) for record in records]
    obstacles = [(session.backend.location(place), session.backend.share(place)) for place in places]
    return [Incomplete(location, obstacle) for location, obstacle in obstacles if obstacle]


def _preview(session: Session, plan: _Plan) -> Provisioned:
    records = [record for record in session.archive.workbooks() if record.rater in session.roster()]
    absent = _absent(session, records)
    location = session.backend.location
    made = [
        MadeWorkbook(r.rater, r.batch, r.kind, len(r.rows), location(place_of(r)), r.created is not None)
        for r in absent
    ]
    made += [
        MadeWorkbook(b.rater, b.name, b.kind, len(b.codes), location(Place("raters", b.rater, b.name)))
        for b in plan.batches
    ]
    batches = [*(batch_of(record) for record in records), *plan.batches]
    design = describe_design(session.roster(), batches)
    return Provisioned(tuple(made), len(records) - len(absent), design, dry_run=True)


# --- notes for the coordinator ---


def changed_texts(session: Session) -> tuple[str, ...]:
    """Return units whose text in the study's files is not the newest that was issued."""
    today = texts_today(session)
    issued = session.archive.texts()
    return tuple(
        code
        for code, texts in issued.items()
        if code in today and today[code] != (texts[-1].question, texts[-1].response)
    )


def _notes(session: Session, records: Sequence[WorkbookRecord]) -> list[str]:
    notes = []
    changed = changed_texts(session)
    if changed:
        notes.append(
            f"{len(changed)} issued texts differ from the study's files now; raters keep the text they have. "
            "To have them scored again: sheetsync provision --rescore changed"
        )
    rubric = session.study.rubric
    sheets = session.sheets()
    if any(sheets.rubric(record.rubric) != rubric for record in records):
        notes.append(
            "rubric.toml has changed since workbooks were made. Those workbooks keep and are read by the rubric "
            "they were issued with; only new ones get the new one."
        )
    notes += stale_notes(session.study, session.archive.units(), session.archive.workbooks())
    return notes


def stale_notes(study: Study, units: Sequence[CodedUnit], records: Sequence[WorkbookRecord]) -> list[str]:
    """Return what was issued and is not in the study's files any more: raters and units."""
    notes = []
    roster = {rater.id for rater in study.raters}
    gone = sorted({record.rater for record in records} - roster)
    if gone:
        notes.append(
            f"{', '.join(gone)} left the roster: their workbooks are not read any more and their ratings enter "
            "no agreement, divergence or result; everything stays archived."
        )
    present = {unit.key for unit in study.units}
    lost = [unit.code for unit in units if unit.key not in present]
    if lost:
        notes.append(
            f"{len(lost)} issued responses are not in the study's files any more ({', '.join(lost[:5])}"
            f"{' ...' if len(lost) > 5 else ''}): their ratings stay archived and enter no result."
        )
    return notes
