"""The plain way: what the same work costs as a script that anybody would write with gspread.

One method call after the other, and gspread's own `BackOffHTTPClient`, which waits 2, 4, 8 ... seconds after a
refusal. The script makes the same tabs with the same texts, drop-downs, protection and shares; Check formulas,
widths, named ranges and charts are spared it, and so is any book-keeping: it never asks what is there already.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import gspread
from gspread.utils import ValidationConditionType, rowcol_to_a1

from benchmarks.google_costs import UNITS, Contents, Costs, first_score, people, spent, type_scores
from sheetsync.config import load_study
from sheetsync.domain.scoring.columns import SCORING_TAB, ScoringColumn, scoring_columns
from sheetsync.domain.study import Dimension
from sheetsync.domain.workbook import FormulaCell, Grid
from tests.backends.google_worlds import BOT
from tests.sheets_emulator import Emulator, VirtualClock


def measure_plain(folder: Path, annotators: int, contents: Contents) -> Costs:
    """Do the same work as a script would."""
    emulator = Emulator(VirtualClock(), seed=1, quota="real")
    client = gspread.Client(auth=None, session=emulator.session(BOT), http_client=gspread.BackOffHTTPClient)  # type: ignore[arg-type]
    columns = scoring_columns(load_study(folder).rubric)
    keys: list[str] = []

    def provision() -> None:
        for number in range(1, annotators + 1):
            book, sheets = _write_plainly(client, f"Scoring of A{number}", contents.scoring.tabs)
            _equip(sheets[SCORING_TAB], columns)
            book.share(f"a{number}@example.org", perm_type="user", role="writer", notify=False)
            keys.append(book.id)

    def pull() -> None:
        for key in keys:
            assert len(client.open_by_key(key).worksheet(SCORING_TAB).get_all_records()) == UNITS

    with people(emulator):
        published = {
            _write_plainly(client, "Published", reading.tabs)[0].id: reading.tabs
            for reading in contents.published
        }

    def publish() -> None:
        for key, tabs in published.items():
            book = client.open_by_key(key)
            for grid in tabs:
                sheet = book.worksheet(grid.title)
                sheet.clear()
                sheet.update(_values(grid))
                sheet.format("1:1", {"textFormat": {"bold": True}})

    with patch("gspread.http_client.time", SimpleNamespace(sleep=emulator.clock.advance)):
        provisioned = spent(emulator, provision)
        with people(emulator):
            for number, key in enumerate(keys, 1):
                type_scores(emulator.person(f"a{number}@example.org"), key, first_score(columns))
        pulled = spent(emulator, pull)  # it cannot tell whether anything changed
        published_again = spent(emulator, publish) if published else None
        return Costs(provisioned, None, pulled, pulled, published_again)


def _write_plainly(
    client: gspread.Client, title: str, tabs: Sequence[Grid]
) -> tuple[gspread.Spreadsheet, dict[str, gspread.Worksheet]]:
    """Make a spreadsheet tab by tab; the one that is there from the start becomes the first."""
    book = client.create(title)
    sheets: dict[str, gspread.Worksheet] = {}
    for grid in tabs:
        width = max((len(row) for row in grid.rows), default=1)
        if sheets:
            sheet = book.add_worksheet(grid.title, len(grid.rows) + 1, width)
        else:
            sheet = book.sheet1
            sheet.update_title(grid.title)
            if width > sheet.col_count or len(grid.rows) > sheet.row_count:
                sheet.resize(len(grid.rows) + 1, width)
        sheet.update(_values(grid))
        sheet.format("1:1", {"textFormat": {"bold": True}})
        sheets[grid.title] = sheet
    return book, sheets


def _equip(sheet: gspread.Worksheet, columns: Sequence[ScoringColumn]) -> None:
    """Give a scoring tab its drop-downs, its ticks and its protection: a call for each run of like columns."""
    runs = [list(run) for _, run in groupby(enumerate(columns, 1), key=lambda each: _kind(each[1]))]
    for run in runs:
        kind, about = _kind(run[0][1]), run[0][1].about
        cells = f"{rowcol_to_a1(2, run[0][0])}:{rowcol_to_a1(UNITS + 1, run[-1][0])}"
        if isinstance(about, Dimension):
            levels = [str(value) for value in about.scale]
            sheet.add_validation(
                cells, ValidationConditionType.one_of_list, levels, strict=True, showCustomUi=True
            )
        elif kind == "tag":
            sheet.add_validation(cells, ValidationConditionType.boolean, [])
        elif kind == "fixed":
            sheet.add_protected_range(cells, editor_users_emails=[BOT])


def _kind(column: ScoringColumn) -> str:
    return column.key[0] if column.key[0] != "score" else column.header


def _values(grid: Grid) -> list[list[Any]]:
    return [
        ["" if cell is None or isinstance(cell, FormulaCell) else cell for cell in row] for row in grid.rows
    ]
