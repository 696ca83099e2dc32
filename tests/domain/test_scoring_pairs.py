"""The workbook for pairs: reminders, a B that waits, checklist, self-check and helper, drawn and live."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from sheetsync.backends.xlsx_draw import draw_workbook
from sheetsync.backends.xlsx_read import read_workbook
from sheetsync.domain.protocols import Resource, SelfCheck, TimeBudget
from sheetsync.domain.ratings import BatchKind
from sheetsync.domain.scoring.columns import scoring_columns
from sheetsync.domain.scoring.conditions import CellKey
from sheetsync.domain.scoring.reading import ParsedSheet, parse_scoring_workbook
from sheetsync.domain.scoring.rules import DONE
from sheetsync.domain.scoring.self_check import SelfChecked, answers_of, check_oneself
from sheetsync.domain.scoring.sheet import (
    Guidance,
    Reminder,
    ScoringRow,
    ScoringSheet,
    row_numbers,
    table_rows,
)
from sheetsync.domain.scoring.workbook import build_scoring_workbook
from sheetsync.domain.study import CONFIDENCE_LEVELS
from sheetsync.domain.workbook import (
    Cell,
    Formula,
    FormulaCell,
    Grid,
    Link,
    RawCell,
    Reading,
    TabSpec,
    WorkbookSpec,
    expected_reading,
)
from tests.domain.test_self_check import RUBRIC
from tests.libreoffice import soffice_convert

COLUMNS = scoring_columns(RUBRIC, pairs=True)
HEADERS = [column.header for column in COLUMNS]
AT = {column.key: index for index, column in enumerate(COLUMNS)}
GUIDANCE = Guidance(
    version="version 1.0",
    resources=(Resource(title="Context", address="https://example.org/context"),),
    time=TimeBudget(familiarise=(30, 45), score=(300, 420), self_check=(15, 30)),
    has_practice=True,
)
DOMAINS = ("Biosecurity", "AGI safety", "Biosecurity")


def make_sheet(cases: int = 18, kind: BatchKind = "production", **changes: Any) -> ScoringSheet:
    rows = tuple(
        ScoringRow(
            f"K{case:02d}{side}",
            "",
            f"Question {case}?",
            f"Response {case} {side}.",
            case=f"{case:03d}",
            side=side,
            domain=DOMAINS[case % 3],
        )
        for case in range(1, cases + 1)
        for side in "AB"
    )
    sheet = ScoringSheet(
        "demo", "Pairs", "V1", "Validator", "main", kind, RUBRIC, rows, "c@example.org", pairs=True
    )
    return replace(sheet, guidance=GUIDANCE, **changes)


def tab_of(book: WorkbookSpec, title: str) -> TabSpec:
    return next(tab for tab in book.tabs if tab.title == title)


def texts_of(tab: TabSpec) -> list[Any]:
    cells = [cell.value if isinstance(cell, Cell) else cell for row in tab.rows for cell in row]
    shown = [cell.shown if isinstance(cell, Formula) else cell for cell in cells if cell is not None]
    return [cell.text if isinstance(cell, Link) else cell for cell in shown if cell != ""]


def complete(values: Sequence[int] = (4, 2, 4, 3, 2), sure: str = "High") -> dict[CellKey, int | str]:
    row: dict[CellKey, int | str] = {}
    for dimension, value in zip(RUBRIC.dimensions, values, strict=True):
        row |= {("score", dimension.id): value, ("confidence", dimension.id): sure}
    return row


# --- reminders


def test_a_reminder_stands_after_every_six_cases_and_not_at_the_end() -> None:
    rows = table_rows(make_sheet())
    assert [n for n, row in enumerate(rows) if isinstance(row, Reminder)] == [12, 25]
    assert not any(isinstance(row, Reminder) for row in table_rows(make_sheet(6)))
    assert not any(isinstance(row, Reminder) for row in table_rows(make_sheet(pairs=False)))
    tab = tab_of(build_scoring_workbook(make_sheet()), "Scoring")
    assert tab.rows[12][0] is None
    assert "Rubric" in str(tab.rows[12][HEADERS.index("Response")])
    assert [cell for cell in tab.rows[12] if cell is not None] == [tab.rows[12][HEADERS.index("Response")]]
    numbers = row_numbers(make_sheet())
    assert (numbers["K06B"], numbers["K07A"], numbers["K18B"]) == (12, 14, 38)


def parse(rows: Sequence[Sequence[RawCell]], sheet: ScoringSheet) -> ParsedSheet:
    return parse_scoring_workbook(Reading((Grid("Scoring", tuple(map(tuple, rows))),), sheet.marker), sheet)


@pytest.mark.parametrize("seed", range(3))
def test_reminders_are_nobody_to_pull_wherever_they_are_sorted(seed: int) -> None:
    sheet = make_sheet()
    header, *rows = tab_of_reading(sheet).rows
    random.Random(seed).shuffle(rows)
    parsed = parse([header, *rows], sheet)
    assert (parsed.problems, parsed.entries, parsed.lost_codes) == ((), (), ())


def tab_of_reading(sheet: ScoringSheet) -> Grid:
    grid = expected_reading(build_scoring_workbook(sheet)).tab("Scoring")
    assert grid is not None
    return grid


def test_a_score_in_a_reminder_is_told() -> None:
    sheet = make_sheet()
    rows = [list(row) for row in tab_of_reading(sheet).rows]
    rows[13] += [None] * (len(HEADERS) - len(rows[13]))
    rows[13][AT["score", "depth"]] = 4
    (problem,) = parse(rows, sheet).problems
    assert (problem.kind, problem.severity) == ("unknown_code", "error")
    assert "no code" in problem.message


# --- totals


def filled(sheet: ScoringSheet, typed: Mapping[str, Mapping[CellKey, int | str]]) -> list[list[RawCell]]:
    rows = [[*row, *[None] * (len(HEADERS) - len(row))] for row in tab_of_reading(sheet).rows]
    for code, cells in typed.items():
        for key, value in cells.items():
            rows[row_numbers(sheet)[code]][AT[key]] = value
    return rows


@pytest.mark.parametrize("total", [14, 0, "15 points", None, True])
def test_a_total_that_is_typed_over_is_verified(total: RawCell) -> None:
    sheet = make_sheet()
    rows = filled(sheet, {"K01A": complete()})
    place = row_numbers(sheet)["K01A"], AT["sum", "Total_Score"]
    rows[place[0]][place[1]] = 15
    assert parse(rows, sheet).problems == ()
    rows[place[0]][place[1]] = total
    parsed = parse(rows, sheet)
    (problem,) = parsed.problems
    assert (problem.kind, problem.code, problem.column, problem.severity) == (
        *("rule:total", "K01A", "Total_Score"),
        "error",
    )
    # The scores count all the same.
    assert sum(entry.kind == "score" for entry in parsed.entries) == 5


def test_a_total_that_nobody_calculated_is_worked_out() -> None:
    """Programs that fill in a file leave formulas as they were drawn: blank, or without a result."""
    sheet = make_sheet()
    rows = filled(sheet, {"K01A": complete()})
    place = row_numbers(sheet)["K01A"], AT["sum", "Total_Score"]
    drawn = rows[place[0]][place[1]]
    assert isinstance(drawn, FormulaCell)
    for cached in ("", None):
        rows[place[0]][place[1]] = FormulaCell(drawn.text, cached)
        assert parse(rows, sheet).problems == ()
    rows[place[0]][place[1]] = FormulaCell("SUM(A1:B2)", "")
    assert [problem.kind for problem in parse(rows, sheet).problems] == ["rule:total"]
    rows[place[0]][place[1]] = FormulaCell(drawn.text, 14)
    assert [problem.kind for problem in parse(rows, sheet).problems] == ["rule:total"]


# --- Start here, Checklist, Helper


def test_tabs() -> None:
    book = build_scoring_workbook(make_sheet())
    assert [tab.title for tab in book.tabs] == [
        *("Start here", "Checklist", "Scoring", "Self-check", "Rubric", "Helper"),
    ]
    assert all(tab.protected for tab in book.tabs)
    assert {tab.title for tab in book.tabs if tab.input_rows} == {"Checklist", "Scoring", "Helper"}
    assert draw_workbook(book)


def test_start_here_tells_what_a_validator_needs() -> None:
    told = "\n".join(map(str, texts_of(tab_of(build_scoring_workbook(make_sheet()), "Start here"))))
    for words in (
        *("0 of 36 complete", "300 to 420 minutes to go", "30 to 45 minutes to get familiar"),
        *("5 to 7 hours to score", "together about 6 to 8 hours", "version 1.0", "c@example.org"),
        *("https://example.org/context", "B stays grey until A is complete", "After every 6 cases"),
        *("What to watch for", "Keeping it blind", "in the column blinding-broken", "which side is which"),
    ):
        assert words in told


def test_practice_has_no_time_budget_and_says_that_it_enters_no_result() -> None:
    book = build_scoring_workbook(make_sheet(1, "calibration"))
    told = "\n".join(map(str, texts_of(tab_of(book, "Start here"))))
    assert "minutes" not in told
    assert "enter no result" in told
    items = texts_of(tab_of(book, "Checklist"))
    assert any("in this workbook" in item for item in items)
    assert "Check yourself" not in items


def test_a_study_of_single_responses_is_told_nothing_of_pairs() -> None:
    book = build_scoring_workbook(make_sheet(pairs=False))
    assert [tab.title for tab in book.tabs] == ["Start here", "Scoring", "Self-check", "Rubric", "Helper"]
    told = "\n".join(map(str, texts_of(tab_of(book, "Start here"))))
    assert "grey" not in told
    assert "Keeping it blind" not in told


def test_a_restored_workbook_shows_its_figures_before_anything_recalculates() -> None:
    sheet = make_sheet(4)
    typed = {"K01A": complete(sure="Low"), "K03B": complete((5, 3, 5, 3, 4), "Medium")}
    rows = tuple(replace(row, typed=typed.get(row.code, {})) for row in sheet.rows)
    shown = texts_of(tab_of(build_scoring_workbook(replace(sheet, rows=rows)), "Self-check"))
    assert "Aim for 70 % or more: not yet" in shown
    assert ", ".join(dimension.name for dimension in RUBRIC.dimensions) in shown
    assert {10, 5, 0.5, 20, 15} <= {value for value in shown if isinstance(value, int | float)}


# --- live


class Live:
    """A workbook that was filled in and recalculated by LibreOffice."""

    def __init__(
        self,
        sheet: ScoringSheet,
        typed: Mapping[str, Mapping[CellKey, int | str]],
        folder: Path,
        helper: Mapping[str, int | str] | None = None,
    ) -> None:
        book = build_scoring_workbook(sheet)
        self.sheet, self.spec = sheet, book
        drawn = folder / "drawn.xlsx"
        drawn.write_bytes(draw_workbook(book))
        made = openpyxl.load_workbook(drawn)
        tab = made["Scoring"]
        lines: list[list[Any]] = [
            [cell.value for cell in row] for row in tab.iter_rows(min_row=2, max_col=len(HEADERS))
        ]
        for number, line in enumerate(lines):
            for key, value in typed.get(str(line[0]), {}).items():
                lines[number][AT[key]] = value
        self._waiting(lines)
        self._write_shuffled(tab, lines)
        for place, entered in (helper or {}).items():
            made["Helper"][place] = entered
        made.save(drawn)
        self.reading = read_workbook(soffice_convert(drawn, "xlsx", folder / "saved"))
        self.parsed = parse_scoring_workbook(replace(self.reading, marker=sheet.marker), sheet)

    def _waiting(self, lines: list[list[Any]]) -> None:
        """Put what the highlights say into columns of their own, where they can be read."""
        rules = [h for h in tab_of(self.spec, "Scoring").highlights if h.style in {"waiting", "fair"}]
        for line in lines:
            line += [f"={rule.formula}" for rule in rules]

    def _write_shuffled(self, tab: Any, lines: list[list[Any]]) -> None:
        """Sort as a spreadsheet does: formulas look at the row they come to stand in."""
        random.Random(5).shuffle(lines)
        for number, line in enumerate(lines, 2):
            for column, value in enumerate(line, 1):
                text = str(value) if isinstance(value, str) and value.startswith("=") else None
                tab.cell(number, column).value = moved(text, number) if text else value

    def grid(self, title: str) -> Grid:
        grid = self.reading.tab(title)
        assert grid is not None
        return grid

    def said(self, highlight: int) -> dict[str, object]:
        """What a highlight says of each row, by its code."""
        place = len(HEADERS) + highlight
        rows = range(1, len(self.grid("Scoring").rows))
        return {
            str(self.grid("Scoring").cell(row, 0) or f"none {row}"): value_of(
                self.grid("Scoring").cell(row, place)
            )
            for row in rows
        }


def moved(formula: str, row: int) -> str:
    """Return a formula with every reference to a row of its own put to this row."""
    return re.sub(r"(?<![$\w])(\$[A-Z]+)\d+", rf"\g<1>{row}", formula)


def value_of(raw: RawCell) -> Any:
    return raw.cached if isinstance(raw, FormulaCell) else raw


def random_row(rng: random.Random) -> dict[CellKey, int | str]:
    row: dict[CellKey, int | str] = {}
    for dimension in RUBRIC.dimensions:
        if rng.random() < 0.9:
            numbers = [level for level in dimension.scale if isinstance(level, int)]
            typed: list[int | str] = [*numbers, *numbers, "4?", str(numbers[1])]
            row["score", dimension.id] = rng.choice(typed)
        if rng.random() < 0.95:
            row["confidence", dimension.id] = rng.choice((*CONFIDENCE_LEVELS, "low", " HIGH ", "very"))
    return row


@pytest.fixture(scope="module", params=["en_US", "de_DE"])
def live(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Live:
    rng = random.Random(7)
    sheet = make_sheet(18)
    typed: dict[str, Mapping[CellKey, int | str]] = {row.code: random_row(rng) for row in sheet.rows}
    typed |= {f"K{n:02d}A": complete(sure="Medium") for n in range(1, 9)}
    typed |= {"K02B": complete(), "K03B": complete((5, 3, 5, 3, 4)), "K04B": {}, "K05B": complete((0,) * 5)}
    typed["K06A"] = {}
    helper: dict[str, int | str] = {"C2": 5, "C3": "x", "C5": "yes", "C6": 0, "C10": "many"}
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("LC_ALL", "LANG"):
            patch.setenv(variable, f"{request.param}.UTF-8")
        return Live(sheet, typed, tmp_path_factory.mktemp("live"), helper)


@pytest.mark.libreoffice
def test_the_self_check_says_what_pull_says(live: Live) -> None:
    checked = check_oneself(answers_of(live.parsed.entries), RUBRIC, SelfCheck())
    grid = live.grid("Self-check")
    figures = {str(row[0]): value_of(grid.cell(n, 4)) for n, row in enumerate(grid.rows[:20]) if row}
    assert checked.usual is not None
    assert 60 < checked.answered < 180
    assert figures["Scores with a level"] == checked.answered
    assert figures["of them Medium or High"] == checked.confident
    assert figures["Share"] == pytest.approx(checked.share)
    # A score typed as text is no number to the sheet, so its row has no total there until it is retyped.
    assert_table(live, checked)


def assert_table(live: Live, checked: SelfChecked) -> None:
    grid = live.grid("Self-check")
    head = next(n for n, row in enumerate(grid.rows) if row and row[0] == "Domain")
    headers = [str(cell) for cell in grid.rows[head]]
    rows = grid.rows[head + 1 :]
    assert [row[1] for row in rows] == sorted(
        (row[1] for row in rows), key=lambda c: (int(str(c)) % 3 != 1, c)
    )
    place = {header: headers.index(header) for header in ("Row code", "Total_Score", "Low confidence in")}
    names = {dimension.id: dimension.name for dimension in RUBRIC.dimensions}
    low: dict[str, list[str]] = {}
    for code, dimension in checked.low:
        low.setdefault(code, []).append(names[dimension])
    totals = 0
    for row in rows:
        code = str(row[place["Row code"]])
        listed = value_of(row[place["Low confidence in"]] if len(row) > place["Low confidence in"] else "")
        assert (listed or "") == ", ".join(low.get(code, ())), code
        total = value_of(row[place["Total_Score"]])
        if isinstance(total, int | float):
            assert total == checked.totals[code], code
            totals += 1
    assert totals >= 10


@pytest.mark.libreoffice
def test_b_waits_for_a_wherever_it_is_sorted(live: Live) -> None:
    check = AT["fixed", "Check"]
    scoring = live.grid("Scoring")
    done = {
        str(scoring.cell(n, 0)): str(value_of(scoring.cell(n, check))).startswith(DONE)
        for n in range(1, len(scoring.rows))
    }
    waiting = live.said(1)
    assert {done["K01A"], done["K06A"], done["K05B"]} == {True, False}
    for row in live.sheet.rows:
        expected = row.side == "B" and not done[row.code] and not done[f"{row.code[:-1]}A"]
        assert bool(waiting[row.code]) is expected, row.code
    assert waiting["K06B"]
    assert not waiting["K04B"]


@pytest.mark.libreoffice
def test_reminders_are_coloured_and_progress_counts_units(live: Live) -> None:
    said = live.said(0)
    assert sum(bool(value) for value in said.values()) == 2
    assert all(code.startswith("none") for code, value in said.items() if value)
    check, scoring = AT["fixed", "Check"], live.grid("Scoring")
    done = sum(str(value_of(scoring.cell(n, check))).startswith(DONE) for n in range(1, len(scoring.rows)))
    start = [str(value_of(row[0])) for row in live.grid("Start here").rows if row]
    assert f"{done} of 36 complete" in start
    low, high = round(done * 300 / 36), round(done * 420 / 36)
    assert any(f"budget: {low} to {high} minutes of scoring done" in line for line in start)


@pytest.mark.libreoffice
def test_the_helper_turns_counts_into_points(live: Live) -> None:
    points = [value_of(live.grid("Helper").cell(n, 3)) for n in (1, 2, 5, 6, 9)]
    assert [point or 0 for point in points] == [4, 2, 0, 0, "a number?"]


@pytest.mark.libreoffice
def test_every_count_has_its_points(tmp_path: Path) -> None:
    wanted = {1: (0, 0, 2, 2, 4, 4, 5, 5), 5: (0, 2, 4, 5, 5, 5, 5, 5), 9: (0, 2, 2, 4, 4, 4, 4, 4)}
    book = openpyxl.Workbook()
    tab = tab_of(build_scoring_workbook(make_sheet()), "Helper")
    page: Any = book.active
    for row in wanted:
        formula = tab.rows[row - 1][3]
        assert isinstance(formula, Formula)
        for count in range(8):
            line = 10 * row + count
            page.cell(line, 3).value = count
            page.cell(line, 4).value = "=" + formula.text.replace("{row}", str(line))
    book.save(tmp_path / "counts.xlsx")
    grid = read_workbook(soffice_convert(tmp_path / "counts.xlsx", "xlsx", tmp_path / "saved")).tabs[0]
    for row, points in wanted.items():
        assert tuple(value_of(grid.cell(10 * row + count - 1, 3)) for count in range(8)) == points
