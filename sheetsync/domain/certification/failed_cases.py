"""Every case that a judge got wrong, with what it said beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sheetsync.domain.certification.cases import KeyEntry, Part, Verdict
from sheetsync.domain.certification.decision_figures import Answer
from sheetsync.domain.certification.parts import Judged, known_scores, looks_at
from sheetsync.domain.record import Record
from sheetsync.domain.study import LevelValue

UnitKey = tuple[str, str, str]
"""Question, figure and model."""


@dataclass(frozen=True)
class FailedCase(Record):
    """One failure. No model is named: a response of the study goes by its blind code.

    Attributes:
        part: which of the four.
        source: anchor, pair or gate case; of part 1 the blind code, blank before the study is provisioned.
        question_id: which question.
        metric: what was scored, or the gate; blank in part 3.
        expected: what is right; None in part 1, where two looks differ.
        given: what was given, on both looks in part 1; None for no answer.
        cases: the ids in the presentation, one for each of `given`.
        states: answered, refused, malformed, timeout or missing, likewise.
        reasoning: what the judge said, or why there is no answer; the words of a stranger.
    """

    part: Part
    source: str
    question_id: str
    metric: str
    expected: LevelValue | None
    given: tuple[Answer, ...]
    cases: tuple[str, ...]
    states: tuple[str, ...]
    reasoning: tuple[str, ...]


def failed_cases(judged: Judged, codes: Mapping[UnitKey, str]) -> tuple[FailedCase, ...]:
    """Return all failures; `codes` are the blind codes of the study's responses.

    Wrong answers come first. Part 1, where kappa allows for some scores that differ, is last: it has by far the most.
    """
    return (*_wrong_scores(judged), *_wrong_decisions(judged), *_differing(judged, codes))


def _differing(judged: Judged, codes: Mapping[UnitKey, str]) -> Iterator[FailedCase]:
    for metric in judged.metrics("consistency"):
        for unit, looks in looks_at(judged).items():
            given = tuple(judged.score(entry, metric.id) for entry in looks)
            if given[0] is None or given[0] != given[1]:
                yield _failed(judged, looks, codes.get(unit, ""), metric.id, None, given)


def _wrong_scores(judged: Judged) -> Iterator[FailedCase]:
    for entry, metric, expected, given in known_scores(judged):
        if given != expected:
            yield _failed(judged, [entry], entry.source, metric.id, expected, (given,))


def _wrong_decisions(judged: Judged) -> Iterator[FailedCase]:
    for entry in (*judged.entries("discrimination"), *judged.entries("gates")):
        given = judged.verdict(entry).verdict
        if given != entry.expected_verdict:
            yield _failed(judged, [entry], entry.source, entry.gate, entry.expected_verdict, (given,))


def _failed(
    judged: Judged,
    entries: Sequence[KeyEntry],
    source: str,
    metric: str,
    expected: LevelValue | None,
    given: tuple[Answer, ...],
) -> FailedCase:
    verdicts = [judged.verdict(entry) for entry in entries]
    return FailedCase(
        entries[0].part,
        source,
        entries[0].question_id,
        metric,
        expected,
        given,
        tuple(entry.id for entry in entries),
        tuple(verdict.state for verdict in verdicts),
        tuple(_words(verdict) for verdict in verdicts),
    )


def _words(verdict: Verdict) -> str:
    return verdict.reasoning if verdict.state == "answered" else verdict.why or verdict.reasoning
