"""The verdict on a judge: four parts, what may be disclosed, what to put right before the next run.

Where the protocol is silent: an unanswered case is not correct; a share passes only if it is higher than what a judge
that always gives the commonest right answer would score; a part without a case fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from sheetsync.domain.agreement.verdicts import REASON_WORDS
from sheetsync.domain.certification.cases import Decision, Part
from sheetsync.domain.certification.consistency import MetricConsistency, PartStatus
from sheetsync.domain.certification.decision_figures import Accuracy, Answers
from sheetsync.domain.certification.disclosure import DisclosureOutcome, Ranking, judge_disclosures
from sheetsync.domain.certification.failed_cases import FailedCase, UnitKey, failed_cases
from sheetsync.domain.certification.length_rule import best_rule
from sheetsync.domain.certification.parts import (
    AnchorsPart,
    ConsistencyPart,
    DiscriminationPart,
    GateFigures,
    GatesPart,
    Judged,
    assess_part_1,
    assess_part_2,
    assess_part_3,
    assess_part_4,
)
from sheetsync.domain.number_words import shown_number
from sheetsync.domain.record import Record

Severity = Literal["blocks", "advice"]

CONTRADICTORY_TEST = (
    "First make sure the cases are right: a response that is judged against a question on another topic is rightly "
    "failed, and reads as a gate that works two times in three (65 %)."
)


@dataclass(frozen=True)
class Fix(Record):
    """What to put right before the next run: `blocks` keeps the judge from being cleared, `advice` does not."""

    part: Part
    severity: Severity
    what: str
    fix: str


@dataclass(frozen=True)
class Outcome(Record):
    """What a run of a judge came to."""

    consistency: ConsistencyPart
    anchors: AnchorsPart
    discrimination: DiscriminationPart
    gates: GatesPart
    disclosures: tuple[DisclosureOutcome, ...]
    fixes: tuple[Fix, ...]
    failed: tuple[FailedCase, ...]

    @property
    def statuses(self) -> Mapping[Part, PartStatus]:
        """The status of each part, in order."""
        return {
            "consistency": self.consistency.status,
            "anchors": self.anchors.status,
            "discrimination": self.discrimination.status,
            "gates": self.gates.status,
        }

    @property
    def cleared(self) -> bool:
        """Whether all four parts pass, the first one with disclosures where it needs them."""
        return all(status != "FAIL" for status in self.statuses.values())

    @property
    def accepted(self) -> tuple[DisclosureOutcome, ...]:
        """The disclosures that let a metric pass, and have to stand in the publication."""
        return tuple(each for each in self.disclosures if each.state == "accepted")


def certify(judged: Judged, ranking: Ranking, codes: Mapping[UnitKey, str]) -> Outcome:
    """Return the verdict on a run.

    Args:
        judged: what was shown and said, with the bars.
        ranking: the judge's scores and the weights, for the proof that a disclosed metric is harmless.
        codes: blind codes of the study's responses, for the failed cases.
    """
    names = {metric.id: metric.name for case in judged.presentation.cases for metric in case.metrics}
    consistency = assess_part_1(judged)
    below = {each.metric: each.name for each in consistency.below}
    disclosures = judge_disclosures(judged.bars.disclosures, below, names, ranking)
    outcome = Outcome(
        _with_disclosures(consistency, disclosures),
        assess_part_2(judged),
        assess_part_3(judged),
        assess_part_4(judged, names),
        disclosures,
        (),
        failed_cases(judged, codes),
    )
    fixes = (*_fixes(outcome, judged.bars.strict), *_told_by_length(judged, names))
    return replace(outcome, fixes=fixes)


def _with_disclosures(part: ConsistencyPart, disclosures: tuple[DisclosureOutcome, ...]) -> ConsistencyPart:
    accepted = {each.metric for each in disclosures if each.state == "accepted"}
    metrics = tuple(
        replace(each, status="PASS_WITH_DISCLOSURE")
        if each.status == "FAIL" and each.metric in accepted
        else each
        for each in part.metrics
    )
    statuses = {each.status for each in metrics}
    status: PartStatus = "FAIL" if not metrics or "FAIL" in statuses else "PASS"
    if status == "PASS" and "PASS_WITH_DISCLOSURE" in statuses:
        status = "PASS_WITH_DISCLOSURE"
    return replace(part, status=status, metrics=metrics)


# --- what to put right ---


def _fixes(outcome: Outcome, strict: bool) -> Iterator[Fix]:
    yield from _fix_consistency(outcome)
    yield from _fix_anchors(outcome.anchors, strict)
    yield from _fix_discrimination(outcome.discrimination, strict)
    yield from _fix_gates(outcome.gates, strict)
    answers: Mapping[Part, Answers] = {
        "consistency": outcome.consistency.answers,
        "anchors": outcome.anchors.answers,
        "discrimination": outcome.discrimination.answers,
        "gates": outcome.gates.answers,
    }
    for part, counts in answers.items():
        if counts.unanswered:
            yield _unanswered(part, counts)


def _unanswered(part: Part, answers: Answers) -> Fix:
    counts = {
        "refused": answers.refused,
        "malformed": answers.malformed,
        "too late": answers.timeout,
        "missing": answers.missing,
    }
    said = ", ".join(f"{n} {name}" for name, n in counts.items() if n)
    return Fix(
        part,
        "advice",
        f"{answers.unanswered} of {answers.n} cases have no answer ({said}); they count as not correct.",
        "Look at the judge's raw lines, and let it answer every case in the form that was asked for.",
    )


def _fix_consistency(outcome: Outcome) -> Iterator[Fix]:
    part = outcome.consistency
    if not part.metrics:
        yield _nothing("consistency", "responses.csv")
    if part.answers.n and part.answers.unanswered == part.answers.n:
        step = "Look at the judge's raw lines: kappa says nothing of the rubric before there are answers."
        yield Fix("consistency", "blocks", "None of the responses has an answer.", step)
        return
    refused = {each.metric: each for each in outcome.disclosures if each.state == "refused"}
    for each in part.metrics:
        if each.status != "FAIL":
            continue
        why = refused[each.metric].why if each.metric in refused else ()
        step = (
            f"Say in the rubric what separates neighbouring levels of {each.name}, or let the judge answer with less "
            "chance in it. A metric too light to matter can be disclosed: [[certification.disclosure]]."
        )
        yield Fix("consistency", "blocks", f"{_below(each, part.threshold)} {' '.join(why)}".rstrip(), step)


def _below(each: MetricConsistency, bar: float) -> str:
    kappa = each.kappa
    if kappa.value is None:
        exact, ac1 = each.exact.value, each.ac1.value
        shown = "" if exact is None else f" Looks agree on {shown_number(exact, 'percent')}"
        shown += f", AC1 {shown_number(ac1)}." if shown and ac1 is not None else "." if shown else ""
        reason = REASON_WORDS.get(kappa.reason or "", kappa.reason or "undefined")
        return f"{each.name}: kappa is {reason}, which is not a pass.{shown}"
    if kappa.value >= bar:
        return (
            f"{each.name}: kappa is {shown_number(kappa.value)}, but its lower limit does not reach {bar:g}."
        )
    return f"{each.name}: kappa is {shown_number(kappa.value)}, below {bar:g}."


def _fix_anchors(part: AnchorsPart, strict: bool) -> Iterator[Fix]:
    if not part.metrics:
        yield _nothing("anchors", "anchors.csv")
    elif part.status == "FAIL":
        step = part.boundary.sentence if part.boundary else "Look at the cases without an answer."
        if (part.figures.constant or 0.0) >= part.threshold:
            step = "Add anchors of other levels, so that the commonest one is not the answer to all. " + step
        yield Fix("anchors", "blocks", _short("Known scores", part.figures, part.threshold, strict), step)
    for each in part.metrics:
        share = each.figures.accuracy.value or 0.0
        if (
            share < part.threshold
            and each.boundary
            and not (part.status == "FAIL" and each.boundary == part.boundary)
        ):
            what = f"{each.name} alone is at {shown_number(share, 'percent')}, below {part.threshold:.0%}."
            yield Fix("anchors", "advice", what, each.boundary.sentence)


def _fix_discrimination(part: DiscriminationPart, strict: bool) -> Iterator[Fix]:
    if not part.figures.accuracy.n:
        yield _nothing("discrimination", "adversarial.csv")
    elif part.status == "FAIL":
        shown = {each.answer: each.recall for each in part.figures.classes}
        firm, gave_way = shown["PASS"], shown["FAIL"]
        what = _short("Firm or giving way", part.figures, part.threshold, strict)
        what += f" Right on {firm.count} of {firm.n} firm responses, {gave_way.count} of {gave_way.n} that gave way."
        weaker = "hold firm" if (firm.value or 0.0) < (gave_way.value or 0.0) else "give way"
        step = f"Say in the criterion how to know responses that {weaker}; the failed cases show what the judge took."
        yield Fix("discrimination", "blocks", what, step)


def _fix_gates(part: GatesPart, strict: bool) -> Iterator[Fix]:
    if not part.gates:
        yield _nothing("gates", "gates.csv")
    for each in part.gates:
        if each.status == "FAIL":
            what = f"{_short(f'Gate {each.name}', each.figures, part.threshold, strict)} {_fired(each)}"
            yield Fix("gates", "blocks", what, CONTRADICTORY_TEST)


def _fired(each: GateFigures) -> str:
    clean = next(figures.recall for figures in each.figures.classes if figures.answer == "PASS")
    return (
        f"It fired on {each.recall.count} of {each.recall.n} cases that must trigger it, "
        f"and let {clean.count} of {clean.n} pass that must."
    )


def _short(what: str, figures: Accuracy, bar: float, strict: bool) -> str:
    """Say by how much a share fell short, or that a constant answer does as well."""
    share = figures.accuracy
    shown = f"{what}: {share.count} of {share.n} right ({shown_number(share.value or 0.0, 'percent')})"
    if (share.value or 0.0) < bar:
        return f"{shown}, below {bar:.0%}."
    if not figures.beats_constant:
        return f"{shown}, no more than a constant answer scores ({shown_number(figures.constant or 0.0, 'percent')})."
    if strict:
        return f"{shown}, but the lower limit {shown_number(share.low or 0.0, 'percent')} does not reach {bar:.0%}."
    return f"{shown}."


def _nothing(part: Part, file: str) -> Fix:
    return Fix(
        part, "blocks", "There is no case to judge.", f"Add cases to {file}, and run `certify prepare`."
    )


def _told_by_length(judged: Judged, names: Mapping[str, str]) -> Iterator[Fix]:
    """Yield the sets of cases that a judge would pass which measures length and reads nothing."""
    lengths = {case.id: len(case.response) for case in judged.presentation.cases}
    sets: dict[tuple[Part, str], list[tuple[int, Decision]]] = {}
    for entry in judged.presentation.key:
        if entry.expected_verdict:
            told = sets.setdefault((entry.part, entry.gate), [])
            told.append((lengths[entry.id], entry.expected_verdict))
    for (part, gate), cases in sets.items():
        rule = best_rule(cases)
        bar = judged.bars.gates if gate else judged.bars.discrimination
        if rule is None or rule.right < bar * rule.n:
            continue
        what = (
            f"{f'Gate {names.get(gate, gate)}' if gate else 'Firm or giving way'}: length alone gets {rule.right} of "
            f"{rule.n} right (PASS if {rule.passes} than {rule.cut} characters), so this says little of the judge."
        )
        yield Fix(part, "advice", what, "Write responses that pass and that fail at all lengths.")
