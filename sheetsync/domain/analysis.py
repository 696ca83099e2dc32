"""Everything that is known about a study at one moment, put together for tables, reports and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sheetsync.domain.agreement.assessment import DimensionData, RatedRows, Row, TagData
from sheetsync.domain.agreement.report import AgreementReport
from sheetsync.domain.assignment import Batch, CodedUnit
from sheetsync.domain.certification.certificate import Certificate
from sheetsync.domain.claims.claims import Claims, compare_models
from sheetsync.domain.controls import Control
from sheetsync.domain.current import CurrentRatings
from sheetsync.domain.divergence import Divergence
from sheetsync.domain.habits.habits import RaterHabits, describe_habits
from sheetsync.domain.habits.pace import FirstScores
from sheetsync.domain.progress import BatchProgress, UnitCoverage
from sheetsync.domain.ratings import COLUMNS_BETWEEN, Problem
from sheetsync.domain.results import UnitResult
from sheetsync.domain.scoring.self_check import SelfChecked
from sheetsync.domain.study import NOT_APPLICABLE, LevelValue, Rubric, Study, Unit

INVALID_KINDS = ("not_a_level", "not_applicable_here", "formula", "conflicting_rows", "repeated_column")
"""Problems that keep a score cell out of agreement when they are errors."""


@dataclass(frozen=True)
class Analysis:
    """A study at one moment.

    Attributes:
        study: as its files say.
        as_of: when the last pull was made (UTC, ISO 8601), None before the first.
        pull: its number.
        units: production units in bank order.
        current: the ratings in force on them.
        agreement: on production units; `practice` on calibration units, None where there are none.
        divergences, results, progress, coverage, problems, controls: see there.
        questions: the study's unit by code, for question texts and slices.
        batches: what was issued in production, in that order.
        first_scores: when rows got their first score.
        self_checks: per rater what the self-check shows; empty where the rubric asks for no confidence.
        certificate: of the study's judge, None where there is none.
        reliability_unknown: why rankings have to be marked; blank where they have not.
    """

    study: Study
    as_of: str | None
    pull: int | None
    units: tuple[CodedUnit, ...]
    current: CurrentRatings
    agreement: AgreementReport
    practice: AgreementReport | None
    divergences: tuple[Divergence, ...]
    results: tuple[UnitResult, ...]
    progress: tuple[BatchProgress, ...]
    coverage: UnitCoverage
    problems: tuple[Problem, ...]
    controls: tuple[Control, ...]
    questions: Mapping[str, Unit]
    batches: tuple[Batch, ...] = ()
    first_scores: tuple[FirstScores, ...] = ()
    self_checks: Mapping[str, SelfChecked] = field(default_factory=dict)
    certificate: Certificate | None = None
    reliability_unknown: str = ""

    @property
    def rubric(self) -> Rubric:
        """The rubric as the study's files say."""
        return self.study.rubric

    @cached_property
    def claims(self) -> Claims:
        """What can be said about every two models; computed when somebody asks, for it takes a moment."""
        settings = self.study.settings.agreement
        return compare_models(self.results, self.rubric, self.agreement, settings)

    @cached_property
    def habits(self) -> RaterHabits:
        """How each rater uses the sheet; computed when somebody asks."""
        raters = [rater.id for rater in self.study.raters if rater.kind == "annotator"]
        return describe_habits(self.rubric, raters, self.batches, self.current, self.first_scores)


def slice_columns(study: Study) -> tuple[str, ...]:
    """Return what a study is sliced by: figure, tier, type and further question columns that vary."""
    further = dict.fromkeys(name for unit in study.units for name in unit.slices)
    names = ("figure", "tier", "type", *further)
    return tuple(name for name in names if len({slice_value(unit, name) for unit in study.units} - {""}) > 1)


