"""Values as JSON text and back, with their types: 3, 3.0, True and "3" stay four different values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sheetsync.domain.study import LevelValue
from sheetsync.domain.workbook import DateCell, ErrorCell, FormulaCell, Grid, RawCell

CellValue = LevelValue | bool


@lru_cache(maxsize=8192, typed=True)
def encode_value(value: CellValue) -> str:
    """Return the JSON text of a value.

    >>> [encode_value(value) for value in (3, 3.0, True, "3")]
    ['3', '3.0', 'true', '"3"']
    """
    return json.dumps(value or 0.0 if isinstance(value, float) else value)  # a cache takes -0.0 for 0.0


@lru_cache(maxsize=8192)
def decode_value(text: str) -> CellValue:
    """Return the value of a JSON text."""
    value: CellValue = json.loads(text)
    return value


def encode_verdict(value: LevelValue | None) -> str | None:
    """Return the JSON text of a verdict, None for no verdict."""
    return None if value is None else encode_value(value)


def decode_verdict(text: str | None) -> LevelValue | None:
    """Return the verdict of a JSON text."""
    return None if text is None else decode_value(text)


def encode_object(value: object) -> str:
    """Return JSON text that is equal for equal mappings, whatever their order."""
    return json.dumps(value, sort_keys=True)


def decode_object(text: str) -> dict[str, Any]:
    """Return the mapping of a JSON text."""
    mapping: dict[str, Any] = json.loads(text)
    return mapping


def encode_grids(grids: Sequence[Grid]) -> str:
    """Return tabs as JSON text."""
    tabs = [
        {"title": grid.title, "rows": [[_encode_cell(c) for c in row] for row in grid.rows]} for grid in grids
    ]
    return json.dumps(tabs, separators=(",", ":"))


def decode_grids(text: str) -> tuple[Grid, ...]:
    """Return the tabs of a JSON text."""
    return tuple(
        Grid(tab["title"], tuple(tuple(_decode_cell(cell) for cell in row) for row in tab["rows"]))
        for tab in json.loads(text)
    )


def _encode_cell(cell: RawCell) -> object:
    if isinstance(cell, FormulaCell):
        return {"formula": cell.text, "cached": cell.cached}
    if isinstance(cell, DateCell):
        return {"date": cell.text, "serial": cell.serial}
    if isinstance(cell, ErrorCell):
        return {"error": cell.text}
    return cell


def _decode_cell(cell: Any) -> RawCell:
    if not isinstance(cell, dict):
        scalar: RawCell = cell
        return scalar
    if "formula" in cell:
        return FormulaCell(cell["formula"], cell["cached"])
    if "date" in cell:
        return DateCell(cell["serial"], cell["date"])
    return ErrorCell(cell["error"])
