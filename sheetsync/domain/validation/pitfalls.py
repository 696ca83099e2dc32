"""Guards for the six pitfalls that the instructions for external validators warn of (S1.32-S1.37).

Each is a figure per validator, beside those of the others; none is a verdict. A good response is good in
several respects, so a correlation of dimensions is no fault by itself: one validator far above the others is
worth a question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from sheetsync.domain.agreement.coefficients import Coefficient
from sheetsync.domain.agreement.proportions import SignTest, sign_test
from sheetsync.domain.agreement.rank_correlation import is_beyond_chance, rank_correlation
from sheetsync.domain.current import CurrentRatings
from sheetsync.domain.record import Record
from sheetsync.domain.study import Rubric
from sheetsync.domain.validation.direction import Pair
from sheetsync.domain.validation.totals import Totals


@dataclass(frozen=True)
class Trend(Record):
    """A rank correlation with the total; `notable` where chance alone rarely leaves as much."""

    rho: Coefficient
    n: int
    notable: bool


@dataclass(frozen=True)
class SideEffect(Record):
    """Whether the side matters, which it should not: the total of A minus that of B of the same case."""

    cases: int
    mean_difference: float | None
    test: SignTest


@dataclass(frozen=True)
class Halo(Record):
    """How alike a validator scores the dimensions.

    Attributes:
        mean_rho: mean rank correlation of two dimensions, None where none is defined.
        highest: the two dimensions that go together most, with their correlation.
        straight_rows: share of rows scored at the same relative height on every dimension.
    """

    mean_rho: float | None
    highest: tuple[str, str, float] | None
    straight_rows: float | None


@dataclass(frozen=True)
class DomainOffset(Record):
    """The domain in which a validator differs most from the others, in points of the total."""

    domain: str
    cases: int
    difference: float


@dataclass(frozen=True)
class ValidatorPitfalls(Record):
    """The guards for one validator.

    Attributes:
        rater: who.
        halo: S1.32.
        drift: S1.33, the total against the position of the row.
        length: S1.34, the total against the number of words of the response.
        notes_share: S1.35, share of scored rows with notes: who takes notes while reading weights the end less.
        side: S1.36, side A against side B.
        domain: S1.37; None where the study has no domains or nobody to compare with.
    """

    rater: str
    halo: Halo
    drift: Trend
    length: Trend
    notes_share: float | None
    side: SideEffect
    domain: DomainOffset | None


@dataclass(frozen=True, eq=False)
class PitfallData:
    """What the guards look at.

    Attributes:
        rubric: for dimensions and scales.
        raters: whose ratings.
        current: the ratings in force.
        totals: of every rater and unit.
        orders: per rater the units in the order of the rows.
        sides: per rater the side of every unit as that rater saw it.
        words: per unit the number of words of the response.
        pairs: the cases.
        domains: per unit its domain; empty where there are none.
    """

    rubric: Rubric
    raters: Sequence[str]
    current: CurrentRatings
    totals: Totals
    orders: Mapping[str, Sequence[str]]
    sides: Mapping[str, Mapping[str, str]]
    words: Mapping[str, int]
    pairs: Sequence[Pair]
    domains: Mapping[str, str]


def find_pitfalls(data: PitfallData) -> tuple[ValidatorPitfalls, ...]:
    """Return the guards for every validator."""
    return tuple(_of_rater(data, rater) for rater in data.raters)


def _of_rater(data: PitfallData, rater: str) -> ValidatorPitfalls:
    scored = [code for code in data.orders.get(rater, ()) if (rater, code) in data.totals]
    totals = [data.totals[rater, code] for code in scored]
    places = {code: place for place, code in enumerate(data.orders.get(rater, ()))}
    noted = {code for by, code, _ in data.current.remarks if by == rater}
    return ValidatorPitfalls(
        rater,
        _halo(data, rater),
        _trend([float(places[code]) for code in scored], totals),
        _trend([float(data.words.get(code, 0)) for code in scored], totals),
        sum(code in noted for code in scored) / len(scored) if scored else None,
        _side_effect(data, rater),
        _domain_offset(data, rater),
    )


def _trend(against: Sequence[float], totals: Sequence[float]) -> Trend:
    found = rank_correlation(against, totals)
    return Trend(found, len(totals), is_beyond_chance(found, len(totals)))


def _halo(data: PitfallData, rater: str) -> Halo:
    heights: dict[str, dict[str, float]] = {}
    for dimension in data.rubric.dimensions:
        places = {value: place for place, value in enumerate(dimension.scale)}
        top = max(len(places) - 1, 1)
        heights[dimension.name] = {
            code: places[value] / top
            for (by, code), value in data.current.values(dimension.id).items()
            if by == rater and value in places
        }
    found: list[tuple[str, str, float]] = []
    for a, b in combinations(heights, 2):
        common = [code for code in heights[a] if code in heights[b]]
        rho = rank_correlation([heights[a][c] for c in common], [heights[b][c] for c in common]).value
        found += [(a, b, rho)] if rho is not None else []
    whole = [
        code for code in next(iter(heights.values()), {}) if all(code in each for each in heights.values())
    ]
    straight = sum(len({each[code] for each in heights.values()}) == 1 for code in whole)
    return Halo(
        fmean(rho for _, _, rho in found) if found else None,
        max(found, key=lambda each: each[2], default=None),
        straight / len(whole) if whole and len(heights) > 1 else None,
    )


def _side_effect(data: PitfallData, rater: str) -> SideEffect:
    sides = data.sides.get(rater, {})
    differences = []
    for pair in data.pairs:
        by_side = {sides.get(code, ""): data.totals.get((rater, code)) for code in pair.codes}
        first, second = by_side.get("A"), by_side.get("B")
        if first is not None and second is not None:
            differences.append(first - second)
    wins, losses = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    return SideEffect(
        len(differences),
        fmean(differences) if differences else None,
        sign_test(wins, losses, len(differences) - wins - losses),
    )


def _domain_offset(data: PitfallData, rater: str) -> DomainOffset | None:
    """Compare with the mean of the others, unit by unit, then by domain."""
    differences: dict[str, list[float]] = {}
    for code, domain in data.domains.items():
        own = data.totals.get((rater, code))
        others = [data.totals[r, code] for r in data.raters if r != rater and (r, code) in data.totals]
        if domain and own is not None and others:
            differences.setdefault(domain, []).append(own - fmean(others))
    found = [DomainOffset(name, len(each), fmean(each)) for name, each in differences.items()]
    return max(found, key=lambda each: abs(each.difference), default=None)
