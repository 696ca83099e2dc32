"""How often a judge gives the right answer, per class of answers, beside what a constant answer would score.

A case without an answer (refused, malformed, missing, too late) is a case that was not answered correctly: it counts
in every denominator of accuracy and recall, and in none of precision. Order of cases changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sheetsync.domain.agreement.proportions import Proportion, proportion
from sheetsync.domain.certification.cases import Verdict, VerdictState
from sheetsync.domain.record import Record
from sheetsync.domain.study import LevelValue

Answer = LevelValue | None
"""What was given; None where there is no answer."""

_TOLERANCE = 1e-12


@dataclass(frozen=True)
class Answers(Record):
    """How many cases were answered, and what became of the others."""

    n: int
    answered: int
    refused: int
    malformed: int
    timeout: int
    missing: int

    @property
    def unanswered(self) -> int:
        """Cases without an answer, whatever the reason."""
        return self.n - self.answered


def count_answers(verdicts: Iterable[Verdict]) -> Answers:
    """Count what came back, by state."""
    counts: Counter[VerdictState] = Counter(verdict.state for verdict in verdicts)
    return Answers(
        counts.total(),
        *(counts[state] for state in ("answered", "refused", "malformed", "timeout", "missing")),
    )


@dataclass(frozen=True)
class ClassFigures(Record):
    """One right answer: how many cases have it, how often it was given, precision and recall."""

    answer: LevelValue
    n_expected: int
    n_given: int
    precision: Proportion
    recall: Proportion


@dataclass(frozen=True)
class Accuracy(Record):
    """The share of right answers.

    Attributes:
        accuracy: right answers over all cases.
        n_unanswered: cases without an answer, among those that are not right.
        constant_answer: the commonest right answer, the first in order where several are; None over several scales.
        constant: what a judge that always gives it would score; None without a case.
        classes: per right answer, in the order of the scale.
    """

    accuracy: Proportion
    n_unanswered: int
    constant_answer: LevelValue | None
    constant: float | None
    classes: tuple[ClassFigures, ...] = ()

    @property
    def beats_constant(self) -> bool:
        """Whether more is right than a constant answer gets right.

        Where that holds of two classes, something of both is right: an answer that never changes cannot
        pass, whatever the bar and however uneven the classes.
        """
        value, constant = self.accuracy.value, self.constant
        return value is not None and constant is not None and value > constant + _TOLERANCE

    def passes(self, bar: float, *, strict: bool) -> bool:
        """Return whether the share reaches the bar and beats a constant answer; with `strict` its lower limit too."""
        reached = self.accuracy.low if strict else self.accuracy.value
        return reached is not None and reached >= bar - _TOLERANCE and self.beats_constant

    def is_fragile(self, bar: float) -> bool:
        """Return whether the lower limit of the interval misses the bar (X28)."""
        return self.accuracy.low is None or self.accuracy.low < bar - _TOLERANCE


def accuracy_of(
    cases: Sequence[tuple[LevelValue, Answer]], scale: Sequence[LevelValue], confidence: float
) -> Accuracy:
    """Return how often the second of each (right, given) is the first.

    Args:
        cases: right and given answers; None for no answer.
        scale: every answer there is, in order.
        confidence: of the intervals.

    >>> found = accuracy_of([("PASS", "PASS")] * 19 + [("FAIL", "PASS")], ("PASS", "FAIL"), 0.95)
    >>> found.accuracy.value, found.constant, found.passes(0.90, strict=False)
    (0.95, 0.95, False)
    """
    expected, given = Counter(right for right, _ in cases), Counter(answer for _, answer in cases)
    right = Counter(right for right, answer in cases if right == answer)
    commonest = max(scale, key=lambda answer: expected[answer]) if cases else None
    return Accuracy(
        proportion(right.total(), len(cases), confidence),
        given[None],
        commonest,
        expected[commonest] / len(cases) if commonest is not None else None,
        tuple(
            ClassFigures(
                answer,
                expected[answer],
                given[answer],
                proportion(right[answer], given[answer], confidence),
                proportion(right[answer], expected[answer], confidence),
            )
            for answer in scale
        ),
    )


def pool_accuracies(accuracies: Sequence[Accuracy], confidence: float) -> Accuracy:
    """Return accuracy over the cases of several scales; the constant answer is the commonest of each."""
    n = sum(each.accuracy.n for each in accuracies)
    constant = sum((each.constant or 0.0) * each.accuracy.n for each in accuracies)
    return Accuracy(
        proportion(sum(each.accuracy.count for each in accuracies), n, confidence),
        sum(each.n_unanswered for each in accuracies),
        None,
        constant / n if n else None,
    )
