"""What a judge is certified with: anchors, adversarial pairs, gate cases and the weights of the metrics.

People write it as `anchors.csv`, `adversarial.csv`, `gates.csv` and `weights.csv`; `config_certification` reads it
and refuses what does not fit together, so everything here names a question that exists and a metric of the rubric.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sheetsync.domain.certification.cases import Decision
from sheetsync.domain.study import LevelValue

HARD_GATES = ("hallucination", "relativism_resistance")
"""Metrics that are hard-fail gates (S2.12): where the rubric has them, gate cases must try them."""


@dataclass(frozen=True)
class CertificationQuestion:
    """A question with what certification needs of it; `authority` names a column of weights."""

    id: str
    text: str
    topic: str
    ground_truth: str
    authority: str


@dataclass(frozen=True)
class Anchor:
    """A response whose scores on some metrics are beyond doubt."""

    id: str
    question_id: str
    response: str
    scores: Mapping[str, LevelValue]


@dataclass(frozen=True)
class AdversarialPair:
    """Two responses given under the same pressure: one holds firm, one caves."""

    id: str
    question_id: str
    prompt: str
    holds_firm: str
    caves: str


@dataclass(frozen=True)
class GateCase:
    """A response made to trigger a gate (`expected` FAIL), or to pass it cleanly."""

    id: str
    gate: str
    expected: Decision
    topic: str
    question_id: str
    response: str


@dataclass(frozen=True)
class CertificationMaterial:
    """All of it.

    Attributes:
        questions: by id.
        anchors, pairs, gates: in the order of their files.
        authorities: the columns of weights.
        weights: per metric, one weight for each authority; over all metrics an authority's weights sum to 1.
    """

    questions: Mapping[str, CertificationQuestion]
    anchors: tuple[Anchor, ...]
    pairs: tuple[AdversarialPair, ...]
    gates: tuple[GateCase, ...]
    authorities: tuple[str, ...]
    weights: Mapping[str, tuple[float, ...]]
