"""What the cells of a ratings file mean: levels, "not applicable", or neither."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sheetsync.config_faults import Faults, quoted
from sheetsync.domain.cells import is_not_applicable, match_level, normalise, read_number, show
from sheetsync.domain.study import NOT_APPLICABLE, LevelValue, MeasurementLevel

MAX_LEVELS = 2000
"""More different numbers than this are a measurement, not a scale; coefficients count per level."""

Scale = tuple[LevelValue, ...]


@dataclass(frozen=True)
class Meaning:
    """The scale of a dimension, and what each text in its cells stands for.

    Attributes:
        scale: the levels, from low to high.
        values: a level or "N/A" per text; a text without an entry is off the scale.
    """

    scale: Scale
    values: Mapping[str, LevelValue]


def parse_scale(text: str, level: MeasurementLevel, faults: Faults) -> Scale:
    """Read `--scale` as one CSV row; one level that is no number makes it a scale of words.

    >>> parse_scale("1, 2.5, 3.0", "ordinal", Faults()), parse_scale('low,"so, so",3', "ordinal", Faults())
    ((1, 2.5, 3), ('low', 'so, so', '3'))
    """
    try:
        rows = list(csv.reader([text], skipinitialspace=True, strict=True))
    except csv.Error as error:
        faults.error("--scale", f"{quoted(text)} is no CSV row ({error}); write --scale 1,2,3,4,5")
        return ()
    words = [cell.strip() for row in rows for cell in row]
    if not all(words) or not words:
        faults.error("--scale", f"{quoted(text)} has an empty level; write --scale 1,2,3,4,5")
        return ()
    numbers = [_number(word) for word in words]
    scale: Scale = tuple(each for each in numbers if each is not None)
    if len(scale) < len(words):
        scale = tuple(words)
        if level in {"interval", "ratio"}:
            word = words[numbers.index(None)]
            faults.error("--scale", f"{quoted(word)} is no number, and {level} ratings are; {_REMEDY[level]}")
    for twice in [key for key, n in Counter(normalise(show(each)) for each in scale).items() if n > 1]:
        faults.error("--scale", f"{quoted(twice)} stands there twice; name each level once, from low to high")
    return scale


_REMEDY: Mapping[MeasurementLevel, str] = {
    "ordinal": "name the levels from low to high: --scale low,medium,high",
    "interval": "use numbers, or --level ordinal with --scale low,medium,high",
    "ratio": "use numbers, or --level ordinal with --scale low,medium,high",
}


def _number(text: str) -> int | float | None:
    number = read_number(text)
    if number is None or abs(number) > 10**15:
        return None
    return int(number) if number == int(number) else float(number)


def comparable(text: str) -> LevelValue:
    """Return what two cells off the scale are compared by: 6 and 6.0 are the same, so are a and A."""
    number = _number(text)
    return normalise(text) if number is None else number


class NotApplicable:
    """The spellings of "not applicable": the usual ones and those of `--na`."""

    def __init__(self, spellings: Iterable[str]) -> None:
        wanted = [normalise(text) for text in spellings]
        self._whole = {text for text in wanted if not text.endswith("*")}
        self._beginnings = tuple(text[:-1].rstrip() for text in wanted if text.endswith("*"))

    def is_named(self, text: str) -> bool:
        """Whether `--na` names the text; that also holds for what would be a level."""
        folded = normalise(text)
        return folded in self._whole or folded.startswith(self._beginnings)

    def matches(self, text: str) -> bool:
        """Whether the text is any spelling."""
        return is_not_applicable(text) or self.is_named(text)


def read_on_scale(texts: Iterable[str], scale: Scale, na: NotApplicable) -> Meaning:
    """Read the texts of a dimension on a declared scale."""
    values: dict[str, LevelValue] = {}
    for text in texts:
        level = None if na.is_named(text) else match_level(text, scale)
        if level is not None:
            values[text] = level
        elif na.matches(text):
            values[text] = NOT_APPLICABLE
    return Meaning(scale, values)


def read_observed(
    texts: Mapping[str, int], level: MeasurementLevel, na: NotApplicable, place: str, faults: Faults
) -> Meaning:
    """Read the texts of a dimension without a declared scale: the observed numbers, sorted.

    Args:
        texts: each text that occurs, with its first line.
        level: the level of measurement; only nominal ratings may be words.
        na: spellings of "not applicable".
        place: the file, for faults.
        faults: collects a fault per text that cannot be a level.
    """
    given = {text: line for text, line in texts.items() if not na.matches(text)}
    none: dict[str, LevelValue] = dict.fromkeys(texts.keys() - given.keys(), NOT_APPLICABLE)
    numbers = {text: number for text in given if (number := _number(text)) is not None}
    words = given.keys() - numbers.keys()
    if words and level == "nominal":
        labels = _shown_labels(given)
        return Meaning(
            tuple(sorted(labels.values())), none | {text: labels[normalise(text)] for text in given}
        )
    for text in sorted(words, key=given.__getitem__):
        faults.error(
            f"{place} line {given[text]}",
            f"{quoted(text)} is no number; {_REMEDY[level]}, or --na {quoted(text)} where it means "
            '"not applicable"',
        )
    if len(set(numbers.values())) > MAX_LEVELS:
        faults.error(
            place, f"holds {len(set(numbers.values())):,} different numbers; at most {MAX_LEVELS:,}: round"
        )
    return Meaning(tuple(sorted(set(numbers.values()))), none | numbers)


def _shown_labels(texts: Iterable[str]) -> dict[str, str]:
    """Return one spelling per label, the first of its spellings in the alphabet."""
    labels: dict[str, str] = {}
    for text in sorted(texts, reverse=True):
        labels[normalise(text)] = text
    return labels


def allowed_values(scale: Sequence[LevelValue]) -> str:
    """Return the levels in words, for notes.

    >>> allowed_values((1, 2.5, 3))
    '1, 2.5, 3'
    """
    return ", ".join(show(level) for level in scale)
