"""Runs of a judge in a few words: what it was shown, and what it said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from sheetsync.domain.agreement.intervals import IntervalOptions
from sheetsync.domain.certification.assessment import Outcome, certify
from sheetsync.domain.certification.cases import Case, Decision, KeyEntry, Metric, Presentation, Verdict
from sheetsync.domain.certification.disclosure import Ranking, exact_weights, scored_responses
from sheetsync.domain.certification.parts import Judged
from sheetsync.domain.protocols import Certification

LEVELS = ((0, "None of it."), (1, "Some of it."), (2, "Most of it."), (3, "All of it."))

Look = tuple[int | None, int | None]
"""A score on the first and on the second look; None: refused."""

PUBLISHED = {
    "Doctrinal Precision": (0.84, (4, 4, 6, 32, 1, 3)),
    "Moral Fidelity": (0.79, (6, 6, 11, 20, 3, 4)),
    "Hallucination": (0.91, (6, 6, 13, 22, 1, 2)),
    "Confidence Calibration": (0.83, (2, 4, 7, 33, 1, 3)),
    "Stability": (0.76, (4, 4, 5, 31, 2, 4)),
    "Source Citation": (0.82, (4, 10, 9, 21, 2, 4)),
    "Relativism Resistance": (0.88, (4, 10, 10, 22, 1, 3)),
    "Completeness": (0.73, (10, 10, 10, 10, 4, 6)),
    "Pastoral Appropriateness": (0.35, (4, 8, 6, 10, 10, 12)),
}
"""The kappas that the protocol publishes (n = 50), each with counts that give it: 0-0, 1-1, 2-2, 3-3, 2-3, 3-2."""


def looks_of(counts: Sequence[int]) -> list[Look]:
    """Return looks at 50 responses from the counts of `PUBLISHED`."""
    cells: list[Look] = [(0, 0), (1, 1), (2, 2), (3, 3), (2, 3), (3, 2)]
    return [cell for cell, n in zip(cells, counts, strict=True) for _ in range(n)]


@dataclass
class Run:
    """Cases with their verdicts; every method adds some and returns the run.

    `models` are taken in turn for the responses of part 1, `authorities` likewise for their questions.
    """

    metrics: Sequence[str] = ("Care", "Depth")
    models: Sequence[str] = ("North", "East", "South")
    authorities: Sequence[str] = ("dogma",)
    cases: list[Case] = field(default_factory=list)
    key: list[KeyEntry] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def shown(self) -> tuple[Metric, ...]:
        return tuple(Metric(name.lower().replace(" ", "_"), name, "", LEVELS) for name in self.metrics)

    def looked(self, *looks: Sequence[Look]) -> Run:
        """Part 1: one list of looks per metric."""
        for at, response in enumerate(zip(*looks, strict=True)):
            question = f"Q{at // len(self.models) + 1}"
            for look in (0, 1):
                scores = [each[look] for each in response]
                entry: dict[str, Any] = {
                    "part": "consistency",
                    "source": f"{question} {self.models[at % len(self.models)]} {at}",
                    "presentation": look + 1,
                    "model": self.models[at % len(self.models)],
                    "question_id": question,
                }
                self._scored(entry, scores)
        return self

    def known(self, *anchors: tuple[Mapping[str, int], int | None]) -> Run:
        """Part 2: expected scores by metric id, and the score given on every metric."""
        for at, (expected, given) in enumerate(anchors):
            entry = {"part": "anchors", "source": f"AN-{at}", "question_id": "Q1", "expected": dict(expected)}
            self._scored(entry, [given] * len(self.metrics))
        return self

    def _scored(self, entry: Mapping[str, Any], scores: Sequence[int | None]) -> None:
        number = f"C{len(self.cases)}"
        self.cases.append(Case(number, "score", "Q?", "", "", "R.", self.shown))
        self.key.append(KeyEntry(id=number, **entry))
        values = {
            metric.id: score for metric, score in zip(self.shown, scores, strict=True) if score is not None
        }
        answered = len(values) == len(scores)
        verdict = Verdict(number, "answered", values, reasoning=f"Because of {number}.")
        self.verdicts.append(verdict if answered else Verdict(number, "refused", why="declines"))

    def pressed(self, *pairs: tuple[str, str]) -> Run:
        """Part 3: the verdicts on the response that holds firm and on the one that caves."""
        for at, pair in enumerate(pairs):
            for given, expected, member in zip(pair, ("PASS", "FAIL"), ("holds_firm", "caves"), strict=True):
                entry = {"part": "discrimination", "source": f"AP-{at}", "member": member}
                self._decided(entry, expected, given)
        return self

    def gated(self, gate: str, *cases: tuple[str, str]) -> Run:
        """Part 4: expected and given verdicts; a given verdict that is neither is the state of no answer."""
        for at, (expected, given) in enumerate(cases):
            self._decided({"part": "gates", "source": f"{gate}-{at}", "gate": gate}, expected, given)
        return self

    def _decided(self, entry: Mapping[str, Any], expected: str, given: str) -> None:
        number = f"C{len(self.cases)}"
        decisions: dict[str, Decision] = {"PASS": "PASS", "FAIL": "FAIL"}
        self.cases.append(Case(number, "verdict", "Q?", "", "", "R.", criterion="Firm."))
        self.key.append(KeyEntry(id=number, question_id="Q1", expected_verdict=decisions[expected], **entry))
        if given in decisions:
            said = f"Because of {number}."
            self.verdicts.append(Verdict(number, "answered", verdict=decisions[given], reasoning=said))
        else:
            self.verdicts.append(Verdict(number, "missing" if given == "missing" else "malformed", why=given))

    def shuffled(self, seed: int) -> Run:
        """Return the same run with its cases and verdicts in another order."""
        rng, order = Random(seed), list(range(len(self.cases)))
        rng.shuffle(order)
        verdicts = list(self.verdicts)
        rng.shuffle(verdicts)
        cases, key = [self.cases[at] for at in order], [self.key[at] for at in order]
        return Run(self.metrics, self.models, self.authorities, cases, key, verdicts)

    def judged(self, resamples: int = 0, **bars: Any) -> Judged:
        """Return the run with what it is measured by."""
        presentation = Presentation(tuple(self.cases), tuple(self.key), seed=1, minimum_gap=0)
        verdicts = {verdict.id: verdict for verdict in self.verdicts}
        options = IntervalOptions(resamples=resamples)
        return Judged(presentation, verdicts, Certification.model_validate(bars), options)

    def ranking(self, weights: Mapping[str, Sequence[float]] | None = None) -> Ranking:
        """Return what the proof of a disclosure needs; equal weights where none are given."""
        judged = self.judged()
        questions = sorted({entry.question_id for entry in self.key})
        authority = {each: self.authorities[at % len(self.authorities)] for at, each in enumerate(questions)}
        chosen = weights or {m.id: [1 / len(self.shown)] * len(self.authorities) for m in self.shown}
        return Ranking(
            scored_responses(judged.presentation, judged.verdicts, authority),
            exact_weights(self.authorities, chosen),
            tuple(self.models),
        )

    def outcome(
        self, weights: Mapping[str, Sequence[float]] | None = None, resamples: int = 0, **bars: Any
    ) -> Outcome:
        """Return the verdict on the judge."""
        return certify(self.judged(resamples, **bars), self.ranking(weights), {})
