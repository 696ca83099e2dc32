"""Whether scores on some metrics could change any ranking of models: computed, not believed (X24).

A model's score is the mean over its responses of the weighted metrics, each brought to 0 at the lowest level of its
scale and 1 at the highest; weights are those of the question's authority. The doubted metrics are then taken to be
anything: for every model at their worst (0) or at their best (1) on every response, whatever the judge said of them.

A ranking changes somewhere among these 2^m assignments exactly if it does for some two models, when the upper one
gets the worst and the lower one the best: what one model gets moves no other model's score, and a score moves
only between its worst and its best. So every two models are tried, and that is exact. A tie that could become an
order, or an order that could become a tie, is a change of ranks. All in fractions: no rounding decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sheetsync.domain.record import Record

OVERALL = "overall"
"""The ranking over all responses, each with the weights of its own question's authority."""


@dataclass(frozen=True)
class ScoredResponse:
    """One response: whose, under which authority, and its score of each metric from 0 to 1."""

    model: str
    authority: str
    scores: Mapping[str, Fraction]


@dataclass(frozen=True)
class RankChange(Record):
    """Two models that could change places, by their ranks; models are not named.

    Attributes:
        upper: rank of the one that is ahead, or level.
        lower: rank of the other.
        gap: how far it is ahead.
        overtaken_by: where the lower one could end up above the upper one: 0 is level.
    """

    upper: int
    lower: int
    gap: float
    overtaken_by: float


@dataclass(frozen=True)
class ColumnProof(Record):
    """One ranking: of an authority's questions with its weights, or over all questions.

    Attributes:
        column: the authority, or `overall`.
        n_models: models ranked.
        n_responses: responses they are ranked on.
        smallest_margin: the least that was left between two models with the metrics against them; below or at 0
            a rank changes. None with fewer than two models.
        changes: the pairs whose ranks could change.
    """

    column: str
    n_models: int
    n_responses: int
    smallest_margin: float | None
    changes: tuple[RankChange, ...]


@dataclass(frozen=True)
class RankProof(Record):
    """Whether no ranking can change, whatever the scores on these metrics were.

    Attributes:
        metrics: which are doubted.
        harmless: no rank changes in any column, and there was something to rank.
        reason: why nothing could be proven, where that is so.
        columns: per ranking, the authorities in the order of their columns, last the one over all.
    """

    metrics: tuple[str, ...]
    harmless: bool
    reason: str | None
    columns: tuple[ColumnProof, ...] = ()


def prove_ranks(
    responses: Sequence[ScoredResponse],
    weights: Mapping[str, Mapping[str, Fraction]],
    doubted: Sequence[str],
    models: Sequence[str],
) -> RankProof:
    """Return whether the rankings of all models hold whatever the doubted metrics' scores are.

    Args:
        responses: what was scored; the order changes nothing.
        weights: per authority the weight of each metric.
        doubted: the metrics in doubt.
        models: all that are ranked in what is published.
    """
    reason = _obstacle(responses, weights, models)
    if reason:
        return RankProof(tuple(doubted), harmless=False, reason=reason)
    columns = []
    for column in (*weights, OVERALL):
        here = [each for each in responses if column in (each.authority, OVERALL)]
        if here:
            columns.append(_prove_column(column, here, weights, doubted))
    lacking = [each.column for each in columns if each.n_models < len(set(models))]
    if lacking:
        reason = f"not every model has a score under {', '.join(lacking)}, so they cannot be ranked there"
    harmless = not reason and not any(each.changes for each in columns)
    return RankProof(tuple(doubted), harmless, reason, tuple(columns))


def _obstacle(
    responses: Sequence[ScoredResponse], weights: Mapping[str, Mapping[str, Fraction]], models: Sequence[str]
) -> str | None:
    if len(set(models)) < 2:
        return "there are no two models to rank"
    if set(models) - {each.model for each in responses}:
        return "not every model has a response that the judge scored"
    if any(each.authority not in weights for each in responses):
        return "a question names no authority of weights.csv"
    return None


def _prove_column(
    column: str,
    responses: Sequence[ScoredResponse],
    weights: Mapping[str, Mapping[str, Fraction]],
    doubted: Sequence[str],
) -> ColumnProof:
    totals, worst, best = {}, {}, {}
    for model in sorted({each.model for each in responses}):
        own = [each for each in responses if each.model == model]
        sums = [_sums(each, weights[each.authority], doubted) for each in own]
        totals[model] = sum((total for total, _, _ in sums), Fraction()) / len(own)
        worst[model] = sum((rest for _, rest, _ in sums), Fraction()) / len(own)
        best[model] = worst[model] + sum((room for _, _, room in sums), Fraction()) / len(own)
    ranks = {model: 1 + sum(other > total for other in totals.values()) for model, total in totals.items()}
    changes, margins = [], []
    order = sorted(totals, key=lambda model: (-totals[model], model))
    for at, upper in enumerate(order):
        for lower in order[at + 1 :]:
            if totals[upper] == totals[lower]:
                margin, changed = _margin_of_a_tie(upper, lower, worst, best)
            else:
                margin = worst[upper] - best[lower]
                changed = margin <= 0
            margins.append(margin)
            if changed:
                gap = totals[upper] - totals[lower]
                changes.append(RankChange(ranks[upper], ranks[lower], float(gap), float(-margin)))
    smallest = float(min(margins)) if margins else None
    return ColumnProof(column, len(totals), len(responses), smallest, tuple(changes))


def _margin_of_a_tie(
    upper: str, lower: str, worst: Mapping[str, Fraction], best: Mapping[str, Fraction]
) -> tuple[Fraction, bool]:
    """Two models that are level stay so only if the metrics can move neither."""
    reach = max(best[upper] - worst[lower], best[lower] - worst[upper])
    moves = best[upper] > worst[upper] or best[lower] > worst[lower]
    return -reach, moves


def _sums(
    response: ScoredResponse, weights: Mapping[str, Fraction], doubted: Sequence[str]
) -> tuple[Fraction, Fraction, Fraction]:
    """Return the weighted total, that without the doubted metrics, and what these can add at most."""
    weighted = {metric: weights.get(metric, Fraction()) * score for metric, score in response.scores.items()}
    rest = sum((each for metric, each in weighted.items() if metric not in doubted), Fraction())
    room = sum((weights.get(metric, Fraction()) for metric in doubted), Fraction())
    return sum(weighted.values(), Fraction()), rest, room
