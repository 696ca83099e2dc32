from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sheetsync.domain.certification.rank_proof import ScoredResponse, prove_ranks
from tests.certifying import PUBLISHED, Look, Run, looks_of

NINE = [name.lower().replace(" ", "_") for name in PUBLISHED]
PASTORAL = "pastoral_appropriateness"
SENTENCE = "The judge scores pastoral appropriateness inconsistently."
DISCLOSED = {"metric": PASTORAL, "weights": [0.02, 0.05], "sentence": SENTENCE}


def scored(model: str, authority: str = "dogma", **scores: str | int) -> ScoredResponse:
    return ScoredResponse(model, authority, {metric: Fraction(score) for metric, score in scores.items()})


def weighted(**weights: str) -> dict[str, dict[str, Fraction]]:
    return {"dogma": {metric: Fraction(weight) for metric, weight in weights.items()}}


# --- ranks ---


def test_a_margin_wider_than_the_weight_is_harmless() -> None:
    responses = [scored("North", a="1", b="1/2"), scored("East", a="9/10", b="1/2")]
    proof = prove_ranks(responses, weighted(a="0.95", b="0.05"), ["b"], ["North", "East"])
    assert proof.harmless
    assert [each.column for each in proof.columns] == ["dogma", "overall"]
    # North at its worst has 0.95, East at its best 0.855 + 0.05.
    assert proof.columns[0].smallest_margin == pytest.approx(0.045)


def test_an_order_that_could_become_a_tie_is_a_change() -> None:
    """0.5 at the worst against 0.45 + 0.05 at the best: level to the last digit."""
    responses = [scored("North", a="10/19", b=1), scored("East", a="9/19", b=1)]
    proof = prove_ranks(responses, weighted(a="0.95", b="0.05"), ["b"], ["North", "East"])
    assert not proof.harmless
    change = proof.columns[0].changes[0]
    assert (change.upper, change.lower, change.overtaken_by) == (1, 2, 0.0)


def test_a_tie_that_could_become_an_order_is_a_change() -> None:
    responses = [scored("North", a=1, b=1), scored("East", a=1, b=1)]
    assert not prove_ranks(responses, weighted(a="0.95", b="0.05"), ["b"], ["North", "East"]).harmless
    assert prove_ranks(responses, weighted(a="1", b="0"), ["b"], ["North", "East"]).harmless


def test_what_cannot_be_ranked_proves_nothing() -> None:
    weights = weighted(a="0.9", b="0.1") | {"moral": {"a": Fraction(1), "b": Fraction(0)}}
    both = [scored("North", a=1, b=0), scored("East", a=0, b=0)]

    def reason(responses: Sequence[ScoredResponse], models: Sequence[str]) -> str | None:
        proof = prove_ranks(responses, weights, ["b"], models)
        assert not proof.harmless
        return proof.reason

    assert reason(both[:1], ["North"]) == "there are no two models to rank"
    assert reason(both, ["North", "East", "South"]) == "not every model has a response that the judge scored"
    assert reason([*both, scored("North", "other", a=1, b=1)], ["North", "East"]) is not None
    only_north = [*both, scored("North", "moral", a=1, b=1)]
    assert reason(only_north, ["North", "East"]) == (
        "not every model has a score under moral, so they cannot be ranked there"
    )


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=4),
    st.integers(0, 10),
    st.integers(0, 10),
)
def test_trying_every_two_models_is_trying_all_assignments(
    scores: Sequence[tuple[int, int, int]], second: int, third: int
) -> None:
    """The proof against its definition: all 2^m worsts and bests, of both doubted metrics at once."""
    weights = {"a": Fraction(20 - second - third, 20), "b": Fraction(second, 20), "c": Fraction(third, 20)}
    models = [f"M{at}" for at in range(len(scores))]
    responses = [
        ScoredResponse(model, "dogma", {"a": Fraction(a, 3), "b": Fraction(b, 3), "c": Fraction(c, 3)})
        for model, (a, b, c) in zip(models, scores, strict=True)
    ]

    def ranks(of: Mapping[str, Fraction]) -> list[int]:
        return [sum(other > of[model] for other in of.values()) for model in models]

    def total(response: ScoredResponse, doubted: Fraction | None) -> Fraction:
        values = response.scores if doubted is None else {**response.scores, "b": doubted, "c": doubted}
        return sum((weights[metric] * value for metric, value in values.items()), Fraction())

    as_scored = ranks({each.model: total(each, None) for each in responses})
    changed = any(
        ranks({r.model: total(r, Fraction(end)) for r, end in zip(responses, ends, strict=True)}) != as_scored
        for ends in product((0, 1), repeat=len(models))
    )
    assert prove_ranks(responses, {"dogma": weights}, ["b", "c"], models).harmless is not changed