def slice_value(unit: Unit, name: str) -> str:
    """Return a unit's value of a slice column (`question` stands for the question's id)."""
    own = {
        "figure": unit.figure,
        "tier": unit.tier,
        "type": unit.type,
        "question": unit.question_id,
        "question_id": unit.question_id,
    }
    return own[name] if name in own else unit.slices.get(name, "")


def dimension_data(
    study: Study,
    units: Sequence[CodedUnit],
    batches: Sequence[Batch],
    current: CurrentRatings,
    problems: Sequence[Problem],
    by: Sequence[str],
) -> list[DimensionData]:
    """Return what was rated, per dimension, in the shape that `assess_agreement` takes.

    Args:
        study: the study.
        units: the units to look at, in the order of slices.
        batches: who was given which of them.
        current: the ratings in force.
        problems: all that stand now; unreadable score cells are counted as invalid.
        by: slice columns.
    """
    codes = tuple(unit.code for unit in units)
    wanted = set(codes)
    roster = [rater.id for rater in study.raters]
    rows = frozenset((batch.rater, code) for batch in batches for code in batch.codes if code in wanted)
    given = {rater for rater, _ in rows}
    raters = tuple(rater for rater in roster if rater in given)
    rows = frozenset(row for row in rows if row[0] in raters)
    by_key = {unit.key: unit for unit in study.units}
    slices = {name: {unit.code: slice_value(by_key[unit.key], name) for unit in units} for name in by}
    questions = tuple(" · ".join(filter(None, (unit.question_id, unit.figure))) for unit in units)
    return [
        RatedRows(
            dimension=dimension.name,
            level=dimension.level,
            scale=dimension.scale,
            raters=raters,
            units=codes,
            rows=rows,
            full_grid=False,
            values=(values := _values(current, dimension.id, dimension.scale, rows)),
            invalid=_invalid(current, problems, dimension.id, dimension.name, rows) - set(values),
            slices=slices,
            questions=questions,
        ).index()
        for dimension in study.rubric.dimensions
    ]


def _values(
    current: CurrentRatings, dimension: str, scale: Sequence[LevelValue], rows: frozenset[Row]
) -> dict[Row, LevelValue]:
    values = current.values(dimension)
    return {
        row: value
        for row, value in values.items()
        if row in rows and (value in scale or value == NOT_APPLICABLE)
    }


def _invalid(
    current: CurrentRatings, problems: Sequence[Problem], dimension: str, name: str, rows: frozenset[Row]
) -> frozenset[Row]:
    """Return rows with something unreadable, or with a value that is off the scale as it is now."""
    off_scale = {row for row in current.values(dimension) if row in rows}
    reported = {
        (problem.rater, problem.code)
        for problem in problems
        if problem.severity == "error" and problem.kind in INVALID_KINDS and name in _columns_of(problem)
    }
    return frozenset(row for row in rows if row in reported or row in off_scale)


def _columns_of(problem: Problem) -> list[str]:
    """Return the headers a problem concerns; rows that contradict each other may do so in several."""
    column = problem.column or ""
    return [column, *column.split(COLUMNS_BETWEEN)]


def tag_data(
    study: Study, units: Sequence[CodedUnit], batches: Sequence[Batch], current: CurrentRatings
) -> list[TagData]:
    """Return who ticked which tag, in the shape that `assess_agreement` takes."""
    wanted = {unit.code for unit in units}
    roster = [rater.id for rater in study.raters]
    ticks = {row: tags for row, tags in current.ticks.items() if row[1] in wanted and row[0] in roster}
    given = {batch.rater for batch in batches if wanted & set(batch.codes)}
    raters = tuple(rater for rater in roster if rater in given)
    tags = [(tag.id, None) for tag in study.rubric.tags]
    owned = [(tag.id, dimension.name) for dimension in study.rubric.dimensions for tag in dimension.tags]
    return [
        TagData(tag, of, raters, {row: tag in ticked for row, ticked in ticks.items()})
        for tag, of in [*tags, *owned]
    ]
