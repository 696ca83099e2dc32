"""Workbooks that live in a dict: for tests and `--dry-run`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sheetsync.backends.base import Known, Place, Replaced, WorkbooksAtHand
from sheetsync.backends.known import foreign_cells
from sheetsync.domain.workbook import (
    FormulaCell,
    Grid,
    RawCell,
    Reading,
    WorkbookSpec,
    expected_reading,
    trimmed,
)
from sheetsync.errors import BackendError, WorkbookMissingError


@dataclass
class MemoryBackend(WorkbooksAtHand):
    """The contract over a dict.

    Attributes:
        workbooks: what is at each place.
        beside: results that could not be put in place, by place.
        backups: what `force` replaced, oldest first.
        busy: places that somebody has open.
    """

    workbooks: dict[Place, Reading] = field(default_factory=dict)
    beside: dict[Place, Reading] = field(default_factory=dict)
    backups: list[tuple[Place, Reading]] = field(default_factory=list)
    busy: set[Place] = field(default_factory=set)
    _changes: dict[Place, int] = field(default_factory=dict)

    def location(self, place: Place) -> str:
        """Return `memory:` and the place."""
        return f"memory:{place}"

    def create(self, place: Place, spec: WorkbookSpec) -> str:
        """Make the workbook, or adopt the one with the same marker."""
        found = self.workbooks.get(place)
        if found is None:
            self.put(place, expected_reading(spec))
        elif not spec.marker or found.marker != spec.marker:
            raise BackendError(f"{self.location(place)}: another workbook is in the way.", "Move it away.")
        return self._version(place)

    def versions(self, places: Sequence[Place]) -> Mapping[Place, str | None]:
        """Return a change count for each place."""
        return {place: self._version(place) if place in self.workbooks else None for place in places}

    def read(self, place: Place) -> Reading:
        """Return what is there."""
        try:
            return self.workbooks[place]
        except KeyError:
            raise WorkbookMissingError(f"{self.location(place)} is missing.", "Provision it.") from None

    def replace(
        self, place: Place, spec: WorkbookSpec, known: Known, *, version_read: str | None, force: bool = False
    ) -> Replaced:
        """Replace the whole workbook, or put the result into `beside`."""
        obstacle = "" if force else self._obstacle(place, known, version_read)
        if obstacle:
            self.beside[place] = expected_reading(spec)
            return Replaced(f"{self.location(place)}.new", obstacle=obstacle)
        if force and place in self.workbooks:
            self.backups.append((place, self.workbooks[place]))
        self.put(place, expected_reading(spec))
        self.beside.pop(place, None)
        return Replaced(self.location(place), self._version(place))

    def type_cells(
        self, place: Place, tab: str, cells: Mapping[tuple[int, int], str | int | float | bool | None]
    ) -> None:
        """Enter values; a text that begins with `=` becomes a formula, as it does when typed."""
        reading = self.read(place)
        grid = reading.tab(tab)
        if grid is None:
            raise BackendError(f"{self.location(place)} has no tab {tab!r}.", "Check the tab's title.")
        rows: list[list[RawCell]] = [list(row) for row in grid.rows]
        for (row, column), value in cells.items():
            rows.extend([] for _ in range(row + 1 - len(rows)))
            rows[row].extend([None] * (column + 1 - len(rows[row])))
            rows[row][column] = _typed(value)
        changed = Grid(grid.title, trimmed(rows))
        self.put(place, Reading(tuple(changed if it is grid else it for it in reading.tabs), reading.marker))

    def strangers(self, places: Sequence[Place]) -> Sequence[str]:
        """Return the workbooks at other places."""
        return sorted(self.location(place) for place in self.workbooks if place not in set(places))

    def put(self, place: Place, reading: Reading) -> None:
        """Lay a workbook at a place, whatever is there."""
        self.workbooks[place] = reading
        self._changes[place] = self._changes.get(place, 0) + 1

    def _version(self, place: Place) -> str:
        return str(self._changes[place])

    def _obstacle(self, place: Place, known: Known, version_read: str | None) -> str:
        if place not in self.workbooks:
            return ""
        if place in self.busy:
            return f"{self.location(place)} is open."
        version = self._version(place)
        if version != version_read:
            return f"{self.location(place)} changed after it was read."
        foreign = foreign_cells(self.workbooks[place], known) if version != known.version else []
        return f"{self.location(place)} holds what sheetsync did not write: {foreign[0]}." if foreign else ""


def _typed(value: str | int | float | bool | None) -> RawCell:
    if isinstance(value, str) and value.startswith("=") and len(value) > 1:
        return FormulaCell(value[1:], None)
    return None if value == "" else value
