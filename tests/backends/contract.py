"""The contract of `sheetsync.backends.base` in code: one suite, run for every backend."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from sheetsync.backends.base import Known, Place, SheetBackend
from sheetsync.domain.cells import read_tick
from sheetsync.domain.workbook import (
    Cell,
    Choice,
    ColumnSpec,
    Formula,
    FormulaCell,
    FreeText,
    Highlight,
    Link,
    NamedList,
    ReadOnly,
    Style,
    TabSpec,
    Tick,
    WorkbookSpec,
    expected_reading,
)
from sheetsync.errors import BackendError, WorkbookMissingError

RATER = Place("raters", "A1", "main")
OTHER = Place("raters", "A2", "main")
SUMMARY = Place("summary")

HOSTILE = [
    "=1+1",
    "-5",
    "+5",
    "@SUM(A1)",
    "007",
    "1E5",
    "TRUE",
    "1/2",
    "'quoted",
    "_x0041_",
    "_x000D_",
    "😀 emoji",
    "שלום עולם",
    "two\nlines",
    " outer blanks ",
    "<b>&amp;</b>",
    '"quotes", commas; semicolons',
    "{row} {braces}",
    "https://example.org/?a=1&b=2",
    "a\tb",
]


def scoring_spec(
    marker: str = "study/A1/main", codes: tuple[str, ...] = ("00001E", "AB12CD")
) -> WorkbookSpec:
    columns = (
        ColumnSpec("Code", 10, "code", note="The unit's code.", validation=ReadOnly()),
        ColumnSpec("Response", 60, validation=ReadOnly()),
        ColumnSpec(
            "Coverage", 12, "input", "header_input", validation=Choice("levels", "Coverage", "1 to 5")
        ),
        ColumnSpec("evasion", 12, "input", "header_input", validation=Tick()),
        ColumnSpec("Notes", 30, "input_text", "header_input", validation=FreeText("Notes", "Anything")),
        ColumnSpec("Check", 20, "check", validation=ReadOnly()),
    )
    check = Formula('IF(C{row}="","missing: {Coverage}","✓")', "missing: {Coverage}")
    rows = tuple((code, f"answer {number}", None, None, None, check) for number, code in enumerate(codes))
    scoring = TabSpec(
        "Scoring", columns, rows, table=True, input_rows=True, protected=True, frozen_rows=1, frozen_columns=1
    )
    page = (Cell("Title", "title"),), (), ("Go", Link("Scoring", "Scoring", "A2"))
    start = TabSpec("Start here", (ColumnSpec(""), ColumnSpec("")), page, header=False, protected=True)
    lists = (NamedList("levels", (1, 2, 3, 4, 5, "N/A"), ("NA",)), NamedList("sure", ("Low", "High")))
    return WorkbookSpec("Scoring of A1", (start, scoring), lists, marker)


def summary_spec(values: tuple[float, ...] = (0.5, 0.25), marker: str = "study/summary") -> WorkbookSpec:
    columns = (ColumnSpec("Dimension", 20), ColumnSpec("alpha", 10, "number"), ColumnSpec("Comment", 30))
    rows = tuple((f"D{number}", value, None) for number, value in enumerate(values))
    return WorkbookSpec("Summary", (TabSpec("Agreement", columns, rows, table=True),), (), marker)


class BackendContract:
    """Subclasses give `make`, and `add_tab` for what people do that `type_cells` does not."""

    is_live = False
    """Workbooks are spreadsheets that people have open all the time: a formula has its result at once, and a
    rewrite changes our tabs where they are, so nothing of people's is in the way and nothing is put beside."""

    def make(self, folder: Path) -> SheetBackend:
        raise NotImplementedError

    def add_tab(self, backend: SheetBackend, place: Place, title: str) -> None:
        raise NotImplementedError

    def open_elsewhere(self, backend: SheetBackend, place: Place) -> None:
        raise NotImplementedError

    def backups(self, backend: SheetBackend) -> int:
        raise NotImplementedError

    def has_result_beside(self, backend: SheetBackend, place: Place) -> bool:
        raise NotImplementedError

    def version_after(self, backend: SheetBackend, place: Place, returned: str) -> str:
        """Return the version of a workbook that was just made; some backends have to be asked for it."""
        return backend.versions([place])[place] or "" if self.is_live else returned

    def assert_put_beside(self, backend: SheetBackend, place: Place) -> None:
        """Where a result could not be put in place, it lies beside; a live workbook is then left as it is."""
        assert self.has_result_beside(backend, place) is not self.is_live

    @pytest.fixture
    def backend(self, tmp_path: Path) -> SheetBackend:
        return self.make(tmp_path)

    @pytest.fixture
    def published(self, backend: SheetBackend) -> Known:
        version = self.version_after(backend, SUMMARY, backend.create(SUMMARY, summary_spec()))
        return Known(expected_reading(summary_spec()).tabs, {"Agreement": ["Comment"]}, version)

    def replace_again(self, backend: SheetBackend, known: Known, *, force: bool = False) -> str:
        """Rewrite as `publish` does, and return the obstacle."""
        version = backend.versions([SUMMARY])[SUMMARY]
        return backend.replace(
            SUMMARY, summary_spec((0.9,)), known, version_read=version, force=force
        ).obstacle

    # --- create, read, versions

    def test_what_is_drawn_is_read(self, backend: SheetBackend) -> None:
        backend.create(RATER, scoring_spec())
        assert backend.read(RATER) == expected_reading(scoring_spec())

    @pytest.mark.parametrize("value", ["x", True])
    def test_a_tick_that_is_drawn_is_a_tick(self, backend: SheetBackend, value: str | bool) -> None:
        """A file holds `x`, a live spreadsheet a ticked checkbox: the same, and the only cells that may differ."""
        tab = TabSpec("T", (ColumnSpec("t", validation=Tick()),), ((value,), (None,)), input_rows=True)
        backend.create(RATER, WorkbookSpec("T", (tab,)))
        grid = backend.read(RATER).tabs[0]
        assert [read_tick(grid.cell(row, 0)).value for row in (1, 2)] == [True, None]

    def test_values_of_every_kind(self, backend: SheetBackend) -> None:
        values = (0, 1, -2, 2.5, 1e-7, 123456789.125, True, False, "", None, "0", "end")
        tab = TabSpec("T", (ColumnSpec("a"),) * len(values), (values,), header=False)
        backend.create(RATER, WorkbookSpec("T", (tab,)))
        row = backend.read(RATER).tabs[0].rows[0]
        assert row == (0, 1, -2, 2.5, 1e-7, 123456789.125, True, False, None, None, "0", "end")
        assert [type(value) for value in row[6:8]] == [bool, bool]

    @pytest.mark.parametrize("style", get_args(Style))
    def test_every_look_can_be_drawn_and_laid_over_rows(self, backend: SheetBackend, style: Style) -> None:
        highlight = Highlight(0, 1, '$A2="a"', style)
        rows = ((Cell("a", style), "b"), (None, Cell(None, style)), (None, "a row without a code"))
        tab = TabSpec("T", (ColumnSpec("a"), ColumnSpec("b")), rows, table=True, highlights=(highlight,))
        spec = WorkbookSpec("T", (tab,))
        backend.create(RATER, spec)
        assert backend.read(RATER).tabs[0].rows == expected_reading(spec).tabs[0].rows

    def test_hostile_text_stays_what_it_is(self, backend: SheetBackend) -> None:
        rows = tuple((text, Cell(text, "code"), Cell(text, "input_text")) for text in HOSTILE)
        tab = TabSpec("T", tuple(ColumnSpec(text) for text in HOSTILE[:3]), rows, input_rows=True)
        backend.create(RATER, WorkbookSpec("T", (tab,)))
        assert backend.read(RATER).tabs[0].rows == (tuple(HOSTILE[:3]), *((text,) * 3 for text in HOSTILE))

    def test_a_text_that_leads_somewhere_is_read_as_the_text(self, backend: SheetBackend) -> None:
        there = Link("", "There", "A2")
        rows = tuple((Cell(text, "code", there), Cell(None, "code", there)) for text in HOSTILE)
        columns = (ColumnSpec("Code", style="code"), ColumnSpec("b"))
        tab = TabSpec("T", columns, rows, table=True, input_rows=True)
        spec = WorkbookSpec(
            "T", (tab, TabSpec("There", (ColumnSpec("w"),), (("word",),))), marker="s/summary"
        )
        backend.create(SUMMARY, spec)
        assert backend.read(SUMMARY) == expected_reading(spec)
        known = Known(expected_reading(spec).tabs)
        version = backend.versions([SUMMARY])[SUMMARY]
        assert backend.replace(SUMMARY, spec, known, version_read=version).obstacle == ""
        assert backend.read(SUMMARY) == expected_reading(spec)

    def test_a_formula_is_read_as_one(self, backend: SheetBackend) -> None:
        backend.create(RATER, scoring_spec())
        cell = backend.read(RATER).tabs[1].cell(2, 5)
        assert cell == FormulaCell('IF(C3="","missing: {Coverage}","✓")', "missing: {Coverage}")

    def test_creating_twice_changes_nothing(self, backend: SheetBackend) -> None:
        first = backend.create(RATER, scoring_spec())
        backend.type_cells(RATER, "Scoring", {(1, 2): 4})
        typed = backend.versions([RATER])[RATER]
        assert typed != first
        assert backend.create(RATER, scoring_spec()) == typed
        assert backend.read(RATER).tabs[1].cell(1, 2) == 4

    def test_another_workbook_in_the_way(self, backend: SheetBackend) -> None:
        backend.create(RATER, scoring_spec("study/A2/main"))
        with pytest.raises(BackendError, match="in the way"):
            backend.create(RATER, scoring_spec("study/A1/main"))
        assert backend.read(RATER).marker == "study/A2/main"

    def test_missing(self, backend: SheetBackend) -> None:
        assert backend.versions([RATER]) == {RATER: None}
        with pytest.raises(WorkbookMissingError):
            backend.read(RATER)

    def test_versions_follow_content(self, backend: SheetBackend) -> None:
        version = self.version_after(backend, RATER, backend.create(RATER, scoring_spec()))
        backend.create(OTHER, scoring_spec("study/A2/main"))
        assert backend.versions([RATER])[RATER] == version
        backend.type_cells(RATER, "Scoring", {(1, 2): 4})
        changed = backend.versions([RATER, OTHER])
        assert changed[RATER] not in {version, None}

    def test_typing(self, backend: SheetBackend) -> None:
        backend.create(RATER, scoring_spec())
        backend.type_cells(
            RATER, "scoring", {(1, 2): 4, (1, 3): "x", (2, 2): "=1+2", (9, 7): "far", (2, 1): None}
        )
        grid = backend.read(RATER).tabs[1]
        assert (grid.cell(1, 2), grid.cell(1, 3), grid.cell(9, 7), grid.cell(2, 1)) == (4, "x", "far", None)
        assert grid.cell(2, 2) == FormulaCell("1+2", 3 if self.is_live else None)
        assert isinstance(grid.cell(1, 5), FormulaCell)
        assert backend.read(RATER).marker == "study/A1/main"

    def test_typing_into_a_tab_that_is_not_there(self, backend: SheetBackend) -> None:
        backend.create(RATER, scoring_spec())
        with pytest.raises(BackendError, match="Nowhere"):
            backend.type_cells(RATER, "Nowhere", {(0, 0): 1})

    def test_strangers(self, backend: SheetBackend) -> None:
        backend.create(RATER, scoring_spec())
        backend.create(OTHER, scoring_spec("study/A2/main"))
        assert backend.strangers([RATER, OTHER]) == []
        assert backend.strangers([RATER]) == [backend.location(OTHER)]

    # --- replace

    def test_replacing_what_nobody_touched(self, backend: SheetBackend, published: Known) -> None:
        assert self.replace_again(backend, published) == ""
        assert backend.read(SUMMARY) == expected_reading(summary_spec((0.9,)))

    def test_replacing_what_is_missing(self, backend: SheetBackend) -> None:
        done = backend.replace(SUMMARY, summary_spec(), Known(), version_read=None)
        assert done.obstacle == ""
        assert done.version == backend.versions([SUMMARY])[SUMMARY]
        assert done.location == backend.location(SUMMARY)

    def test_what_people_typed_in_their_columns_is_no_obstacle(
        self, backend: SheetBackend, published: Known
    ) -> None:
        backend.type_cells(SUMMARY, "Agreement", {(1, 2): "why so low?"})
        assert self.replace_again(backend, published) == ""

    @pytest.mark.parametrize("cell", [(1, 1), (1, 5), (7, 0), (7, 2), (0, 3)])
    def test_cells_of_people_elsewhere_are_kept(
        self, backend: SheetBackend, published: Known, cell: tuple[int, int]
    ) -> None:
        backend.type_cells(SUMMARY, "Agreement", {cell: "mine"})
        assert "Agreement!" in self.replace_again(backend, published)
        assert backend.read(SUMMARY).tabs[0].cell(*cell) == "mine"
        self.assert_put_beside(backend, SUMMARY)

    def test_a_tab_of_people_is_kept(self, backend: SheetBackend, published: Known) -> None:
        self.add_tab(backend, SUMMARY, "Mine")
        obstacle = self.replace_again(backend, published)
        assert ("Mine" in obstacle) is not self.is_live
        reading = backend.read(SUMMARY)
        assert reading.tab("Mine")
        assert (reading.tabs[0] == expected_reading(summary_spec((0.9,))).tabs[0]) is self.is_live

    def test_changed_between_reading_and_replacing(self, backend: SheetBackend, published: Known) -> None:
        backend.type_cells(SUMMARY, "Agreement", {(1, 2): "typed meanwhile"})
        done = backend.replace(SUMMARY, summary_spec(), published, version_read=published.version)
        assert "changed" in done.obstacle
        assert (".new" in done.location) is not self.is_live
        assert backend.read(SUMMARY).tabs[0].cell(1, 2) == "typed meanwhile"

    def test_appeared_between_reading_and_replacing(self, backend: SheetBackend, published: Known) -> None:
        assert backend.replace(SUMMARY, summary_spec(), published, version_read=None).obstacle

    def test_open_elsewhere(self, backend: SheetBackend, published: Known) -> None:
        self.open_elsewhere(backend, SUMMARY)
        obstacle = self.replace_again(backend, published)
        assert ("open" in obstacle) is not self.is_live
        assert (backend.versions([SUMMARY])[SUMMARY] == published.version) is not self.is_live

    def test_force_replaces_after_a_backup(self, backend: SheetBackend, published: Known) -> None:
        backend.type_cells(SUMMARY, "Agreement", {(7, 0): "mine"})
        assert self.replace_again(backend, published)
        assert self.replace_again(backend, published, force=True) == ""
        assert self.replace_again(backend, published, force=True) == ""
        assert self.backups(backend) == 2
        assert backend.read(SUMMARY) == expected_reading(summary_spec((0.9,)))
        assert not self.has_result_beside(backend, SUMMARY)
