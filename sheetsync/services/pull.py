"""`pull`: read what changed, archive every rating and problem; never write into a rater's workbook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from sheetsync.backends.base import Place
from sheetsync.domain.adjudication import (
    ADJUDICATION_BATCH,
    ParsedAdjudication,
    TypedRow,
    parse_adjudication,
    values_shown,
)
from sheetsync.domain.current import gather_current
from sheetsync.domain.divergence import DivergenceKey, Verdict
from sheetsync.domain.ratings import Entry, Problem
from sheetsync.domain.scoring.reading import ParsedSheet, parse_scoring_workbook
from sheetsync.domain.study import LevelValue
from sheetsync.domain.workbook import Reading
from sheetsync.errors import BackendError, WorkbookMissingError, WorkbookUnreadableError
from sheetsync.services.incomplete import Incomplete
from sheetsync.services.provision import stale_notes
from sheetsync.services.session import ADJUDICATION, SUMMARY, Session, SheetMaker, batch_entries, place_of
from sheetsync.services.written import written_before
from sheetsync.store.records import (
    AdjudicationReading,
    Changes,
    ReadingState,
    WorkbookReading,
    WorkbookRecord,
)

_GUARD_FROM = 4
"""A workbook with fewer scores, or verdicts, than this may lose half of them without being suspected."""


@dataclass(frozen=True)
class PulledWorkbook:
    """How reading one workbook went."""

    rater: str
    batch: str
    state: ReadingState
    changes: Changes
    problems: int


@dataclass(frozen=True)
class Pulled:
    """One pull: its number and time, every workbook, all problems that stand now."""

    pull: int
    at: str
    workbooks: tuple[PulledWorkbook, ...]
    problems: tuple[Problem, ...]
    incomplete: tuple[Incomplete, ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return what `pull --json` prints."""
        return {
            "schema": "sheetsync.pull/1",
            "pull": self.pull,
            "at": self.at,
            "workbooks": [
                {
                    "rater": each.rater,
                    "batch": each.batch,
                    "state": each.state,
                    "ratings": asdict(each.changes),
                    "problems": each.problems,
                }
                for each in self.workbooks
            ],
            "problems": [problem_dict(problem) for problem in self.problems],
        }


def problem_dict(problem: Problem) -> dict[str, object]:
    """Return a problem as it stands in JSON."""
    keys = ("rater", "batch", "tab", "cell", "code", "column", "found", "kind", "severity", "message")
    return {key: getattr(problem, key) for key in keys}


def pull(session: Session, now: str, *, force: bool = False) -> Pulled:
    """Read every workbook of the roster that changed, and archive the whole pull at once.

    A workbook that comes back empty, with half of its scores or fewer, or without one of its input
    columns is guarded: nothing of it is taken until it is repaired or `force` says that it is meant.

    Args:
        session: the study.
        now: the time, UTC ISO 8601.
        force: take guarded workbooks as they are.

    Raises:
        NotProvisionedError: there are no workbooks yet.
        ArchiveError: the archive cannot be written; nothing of this pull is stored then.
    """
    roster = set(session.roster())
    records = [record for record in session.workbooks() if record.rater in roster]
    reader = _WorkbookReader(session, [place_of(record) for record in records], force=force)
    readings = [reader.read(record) for record in records]
    adjudication = _read_adjudication(session, reader)
    ours = [*(place_of(record) for record in session.workbooks()), *session.certification_places()]
    strangers = _strangers(session, ours)
    stored = session.archive.record_pull(now, readings, adjudication, strangers)
    problems = [p for p in session.archive.current_problems() if p.rater is None or p.rater in roster]
    workbooks = tuple(
        PulledWorkbook(
            reading.rater,
            reading.batch,
            reading.state,
            stored.changes.get((reading.rater, reading.batch), Changes()),
            sum(p.rater == reading.rater and p.batch == reading.batch for p in problems),
        )
        for reading in readings
    )
    notes = stale_notes(session.study, session.archive.units(), session.workbooks())
    return Pulled(
        stored.number, stored.at, workbooks, tuple(problems), tuple(reader.incomplete), tuple(notes)
    )


