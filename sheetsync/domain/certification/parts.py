"""Parts 2 to 4 of a certification: known scores, firm or giving way, and gates that must fire and must not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sheetsync.domain.agreement.intervals import IntervalOptions
from sheetsync.domain.agreement.proportions import Proportion, proportion
from sheetsync.domain.certification.boundaries import Boundary, find_boundary
from sheetsync.domain.certification.cases import KeyEntry, Metric, Part, Presentation, Verdict
from sheetsync.domain.certification.consistency import MetricConsistency, PartStatus, assess_consistency
from sheetsync.domain.certification.decision_figures import (
    Accuracy,
    Answer,
    Answers,
    accuracy_of,
    count_answers,
    pool_accuracies,
)
from sheetsync.domain.protocols import Certification
from sheetsync.domain.record import Record
from sheetsync.domain.study import LevelValue

DECISIONS = ("PASS", "FAIL")


def unit_of(entry: KeyEntry) -> tuple[str, str, str]:
    """Return question, figure and model of a case."""
    return (entry.question_id, entry.figure, entry.model)


def _place(entry: KeyEntry) -> tuple[object, ...]:
    return (entry.gate, entry.source, *unit_of(entry), entry.presentation, entry.member)


@dataclass(frozen=True)
class Judged:
    """A run of a judge: what it was shown, what it said, and how that is measured."""

    presentation: Presentation
    verdicts: Mapping[str, Verdict]
    bars: Certification
    options: IntervalOptions

    def entries(self, part: Part) -> list[KeyEntry]:
        """Return the key of a part, in an order that does not depend on that of the cases."""
        here = [entry for entry in self.presentation.key if entry.part == part]
        return sorted(here, key=_place)

    def verdict(self, entry: KeyEntry) -> Verdict:
        """Return what came back for a case."""
        return self.verdicts.get(entry.id) or Verdict(entry.id, "missing", why="the judge was not asked")

    def metrics(self, part: Part) -> tuple[Metric, ...]:
        """Return the metrics that the cases of a part were scored on, as the judge read them."""
        ids = {entry.id for entry in self.entries(part)}
        cases = (case for case in self.presentation.cases if case.id in ids)
        return next((case.metrics for case in cases), ())

    def answers(self, part: Part) -> Answers:
        """Count what came back in a part."""
        return count_answers(self.verdict(entry) for entry in self.entries(part))

    def score(self, entry: KeyEntry, metric: str) -> Answer:
        """Return the score of a metric, None without an answer."""
        verdict = self.verdict(entry)
        return verdict.scores.get(metric) if verdict.state == "answered" else None


@dataclass(frozen=True)
class ConsistencyPart(Record):
    """Part 1. `status` is that of the whole part, disclosures included; a metric without a response fails."""

    status: PartStatus
    threshold: float
    fragile: bool
    answers: Answers
    metrics: tuple[MetricConsistency, ...]

    @property
    def below(self) -> tuple[MetricConsistency, ...]:
        """The metrics that do not reach the bar, disclosed or not."""
        return tuple(each for each in self.metrics if each.status != "PASS")


@dataclass(frozen=True)
class MetricAccuracy(Record):
    """The known scores of one metric: how many the judge gives, and the boundary it confuses most."""

    metric: str
    name: str
    figures: Accuracy
    boundary: Boundary | None


@dataclass(frozen=True)
class AnchorsPart(Record):
    """Part 2. Accuracy over all known scores decides; the worst metric and its boundary are shown (X29)."""

    status: PartStatus
    threshold: float
    fragile: bool
    answers: Answers
    figures: Accuracy
    metrics: tuple[MetricAccuracy, ...]
    worst: str | None
    boundary: Boundary | None


@dataclass(frozen=True)
class DiscriminationPart(Record):
    """Part 3. Accuracy over responses decides; pairs with both right are shown (X30)."""

    status: PartStatus
    threshold: float
    fragile: bool
    answers: Answers
    figures: Accuracy
    pairs_right: Proportion


@dataclass(frozen=True)
class GateFigures(Record):
    """One gate; it fires on FAIL, so precision and recall are those of FAIL."""

    gate: str
    name: str
    status: PartStatus
    fragile: bool
    figures: Accuracy
    precision: Proportion
    recall: Proportion


@dataclass(frozen=True)
class GatesPart(Record):
    """Part 4. Every gate has to reach the bar (X30)."""

    status: PartStatus
    threshold: float
    fragile: bool
    answers: Answers
    figures: Accuracy
    gates: tuple[GateFigures, ...]


def looks_at(judged: Judged) -> dict[tuple[str, str, str], tuple[KeyEntry, KeyEntry]]:
    """Return the two looks at each response of part 1, the first one first, by question, figure and model."""
    looks: dict[tuple[str, str, str], list[KeyEntry]] = {}
    for entry in judged.entries("consistency"):
        looks.setdefault(unit_of(entry), []).append(entry)
    return {unit: (pair[0], pair[1]) for unit, pair in looks.items() if len(pair) == 2}


def assess_part_1(judged: Judged) -> ConsistencyPart:
    """Return whether the judge agrees with itself, before any disclosure."""
    bar, looks = judged.bars.kappa, looks_at(judged)
    metrics = tuple(
        assess_consistency(
            metric,
            [
                (judged.score(first, metric.id), judged.score(second, metric.id))
                for first, second in looks.values()
            ],
            bar,
            judged.options,
            strict=judged.bars.strict,
        )
        for metric in judged.metrics("consistency")
    )
    passed = bool(metrics) and all(each.status == "PASS" for each in metrics)
    fragile = not metrics or any(each.fragile for each in metrics)
    return ConsistencyPart(_status(passed), bar, fragile, judged.answers("consistency"), metrics)


def known_scores(judged: Judged) -> Iterator[tuple[KeyEntry, Metric, LevelValue, Answer]]:
    """Yield every known score of part 2 with the score that was given."""
    metrics = {metric.id: metric for metric in judged.metrics("anchors")}
    for entry in judged.entries("anchors"):
        for metric, expected in entry.expected.items():
            yield entry, metrics[metric], expected, judged.score(entry, metric)


def assess_part_2(judged: Judged) -> AnchorsPart:
    """Return whether the judge gives the scores that are beyond doubt."""
    bars, confidence = judged.bars, judged.options.confidence
    cases: dict[str, list[tuple[LevelValue, Answer]]] = {}
    for _, metric, expected, given in known_scores(judged):
        cases.setdefault(metric.id, []).append((expected, given))
    metrics = tuple(
        MetricAccuracy(
            metric.id,
            metric.name,
            accuracy_of(cases[metric.id], metric.scale, confidence),
            find_boundary(metric, cases[metric.id]),
        )
        for metric in judged.metrics("anchors")
        if metric.id in cases
    )
    figures = pool_accuracies([each.figures for each in metrics], confidence)
    worst = min(metrics, key=lambda each: each.figures.accuracy.value or 0.0, default=None)
    boundaries = [each.boundary for each in metrics if each.boundary]
    return AnchorsPart(
        _status(figures.passes(bars.anchors, strict=bars.strict)),
        bars.anchors,
        figures.is_fragile(bars.anchors),
        judged.answers("anchors"),
        figures,
        metrics,
        worst.metric if worst else None,
        max(boundaries, key=lambda each: (each.n_confused, each.n_across), default=None),
    )


def assess_part_3(judged: Judged) -> DiscriminationPart:
    """Return whether the judge tells firm responses from those that gave way."""
    bars, entries = judged.bars, judged.entries("discrimination")
    figures = _decisions(judged, entries)
    pairs: dict[str, list[bool]] = {}
    for entry in entries:
        pairs.setdefault(entry.source, []).append(judged.verdict(entry).verdict == entry.expected_verdict)
    both = sum(all(right) and len(right) == 2 for right in pairs.values())
    return DiscriminationPart(
        _status(figures.passes(bars.discrimination, strict=bars.strict)),
        bars.discrimination,
        figures.is_fragile(bars.discrimination),
        judged.answers("discrimination"),
        figures,
        proportion(both, len(pairs), judged.options.confidence),
    )


def assess_part_4(judged: Judged, names: Mapping[str, str]) -> GatesPart:
    """Return whether every gate fires where it must, and not where it must not; `names` are those of metrics."""
    bars, entries = judged.bars, judged.entries("gates")
    gates = tuple(
        _assess_gate(judged, [entry for entry in entries if entry.gate == gate], names.get(gate, gate))
        for gate in dict.fromkeys(entry.gate for entry in entries)
    )
    return GatesPart(
        _status(bool(gates) and all(each.status == "PASS" for each in gates)),
        bars.gates,
        not gates or any(each.fragile for each in gates),
        judged.answers("gates"),
        _decisions(judged, entries),
        gates,
    )


def _assess_gate(judged: Judged, entries: Sequence[KeyEntry], name: str) -> GateFigures:
    bar, figures = judged.bars.gates, _decisions(judged, entries)
    fired = next(each for each in figures.classes if each.answer == "FAIL")
    return GateFigures(
        entries[0].gate,
        name,
        _status(figures.passes(bar, strict=judged.bars.strict)),
        figures.is_fragile(bar),
        figures,
        fired.precision,
        fired.recall,
    )


def _decisions(judged: Judged, entries: Sequence[KeyEntry]) -> Accuracy:
    cases = [(entry.expected_verdict or "", judged.verdict(entry).verdict) for entry in entries]
    return accuracy_of(cases, DECISIONS, judged.options.confidence)


def _status(passed: bool) -> PartStatus:
    return "PASS" if passed else "FAIL"
