"""What one rater sees: columns in order, every text readable whole, and nothing of anybody else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sheetsync.backends.xlsx_draw import draw_workbook
from sheetsync.domain.ratings import BatchKind
from sheetsync.domain.scoring.columns import scoring_columns
from sheetsync.domain.scoring.long_responses import RESPONSE_WIDTH
from sheetsync.domain.scoring.rules import DONE
from sheetsync.domain.scoring.sheet import ScoringRow, ScoringSheet
from sheetsync.domain.scoring.tab import QUESTION_WIDTH
from sheetsync.domain.scoring.workbook import build_scoring_workbook
from sheetsync.domain.study import Rubric
from sheetsync.domain.text_layout import POINTS_PER_LINE, count_lines
from sheetsync.domain.workbook import (
    MAX_ROW_POINTS,
    Cell,
    Choice,
    Formula,
    FreeText,
    Link,
    ReadOnly,
    TabSpec,
    Tick,
    WorkbookSpec,
    cell_length,
)
from tests.builders import make_rubric
from tests.domain.test_check_formula import RUBRICS

LONG = "A paragraph that runs on for a while, as paragraphs do.\n\n" * 90
RESPONSES = ("Short.", "A line.\n" * 20, "word " * 300, LONG, "x" * 5000, "漢字" * 900, "=1+1", "שלום " * 40)


def make_sheet(
    rubric: Rubric | None = None,
    pairs: bool = False,
    kind: BatchKind = "production",
    contact: str = "c@example.org",
) -> ScoringSheet:
    return ScoringSheet(
        study_id="demo",
        title="Women of the early church",
        rater="ann",
        rater_name="Ann",
        batch="main",
        kind=kind,
        rubric=rubric or make_rubric(),
        pairs=pairs,
        contact=contact,
        references={"Macrina.md": "# Macrina\n\nBorn about\n327.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"},
        rows=tuple(
            ScoringRow(
                f"K{n}",
                "Macrina",
                f"Question {n}? " * (1 + 20 * n),
                text,
                case=f"C{n // 2}",
                side="AB"[n % 2],
            )
            for n, text in enumerate(RESPONSES)
        ),
    )


def tab_of(book: WorkbookSpec, title: str) -> TabSpec:
    return next(tab for tab in book.tabs if tab.title == title)


def test_columns_in_order() -> None:
    assert [column.header for column in scoring_columns(RUBRICS["historical-figures"]())] == [
        *("Code", "Figure", "Question", "Response", "evasion", "false-premise-corrected"),
        *("Historical Accuracy", "hallucination", "anachronism", "misattribution", "imprecision"),
        *("Coverage", "Framing and Agency"),
        *("Epistemic Quality", "source-conflation", "debate-flattened", "Notes", "Check"),
    ]


def test_columns_of_pairs_with_confidence_and_a_sum() -> None:
    headers = [column.header for column in scoring_columns(RUBRICS["odd"](), pairs=True)]
    assert headers[:6] == ["Code", "Case", "Side", "Figure", "Question", "Response"]
    assert headers[10:13] == ['Depth of "it"', 'Depth of "it" confidence', "SUM"]
    assert headers[-4:] == ["Total_Score", "Notes", "More {row} notes", "Check"]
    tab = tab_of(build_scoring_workbook(make_sheet(RUBRICS["odd"](), pairs=True)), "Scoring")
    assert [column.header for column in tab.columns] == headers
    assert tab.rows[3][:4] == ("K3", "C1", "B", "Macrina")
    assert (tab.frozen_rows, tab.frozen_columns) == (1, 3)


def test_tabs_and_view() -> None:
    book = build_scoring_workbook(make_sheet())
    assert [tab.title for tab in book.tabs] == ["Start here", "Scoring", "Rubric", "Reference", "Responses"]
    assert book.marker == "demo/ann/main"
    scoring = tab_of(book, "Scoring")
    assert (scoring.frozen_rows, scoring.frozen_columns, scoring.protected, scoring.input_rows) == (
        1,
        1,
        True,
        True,
    )
    assert all(tab.protected for tab in book.tabs)
    assert not any(tab.input_rows for tab in book.tabs if tab is not scoring)


@pytest.mark.parametrize("name", RUBRICS)
def test_validations(name: str) -> None:
    rubric = RUBRICS[name]()
    book = build_scoring_workbook(make_sheet(rubric))
    lists = {items.name: items.offered for items in book.lists}
    columns = scoring_columns(rubric)
    for column, drawn in zip(columns, tab_of(book, "Scoring").columns, strict=True):
        assert isinstance(drawn.validation, Choice | Tick | FreeText if column.is_input else ReadOnly)
        if isinstance(drawn.validation, Choice | Tick | FreeText):
            assert cell_length(drawn.validation.title) <= 32
            assert cell_length(drawn.validation.prompt) <= 255
        if isinstance(drawn.validation, Choice | Tick):
            assert cell_length(drawn.validation.error) <= 225
        if isinstance(drawn.validation, Choice):
            assert drawn.validation.list_name in lists
    for number, dimension in enumerate(rubric.dimensions, 1):
        extra = ("N/A",) if dimension.not_applicable else ()
        assert lists[f"choice_{number}"] == (*dimension.scale, *extra)


@pytest.mark.parametrize("name", RUBRICS)
def test_notes_and_the_rubric_tab_hold_every_level_and_tag(name: str) -> None:
    rubric = RUBRICS[name]()
    book = build_scoring_workbook(make_sheet(rubric))
    notes = {column.header: column.note for column in tab_of(book, "Scoring").columns}
    shown = "\n".join(str(cell) for row in tab_of(book, "Rubric").rows for cell in row)
    for tag in (*rubric.tags, *(tag for dimension in rubric.dimensions for tag in dimension.tags)):
        assert tag.text in notes[tag.id]
        assert tag.text in shown
    for dimension in rubric.dimensions:
        assert dimension.text in notes[dimension.name]
        for level in dimension.levels:
            assert f": {level.text}" in notes[dimension.name]
            assert level.text in shown


def test_every_row_is_high_enough_for_its_texts() -> None:
    """Computed, not looked at: lines times points, in Excel's 409."""
    book = build_scoring_workbook(make_sheet())
    for tab in book.tabs:
        assert max(tab.row_heights.values()) <= MAX_ROW_POINTS
    scoring, blocks = tab_of(book, "Scoring"), tab_of(book, "Responses")
    for number, row in enumerate(scoring.rows, 1):
        cell = row[3].value if isinstance(row[3], Cell) else row[3]
        shown = cell.text if isinstance(cell, Link) else str(cell)
        assert count_lines(shown, RESPONSE_WIDTH) * POINTS_PER_LINE <= scoring.row_heights[number]
        lines = min(count_lines(str(row[2]), QUESTION_WIDTH), MAX_ROW_POINTS // 15)
        assert lines * POINTS_PER_LINE <= scoring.row_heights[number]
    for number, row in enumerate(blocks.rows, 1):
        needed = count_lines(str(row[2]), blocks.columns[2].width) * POINTS_PER_LINE
        assert needed <= blocks.row_heights[number]


def test_every_response_is_there_whole() -> None:
    book = build_scoring_workbook(make_sheet())
    blocks = tab_of(book, "Responses")
    linked = 0
    for row, response in zip(tab_of(book, "Scoring").rows, RESPONSES, strict=True):
        cell = row[3]
        if isinstance(cell, Cell):
            assert isinstance(cell.value, Link)
            assert cell.value.tab == "Responses"
            first = blocks.rows[int(cell.value.cell[1:]) - 2]
            assert first[0] == row[0]
            assert str(first[1]).startswith("1 of ")
            assert "".join(str(block[2]) for block in blocks.rows if block[0] == row[0]) == response
            linked += 1
        else:
            assert cell == response
    assert linked == 3


def test_check_and_progress_before_anything_recalculates() -> None:
    book = build_scoring_workbook(make_sheet())
    check = tab_of(book, "Scoring").rows[0][-1]
    assert isinstance(check, Formula)
    assert check.shown == "Missing: Accuracy, Coverage."
    progress = tab_of(book, "Start here").rows[4][0]
    assert isinstance(progress, Cell)
    assert progress.value == Formula('COUNTIF(Scoring!$K$2:$K$9,"✓*")&" of 8 complete"', "0 of 8 complete")


def test_typed_cells_are_drawn_with_their_verdict() -> None:
    typed = {("score", "accuracy"): "4", ("score", "coverage"): 5, ("tag", "evasion"): None}
    sheet = ScoringSheet(
        **{**vars(make_sheet()), "rows": (ScoringRow("K1", "M", "Q?", "R.", typed=typed),)}  # type: ignore[arg-type]
    )
    row = tab_of(build_scoring_workbook(sheet), "Scoring").rows[0]
    assert row[5:9] == ("4", None, None, 5)
    assert isinstance(row[-1], Formula)
    assert row[-1].shown == DONE


@pytest.mark.parametrize(
    ("kind", "words"),
    [("calibration", "practice round"), ("production", "8 responses"), ("rescore", "score again")],
)
def test_start_here_says_what_this_is(kind: BatchKind, words: str) -> None:
    said = "\n".join(texts_of(tab_of(build_scoring_workbook(make_sheet(kind=kind)), "Start here")))
    assert words in said
    assert "c@example.org" in said
    assert "Questions?" not in "\n".join(
        texts_of(tab_of(build_scoring_workbook(make_sheet(contact="")), "Start here"))
    )


def texts_of(tab: TabSpec) -> Iterator[str]:
    for row in tab.rows:
        for cell in row:
            value = cell.value if isinstance(cell, Cell) else cell
            yield value.text if isinstance(value, Link | Formula) else str(value)


def test_reference_sheets_become_readable_lines() -> None:
    texts = list(texts_of(tab_of(build_scoring_workbook(make_sheet()), "Reference")))
    assert texts == ["Macrina", "Born about 327.", "a   ·   b", "1   ·   2"]


@pytest.mark.parametrize("name", RUBRICS)
def test_it_can_be_drawn(name: str) -> None:
    assert draw_workbook(build_scoring_workbook(make_sheet(RUBRICS[name](), pairs=True)))
