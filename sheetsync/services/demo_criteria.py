"""The part of a demonstration in which criteria are promised before anybody scores, and judged at the end."""

from __future__ import annotations

from collections.abc import Sequence

from sheetsync.domain.validation.records import Criterion
from sheetsync.services.criteria import criteria
from sheetsync.services.freeze import freeze
from sheetsync.services.session import Session

_OUTCOMES = {"met": "met", "missed": "missed", "cannot_be_judged": "cannot be judged"}


def promise(session: Session, now: str) -> bool:
    """Freeze the criteria of a study that has some; whether it has."""
    if session.study.settings.criteria is None:
        return False
    freeze(session, now)
    return True


def judged_criteria(session: Session) -> tuple[Criterion, ...]:
    """Return what was reached; nothing in a study without criteria."""
    return criteria(session).criteria if session.study.settings.criteria is not None else ()


def criteria_lines(found: Sequence[Criterion]) -> tuple[str, ...]:
    """Return the end of the story, line by line.

    >>> one = Criterion("direction", "secondary", "Direction", 0.9, 0.7, "met", 0.6, 1.0, True, None, "")
    >>> criteria_lines([one])[1:-1]
    ('Criteria, frozen before anybody scored: 1 of 1 met.', '  Direction: 90%, needed 70%: met, fragile')
    """
    if not found:
        return ()
    met = sum(each.met for each in found)
    return (
        "",
        f"Criteria, frozen before anybody scored: {met} of {len(found)} met.",
        *(f"  {_line(each)}" for each in found),
        "The whole table: sheetsync criteria",
    )


def _line(each: Criterion) -> str:
    said = _OUTCOMES[each.outcome] + (", fragile" if each.fragile else "")
    reached = f"{_number(each, each.value)}, " if each.value is not None else ""
    return f"{each.name}: {reached}needed {_number(each, each.needed)}: {said}"


def _number(each: Criterion, value: float) -> str:
    if each.id == "direction":
        return f"{value:.0%}"
    return f"{value:.0f}" if each.id == "validators" else f"{value:.2f}"
