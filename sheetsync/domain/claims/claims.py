"""Which differences between models hold: finding, provisional or not separable (S0.58, X8, X9).

What is compared are final values. Two models are compared on the questions (a question about a figure)
that have a final number for both; the difference is the mean over these questions of first minus
second. Unresolved units and N/A stay out, so `n` can be smaller than the number of questions.

Questions are resampled, paired: whoever is drawn brings both models along, and all comparisons see the
same draws. Limits are cut at the tails that are left for one of m comparisons (Bonferroni; m counts all
dimensions). So far out, resamples of few questions are too short: with the 60 comparisons of six models
on four dimensions and 35 questions, percentile intervals let a difference pass by chance in 13 % of
simulated studies and BCa in 28 % (10 questions: 43 % and 66 %), where 5 % are meant. Limits are
therefore never narrower than Student's t on the differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np
from scipy.special import stdtrit

from sheetsync.domain.agreement.coefficients import Coefficient, undefined
from sheetsync.domain.agreement.report import AgreementReport
from sheetsync.domain.agreement.statistic import FloatArray
from sheetsync.domain.agreement.verdicts import MIN_PAIRABLE
from sheetsync.domain.results import UnitResult
from sheetsync.domain.study import AgreementSettings, Rubric

ClaimClass = Literal["finding", "provisional", "not_separable"]

MIN_QUESTIONS = MIN_PAIRABLE
"""On fewer questions a difference gets no interval."""

_BLOCK = 1_000_000
"""Numbers in a block of resamples."""


@dataclass(frozen=True)
class Claim:
    """What can be said about two models on one dimension.

    Attributes:
        dimension: its id.
        models: the two, by name; `difference` is first minus second.
        n: questions with a final number for both.
        difference: in points, in steps on scales of words, with its adjusted interval.
        alpha: agreement on this dimension.
        rater_difference: the mean distance of two raters of the same unit on this dimension.
    """

    dimension: str
    models: tuple[str, str]
    n: int
    difference: Coefficient
    alpha: Coefficient
    rater_difference: Coefficient

    @property
    def agrees(self) -> bool | None:
        """Whether the lower bound of alpha is above 0; None where there is no bound.

        Raters who never differed have no interval, and need none.
        """
        if self.alpha.interval_reason == "no_disagreement":
            return True
        return None if self.alpha.low is None else self.alpha.low > 0

    @property
    def beyond_raters(self) -> bool | None:
        """Whether the models differ by more than two raters do; None where either is unknown."""
        if self.difference.value is None or self.rater_difference.value is None:
            return None
        return abs(self.difference.value) > self.rater_difference.value

    @property
    def excludes_zero(self) -> bool | None:
        """Whether the interval of the difference lies on one side of 0; None without an interval."""
        if self.difference.low is None or self.difference.high is None:
            return None
        return self.difference.low > 0 or self.difference.high < 0

    @property
    def strength(self) -> ClaimClass | None:
        """All three conditions: finding; none: not separable; else provisional. None without a difference.

        A condition that cannot be checked does not hold.
        """
        if self.difference.value is None:
            return None
        holding = sum(each is True for each in (self.agrees, self.beyond_raters, self.excludes_zero))
        return "finding" if holding == 3 else "provisional" if holding else "not_separable"


@dataclass(frozen=True)
class Claims:
    """Every comparison of two models, in the order of dimensions, then of names.

    Attributes:
        claims: one per dimension and pair of models.
        n_compared: for how many comparisons the intervals are adjusted.
        confidence: of all intervals together, and of alpha's bound.
    """

    claims: tuple[Claim, ...] = ()
    n_compared: int = 0
    confidence: float = 0.95

    def of(self, dimension: str) -> list[Claim]:
        """Return the claims on one dimension."""
        return [claim for claim in self.claims if claim.dimension == dimension]

    def count(self, strength: ClaimClass | None) -> int:
        """Return how many comparisons came out like this."""
        return sum(claim.strength == strength for claim in self.claims)


def compare_models(
    results: Sequence[UnitResult], rubric: Rubric, agreement: AgreementReport, settings: AgreementSettings
) -> Claims:
    """Return what can be said about every two models on every dimension.

    Args:
        results: final values; the order of units changes nothing.
        rubric: dimensions; on a nominal one there is no mean and so no difference.
        agreement: the study's agreement; its dimensions are named, not identified.
        settings: confidence, seed and resamples (0: no intervals).
    """
    models = sorted({result.unit.model for result in results})
    pairs = list(combinations(models, 2))
    reports = {dimension.dimension: dimension.coefficients for dimension in agreement.dimensions}
    none = undefined("no_pairable_units")
    claims: list[Claim] = []
    columns: list[FloatArray] = []
    for dimension in rubric.dimensions:
        values = _values(results, dimension.id, models)
        found = reports.get(dimension.name, {})
        alpha, apart = found.get("alpha", none), found.get("mean_abs_difference", none)
        for first, second in pairs:
            column = values[models.index(first)] - values[models.index(second)]
            columns.append(column)
            n = int(np.isfinite(column).sum())
            point = _mean(column, n, is_nominal=dimension.level == "nominal")
            claims.append(Claim(dimension.id, (first, second), n, point, alpha, apart))
    return _with_intervals(claims, columns, settings)


def _values(results: Sequence[UnitResult], dimension: str, models: Sequence[str]) -> FloatArray:
    """Return final numbers, models x questions in a fixed order, NaN where there is none."""
    cases = {case: at for at, case in enumerate(sorted({result.unit.case for result in results}))}
    values = np.full((len(models), len(cases)), np.nan)
    rank = {model: at for at, model in enumerate(models)}
    for result in results:
        number = result.finals[dimension].number
        if number is not None:
            values[rank[result.unit.model], cases[result.unit.case]] = number
    return values


def _mean(column: FloatArray, n: int, *, is_nominal: bool) -> Coefficient:
    if is_nominal:
        return undefined("undefined_for_values")
    if not n:
        return undefined("no_common_units")
    reason = "too_few_units" if n < MIN_QUESTIONS else "not_requested"
    return Coefficient(float(np.nanmean(column)), interval_reason=reason)


def _with_intervals(
    claims: Sequence[Claim], columns: Sequence[FloatArray], settings: AgreementSettings
) -> Claims:
    """Return the claims with the intervals of those that have questions enough for one."""
    wanted = [
        at
        for at, claim in enumerate(claims)
        if settings.resamples and claim.difference.interval_reason == "not_requested"
    ]
    if not wanted:
        return Claims(tuple(claims), 0, settings.confidence)
    tail = (1 - settings.confidence) / 2 / len(wanted)
    differences = np.array([columns[at] for at in wanted])
    limits = _limits(differences, _resample(differences, settings), tail)
    done = list(claims)
    for at, (low, high) in zip(wanted, limits, strict=True):
        difference = replace(
            claims[at].difference,
            low=low,
            high=high,
            confidence=settings.confidence,
            method="percentile, at least t",
            interval_reason=None,
        )
        done[at] = replace(claims[at], difference=difference)
    return Claims(tuple(done), len(wanted), settings.confidence)


def _resample(differences: FloatArray, settings: AgreementSettings) -> FloatArray:
    """Return the mean differences of resampled questions, resamples x comparisons.

    A resample that holds no common question of a comparison is NaN there.
    """
    n_questions = differences.shape[1]
    present = np.isfinite(differences)
    sums, counts = np.where(present, differences, 0.0).T, present.T.astype(float)
    rng = np.random.default_rng(settings.seed)
    step = max(1, _BLOCK // n_questions)
    parts = []
    for start in range(0, settings.resamples, step):
        rows = min(step, settings.resamples - start)
        drawn = rng.integers(0, n_questions, (rows, n_questions)) + np.arange(rows)[:, None] * n_questions
        weights = np.bincount(drawn.ravel(), minlength=rows * n_questions).reshape(rows, -1).astype(float)
        with np.errstate(invalid="ignore"):
            parts.append((weights @ sums) / (weights @ counts))
    return np.concatenate(parts)


def _limits(differences: FloatArray, samples: FloatArray, tail: float) -> list[tuple[float, float]]:
    """Return for each comparison the outer of the percentile limits and those of Student's t."""
    found = []
    for row, sample in zip(differences, samples.T, strict=True):
        values = row[np.isfinite(row)]
        n, mean = len(values), float(values.mean())
        reach = float(-stdtrit(n - 1, tail)) * float(values.std(ddof=1)) / n**0.5
        low, high = np.quantile(sample[np.isfinite(sample)], [tail, 1 - tail])
        found.append((min(float(low), mean - reach), max(float(high), mean + reach)))
    return found
