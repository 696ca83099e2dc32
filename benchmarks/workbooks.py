"""Writing and reading scoring workbooks: `python -m benchmarks.workbooks`.

Writing is compared with bare XlsxWriter. Every call that drawing makes is recorded once and turned into
a straight script: no loops, no decisions, the texts ready. That script is the peer, and the workbooks
of the two are checked to hold the same, part by part.

Reading is compared with bare python-calamine, which returns the values of all tabs and nothing else.
"""

from __future__ import annotations

import datetime
import random
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import python_calamine
import xlsxwriter

from benchmarks.measure import Row, paired, print_rows
from sheetsync.backends.base import Place
from sheetsync.backends.xlsx import XlsxBackend
from sheetsync.backends.xlsx_draw import draw_workbook
from sheetsync.config import load_study
from sheetsync.domain.scoring.conditions import CellKey
from sheetsync.domain.scoring.reading import parse_scoring_workbook
from sheetsync.domain.scoring.sheet import ScoringRow, ScoringSheet
from sheetsync.domain.scoring.workbook import build_scoring_workbook
from sheetsync.domain.study import Rubric
from sheetsync.domain.text_layout import count_lines
from sheetsync.domain.workbook import RawCell, WorkbookSpec
from sheetsync.templates_folder import templates_dir

WRITE_LIMIT = 1.5
READ_LIMIT = 1.5
WHY_READING = (
    "calamine gives a formula as its result, an error cell as a blank, and a number in a date "
    "format as a rounded date. A pull must tell a typed 4 from a formula that gives 4, "
    "a cleared cell from #REF!, and a 3 in a date format from a date. So the XML of every tab is unpacked a "
    "second time, searched for these cells, and the text of every formula decoded: in a scoring tab the Check "
    "formulas are nine tenths of the XML. The values themselves are gone through once more to make whole "
    "numbers whole and blanks blank."
)
"""Printed where reading takes longer than the limit allows."""


def run(rounds: int = 7, *, quick: bool = False) -> list[Row]:
    """Measure writing one workbook and reading many."""
    sheet = _sheet("A1")
    if quick:
        sheet = replace(sheet, rows=sheet.rows[:60])
    with TemporaryDirectory() as name:
        root = Path(name)
        backend = XlsxBackend(root, root / ".sheetsync")
        return [
            _run_writing(backend, sheet, root, rounds),
            *_run_reading(backend, root, 5 if quick else 50, rounds),
        ]


def _sheet(rater: str) -> ScoringSheet:
    """Return an annotator's sheet of the shipped template, in an order of the annotator's own."""
    study = load_study(templates_dir() / "historical-figures")
    rows = [
        ScoringRow(f"u{number:05}", unit.figure, unit.question, unit.response, bool(unit.false_premise))
        for number, unit in enumerate(study.units)
    ]
    random.Random(rater).shuffle(rows)
    return ScoringSheet(
        study_id=study.id,
        title=study.title,
        rater=rater,
        rater_name="",
        batch="main",
        kind="production",
        rubric=study.rubric,
        rows=tuple(rows),
        contact=study.settings.study.contact,
        references=study.references,
    )


# --- writing ---


def _run_writing(backend: XlsxBackend, sheet: ScoringSheet, root: Path, rounds: int) -> Row:
    bare = _straight_script(build_scoring_workbook(sheet))
    ours, theirs = (_new_names(name) for name in ("ours", "bare"))
    made: list[Path] = []

    def create() -> None:
        place = Place("raters", "A1", next(ours))
        backend.create(place, build_scoring_workbook(sheet))
        made.append(root / backend.location(place))

    def write() -> None:
        path = root / f"{next(theirs)}.xlsx"
        bare(path)
        made.append(path)

    ratio = paired(create, write, rounds, before_a=count_lines.cache_clear)
    assert _parts(made[0]) == _parts(made[1]), "the two workbooks differ"
    what = f"write a workbook of {len(sheet.rows)} rows, from the sheet to the disk"
    return Row(what, "bare XlsxWriter, same content", ratio, WRITE_LIMIT)


