"""The tables of the report on agreement, tags and slices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from sheetsync.domain.agreement_report import AgreementReport, DimensionAgreement
from sheetsync.domain.analysis import Analysis
from sheetsync.domain.coefficients import Coefficient
from sheetsync.domain.results import count_tags
from sheetsync.domain.study import Rubric
from sheetsync.domain.verdicts import BandSet
from sheetsync.report_cells import (
    Shown,
    Table,
    TableColumn,
    alpha,
    band,
    coefficient,
    columns,
    count,
    interval,
    number,
    rows_of,
    text,
)
from sheetsync.report_figures import Axis, axis_for, strip


def headline_table(report: AgreementReport, bands: BandSet, name: str = "headline") -> Table:
    """Return the figures that come first, one row per dimension."""
    heads = columns("Dimension", "#Pairable", "#Alpha", "#Interval", "Band", "#Exact", "#Within")
    heads = (*heads[:-1], TableColumn("within", within_title(report), numeric=True))
    rows = [
        (
            d.dimension,
            [
                text(d.dimension),
                count(d.n_pairable),
                alpha(d.coefficients["alpha"], bands),
                interval(d.coefficients["alpha"], with_method=True),
                band(d.band),
                *_closeness(d),
                coefficient(d.coefficients.get("ac")),
            ],
        )
        for d in report.dimensions
    ]
    caption = "Agreement per dimension" if name == "headline" else "Agreement on practice responses"
    tail = (TableColumn("mean-difference", "Mean difference", numeric=True), _ac_column(report))
    return Table(name, caption, (*heads, *tail), rows_of(rows))


def within_title(report: AgreementReport) -> str:
    """Return the title of the column for `within`, with its distance."""
    distances = [d.coefficients["within"].k for d in report.dimensions if "within" in d.coefficients]
    return f"Within {distances[0]:g}" if distances and distances[0] is not None else "Within"


def _ac_column(report: AgreementReport) -> TableColumn:
    levels = {d.level == "nominal" for d in report.dimensions}
    title = "AC1 or AC2" if len(levels) > 1 else "AC1" if True in levels else "AC2"
    return TableColumn("ac", title, numeric=True)


def _closeness(dimension: DimensionAgreement) -> list[Shown]:
    each = dimension.coefficients
    return [
        coefficient(each.get("exact"), "percent"),
        coefficient(each.get("within"), "percent"),
        coefficient(each.get("mean_abs_difference")),
    ]


def further_table(report: AgreementReport) -> Table:
    """Return what was counted and the coefficients that stand beside alpha."""
    heads = columns(
        *("Dimension", "Level", "#Responses", "#Raters", "#Ratings", "#Missing", "#N/A", "#Invalid"),
        *("#Brennan-Prediger", "#Fleiss kappa", "#ICC(2,1)"),
    )
    rows = [
        (
            d.dimension,
            [
                text(d.dimension),
                text(d.level),
                *(count(n) for n in (d.n_units, d.n_raters, d.n_ratings, d.n_missing)),
                *(count(n) for n in (d.n_not_applicable, d.n_invalid)),
                *(coefficient(d.coefficients.get(c)) for c in ("brennan_prediger", "fleiss_kappa", "icc")),
            ],
        )
        for d in report.dimensions
    ]
    return Table("further", "Counts and further coefficients", heads, rows_of(rows))


def spread_table(report: AgreementReport) -> Table:
    """Return how many ratings each level got."""
    labels = list(dict.fromkeys(label for d in report.dimensions for label in d.distribution))
    heads = (
        *columns("Dimension", "#Ratings"),
        *(TableColumn(f"level-{label}", label, numeric=True) for label in labels),
    )
    rows = []
    for d in report.dimensions:
        total = sum(d.distribution.values())
        cells = [
            count(d.distribution[label], total) if label in d.distribution else number(None)
            for label in labels
        ]
        rows.append((d.dimension, [text(d.dimension), count(total), *cells]))
    return Table("spread", "Ratings per level", heads, rows_of(rows))


def pairs_table(report: AgreementReport) -> Table:
    """Return every pair of raters on every dimension."""
    heads = columns(
        *("Dimension", "Raters", "#Both rated", "#Kappa", "#Kappa interval", "#Linear kappa"),
        *("#Quadratic kappa", "#Spearman", "#Exact", "#Signed difference"),
    )
    rows = [
        (
            f"{d.dimension} | {' and '.join(pair.raters)}",
            [
                text(d.dimension),
                text(" and ".join(pair.raters)),
                count(pair.n),
                coefficient(pair.kappa),
                interval(pair.kappa),
                coefficient(pair.kappa_linear),
                coefficient(pair.kappa_quadratic),
                coefficient(pair.spearman),
                coefficient(pair.exact, "percent"),
                coefficient(pair.mean_difference, "signed"),
            ],
        )
        for d in report.dimensions
        for pair in d.pairs
    ]
    return Table("pairs", "Pairs of raters", heads, rows_of(rows))


def tag_pairs_table(report: AgreementReport) -> Table:
    """Return Cohen's kappa on every tag for every pair of raters."""
    heads = columns("Tag", "Of", "Raters", "#Both rated", "#Kappa", "#Kappa interval", "#Exact")
    rows = [
        (
            f"{tag.tag} | {tag.of or 'response'} | {' and '.join(pair.raters)}",
            [
                text(tag.tag),
                text(tag.of or "response"),
                text(" and ".join(pair.raters)),
                count(pair.n),
                coefficient(pair.kappa),
                interval(pair.kappa),
                coefficient(pair.exact, "percent"),
            ],
        )
        for tag in report.tags
        for pair in tag.pairs
    ]
    return Table("tag-pairs", "Tags: pairs of raters", heads, rows_of(rows))


