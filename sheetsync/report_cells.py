"""Cells and tables of the report: what they show, and the full precision they carry for machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from sheetsync.domain.agreement.coefficients import Coefficient
from sheetsync.domain.agreement.verdicts import REASON_WORDS, BandSet, describe_band, interval_reason_words
from sheetsync.domain.cells import show
from sheetsync.domain.number_words import NumberStyle, shown_alpha, shown_limits, shown_number
from sheetsync.domain.study import LevelValue
from sheetsync.domain.summary.cells import shown_band
from sheetsync.domain.workbook import Cell
from sheetsync.report_figures import Strip

Kind = Literal["text", "long", "code", "number", "note", "good", "fair", "poor", "plot"]


@dataclass(frozen=True, slots=True)
class Shown:
    """One cell: its text, how it is set, and its `data-` attributes."""

    text: str
    kind: Kind = "text"
    data: Mapping[str, str] = field(default_factory=dict)
    strip: Strip | None = None


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column; `id` names it for machines."""

    id: str
    title: str
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row; the first cell is its header, `key` names it for machines."""

    key: str
    cells: tuple[Shown, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its caption."""

    id: str
    caption: str
    columns: tuple[TableColumn, ...]
    rows: tuple[TableRow, ...]

    @property
    def is_long(self) -> bool:
        """Whether it scrolls inside a box of its own on a screen."""
        return len(self.rows) > 30


def columns(*titles: str) -> tuple[TableColumn, ...]:
    """Return columns from titles; one that starts with `#` holds numbers.

    >>> columns("#Mean difference")
    (TableColumn(id='mean-difference', title='Mean difference', numeric=True),)
    """
    return tuple(
        TableColumn(title.lower().replace(" ", "-"), title, numeric)
        for title, numeric in ((each.removeprefix("#"), each.startswith("#")) for each in titles)
    )


def text(value: object, kind: Kind = "text") -> Shown:
    """Return a text cell; None is empty."""
    return Shown("" if value is None else str(value), kind)


def level(value: LevelValue | None) -> Shown:
    """Return a level, N/A, or an empty cell."""
    return Shown("", "code") if value is None else Shown(show(value), "code", {"value": show(value)})


def count(value: int, total: int = 0) -> Shown:
    """Return a count, with its share of `total` where there is one."""
    share = f" ({value / total:.0%})" if total else ""
    return Shown(f"{value:,}{share}", "number", {"value": str(value)})


def number(value: float | None, style: NumberStyle = "number") -> Shown:
    """Return a number, or an empty cell."""
    if value is None:
        return Shown("", "number")
    return Shown(shown_number(value, style), "number", {"value": repr(float(value))})


def fraction(value: float | None) -> Shown:
    """Return a number between 0 and 1 that is often small, or an empty cell."""
    return (
        number(None)
        if value is None
        else Shown(shown_number(value, digits=3), "number", {"value": repr(value)})
    )


def coefficient(found: Coefficient | None, style: NumberStyle = "number") -> Shown:
    """Return the value of a coefficient, or in words why there is none."""
    if found is None:
        return Shown("not computed", "note")
    if found.value is None:
        return Shown(reason_words(found.reason), "note", {"reason": found.reason or ""})
    return Shown(shown_number(found.value, style), "number", _precise(found))


def alpha(found: Coefficient, bands: BandSet) -> Shown:
    """Return alpha, or in words why there is none."""
    if found.value is None:
        return coefficient(found)
    return Shown(shown_alpha(found.value, bands), "number", _precise(found))


def interval(found: Coefficient, *, with_method: bool = False) -> Shown:
    """Return the interval of a coefficient, or in words why there is none."""
    if found.low is None or found.high is None:
        reason = found.interval_reason if found.value is not None else None
        return Shown(interval_reason_words(reason), "note", {"reason": reason} if reason else {})
    limits = shown_limits(found.low, found.high)
    method = f" ({found.confidence or 0:.0%}, {method_words(found.method)})" if with_method else ""
    return Shown(limits + method, "number", {"low": repr(found.low), "high": repr(found.high)})


def band(name: str | None) -> Shown:
    """Return a band in words and in its colour."""
    cell = shown_band(name)
    if not isinstance(cell, Cell) or name is None:
        return Shown("", "note")
    kinds: Mapping[str, Kind] = {"good": "good", "fair": "fair", "poor": "poor"}
    return Shown(describe_band(name), kinds.get(cell.style, "text"), {"value": name})


def reason_words(reason: str | None) -> str:
    """Return why something is missing, as people read it."""
    return REASON_WORDS.get(reason or "", reason or "")


def method_words(method: str | None) -> str:
    """Return the name of an interval method as it is printed."""
    return {"bca": "BCa", "f": "F"}.get(method or "", method or "")


def listed_values(values: Mapping[str, LevelValue]) -> Shown:
    """Return who gave what, in one cell."""
    words = ", ".join(f"{rater}\u00a0{show(value)}" for rater, value in values.items())
    return Shown(words, "code", {"value": words})


def rows_of(pairs: Sequence[tuple[str, Sequence[Shown]]]) -> tuple[TableRow, ...]:
    """Return table rows from keys and cells."""
    return tuple(TableRow(key, tuple(cells)) for key, cells in pairs)


def without_empty(table: Table, column: str) -> Table:
    """Return the table without a column (by its id) that is empty in every row."""
    at = [each.id for each in table.columns].index(column)
    if any(row.cells[at].text for row in table.rows):
        return table
    rows = tuple(replace(row, cells=row.cells[:at] + row.cells[at + 1 :]) for row in table.rows)
    return replace(table, columns=table.columns[:at] + table.columns[at + 1 :], rows=rows)


def _precise(found: Coefficient) -> dict[str, str]:
    data = {"value": repr(found.value)}
    if found.low is not None and found.high is not None:
        data |= {"low": repr(found.low), "high": repr(found.high)}
    return data
