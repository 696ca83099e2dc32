"""`criteria`: what an external validation reached, against what was frozen."""

from __future__ import annotations

from sheetsync.domain.agreement.layers import layers_of, stratified_alpha
from sheetsync.domain.agreement.proportions import Proportion, proportion
from sheetsync.domain.analysis import Analysis
from sheetsync.domain.protocols import Criteria
from sheetsync.domain.scoring.self_check import Answer, check_oneself
from sheetsync.domain.validation.criteria import (
    InternalAgreement,
    compare_with_internal,
    complete_rows,
    judge_alpha,
    judge_direction,
    judge_internal,
    judge_validators,
)
from sheetsync.domain.validation.direction import TIE, DirectionAgreement, assess_directions, find_directions
from sheetsync.domain.validation.exploration import ExplorationData, explore
from sheetsync.domain.validation.frozen import decode_terms
from sheetsync.domain.validation.pitfalls import find_pitfalls
from sheetsync.domain.validation.records import CriteriaReport, Promise, Validator, WithoutDisclosed
from sheetsync.services.freeze import deviations
from sheetsync.services.session import Session
from sheetsync.services.validation_data import ValidationData, gather_validation

UNBLIND = "unblind"
"""The command under which the run log keeps that a study was unblinded."""


def criteria(session: Session) -> CriteriaReport:
    """Return the verdict table; it names no model and no side.

    Raises:
        StudyError: the study has no criteria.
        NotProvisionedError: there are no workbooks yet.
    """
    return assess_criteria(gather_validation(session))


def criteria_beside(session: Session, analysis: Analysis) -> CriteriaReport | None:
    """Return the verdict table for a report on this analysis, None for a study without criteria."""
    if session.study.settings.criteria is None:
        return None
    return assess_criteria(gather_validation(session, analysis))


def is_blind(session: Session) -> bool:
    """Return whether the study keeps to itself which response is which: one with criteria, until it is unblinded."""
    return session.study.settings.criteria is not None and unblinded_at(session) is None


def assess_criteria(data: ValidationData) -> CriteriaReport:
    """Return the verdict table of a study whose ratings are at hand."""
    bars, session = _bars(data), data.session
    bands = session.study.settings.agreement.bands
    direction = assess_directions(data.directions, bars.direction, data.options.confidence)
    internal = compare_with_internal(data.internal, data.totals, data.raters, data.codes, data.options)
    validators = tuple(_validator(data, rater, internal) for rater in data.raters)
    alpha = stratified_alpha(data.layers, data.groups, data.options)
    verdicts = (
        judge_alpha(alpha, bars, bands),
        judge_direction(direction, bars),
        judge_validators(sum(each.complete for each in validators), len(validators), bars),
        judge_internal(internal, bars),
    )
    promise = read_promise(session)
    return CriteriaReport(
        as_of=data.analysis.as_of,
        all_met=all(each.met for each in verdicts),
        criteria=verdicts,
        promise=promise,
        validators=validators,
        pooled=data.analysis.agreement.pooled,
        direction=direction,
        improved_higher=improved_higher(data, direction) if promise.unblinded_at else None,
        without_disclosed=_without_disclosed(data),
        exploratory=explore(_exploration(data)),
        pitfalls=find_pitfalls(data.pitfalls),
    )


def _bars(data: ValidationData) -> Criteria:
    """Return the bars as they were frozen: what the file says since then is a deviation and no bar."""
    frozen = data.session.archive.last_freeze()
    promised = decode_terms(frozen.content)["criteria"] if frozen else None
    return Criteria.model_validate(promised) if promised else data.criteria


def read_promise(session: Session) -> Promise:
    """Return what was frozen, and when scores came in relative to that and to the unblinding."""
    frozen = session.archive.last_freeze()
    times = session.archive.score_times()
    unblinded = unblinded_at(session)
    return Promise(
        frozen_at=frozen.at if frozen else None,
        hash=frozen.hash if frozen else None,
        first_score_at=min((at for at, _ in times), default=None),
        scores_before=sum(n for at, n in times if frozen is not None and at < frozen.at),
        deviations=tuple(deviations(session)),
        unblinded_at=unblinded,
        scores_since=sum(n for at, n in times if unblinded is not None and at > unblinded),
    )


def unblinded_at(session: Session) -> str | None:
    """Return when the study was first unblinded, None while it is blind."""
    return next((event.at for event in session.archive.events() if event.command == UNBLIND), None)


def improved_higher(data: ValidationData, direction: DirectionAgreement) -> Proportion:
    """Return how often it is the improved response that all raters see ahead: a result, not an agreement."""
    agreed = [case for case in data.directions if case.unanimous not in (None, TIE)]
    ahead = sum(case.unanimous == data.criteria.improved for case in agreed)
    return proportion(ahead, len(agreed), direction.unanimous.confidence)


def _validator(data: ValidationData, rater: str, internal: InternalAgreement) -> Validator:
    study = data.session.study
    rows = data.assigned[rater]
    complete = complete_rows(study.rubric, data.current, rater, rows)
    answers = [
        Answer(
            each.code, each.dimension, each.value, data.confidences.get((rater, each.code, each.dimension))
        )
        for each in data.current.ratings
        if each.rater == rater and each.code in set(rows)
    ]
    checked = check_oneself(answers, study.rubric, study.settings.self_check)
    usual = checked.usual
    return Validator(
        rater,
        len(rows),
        complete,
        bool(rows) and complete == len(rows),
        internal.by_rater[rater],
        checked.share,
        len(checked.unusual) if usual else None,
        (usual.low, usual.high) if usual else None,
        usual.source if usual else None,
        sum(by == rater for by, _ in data.disclosed),
    )


def _without_disclosed(data: ValidationData) -> WithoutDisclosed | None:
    if not data.disclosed:
        return None
    current = data.current_without_disclosed
    said = find_directions(data.pairs, data.totals_of(current), data.raters)
    return WithoutDisclosed(
        len(data.disclosed),
        stratified_alpha(layers_of(data.dimensions(current)), data.groups, data.options),
        assess_directions(said, data.criteria.direction, data.options.confidence).unanimous,
    )


def _exploration(data: ValidationData) -> ExplorationData:
    return ExplorationData(
        data.analysis.agreement,
        data.layers,
        data.raters,
        data.codes,
        data.groups,
        data.pairs,
        data.directions,
        data.slices,
        data.session.study.rubric,
        data.current,
        data.confidences,
        data.criteria.direction,
        data.options,
    )