def _new_names(start: str) -> Iterator[str]:
    return (f"{start}-{number}" for number in count(1))


def _parts(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as package:
        return {name: package.read(name) for name in package.namelist()}


class _Recorded:
    """Stands for a workbook, sheet or format; notes every call made on it as a line of Python."""

    def __init__(self, name: str, lines: list[str]) -> None:
        self._name, self._lines = name, lines

    def __repr__(self) -> str:
        return self._name

    def __getattr__(self, method: str) -> Callable[..., _Recorded]:
        def note(*arguments: object, **options: object) -> _Recorded:
            made = _Recorded(f"it{len(self._lines)}", self._lines)
            given = [repr(argument) for argument in arguments]
            given += [f"{key}={value!r}" for key, value in options.items()]
            target = f"{made} = " if method.startswith("add_") else ""
            self._lines.append(f"{target}{self}.{method}({', '.join(given)})")
            return made

        return note


def _straight_script(spec: WorkbookSpec) -> Callable[[Path], None]:
    """Return a function that writes a workbook to a file by calls of XlsxWriter one after the other."""
    lines: list[str] = []

    def record(_: object, options: dict[str, object]) -> _Recorded:
        lines.append(f"book = xlsxwriter.Workbook(path, {options!r})")
        return _Recorded("book", lines)

    with patch("xlsxwriter.Workbook", record):
        draw_workbook(spec)
    names: dict[str, Any] = {"xlsxwriter": xlsxwriter, "datetime": datetime}
    exec("\n    ".join(["def write(path):", *lines]), names)
    write: Callable[[Path], None] = names["write"]
    return write


# --- reading ---


def _run_reading(backend: XlsxBackend, root: Path, workbooks: int, rounds: int) -> list[Row]:
    sheets = {Place("raters", f"R{number}", "main"): _sheet(f"R{number}") for number in range(workbooks)}
    for place, sheet in sheets.items():
        backend.create(place, build_scoring_workbook(_filled(sheet)))
    paths = [root / backend.location(place) for place in sheets]

    def read() -> None:
        for place in sheets:
            backend.read(place)

    def parse() -> None:
        for place, sheet in sheets.items():
            parse_scoring_workbook(backend.read(place), sheet)

    def bare() -> None:
        for path in paths:
            with python_calamine.load_workbook(str(path)) as book:
                for title in book.sheet_names:
                    book.get_sheet_by_name(title).to_python()

    peer = "bare python-calamine, all tabs"
    return [
        Row(f"read {workbooks} filled workbooks", peer, paired(read, bare, rounds), READ_LIMIT, WHY_READING),
        Row(
            f"read and parse {workbooks} filled workbooks, as pull does",
            peer,
            paired(parse, bare, rounds, before_a=count_lines.cache_clear),
        ),
    ]


def _filled(sheet: ScoringSheet) -> ScoringSheet:
    """Return the sheet with everything typed in: scores, some claims, ticks and remarks."""
    chance = random.Random(sheet.rater)
    rows = (replace(row, typed=_typed(sheet.rubric, chance)) for row in sheet.rows)
    return replace(sheet, rows=tuple(rows))


def _typed(rubric: Rubric, chance: random.Random) -> dict[CellKey, RawCell]:
    typed: dict[CellKey, RawCell] = {
        ("score", dimension.id): chance.choice(dimension.scale) for dimension in rubric.dimensions
    }
    for dimension in rubric.dimensions:
        for tag in dimension.tags:
            if chance.random() < 0.1:
                typed["tag", tag.id] = "A claim out of the response." if tag.claim else "x"
    for remark in rubric.remarks:
        if chance.random() < 0.3:
            typed["remark", remark.id] = f"A remark on what decided the scores, number {chance.random()}."
    return typed


if __name__ == "__main__":
    print_rows(run(int(sys.argv[1]) if len(sys.argv) > 1 else 7))
