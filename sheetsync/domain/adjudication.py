"""The `Adjudication` tab, both directions: what adjudicators see, and what they decided."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sheetsync.domain.cells import BLANK, CellState, normalise, read_remark, read_score, show
from sheetsync.domain.divergence import Divergence, DivergenceKey, DivergenceKind, Verdict
from sheetsync.domain.ratings import Problem
from sheetsync.domain.scoring.long_responses import (
    RESPONSE_WIDTH,
    response_cell,
    responses_tab,
    shown_response,
)
from sheetsync.domain.scoring.workbook import rubric_tab
from sheetsync.domain.study import NOT_APPLICABLE, LevelValue, Rubric
from sheetsync.domain.text_layout import count_lines, row_height
from sheetsync.domain.text_page import page_of_text
from sheetsync.domain.workbook import (
    Cell,
    CellSpec,
    Choice,
    ColumnSpec,
    DateCell,
    FormulaCell,
    FreeText,
    Grid,
    Highlight,
    NamedList,
    RawCell,
    Reading,
    ReadOnly,
    Style,
    TabSpec,
    WorkbookSpec,
    cell_name,
    column_letter,
)

ADJUDICATION_TAB = "Adjudication"
ADJUDICATION_BATCH = "adjudication"
PEOPLE_COLUMNS = ("Verdict", "Reason", "Comment", "Adjudicator")
REASONS = (
    "rubric ambiguity",
    "rater slip",
    "sources disagree",
    "response ambiguous",
    "question ambiguous",
    "different reading of the reference",
    "other",
)
_KEY_COLUMNS = ("Code", "Dimension", "Kind")


@dataclass(frozen=True)
class AdjudicationUnit:
    """What an adjudicator sees of a unit: no model."""

    question: str
    response: str


@dataclass(frozen=True)
class AdjudicationSheet:
    """Everything the adjudication workbook is made of.

    Attributes:
        title: the study's title.
        rubric: dimensions and remarks.
        raters: ids in roster order.
        adjudicators: ids offered in the last column.
        divergences: the rows, in order.
        units: texts by code.
        remarks: text by (rater, code, remark id).
        typed: what people typed, by row and header, put back as it stood.
    """

    study_id: str
    title: str
    rubric: Rubric
    raters: tuple[str, ...]
    adjudicators: tuple[str, ...]
    divergences: tuple[Divergence, ...]
    units: Mapping[str, AdjudicationUnit]
    remarks: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    typed: Mapping[DivergenceKey, Mapping[str, RawCell]] = field(default_factory=dict)

    @property
    def marker(self) -> str:
        """Which workbook this is."""
        return f"{self.study_id}/{ADJUDICATION_BATCH}"


def build_adjudication_workbook(sheet: AdjudicationSheet) -> WorkbookSpec:
    """Return the whole workbook: one row per unit, dimension and kind."""
    codes = dict.fromkeys(divergence.code for divergence in sheet.divergences)
    responses, block_of = responses_tab((code, sheet.units[code].response) for code in codes)
    columns = _columns(sheet)
    rows = tuple(_row(divergence, sheet, block_of) for divergence in sheet.divergences)
    verdict = column_letter([column.header for column in columns].index("Verdict"))
    levels = dict.fromkeys(level for dimension in sheet.rubric.dimensions for level in dimension.scale)
    lists = [NamedList("choice_verdict", (*levels, NOT_APPLICABLE)), NamedList("choice_reason", REASONS)]
    if sheet.adjudicators:
        lists.append(NamedList("choice_adjudicator", sheet.adjudicators))
    tab = TabSpec(
        ADJUDICATION_TAB,
        columns,
        rows,
        table=True,
        input_rows=True,
        protected=True,
        frozen_rows=1,
        frozen_columns=2,
        row_heights={0: 34.0, **{index: _height(d, sheet) for index, d in enumerate(sheet.divergences, 1)}},
        highlights=(Highlight(len(columns) - 4, len(columns) - 1, f'${verdict}2<>""', "good"),),
    )
    tabs = (tab, _start_tab(sheet), rubric_tab(sheet.rubric), *responses)
    return WorkbookSpec(f"{sheet.title} (adjudication)", tabs, tuple(lists), sheet.marker)


def _start_tab(sheet: AdjudicationSheet) -> TabSpec:
    open_ones = sum(divergence.state == "open" for divergence in sheet.divergences)
    lines: list[tuple[CellSpec, Style]] = [
        (sheet.title, "title"),
        (f"Adjudication · {len(sheet.divergences):,} rows, {open_ones:,} open when this was written", "note"),
        ("", "text"),
        ("How to settle a row", "heading"),
        ("1. Read the question, the response and what each rater gave and noted.", "text"),
        (
            "2. Choose a verdict: a level of the row's dimension, or N/A. The tab Rubric says what levels mean.",
            "text",
        ),
        ("3. Say why the raters differed, and who decided. A comment is welcome.", "text"),
        ("", "text"),
        ("What happens to it", "heading"),
        (
            "Verdicts enter results. The raters' own scores stay as they are, and agreement rests on them alone.",
            "text",
        ),
        ("Clear a verdict to open its row again.", "text"),
        (f"The colour of a code: {_CODE_NOTE}", "text"),
        ("Sort and filter as you please; leave the headers and the first columns as they are.", "text"),
    ]
    return page_of_text("Start here", lines)


_CODE_NOTE = (
    "Green: settled. Yellow: the ratings changed after the verdict; look again, and edit the comment to confirm it. "
    "Red: the verdict is not a level of this dimension and settles nothing. No colour: open."
)


def _code_cell(divergence: Divergence, sheet: AdjudicationSheet) -> CellSpec:
    """Return the code in the colour of the row's state, as of when the workbook was written."""
    typed = sheet.typed.get(divergence.key, {}).get("Verdict")
    if divergence.state == "open":
        return Cell(divergence.code, "poor") if show(typed).strip() else divergence.code
    return Cell(divergence.code, "good" if divergence.state == "settled" else "fair")


