"""`publish`: rewrite the summary and adjudication workbooks and `reports/`; keep what people typed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sheetsync.backends.base import Known, Place
from sheetsync.domain.adjudication import (
    ADJUDICATION_TAB,
    PEOPLE_COLUMNS,
    AdjudicationSheet,
    AdjudicationUnit,
    ParsedAdjudication,
    TypedRow,
    build_adjudication_workbook,
)
from sheetsync.domain.analysis import Analysis
from sheetsync.domain.divergence import Divergence, DivergenceKey
from sheetsync.domain.study import LevelValue
from sheetsync.domain.summary.workbook import build_summary_workbook
from sheetsync.domain.workbook import WorkbookSpec, expected_reading
from sheetsync.errors import BackendError, SheetsyncError
from sheetsync.report import render_report
from sheetsync.services.analyze import analyze, without_models
from sheetsync.services.criteria import criteria_beside, is_blind
from sheetsync.services.incomplete import Incomplete
from sheetsync.services.pull import parse_typed, read_adjudication
from sheetsync.services.session import ADJUDICATION, PRIVATE_FOLDER, SUMMARY, Session
from sheetsync.services.written import Standing, about_to_write, not_written, written_before, wrote
from sheetsync.store.records import Published as WrittenBefore

REPORTS_FOLDER = "reports"


@dataclass(frozen=True)
class Published:
    """What was written, and what could not be; `notes` is what whoever reads it should know."""

    written: tuple[str, ...]
    incomplete: tuple[Incomplete, ...]
    dry_run: bool = False
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return what `publish --json` prints."""
        return {
            "schema": "sheetsync.publish/1",
            "dry_run": self.dry_run,
            "written": list(self.written),
            "incomplete": [{"path": each.path, "message": each.message} for each in self.incomplete],
        }


def publish(
    session: Session,
    analysis: Analysis | None = None,
    *,
    blind: bool = False,
    force: bool = False,
    dry_run: bool = False,
) -> Published:
    """Rewrite everything that people read, from what the archive holds.

    Args:
        session: the study.
        analysis: what to publish; made now where None.
        blind: codes only, whatever `[publish] models` says.
        force: replace workbooks that hold something foreign or are open, after a backup.
        dry_run: say what would be written and write nothing.

    Raises:
        NotProvisionedError: there are no workbooks yet.
        SheetsyncError: the reports folder cannot be written.
    """
    analysis = analysis or analyze(session)
    name_models = names_models(session, blind=blind)
    shown = analysis if name_models else without_models(analysis)
    if dry_run:
        return Published(publish_locations(session), (), dry_run=True)
    writer = _Writer(session, force=force)
    writer.write_report("agreement.json", _json(analysis))
    writer.write_report(
        "report.html",
        render_report(shown, name_models=name_models, criteria=criteria_beside(session, analysis)),
    )
    writer.replace(SUMMARY, build_summary_workbook(shown, name_models=name_models))
    writer.replace_adjudication(analysis)
    notes = (analysis.reliability_unknown,) if analysis.reliability_unknown else ()
    return Published(tuple(writer.written), tuple(writer.incomplete), notes=notes)


def names_models(session: Session, *, blind: bool) -> bool:
    """Return whether what is published names models: never before a study with criteria is unblinded."""
    return session.study.settings.publish.models and not blind and not is_blind(session)


def publish_locations(session: Session) -> tuple[str, ...]:
    """Return everything that publishing rewrites."""
    reports = [f"{REPORTS_FOLDER}/{name}" for name in ("agreement.json", "report.html")]
    return (*reports, *(session.backend.location(place) for place in (SUMMARY, ADJUDICATION)))


