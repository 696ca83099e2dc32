"""What adjudicators typed is never lost, whatever becomes of their workbook, the rubric or the texts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import openpyxl
import pytest
from openpyxl.worksheet.worksheet import Worksheet

from tests.builders import RESPONSES_CSV, RUBRIC_TOML
from tests.services.studies import QUICK_STUDY, Desk, quick_study, xlsx_desk
from tests.services.test_publish import ADJUDICATION_FILE, edit, filled


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = filled(xlsx_desk(tmp_path))
    made.run()
    return made


def column_of(sheet: Worksheet, header: str) -> int:
    return next(cell.column for cell in sheet[1] if cell.value == header)


def comments_in(path: Path) -> list[object]:
    sheet = openpyxl.load_workbook(path)["Adjudication"]
    return [cell.value for row in sheet.iter_rows() for cell in row]


def clear_header(header: str) -> Callable[[openpyxl.Workbook], object]:
    def change(book: openpyxl.Workbook) -> None:
        book["Adjudication"].cell(1, column_of(book["Adjudication"], header)).value = None

    return change


def clear_codes(book: openpyxl.Workbook) -> None:
    for row in range(2, 10):
        book["Adjudication"].cell(row, 1).value = None


def delete_kind(book: openpyxl.Workbook) -> None:
    book["Adjudication"].delete_cols(column_of(book["Adjudication"], "Kind"))


@pytest.mark.parametrize(
    "damage",
    [*map(clear_header, ("Verdict", "Kind", "Comment", "Reason")), clear_codes, delete_kind],
    ids=["no Verdict", "no Kind", "no Comment", "no Reason", "no codes", "column deleted"],
)
def test_a_workbook_whose_rows_cannot_be_read_is_not_written_over(
    desk: Desk, damage: Callable[[openpyxl.Workbook], object]
) -> None:
    desk.decide(desk.codes()["Q1", "Alder"], Verdict=4, Reason="rubric ambiguity", Comment="MINE")
    path = desk.root / ADJUDICATION_FILE
    edit(path, damage)
    for _ in range(2):
        assert desk.run().exit_code == 3
        assert {"MINE", "rubric ambiguity", 4} <= set(comments_in(path))


def test_a_dimension_that_gets_another_name_takes_no_verdict_along(desk: Desk) -> None:
    desk.decide(desk.codes()["Q1", "Alder"], Verdict=4, Comment="MINE")
    quick_study(desk.root, {"rubric.toml": RUBRIC_TOML.replace('name = "Accuracy"', 'name = "Truth"')})
    assert desk.run().exit_code == 3
    assert "MINE" in comments_in(desk.root / ADJUDICATION_FILE)


def test_a_study_that_gets_another_id_takes_no_verdict_along(desk: Desk) -> None:
    desk.decide(desk.codes()["Q1", "Alder"], Verdict=4, Comment="MINE")
    quick_study(desk.root, {"study.toml": QUICK_STUDY.replace('id = "demo"', 'id = "other"')})
    assert desk.run().exit_code == 3
    assert "MINE" in comments_in(desk.root / ADJUDICATION_FILE)


def test_a_verdict_that_counted_goes_on_counting(desk: Desk) -> None:
    """A date-formatted 4 counts, and is written back as the number it stands for."""
    code = desk.codes()["Q1", "Alder"]
    desk.decide(code, Verdict=4)

    def as_date(book: openpyxl.Workbook) -> None:
        sheet = book["Adjudication"]
        place = column_of(sheet, "Verdict")
        cell = next(row[place - 1] for row in sheet.iter_rows(min_row=2) if row[0].value == code)
        cell.value = datetime(1900, 1, 4)
        cell.number_format = "yyyy-mm-dd"

    edit(desk.root / ADJUDICATION_FILE, as_date)
    states = [
        [
            (d.state, d.verdict.verdict)
            for d in desk.run().analysis.divergences
            if d.code == code and d.verdict
        ]
        for _ in range(3)
    ]
    assert states == [[("settled", 4)]] * 3


def test_a_verdict_on_an_older_text_is_no_verdict_on_the_new_one(desk: Desk) -> None:
    code = desk.codes()["Q1", "Alder"]
    desk.decide(code, Verdict=4)
    desk.run()
    line = RESPONSES_CSV.splitlines()[1]
    quick_study(desk.root, {"responses.csv": RESPONSES_CSV.replace(line, f"{line} Revised.")})
    desk.provision("changed")
    for rater, value in (("ann", 5), ("ben", 3)):
        desk.type_into(rater, "rescore-1", {code: {"Accuracy": value, "Coverage": 4}})
    found = next(d for d in desk.run().analysis.divergences if d.code == code)
    assert dict(found.values) == {"ann": 5, "ben": 3}
    assert found.state == "changed_since_verdict"


def test_the_range_of_what_has_come_together_since_the_verdict_is_told(desk: Desk) -> None:
    code = desk.codes()["Q1", "Alder"]
    desk.decide(code, Verdict=4)
    desk.run()
    desk.type_into("ben", "main", {code: {"Accuracy": 5}})
    found = next(d for d in desk.run().analysis.divergences if d.code == code)
    assert (found.state, found.range) == ("changed_since_verdict", 0)
