"""The report on any ratings, without a study: the agreement sections of the report as a page of their own."""

from __future__ import annotations

from collections.abc import Sequence

from sheetsync.domain.agreement.assessment import Options
from sheetsync.domain.agreement.report import AgreementReport
from sheetsync.domain.cells import show
from sheetsync.domain.study import LevelValue
from sheetsync.report import agreement_sections, render
from sheetsync.report_cells import Table, columns, method_words, rows_of, text

TEMPLATE = "agreement.html.j2"

_SHOWN_NOTES = 50
_SHOWN_LEVELS = 20


def render_agreement_page(
    report: AgreementReport, options: Options, *, title: str, notes: Sequence[str] = ()
) -> str:
    """Return agreement as one HTML file that needs no network and no script.

    Args:
        report: what was computed.
        options: how it was computed.
        title: what was rated: the name of the file.
        notes: what the reader should know about the data.
    """
    dimensions = report.dimensions
    return render(
        TEMPLATE,
        agreement_sections(report, options.bands, options.interval)
        | {
            "title": title,
            "n_ratings": sum(each.n_ratings for each in dimensions),
            "n_units": max((each.n_units for each in dimensions), default=0),
            "n_raters": max((each.n_raters for each in dimensions), default=0),
            "n_dimensions": len(dimensions),
            "notes": notes[:_SHOWN_NOTES],
            "notes_left_out": max(0, len(notes) - _SHOWN_NOTES),
            "settings": _settings_table(report, options),
        },
    )


def _settings_table(report: AgreementReport, options: Options) -> Table:
    """Return every setting that the figures depend on."""
    facts: list[tuple[str, object]] = [
        *((f"Scale of {d.dimension}", f"{d.level}: {_levels(d.scale)}") for d in report.dimensions),
        ("Bands", options.bands),
        ("Interval over raters", f"{method_words(options.interval)}, {options.confidence:.10g} confidence"),
        ("Interval of pairs", f"jackknife, {options.confidence:.10g} confidence"),
        ("Resamples", f"{options.resamples:,}"),
        ("Seed of resampling", options.seed),
        ("Fewest pairable responses", options.minimum_units),
        ("Within", f"{options.within:g}"),
    ]
    rows = [(name, [text(name), text(value)]) for name, value in facts]
    return Table("settings", "Settings in force", columns("Setting", "Value"), rows_of(rows))


def _levels(scale: Sequence[LevelValue]) -> str:
    shown = [show(level) for level in scale[:_SHOWN_LEVELS]]
    more = len(scale) - _SHOWN_LEVELS
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "") if shown else "no level observed"