def _columns(sheet: AdjudicationSheet) -> tuple[ColumnSpec, ...]:
    fixed = ReadOnly()
    columns = [
        ColumnSpec("Code", 11, "code", note=_CODE_NOTE, validation=fixed),
        ColumnSpec("Dimension", 18, validation=fixed),
        ColumnSpec(
            "Kind",
            13,
            note="score: the values lie apart. applicability: some raters gave a score, others N/A.",
            validation=fixed,
        ),
        ColumnSpec("Question", 34, validation=fixed),
        ColumnSpec("Response", RESPONSE_WIDTH, validation=fixed),
    ]
    for rater in sheet.raters:
        columns.append(ColumnSpec(rater, 9, "code", note=f"What {rater} gave.", validation=fixed))
        columns += [
            ColumnSpec(f"{rater} {remark.name}", 30, validation=fixed) for remark in sheet.rubric.remarks
        ]
    verdict = Choice(
        "choice_verdict",
        "Verdict",
        "A level of this dimension, or N/A. It is used for results; the raters' own scores stay as they are.",
        "Choose a level or N/A.",
    )
    reason = Choice("choice_reason", "Reason", "Why the raters differed.", extra_allowed=True)
    who: Choice | FreeText = FreeText("Adjudicator", "Who decided.")
    if sheet.adjudicators:
        who = Choice("choice_adjudicator", "Adjudicator", "Who decided.", extra_allowed=True)
    return (
        *columns,
        ColumnSpec(
            "Verdict",
            10,
            "input",
            "header_input",
            "Settles the row; clear it to open the row again.",
            verdict,
        ),
        ColumnSpec("Reason", 22, "input_text", "header_input", "Why the raters differed.", reason),
        ColumnSpec("Comment", 40, "input_text", "header_input", validation=FreeText()),
        ColumnSpec("Adjudicator", 14, "input", "header_input", "Who decided.", who),
    )


def _row(
    divergence: Divergence, sheet: AdjudicationSheet, block_of: Mapping[str, str]
) -> tuple[CellSpec, ...]:
    code = divergence.code
    unit = sheet.units[code]
    cells: list[CellSpec] = [
        _code_cell(divergence, sheet),
        sheet.rubric.by_id[divergence.dimension].name,
        divergence.kind,
        unit.question,
        response_cell(code, unit.response, block_of),
    ]
    for rater in sheet.raters:
        cells.append(divergence.values.get(rater))
        cells += [sheet.remarks.get((rater, code, remark.id)) for remark in sheet.rubric.remarks]
    typed = sheet.typed.get(divergence.key) or _typed_of(divergence.verdict)
    return (*cells, *(_put_back(typed.get(header)) for header in PEOPLE_COLUMNS))