def tag_raters_table(analysis: Analysis) -> Table:
    """Return how often each rater ticked each tag."""
    rated = Counter(rater for rater, _ in analysis.current.ticks)
    heads = columns("Tag", "Of", "Rater", "#Ticks", "#Rows rated")
    rows = [
        (
            f"{tag.tag} | {tag.of or 'response'} | {rater}",
            [
                text(tag.tag),
                text(tag.of or "response"),
                text(rater),
                count(ticks, rated[rater]),
                count(rated[rater]),
            ],
        )
        for tag in analysis.agreement.tags
        for rater, ticks in tag.n_ticked.items()
    ]
    return Table("tag-raters", "Tags: ticks per rater", heads, rows_of(rows))


def tag_models_table(analysis: Analysis) -> Table:
    """Return how often each tag was ticked per model."""
    owner = _tag_owners(analysis.rubric)
    heads = columns("Tag", "Of", "Model", "#Ticks", "#Responses", "#Rows rated")
    counts = count_tags(analysis.units, analysis.current, analysis.rubric)
    rows = [
        (
            f"{tag} | {of} | {c.group}",
            [
                text(tag),
                text(of),
                text(c.group),
                count(c.ticks, c.n_rated),
                count(c.units),
                count(c.n_rated),
            ],
        )
        for tag, of in owner.items()
        for c in counts
        if c.tag == tag
    ]
    return Table("tag-models", "Tags: ticks per model", heads, rows_of(rows))


def _tag_owners(rubric: Rubric) -> dict[str, str]:
    owned = {tag.id: dimension.name for dimension in rubric.dimensions for tag in dimension.tags}
    return {tag.id: "response" for tag in rubric.tags} | owned


def slice_tables(report: AgreementReport, bands: BandSet) -> list[Table]:
    """Return one table per slice column, each dimension's slices beside one another."""
    found: dict[str, list[DimensionAgreement]] = {}
    values: dict[tuple[str, str], list[DimensionAgreement]] = {}
    for dimension in report.dimensions:
        for each in dimension.slices:
            found.setdefault(each.by, []).append(each.agreement)
            values.setdefault((each.by, each.value), []).append(each.agreement)
    tables = []
    for by, agreements in found.items():
        axis = axis_for((a.coefficients["alpha"] for a in agreements), bands)
        rows = [
            (f"{a.dimension} | {value}", _slice_cells(value, a, axis, bands))
            for (of, value), here in values.items()
            if of == by
            for a in here
        ]
        heads = _slice_columns(by, axis, within_title(report))
        tables.append(Table(f"slice-{by}", f"Agreement by {by}", heads, rows_of(rows)))
    return tables


def _slice_columns(by: str, axis: Axis, within: str) -> tuple[TableColumn, ...]:
    low = f"{axis.low:g}".replace("-", "−")
    return (
        TableColumn("value", by.replace("_", " ").capitalize()),
        *columns("Dimension", "#Responses", "#Pairable", "#Alpha", "#Interval"),
        TableColumn("plot", f"Alpha, {low} to 1"),
        *columns("#Exact"),
        TableColumn("within", within, numeric=True),
        *columns("#Mean difference"),
    )


def _slice_cells(value: str, agreement: DimensionAgreement, axis: Axis, bands: BandSet) -> list[Shown]:
    found = agreement.coefficients["alpha"]
    figure, limits = alpha(found, bands), interval(found)
    words = f"{agreement.dimension}, {value}: alpha {figure.text}, {limits.text}"
    return [
        text(value),
        text(agreement.dimension),
        count(agreement.n_units),
        count(agreement.n_pairable),
        figure,
        limits,
        Shown("", "plot", strip=strip(found, axis, words)),
        *_closeness(agreement),
    ]


def undefined_sentences(
    report: AgreementReport, explain: Callable[[str | None], str]
) -> Sequence[tuple[str, str]]:
    """Return per dimension without an alpha, or without its interval, why that is so."""
    sentences = []
    for dimension in report.dimensions:
        found: Coefficient = dimension.coefficients["alpha"]
        if found.value is None:
            sentences.append((dimension.dimension, f"alpha: {explain(found.reason)}"))
        elif found.low is None:
            sentences.append((dimension.dimension, f"interval of alpha: {explain(found.interval_reason)}"))
    return sentences
