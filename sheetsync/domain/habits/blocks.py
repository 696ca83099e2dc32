"""Blocks of rows that stand in two places: of one rater's sheet, or of the sheets of two raters.

What is rare is counted as in `rater_sheets`: every order of a rater's rows is taken to be equally likely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, log

import numpy as np

from sheetsync.domain.agreement.statistic import BoolArray, IntArray
from sheetsync.domain.habits.sheets import MIN_LENGTH, RowValues, SheetRows


@dataclass(frozen=True)
class Block:
    """The longest block of whole rows that stands in two places: of one sheet, or of two raters' sheets.

    A row counts as a match only where the two rows show different units: on the same unit equal rows
    are agreement. Inside one sheet the two places do not overlap, and a run of equal rows is no block.

    Attributes:
        raters, batches: of the two places.
        n: whole rows of the two sheets.
        length: rows of the block.
        starts: where it starts in either sheet, counting from 1.
        expected: blocks at least as long to expect if the first sheet's rows stood in random order.
    """

    raters: tuple[str, str]
    batches: tuple[str, str]
    n: tuple[int, int]
    length: int
    starts: tuple[int, int]
    expected: float


@dataclass(frozen=True)
class NumberedSheet:
    """A sheet whose whole rows are numbered: equal rows have equal numbers, also over sheets; -1 for none."""

    sheet: SheetRows
    numbers: IntArray

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each unit stands, counted from 0."""
        return {code: at for at, code in enumerate(self.sheet.codes)}

    @cached_property
    def counts(self) -> IntArray:
        """How often each number occurs."""
        return np.bincount(self.numbers[self.numbers >= 0], minlength=1)


def number_sheets(sheets: Sequence[SheetRows]) -> list[NumberedSheet]:
    """Return the sheets with their whole rows numbered alike."""
    known: dict[RowValues, int] = {}
    return [
        NumberedSheet(
            sheet,
            np.array(
                [-1 if row is None else known.setdefault(row, len(known)) for row in sheet.whole],
                dtype=np.int64,
            ),
        )
        for sheet in sheets
    ]


def notable_block(first: NumberedSheet, second: NumberedSheet) -> Block | None:
    """Return the longest block, if it has five rows or more and random order would not often show it."""
    n, m = len(first.numbers), len(second.numbers)
    known = min(len(first.counts), len(second.counts))
    rows = max(1, int(first.counts.sum()) * int(second.counts.sum()))
    equal = float((first.counts[:known] * second.counts[:known]).sum()) / rows
    if equal >= 1 or not n * m:
        return None
    # Blocks of this length are expected once, roughly; shorter ones would only fill tables.
    usual = ceil(log(n * m) / -log(equal)) if equal else 0
    return longest_block(first, second, max(MIN_LENGTH, usual))


def longest_block(first: NumberedSheet, second: NumberedSheet, shortest: int) -> Block | None:
    """Return the longest block that stands in both sheets (twice in it, for one and the same sheet).

    None where no block has the `shortest` length.
    """
    same = first is second
    at, other = _equal_windows(first.numbers, second.numbers, shortest)
    keep = other - at >= shortest if same else _on_different_units(first, second, at, other, shortest)
    found = _longest(first.numbers, at[keep], other[keep], shortest, same=same)
    if found is None:
        return None
    length, starts = found
    expected = _expected_repeats(first, length) if same else _expected_shared(first, second, length)
    return Block(
        (first.sheet.rater, second.sheet.rater),
        (first.sheet.batch, second.sheet.batch),
        (int(first.counts.sum()), int(second.counts.sum())),
        length,
        (starts[0] + 1, starts[1] + 1),
        expected,
    )


def _equal_windows(rows: IntArray, others: IntArray, length: int) -> tuple[IntArray, IntArray]:
    """Return the starts of every two stretches of this length that hold the same whole rows."""
    if min(len(rows), len(others)) < length:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    both = [np.lib.stride_tricks.sliding_window_view(each, length) for each in (rows, others)]
    _, kinds = np.unique(np.concatenate(both), axis=0, return_inverse=True)
    mine, theirs = kinds.ravel()[: len(both[0])], kinds.ravel()[len(both[0]) :]
    order = np.argsort(theirs, kind="stable")
    lowest = np.searchsorted(theirs[order], mine, side="left")
    counts = np.searchsorted(theirs[order], mine, side="right") - lowest
    counts[(both[0] < 0).any(axis=1)] = 0
    at = np.repeat(np.arange(len(mine)), counts)
    within = np.arange(len(at)) - np.repeat(np.cumsum(counts) - counts, counts)
    return at, order[np.repeat(lowest, counts) + within]


def _on_different_units(
    first: NumberedSheet, second: NumberedSheet, at: IntArray, other: IntArray, length: int
) -> BoolArray:
    """Return which of the stretches show no unit in the same row."""
    same = np.array([second.places.get(code, -1) for code in first.sheet.codes], dtype=np.int64)
    keep = np.ones(len(at), dtype=bool)
    for row in range(length):
        keep &= same[at + row] != other + row
    return keep


def _longest(
    rows: IntArray, at: IntArray, other: IntArray, window: int, *, same: bool
) -> tuple[int, tuple[int, int]] | None:
    """Join stretches that continue each other; return length and 0-based starts of the longest block."""
    offsets = other - at
    order = np.lexsort((at, offsets))
    at, offsets = at[order], offsets[order]
    breaks = np.flatnonzero((np.diff(at) != 1) | (np.diff(offsets) != 0)) + 1
    firsts = np.concatenate([[0], breaks]) if len(at) else np.zeros(0, dtype=np.int64)
    lengths = np.diff(np.concatenate([firsts, [len(at)]])) + window - 1 if len(at) else firsts
    if same:  # the two places must not overlap, and a run of equal rows is no block
        lengths = np.minimum(lengths, offsets[firsts])
        changes = np.concatenate([[0], np.cumsum(rows[1:] != rows[:-1])])
        varied = changes[at[firsts] + lengths - 1] > changes[at[firsts]]
        firsts, lengths = firsts[varied], lengths[varied]
    if not len(firsts):
        return None
    best = int(lengths.argmax())
    start = int(at[firsts[best]])
    return int(lengths[best]), (start, start + int(offsets[firsts[best]]))


def _expected_shared(first: NumberedSheet, second: NumberedSheet, length: int) -> float:
    """Count, over all places, the chance that rows in random order repeat a stretch of the other sheet."""
    n = int(first.counts.sum())
    stretches = np.lib.stride_tricks.sliding_window_view(second.numbers, length)
    stretches = stretches[(stretches >= 0).all(axis=1)]
    counts = np.zeros(int(max(second.numbers.max(), len(first.counts) - 1)) + 1)
    counts[: len(first.counts)] = first.counts
    chance = np.ones(len(stretches))
    for row in range(length):
        used = (stretches[:, :row] == stretches[:, row : row + 1]).sum(axis=1)
        chance *= np.maximum(counts[stretches[:, row]] - used, 0) / (n - row)
    return float(chance.sum()) * max(n - length + 1, 0)


def _expected_repeats(first: NumberedSheet, length: int) -> float:
    """Count the pairs of places without overlap, times the chance that two rows are equal to the length."""
    n = int(first.counts.sum())
    equal = float((first.counts * (first.counts - 1)).sum()) / (n * (n - 1))
    places = max(n - 2 * length + 1, 0)
    return float(places * (places + 1) / 2 * equal**length)
