"""Conditions on one row, each said twice by one source: in Python and as a spreadsheet formula.

A predicate knows two things: whether it holds for cells that were read (`holds`), and the formula that
says the same (`formula`). Formulas use plain functions that Excel 2010, LibreOffice and Google Sheets all
have, refer to cells of their own row and to named word lists only, and never to a position that sorting
could change.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sheetsync.domain.cells import (
    BLANK,
    NOT_APPLICABLE_SPELLINGS,
    TICKED_SPELLINGS,
    UNTICKED_SPELLINGS,
    CellState,
    level_spellings,
)
from sheetsync.domain.study import Dimension, LevelValue
from sheetsync.domain.workbook import NamedList

CellKey = tuple[str, str]
"""Which input cell of a row: kind ("score", "confidence", "tag", "remark", "sum") and id."""

RowStates = Mapping[CellKey, CellState]

_NBSP = "\u00a0"
_QUOTATION_MARKS = ('"', "“", "„", "«")


def literal(text: str) -> str:
    """Return a text as a formula literal; Excel takes at most 255 characters in one piece.

    >>> print(literal('a "b" c'))
    "a ""b"" c"
    """
    size = 250 if text.isascii() else 125  # an emoji counts twice
    pieces = [text[start : start + size] for start in range(0, len(text), size)] or [""]
    quoted = ['"' + piece.replace('"', '""').replace("{row}", '{ro"&"w}') + '"' for piece in pieces]
    return "&".join(quoted)


@dataclass
class FormulaScope:
    """Where cells stand in the row, and the word lists that the formulas have asked for so far."""

    columns: Mapping[CellKey, str]
    lists: dict[str, NamedList] = field(default_factory=dict)

    def cell(self, key: CellKey) -> str:
        """Return the address of a cell in the formula's own row."""
        return f"${self.columns[key]}{{row}}"

    def text(self, key: CellKey) -> str:
        """Return an expression for what a cell shows, without outer or doubled blanks."""
        return f'TRIM(SUBSTITUTE({self.cell(key)},"{_NBSP}"," "))'

    def says(self, key: CellKey, name: str, words: Sequence[str | float]) -> str:
        """Return a condition: the cell shows one of the words of a named list, in any case.

        Numbers in the list are compared with the cell itself.
        """
        self.lists.setdefault(name, NamedList(name, tuple(words)))
        if all(isinstance(word, str) for word in words):
            return f"SUMPRODUCT(--({name}={self.text(key)}))>0"
        return f"SUMPRODUCT(({name}={self.cell(key)})+({name}={self.text(key)}))>0"


class Predicate(Protocol):
    """A condition on one row."""

    def holds(self, row: RowStates) -> bool:
        """Return whether it holds for cells that were read."""

    def formula(self, scope: FormulaScope) -> str:
        """Return the formula (without `=`) that says the same."""


@dataclass(frozen=True)
class Blank:
    """The cell is empty."""

    key: CellKey

    def holds(self, row: RowStates) -> bool:  # noqa: D102
        return not row.get(self.key, BLANK).is_filled

    def formula(self, scope: FormulaScope) -> str:  # noqa: D102
        return f'{scope.text(self.key)}=""'


@dataclass(frozen=True)
class HasLevel:
    """The score is one of these levels; `list_name` names the word list of just these."""

    key: CellKey
    levels: tuple[LevelValue, ...]
    list_name: str

    def holds(self, row: RowStates) -> bool:  # noqa: D102
        state = row.get(self.key, BLANK)
        return state.status == "value" and state.value in self.levels

    def formula(self, scope: FormulaScope) -> str:  # noqa: D102
        if not self.levels:
            return "FALSE"
        return scope.says(self.key, self.list_name, level_spellings(self.levels))


@dataclass(frozen=True)
class IsNoAnswer:
    """The score cell holds something that is neither a level nor an allowed N/A.

    LibreOffice shows a true or false as 1 or 0 to other functions, so these are asked for by themselves.
    """

    key: CellKey
    dimension: Dimension
    list_name: str

    def holds(self, row: RowStates) -> bool:  # noqa: D102
        return row.get(self.key, BLANK).status == "invalid"

    def formula(self, scope: FormulaScope) -> str:  # noqa: D102
        words = level_spellings(self.dimension.scale)
        if self.dimension.not_applicable:
            words += NOT_APPLICABLE_SPELLINGS
        answers = f"{Blank(self.key).formula(scope)},{scope.says(self.key, self.list_name, words)}"
        return f"OR(ISLOGICAL({scope.cell(self.key)}),NOT(OR({answers})))"


@dataclass(frozen=True)
class IsNotApplicable:
    """The score says N/A."""

    key: CellKey

    def holds(self, row: RowStates) -> bool:  # noqa: D102
        return row.get(self.key, BLANK).status == "not_applicable"

    def formula(self, scope: FormulaScope) -> str:  # noqa: D102
        return scope.says(self.key, "says_na", NOT_APPLICABLE_SPELLINGS)


@dataclass(frozen=True)
class IsTicked:
    """The tag is ticked; in a claim column any text that does not say "no" ticks it."""

    key: CellKey
    claim: bool

    def holds(self, row: RowStates) -> bool:  # noqa: D102
        return row.get(self.key, BLANK).status == "value"

    def formula(self, scope: FormulaScope) -> str:  # noqa: D102
        return f"NOT({_says_no(self.key, scope)})" if self.claim else _says_yes(self.key, scope)


