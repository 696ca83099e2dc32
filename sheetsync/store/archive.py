"""The archive: every rating that was ever read, for good.

Why it is built like this:

- **One SQLite file** in the study's private folder: nothing to install or to run, one file to back
  up, and transactions that have survived more power cuts than anything we could write.
- **Append-only.** A score that changes is a new revision; the old one stays, with the pull that saw
  it, the workbook it stood in, and through the workbook's row the rubric and the version of the
  text it was given on. Triggers in the database refuse updates and deletions, so no later code can
  lose a rating by mistake. Only `published` (what we last wrote ourselves) is overwritten.
- **A pull is one transaction.** Either all of it is in, or none: after a crash or a full disk the
  next pull sees the same differences again and stores them.
- **Differences only.** A pull compares what it read with what stood there, so a night without
  changes adds a handful of rows, and history is readable without filtering repetitions.
- **Values are JSON text**, because a level is a number or a word and `3`, `3.0`, `true` and `"3"` must
  come back as what they were.
- **Blind codes everywhere.** Models stand in the key (`units`) and in what was claimed about them
  (`claims`), and nowhere else.

This module is the whole interface; the modules beside it hold the statements by subject. Every
method is one transaction. Times are arguments, in UTC ISO 8601.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from sqlalchemy import Connection, Engine, delete, insert, select

from sheetsync.domain.assignment import CodedUnit
from sheetsync.domain.certification.cases import Presentation
from sheetsync.domain.certification.cases import Verdict as JudgeVerdict
from sheetsync.domain.divergence import DivergenceKind, Verdict
from sheetsync.domain.habits.pace import FirstScores
from sheetsync.domain.ratings import Entry, EntryKind, Problem
from sheetsync.store import (
    certifications,
    claims,
    entries,
    freezes,
    imports,
    pulls,
    registry,
    tables,
    verdicts,
)
from sheetsync.store.certifications import CertificationRun, Judging
from sheetsync.store.claims import ClaimKey
from sheetsync.store.database import open_database, translated_errors, writing
from sheetsync.store.records import (
    AdjudicationReading,
    Event,
    Freeze,
    Published,
    PullRecord,
    Revision,
    Submission,
    TextRecord,
    WorkbookKey,
    WorkbookReading,
    WorkbookRecord,
)
from sheetsync.store.values import decode_grids, decode_object, encode_grids, encode_object

FILE_NAME = "archive.sqlite"


class Archive:
    """The archive of one study; use it as a context manager.

    Every method raises `ArchiveError` where the file cannot be read or written; nothing of the
    failed call is stored then.
    """

    def __init__(self, engine: Engine, path: Path) -> None:
        self._engine = engine
        self._path = path

    @classmethod
    def open(cls, folder: Path) -> Archive:
        """Open the archive in a study's private folder; make it where there is none.

        Raises:
            ArchiveError: the file is damaged, foreign, of a newer schema, or cannot be written.
        """
        path = folder / FILE_NAME
        return cls(open_database(path), path)

    @staticmethod
    def exists(folder: Path) -> bool:
        """Return whether there is an archive, without making one."""
        return (folder / FILE_NAME).exists()

    def close(self) -> None:
        """Close the file."""
        with translated_errors(self._path):
            self._engine.dispose()

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with translated_errors(self._path), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with translated_errors(self._path), writing(self._engine).begin() as connection:
            yield connection

    # --- key, texts and rubrics ----------------------------------------------------------------

    def add_units(self, units: Sequence[CodedUnit]) -> None:
        """Append units to the key; one that is in it already is an error."""
        with self._writing() as connection:
            registry.add_units(connection, units)

    def units(self) -> list[CodedUnit]:
        """Return the key in the order of registration."""
        with self._reading() as connection:
            return registry.read_units(connection)

    def add_texts(self, texts: Mapping[str, tuple[str, str]]) -> Mapping[str, int]:
        """Keep the (question, response) of each code and return the number of that version.

        Texts equal to the latest of their unit keep its number, others get the next one.
        """
        with self._writing() as connection:
            return registry.add_texts(connection, texts)

    def texts(self) -> Mapping[str, list[TextRecord]]:
        """Return every version of every unit's texts, oldest first."""
        with self._reading() as connection:
            return registry.read_texts(connection)

    def add_rubric(self, rubric_json: str) -> str:
        """Keep a rubric and return its hash; the same text again changes nothing."""
        with self._writing() as connection:
            return registry.add_rubric(connection, rubric_json)

    def rubric(self, name: str) -> str:
        """Return the rubric of a hash."""
        with self._reading() as connection:
            return registry.read_rubric(connection, name)

    # --- workbooks -----------------------------------------------------------------------------

    def plan_workbooks(self, records: Sequence[WorkbookRecord]) -> None:
        """Write down workbooks and their rows, all or none; a planned one again is an error."""
        with self._writing() as connection:
            registry.plan_workbooks(connection, records)

    def mark_created(self, rater: str, batch: str, *, location: str, version: str, at: str) -> None:
        """Write down that a planned workbook exists; the latest word on it counts."""
        with self._writing() as connection:
            registry.mark_created(connection, (rater, batch), location, version, at)

    def workbooks(self) -> list[WorkbookRecord]:
        """Return every workbook in the order of planning."""
        with self._reading() as connection:
            return registry.read_workbooks(connection)

    # --- pulls ---------------------------------------------------------------------------------

    def record_pull(
        self,
        at: str,
        readings: Sequence[WorkbookReading],
        adjudication: AdjudicationReading | None = None,
        problems: Sequence[Problem] = (),
    ) -> PullRecord:
        """Append a whole pull, or nothing.

        Args:
            at: when.
            readings: what was found in each rater's workbook; one left out stays as it was.
            adjudication: what was found in the adjudication workbook; None leaves it as it was.
            problems: what is wrong in the study as a whole, in no workbook that we know.
        """
        with self._writing() as connection:
            return pulls.record_pull(connection, at, readings, adjudication, problems)

    def last_pull(self) -> PullRecord | None:
        """Return the latest pull."""
        with self._reading() as connection:
            return pulls.last_pull(connection)

    def versions(self) -> Mapping[WorkbookKey, str]:
        """Return the version of each rater's workbook at its last successful read."""
        with self._reading() as connection:
            return pulls.read_versions(connection)

    def adjudication_version(self) -> str | None:
        """Return the version of the adjudication workbook at its last successful read."""
        with self._reading() as connection:
            return pulls.adjudication_version(connection)

    def record_import(self, at: str, submissions: Sequence[Submission]) -> PullRecord:
        """Append what files say, as one pull; what stands in workbooks stays as it is.

        What a file says of a row replaces what earlier files said of it. In `changes` a score counts where
        it changes what is in force.
        """
        with self._writing() as connection:
            return imports.record_import(connection, at, submissions)

    def preview_import(self, at: str, submissions: Sequence[Submission]) -> PullRecord:
        """Return what `record_import` would, and store nothing."""
        with translated_errors(self._path), writing(self._engine).connect() as connection:
            return imports.record_import(connection, at, submissions)  # closed without a commit

    def current_entries(
        self, rater: str | None = None, batch: str | None = None, *, imported: bool = True
    ) -> Mapping[WorkbookKey, list[Entry]]:
        """Return what counts in each workbook, in the order of its rows; empty ones are included.

        Without `imported` only what is typed in the workbook itself.
        """
        with self._reading() as connection:
            columns = entries.read_columns(connection)
            return {
                key: entries.current_entries(connection, workbook, columns, imported=imported)
                for key, workbook in registry.workbook_ids(connection).items()
                if rater in (None, key[0]) and batch in (None, key[1])
            }

    def current_problems(self, *, imported: bool = True) -> list[Problem]:
        """Return what is wrong now: workbooks in order, adjudication, the study as a whole, imported files."""
        with self._reading() as connection:
            found = pulls.current_problems(connection)
            return [*found, *imports.current_problems(connection)] if imported else found

    def last_change(self, rater: str, batch: str) -> str | None:
        """Return the time of the last pull or import that changed anything in a workbook's cells."""
        with self._reading() as connection:
            workbook = registry.workbook_id(registry.workbook_ids(connection), (rater, batch))
            times = (pulls.last_change(connection, workbook), imports.last_change(connection, workbook))
            return max((at for at in times if at is not None), default=None)

    def first_scores(self) -> list[FirstScores]:
        """Return in which pulls rows got their first score, workbook by workbook, oldest first."""
        with self._reading() as connection:
            return pulls.first_scores(connection)

    def history(self, rater: str, code: str, kind: EntryKind, column: str) -> list[Revision]:
        """Return every revision of one cell of one rater, over all batches and imports, oldest first."""
        with self._reading() as connection:
            return entries.read_history(connection, rater, code, kind, column)

    # --- verdicts ------------------------------------------------------------------------------

    def current_verdicts(self) -> list[Verdict]:
        """Return the latest of each verdict, without those that were cleared."""
        with self._reading() as connection:
            return verdicts.current_verdicts(connection)

    def verdict_history(self, code: str, dimension: str, kind: DivergenceKind) -> list[Verdict]:
        """Return every revision of one verdict, oldest first."""
        with self._reading() as connection:
            return verdicts.verdict_history(connection, code, dimension, kind)

    # --- claims --------------------------------------------------------------------------------

    def last_claims(self) -> Mapping[ClaimKey, str]:
        """Return the last class of every comparison of two models."""
        with self._reading() as connection:
            return claims.last_claims(connection)

    def record_claims(self, at: str, strengths: Mapping[ClaimKey, str]) -> None:
        """Append the classes that are not what they were."""
        with self._writing() as connection:
            claims.record_claims(connection, at, strengths)

    # --- what was frozen -----------------------------------------------------------------------

    def record_freeze(self, freeze: Freeze) -> None:
        """Append what was frozen."""
        with self._writing() as connection:
            freezes.record_freeze(connection, freeze)

    def last_freeze(self) -> Freeze | None:
        """Return what is frozen, None where nothing is."""
        with self._reading() as connection:
            return freezes.last_freeze(connection)

    def score_times(self) -> list[tuple[str, int]]:
        """Return when scores of production units came in or changed: time and number of cells."""
        with self._reading() as connection:
            return freezes.score_times(connection)

    # --- certifications of a judge -------------------------------------------------------------

    def add_certification(
        self, at: str, rubric_json: str, presentation: Presentation, hashes: Mapping[str, str]
    ) -> int:
        """Append a presentation with its key, and return the number of that run."""
        with self._writing() as connection:
            rubric = registry.add_rubric(connection, rubric_json)
            return certifications.add_certification(connection, at, rubric, presentation, hashes)

    def certification_runs(self) -> list[CertificationRun]:
        """Return every run, oldest first."""
        with self._reading() as connection:
            return certifications.read_runs(connection)

    def certification_presentation(self, number: int) -> Presentation:
        """Return what a run shows, with its key."""
        with self._reading() as connection:
            return certifications.read_presentation(connection, number)

    def start_judging(self, number: int, judging: Judging) -> int:
        """Append that a judge begins, or goes on, with a run; return the id to name it by."""
        with self._writing() as connection:
            return certifications.start_judging(connection, number, judging)

    def end_judging(self, judging: int, at: str, state: str, detail: str = "") -> None:
        """Append how a judging ended."""
        with self._writing() as connection:
            certifications.end_judging(connection, judging, at, state, detail)

    def add_judged(self, judging: int, at: str, verdicts: Sequence[JudgeVerdict]) -> None:
        """Append what came back for some cases; the latest word on a case counts."""
        with self._writing() as connection:
            certifications.add_judged(connection, judging, at, verdicts)

    def certification_verdicts(self, number: int) -> list[JudgeVerdict]:
        """Return one verdict per case of a run in the order of its cases, `missing` where there is none."""
        with self._reading() as connection:
            return certifications.read_verdicts(connection, number)

    def certification_order(self, number: int) -> list[str]:
        """Return the cases whose verdict counts, in the order in which they were judged."""
        with self._reading() as connection:
            return certifications.read_order(connection, number)

    # --- what we wrote ourselves, and the run log ----------------------------------------------

    def published(self, place: str) -> Published:
        """Return what was last written at a place (`str(Place)`)."""
        with self._reading() as connection:
            row = connection.execute(select(tables.published).filter_by(place=place)).first()
            if row is None:
                return Published()
            return Published(decode_grids(row.tabs), decode_object(row.people_columns), row.version)

    def record_published(self, place: str, published: Published) -> None:
        """Remember what was written at a place, instead of what was written there before."""
        values = {
            "place": place,
            "tabs": encode_grids(published.tabs),
            "people_columns": encode_object({k: list(v) for k, v in published.people_columns.items()}),
            "version": published.version,
        }
        with self._writing() as connection:
            connection.execute(delete(tables.published).filter_by(place=place))
            connection.execute(insert(tables.published).values(values))

    def add_event(self, at: str, command: str, outcome: str) -> None:
        """Append a line to the run log."""
        with self._writing() as connection:
            connection.execute(insert(tables.events).values(at=at, command=command, outcome=outcome))

    def events(self) -> list[Event]:
        """Return the run log, oldest first."""
        with self._reading() as connection:
            found = connection.execute(select(tables.events).order_by(tables.events.c.id))
            return [Event(row.at, row.command, row.outcome) for row in found]
