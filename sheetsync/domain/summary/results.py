"""The tabs that may name models: `Results` and `Tags`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sheetsync.domain.analysis import Analysis, slice_columns, slice_value
from sheetsync.domain.cells import show
from sheetsync.domain.certification.certificate import RELIABILITY_UNKNOWN
from sheetsync.domain.results import FINAL_SOURCES, GroupSummary, UnitResult, count_tags, summarise_groups
from sheetsync.domain.study import Rubric
from sheetsync.domain.summary.claims import claims_block
from sheetsync.domain.workbook import Cell, CellSpec, ColumnSpec, TabSpec

Row = tuple[CellSpec, ...]


def group_codes(analysis: Analysis, *, name_models: bool) -> list[tuple[str, Mapping[str, str]]]:
    """Return what results are grouped by, each with the group of every code.

    With models: by model, and by model within each slice of the study. Without: by slice alone.
    """
    groups: list[tuple[str, Mapping[str, str]]] = []
    if name_models:
        groups.append(("model", {unit.code: unit.model for unit in analysis.units}))
    else:
        groups.append(("all", {unit.code: "all responses" for unit in analysis.units}))
    for column in slice_columns(analysis.study):
        values = {
            unit.code: slice_value(analysis.questions[unit.code], column)
            for unit in analysis.units
            if unit.code in analysis.questions
        }
        named = {
            unit.code: f"{unit.model} · {values[unit.code]}" if name_models else values[unit.code]
            for unit in analysis.units
            if values.get(unit.code)
        }
        groups.append((f"model by {column}" if name_models else column, named))
    return groups


def results_tab(analysis: Analysis, *, name_models: bool) -> TabSpec:
    """Return final values added up per group, below that what follows for models, and every unit."""
    labels, mark = _labels(analysis.rubric), _reliability_mark(analysis)
    columns = (
        ColumnSpec("By", 18),
        ColumnSpec("Group", 34),
        ColumnSpec("Dimension", 24),
        ColumnSpec("Values", 12, "integer", note="Responses with a final number: not N/A, not unresolved."),
        ColumnSpec("Mean", 14, "number"),
        ColumnSpec("Median", 14, "number"),
        *(
            ColumnSpec(
                "Unresolved" if source == "unresolved" else f"From {source}",
                13,
                "integer",
                note=_SOURCE_NOTES[source],
            )
            for source in FINAL_SOURCES
        ),
        ColumnSpec("N/A", 12, "integer"),
        *(ColumnSpec(f"Final {label}", 12, "integer") for label in labels),
        *_reliability_column(analysis),
    )
    rows: list[Row] = [
        (*_summary_row(by, summary, analysis.rubric, labels), *mark)
        for by, groups in group_codes(analysis, name_models=name_models)
        for summary in summarise_groups(analysis.results, groups, analysis.rubric)
    ]
    block = claims_block(analysis, columns, len(rows) + 2, name_models=name_models)
    rows += [(), *block.rows]
    heights = {0: 34.0, **block.heights, len(rows) + 2: 34.0}
    rows += [(), (*_unit_header(analysis.rubric), *([Cell("Reliability", "header")] if mark else []))]
    rows += [(*_unit_row(result, analysis.rubric, name_models), *mark) for result in analysis.results]
    return TabSpec(
        "Results",
        columns,
        tuple(rows),
        frozen_rows=1,
        frozen_columns=2,
        row_heights=heights,
        merged=block.merged,
    )


def _reliability_column(analysis: Analysis) -> list[ColumnSpec]:
    """Return the column that marks scores which no certificate stands behind (S2.19); none where one does."""
    unknown = analysis.reliability_unknown
    return [ColumnSpec("Reliability", 20, note=unknown)] if unknown else []


def _reliability_mark(analysis: Analysis) -> Row:
    return (Cell(RELIABILITY_UNKNOWN, "poor"),) if analysis.reliability_unknown else ()


_SOURCE_NOTES = {
    "unanimous": "All raters gave the value.",
    "majority": "More than half of the raters gave it, and nobody diverges.",
    "mean": "Mean of raters who differ by less than the threshold.",
    "verdict": "An adjudicator decided.",
    "unresolved": "A divergence is still open: no value.",
}


def _labels(rubric: Rubric) -> list[str]:
    return list(dict.fromkeys(show(level) for dimension in rubric.dimensions for level in dimension.scale))


def _summary_row(by: str, summary: GroupSummary, rubric: Rubric, labels: Sequence[str]) -> Row:
    return (
        by,
        summary.group,
        rubric.by_id[summary.dimension].name,
        summary.n,
        summary.mean,
        summary.median,
        *(summary.sources[source] for source in FINAL_SOURCES),
        summary.n_not_applicable,
        *(summary.distribution.get(label) for label in labels),
    )


def _unit_header(rubric: Rubric) -> Row:
    names = ["Code", "Question_ID", "Figure", "Model"]
    for dimension in rubric.dimensions:
        names += [dimension.name, f"{dimension.name} from"]
    return tuple(Cell(name, "header") for name in names)


def _unit_row(result: UnitResult, rubric: Rubric, name_models: bool) -> Row:
    unit = result.unit
    cells: list[CellSpec] = [
        Cell(unit.code, "code"),
        Cell(unit.question_id, "text"),
        Cell(unit.figure, "text"),
        Cell(unit.model if name_models else "", "text"),
    ]
    for dimension in rubric.dimensions:
        final = result.finals[dimension.id]
        is_mean = isinstance(final.value, float) and not final.value.is_integer()
        cells += [Cell(final.value, "number" if is_mean else "code"), Cell(final.source, "text")]
    return tuple(cells)


def tags_tab(analysis: Analysis, *, name_models: bool) -> TabSpec:
    """Return how often each tag was ticked: per model (where models are named) and per rater."""
    columns = (
        ColumnSpec("By", 10),
        ColumnSpec("Group", 24),
        ColumnSpec("Tag", 26),
        ColumnSpec("Of", 24),
        ColumnSpec("Ticks", 10, "integer", note="Ticks of all raters together."),
        ColumnSpec("Responses", 11, "integer", note="Responses that at least one rater ticked."),
        ColumnSpec("Rows rated", 11, "integer", note="Rater rows with at least one score."),
        ColumnSpec("Share", 10, "percent", note="Ticks per rated row."),
        *(_reliability_column(analysis) if name_models else []),
    )
    owner = {tag.id: dimension.name for dimension in analysis.rubric.dimensions for tag in dimension.tags}
    rows: list[Row] = []
    if name_models:
        for count in count_tags(analysis.units, analysis.current, analysis.rubric):
            of = owner.get(count.tag, "response")
            share = count.ticks / count.n_rated if count.n_rated else None
            row = ("model", count.group, count.tag, of, count.ticks, count.units, count.n_rated, share)
            rows.append((*row, *_reliability_mark(analysis)))
    for tag in analysis.agreement.tags:
        for rater, ticks in tag.n_ticked.items():
            rated = sum(row[0] == rater for row in analysis.current.ticks)
            share = ticks / rated if rated else None
            rows.append(("rater", rater, tag.tag, tag.of or "response", ticks, ticks, rated, share))
    return TabSpec("Tags", columns, tuple(rows), table=True, frozen_rows=1)
