"""Which question alpha answers on these data, and the facts that decide it."""

from __future__ import annotations

from dataclasses import dataclass

from sheetsync.domain.agreement.coefficients import Coefficient
from sheetsync.domain.agreement.explanation_records import (
    BiasAndScatter,
    Boundary,
    LevelShare,
    PairShift,
    Question,
)
from sheetsync.domain.agreement.null_raters import NullRaters
from sheetsync.domain.agreement.verdicts import BandSet, band_of, is_good
from sheetsync.domain.study import LevelValue

NARROW_SHARE = 0.6
"""From this share of ratings on one level on, little disagreement is expected, and sentences say so."""

MOSTLY = 0.5
"""From this share of the squared differences on, bias is what raters mostly differ by."""


@dataclass(frozen=True)
class Facts:
    """What the sentences are made of; attributes as in `Explanation`.

    `top` and `bottom` are the ends of the scale, None on nominal scales; `only_level` the one that every
    comparable rating has, if there is one.
    """

    alpha: Coefficient
    exact: Coefficient
    ac: Coefficient
    bands: BandSet
    n_pairable: int
    too_few: bool
    top: LevelValue | None
    bottom: LevelValue | None
    most_used: LevelShare | None
    only_level: LevelValue | None
    observed: float | None
    expected: float | None
    null: NullRaters
    bias: BiasAndScatter | None
    boundary: Boundary | None

    @property
    def is_narrow(self) -> bool:
        """Whether most ratings are on one level."""
        return self.most_used is not None and self.most_used.share > NARROW_SHARE

    @property
    def shift(self) -> PairShift | None:
        """The largest shift between two raters, where shifts are what raters mostly differ by.

        Its interval must lie on one side of 0, for by chance alone no mean difference is exactly 0.
        """
        if self.bias is None or self.bias.bias_share is None or self.bias.bias_share < MOSTLY:
            return None
        sure = [pair for pair in self.bias.pairs if _excludes_zero(pair.mean_difference)]
        return max(sure, key=lambda pair: pair.bias_squared, default=None)


def _excludes_zero(found: Coefficient) -> bool:
    if found.low is None or found.high is None:
        # No interval: not asked for, too few units, or one shift on every unit.
        return found.value not in (None, 0.0) and found.interval_reason != "too_few_units"
    return found.low > 0 or found.high < 0


def choose_question(facts: Facts) -> Question:
    """Return which question alpha answers."""
    if facts.alpha.value is None:
        reasons: dict[str | None, Question] = {
            "no_variation": "no_variation",
            "no_pairable_units": "not_comparable",
        }
        return reasons.get(facts.alpha.reason, "undefined")
    if facts.too_few:
        return "too_few"
    if is_good(band_of(facts.alpha.value, facts.bands)):
        return "separates"
    if facts.alpha.value < 0 and not (facts.is_narrow and facts.null.holds_alpha):
        return "below_zero"
    if facts.shift is not None:
        return "bias"
    return "narrow_band" if facts.is_narrow else "scatter"