# --- disclosures ---


def apart_run() -> Run:
    """Three models that lie far apart on everything but the metric in question."""
    levels = {"North": 3, "East": 2, "South": 0}
    models = list(levels)
    firm: list[Look] = [(levels[models[at % 3]], levels[models[at % 3]]) for at in range(48)]
    noise = looks_of(PUBLISHED["Pastoral Appropriateness"][1])[:48]
    return Run(metrics=list(PUBLISHED), models=models).looked(*[firm] * 8, noise)


def nine_weights(last: float) -> dict[str, list[float]]:
    return {**{metric: [(1 - last) / 8] for metric in NINE[:-1]}, PASTORAL: [last]}


def test_without_a_disclosure_one_metric_below_the_bar_blocks() -> None:
    assert apart_run().outcome(nine_weights(0.05)).consistency.status == "FAIL"


def test_a_disclosed_and_harmless_metric_passes_with_disclosure() -> None:
    """S2.5, S2.6."""
    outcome = apart_run().outcome(nine_weights(0.05), disclosure=[DISCLOSED])
    assert outcome.consistency.status == "PASS_WITH_DISCLOSURE"
    assert [each.status for each in outcome.consistency.metrics] == ["PASS"] * 8 + ["PASS_WITH_DISCLOSURE"]
    assert [(each.metric, each.sentence, each.state) for each in outcome.accepted] == [
        (PASTORAL, SENTENCE, "accepted")
    ]
    assert outcome.accepted[0].weights_found == (0.05, 0.05)


def test_models_that_the_metric_could_swap_block_it() -> None:
    """All models have about the same scores, so a weight of 0.05 decides."""
    looks = [looks_of(counts) for _, counts in PUBLISHED.values()]
    outcome = Run(metrics=list(PUBLISHED)).looked(*looks).outcome(nine_weights(0.05), disclosure=[DISCLOSED])
    assert outcome.consistency.status == "FAIL"
    refused = outcome.disclosures[0]
    assert (refused.state, outcome.accepted) == ("refused", ())
    assert "Pastoral Appropriateness is not harmless: under dogma, the models on ranks" in refused.why[0]
    assert any(refused.why[0] in fix.what for fix in outcome.fixes)
    assert "North" not in str(outcome.disclosures)


@pytest.mark.parametrize(
    ("last", "declared", "why"),
    [
        (0.06, {}, "declares weights from 0.02 to 0.05; weights.csv has 0.06 to 0.06"),
        (0.01, {}, "declares weights from 0.02 to 0.05; weights.csv has 0.01 to 0.01"),
        (0.05, {"sentence": "  "}, "has no sentence for the publication"),
    ],
)
def test_a_disclosure_that_is_not_so_is_refused(last: float, declared: dict[str, Any], why: str) -> None:
    outcome = apart_run().outcome(nine_weights(last), disclosure=[DISCLOSED | declared])
    assert outcome.consistency.status == "FAIL"
    assert why in outcome.disclosures[0].why[0]


def test_a_disclosure_of_a_metric_that_passes_is_not_needed() -> None:
    disclosed = DISCLOSED | {"metric": "stability"}
    outcome = apart_run().outcome(nine_weights(0.05), disclosure=[disclosed])
    assert [(each.state, each.proof) for each in outcome.disclosures] == [("not_needed", None)]
    assert outcome.consistency.status == "FAIL"


def test_two_metrics_that_are_harmless_only_one_by_one() -> None:
    """The gap is 2/3 x 0.4 = 0.267; each could move it by 0.2 or so, both by more."""
    noise = looks_of(PUBLISHED["Pastoral Appropriateness"][1])[:48]
    firm: list[Look] = [(3, 3) if at % 2 == 0 else (0, 0) for at in range(48)]
    run = Run(["Care", "Depth", "Tone"], ["North", "East"]).looked(firm, noise, noise)
    disclosed = [
        {"metric": metric, "weights": [0.3, 0.3], "sentence": "Said."} for metric in ("depth", "tone")
    ]
    weights = {"care": [0.4], "depth": [0.3], "tone": [0.3]}
    outcome = run.outcome(weights, disclosure=disclosed)
    assert [each.proof.harmless for each in outcome.disclosures if each.proof] == [True, True]
    assert [each.state for each in outcome.disclosures] == ["refused", "refused"]
    assert "harmless alone, but not with the other disclosed metrics" in outcome.disclosures[0].why[0]
