"""Scoring workbooks that people sorted, moved about, renamed, doubled and broke."""

from __future__ import annotations

import random
import time
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sheetsync.domain.ratings import Entry
from sheetsync.domain.scoring.columns import scoring_columns
from sheetsync.domain.scoring.conditions import CellKey
from sheetsync.domain.scoring.reading import ParsedSheet, parse_scoring_workbook
from sheetsync.domain.scoring.sheet import ScoringRow, ScoringSheet
from sheetsync.domain.scoring.tab import typed_cells
from sheetsync.domain.scoring.workbook import build_scoring_workbook
from sheetsync.domain.study import LevelValue
from sheetsync.domain.workbook import ErrorCell, FormulaCell, Grid, RawCell, Reading, expected_reading
from tests.builders import make_rubric

CODES = ("K2A", "M3B", "R4C", "T5D")
HEADERS = [column.header for column in scoring_columns(make_rubric())]
Rows = list[list[RawCell]]
Content = list[tuple[str, str, str, object]]


def make_sheet(entries: Sequence[Entry] = ()) -> ScoringSheet:
    typed: dict[str, list[tuple[CellKey, RawCell]]] = {}
    for entry in entries:
        typed.setdefault(entry.code, []).append(((entry.kind, entry.column), entry.value))
    return ScoringSheet(
        study_id="demo",
        title="Demo",
        rater="ann",
        rater_name="Ann",
        batch="main",
        kind="production",
        rubric=make_rubric(),
        rows=tuple(
            ScoringRow(
                code, "Macrina", f"Question {n}?", f"Response {n}.", typed=typed_cells(typed.get(code, ()))
            )
            for n, code in enumerate(CODES)
        ),
    )


GIVEN = [
    Entry("K2A", "score", "accuracy", 5),
    Entry("K2A", "score", "coverage", 4),
    Entry("M3B", "tag", "evasion", True),
    Entry("M3B", "score", "accuracy", "N/A"),
    Entry("M3B", "score", "coverage", 1),
    Entry("R4C", "score", "accuracy", 2),
    Entry("R4C", "tag", "hallucination", "She flew."),
    Entry("R4C", "remark", "notes", "Odd."),
]


def grid_of(entries: Sequence[Entry] = GIVEN) -> Rows:
    """Return the scoring tab as drawn with these entries, padded to full width."""
    tab = expected_reading(build_scoring_workbook(make_sheet(entries))).tab("Scoring")
    assert tab is not None
    return [[*row, *[None] * (len(HEADERS) - len(row))] for row in tab.rows]


def parse(
    rows: Sequence[Sequence[RawCell]], title: str = "Scoring", marker: str = "demo/ann/main"
) -> ParsedSheet:
    reading = Reading((Grid("Start here", (("x",),)), Grid(title, tuple(map(tuple, rows)))), marker)
    return parse_scoring_workbook(reading, make_sheet())


def content(entries: Sequence[Entry]) -> Content:
    return sorted((e.code, e.kind, e.column, e.value) for e in entries)


def found(parsed: ParsedSheet) -> list[tuple[str, str, str | None, str | None]]:
    return sorted((p.kind, p.severity, p.code, p.column) for p in parsed.problems)


def at(header: str) -> int:
    return HEADERS.index(header)


def test_as_issued() -> None:
    parsed = parse(grid_of())
    assert content(parsed.entries) == content(GIVEN)
    assert (parsed.problems, parsed.lost_columns, parsed.lost_codes, parsed.is_ours) == ((), (), (), True)
    blank = parse(grid_of(()))
    assert (blank.entries, blank.problems) == ((), ())


# --- moved about ---


