"""`ChartSpec` -> charts of Google Sheets.

The API knows no error bars. Points with bounds become three series without lines (value, lower and upper
bound), drawn from columns on the hidden tab of lists, because the spec gives the bars' lengths only.
A series has no name of its own either: it is named by the cell above its data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sheetsync.backends.google_formats import Json, colour_style
from sheetsync.backends.xlsx_styles import CHART_COLOURS, INK, MUTED, SHADES
from sheetsync.domain.workbook import Cell, ChartSpec, TabSpec, Value

Bounds = tuple[tuple[str, tuple[float | None, ...]], ...]
"""Value, lower bound and upper bound of a chart: name and numbers of each column."""


@dataclass(frozen=True)
class ChartPlace:
    """Where a chart goes and its bounds stand: ids of chart, tab and tab of lists, first bounds column."""

    chart_id: int
    sheet_id: int
    lists_id: int = 0
    bounds_column: int | None = None


def anchor_of(chart: ChartSpec) -> tuple[int, int]:
    """Return the 0-based row and column of the chart's upper left corner."""
    found = re.fullmatch(r"([A-Z]+)(\d+)", chart.anchor)
    if not found:
        raise ValueError(f"{chart.anchor!r} is no cell that a chart could be anchored to")
    column = 0
    for letter in found[1]:
        column = column * 26 + ord(letter) - 64
    return int(found[2]) - 1, column - 1


def bounds_of(tab: TabSpec, chart: ChartSpec) -> Bounds:
    """Return the columns that points with bounds are drawn from; none for other charts."""
    low, high = chart.low_column, chart.high_column
    if chart.kind != "points" or low is None or high is None or not chart.series_columns:
        return ()
    series = chart.series_columns[0]
    rows = range(chart.first_row, chart.last_row + 1)
    values = [_number_at(tab, row, series) for row in rows]
    lower = [_moved(value, _number_at(tab, row, low), -1) for value, row in zip(values, rows, strict=True)]
    upper = [_moved(value, _number_at(tab, row, high), 1) for value, row in zip(values, rows, strict=True)]
    name = str(_value_at(tab, chart.first_row - 1, series) or chart.y_title or "value")
    return (name, tuple(values)), ("lower bound", tuple(lower)), ("upper bound", tuple(upper))


def _moved(value: float | None, length: float | None, direction: int) -> float | None:
    return None if value is None or length is None else value + direction * length


def _value_at(tab: TabSpec, row: int, column: int) -> Value:
    row -= int(tab.header)
    if row == -1:
        return tab.columns[column].header
    cells = tab.rows[row] if 0 <= row < len(tab.rows) else ()
    cell = cells[column] if column < len(cells) else None
    return cell.value if isinstance(cell, Cell) else cell


def _number_at(tab: TabSpec, row: int, column: int) -> float | None:
    value = _value_at(tab, row, column)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def chart_request(chart: ChartSpec, place: ChartPlace) -> Json:
    """Return the request that adds a chart."""
    row, column = anchor_of(chart)
    anchor = {"sheetId": place.sheet_id, "rowIndex": row, "columnIndex": column}
    overlay = {"anchorCell": anchor, "widthPixels": chart.width, "heightPixels": chart.height}
    title = {"title": chart.title, "titleTextFormat": {"fontSize": 12, "bold": True}} if chart.title else {}
    spec = {
        **title,
        "altText": chart.title or chart.y_title,
        "hiddenDimensionStrategy": "SHOW_ALL",
        "basicChart": _basic_chart(chart, place),
    }
    position = {"overlayPosition": overlay}
    return {"addChart": {"chart": {"chartId": place.chart_id, "position": position, "spec": spec}}}


def _basic_chart(chart: ChartSpec, place: ChartPlace) -> Json:
    series = list(_bounded_series(chart, place) or _series(chart, place))
    is_points = chart.kind == "points"
    made: Json = {
        "chartType": "LINE" if is_points else "BAR",
        "legendPosition": "BOTTOM_LEGEND" if len(series) > 1 else "NO_LEGEND",
        "axis": _axes(chart),
        "domains": [{"domain": _data(place.sheet_id, chart, chart.category_column)}],
        "series": series,
        "headerCount": _headers(chart),
    }
    if chart.kind == "stacked":
        made["stackedType"] = "PERCENT_STACKED"
    return made


def _headers(chart: ChartSpec) -> int:
    return 1 if chart.first_row else 0


def _axes(chart: ChartSpec) -> list[Json]:
    value_axis = "LEFT_AXIS" if chart.kind == "points" else "BOTTOM_AXIS"
    axes: list[Json] = []
    for position, title in (("BOTTOM_AXIS", chart.x_title), ("LEFT_AXIS", chart.y_title)):
        axis: Json = {"position": position, **({"title": title} if title else {})}
        if chart.value_range is not None and position == value_axis:
            low, high = chart.value_range
            window = {"viewWindowMode": "EXPLICIT", "viewWindowMin": low, "viewWindowMax": high}
            axis["viewWindowOptions"] = window
        axes.append(axis)
    return axes


def _series(chart: ChartSpec, place: ChartPlace) -> Iterator[Json]:
    colours = SHADES if chart.kind == "stacked" else CHART_COLOURS
    for index, column in enumerate(chart.series_columns):
        colour = colours[index % len(colours)]
        data = _data(place.sheet_id, chart, column)
        if chart.kind == "points":
            yield _points(data, colour, "CIRCLE", 7)
        else:
            yield {"series": data, "targetAxis": "BOTTOM_AXIS", "colorStyle": colour_style(colour)}


_BOUND_LOOKS: Sequence[tuple[str, str, int]] = (
    (CHART_COLOURS[0], "CIRCLE", 8),
    (MUTED, "TRIANGLE", 5),
    (INK, "DIAMOND", 5),
)


def _bounded_series(chart: ChartSpec, place: ChartPlace) -> list[Json]:
    if place.bounds_column is None:
        return []
    last = chart.last_row - chart.first_row + 2
    made = []
    for index, (colour, shape, size) in enumerate(_BOUND_LOOKS):
        column = place.bounds_column + index
        source = _source(place.lists_id, (1 - _headers(chart), last), column)
        made.append(_points(source, colour, shape, size))
    return made


def _points(data: Json, colour: str, shape: str, size: int) -> Json:
    return {
        "series": data,
        "targetAxis": "LEFT_AXIS",
        "colorStyle": colour_style(colour),
        "lineStyle": {"type": "INVISIBLE"},
        "pointStyle": {"shape": shape, "size": size},
    }


def _data(sheet_id: int, chart: ChartSpec, column: int) -> Json:
    return _source(sheet_id, (chart.first_row - _headers(chart), chart.last_row + 1), column)


def _source(sheet_id: int, rows: tuple[int, int], column: int) -> Json:
    area: Mapping[str, int] = {
        "sheetId": sheet_id,
        "startRowIndex": rows[0],
        "endRowIndex": rows[1],
        "startColumnIndex": column,
        "endColumnIndex": column + 1,
    }
    return {"sourceRange": {"sources": [area]}}
