"""The live `Check` formula and Python's verdict say the same: LibreOffice computes, we compare."""

from __future__ import annotations

import datetime as dt
import random
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sheetsync.backends.xlsx_draw import draw_workbook
from sheetsync.backends.xlsx_read import read_workbook
from sheetsync.domain.ratings import Entry, Problem
from sheetsync.domain.scoring.columns import scoring_columns
from sheetsync.domain.scoring.conditions import CellKey, literal
from sheetsync.domain.scoring.reading import parse_scoring_workbook
from sheetsync.domain.scoring.rules import DONE, ERROR_IN_ROW, MAX_FORMULA_CHARACTERS, check_text, row_checks
from sheetsync.domain.scoring.sheet import ScoringRow, ScoringSheet
from sheetsync.domain.scoring.tab import check_formula_length, read_state
from sheetsync.domain.scoring.workbook import build_scoring_workbook
from sheetsync.domain.study import Dimension, Rubric, Tag
from sheetsync.domain.workbook import DateCell, Formula, FormulaCell, Grid, RawCell, column_letter
from sheetsync.templates_folder import templates_dir
from tests.libreoffice import soffice_convert

ODD_RUBRIC = """\
version = "1"
tag = [
  { id = "TRUE" }, { id = "A1" }, { id = "0" },
  { id = "says_yes", claim = true },
]
remark = [{ id = "notes", name = "Notes" }, { id = "more", name = "More {row} notes" }]

[[dimension]]
id = "depth"
name = "Depth of \\"it\\""
confidence = true
not_applicable = true
levels = [{ value = 0 }, { value = 2 }, { value = 4 }, { value = 5 }]
tags = [{ id = "SUM", claim = true }, { id = "-" }, { id = "R1C1", claim = true }]

[[dimension]]
id = "half"
name = "=Half & {row}, 100 %"
levels = [{ value = -0.5 }, { value = 0 }, { value = 0.5 }, { value = 1 }, { value = 1.5 }, { value = 2.0 }]

[[dimension]]
id = "tone"
name = "Größe / tone 😀"
level = "nominal"
not_applicable = true
levels = [{ value = "low, or less" }, { value = "middling" }, { value = "true" }, { value = "=high" }]

[[rule]]
id = "total"
then = { column = "Total_Score", sum_of = ["depth", "half"] }
message = "The total is not the sum."
[[rule]]
id = "tick-needs-tick"
when = { tag = "TRUE" }
then = { tag = "says_yes" }
[[rule]]
id = "tick-needs-word"
when = { tag = "says_yes" }
then = { dimension = "tone", equals = "=high" }
severity = "warning"
message = "A hint with \\"quotes\\", a ✓ and {row}."
[[rule]]
id = "premise"
when = { tag = "A1", false_premise = false }
severity = "warning"
message = "No false premise here."
[[rule]]
id = "true-premise"
when = { tag = "A1", false_premise = true }
then = { dimension = "half", equals = 0.5 }
[[rule]]
id = "low"
when = { dimension = "depth", at_most = 2 }
then = { any_tag_of = "depth" }
message = "@LONG@"
[[rule]]
id = "word"
when = { dimension = "tone", equals = "middling" }
then = { no_tag_of = "depth" }
[[rule]]
id = "claims"
when = { dimension = "tone", not_applicable = true }
then = { claim_for_tags_of = "depth" }
message = "Quote it."
[[rule]]
id = "always"
when = { dimension = "half", equals = 1 }
message = "One is an odd half."
""".replace("@LONG@", "A long message. 😀 " * 30)

PLAIN_RUBRIC = """\
version = "1"
tag = [{ id = "cited", claim = true }]
[[dimension]]
id = "d"
name = "D"
levels = [{ value = 1 }, { value = 2 }]
tags = [{ id = "wrong", claim = true }]
"""


def historical() -> Rubric:
    path = templates_dir() / "historical-figures" / "rubric.toml"
    return Rubric.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))


