"""The sections of the report that say why alpha is what it is, and where scoring is hardest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sheetsync.domain.agreement.explanation_records import BiasAndScatter, Explanation, HardPart, UnitShares
from sheetsync.domain.agreement.interval_comparison import IntervalComparison
from sheetsync.domain.agreement.null_raters import NullFigure, describe_null_raters
from sheetsync.domain.agreement.report import AgreementReport
from sheetsync.domain.agreement.verdicts import REASON_WORDS, BandSet
from sheetsync.domain.cells import show
from sheetsync.domain.number_words import shown_alpha, shown_number
from sheetsync.report_cells import (
    Shown,
    Table,
    alpha,
    coefficient,
    columns,
    count,
    fraction,
    interval,
    listed_values,
    method_words,
    number,
    rows_of,
    text,
    without_empty,
)


@dataclass(frozen=True, slots=True)
class Why:
    """What is said of one dimension: sentences, then tables."""

    name: str
    sentences: tuple[str, ...]
    tables: tuple[Table, ...]


def why_table(report: AgreementReport, bands: BandSet) -> Table:
    """Return what alpha compares and what null raters get, one row per dimension."""
    heads = columns(
        *("Dimension", "Top level", "#Its share", "#Observed", "#Expected", "#Alpha"),
        *("#Alpha of null raters", "#Their range", "#Exact", "#Exact of null raters", "#AC"),
    )
    rows = []
    for each in report.explanations:
        top, null = each.top_level, each.null_raters
        cells = [
            text(each.dimension),
            text(show(top.level) if top else "none"),
            number(top.share if top else None, "percent"),
            fraction(each.observed_scaled),
            fraction(each.expected_scaled),
            alpha(each.alpha, bands),
            number(null.alpha.mean if null.alpha else None),
            _range(null.alpha, null.reason),
            coefficient(each.exact, "percent"),
            number(null.exact.mean if null.exact else None, "percent"),
            coefficient(each.ac),
        ]
        rows.append((each.dimension, cells))
    return Table("why", "What alpha compares, and what raters get who ignore the text", heads, rows_of(rows))


def _range(figure: NullFigure | None, reason: str | None) -> Shown:
    if figure is None:
        return Shown(REASON_WORDS.get(reason or "no_variation", ""), "note")
    words = f"{shown_number(figure.low)} to {shown_number(figure.high)}"
    return Shown(words, "number", {"low": repr(figure.low), "high": repr(figure.high)})


def explanations(report: AgreementReport, bands: BandSet) -> list[Why]:
    """Return what is said of each dimension."""
    return [
        Why(
            each.dimension,
            (*each.sentences, describe_null_raters(each.null_raters, each.alpha, bands)),
            tuple(
                table
                for table in (
                    *_bias_tables(each.dimension, each.bias),
                    _boundaries(each),
                    _units(each.dimension, each.units, bands),
                    _without(each, bands),
                )
                if table.rows
            ),
        )
        for each in report.explanations
    ]


def _bias_tables(dimension: str, bias: BiasAndScatter | None) -> list[Table]:
    if bias is None:
        return []
    pairs = [
        (
            f"{dimension} | {' and '.join(pair.raters)}",
            [
                text(" and ".join(pair.raters)),
                count(pair.n),
                coefficient(pair.mean_difference, "signed"),
                interval(pair.mean_difference),
                number(pair.bias_squared),
                number(pair.scatter),
                number(pair.bias_share, "percent"),
            ],
        )
        for pair in bias.pairs
        if pair.n
    ]
    heads = columns(
        *("Raters", "#Both rated", "#Signed difference", "#Its interval"),
        *("#Bias squared", "#Scatter", "#Share of bias"),
    )
    return [
        Table("bias", f"{dimension}: constant shift and scatter between raters", heads, rows_of(pairs)),
        _severities(dimension, bias),
    ]


def _severities(dimension: str, bias: BiasAndScatter) -> Table:
    """With two raters the table of pairs says it all."""
    rows = [
        (f"{dimension} | {each.rater}", [text(each.rater), count(each.n), number(each.severity, "signed")])
        for each in bias.raters
        if len(bias.raters) > 2
    ]
    heads = columns("Rater", "#Compared ratings", "#Above the average rater")
    return Table(
        "severity", f"{dimension}: how high each rater scores the same responses", heads, rows_of(rows)
    )


def _boundaries(explanation: Explanation) -> Table:
    rows = [
        (
            f"{explanation.dimension} | {low} | {high}",
            [
                text(f"{low} and {high}"),
                number(each.differing_pairs, "percent"),
                number(each.disagreement, "percent"),
            ],
        )
        for each in explanation.boundaries
        for low, high in [[show(level) for level in each.between]]
    ]
    heads = columns("Between", "#Differing pairs across", "#Disagreement they carry")
    return Table("boundaries", f"{explanation.dimension}: where ratings part", heads, rows_of(rows))


def _units(dimension: str, units: UnitShares, bands: BandSet) -> Table:
    rows = [
        (
            f"{dimension} | {each.unit}",
            [
                text(each.unit, "code"),
                listed_values(each.values),
                number(each.share, "percent"),
                _alpha_or_reason(each.alpha_without, bands),
            ],
        )
        for each in units.heaviest
    ]
    caption = (
        f"{dimension}: responses that carry most of the disagreement ({units.n_half} of {units.n_pairable} "
        "carry half of it)"
    )
    heads = columns("Code", "Values", "#Share of the disagreement", "#Alpha without it")
    return Table("heavy-units", caption, heads, rows_of(rows))


def _without(explanation: Explanation, bands: BandSet) -> Table:
    rows = [
        (
            f"{explanation.dimension} | {each.rater}",
            [text(each.rater), count(each.n_pairable), _alpha_or_reason(each.alpha, bands)],
        )
        for each in explanation.without_raters
    ]
    heads = columns("Rater left out", "#Pairable", "#Alpha of the others")
    return Table("without-raters", f"{explanation.dimension}: alpha without each rater", heads, rows_of(rows))


def _alpha_or_reason(value: float | None, bands: BandSet) -> Shown:
    if value is None:
        return Shown("undefined", "note")
    return Shown(shown_alpha(value, bands, least=3), "number", {"value": repr(value)})


def intervals_table(report: AgreementReport) -> Table:
    """Return alpha's interval by every method, one row per dimension."""
    heads = columns(
        *("Dimension", "#Pairable", "#As asked for", "Method", "#Jackknife", "#Percentile"),
        *("#Pairs of ratings", "#Draws without variation", "Note"),
    )
    rows = []
    for each in report.explanations:
        found = each.intervals
        cells = [
            text(each.dimension),
            count(found.n_pairable),
            interval(found.default),
            text(method_words(found.default.method)),
            interval(found.jackknife),
            interval(found.percentile),
            interval(found.pair_bootstrap),
            count(found.n_undefined, found.resamples),
            text(_interval_note(found), "note"),
        ]
        rows.append((each.dimension, cells))
    caption = "The interval of alpha by several methods, for comparison"
    return without_empty(Table("intervals", caption, heads, rows_of(rows)), "note")


