"""`freeze`: write down for good what the study has to reach, before anybody scores."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sheetsync.domain.validation.frozen import (
    Deviation,
    compare_frozen,
    decode_terms,
    encode_terms,
    hash_terms,
    terms_of,
)
from sheetsync.errors import StudyError
from sheetsync.services.session import Session
from sheetsync.store.records import Freeze


@dataclass(frozen=True)
class Frozen:
    """What is frozen; `scores_before` counts the score cells that came in earlier."""

    at: str
    hash: str
    is_new: bool
    scores_before: int
    dry_run: bool = False

    @property
    def notes(self) -> tuple[str, ...]:
        """What makes the freeze worth less."""
        said = f"{self.scores_before} scores came in before the criteria were frozen; `criteria` says so too."
        return (said,) if self.scores_before else ()

    def to_dict(self) -> dict[str, object]:
        """Return what `freeze --json` prints."""
        return {
            "schema": "sheetsync.freeze/1",
            "frozen_at": self.at,
            "hash": self.hash,
            "new": self.is_new,
            "scores_before": self.scores_before,
            "dry_run": self.dry_run,
        }


def freeze(session: Session, now: str, *, dry_run: bool = False) -> Frozen:
    """Store the criteria, and the rubric, design and texts they are about.

    A second freeze of the same changes nothing; of something else it is refused, for what was promised
    once cannot be promised again.

    Raises:
        StudyError: the study has no criteria, or others are frozen already; `faults` lists how they differ.
        ArchiveError: the archive cannot be written.
    """
    content = current_terms(session)
    name = hash_terms(content)
    before = session.archive.last_freeze()
    if before is not None and before.hash != name:
        raise StudyError(
            f"The study was frozen at {before.at}, and its files say something else now.",
            "Put the files back as they were, or leave them: `sheetsync criteria` judges by the files and "
            "lists every deviation from what was frozen.",
            compare_frozen(decode_terms(before.content), decode_terms(content)),
        )
    at = before.at if before is not None else now
    earlier = sum(count for moment, count in session.archive.score_times() if moment < at)
    if before is None and not dry_run:
        session.archive.record_freeze(Freeze(now, name, content))
    return Frozen(at, name, before is None, earlier, dry_run)


def current_terms(session: Session) -> str:
    """Return what would be frozen now, as JSON text.

    Raises:
        StudyError: the study has no criteria.
    """
    criteria = session.study.settings.criteria
    if criteria is None:
        raise no_criteria()
    return encode_terms(terms_of(session.study, internal_bytes(session.root, criteria.internal)))


def internal_bytes(root: Path, name: str) -> bytes | None:
    """Return the file of internal scores, None where it cannot be read."""
    try:
        return (root / name).read_bytes()
    except OSError:
        return None


def deviations(session: Session) -> list[Deviation]:
    """Return what differs from what was frozen; nothing where nothing is frozen."""
    before = session.archive.last_freeze()
    if before is None:
        return []
    return compare_frozen(decode_terms(before.content), decode_terms(current_terms(session)))


def no_criteria() -> StudyError:
    """Return what to say of a study without criteria."""
    return StudyError(
        "This study has no criteria: study.toml holds no section [criteria].",
        "Add one (the template blinded-pairs has it), before anybody scores.",
    )
