"""What people added to a workbook since it was written: a pure comparison, the same for every backend.

Terminology:

OWNED
    A cell of a tab that was written by us and does not stand in a column that belongs to people.
FOREIGN
    A tab or cell that a rewrite would lose: not owned with the same content, and not typed into a
    column of people in a row that the rewrite finds again. Blank cells are never foreign.

Rows are compared as a multiset, because people sort and filter; columns by header, because people
drag them. What is *missing* (a deleted row, a cleared cell) is not foreign: a rewrite brings it back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sheetsync.backends.base import Known
from sheetsync.domain.workbook import (
    DateCell,
    ErrorCell,
    FormulaCell,
    Grid,
    RawCell,
    Reading,
    cell_name,
)

Row = tuple[RawCell, ...]
Content = str | float | tuple[str, object] | None
"""A cell as compared: see `_content`."""


def foreign_cells(reading: Reading, known: Known) -> list[str]:
    """Return the tabs and cells of `reading` that are not in `known`, as `tab 'Mine'` or `Results!H7`.

    >>> known = Known([Grid("T", (("Code", "Note"), ("a", None)))], {"T": ["Note"]})
    >>> foreign_cells(Reading((Grid("T", (("Code", "Note"), ("a", "kept"))),)), known)
    []
    >>> foreign_cells(Reading((Grid("T", (("Code", "Note"), ("b", None, "mine"))), Grid("U", ()))), known)
    ['T!C2', 'T!A2', "tab 'U'"]
    """
    ours = Reading(tuple(known.tabs))
    people = {_header(title): headers for title, headers in known.people_columns.items()}
    found: list[str] = []
    for grid in reading.tabs:
        written = ours.tab(grid.title)
        if written is None:
            found.append(f"tab {grid.title!r}")
        else:
            columns = {_header(name) for name in people.get(_header(grid.title), ())}
            found += [f"{grid.title}!{cell_name(*place)}" for place in _compare(grid, written, columns)]
    return found


@dataclass(frozen=True)
class _Columns:
    """How the columns of a grid lie now: `owned[i]` is where the i-th owned column stands (None: gone)."""

    owned: tuple[int | None, ...]
    written: tuple[int, ...]
    people: frozenset[int]
    unknown: frozenset[int]


def _compare(grid: Grid, written: Grid, people: set[str]) -> Iterator[tuple[int, int]]:
    columns = _locate(grid, written, people)
    for number, row in enumerate(grid.rows):
        for column in sorted(columns.unknown):
            if _content(_at(row, column)) is not None:
                yield number, column
    spare = Counter(_contents(row, columns.written) for row in written.rows[1:])
    left: list[tuple[int, Row]] = []
    for number, row in enumerate(grid.rows[1:], start=1):
        contents = _contents(row, columns.owned)
        if spare[contents] > 0:
            spare[contents] -= 1
        else:
            left.append((number, row))
    yield from _header_cells(grid, written, columns)
    for number, row in left:
        yield from ((number, column) for column in _row_cells(row, columns, spare))


def _header_cells(grid: Grid, written: Grid, columns: _Columns) -> Iterator[tuple[int, int]]:
    """Yield the cells of the first row that are not the same text as written."""
    first = grid.rows[0] if grid.rows else ()
    headers = {_header(value) for value in (written.rows[0] if written.rows else ())} | {""}
    for column, value in enumerate(first):
        if column not in columns.unknown and _header(value) not in headers:
            yield 0, column


def _row_cells(row: Row, columns: _Columns, spare: Counter[tuple[Content, ...]]) -> list[int]:
    """Return the columns of foreign cells in a row that is not as written; uses up its best match."""
    contents = _contents(row, columns.owned)
    if all(content is None for content in contents):
        # Nothing says which unit this row is about, so a rewrite cannot carry over what people typed.
        return [column for column in sorted(columns.people) if _content(_at(row, column)) is not None]
    match = max(
        (kept for kept, count in spare.items() if count > 0),
        key=lambda kept: _alike(kept, contents),
        default=(),
    )
    if match and _alike(match, contents) > 0:
        spare[match] -= 1
    else:
        match = (None,) * len(contents)
    return [
        column
        for column, content, kept in zip(columns.owned, contents, match, strict=True)
        if column is not None and content is not None and content != kept
    ]


def _alike(one: Sequence[Content], other: Sequence[Content]) -> int:
    return sum(a == b for a, b in zip(one, other, strict=True) if a is not None)


def _locate(grid: Grid, written: Grid, people: set[str]) -> _Columns:
    """Find each written column in the grid: by header, else at its old place if nobody else is there."""
    ours = [_header(value) for value in _padded(written)]
    now = [_header(value) for value in _padded(grid)]
    place: dict[int, int] = {}
    free = set(range(len(now)))
    same_place = [i for i in range(len(ours)) if i < len(now) and now[i] == ours[i]]
    for i in same_place:
        place[i] = i
        free.discard(i)
    for i, header in enumerate(ours):
        if i not in place and header:
            match = next((j for j in sorted(free) if now[j] == header), None)
            if match is not None:
                place[i] = match
                free.discard(match)
    for i in range(len(ours)):
        if i not in place and i in free:
            place[i] = i
            free.discard(i)
    owned = [i for i, header in enumerate(ours) if header not in people]
    return _Columns(
        tuple(place.get(i) for i in owned),
        tuple(owned),
        frozenset(place[i] for i, header in enumerate(ours) if header in people and i in place),
        frozenset(free),
    )


def _padded(grid: Grid) -> Row:
    """Return the first row, as long as the longest one."""
    width = max((len(row) for row in grid.rows), default=0)
    first = grid.rows[0] if grid.rows else ()
    return first + (None,) * (width - len(first))


def _contents(row: Row, columns: Sequence[int | None]) -> tuple[Content, ...]:
    return tuple(None if column is None else _content(_at(row, column)) for column in columns)


def _at(row: Row, column: int) -> RawCell:
    return row[column] if column < len(row) else None


def _content(value: RawCell) -> Content:
    """Return what counts of a cell: line ends, number types and formats do not, nor a formula's result."""
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, DateCell):
        value = value.serial
    if isinstance(value, int | float):
        return float(f"{value:.12g}")
    if isinstance(value, FormulaCell):
        return ("formula", True)
    if isinstance(value, ErrorCell):
        return ("error", value.text)
    return value.replace("\r\n", "\n").replace("\r", "\n") if value else None


def _header(value: RawCell) -> str:
    return " ".join(str(value).split()).casefold() if isinstance(value, str | int | float) else ""
