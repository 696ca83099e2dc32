"""What raters would get who ignore the text but use the scale as they do.

Each rater's ratings are shuffled among the units which that rater rated: how often a rater gives each
level, and who rated what, stay as they are, and every link to the text is cut. The spread of a figure
over such shuffles is what it reaches without any agreement about the responses; a permutation test in
the sense of Hubert (1977), Psychol. Bull. 84, 289-297.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sheetsync.domain.agreement.coefficients import Coefficient
from sheetsync.domain.agreement.coincidences import Coincidences, alphas, is_pairable
from sheetsync.domain.agreement.statistic import FloatArray, IntArray
from sheetsync.domain.agreement.verdicts import REASON_WORDS, BandSet
from sheetsync.domain.number_words import shown_alpha, shown_number, shown_share
from sheetsync.domain.record import Record

SHUFFLES = 1000
FEWEST_SHUFFLES = 100
"""Fewer say nothing about the ends of a 95% range; then there is none."""

_WORK = 200_000_000
"""Numbers handled per dimension at most, one or two seconds; larger data get fewer shuffles, or none."""
_BLOCK = 1_000_000
"""Numbers in a block of shuffles."""


@dataclass(frozen=True)
class NullFigure(Record):
    """One figure over all shuffles: its mean and the range that holds 95% of them."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class NullRaters(Record):
    """What null raters get.

    Attributes:
        n: number of shuffles, 0 where there are none.
        seed: of the shuffles.
        reason: why there are none, or None.
        alpha: None where alpha is undefined in most shuffles.
        exact: share of rater pairs that agree.
        within: share of rater pairs at most K apart; None on nominal scales.
        holds_alpha: whether the alpha observed lies in the range of theirs.
    """

    n: int
    seed: int
    reason: str | None = None
    alpha: NullFigure | None = None
    exact: NullFigure | None = None
    within: NullFigure | None = None
    holds_alpha: bool | None = None


@dataclass(frozen=True, eq=False)
class ShuffledTables:
    """The pairs of levels of every shuffle, with shape (B, K, K).

    Attributes:
        coincidences: weighted as alpha weights pairs.
        pairs: as shares within units, then the mean over units, as for exact agreement.
    """

    coincidences: FloatArray
    pairs: FloatArray

    def __len__(self) -> int:
        return len(self.coincidences)


