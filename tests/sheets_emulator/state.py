"""What a spreadsheet holds. Cells and settings are never changed in place: clones share them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.sheets_emulator.errors import Invalid

Cell = dict[str, Any]
"""A CellData with only what was written: userEnteredValue, userEnteredFormat, note, dataValidation, ..."""

Dimension = Literal["ROWS", "COLUMNS"]
CELL_LIMIT = 10_000_000
COLUMN_LIMIT = 18_278
TEXT_LIMIT = 50_000

LISTS = ("merges", "conditional_formats", "filter_views", "protected_ranges", "charts", "banded_ranges",
         "row_groups", "column_groups", "slicers", "tables")  # fmt: skip


@dataclass(frozen=True)
class Area:
    """A rectangle of one sheet, half-open and inside the grid."""

    sheet_id: int
    top: int
    left: int
    bottom: int
    right: int

    @property
    def height(self) -> int:
        return self.bottom - self.top

    @property
    def width(self) -> int:
        return self.right - self.left

    def grid_range(self) -> dict[str, int]:
        """Write it as a GridRange the way Google does: `sheetId` 0 is left out."""
        made = {"sheetId": self.sheet_id} if self.sheet_id else {}
        return made | {
            "startRowIndex": self.top,
            "endRowIndex": self.bottom,
            "startColumnIndex": self.left,
            "endColumnIndex": self.right,
        }

    def cells(self) -> Iterator[tuple[int, int]]:
        for row in range(self.top, self.bottom):
            for column in range(self.left, self.right):
                yield row, column

    def overlaps(self, other: Area) -> bool:
        return (
            self.sheet_id == other.sheet_id
            and self.top < other.bottom
            and other.top < self.bottom
            and self.left < other.right
            and other.left < self.right
        )

    def contains(self, other: Area) -> bool:
        return (
            self.sheet_id == other.sheet_id
            and self.top <= other.top
            and other.bottom <= self.bottom
            and self.left <= other.left
            and other.right <= self.right
        )


@dataclass
class Sheet:
    """One tab."""

    properties: dict[str, Any]
    rows: dict[int, dict[int, Cell]] = field(default_factory=dict)
    row_metadata: dict[int, dict[str, Any]] = field(default_factory=dict)
    column_metadata: dict[int, dict[str, Any]] = field(default_factory=dict)
    merges: list[dict[str, Any]] = field(default_factory=list)
    conditional_formats: list[dict[str, Any]] = field(default_factory=list)
    filter_views: list[dict[str, Any]] = field(default_factory=list)
    protected_ranges: list[dict[str, Any]] = field(default_factory=list)
    charts: list[dict[str, Any]] = field(default_factory=list)
    banded_ranges: list[dict[str, Any]] = field(default_factory=list)
    row_groups: list[dict[str, Any]] = field(default_factory=list)
    column_groups: list[dict[str, Any]] = field(default_factory=list)
    slicers: list[dict[str, Any]] = field(default_factory=list)
    tables: list[dict[str, Any]] = field(default_factory=list)
    basic_filter: dict[str, Any] | None = None
    owned: set[int] = field(default_factory=set)
    """Rows that belong to this clone alone and may be written."""

    @property
    def sheet_id(self) -> int:
        return int(self.properties["sheetId"])

    @property
    def title(self) -> str:
        return str(self.properties["title"])

    @property
    def grid(self) -> dict[str, Any]:
        return dict(self.properties.get("gridProperties", {}))

    @property
    def row_count(self) -> int:
        return int(self.properties["gridProperties"]["rowCount"])

    @property
    def column_count(self) -> int:
        return int(self.properties["gridProperties"]["columnCount"])

    @property
    def area(self) -> Area:
        return Area(self.sheet_id, 0, 0, self.row_count, self.column_count)

    def set_grid(self, **changes: Any) -> None:
        """Replace grid properties; false and 0 are left out, as in answers."""
        grid = {**self.properties["gridProperties"], **changes}
        self.properties = {**self.properties, "gridProperties": {k: v for k, v in grid.items() if v}}

    def clone(self) -> Sheet:
        """A copy that shares rows until they are written."""
        made = Sheet(
            dict(self.properties), dict(self.rows), dict(self.row_metadata), dict(self.column_metadata)
        )
        for name in LISTS:
            setattr(made, name, list(getattr(self, name)))
        made.basic_filter = self.basic_filter
        self.owned = set()
        return made

    def get(self, row: int, column: int) -> Cell:
        found = self.rows.get(row)
        return found.get(column, {}) if found else {}

    def put(self, row: int, column: int, cell: Cell) -> None:
        """Write a cell; an empty one is removed."""
        if row not in self.owned:
            self.rows[row] = dict(self.rows.get(row, ()))
            self.owned.add(row)
        line = self.rows[row]
        if cell:
            line[column] = cell
        else:
            line.pop(column, None)
            if not line:
                del self.rows[row]
                self.owned.discard(row)

    def replace_rows(self, rows: dict[int, dict[int, Cell]]) -> None:
        """Exchange all cells at once (dimension moves)."""
        self.rows = {row: line for row, line in rows.items() if line}
        self.owned = set(self.rows)

    def used_bottom(self, key: str = "userEnteredValue") -> int:
        """One past the last row that holds `key` in some cell."""
        filled = [row for row, line in self.rows.items() if any(key in cell for cell in line.values())]
        return max(filled) + 1 if filled else 0


@dataclass
class Spreadsheet:
    """One file's content."""

    spreadsheet_id: str
    properties: dict[str, Any]
    sheets: list[Sheet] = field(default_factory=list)
    named_ranges: list[dict[str, Any]] = field(default_factory=list)
    developer_metadata: list[dict[str, Any]] = field(default_factory=list)

    def clone(self) -> Spreadsheet:
        """A copy to work on; dropping it undoes everything."""
        return Spreadsheet(
            self.spreadsheet_id,
            dict(self.properties),
            [sheet.clone() for sheet in self.sheets],
            list(self.named_ranges),
            list(self.developer_metadata),
        )

    @property
    def title(self) -> str:
        return str(self.properties["title"])

    @property
    def locale(self) -> str:
        return str(self.properties.get("locale", "en_US"))

    def sheet_by_id(self, sheet_id: int) -> Sheet | None:
        return next((sheet for sheet in self.sheets if sheet.sheet_id == sheet_id), None)

    def sheet_by_title(self, title: str) -> Sheet | None:
        """Titles differ by more than case, so they are found whatever the case."""
        exact = next((sheet for sheet in self.sheets if sheet.title == title), None)
        folded = title.casefold()
        return exact or next((sheet for sheet in self.sheets if sheet.title.casefold() == folded), None)

    def require_sheet(self, sheet_id: int, what: str = "grid") -> Sheet:
        found = self.sheet_by_id(sheet_id)
        if found is None:
            raise Invalid(f"No {what} with id: {sheet_id}")
        return found

    def number_sheets(self) -> None:
        """Bring every `index` up to date."""
        for index, sheet in enumerate(self.sheets):
            sheet.properties = {**sheet.properties, "index": index}

    def check_size(self) -> None:
        """Refuse to grow past ten million cells."""
        if sum(sheet.row_count * sheet.column_count for sheet in self.sheets) > CELL_LIMIT:
            raise Invalid(
                "This action would increase the number of cells in the workbook above the limit of "
                f"{CELL_LIMIT} cells."
            )

    def area_of(self, grid_range: dict[str, Any] | None, name: str = "range") -> Area:
        """Turn a GridRange into an Area; outside of the grid it is refused."""
        if grid_range is None:
            raise Invalid(f"{name} must be specified.")
        sheet = self.require_sheet(int(grid_range.get("sheetId", 0)))
        top, bottom = _bounds(grid_range, "Row", sheet.row_count, name)
        left, right = _bounds(grid_range, "Column", sheet.column_count, name)
        return Area(sheet.sheet_id, top, left, bottom, right)


def _bounds(grid_range: dict[str, Any], axis: str, count: int, name: str) -> tuple[int, int]:
    start = grid_range.get(f"start{axis}Index", 0)
    end = grid_range.get(f"end{axis}Index", count)
    noun = axis.lower()
    if start < 0 or end < 0:
        raise Invalid(f"{name}.start{axis}Index[{start}] and end{axis}Index[{end}] must not be negative.")
    if start >= count:
        raise Invalid(f"{name}.start{axis}Index[{start}] is after last {noun} in grid[{count}]")
    if end > count:
        raise Invalid(f"{name}.end{axis}Index[{end}] is after last {noun} in grid[{count}]")
    if end <= start:
        raise Invalid(f"{name}.end{axis}Index[{end}] must be after start{axis}Index[{start}].")
    return start, end


def check_text(value: Any) -> None:
    """Refuse more than 50,000 characters in one cell."""
    if isinstance(value, str) and len(value) > TEXT_LIMIT:
        raise Invalid(
            f"Your input contains more than the maximum of {TEXT_LIMIT} characters in a single cell."
        )
