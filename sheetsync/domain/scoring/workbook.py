"""The workbook one rater gets: `Start here`, `Scoring`, `Rubric`, `Reference` and, if needed, `Responses`.

A study of pairs has a `Checklist` too; where raters say how sure they are or score pairs, there is a
`Self-check`, and where they count something a `Helper`.
"""

from __future__ import annotations

import re

from sheetsync.domain.cells import show
from sheetsync.domain.scoring.checklist import checklist_tab
from sheetsync.domain.scoring.helper import draw_helper
from sheetsync.domain.scoring.long_responses import responses_tab
from sheetsync.domain.scoring.self_check_tab import draw_self_check
from sheetsync.domain.scoring.sheet import REFERENCE_TAB, RUBRIC_TAB, ScoringSheet
from sheetsync.domain.scoring.start import start_tab
from sheetsync.domain.scoring.tab import draw_scoring_tab
from sheetsync.domain.study import NOT_APPLICABLE, Dimension, Rubric
from sheetsync.domain.text_layout import count_lines, row_height
from sheetsync.domain.text_page import page_of_text
from sheetsync.domain.workbook import (
    Cell,
    CellSpec,
    ColumnSpec,
    Link,
    Style,
    TabSpec,
    WorkbookSpec,
    cell_name,
)


def build_scoring_workbook(sheet: ScoringSheet) -> WorkbookSpec:
    """Return the whole workbook of one rater and batch."""
    responses, block_of = responses_tab((row.code, row.response) for row in sheet.rows)
    references, reference_of = _reference_tab(sheet)
    scoring, lists = draw_scoring_tab(sheet, block_of, reference_of)
    self_check, check_lists = draw_self_check(sheet)
    helper, helper_lists = draw_helper(sheet.rubric)
    tabs = [
        *(start_tab(sheet), *checklist_tab(sheet), scoring, *self_check),
        *(rubric_tab(sheet.rubric), *helper, *references, *responses),
    ]
    named = {each.name: each for each in (*lists, *check_lists, *helper_lists)}
    return WorkbookSpec(f"{sheet.title} ({sheet.batch})", tuple(tabs), tuple(named.values()), sheet.marker)


# --- Rubric ---


def rubric_tab(rubric: Rubric) -> TabSpec:
    """Return the tab that says what every level, tag and rule means."""
    rows: list[tuple[CellSpec, CellSpec, CellSpec]] = []
    if rubric.tags:
        rows.append((Cell("Tags of the whole response", "heading"), Cell("", "heading"), Cell("", "heading")))
        rows += [("", Cell(tag.id, "text"), tag.text) for tag in rubric.tags]
    for dimension in rubric.dimensions:
        rows += _dimension_rows(dimension)
    messages = [rule.message for rule in rubric.rules if rule.message]
    if messages:
        rows.append(
            (Cell("What the Check column watches", "heading"), Cell("", "heading"), Cell("", "heading"))
        )
        rows += [("", "", message) for message in messages]
    heights = {
        index: 22.0
        if isinstance(row[0], Cell) and row[0].style == "heading"
        else row_height(count_lines(str(row[2]), 92))
        for index, row in enumerate(rows, 1)
    }
    columns = (
        ColumnSpec("Dimension", 26),
        ColumnSpec("Level or tag", 22),
        ColumnSpec("Meaning", 96),
    )
    return TabSpec(RUBRIC_TAB, columns, tuple(rows), frozen_rows=1, protected=True, row_heights=heights)


def _dimension_rows(dimension: Dimension) -> list[tuple[CellSpec, CellSpec, CellSpec]]:
    rows: list[tuple[CellSpec, CellSpec, CellSpec]] = [
        (Cell(dimension.name, "heading"), Cell("", "heading"), Cell("", "heading"))
    ]
    if dimension.text:
        rows.append(("", "", dimension.text))
    rows += [("", Cell(show(level.value), "code"), level.text) for level in reversed(dimension.levels)]
    rows += [("", Cell("one point", "text"), item) for item in dimension.checklist]
    if dimension.not_applicable:
        rows.append(("", Cell(NOT_APPLICABLE, "code"), "Cannot be judged for this response."))
    rows += [("", Cell(tag.id, "text"), tag.text) for tag in dimension.tags]
    return rows


# --- Reference ---


def _reference_tab(sheet: ScoringSheet) -> tuple[tuple[TabSpec, ...], dict[str, Link]]:
    """Return the tab of reference sheets, if there are any, and where each of them starts."""
    lines: list[tuple[CellSpec, Style]] = []
    starts: dict[str, Link] = {}
    for name, text in sheet.references.items():
        if lines:
            lines.append(("", "text"))
        starts[name] = Link(name, REFERENCE_TAB, cell_name(len(lines), 0))
        lines += [_reference_line(line) for line in _joined_paragraphs(text)]
    return ((page_of_text(REFERENCE_TAB, lines, width=130),) if lines else ()), starts


def _reference_line(line: str) -> tuple[CellSpec, Style]:
    bare = line.lstrip("#").strip()
    if line.startswith("# "):
        return bare, "title"
    if line.startswith("#"):
        return bare, "heading"
    if line.startswith("|"):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        return "   ·   ".join(cell for cell in cells if cell), "text"
    if line.startswith(("- ", "* ")):
        return f"•  {line[2:].strip()}", "text"
    return line, "text"


def _joined_paragraphs(markdown: str) -> list[str]:
    """Join the wrapped lines of a paragraph; drop rules of tables, emphasis marks and blank lines."""
    paragraphs: list[str] = []
    open_paragraph = False
    for raw in markdown.replace("\r\n", "\n").split("\n"):
        line = _plain(raw.strip())
        is_block = line.startswith(("#", "|", "- ", "* "))
        if not line or (line.startswith("|") and not line.strip("|-: ")):
            open_paragraph = False
        elif open_paragraph and not is_block:
            paragraphs[-1] += " " + line
        else:
            paragraphs.append(line)
            open_paragraph = not line.startswith(("#", "|"))
    return paragraphs


_EMPHASIS = re.compile(r"(?<![\w*])(\*\*|\*|`)(?=\S)(.+?)(?<=\S)\1(?![\w*])")
_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")


def _plain(line: str) -> str:
    """Return a line of Markdown as a cell can show it: no marks of emphasis, links with their address.

    >>> _plain("the *Life*, **early** `x`; see [Letter 19](https://example.org/19), 2 * 3 * 4")
    'the Life, early x; see Letter 19 (https://example.org/19), 2 * 3 * 4'
    """
    return _LINK.sub(r"\1 (\2)", _EMPHASIS.sub(r"\2", line))
