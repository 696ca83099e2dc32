"""The summary workbook: what everybody who may see results sees. Values only, no formulas."""

from __future__ import annotations

from collections.abc import Sequence

from sheetsync.domain.agreement.report import DimensionAgreement, PairAgreement, TagAgreement
from sheetsync.domain.agreement.verdicts import REASON_WORDS, interval_reason_words
from sheetsync.domain.analysis import Analysis
from sheetsync.domain.summary.cells import shown_band, shown_coefficient
from sheetsync.domain.summary.page import summary_tab
from sheetsync.domain.summary.results import results_tab, tags_tab
from sheetsync.domain.text_layout import count_lines, row_height
from sheetsync.domain.workbook import Cell, CellSpec, ColumnSpec, TabSpec, WorkbookSpec


def build_summary_workbook(analysis: Analysis, *, name_models: bool) -> WorkbookSpec:
    """Return the summary workbook; without `name_models` it holds codes only."""
    tabs = (
        summary_tab(analysis),
        agreement_tab(analysis),
        divergences_tab(analysis),
        results_tab(analysis, name_models=name_models),
        tags_tab(analysis, name_models=name_models),
        progress_tab(analysis),
        problems_tab(analysis),
    )
    return WorkbookSpec(f"{analysis.study.title} (summary)", tabs, marker=f"{analysis.study.id}/summary")


# --- Agreement ---

_AGREEMENT_COLUMNS: tuple[ColumnSpec, ...] = (
    ColumnSpec("Dimension", 22),
    ColumnSpec("By", 11, note="all: every production unit; pair: two raters; tag: a tag by two raters."),
    ColumnSpec("Value", 24),
    ColumnSpec("Units", 8, "integer"),
    ColumnSpec("With two or more", 10, "integer", note="Units with ratings of two or more raters."),
    ColumnSpec("Ratings", 9, "integer"),
    ColumnSpec("Missing", 9, "integer"),
    ColumnSpec("N/A", 7, "integer"),
    ColumnSpec("Invalid", 9, "integer"),
    ColumnSpec("Alpha", 12, "number", note="Krippendorff's alpha at the dimension's level of measurement."),
    ColumnSpec("Low", 9, "number"),
    ColumnSpec("High", 9, "number"),
    ColumnSpec("Interval", 16, "note"),
    ColumnSpec("Band", 16),
    ColumnSpec("Exact", 9, "percent", note="Pairs of raters with equal values, as a mean over units."),
    ColumnSpec("Within 1", 9, "percent"),
    ColumnSpec(
        "Mean difference",
        11,
        "number",
        note="Mean absolute difference of pairs; signed for a pair (first minus second).",
    ),
    ColumnSpec(
        "AC", 10, "number", note="Gwet's AC1 (nominal) or AC2 (quadratic weights): less sensitive to skew."
    ),
    ColumnSpec("Brennan-Prediger", 10, "number"),
    ColumnSpec("Fleiss kappa", 10, "number", note="Unweighted."),
    ColumnSpec("ICC(2,1)", 10, "number", note="On units that every rater scored."),
    ColumnSpec("Kappa", 10, "number", note="Cohen's kappa of a pair, unweighted."),
    ColumnSpec("Kappa linear", 10, "number"),
    ColumnSpec("Kappa quadratic", 10, "number"),
    ColumnSpec("Spearman", 10, "number"),
)


def agreement_tab(analysis: Analysis) -> TabSpec:
    """Return the table of every coefficient: overall, per slice, per pair, per tag."""
    labels = list(dict.fromkeys(label for d in analysis.agreement.dimensions for label in d.distribution))
    rows: list[tuple[CellSpec, ...]] = [
        _dimension_row(dimension, "all", "", labels) for dimension in analysis.agreement.dimensions
    ]
    for dimension in analysis.agreement.dimensions:
        rows += [_dimension_row(s.agreement, s.by, s.value, labels) for s in dimension.slices]
    for dimension in analysis.agreement.dimensions:
        rows += [_pair_row(dimension.dimension, pair) for pair in dimension.pairs]
    for tag in analysis.agreement.tags:
        rows += _tag_rows(tag)
    for dimension in analysis.practice.dimensions if analysis.practice else ():
        rows.append(_dimension_row(dimension, "practice", "calibration round", labels))
    counts = tuple(ColumnSpec(f"Rated {label}", 8, "integer") for label in labels)
    return TabSpec(
        "Agreement",
        _AGREEMENT_COLUMNS + counts,
        tuple(rows),
        table=True,
        frozen_rows=1,
        frozen_columns=3,
        row_heights={0: 50.0, **{index: _height(row) for index, row in enumerate(rows, 1)}},
    )


def _height(row: Sequence[CellSpec]) -> float:
    """Return the height of a row whose reasons are wrapped in narrow columns."""
    texts = [cell.value if isinstance(cell, Cell) else cell for cell in row]
    lines = [
        count_lines(text, column.width)
        for text, column in zip(texts, _AGREEMENT_COLUMNS, strict=False)
        if isinstance(text, str)
    ]
    return row_height(max(lines, default=1))


