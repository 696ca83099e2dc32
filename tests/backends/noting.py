"""A backend that notes what it is asked to draw, and whether that is what stands there."""

from __future__ import annotations

from sheetsync.backends.base import Known, Place, Replaced
from sheetsync.backends.google import GoogleBackend
from sheetsync.domain.workbook import FormulaCell, Grid, Reading, WorkbookSpec, expected_reading


class NotingBackend(GoogleBackend):
    """Notes what it is asked to draw."""

    drawn: dict[Place, list[Reading]]

    def create(self, place: Place, spec: WorkbookSpec) -> str:
        self.drawn.setdefault(place, []).append(expected_reading(spec))
        return super().create(place, spec)

    def replace(
        self, place: Place, spec: WorkbookSpec, known: Known, *, version_read: str | None, force: bool = False
    ) -> Replaced:
        self.drawn.setdefault(place, []).append(expected_reading(spec))
        return super().replace(place, spec, known, version_read=version_read, force=force)


def is_whole(found: Reading, wanted: Reading, *, can_type: bool) -> bool:
    """Compare cell by cell; with `can_type` people may have filled cells that were drawn blank."""
    if found.marker != wanted.marker or [tab.title for tab in found.tabs] != [
        tab.title for tab in wanted.tabs
    ]:
        return False
    return all(_holds(a, b, can_type=can_type) for a, b in zip(found.tabs, wanted.tabs, strict=True))


def _holds(found: Grid, wanted: Grid, *, can_type: bool) -> bool:
    if not can_type:
        return found == wanted
    cells = ((found.cell(r, c), cell) for r, row in enumerate(wanted.rows) for c, cell in enumerate(row))
    return len(found.rows) == len(wanted.rows) and all(
        one == other or other is None or (_formula(one) is not None and _formula(one) == _formula(other))
        for one, other in cells
    )


def _formula(cell: object) -> str | None:
    return cell.text if isinstance(cell, FormulaCell) else None
