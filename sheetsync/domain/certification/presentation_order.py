"""An order of looks with a guaranteed distance between two that belong together.

Everything comes in two halves, with one look of each pair of looks in either. Let the first looks stand at positions
a1 < a2 < ..., and the second looks at positions b1 < b2 < ... An assignment of second looks to positions that keeps
every distance d exists exactly if bk - ak >= d for every k: whoever was looked at k-th is ready then. So positions are
drawn until that holds, with all other cases drawn ever closer to the middle, and every second look is drawn among
those that are ready.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sheetsync.domain.certification.cases import KeyEntry, Part
from sheetsync.errors import StudyError

_DRAWS = 1000
"""Orders that are drawn before giving up."""

_NARROWING = 250
"""From this draw on the other cases stand in the middle, so that the gap is as wide as it can be."""


@dataclass(frozen=True)
class Look:
    """One case before it has an id and a place; `twin` joins the two looks that must be apart."""

    part: Part
    source: str
    question_id: str
    response: str
    entry: KeyEntry
    twin: str = ""
    context: str = ""


def greatest_gap(responses: int, pairs: int, others: int) -> int:
    """Return the greatest minimum gap for which two different orders exist.

    Args:
        responses: how many are looked at twice.
        pairs: adversarial pairs.
        others: anchors and gate cases.

    >>> greatest_gap(48, 16, 129), greatest_gap(2, 0, 0), greatest_gap(1, 0, 0)
    (191, 0, 0)
    """
    widest = responses + pairs + others - 1
    return max(0, widest - (responses > 1))


def draw_order(
    repeats: Sequence[tuple[Look, Look]], others: Sequence[Look], gap: int, rng: random.Random
) -> tuple[list[Look], list[Look]]:
    """Return both halves: first looks and second looks, each with its share of the others between."""
    size, distance = len(repeats), gap + 1
    middle = len(others) // 2
    for draw in range(_DRAWS):
        order = rng.sample(repeats, size)
        mixed = _apart(others, rng)
        near = min(1.0, draw / _NARROWING)
        early = _drawn_positions(size, middle, near, rng)
        late = [
            2 * size + len(others) - 1 - place
            for place in reversed(_drawn_positions(size, len(others) - middle, near, rng))
        ]
        if any(b - a < distance for a, b in zip(early, late, strict=True)):
            continue
        again = _second_looks(order, early, late, distance, rng)
        if _differ([first for first, _ in order], again):
            return (
                _merged([first for first, _ in order], early, mixed[:middle], 0),
                _merged(again, late, mixed[middle:], size + middle),
            )
    raise StudyError(
        f"No order was found in which {gap} cases lie between the two looks at every response.",
        "Lower [certification] minimum_gap, or add cases.",
    )


def _drawn_positions(size: int, others: int, near: float, rng: random.Random) -> list[int]:
    """Return the positions of `size` looks among `others`, from low to high.

    `near` 0: anywhere; 1: all of them before the others; between: the others stand in the last part.
    """
    start = round(near * size)
    return [*range(start), *sorted(rng.sample(range(start, size + others), size - start))]


def _second_looks(
    order: Sequence[tuple[Look, Look]],
    early: Sequence[int],
    late: Sequence[int],
    distance: int,
    rng: random.Random,
) -> list[Look]:
    """Return the second looks in the order of their positions, each drawn among those that are ready."""
    ready: list[Look] = []
    waiting = list(zip(early, (second for _, second in order), strict=True))
    drawn = []
    for position in late:
        while waiting and waiting[0][0] + distance <= position:
            ready.append(waiting.pop(0)[1])
        drawn.append(ready.pop(rng.randrange(len(ready))))
    return drawn


def _differ(first: Sequence[Look], second: Sequence[Look]) -> bool:
    """Return whether the responses come in two orders; one response has only one."""
    orders = [[look.twin for look in looks if look.part == "consistency"] for looks in (first, second)]
    return len(orders[0]) < 2 or orders[0] != orders[1]


def _apart(looks: Sequence[Look], rng: random.Random) -> list[Look]:
    """Return the looks shuffled so that those about one question come as far apart as their number allows."""
    turn: Counter[str] = Counter()
    turns: dict[int, list[Look]] = {}
    for look in rng.sample(looks, len(looks)):
        turns.setdefault(turn[look.question_id], []).append(look)
        turn[look.question_id] += 1
    mixed: list[Look] = []
    for among in turns.values():
        last = [look.question_id for look in mixed[-len(among) // 2 :]]
        mixed += sorted(among, key=lambda look: look.question_id in last)
    return mixed


def _merged(
    looks: Sequence[Look], positions: Sequence[int], others: Sequence[Look], start: int
) -> list[Look]:
    """Return the looks at their positions, counted from `start`, with the others in between."""
    at = dict(zip(positions, looks, strict=True))
    rest = iter(others)
    return [
        at[place] if place in at else next(rest) for place in range(start, start + len(looks) + len(others))
    ]


def smallest_gap(looks: Sequence[Look]) -> int | None:
    """Return how many cases lie at least between two looks that belong together."""
    first: dict[str, int] = {}
    gaps = []
    for place, look in enumerate(looks):
        if look.twin and look.twin in first:
            gaps.append(place - first[look.twin] - 1)
        first.setdefault(look.twin, place)
    return min(gaps, default=None)
