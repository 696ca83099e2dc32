"""What the archive says now: coverage, divergences, agreement, results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sheetsync.domain.agreement.assessment import DimensionData, Options, assess_agreement
from sheetsync.domain.agreement.report import AgreementReport
from sheetsync.domain.analysis import Analysis, dimension_data, slice_columns, tag_data
from sheetsync.domain.assignment import Batch, CodedUnit, describe_design
from sheetsync.domain.certification.judge_metrics import JudgeComparison, compare_judges
from sheetsync.domain.certification.judged_ratings import (
    judged_dimensions,
    judges_of,
    reliability_unknown,
    with_certified,
)
from sheetsync.domain.controls import list_controls
from sheetsync.domain.current import BatchEntries, CurrentRatings, gather_current
from sheetsync.domain.divergence import Divergence, find_divergences
from sheetsync.domain.habits.habits import RaterHabits, describe_habits
from sheetsync.domain.progress import (
    BatchProgress,
    UnitCoverage,
    batch_progress,
    row_progress,
    units_short,
)
from sheetsync.domain.ratings import Entry, Problem
from sheetsync.domain.results import unit_results
from sheetsync.domain.scoring.self_check import SelfChecked, check_raters
from sheetsync.domain.study import Unit
from sheetsync.errors import StudyError
from sheetsync.services.certificate import certificate_of
from sheetsync.services.provision import BEGAN, changed_texts
from sheetsync.services.session import Session, SheetMaker, batch_entries, batch_of
from sheetsync.store.records import WorkbookKey, WorkbookRecord


@dataclass(frozen=True)
class Standing:
    """Where a study stands, as far as it costs nothing to say: no coefficient is computed here.

    Only raters of the roster and units of the study's files are in it. `current` holds what people gave, `judged`
    what judges gave: a judge is compared with people, and never is one of them.
    """

    session: Session
    records: tuple[WorkbookRecord, ...]
    entries: Mapping[WorkbookKey, Sequence[Entry]]
    problems: tuple[Problem, ...]
    units: tuple[CodedUnit, ...]
    practice_units: tuple[CodedUnit, ...]
    current: CurrentRatings
    practice: CurrentRatings
    judged: CurrentRatings

    @property
    def production_batches(self) -> list[Batch]:
        """What was issued to people in production; a re-score gives nobody a unit."""
        judges = set(judges_of(self.session.study))
        return [batch for batch in self.issued_batches if batch.rater not in judges]

    @property
    def issued_batches(self) -> list[Batch]:
        """What was issued in production, to judges too."""
        return [batch_of(record) for record in self.records if record.kind == "production"]

    @cached_property
    def sheets(self) -> SheetMaker:
        """The texts and rubrics that were issued."""
        return self.session.sheets()

    @cached_property
    def divergences(self) -> tuple[Divergence, ...]:
        """Every divergence, with its state."""
        names = [rater.id for rater in self.session.study.raters]
        order = {code: index for index, code in enumerate([unit.code for unit in self.units])}
        order |= {rater: index for index, rater in enumerate(names)}
        codes = {unit.code for unit in self.units}
        verdicts = [v for v in self.session.archive.current_verdicts() if v.code in codes]
        settings = self.session.study.settings.divergence
        return tuple(find_divergences(self.current, self.session.study.rubric, settings, verdicts, order))

    @cached_property
    def progress(self) -> tuple[BatchProgress, ...]:
        """How far each workbook is, in the order of the roster."""
        roster = self.session.roster()
        records = sorted(self.records, key=lambda record: roster.index(record.rater))
        return tuple(
            batch_progress(
                batch_entries(record, self.entries.get(record.key, ())),
                self.sheets.rubric(record.rubric),
                self.problems,
                self.session.archive.last_change(*record.key),
            )
            for record in records
        )

    @cached_property
    def habits(self) -> RaterHabits:
        """How each rater uses the sheet."""
        session = self.session
        return describe_habits(
            session.study.rubric,
            session.roster(),
            self.production_batches,
            self.current,
            session.archive.first_scores(),
        )

    @property
    def self_checks(self) -> Mapping[str, SelfChecked]:
        """What the self-check of each rater shows; nothing where the rubric asks for no confidence."""
        study = self.session.study
        if not any(dimension.confidence for dimension in study.rubric.dimensions):
            return {}
        codes = [unit.code for unit in self.units]
        batches = _batches(self.records, self.entries, self.units)
        return check_raters(batches, codes, study.rubric, study.settings.self_check)

    @cached_property
    def coverage(self) -> UnitCoverage:
        """Which production units have the raters and the ratings that the design wants."""
        roster = self.session.roster()
        wanted = self._raters_wanted(roster)
        codes = [unit.code for unit in self.units]
        holders: dict[str, list[str]] = {}
        for batch in self.issued_batches:
            for code in batch.codes:
                holders.setdefault(code, []).append(batch.rater)
        done = self._complete_rows()
        return UnitCoverage(
            total=len(codes),
            fully_rated=sum(len(done.get(code, ())) >= wanted for code in codes),
            short_of_raters=units_short(codes, holders, roster, wanted),
            changed_text=tuple(code for code in changed_texts(self.session) if code in set(codes)),
            older_text=(*self.current.left_out, *self.judged.left_out),
        )

    def _raters_wanted(self, roster: Sequence[str]) -> int:
        """Return how many raters of a unit the design wants.

        "All" is everybody on the roster, and at least as many as the study began with: whoever leaves
        without a successor leaves the units short.
        """
        per_unit = self.session.study.design.raters_per_unit
        if per_unit != "all":
            return per_unit
        began = next((int(e.outcome) for e in self.session.archive.events() if e.command == BEGAN), 0)
        return max(len(roster), began)

    def _complete_rows(self) -> dict[str, set[str]]:
        """Return per unit the raters whose row is complete in some production or re-score batch."""
        wrong = {(p.rater, p.batch, p.code) for p in self.problems if p.severity == "error"}
        old = {*self.current.left_out, *self.judged.left_out}
        done: dict[str, set[str]] = {}
        for record in self.records:
            if record.kind == "calibration":
                continue
            typed: dict[str, list[Entry]] = {}
            for entry in self.entries.get(record.key, ()):
                typed.setdefault(entry.code, []).append(entry)
            for code, entries in typed.items():
                has_error = (record.rater, record.batch, code) in wrong
                state = row_progress(entries, self.sheets.rubric(record.rubric), has_error)
                if state == "complete" and (record.rater, code) not in old:
                    done.setdefault(code, set()).add(record.rater)
        return done


def gather_standing(session: Session) -> Standing:
    """Return where the study stands according to its archive.

    Raises:
        NotProvisionedError: there are no workbooks yet.
    """
    roster = set(session.roster())
    planned = session.workbooks()
    records = tuple(record for record in planned if record.rater in roster)
    entries = session.archive.current_entries()
    keys = dict.fromkeys(unit.key for unit in session.study.units)
    place = {case: index for index, case in enumerate(dict.fromkeys(key[:2] for key in keys))}
    present = [unit for unit in session.archive.units() if unit.key in keys]
    # By code within a question: the files list its models in one order, which would tell them apart.
    present.sort(key=lambda unit: (place[unit.case], unit.code))
    issued = {row.code for record in planned for row in record.rows}
    units = tuple(unit for unit in present if not unit.calibration and unit.code in issued)
    practice = tuple(unit for unit in present if unit.calibration and unit.code in issued)
    everybody = gather_current(_batches(records, entries, units))
    judges = judges_of(session.study)
    people = [rater for rater in roster if rater not in judges]
    return Standing(
        session,
        records,
        entries,
        tuple(p for p in session.archive.current_problems() if p.rater is None or p.rater in roster),
        units,
        practice,
        everybody.of_raters(people),
        gather_current(_batches(records, entries, practice)).of_raters(people),
        everybody.of_raters(judges),
    )


def _batches(
    records: Sequence[WorkbookRecord],
    entries: Mapping[WorkbookKey, Sequence[Entry]],
    units: Sequence[CodedUnit],
) -> list[BatchEntries]:
    codes = {unit.code for unit in units}
    return [
        batch_entries(record, [e for e in entries.get(record.key, ()) if e.code in codes])
        for record in records
    ]


def analyze(
    session: Session,
    options: Options | None = None,
    by: Sequence[str] | None = None,
    standing: Standing | None = None,
) -> Analysis:
    """Return everything that is known about the study now.

    Args:
        session: the study.
        options: settings of the analysis; the study's own where None.
        by: slice columns; the study's own where None.
        standing: where the study stands, if the caller has asked already.

    Raises:
        NotProvisionedError: there are no workbooks yet.
        StudyError: `by` names no column of the questions file.
    """
    standing = standing or gather_standing(session)
    study = session.study
    chosen = options or study_options(session)
    columns = slice_columns(study) if by is None else _known_columns(session, by)
    last = session.archive.last_pull()
    judges = judges_of(study)
    people = [rater for rater in session.roster() if rater not in judges]
    design = describe_design(people, standing.production_batches)
    certificate = certificate_of(session, standing.current)
    divergences = standing.divergences
    by_key = {unit.key: unit for unit in study.units}
    return Analysis(
        study=study,
        as_of=last.at if last else None,
        pull=last.number if last else None,
        units=standing.units,
        current=standing.current,
        agreement=_agreement(standing, chosen, columns),
        practice=_practice_agreement(standing, chosen),
        divergences=divergences,
        results=tuple(
            unit_results(
                standing.units,
                with_certified(standing.current, standing.judged, certificate),
                study.rubric,
                divergences,
            )
        ),
        progress=standing.progress,
        coverage=standing.coverage,
        problems=standing.problems,
        controls=tuple(
            list_controls(study, standing.units, standing.current, design, divergences, standing.practice)
        ),
        questions={unit.code: by_key[unit.key] for unit in standing.units},
        batches=tuple(standing.production_batches),
        first_scores=tuple(session.archive.first_scores()),
        self_checks=standing.self_checks,
        certificate=certificate,
        reliability_unknown=reliability_unknown(study, certificate),
    )


def study_options(session: Session) -> Options:
    """Return `[agreement]` of the study as options of the analysis."""
    settings = session.study.settings.agreement
    return Options(
        settings.bands,
        settings.interval,
        settings.confidence,
        settings.resamples,
        settings.seed,
        minimum_units=settings.minimum_units,
    )


def _known_columns(session: Session, by: Sequence[str]) -> tuple[str, ...]:
    units: Sequence[Unit] = session.study.units
    known = ["figure", "tier", "type", "question", *dict.fromkeys(n for u in units for n in u.slices)]
    spelled = {name.casefold(): name for name in known} | {"question_id": "question"}
    unknown = [name for name in by if name.strip().casefold() not in spelled]
    if unknown:
        raise StudyError(
            f"The questions file has no column {', '.join(unknown)}.", f"Columns: {', '.join(known)}."
        )
    return tuple(spelled[name.strip().casefold()] for name in by)


def _agreement(standing: Standing, options: Options, by: Sequence[str]) -> AgreementReport:
    study = standing.session.study
    data = dimension_data(
        study, standing.units, standing.production_batches, standing.current, standing.problems, by
    )
    tags = tag_data(study, standing.units, standing.production_batches, standing.current)
    report = assess_agreement(data, tags, options)
    return replace(report, judges=_beside_people(standing, data, options)) if judges_of(study) else report


def _beside_people(
    standing: Standing, people: Sequence[DimensionData], options: Options
) -> tuple[JudgeComparison, ...]:
    """Return every judge of the roster beside the people."""
    study = standing.session.study
    judges = set(judges_of(study))
    batches = [batch for batch in standing.issued_batches if batch.rater in judges]
    given = dimension_data(study, standing.units, batches, standing.judged, standing.problems, ())
    return compare_judges(judged_dimensions(people, given), options.of_pairs)


def _practice_agreement(standing: Standing, options: Options) -> AgreementReport | None:
    """Return agreement on practice units, apart from everything else (X13)."""
    if not standing.practice_units:
        return None
    study = standing.session.study
    judges = set(judges_of(study))
    records = [record for record in standing.records if record.rater not in judges]
    batches = [batch_of(record) for record in records if record.kind == "calibration"]
    data = dimension_data(study, standing.practice_units, batches, standing.practice, standing.problems, ())
    return assess_agreement(
        data, tag_data(study, standing.practice_units, batches, standing.practice), options
    )


def without_models(analysis: Analysis) -> Analysis:
    """Return the analysis with every model's name taken out, for blind reports."""
    return replace(
        analysis,
        units=tuple(replace(unit, model="") for unit in analysis.units),
        results=tuple(replace(r, unit=replace(r.unit, model="")) for r in analysis.results),
    )
