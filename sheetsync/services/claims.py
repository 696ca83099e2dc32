"""Which claims about models have changed class since the last run that named models."""

from __future__ import annotations

from dataclasses import dataclass

from sheetsync.domain.analysis import Analysis
from sheetsync.domain.claims.claims import ClaimClass
from sheetsync.domain.claims.words import NOT_NAMED, STRENGTH_WORDS, count_words, marked
from sheetsync.services.session import Session

_NOT_COMPARABLE = "not_comparable"
"""What the archive holds for a comparison that cannot be made."""


@dataclass(frozen=True)
class ClaimChange:
    """One comparison that came out differently than at the last run; `dimension` is its name."""

    dimension: str
    models: tuple[str, str]
    before: ClaimClass | None
    now: ClaimClass | None

    def __str__(self) -> str:
        """Return the line that a run prints."""
        first, second = self.models
        words = f"was {STRENGTH_WORDS[self.before]}, now {STRENGTH_WORDS[self.now]}"
        return f"{self.dimension}: {first} vs {second} {words}"


@dataclass(frozen=True)
class ClaimsNews:
    """What a run says about claims; without changes on the first run, and where models are not named."""

    summary: str
    changes: tuple[ClaimChange, ...] = ()
    compared: bool = False

    @property
    def lines(self) -> list[str]:
        """What to print: how many claims of which class, then every change."""
        if not self.compared:
            return [self.summary]
        if not self.changes:
            return [self.summary, "No claim changed class since the last run."]
        return [self.summary, "Changed since the last run:", *(f"  {change}" for change in self.changes)]


def claims_news(session: Session, analysis: Analysis, now: str, *, name_models: bool) -> ClaimsNews:
    """Return what changed, and remember the classes for the next run.

    Where models are not named nothing is remembered either: the next run that names them lists all
    that changed since the last one that did.

    Raises:
        ArchiveError: the archive cannot be written.
    """
    if not name_models:
        return ClaimsNews(NOT_NAMED)
    before = session.archive.last_claims()
    strengths = {(claim.dimension, *claim.models): claim.strength for claim in analysis.claims.claims}
    classes = {each or _NOT_COMPARABLE: each for each in STRENGTH_WORDS}
    changes = tuple(
        ClaimChange(analysis.rubric.by_id[key[0]].name, (key[1], key[2]), classes[before[key]], strength)
        for key, strength in strengths.items()
        if key in before and classes[before[key]] != strength
    )
    session.archive.record_claims(now, {key: value or _NOT_COMPARABLE for key, value in strengths.items()})
    words = marked(count_words(analysis.claims), analysis.reliability_unknown)
    return ClaimsNews(words, changes, compared=bool(before))
