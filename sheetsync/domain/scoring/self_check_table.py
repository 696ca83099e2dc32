"""The table of the `Self-check` tab: the scores of each unit, cases of a domain together, by live formulas.

Every formula finds its row of the `Scoring` tab by the code, so both tabs can be sorted; none holds a
decimal fraction, which not every language of a spreadsheet would read alike. No column is headed `Code`:
nothing here can be mistaken for the scoring table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from sheetsync.domain.ratings import Entry
from sheetsync.domain.scoring.columns import SCORING_TAB, scoring_columns
from sheetsync.domain.scoring.conditions import FormulaScope, HasLevel, literal
from sheetsync.domain.scoring.self_check import (
    LOW,
    SURE,
    SelfChecked,
    answers_of,
    check_oneself,
    total_column,
)
from sheetsync.domain.scoring.sheet import ScoringRow, ScoringSheet, table_rows
from sheetsync.domain.scoring.tab import read_state
from sheetsync.domain.study import Dimension
from sheetsync.domain.workbook import Cell, CellSpec, Formula, column_letter

OUTSIDE = "outside"

ABOUT = ("Domain", "Case", "Side", "Row code")


@dataclass(frozen=True)
class CheckTable:
    """The table while it is drawn; above it stand figures, whose lines are counted here."""

    sheet: ScoringSheet

    @cached_property
    def rows(self) -> list[ScoringRow]:
        """The units by domain (in the order of the cases), case and side."""
        first: dict[str, str] = {}
        for row in sorted(self.sheet.rows, key=lambda row: row.case):
            first.setdefault(row.domain, row.case)
        return sorted(self.sheet.rows, key=lambda row: (first[row.domain], row.domain, row.case, row.side))

    @cached_property
    def headers(self) -> list[str]:
        """The headers of the table."""
        dimensions = self.sheet.rubric.dimensions
        sure = ["Scored", "Medium or High", "Low confidence in"] if self.asked else []
        total = [self.total, "Total stands out"] if self.total else []
        return [*ABOUT, *(dimension.name for dimension in dimensions), *total, *sure]

    @property
    def asked(self) -> list[Dimension]:
        """The dimensions that ask for confidence."""
        return [dimension for dimension in self.sheet.rubric.dimensions if dimension.confidence]

    @cached_property
    def total(self) -> str:
        """The header of the total, "" without one."""
        return total_column(self.sheet.rubric) or ""

    @cached_property
    def scope(self) -> FormulaScope:
        """Where the scores of a row stand in this tab."""
        columns = {
            ("score", dimension.id): column_letter(len(ABOUT) + index)
            for index, dimension in enumerate(self.sheet.rubric.dimensions)
        }
        return FormulaScope(columns)

    @cached_property
    def checked(self) -> SelfChecked:
        """What the tab shows before anything recalculates."""
        columns = {column.key: column for column in scoring_columns(self.sheet.rubric) if column.is_input}
        entries = []
        for row in self.sheet.rows:
            for key, raw in row.typed.items():
                value = read_state(raw, columns[key]).value if key in columns else None
                if value is not None and key[0] in ("score", "confidence"):
                    entries.append(Entry(row.code, key[0], key[1], value))  # type: ignore[arg-type]
        return check_oneself(answers_of(entries), self.sheet.rubric, self.sheet.guidance.self_check)

    def letter(self, header: str) -> str:
        """Return the column of a header of the table; dimensions may be called like a fixed one."""
        return column_letter(len(self.headers) - 1 - self.headers[::-1].index(header))

    def span(self, header: str) -> str:
        """Return the cells under a header of the table."""
        letter, first = self.letter(header), self.first_row
        return f"${letter}${first}:${letter}${first + len(self.rows) - 1}"

    @cached_property
    def first_row(self) -> int:
        """The number of the first row of the table under its header."""
        sure, totals = 5 if self.asked else 0, 5 if self.total else 0
        return 4 + sure + totals + 4

    def cells_of(self, row: ScoringRow) -> Iterator[CellSpec]:
        """Yield the cells of one unit."""
        yield from (row.domain, Cell(row.case, "code"), Cell(row.side, "code"), Cell(row.code, "code"))
        for dimension in self.sheet.rubric.dimensions:
            raw = row.typed.get(("score", dimension.id), "")
            shown = raw if isinstance(raw, str | int | float) else ""
            yield Cell(Formula(self._copied(("score", dimension.id)), shown), "check")
        if self.total:
            yield from self._total_cells(row)
        if self.asked:
            yield from self._sure_cells(row)

    def _total_cells(self, row: ScoringRow) -> Iterator[CellSpec]:
        checked = self.checked
        total = checked.totals.get(row.code, "")
        yield Cell(Formula(self._copied(("sum", self.total)), total), "check")
        cell = f"${self.letter(self.total)}{{row}}"
        low, high = (f"$E${self.totals_row + offset}" for offset in (1, 2))
        inside = f"OR(NOT(ISNUMBER({cell})),NOT(ISNUMBER({low})),AND({cell}>={low},{cell}<={high}))"
        yield Cell(
            Formula(f'IF({inside},"","{OUTSIDE}")', OUTSIDE if row.code in checked.unusual else ""), "check"
        )

    @property
    def totals_row(self) -> int:
        """The number of the row of the heading over the figures on totals."""
        return 4 + (5 if self.asked else 0)

    def _sure_cells(self, row: ScoringRow) -> Iterator[CellSpec]:
        keys = {dimension: ("score", dimension.id) for dimension in self.asked}
        has_level = {
            dimension: HasLevel(
                key, dimension.scale, f"scale_{self.sheet.rubric.dimensions.index(dimension) + 1}"
            ).formula(self.scope)
            for dimension, key in keys.items()
        }
        says = {dimension: f"TRIM({self._found(('confidence', dimension.id))})" for dimension in self.asked}
        lows = [dimension for dimension in self.asked if (row.code, dimension.id) in self.checked.low]
        names = ", ".join(dimension.name for dimension in lows)
        scored = [f"IF({has_level[d]},1,0)" for d in self.asked]
        words = [",".join(f'{says[d]}="{word}"' for word in SURE) for d in self.asked]
        sure = [
            f"IF(AND({has_level[d]},OR({any_of})),1,0)" for d, any_of in zip(self.asked, words, strict=True)
        ]
        low = "&".join(
            f'IF(AND({has_level[d]},{says[d]}="{LOW}"),{literal(", " + d.name)},"")' for d in self.asked
        )
        yield Cell(Formula(f"IFERROR({'+'.join(scored)},0)", self._scored(row)), "check")
        yield Cell(Formula(f"IFERROR({'+'.join(sure)},0)", self._confident(row)), "check")
        yield Cell(Formula(f'IFERROR(MID({low},3,30000),"")', names), "text")

    def _scored(self, row: ScoringRow) -> int:
        return self._of_row(row).answered

    def _confident(self, row: ScoringRow) -> int:
        return self._of_row(row).confident

    def _of_row(self, row: ScoringRow) -> SelfChecked:
        """Return what the self-check of this row alone shows."""
        return CheckTable(replace(self.sheet, rows=(row,))).checked

    def _found(self, key: tuple[str, str]) -> str:
        """Return an expression for a cell of the unit's row in the `Scoring` tab, wherever that is."""
        columns = scoring_columns(self.sheet.rubric, pairs=self.sheet.pairs)
        letter = next(column_letter(n) for n, column in enumerate(columns) if column.key == key)
        last = len(table_rows(self.sheet)) + 1
        row = f"MATCH($D{{row}},{SCORING_TAB}!$A$2:$A${last},0)"
        return f"INDEX({SCORING_TAB}!${letter}$2:${letter}${last},{row})"

    def _copied(self, key: tuple[str, str]) -> str:
        """Return a formula for what stands there; a blank stays blank and is no 0."""
        found = self._found(key)
        return f'IFERROR(IF({found}="","",{found}),"")'
