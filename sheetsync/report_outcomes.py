"""The tables of the report on what came out: divergences, results, progress, problems, settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sheetsync.domain.analysis import Analysis
from sheetsync.domain.cells import allowed_levels, show
from sheetsync.domain.certification.certificate import RELIABILITY_UNKNOWN
from sheetsync.domain.divergence import Divergence, DivergenceKind, measure_unit
from sheetsync.domain.results import FINAL_SOURCES, GroupSummary, summarise_groups
from sheetsync.domain.study import Dimension
from sheetsync.domain.summary.results import group_codes
from sheetsync.report_cells import (
    Shown,
    Table,
    TableColumn,
    columns,
    count,
    level,
    listed_values,
    method_words,
    number,
    rows_of,
    text,
)
from sheetsync.report_tables import within_title

MOST_GROUPS = 24
"""Results by more groups than this stand in the summary workbook only."""


def divergence_counts(analysis: Analysis) -> Table:
    """Return open and settled divergences per dimension."""
    heads = columns(
        *("Dimension", "Threshold", "#Score", "#Score open", "#With verdict"),
        *("#Applicability", "#Applicability open"),
    )
    settings = analysis.study.settings.divergence
    rows = []
    for dimension in analysis.rubric.dimensions:
        here = [d for d in analysis.divergences if d.dimension == dimension.id]
        threshold = f"{settings.threshold:g} {measure_unit(dimension, settings)}"
        cells = [
            text(dimension.name),
            text(threshold),
            *(count(len(each)) for each in _open_of(here, "score")),
            count(sum(d.state != "open" for d in here)),
            *(count(len(each)) for each in _open_of(here, "applicability")),
        ]
        rows.append((dimension.name, cells))
    return Table("divergence-counts", "Divergences per dimension", heads, rows_of(rows))


def _open_of(
    divergences: Sequence[Divergence], kind: DivergenceKind
) -> tuple[list[Divergence], list[Divergence]]:
    of_kind = [d for d in divergences if d.kind == kind]
    return of_kind, [d for d in of_kind if d.state == "open"]


def divergences_table(analysis: Analysis) -> Table:
    """Return every divergence with its state and verdict."""
    heads = columns("Code", "Question", "Figure", "Dimension", "Kind", "Values", "#Range", "State")
    units = {unit.code: unit for unit in analysis.units}
    rows = [
        (
            f"{d.code} | {analysis.rubric.by_id[d.dimension].name} | {d.kind}",
            [
                text(d.code, "code"),
                text(units[d.code].question_id),
                text(units[d.code].figure),
                text(analysis.rubric.by_id[d.dimension].name),
                text(d.kind),
                listed_values(d.values),
                Shown("", "number") if d.range is None else _range(d.range),
                text(d.state.replace("_", " "), "good" if d.state == "settled" else "fair"),
                level(d.verdict.verdict if d.verdict else None),
                text(d.verdict.reason if d.verdict else None, "long"),
            ],
        )
        for d in analysis.divergences
    ]
    return Table("divergences", "Every divergence", (*heads, *columns("Verdict", "Reason")), rows_of(rows))


def _range(distance: float) -> Shown:
    return Shown(f"{distance:g}", "number", {"value": repr(float(distance))})


@dataclass(frozen=True)
class DimensionResults:
    """The results of one dimension: a table per grouping."""

    name: str
    tables: tuple[Table, ...]


def result_tables(analysis: Analysis, *, name_models: bool) -> tuple[list[DimensionResults], list[str]]:
    """Return the results per dimension, and the groupings that have too many groups for a page."""
    kept: list[tuple[str, list[GroupSummary]]] = []
    left_out = []
    for by, groups in group_codes(analysis, name_models=name_models):
        if len(set(groups.values())) > MOST_GROUPS:
            left_out.append(by.replace("model by", "model and"))
        else:
            kept.append((by, summarise_groups(analysis.results, groups, analysis.rubric)))
    mark = f" ({RELIABILITY_UNKNOWN})" if analysis.reliability_unknown else ""
    results = [
        DimensionResults(
            dimension.name,
            tuple(
                _result_table(by, [s for s in summaries if s.dimension == dimension.id], dimension, mark)
                for by, summaries in kept
            ),
        )
        for dimension in analysis.rubric.dimensions
    ]
    return results, left_out


def _result_table(by: str, summaries: Sequence[GroupSummary], dimension: Dimension, mark: str) -> Table:
    labels = [show(value) for value in dimension.scale]
    heads = (
        TableColumn(
            "group", "Responses" if by == "all" else by.replace("model by", "model and").capitalize()
        ),
        *columns("#Values", "#Mean", "#Median"),
        *(TableColumn(f"final-{label}", label, numeric=True) for label in labels),
        *(TableColumn(f"from-{source}", _SOURCES[source], numeric=True) for source in FINAL_SOURCES),
        TableColumn("n/a", "N/A", numeric=True),
    )
    rows = [
        (
            f"{dimension.name} | {s.group}",
            [
                text(s.group),
                count(s.n),
                number(s.mean),
                number(s.median),
                *(count(s.distribution[label]) for label in labels),
                *(count(s.sources[source]) for source in FINAL_SOURCES),
                count(s.n_not_applicable),
            ],
        )
        for s in summaries
    ]
    words = "" if by == "all" else f" by {by.replace('model by', 'model and')}"
    name = f"results-{dimension.id}-{by.replace(' ', '-')}"
    return Table(name, f"{dimension.name}: final values{words}{mark}", heads, rows_of(rows))


_SOURCES: Mapping[str, str] = {
    "unanimous": "All agree",
    "majority": "Majority",
    "mean": "Mean of raters",
    "verdict": "Verdict",
    "unresolved": "Unresolved",
}


def plan_table(analysis: Analysis) -> Table:
    """Return what was planned beside what was carried out (S0.7)."""
    study, coverage = analysis.study, analysis.coverage
    practice = sum(unit.calibration for unit in study.units)
    drawn = f", {practice} of them marked for practice" if practice else ""
    cells = [(d.n_ratings + d.n_not_applicable, d.n_units) for d in analysis.agreement.dimensions]
    assigned = sum(p.assigned for p in analysis.progress if p.kind == "production")
    active = len({rating.rater for rating in analysis.current.ratings})
    facts = [
        ("Responses", f"{len(study.units):,}{drawn}", f"{coverage.total:,} issued for production"),
        ("Raters", f"{len(study.raters)}", f"{active} with ratings in force"),
        (
            "Ratings per response",
            f"{study.design.raters_per_unit}",
            f"{coverage.fully_rated:,} of {coverage.total:,} responses complete from every rater wanted",
        ),
        (
            "Score cells",
            f"{assigned * len(analysis.rubric.dimensions):,} issued",
            f"{sum(filled for filled, _ in cells):,} filled with a level or N/A",
        ),
        (
            "Calibration round",
            f"{max(practice, study.design.calibration_units)} practice responses",
            "carried out, apart below" if analysis.practice else "none carried out",
        ),
    ]
    rows = [(name, [text(name), text(planned), text(done)]) for name, planned, done in facts]
    return Table("plan", "Planned and carried out", columns("What", "Planned", "Carried out"), rows_of(rows))


def progress_table(analysis: Analysis) -> Table:
    """Return how far each workbook is."""
    heads = columns(
        *("Rater", "Batch", "Kind", "#Assigned", "#Complete", "#Partial", "#Untouched", "#Invalid"),
        "Last change",
    )
    rows = [
        (
            f"{p.rater} | {p.batch}",
            [
                *(text(each) for each in (p.rater, p.batch, p.kind)),
                *(count(n) for n in (p.assigned, p.complete, p.partial, p.untouched, p.invalid)),
                text(p.last_change or "no change yet"),
            ],
        )
        for p in analysis.progress
    ]
    return Table("progress", "Progress per workbook", heads, rows_of(rows))


def problems_table(analysis: Analysis) -> Table:
    """Return everything that is wrong in workbooks now, with its place."""
    heads = columns("Rater", "Batch", "Tab", "Cell", "Code", "Column", "Found", "Kind", "Severity", "Message")
    rows = [
        (
            f"{p.rater} | {p.batch} | {p.cell} | {p.kind}",
            [
                *(text(each) for each in (p.rater, p.batch, p.tab)),
                *(text(each, "code") for each in (p.cell, p.code)),
                *(text(each) for each in (p.column, p.found, p.kind.replace("_", " "), p.severity)),
                text(p.message, "long"),
            ],
        )
        for p in analysis.problems
    ]
    return Table("problems", "Problems that stand now", heads, rows_of(rows))


def settings_table(analysis: Analysis) -> Table:
    """Return every setting that the figures depend on."""
    settings = analysis.study.settings
    chosen = settings.agreement
    facts: list[tuple[str, object]] = [
        ("Study", analysis.study.id),
        ("Contact", settings.study.contact or "none named"),
        ("Rubric version", analysis.rubric.version),
        *((f"Scale of {d.name}", f"{d.level}: {allowed_levels(d)}") for d in analysis.rubric.dimensions),
        ("Role of agreement", settings.study.agreement_role),
        ("Judge policy", settings.study.judge_policy),
        ("Bands", chosen.bands),
        ("Interval over raters", f"{method_words(chosen.interval)}, {chosen.confidence:.10g} confidence"),
        ("Interval of pairs", f"jackknife, {chosen.confidence:.10g} confidence"),
        ("Resamples", f"{chosen.resamples:,}"),
        ("Seed of resampling", chosen.seed),
        ("Fewest pairable responses", chosen.minimum_units),
        ("Within", within_title(analysis.agreement).removeprefix("Within ")),
        ("Divergence threshold", f"{settings.divergence.threshold:g}, unit {settings.divergence.unit}"),
        ("Layout", settings.design.layout),
        ("Raters per response", settings.design.raters_per_unit),
        ("Order of rows", settings.design.order),
        ("Practice responses drawn", settings.design.calibration_units),
        ("Seed of the design", settings.design.seed),
        ("Workbooks", settings.backend.kind),
    ]
    rows = [(name, [text(name), text(value)]) for name, value in facts]
    return Table("settings", "Settings in force", columns("Setting", "Value"), rows_of(rows))
