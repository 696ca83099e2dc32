from __future__ import annotations

import io
import os
import re
import stat
import subprocess
import sys
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, cast
from xml.etree import ElementTree as ET

import openpyxl
import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st

from sheetsync.backends import xlsx, xlsx_package, xlsx_read
from sheetsync.backends.base import Known, Place, SheetBackend
from sheetsync.backends.xlsx import XlsxBackend
from sheetsync.backends.xlsx_draw import draw_workbook
from sheetsync.backends.xlsx_read import parse_workbook, read_workbook
from sheetsync.domain.workbook import (
    ChartSpec,
    Choice,
    ColumnSpec,
    DateCell,
    ErrorCell,
    Formula,
    FormulaCell,
    Highlight,
    RawCell,
    ReadOnly,
    TabSpec,
    Tick,
    WorkbookSpec,
    expected_reading,
)
from sheetsync.errors import BackendError, WorkbookBusyError, WorkbookUnreadableError
from tests.backends.contract import HOSTILE, RATER, SUMMARY, BackendContract, scoring_spec, summary_spec
from tests.libreoffice import soffice_convert

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
SHEET1 = "xl/worksheets/sheet1.xml"


class TestXlsxBackend(BackendContract):
    def make(self, folder: Path) -> SheetBackend:
        return XlsxBackend(folder, folder / ".sheetsync")

    def path(self, backend: SheetBackend, place: Place) -> Path:
        return cast("XlsxBackend", backend)._path(place)

    def add_tab(self, backend: SheetBackend, place: Place, title: str) -> None:
        book = openpyxl.load_workbook(self.path(backend, place))
        book.create_sheet(title)
        book.save(self.path(backend, place))

    def open_elsewhere(self, backend: SheetBackend, place: Place) -> None:
        path = self.path(backend, place)
        path.with_name(f"~${path.name}").write_bytes(b"owner")

    def backups(self, backend: SheetBackend) -> int:
        return len(list((cast("XlsxBackend", backend)._private / "backups").iterdir()))

    def has_result_beside(self, backend: SheetBackend, place: Place) -> bool:
        return self.path(backend, place).with_suffix(".new.xlsx").exists()

    # --- files

    def test_where_workbooks_are(self, backend: SheetBackend) -> None:
        assert backend.location(RATER) == "sheets/raters/A1/main.xlsx"
        assert backend.location(SUMMARY) == "sheets/summary/summary.xlsx"
        assert backend.location(Place("adjudication")) == "sheets/adjudication/adjudication.xlsx"

    def test_nothing_else_lies_in_the_raters_folder(self, backend: SheetBackend, tmp_path: Path) -> None:
        backend.create(RATER, scoring_spec())
        backend.create(RATER, scoring_spec())
        assert [file.name for file in (tmp_path / "sheets/raters/A1").iterdir()] == ["main.xlsx"]
        assert list((tmp_path / ".sheetsync/tmp").iterdir()) == []
        assert stat.S_IMODE((tmp_path / ".sheetsync").stat().st_mode) == 0o700

    def test_without_hard_links(self, backend: SheetBackend, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object) -> None:
            raise PermissionError(1, "no links here")

        monkeypatch.setattr(os, "link", refuse)
        backend.create(RATER, scoring_spec())
        assert backend.read(RATER).marker == "study/A1/main"

    def test_a_crash_before_the_file_is_in_place(
        self, backend: SheetBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(xlsx, "_write", fail)
        with pytest.raises(BackendError, match="No space left"):
            backend.create(RATER, scoring_spec())
        assert not (tmp_path / "sheets/raters/A1/main.xlsx").exists()

    def test_a_refused_replace_leaves_the_result_beside(
        self, backend: SheetBackend, published: Known, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        move = xlsx._move

        def refuse(made: Path, path: Path) -> None:
            if path.name == "summary.xlsx":
                raise PermissionError(13, "in use")
            move(made, path)

        monkeypatch.setattr(xlsx, "_move", refuse)
        assert "may not be replaced" in self.replace_again(backend, published)
        assert "may not be replaced" in self.replace_again(backend, published, force=True)
        new = read_workbook(self.path(backend, SUMMARY).with_suffix(".new.xlsx"))
        assert new == expected_reading(summary_spec((0.9,)))

    def test_both_files_are_in_use(
        self, backend: SheetBackend, published: Known, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(made: Path, path: Path) -> None:
            raise PermissionError(13, "in use")

        monkeypatch.setattr(xlsx, "_move", refuse)
        with pytest.raises(WorkbookBusyError, match=r"summary\.new\.xlsx"):
            self.replace_again(backend, published)

    def test_libreoffice_has_it_open(self, backend: SheetBackend, published: Known) -> None:
        path = self.path(backend, SUMMARY)
        path.with_name(f".~lock.{path.name}#").write_text("me")
        assert "open" in self.replace_again(backend, published)

    def test_a_damaged_file_is_not_replaced(self, backend: SheetBackend, published: Known) -> None:
        self.path(backend, SUMMARY).write_bytes(b"")
        assert "empty" in self.replace_again(backend, published)
        with pytest.raises(BackendError, match="in the way"):
            backend.create(SUMMARY, summary_spec())

    def test_what_lies_around(self, backend: SheetBackend, tmp_path: Path) -> None:
        backend.create(RATER, scoring_spec())
        folder = tmp_path / "sheets/raters/A1"
        for name in ("~$main.xlsx", ".~lock.main.xlsx#", ".DS_Store", "main.new.xlsx", "copy of main.xlsx"):
            (folder / name).write_bytes(b"")
        (tmp_path / "sheets/notes.txt").write_bytes(b"")
        expected = ["sheets/notes.txt", "sheets/raters/A1/copy of main.xlsx"]
        assert backend.strangers([RATER]) == expected

    def test_typing_keeps_validations_and_comments(self, backend: SheetBackend) -> None:
        backend.create(RATER, scoring_spec())
        backend.type_cells(RATER, "Scoring", {(1, 2): 4})
        sheet = openpyxl.load_workbook(self.path(backend, RATER))["Scoring"]
        assert len(sheet.data_validations.dataValidation) == 6
        assert sheet["A1"].comment
        assert sheet.protection.sheet


# --- drawing -------------------------------------------------------------------------------------


def full_spec() -> WorkbookSpec:
    """Return a spec that uses everything there is."""
    long = "words " * 80
    columns = (
        ColumnSpec("Code", 10, "code", note=long, validation=ReadOnly(long)),
        ColumnSpec("Level", 12, "input", "header_input", long, Choice("levels", long, long, long)),
        ColumnSpec("Free", 12, "input", "header_input", "", Choice("levels", extra_allowed=True)),
        ColumnSpec("Tick", 12, "input", "header_input", "", Tick("😀" * 40, "😀" * 200, "😀" * 200)),
        ColumnSpec("alpha", 10, "number"),
        ColumnSpec("low", 10, "signed"),
    )
    rows = tuple((f"{number:03d}", None, None, None, number / 10, 0.05) for number in range(5))
    kinds: tuple[tuple[Literal["bar", "stacked", "points"], tuple[int, ...]], ...] = (
        ("bar", (4,)),
        ("stacked", (4, 5)),
        ("points", (4,)),
    )
    charts = tuple(
        ChartSpec(kind, kind, 0, series, 1, 5, f"H{number}2", 5, 5, "x", "y")
        for number, (kind, series) in enumerate(kinds, start=1)
    )
    table = TabSpec(
        "A table's tab",
        columns,
        rows,
        table=True,
        input_rows=True,
        protected=True,
        row_heights={0: 30, 2: 409},
        highlights=(Highlight(0, 5, '$B2="x"', "good"), Highlight(4, 4, "$E2<0.2", "poor")),
        charts=charts,
    )
    hidden = TabSpec("Hidden", (ColumnSpec("h"),), hidden=True)
    page = TabSpec("Page", (ColumnSpec(""),) * 3, (("merged",),), header=False, merged=((0, 0, 0, 2),))
    lists = scoring_spec().lists
    return WorkbookSpec("Full", (hidden, page, table), lists, 'study/A1/<&">')


def parts(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        assert len(set(package.namelist())) == len(package.namelist())
        return {name: package.read(name) for name in package.namelist()}


def test_the_same_bytes_every_time() -> None:
    assert draw_workbook(full_spec()) == draw_workbook(full_spec())


def test_no_author_and_no_real_date() -> None:
    core = parts(draw_workbook(full_spec()))["docProps/core.xml"].decode()
    assert "<dc:creator></dc:creator>" in core
    assert set(re.findall(r">(\d{4}-[^<]*)<", core)) == {"2000-01-01T00:00:00Z"}


def test_nothing_that_excel_would_repair() -> None:
    files = parts(draw_workbook(full_spec()))
    trees = {
        name: ET.fromstring(text) for name, text in files.items() if name.endswith((".xml", ".rels", ".vml"))
    }
    types = {it.get("PartName") for it in trees["[Content_Types].xml"]}
    assert {f"/{name}" for name in files if name.startswith("xl/worksheets/sheet")} <= types
    names = [it.get("name", "").casefold() for it in trees["xl/workbook.xml"].iter(f"{MAIN}definedName")]
    assert sorted({"levels", "levels_offered", "sure", "sure_offered"}) == sorted(
        set(names) - {"_xlnm._filterdatabase", "_xlnm.print_titles"}
    )
    for name, tree in trees.items():
        for validation in tree.iter(f"{MAIN}dataValidation"):
            limits = {"promptTitle": 32, "errorTitle": 32, "prompt": 255, "error": 255}
            for key, limit in limits.items():
                assert len(validation.get(key, "").encode("utf-16-le")) // 2 <= limit
            assert all(len(it.text or "") <= 255 for it in validation)
        if name.startswith("xl/worksheets/sheet"):
            cells = [it.get("r") for it in tree.iter(f"{MAIN}c")]
            assert len(cells) == len(set(cells))
            order = [it.tag.removeprefix(MAIN) for it in tree]
            assert order == sorted(order, key=SHEET_ORDER.index)


SHEET_ORDER = re.findall(
    r"\w+",
    "sheetPr dimension sheetViews sheetFormatPr cols sheetData sheetProtection autoFilter mergeCells "
    "conditionalFormatting dataValidations hyperlinks printOptions pageMargins pageSetup headerFooter "
    "ignoredErrors drawing legacyDrawing",
)
"""Order that ECMA-376 part 1, 18.3.1.99 prescribes."""


def test_rows_are_for_input_and_the_rest_is_locked() -> None:
    sheet = openpyxl.load_workbook(io.BytesIO(draw_workbook(scoring_spec())))["Scoring"]
    assert sheet.protection.sheet
    assert sheet.protection.password is None
    assert not any((sheet.protection.sort, sheet.protection.autoFilter, sheet.protection.formatRows))
    assert all(cell.protection.locked for cell in sheet[1])
    assert not any(cell.protection.locked for row in sheet["A2:F3"] for cell in row)
    assert sheet["A4"].protection.locked
    assert sheet.auto_filter.ref == "A1:F3"
    assert sheet.freeze_panes == "B2"
    rules = {str(it.sqref): it for it in sheet.data_validations.dataValidation}
    assert (rules["A2:A3"].type, rules["A2:A3"].formula1, rules["A2:A3"].errorStyle) == (
        "custom",
        "FALSE",
        None,
    )
    assert (rules["C2:C3"].type, rules["C2:C3"].formula1) == ("list", "levels_offered")
    assert (rules["D2:D3"].type, rules["D2:D3"].formula1) == ("list", '"x"')


def test_lists_stand_on_a_tab_nobody_sees() -> None:
    book = openpyxl.load_workbook(io.BytesIO(draw_workbook(scoring_spec())))
    assert book["Lists"].sheet_state == "veryHidden"
    assert book.defined_names["levels"].attr_text == "Lists!$B$2:$B$8"
    assert book.defined_names["levels_offered"].attr_text == "Lists!$B$2:$B$7"
    assert book.defined_names["sure"].attr_text == "Lists!$C$2:$C$3"
    assert book.defined_names["sure_offered"].attr_text == "Lists!$C$2:$C$3"
    assert [cell.value for cell in book["Lists"]["B"][1:]] == [1, 2, 3, 4, 5, "N/A", "NA"]


def one_cell(value: Any) -> WorkbookSpec:
    return WorkbookSpec("T", (TabSpec("T", (ColumnSpec(""),), ((value,),), header=False),))


@pytest.mark.parametrize(
    "value", ["x" * 32_768, "😀" * 16_384, float("nan"), float("inf"), Formula("1" * 8192), "\ud800"]
)
def test_what_no_cell_can_hold(value: Any) -> None:
    with pytest.raises(ValueError):
        draw_workbook(one_cell(value))


def test_the_longest_text() -> None:
    content = draw_workbook(one_cell("x" * 32_767))
    assert parse_workbook(content, "T").tabs[0].cell(0, 0) == "x" * 32_767


@pytest.mark.libreoffice
def test_newer_functions_get_their_prefix(tmp_path: Path) -> None:
    formulas = (Formula('TEXTJOIN("IFNA(",TRUE,"a","b")'), Formula("IFNA(IFS(FALSE,1),7)"))
    tab = TabSpec("T", (ColumnSpec(""),), tuple((it,) for it in formulas), header=False)
    path = tmp_path / "f.xlsx"
    path.write_bytes(draw_workbook(WorkbookSpec("T", (tab,))))
    assert soffice_convert(path, "csv", tmp_path).read_text().split() == ["aIFNA(b", "7"]


# --- round trips ---------------------------------------------------------------------------------

TEXTS = st.text(
    st.one_of(
        st.characters(codec="utf-8", exclude_characters="\ufffe\uffff"),
        st.sampled_from("=+-@'_x0041\n\r\t<&>\";{}\u200f😀 "),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=30, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=20))
def test_any_text_comes_back(texts: list[str]) -> None:
    tab = TabSpec("T", (ColumnSpec(""),), tuple((text,) for text in texts), header=False, input_rows=True)
    content = draw_workbook(WorkbookSpec("T", (tab,)))
    grid = parse_workbook(content, "T").tabs[0]
    assert [grid.cell(row, 0) for row in range(len(texts))] == texts
    sheet = openpyxl.load_workbook(io.BytesIO(content)).active
    assert sheet is not None
    values = [sheet.cell(row, 1).value for row in range(1, len(texts) + 1)]
    # openpyxl leaves Excel's escapes of control characters as they are; nothing else may differ.
    plain = [text for text in texts if not re.search(r"[\x00-\x08\x0b-\x1f]|_x[0-9a-fA-F]{4}_", text)]
    assert [text for text in values if text in plain] == plain
    assert all(sheet.cell(row, 1).data_type == "s" for row in range(1, len(texts) + 1))


@pytest.mark.libreoffice
def test_saved_again_by_libreoffice(tmp_path: Path) -> None:
    spec = scoring_spec()
    rows = tuple((text, None, 3, 0.1, text) for text in HOSTILE)
    text = TabSpec("Texts", (ColumnSpec("a"),) * 5, rows, table=True)
    spec = WorkbookSpec(spec.title, (*spec.tabs, text, *full_spec().tabs), spec.lists, spec.marker)
    path = tmp_path / "w.xlsx"
    path.write_bytes(draw_workbook(spec))
    saved = soffice_convert(path, "xlsx", tmp_path / "again")
    assert read_workbook(saved) == expected_reading(spec)
    book = openpyxl.load_workbook(saved)
    sheet = book["Scoring"]
    assert sheet["A1"].comment
    assert sheet.protection.sheet
    rules = {str(it.sqref): it for it in sheet.data_validations.dataValidation}
    assert (rules["C2:C3"].type, rules["C2:C3"].formula1) == ("list", "levels_offered")
    assert (rules["A2:A3"].type, rules["A2:A3"].formula1) == ("custom", "0")
    assert set(book.defined_names) >= {"levels", "levels_offered", "sure", "sure_offered"}


@pytest.mark.parametrize("lost", ["docProps/custom.xml", "Lists"])
def test_either_marker_is_enough(lost: str) -> None:
    content = draw_workbook(scoring_spec())
    if lost == "Lists":
        content = changed(
            content, "xl/sharedStrings.xml", lambda xml: xml.replace(b"sheetsync lists", b"other")
        )
    else:
        content = changed(content, lost, lambda _: b"<Properties/>")
    assert parse_workbook(content, "w").marker == "study/A1/main"


# --- reading what other programs write -----------------------------------------------------------


def changed(content: bytes, part: str, change: Callable[[bytes], bytes]) -> bytes:
    files = parts(content)
    files[part] = change(files[part])
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        for name, text in files.items():
            package.writestr(name, text)
    return buffer.getvalue()


def sheet_of(rows: str, dimension: str = "A1") -> bytes:
    """Return a workbook whose one sheet holds these rows of XML."""
    head = (
        '<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    )
    xml = f'{head}<dimension ref="{dimension}"/><sheetData>{rows}</sheetData></worksheet>'
    return changed(draw_workbook(one_cell(1)), SHEET1, lambda _: xml.encode())


def cells_of(content: bytes) -> tuple[tuple[RawCell, ...], ...]:
    return parse_workbook(content, "w").tabs[0].rows


def written(write: Callable[[Any, Any], object], **options: object) -> bytes:
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True, **options}) as book:
        write(book, book.add_worksheet("S"))
    return buffer.getvalue()


@pytest.mark.parametrize("date_1904", [False, True])
def test_numbers_in_date_formats_are_exact(date_1904: bool) -> None:
    numbers = [1, 2, 3, 4, 5, 59, 60, 61, 0.5, 0, 45_000.123456, 45_356]
    looks = ["yyyy-mm-dd", "d/m/yy hh:mm", "hh:mm", "[h]:mm:ss", "mmm d"]

    def write(book: Any, sheet: Any) -> None:
        for row, number in enumerate(numbers):
            for column, look in enumerate(looks):
                sheet.write_number(row, column, number, book.add_format({"num_format": look}))

    rows = cells_of(written(write, date_1904=date_1904))
    assert [[cast("DateCell", cell).serial for cell in row] for row in rows] == [[it] * 5 for it in numbers]
    first = cast("DateCell", rows[11][0])
    assert first.text == ("2028-03-06" if date_1904 else "2024-03-05")
    assert cast("DateCell", rows[8][2]).text == "12:00:00"
    assert cast("DateCell", rows[8][3]).text == "PT12H0M0S"


def test_formulas_with_and_without_result() -> None:
    rows = (
        '<row r="1"><c r="A1"><f>B1+1</f></c><c r="B1"><f>1+1</f><v>2</v></c>'
        '<c r="C1" t="str"><f t="shared" ref="C1:C2" si="0">A1&amp;"&lt;"</f><v></v></c><c r="D1"><v>7</v></c></row>'
        '<row r="2"><c r="A2" t="b"><f>TRUE</f><v>1</v></c><c r="B2" t="e"><f>1/0</f><v>#DIV/0!</v></c>'
        '<c r="C2" t="str"><f t="shared" si="0"/><v>x</v></c><c r="D2" t="e"><v>#REF!</v></c></row>'
        '<row r="3"><c r="B3"><f t="array" ref="B3">SUM(A1:A2)</f><v>3.5</v></c></row>'
    )
    assert cells_of(sheet_of(rows)) == (
        (FormulaCell("B1+1", None), FormulaCell("1+1", 2), FormulaCell('A1&"<"', ""), 7),
        (FormulaCell("TRUE", True), FormulaCell("1/0", "#DIV/0!"), FormulaCell("", "x"), ErrorCell("#REF!")),
        (None, FormulaCell("SUM(A1:A2)", 3.5)),
    )


def test_a_formula_with_a_date_as_result() -> None:
    def write(book: Any, sheet: Any) -> None:
        sheet.write_formula(0, 0, "=TODAY()", book.add_format({"num_format": "yyyy-mm-dd"}), 45_356)

    assert cells_of(written(write)) == ((FormulaCell("TODAY()", 45_356),),)


@pytest.mark.parametrize("size", [1, 40_000])
def test_other_prefixes_quotes_and_comments(size: int) -> None:
    row = "<x:row r='{0}' spans='1:3'><x:c s='0' r='A{0}'><x:f >B{0}</x:f><x:v>4</x:v></x:c><!-- <x:f> --></x:row>"
    body = "".join(row.format(number) for number in range(1, size + 1))
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    xml = f"<x:worksheet xmlns:x='{space}'><x:sheetData>{body}</x:sheetData></x:worksheet>"
    content = changed(draw_workbook(one_cell(1)), SHEET1, lambda _: xml.encode())
    rows = cells_of(content)
    assert rows[0] == (FormulaCell("B1", 4),)
    assert rows[-1] == (FormulaCell(f"B{size}", 4),)
    assert len(rows) == size


def test_cells_without_references() -> None:
    rows = "<row><c><v>1</v></c><c><f>A1</f><v>2</v></c></row><row/><row><c/><c t='e'><v>#N/A</v></c></row>"
    assert xlsx_package.Package(sheet_of(rows)).scan(SHEET1).formulas == {(0, 1): ("A1", True)}
    assert xlsx_package.Package(sheet_of(rows)).scan(SHEET1).errors == {(2, 1): "#N/A"}


def test_merged_cells_hidden_rows_charts_and_empty_tabs() -> None:
    def write(book: Any, sheet: Any) -> None:
        sheet.merge_range(0, 0, 1, 1, "top left")
        sheet.write_string(2, 0, "hidden")
        sheet.set_row(2, None, None, {"hidden": True})
        chart = book.add_chart({"type": "bar"})
        chart.add_series({"values": "=S!$A$1:$A$3"})
        book.add_chartsheet("Chart").set_chart(chart)
        book.add_worksheet("Empty")

    reading = parse_workbook(written(write), "w")
    assert [grid.title for grid in reading.tabs] == ["S", "Chart", "Empty"]
    assert [grid.rows for grid in reading.tabs] == [(("top left",), (), ("hidden",)), (), ()]


# --- absurd sizes --------------------------------------------------------------------------------


def timed(content: bytes) -> tuple[tuple[tuple[RawCell, ...], ...], float, float]:
    tracemalloc.start()
    start = time.perf_counter()
    rows = cells_of(content)
    seconds = time.perf_counter() - start
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return rows, seconds, peak / 2**20


def test_a_claim_of_a_million_rows() -> None:
    rows, seconds, megabytes = timed(sheet_of('<row r="1"><c r="A1"><v>1</v></c></row>', "A1:XFD1048576"))
    assert rows == ((1,),)
    assert seconds < 1
    assert megabytes < 10


def test_a_million_formatted_rows() -> None:
    empty = "".join(f'<row r="{number}" s="1" customFormat="1"/>' for number in range(2, 1_048_577))
    rows, seconds, megabytes = timed(
        sheet_of(f'<row r="1"><c r="A1"><v>1</v></c></row>{empty}', "A1:T1048576")
    )
    assert rows == ((1,),)
    assert seconds < 5
    assert megabytes < 20


def test_formatted_cells_far_below() -> None:
    empty = "".join(
        f'<row r="{number}"><c r="A{number}" s="1"/><c r="B{number}" s="1"/></row>'
        for number in range(2, 200_001)
    )
    rows, seconds, _ = timed(sheet_of(f'<row r="1"><c r="A1"><v>1</v></c></row>{empty}'))
    assert rows == ((1,),)
    assert seconds < 5


@pytest.mark.parametrize(
    "reference", [pytest.param("B1048576", marks=pytest.mark.slow), "XFD2000", "AAA70000"]
)
def test_a_stray_cell_far_away(reference: str) -> None:
    row = re.sub(r"\D", "", reference)
    stray = f'<row r="{row}"><c r="{reference}" t="inlineStr"><is><t>x</t></is></c></row>'
    rows, seconds, megabytes = timed(sheet_of(f'<row r="1"><c r="A1"><v>1</v></c></row>{stray}'))
    assert rows[0] == (1,)
    assert rows[-1][-1] == "x"
    assert len(rows) == int(row)
    assert seconds < 60
    assert megabytes < 300


def test_a_bomb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx_package, "MAX_UNCOMPRESSED", 1_000_000)
    content = sheet_of(" " * 2_000_000)
    with pytest.raises(WorkbookUnreadableError, match="unpacks to more than"):
        parse_workbook(content, "w.xlsx")
    lie = bytearray(content)
    for match in re.finditer(
        re.escape((2_000_000 + len(sheet_xml(content, 2_000_000))).to_bytes(4, "little")), content
    ):
        lie[match.start() : match.end()] = (1000).to_bytes(4, "little")
    with pytest.raises(WorkbookUnreadableError):
        parse_workbook(bytes(lie), "w.xlsx")


def sheet_xml(content: bytes, without: int) -> bytes:
    return parts(content)[SHEET1][without:]


# --- files that are no workbooks -----------------------------------------------------------------


def zipped(*files: tuple[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as package:
        for name, text in files:
            package.writestr(name, text)
    return buffer.getvalue()


def damaged(part: str, change: Callable[[bytes], bytes]) -> bytes:
    return changed(draw_workbook(scoring_spec()), part, change)


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
SHEET2 = "xl/worksheets/sheet2.xml"
ENTITY = b'<!DOCTYPE x [<!ENTITY a "aaaa">]>'

NO_WORKBOOKS = [
    (b"", "empty"),
    (bytes(4096), "empty"),
    (b"Code,Coverage\n1,2\n", "CSV"),
    ("Code;Überblick\n".encode("cp1252"), "CSV"),
    ("Code\t1".encode("utf-16"), "text file"),
    (b"\xef\xbb\xbf<!DOCTYPE html><html>", "web page"),
    (b"<?xml version='1.0'?><Workbook/>", "XML"),
    (OLE + "Workbook".encode("utf-16-le"), r"\.xls"),
    (OLE + "EncryptedPackage".encode("utf-16-le"), "password"),
    (b"\x89PNG\r\n\x1a\n\0\0", "not an Excel workbook"),
    (zipped(("mimetype", "application/vnd.oasis.opendocument.spreadsheet")), r"\.ods"),
    (zipped(("word/document.xml", "<w/>")), "Word"),
    (zipped(("xl/workbook.bin", "")), r"\.xlsb"),
    (zipped(("Index/Document.iwa", "")), "Numbers"),
    (zipped(("photo.jpg", "")), "something else"),
    (draw_workbook(scoring_spec())[:5000], "half-synced"),
    (b"PK\x03\x04" + bytes(100), "half-synced"),
    (damaged(SHEET2, lambda xml: xml[: len(xml) // 2]), "damaged"),
    (damaged(SHEET2, lambda _: b""), "damaged"),
    (damaged("xl/sharedStrings.xml", lambda xml: xml[:300]), "damaged"),
    (damaged("xl/workbook.xml", lambda xml: xml[:300]), "damaged"),
    (damaged("xl/workbook.xml", lambda xml: ENTITY + xml[55:]), "entities"),
    (damaged("xl/_rels/workbook.xml.rels", lambda xml: xml.replace(b"sheet2", b"sheet9")), "damaged"),
]


@pytest.mark.parametrize(("content", "cause"), NO_WORKBOOKS)
def test_the_message_says_what_it_seems_to_be(content: bytes, cause: str, tmp_path: Path) -> None:
    path = tmp_path / "main.xlsx"
    path.write_bytes(content)
    with pytest.raises(WorkbookUnreadableError, match=cause) as caught:
        read_workbook(path, "sheets/raters/A1/main.xlsx")
    assert caught.value.message.startswith("sheets/raters/A1/main.xlsx ")
    assert caught.value.remedy


def test_damage_inside_the_zip_is_noticed() -> None:
    content = bytearray(draw_workbook(scoring_spec()))
    with zipfile.ZipFile(io.BytesIO(bytes(content))) as package:
        offsets = [
            package.getinfo(SHEET2).header_offset + 200,
            package.getinfo("xl/sharedStrings.xml").header_offset + 150,
        ]
    for offset in offsets:
        broken = bytearray(content)
        broken[offset] ^= 0xFF
        with pytest.raises(WorkbookUnreadableError):
            parse_workbook(bytes(broken), "w")


def test_permission_denied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "denied")

    backend = XlsxBackend(tmp_path, tmp_path / ".sheetsync")
    backend.create(RATER, scoring_spec())
    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(WorkbookUnreadableError, match="permission denied"):
        backend.read(RATER)
    assert str(backend.versions([RATER])[RATER]).startswith("unreadable-")


def test_a_folder_in_place_of_the_file(tmp_path: Path) -> None:
    backend = XlsxBackend(tmp_path, tmp_path / ".sheetsync")
    (tmp_path / backend.location(RATER)).mkdir(parents=True)
    with pytest.raises(WorkbookUnreadableError, match="cannot be read"):
        backend.read(RATER)


# --- speed ---------------------------------------------------------------------------------------


def test_opening_a_backend_loads_only_what_it_needs() -> None:
    code = (
        "import sys; from pathlib import Path; from sheetsync.backends import open_backend;"
        "from sheetsync.domain.study import About, Rater, StudyFile;"
        "settings = StudyFile(study=About(id='s'), raters=(Rater(id='a'),));"
        "open_backend(settings, Path(), Path());"
        "assert not {'openpyxl', 'gspread', 'google.auth'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_lists_tab_is_not_part_of_a_reading() -> None:
    assert xlsx_read.LISTS_TAB not in [
        grid.title for grid in parse_workbook(draw_workbook(full_spec()), "w").tabs
    ]


def test_an_error_typed_where_no_formula_stands_is_an_error(tmp_path: Path) -> None:
    """openpyxl stores `#REF!` as an error cell; a reader that looks for formulas only takes it for blank."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in range(1, 60):
        sheet.cell(row, 1, row)
    sheet["B7"] = "#REF!"
    book.save(tmp_path / "w.xlsx")
    assert read_workbook(tmp_path / "w.xlsx").tabs[0].cell(6, 1) == ErrorCell("#REF!")


def test_a_formula_with_words_of_xml_in_it_is_a_formula(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet["A1"] = '="a:row b"&"<row r=""2"">"'
    sheet["A2"] = 5
    book.save(tmp_path / "w.xlsx")
    grid = read_workbook(tmp_path / "w.xlsx").tabs[0]
    assert grid.cell(0, 0) == FormulaCell('"a:row b"&"<row r=""2"">"', None)
    assert grid.cell(1, 0) == 5
