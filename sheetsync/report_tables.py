"""The tables of the report on agreement, tags and slices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from sheetsync.domain.agreement.coefficients import undefined
from sheetsync.domain.agreement.report import AgreementReport, DimensionAgreement, SliceAgreement
from sheetsync.domain.agreement.verdicts import BandSet
from sheetsync.domain.analysis import Analysis
from sheetsync.domain.certification.certificate import RELIABILITY_UNKNOWN
from sheetsync.domain.results import count_tags
from sheetsync.domain.study import Rubric
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
    ticks = {
        (tag.tag, rater): ticked for tag in analysis.agreement.tags for rater, ticked in tag.n_ticked.items()
    }
    raters = [rater.id for rater in analysis.study.raters if rater.id in rated]
    return _tag_counts(
        "tag-raters", "Tags: ticks per rater", analysis.rubric, ticks, {r: rated[r] for r in raters}
    )


def tag_models_table(analysis: Analysis) -> Table:
    """Return how often each tag was ticked per model, by all raters together."""
    counts = count_tags(analysis.units, analysis.current, analysis.rubric)
    ticks = {(c.tag, c.group): c.ticks for c in counts}
    rated = {c.group: c.n_rated for c in counts}
    mark = f" ({RELIABILITY_UNKNOWN})" if analysis.reliability_unknown else ""
    return _tag_counts("tag-models", f"Tags: ticks per model{mark}", analysis.rubric, ticks, rated)


def _tag_counts(
    name: str,
    caption: str,
    rubric: Rubric,
    ticks: Mapping[tuple[str, str], int],
    rated: Mapping[str, int],
) -> Table:
    """Return a row per tag and a column per rater or model; the last row counts rated rows."""
    owned = [(tag.id, dimension.name) for dimension in rubric.dimensions for tag in dimension.tags]
    tags = [(tag.id, "response") for tag in rubric.tags] + owned
    rows = [
        (
            f"{tag} | {of}",
            [text(tag), text(of), *(count(ticks.get((tag, group), 0), n) for group, n in rated.items())],
        )
        for tag, of in tags
    ]
    if not rows or not any(rated.values()):
        return Table(name, caption, (), ())
    total = [text("Rows rated"), text(""), *(count(n) for n in rated.values())]
    heads = (*columns("Tag", "Of"), *(TableColumn(group, group, numeric=True) for group in rated))
    return Table(name, caption, heads, rows_of([*rows, ("rows rated", total)]))


def slice_tables(report: AgreementReport, bands: BandSet) -> list[Table]:
    """Return one table per slice column, dimension by dimension."""
    found: dict[str, list[SliceAgreement]] = {}
    for dimension in report.dimensions:
        for each in dimension.slices:
            found.setdefault(each.by, []).append(each)
    tables = []
    for by, slices in found.items():
        axis = axis_for((each.agreement.coefficients["alpha"] for each in slices), bands)
        rows = [
            (f"{s.agreement.dimension} | {s.value}", _slice_cells(s.value, s.agreement, axis, bands))
            for s in slices
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
    if agreement.too_few:
        found = undefined("too_few_units")
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