RUBRICS: dict[str, Callable[[], Rubric]] = {
    "historical-figures": historical,
    "odd": lambda: Rubric.model_validate(tomllib.loads(ODD_RUBRIC)),
    "without-rules": lambda: Rubric.model_validate(tomllib.loads(PLAIN_RUBRIC)),
}


def make_sheet(rubric: Rubric, rows: int, pairs: bool = False) -> ScoringSheet:
    return ScoringSheet(
        study_id="demo",
        title="Demo",
        rater="ann",
        rater_name="",
        batch="main",
        kind="production",
        rubric=rubric,
        pairs=pairs,
        rows=tuple(
            ScoringRow(f"K{number:03}", "Macrina", f"Question {number}?", "Text.", number % 2 == 0)
            for number in range(rows)
        ),
    )


# --- what people type ---

BAD_SCORES: Sequence[Any] = (
    *("6", 9, 2.4, -3, "3,5", "3 or 4", "4?", "3-4", "3;4", "three", "?", "none", "N/A?", "n / a"),
    *(True, False, "TRUE", "FALSE", "1,5", "0,5", "2.", ".5", "1e0", "x"),
)
NOT_APPLICABLE = ("N/A", "NA", "n/a", "n.a.", "not applicable", "Not  Applicable", " N/A", "N.A.")
YES: Sequence[Any] = ("x", "X", " x ", "✓", "✔", True, "TRUE", "true", 1, "1", "yes", "Y", "\u00a0x\u00a0")
NO: Sequence[Any] = (None, None, None, "no", "N", False, "FALSE", 0, "0", "-", " - ", "  ", "\u00a0")
NOT_TICKS: Sequence[Any] = ("maybe", 2, "?", "xx", "1.0", "–", "✗", 0.5)
CLAIMS: Sequence[Any] = ("She founded it in 379.", '"Quoted"', 379, "-5 is cold", "n.", "=", "a" * 400)
NOTES: Sequence[Any] = (
    *(None, None, "plain", "it's 5", 7, True),
    *('He wrote "so".', "“So”", "„So“", "«so»", "‘single’", "”closing”"),
)
FORMULAS = ("=1+2", '="x"', '="N/A"', "=1=1", '=""', '="3"', "=2.5-2", "=0.1*30")
ERRORS = ("=1/0", "=NA()", "=#REF!", "#N/A")


def spelled(value: object, rng: random.Random) -> object:
    """Write a level in one of the ways people and programs write it."""
    if isinstance(value, str):
        return rng.choice((value, value.upper(), f" {value}", value.replace(" ", "\u00a0"), f"{value} "))
    assert isinstance(value, int | float)
    text = f"{value:g}"
    ways = [value, value, value, float(value), text, f" {text} ", f"\u00a0{text}\u00a0"]
    if float(value).is_integer():
        digits = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
        ways += [f"{text}.0", text.translate(digits), chr(0xFF10 + int(value)) if value >= 0 else text]
    return rng.choice(ways)


def typed_score(dimension: Dimension, rng: random.Random) -> object:
    chance = rng.random()
    if chance < 0.55:
        return spelled(rng.choice(dimension.scale), rng)
    if chance < 0.75:
        return rng.choice(NOT_APPLICABLE)
    return None if chance < 0.85 else rng.choice(BAD_SCORES)


def typed_tick(claim: bool, rng: random.Random) -> object:
    chance = rng.random()
    if chance < 0.5:
        return rng.choice(NO)
    return rng.choice(YES) if chance < 0.8 else rng.choice(CLAIMS if claim else NOT_TICKS)


def careful_cell(key: CellKey, about: object, rng: random.Random) -> object:
    """Return what somebody types who means to finish the row."""
    if isinstance(about, Tag):
        return rng.choice(CLAIMS if about.claim else YES) if rng.random() < 0.15 else rng.choice(NO)
    if key[0] == "score":
        assert isinstance(about, Dimension)
        return (
            rng.choice(NOT_APPLICABLE) if rng.random() < 0.1 else spelled(rng.choice(about.scale[-3:]), rng)
        )
    return rng.choice(("low", "Medium", "HIGH ")) if key[0] == "confidence" else rng.choice(NOTES)


