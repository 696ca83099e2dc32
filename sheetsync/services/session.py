"""What every service works on, and how the archive's records become the domain's."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType

from sheetsync.backends import open_backend
from sheetsync.backends.base import Place, SheetBackend
from sheetsync.config import load_study
from sheetsync.domain.assignment import Batch, CodedUnit, sides_of
from sheetsync.domain.certification.sheet import certification_batch
from sheetsync.domain.current import BatchEntries
from sheetsync.domain.ratings import Entry
from sheetsync.domain.scoring.sheet import Guidance, ScoringRow, ScoringSheet
from sheetsync.domain.scoring.tab import typed_cells
from sheetsync.domain.sides import case_names
from sheetsync.domain.study import Rubric, Study
from sheetsync.errors import NotProvisionedError, SheetsyncError
from sheetsync.store.archive import Archive
from sheetsync.store.lock import study_lock
from sheetsync.store.records import TextRecord, WorkbookRecord

PRIVATE_FOLDER = ".sheetsync"
DOMAIN = "domain"
"""The question column by which raters compare their scores across cases (S1.15)."""

SUMMARY = Place("summary")
ADJUDICATION = Place("adjudication")


@dataclass(frozen=True)
class Session(AbstractContextManager["Session"]):
    """A loaded study with its archive and its backend; `root` is the study folder."""

    root: Path
    study: Study
    archive: Archive
    backend: SheetBackend

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.archive.close()

    def workbooks(self) -> list[WorkbookRecord]:
        """Return every planned workbook.

        Raises:
            NotProvisionedError: there is none yet.
        """
        records = self.archive.workbooks()
        if not records:
            raise _not_provisioned()
        return records

    def roster(self) -> list[str]:
        """Return the ids of the raters in the order of the study's files."""
        return [rater.id for rater in self.study.raters]

    def certification_places(self) -> list[Place]:
        """Return where the workbooks of raters lie who are certified as judges."""
        return [
            certification_place(judging.judge, run.number)
            for run in self.archive.certification_runs()
            for judging in run.judgings
            if judging.source == "workbook"
        ]

    def sheets(self) -> SheetMaker:
        """Return what turns workbook records into the sheets they were issued as."""
        return SheetMaker(self.study, self.archive)


@contextmanager
def writing_session(root: Path, command: str, now: str) -> Iterator[Session]:
    """Open a study for a command that writes: alone, and with an archive, made if there is none.

    Raises:
        StudyError: the study's files are not valid.
        LockedError: another command is writing to this study.
        ArchiveError: the archive cannot be opened.
    """
    study = load_study(root)
    private = root / PRIVATE_FOLDER
    with study_lock(private, command, now):
        _keep_out_of_git(private)
        with _open(root, study) as session:
            yield session


@contextmanager
def reading_session(root: Path) -> Iterator[Session]:
    """Open a study for a command that only reads.

    Raises:
        StudyError: the study's files are not valid.
        NotProvisionedError: it has no archive yet.
        ArchiveError: the archive cannot be opened.
    """
    study = load_study(root)
    if not Archive.exists(root / PRIVATE_FOLDER):
        raise _not_provisioned()
    with _open(root, study) as session:
        yield session


@contextmanager
def judging_session(root: Path, now: str) -> Iterator[Session]:
    """Open a study for a judge, who may take hours: alone among judges, while other commands go on.

    Raises:
        StudyError: the study's files are not valid.
        LockedError: another judge is at work on this study.
        SheetsyncError: nothing is prepared.
    """
    study = load_study(root)
    private = root / PRIVATE_FOLDER
    if not Archive.exists(private):
        raise SheetsyncError("Nothing is prepared to be judged.", "Run `sheetsync certify prepare` first.")
    with study_lock(private / "certification", "certify run", now), _open(root, study) as session:
        yield session


@contextmanager
def preview_session(root: Path) -> Iterator[Session]:
    """Open a study for `--dry-run`: nothing in its folder is written, not even an archive that is missing.

    Raises:
        StudyError: the study's files are not valid.
        ArchiveError: the archive cannot be opened.
    """
    study = load_study(root)
    with tempfile.TemporaryDirectory(prefix="sheetsync-") as elsewhere:
        archive = None if Archive.exists(root / PRIVATE_FOLDER) else Path(elsewhere)
        with _open(root, study, archive) as session:
            yield session


def _keep_out_of_git(private: Path) -> None:
    """The key must not be published by mistake, also in studies that `init` did not make."""
    ignore = private / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")


def _open(root: Path, study: Study, archive: Path | None = None) -> Session:
    root = root.resolve()
    private = root / PRIVATE_FOLDER
    backend = open_backend(study.settings, root, private)
    if backend.announcement:
        logging.getLogger(__name__).warning(backend.announcement)
    return Session(root, study, Archive.open(archive or private), backend)


def _not_provisioned() -> NotProvisionedError:
    return NotProvisionedError("This study has no workbooks yet.", "Run `sheetsync provision` to make them.")


