"""The report: everything an analysis holds as one self-contained HTML file. Computes no statistic.

Text that models and people wrote is hostile: autoescape is on for everything, and no text of theirs
is ever taken for markup. `data-` attributes carry full precision for machines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sheetsync.domain.agreement.explanation_words import WHY_ALPHA
from sheetsync.domain.agreement.report import AgreementReport
from sheetsync.domain.agreement.verdicts import BandSet, describe_band
from sheetsync.domain.analysis import Analysis
from sheetsync.domain.summary.page import as_of, role_words
from sheetsync.domain.validation.records import CriteriaReport
from sheetsync.report_cells import alpha, interval
from sheetsync.report_certificate import certificate_section
from sheetsync.report_claims import claims_section
from sheetsync.report_criteria import criteria_section
from sheetsync.report_explanations import (
    explanations,
    hardest_table,
    intervals_table,
    why_table,
)
from sheetsync.report_figures import Axis, Bar, Strip, axis_for, spread_bar, strip
from sheetsync.report_outcomes import (
    divergence_counts,
    divergences_table,
    plan_table,
    problems_table,
    progress_table,
    result_tables,
    settings_table,
)
from sheetsync.report_pooled import pooled_words
from sheetsync.report_raters import raters_section
from sheetsync.report_tables import (
    further_table,
    headline_table,
    pairs_table,
    slice_tables,
    spread_table,
    tag_models_table,
    tag_pairs_table,
    tag_raters_table,
)
from sheetsync.templates_folder import templates_dir

TEMPLATE = "report.html.j2"


@dataclass(frozen=True)
class Plot:
    """Alpha with its bounds, one line per dimension: name, figure in words, strip."""

    axis: Axis
    lines: tuple[tuple[str, str, Strip], ...]


def render_report(analysis: Analysis, *, name_models: bool, criteria: CriteriaReport | None = None) -> str:
    """Return the report as one HTML file that needs no network and no script.

    Args:
        analysis: what to show.
        name_models: whether results and tags name models; codes only where not.
        criteria: the verdict table of an external validation; None for other studies.
    """
    chosen = analysis.study.settings.agreement
    context = agreement_sections(analysis.agreement, chosen.bands, chosen.interval)
    context |= {"criteria": criteria_section(criteria)}
    return render(TEMPLATE, context | _outcomes(analysis, name_models=name_models))


def render(template: str, context: Mapping[str, object]) -> str:
    """Return a template filled in."""
    return _environment().get_template(template).render(context)


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(templates_dir()),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def agreement_sections(report: AgreementReport, bands: BandSet, interval_method: str) -> dict[str, object]:
    """Return what the sections on agreement show, of a study or of any ratings."""
    return {
        "bands": bands,
        "interval_method": interval_method,
        "headline": headline_table(report, bands),
        "further": further_table(report),
        "plot": _plot(report, bands),
        "bars": _bars(report),
        "spread": spread_table(report),
        "pairs": pairs_table(report),
        "slices": slice_tables(report, bands),
        "why": why_table(report, bands),
        "why_alpha": WHY_ALPHA,
        "explanations": explanations(report, bands),
        "pooled": pooled_words(report.pooled, bands),
        "hardest": hardest_table(report),
        "intervals": intervals_table(report),
    }


def _outcomes(analysis: Analysis, *, name_models: bool) -> dict[str, object]:
    """Return what the sections on the study and its results show."""
    results, left_out = result_tables(analysis, name_models=name_models)
    codes, bands = analysis.coverage, analysis.study.settings.agreement.bands
    return {
        "study": analysis.study,
        "as_of": as_of(analysis),
        "as_of_words": _as_of_words(analysis),
        "n_units": len(analysis.units),
        "n_questions": len({(unit.question_id, unit.figure) for unit in analysis.units}),
        "n_models": len({unit.model for unit in analysis.questions.values()}),
        "n_ratings": len(analysis.current.ratings),
        "role": role_words(analysis),
        "name_models": name_models,
        "tags": [
            tag_pairs_table(analysis.agreement),
            tag_raters_table(analysis),
            *([tag_models_table(analysis)] if name_models else []),
        ],
        "divergence_counts": divergence_counts(analysis),
        "divergences": divergences_table(analysis),
        "results": results,
        "results_left_out": left_out,
        "claims": claims_section(analysis) if name_models else None,
        "reliability_unknown": analysis.reliability_unknown,
        "certificate": certificate_section(analysis),
        "raters": raters_section(analysis),
        "plan": plan_table(analysis),
        "progress": progress_table(analysis),
        "coverage_notes": [
            ("Issued to fewer raters than the design wants", codes.short_of_raters),
            ("Text changed in the study's files since it was issued", codes.changed_text),
            ("Left out, rated on an older text", [f"{rater} {code}" for rater, code in codes.older_text]),
        ],
        "applied": [control for control in analysis.controls if control.applied],
        "not_applied": [control for control in analysis.controls if not control.applied],
        "problems": problems_table(analysis),
        "settings": settings_table(analysis),
        "practice": headline_table(analysis.practice, bands, "practice") if analysis.practice else None,
    }


def _as_of_words(analysis: Analysis) -> str:
    """Return the time of the last pull as people read it, in UTC; as it stands where it is no time."""
    if analysis.as_of is None:
        return "No pull yet: no rating has been collected."
    try:
        moment = datetime.fromisoformat(analysis.as_of).astimezone(UTC)
    except ValueError:
        return f"As of pull {analysis.pull}, {analysis.as_of}."
    return f"As of pull {analysis.pull}, {moment.day} {moment:%B %Y, %H:%M:%S} UTC."


def _plot(report: AgreementReport, bands: BandSet) -> Plot:
    axis = axis_for((d.coefficients["alpha"] for d in report.dimensions), bands)
    lines = []
    for dimension in report.dimensions:
        found = dimension.coefficients["alpha"]
        words = alpha(found, bands).text
        if found.value is not None:
            words = f"{words} ({interval(found).text}), {describe_band(dimension.band)}"
        lines.append(
            (dimension.dimension, words, strip(found, axis, f"{dimension.dimension}: alpha {words}"))
        )
    return Plot(axis, tuple(lines))


def _bars(report: AgreementReport) -> tuple[Bar, ...]:
    return tuple(spread_bar(dimension) for dimension in report.dimensions)
