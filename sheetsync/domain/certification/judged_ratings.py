"""Ratings of judges who are raters of a study, beside those of people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sheetsync.domain.agreement.reliability import BLANK, INVALID, DimensionData
from sheetsync.domain.certification.certificate import RELIABILITY_UNKNOWN, Certificate, why_unknown
from sheetsync.domain.certification.judge_metrics import MISSING, UNREADABLE, JudgedDimension
from sheetsync.domain.current import CurrentRatings
from sheetsync.domain.study import Study


def judges_of(study: Study) -> list[str]:
    """Return the ids of the raters who are judges."""
    return [rater.id for rater in study.raters if rater.kind == "judge"]


def reliability_unknown(study: Study, certificate: Certificate | None) -> str:
    """Return how scores are marked (S2.19); blank where they are not.

    Marked are studies in which agreement is a gate and that have a judge, as long as no valid certificate stands.
    """
    settings = study.settings
    has_judge = settings.judge is not None or settings.certification is not None or bool(judges_of(study))
    if settings.study.agreement_role != "gate" or not has_judge:
        return ""
    why = why_unknown(certificate)
    return f"{RELIABILITY_UNKNOWN.capitalize()}: {why}." if why else ""


def with_certified(
    people: CurrentRatings, judged: CurrentRatings, certificate: Certificate | None
) -> CurrentRatings:
    """Return the ratings that final values are made of: people's, and a certified judge's where nobody scored.

    A judge never outvotes a person, and a judge without a valid certificate gives no value at all.
    """
    if certificate is None or not certificate.publication_ready:
        return people
    scored = {(rating.code, rating.dimension) for rating in people.ratings}
    filled = tuple(
        rating
        for rating in judged.ratings
        if rating.rater == certificate.latest.judge and (rating.code, rating.dimension) not in scored
    )
    return replace(people, ratings=(*people.ratings, *filled)) if filled else people


def judged_dimensions(
    people: Sequence[DimensionData], judges: Sequence[DimensionData]
) -> list[JudgedDimension]:
    """Return what can be compared, dimension by dimension; judges who gave nothing at all are left out.

    Args:
        people: what people rated, one entry per dimension.
        judges: what judges rated, in the same order of dimensions.
    """
    active = {
        rater for data in judges for rater, given in _positions(data).items() if max(given.values()) >= 0
    }
    found = []
    for of_people, of_judges in zip(people, judges, strict=True):
        scored = {
            rater: {unit: at for unit, at in given.items() if at >= 0}
            for rater, given in _positions(of_people).items()
        }
        given = {rater: values for rater, values in _positions(of_judges).items() if rater in active}
        scored = {rater: values for rater, values in scored.items() if values}
        found.append(JudgedDimension(of_people.dimension, of_people.level, of_people.scale, given, scored))
    return found


def _positions(data: DimensionData) -> dict[str, dict[str, int]]:
    """Return per rater the position of each cell; one that was left empty, or could not be read, as such.

    N/A is an answer, but no value: it stays out.
    """
    states = {BLANK: MISSING, INVALID: UNREADABLE}
    found: dict[str, dict[str, int]] = {}
    for rater, unit, code in zip(data.cells.raters, data.cells.units, data.cells.codes, strict=True):
        at = int(code) if code >= 0 else states.get(int(code))
        if at is not None:
            found.setdefault(data.raters[rater], {})[data.units[unit]] = at
    return {rater: found[rater] for rater in data.raters if rater in found}