def place_of(record: WorkbookRecord) -> Place:
    """Return where a rater's workbook lies."""
    return Place("raters", record.rater, record.batch)


def certification_place(rater: str, run: int) -> Place:
    """Return where a rater's workbook of a certification lies."""
    return Place("raters", rater, certification_batch(run))


def batch_of(record: WorkbookRecord) -> Batch:
    """Return what a rater was given in a workbook."""
    return Batch(record.rater, record.batch, record.kind, tuple(row.code for row in record.rows))


def batch_entries(record: WorkbookRecord, entries: Sequence[Entry]) -> BatchEntries:
    """Return what stands in a workbook, with the text each row was issued with."""
    texts = {row.code: row.text for row in record.rows}
    return BatchEntries(record.rater, record.batch, record.kind, texts, entries)


class SheetMaker:
    """Rebuilds the sheet a workbook was issued as: its own rubric, its own texts."""

    def __init__(self, study: Study, archive: Archive) -> None:
        self._study = study
        self._archive = archive
        self._units = {unit.code: unit for unit in archive.units()}
        self._texts = archive.texts()
        self._rubrics: dict[str, Rubric] = {}
        self._in_bank = {unit.key: unit for unit in study.units}
        self._sides: dict[str, dict[str, str]] = {}

    @property
    def units(self) -> Mapping[str, CodedUnit]:
        """Every coded unit by its code."""
        return self._units

    def text(self, code: str, number: int) -> TextRecord:
        """Return one version of a unit's texts."""
        return next(text for text in self._texts[code] if text.number == number)

    def newest_text(self, code: str) -> TextRecord:
        """Return the newest version that was issued."""
        return self._texts[code][-1]

    def rubric(self, name: str) -> Rubric:
        """Return the rubric of a hash."""
        if name not in self._rubrics:
            self._rubrics[name] = Rubric.model_validate_json(self._archive.rubric(name))
        return self._rubrics[name]

    def sheet(self, record: WorkbookRecord, entries: Sequence[Entry] = ()) -> ScoringSheet:
        """Return the sheet of a workbook; `entries` are put into its cells."""
        study = self._study
        names = {rater.id: rater.name for rater in study.raters}
        typed: dict[str, list[Entry]] = {}
        for entry in entries:
            typed.setdefault(entry.code, []).append(entry)
        sides = self.sides(record.rater)
        rows = tuple(
            replace(self._row(row.code, row.text, typed.get(row.code, ())), side=sides.get(row.code, ""))
            for row in record.rows
        )
        return ScoringSheet(
            study_id=study.id,
            title=study.title,
            rater=record.rater,
            rater_name=names.get(record.rater, ""),
            batch=record.batch,
            kind=record.kind,
            rubric=self.rubric(record.rubric),
            rows=rows,
            contact=study.settings.study.contact,
            pairs=any(row.side for row in rows),
            references=self._references(record),
            guidance=self._guidance(),
        )

    def sides(self, rater: str) -> dict[str, str]:
        """Return the side of every unit of a pair as this rater sees it."""
        if rater not in self._sides:
            issued = self._issued.get(rater, [])
            self._sides[rater] = sides_of(self._study, rater, list(self._units.values()), issued)
        return self._sides[rater]

    @cached_property
    def _issued(self) -> Mapping[str, Sequence[Batch]]:
        """Every batch by rater; read once, as reading hundreds of workbooks takes a second."""
        issued: dict[str, list[Batch]] = {}
        for record in self._archive.workbooks():
            issued.setdefault(record.rater, []).append(batch_of(record))
        return issued

    def _guidance(self) -> Guidance:
        settings = self._study.settings
        return Guidance(
            version=settings.study.version,
            resources=settings.study.resources,
            time=settings.time,
            self_check=settings.self_check,
            has_practice=any(unit.calibration for unit in self._units.values()),
        )

    def _row(self, code: str, number: int, entries: Sequence[Entry]) -> ScoringRow:
        unit, text = self._units[code], self.text(code, number)
        in_bank = self._in_bank.get(unit.key)
        typed = typed_cells([((entry.kind, entry.column), entry.value) for entry in entries])
        return ScoringRow(
            code=code,
            figure=unit.figure,
            question=text.question,
            response=text.response,
            has_false_premise=unit.has_false_premise,
            case=self._cases[unit.case] if unit.side else "",
            reference=in_bank.reference if in_bank else "",
            domain=in_bank.slices.get(DOMAIN, "") if in_bank and unit.side else "",
            typed=typed,
        )

    @cached_property
    def _cases(self) -> dict[tuple[str, str], str]:
        return case_names((unit.case, unit.calibration) for unit in self._units.values())

    def _references(self, record: WorkbookRecord) -> dict[str, str]:
        """Return the reference sheets that the workbook's units are scored against."""
        keys = [self._units[row.code].key for row in record.rows]
        names = sorted({self._in_bank[key].reference for key in keys if key in self._in_bank} - {""})
        return {name: self._study.references[name] for name in names if name in self._study.references}
