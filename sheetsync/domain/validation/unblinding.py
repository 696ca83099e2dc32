"""Baseline against improved, paired per case: what may be looked at once the study is unblinded (S1.31)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from sheetsync.domain.agreement.coefficients import Coefficient, undefined
from sheetsync.domain.agreement.intervals import IntervalOptions
from sheetsync.domain.agreement.proportions import SignedRankTest, SignTest, sign_test, signed_rank_test
from sheetsync.domain.agreement.verdicts import is_too_few
from sheetsync.domain.record import Record
from sheetsync.domain.validation.direction import Pair

SCHEMA = "sheetsync.unblind/1"

Values = Mapping[tuple[str, str], float]
"""(rater, unit) -> a score or a total."""


@dataclass(frozen=True)
class CaseDifference(Record):
    """One case: means over the raters who scored both responses, and improved minus baseline."""

    question_id: str
    figure: str
    raters: int
    baseline: float
    improved: float
    difference: float


@dataclass(frozen=True)
class Comparison(Record):
    """Improved minus baseline over all cases.

    Attributes:
        measure: "total", or the name of a dimension.
        cases: how many have at least one rater with both scores.
        baseline: mean over cases.
        improved: mean over cases.
        difference: mean difference, with a percentile interval over cases.
        sign: cases in which the mean of improved is higher, lower, the same.
        signed_rank: over the differences of cases.
    """

    measure: str
    cases: int
    baseline: float | None
    improved: float | None
    difference: Coefficient
    sign: SignTest
    signed_rank: SignedRankTest


@dataclass(frozen=True)
class RaterWins(Record):
    """How often one rater puts improved above baseline; `rater` None: all judgements together.

    Judgements of one case are not independent of each other, so the test over all of them is shown for
    comparison with reports that do it; the verdict is the one over cases.
    """

    rater: str | None
    test: SignTest


def case_differences(pairs: Sequence[Pair], values: Values, raters: Sequence[str]) -> list[CaseDifference]:
    """Return improved minus baseline per case; pairs name baseline first."""
    found = []
    for pair in pairs:
        both = [r for r in raters if all((r, code) in values for code in pair.codes)]
        if both:
            low, high = (fmean(values[rater, code] for rater in both) for code in pair.codes)
            found.append(CaseDifference(*pair.case, len(both), low, high, high - low))
    return found


def compare(measure: str, cases: Sequence[CaseDifference], options: IntervalOptions) -> Comparison:
    """Return the comparison over cases.

    Args:
        measure: what the differences are of.
        cases: one each.
        options: confidence, resamples and seed of the interval.
    """
    # A mean over raters is no exact number; what is zero but for rounding is a tie.
    differences = [0.0 if abs(case.difference) < _ROUNDING else case.difference for case in cases]
    wins, losses = sum(each > 0 for each in differences), sum(each < 0 for each in differences)
    return Comparison(
        measure,
        len(cases),
        fmean(case.baseline for case in cases) if cases else None,
        fmean(case.improved for case in cases) if cases else None,
        _mean_with_interval(differences, options),
        sign_test(wins, losses, len(cases) - wins - losses),
        signed_rank_test([round(each, _DIGITS) for each in differences]),
    )


_DIGITS = 9
_ROUNDING = 1e-9


def _mean_with_interval(differences: Sequence[float], options: IntervalOptions) -> Coefficient:
    if not differences:
        return undefined("no_common_units")
    values = np.array(differences)
    mean = float(values.mean())
    if not options.resamples:
        return Coefficient(mean, interval_reason="not_requested")
    if is_too_few(len(values)):
        return Coefficient(mean, interval_reason="too_few_units")
    rng = np.random.default_rng(options.seed)
    sample = values[rng.integers(0, len(values), size=(options.resamples, len(values)))].mean(axis=1)
    tail = (1 - options.confidence) / 2
    low, high = np.quantile(sample, [tail, 1 - tail])
    return Coefficient(mean, float(low), float(high), options.confidence, "percentile")


def count_wins(pairs: Sequence[Pair], totals: Values, raters: Sequence[str]) -> list[RaterWins]:
    """Return how often each rater puts improved above baseline, and all together at the end."""
    tests = []
    for rater in raters:
        differences = [
            totals[rater, pair.codes[1]] - totals[rater, pair.codes[0]]
            for pair in pairs
            if all((rater, code) in totals for code in pair.codes)
        ]
        wins, losses = sum(each > 0 for each in differences), sum(each < 0 for each in differences)
        tests.append(sign_test(wins, losses, len(differences) - wins - losses))
    found = [RaterWins(rater, test) for rater, test in zip(raters, tests, strict=True)]
    together = sign_test(*(sum(getattr(test, name) for test in tests) for name in ("wins", "losses", "ties")))
    return [*found, RaterWins(None, together)]