@given(st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_position_means_nothing(rng: random.Random) -> None:
    rows = grid_of()
    body = rows[1:] + [[None] * len(HEADERS) for _ in range(rng.randrange(3))]
    rng.shuffle(body)
    columns = list(range(len(HEADERS)))
    rng.shuffle(columns)
    shuffled = [[row[c] for c in columns] for row in [rows[0], *body]]
    for _ in range(rng.randrange(3)):
        place = rng.randrange(len(HEADERS))
        for number, row in enumerate(shuffled):
            row.insert(place, "my notes" if not number else rng.choice([None, "?", 4, "K2A"]))
    above: Rows = [[None], ["Mind the deadline!", 3], []]
    parsed = parse([*above[: rng.randrange(4)], *shuffled])
    assert content(parsed.entries) == content(GIVEN)
    assert parsed.problems == ()


def test_renamed_and_moved_tab_without_marker() -> None:
    reading = Reading((Grid("My scores", tuple(map(tuple, grid_of()))), Grid("Scoring", (("other",),))))
    assert content(parse_scoring_workbook(reading, make_sheet()).entries) == content(GIVEN)


def test_the_scoring_tab_wins_over_a_copy_of_it() -> None:
    copy = Grid("Copy of Scoring", tuple(map(tuple, grid_of(()))))
    ours = Grid("scoring ", tuple(map(tuple, grid_of())))
    for tabs in ((copy, ours), (ours, copy)):
        assert content(parse_scoring_workbook(Reading(tabs), make_sheet()).entries) == content(GIVEN)


def test_a_foreign_table_beside_ours() -> None:
    rows = grid_of()
    rows[1] += [None, "Tally", 4]
    rows.append([None, None, "Sum", None, None, None])
    assert parse(rows).problems == ()


# --- headers ---


@pytest.mark.parametrize(
    "spell",
    [
        str.upper,
        str.lower,
        lambda h: f"  {h} ",
        lambda h: f"\u00a0{h}\u00a0".replace(" ", "\u00a0"),
        lambda h: unicodedata.normalize("NFD", h),
        lambda h: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in h),
        lambda h: h + "\n",
    ],
)
def test_headers_spelled_otherwise(spell) -> None:  # type: ignore[no-untyped-def]
    rows = grid_of()
    rows[0] = [spell(str(header)) for header in rows[0]]
    parsed = parse(rows)
    assert content(parsed.entries) == content(GIVEN)
    assert parsed.problems == ()


def test_a_missing_header_is_lost_and_named() -> None:
    rows = grid_of()
    rows[0][at("Coverage")] = "Cover"
    parsed = parse(rows)
    assert parsed.lost_columns == ("Coverage",)
    assert content(parsed.entries) == content([e for e in GIVEN if e.column != "coverage"])
    problem = next(p for p in parsed.problems if p.kind == "missing_column")
    assert (problem.severity, problem.column) == ("error", "Coverage")
    assert "Cover," in problem.message


def test_missing_columns_that_nobody_fills_in() -> None:
    rows = [
        [cell for index, cell in enumerate(row) if HEADERS[index] not in ("Check", "Figure")]
        for row in grid_of()
    ]
    parsed = parse(rows)
    assert content(parsed.entries) == content(GIVEN)
    assert found(parsed) == [("missing_column", "warning", None, "Figure")]
    assert parsed.lost_columns == ()


def test_a_repeated_header_with_the_same_values_is_named_and_does_no_harm() -> None:
    rows = [[*row, row[at("Coverage")]] for row in grid_of()]
    (problem,) = parse(rows).problems
    assert (problem.kind, problem.severity, problem.column) == ("repeated_column", "warning", "Coverage")
    assert content(parse(rows).entries) == content(GIVEN)
    blank = [[*row, "Coverage" if not n else None] for n, row in enumerate(grid_of())]
    assert content(parse(blank).entries) == content(GIVEN)


def test_a_repeated_header_with_other_values_names_both_columns() -> None:
    rows = [[*row, row[at("Coverage")]] for row in grid_of()]
    rows[1][-1] = 2
    parsed = parse(rows)
    kept = [e for e in GIVEN if (e.code, e.column) != ("K2A", "coverage")]
    assert content(parsed.entries) == content(kept)
    (problem,) = [p for p in parsed.problems if p.kind == "repeated_column"]
    assert "columns I and L" in problem.message


# --- rows ---


def test_doubled_rows_that_agree_count_once() -> None:
    rows = grid_of()
    parsed = parse([*rows, rows[1]])
    assert content(parsed.entries) == content(GIVEN)
    (problem,) = parsed.problems
    assert (problem.kind, problem.severity, problem.code) == ("duplicate_row", "warning", "K2A")
    assert "rows 2 and 6" in problem.message


def test_a_blank_yields_to_a_value() -> None:
    rows = grid_of()
    copy = list(rows[1])
    copy[at("Coverage")] = None
    copy[at("evasion")] = "no"
    copy[at("Notes")] = "A note."
    parsed = parse([rows[0], copy, *rows[1:]])
    assert content(parsed.entries) == content([*GIVEN, Entry("K2A", "remark", "notes", "A note.")])
    assert found(parsed) == [("duplicate_row", "warning", "K2A", "Code")]