def _put_back(raw: RawCell) -> CellSpec:
    """Return what a cell is written with so that it says what it said: a formula's result, a date's number."""
    if isinstance(raw, FormulaCell) and raw.cached not in (None, ""):
        return raw.cached
    if isinstance(raw, DateCell):
        return int(raw.serial) if float(raw.serial).is_integer() else raw.serial
    return raw if isinstance(raw, str | int | float | bool) else show(raw) or None


def _typed_of(verdict: Verdict | None) -> dict[str, RawCell]:
    """Return the four cells of an archived verdict."""
    if verdict is None:
        return {}
    values = (verdict.verdict, verdict.reason, verdict.comment, verdict.adjudicator)
    return {
        header: value for header, value in zip(PEOPLE_COLUMNS, values, strict=True) if value not in (None, "")
    }


def _height(divergence: Divergence, sheet: AdjudicationSheet) -> float:
    unit = sheet.units[divergence.code]
    remarks = [
        sheet.remarks.get((rater, divergence.code, remark.id), "")
        for rater in sheet.raters
        for remark in sheet.rubric.remarks
    ]
    lines = [
        3,
        count_lines(shown_response(divergence.code, unit.response), RESPONSE_WIDTH),
        count_lines(unit.question, 34),
        *(count_lines(remark, 30) for remark in remarks),
    ]
    return row_height(max(lines))


# --- reading ---


@dataclass(frozen=True)
class TypedRow:
    """What people typed into one row: the four cells as they stand, and what they say."""

    key: DivergenceKey
    cells: Mapping[str, RawCell]
    verdict: Verdict