def _json(analysis: Analysis) -> str:
    return json.dumps(analysis.agreement.to_dict(), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


class _Writer:
    """Writes one thing after another; what cannot be written never stops the rest."""

    def __init__(self, session: Session, *, force: bool) -> None:
        self.session, self.force = session, force
        self.found = session.backend.versions([SUMMARY, ADJUDICATION])
        self.written: list[str] = []
        self.incomplete: list[Incomplete] = []

    def write_report(self, name: str, text: str) -> None:
        """Replace a file of the reports folder as a whole."""
        location = f"{REPORTS_FOLDER}/{name}"
        workshop = self.session.root / PRIVATE_FOLDER / "tmp"
        try:
            write_atomically(self.session.root / REPORTS_FOLDER / name, text, workshop)
        except SheetsyncError as error:
            self.incomplete.append(Incomplete(location, str(error)))
        else:
            self.written.append(location)

    def replace(self, place: Place, spec: WorkbookSpec) -> None:
        """Rewrite a workbook of ours; where that is not safe the result lies beside it."""
        before = written_before(self.session, place)
        self._replace(place, spec, before, _known(before), {})

    def _replace(
        self,
        place: Place,
        spec: WorkbookSpec,
        before: Standing,
        known: Known,
        people: Mapping[str, Sequence[str]],
    ) -> None:
        """Rewrite a workbook; `before` is what stands there of ours, `known` what of it may be written over."""
        version = self.found[place]
        content = WrittenBefore(expected_reading(spec).tabs, people)
        about_to_write(self.session, place, before, content)
        try:
            result = self.session.backend.replace(place, spec, known, version_read=version, force=self.force)
        except BackendError as error:
            # It may have been written all the same (an answer that was lost), so what was to be written stays noted.
            self._left_out(place, str(error), before.doubt)
            return
        self.written.append(result.location)
        if result.obstacle:
            self._left_out(place, result.obstacle, before.doubt)
            not_written(self.session, place, before)
            return
        wrote(self.session, place, replace(content, version=result.version))
        if version is None:
            self._share(place)

    def _left_out(self, place: Place, *reasons: str) -> None:
        message = " ".join(reason for reason in reasons if reason)
        self.incomplete.append(Incomplete(self.session.backend.location(place), message))

    def _share(self, place: Place) -> None:
        obstacle = self.session.backend.share(place)
        if obstacle:
            self._left_out(place, obstacle)

    def replace_adjudication(self, analysis: Analysis) -> None:
        """Rewrite the adjudication workbook with what people typed put back as it stood.

        Where something that they typed could not be read, all that stands in their columns counts as
        foreign: the result lies beside the workbook, with what could be read and the archived verdicts.
        """
        parsed, people = ParsedAdjudication(), {ADJUDICATION_TAB: PEOPLE_COLUMNS}
        reading, is_readable = None, True
        if self.found[ADJUDICATION] is not None:
            try:
                reading = read_adjudication(self.session)
            except BackendError:
                is_readable = False
            else:
                parsed = parse_typed(self.session, reading)
        before = written_before(self.session, ADJUDICATION, reading)
        known = _known(before) if is_readable else Known()
        if not parsed.is_whole:
            known = Known(before.content.tabs)
        sheet = adjudication_sheet(self.session, analysis, parsed.rows)
        self._replace(ADJUDICATION, build_adjudication_workbook(sheet), before, known, people)


def _known(before: Standing) -> Known:
    return Known(before.content.tabs, before.content.people_columns, before.content.version)


def adjudication_sheet(session: Session, analysis: Analysis, typed: Sequence[TypedRow]) -> AdjudicationSheet:
    """Return the adjudication workbook's content: every divergence, and every row somebody wrote in."""
    sheets = session.sheets()
    listed = {divergence.key for divergence in analysis.divergences}
    written = {row.key: row.cells for row in typed if not _is_blank(row)}
    extra = [_kept_row(key, analysis) for key in written if key not in listed and key[0] in sheets.units]
    divergences = (*analysis.divergences, *extra)
    texts = {d.code: sheets.newest_text(d.code) for d in divergences}
    return AdjudicationSheet(
        study_id=session.study.id,
        title=session.study.title,
        rubric=session.study.rubric,
        raters=tuple(rater.id for rater in session.study.raters if rater.kind == "annotator"),
        adjudicators=tuple(person.id for person in session.study.settings.people.adjudicators),
        divergences=divergences,
        units={code: AdjudicationUnit(text.question, text.response) for code, text in texts.items()},
        remarks=analysis.current.remarks,
        typed={row.key: row.cells for row in typed},  # blank ones too: a cleared verdict stays cleared
    )


def _is_blank(row: TypedRow) -> bool:
    return all(raw is None or raw == "" for raw in row.cells.values())


def _kept_row(key: DivergenceKey, analysis: Analysis) -> Divergence:
    """A row that diverges no more but that somebody wrote in stays listed."""
    code, dimension, kind = key
    values: dict[str, LevelValue] = {
        rating.rater: rating.value
        for rating in analysis.current.ratings
        if rating.code == code and rating.dimension == dimension
    }
    return Divergence(code, dimension, kind, values, None, "withdrawn")


def write_atomically(path: Path, text: str, workshop: Path) -> None:
    """Replace a text file as a whole, or leave it as it was.

    Args:
        path: the file.
        text: its new content.
        workshop: a folder on the same file system where the file is made; what an interrupted run
            leaves there is overwritten by the next.

    Raises:
        SheetsyncError: it cannot be written.
    """
    made = workshop / f"{path.name}.part"
    try:
        workshop.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        with made.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        made.replace(path)
    except OSError as error:
        raise SheetsyncError(
            f"{path} cannot be written: {error.strerror or error}.",
            "Free space or close the file, then run again.",
        ) from error
