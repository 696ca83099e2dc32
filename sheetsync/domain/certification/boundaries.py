"""Between which two levels of a scale a judge reads the rubric otherwise than its authors (S2.9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sheetsync.domain.certification.cases import Metric
from sheetsync.domain.certification.decision_figures import Answer
from sheetsync.domain.record import Record
from sheetsync.domain.study import LevelValue


@dataclass(frozen=True)
class Boundary(Record):
    """The two neighbouring levels that are confused most.

    Attributes:
        metric: its id.
        name: its name.
        between: the lower and the upper level.
        texts: what the rubric says of each.
        n_confused: answers that gave the one for the other.
        n_across: wrong answers on the other side, those included: a 0 for a 3 lies across three boundaries.
        n_too_low: of those, answers below the right one.
    """

    metric: str
    name: str
    between: tuple[LevelValue, LevelValue]
    texts: tuple[str, str]
    n_confused: int
    n_across: int
    n_too_low: int

    @property
    def sentence(self) -> str:
        """What to sharpen."""
        low, high = self.between
        upper = f"“{self.texts[1]}”" if self.texts[1] else f"of level {high}"
        lower = f"“{self.texts[0]}”" if self.texts[0] else f"of level {low}"
        way = "" if self.n_across == 1 else f", {self.n_too_low} of them too low"
        return (
            f"{self.name}: the boundary {low}/{high} is confused most ({self.n_across} wrong "
            f"answer{'s' if self.n_across != 1 else ''} across it{way}). Sharpen the sentence {upper} "
            f"against {lower}, with an example on each side."
        )


def find_boundary(metric: Metric, cases: Sequence[tuple[LevelValue, Answer]]) -> Boundary | None:
    """Return the boundary of a scale that most wrong answers lie across, None where no answer is wrong.

    Neighbouring levels taken for each other count first, then all wrong answers across the boundary, then
    the lower boundary. Cases without an answer say nothing of a boundary.

    >>> metric = Metric("m", "M", "", ((0, ""), (1, ""), (2, ""), (3, "")))
    >>> find_boundary(metric, [(3, 2), (2, 3), (0, 1), (1, 1), (2, None)]).between
    (2, 3)
    """
    scale = metric.scale
    wrong = [
        (scale.index(right), scale.index(given))
        for right, given in cases
        if given is not None and given != right and given in scale and right in scale
    ]
    if not wrong:
        return None
    found = []
    for low in range(len(scale) - 1):
        across = [(right, given) for right, given in wrong if min(right, given) <= low < max(right, given)]
        confused = sum({right, given} == {low, low + 1} for right, given in across)
        found.append((confused, len(across), -low, sum(given < right for right, given in across)))
    n_confused, n_across, minus_low, n_too_low = max(found)
    low = -minus_low
    texts = (metric.levels[low][1], metric.levels[low + 1][1])
    return Boundary(
        metric.id, metric.name, (scale[low], scale[low + 1]), texts, n_confused, n_across, n_too_low
    )
