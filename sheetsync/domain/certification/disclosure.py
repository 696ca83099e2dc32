"""A metric below the bar that may be let pass: named with its weights and a sentence, and proven harmless (X24)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sheetsync.domain.certification.cases import Metric, Presentation, Verdict
from sheetsync.domain.certification.parts import unit_of
from sheetsync.domain.certification.rank_proof import RankProof, ScoredResponse, prove_ranks
from sheetsync.domain.protocols import Disclosure
from sheetsync.domain.record import Record
from sheetsync.domain.study import LevelValue


@dataclass(frozen=True)
class DisclosureOutcome(Record):
    """What became of one disclosure.

    Attributes:
        metric: its id.
        name: its name.
        sentence: for the publication.
        weights: lowest and highest weight, as the study declares them.
        weights_found: lowest and highest over the columns of `weights.csv`, None where the metric has none.
        state: `accepted`; `refused`: below the bar and not let pass; `not_needed`: the metric reaches the bar.
        proof: whether this metric alone could change a ranking; None where it was not needed.
        why: what stands against it, as sentences.
    """

    metric: str
    name: str
    sentence: str
    weights: tuple[float, float]
    weights_found: tuple[float, float] | None
    state: str
    proof: RankProof | None
    why: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ranking:
    """What a proof needs: the judge's scores, the weights, and all models that are ranked."""

    responses: tuple[ScoredResponse, ...]
    weights: Mapping[str, Mapping[str, Fraction]]
    models: tuple[str, ...]


def exact_weights(
    authorities: Sequence[str], weights: Mapping[str, Sequence[float]]
) -> dict[str, dict[str, Fraction]]:
    """Return per authority the weight of each metric, as it is written."""
    return {
        authority: {metric: Fraction(repr(float(each[at]))) for metric, each in weights.items()}
        for at, authority in enumerate(authorities)
    }


def scored_responses(
    presentation: Presentation, verdicts: Mapping[str, Verdict], authorities: Mapping[str, str]
) -> tuple[ScoredResponse, ...]:
    """Return the judge's score of every response of part 1: the mean of both looks, or the one that was answered.

    A response that was answered on neither look has no score and is left out.

    Args:
        presentation: the run.
        verdicts: by the ids of the cases.
        authorities: per question the authority whose weights apply.
    """
    metrics = {case.id: case.metrics for case in presentation.cases}
    looks: dict[tuple[str, str, str], list[tuple[str, str, dict[str, Fraction]]]] = {}
    for entry in presentation.key:
        verdict = verdicts.get(entry.id)
        if entry.part != "consistency" or verdict is None or verdict.state != "answered":
            continue
        scores = {m.id: _share_of_scale(verdict.scores[m.id], m) for m in metrics[entry.id]}
        looks.setdefault(unit_of(entry), []).append(
            (entry.model, authorities.get(entry.question_id, ""), scores)
        )
    return tuple(
        ScoredResponse(
            each[0][0],
            each[0][1],
            {m: sum((scores[m] for _, _, scores in each), Fraction()) / len(each) for m in each[0][2]},
        )
        for each in looks.values()
    )


def _share_of_scale(score: LevelValue, metric: Metric) -> Fraction:
    """Return where a score lies from the lowest level (0) to the highest (1); words by their position."""
    scale = metric.scale
    if any(isinstance(level, str) for level in scale):
        return Fraction(scale.index(score), max(len(scale) - 1, 1))
    low, value, high = (Fraction(str(each)) for each in (scale[0], score, scale[-1]))
    return (value - low) / (high - low) if high != low else Fraction()


def judge_disclosures(
    disclosures: Sequence[Disclosure], below: Mapping[str, str], names: Mapping[str, str], ranking: Ranking
) -> tuple[DisclosureOutcome, ...]:
    """Return what becomes of every disclosure.

    Several metrics below the bar are doubted together too: each may be harmless alone and all of them not.

    Args:
        disclosures: as the study declares them.
        below: the names of the metrics below the bar, by id.
        names: of all metrics, by id.
        ranking: the judge's scores.
    """
    needed = [each.metric for each in disclosures if each.metric in below]
    together = _prove(ranking, needed) if len(needed) > 1 else None
    return tuple(_judge(each, names, ranking, needed, together) for each in disclosures)


def _prove(ranking: Ranking, doubted: Sequence[str]) -> RankProof:
    return prove_ranks(ranking.responses, ranking.weights, doubted, ranking.models)


def _judge(
    disclosure: Disclosure,
    names: Mapping[str, str],
    ranking: Ranking,
    needed: Sequence[str],
    together: RankProof | None,
) -> DisclosureOutcome:
    metric, (low, high) = disclosure.metric, disclosure.weights
    weights = [column[metric] for column in ranking.weights.values() if metric in column]
    found = (float(min(weights)), float(max(weights))) if weights else None
    name = names.get(metric, metric)
    if metric not in needed:
        return DisclosureOutcome(metric, name, disclosure.sentence, (low, high), found, "not_needed", None)
    why = []
    proof = None
    if found is None:
        why.append(f"weights.csv has no weights of {name}.")
    else:
        proof = _prove(ranking, [metric])
        why += _against(name, disclosure, found, proof, together)
    if not disclosure.sentence.strip():
        why.append(f"The disclosure of {name} has no sentence for the publication.")
    state = "refused" if why else "accepted"
    return DisclosureOutcome(metric, name, disclosure.sentence, (low, high), found, state, proof, tuple(why))


def _against(
    name: str,
    disclosure: Disclosure,
    found: tuple[float, float],
    proof: RankProof,
    together: RankProof | None,
) -> list[str]:
    low, high = disclosure.weights
    why = []
    if found[0] < low or found[1] > high:
        why.append(
            f"The disclosure of {name} declares weights from {low:g} to {high:g}; weights.csv has "
            f"{found[0]:g} to {found[1]:g}."
        )
    if not proof.harmless:
        why.append(f"{name} is not harmless: {_harm(proof)}.")
    elif together is not None and not together.harmless:
        why.append(f"{name} is harmless alone, but not with the other disclosed metrics: {_harm(together)}.")
    return why


def _harm(proof: RankProof) -> str:
    if proof.reason:
        return proof.reason
    first = next(column for column in proof.columns if column.changes)
    change = first.changes[0]
    where = "over all questions" if first.column == "overall" else f"under {first.column}"
    n = sum(len(column.changes) for column in proof.columns)
    more = f" ({n} such pairs in all)" if n > 1 else ""
    places = (
        f"the two models level on rank {change.upper} would no longer be level"
        if change.upper == change.lower
        else f"the models on ranks {change.upper} and {change.lower}, {change.gap:.3f} apart, could change places"
    )
    return f"{where}, {places}{more}"
