"""A DataFrame -> a table of ratings, as texts like those of a file, and the scale of its categories."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, cast

import pandas as pd

from sheetsync.config_faults import Faults, listed, quoted
from sheetsync.domain.agreement.ratings_table import Column, ColumnBuilder, RatingsTable, unpivot
from sheetsync.domain.cells import show
from sheetsync.services.ratings_columns import without_gaps
from sheetsync.services.ratings_scale import text_of_number
from sheetsync.services.ratings_source import Source

_SHOWN = 12


@dataclass(frozen=True)
class FrameColumns:
    """Which columns hold what; `rater` and `value` do not count in a wide frame."""

    unit: Hashable
    rater: Hashable
    value: Hashable
    dimension: Hashable | None
    by: Sequence[Hashable]
    wide: bool


@dataclass(frozen=True)
class FrameRatings:
    """What a frame holds: the ratings, what its rows are called, and its categories from low to high."""

    table: RatingsTable
    source: Source
    categories: Sequence[str] | None


def read_frame(
    frame: pd.DataFrame, columns: FrameColumns, *, nominal: bool, faults: Faults
) -> FrameRatings | None:
    """Read a frame; None where its columns are not those that were named.

    Args:
        frame: the ratings; an index with names counts as columns.
        columns: which column holds what.
        nominal: whether categories without an order are a scale.
        faults: collects what is wrong.
    """
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    raters = _find_raters(frame, columns, faults)
    if raters is None:
        return None
    source = Source("", "row", labels=cast("Sequence[object]", frame.index))
    keys = {"unit": columns.unit, "dimension": columns.dimension}
    if not columns.wide:
        keys |= {"rater": columns.rater, "value": columns.value}
    found = {word: _column(frame[name]) for word, name in keys.items() if name is not None}
    table = RatingsTable.numbered(found, {str(name).strip(): _column(frame[name]) for name in columns.by})
    valued = [columns.value]
    if columns.wide:
        table = unpivot(table, {str(name).strip(): _column(frame[name]) for name in raters})
        valued = list(raters)
    for name in valued:
        _refuse_lists(frame[name], source, faults)
    misfits: list[tuple[int, str]] = []
    table = without_gaps(table, source.word, misfits)
    for number, message in misfits:
        faults.error(source.row(number), message)
    return FrameRatings(table, source, _categories([frame[name] for name in valued], nominal, faults))


def _find_raters(frame: pd.DataFrame, columns: FrameColumns, faults: Faults) -> list[Hashable] | None:
    """Check the columns, and return those of raters in a wide frame."""
    before = len(faults)
    there: list[Hashable] = list(frame.columns)
    required = [columns.unit] if columns.wide else [columns.unit, columns.rater, columns.value]
    optional = [columns.dimension] if columns.dimension is not None else []
    taken = [*required, *optional, *columns.by]
    others = [name for name in there if name not in taken]
    absent = columns.unit in there and not {columns.rater, columns.value} & set(there)
    if not columns.wide and absent and len(others) > 1:
        faults.error(
            "data",
            f"has no columns {columns.rater} and {columns.value}, but {_named(others)}: where each of these is "
            "a rater, add wide=True",
        )
        return None
    if columns.wide and {columns.rater, columns.value} <= set(others):
        faults.error(
            "data", f"has the columns {columns.rater} and {columns.value}: it is long; leave out wide=True"
        )
        return None
    for name in dict.fromkeys(taken):
        if name not in there:
            faults.error("data", f"has no column {quoted(name)}, but {_named(there)}")
    for name in dict.fromkeys(name for name in taken if there.count(name) > 1):
        faults.error("data", f"has the column {quoted(name)} {there.count(name)} times; keep one")
    names = [str(name).strip() for name in others] if columns.wide else []
    for shown in [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        faults.error("data", f"has several columns called {quoted(shown)}; keep one")
    if columns.wide and not others:
        faults.error("data", f"has no column for a rater, but {_named(there)}")
    return others if len(faults) == before else None


def _named(names: Sequence[Hashable]) -> str:
    shown = [quoted(name) for name in names[:_SHOWN]] or ["no columns"]
    more = len(names) - _SHOWN
    return listed([*shown, f"{more} more"] if more > 0 else shown, "and")


def _column(series: pd.Series[Any]) -> Column:
    """Return a column as texts; the same as if the frame had been written to a file."""
    if series.dtype == object:
        # Here 1, 1.0 and True may stand side by side, which counting distinct values would take for one.
        builder = ColumnBuilder()
        builder.add([text_of(value) for value in series.tolist()])
        return builder.column()
    codes, found = pd.factorize(series)
    return Column.of([text_of(value) for value in pd.Index(found).to_numpy()], codes)


def text_of(value: object) -> str:
    """Return a value as a ratings file holds it; what pandas takes for missing is blank.

    >>> text_of(4.0), text_of(None), text_of(True), text_of(" high")
    ('4', '', 'TRUE', ' high')
    """
    if isinstance(value, str):
        return value
    if _is_missing(value):
        return ""
    if pd.api.types.is_bool(value):
        return show(bool(value))
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real) and abs(number := float(str(value))) < float("inf"):
        return text_of_number(number)
    return str(value)


def _is_missing(value: Any) -> bool:
    return value is None or (pd.api.types.is_scalar(value) and bool(pd.isna(value)))


def _refuse_lists(series: pd.Series[Any], source: Source, faults: Faults) -> None:
    """Several labels in one cell are no rating: in which order would they stand?"""
    if series.dtype != object:
        return
    for row, value in enumerate(series.tolist()):
        if not pd.api.types.is_scalar(value):
            faults.error(
                source.row(row),
                f"holds a {type(value).__name__} in column {quoted(series.name)}; give every label a dimension "
                "of its own, with yes or no as its value",
            )


def _categories(columns: Sequence[pd.Series[Any]], nominal: bool, faults: Faults) -> list[str] | None:
    """Return the categories that all columns declare; without an order they are a nominal scale only."""
    declared: Mapping[tuple[str, ...], None] = {}
    types = [series.dtype for series in columns]
    given = [t for t in types if isinstance(t, pd.CategoricalDtype) and (t.ordered or nominal)]
    declared = dict.fromkeys(tuple(map(text_of, each.categories)) for each in given)
    if len(declared) > 1:
        shown = [", ".join(categories) for categories in declared]
        faults.error(
            "data", f"has columns with different categories ({'; '.join(shown)}); give them the same"
        )
        return None
    return list(next(iter(declared))) if declared else None
