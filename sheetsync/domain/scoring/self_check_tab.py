"""The `Self-check` tab: live formulas over the `Scoring` tab, by the rules of `self_check`.

Figures stand at the top; below them the table of `scoring_self_check_table`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sheetsync.domain.scoring.self_check import FEWEST_TOTALS, middle_total
from sheetsync.domain.scoring.self_check_table import ABOUT, OUTSIDE, CheckTable
from sheetsync.domain.scoring.sheet import SELF_CHECK_TAB, ScoringSheet
from sheetsync.domain.text_page import line_height
from sheetsync.domain.workbook import (
    Cell,
    CellSpec,
    ColumnSpec,
    Formula,
    Highlight,
    NamedList,
    Style,
    TabSpec,
)

_WIDTHS = (22.0, 9.0, 7.0, 12.0)
_DIMENSION_WIDTH, _SHARE_WIDTH, _WIDEST_LIST = 14.0, 18.0, 110
_HEADER_HEIGHT = 36.0

Line = tuple[CellSpec, ...]


def draw_self_check(sheet: ScoringSheet) -> tuple[tuple[TabSpec, ...], tuple[NamedList, ...]]:
    """Return the tab, if the study has anything to check, and the word lists it needs."""
    if not sheet.has_self_check or not sheet.rows:
        return (), ()
    page = _Page(sheet)
    return (page.tab(),), tuple(page.scope.lists.values())


class _Page(CheckTable):
    """The tab while it is drawn: figures at the top, then a row for each unit, cases of a domain together."""

    def tab(self) -> TabSpec:
        """Return the whole tab."""
        lines = [*self._opening(), *self._confidence(), *self._totals(), *self._heads()]
        assert len(lines) + 1 == self.first_row  # noqa: S101 - formulas refer to the rows by number
        end = len(self.headers) - 1
        wide = [n for n, line in enumerate(lines[:-1]) if len(line) == 1]
        figures = [n for n, line in enumerate(lines[:-1]) if len(line) > 1]
        width = sum(_WIDTHS) + _DIMENSION_WIDTH * (end - len(ABOUT))
        heights = {n: _height(lines[n][0], width) for n in wide}
        return TabSpec(
            SELF_CHECK_TAB,
            tuple(ColumnSpec("", width, "text") for width in self._column_widths()),
            (*lines, *(tuple(self.cells_of(row)) for row in self.rows)),
            header=False,
            protected=True,
            row_heights={**heights, len(lines) - 1: _HEADER_HEIGHT},
            highlights=tuple(self._highlights()),
            merged=(
                *((n, 0, n, end) for n in wide),
                *((n, 0, n, 3) for n in figures),
                *((n, 5, n, end) for n in figures if end > 5 and len(lines[n]) > 5),
            ),
        )

    def _column_widths(self) -> list[float]:
        widths = [*_WIDTHS, *[_DIMENSION_WIDTH] * (len(self.headers) - len(_WIDTHS))]
        if self.asked:
            names = ", ".join(dimension.name for dimension in self.asked)
            widths[-2] = _SHARE_WIDTH
            widths[-1] = float(min(len(names) + 6, _WIDEST_LIST))
        return widths

    def _opening(self) -> Iterator[Line]:
        yield (Cell("Self-check", "title"),)
        yield _text(
            "All of this is read live from the Scoring tab; there is nothing to type here. Nobody has to change "
            "anything: it shows where a second look is worth while. What you typed first stays in the archive.",
            "note",
        )
        yield _text("")

    def _confidence(self) -> Iterator[Line]:
        if not self.asked:
            return
        checked, share = self.checked, self.sheet.guidance.self_check.confident_share
        scored, sure = (f"SUM({self.span(header)})" for header in ("Scored", "Medium or High"))
        percent = round(share * 1000)
        wanted = f"{share:.1%}".replace(".0%", "%").replace("%", " %")
        yield (Cell("Confidence", "heading"),)
        yield _figure("Scores with a level", Formula(scored, checked.answered), "integer")
        yield _figure("of them Medium or High", Formula(sure, checked.confident), "integer")
        # Compared in thousandths and whole numbers: no fraction to write, and none to be rounded.
        reached = f'IF({scored}=0,"",IF(1000*{sure}>={percent}*{scored},": reached",": not yet"))'
        shown = "" if checked.share is None else ": reached" if checked.share >= share else ": not yet"
        yield (
            *_figure(
                "Share",
                Formula(f'IF({scored}=0,"",{sure}/{scored})', "" if checked.share is None else checked.share),
                "percent",
            ),
            Formula(f'"Aim for {wanted} or more"&{reached}', f"Aim for {wanted} or more{shown}"),
        )
        yield _text("")

    def _totals(self) -> Iterator[Line]:
        if not self.total:
            return
        cells, usual = self.span(self.total), self.checked.usual
        low, high, how = self._range(cells)
        yield (Cell("Totals", "heading"),)
        yield (*_figure("Lowest that needs no look", _ends(low, usual.low if usual else ""), "number"), how)
        yield _figure("Highest that needs no look", _ends(high, usual.high if usual else ""), "number")
        outside = f'COUNTIF({self.span("Total stands out")},"{OUTSIDE}")'
        counted = f'{outside}&" of "&COUNT({cells})&" totals"'
        yield _figure(
            "Outside",
            Formula(counted, f"{len(self.checked.unusual)} of {len(self.checked.totals)} totals"),
            "text",
        )
        yield _text("")

    def _range(self, cells: str) -> tuple[str | float, str | float, str]:
        """Return both ends, as numbers or formulas, and where they come from."""
        wanted = self.sheet.guidance.self_check.typical_total
        if isinstance(wanted, tuple):
            return wanted[0], wanted[1], "Set for this study."
        middle = middle_total(self.sheet.rubric)
        if wanted == "literal" and middle is not None:
            return middle, middle, "By the word of the instructions: every total but the middle of the scale."
        reach = f"3*(QUARTILE({cells},3)-QUARTILE({cells},1))/2"
        few = f'COUNT({cells})<{FEWEST_TOTALS},""'
        return (
            f"IF({few},QUARTILE({cells},1)-{reach})",
            f"IF({few},QUARTILE({cells},3)+{reach})",
            f"From your own totals (Tukey’s fences), as soon as there are {FEWEST_TOTALS}.",
        )

    def _heads(self) -> Iterator[Line]:
        yield (Cell("Your scores side by side", "heading"),)
        yield _text(
            "Cases of a domain stand together: is the same thing worth the same in each of them?"
            if any(row.domain for row in self.rows)
            else "A and B of a case stand together.",
            "note",
        )
        yield _text("")
        yield tuple(Cell(header, "header") for header in self.headers)

    def _highlights(self) -> Iterator[Highlight]:
        """Colour what deserves a look; a highlight covers the whole tab, so it asks for a code first."""
        is_row = f"ROW($D1)>={self.first_row}"
        places: Sequence[tuple[str, str]] = [
            *([("Total stands out", f'="{OUTSIDE}"')] if self.total else []),
            *([("Low confidence in", '<>""')] if self.asked else []),
        ]
        for header, test in places:
            letter = self.letter(header)
            column = self.headers.index(header) if self.headers.count(header) == 1 else len(self.headers) - 1
            yield Highlight(column, column, f"AND({is_row},${letter}1{test})", "fair")


def _text(text: str, style: Style = "text") -> Line:
    return (Cell(text, style),)


def _height(cell: CellSpec, width: float) -> float:
    """Return how high a line across the whole tab is."""
    assert isinstance(cell, Cell)  # noqa: S101 - lines of one cell are made of nothing else
    return line_height(str(cell.value), cell.style, width)


def _figure(label: str, value: CellSpec, style: Style) -> Line:
    """Return a line with a label over the first four columns and a figure behind it."""
    shown = Cell(value.value if isinstance(value, Cell) else value, style)
    return (Cell(label, "text"), None, None, None, shown)


def _ends(end: str | float, shown: str | float) -> CellSpec:
    return Formula(end, shown) if isinstance(end, str) else end
