"""Simulated raters: what people might type into a study's workbooks, for demonstrations and tests.

How the scores come about, per dimension:

- Every unit has a **latent quality**, a standard normal number. Units of the same source (a model) have
  a part of it in common (`Profile.source_share`).
- A rater sees the unit as it is with the chance `Judgement.shared`; otherwise the score follows an
  impression of the rater's own, drawn from the same distribution: this is the **scatter**. Two raters
  then agree beyond chance as often as both see the same, so the expected alpha is `shared` squared.
- A **severe** rater takes something off every impression, a lenient one adds it (`Profile.severity`).
- The scale is **skewed**: the share `Judgement.top` of all impressions reaches the highest level, and
  every level below is `Judgement.decay` times as frequent as the one above it. What is cut where
  follows from these shares, so a scale may have any number of levels, numbers or words.

A score that follows from a count (`Dimension.is_counted`) is judged by `Profile.counted`. So is one of which it is
known what a careful rater comes to (`SimulatedUnit.counts`): raters arrive there with the chance
`Judgement.shared`, and are a level off otherwise, or two where nothing is counted.

A small study can stray far from what a model expects, so `Profile.draws` data sets are drawn for each
dimension, and the one whose agreement comes closest to the expected one is taken.

Tags, quotes, N/A, confidence and remarks follow from the scores, and the rubric's own rules are kept,
except in the few rows where the raters slip (`Profile.slips`). Nothing here is data about anything.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from statistics import NormalDist

import numpy as np

from sheetsync.domain.agreement.coefficients import exact, krippendorff_alpha, within_k
from sheetsync.domain.simulated_rows import Row, RowKey, RowWriter, SimulatedUnit, Slips, stream
from sheetsync.domain.study import NOT_APPLICABLE, Dimension, LevelValue, MeasurementLevel, Rubric, Tag

__all__ = ["FIRST_ROUND", "Judgement", "Profile", "SimulatedUnit", "simulate_ratings"]

_NORMAL = NormalDist()

_FAR = 0.3
"""How often a rater who is off what is known is off by two levels: there is nothing to count."""


@dataclass(frozen=True)
class Judgement:
    """How one dimension is judged; see the module's text."""

    top: float
    decay: float
    shared: float

    def shares(self, levels: int) -> list[float]:
        """Return the share of each level, from low to high.

        >>> [round(share, 2) for share in Judgement(0.7, 0.5, 0.4).shares(3)]
        [0.1, 0.2, 0.7]
        """
        if levels == 1:
            return [1.0]
        weights = [self.decay**step for step in range(levels - 1)]
        below = [(1 - self.top) * weight / sum(weights) for weight in weights]
        return [*reversed(below), self.top]

    def expected(self, levels: int) -> tuple[float, float, float, float]:
        """Return alpha, exact and within-one agreement of two raters, and the share of the top level."""
        shares = self.shares(levels)
        both = self.shared**2
        same = sum(share * share for share in shares)
        near = same + 2 * sum(a * b for a, b in pairwise(shares))
        return both, both + (1 - both) * same, both + (1 - both) * near, shares[-1]


@dataclass(frozen=True)
class Profile:
    """How a group of raters behaves.

    Attributes:
        judgements: one per dimension in the rubric's order; the first again after the last.
        counted: how dimensions are judged whose score follows from a count, or is known.
        severity: how far the most severe and the most lenient rater are off, in standard deviations.
        source_share: the part of a unit's quality that all units of its source have in common.
        rare: the share of units that deserve a tag of the response or, where no tag is asked for, an N/A.
        premises: how often a response to a question with a false premise corrects it.
        stray: how often a rater ticks a false premise as corrected where there was none.
        noticed: how often a rater notices what deserves a tag.
        not_applicable: how often a rater who may answer N/A because of a tag does so.
        notes: how often a remark is written.
        slips: how often each human slip happens in the whole study; 0 for raters without fault.
        draws: how many data sets are drawn of which one is taken.
    """

    judgements: tuple[Judgement, ...]
    counted: Judgement = Judgement(top=0.35, decay=0.8, shared=0.72)
    severity: float = 0.06
    source_share: float = 0.08
    rare: float = 0.014
    premises: float = 0.75
    stray: float = 0.01
    noticed: float = 0.8
    not_applicable: float = 0.7
    notes: float = 0.12
    slips: int = 1
    draws: int = 40