def _dimension_row(
    agreement: DimensionAgreement, by: str, value: str, labels: Sequence[str]
) -> tuple[CellSpec, ...]:
    each = agreement.coefficients
    alpha = each["alpha"]
    hidden = by not in ("all", "practice") and agreement.too_few
    interval = f"{alpha.method}, {alpha.confidence:.0%}" if alpha.method and alpha.confidence else ""
    if alpha.interval_reason and alpha.value is not None:
        interval = interval_reason_words(alpha.interval_reason)
    return (
        agreement.dimension,
        by,
        value,
        agreement.n_units,
        agreement.n_pairable,
        agreement.n_ratings,
        agreement.n_missing,
        agreement.n_not_applicable,
        agreement.n_invalid,
        Cell(REASON_WORDS["too_few_units"], "note") if hidden else shown_coefficient(alpha),
        None if hidden else alpha.low,
        None if hidden else alpha.high,
        interval,
        None if hidden else shown_band(agreement.band),
        shown_coefficient(each.get("exact"), "percent"),
        shown_coefficient(each.get("within"), "percent"),
        shown_coefficient(each.get("mean_abs_difference")),
        *(
            None if hidden else shown_coefficient(each.get(name))
            for name in ("ac", "brennan_prediger", "fleiss_kappa", "icc")
        ),
        *(None,) * 4,
        *(agreement.distribution.get(label) for label in labels),
    )


def _pair_row(dimension: str, pair: PairAgreement) -> tuple[CellSpec, ...]:
    return (
        dimension,
        "pair",
        " and ".join(pair.raters),
        None,
        pair.n,
        *(None,) * 9,
        shown_coefficient(pair.exact, "percent"),
        None,
        shown_coefficient(pair.mean_difference, "signed"),
        *(None,) * 4,
        *(shown_coefficient(c) for c in (pair.kappa, pair.kappa_linear, pair.kappa_quadratic, pair.spearman)),
    )


def _tag_rows(tag: TagAgreement) -> list[tuple[CellSpec, ...]]:
    name = f"{tag.tag} ({tag.of})" if tag.of else tag.tag
    return [
        (
            name,
            "tag",
            " and ".join(pair.raters),
            None,
            pair.n,
            *(None,) * 9,
            shown_coefficient(pair.exact, "percent"),
            *(None,) * 6,
            shown_coefficient(pair.kappa),
        )
        for pair in tag.pairs
    ]


# --- Divergences, Progress, Problems ---

_LONGEST = 1000
"""Characters of a text in `Problems`; the whole of it stands in the cell that the row names."""


def divergences_tab(analysis: Analysis) -> TabSpec:
    """Return every divergence with its state and verdict."""
    raters = [rater.id for rater in analysis.study.raters if rater.kind == "annotator"]
    units = {unit.code: unit for unit in analysis.units}
    columns = (
        ColumnSpec("Code", 11, "code"),
        ColumnSpec("Question_ID", 13),
        ColumnSpec("Figure", 24),
        ColumnSpec("Dimension", 22),
        ColumnSpec("Kind", 14),
        *(ColumnSpec(rater, 9, "code") for rater in raters),
        ColumnSpec("Range", 8, "integer"),
        ColumnSpec("State", 22),
        ColumnSpec("Verdict", 10, "code"),
        ColumnSpec("Reason", 28),
    )
    rows = tuple(
        (
            d.code,
            units[d.code].question_id,
            units[d.code].figure,
            analysis.rubric.by_id[d.dimension].name,
            d.kind,
            *(d.values.get(rater) for rater in raters),
            d.range,
            Cell(d.state, "good" if d.state == "settled" else "fair"),
            d.verdict.verdict if d.verdict else None,
            d.verdict.reason if d.verdict else None,
        )
        for d in analysis.divergences
    )
    return TabSpec("Divergences", columns, rows, table=True, frozen_rows=1, frozen_columns=1)


def progress_tab(analysis: Analysis) -> TabSpec:
    """Return how far each rater has come."""
    columns = (
        ColumnSpec("Rater", 14),
        ColumnSpec("Batch", 14),
        ColumnSpec("Kind", 14),
        ColumnSpec("Assigned", 10, "integer"),
        ColumnSpec("Complete", 10, "integer"),
        ColumnSpec("Partial", 10, "integer"),
        ColumnSpec("Untouched", 11, "integer"),
        ColumnSpec(
            "Invalid", 10, "integer", note="Rows with a cell or a rule to put right; they are not complete."
        ),
        ColumnSpec("Last change", 22),
    )
    rows = tuple(
        (p.rater, p.batch, p.kind, p.assigned, p.complete, p.partial, p.untouched, p.invalid, p.last_change)
        for p in analysis.progress
    )
    return TabSpec("Progress", columns, rows, table=True, frozen_rows=1)


def problems_tab(analysis: Analysis) -> TabSpec:
    """Return everything that is wrong in workbooks now, with its place."""
    columns = (
        ColumnSpec("Rater", 12),
        ColumnSpec("Batch", 13),
        ColumnSpec("Tab", 14),
        ColumnSpec("Cell", 8, "code"),
        ColumnSpec("Code", 11, "code"),
        ColumnSpec("Column", 22),
        ColumnSpec("Found", 24),
        ColumnSpec("Kind", 26),
        ColumnSpec("Severity", 11),
        ColumnSpec("Message", 90),
    )
    rows = tuple(
        (
            p.rater,
            p.batch,
            p.tab,
            p.cell,
            p.code,
            p.column,
            _shortened(p.found),
            p.kind,
            p.severity,
            _shortened(p.message),
        )
        for p in analysis.problems
    )
    return TabSpec("Problems", columns, rows, table=True, frozen_rows=1)


def _shortened(text: str | None) -> str | None:
    """Return the beginning of a text: somebody may have pasted as much as a cell holds, and we quote it."""
    return text if text is None or len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