def _interval_note(found: IntervalComparison) -> str:
    notes = []
    if found.is_narrow and found.default.low is not None:
        notes.append("few responses and most ratings at the top: all of these intervals are too narrow")
    if found.is_pair_bootstrap_narrow and found.pair_bootstrap.low is not None:
        notes.append("pairs of ratings: too narrow with more than two raters")
    return "; ".join(notes)


def hardest_table(report: AgreementReport) -> Table:
    """Return the parts of the study that are hardest to score alike, a rank per dimension and kind."""
    heads = columns(
        *(
            "Part",
            "By",
            "Dimension",
            "#Rank",
            "#Pairable",
            "#Mean difference",
            "#Its interval",
            "#Disagreement",
        )
    )
    rows = [
        (f"{each.dimension} | {part.by} | {part.value}", _hard_cells(each.dimension, part))
        for each in report.explanations
        for part in _shown(each.hardest)
    ]
    return Table("hardest", "Hardest to score alike", heads, rows_of(rows))


_MOST_PARTS = 5


def _shown(parts: Sequence[HardPart]) -> list[HardPart]:
    """Return the first parts of each kind; of one part alone nothing is said."""
    kinds = [[part for part in parts if part.by == by] for by in dict.fromkeys(part.by for part in parts)]
    return [part for kind in kinds if len(kind) > 1 for part in kind[:_MOST_PARTS]]


def _hard_cells(dimension: str, part: HardPart) -> list[Shown]:
    return [
        text(part.value),
        text(part.by.replace("_", " ")),
        text(dimension),
        Shown("too few", "note") if part.rank is None else count(part.rank),
        count(part.n_pairable),
        coefficient(part.mean_abs_difference),
        interval(part.mean_abs_difference),
        fraction(part.observed_scaled),
    ]
