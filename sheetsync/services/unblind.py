"""`unblind`: say which response is which, write down that it was said, and compare the two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sheetsync.domain.agreement.proportions import Proportion
from sheetsync.domain.validation.direction import assess_directions
from sheetsync.domain.validation.unblinding import (
    SCHEMA,
    CaseDifference,
    Comparison,
    RaterWins,
    case_differences,
    compare,
    count_wins,
)
from sheetsync.errors import StudyError
from sheetsync.services.criteria import UNBLIND, improved_higher, unblinded_at
from sheetsync.services.session import Session
from sheetsync.services.validation_data import ValidationData, gather_validation

Confirm = Callable[[str], bool]
"""Asks a question; whether the answer is yes."""


@dataclass(frozen=True)
class Unblinded:
    """The comparison, and since when the study is unblinded.

    `direction` counts the cases in which all raters see the improved response ahead, out of those in which
    they agree on one at all.
    """

    unblinded_at: str
    is_first: bool
    baseline: str
    improved: str
    comparisons: tuple[Comparison, ...]
    wins: tuple[RaterWins, ...]
    direction: Proportion
    cases: tuple[CaseDifference, ...]

    def to_dict(self) -> dict[str, object]:
        """Return what `unblind --json` prints."""
        return {
            "schema": SCHEMA,
            "unblinded_at": self.unblinded_at,
            "first": self.is_first,
            "baseline": self.baseline,
            "improved": self.improved,
            "comparisons": [each.to_dict() for each in self.comparisons],
            "wins": [each.to_dict() for each in self.wins],
            "improved_higher": self.direction.to_dict(),
            "cases": [each.to_dict() for each in self.cases],
        }


def unblind(session: Session, now: str, confirm: Confirm) -> Unblinded:
    """Unblind the study, and show baseline against improved.

    The first time it asks and writes the time down; later runs show the same again without asking, since
    what was seen cannot be unseen, and each is written down too.

    Args:
        session: the study.
        now: the time, UTC ISO 8601.
        confirm: asks whether it is meant; not called where the study is unblinded already.

    Raises:
        StudyError: the study has no criteria, or nobody confirmed.
        NotProvisionedError: there are no workbooks yet.
        ArchiveError: the archive cannot be written; nothing is shown then.
    """
    data = gather_validation(session)
    before = unblinded_at(session)
    if before is None and not confirm(_question(data)):
        raise StudyError("Nothing was unblinded.", "Answer yes, or give --yes, once all scores are in.")
    session.archive.add_event(now, UNBLIND, "first" if before is None else "again")
    return compare_models(data, before or now, is_first=before is None)


def _question(data: ValidationData) -> str:
    rows = sum(len(codes) for codes in data.assigned.values())
    n_parts = len(data.session.study.rubric.dimensions)
    scores = sum(each.code in set(data.codes) for each in data.current.ratings)
    open_scores = rows * n_parts - scores
    missing = f" {open_scores} scores are still missing." if open_scores else ""
    return (
        f"This says which responses are {data.criteria.baseline} and which {data.criteria.improved}, and is "
        f"written down for good; scores that change afterwards are counted.{missing} Unblind?"
    )


def compare_models(data: ValidationData, at: str, *, is_first: bool) -> Unblinded:
    """Return baseline against improved: the total, then every dimension with numbers."""
    raters, pairs = data.raters, data.pairs
    cases = case_differences(pairs, data.totals, raters)
    comparisons = [compare("total", cases, data.options)]
    for dimension in data.session.study.rubric.dimensions:
        if dimension.is_numeric:
            values = {
                row: float(value)
                for row, value in data.current.values(dimension.id).items()
                if not isinstance(value, str)
            }
            comparisons.append(compare(dimension.name, case_differences(pairs, values, raters), data.options))
    direction = assess_directions(data.directions, data.criteria.direction, data.options.confidence)
    return Unblinded(
        at,
        is_first,
        data.criteria.baseline,
        data.criteria.improved,
        tuple(comparisons),
        tuple(count_wins(pairs, data.totals, raters)),
        improved_higher(data, direction),
        tuple(cases),
    )
