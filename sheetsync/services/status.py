"""`status`: per rater and batch how far the work is, and which units lack raters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from sheetsync.backends.base import Place
from sheetsync.domain.habits.words import rare_sheets
from sheetsync.domain.progress import BatchProgress, UnitCoverage
from sheetsync.errors import BackendError
from sheetsync.services.analyze import gather_standing
from sheetsync.services.provision import stale_notes
from sheetsync.services.session import ADJUDICATION, SUMMARY, Session, place_of


@dataclass(frozen=True)
class Status:
    """How far a study is; `as_of` is the time of the last pull."""

    progress: tuple[BatchProgress, ...]
    coverage: UnitCoverage
    as_of: str | None
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """Return what `status --json` prints."""
        coverage = self.coverage
        keys = ("rater", "batch", "assigned", "complete", "partial", "untouched", "invalid", "last_change")
        return {
            "schema": "sheetsync.status/1",
            "workbooks": [{key: asdict(p)[key] for key in keys} for p in self.progress],
            "units": {
                "total": coverage.total,
                "fully_rated": coverage.fully_rated,
                "short_of_raters": list(coverage.short_of_raters),
                "changed_text": list(coverage.changed_text),
                "older_text": [{"rater": rater, "code": code} for rater, code in coverage.older_text],
            },
        }


def status(session: Session) -> Status:
    """Return how far the study is, as of the last pull.

    Raises:
        NotProvisionedError: there are no workbooks yet.
    """
    standing = gather_standing(session)
    last = session.archive.last_pull()
    notes = [
        *stale_notes(session.study, session.archive.units(), session.archive.workbooks()),
        *(f"Worth a look: {words}" for words in rare_sheets(standing.habits, session.study.rubric)),
        *_exposures(session, [place_of(record) for record in standing.records]),
    ]
    return Status(standing.progress, standing.coverage, last.at if last else None, tuple(notes))


def _exposures(session: Session, places: Sequence[Place]) -> Sequence[str]:
    """Return who can see a workbook and should not; where it cannot be told, that is said."""
    try:
        return session.backend.exposures([*places, SUMMARY, ADJUDICATION])
    except BackendError as error:
        return [f"Who can see the workbooks could not be checked: {error}"]