def test_doubled_rows_that_differ_leave_that_dimension_out() -> None:
    rows = grid_of()
    second, third = list(rows[1]), list(rows[1])
    second[at("Coverage")], second[at("Notes")] = "4.0", "One."
    third[at("Coverage")], third[at("Notes")] = 2, "Two."
    parsed = parse([*rows, second, third])
    kept = [e for e in GIVEN if (e.code, e.column) != ("K2A", "coverage")]
    assert content(parsed.entries) == content([*kept, Entry("K2A", "remark", "notes", "One.\nTwo.")])
    (problem,) = parsed.problems
    assert (problem.kind, problem.severity, problem.code, problem.column) == (
        "conflicting_rows",
        "error",
        "K2A",
        "Coverage",
    )
    assert "rows 2 and 6 and 7" in problem.message


def test_a_value_against_an_invalid_text_is_a_conflict() -> None:
    rows = grid_of()
    copy = list(rows[1])
    copy[at("Coverage")] = "4?"
    parsed = parse([*rows, copy])
    assert ("conflicting_rows", "error", "K2A", "Coverage") in found(parsed)
    assert Entry("K2A", "score", "coverage", 4) not in parsed.entries


def test_deleted_rows() -> None:
    rows = grid_of()
    parsed = parse([rows[0], rows[2], rows[4]])
    assert parsed.lost_codes == ("K2A", "R4C")
    assert [(p.kind, p.code) for p in parsed.problems] == [("missing_row", "K2A"), ("missing_row", "R4C")]
    assert {e.code for e in parsed.entries} == {"M3B"}


def test_strange_codes_and_scores_without_code() -> None:
    rows = grid_of()
    stranger, nobody, empty = list(rows[1]), list(rows[1]), list(rows[4])
    stranger[0], nobody[0], empty[0] = "ZZZ", " ", "Total"
    parsed = parse([*rows, stranger, nobody, empty])
    assert content(parsed.entries) == content(GIVEN)
    assert sorted((p.severity, p.cell, p.found) for p in parsed.problems) == [
        ("error", "A6", "ZZZ"),
        ("error", "A7", ""),
        ("warning", "A8", "Total"),
    ]
    assert {p.kind for p in parsed.problems} == {"unknown_code"}


@pytest.mark.parametrize("code", ["k2a", " K2A ", "\u00a0K2A", FormulaCell('"K2A"', "K2A")])
def test_codes_spelled_otherwise(code: RawCell) -> None:
    rows = grid_of()
    rows[1][0] = code
    assert content(parse(rows).entries) == content(GIVEN)


def test_edited_texts_are_reported_and_the_ratings_count() -> None:
    rows = grid_of()
    rows[1][at("Response")] = "Something better."
    rows[2][at("Question")] = "Question  1? "  # blanks do not matter
    rows[3][at("Figure")] = ErrorCell("#REF!")
    parsed = parse(rows)
    assert content(parsed.entries) == content(GIVEN)
    assert found(parsed) == [
        ("edited_text", "warning", "K2A", "Response"),
        ("edited_text", "warning", "R4C", "Figure"),
    ]


def test_faults_have_their_place() -> None:
    rows = grid_of()
    rows[1][at("Coverage")] = "4?"
    rows[1][at("evasion")] = "maybe"
    rows[2][at("Coverage")] = "n/a"
    rows[3][at("hallucination")] = None
    parsed = parse(rows)
    assert [(p.kind, p.cell, p.code, p.found, p.rater, p.batch, p.tab) for p in parsed.problems] == [
        ("not_a_tick", "E2", "K2A", "maybe", "ann", "main", "Scoring"),
        ("not_a_level", "I2", "K2A", "4?", "ann", "main", "Scoring"),
        ("not_applicable_here", "I3", "M3B", "n/a", "ann", "main", "Scoring"),
        ("rule:evasion-coverage", "I3", "M3B", "n/a", "ann", "main", "Scoring"),
        ("rule:low-needs-tag", "F4", "R4C", "2", "ann", "main", "Scoring"),
    ]
    assert Entry("R4C", "score", "accuracy", 2) in parsed.entries


def test_a_formula_that_shows_nothing_is_reported() -> None:
    rows = grid_of()
    rows[1][at("Coverage")] = FormulaCell('""', "")
    parsed = parse(rows)
    assert found(parsed) == [("formula", "error", "K2A", "Coverage")]


