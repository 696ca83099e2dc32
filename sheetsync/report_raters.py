"""The tables of the report on how each rater uses the sheet."""

from __future__ import annotations

from dataclasses import dataclass

from sheetsync.domain.analysis import Analysis
from sheetsync.domain.cells import show
from sheetsync.domain.habits.habits import RaterHabits
from sheetsync.domain.habits.severity import Severity
from sheetsync.domain.habits.words import WORTH_A_LOOK, shown_values, what_repeats
from sheetsync.domain.study import Rubric
from sheetsync.report_cells import (
    Shown,
    Table,
    coefficient,
    columns,
    count,
    interval,
    number,
    rows_of,
    text,
)
from sheetsync.report_self_check import self_check_table


@dataclass(frozen=True)
class RatersSection:
    """The tables that have rows; `in_bank_order` where equal neighbours mean less than the figures say."""

    tables: tuple[Table, ...]
    in_bank_order: bool


def raters_section(analysis: Analysis) -> RatersSection:
    """Return severity, drift, use of the scale, runs, blocks, equal rows, pace and self-check."""
    habits, rubric = analysis.habits, analysis.rubric
    tables = (
        _severity_table(habits, rubric),
        _drift_table(habits, rubric),
        _scale_table(habits, rubric),
        _runs_table(habits, rubric),
        _blocks_table(habits),
        _equal_table(habits),
        _pace_table(habits),
        self_check_table(analysis),
    )
    in_order = analysis.study.design.order == "bank"
    return RatersSection(tuple(table for table in tables if table.rows), in_order)


def _mark(rare: bool) -> Shown:
    return Shown(WORTH_A_LOOK, "fair", {"value": "rare"}) if rare else Shown("", "note")


def _severity_table(habits: RaterHabits, rubric: Rubric) -> Table:
    heads = columns("Rater", "Dimension", "#n", "#Difference", "#Interval", "Note")
    rows = [
        (
            f"{s.rater} | {s.dimension}",
            [
                *_who(s, rubric),
                coefficient(s.difference, "signed"),
                interval(s.difference),
                _mark(habits.is_rare(s)),
            ],
        )
        for s in habits.severity
        if s.n
    ]
    return Table(
        "rater-severity", "Severity: the rater’s value minus the mean of the others’", heads, rows_of(rows)
    )


def _drift_table(habits: RaterHabits, rubric: Rubric) -> Table:
    heads = columns("Rater", "Dimension", "#n", "#Change", "#Interval", "Note")
    rows = [
        (
            f"{s.rater} | {s.dimension}",
            [*_who(s, rubric), coefficient(s.drift, "signed"), interval(s.drift), _mark(habits.drifts(s))],
        )
        for s in habits.severity
        if s.n
    ]
    return Table(
        "rater-drift", "Drift: change of that difference from the first row to the last", heads, rows_of(rows)
    )


def _who(severity: Severity, rubric: Rubric) -> list[Shown]:
    return [text(severity.rater), text(rubric.by_id[severity.dimension].name), count(severity.n)]


def _scale_table(habits: RaterHabits, rubric: Rubric) -> Table:
    heads = columns(
        *("Rater", "Dimension", "#n", "#Levels used", "Most used", "#Share", "#Others’ share"),
        *("Values per level", "Note"),
    )
    rows = [
        (
            f"{use.rater} | {use.dimension}",
            [
                text(use.rater),
                text(rubric.by_id[use.dimension].name),
                count(use.n),
                Shown(
                    f"{use.levels_used} of {len(use.distribution)}", "number", {"value": str(use.levels_used)}
                ),
                text("" if use.most_used is None else show(use.most_used), "code"),
                number(use.share, "percent"),
                number(use.others_share, "percent"),
                text(", ".join(f"{show(level)}: {n}" for level, n in use.distribution.items()), "code"),
                _mark(habits.is_rare(use)),
            ],
        )
        for use in habits.scale_use
        if use.n
    ]
    return Table("rater-scale", "Use of the scale", heads, rows_of(rows))


def _runs_table(habits: RaterHabits, rubric: Rubric) -> Table:
    heads = columns("Rater", "Batch", "Of", "#n", "#Longest run", "#Usual", "Rows", "Repeated", "Note")
    rows = [
        (
            f"{run.rater} | {run.batch} | {what_repeats(run, rubric)}",
            [
                text(run.rater),
                text(run.batch),
                text(what_repeats(run, rubric)),
                count(run.n),
                count(run.length),
                count(run.usual),
                text(f"{run.first} to {run.last}", "code"),
                text(shown_values(run.repeated), "code"),
                _mark(habits.is_rare(run)),
            ],
        )
        for run in habits.runs
    ]
    return Table("rater-runs", "Longest runs of equal rows", heads, rows_of(rows))


def _blocks_table(habits: RaterHabits) -> Table:
    heads = columns("First place", "Second place", "#n first", "#n second", "#Rows", "#Expected", "Note")
    rows = [
        (
            " | ".join([*block.raters, *block.batches]),
            [
                *(
                    text(f"{rater} {batch}, rows {start} to {start + block.length - 1}")
                    for rater, batch, start in zip(block.raters, block.batches, block.starts, strict=True)
                ),
                *(count(n) for n in block.n),
                count(block.length),
                Shown(_rounded(block.expected), "number", {"value": repr(block.expected)}),
                _mark(habits.is_rare(block)),
            ],
        )
        for block in habits.blocks
    ]
    caption = "Blocks of whole rows that stand in two places: five or more, and longer than usual"
    return Table("rater-blocks", caption, heads, rows_of(rows))


def _rounded(expected: float) -> str:
    return f"{expected:.2f}" if expected >= 0.005 else "below 0.01"


def _equal_table(habits: RaterHabits) -> Table:
    heads = columns("Raters", "#n", "#Equal rows", "Note")
    rows = [
        (
            " | ".join(pair.raters),
            [
                text(" and ".join(pair.raters)),
                count(pair.n),
                count(pair.equal, pair.n),
                _mark(habits.is_rare(pair)),
            ],
        )
        for pair in habits.equal
        if pair.n
    ]
    return Table("rater-equal", "Responses with the same values from two raters", heads, rows_of(rows))


def _pace_table(habits: RaterHabits) -> Table:
    heads = columns(
        "Rater", "Batch", "#Rows", "#Pulls with new rows", "#Rows of fastest", "#Hours", "#Per hour"
    )
    rows = [
        (
            f"{pace.rater} | {pace.batch}",
            [
                text(pace.rater),
                text(pace.batch),
                count(pace.n_rows),
                count(pace.n_stretches),
                *(_timed(value) for value in (pace.rows, pace.hours, pace.per_hour)),
            ],
        )
        for pace in habits.pace
    ]
    return Table("rater-pace", "Pace: rows first scored between two pulls", heads, rows_of(rows))


def _timed(value: float | None) -> Shown:
    if value is None:
        return Shown("pulls too close", "note")
    return Shown(
        f"{value:,.1f}" if isinstance(value, float) else f"{value:,}", "number", {"value": repr(value)}
    )
