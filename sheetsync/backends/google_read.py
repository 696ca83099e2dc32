"""Answers of the Sheets API -> `Reading`, and whether a write arrived whole.

Defaults are missing in answers: a false, a 0, an empty list, the `sheetId` of the first tab in a range.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from typing import Any

from sheetsync.domain.workbook import DateCell, ErrorCell, FormulaCell, Grid, RawCell, Reading, trimmed
from sheetsync.errors import BackendError

MARKER_KEY = "sheetsync"
"""Key of the spreadsheet's developer metadata: its value is the marker."""

TAB_KEY = "sheetsync-tab"
"""Key of the developer metadata on each tab of ours: its value is the title as it was drawn."""

LISTS_TAB = "Lists"
LISTS_SIGN = "sheetsync lists"
"""Text of the first cell of the tab of lists; the marker stands below it, as in xlsx."""

MARKS = "developerMetadata(metadataId,metadataKey,metadataValue)"
PROPERTIES = "properties(sheetId,title,index,sheetType,gridProperties(rowCount,columnCount))"
CELLS = (
    "data(startRow,startColumn,"
    "rowData(values(userEnteredValue,effectiveValue,effectiveFormat(numberFormat(type)))))"
)

READ_FIELDS = f"spreadsheetId,{MARKS},sheets({PROPERTIES},{MARKS},{CELLS})"
"""What `parse_spreadsheet` needs of spreadsheets.get or getByDataFilter."""

Json = Mapping[str, Any]

# --- what the cells say --------------------------------------------------------------------------

_EPOCH = dt.datetime(1899, 12, 30)
_LINK = re.compile(r'=HYPERLINK\("#gid=\d+&range=[A-Z]+\d+"\s*[,;]\s*"((?:[^"]|"")*)"\)', re.DOTALL)
"""A link as we write it (a spreadsheet in another locale may show its comma as a semicolon)."""

_ERRORS = {
    "ERROR": "#ERROR!",
    "NULL_VALUE": "#NULL!",
    "DIVIDE_BY_ZERO": "#DIV/0!",
    "VALUE": "#VALUE!",
    "REF": "#REF!",
    "NAME": "#NAME?",
    "NUM": "#NUM!",
    "N_A": "#N/A",
}


def parse_spreadsheet(answer: Json) -> Reading:
    """Read a spreadsheet that was got with `READ_FIELDS`."""
    grids = [
        (mark_of(sheet, TAB_KEY), Grid(str(sheet["properties"].get("title", "")), rows_of(sheet)))
        for sheet in answer.get("sheets", ())
    ]
    lists = next((grid for _, grid in grids if grid.cell(0, 0) == LISTS_SIGN), None)
    below = lists.cell(1, 0) if lists else None
    marker = mark_of(answer, MARKER_KEY) or (below if isinstance(below, str) else "")
    tabs = (grid for mark, grid in grids if mark != LISTS_TAB and grid.cell(0, 0) != LISTS_SIGN)
    return Reading(tuple(tabs), marker)


def mark_of(holder: Json, key: str) -> str:
    """Return the value of the developer metadata of that key on a spreadsheet or tab, empty for none."""
    marks = (m for m in holder.get("developerMetadata", ()) if m.get("metadataKey") == key)
    return next((str(mark.get("metadataValue", "")) for mark in marks), "")


def rows_of(sheet: Json) -> tuple[tuple[RawCell, ...], ...]:
    """Return the cells of a tab; a block of data starts where the range that was asked for starts."""
    table: list[list[RawCell]] = []
    for block in sheet.get("data", ()):
        top, left = block.get("startRow", 0), block.get("startColumn", 0)
        for number, row in enumerate(block.get("rowData", ()), start=top):
            cells = [_cell(cell) if cell else None for cell in row.get("values", ())]
            if not cells:
                continue
            table.extend([] for _ in range(number + 1 - len(table)))
            line = table[number]
            line.extend([None] * (left + len(cells) - len(line)))
            line[left : left + len(cells)] = cells
    return trimmed(table)