# --- other workbooks ---


@pytest.mark.parametrize("marker", ["demo/ben/main", "demo/ann/add-1", "other/ann/main"])
def test_another_workbook(marker: str) -> None:
    parsed = parse(grid_of(), marker=marker)
    assert not parsed.is_ours
    assert parsed.entries == ()
    (problem,) = parsed.problems
    assert (problem.kind, problem.rater, problem.batch) == ("not_in_study", "ann", "main")
    assert marker in problem.message


@pytest.mark.parametrize("tabs", [(), (Grid("Sheet1", ()),), (Grid("Scoring", (("Code", "a"), ("K2A", 4))),)])
def test_no_scoring_tab(tabs: tuple[Grid, ...]) -> None:
    parsed = parse_scoring_workbook(Reading(tabs), make_sheet())
    assert not parsed.is_ours
    assert [p.kind for p in parsed.problems] == ["not_in_study"]


def test_a_huge_sparse_grid_is_fast() -> None:
    rows: list[tuple[RawCell, ...]] = [tuple(row) for row in grid_of()]
    rows += [()] * 1_000_000 + [(None, None, "stray")]
    started = time.perf_counter()
    parsed = parse_scoring_workbook(Reading((Grid("Scoring", tuple(rows)),)), make_sheet())
    assert content(parsed.entries) == content(GIVEN)
    assert parsed.problems == ()
    assert time.perf_counter() - started < 10


# --- there and back ---

scores: st.SearchStrategy[LevelValue] = st.sampled_from([1, 2, 3, 4, 5])
texts = st.text(
    st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=20
).map(lambda text: f"“{text}”")


@st.composite
def entries_of_rows(draw: st.DrawFn) -> list[Entry]:
    entries: list[Entry] = []
    for code in CODES:
        for kind, column, values in (
            ("score", "accuracy", scores | st.just("N/A")),
            ("score", "coverage", scores),
            ("tag", "evasion", st.just(True)),
            ("tag", "hallucination", texts | st.just(True)),
            ("tag", "imprecision", st.just(True)),
            ("remark", "notes", texts),
        ):
            value = draw(st.none() | values)
            if value is not None:
                entries.append(Entry(code, kind, column, value))  # type: ignore[arg-type]
    return entries


@given(entries_of_rows())
@settings(max_examples=60)
def test_drawn_entries_are_read_back(entries: list[Entry]) -> None:
    parsed = parse(grid_of(entries))
    assert {replace(e) for e in parsed.entries} == set(entries)
    assert {p.kind.partition(":")[0] for p in parsed.problems} <= {"rule"}


# --- copies of the tab, and headers that stand twice ---


def test_the_tab_with_our_title_is_read_and_a_copy_with_scores_is_named() -> None:
    copy = [list(row) for row in grid_of()]
    ours = [row[:-1] for row in grid_of(())]  # without Check, so that the copy has more of our headers
    ours[1][at("Accuracy")] = 2
    tabs = (Grid("Backup Monday", tuple(map(tuple, copy))), Grid("Scoring", tuple(map(tuple, ours))))
    parsed = parse_scoring_workbook(Reading(tabs, "demo/ann/main"), make_sheet())
    assert content(parsed.entries) == [("K2A", "score", "accuracy", 2)]
    assert [(p.kind, p.tab) for p in parsed.problems if p.kind == "not_in_study"] == [
        ("not_in_study", "Backup Monday")
    ]


def test_a_tab_with_another_title_is_read_and_said() -> None:
    parsed = parse(grid_of(), title="My scores")
    assert content(parsed.entries) == content(GIVEN)
    (problem,) = parsed.problems
    assert (problem.kind, problem.severity) == ("not_in_study", "warning")
    assert "My scores" in problem.message


def test_a_second_column_of_codes_hides_no_row() -> None:
    rows = [["Code" if not number else None, *row] for number, row in enumerate(grid_of())]
    parsed = parse(rows)
    assert content(parsed.entries) == content(GIVEN)
    assert [(p.kind, p.column) for p in parsed.problems] == [("repeated_column", "Code")]


def test_a_header_that_was_sorted_into_the_rows_hides_none() -> None:
    header, *rows = grid_of()
    assert content(parse([*rows[:2], header, *rows[2:]]).entries) == content(GIVEN)
