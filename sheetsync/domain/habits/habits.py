"""How each rater uses the sheet: facts with their n. They say nothing about why, and accuse nobody.

What would be rare in a study of raters without any such habit is marked as worth a look. Marks of one
kind are adjusted together (Bonferroni): by chance alone, each kind shows one in at most some
5 % of studies, whatever the number of raters, dimensions and pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from sheetsync.domain.agreement.coefficients import Coefficient
from sheetsync.domain.assignment import Batch
from sheetsync.domain.current import CurrentRatings
from sheetsync.domain.habits.blocks import Block, notable_block, number_sheets
from sheetsync.domain.habits.pace import FirstScores, Pace, describe_pace
from sheetsync.domain.habits.severity import ALARM, Severity, severities
from sheetsync.domain.habits.sheets import (
    MIN_LENGTH,
    MIN_ROWS,
    EqualRows,
    RowValues,
    Run,
    SheetRows,
    equal_rows,
    longest_runs,
)
from sheetsync.domain.study import LevelValue, Rubric


@dataclass(frozen=True)
class ScaleUse:
    """Which levels a rater uses.

    Attributes:
        n: the rater's values, without N/A.
        distribution: of them per declared level, in the order of the scale.
        most_used: the level given most; `share` how often, `others_share` how often the other raters give
            it to the same units (None where they scored none of them).
    """

    rater: str
    dimension: str
    n: int
    distribution: Mapping[LevelValue, int]
    most_used: LevelValue | None
    share: float | None
    others_share: float | None

    @property
    def levels_used(self) -> int:
        """How many levels the rater gave at least once."""
        return sum(count > 0 for count in self.distribution.values())


@dataclass(frozen=True)
class RaterHabits:
    """Every fact on every rater, in the order of the roster.

    Attributes:
        severity, scale_use, runs, equal, pace: see there.
        blocks: only notable ones.
        n_blocks: how many pairs of sheets (each with itself too) were looked at for blocks.
    """

    severity: tuple[Severity, ...] = ()
    scale_use: tuple[ScaleUse, ...] = ()
    runs: tuple[Run, ...] = ()
    blocks: tuple[Block, ...] = ()
    equal: tuple[EqualRows, ...] = ()
    pace: tuple[Pace, ...] = ()
    n_blocks: int = 0

    def is_rare(self, fact: Severity | ScaleUse | Run | Block | EqualRows) -> bool:
        """Return whether a fact is worth a look; drift is asked for by `drifts`."""
        if isinstance(fact, Severity):
            return _excludes_zero(fact.difference)
        if isinstance(fact, ScaleUse):
            return self._is_one_level(fact)
        if isinstance(fact, EqualRows):
            return fact.n >= MIN_ROWS and fact.equal == fact.n
        among = len(self.runs) if isinstance(fact, Run) else self.n_blocks
        return fact.length >= MIN_LENGTH and fact.expected <= ALARM / among

    @staticmethod
    def drifts(fact: Severity) -> bool:
        """Return whether the change along the sheet is worth a look."""
        return _excludes_zero(fact.drift)

    def _is_one_level(self, use: ScaleUse) -> bool:
        """One level throughout, where values drawn as the others give them would hardly be equal."""
        if use.levels_used != 1 or use.others_share is None:
            return False
        return bool(use.others_share**use.n <= ALARM / len(self.scale_use))


def _excludes_zero(found: Coefficient) -> bool:
    return found.low is not None and found.high is not None and (found.low > 0 or found.high < 0)


def describe_habits(
    rubric: Rubric,
    raters: Sequence[str],
    batches: Sequence[Batch],
    current: CurrentRatings,
    first_scores: Sequence[FirstScores] = (),
) -> RaterHabits:
    """Return every fact that the ratings in force and the archive hold on how raters work.

    Args:
        rubric: the dimensions.
        raters: the roster.
        batches: production workbooks in the order in which they were issued.
        current: the ratings in force on production units.
        first_scores: when rows got their first score.
    """
    listed = [batch for rater in raters for batch in batches if batch.rater == rater]
    sheets = _sheets(rubric, listed, current)
    numbered = number_sheets(sheets)
    pairs = [(a, b) for a, b in combinations(numbered, 2) if a.sheet.rater != b.sheet.rater]
    pairs += [(sheet, sheet) for sheet in numbered]
    blocks = [block for a, b in pairs if (block := notable_block(a, b)) is not None]
    order = {rater: at for at, rater in enumerate(raters)}
    return RaterHabits(
        severity=severities(rubric, raters, listed, current),
        scale_use=_scale_uses(rubric, raters, current),
        runs=tuple(run for sheet in sheets for run in longest_runs(sheet)),
        blocks=tuple(blocks),
        equal=tuple(equal_rows(_whole_rows(rubric, raters, current))),
        pace=describe_pace(
            sorted((f for f in first_scores if f.rater in order), key=lambda each: order[each.rater])
        ),
        n_blocks=len(pairs),
    )


def _sheets(rubric: Rubric, batches: Sequence[Batch], current: CurrentRatings) -> list[SheetRows]:
    """Return the rows of every workbook; what a re-score superseded is blank where it stood first."""
    stands = {(r.rater, r.batch, r.code, r.dimension): r.value for r in current.ratings}
    names = [dimension.id for dimension in rubric.dimensions]
    return [
        SheetRows(
            batch.rater,
            batch.name,
            batch.codes,
            tuple(
                tuple(stands.get((batch.rater, batch.name, code, name)) for name in names)
                for code in batch.codes
            ),
        )
        for batch in batches
    ]


def _whole_rows(
    rubric: Rubric, raters: Sequence[str], current: CurrentRatings
) -> dict[str, dict[str, RowValues]]:
    rows: dict[str, dict[str, dict[str, LevelValue]]] = {rater: {} for rater in raters}
    for rating in current.ratings:
        if rating.rater in rows:
            rows[rating.rater].setdefault(rating.code, {})[rating.dimension] = rating.value
    names = [dimension.id for dimension in rubric.dimensions]
    return {
        rater: {
            code: tuple(row[name] for name in names)
            for code, row in by_code.items()
            if all(name in row for name in names)
        }
        for rater, by_code in rows.items()
    }


def _scale_uses(rubric: Rubric, raters: Sequence[str], current: CurrentRatings) -> tuple[ScaleUse, ...]:
    found = []
    for dimension in rubric.dimensions:
        scale = dimension.scale
        by_rater: dict[str, dict[str, LevelValue]] = {rater: {} for rater in raters}
        given: dict[str, Counter[LevelValue]] = {}
        for (rater, code), value in current.values(dimension.id).items():
            if rater in by_rater and value in scale:
                by_rater[rater][code] = value
                given.setdefault(code, Counter())[value] += 1
        for rater, own in by_rater.items():
            counts = Counter(own.values())
            most = max(counts, key=lambda level: counts[level], default=None)
            n_others = sum(given[code].total() for code in own) - len(own)
            others = sum(given[code][most] for code in own) - counts[most] if most is not None else 0
            found.append(
                ScaleUse(
                    rater,
                    dimension.id,
                    len(own),
                    {level: counts[level] for level in scale},
                    most,
                    None if most is None else counts[most] / len(own),
                    others / n_others if n_others else None,
                )
            )
    return tuple(found)
