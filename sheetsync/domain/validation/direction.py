"""Which of the two responses of a case raters score higher, and whether they agree on it (X10).

Responses are matched through the key: the better one is a model, never a side, because sides may differ
from rater to rater. Who a model is does not matter here; agreement is the same whatever they are called,
so all of this can be said while the study is blind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sheetsync.domain.agreement.coefficients import Coefficient, fleiss_kappa
from sheetsync.domain.agreement.proportions import Proportion, count_needed, proportion
from sheetsync.domain.record import Record
from sheetsync.domain.validation.totals import Totals

TIE = "tie"
"""The direction of a rater who gives both responses the same total."""

Case = tuple[str, str]
"""Question id and figure."""


@dataclass(frozen=True)
class Pair:
    """The two responses of a case, in the order in which differences are taken: second minus first."""

    case: Case
    codes: tuple[str, str]
    names: tuple[str, str]


@dataclass(frozen=True)
class CaseDirection:
    """One case: per rater with both totals the name of the higher response, or `TIE`."""

    case: Case
    by_rater: Mapping[str, str]

    @property
    def is_judged(self) -> bool:
        """Whether at least two raters can be compared."""
        return len(self.by_rater) >= 2

    @property
    def unanimous(self) -> str | None:
        """What all raters say, `TIE` included; None where they differ or cannot be compared."""
        said = set(self.by_rater.values())
        return next(iter(said)) if self.is_judged and len(said) == 1 else None

    @property
    def pairwise(self) -> float | None:
        """Share of rater pairs that say the same; a tie is its own answer."""
        pairs = list(combinations(self.by_rater.values(), 2))
        return sum(a == b for a, b in pairs) / len(pairs) if pairs else None


@dataclass(frozen=True)
class DirectionAgreement(Record):
    """How far raters agree on which response of a case is the better one.

    Attributes:
        cases: the study's cases.
        unanimous: cases in which all raters, two or more, see the same response ahead, out of the cases
            with two or more raters.
        needed: how many of these reach the bar.
        unanimous_ties: cases in which all raters see none ahead; no direction, so not counted as agreement.
        mean_pairwise: mean over cases of the share of rater pairs that say the same.
        fleiss_kappa: of the answers (one response, the other, tie), nominal.
    """

    cases: int
    unanimous: Proportion
    needed: int
    unanimous_ties: int
    mean_pairwise: float | None
    fleiss_kappa: Coefficient


def find_directions(pairs: Iterable[Pair], totals: Totals, raters: Sequence[str]) -> list[CaseDirection]:
    """Return per case what each rater with both totals says."""
    return [
        CaseDirection(
            pair.case,
            {
                rater: _higher(pair, totals[rater, pair.codes[0]], totals[rater, pair.codes[1]])
                for rater in raters
                if all((rater, code) in totals for code in pair.codes)
            },
        )
        for pair in pairs
    ]


def _higher(pair: Pair, first: float, second: float) -> str:
    if first == second:
        return TIE
    return pair.names[0] if first > second else pair.names[1]


def assess_directions(
    cases: Sequence[CaseDirection], share: float, confidence: float = 0.95
) -> DirectionAgreement:
    """Return the agreement on direction.

    Args:
        cases: what raters say of each.
        share: the bar, for the count that reaches it.
        confidence: of the interval.
    """
    judged = [case for case in cases if case.is_judged]
    agreed = [case for case in judged if case.unanimous not in (None, TIE)]
    pairwise = [case.pairwise for case in judged if case.pairwise is not None]
    return DirectionAgreement(
        len(cases),
        proportion(len(agreed), len(judged), confidence),
        count_needed(len(judged), share),
        sum(case.unanimous == TIE for case in judged),
        sum(pairwise) / len(pairwise) if pairwise else None,
        _kappa(cases),
    )


def _kappa(cases: Sequence[CaseDirection]) -> Coefficient:
    """Fleiss' kappa of the answers; every answer that somebody gave is a category."""
    raters = list(dict.fromkeys(rater for case in cases for rater in case.by_rater))
    answers = sorted({said for case in cases for said in case.by_rater.values()})
    data = np.full((len(raters), len(cases)), np.nan)
    for at, case in enumerate(cases):
        for rater, said in case.by_rater.items():
            data[raters.index(rater), at] = answers.index(said)
    return fleiss_kappa(data, list(range(len(answers))))
