"""A table of ratings, one row each, as arrays.

A million rows hold few different texts. So every column is an array of indexes into its distinct
texts, and what a text means is decided once.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sheetsync.domain.agreement.statistic import IntArray


@dataclass(frozen=True, eq=False)
class Column:
    """One column: the distinct texts, without outer blanks, and which of them stands in each row."""

    texts: tuple[str, ...]
    codes: IntArray

    @classmethod
    def of(cls, found: Sequence[str], codes: IntArray) -> Column:
        """Make a column of texts as they were found; a code of -1 is a blank."""
        builder = ColumnBuilder()
        builder.add([*found, ""])
        texts = builder.column()
        return cls(texts.texts, texts.codes[codes])

    def where(self, keep: IntArray) -> Column:
        """Return some of the rows, by their numbers."""
        return Column(self.texts, self.codes[keep])

    def text(self, row: int) -> str:
        """Return what stands in a row."""
        return self.texts[int(self.codes[row])]

    def blanks(self) -> IntArray:
        """Return the rows in which nothing stands."""
        return self.rows_of("")

    def rows_of(self, text: str) -> IntArray:
        """Return the rows in which a text stands."""
        return np.flatnonzero(self.codes == self.texts.index(text)) if text in self.texts else _NONE

    def used(self) -> list[str]:
        """Return the texts that stand in any row, sorted."""
        return sorted(self.texts[at] for at in np.flatnonzero(np.bincount(self.codes)))

    def index_along(self, order: Sequence[str]) -> IntArray:
        """Return for each row the place of its text in `order`, -1 where it is not in it."""
        place = {text: at for at, text in enumerate(order)}
        return np.array([place.get(text, -1) for text in self.texts], dtype=np.int64)[self.codes]


_NONE: IntArray = np.zeros(0, dtype=np.int64)


class ColumnBuilder:
    """Gathers a column block by block.

    >>> builder = ColumnBuilder()
    >>> builder.add(["a", " b", "a "])
    >>> builder.column().texts, builder.column().codes.tolist()
    (('a', 'b'), [0, 1, 0])
    """

    def __init__(self) -> None:
        self._known = _Known()
        self._blocks: list[IntArray] = []

    def add(self, texts: Sequence[str]) -> None:
        """Append the texts of further rows."""
        # A dict's own look-up, called by `map`, is what makes a million cells take a fraction of a second.
        found = map(self._known.__getitem__, texts)
        self._blocks.append(np.fromiter(found, dtype=np.int64, count=len(texts)))

    def add_repeated(self, text: str, times: int) -> None:
        """Append the same text for several rows."""
        self._blocks.append(np.full(times, self._known[text], dtype=np.int64))

    def column(self) -> Column:
        """Return everything that was added."""
        return Column(tuple(self._known.texts), np.concatenate([_NONE, *self._blocks]))


class _Known(dict[str, int]):
    """Text as it stands in a cell -> index of the trimmed text; asked for a new one, it numbers it."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[str, int] = {}

    def __missing__(self, found: str) -> int:
        code = self.texts.setdefault(found.strip(), len(self.texts))
        self[found] = code
        return code


