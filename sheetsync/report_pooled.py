"""What the report says of alpha over all dimensions."""

from __future__ import annotations

from dataclasses import dataclass

from sheetsync.domain.agreement.pooled import Pooled, PooledFigure, describe_nothing
from sheetsync.domain.agreement.verdicts import REASON_WORDS, BandSet, describe_band
from sheetsync.domain.number_words import shown_alpha, shown_number
from sheetsync.report_cells import Table, columns, count, fraction, number, rows_of, text, without_empty


@dataclass(frozen=True, slots=True)
class PooledWords:
    """Alpha over all dimensions: sentences, the weights, and the footnote on the naive figure."""

    sentences: tuple[str, ...]
    weights: Table
    footnote: str | None


def pooled_words(pooled: Pooled | None, bands: BandSet) -> PooledWords | None:
    """Return what is said of alpha over all dimensions, None where there is one dimension only."""
    if pooled is None:
        return None
    heads = columns("Dimension", "#Ratings compared", "#Observed", "#Expected", "#Weight", "Note")
    rows = [
        (
            each.dimension,
            [
                text(each.dimension),
                count(each.n_ratings),
                fraction(each.observed_scaled),
                fraction(each.expected_scaled),
                number(each.weight, "percent"),
                text(REASON_WORDS.get(each.reason, each.reason) if each.reason else "", "note"),
            ],
        )
        for each in pooled.weights
    ]
    caption = "What each dimension brings into the stratified alpha"
    return PooledWords(
        _stratified(pooled, bands),
        without_empty(Table("weights", caption, heads, rows_of(rows)), "note"),
        _footnote(pooled.naive),
    )


def _stratified(pooled: Pooled, bands: BandSet) -> tuple[str, ...]:
    figure = pooled.stratified
    if figure.value is None:
        return (f"Stratified alpha: {REASON_WORDS.get(figure.reason or '', '')}.",)
    words = [f"Stratified alpha is {shown_alpha(figure.value, bands)}: {describe_band(figure.band)}."]
    if figure.null is not None:
        low, high = shown_number(figure.null.low), shown_number(figure.null.high)
        words.append(
            f"Raters who ignore the text get {shown_number(figure.null.mean)} ({low} to {high}) in the same way."
        )
    if pooled.without_variation:
        words.append(describe_nothing(pooled))
    return tuple(words)


def _footnote(naive: PooledFigure) -> str | None:
    if naive.value is None:
        return None
    guessed = (
        f" Raters who ignore the text get {shown_number(naive.null.mean)} "
        f"({shown_number(naive.null.low)} to {shown_number(naive.null.high)}) in the same way."
        if naive.null
        else ""
    )
    return (
        f"Footnote, not a result: all ratings stacked, whichever dimension they belong to, give alpha "
        f"{shown_number(naive.value)}.{guessed} What lies between dimensions counts as agreement there."
    )
