"""The first tab of the summary: one page that says what was done and what came out, with its limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

from sheetsync.domain.agreement.explanation_records import QUESTION_WORDS
from sheetsync.domain.agreement.report import DimensionAgreement
from sheetsync.domain.agreement.verdicts import REASON_WORDS, describe_band
from sheetsync.domain.analysis import Analysis
from sheetsync.domain.divergence import find_divergences, measure_unit
from sheetsync.domain.habits.words import rare_sheets
from sheetsync.domain.study import DivergenceSettings
from sheetsync.domain.summary.cells import shown_coefficient
from sheetsync.domain.text_layout import count_lines, row_height
from sheetsync.domain.workbook import Cell, CellSpec, ChartSpec, ColumnSpec, TabSpec

_COLUMNS = (
    ColumnSpec("Item", 30),
    ColumnSpec("Value", 12, "number"),
    ColumnSpec("Low", 10, "number", note="Lower limit of the interval."),
    ColumnSpec("High", 10, "number", note="Upper limit of the interval."),
    ColumnSpec("Exact", 10, "percent", note="Pairs of raters with equal values, as a mean over responses."),
    ColumnSpec("Within 1", 10, "percent", note="Pairs at most 1 apart, as a mean over responses."),
    ColumnSpec("Mean difference", 12, "number", note="Mean absolute difference of pairs of raters."),
    ColumnSpec("Pairable", 10, "integer", note="Responses with ratings of two or more raters."),
    ColumnSpec("What it says", 90),
    ColumnSpec("Below", 8, "note", note="Value minus lower limit, for the chart."),
    ColumnSpec("Above", 8, "note", note="Upper limit minus value, for the chart."),
)
_WORDS = 8
_LEVEL_COLUMNS = range(2, 8)
_CHART_ROWS = 17

Row = tuple[CellSpec, ...]


def summary_tab(analysis: Analysis) -> TabSpec:
    """Return the page: study, headline agreement, divergences, coverage, controls."""
    rows: list[Row] = [*_about(analysis), (), _heading("Agreement between raters (Krippendorff's alpha)")]
    questions = {each.dimension: QUESTION_WORDS[each.question] for each in analysis.agreement.explanations}
    headlines = [_headline_row(d, questions.get(d.dimension, "")) for d in analysis.agreement.dimensions]
    alphas = _Block(len(rows) + 1, headlines)
    rows += [*alphas.rows, (), _heading("Spread of the ratings", _labels(analysis))]
    spread = _Block(len(rows) + 1, _spread_rows(analysis))
    rows += [*spread.rows, ()]
    charts = _charts(alphas, spread, len(_labels(analysis)), len(rows) + 2)
    rows += [()] * (_CHART_ROWS if charts else 0)
    rows += [_heading("Divergences"), *_divergence_rows(analysis), ()]
    rows += [_heading("Coverage"), *_coverage_rows(analysis), ()]
    rows += [_heading("Controls"), *_control_rows(analysis)]
    heights = {0: 34.0, **{index: _height(row) for index, row in enumerate(rows, 1) if row}}
    spread_out = tuple((index, 2, index, _WORDS) for index, row in enumerate(rows, 1) if len(row) == 3)
    return TabSpec(
        "Summary", _COLUMNS, tuple(rows), frozen_rows=1, row_heights=heights, charts=charts, merged=spread_out
    )


@dataclass(frozen=True)
class _Block:
    """Rows that a chart is drawn from; `first` is the 0-based row of the sheet where they start."""

    first: int
    rows: Sequence[Row]


def _charts(alphas: _Block, spread: _Block, n_labels: int, row: int) -> tuple[ChartSpec, ...]:
    """Return the charts: alpha with its bounds, and how the ratings spread; none without ratings."""
    charts = []
    if any(len(line) > 1 and line[1] is not None for line in alphas.rows):
        charts.append(
            ChartSpec(
                "points",
                "Alpha with its interval",
                0,
                (1,),
                alphas.first,
                alphas.first + len(alphas.rows) - 1,
                f"A{row}",
                low_column=_WORDS + 1,
                high_column=_WORDS + 2,
                y_title="alpha",
                value_range=(_lowest(alphas), 1.0),
                width=560,
            )
        )
    if n_labels and charts:
        series = tuple(_LEVEL_COLUMNS[:n_labels])
        last = spread.first + len(spread.rows) - 1
        charts.append(
            ChartSpec(
                "stacked", "How the ratings spread", 0, series, spread.first, last, f"G{row}", width=560
            )
        )
    return tuple(charts)


def _lowest(alphas: _Block) -> float:
    """Return where the axis of alphas starts: at 0, or at the fifth of 1 under the lowest bound."""
    numbers = [cell.value if isinstance(cell, Cell) else cell for row in alphas.rows for cell in row[1:3]]
    lowest = min([0.0, *(number for number in numbers if isinstance(number, float))])
    return floor(lowest * 5) / 5


def _labels(analysis: Analysis) -> tuple[str, ...]:
    """Return the levels of all dimensions where they fit into columns, otherwise nothing."""
    labels = tuple(dict.fromkeys(label for d in analysis.agreement.dimensions for label in d.distribution))
    return labels if len(labels) <= len(_LEVEL_COLUMNS) else ()


def _heading(text: str, labels: Sequence[str] = ()) -> Row:
    cells = [Cell(text, "heading"), Cell("", "heading"), *(_label_cell(label) for label in labels)]
    return (*cells, *[Cell("", "heading")] * (len(_COLUMNS) - len(cells)))


def _label_cell(label: str) -> Cell:
    """Return the header of a column of counts; as a number where it is one, so that it stands right."""
    return Cell(int(label) if label.isdecimal() else label, "integer")


def _says(item: str, value: CellSpec, words: str = "") -> Row:
    """Return a row without further figures: its words stand beside the value, over all columns."""
    return (item, value, Cell(words, "text"))


def _height(row: Row) -> float:
    if isinstance(row[0], Cell) and row[0].style in ("heading", "title"):
        return 24.0
    words = str(row[_WORDS]) if len(row) > _WORDS and row[_WORDS] is not None else ""
    return row_height(
        max(count_lines(words, _COLUMNS[_WORDS].width), count_lines(str(row[0]), _COLUMNS[0].width))
    )


def as_of(analysis: Analysis) -> str:
    """Return the as-of line."""
    if analysis.as_of is None:
        return "No pull yet: no rating has been collected."
    return f"As of pull {analysis.pull}, {analysis.as_of}."


_ROLES = {
    "calibrate": "Agreement calibrates how strongly results are claimed; it blocks nothing.",
    "criterion": "Agreement is a criterion that was set beforehand.",
    "gate": "Agreement is a gate: results count only once it is passed.",
}


def role_words(analysis: Analysis) -> str:
    """Return what agreement is for in this study (X1)."""
    return _ROLES[analysis.study.settings.study.agreement_role]


def _about(analysis: Analysis) -> list[Row]:
    settings = analysis.study.settings
    ratings = len(analysis.current.ratings)
    return [
        (Cell(analysis.study.title, "title"),),
        _says("As of", None, as_of(analysis)),
        _says("Responses", Cell(len(analysis.units), "integer"), _figures(analysis)),
        _says(
            "Raters",
            Cell(len(settings.raters), "integer"),
            f"{settings.design.raters_per_unit} per response; rows in {settings.design.order} order.",
        ),
        _says("Ratings in force", Cell(ratings, "integer"), f"On rubric {analysis.rubric.version}."),
        _says("Role of agreement", None, role_words(analysis)),
        *_reliability_rows(analysis),
        _says("Bands", None, f"Named after the set {settings.agreement.bands}."),
    ]


def _reliability_rows(analysis: Analysis) -> list[Row]:
    unknown = analysis.reliability_unknown
    return [_says("Reliability", Cell("unknown", "poor"), unknown)] if unknown else []


def _figures(analysis: Analysis) -> str:
    questions = len({(unit.question_id, unit.figure) for unit in analysis.units})
    models = len({unit.model for unit in analysis.units})
    practice = sum(p.assigned for p in analysis.progress if p.kind == "calibration")
    apart = " Practice responses are not among them." if practice else ""
    return f"{questions} questions by {models} models.{apart}"


def _headline_row(dimension: DimensionAgreement, question: str) -> Row:
    alpha = dimension.coefficients["alpha"]
    if alpha.value is None:
        words = REASON_WORDS.get(alpha.reason or "", "")
    else:
        words = describe_band(dimension.band)
        if alpha.method and alpha.confidence:
            words += f"; {alpha.confidence:.0%} interval ({alpha.method}), for these raters"
        elif alpha.interval_reason:
            words += f"; no interval: {REASON_WORDS.get(alpha.interval_reason, '')}"
    return (
        dimension.dimension,
        None if alpha.value is None else Cell(alpha.value, "number"),
        alpha.low,
        alpha.high,
        shown_coefficient(dimension.coefficients.get("exact"), "percent"),
        shown_coefficient(dimension.coefficients.get("within"), "percent"),
        shown_coefficient(dimension.coefficients.get("mean_abs_difference")),
        Cell(dimension.n_pairable, "integer"),
        f"{dimension.level} scale: {words}. {question}".rstrip(),
        _length(alpha.value, alpha.low),
        _length(alpha.high, alpha.value),
    )


def _length(upper: float | None, lower: float | None) -> CellSpec:
    return None if upper is None or lower is None else Cell(upper - lower, "number")


def _spread_rows(analysis: Analysis) -> list[Row]:
    labels = _labels(analysis)
    rows: list[Row] = []
    for dimension in analysis.agreement.dimensions:
        counts = dimension.distribution
        total = sum(counts.values())
        shares = [f"{label}: {count / total:.0%}" for label, count in counts.items() if total]
        numbers = [Cell(counts[label], "integer") if label in counts else None for label in labels]
        padding = [None] * (len(_LEVEL_COLUMNS) - len(numbers))
        words = "   ".join(shares) if shares else "No ratings yet."
        rows.append((dimension.dimension, Cell(total, "integer"), *numbers, *padding, words))
    return rows


def _divergence_rows(analysis: Analysis) -> list[Row]:
    settings = analysis.study.settings.divergence
    rows = []
    for dimension in analysis.rubric.dimensions:
        here = [d for d in analysis.divergences if d.dimension == dimension.id]
        scores = [d for d in here if d.kind == "score"]
        open_ones = sum(d.state == "open" for d in scores)
        unit = measure_unit(dimension, settings)
        apart = f"{settings.threshold:g} {unit} or more apart"
        words = "no majority" if dimension.level == "nominal" else apart
        words += f"; {open_ones} open, {len(scores) - open_ones} with a verdict"
        if len(here) > len(scores):
            others = [d for d in here if d.kind == "applicability"]
            unsettled = sum(d.state == "open" for d in others)
            words += f"; besides, {len(others)} where some raters said N/A, {unsettled} of them open"
        if dimension.is_numeric and not dimension.has_consecutive_levels:
            words += (
                f"; counted in {_other(unit)} it would be {_count_in(analysis, dimension.id, _other(unit))}"
            )
        rows.append(_says(dimension.name, Cell(len(scores), "integer"), words + "."))
    return rows


def _other(unit: str) -> str:
    return "steps" if unit == "points" else "points"


def _count_in(analysis: Analysis, dimension_id: str, unit: str) -> int:
    """Count score divergences of one dimension in the other unit of distance (X6: both are shown)."""
    threshold = analysis.study.settings.divergence.threshold
    settings = DivergenceSettings.model_validate({"threshold": threshold, "unit": unit})
    found = find_divergences(analysis.current, analysis.rubric, settings, (), {})
    return sum(d.kind == "score" and d.dimension == dimension_id for d in found)


def _coverage_rows(analysis: Analysis) -> list[Row]:
    coverage = analysis.coverage
    wrong = sum(problem.severity == "error" for problem in analysis.problems)
    rare = list(rare_sheets(analysis.habits, analysis.rubric))
    return [
        _says(
            "Fully rated",
            Cell(coverage.fully_rated, "integer"),
            f"of {coverage.total} responses are complete from every rater the design wants.",
        ),
        _says(
            "Short of raters",
            Cell(len(coverage.short_of_raters), "integer"),
            _codes(coverage.short_of_raters),
        ),
        _says("Changed texts", Cell(len(coverage.changed_text), "integer"), _codes(coverage.changed_text)),
        _says(
            "Raters’ sheets",
            Cell(len(rare), "integer"),
            "worth a look; see How raters use the sheet in the report." if rare else "worth a look.",
        ),
        _says("Problems to put right", Cell(wrong, "integer"), "See the tab Problems." if wrong else ""),
    ]


def _codes(codes: Sequence[str]) -> str:
    return ", ".join(codes[:12]) + (f" and {len(codes) - 12} more" if len(codes) > 12 else "")


def _control_rows(analysis: Analysis) -> list[Row]:
    return [
        _says(
            control.name,
            Cell("applied", "good") if control.applied else Cell("not applied", "fair"),
            control.fact,
        )
        for control in analysis.controls
    ]
