"""The `Scoring` tab, both directions of one layout: drawing it, and reading what people typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sheetsync.domain.cells import (
    CellState,
    allowed_levels,
    read_claim,
    read_confidence,
    read_remark,
    read_score,
    read_sum,
    read_tick,
    show,
)
from sheetsync.domain.scoring.columns import (
    CHECK_COLUMN,
    SCORING_TAB,
    ScoringColumn,
    scoring_columns,
    sum_columns,
    sum_formula,
)
from sheetsync.domain.scoring.conditions import CellKey, FormulaScope
from sheetsync.domain.scoring.long_responses import RESPONSE_WIDTH, response_cell, shown_response
from sheetsync.domain.scoring.rules import DONE, check_formula, check_text, row_checks
from sheetsync.domain.scoring.sheet import Reminder, ScoringRow, ScoringSheet, TableRow, table_rows
from sheetsync.domain.study import NOT_APPLICABLE, Dimension, Remark, Rubric, Tag
from sheetsync.domain.text_layout import count_lines, row_height
from sheetsync.domain.workbook import (
    Cell,
    CellSpec,
    Choice,
    ColumnSpec,
    Formula,
    FreeText,
    Highlight,
    Link,
    NamedList,
    RawCell,
    ReadOnly,
    TabSpec,
    Tick,
    column_letter,
)

QUESTION_WIDTH = 28.0
_MAX_PROMPT = 255
_HEADER_HEIGHT = 50.0
_TROUBLE = 'AND(${check}2<>"",LEFT(${check}2,1)<>"' + DONE + '",LEFT(${check}2,8)<>"Missing:")'

_WAITING = (
    'AND(${side}2="B",LEFT(${check}2,1)<>"'
    + DONE
    + '",SUMPRODUCT((${case}$2:${case}${last}=${case}2)*(${side}$2:${side}${last}="A")'
    + '*(LEFT(${check}$2:${check}${last},1)<>"'
    + DONE
    + '"))>0)'
)
"""The row is a B that waits: somewhere in the table, however sorted, stands its A and is not complete."""

_REMINDER = 'AND($A2="",${response}2<>"")'

_FIXED_LOOK: Mapping[str, tuple[float, str]] = {
    "Code": (11, "code"),
    "Case": (9, "code"),
    "Side": (7, "code"),
    "Figure": (15, "text"),
    "Question": (QUESTION_WIDTH, "text"),
    "Response": (RESPONSE_WIDTH, "text"),
    CHECK_COLUMN: (40, "check"),
}


def read_state(raw: RawCell, column: ScoringColumn) -> CellState:
    """Read one input cell by the kind of its column."""
    if isinstance(column.about, Tag):
        return read_claim(raw) if column.about.claim else read_tick(raw)
    if column.key[0] == "score" and isinstance(column.about, Dimension):
        return read_score(raw, column.about)
    if column.key[0] == "confidence":
        return read_confidence(raw)
    return read_sum(raw) if column.key[0] == "sum" else read_remark(raw)


def draw_scoring_tab(
    sheet: ScoringSheet, block_of: Mapping[str, str], reference_of: Mapping[str, Link]
) -> tuple[TabSpec, tuple[NamedList, ...]]:
    """Return the tab and the word lists it needs.

    `block_of` maps the code of each long response to the cell of the `Responses` tab where it starts,
    `reference_of` the name of each reference sheet to where it starts (S0.9: every row leads there).
    """
    columns = scoring_columns(sheet.rubric, pairs=sheet.pairs)
    letters = {column.key: column_letter(index) for index, column in enumerate(columns)}
    scope = FormulaScope(letters)
    formulas = _CheckFormulas(sheet.rubric, scope)
    drawn = table_rows(sheet)
    rows = tuple(_cells(columns, row, formulas, (block_of, reference_of)) for row in drawn)
    lists = {**scope.lists, **_choice_lists(sheet.rubric)}
    tab = TabSpec(
        SCORING_TAB,
        columns=tuple(_column_spec(column, sheet.rubric) for column in columns),
        rows=rows,
        table=True,
        input_rows=True,
        protected=True,
        frozen_rows=1,
        frozen_columns=3 if sheet.pairs else 1,
        row_heights={0: _HEADER_HEIGHT, **{index: _height(row) for index, row in enumerate(drawn, 1)}},
        highlights=_highlights(letters, len(rows) + 1, pairs=sheet.pairs),
    )
    return tab, tuple(lists.values())


def _highlights(letters: Mapping[CellKey, str], last: int, *, pairs: bool) -> tuple[Highlight, ...]:
    """Return what colours the rows; `last` is the number of the last row."""
    end = len(letters) - 1
    names = {name: letters["fixed", name.title()] for name in ("check", "response")}
    found = [Highlight(0, end, f'LEFT(${names["check"]}2,1)="{DONE}"', "good")]
    if pairs:
        names |= {name: letters["fixed", name.title()] for name in ("case", "side")}
        found += [
            Highlight(0, end, _REMINDER.format(**names), "fair"),
            Highlight(0, end, _WAITING.format(**names, last=last), "waiting"),
        ]
    # The frozen code column shows trouble too: Check may lie off the screen.
    found += [Highlight(place, place, _TROUBLE.format(**names), "poor") for place in (0, end)]
    return tuple(found)


def check_formula_length(rubric: Rubric, *, pairs: bool = False) -> int:
    """Return how many characters the longest `Check` formula of this rubric has (Excel takes 8,192)."""
    columns = scoring_columns(rubric, pairs=pairs)
    scope = FormulaScope({column.key: column_letter(index) for index, column in enumerate(columns)})
    formulas = _CheckFormulas(rubric, scope)
    return max(len(formulas.text(premise).replace("{row}", "99999")) for premise in (True, False))


class _CheckFormulas:
    """The two `Check` formulas of a rubric: with and without a false premise in the question."""

    def __init__(self, rubric: Rubric, scope: FormulaScope) -> None:
        self.rubric, self.scope = rubric, scope
        self.columns = {column.key: column for column in scoring_columns(rubric) if column.is_input}
        self.checks = {premise: row_checks(rubric, has_false_premise=premise) for premise in (True, False)}
        self._texts: dict[bool, str] = {}

    def text(self, has_false_premise: bool) -> str:
        if has_false_premise not in self._texts:
            checks = self.checks[has_false_premise]
            self._texts[has_false_premise] = check_formula(self.rubric, self.scope, checks)
        return self._texts[has_false_premise]

    def cell(self, row: ScoringRow) -> Formula:
        states = {key: read_state(raw, self.columns[key]) for key, raw in row.typed.items()}
        shown = check_text(self.rubric, states, self.checks[row.has_false_premise])
        return Formula(self.text(row.has_false_premise), shown)

    def sum(self, header: str, row: ScoringRow) -> Formula:
        keys = sum_columns(self.rubric)[header]
        values = [row.typed.get(key) for key in keys]
        numbers = [v for v in values if isinstance(v, int | float)]
        shown = sum(numbers) if len(numbers) == len(keys) else ""
        return Formula(sum_formula([self.scope.cell(key) for key in keys]), shown)


def _cells(
    columns: Sequence[ScoringColumn],
    row: TableRow,
    formulas: _CheckFormulas,
    leads_to: tuple[Mapping[str, str], Mapping[str, Link]],
) -> tuple[CellSpec, ...]:
    if isinstance(row, Reminder):
        return tuple(row.text if column.header == "Response" else None for column in columns)
    return tuple(_cell(column, row, formulas, leads_to) for column in columns)


def _cell(
    column: ScoringColumn,
    row: ScoringRow,
    formulas: _CheckFormulas,
    leads_to: tuple[Mapping[str, str], Mapping[str, Link]],
) -> CellSpec:
    block_of, reference_of = leads_to
    if column.is_input:
        raw = row.typed.get(column.key)
        return raw if isinstance(raw, str | int | float | bool) else None
    if column.key[0] == "sum":
        return formulas.sum(column.header, row)
    if column.header == CHECK_COLUMN:
        return formulas.cell(row)
    if column.header == "Response":
        return response_cell(row.code, row.response, block_of)
    if column.header == "Code" and row.reference in reference_of:
        return Cell(row.code, "code", reference_of[row.reference])
    return {
        "Code": row.code,
        "Case": row.case,
        "Side": row.side,
        "Figure": row.figure,
        "Question": row.question,
    }[column.header]


def _height(row: TableRow) -> float:
    if isinstance(row, Reminder):
        return row_height(count_lines(row.text, RESPONSE_WIDTH))
    response = shown_response(row.code, row.response)
    lines = max(
        3,
        count_lines(response, RESPONSE_WIDTH),
        count_lines(row.question, QUESTION_WIDTH),
    )
    return row_height(lines)


def _choice_lists(rubric: Rubric) -> dict[str, NamedList]:
    lists = {}
    for index, dimension in enumerate(rubric.dimensions, 1):
        offered = (*dimension.scale, *((NOT_APPLICABLE,) if dimension.not_applicable else ()))
        lists[f"choice_{index}"] = NamedList(f"choice_{index}", offered)
    if any(dimension.confidence for dimension in rubric.dimensions):
        lists["choice_confidence"] = NamedList("choice_confidence", ("Low", "Medium", "High"))
    return lists


def _column_spec(column: ScoringColumn, rubric: Rubric) -> ColumnSpec:
    if column.key[0] == "sum":
        return ColumnSpec(column.header, 13, "integer", note="Added up by the sheet.", validation=ReadOnly())
    if not column.is_input:
        width, style = _FIXED_LOOK[column.header]
        note = {CHECK_COLUMN: _CHECK_NOTE, "Code": _CODE_NOTE}.get(column.header, "")
        return ColumnSpec(column.header, width, style, note=note, validation=ReadOnly())  # type: ignore[arg-type]
    about = column.about
    if isinstance(about, Tag):
        return _tag_spec(about)
    if isinstance(about, Remark):
        prompt = "Optional: what decided your scores, and difficult calls."
        return ColumnSpec(column.header, 36, "input_text", "header_input", validation=FreeText("", prompt))
    assert isinstance(about, Dimension)  # noqa: S101 - scoring_columns gives nothing else
    return _confidence_spec(column.header) if column.key[0] == "confidence" else _score_spec(about, rubric)


_CODE_NOTE = "Click a code to see the reference sheet, where there is one."
_CHECK_NOTE = "Fills itself in: what this row still needs, or ✓ when it is complete."


def _tag_spec(tag: Tag) -> ColumnSpec:
    if tag.claim:
        prompt = _shorten(f"{tag.text} Paste the claim here: the quote ticks the tag.".strip(), _MAX_PROMPT)
        note = f"{tag.text}\n\nPaste the claim that is meant: the quote itself ticks the tag.".strip()
        return ColumnSpec(tag.id, 17, "input_text", "header_input", note, FreeText(tag.id[:32], prompt))
    prompt = _shorten(f"{tag.text} Put x if it applies.".strip(), _MAX_PROMPT)
    tick = Tick(tag.id[:32], prompt, "Put x to tick it, or leave the cell empty.")
    return ColumnSpec(
        tag.id, 13, "input", "header_input", f"{tag.text}\n\nPut x if it applies.".strip(), tick
    )


def _confidence_spec(header: str) -> ColumnSpec:
    choice = Choice(
        "choice_confidence", header[:32], "How sure are you of this score?", "Choose Low, Medium or High."
    )
    return ColumnSpec(header, 13, "input", "header_input", "How sure are you of this score?", choice)


def _score_spec(dimension: Dimension, rubric: Rubric) -> ColumnSpec:
    index = rubric.dimensions.index(dimension) + 1
    room = (_MAX_PROMPT - 8) // len(dimension.levels) - 4
    lines = [f"{show(level.value)}: {_shorten(level.text, room)}" for level in reversed(dimension.levels)]
    prompt = "\n".join(lines) if dimension.levels[0].text else f"Choose {allowed_levels(dimension)}."
    choice = Choice(
        f"choice_{index}",
        dimension.name[:32],
        _shorten(prompt, _MAX_PROMPT),
        _shorten(f"Choose {allowed_levels(dimension)}.", _MAX_PROMPT),
    )
    return ColumnSpec(dimension.name, 12, "input", "header_input", describe_dimension(dimension), choice)


def describe_dimension(dimension: Dimension) -> str:
    """Return the header note: what the dimension judges, and every level from high to low."""
    levels = [f"{show(level.value)}: {level.text}" for level in reversed(dimension.levels)]
    if dimension.not_applicable:
        levels.append(f"{NOT_APPLICABLE}: cannot be judged")
    items = ["", "One point each:", *dimension.checklist] if dimension.checklist else []
    return "\n".join([*([dimension.text, ""] if dimension.text else []), *levels, *items])


def _shorten(text: str, room: int) -> str:
    text = " ".join(text.split(" "))
    return text if len(text) <= room else text[: max(1, room - 1)].rstrip(" ,;:") + "…"


def typed_cells(entries: Sequence[tuple[CellKey, RawCell]]) -> dict[CellKey, RawCell]:
    """Return what a cell shows for archived entries: a plain tick becomes `x`."""
    return {key: "x" if value is True else value for key, value in entries}
