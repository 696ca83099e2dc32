"""A rater's rows in the order of the sheet: runs of equal rows, and units with equal rows from two raters.

Raters get their rows in a random order of their own. If what stands in a row depends on the response
only, every order of the same rows is equally likely; so the number of runs to expect can be
counted, from the rater's own rows, and without any assumption about how anybody scores. By Markov's
inequality the chance to meet one as long is at most that number. All of it says what would be rare,
and nothing about why it happened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, groupby

MIN_LENGTH = 5
"""Shorter runs and blocks are never worth a look."""

MIN_ROWS = 10
"""With fewer rows in common two sheets are not called equal."""

RowValues = tuple[Hashable, ...]


@dataclass(frozen=True)
class SheetRows:
    """The rows of one workbook in the order in which it was issued.

    Attributes:
        rater, batch: whose workbook.
        codes: the units.
        values: per row one value per dimension; None where nothing in force stands in this workbook.
    """

    rater: str
    batch: str
    codes: tuple[str, ...]
    values: tuple[RowValues, ...]

    @cached_property
    def whole(self) -> tuple[RowValues | None, ...]:
        """The rows that are whole; None for one that lacks a value."""
        return tuple(None if None in row else row for row in self.values)


@dataclass(frozen=True)
class Run:
    """The longest run of equal rows in one sheet, or of one value of one dimension; blanks are skipped.

    Attributes:
        rater, batch: whose sheet.
        dimension: position in the rubric; None for whole rows.
        n: rows looked at.
        length: rows of the run.
        first, last: where it starts and ends, counting the rows of the sheet from 1.
        repeated: what stands in them.
        usual: the longest run that at least half a sheet in random order would show.
        expected: runs at least as long that a random order of the same rows would show on average.
    """

    rater: str
    batch: str
    dimension: int | None
    n: int
    length: int
    first: int
    last: int
    repeated: RowValues
    usual: int
    expected: float


@dataclass(frozen=True)
class EqualRows:
    """How many of the units that two raters both scored in full have the same values throughout."""

    raters: tuple[str, str]
    n: int
    equal: int


def longest_runs(sheet: SheetRows) -> list[Run]:
    """Return the longest run of whole rows, and of values per dimension; none where nothing is rated."""
    n_dimensions = len(sheet.values[0]) if sheet.values else 0
    columns: list[tuple[int | None, Sequence[RowValues | None]]] = []
    if n_dimensions > 1:
        columns.append((None, sheet.whole))
    columns += [
        (at, [None if row[at] is None else (row[at],) for row in sheet.values]) for at in range(n_dimensions)
    ]
    return [run for at, rows in columns if (run := _longest_run(sheet, at, rows)) is not None]


def _longest_run(sheet: SheetRows, dimension: int | None, rows: Sequence[RowValues | None]) -> Run | None:
    rated = [(at, row) for at, row in enumerate(rows, 1) if row is not None]
    if not rated:
        return None
    runs = [list(group) for _, group in groupby(rated, key=lambda each: each[1])]
    longest = max(runs, key=len)
    counts = Counter(row for _, row in rated).values()
    return Run(
        sheet.rater,
        sheet.batch,
        dimension,
        len(rated),
        len(longest),
        longest[0][0],
        longest[-1][0],
        longest[0][1],
        usual=usual_run(counts),
        expected=expected_runs(counts, len(longest)),
    )


def expected_runs(counts: Iterable[int], length: int) -> float:
    """Return how many runs of at least this length a random order of rows shows on average.

    Args:
        counts: how often each kind of row occurs.
        length: of the runs.

    Two equal rows and one other: of the three orders two show the run.

    >>> round(expected_runs([2, 1], 2), 3)
    0.667
    """
    counts = list(counts)
    n = sum(counts)
    total = 0.0
    for count in counts:
        if count < length:
            continue
        at_start = after_other = 1.0
        for k in range(length):
            at_start *= (count - k) / (n - k)
            after_other *= (count - k) / (n - 1 - k) if n - 1 - k else 0.0
        total += at_start + (n - length) * (n - count) / n * after_other
    return total


def usual_run(counts: Iterable[int]) -> int:
    """Return the greatest length of which a random order shows half a run or more on average."""
    counts = list(counts)
    # The longer, the fewer: the border is found by halving.
    low, high = 1, max(counts, default=1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if expected_runs(counts, middle) >= 0.5 else (low, middle - 1)
    return low


def equal_rows(rows_of: Mapping[str, Mapping[str, RowValues]]) -> list[EqualRows]:
    """Return for every two raters how many of their common units have the same values throughout.

    Args:
        rows_of: per rater and unit the values in force, whole rows only.
    """
    found = []
    for first, second in combinations(rows_of, 2):
        common = rows_of[first].keys() & rows_of[second].keys()
        equal = sum(rows_of[first][code] == rows_of[second][code] for code in common)
        found.append(EqualRows((first, second), len(common), equal))
    return found
