"""Faults in study files: what one is, and how it is put into words."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from sheetsync.domain.workbook import MAX_CELL_CHARACTERS


@dataclass(frozen=True)
class Fault:
    """Something wrong in a study file.

    `where` is the file with the line or key; `message` says what was found, what is allowed and
    what to do. Both are kept to one printable line, whatever the user's file holds.
    """

    where: str
    message: str
    severity: Literal["error", "warning"] = "error"

    def __post_init__(self) -> None:
        object.__setattr__(self, "where", _one_line(self.where))
        object.__setattr__(self, "message", _one_line(self.message))

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


class Faults(list[Fault]):
    """The faults found so far, in the order of finding."""

    def error(self, where: str, message: str) -> None:
        """Add a fault that makes the study unusable."""
        self.append(Fault(where, message))

    def warn(self, where: str, message: str) -> None:
        """Add a fault that the study can live with."""
        self.append(Fault(where, message, "warning"))

    def check_text(self, where: str, text: str, limit: int = MAX_CELL_CHARACTERS) -> None:
        """Add an error where a workbook cannot hold the text."""
        bad = _UNHOLDABLE.search(text)
        if bad:
            self.error(
                where,
                f"holds the character U+{ord(bad[0]):04X} at position {bad.start() + 1}, "
                "which no workbook can hold; delete it",
            )
        if (length := cell_length(text)) > limit:
            self.error(where, f"is {length:,} characters long; at most {limit:,} are allowed: shorten it")


_UNHOLDABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def _one_line(text: str) -> str:
    return "".join(
        char if char.isprintable() else " " if char.isspace() else "\N{REPLACEMENT CHARACTER}"
        for char in text
    )


def cell_length(text: str) -> int:
    """Return the length as spreadsheets count it: characters beyond U+FFFF count twice.

    >>> cell_length("ab"), cell_length("😀")
    (2, 2)
    """
    return len(text) + sum(char > "\uffff" for char in text)


def quoted(value: object) -> str:
    """Return a value as its author would write it, cut to a readable length.

    >>> quoted("Macrina"), quoted(True), quoted(3)
    ('"Macrina"', 'true', '3')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list | tuple):
        return "a list"
    shown = str(value)
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    return f'"{shown}"' if isinstance(value, str) else shown


def listed(words: Iterable[str], last: str = "or") -> str:
    """Return words as a list in prose.

    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b or c', 'a')
    """
    *first, final = words
    return f"{', '.join(first)} {last} {final}" if first else final


def nearest(word: str, known: Iterable[str], similarity: float = 0.6) -> str | None:
    """Return the known word most like this one, whatever its case, or None.

    >>> nearest("Rater", ["raters", "design"]), nearest("zzz", ["raters"])
    ('raters', None)
    """
    by_fold = {name.casefold(): name for name in known}
    found = difflib.get_close_matches(word.casefold()[:100], by_fold, n=1, cutoff=similarity)
    return by_fold[found[0]] if found else None


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown word: the nearest known one, or all of them.

    >>> suggestion("sed", ["seed", "order"]), suggestion("zzz", ["seed", "order"])
    ('did you mean "seed"?', 'known are: seed, order')
    """
    names = list(known)
    if match := nearest(word, names):
        return f'did you mean "{match}"?'
    shown = ", ".join(names[:30]) + (" ..." if len(names) > 30 else "")
    return f"known are: {shown}" if names else "there are none yet"
