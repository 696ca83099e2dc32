"""Responses too long for a row of a spreadsheet: blocks on a tab of their own, and a link to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sheetsync.domain.text_layout import MAX_LINES, count_lines, row_height, split_blocks
from sheetsync.domain.workbook import Cell, CellSpec, ColumnSpec, Link, TabSpec, cell_name

RESPONSES_TAB = "Responses"
RESPONSE_WIDTH = 70.0
"""Width of a response column in characters."""

_BLOCK_WIDTH = 110.0


def is_long(response: str) -> bool:
    """Return whether a row of Excel's greatest height could not show the response whole."""
    return count_lines(response, RESPONSE_WIDTH) > MAX_LINES


def link_text(code: str, response: str) -> str:
    """Return what stands in the place of a long response."""
    words = len(response.split())
    return f"Long response ({words:,} words): click to read it under {code}."


def shown_response(code: str, response: str) -> str:
    """Return the text of a response cell: the response, or the words of the link to it."""
    return link_text(code, response) if is_long(response) else response


def response_cell(code: str, response: str, block_of: Mapping[str, str]) -> CellSpec:
    """Return the response cell; a long response is a link to its first block."""
    if code not in block_of:
        return response
    return Cell(Link(link_text(code, response), RESPONSES_TAB, block_of[code]), "link")


def responses_tab(responses: Iterable[tuple[str, str]]) -> tuple[tuple[TabSpec, ...], dict[str, str]]:
    """Return the tab of long responses, if there are any, and per code the cell of its first block."""
    cells: list[tuple[CellSpec, ...]] = []
    heights: dict[int, float] = {}
    block_of: dict[str, str] = {}
    for code, response in responses:
        if code in block_of or not is_long(response):
            continue
        blocks = split_blocks(response, _BLOCK_WIDTH)
        block_of[code] = cell_name(len(cells) + 1, 0)
        for number, block in enumerate(blocks, 1):
            cells.append((code, f"{number} of {len(blocks)}", block))
            heights[len(cells)] = row_height(count_lines(block, _BLOCK_WIDTH))
    if not cells:
        return (), {}
    columns = (
        ColumnSpec("Code", 11, "code"),
        ColumnSpec("Part", 9, "code"),
        ColumnSpec("Response", _BLOCK_WIDTH),
    )
    tab = TabSpec(
        RESPONSES_TAB,
        columns,
        tuple(cells),
        frozen_rows=1,
        frozen_columns=1,
        protected=True,
        row_heights=heights,
    )
    return (tab,), block_of
