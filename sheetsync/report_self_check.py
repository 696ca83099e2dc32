"""The report's table of what each rater's self-check showed at the last pull."""

from __future__ import annotations

from sheetsync.domain.analysis import Analysis
from sheetsync.domain.scoring.self_check import SelfChecked, UsualTotals
from sheetsync.report_cells import Shown, Table, columns, count, number, rows_of, text

_SOURCES = {
    "declared": "set for the study",
    "literal": "all but the middle of the scale",
    "fences": "from the rater’s own totals",
}


def self_check_table(analysis: Analysis) -> Table:
    """Return per rater confidence and totals that stand out; no rows where nobody is asked."""
    wanted = analysis.study.settings.self_check.confident_share
    heads = columns(
        *("Rater", "#Answered", "#Medium or High", "#Share", "Aim", "#Low", "#Totals", "Usual totals"),
        *("Range", "#Outside"),
    )
    rows = [
        (rater.id, [text(rater.id), *_confidence(analysis.self_checks[rater.id], wanted)])
        for rater in analysis.study.raters
        if rater.id in analysis.self_checks
    ]
    return Table(
        "rater-self-check",
        "Self-check: confidence over the answered scores, and totals that stand out",
        heads,
        rows_of(rows),
    )


def _confidence(checked: SelfChecked, wanted: float) -> list[Shown]:
    reached = checked.share is not None and checked.share >= wanted
    aim = Shown("reached", "good") if reached else Shown(f"below {wanted:.0%}", "fair")
    return [
        count(checked.answered),
        count(checked.confident),
        number(checked.share, "percent"),
        text("nothing answered") if checked.share is None else aim,
        count(len(checked.low)),
        count(len(checked.totals)),
        text("" if checked.usual is None else f"{checked.usual.low:g} to {checked.usual.high:g}"),
        text(_source(checked.usual)),
        count(len(checked.unusual)),
    ]


def _source(usual: UsualTotals | None) -> str:
    return "too few totals" if usual is None else _SOURCES[usual.source]
