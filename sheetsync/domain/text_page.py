"""A tab that is a page of text: one wrapped cell a line."""

from __future__ import annotations

from collections.abc import Iterable

from sheetsync.domain.text_layout import count_lines, row_height
from sheetsync.domain.workbook import Cell, CellSpec, ColumnSpec, Style, TabSpec

PAGE_WIDTH = 110.0


def page_of_text(title: str, lines: Iterable[tuple[CellSpec, Style]], width: float = PAGE_WIDTH) -> TabSpec:
    """Return a page of text: one wrapped cell a line."""
    rows, heights = [], {}
    for index, (value, style) in enumerate(lines):
        rows.append((Cell(value, style) if not isinstance(value, Cell) else value,))
        heights[index] = line_height(value if isinstance(value, str) else "", style, width)
    return TabSpec(
        title,
        (ColumnSpec("", width, "text"),),
        tuple(rows),
        header=False,
        protected=True,
        row_heights=heights,
    )


def line_height(text: str, style: Style, width: float) -> float:
    """Return the height in points that a line of a page takes."""
    fixed = {"title": 26.0, "heading": 22.0}
    return fixed.get(style) or row_height(count_lines(text, width))
