"""How far a judge would come that reads nothing and only measures how long a response is.

Who writes cases writes firm answers long and weak ones short, without meaning to. Where one cut between short and long
tells PASS from FAIL, a pass proves no reading: the cases are what has to be changed, not the judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sheetsync.domain.certification.cases import Decision


@dataclass(frozen=True)
class LengthRule:
    """The best rule by length: `right` of `n` cases; `passes` is what passes, `longer` or `shorter` than `cut`."""

    right: int
    n: int
    cut: int
    passes: str


def best_rule(cases: Sequence[tuple[int, Decision]]) -> LengthRule | None:
    """Return the cut in characters that gets most cases right, the lowest of equals; None without a case.

    >>> best_rule([(10, "FAIL"), (20, "FAIL"), (30, "PASS"), (15, "PASS")])
    LengthRule(right=3, n=4, cut=10, passes='longer')
    """
    found: LengthRule | None = None
    for cut in sorted({length for length, _ in cases}):
        longer = sum((length > cut) == (expected == "PASS") for length, expected in cases)
        for right, passes in ((longer, "longer"), (len(cases) - longer, "shorter")):
            if found is None or right > found.right:
                found = LengthRule(right, len(cases), cut, passes)
    return found
