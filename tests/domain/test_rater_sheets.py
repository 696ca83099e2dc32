"""Runs, blocks and equal sheets, against counting by hand and over every order."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import groupby, permutations
from math import factorial

import pytest

from sheetsync.domain.habits.blocks import Block, longest_block, notable_block, number_sheets
from sheetsync.domain.habits.sheets import (
    RowValues,
    SheetRows,
    equal_rows,
    expected_runs,
    longest_runs,
    usual_run,
)


def sheet(rater: str, rows: Sequence[RowValues], codes: Sequence[str] | None = None) -> SheetRows:
    """Return a sheet; units have names of their own unless `codes` says which they are."""
    names = codes if codes is not None else [f"{rater}{at}" for at in range(len(rows))]
    return SheetRows(rater, "main", tuple(names), tuple(rows))


def ones(text: str) -> list[RowValues]:
    """Return rows of one dimension from letters; `-` is a blank."""
    return [(None if letter == "-" else letter,) for letter in text]


def block_of(first: SheetRows, second: SheetRows | None = None, shortest: int = 1) -> Block | None:
    """Return the longest block between two sheets, or within one."""
    numbered = number_sheets([first] if second is None else [first, second])
    return longest_block(numbered[0], numbered[-1], shortest)


# --- runs ---


def test_the_longest_run_of_rows_and_of_each_dimension() -> None:
    rows: list[RowValues] = [(5, 4), (5, 5), (5, 5), (None, 5), (5, 5), (5, 4), (3, 4), (4, None)]
    whole, first, second = longest_runs(sheet("A", rows))
    # The blank in row 4 is skipped: rows 2, 3 and 5 follow each other.
    assert (whole.dimension, whole.n, whole.length, whole.first, whole.last) == (None, 6, 3, 2, 5)
    assert whole.repeated == (5, 5)
    assert (first.dimension, first.n, first.length, first.first, first.last) == (0, 7, 5, 1, 6)
    assert (second.dimension, second.n, second.length, second.repeated) == (1, 7, 4, (5,))


def test_nothing_rated_has_no_run() -> None:
    assert longest_runs(sheet("A", [(None, None)])) == []
    assert longest_runs(sheet("A", [])) == []


@pytest.mark.parametrize("letters", ["aab", "aaab", "aabbc", "aaaabb", "aaaaaa", "abcdef"])
def test_expected_runs_are_those_of_every_order(letters: str) -> None:
    counts = Counter(letters).values()
    for length in range(1, len(letters) + 1):
        found = sum(
            sum(len(list(run)) >= length for _, run in groupby(order)) for order in permutations(letters)
        )
        assert expected_runs(counts, length) == pytest.approx(found / factorial(len(letters)))


def test_a_usual_run_is_the_longest_that_half_the_orders_show() -> None:
    assert usual_run([1, 1, 1]) == 1
    assert usual_run([6]) == 6
    counts = [169, 26, 12, 3]  # the most skewed sheet of a first round
    rng = random.Random(1)
    values = [value for value, count in enumerate(counts) for _ in range(count)]
    longest = []
    for _ in range(400):
        rng.shuffle(values)
        longest.append(max(len(list(run)) for _, run in groupby(values)))
    median = sorted(longest)[200]
    assert abs(usual_run(counts) - median) <= 2


# --- blocks ---


def brute_block(first: str, second: str, *, same: bool) -> int:
    best = 0
    for a in range(len(first)):
        for b in range(a + 1 if same else 0, len(second)):
            length = 0
            while (
                a + length < (b if same else len(first))
                and b + length < len(second)
                and first[a + length] == second[b + length] != "-"
            ):
                length += 1
            if not same or len(set(first[a : a + length])) > 1:
                best = max(best, length)
    return best


@pytest.mark.parametrize("seed", range(40))
def test_the_longest_block_between_two_sheets(seed: int) -> None:
    rng = random.Random(seed)
    first, second = ("".join(rng.choice("aab-c") for _ in range(rng.randint(1, 30))) for _ in range(2))
    found = block_of(sheet("A", ones(first)), sheet("B", ones(second)))
    length = brute_block(first, second, same=False)
    assert (found.length if found else 0) == length
    assert block_of(sheet("A", ones(first)), sheet("B", ones(second)), length + 1) is None
    if found:
        assert block_of(sheet("A", ones(first)), sheet("B", ones(second)), length) == found
        one, two = (start - 1 for start in found.starts)
        assert first[one : one + length] == second[two : two + length]


@pytest.mark.parametrize("seed", range(40))
def test_the_longest_block_within_a_sheet(seed: int) -> None:
    rng = random.Random(seed)
    letters = "".join(rng.choice("aab-c") for _ in range(rng.randint(1, 30)))
    rows = sheet("A", ones(letters))
    found = block_of(rows)
    assert (found.length if found else 0) == brute_block(letters, letters, same=True)


def test_equal_values_of_one_unit_are_agreement_and_no_block() -> None:
    rows, codes = ones("abcdefgh"), list("12345678")
    assert block_of(sheet("A", rows, codes), sheet("B", rows, codes)) is None
    shifted = block_of(sheet("A", rows, codes), sheet("B", rows, codes[1:] + codes[:1]))
    assert shifted is not None
    assert (shifted.length, shifted.n, shifted.starts) == (8, (8, 8), (1, 1))


def test_a_run_of_equal_rows_is_no_block_of_one_sheet() -> None:
    rows = sheet("A", ones("aaaaaaaaaa"))
    assert block_of(rows) is None


def test_expected_blocks_between_sheets_are_those_of_every_order() -> None:
    first, second = "aabbc", "abcca"
    found = block_of(sheet("A", ones(first)), sheet("B", ones(second)))
    assert found is not None
    assert found.length == 2
    places = [(a, b) for a in range(len(first) - 1) for b in range(len(second) - 1)]
    total = sum(
        sum(order[a : a + 2] == tuple(second[b : b + 2]) for a, b in places) for order in permutations(first)
    )
    assert found.expected == pytest.approx(total / factorial(5))


def test_expected_blocks_within_a_sheet_are_close_to_those_of_random_orders() -> None:
    rng = random.Random(2)
    letters = list("abcd" * 15)
    rng.shuffle(letters)
    rows = sheet("A", ones("".join(letters)))
    found = block_of(rows)
    assert found is not None
    length, hits, draws = found.length, 0, 400
    for _ in range(draws):
        rng.shuffle(letters)
        hits += sum(
            letters[a : a + length] == letters[b : b + length]
            for a in range(len(letters) - 2 * length + 1)
            for b in range(a + length, len(letters) - length + 1)
        )
    assert found.expected == pytest.approx(hits / draws, rel=0.15)


def test_blocks_that_random_order_often_shows_are_left_out() -> None:
    rng = random.Random(3)
    dull = number_sheets([sheet(rater, ones("".join(rng.choices("ab", (9, 1), k=200)))) for rater in "AB"])
    assert longest_block(dull[0], dull[1], 5) is not None
    assert notable_block(dull[0], dull[1]) is None
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    varied = number_sheets([sheet("A", ones(alphabet)), sheet("B", ones("zz" + alphabet[3:12]))])
    block = notable_block(varied[0], varied[1])
    assert block is not None
    assert (block.length, block.starts) == (9, (4, 3))
    same = number_sheets([sheet("A", ones("a" * 20)), sheet("B", ones("a" * 20))])
    assert notable_block(same[0], same[1]) is None
    assert notable_block(*number_sheets([sheet("A", []), sheet("B", ones("abcdef"))])) is None


# --- equal sheets ---


def test_equal_rows_are_counted_on_common_units() -> None:
    (pair,) = equal_rows({"A": {"u1": (5, 4), "u2": (3, 3), "u3": (1, 1)}, "B": {"u2": (3, 3), "u3": (1, 2)}})
    assert (pair.raters, pair.n, pair.equal) == (("A", "B"), 2, 1)
