from __future__ import annotations

import random

import pytest

from sheetsync.backends.base import Known
from sheetsync.backends.known import foreign_cells
from sheetsync.domain.workbook import DateCell, ErrorCell, FormulaCell, Grid, RawCell, Reading

Rows = tuple[tuple[RawCell, ...], ...]

HEADER = ("Code", "Value", "Verdict", "Range")
WRITTEN: Rows = (HEADER, ("a", 1, None, 2.5), ("b", 2, "5", None), ("c", None, None, 0))
KNOWN = Known([Grid("Table", WRITTEN)], {"table ": ["VERDICT"]}, "v1")


def foreign(*rows: tuple[RawCell, ...]) -> list[str]:
    return foreign_cells(Reading((Grid("Table", rows),)), KNOWN)


def with_cell(row: int, column: int, value: RawCell) -> Rows:
    rows = [list(cells) + [None] * (column + 1 - len(cells)) for cells in WRITTEN]
    rows += [[None] * (column + 1) for _ in range(row + 1 - len(rows))]
    rows[row][column] = value
    return tuple(tuple(cells) for cells in rows)


def test_untouched() -> None:
    assert foreign(*WRITTEN) == []


def test_what_people_type_in_their_column_is_not_foreign() -> None:
    assert foreign(*with_cell(1, 2, "4")) == []
    assert foreign(*with_cell(2, 2, None)) == []


@pytest.mark.parametrize("seed", range(5))
def test_sorted_rows_and_dragged_columns(seed: int) -> None:
    rng = random.Random(seed)
    body, order = list(WRITTEN[1:]), list(range(4))
    rng.shuffle(body)
    rng.shuffle(order)
    assert foreign(*(tuple(row[column] for column in order) for row in (HEADER, *body))) == []


def test_deleted_rows_and_cleared_cells_are_not_foreign() -> None:
    assert foreign(*WRITTEN[:2]) == []
    assert foreign(*with_cell(1, 1, None)) == []
    assert foreign() == []


def test_types_that_mean_the_same() -> None:
    row: tuple[RawCell, ...] = ("a", 1.0, "verdict", DateCell(2.5, "1900-01-01"), None, None)
    assert foreign(HEADER, row, *WRITTEN[2:], (), (None,)) == []


@pytest.mark.parametrize(
    ("row", "column", "name"),
    [
        (1, 1, "B2"),
        (1, 3, "D2"),
        (2, 6, "G3"),
        (9, 0, "A10"),
        (9, 2, "C10"),
        (0, 4, "E1"),
        (0, 1, "B1"),
        (0, 2, "C1"),
    ],
)
def test_cells_that_a_rewrite_would_lose(row: int, column: int, name: str) -> None:
    assert foreign(*with_cell(row, column, "mine")) == [f"Table!{name}"]


@pytest.mark.parametrize("value", ["1", 2, True, FormulaCell("1", 1), ErrorCell("#N/A")])
def test_other_content_in_an_owned_cell(value: RawCell) -> None:
    assert foreign(*with_cell(1, 1, value)) == ["Table!B2"]


def test_a_copied_row_is_foreign() -> None:
    assert foreign(*WRITTEN, WRITTEN[1]) == ["Table!A5", "Table!B5", "Table!D5"]


def test_a_line_inserted_above_the_header() -> None:
    assert "Table!A1" in foreign(("A remark",), *WRITTEN)


def test_a_formula_keeps_being_ours_when_recalculated() -> None:
    known = Known([Grid("T", ((FormulaCell("A1+1", 1),),))])
    assert foreign_cells(Reading((Grid("T", ((FormulaCell("A1 + 1", 7),),)),)), known) == []


def test_line_ends() -> None:
    known = Known([Grid("T", (("h",), ("a\nb",)))])
    assert foreign_cells(Reading((Grid("T", (("h",), ("a\r\nb",))),)), known) == []


def test_tabs() -> None:
    reading = Reading((Grid(" TABLE", WRITTEN), Grid("Chart1", ())))
    assert foreign_cells(reading, KNOWN) == ["tab 'Chart1'"]
    assert foreign_cells(reading, Known()) == ["tab ' TABLE'", "tab 'Chart1'"]


def test_a_page_without_headers() -> None:
    page: Rows = (("Title",), (), ("alpha", 0.5), ("below", 0.1))
    known = Known([Grid("Summary", page)])
    assert foreign_cells(Reading((Grid("Summary", page),)), known) == []
    assert foreign_cells(Reading((Grid("Summary", (*page, ("mine",))),)), known) == ["Summary!A5"]
    wide: Rows = (("Title", None, "mine"), *page[1:])
    assert foreign_cells(Reading((Grid("Summary", wide),)), known) == ["Summary!C1"]