def shuffle_tables(
    positions: IntArray, n_levels: int, seed: int | tuple[int, ...], shuffles: int = SHUFFLES
) -> ShuffledTables | None:
    """Shuffle every rater's ratings and tabulate the pairs; None where nothing is comparable, or too much.

    Args:
        positions: raters x units on the declared scale, -1 where there is no rating.
        n_levels: how many levels the scale has.
        seed: the same seed gives the same tables, in whatever order units come; dimensions that are pooled
            need different ones, or their shuffles would go together.
        shuffles: how many; fewer where the data are large.
    """
    n_raters, n_units = positions.shape
    pairable = is_pairable(positions)
    shuffles = min(shuffles, _WORK // max(n_units * (n_raters * (n_levels + 2) + n_levels**2), 1))
    if not pairable.any() or shuffles < FEWEST_SHUFFLES:
        return None
    parts = list(_blocks(positions, n_levels, np.random.default_rng(seed), shuffles))
    return ShuffledTables(*(np.concatenate(tables) for tables in zip(*parts, strict=True)))


def _blocks(
    positions: IntArray, n_levels: int, rng: np.random.Generator, shuffles: int
) -> Iterator[tuple[FloatArray, FloatArray]]:
    rated, values = _in_fixed_order(positions, n_levels)
    n_ratings = rated.sum(axis=0)
    used = n_ratings >= 2
    m = n_ratings[used].astype(float)
    step = max(1, _BLOCK // max(n_levels * rated.shape[1], 1))
    for start in range(0, shuffles, step):
        drawn = np.full((min(step, shuffles - start), *rated.shape), -1, dtype=np.int16)
        for rater, given in enumerate(values):
            repeated = np.broadcast_to(given, (len(drawn), len(given)))
            drawn[:, rater, rated[rater]] = rng.permuted(repeated, axis=1)
        drawn = drawn[:, :, used]
        counts = np.zeros((len(drawn), n_levels, len(m)))
        for level, rater in np.ndindex(n_levels, len(values)):
            counts[:, level] += drawn[:, rater] == level
        coincidences = _pair_levels(counts, 1 / (m - 1))
        if (m == m[0]).all():
            yield coincidences, coincidences / (m[0] * len(m))
        else:
            yield coincidences, _pair_levels(counts, 1 / (m * (m - 1) * len(m)))


def _in_fixed_order(positions: IntArray, n_levels: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return who rated what and what each rater gave, in an order that only depends on how they rated.

    All orders of a rater's ratings are equally likely, so only where a rater has a gap tells units apart.
    """
    histograms = np.array([np.bincount(row[row >= 0], minlength=n_levels) for row in positions])
    ordered = positions[np.lexsort(histograms.T)]
    rated = ordered >= 0
    rated = rated[:, np.lexsort(rated)]
    return rated, [np.sort(row[row >= 0]).astype(np.int16) for row in ordered]


def _pair_levels(counts: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weighted ordered pairs of levels; counts have the shape (B, K, U)."""
    weighted = counts * weights
    tables = np.matmul(weighted, counts.transpose(0, 2, 1))
    levels = np.arange(counts.shape[1])
    tables[:, levels, levels] -= weighted.sum(axis=2)
    return np.asarray(tables)


def null_raters(
    shuffled: ShuffledTables | None, found: Coincidences, within: float, seed: int, observed: Coefficient
) -> NullRaters:
    """Return what null raters get.

    Args:
        shuffled: the tables of the shuffles, None where there are none.
        found: the coincidences of the ratings as they are.
        within: the distance that still counts as agreement.
        seed: that of the shuffles.
        observed: alpha as it is.
    """
    if shuffled is None:
        return NullRaters(0, seed, reason="too_many_ratings" if found.n else "no_pairable_units")
    measure = found.measure
    distance = np.abs(measure.numbers[:, None] - measure.numbers[None, :])
    close = (distance <= within) | np.isclose(distance, within, rtol=1e-9, atol=0)
    is_defined = observed.reason != "undefined_for_values"
    alpha = summarise_null(alphas(shuffled.coincidences, measure)) if is_defined else None
    return NullRaters(
        len(shuffled),
        seed,
        reason=None if is_defined else observed.reason,
        alpha=alpha,
        exact=summarise_null(np.trace(shuffled.pairs, axis1=1, axis2=2)),
        within=None if measure.level == "nominal" else summarise_null((shuffled.pairs * close).sum((1, 2))),
        holds_alpha=(
            None if alpha is None or observed.value is None else alpha.low <= observed.value <= alpha.high
        ),
    )


def summarise_null(values: FloatArray) -> NullFigure | None:
    """Return mean and range of a figure over shuffles; None where it is mostly undefined."""
    defined = values[np.isfinite(values)]
    if len(defined) < FEWEST_SHUFFLES:
        return None
    low, high = np.quantile(defined, [0.025, 0.975])
    return NullFigure(float(defined.mean()), float(low), float(high))


def describe_null_raters(null: NullRaters, alpha: Coefficient, bands: BandSet) -> str:
    """Return what null raters get, and where alpha lies beside it, in one sentence."""
    if null.alpha is None or null.exact is None:
        reason = REASON_WORDS.get(null.reason or "no_variation", "")
        return f"Raters who ignore the text: {reason}."
    figure = null.alpha
    low, high = shown_number(figure.low), shown_number(figure.high)
    words = (
        f"Raters who ignore the text, each keeping the scores they gave, get alpha {shown_number(figure.mean)} "
        f"({low} to {high} in 95% of {null.n:,} shuffles) and equal values on {shown_share(null.exact.mean)}"
    )
    if alpha.value is None:
        return f"{words}."
    place = (
        "inside that range" if null.holds_alpha else "above it" if alpha.value > figure.high else "below it"
    )
    return f"{words}; alpha of these raters, {shown_alpha(alpha.value, bands)}, lies {place}."
