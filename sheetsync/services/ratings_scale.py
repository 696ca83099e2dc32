"""What the cells of a table of ratings mean: levels, "not applicable", or neither."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sheetsync.config_faults import Faults, quoted
from sheetsync.domain.agreement.ratings_cells import Meaning
from sheetsync.domain.cells import is_not_applicable, match_level, normalise, show
from sheetsync.domain.study import NOT_APPLICABLE, LevelValue, MeasurementLevel

MAX_LEVELS = 2000
"""More different numbers than this are a measurement, not a scale; coefficients count per level."""

Scale = tuple[LevelValue, ...]


@dataclass(frozen=True)
class Wording:
    """What messages call the options: as the command line has them, or as the Python function."""

    scale: str
    scale_of_numbers: str
    scale_of_words: str
    level: str
    wide: str
    by: str
    na: Callable[[str], str]


COMMAND_LINE = Wording(
    scale="--scale",
    scale_of_numbers="--scale 1,2,3,4,5",
    scale_of_words="--scale low,medium,high",
    level="--level ordinal",
    wide="--wide",
    by="--by",
    na=lambda text: f"--na {quoted(text)}",
)

PYTHON = Wording(
    scale="scale",
    scale_of_numbers="scale=[1, 2, 3, 4, 5]",
    scale_of_words='scale=["low", "medium", "high"]',
    level='level="ordinal"',
    wide="wide=True",
    by="by",
    na=lambda text: f"na=[{quoted(text)}]",
)


def parse_scale(text: str, level: MeasurementLevel, faults: Faults, wording: Wording = COMMAND_LINE) -> Scale:
    """Read `--scale` as one CSV row; one level that is no number makes it a scale of words.

    >>> parse_scale("1, 2.5, 3.0", "ordinal", Faults()), parse_scale('low,"so, so",3', "ordinal", Faults())
    ((1, 2.5, 3), ('low', 'so, so', '3'))
    """
    try:
        rows = list(csv.reader([text], skipinitialspace=True, strict=True))
    except csv.Error as error:
        faults.error(
            wording.scale, f"{quoted(text)} is no CSV row ({error}); write {wording.scale_of_numbers}"
        )
        return ()
    return build_scale([cell for row in rows for cell in row], level, faults, wording)


def build_scale(
    levels: Sequence[str], level: MeasurementLevel, faults: Faults, wording: Wording = COMMAND_LINE
) -> Scale:
    """Make a scale of levels written as texts, from low to high."""
    words = [word.strip() for word in levels]
    if not all(words) or not words:
        shown = quoted(",".join(words))
        faults.error(wording.scale, f"{shown} has an empty level; write {wording.scale_of_numbers}")
        return ()
    numbers = [as_number(word) for word in words]
    scale: Scale = tuple(each for each in numbers if each is not None)
    if len(scale) < len(words):
        scale = tuple(words)
        if level in {"interval", "ratio"}:
            word = words[numbers.index(None)]
            faults.error(
                wording.scale,
                f"{quoted(word)} is no number, and {level} ratings are; {_remedy(level, wording)}",
            )
    for twice in [key for key, n in Counter(normalise(show(each)) for each in scale).items() if n > 1]:
        faults.error(
            wording.scale, f"{quoted(twice)} stands there twice; name each level once, from low to high"
        )
    return scale


def _remedy(level: MeasurementLevel, wording: Wording) -> str:
    if level in {"interval", "ratio"}:
        return f"use numbers, or {wording.level} with {wording.scale_of_words}"
    return f"name the levels from low to high: {wording.scale_of_words}"


# --- numbers -----------------------------------------------------------------------------------

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
"""What programs write: 3, 3.0, .5, 1e-05. Words such as nan and inf, and 1_000, are none."""

_COMMA = re.compile(r"[+-]?\d+,\d+")
_THOUSAND = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")


def as_number(text: str) -> int | float | None:
    """Return the number a text holds, whole numbers as int, or None.

    >>> as_number("4.0"), as_number(".5"), as_number("1e-05"), as_number("3,5"), as_number("nan")
    (4, 0.5, 1e-05, None, None)
    """
    cleaned = unicodedata.normalize("NFKC", text).strip()
    if not _NUMBER.fullmatch(cleaned):
        return None
    number = Decimal(cleaned)
    if abs(number) > 10**15:
        return None
    return int(number) if number == int(number) else float(number)


def text_of_number(number: int | float) -> str:
    """Return a number as a ratings file holds it.

    >>> text_of_number(4.0), text_of_number(2.5), text_of_number(7)
    ('4', '2.5', '7')
    """
    return str(int(number)) if number == int(number) else repr(float(number))


def comparable(text: str) -> LevelValue:
    """Return what two cells off the scale are compared by: 6 and 6.0 are the same, so are a and A."""
    number = as_number(text)
    return normalise(text) if number is None else number


def with_decimal_points(texts: Iterable[str]) -> dict[str, str]:
    """Return the texts with a decimal comma, each with a point instead.

    Only for files whose cells are not parted by commas, as spreadsheets save them where the comma is
    the decimal sign. `1,250` alone may be a thousand and more, and a file that also has points says
    that its commas are something else: there, nothing is read as a decimal comma.

    >>> with_decimal_points(["3,5", "4", "1,250"]), with_decimal_points(["1,250"]), with_decimal_points(["3,5", "2.5"])
    ({'3,5': '3.5', '1,250': '1.250'}, {}, {})
    """
    given = list(texts)
    found = [text for text in given if _COMMA.fullmatch(text)]
    if all(map(_THOUSAND.fullmatch, found)) or any(
        "." in text and as_number(text) is not None for text in given
    ):
        return {}
    return {text: text.replace(",", ".") for text in found}


# --- not applicable ----------------------------------------------------------------------------


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


# --- meaning -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reader:
    """How the values of a table are to be read.

    Attributes:
        level: the level of measurement.
        na: spellings of "not applicable".
        decimal_comma: whether commas may be decimal signs: not in a file whose cells they part.
        wording: what messages call the options.
    """

    level: MeasurementLevel
    na: NotApplicable
    decimal_comma: bool = False
    wording: Wording = COMMAND_LINE

    def on_scale(self, texts: Iterable[str], scale: Scale) -> Meaning:
        """Read the texts of a dimension on a declared scale."""
        given = list(texts)
        points = with_decimal_points(given) if self.decimal_comma else {}
        values: dict[str, LevelValue] = {}
        for text in given:
            level = None if self.na.is_named(text) else _level(text, points.get(text, text), scale)
            if level is not None:
                values[text] = level
            elif self.na.matches(text):
                values[text] = NOT_APPLICABLE
        return Meaning(self.level, scale, values, comparable)

    def observed(self, texts: Mapping[str, str], place: str, faults: Faults) -> Meaning:
        """Read the texts of a dimension without a declared scale: the observed numbers, sorted.

        Args:
            texts: each text that occurs, in the order of rows, with the place where it first does.
            place: the table, for faults.
            faults: collects a fault per text that cannot be a level.
        """
        points = with_decimal_points(texts) if self.decimal_comma else {}
        given = [text for text in texts if not self.na.matches(text)]
        none: dict[str, LevelValue] = dict.fromkeys(texts.keys() - set(given), NOT_APPLICABLE)
        numbers = {
            text: number for text in given if (number := as_number(points.get(text, text))) is not None
        }
        words = [text for text in given if text not in numbers]
        if words and self.level == "nominal":
            labels = _shown_labels(given)
            scale = tuple(sorted(labels.values()))
            return Meaning(
                self.level, scale, none | {text: labels[normalise(text)] for text in given}, comparable
            )
        for text in words:
            faults.error(texts[text], self._no_number(text))
        different = len(set(numbers.values()))
        if different > MAX_LEVELS:
            faults.error(place, f"holds {different:,} different numbers; at most {MAX_LEVELS:,}: round")
        return Meaning(self.level, tuple(sorted(set(numbers.values()))), none | numbers, comparable)

    def _no_number(self, text: str) -> str:
        if self.decimal_comma and _COMMA.fullmatch(text):
            return f"{quoted(text)} may be a fraction or thousands; write numbers with a decimal point"
        return (
            f"{quoted(text)} is no number; {_remedy(self.level, self.wording)}, or {self.wording.na(text)} "
            'where it means "not applicable"'
        )


def _level(text: str, plain: str, scale: Scale) -> LevelValue | None:
    level = match_level(text, scale)
    if level is None and (number := as_number(plain)) is not None:
        level = match_level(number, scale)
    return level


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