def typed_cell(key: CellKey, about: object, rng: random.Random) -> object:
    if rng.random() < 0.01:
        return rng.choice((*FORMULAS, *ERRORS))
    if isinstance(about, Tag):
        return typed_tick(about.claim, rng)
    if key[0] == "score":
        assert isinstance(about, Dimension)
        return typed_score(about, rng)
    if key[0] == "confidence":
        return rng.choice(("Low", "medium", "HIGH ", "High", "Medium", None, None, "very", 3, True))
    return rng.choice(NOTES)


@dataclass(frozen=True)
class Calculated:
    """What LibreOffice saved: the scoring tab, and the progress line of `Start here`."""

    sheet: ScoringSheet
    grid: Grid
    progress: RawCell
    path: Path


def calculate(rubric: Rubric, rows: int, seed: int, folder: Path) -> Calculated:
    """Draw a workbook, fill it as people do, shuffle its rows, and have LibreOffice recalculate it.

    openpyxl drops every cached result, so each one that is read back is LibreOffice's.
    """
    rng = random.Random(seed)
    sheet = make_sheet(rubric, rows)
    drawn = folder / "drawn.xlsx"
    drawn.write_bytes(draw_workbook(build_scoring_workbook(sheet)))
    book = openpyxl.load_workbook(drawn)
    tab = book["Scoring"]
    columns = scoring_columns(rubric)
    for row in range(2, rows + 2):
        type_into = rng.choice((careful_cell, typed_cell))
        for index, column in enumerate(columns, 1):
            if column.is_input:
                cell: Any = tab.cell(row, index)
                cell.value = type_into(column.key, column.about, rng)
                if isinstance(cell.value, str) and cell.value == "#N/A":
                    cell.data_type = "e"
            elif column.key[0] == "sum" and rng.random() < 0.3:
                scores = [tab.cell(row, at).value for at, c in enumerate(columns, 1) if c.key[0] == "score"]
                # A typed total beside a score typed as text: see SumDiffers.
                if not any(isinstance(score, str) for score in scores[:2]):
                    tab.cell(row, index).value = rng.choice((None, 3, 2.5, "3", "?"))
    book.save(drawn)
    saved = soffice_convert(drawn, "xlsx", folder / "saved")
    reading = read_workbook(saved)
    scoring, start = reading.tab("Scoring"), reading.tab("Start here")
    assert scoring is not None
    assert start is not None
    return Calculated(sheet, scoring, start.cell(4, 0), saved)


def said_by_python(sheet: ScoringSheet, row: ScoringRow, cells: Sequence[RawCell]) -> str:
    """Return Python's verdict for the cells of a row as they were read."""
    states = {
        column.key: read_state(cells[index] if index < len(cells) else None, column)
        for index, column in enumerate(scoring_columns(sheet.rubric))
        if column.is_input or column.key[0] == "sum"
    }
    return check_text(sheet.rubric, states, row_checks(sheet.rubric, has_false_premise=row.has_false_premise))


def _has_true_or_false_as_score(sheet: ScoringSheet, cells: Sequence[RawCell]) -> bool:
    columns = scoring_columns(sheet.rubric)
    scores = [cell for cell, column in zip(cells, columns, strict=False) if column.key[0] == "score"]
    return any(isinstance(s.cached if isinstance(s, FormulaCell) else s, bool) for s in scores)


ROWS = {"historical-figures": 240, "odd": 240, "without-rules": 60}
"""Rows filled per rubric."""


