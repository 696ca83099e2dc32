"""`ChartSpec` -> a chart of XlsxWriter."""

from __future__ import annotations

from typing import Any

from xlsxwriter.utility import xl_range_formula

from sheetsync.backends.xlsx_styles import CHART_COLOURS, LINE, MUTED, SHADES
from sheetsync.domain.workbook import Cell, ChartSpec, TabSpec

_TYPES = {
    "bar": {"type": "bar"},
    "stacked": {"type": "bar", "subtype": "percent_stacked"},
    "points": {"type": "line"},
}


def make_chart(book: Any, tab: TabSpec, spec: ChartSpec) -> Any:
    """Return a chart over columns of a tab (`book` is an `xlsxwriter.Workbook`)."""
    chart = book.add_chart(dict(_TYPES[spec.kind]))
    colours = SHADES if spec.kind == "stacked" else CHART_COLOURS
    for index, column in enumerate(spec.series_columns):
        chart.add_series(_series(tab, spec, column, colours[index % len(colours)]))
    title = {"name": spec.title, "name_font": {"size": 12, "bold": True}} if spec.title else {"none": True}
    chart.set_title(title)
    quiet = {"num_font": {"size": 9}, "name_font": {"size": 9, "bold": False}, "line": {"color": LINE}}
    grid = {"visible": True, "line": {"color": LINE, "width": 0.5}}
    categories = {**quiet, "label_position": "low", "major_gridlines": {"visible": False}}
    values = {**quiet, "major_gridlines": grid, "num_format": "0%" if spec.kind == "stacked" else "0.0"}
    if spec.value_range is not None:
        values |= {"min": spec.value_range[0], "max": spec.value_range[1]}
    if spec.kind == "points":
        chart.set_x_axis({**categories, "name": spec.x_title})
        chart.set_y_axis({**values, "name": spec.y_title})
    else:
        # Bars lie, first row on top; turning that axis round moves the values' labels, hence "high".
        chart.set_y_axis({**categories, "name": spec.y_title, "reverse": True})
        chart.set_x_axis({**values, "name": spec.x_title, "label_position": "high"})
    legend = {"position": "bottom", "font": {"size": 9}} if len(spec.series_columns) > 1 else {"none": True}
    chart.set_legend(legend)
    chart.set_size({"width": spec.width, "height": spec.height})
    return chart


def _series(tab: TabSpec, spec: ChartSpec, column: int, colour: str) -> dict[str, Any]:
    series: dict[str, Any] = {
        "name": _series_name(tab, spec, column),
        "categories": _range(tab, spec, spec.category_column),
        "values": _range(tab, spec, column),
    }
    if spec.kind != "points":
        return {**series, "fill": {"color": colour}, "gap": 60}
    series |= {
        "line": {"none": True},
        "marker": {"type": "circle", "size": 7, "fill": {"color": colour}, "border": {"color": colour}},
    }
    if spec.low_column is not None and spec.high_column is not None:
        series["y_error_bars"] = {
            "type": "custom",
            "minus_values": _range(tab, spec, spec.low_column),
            "plus_values": _range(tab, spec, spec.high_column),
            "line": {"color": MUTED, "width": 1.25},
        }
    return series


def _range(tab: TabSpec, spec: ChartSpec, column: int) -> str:
    return str(xl_range_formula(tab.title, spec.first_row, column, spec.last_row, column))


def _series_name(tab: TabSpec, spec: ChartSpec, column: int) -> str:
    """Return the text above the first row of the chart's table."""
    above = spec.first_row - 1 - int(tab.header)
    cells = tab.rows[above] if 0 <= above < len(tab.rows) else ()
    cell = cells[column] if column < len(cells) else None
    value = cell.value if isinstance(cell, Cell) else cell
    return str(value) if isinstance(value, str | int | float) else tab.columns[column].header
