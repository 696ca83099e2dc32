"""What `criteria` and `unblind` look at: the archive's ratings, put together once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sheetsync.config_criteria import read_internal
from sheetsync.config_faults import Faults
from sheetsync.domain.agreement.intervals import IntervalOptions
from sheetsync.domain.agreement.layers import Layer, layers_of
from sheetsync.domain.agreement.reliability import DimensionData
from sheetsync.domain.analysis import Analysis, dimension_data, slice_columns, slice_value
from sheetsync.domain.assignment import CodedUnit
from sheetsync.domain.current import CurrentRatings
from sheetsync.domain.protocols import Criteria
from sheetsync.domain.validation.direction import Case, CaseDirection, Pair, find_directions
from sheetsync.domain.validation.exploration import Confidences
from sheetsync.domain.validation.pitfalls import PitfallData
from sheetsync.domain.validation.totals import add_up, total_parts
from sheetsync.services.analyze import Standing, analyze, gather_standing, study_options
from sheetsync.services.freeze import no_criteria
from sheetsync.services.session import DOMAIN, Session

BLINDING = "blinding"
"""A response tag whose id begins so says that the text gave away how it was made (S1.39)."""


@dataclass(frozen=True)
class ValidationData:
    """A study with criteria at one moment."""

    session: Session
    criteria: Criteria
    standing: Standing
    known: Analysis | None = None
    """The analysis of the study where somebody has made it already."""

    @cached_property
    def analysis(self) -> Analysis:
        """Agreement and everything else that any study has."""
        return self.known or analyze(self.session, standing=self.standing)

    @property
    def options(self) -> IntervalOptions:
        """How intervals are made."""
        return study_options(self.session).over_raters

    @cached_property
    def raters(self) -> tuple[str, ...]:
        """The validators: people of the roster who were given production units. Judges are none."""
        given = {batch.rater for batch in self.standing.production_batches}
        people = (rater.id for rater in self.session.study.raters if rater.kind == "annotator")
        return tuple(rater for rater in people if rater in given)

    # --- units and cases ---

    @property
    def units(self) -> tuple[CodedUnit, ...]:
        """The production units."""
        return self.standing.units

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """Their codes, in the order of the layers."""
        return tuple(unit.code for unit in self.units)

    @cached_property
    def cases(self) -> dict[Case, dict[str, str]]:
        """Per case the code of each model."""
        found: dict[Case, dict[str, str]] = {}
        for unit in self.units:
            found.setdefault(unit.case, {})[unit.model] = unit.code
        return found

    @cached_property
    def groups(self) -> list[int]:
        """Per unit the number of its case."""
        numbers = {case: number for number, case in enumerate(self.cases)}
        return [numbers[unit.case] for unit in self.units]

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The cases with both responses, baseline first."""
        names = (self.criteria.baseline, self.criteria.improved)
        return tuple(
            Pair(case, (by_model[names[0]], by_model[names[1]]), names)
            for case, by_model in self.cases.items()
            if all(name in by_model for name in names)
        )

    @cached_property
    def slices(self) -> dict[str, dict[str, str]]:
        """By question column, the value of each unit."""
        study = self.session.study
        by_key = {unit.key: unit for unit in study.units}
        return {
            name: {unit.code: slice_value(by_key[unit.key], name) for unit in self.units}
            for name in slice_columns(study)
        }

    @cached_property
    def assigned(self) -> dict[str, tuple[str, ...]]:
        """Per rater the production units in the order of the rows."""
        found: dict[str, list[str]] = {rater: [] for rater in self.raters}
        present = set(self.codes)
        for batch in self.standing.production_batches:
            if batch.rater in found:
                found[batch.rater] += [code for code in batch.codes if code in present]
        return {rater: tuple(codes) for rater, codes in found.items()}

    # --- ratings ---

    @property
    def current(self) -> CurrentRatings:
        """The ratings in force."""
        return self.standing.current

    @cached_property
    def totals(self) -> dict[tuple[str, str], float]:
        """Total by rater and unit."""
        return self.totals_of(self.current)

    def totals_of(self, current: CurrentRatings) -> dict[tuple[str, str], float]:
        """Return totals of these ratings."""
        return add_up(current, total_parts(self.session.study.rubric))

    @cached_property
    def confidences(self) -> Confidences:
        """What was given beside scores; a later batch supersedes an earlier one."""
        return {
            (record.rater, entry.code, entry.column): str(entry.value)
            for record in self.standing.records
            for entry in self.standing.entries.get(record.key, ())
            if entry.kind == "confidence"
        }

    @cached_property
    def layers(self) -> list[Layer]:
        """The ratings per dimension."""
        return layers_of(self.dimensions(self.current))

    def dimensions(self, current: CurrentRatings) -> Sequence[DimensionData]:
        """Return these ratings per dimension, whoever was given a unit."""
        standing = self.standing
        batches = [batch for batch in standing.production_batches if batch.rater in self.raters]
        return dimension_data(self.session.study, self.units, batches, current, standing.problems, ())

    @cached_property
    def directions(self) -> list[CaseDirection]:
        """What raters say of each case."""
        return find_directions(self.pairs, self.totals, self.raters)

    @cached_property
    def disclosed(self) -> frozenset[tuple[str, str]]:
        """(rater, unit) where the rater says that the text gave away how it was made."""
        tags = {tag.id for tag in self.session.study.rubric.tags if tag.id.casefold().startswith(BLINDING)}
        return frozenset(
            row for row, ticked in self.current.ticks.items() if ticked & tags and row[1] in self.codes
        )

    @cached_property
    def current_without_disclosed(self) -> CurrentRatings:
        """The ratings in force without those rows."""
        kept = (each for each in self.current.ratings if (each.rater, each.code) not in self.disclosed)
        return replace(self.current, ratings=tuple(kept))

    @cached_property
    def internal(self) -> dict[str, float] | None:
        """The internal total of each unit, None where there are none."""
        study = self.session.study
        found = read_internal(self.session.root, self.criteria, study.rubric, study.units, Faults())
        if found is None or not found.totals:
            return None
        return {unit.code: found.totals[unit.key] for unit in self.units if unit.key in found.totals}

    @property
    def pitfalls(self) -> PitfallData:
        """What the guards look at."""
        sheets = self.standing.sheets
        return PitfallData(
            self.session.study.rubric,
            self.raters,
            replace(
                self.current,
                ratings=tuple(each for each in self.current.ratings if each.code in set(self.codes)),
            ),
            self.totals,
            self.assigned,
            {rater: sheets.sides(rater) for rater in self.raters},
            {code: len(sheets.newest_text(code).response.split()) for code in self.codes},
            self.pairs,
            self.slices.get(DOMAIN, {}),
        )


def gather_validation(session: Session, analysis: Analysis | None = None) -> ValidationData:
    """Return what a study with criteria holds; `analysis` where somebody has made it already.

    Raises:
        StudyError: the study has no criteria.
        NotProvisionedError: there are no workbooks yet.
    """
    criteria = session.study.settings.criteria
    if criteria is None:
        raise no_criteria()
    return ValidationData(session, criteria, gather_standing(session), analysis)
