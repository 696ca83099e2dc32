"""Inserting, deleting and moving rows and columns: cells, sizes, and every stored range follow.

Formula texts are not rewritten when rows move; the emulator documents that as not emulated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.sheets_emulator.editing import Editing
from tests.sheets_emulator.errors import Invalid
from tests.sheets_emulator.protection import check_area, check_structure
from tests.sheets_emulator.state import COLUMN_LIMIT, Area, Cell, Dimension, Sheet, Spreadsheet

Shift = Callable[[int], int | None]
"""Where an index goes, or None when it is deleted."""


def axis(dimension: str) -> str:
    return "Row" if dimension == "ROWS" else "Column"


def count_of(sheet: Sheet, dimension: str) -> int:
    return sheet.row_count if dimension == "ROWS" else sheet.column_count


def span_area(sheet: Sheet, dimension: str, start: int, end: int) -> Area:
    """Whole rows or columns as an area."""
    if dimension == "ROWS":
        return Area(sheet.sheet_id, start, 0, end, sheet.column_count)
    return Area(sheet.sheet_id, 0, start, sheet.row_count, end)


def span_of(sheet: Sheet, given: dict[str, Any]) -> tuple[Dimension, int, int]:
    """A DimensionRange with its defaults, checked against the grid."""
    dimension = given.get("dimension")
    if dimension not in ("ROWS", "COLUMNS"):
        raise Invalid("range.dimension must be specified.")
    count = count_of(sheet, dimension)
    start, end = given.get("startIndex", 0), given.get("endIndex", count)
    noun = axis(dimension).lower()
    if start < 0 or end <= start:
        raise Invalid(f"range.endIndex[{end}] must be after startIndex[{start}].")
    if start >= count or end > count:
        last = end - 1 if start < count else start
        raise Invalid(f"range.endIndex[{end}]: {noun} index {last} is after last {noun} in grid[{count}]")
    return ("ROWS" if dimension == "ROWS" else "COLUMNS"), start, end


def _shift_range(given: dict[str, Any], dimension: str, shift: Shift) -> dict[str, Any] | None:
    """Move one axis of a GridRange; None when nothing of it is left."""
    start_key, end_key = f"start{axis(dimension)}Index", f"end{axis(dimension)}Index"
    if start_key not in given or end_key not in given:
        return given
    kept = [place for place in map(shift, range(given[start_key], given[end_key])) if place is not None]
    if not kept:
        return None
    return {**given, start_key: min(kept), end_key: max(kept) + 1}


def _in_sheet(entry: dict[str, Any], sheet: Sheet) -> bool:
    return int(entry.get("sheetId", 0)) == sheet.sheet_id


def _shift_entry(entry: dict[str, Any], sheet: Sheet, dimension: str, shift: Shift) -> dict[str, Any] | None:
    """Move every range of a stored object that lies on this sheet."""
    made = dict(entry)
    if "range" in made and "dimension" not in made["range"] and _in_sheet(made["range"], sheet):
        moved = _shift_range(made["range"], dimension, shift)
        if moved is None:
            return None
        made["range"] = moved
    for key in ("ranges", "unprotectedRanges"):
        if key in made:
            places = [
                _shift_range(item, dimension, shift) if _in_sheet(item, sheet) else item for item in made[key]
            ]
            made[key] = [place for place in places if place]
            if key == "ranges" and not made[key]:
                return None
    return made


def shift_ranges(book: Spreadsheet, sheet: Sheet, dimension: Dimension, shift: Shift) -> None:
    """Let everything that is stored with a range follow a change of rows or columns."""
    merges = (_shift_range(merge, dimension, shift) for merge in sheet.merges)
    sheet.merges = [merge for merge in merges if merge]
    for name in ("conditional_formats", "filter_views", "protected_ranges", "banded_ranges", "tables"):
        moved = (_shift_entry(entry, sheet, dimension, shift) for entry in getattr(sheet, name))
        setattr(sheet, name, [entry for entry in moved if entry])
    if sheet.basic_filter:
        sheet.basic_filter = _shift_entry(sheet.basic_filter, sheet, dimension, shift)
    named = (_shift_entry(entry, sheet, dimension, shift) for entry in book.named_ranges)
    book.named_ranges = [entry for entry in named if entry]
    found = (_shift_metadata(entry, sheet, dimension, shift) for entry in book.developer_metadata)
    book.developer_metadata = [entry for entry in found if entry]


def _shift_metadata(
    entry: dict[str, Any], sheet: Sheet, dimension: str, shift: Shift
) -> dict[str, Any] | None:
    given = entry["location"].get("dimensionRange")
    if not given or not _in_sheet(given, sheet) or given["dimension"] != dimension:
        return entry
    place = shift(given["startIndex"])
    if place is None:
        return None
    moved = {**given, "startIndex": place, "endIndex": place + 1}
    return {**entry, "location": {**entry["location"], "dimensionRange": moved}}


def _remap(sheet: Sheet, dimension: Dimension, shift: Shift) -> None:
    """Move cells and sizes."""
    rows: dict[int, dict[int, Cell]] = {}
    for row, line in sheet.rows.items():
        if dimension == "ROWS":
            place = shift(row)
            if place is not None:
                rows[place] = dict(line)
            continue
        moved = ((shift(column), cell) for column, cell in line.items())
        rows[row] = {column: cell for column, cell in moved if column is not None}
    sheet.replace_rows(rows)
    name = "row_metadata" if dimension == "ROWS" else "column_metadata"
    sizes = ((shift(index), held) for index, held in getattr(sheet, name).items())
    setattr(sheet, name, {index: held for index, held in sizes if index is not None})


def resize(edit: Editing, sheet: Sheet, dimension: Dimension, count: int) -> None:
    """Set the number of rows or columns; what falls outside is lost."""
    if count < 1:
        raise Invalid(f"You can't delete all the {dimension.lower()} on the sheet.")
    if dimension == "COLUMNS" and count > COLUMN_LIMIT:
        raise Invalid(
            f"This action would increase the number of columns above the limit of {COLUMN_LIMIT} columns."
        )
    old = count_of(sheet, dimension)
    if count < old:
        check_area(edit, span_area(sheet, dimension, count, old))

        def shift(index: int) -> int | None:
            return index if index < count else None

        _remap(sheet, dimension, shift)
        shift_ranges(edit.book, sheet, dimension, shift)
    sheet.set_grid(**{f"{axis(dimension).lower()}Count": count})
    edit.book.check_size()


def insert_dimension(
    edit: Editing, sheet: Sheet, dimension: Dimension, span: tuple[int, int], *, inherit: bool = False
) -> None:
    """Insert blank rows or columns; a range around the place grows."""
    start, end = span
    count = count_of(sheet, dimension)
    if start > count or end <= start:
        raise Invalid(f"range.startIndex[{start}] is after last {axis(dimension).lower()} in grid[{count}]")
    if start == 0 and inherit:
        raise Invalid("Cannot inherit from before when inserting at the beginning.")
    check_structure(edit, sheet)
    if 0 < start < count:
        _check_inside(edit, sheet, dimension, start)

    def shift(index: int) -> int | None:
        return index if index < start else index + end - start

    _remap(sheet, dimension, shift)
    shift_ranges(edit.book, sheet, dimension, shift)
    sheet.set_grid(**{f"{axis(dimension).lower()}Count": count + end - start})
    _inherit_formats(sheet, dimension, (start, end), start - 1 if inherit else end)
    edit.book.check_size()


def _check_inside(edit: Editing, sheet: Sheet, dimension: Dimension, start: int) -> None:
    """Inserting between two rows of a range that someone else protected is refused."""
    keys = f"start{axis(dimension)}Index", f"end{axis(dimension)}Index"
    for protected in sheet.protected_ranges:
        given = protected.get("range", {})
        if given.get(keys[0], 0) < start < given.get(keys[1], 2**31):
            check_area(edit, span_area(sheet, dimension, start, start + 1))


def _inherit_formats(sheet: Sheet, dimension: Dimension, span: tuple[int, int], source: int) -> None:
    """New rows look like a neighbour: formats and validation, no values."""
    kept = ("userEnteredFormat", "dataValidation")
    if dimension == "ROWS":
        cells = [(0, column, cell) for column, cell in sheet.rows.get(source, {}).items()]
    else:
        cells = [(row, 0, line[source]) for row, line in sheet.rows.items() if source in line]
    for row, column, cell in cells:
        style = {key: cell[key] for key in kept if key in cell}
        for index in range(*span) if style else ():
            sheet.put(*((index, column) if dimension == "ROWS" else (row, index)), style)


def delete_dimension(edit: Editing, sheet: Sheet, dimension: Dimension, start: int, end: int) -> None:
    """Delete rows or columns."""
    count = count_of(sheet, dimension)
    if end - start >= count:
        raise Invalid(f"You can't delete all the {dimension.lower()} on the sheet.")
    check_structure(edit, sheet)
    check_area(edit, span_area(sheet, dimension, start, end))

    def shift(index: int) -> int | None:
        if start <= index < end:
            return None
        return index if index < start else index - end + start

    _remap(sheet, dimension, shift)
    shift_ranges(edit.book, sheet, dimension, shift)
    sheet.set_grid(**{f"{axis(dimension).lower()}Count": count - end + start})


def move_dimension(
    edit: Editing, sheet: Sheet, dimension: Dimension, span: tuple[int, int], target: int
) -> None:
    """Move rows or columns; `target` counts before the move."""
    start, end = span
    count = count_of(sheet, dimension)
    if target < 0 or target > count or start < target < end:
        raise Invalid(f"destinationIndex[{target}] is not a place outside of the moved {dimension.lower()}.")
    check_structure(edit, sheet)
    check_area(edit, span_area(sheet, dimension, start, end))
    order = [index for index in range(count) if not start <= index < end]
    place = target if target <= start else target - (end - start)
    order[place:place] = range(start, end)
    where = {old: new for new, old in enumerate(order)}
    _remap(sheet, dimension, where.get)
    moved = (_shift_metadata(entry, sheet, dimension, where.get) for entry in edit.book.developer_metadata)
    edit.book.developer_metadata = [entry for entry in moved if entry]
