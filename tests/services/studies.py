"""A tiny study that provisions in a moment, and people who type into its workbooks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sheetsync.backends.base import Place, SheetBackend
from sheetsync.backends.memory import MemoryBackend
from sheetsync.backends.xlsx import XlsxBackend
from sheetsync.config import load_study
from sheetsync.domain.analysis import Analysis
from sheetsync.domain.workbook import Grid, RawCell, Reading, expected_reading
from sheetsync.services.analyze import analyze
from sheetsync.services.provision import Provisioned, provision
from sheetsync.services.publish import Published, publish
from sheetsync.services.pull import Pulled, pull
from sheetsync.services.run import Ran, run
from sheetsync.services.session import ADJUDICATION, PRIVATE_FOLDER, SUMMARY, Session
from sheetsync.store.archive import Archive
from tests.builders import STUDY_TOML, write_study

NOW = "2026-07-01T02:00:00Z"
QUICK = "\n[agreement]\nresamples = 0\n"
QUICK_STUDY = STUDY_TOML + QUICK
"""Six units, the raters ann and ben, the adjudicator eve; no intervals, which cost time."""

Typed = str | int | float | bool | None


def quick_study(folder: Path, files: Mapping[str, str | bytes | None] | None = None) -> Path:
    """Write the small study without intervals into a folder."""
    return write_study(folder, {"study.toml": QUICK_STUDY, **(files or {})})


def roster(*raters: str) -> str:
    """Return a `study.toml` with these raters."""
    head, people = QUICK_STUDY.split("[[raters]]", 1)[0], "[people]" + QUICK_STUDY.split("[people]")[1]
    return head + "".join(f'[[raters]]\nid = "{rater}"\n\n' for rater in raters) + people


@dataclass
class Desk:
    """A study folder with its backend: opens a session for every step, as commands do."""

    root: Path
    backend: SheetBackend = field(default_factory=MemoryBackend)

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Open the study as its files are now."""
        private = self.root / PRIVATE_FOLDER
        with Session(self.root, load_study(self.root), Archive.open(private), self.backend) as session:
            yield session

    def provision(self, *rescore: str, dry_run: bool = False) -> Provisioned:
        with self.session() as session:
            return provision(session, NOW, rescore=rescore, dry_run=dry_run)

    def pull(self, now: str = NOW, *, force: bool = False) -> Pulled:
        with self.session() as session:
            return pull(session, now, force=force)

    def analyze(self, by: Sequence[str] | None = None) -> Analysis:
        with self.session() as session:
            return analyze(session, by=by)

    def publish(self, *, blind: bool = False, force: bool = False) -> Published:
        with self.session() as session:
            return publish(session, blind=blind, force=force)

    def run(self, now: str = NOW) -> Ran:
        with self.session() as session:
            return run(session, now)

    def codes(self) -> dict[tuple[str, str], str]:
        """Return the code of each (question id, model)."""
        with self.session() as session:
            return {(unit.question_id, unit.model): unit.code for unit in session.archive.units()}

    def type_into(self, rater: str, batch: str, typed: Mapping[str, Mapping[str, Typed]]) -> None:
        """Type values into a rater's workbook, by code and header."""
        type_into(self.backend, Place("raters", rater, batch), "Scoring", typed)

    def fill(
        self, rater: str, scores: Sequence[tuple[Typed, Typed]] | None = None, batch: str = "main"
    ) -> None:
        """Type (Accuracy, Coverage) into the rows in bank order; 4 and 4 where nothing is given."""
        cells = self.cells(rater, batch)
        codes = [code for code in self.codes().values() if code in cells]
        values = scores if scores is not None else [(4, 4)] * len(codes)
        self.type_into(
            rater,
            batch,
            {c: {"Accuracy": a, "Coverage": b} for c, (a, b) in zip(codes, values, strict=False)},
        )

    def cells(self, rater: str, batch: str) -> dict[str, dict[str, RawCell]]:
        """Return the scoring tab of a rater, by code and header."""
        return rows_of(self.grid(Place("raters", rater, batch), "Scoring"))

    def grid(self, place: Place, tab: str) -> Grid:
        """Return a tab as the backend reads it."""
        grid = self.backend.read(place).tab(tab)
        assert grid is not None, tab
        return grid

    def decide(self, code: str, dimension: str = "Accuracy", kind: str = "score", **typed: Typed) -> None:
        """Type into the row of a divergence: `Verdict=3, Reason="rater slip"`."""
        grid = self.grid(ADJUDICATION, "Adjudication")
        header = list(grid.rows[0])
        row = next(n for n, cells in enumerate(grid.rows) if n and cells[:3] == (code, dimension, kind))
        cells = {(row, header.index(name)): value for name, value in typed.items()}
        self.backend.type_cells(ADJUDICATION, "Adjudication", cells)

    def adjudication(self) -> list[dict[str, RawCell]]:
        """Return the rows of the adjudication workbook by header."""
        return list(table_of(self.grid(ADJUDICATION, "Adjudication")))

    def summary(self, tab: str) -> list[dict[str, RawCell]]:
        """Return the rows of a tab of the summary by header."""
        return list(table_of(self.grid(SUMMARY, tab)))