def _cell(cell: Json) -> RawCell:
    entered, shown = cell.get("userEnteredValue"), cell.get("effectiveValue")
    if not entered:
        # A result that an array formula elsewhere spilled into this cell; an untouched checkbox is blank.
        return FormulaCell("", _result(shown)) if shown and shown.get("boolValue") is not False else None
    formula = entered.get("formulaValue")
    if formula is not None:
        link = _LINK.fullmatch(formula)
        if link:
            return link[1].replace('""', '"') or None
        return FormulaCell(formula.removeprefix("="), _result(shown))
    if "errorValue" in entered:
        return ErrorCell(_error(entered["errorValue"]))
    if "numberValue" in entered:
        return _number(entered["numberValue"], cell)
    value = entered.get("boolValue", entered.get("stringValue"))
    return None if value == "" else value


def _result(shown: Json | None) -> str | int | float | bool | None:
    """Return what a formula gave; Google has always computed, so nothing shown is an empty text."""
    if not shown:
        return ""
    if "errorValue" in shown:
        error = shown["errorValue"]
        return None if error.get("type") == "LOADING" else _error(error)
    if "numberValue" in shown:
        return _plain(shown["numberValue"])
    value: str | bool = shown.get("boolValue", shown.get("stringValue", ""))
    return value


def _error(error: Json) -> str:
    return _ERRORS.get(error.get("type", ""), "#ERROR!")


def _number(value: float, cell: Json) -> RawCell:
    form = cell.get("effectiveFormat") or cell.get("userEnteredFormat") or {}
    kind = form.get("numberFormat", {}).get("type", "")
    if kind in ("DATE", "DATE_TIME", "TIME"):
        return DateCell(float(value), _iso(float(value), kind))
    return _plain(value)


def _plain(value: float) -> int | float:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _iso(serial: float, kind: str) -> str:
    """Return what a number in a date format stands for.

    >>> _iso(43831.0, "DATE"), _iso(43831.75, "DATE_TIME"), _iso(0.5, "TIME"), _iso(1.5, "TIME")
    ('2020-01-01', '2020-01-01T18:00:00', '12:00:00', 'PT36H0M0S')
    """
    seconds = round(serial * 86_400)
    if kind == "TIME":
        hours, rest = divmod(seconds, 3600)
        if 0 <= seconds < 86_400:
            return dt.time(hours, rest // 60, rest % 60).isoformat()
        return f"PT{hours}H{rest // 60}M{rest % 60}S"
    try:
        moment = _EPOCH + dt.timedelta(seconds=seconds)
    except OverflowError:
        return f"{serial:g}"
    return (moment.date() if kind == "DATE" and serial.is_integer() else moment).isoformat()


# --- whether a write arrived ---------------------------------------------------------------------


def confirm_replies(requests: Sequence[Json], response: Json) -> None:
    """Check that a batchUpdate did all that it was asked to.

    Raises:
        BackendError: fewer replies came back than requests were sent, or a reply names another object.
    """
    replies = response.get("replies", ())
    if len(replies) < len(requests):
        raise _incomplete(f"{len(replies)} of {len(requests)} changes")
    for request, reply in zip(requests, replies, strict=False):
        for kind, path in _ECHOES.items():
            if kind in request:
                sent, got = _at(request[kind], path), _at(reply.get(kind, {}), path)
                if sent is not None and sent != got:
                    raise _incomplete(f"{kind} of {sent}, answered with {got},")


_ECHOES = {
    "addSheet": ("properties", "sheetId"),
    "addChart": ("chart", "chartId"),
    "addFilterView": ("filter", "filterViewId"),
    "addNamedRange": ("namedRange", "name"),
    "createDeveloperMetadata": ("developerMetadata", "metadataValue"),
}
"""What the reply to a request repeats of it."""


def _at(message: Json, path: Sequence[str]) -> object:
    found: Any = message
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _incomplete(what: str) -> BackendError:
    return BackendError(
        f"Google reported only {what} as written.", "Run the command again: it completes what is missing."
    )
