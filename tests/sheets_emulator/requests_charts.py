"""batchUpdate requests on charts: stored, checked as far as ids, positions and source ranges go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.sheets_emulator.editing import Editing, Handler
from tests.sheets_emulator.errors import Invalid
from tests.sheets_emulator.field_masks import apply_mask, update_mask
from tests.sheets_emulator.protection import check_structure
from tests.sheets_emulator.requests_objects import choose_id, require_object
from tests.sheets_emulator.requests_sheets import insert_sheet, make_sheet

KINDS = ("basicChart", "pieChart", "bubbleChart", "candlestickChart", "orgChart", "histogramChart", "waterfallChart",
         "treemapChart", "scorecardChart")  # fmt: skip


def _sources(value: Any) -> Iterator[dict[str, Any]]:
    """Every GridRange a chart draws from."""
    if isinstance(value, list):
        for item in value:
            yield from _sources(item)
    elif isinstance(value, dict):
        yield from value.get("sourceRange", {}).get("sources", ())
        for item in value.values():
            yield from _sources(item)


def _check_spec(edit: Editing, spec: dict[str, Any]) -> None:
    kinds = [kind for kind in KINDS if kind in spec]
    if len(kinds) != 1:
        raise Invalid("A chart spec must have exactly one kind of chart.")
    for source in _sources(spec):
        area = edit.area(source, "sources")
        if area.height > 1 and area.width > 1:
            raise Invalid("Chart source ranges must have either a width or a height of 1.")


def _position(edit: Editing, given: dict[str, Any]) -> dict[str, Any]:
    overlay = given.get("overlayPosition")
    if overlay is None:
        raise Invalid("A chart position must have an overlayPosition, a sheetId or newSheet.")
    anchor = overlay.get("anchorCell", {})
    sheet = edit.book.require_sheet(anchor.get("sheetId", 0))
    check_structure(edit, sheet)
    if anchor.get("rowIndex", 0) >= sheet.row_count or anchor.get("columnIndex", 0) >= sheet.column_count:
        raise Invalid("The anchor cell of the chart is outside of the grid.")
    kept = {key: held for key, held in anchor.items() if held}
    size = {"widthPixels": overlay.get("widthPixels", 600), "heightPixels": overlay.get("heightPixels", 371)}
    return {"overlayPosition": {**overlay, "anchorCell": kept, **size}}


def add_chart(edit: Editing, request: dict[str, Any]) -> dict[str, Any]:
    given = request.get("chart", {})
    spec = given.get("spec", {})
    _check_spec(edit, spec)
    chart = {**given, "chartId": choose_id(edit, "charts", "chartId", given.get("chartId"), "Chart")}
    place = given.get("position", {})
    if place.get("newSheet"):
        sheet = make_sheet(edit, {})
        insert_sheet(edit, sheet, None)
        chart["position"] = {"sheetId": sheet.sheet_id}
    else:
        chart["position"] = _position(edit, place)
        anchor = chart["position"]["overlayPosition"]["anchorCell"]
        sheet = edit.book.require_sheet(anchor.get("sheetId", 0))
    sheet.charts.append(chart)
    return {"chart": chart}


def update_chart_spec(edit: Editing, request: dict[str, Any]) -> None:
    sheet, position = require_object(edit, "charts", "chartId", request.get("chartId", 0), "chart")
    check_structure(edit, sheet)
    _check_spec(edit, request.get("spec", {}))
    sheet.charts[position] = {**sheet.charts[position], "spec": request["spec"]}


def delete_object(edit: Editing, request: dict[str, Any]) -> None:
    wanted = request.get("objectId", 0)
    sheet, position = require_object(edit, "charts", "chartId", wanted, "embedded object")
    check_structure(edit, sheet)
    del sheet.charts[position]


def update_position(edit: Editing, request: dict[str, Any]) -> dict[str, Any]:
    """Move or resize a chart; `fields` is relative to newPosition.overlayPosition."""
    wanted = request.get("objectId", 0)
    sheet, position = require_object(edit, "charts", "chartId", wanted, "embedded object")
    mask = update_mask(request.get("fields"), "OverlayPosition")
    chart = sheet.charts.pop(position)
    old = chart["position"].get("overlayPosition", {})
    new = apply_mask(old, request.get("newPosition", {}).get("overlayPosition", {}), mask)
    place = _position(edit, {"overlayPosition": new})
    target = edit.book.require_sheet(place["overlayPosition"]["anchorCell"].get("sheetId", 0))
    target.charts.append({**chart, "position": place})
    return {"position": place}


HANDLERS: dict[str, Handler] = {
    "addChart": add_chart,
    "updateChartSpec": update_chart_spec,
    "deleteEmbeddedObject": delete_object,
    "updateEmbeddedObjectPosition": update_position,
}
