"""Reading a scoring workbook that came back: rows by code, columns by header, never by position."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sheetsync.domain.cells import BLANK, CellState, merge_states, normalise, show
from sheetsync.domain.ratings import COLUMNS_BETWEEN, Entry, Problem
from sheetsync.domain.scoring.columns import (
    CHECK_COLUMN,
    SCORING_TAB,
    ScoringColumn,
    recalculated_sum,
    scoring_columns,
    sum_columns,
)
from sheetsync.domain.scoring.conditions import CellKey, RowStates, sum_of_scores
from sheetsync.domain.scoring.long_responses import shown_response
from sheetsync.domain.scoring.rules import RowCheck, row_checks
from sheetsync.domain.scoring.sheet import ScoringRow, ScoringSheet
from sheetsync.domain.scoring.tab import read_state
from sheetsync.domain.workbook import (
    DateCell,
    ErrorCell,
    FormulaCell,
    Grid,
    RawCell,
    Reading,
    cell_name,
    column_letter,
)

_HEADER_ROWS = 25
"""How far down the header is looked for when people put lines above it."""


@dataclass(frozen=True)
class ParsedSheet:
    """What a scoring workbook says.

    Attributes:
        entries: every valid input cell of every row that is there.
        problems: everything wrong, with its place; rater and batch filled in.
        lost_columns: headers of input columns that are gone.
        lost_codes: units whose row is gone.
        is_ours: whether the workbook holds a scoring tab of this rater and batch at all.
    """

    entries: tuple[Entry, ...] = ()
    problems: tuple[Problem, ...] = ()
    lost_columns: tuple[str, ...] = ()
    lost_codes: tuple[str, ...] = ()
    is_ours: bool = True


@dataclass(frozen=True)
class _Table:
    """The scoring table inside a grid: which row is the header, which columns are ours."""

    grid: Grid
    header_row: int
    places: Mapping[CellKey, tuple[int, ...]]


def parse_scoring_workbook(reading: Reading, sheet: ScoringSheet) -> ParsedSheet:
    """Read a workbook back by the rubric and the rows it was issued with."""
    if reading.marker and reading.marker != sheet.marker:
        found = Problem(
            "not_in_study",
            f"This is another workbook ({reading.marker}), not {sheet.marker}: put the right file back.",
        )
        return _not_ours(found, sheet)
    columns = scoring_columns(sheet.rubric, pairs=sheet.pairs)
    tables = _find_tables(reading, columns)
    if not tables:
        titles = ", ".join(grid.title for grid in reading.tabs) or "none"
        found = Problem(
            "not_in_study",
            f"No tab of this workbook has a column Code with scoring columns beside it (tabs: {titles}): "
            "put the scoring workbook back.",
        )
        return _not_ours(found, sheet)
    return _Parser(sheet, columns, tables[0]).parse(tables[1:])


def _not_ours(problem: Problem, sheet: ScoringSheet) -> ParsedSheet:
    return ParsedSheet(problems=(replace(problem, rater=sheet.rater, batch=sheet.batch),), is_ours=False)


def _find_tables(reading: Reading, columns: Sequence[ScoringColumn]) -> list[_Table]:
    """Return the best table of every tab that has one: a header row with `Code` and more of our headers.

    The tab that bears our title comes first: a copy of it is foreign, whatever it holds. Only where no
    tab bears the title the one with most of our headers is taken for it.
    """
    ours = {normalise(column.header): column.key for column in columns}
    found: list[tuple[tuple[bool, int], _Table]] = []
    for grid in reading.tabs:
        tables = [
            _Table(grid, row, _places(cells, ours)) for row, cells in enumerate(grid.rows[:_HEADER_ROWS])
        ]
        tables = [t for t in tables if ("fixed", "Code") in t.places and len(t.places) >= 3]
        if tables:
            best = max(tables, key=lambda table: len(table.places))
            found.append(((_is_titled(grid), len(best.places)), best))
    return [table for _, table in sorted(found, key=lambda each: each[0], reverse=True)]


def _is_titled(grid: Grid) -> bool:
    return normalise(grid.title) == normalise(SCORING_TAB)


def _places(cells: Sequence[RawCell], ours: Mapping[str, CellKey]) -> dict[CellKey, tuple[int, ...]]:
    """Return where our headers stand in a row; a header may stand in several columns."""
    places: dict[CellKey, tuple[int, ...]] = {}
    for column, raw in enumerate(cells):
        key = ours.get(normalise(show(raw))) if raw is not None else None
        if key is not None:
            places[key] = (*places.get(key, ()), column)
    return places


def _code_text(raw: RawCell) -> str:
    return show(raw.cached if isinstance(raw, FormulaCell) else raw).strip().casefold()


def _number(raw: RawCell) -> int | float | None:
    """Return what a cell counts as when a spreadsheet adds up; a text or a tick counts as nothing."""
    if isinstance(raw, FormulaCell):
        raw = raw.cached
    if isinstance(raw, DateCell):
        return raw.serial
    return raw if isinstance(raw, int | float) and not isinstance(raw, bool) else None


class _Parser:
    """Reads one table; collects entries and problems as it goes."""

    def __init__(self, sheet: ScoringSheet, columns: Sequence[ScoringColumn], table: _Table) -> None:
        self.sheet, self.table = sheet, table
        self.code_column = self._code_column()
        self.columns = {column.key: column for column in columns}
        self.inputs = [c for c in columns if (c.is_input or c.key[0] == "sum") and c.key in table.places]
        self.checks = {p: row_checks(sheet.rubric, has_false_premise=p) for p in (True, False)}
        self.entries: list[Entry] = []
        self.problems: list[Problem] = []

    def parse(self, others: Sequence[_Table]) -> ParsedSheet:
        """Read the table; `others` are tables on further tabs, which are not read."""
        lost_columns = self._check_columns()
        self._check_tabs(others)
        rows_of = self._rows_by_code()
        for row in self.sheet.rows:
            found = rows_of.pop(row.code.casefold(), ())
            if found:
                self._read_row(row, found)
            else:
                self._report(
                    "missing_row",
                    f"The row of {row.code} is gone; its last ratings stay in force. Put the row back "
                    "(undo, or a copy of the file from before).",
                    code=row.code,
                )
        for rows in rows_of.values():
            self._report_stranger(rows)
        seen = {problem.code for problem in self.problems if problem.kind == "missing_row"}
        return ParsedSheet(
            tuple(self.entries),
            tuple(self.problems),
            lost_columns,
            tuple(row.code for row in self.sheet.rows if row.code in seen),
        )

    # --- tabs and header ---

    def _check_tabs(self, others: Sequence[_Table]) -> None:
        """Say so where the tab bears another title, or where scores stand in a copy of it."""
        if not _is_titled(self.table.grid):
            self._report(
                "not_in_study",
                f"The tab {SCORING_TAB} is called {self.table.grid.title} now; it is read all the same.",
                severity="warning",
            )
        for table in others:
            scores = [p for key, places in table.places.items() if key[0] == "score" for p in places]
            rows = range(table.header_row + 1, len(table.grid.rows))
            if any(show(table.grid.cell(row, place)).strip() for row in rows for place in scores):
                self._report(
                    "not_in_study",
                    f"The tab {table.grid.title} looks like a copy of the scoring tab and holds scores; only the "
                    f"tab {self.table.grid.title} is read. Move newer scores there, then delete the copy.",
                    tab=table.grid.title,
                    severity="warning",
                )

    def _code_column(self) -> int:
        """Return the column of codes; where its header is repeated, the one that holds most of ours."""
        places = self.table.places[("fixed", "Code")]
        codes = {row.code.casefold() for row in self.sheet.rows}
        rows = range(len(self.table.grid.rows))

        def hits(place: int) -> int:
            return sum(_code_text(self.table.grid.cell(row, place)) in codes for row in rows)

        return places[0] if len(places) == 1 else max(places, key=hits)

    def _check_columns(self) -> tuple[str, ...]:
        found = ", ".join(
            h for raw in self.table.grid.rows[self.table.header_row] if (h := show(raw).strip())
        )
        lost = []
        for key, column in self.columns.items():
            places = self.table.places.get(key, ())
            if not places and column.header != CHECK_COLUMN:
                lost += [column.header] if column.is_input else []
                self._report(
                    "missing_column",
                    f"The column {column.header} is missing. Found: {found}. Put its header back.",
                    column=column.header,
                    severity="error" if column.is_input else "warning",
                )
            if len(places) > 1:
                self._report_repeated(column, places)
        return tuple(lost)

    def _report_repeated(self, column: ScoringColumn, places: Sequence[int]) -> None:
        letters = " and ".join(column_letter(place) for place in places)
        agree = self._repeats_agree(column, places)
        effect = "what stands in either counts" if agree else "where they differ the cell is left out"
        if column.key == ("fixed", "Code"):
            effect = f"column {column_letter(self.code_column)} is taken for it"
        self._report(
            "repeated_column",
            f"The header {column.header} stands in columns {letters}; {effect}. Rename or delete the one that "
            "is not ours.",
            column=column.header,
            severity="warning" if agree else "error",
        )

    def _repeats_agree(self, column: ScoringColumn, places: Sequence[int]) -> bool:
        if not column.is_input:
            return True
        for row in range(self.table.header_row + 1, len(self.table.grid.rows)):
            states = [read_state(self.table.grid.cell(row, place), column) for place in places]
            if merge_states(states) is None:
                return False
        return True

    # --- rows ---

    def _rows_by_code(self) -> dict[str, tuple[int, ...]]:
        """Return the rows of every code; rows above the header count too where their code is ours."""
        ours = {row.code.casefold() for row in self.sheet.rows}
        rows: dict[str, tuple[int, ...]] = {}
        for row, cells in enumerate(self.table.grid.rows):
            if not cells or row == self.table.header_row:
                continue  # files that people worked in may hold a million empty ones
            code = _code_text(self.table.grid.cell(row, self.code_column))
            if row < self.table.header_row and code not in ours:
                continue
            if code or any(self._state(column, row).is_filled for column in self._scored_columns()):
                rows[code] = (*rows.get(code, ()), row)
        return rows

    def _scored_columns(self) -> Iterable[ScoringColumn]:
        return (column for column in self.inputs if column.key[0] == "score")

    def _state(self, column: ScoringColumn, row: int) -> CellState:
        """Return what the cell says; where our header is repeated, what its cells say together."""
        places = self.table.places[column.key]
        states = [read_state(self.table.grid.cell(row, place), column) for place in places]
        return (states[0] if len(states) == 1 else merge_states(states)) or BLANK

    def _read_row(self, row: ScoringRow, found: Sequence[int]) -> None:
        states: dict[CellKey, CellState] = {}
        conflicts: list[ScoringColumn] = []
        for column in self.inputs:
            merged = merge_states([self._state(column, at) for at in found])
            if merged is None and column.key[0] == "remark":
                texts = {str(self._state(column, at).value or ""): None for at in found}
                merged = CellState("value", "\n".join(text for text in texts if text))
            if merged is None:
                conflicts.append(column)
            else:
                states[column.key] = merged
        self._calculate_sums(found[0], states)
        if len(found) > 1:
            self._report_duplicates(row, found, conflicts)
        self._report_cells(row, found[0], states)
        self._report_rules(row, found[0], states)
        self._compare_texts(row, found[0])
        self._keep(row.code, states)

    def _calculate_sums(self, at: int, states: dict[CellKey, CellState]) -> None:
        """Work out the computed columns that nobody has calculated since the scores were put in."""
        for header, parts in sum_columns(self.sheet.rubric).items():
            key = ("sum", header)
            if (
                key not in states
                or states[key].value is not None
                or not self.table.places.keys() >= set(parts)
            ):
                continue
            raw = self._raw(at, key)
            if isinstance(raw, FormulaCell) and raw.cached in (None, ""):
                total = recalculated_sum(raw.text, [_number(self._raw(at, part)) for part in parts])
                if total is not None:
                    states[key] = CellState("value", total, show(total))

    def _raw(self, row: int, key: CellKey) -> RawCell:
        return self.table.grid.cell(row, self.table.places[key][0])

    def _keep(self, code: str, states: RowStates) -> None:
        for (kind, name), state in states.items():
            if kind != "sum" and state.value is not None:
                self.entries.append(Entry(code, kind, name, state.value))  # type: ignore[arg-type]

    def _report_cells(self, row: ScoringRow, at: int, states: RowStates) -> None:
        for key, state in states.items():
            if key[0] == "sum":
                continue
            for fault in state.faults:
                column = self.columns[key]
                self._report(
                    fault.kind,
                    f"{column.header} {fault.detail}.",
                    at=(at, key),
                    code=row.code,
                    found=state.found,
                    severity=fault.severity,
                )

    def _report_rules(self, row: ScoringRow, at: int, states: RowStates) -> None:
        for check in self.checks[row.has_false_premise]:
            if check.kind and check.fires.holds(states):
                self._report_rule(check, row, at, states)

    def _report_rule(self, check: RowCheck, row: ScoringRow, at: int, states: RowStates) -> None:
        found = states.get(check.at, BLANK).found
        message = check.message
        if check.at[0] == "sum":
            total = sum_of_scores(states, sum_columns(self.sheet.rubric)[check.at[1]])
            held = f"holds {found!r}" if found else "is blank"
            message = f"{message} {check.at[1]} {held}; the scores add up to {show(total)}."
        self._report(
            check.kind,
            message,
            at=(at, check.at),
            code=row.code,
            found=found,
            severity=check.severity,
        )

    def _report_duplicates(
        self, row: ScoringRow, found: Sequence[int], conflicts: Sequence[ScoringColumn]
    ) -> None:
        lines = " and ".join(str(at + 1) for at in found)
        if conflicts:
            names = ", ".join(column.header for column in conflicts)
            self._report(
                "conflicting_rows",
                f"{row.code} stands in rows {lines} with different values in {names}; these are left out. "
                "Delete the row that is not meant.",
                at=(found[0], ("fixed", "Code")),
                code=row.code,
                column=COLUMNS_BETWEEN.join(column.header for column in conflicts),
            )
        else:
            self._report(
                "duplicate_row",
                f"{row.code} stands in rows {lines}, without contradiction; it counts once. Delete one of them.",
                at=(found[0], ("fixed", "Code")),
                code=row.code,
                severity="warning",
            )

    def _report_stranger(self, rows: Sequence[int]) -> None:
        place = ("fixed", "Code")
        for row in rows:
            code = show(self.table.grid.cell(row, self.code_column)).strip()
            filled = any(self._state(column, row).is_filled for column in self._scored_columns())
            said = (
                f"The code {code!r} is not one of this workbook's"
                if code
                else "This row has scores but no code"
            )
            self._report(
                "unknown_code",
                f"{said}; the row is not read. "
                + (
                    "Put the right code back, or move the scores to its row."
                    if filled
                    else "Delete it if it is no use."
                ),
                at=(row, place),
                code=code or None,
                found=code,
                severity="error" if filled else "warning",
            )

    def _compare_texts(self, row: ScoringRow, at: int) -> None:
        """Report texts that were filled in by us and changed since; the ratings count all the same."""
        response = shown_response(row.code, row.response)
        for header, text in (("Figure", row.figure), ("Question", row.question), ("Response", response)):
            key = ("fixed", header)
            if key not in self.table.places:
                continue
            raw = self.table.grid.cell(at, self.table.places[key][0])
            if isinstance(raw, FormulaCell):
                raw = raw.cached if raw.cached is not None else text
            if isinstance(raw, ErrorCell) or show(raw).split() != text.split():
                self._report(
                    "edited_text",
                    f"{header} of {row.code} is not what was written there; the ratings count for the text as "
                    "issued. Put the text back.",
                    at=(at, key),
                    code=row.code,
                    found=show(raw)[:120],
                    severity="warning",
                )

    # --- problems ---

    def _report(
        self,
        kind: str,
        message: str,
        *,
        at: tuple[int, CellKey] | None = None,
        **details: str | None,
    ) -> None:
        if at is not None:
            row, key = at
            places = self.table.places.get(key)
            details.setdefault("column", self.columns[key].header)
            details["cell"] = cell_name(row, places[0]) if places else None
        severity = details.pop("severity", None) or "error"
        self.problems.append(
            Problem(
                kind,
                message,
                rater=self.sheet.rater,
                batch=self.sheet.batch,
                tab=details.pop("tab", None) or self.table.grid.title,
                severity="warning" if severity == "warning" else "error",
                **details,
            )
        )