@dataclass(frozen=True, eq=False)
class RatingsTable:
    """Ratings, one row each.

    Attributes:
        units, raters, values: what was rated by whom and how, as texts; a blank value is no rating.
        dimensions: on which dimension; None where the table has one only.
        slices: by header, the value of columns to slice by.
        numbers: number of the line or row that each rating stands in; equal for those of a wide row.
    """

    units: Column
    raters: Column
    values: Column
    dimensions: Column | None
    slices: Mapping[str, Column]
    numbers: IntArray

    @classmethod
    def numbered(
        cls,
        columns: Mapping[str, Column],
        slices: Mapping[str, Column],
    ) -> RatingsTable:
        """Return a table of columns by name (`unit`, `rater`, `value`, `dimension`); rows count from 0."""
        units = columns["unit"]
        return cls(
            units,
            columns.get("rater", units),
            columns.get("value", units),
            columns.get("dimension"),
            slices,
            np.arange(len(units.codes)),
        )

    def __len__(self) -> int:
        return len(self.numbers)

    def where(self, keep: IntArray) -> RatingsTable:
        """Return some of the rows, by their numbers."""
        return RatingsTable(
            self.units.where(keep),
            self.raters.where(keep),
            self.values.where(keep),
            self.dimensions and self.dimensions.where(keep),
            {by: column.where(keep) for by, column in self.slices.items()},
            self.numbers[keep],
        )

    def in_order(self) -> RatingsTable:
        """Return the rows in the order of their numbers."""
        if bool((np.diff(self.numbers) >= 0).all()):
            return self
        return self.where(np.argsort(self.numbers, kind="stable"))

    def without(self, rows: Sequence[IntArray]) -> RatingsTable:
        """Return the table without some lists of rows."""
        out = np.concatenate([_NONE, *rows])
        return self.where(np.setdiff1d(np.arange(len(self)), out)) if len(out) else self

    def by_dimension(self, unnamed: str) -> Iterator[tuple[str, RatingsTable]]:
        """Yield each dimension by name; a table without that column is one, also without a row."""
        if self.dimensions is None:
            yield unnamed, self
            return
        index = self.dimensions.index_along(names := self.dimensions.used())
        small = len(names) < 2**15  # numpy sorts short integers several times as fast
        rows = np.argsort(index.astype(np.int16) if small else index, kind="stable")
        borders = np.searchsorted(index[rows], np.arange(len(names) + 1))
        for at, name in enumerate(names):
            yield name, self.where(rows[borders[at] : borders[at + 1]])

    def by_rater(self) -> Iterator[tuple[str, RatingsTable]]:
        """Yield the rows of each rater."""
        for rater in self.raters.used():
            yield rater, self.where(self.raters.rows_of(rater))

    def rows_without(self, known: Container[str]) -> list[int]:
        """Return the rows that hold a value other than those known."""
        strange = np.array([bool(text) and text not in known for text in self.values.texts], dtype=bool)
        rows: list[int] = np.flatnonzero(strange[self.values.codes]).tolist()
        return rows

    def first_rows(self) -> dict[str, int]:
        """Return each value that stands in the table, in that order, with its first row; no blank."""
        first = np.full(len(self.values.texts), len(self), dtype=np.int64)
        first[self.values.codes[::-1]] = np.arange(len(self))[::-1]  # of several, the last one stays
        rows = {text: row for text, row in zip(self.values.texts, first.tolist(), strict=True) if text}
        return dict(sorted(((t, row) for t, row in rows.items() if row < len(self)), key=lambda of: of[1]))


class TableBuilder:
    """Gathers a table of ratings block by block; `slices` are the headers of columns to slice by."""

    def __init__(self, slices: Sequence[str], *, has_dimensions: bool) -> None:
        self._units, self._raters, self._values = ColumnBuilder(), ColumnBuilder(), ColumnBuilder()
        self._dimensions = ColumnBuilder() if has_dimensions else None
        self._slices = {by: ColumnBuilder() for by in slices}
        self._numbers: list[IntArray] = []

    def add(
        self,
        numbers: Sequence[int],
        keys: Mapping[str, Sequence[str]],
        raters: Sequence[str] | str,
        values: Sequence[str],
    ) -> None:
        """Append rows.

        Args:
            numbers: the number of each row.
            keys: the other columns: `unit`, `dimension` where there is one, and slices by header.
            raters: who rated, per row or once for all of them.
            values: what they said.
        """
        self._numbers.append(np.array(numbers, dtype=np.int64))
        self._units.add(keys["unit"])
        self._values.add(values)
        if isinstance(raters, str):
            self._raters.add_repeated(raters, len(values))
        else:
            self._raters.add(raters)
        if self._dimensions is not None:
            self._dimensions.add(keys["dimension"])
        for by, builder in self._slices.items():
            builder.add(keys[by])

    def build(self) -> RatingsTable:
        """Return everything that was added, in the order of the numbers."""
        return RatingsTable(
            self._units.column(),
            self._raters.column(),
            self._values.column(),
            self._dimensions.column() if self._dimensions is not None else None,
            {by: builder.column() for by, builder in self._slices.items()},
            np.concatenate([_NONE, *self._numbers]),
        ).in_order()


def unpivot(keys: RatingsTable, raters: Mapping[str, Column]) -> RatingsTable:
    """Return a wide table in long form: every row of `keys` once per rater, in the order of rows.

    Args:
        keys: units, dimensions, slices and numbers; its raters and values mean nothing.
        raters: the column of each.
    """
    texts = {text: at for at, text in enumerate(dict.fromkeys(t for c in raters.values() for t in c.texts))}
    found = [np.array([texts[t] for t in c.texts], dtype=np.int64)[c.codes] for c in raters.values()]
    n, width = len(keys), len(raters)
    long = keys.where(np.repeat(np.arange(n), width))
    values = np.array(found, dtype=np.int64).reshape(width, n).T.ravel()
    return replace(
        long,
        raters=Column(tuple(raters), np.tile(np.arange(width), n)),
        values=Column(tuple(texts), values),
    )