class _WorkbookReader:
    """Reads workbooks one by one; a broken one never stops the others."""

    def __init__(self, session: Session, places: Sequence[Place], *, force: bool) -> None:
        self.session, self.force = session, force
        self.found = session.backend.versions([*places, ADJUDICATION])
        self.sheets: SheetMaker = session.sheets()
        self.versions = session.archive.versions()
        # A workbook is compared with what was typed there before; what was imported is not its business.
        self.entries = session.archive.current_entries(imported=False)
        standing = session.archive.current_problems(imported=False)
        self.standing = [problem for problem in standing if problem.code is not None]
        self.incomplete: list[Incomplete] = []

    def read(self, record: WorkbookRecord) -> WorkbookReading:
        """Return what one workbook says now."""
        place = place_of(record)
        try:
            version = self.found[place]
            if version is None:
                raise WorkbookMissingError(
                    f"The workbook of {record.rater}, {record.batch}, is missing.",
                    "Put the file back, or run `sheetsync provision` to make it again with its last ratings.",
                )
            if version == self.versions.get(record.key) and not self.force:
                return WorkbookReading(record.rater, record.batch, "unchanged", version)
            reading = self.session.backend.read(place)
        except BackendError as error:
            return self._failed(record, error)
        parsed = parse_scoring_workbook(reading, self.sheets.sheet(record))
        return self._judged(record, version, parsed)

    def texts_rated(self) -> dict[str, int]:
        """Return the number of the text that each unit's ratings in force were given on, before this pull."""
        roster = set(self.session.roster())
        entries = self.session.archive.current_entries()
        batches = [
            batch_entries(record, entries.get(record.key, ()))
            for record in self.session.workbooks()
            if record.rater in roster
        ]
        return {rating.code: rating.text for rating in gather_current(batches).ratings}

    def _failed(self, record: WorkbookRecord, error: BackendError) -> WorkbookReading:
        location = self.session.backend.location(place_of(record))
        self.incomplete.append(Incomplete(location, str(error)))
        before = self._before(record)
        if isinstance(error, WorkbookMissingError):
            return WorkbookReading(record.rater, record.batch, "missing", problems=before)
        problem = Problem("not_a_workbook", str(error), record.rater, record.batch, found=location)
        return WorkbookReading(record.rater, record.batch, "unreadable", problems=[problem, *before])

    def _before(self, record: WorkbookRecord) -> list[Problem]:
        """Return what was wrong in the rows at the last reading: it stands as long as its ratings do."""
        return [p for p in self.standing if (p.rater, p.batch) == (record.rater, record.batch)]

    def _judged(self, record: WorkbookRecord, version: str, parsed: ParsedSheet) -> WorkbookReading:
        location = self.session.backend.location(place_of(record))
        key = (record.rater, record.batch)
        if not parsed.is_ours:
            problems = [replace(problem, found=location) for problem in parsed.problems]
            self.incomplete.append(Incomplete(location, problems[0].message))
            return WorkbookReading(*key, "unreadable", problems=[*problems, *self._before(record)])
        before = self.entries.get(record.key, [])
        suspicion = None if self.force else _suspicion(before, parsed)
        if suspicion is not None:
            self.incomplete.append(Incomplete(location, suspicion))
            problem = Problem("emptied", suspicion, *key, found=location)
            lost = [p for p in parsed.problems if p.kind in ("missing_column", "repeated_column")]
            emptied = [] if parsed.lost_columns else [problem]
            return WorkbookReading(*key, "guarded", problems=[*emptied, *lost, *self._before(record)])
        kept = () if self.force else [e for e in before if e.code in set(parsed.lost_codes)]
        return WorkbookReading(*key, "read", version, [*parsed.entries, *kept], parsed.problems)


def _suspicion(before: Sequence[Entry], parsed: ParsedSheet) -> str | None:
    """Return why a workbook is not taken as it is, or None."""
    remedy = "Repair the workbook, or run `sheetsync pull --force` to take it as it is."
    if parsed.lost_columns:
        columns = ", ".join(parsed.lost_columns)
        return f"The workbook has lost the column {columns}; its last ratings stay in force. {remedy}"
    had = sum(entry.kind == "score" for entry in before)
    has = sum(entry.kind == "score" for entry in parsed.entries)
    if had and not has:
        return f"The workbook had {had} scores and now has none; the last ratings stay in force. {remedy}"
    if had >= _GUARD_FROM and has * 2 <= had:
        return f"The workbook had {had} scores and now has {has}; the last ratings stay in force. {remedy}"
    return None


