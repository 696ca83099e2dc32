"""The adjudication workbook: what is drawn, what is typed, and what it says when it comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sheetsync.backends.base import Place
from sheetsync.backends.memory import MemoryBackend
from sheetsync.domain.adjudication import (
    ADJUDICATION_TAB,
    PEOPLE_COLUMNS,
    AdjudicationSheet,
    AdjudicationUnit,
    build_adjudication_workbook,
    parse_adjudication,
    values_shown,
)
from sheetsync.domain.divergence import Divergence, DivergenceKey, DivergenceKind, Verdict
from sheetsync.domain.study import LevelValue
from sheetsync.domain.workbook import DateCell, ErrorCell, Grid, RawCell, Reading, expected_reading
from tests.builders import make_rubric

RATERS = ("ann", "ben")
NA = "N/A"


def divergence(
    code: str,
    dimension: str,
    values: Mapping[str, LevelValue],
    kind: DivergenceKind = "score",
    **more: Verdict,
) -> Divergence:
    return Divergence(
        code, dimension, kind, values, 2 if kind == "score" else None, "open", more.get("verdict")
    )


OPEN = (
    divergence("K2A", "accuracy", {"ann": 5, "ben": 3}),
    divergence("K2A", "coverage", {"ann": 1, "ben": 4}),
    divergence("M3B", "accuracy", {"ann": 5, "ben": NA}, "applicability"),
)


def sheet(
    divergences: Sequence[Divergence] = OPEN,
    typed: Mapping[DivergenceKey, Mapping[str, RawCell]] | None = None,
) -> AdjudicationSheet:
    codes = {each.code for each in divergences}
    return AdjudicationSheet(
        study_id="demo",
        title="Demo",
        rubric=make_rubric(),
        raters=RATERS,
        adjudicators=("eve",),
        divergences=tuple(divergences),
        units={code: AdjudicationUnit(f"Question of {code}?", f"Response of {code}.") for code in codes},
        remarks={("ann", "K2A", "notes"): "=1+1 is odd."},
        typed=typed or {},
    )


def drawn(
    divergences: Sequence[Divergence] = OPEN, **more: Mapping[DivergenceKey, Mapping[str, RawCell]]
) -> Reading:
    return expected_reading(build_adjudication_workbook(sheet(divergences, **more)))


def typed_into(cells: Mapping[tuple[int, str], RawCell], reading: Reading | None = None) -> Reading:
    """Return the workbook with cells typed, addressed by row and header."""
    grid = (reading or drawn()).tab(ADJUDICATION_TAB)
    assert grid is not None
    header = list(grid.rows[0])
    rows: list[list[RawCell]] = [[*row, *[None] * (len(header) - len(row))] for row in grid.rows]
    for (row, name), value in cells.items():
        rows[row][header.index(name)] = value
    return Reading((Grid(ADJUDICATION_TAB, tuple(map(tuple, rows))),))


def test_columns_and_rows() -> None:
    tab = build_adjudication_workbook(sheet()).tabs[0]
    assert [column.header for column in tab.columns] == [
        *("Code", "Dimension", "Kind", "Question", "Response", "ann", "ann Notes", "ben", "ben Notes"),
        *PEOPLE_COLUMNS,
    ]
    assert tab.rows[0][:9] == (
        *("K2A", "Accuracy", "score", "Question of K2A?", "Response of K2A."),
        *(5, "=1+1 is odd.", 3, None),
    )
    assert tab.rows[2][:3] == ("M3B", "Accuracy", "applicability")
    assert tab.rows[2][7] == NA
    assert max(tab.row_heights.values()) <= 409


def test_nothing_typed() -> None:
    parsed = parse_adjudication(drawn(), make_rubric())
    assert [row.key for row in parsed.rows] == [each.key for each in OPEN]
    assert all(row.verdict.is_empty for row in parsed.rows)
    assert parsed.problems == ()


def test_a_verdict_with_all_that_goes_with_it() -> None:
    reading = typed_into(
        {
            (1, "Verdict"): "4.0",
            (1, "Reason"): "rater slip",
            (1, "Comment"): " See p. 3. ",
            (1, "Adjudicator"): "eve",
            (3, "Verdict"): "n/a",
        }
    )
    parsed = parse_adjudication(reading, make_rubric())
    assert parsed.problems == ()
    assert parsed.rows[0].verdict == Verdict("K2A", "accuracy", "score", 4, "rater slip", "See p. 3.", "eve")
    assert parsed.rows[1].verdict.is_empty
    assert parsed.rows[2].verdict.verdict == NA


@pytest.mark.parametrize(
    ("raw", "verdict", "problems"),
    [
        (5, 5, []),
        (5.0, 5, []),
        ("٥", 5, []),
        ("N/A", NA, []),  # even where raters may not say it
        (None, None, []),
        ("  ", None, []),
        (6, None, ["not_a_level"]),
        ("4?", None, ["not_a_level"]),
        ("3,5", None, ["not_a_level"]),
        (True, None, ["not_a_level"]),
        ("ann", None, ["not_a_level"]),
        (ErrorCell("#N/A"), None, ["not_a_level"]),
        (DateCell(46115.0, "2026-04-03"), None, ["not_a_level"]),
        (DateCell(4.0, "1900-01-03"), 4, ["date_format"]),
    ],
)
def test_verdicts(raw: RawCell, verdict: LevelValue | None, problems: list[str]) -> None:
    parsed = parse_adjudication(typed_into({(2, "Verdict"): raw}), make_rubric())
    assert parsed.rows[1].verdict.verdict == verdict
    assert [p.kind for p in parsed.problems] == problems
    for problem in parsed.problems:
        assert (problem.rater, problem.batch, problem.cell, problem.code) == (
            None,
            "adjudication",
            "J3",
            "K2A",
        )


def test_sorted_rows_moved_columns_and_renamed_headers() -> None:
    grid = typed_into({(1, "Verdict"): 4, (3, "Verdict"): NA}).tabs[0]
    rows = [grid.rows[0], grid.rows[3], (), grid.rows[2], grid.rows[1]]
    turned = [tuple(row[::-1]) for row in rows]
    turned[0] = tuple(f" {str(header).upper()}\u00a0" for header in turned[0])
    moved = Reading((Grid("adjudication ", (("A note",), *turned)),))
    verdicts = {row.key: row.verdict.verdict for row in parse_adjudication(moved, make_rubric()).rows}
    assert verdicts == {OPEN[0].key: 4, OPEN[1].key: None, OPEN[2].key: NA}


@pytest.mark.parametrize(
    ("second", "verdict", "kinds"),
    [
        (4, 4, []),
        (None, 4, []),
        (5, None, ["conflicting_rows"]),
    ],
)
def test_doubled_rows(second: RawCell, verdict: LevelValue | None, kinds: list[str]) -> None:
    grid = typed_into({(1, "Verdict"): 4}).tabs[0]
    header = list(grid.rows[0])
    copy = list(grid.rows[1])
    copy[header.index("Verdict")] = second
    for rows in ((*grid.rows, tuple(copy)), (grid.rows[0], tuple(copy), *grid.rows[1:])):
        parsed = parse_adjudication(Reading((Grid(ADJUDICATION_TAB, rows),)), make_rubric())
        assert {r.key: r.verdict.verdict for r in parsed.rows}.get(OPEN[0].key) == verdict
        assert [p.kind for p in parsed.problems] == kinds


def test_rows_of_nothing_in_the_study() -> None:
    reading = typed_into({(1, "Code"): "", (1, "Verdict"): 4, (2, "Dimension"): "Style", (2, "Comment"): "?"})
    parsed = parse_adjudication(reading, make_rubric())
    assert [row.key for row in parsed.rows] == [OPEN[2].key]
    assert [(p.kind, p.cell) for p in parsed.problems] == [("unknown_code", "A2"), ("unknown_code", "A3")]
    known = parse_adjudication(typed_into({(3, "Verdict"): 4}), make_rubric(), {"K2A"})
    assert [row.key for row in known.rows] == [OPEN[0].key, OPEN[1].key]
    assert [(p.kind, p.code) for p in known.problems] == [("unknown_code", "M3B")]


def test_without_tab_or_headers_nothing_is_cleared() -> None:
    for reading in (Reading(()), Reading((Grid(ADJUDICATION_TAB, (("Code", "Dimension"),)),))):
        parsed = parse_adjudication(reading, make_rubric())
        assert parsed.rows == ()
        assert [p.kind for p in parsed.problems] == ["missing_column"]


cells = st.one_of(
    st.none(),
    st.integers(-5, 99),
    st.booleans(),
    st.sampled_from([1.5, "4?", "N/A", "=1+1", "rater slip", "x\ny"]),
    st.text(st.characters(codec="utf-8", categories=["L", "N", "P"]), min_size=1, max_size=8),
)


@given(st.lists(st.fixed_dictionaries(dict.fromkeys(PEOPLE_COLUMNS, cells)), min_size=3, max_size=3))
@settings(max_examples=60)
def test_what_people_typed_is_put_back_as_it_stood(rows: list[dict[str, RawCell]]) -> None:
    typed = {each.key: row for each, row in zip(OPEN, rows, strict=True)}
    first = parse_adjudication(drawn(typed=typed), make_rubric())
    again = parse_adjudication(drawn(typed={row.key: row.cells for row in first.rows}), make_rubric())
    assert [dict(row.cells) for row in again.rows] == [dict(row.cells) for row in first.rows]
    assert [dict(row.cells) for row in first.rows] == rows
    assert again.problems == first.problems


def test_an_archived_verdict_is_shown_where_nothing_is_typed() -> None:
    settled = divergence(
        "K2A",
        "accuracy",
        {"ann": 5, "ben": 3},
        verdict=Verdict("K2A", "accuracy", "score", 4, "other", "", "eve"),
    )
    parsed = parse_adjudication(drawn([settled]), make_rubric())
    assert parsed.rows[0].verdict == settled.verdict


def test_values_that_stood_in_the_workbook() -> None:
    shown = values_shown(drawn().tabs, make_rubric(), RATERS)
    assert shown == {each.key: each.values for each in OPEN}
    assert values_shown((), make_rubric(), RATERS) == {}


def test_through_a_backend() -> None:
    backend, place = MemoryBackend(), Place("adjudication")
    backend.create(place, build_adjudication_workbook(sheet()))
    backend.type_cells(place, ADJUDICATION_TAB, {(1, 9): 4, (1, 12): "eve"})
    parsed = parse_adjudication(backend.read(place), make_rubric())
    assert parsed.rows[0].verdict == Verdict("K2A", "accuracy", "score", 4, adjudicator="eve")
