"""Where the disagreement lies: between which levels, on which units, with which raters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from sheetsync.domain.agreement.coincidences import (
    Coincidences,
    count_levels,
    is_pairable,
    shares_of_units,
    table_of_counts,
)
from sheetsync.domain.agreement.explanation_records import Boundary, HeavyUnit, UnitShares, WithoutRater
from sheetsync.domain.agreement.statistic import FloatArray, IntArray
from sheetsync.domain.study import LevelValue

MOST_UNITS = 5
_MOST_BOUNDARIES = 10


def find_boundaries(found: Coincidences, scale: Sequence[LevelValue]) -> tuple[Boundary, ...]:
    """Return between which neighbouring levels ratings part (nominal: between which two), heaviest first."""
    differing = np.triu(found.table + found.table.T, 1)
    weighted = differing * found.squared
    if weighted.sum() <= 0:
        return ()
    places = np.arange(len(scale))
    low, high = places[:, None], places[None, :]
    if found.measure.level == "nominal":
        cells = [((a, b), (low == a) & (high == b)) for a, b in combinations(places.tolist(), 2)]
    else:
        cells = [((a, a + 1), (low <= a) & (high > a)) for a in places[:-1].tolist()]
    boundaries = [
        Boundary(
            (scale[a], scale[b]),
            float((differing * across).sum() / differing.sum()),
            float((weighted * across).sum() / weighted.sum()),
        )
        for (a, b), across in cells
    ]
    crossed = [boundary for boundary in boundaries if boundary.differing_pairs > 0]
    return tuple(sorted(crossed, key=lambda b: (-b.disagreement, -b.differing_pairs)))[:_MOST_BOUNDARIES]


def find_heavy_units(
    positions: IntArray,
    found: Coincidences,
    raters: Sequence[str],
    units: Sequence[str],
    scale: Sequence[LevelValue],
) -> UnitShares:
    """Return how the observed disagreement is spread over units, and alpha without each of the heaviest.

    Args:
        positions: raters x units, -1 where there is no rating.
        found: the coincidences of all of them.
        raters: ids, one per row.
        units: codes, one per column.
        scale: the declared levels.
    """
    counts = count_levels(positions, len(scale))
    shares = shares_of_units(counts, found.squared)
    heaviest = np.argsort(-shares, kind="stable")
    reached = np.cumsum(shares[heaviest])
    differing = int((shares > 0).sum())
    return UnitShares(
        n_pairable=int(is_pairable(positions).sum()),
        n_differing=differing,
        n_half=int(np.searchsorted(reached, 0.5 - 1e-12) + 1) if differing else 0,
        heaviest=tuple(
            HeavyUnit(
                units[at],
                {
                    rater: scale[given]
                    for rater, given in zip(raters, positions[:, at].tolist(), strict=True)
                    if given >= 0
                },
                float(shares[at]),
                _alpha_without(found, counts[at]),
            )
            for at in heaviest[: min(MOST_UNITS, differing)].tolist()
        ),
    )


def _alpha_without(found: Coincidences, counts: FloatArray) -> float | None:
    table = found.table - table_of_counts(counts[None, :], np.ones(1))
    return Coincidences(np.where(np.abs(table) < 1e-9, 0.0, table), found.measure).alpha


def leave_raters_out(
    positions: IntArray, found: Coincidences, raters: Sequence[str]
) -> tuple[WithoutRater, ...]:
    """Return alpha without each rater in turn, where at least two are left."""
    if len(raters) < 3:
        return ()
    counts = count_levels(positions, len(found.measure.numbers))
    n_pairable = int(is_pairable(positions).sum())
    return tuple(
        _without_rater(rater, given, counts, n_pairable, found)
        for rater, given in zip(raters, positions, strict=True)
    )


def _without_rater(
    rater: str, given: IntArray, counts: FloatArray, n_pairable: int, found: Coincidences
) -> WithoutRater:
    """Only the units that the rater rated change."""
    units = np.flatnonzero(given >= 0)
    before, once = counts[units], np.ones(len(units))
    after = before.copy()
    after[np.arange(len(units)), given[units]] -= 1
    table = found.table - table_of_counts(before, once) + table_of_counts(after, once)
    lost = int((before.sum(axis=1) == 2).sum())
    # What is left of cells that were emptied is rounding, and would pass for variation.
    table = np.where(np.abs(table) < 1e-9, 0.0, table)
    return WithoutRater(rater, n_pairable - lost, Coincidences(table, found.measure).alpha)
