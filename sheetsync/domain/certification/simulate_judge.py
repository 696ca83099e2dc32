"""A simulated judge: what one might answer in a certification, for demonstrations and tests.

It is given the key, and strays from it on purpose. Every model has responses of another quality, so that there is a
ranking; what a response deserves (`deserved`) is what simulated people go by as well, and what the judge mostly sees.
On a response that it sees twice the judge says the same again until its second looks differ so often that kappa has
come down to `CONSISTENCY`, the published figures of one certified judge (S2.5). It misses few anchors (S2.9) and tells
every pair and gate case apart (S2.11, S2.13). Nothing here is data about anything.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence

import numpy as np

from sheetsync.domain.agreement.coefficients import cohen_kappa
from sheetsync.domain.certification.cases import Case, KeyEntry, Metric, Presentation
from sheetsync.domain.simulated_rows import stream

CONSISTENCY: Mapping[str, float] = {
    "doctrinal_precision": 0.84,
    "moral_fidelity": 0.79,
    "hallucination": 0.91,
    "confidence_calibration": 0.83,
    "stability": 0.76,
    "source_citation": 0.82,
    "relativism_resistance": 0.88,
    "completeness": 0.73,
    "pastoral_appropriateness": 0.35,
}
"""Kappa of two looks (S2.5); other metrics get `OTHERWISE`."""

OTHERWISE = 0.85
ANCHORS = 0.983
"""Share of known scores that the judge gives."""

_BEST, _WORST = 0.85, 0.25
"""Chance of the highest level for the best and the worst model; the others lie between."""

_SEES = 0.85
"""Chance that the judge sees what a response deserves."""

Positions = list[int]
"""Levels as places on their scale."""


def simulate_verdicts(presentation: Presentation, seed: int) -> list[str]:
    """Return the verdict lines of the judge, in the order of the cases."""
    pairs = list(zip(presentation.cases, presentation.key, strict=True))
    scores = _consistent(pairs, seed) | _anchored(pairs, seed)
    return [json.dumps(_answer(case, entry, scores)) for case, entry in pairs]


def _answer(case: Case, entry: KeyEntry, scores: Mapping[tuple[str, str], int]) -> dict[str, object]:
    answer: dict[str, object] = {"id": case.id, "reasoning": "Simulated."}
    if case.task == "verdict":
        return answer | {"verdict": entry.expected_verdict}
    return answer | {"scores": {each.id: each.scale[scores[case.id, each.id]] for each in case.metrics}}


_Pairs = Sequence[tuple[Case, KeyEntry]]


def _consistent(pairs: _Pairs, seed: int) -> dict[tuple[str, str], int]:
    """Return the places of the scores of both looks, by case and metric."""
    looks: list[dict[str, str]] = [{}, {}]
    models: dict[str, str] = {}
    metrics: tuple[Metric, ...] = ()
    for case, entry in pairs:
        if entry.part == "consistency":
            looks[entry.presentation - 1][entry.source] = case.id
            models[entry.source] = entry.model
            metrics = case.metrics
    sources = sorted(models)
    scores: dict[tuple[str, str], int] = {}
    for metric in metrics:
        places = deserved(models, metric.id, len(metric.levels), seed)
        first = _first_looks([places[source] for source in sources], metric, seed)
        second = _second_looks(first, metric, seed)
        for source, one, other in zip(sources, first, second, strict=True):
            scores[looks[0][source], metric.id] = one
            scores[looks[1][source], metric.id] = other
    return scores


def deserved(models: Mapping[str, str], metric: str, levels: int, seed: int) -> dict[str, int]:
    """Return the place on its scale that each response deserves: the highest, or one below with equal chances.

    Args:
        models: whose response it is, by its source as the key has it (`presentation.source_of`).
        metric: its id.
        levels: how many levels its scale has.
        seed: the same for everybody who is to see the same quality.
    """
    rng = stream(seed, "judge", metric)
    ranked = sorted(set(models.values()))
    top = levels - 1
    places = {}
    for source, model in sorted(models.items()):
        share = ranked.index(model) / max(1, len(ranked) - 1)
        highest = rng.random() < _BEST + (_WORST - _BEST) * share
        places[source] = top if highest or not top else rng.randrange(top)
    return places


def _first_looks(places: Positions, metric: Metric, seed: int) -> Positions:
    """Return the places of the first looks: mostly what is deserved, now and then the level beside it."""
    rng = stream(seed, "judge", metric.id, "sees")
    return [
        place if rng.random() < _SEES else _beside(place, len(metric.levels) - 1, rng) for place in places
    ]


def _beside(place: int, top: int, rng: random.Random) -> int:
    return rng.choice([each for each in (place - 1, place + 1) if 0 <= each <= top] or [place])


def _second_looks(first: Positions, metric: Metric, seed: int) -> Positions:
    """Return the places of the second looks: as the first, until kappa is down where it should be."""
    rng = stream(seed, "judge", metric.id, "again")
    second = list(first)
    top = len(metric.levels) - 1
    for response in rng.sample(range(len(first)), len(first)) if top else ():
        kappa = cohen_kappa(np.array(first, float), np.array(second, float), range(top + 1), "none").value
        if kappa is not None and kappa <= CONSISTENCY.get(metric.id, OTHERWISE):
            break
        second[response] = _beside(first[response], top, rng)
    return second


def _anchored(pairs: _Pairs, seed: int) -> dict[tuple[str, str], int]:
    """Return the places of the anchors' scores: as the key has them, but for a few next to it."""
    rng = stream(seed, "judge", "anchors")
    scores: dict[tuple[str, str], int] = {}
    known: list[tuple[str, Metric]] = []
    for case, entry in pairs:
        if entry.part == "anchors":
            for metric in case.metrics:
                wanted = entry.expected.get(metric.id, metric.scale[-1])
                scores[case.id, metric.id] = metric.scale.index(wanted)
                known += [(case.id, metric)] if metric.id in entry.expected else []
    for name, metric in rng.sample(known, round((1 - ANCHORS) * len(known))):
        place = scores[name, metric.id]
        scores[name, metric.id] = place - 1 if place else min(1, len(metric.levels) - 1)
    return scores
