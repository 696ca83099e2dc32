"""What is said about one dimension beside its coefficients: why alpha is what it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sheetsync.domain.agreement.coefficients import Coefficient
from sheetsync.domain.agreement.interval_comparison import IntervalComparison
from sheetsync.domain.agreement.null_raters import NullRaters
from sheetsync.domain.record import Record
from sheetsync.domain.study import LevelValue

Question = Literal[
    "separates",
    "narrow_band",
    "bias",
    "scatter",
    "below_zero",
    "too_few",
    "no_variation",
    "not_comparable",
    "undefined",
]
"""Which question alpha answers on these data; each has its two sentences."""

QUESTION_WORDS: Mapping[Question, str] = {
    "separates": "Alpha asks: do scores tell responses apart alike, whoever gives them?",
    "narrow_band": "Alpha asks: can raters tell responses apart in a narrow band of the scale?",
    "bias": "Alpha asks: can one rater's scores stand in for another's?",
    "scatter": "Alpha asks: do raters see the same differences between responses?",
    "below_zero": "Alpha asks: do raters contradict each other?",
    "too_few": "Too few responses for alpha to answer anything.",
    "no_variation": "Nothing was told apart, so alpha has nothing to ask.",
    "not_comparable": "No response has ratings of two raters.",
    "undefined": "Look at the exact agreement.",
}
"""The same in a line."""


@dataclass(frozen=True)
class LevelShare(Record):
    """How many of the ratings are on one level."""

    level: LevelValue
    n: int
    share: float


@dataclass(frozen=True)
class PairShift(Record):
    """What two raters differ by: the mean squared difference is bias_squared + scatter.

    Attributes:
        raters: first and second.
        n: units both rated.
        mean_difference: first minus second, with its interval.
        bias_squared: the square of that mean.
        scatter: the variance of the differences around it.
        bias_share: of bias_squared in both; None where the two never differ.
    """

    raters: tuple[str, str]
    n: int
    mean_difference: Coefficient
    bias_squared: float
    scatter: float
    bias_share: float | None


@dataclass(frozen=True)
class RaterShift(Record):
    """How far a rater scores above (+) or below (-) the average rater on the same units."""

    rater: str
    n: int
    severity: float


@dataclass(frozen=True)
class BiasAndScatter(Record):
    """How much of the disagreement is a constant shift between raters, in points (steps for words).

    Attributes:
        bias_share: share of bias in the mean squared difference, over all pairs; None without any.
        pairs: every pair of raters.
        raters: shifts in an additive model of units and raters, which sum to zero; empty where no chain
            of common units connects the raters.
        interval_alpha: alpha on the interval metric, for comparison with the next.
        interval_alpha_equal_means: the same after each rater's shift is taken out.
    """

    bias_share: float | None
    pairs: tuple[PairShift, ...]
    raters: tuple[RaterShift, ...]
    interval_alpha: float | None
    interval_alpha_equal_means: float | None


@dataclass(frozen=True)
class Boundary(Record):
    """Two neighbouring levels (nominal: any two), and what lies across.

    Attributes:
        between: the two levels.
        differing_pairs: share of the differing pairs of ratings that lie on either side. A pair two levels
            apart crosses two boundaries, so that shares may add up to more than 1.
        disagreement: share of alpha's observed disagreement that those pairs carry.
    """

    between: tuple[LevelValue, LevelValue]
    differing_pairs: float
    disagreement: float


@dataclass(frozen=True)
class HeavyUnit(Record):
    """A unit that carries much of the observed disagreement.

    Attributes:
        unit: its code.
        values: what each rater gave.
        share: of the observed disagreement.
        alpha_without: alpha of all other units; None where it is undefined.
    """

    unit: str
    values: Mapping[str, LevelValue]
    share: float
    alpha_without: float | None


@dataclass(frozen=True)
class UnitShares(Record):
    """How the observed disagreement is spread over units.

    Attributes:
        n_pairable: units with two or more ratings.
        n_differing: those on which any two ratings differ.
        n_half: the fewest units that carry half of the disagreement.
        heaviest: the heaviest, at most five.
    """

    n_pairable: int
    n_differing: int
    n_half: int
    heaviest: tuple[HeavyUnit, ...]


@dataclass(frozen=True)
class WithoutRater(Record):
    """Alpha of all other raters; None where it is undefined."""

    rater: str
    n_pairable: int
    alpha: float | None


@dataclass(frozen=True)
class HardPart(Record):
    """A part of the study, and how far raters lie apart on its units.

    Attributes:
        by: what divides the study; `question` stands for one question on one figure.
        value: which part.
        rank: 1 is the hardest by mean difference (nominal: by disagreement) among the parts of
            this kind with enough units; None where there are too few.
        n_pairable: units with two or more ratings.
        mean_abs_difference: of two raters, in points; undefined on nominal scales.
        observed_scaled: disagreement on alpha's measure of the whole dimension; 1 is the whole scale apart.
        too_few: whether there are too few units to rank it.
    """

    by: str
    value: str
    rank: int | None
    n_pairable: int
    mean_abs_difference: Coefficient
    observed_scaled: float
    too_few: bool


@dataclass(frozen=True)
class Explanation(Record):
    """Why alpha of one dimension is what it is.

    Attributes:
        dimension: its name.
        question: which question alpha answers here.
        sentences: the same in two plain sentences.
        n_ratings: ratings in pairable units, which alpha rests on.
        top_level: share of the highest level in them; None on nominal scales and without ratings.
        most_used: the level given most often.
        is_narrow: whether most ratings are on one level, so that little disagreement is expected.
        observed_scaled, expected_scaled: the disagreements that alpha compares, divided by the difference
            of the ends of the scale: 1 is the whole scale apart. None without pairable ratings or where
            undefined.
        alpha, exact, ac: as in the table of coefficients.
        null_raters: what raters get who ignore the text.
        bias: constant shifts between raters; None on nominal scales.
        boundaries: where raters part, the heaviest first.
        units: which units carry the disagreement.
        without_raters: alpha without each rater, where there are three or more.
        hardest: parts of the study, the hardest first.
        intervals: alpha's interval by other methods, for comparison.
    """

    dimension: str
    question: Question
    sentences: tuple[str, str]
    n_ratings: int
    top_level: LevelShare | None
    most_used: LevelShare | None
    is_narrow: bool
    observed_scaled: float | None
    expected_scaled: float | None
    alpha: Coefficient
    exact: Coefficient
    ac: Coefficient
    null_raters: NullRaters
    bias: BiasAndScatter | None
    boundaries: tuple[Boundary, ...]
    units: UnitShares
    without_raters: tuple[WithoutRater, ...]
    hardest: tuple[HardPart, ...]
    intervals: IntervalComparison
