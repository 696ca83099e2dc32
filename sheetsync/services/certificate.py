"""The certificate of a study's judge, as its archive and its files have it now."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sheetsync.domain.agreement.intervals import IntervalOptions
from sheetsync.domain.certification.assessment import Outcome, certify
from sheetsync.domain.certification.cases import Presentation
from sheetsync.domain.certification.certificate import (
    Certificate,
    Conditions,
    PastRun,
    changes,
    figures_of,
    fingerprints,
    hash_of,
)
from sheetsync.domain.certification.disclosure import Ranking, exact_weights, scored_responses
from sheetsync.domain.certification.judge_metrics import (
    UNREADABLE,
    JudgeComparison,
    JudgedDimension,
    compare_judges,
)
from sheetsync.domain.certification.material import CertificationMaterial
from sheetsync.domain.certification.parts import Judged, looks_at
from sheetsync.domain.certification.presentation import needed, present
from sheetsync.domain.current import CurrentRatings
from sheetsync.domain.protocols import Certification
from sheetsync.domain.study import Rubric
from sheetsync.errors import StudyError
from sheetsync.services.certification_judge import named_judge
from sheetsync.services.session import Session
from sheetsync.store.certifications import CertificationRun, Judging


@dataclass(frozen=True)
class _Assessed:
    """A judged run with its verdict."""

    run: CertificationRun
    judging: Judging
    judged: Judged
    outcome: Outcome
    rubric: str

    @property
    def summary(self) -> PastRun:
        """The run as it stands in the history."""
        return PastRun(
            self.run.number,
            self.judging.ended or self.judging.at,
            self.judging.judge,
            Rubric.model_validate_json(self.rubric).version,
            self.run.rubric,
            self.outcome.cleared,
            figures_of(self.outcome),
        )


def study_certificate(session: Session, current: CurrentRatings) -> Certificate | None:
    """Return the verdict on the newest judged run, None where nothing has been judged.

    Args:
        session: the study.
        current: what people gave, to set beside the judge.

    Raises:
        StudyError: the study certifies no judge.
    """
    settings, material = needed(session.study)
    runs = _runs_of_the_judge(session)
    judged = [(run, judging) for run in runs for judging in [_last_judging(run)] if judging]
    if not judged:
        return None
    codes = {unit.key: unit.code for unit in session.archive.units()}
    assessed = [_assess(session, run, judging, settings, material, codes) for run, judging in judged]
    latest = assessed[-1]
    then = _hashes_then(latest)
    waiting = runs[-1].number if runs[-1].number != latest.run.number else None
    return Certificate(
        session.study.id,
        latest.summary,
        settings.strict,
        latest.outcome,
        Conditions(
            latest.run.seed,
            latest.run.minimum_gap,
            latest.run.gap,
            latest.judging.fresh_session,
            latest.judging.source,
            len(latest.run.judgings),
        ),
        then,
        changes(then, _hashes_now(session, latest, then)),
        waiting,
        tuple(each.summary for each in assessed),
        _beside_people(session, latest, current, codes),
    )


def certificate_of(session: Session, current: CurrentRatings) -> Certificate | None:
    """Return the certificate of a study; None also where the study certifies no judge."""
    if session.study.settings.certification is None or session.study.certification is None:
        return None
    return study_certificate(session, current)


# --- runs ---


def _runs_of_the_judge(session: Session) -> list[CertificationRun]:
    """Return the runs of `[judge]`; those of raters in workbooks only where the study names no program or file."""
    runs = session.archive.certification_runs()
    judge = session.study.settings.judge
    if judge is None or not (judge.command or judge.verdicts):
        return runs
    return [run for run in runs if not any(each.source == "workbook" for each in run.judgings)]


def _last_judging(run: CertificationRun) -> Judging | None:
    """Return the last judging that brought a verdict."""
    return next((each for each in reversed(run.judgings) if each.verdicts), None)


def _assess(
    session: Session,
    run: CertificationRun,
    judging: Judging,
    settings: Certification,
    material: CertificationMaterial,
    codes: Mapping[tuple[str, str, str], str],
) -> _Assessed:
    presentation = session.archive.certification_presentation(run.number)
    verdicts = {each.id: each for each in session.archive.certification_verdicts(run.number)}
    chosen = session.study.settings.agreement
    options = IntervalOptions(chosen.interval, chosen.confidence, chosen.resamples, chosen.seed)
    judged = Judged(presentation, verdicts, settings, options)
    authorities = {each.id: each.authority for each in material.questions.values()}
    ranking = Ranking(
        scored_responses(presentation, verdicts, authorities),
        exact_weights(material.authorities, material.weights),
        tuple(dict.fromkeys(unit.model for unit in session.study.units)),
    )
    outcome = certify(judged, ranking, codes)
    return _Assessed(run, judging, judged, outcome, session.archive.rubric(run.rubric))


# --- whether it still holds ---


def _hashes_then(latest: _Assessed) -> dict[str, str]:
    found = fingerprints(latest.judged.presentation, latest.rubric)
    return found | {
        "judge_command": _hash_of_judge(latest.judging.source, latest.judging.judge, latest.judging.hash)
    }


def _hashes_now(session: Session, latest: _Assessed, then: Mapping[str, str]) -> dict[str, str]:
    rubric = session.study.rubric.model_dump_json(by_alias=True)
    today: Mapping[str, str]
    try:
        today = fingerprints(_presented(session, latest.run.number), rubric)
    except StudyError:  # edited into something that cannot be presented at all
        today = {
            "rubric": fingerprints(latest.judged.presentation, rubric)["rubric"],
            "prompts": "",
            "cases": "",
        }
    return {**today, "judge_command": _judge_now(session, latest.judging, then["judge_command"])}


def _presented(session: Session, number: int) -> Presentation:
    return present(session.study, number, [unit.code for unit in session.archive.units()])


def _judge_now(session: Session, judging: Judging, then: str) -> str:
    """Return the hash of the judge as the study names it now."""
    if judging.source == "workbook":
        return then
    judge = named_judge(session, judging.at)
    if judge is None:
        return ""
    # What a file said is in the archive; where the file is gone, nothing contradicts it.
    is_gone = judge.source == "file" and not judge.hash
    return _hash_of_judge(judge.source, judge.judge, judging.hash if is_gone else judge.hash)


def _hash_of_judge(source: str, name: str, content: str) -> str:
    return hash_of(json.dumps([source, name, content]))


# --- people who scored the same responses ---


def _beside_people(
    session: Session,
    latest: _Assessed,
    current: CurrentRatings,
    codes: Mapping[tuple[str, str, str], str],
) -> tuple[JudgeComparison, ...]:
    """Return the judge's first looks beside the people's scores; nothing where nobody scored."""
    people = [rater.id for rater in session.study.raters if rater.kind == "annotator"]
    rubric = session.study.rubric
    dimensions = []
    for metric in latest.judged.metrics("consistency"):
        dimension = rubric.by_id.get(metric.id)
        if dimension is None or dimension.scale != metric.scale:
            continue
        scale = dimension.scale
        scored: dict[str, dict[str, int]] = {}
        for (rater, code), value in current.values(metric.id).items():
            if rater in people and value in scale:
                scored.setdefault(rater, {})[code] = scale.index(value)
        given = {
            codes[unit]: UNREADABLE if score is None else scale.index(score)
            for unit, (first, _) in looks_at(latest.judged).items()
            if unit in codes
            for score in [latest.judged.score(first, metric.id)]
        }
        in_order = {rater: scored[rater] for rater in people if rater in scored}
        dimensions.append(
            JudgedDimension(dimension.name, dimension.level, scale, {latest.judging.judge: given}, in_order)
        )
    options = IntervalOptions("jackknife", session.study.settings.agreement.confidence)
    return compare_judges(_with_people(dimensions), options)


def _with_people(dimensions: Sequence[JudgedDimension]) -> list[JudgedDimension]:
    return [each for each in dimensions if each.people]
