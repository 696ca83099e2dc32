"""The criteria of an external validation: what was reached, against what was promised (S1.18-S1.27).

The primary criterion is the stratified alpha: ratings are compared within their dimension only (X4). Verdicts
are on the value itself, at full precision; what cannot be judged is not met.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from sheetsync.domain.agreement.coefficients import Coefficient
from sheetsync.domain.agreement.intervals import IntervalOptions
from sheetsync.domain.agreement.rank_correlation import rank_correlation
from sheetsync.domain.agreement.verdicts import REASON_WORDS, BandSet, band_of, describe_band
from sheetsync.domain.current import CurrentRatings
from sheetsync.domain.protocols import Criteria
from sheetsync.domain.study import NOT_APPLICABLE, Rubric
from sheetsync.domain.validation.direction import DirectionAgreement
from sheetsync.domain.validation.records import Criterion, Outcome
from sheetsync.domain.validation.totals import Totals


def judge_alpha(found: Coefficient, criteria: Criteria, bands: BandSet) -> Criterion:
    """Return the primary criterion."""
    detail = describe_band(band_of(found.value, bands)) if found.value is not None else ""
    return _criterion(
        "alpha", "Agreement, stratified alpha over all dimensions", found, criteria.alpha, detail
    )


def judge_direction(found: DirectionAgreement, criteria: Criteria) -> Criterion:
    """Return the criterion on which response of a case is the better one (X10)."""
    share = found.unanimous
    coefficient = Coefficient(
        share.value,
        share.low,
        share.high,
        share.confidence,
        share.method,
        None if share.n else "no_pairable_units",
    )
    detail = f"{share.count} of {share.n} cases; {found.needed} needed" if share.n else ""
    name = "Direction, cases in which all see the same response ahead"
    return _criterion("direction", name, coefficient, criteria.direction, detail)


def judge_validators(complete: int, raters: int, criteria: Criteria) -> Criterion:
    """Return the criterion on validators who completed every row; partial ones count in alpha, not here (X23)."""
    value = Coefficient(complete, interval_reason="not_requested")
    detail = f"{complete} of {raters} validators scored every row"
    return _criterion("validators", "Validators who completed every row", value, criteria.validators, detail)


def judge_internal(found: InternalAgreement, criteria: Criteria) -> Criterion:
    """Return the criterion on external against internal totals (X22)."""
    detail = f"{found.n} responses" if found.n else ""
    constant = "undefined: all external or all internal totals are the same"
    missing = constant if found.rho.reason == "constant_rater" else found.missing
    name = "Rank correlation with internal scores"
    return _criterion("internal_spearman", name, found.rho, criteria.internal_spearman, detail, missing)


def _criterion(
    name: str, words: str, found: Coefficient, needed: float, detail: str, missing: str | None = None
) -> Criterion:
    outcome: Outcome = "cannot_be_judged"
    if found.value is not None:
        outcome = "met" if found.value >= needed else "missed"
    reason = None
    if found.value is None:
        reason = missing or REASON_WORDS.get(found.reason or "", found.reason or "")
    fragile = outcome == "met" and found.low is not None and found.low < needed
    return Criterion(
        name,
        "primary" if name == "alpha" else "secondary",
        words,
        found.value,
        needed,
        outcome,
        found.low,
        found.high,
        fragile,
        reason,
        detail,
    )


# --- validators ---


def complete_rows(rubric: Rubric, current: CurrentRatings, rater: str, codes: Collection[str]) -> int:
    """Return how many of a rater's rows hold a valid score, or N/A, on every dimension."""
    done = set(codes)
    for dimension in rubric.dimensions:
        valid = {
            code
            for (by, code), value in current.values(dimension.id).items()
            if by == rater
            and (value in dimension.scale or (dimension.not_applicable and value == NOT_APPLICABLE))
        }
        done &= valid
    return len(done)


# --- internal scores ---


@dataclass(frozen=True)
class InternalAgreement:
    """External against internal totals, response by response.

    Attributes:
        rho: of the mean external total of each response.
        n: responses with both.
        missing: why there are no internal scores, in words; None where there are.
        by_rater: of each rater's own totals.
    """

    rho: Coefficient
    n: int
    missing: str | None
    by_rater: Mapping[str, Coefficient]


def compare_with_internal(
    internal: Mapping[str, float] | None,
    totals: Totals,
    raters: Sequence[str],
    codes: Sequence[str],
    options: IntervalOptions,
) -> InternalAgreement:
    """Return the rank correlations with the internal totals.

    Args:
        internal: total by unit, None where there are none.
        totals: external ones.
        raters: whose.
        codes: the units.
        options: how the interval is made.
    """
    if internal is None:
        none = Coefficient(None, reason="no_internal_scores", interval_reason="no_internal_scores")
        return InternalAgreement(none, 0, "there are no internal scores", dict.fromkeys(raters, none))
    known = [code for code in codes if code in internal]
    means = {
        code: fmean(given)
        for code in known
        if (given := [totals[rater, code] for rater in raters if (rater, code) in totals])
    }
    own = {rater: [code for code in known if (rater, code) in totals] for rater in raters}
    return InternalAgreement(
        rank_correlation(list(means.values()), [internal[code] for code in means], options),
        len(means),
        None,
        {
            rater: rank_correlation(
                [totals[rater, c] for c in scored], [internal[c] for c in scored], options
            )
            for rater, scored in own.items()
        },
    )
