"""Every spelling of a score, a tick, a claim, a confidence and a remark."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sheetsync.domain.cells import (
    BLANK,
    CellFault,
    CellState,
    allowed_levels,
    is_not_applicable,
    level_spellings,
    match_level,
    merge_states,
    normalise,
    read_claim,
    read_confidence,
    read_number,
    read_remark,
    read_score,
    read_sum,
    read_tick,
    show,
)
from sheetsync.domain.study import Dimension, Level, LevelValue
from sheetsync.domain.workbook import DateCell, ErrorCell, FormulaCell, RawCell


def scale(*levels: LevelValue, not_applicable: bool = True) -> Dimension:
    return Dimension(
        id="d",
        name="D",
        level="nominal",
        levels=tuple(Level(value=level) for level in levels),
        not_applicable=not_applicable,
    )


FIVE = scale(1, 2, 3, 4, 5)
GAPS = scale(0, 2, 4, 5)
HALVES = scale(0, 0.5, 1, 1.5)
WORDS = scale("low", "Fairly high", "high")


def kinds(state: CellState) -> list[tuple[str, str]]:
    return [(fault.kind, fault.severity) for fault in state.faults]


@pytest.mark.parametrize(
    ("raw", "level"),
    [
        *(
            (raw, 3)
            for raw in (3, 3.0, "3", " 3.0 ", "\u00a03\u00a0", "３", "٣", "۳", "३", "3.00", "+3", "\t3\n")
        ),
        (2.9999999999999996, 3),  # what 0.1*30 or the like may come to
        ("5", 5),
    ],
)
def test_numbers_on_the_scale(raw: RawCell, level: int) -> None:
    state = read_score(raw, FIVE)
    assert (state.status, state.value, state.faults) == ("value", level, ())


@pytest.mark.parametrize(
    "raw",
    [
        *("3,5", "3,0", "35", "3 or 4", "4?", "3-4", "1;2", "1, 2", "1/2", "3.5", "three", "?", "none", "x"),
        *(True, False, "TRUE", "true", 0, 6, -3, 99, 2.5, "1e0", "½", "³3", "--", "3\u200b"),
    ],
)
def test_what_is_no_level(raw: RawCell) -> None:
    state = read_score(raw, FIVE)
    assert (state.status, state.value) == ("invalid", None)
    assert kinds(state) == [("not_a_level", "error")]
    assert state.found == show(raw)
    assert "allowed: 1, 2, 3, 4, 5 or N/A" in state.faults[0].detail


@pytest.mark.parametrize("raw", [None, "", "  ", "\u00a0", "\n"])
def test_blank(raw: RawCell) -> None:
    for read in (lambda r: read_score(r, FIVE), read_tick, read_claim, read_confidence, read_remark):
        assert read(raw) == BLANK


@pytest.mark.parametrize(
    "text",
    ["N/A", "NA", "n/a", "na", "n.a.", "N.A.", "not applicable", " Not  Applicable ", "Ｎ／Ａ", "n/a\u00a0"],
)
def test_not_applicable(text: str) -> None:
    assert is_not_applicable(text)
    state = read_score(text, FIVE)
    assert (state.status, state.value, state.faults) == ("not_applicable", "N/A", ())
    refused = read_score(text, scale(1, 2, not_applicable=False))
    assert (refused.status, refused.value) == ("invalid", None)
    assert kinds(refused) == [("not_applicable_here", "error")]
    assert "1 or 2" in refused.faults[0].detail


@pytest.mark.parametrize("text", ["none", "null", "-", "n a", "N/A?", "not", "nan", "N\\A"])
def test_other_words_are_not_n_a(text: str) -> None:
    assert not is_not_applicable(text)
    assert kinds(read_score(text, FIVE)) == [("not_a_level", "error")]


@pytest.mark.parametrize(
    ("dimension", "raw", "level"),
    [
        (GAPS, 0, 0),
        (GAPS, "0", 0),
        (GAPS, 1, None),
        (GAPS, 3, None),
        (GAPS, False, None),
        (HALVES, 0.5, 0.5),
        (HALVES, "0.5", 0.5),
        (HALVES, " 0.50", 0.5),
        (HALVES, "0,5", None),
        (HALVES, "1,5", None),
        (HALVES, ".5", None),
        (HALVES, 1, 1),
        (WORDS, "LOW", "low"),
        (WORDS, " fairly \u00a0HIGH", "Fairly high"),
        (WORDS, "lo", None),
        (WORDS, 1, None),
        (scale("true", "false"), "True", "true"),
        (scale("true", "false"), True, None),
        (scale(-1, 0, 1), "-1", -1),
    ],
)
def test_other_scales(dimension: Dimension, raw: RawCell, level: LevelValue | None) -> None:
    state = read_score(raw, dimension)
    assert state.value == level
    assert state.status == ("invalid" if level is None else "value")
    assert not isinstance(state.value, bool)


@pytest.mark.parametrize(
    ("raw", "status", "value", "faults"),
    [
        (DateCell(3.0, "1900-01-02"), "value", 3, [("date_format", "warning")]),
        (DateCell(46115.0, "2026-04-03"), "invalid", None, [("not_a_level", "error")]),
        (FormulaCell("1+2", 3), "value", 3, [("formula", "warning")]),
        (FormulaCell("1+2", 3.0), "value", 3, [("formula", "warning")]),
        (FormulaCell('"N/A"', "N/A"), "not_applicable", "N/A", [("formula", "warning")]),
        (FormulaCell("1+8", 9), "invalid", None, [("not_a_level", "error")]),
        (FormulaCell("1=1", True), "invalid", None, [("not_a_level", "error")]),
        (FormulaCell("1+2", None), "invalid", None, [("formula", "error")]),
        (FormulaCell('""', ""), "blank", None, [("formula", "error")]),
        (FormulaCell("1/0", "#DIV/0!"), "error", None, [("formula", "error")]),
        (ErrorCell("#REF!"), "error", None, [("formula", "error")]),
    ],
)
def test_formulas_dates_and_errors(
    raw: RawCell, status: str, value: object, faults: list[tuple[str, str]]
) -> None:
    state = read_score(raw, FIVE)
    assert (state.status, state.value, kinds(state)) == (status, value, faults)
    assert state.found == show(raw)


def test_a_date_off_the_scale_names_the_culprit() -> None:
    fault = read_score(DateCell(46115.0, "2026-04-03"), FIVE).faults[0]
    assert "2026-04-03, which the spreadsheet made out of what was typed" in fault.detail
    on_scale = read_score(DateCell(5.0, "1900-01-04"), FIVE)
    assert on_scale.value == 5


@pytest.mark.parametrize(
    "raw", ["x", "X", " x ", "✓", "✔", True, "TRUE", "True", 1, 1.0, "1", "yes", "Y", "ｘ"]
)
def test_ticked(raw: RawCell) -> None:
    assert (read_tick(raw).value, read_claim(raw).value) == (True, True)


@pytest.mark.parametrize("raw", [False, "FALSE", 0, 0.0, "0", "no", "N", "-", " - "])
def test_not_ticked(raw: RawCell) -> None:
    assert read_tick(raw) == BLANK
    assert read_claim(raw) == BLANK


@pytest.mark.parametrize("raw", ["maybe", 2, "xx", "?", "–", "1.0", "✗", "n/a", 0.5])
def test_neither_yes_nor_no(raw: RawCell) -> None:
    state = read_tick(raw)
    assert (state.status, state.value, kinds(state)) == ("invalid", None, [("not_a_tick", "error")])
    quoted = read_claim(raw)
    assert (quoted.status, quoted.value, quoted.faults) == ("value", show(raw), ())


def test_ticks_and_claims_by_formula_error_and_date() -> None:
    for read in (read_tick, read_claim):
        assert read(ErrorCell("#N/A")).status == "error"
        assert read(FormulaCell("NA()", "#N/A")).status == "error"
        assert read(FormulaCell("1=1", True)).value is True
        assert kinds(read(FormulaCell("1=1", True))) == [("formula", "warning")]
        assert kinds(read(FormulaCell("A1", None))) == [("formula", "error")]
    assert read_tick(DateCell(46115.0, "2026-04-03")).status == "invalid"
    assert read_claim(DateCell(46115.0, "2026-04-03")).value == "2026-04-03"


def test_a_claim_is_kept_as_quoted() -> None:
    assert read_claim("  “She founded\n it.” ").value == "“She founded\n it.”"
    assert read_claim("-5 is cold").value == "-5 is cold"
    assert read_claim(379).value == "379"


@pytest.mark.parametrize(
    ("raw", "value"),
    [("Low", "Low"), (" medium", "Medium"), ("HIGH", "High"), ("sure", None), (3, None), (True, None)],
)
def test_confidence(raw: RawCell, value: str | None) -> None:
    state = read_confidence(raw)
    assert state.value == value
    assert kinds(state) == ([] if value else [("not_a_level", "error")])


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("  a note ", "a note"),
        (5, "5"),
        (5.0, "5"),
        (True, "TRUE"),
        ("N/A", "N/A"),
        ("None", "None"),
        (DateCell(3.0, "1900-01-02"), "1900-01-02"),
        (FormulaCell("A1", "so"), "so"),
        (FormulaCell("A1", None), "=A1"),
        (ErrorCell("#REF!"), "#REF!"),
    ],
)
def test_remarks_take_anything(raw: RawCell, text: str) -> None:
    assert read_remark(raw) == CellState("value", text, text)


@pytest.mark.parametrize(
    ("raw", "status", "value"),
    [
        (15, "value", 15),
        (FormulaCell("SUM(A1:B1)", 15), "value", 15),
        (FormulaCell("SUM(A1:B1)", ""), "blank", None),
        (DateCell(15.0, "1900-01-14"), "value", 15.0),
        ("15", "value", "15"),
        (True, "value", "TRUE"),
        (None, "blank", None),
        (ErrorCell("#REF!"), "error", None),
    ],
)
def test_sums(raw: RawCell, status: str, value: object) -> None:
    state = read_sum(raw)
    assert (state.status, state.value) == (status, value)


def test_allowed_levels_in_words() -> None:
    assert allowed_levels(scale(0, 0.5, not_applicable=False)) == "0 or 0.5"
    assert allowed_levels(WORDS) == "low, Fairly high, high or N/A"


FAULT = CellFault("date_format", "is a date", "warning")


@pytest.mark.parametrize(
    ("states", "merged"),
    [
        ([], BLANK),
        ([BLANK, BLANK], BLANK),
        ([BLANK, CellState("value", 4, "4")], CellState("value", 4, "4")),
        (
            [CellState("value", 4, "4"), CellState("value", 4, "4.0", (FAULT,))],
            CellState("value", 4, "4", (FAULT,)),
        ),
        ([CellState("value", 4), CellState("value", 5)], None),
        ([CellState("value", 4), CellState("not_applicable", "N/A")], None),
        ([CellState("value", 4), CellState("invalid")], None),
        ([CellState("blank", faults=(FAULT,))], CellState("blank", faults=(FAULT,))),
        ([BLANK, CellState("blank", faults=(FAULT,))], CellState("blank", faults=(FAULT,))),
    ],
)
def test_merging(states: Sequence[CellState], merged: CellState | None) -> None:
    assert merge_states(states) == merged


levels = st.lists(
    st.one_of(st.integers(-20, 20), st.integers(-40, 40).map(lambda n: n / 2)),
    min_size=1,
    unique=True,
    max_size=8,
)


@given(levels)
def test_whatever_the_lists_of_the_sheet_hold_is_read(values: list[LevelValue]) -> None:
    """The sheet never calls a row complete that pull would refuse."""
    for value in values:
        for spelling in level_spellings([value]):
            assert match_level(spelling, values) == value
            assert read_score(spelling, scale(*values)).value == value


@given(st.text(max_size=12))
def test_no_text_is_ever_a_level_by_dropping_characters(text: str) -> None:
    number = read_number(text)
    if number is not None:
        cleaned = normalise(text)
        assert "," not in cleaned
        assert float(number) == float(cleaned)
    state = read_score(text, FIVE)
    assert (state.value is None) != (state.status in ("value", "not_applicable"))