def _strangers(session: Session, places: Sequence[Place]) -> list[Problem]:
    """Report files beside the workbooks that are none of ours, such as conflict copies: they are not read."""
    return [
        Problem(
            "not_in_study",
            f"{location} is not a workbook of this study and is not read. If it is a copy with newer scores, put "
            "it in the place of the workbook; otherwise move it away.",
            found=location,
            severity="warning",
        )
        for location in session.backend.strangers([*places, SUMMARY, ADJUDICATION])
    ]


# --- adjudication ---


def read_adjudication(session: Session) -> Reading:
    """Return what stands in the adjudication workbook.

    Raises:
        BackendError: it cannot be read, or is another workbook.
    """
    reading = session.backend.read(ADJUDICATION)
    expected = f"{session.study.id}/{ADJUDICATION_BATCH}"
    if reading.marker and reading.marker != expected:
        raise WorkbookUnreadableError(
            f"{session.backend.location(ADJUDICATION)} is another workbook ({reading.marker}), not {expected}.",
            "Put the right file back, or move this one away and run `sheetsync publish`.",
        )
    return reading


def parse_typed(session: Session, reading: Reading) -> ParsedAdjudication:
    """Return what people typed into the adjudication workbook."""
    codes = {unit.code for unit in session.archive.units()}
    return parse_adjudication(reading, session.study.rubric, codes)


def _read_adjudication(session: Session, reader: _WorkbookReader) -> AdjudicationReading | None:
    """Read the verdicts; None where there is no adjudication workbook."""
    version = reader.found[ADJUDICATION]
    if version is None:
        return None
    if version == session.archive.adjudication_version():
        return AdjudicationReading("unchanged", version)
    location = session.backend.location(ADJUDICATION)
    try:
        reading = read_adjudication(session)
    except WorkbookMissingError:
        return None  # moved away between the two looks
    except BackendError as error:
        reader.incomplete.append(Incomplete(location, str(error)))
        problem = Problem("not_a_workbook", str(error), batch=ADJUDICATION_BATCH, found=location)
        return AdjudicationReading("unreadable", problems=(problem,))
    parsed = parse_typed(session, reading)
    lost = [replace(p, found=location) for p in parsed.problems if p.kind == "missing_column"]
    if lost:
        reader.incomplete.append(Incomplete(location, lost[0].message))
        return AdjudicationReading("unreadable", problems=lost)
    known = {verdict.key: verdict for verdict in session.archive.current_verdicts()}
    if _is_emptied(parsed.rows, known) and not reader.force:
        message = (
            f"The adjudication workbook held {len(known)} verdicts and now holds none; they stay in force. "
            "Put the verdicts back, or run `sheetsync pull --force` to clear them."
        )
        reader.incomplete.append(Incomplete(location, message))
        problem = Problem("emptied", message, batch=ADJUDICATION_BATCH, found=location)
        return AdjudicationReading("guarded", problems=(problem,))
    verdicts = _with_basis(parsed.rows, known, _shown(session, reading), reader.texts_rated())
    return AdjudicationReading("read", version, verdicts, parsed.problems)


def _is_emptied(rows: Sequence[TypedRow], known: Mapping[DivergenceKey, Verdict]) -> bool:
    given = [verdict for verdict in known.values() if verdict.verdict is not None]
    return len(given) >= _GUARD_FROM and all(row.verdict.verdict is None for row in rows)


def _shown(session: Session, reading: Reading) -> dict[DivergenceKey, dict[str, LevelValue]]:
    """Return the values of the raters that the workbook showed when it was last written."""
    tabs = written_before(session, ADJUDICATION, reading).content.tabs
    raters = sorted({record.rater for record in session.archive.workbooks()})
    return values_shown(tabs, session.study.rubric, raters)


def _with_basis(
    rows: Sequence[TypedRow],
    known: Mapping[DivergenceKey, Verdict],
    shown: Mapping[DivergenceKey, Mapping[str, LevelValue]],
    texts: Mapping[str, int],
) -> list[Verdict]:
    """Give every verdict the ratings it was made on: those that the adjudicator had before them.

    A verdict typed again as it was keeps its basis; a changed or new one gets the values that the
    workbook showed when it was last written, and the text that those values are on.
    """
    verdicts = []
    for row in rows:
        before = known.get(row.key)
        if before is not None and replace(before, basis={}, text=1) == row.verdict:
            verdicts.append(before)
        elif before is not None or not row.verdict.is_empty:
            text = texts.get(row.key[0], 1)
            verdicts.append(replace(row.verdict, basis=shown.get(row.key, {}), text=text))
    return verdicts
