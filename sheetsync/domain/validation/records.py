"""What `criteria` reports, in the shape of its JSON: the fields of a record are the keys of its object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sheetsync.domain.agreement.coefficients import Coefficient
from sheetsync.domain.agreement.pooled import Pooled
from sheetsync.domain.agreement.proportions import Proportion
from sheetsync.domain.record import Record
from sheetsync.domain.validation.direction import DirectionAgreement
from sheetsync.domain.validation.frozen import Deviation
from sheetsync.domain.validation.pitfalls import ValidatorPitfalls

SCHEMA = "sheetsync.criteria/1"

Outcome = Literal["met", "missed", "cannot_be_judged"]
"""What cannot be judged is not met."""


@dataclass(frozen=True)
class Criterion(Record):
    """One criterion and its outcome.

    Attributes:
        id: alpha, direction, validators or internal_spearman.
        role: whether it is the primary one.
        name: in words.
        value: what was reached, None where it cannot be judged.
        needed: the bar.
        outcome: compared at full precision, on the value itself.
        low, high: of the interval, None without one.
        fragile: met, but the interval reaches below the bar (X28).
        reason: why it cannot be judged, in words.
        detail: what the value rests on, in words.
    """

    id: str
    role: Literal["primary", "secondary"]
    name: str
    value: float | None
    needed: float
    outcome: Outcome
    low: float | None
    high: float | None
    fragile: bool
    reason: str | None
    detail: str

    @property
    def met(self) -> bool:
        """Whether it is met."""
        return self.outcome == "met"


@dataclass(frozen=True)
class Validator(Record):
    """One validator: a person, never a judge.

    Attributes:
        rater: who.
        rows: production rows that were issued.
        complete_rows: rows with a valid score on every dimension.
        complete: whether that is every row (X23).
        internal_spearman: of this one's totals with the internal ones.
        confident_share: Medium and High among the answered scores (X21), None where none is answered.
        unusual_totals: how many totals lie outside the usual range (X5), None without a range.
        usual_totals: that range.
        usual_from: declared, literal or fences (data-driven).
        disclosed_rows: rows in which the validator says that the text gave away how it was made.
    """

    rater: str
    rows: int
    complete_rows: int
    complete: bool
    internal_spearman: Coefficient
    confident_share: float | None
    unusual_totals: int | None
    usual_totals: tuple[float, float] | None
    usual_from: str | None
    disclosed_rows: int


@dataclass(frozen=True)
class Promise(Record):
    """What was frozen, and how far it was kept.

    Attributes:
        frozen_at: when, None where nothing is frozen.
        hash: of what is frozen.
        first_score_at: when the first score came in.
        scores_before: score cells that came in before the freeze.
        deviations: terms that are not what was frozen.
        unblinded_at: when the study was first unblinded, None while it is blind.
        scores_since: score cells that came in or changed after that.
    """

    frozen_at: str | None
    hash: str | None
    first_score_at: str | None
    scores_before: int
    deviations: tuple[Deviation, ...]
    unblinded_at: str | None
    scores_since: int

    @property
    def warnings(self) -> tuple[str, ...]:
        """What must be said beside every verdict."""
        found = []
        if self.frozen_at is None:
            found.append(
                "The criteria were never frozen: nothing shows that they were set before the scores."
            )
        elif self.scores_before:
            found.append(
                f"The criteria were frozen at {self.frozen_at}, after {self.scores_before} scores had come in "
                f"(the first at {self.first_score_at})."
            )
        found += [f"Deviates from what was frozen: {each}." for each in self.deviations]
        if self.scores_since:
            found.append(
                f"{self.scores_since} scores came in or changed after the study was unblinded at "
                f"{self.unblinded_at}."
            )
        return tuple(found)


@dataclass(frozen=True)
class DimensionReliability(Record):
    """One dimension: alpha with its band, exact agreement."""

    dimension: str
    alpha: Coefficient
    band: str | None
    exact: Coefficient


@dataclass(frozen=True)
class SliceReliability(Record):
    """The cases that share a value of a question column, such as a domain.

    `alpha` is stratified; too few units show only how often scores are the same (X20).
    """

    by: str
    value: str
    cases: int
    units: int
    alpha: Coefficient
    identical: float | None
    direction: Proportion


@dataclass(frozen=True)
class ConfidenceClass(Record):
    """Two scores of one cell, by how sure both raters were.

    Attributes:
        confidence: both_high, one_high or none_high.
        pairs: how many pairs of scores.
        identical: share of equal ones.
        steps_apart: mean distance in steps of the scale.
    """

    confidence: str
    pairs: int
    identical: float | None
    steps_apart: float | None


@dataclass(frozen=True)
class PairReliability(Record):
    """Two raters over all dimensions, compared within dimensions; and kappa of each dimension."""

    raters: tuple[str, str]
    n: int
    kappa: Coefficient
    by_dimension: Mapping[str, float | None]


@dataclass(frozen=True)
class Exploratory(Record):
    """What is looked at without a bar.

    Attributes:
        dimensions: S1.28.
        slices: S1.29.
        confidence: S1.30.
        high_agrees_more: whether two High scores are equal more often than others; None where one is missing.
        pairs: S1.24.
        best_pair, worst_pair: the raters who agree most and least; None where no kappa is defined.
        identical_pairs: share of rater pairs with the same score (S1.25).
        identical_all: share of cells in which all raters gave the same score.
    """

    dimensions: tuple[DimensionReliability, ...]
    slices: tuple[SliceReliability, ...]
    confidence: tuple[ConfidenceClass, ...]
    high_agrees_more: bool | None
    pairs: tuple[PairReliability, ...]
    best_pair: tuple[str, str] | None
    worst_pair: tuple[str, str] | None
    identical_pairs: float | None
    identical_all: float | None


@dataclass(frozen=True)
class WithoutDisclosed(Record):
    """The figures without rows whose rater says that the text gave away how it was made (S1.40)."""

    rows: int
    alpha: Coefficient
    direction: Proportion


@dataclass(frozen=True)
class CriteriaReport(Record):
    """The verdict table and what stands beside it.

    Attributes:
        as_of: when ratings were collected last.
        all_met: whether every criterion is met.
        criteria: the primary one first.
        promise: what was frozen.
        validators: one by one.
        pooled: weights of the stratified alpha, and the naive figure beside null raters; None with one dimension.
        direction: what the direction criterion rests on.
        improved_higher: cases in which all raters see the improved response ahead, out of those in which they
            agree on a direction; None while the study is blind. It is a result, not an agreement.
        without_disclosed: None where nobody disclosed anything.
        exploratory: without a bar.
        pitfalls: per validator.
    """

    as_of: str | None
    all_met: bool
    criteria: tuple[Criterion, ...]
    promise: Promise
    validators: tuple[Validator, ...]
    pooled: Pooled | None
    direction: DirectionAgreement
    improved_higher: Proportion | None
    without_disclosed: WithoutDisclosed | None
    exploratory: Exploratory
    pitfalls: tuple[ValidatorPitfalls, ...]

    def to_dict(self) -> dict[str, object]:
        """Return what `criteria --json` prints."""
        return {"schema": SCHEMA} | super().to_dict()