def memory_desk(folder: Path, files: Mapping[str, str | bytes | None] | None = None) -> Desk:
    """Return a small study whose workbooks live in memory."""
    return Desk(quick_study(folder, files))


def xlsx_desk(folder: Path, files: Mapping[str, str | bytes | None] | None = None) -> Desk:
    """Return a small study whose workbooks are files."""
    root = quick_study(folder, files)
    return Desk(root, XlsxBackend(root, root / PRIVATE_FOLDER))


def type_into(
    backend: SheetBackend, place: Place, tab: str, typed: Mapping[str, Mapping[str, Typed]]
) -> None:
    """Type values by the text of the first column, and the header in the first row."""
    grid = backend.read(place).tab(tab)
    assert grid is not None
    header = [str(name) for name in grid.rows[0]]
    row_of = {str(row[0]): number for number, row in enumerate(grid.rows) if row and number}
    cells = {
        (row_of[code], header.index(name)): value
        for code, values in typed.items()
        for name, value in values.items()
    }
    backend.type_cells(place, tab, cells)


def type_in_folder(root: Path, rater: str, batch: str, typed: Mapping[str, Mapping[str, Typed]]) -> None:
    """Type values into a workbook file of a study folder."""
    backend = XlsxBackend(root, root / PRIVATE_FOLDER)
    type_into(backend, Place("raters", rater, batch), "Scoring", typed)


def table_of(grid: Grid) -> Iterator[dict[str, RawCell]]:
    """Yield the rows of a table by header."""
    header = [str(name) for name in grid.rows[0]]
    for number, row in enumerate(grid.rows[1:], start=1):
        if row:
            yield {name: grid.cell(number, column) for column, name in enumerate(header)}


def rows_of(grid: Grid) -> dict[str, dict[str, RawCell]]:
    """Return the rows of a table by their first cell, then by header."""
    return {str(next(iter(row.values()))): row for row in table_of(grid)}


def reading_with(backend: SheetBackend, place: Place, change: Mapping[str, Grid]) -> Reading:
    """Return a workbook as it is, with some tabs replaced."""
    reading = backend.read(place)
    tabs = tuple(change.get(grid.title, grid) for grid in reading.tabs)
    return Reading(tabs, reading.marker)


def tree(folder: Path) -> dict[str, tuple[int, bytes] | None]:
    """Return time and bytes of every file, None for folders."""
    return {
        path.relative_to(folder).as_posix(): (
            (path.stat().st_mtime_ns, path.read_bytes()) if path.is_file() else None
        )
        for path in sorted(folder.rglob("*"))
    }


def plain(result: object) -> str:
    """Return JSON text, for comparing."""
    return json.dumps(result, sort_keys=True, ensure_ascii=False, allow_nan=False)


__all__ = [
    "NOW", "QUICK", "QUICK_STUDY", "Desk", "expected_reading", "memory_desk", "plain", "quick_study",
    "reading_with", "roster", "rows_of", "table_of", "tree", "type_in_folder", "type_into", "xlsx_desk",
]  # fmt: skip