FIRST_ROUND = Profile(
    (
        Judgement(top=0.815, decay=0.40, shared=0.41),
        Judgement(top=0.78, decay=0.33, shared=0.41),
        Judgement(top=0.71, decay=0.27, shared=0.44),
        Judgement(top=0.62, decay=0.22, shared=0.37),
    )
)
"""Tuned to the shape of a first round as published: most scores at the top, so alpha is low (.09-.24)
although raters agree exactly on 52-75 % of the units and within one point on 87-92 %."""


def simulate_ratings(
    rubric: Rubric,
    units: Sequence[SimulatedUnit],
    raters: Sequence[str],
    seed: int,
    profile: Profile = FIRST_ROUND,
) -> dict[str, dict[str, Row]]:
    """Return by rater and code the cells as a person would type them; blank cells are absent.

    The same arguments give the same cells.
    """
    rows = _Simulation(rubric, tuple(units), tuple(raters), seed, profile).rows()
    return {rater: {unit.code: rows[rater, unit.code] for unit in units} for rater in raters}


@dataclass(frozen=True)
class _Simulation:
    """One run; every part draws from a stream of its own, so that parts do not disturb each other."""

    rubric: Rubric
    units: tuple[SimulatedUnit, ...]
    raters: tuple[str, ...]
    seed: int
    profile: Profile

    def rows(self) -> dict[RowKey, Row]:
        ticked = {tag.id: self._who_ticks(tag) for tag in self.rubric.tags}
        scores = {dimension.id: self._scores(dimension, ticked) for dimension in self.rubric.dimensions}
        writer = RowWriter(self.rubric, self.seed, self.profile.notes)
        rows: dict[RowKey, Row] = {}
        for unit in self.units:
            for rater in self.raters:
                key = (rater, unit.code)
                tags = [tag for tag in self.rubric.tags if key in ticked[tag.id]]
                values = {name: by_row[key] for name, by_row in scores.items()}
                rows[key] = writer.write(unit, rater, tags, values)
        Slips(writer, self.units, self.raters, stream(self.seed, "slips")).make(rows, self.profile.slips)
        return rows

    # --- response tags ---

    def _who_ticks(self, tag: Tag) -> set[RowKey]:
        rng = stream(self.seed, "tag", tag.id)
        about_premises = any(
            rule.when and rule.when.tag == tag.id and rule.when.false_premise is not None
            for rule in self.rubric.rules
        )
        if not about_premises:
            return self._noticed(self._few(rng), rng)
        corrected = [u for u in self.units if u.has_false_premise and rng.random() < self.profile.premises]
        strays = [u for u in self.units if not u.has_false_premise and rng.random() < self.profile.stray]
        return self._noticed(corrected, rng) | {(rng.choice(self.raters), unit.code) for unit in strays}

    def _few(self, rng: random.Random) -> list[SimulatedUnit]:
        """Return the few units that deserve something rare; one at least."""
        count = max(1, round(self.profile.rare * len(self.units)))
        return rng.sample(self.units, min(count, len(self.units)))

    def _noticed(self, units: Iterable[SimulatedUnit], rng: random.Random) -> set[RowKey]:
        """Return which raters notice it; somebody always does."""
        noticed: set[RowKey] = set()
        for unit in units:
            raters = [r for r in self.raters if rng.random() < self.profile.noticed]
            noticed |= {(rater, unit.code) for rater in raters or [rng.choice(self.raters)]}
        return noticed

    # --- scores ---

    def _scores(self, dimension: Dimension, ticked: Mapping[str, set[RowKey]]) -> Mapping[RowKey, LevelValue]:
        """Return the data set that comes closest to what the profile expects."""
        judgements = self.profile.judgements
        judgement = judgements[self.rubric.dimensions.index(dimension) % len(judgements)]
        if dimension.is_counted:
            judgement = self.profile.counted
        fixed = self._fixed(dimension, ticked)
        if self.units and all(unit.counts.get(dimension.id) in dimension.scale for unit in self.units):
            return self._count(dimension, self.profile.counted) | fixed
        drawn = [self._draw(dimension, judgement, n) | fixed for n in range(max(1, self.profile.draws))]
        expected = judgement.expected(len(dimension.levels))
        return min(drawn, key=lambda values: self._distance(values, dimension, expected))

    def _fixed(self, dimension: Dimension, ticked: Mapping[str, set[RowKey]]) -> dict[RowKey, LevelValue]:
        """Return the values that follow from tags of the response: N/A, or a level that a rule demands."""
        fixed: dict[RowKey, LevelValue] = {}
        if dimension.not_applicable:
            fixed |= dict.fromkeys(sorted(self._not_applicable(dimension, ticked)), NOT_APPLICABLE)
        for rule in self.rubric.rules:
            when, then = rule.when, rule.then
            if when and when.tag and then and then.dimension == dimension.id and then.equals is not None:
                fixed |= dict.fromkeys(sorted(ticked.get(when.tag, ())), then.equals)
        return fixed

    def _not_applicable(self, dimension: Dimension, ticked: Mapping[str, set[RowKey]]) -> set[RowKey]:
        allowing = {
            rule.then.tag
            for rule in self.rubric.rules
            if rule.when and rule.when.dimension == dimension.id and rule.when.not_applicable
            if rule.then and rule.then.tag
        }
        if not allowing:
            rng = stream(self.seed, "not applicable", dimension.id)
            return self._noticed(self._few(rng), rng)
        rows = set[RowKey]().union(*(ticked.get(tag, set()) for tag in allowing))
        # One draw per row, not per dimension: who finds nothing to judge finds nothing anywhere.
        chance = self.profile.not_applicable
        return {row for row in rows if stream(self.seed, "not applicable", *row).random() < chance}

    def _draw(self, dimension: Dimension, judgement: Judgement, number: int) -> dict[RowKey, LevelValue]:
        rng = stream(self.seed, "scores", dimension.id, str(number))
        shares = judgement.shares(len(dimension.levels))
        cuts = [_NORMAL.inv_cdf(min(max(cut, 1e-12), 1 - 1e-12)) for cut in accumulate(shares[:-1])]
        sources = {source: rng.gauss() for source in sorted({unit.source for unit in self.units})}
        common = self.profile.source_share
        values: dict[RowKey, LevelValue] = {}
        for unit in self.units:
            of_source = sources[unit.source] if unit.source else rng.gauss()
            quality = math.sqrt(common) * of_source + math.sqrt(1 - common) * rng.gauss()
            for rater, off in zip(self.raters, self._severities, strict=True):
                seen = quality if rng.random() < judgement.shared else rng.gauss()
                values[rater, unit.code] = dimension.scale[bisect_right(cuts, seen - off)]
        return values

    def _count(self, dimension: Dimension, judgement: Judgement) -> dict[RowKey, LevelValue]:
        """Return what raters come to who see what is there and now and then miss something, or see double."""
        rng = stream(self.seed, "counts", dimension.id)
        values: dict[RowKey, LevelValue] = {}
        for unit in self.units:
            position = dimension.scale.index(unit.counts[dimension.id])
            for rater, off in zip(self.raters, self._severities, strict=True):
                step = 0 if rng.random() < judgement.shared else -1 if rng.random() < 0.5 + off else 1
                if step and not dimension.is_counted and rng.random() < _FAR:
                    step *= 2
                found = min(max(position + step, 0), len(dimension.scale) - 1)
                values[rater, unit.code] = dimension.scale[found]
        return values

    @cached_property
    def _severities(self) -> list[float]:
        """Return how severe each rater is: evenly spread, the first the most severe."""
        last = max(1, len(self.raters) - 1)
        return [self.profile.severity * (1 - 2 * index / last) for index in range(len(self.raters))]

    def _distance(
        self, values: Mapping[RowKey, LevelValue], dimension: Dimension, expected: Sequence[float]
    ) -> float:
        """Return how far a data set is from what the judgement lets expect."""
        positions = {level: float(index) for index, level in enumerate(dimension.scale)}
        rows = [[positions.get(values[r, u.code], np.nan) for u in self.units] for r in self.raters]
        data = np.array(rows).reshape(len(self.raters), len(self.units))
        scale = list(positions.values())
        level: MeasurementLevel = "nominal" if dimension.level == "nominal" else "ordinal"
        coefficients = (krippendorff_alpha(data, scale, level), exact(data, scale), within_k(data, scale, 1))
        given = data[~np.isnan(data)]
        top = float((given == scale[-1]).mean()) if given.size else None
        found = [*(coefficient.value for coefficient in coefficients), top]
        return sum(abs(value - e) for value, e in zip(found, expected, strict=True) if value is not None)
