"""Lines of a wrapped text, row heights, and blocks that joined are the text again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sheetsync.domain.scoring.long_responses import is_long, response_cell, responses_tab, shown_response
from sheetsync.domain.text_layout import MAX_LINES, count_lines, row_height, split_blocks
from sheetsync.domain.workbook import MAX_ROW_POINTS, Cell, Link

texts = st.text(
    st.sampled_from("ab .\n\té漢😀-") | st.characters(codec="utf-8", exclude_characters="\r"), max_size=600
)


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("", 10, 1),
        ("one two", 100, 1),
        ("a\nb\n\nc", 100, 4),
        ("a\r\nb", 100, 2),
        ("a\n", 100, 2),
        ("x" * 100, 10, 12),  # 9 columns of 10 are counted on
        ("漢" * 9, 10, 2),
        ("word " * 20, 10, 10),
    ],
)
def test_lines(text: str, width: float, lines: int) -> None:
    assert count_lines(text, width) == lines


def test_heights_stop_at_the_limit() -> None:
    assert row_height(1) == 19
    assert row_height(MAX_LINES) <= MAX_ROW_POINTS
    assert row_height(10_000) == MAX_ROW_POINTS


@given(texts, st.integers(6, 60), st.integers(3, 12))
def test_blocks_fit_and_are_the_text(text: str, width: int, most: int) -> None:
    blocks = split_blocks(text, width, most)
    assert "".join(blocks) == text
    assert all(count_lines(block, width) <= most for block in blocks)


@given(texts, st.integers(2, 60))
def test_a_longer_text_takes_no_fewer_lines(text: str, width: int) -> None:
    assert count_lines(text + " more", width) >= count_lines(text, width)


def test_cuts_fall_between_paragraphs_or_sentences() -> None:
    paragraph = "A sentence of some words. " * 12
    blocks = split_blocks("\n\n".join([paragraph] * 12), 110, 25)
    assert len(blocks) > 1
    assert all(block.endswith(("\n", ". ")) for block in blocks[:-1])


def test_long_responses_become_blocks_and_a_link() -> None:
    long, short = "One sentence here. " * 400, "Short."
    assert (is_long(long), is_long(short)) == (True, False)
    (tab,), block_of = responses_tab([("K1", short), ("K2", long), ("K3", long), ("K2", long)])
    assert set(block_of) == {"K2", "K3"}
    for code, start in block_of.items():
        rows = [row for row in tab.rows if row[0] == code]
        assert "".join(str(row[2]) for row in rows) == long
        assert tab.rows[int(start[1:]) - 2][:2] == (code, f"1 of {len(rows)}")
    assert max(tab.row_heights.values()) <= MAX_ROW_POINTS
    assert response_cell("K1", short, block_of) == short
    cell = response_cell("K2", long, block_of)
    assert isinstance(cell, Cell)
    assert isinstance(cell.value, Link)
    assert cell.value.text == shown_response("K2", long)
    assert responses_tab([("K1", short)]) == ((), {})
