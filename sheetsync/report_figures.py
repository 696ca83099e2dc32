"""Geometry of the report's drawings: positions in per cent of the width, so that they fit any screen.

Nothing is computed about the study here: values come as they stand in the analysis.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sheetsync.domain.agreement.coefficients import Coefficient
from sheetsync.domain.agreement.report import DimensionAgreement
from sheetsync.domain.agreement.verdicts import BandSet, band_of

_MARGIN = 2.0
_LIGHT, _DEEP = (209, 224, 235), (88, 146, 192)
_CHARACTER = 2.7
"""Width of a character of a bar on the narrowest screen, in per cent."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A line across a plot, `x` in per cent; `label` is what stands below it."""

    x: str
    label: str
    is_zero: bool = False


@dataclass(frozen=True, slots=True)
class Axis:
    """From where to where a plot goes; always up to 1."""

    low: float
    ticks: tuple[Tick, ...]

    def place(self, value: float) -> str:
        """Return the position of a value; what lies below the axis stands at its end.

        >>> Axis(0.0, ()).place(0.5)
        '50.00%'
        """
        return _percent(_position(value, self.low))


@dataclass(frozen=True, slots=True)
class Strip:
    """One value with its bounds, drawn on one line."""

    axis: Axis
    words: str
    value: str | None
    low: str | None
    high: str | None


@dataclass(frozen=True, slots=True)
class Segment:
    """One level of a bar; `inside` says whether its label fits into it."""

    label: str
    count: int
    share: str
    x: str
    middle: str
    width: str
    fill: str
    inside: bool


@dataclass(frozen=True, slots=True)
class Bar:
    """How the ratings of one dimension spread over its levels."""

    name: str
    total: int
    segments: tuple[Segment, ...]

    @property
    def words(self) -> str:
        """The whole bar as a sentence."""
        return ", ".join(f"{s.label}: {s.count} ({s.share})" for s in self.segments) or "no ratings yet"


def axis_for(found: Iterable[Coefficient], bands: BandSet) -> Axis:
    """Return an axis that holds all these values and bounds, with the borders of the bands as ticks."""
    numbers = [number for c in found for number in (c.value, c.low) if number is not None]
    low = max(-1.0, min(0.0, math.floor(min(numbers, default=0.0) * 5) / 5))
    marks = sorted({low, 1.0, *band_borders(bands)})
    ticks = [Tick(_percent(_position(mark, low)), _mark_text(mark), mark == 0.0) for mark in marks]
    return Axis(low, tuple(ticks))


def band_borders(bands: BandSet) -> tuple[float, ...]:
    """Return where one band ends and the next begins, found by asking `verdicts` at every hundredth.

    >>> band_borders("landis-koch")
    (0.0, 0.2, 0.4, 0.6, 0.8)
    """
    steps = [step / 100 for step in range(-100, 101)]
    return tuple(here for before, here in pairwise(steps) if band_of(before, bands) != band_of(here, bands))


def strip(found: Coefficient, axis: Axis, words: str) -> Strip:
    """Return a coefficient as a strip; without a value only the lines of the axis are drawn."""
    if found.value is None:
        return Strip(axis, words, None, None, None)
    if found.low is None or found.high is None:
        return Strip(axis, words, axis.place(found.value), None, None)
    return Strip(axis, words, axis.place(found.value), axis.place(found.low), axis.place(found.high))


def spread_bar(dimension: DimensionAgreement) -> Bar:
    """Return the distribution of one dimension as a stacked bar; levels without ratings are left out."""
    counts = list(dimension.distribution.items())
    total = sum(dimension.distribution.values())
    segments = []
    start = 0
    for index, (label, count) in enumerate(counts):
        if count:
            segments.append(_segment(label, count, start, total, _fill(index, len(counts))))
        start += count
    return Bar(dimension.dimension, total, tuple(segments))


def _segment(label: str, count: int, start: int, total: int, fill: str) -> Segment:
    width = 100 * count / total
    return Segment(
        label=label,
        count=count,
        share=f"{count / total:.0%}",
        x=_percent(100 * start / total),
        middle=_percent(100 * start / total + width / 2),
        width=_percent(width),
        fill=fill,
        inside=width >= _CHARACTER * max(len(label), len(str(count))) + 1,
    )


def _fill(index: int, n_levels: int) -> str:
    """Return the colour of a level: the higher the deeper, all of them light enough for dark text."""
    depth = index / max(1, n_levels - 1)
    mixed: Sequence[int] = [round(a + (b - a) * depth) for a, b in zip(_LIGHT, _DEEP, strict=True)]
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _position(value: float, low: float) -> float:
    inside = min(1.0, max(low, value))
    return _MARGIN + (100 - 2 * _MARGIN) * (inside - low) / (1 - low)


def _percent(number: float) -> str:
    return f"{number:.2f}%"


def _mark_text(mark: float) -> str:
    return f"{mark:g}".replace("-", "−")