@dataclass(frozen=True)
class IsBareTick:
    """A claim cell is ticked without quoting anything."""

    key: CellKey

    def holds(self, row: RowStates) -> bool:  # noqa: D102
        return row.get(self.key, BLANK).value is True

    def formula(self, scope: FormulaScope) -> str:  # noqa: D102
        return _says_yes(self.key, scope)


@dataclass(frozen=True)
class IsNoTick:
    """A tag cell holds something that is neither yes nor no."""

    key: CellKey

    def holds(self, row: RowStates) -> bool:  # noqa: D102
        return row.get(self.key, BLANK).status == "invalid"

    def formula(self, scope: FormulaScope) -> str:  # noqa: D102
        return f"NOT(OR({_says_yes(self.key, scope)},{_says_no(self.key, scope)}))"


def _says_yes(key: CellKey, scope: FormulaScope) -> str:
    """A checkbox is compared with TRUE itself: its text differs from language to language."""
    return f"OR({scope.cell(key)}=TRUE,{scope.says(key, 'says_yes', TICKED_SPELLINGS)})"


def _says_no(key: CellKey, scope: FormulaScope) -> str:
    says = scope.says(key, "says_no", UNTICKED_SPELLINGS)
    return f"OR({scope.cell(key)}=FALSE,{Blank(key).formula(scope)},{says})"


@dataclass(frozen=True)
class ReadsCell:
    """Never holds; makes the formula look at a cell, so that a spreadsheet error in it is seen."""

    key: CellKey

    def holds(self, row: RowStates) -> bool:  # noqa: ARG002, D102
        return False

    def formula(self, scope: FormulaScope) -> str:  # noqa: D102
        return f"{scope.cell(self.key)}<>{scope.cell(self.key)}"


@dataclass(frozen=True)
class HasQuotation:
    """Some remark holds a quotation mark."""

    keys: tuple[CellKey, ...]

    def holds(self, row: RowStates) -> bool:  # noqa: D102
        texts = [str(row[key].value) for key in self.keys if key in row and row[key].is_filled]
        return any(mark in text for text in texts for mark in _QUOTATION_MARKS)

    def formula(self, scope: FormulaScope) -> str:  # noqa: D102
        if not self.keys:
            return "FALSE"
        cells = [scope.cell(key) for key in self.keys]
        finds = [f"ISNUMBER(FIND({literal(m)},{cell}))" for cell in cells for m in _QUOTATION_MARKS]
        return f"OR({','.join(finds)})"


@dataclass(frozen=True)
class SumDiffers:
    """The computed column does not hold the sum of the scores, though every score is there.

    A score typed as text counts as a score, and the sheet cannot add it up: then the column is blank,
    and the row says so until the score is typed as a number (not even a total typed over the formula
    satisfies the sheet, though it satisfies pull).
    """

    key: CellKey
    scores: tuple[CellKey, ...]
    are_levels: tuple[Predicate, ...]

    def holds(self, row: RowStates) -> bool:  # noqa: D102
        total = sum_of_scores(row, self.scores)
        state = row.get(self.key, BLANK)
        if total is None:
            return False
        value = state.value
        return isinstance(value, bool | str) or value is None or not math.isclose(value, total, rel_tol=1e-12)

    def formula(self, scope: FormulaScope) -> str:  # noqa: D102
        cells = ",".join(scope.cell(key) for key in self.scores)
        differs = f"OR(COUNT({cells})<{len(self.scores)},{scope.cell(self.key)}<>SUM({cells}))"
        return f"AND({','.join(level.formula(scope) for level in self.are_levels)},{differs})"


def sum_of_scores(row: RowStates, scores: Sequence[CellKey]) -> int | float | None:
    """Return the sum of the scores, or None while one of them has no number."""
    values = [row.get(key, BLANK).value for key in scores]
    if any(isinstance(value, bool | str) or value is None for value in values):
        return None
    return sum(value for value in values if isinstance(value, int | float))


@dataclass(frozen=True)
class Not:
    """The condition does not hold."""

    condition: Predicate

    def holds(self, row: RowStates) -> bool:  # noqa: D102
        return not self.condition.holds(row)

    def formula(self, scope: FormulaScope) -> str:  # noqa: D102
        return f"NOT({self.condition.formula(scope)})"


@dataclass(frozen=True)
class AllOf:
    """Every condition holds."""

    conditions: tuple[Predicate, ...]

    def holds(self, row: RowStates) -> bool:  # noqa: D102
        return all(condition.holds(row) for condition in self.conditions)

    def formula(self, scope: FormulaScope) -> str:  # noqa: D102
        parts = [condition.formula(scope) for condition in self.conditions]
        return parts[0] if len(parts) == 1 else f"AND({','.join(parts)})" if parts else "TRUE"


@dataclass(frozen=True)
class AnyOf:
    """At least one condition holds."""

    conditions: tuple[Predicate, ...]

    def holds(self, row: RowStates) -> bool:  # noqa: D102
        return any(condition.holds(row) for condition in self.conditions)

    def formula(self, scope: FormulaScope) -> str:  # noqa: D102
        parts = [condition.formula(scope) for condition in self.conditions]
        return parts[0] if len(parts) == 1 else f"OR({','.join(parts)})" if parts else "FALSE"
