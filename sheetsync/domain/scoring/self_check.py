"""What a rater looks at again before handing in: confidence, unusual totals, scores held with low confidence.

The `Self-check` tab shows it live, the report as of the last pull; both by these rules:

- An **answered** score is a level; N/A and blanks are none. The share of Medium and High is taken over
  all answered scores of dimensions that ask for confidence, whether a confidence was given or not (X21).
- The **total** of a row is its computed column; a row that lacks a part has none.
- A total is **unusual** outside a range that the study declares or, without one, outside Tukey's fences of
  the rater's own totals: a distance of 1.5 times the interquartile range from the quartiles (J. W. Tukey,
  Exploratory Data Analysis, 1977; quartiles as `QUARTILE` of spreadsheets has them). "literal" takes the
  instructions of the protocol by the word: every total but the middle of the scale (X5).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import quantiles
from typing import Literal

from sheetsync.domain.current import BatchEntries
from sheetsync.domain.protocols import SelfCheck
from sheetsync.domain.ratings import Entry
from sheetsync.domain.scoring.columns import sum_columns
from sheetsync.domain.study import CONFIDENCE_LEVELS, NOT_APPLICABLE, LevelValue, Rubric

LOW = CONFIDENCE_LEVELS[0]
SURE = CONFIDENCE_LEVELS[1:]
"""Medium and High."""

FEWEST_TOTALS = 4
"""With fewer totals there are no fences: quartiles of three values say nothing."""

RangeSource = Literal["declared", "literal", "fences"]


@dataclass(frozen=True)
class Answer:
    """One score in force, with the confidence that was given beside it."""

    code: str
    dimension: str
    value: LevelValue
    confidence: str | None = None


@dataclass(frozen=True)
class UsualTotals:
    """The totals that need no second look, both ends included, and where the range comes from."""

    low: float
    high: float
    source: RangeSource

    def holds(self, total: float) -> bool:
        """Return whether a total lies inside."""
        return self.low <= total <= self.high


@dataclass(frozen=True)
class SelfChecked:
    """What one rater's self-check shows.

    Attributes:
        answered: scores that ask for confidence and have a level.
        confident: how many of them are held with Medium or High confidence.
        low: (code, dimension id) of those held with Low confidence, in the order of the answers.
        totals: the total of every row that has one.
        usual: the range of totals; None where the rubric has no total, or too few rows have one.
        unusual: codes whose total lies outside.
    """

    answered: int
    confident: int
    low: tuple[tuple[str, str], ...]
    totals: Mapping[str, int | float]
    usual: UsualTotals | None
    unusual: tuple[str, ...]

    @property
    def share(self) -> float | None:
        """The share of Medium and High; None while nothing is answered."""
        return self.confident / self.answered if self.answered else None


def total_column(rubric: Rubric) -> str | None:
    """Return the header of the total: the first computed column of the rubric, None without any."""
    return next(iter(sum_columns(rubric)), None)


def middle_total(rubric: Rubric) -> float | None:
    """Return the middle of the scale of the total; None without a total of numbers."""
    header = total_column(rubric)
    parts = [rubric.by_id[name].scale for _, name in sum_columns(rubric).get(header or "", ())]
    ends = [(scale[0], scale[-1]) for scale in parts]
    numbers = [value for pair in ends for value in pair if not isinstance(value, str)]
    return sum(numbers) / 2 if numbers and len(numbers) == 2 * len(ends) else None


def usual_totals(totals: Collection[int | float], rubric: Rubric, settings: SelfCheck) -> UsualTotals | None:
    """Return the range of totals that need no second look; see the module's text."""
    wanted = settings.typical_total
    if isinstance(wanted, tuple):
        return UsualTotals(*wanted, source="declared")
    if wanted == "literal":
        middle = middle_total(rubric)
        return None if middle is None else UsualTotals(middle, middle, "literal")
    if len(totals) < FEWEST_TOTALS:
        return None
    first, _, third = quantiles(totals, n=4, method="inclusive")
    reach = 3 * (third - first) / 2
    return UsualTotals(first - reach, third + reach, "fences")


def check_oneself(answers: Iterable[Answer], rubric: Rubric, settings: SelfCheck) -> SelfChecked:
    """Return what the self-check of one rater shows."""
    asked = {dimension.id for dimension in rubric.dimensions if dimension.confidence}
    given = [answer for answer in answers if answer.value != NOT_APPLICABLE]
    sure = [answer for answer in given if answer.dimension in asked]
    totals = _totals(given, rubric)
    usual = usual_totals(totals.values(), rubric, settings)
    return SelfChecked(
        answered=len(sure),
        confident=sum(answer.confidence in SURE for answer in sure),
        low=tuple((answer.code, answer.dimension) for answer in sure if answer.confidence == LOW),
        totals=totals,
        usual=usual,
        unusual=tuple(code for code, total in totals.items() if usual and not usual.holds(total)),
    )


def _totals(answers: Sequence[Answer], rubric: Rubric) -> dict[str, int | float]:
    header = total_column(rubric)
    parts = [name for _, name in sum_columns(rubric).get(header or "", ())]
    rows: dict[str, dict[str, int | float]] = {}
    for answer in answers:
        if answer.dimension in parts and not isinstance(answer.value, str):
            rows.setdefault(answer.code, {})[answer.dimension] = answer.value
    return {code: sum(row.values()) for code, row in rows.items() if len(row) == len(parts)}


def answers_of(entries: Iterable[Entry]) -> list[Answer]:
    """Return the scores among the entries of one workbook, each with its confidence."""
    kept = list(entries)
    sure = {(entry.code, entry.column): str(entry.value) for entry in kept if entry.kind == "confidence"}
    return [
        Answer(entry.code, entry.column, entry.value, sure.get((entry.code, entry.column)))
        for entry in kept
        if entry.kind == "score"
    ]


def answers_in_force(batches: Iterable[BatchEntries]) -> dict[str, list[Answer]]:
    """Return by rater the scores in force, out of all their workbooks but those of the practice round.

    A score typed into a later workbook supersedes the earlier one with its confidence; the archive keeps both.

    Args:
        batches: in the order in which they were issued.
    """
    found: dict[str, dict[tuple[str, str], Answer]] = {}
    for batch in batches:
        if batch.kind == "calibration":
            continue
        of_rater = found.setdefault(batch.rater, {})
        of_rater |= {(answer.code, answer.dimension): answer for answer in answers_of(batch.entries)}
    return {rater: list(answers.values()) for rater, answers in found.items()}


def check_raters(
    batches: Iterable[BatchEntries], codes: Collection[str], rubric: Rubric, settings: SelfCheck
) -> dict[str, SelfChecked]:
    """Return the self-check of every rater who was given something, over the units of `codes`.

    Scores of dimensions that the rubric does not have, and values off its scales, are left out.
    """
    wanted = set(codes)
    scales = {dimension.id: (*dimension.scale, NOT_APPLICABLE) for dimension in rubric.dimensions}
    return {
        rater: check_oneself(
            [a for a in answers if a.code in wanted and a.value in scales.get(a.dimension, ())],
            rubric,
            settings,
        )
        for rater, answers in answers_in_force(batches).items()
    }
