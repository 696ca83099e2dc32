"""The block of the tab `Results` that says which differences between models hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sheetsync.domain.analysis import Analysis
from sheetsync.domain.claims.claims import Claim, ClaimClass, Claims
from sheetsync.domain.claims.words import (
    NOT_NAMED,
    STRENGTH_WORDS,
    claim_sentence,
    count_words,
    marked,
    rule_words,
)
from sheetsync.domain.summary.cells import shown_coefficient
from sheetsync.domain.text_layout import count_lines, row_height
from sheetsync.domain.workbook import Cell, CellSpec, ColumnSpec, Style

Row = tuple[CellSpec, ...]

_HEADERS = (
    "Claim",
    "Models",
    "Dimension",
    "Questions",
    "Difference",
    "Low",
    "High",
    "Raters differ",
    "Alpha low",
    "To paste",
)
_SENTENCE = len(_HEADERS) - 1
_STYLES: Mapping[ClaimClass | None, Style] = {
    "finding": "good",
    "provisional": "fair",
    "not_separable": "note",
    None: "note",
}


@dataclass(frozen=True)
class ClaimsBlock:
    """Rows with their heights and merged cells; positions are 0-based rows of the sheet."""

    rows: tuple[Row, ...]
    heights: Mapping[int, float]
    merged: tuple[tuple[int, int, int, int], ...] = field(default=())


def claims_block(
    analysis: Analysis, columns: Sequence[ColumnSpec], first: int, *, name_models: bool
) -> ClaimsBlock:
    """Return the rule and one row per comparison, or why there is none.

    Args:
        analysis: the study.
        columns: those of the tab: texts are spread over them.
        first: the 0-based row of the sheet where the block starts.
        name_models: whether models may be named.
    """
    last = len(columns) - 1
    claims = analysis.claims if name_models else Claims()
    unknown = analysis.reliability_unknown
    words = marked(f"{count_words(claims)} {rule_words(claims)}", unknown) if name_models else NOT_NAMED
    # The words start right of the frozen columns: Google merges no cells across their border.
    rows: list[Row] = [(Cell("Claims", "heading"), Cell("", "heading"), Cell(words, "text"))]
    texts = [(2, words)]
    if claims.claims:
        rows.append(tuple(Cell(name, "header") for name in _HEADERS))
        texts.append((_SENTENCE, _HEADERS[_SENTENCE]))
        for claim in claims.claims:
            dimension = analysis.rubric.by_id[claim.dimension]
            sentence = marked(claim_sentence(claim, claims, dimension), unknown)
            rows.append(_claim_row(claim, dimension.name, sentence))
            texts.append((_SENTENCE, sentence))
    heights, merged = {}, []
    for row, (column, text) in enumerate(texts, first):
        room = sum(each.width for each in columns[column:])
        heights[row] = row_height(count_lines(text, room))
        merged.append((row, column, row, last))
    return ClaimsBlock(tuple(rows), heights, tuple(merged))


def _claim_row(claim: Claim, dimension: str, sentence: str) -> Row:
    difference = claim.difference
    return (
        Cell(STRENGTH_WORDS[claim.strength], _STYLES[claim.strength]),
        Cell(" minus ".join(claim.models), "text"),
        Cell(dimension, "text"),
        Cell(claim.n, "integer"),
        shown_coefficient(difference, "signed"),
        None if difference.low is None else Cell(difference.low, "signed"),
        None if difference.high is None else Cell(difference.high, "signed"),
        shown_coefficient(claim.rater_difference),
        None if claim.alpha.low is None else Cell(claim.alpha.low, "number"),
        Cell(sentence, "text"),
    )