@pytest.mark.libreoffice
@pytest.mark.parametrize(("name", "language"), [*((name, "en_US") for name in ROWS), ("odd", "de_DE")])
def test_formula_and_python_agree(
    name: str, language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In German numbers show a comma: 2.5 as a number is a level there, the text 2,5 is not."""
    rows = ROWS[name]
    for variable in ("LC_ALL", "LANG"):
        monkeypatch.setenv(variable, f"{language}.UTF-8")
    done = calculate(RUBRICS[name](), rows, seed=rows + len(language), folder=tmp_path)
    check = len(scoring_columns(done.sheet.rubric)) - 1
    differing, said = [], []
    for number, row in enumerate(done.sheet.rows, 1):
        shown = done.grid.cell(number, check)
        assert isinstance(shown, FormulaCell)
        verdict = said_by_python(done.sheet, row, done.grid.rows[number])
        said.append(verdict)
        if _has_true_or_false_as_score(done.sheet, done.grid.rows[number]):
            # LibreOffice's rules see 1 and 0 there: the row is refused all the same.
            same = not verdict.startswith(DONE) and not str(shown.cached).startswith(DONE)
        else:
            same = shown.cached == verdict
        if not same:
            differing.append((done.grid.rows[number][4:check], shown.cached, verdict))
    assert differing == []
    complete = sum(text.startswith(DONE) for text in said)
    assert isinstance(done.progress, FormulaCell)
    assert done.progress.cached == f"{complete} of {rows} complete"
    # The cases are worth their time: all kinds of rows came up.
    assert complete
    assert ERROR_IN_ROW in said
    assert any(text.startswith("Missing: ") for text in said)
    if done.sheet.rubric.rules:
        assert any(f"{DONE} " in text for text in said)
        heard = " ".join(said)
        for rule in done.sheet.rubric.rules:
            message = rule.message.replace(DONE, "").strip() or f"Rule {rule.id} is not met."
            assert message in heard, f"rule {rule.id} never fired"


def _content(entries: Sequence[Entry]) -> list[tuple[object, ...]]:
    return sorted((e.code, e.kind, e.column, repr(e.value)) for e in entries)


def _faults(problems: Sequence[Problem]) -> list[tuple[object, ...]]:
    return sorted((p.kind, p.code, p.column, p.severity, p.message) for p in problems)


@pytest.mark.libreoffice
def test_sorted_rows_say_the_same(tmp_path: Path) -> None:
    """Rows moved about, as sorting moves them: entries, problems and Check stay with their rows."""
    rng = random.Random(7)
    done = calculate(historical(), 60, seed=7, folder=tmp_path)
    before = parse_scoring_workbook(read_workbook(done.path), done.sheet)
    width = len(scoring_columns(done.sheet.rubric))
    book = openpyxl.load_workbook(done.path)
    tab = book["Scoring"]
    rows = [[tab.cell(row, column + 1).value for column in range(width)] for row in range(2, 62)]
    order = rng.sample(range(60), 60)
    for place, source in enumerate(order):
        for column, value in enumerate(rows[source]):
            moved = value
            if column == width - 1:  # a formula that moves refers to its new row
                moved = re.sub(rf"(\$[A-Z]+){source + 2}\b", rf"\g<1>{place + 2}", str(value))
            cell: Any = tab.cell(place + 2, column + 1)
            cell.value = moved
    sorted_file = tmp_path / "sorted.xlsx"
    book.save(sorted_file)
    reading = read_workbook(soffice_convert(sorted_file, "xlsx", tmp_path / "again"))
    after = parse_scoring_workbook(reading, done.sheet)
    assert _content(after.entries) == _content(before.entries)
    assert _faults(after.problems) == _faults(before.problems)
    grid = reading.tab("Scoring")
    assert grid is not None
    for place, source in enumerate(order, 1):
        moved_check, check = grid.cell(place, width - 1), done.grid.cell(source + 1, width - 1)
        assert isinstance(moved_check, FormulaCell)
        assert isinstance(check, FormulaCell)
        assert moved_check.cached == check.cached


@pytest.mark.libreoffice
def test_dates_on_the_scale(tmp_path: Path) -> None:
    """A number in a date format counts, in the formula and on pull; a real date is no level."""
    rubric = RUBRICS["without-rules"]()
    sheet = make_sheet(rubric, 2)
    path = tmp_path / "dates.xlsx"
    path.write_bytes(draw_workbook(build_scoring_workbook(sheet)))
    book = openpyxl.load_workbook(path)
    for row, value in ((2, 2), (3, dt.datetime(2026, 4, 3))):
        cell: Any = book["Scoring"].cell(row, 6)
        cell.value = value
        cell.number_format = "yyyy-mm-dd"
    book.save(path)
    reading = read_workbook(soffice_convert(path, "xlsx", tmp_path / "saved"))
    parsed = parse_scoring_workbook(reading, sheet)
    assert [(e.code, e.value) for e in parsed.entries] == [("K000", 2)]
    assert [(p.code, p.kind, p.severity) for p in parsed.problems] == [
        ("K000", "date_format", "warning"),
        ("K001", "not_a_level", "error"),
    ]
    grid = reading.tab("Scoring")
    assert grid is not None
    assert isinstance(grid.cell(1, 5), DateCell)
    checks = [grid.cell(row, 7) for row in (1, 2)]
    said = [check.cached for check in checks if isinstance(check, FormulaCell)]
    assert said == [DONE, "D: choose 1 or 2."]


# --- the formula itself ---

FUNCTIONS = {"IF", "AND", "OR", "NOT", "SUMPRODUCT", "TRIM", "SUBSTITUTE", "IFERROR"} | {
    "FIND",
    "ISLOGICAL",
    "ISNUMBER",
    "COUNT",
    "SUM",
}
LITERAL = re.compile(r'"((?:[^"]|"")*)"')


def formulas_of(rubric: Rubric, pairs: bool = False) -> list[tuple[str, Formula]]:
    book = build_scoring_workbook(make_sheet(rubric, 2, pairs))
    tab = next(tab for tab in book.tabs if tab.title == "Scoring")
    return [
        (tab.columns[index].header, cell)
        for row in tab.rows
        for index, cell in enumerate(row)
        if isinstance(cell, Formula)
    ]


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("name", RUBRICS)
def test_formulas_keep_to_their_row_and_to_plain_functions(name: str, pairs: bool) -> None:
    rubric = RUBRICS[name]()
    columns = scoring_columns(rubric, pairs=pairs)
    lists = {items.name for items in build_scoring_workbook(make_sheet(rubric, 2, pairs)).lists}
    inputs = {column_letter(i) for i, c in enumerate(columns) if c.is_input or c.key[0] == "sum"}
    found = formulas_of(rubric, pairs)
    assert {header for header, _ in found} >= {"Check"}
    for _, formula in found:
        assert len(formula.text.replace("{row}", "1048576")) < MAX_FORMULA_CHARACTERS
        for text in LITERAL.findall(formula.text):
            assert len(text.replace('""', '"').encode("utf-16-le")) // 2 <= 255
        bare = LITERAL.sub('""', formula.text)
        assert set(re.findall(r"([A-Z][A-Z.]*)\(", bare)) <= FUNCTIONS
        places = re.findall(r"\$([A-Z]+)\{row\}", bare)
        assert set(places) <= inputs
        rest = re.sub(r"\$[A-Z]+\{row\}|[A-Z][A-Z.]*\(|\bTRUE\b|\bFALSE\b", " ", bare)
        names = set(re.findall(r"[A-Za-z_][\w.]*", rest))
        assert names <= lists
        assert "{row}" not in rest
        assert not re.search(r"[$!:]", rest)
    assert check_formula_length(rubric, pairs=pairs) < MAX_FORMULA_CHARACTERS


@given(st.text(alphabet=st.sampled_from('ab"{row}✓😀\n '), max_size=900))
def test_literal_holds_the_text(text: str) -> None:
    written = literal(text)
    pieces = LITERAL.findall(written)
    assert LITERAL.sub("", written).replace("&", "") == ""
    assert "".join(piece.replace('""', '"') for piece in pieces) == text
    assert all(len(piece.replace('""', '"').encode("utf-16-le")) // 2 <= 255 for piece in pieces)
    assert "{row}" not in written


def test_word_lists_of_a_workbook_are_texts_and_fractions() -> None:
    lists = {
        items.name: items.offered for items in build_scoring_workbook(make_sheet(RUBRICS["odd"](), 1)).lists
    }
    assert lists["says_na"] == ("n/a", "na", "n.a.", "not applicable")
    assert {0.5, "0.5", -0.5} <= set(lists["answer_2"])
    assert "0,5" not in lists["answer_2"]
    assert lists["choice_1"] == (0, 2, 4, 5, "N/A")