@dataclass(frozen=True)
class ParsedAdjudication:
    """What an adjudication workbook says: rows by key, and what is wrong."""

    rows: tuple[TypedRow, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether everything that people typed is in `rows`, so that it can be written anew."""
        lost = {"missing_column", "unknown_code", "conflicting_rows"}
        return not any(problem.kind in lost for problem in self.problems)


def parse_adjudication(
    reading: Reading, rubric: Rubric, codes: Collection[str] | None = None
) -> ParsedAdjudication:
    """Read the four columns of people; rows are found by code, dimension and kind.

    Args:
        reading: the workbook.
        rubric: dimensions and scales.
        codes: the study's codes; a row of another code is reported and not read. None takes any code.
    """
    grid = reading.tab(ADJUDICATION_TAB)
    header = _find_header(grid) if grid else None
    if grid is None or header is None:
        problem = Problem(
            "missing_column",
            f"The adjudication workbook has no tab {ADJUDICATION_TAB} with the columns Code, Dimension, Kind, "
            "Verdict, Reason, Comment and Adjudicator; the verdicts known so far stay in force. Put the tab or "
            "its headers back.",
            batch=ADJUDICATION_BATCH,
        )
        return ParsedAdjudication(problems=(problem,))
    return _AdjudicationParser(grid, *header, rubric, codes).parse()


def _find_header(grid: Grid) -> tuple[int, dict[str, int]] | None:
    wanted = {normalise(name): name for name in (*_KEY_COLUMNS, *PEOPLE_COLUMNS)}
    for row, cells in enumerate(grid.rows[:25]):
        places: dict[str, int] = {}
        for column, raw in enumerate(cells):
            name = wanted.get(normalise(show(raw)))
            if name is not None:
                places.setdefault(name, column)
        if {*_KEY_COLUMNS, *PEOPLE_COLUMNS} <= set(places):
            return row, places
    return None


class _AdjudicationParser:
    """Reads one tab; collects rows and problems as it goes."""

    def __init__(
        self,
        grid: Grid,
        header_row: int,
        places: Mapping[str, int],
        rubric: Rubric,
        codes: Collection[str] | None = None,
    ) -> None:
        self.grid, self.header_row, self.places, self.codes = grid, header_row, places, codes
        self.dimensions = {normalise(d.name): d for d in rubric.dimensions}
        self.rows: dict[DivergenceKey, TypedRow] = {}
        self.problems: list[Problem] = []
        self.conflicts: set[DivergenceKey] = set()

    def parse(self) -> ParsedAdjudication:
        for row in range(self.header_row + 1, len(self.grid.rows)):
            cells = {header: self._cell(row, header) for header in PEOPLE_COLUMNS}
            code = show(self._cell(row, "Code")).strip()
            is_typed = any(read_remark(raw).is_filled for raw in cells.values())
            key = self._key(row, code)
            if key is not None:
                self._add(TypedRow(key, cells, self._verdict(row, key, cells)), row)
            elif is_typed:
                self._report(
                    "unknown_code",
                    f"Row {row + 1} names no unit, dimension and kind of this study; its verdict is not read.",
                    row,
                    "Code",
                    code,
                )
        kept = [typed for key, typed in self.rows.items() if key not in self.conflicts]
        return ParsedAdjudication(tuple(kept), tuple(self.problems))

    def _cell(self, row: int, header: str) -> RawCell:
        return self.grid.cell(row, self.places[header]) if header in self.places else None

    def _key(self, row: int, code: str) -> DivergenceKey | None:
        dimension = self.dimensions.get(normalise(show(self._cell(row, "Dimension"))))
        kind = normalise(show(self._cell(row, "Kind")))
        if not code or dimension is None or kind not in ("score", "applicability"):
            return None
        if self.codes is not None and code.upper() not in self.codes:
            return None
        kinds: dict[str, DivergenceKind] = {"score": "score", "applicability": "applicability"}
        return (code.upper(), dimension.id, kinds[kind])

    def _add(self, typed: TypedRow, row: int) -> None:
        known = self.rows.get(typed.key)
        if known is None or known.verdict.is_empty:
            self.rows[typed.key] = typed
        elif not typed.verdict.is_empty and typed.verdict != known.verdict:
            self.conflicts.add(typed.key)
            self._report(
                "conflicting_rows",
                f"{typed.key[0]} stands twice with different verdicts; neither is read. Delete the row that is "
                "not meant.",
                row,
                "Verdict",
                show(typed.cells["Verdict"]),
            )

    def _verdict(self, row: int, key: DivergenceKey, cells: Mapping[str, RawCell]) -> Verdict:
        state = self._read_verdict(row, key, cells["Verdict"])
        value: LevelValue | None = None if isinstance(state.value, bool) else state.value
        reason, comment, who = (str(read_remark(cells[h]).value or "") for h in PEOPLE_COLUMNS[1:])
        return Verdict(*key, value, reason, comment, who)

    def _read_verdict(self, row: int, key: DivergenceKey, raw: RawCell) -> CellState:
        """A verdict is a level of the dimension, or N/A even where raters may not say it."""
        dimension = next(d for d in self.dimensions.values() if d.id == key[1])
        state = read_score(raw, dimension.model_copy(update={"not_applicable": True}))
        for fault in state.faults:
            kind = "not_a_level" if fault.severity == "error" else fault.kind
            self._report(kind, f"Verdict {fault.detail}.", row, "Verdict", state.found, fault.severity)
        return state if state.status in ("value", "not_applicable") else BLANK

    def _report(
        self, kind: str, message: str, row: int, header: str, found: str, severity: str = "error"
    ) -> None:
        code = show(self._cell(row, "Code")).strip() or None
        self.problems.append(
            Problem(
                kind,
                message,
                batch=ADJUDICATION_BATCH,
                tab=self.grid.title,
                cell=cell_name(row, self.places[header]),
                code=code,
                column=header,
                found=found,
                severity="warning" if severity == "warning" else "error",
            )
        )


def values_shown(
    grids: Sequence[Grid], rubric: Rubric, raters: Sequence[str]
) -> dict[DivergenceKey, dict[str, LevelValue]]:
    """Return the raters' values that stood in each row of the workbook as it was last written."""
    grid = Reading(tuple(grids)).tab(ADJUDICATION_TAB)
    header = _find_header(grid) if grid else None
    if grid is None or header is None:
        return {}
    parser = _AdjudicationParser(grid, *header, rubric)
    places = {show(raw): column for column, raw in enumerate(grid.rows[header[0]])}
    shown: dict[DivergenceKey, dict[str, LevelValue]] = {}
    for row in range(header[0] + 1, len(grid.rows)):
        key = parser._key(row, show(grid.cell(row, places["Code"])).strip())
        if key is None:
            continue
        dimension = rubric.by_id[key[1]].model_copy(update={"not_applicable": True})
        values = {r: read_score(grid.cell(row, places[r]), dimension).value for r in raters if r in places}
        shown[key] = {r: v for r, v in values.items() if v is not None and not isinstance(v, bool)}
    return shown
