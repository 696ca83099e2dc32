"""The workbook one rater gets: `Start here`, `Scoring`, `Rubric`, `Reference` and, if needed, `Responses`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sheetsync.domain.cells import show
from sheetsync.domain.long_responses import responses_tab
from sheetsync.domain.rules import DONE
from sheetsync.domain.scoring_columns import CHECK_COLUMN, SCORING_TAB, scoring_columns
from sheetsync.domain.scoring_tab import ScoringSheet, draw_scoring_tab
from sheetsync.domain.study import NOT_APPLICABLE, Dimension, Rubric
from sheetsync.domain.text_layout import count_lines, row_height
from sheetsync.domain.workbook import (
    Cell,
    CellSpec,
    ColumnSpec,
    Formula,
    Link,
    Style,
    TabSpec,
    WorkbookSpec,
    cell_name,
    column_letter,
)

START_TAB = "Start here"
RUBRIC_TAB = "Rubric"
REFERENCE_TAB = "Reference"

_PAGE_WIDTH = 110.0


def build_scoring_workbook(sheet: ScoringSheet) -> WorkbookSpec:
    """Return the whole workbook of one rater and batch."""
    responses, block_of = responses_tab((row.code, row.response) for row in sheet.rows)
    references, reference_of = _reference_tab(sheet)
    scoring, lists = draw_scoring_tab(sheet, block_of, reference_of)
    tabs = [_start_tab(sheet), scoring, rubric_tab(sheet.rubric), *references]
    return WorkbookSpec(f"{sheet.title} ({sheet.batch})", (*tabs, *responses), lists, sheet.marker)


def page_of_text(title: str, lines: Iterable[tuple[CellSpec, Style]], width: float = _PAGE_WIDTH) -> TabSpec:
    """Return a page of text: one wrapped cell a line."""
    rows, heights = [], {}
    for index, (value, style) in enumerate(lines):
        rows.append((Cell(value, style) if not isinstance(value, Cell) else value,))
        text = value if isinstance(value, str) else ""
        size = (
            26.0 if style == "title" else 22.0 if style == "heading" else row_height(count_lines(text, width))
        )
        heights[index] = size
    return TabSpec(
        title,
        (ColumnSpec("", width, "text"),),
        tuple(rows),
        header=False,
        protected=True,
        row_heights=heights,
    )


# --- Start here ---


def _start_tab(sheet: ScoringSheet) -> TabSpec:
    columns = scoring_columns(sheet.rubric, pairs=sheet.pairs)
    check = column_letter(len(columns) - 1)
    total = len(sheet.rows)
    done = f'COUNTIF({SCORING_TAB}!${check}$2:${check}${total + 1},"{DONE}*")'
    progress = Formula(f'{done}&" of {total:,} complete"', f"0 of {total:,} complete")
    lines: list[tuple[CellSpec, Style]] = [
        (sheet.title, "title"),
        (f"For {sheet.rater_name or sheet.rater} · {_batch_words(sheet)}", "note"),
        ("", "text"),
        ("Your progress", "heading"),
        (progress, "text"),
        ("", "text"),
        ("How to score", "heading"),
        *((step, "text") for step in _steps(sheet)),
        ("", "text"),
        ("What you may change", "heading"),
        *((line, "text") for line in _LIBERTIES),
        ("", "text"),
        ("Go to", "heading"),
        (Link("Scoring: the responses and your scores", SCORING_TAB), "link"),
        (Link("Rubric: what every level and tag means", RUBRIC_TAB), "link"),
    ]
    if sheet.references:
        lines.append((Link("Reference: the facts to score against", REFERENCE_TAB), "link"))
    if sheet.contact:
        lines += [("", "text"), ("Questions?", "heading"), (f"Write to {sheet.contact}.", "text")]
    return page_of_text(START_TAB, lines)


def _batch_words(sheet: ScoringSheet) -> str:
    count = f"{len(sheet.rows):,} response{'s' if len(sheet.rows) != 1 else ''}"
    words = {
        "calibration": f"practice round, {count}; these scores are for comparing notes and enter no result",
        "production": count,
        "rescore": f"{count} to score again; the new scores replace your earlier ones",
    }
    return words[sheet.kind]


def _steps(sheet: ScoringSheet) -> list[str]:
    rubric = sheet.rubric
    names = ", ".join(dimension.name for dimension in rubric.dimensions)
    steps = [
        "Read the Rubric tab once, from top to bottom. Point at any column header to see its text again."
    ]
    if sheet.references:
        steps.append("Read the Reference tab. Facts are judged against it, not from memory.")
    steps.append("Go to the Scoring tab and work down the rows. Each row is one response to one question.")
    if rubric.tags:
        tags = ", ".join(tag.id for tag in rubric.tags)
        steps.append(f"First decide on the tags of the whole response ({tags}): put x where one applies.")
    steps.append(f"Then choose a score for each dimension ({names}). Score each one on its own.")
    claims = [tag.id for dimension in rubric.dimensions for tag in dimension.tags if tag.claim]
    if claims:
        steps.append(
            f"For an error tag ({', '.join(claims)}) paste the claim that is wrong: the quote ticks the tag."
        )
    if any(dimension.not_applicable for dimension in rubric.dimensions):
        steps.append(
            f"{NOT_APPLICABLE} means that a dimension cannot be judged. An empty cell means: not scored yet."
        )
    steps.append(
        f"The last column, {CHECK_COLUMN}, says what a row still needs. {DONE} means complete; the row turns green."
    )
    steps.append(
        "Save as often as you like. Your scores are collected from this file; there is nothing to send."
    )
    return [f"{number}. {step}" for number, step in enumerate(steps, 1)]


_LIBERTIES = (
    "Sort, filter, hide and resize as you please: rows are found by their code.",
    "Leave the codes, the questions, the responses and the headers as they are, and keep the file under its name.",
    "Please score alone. Do not try to find out where a response comes from.",
)


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
