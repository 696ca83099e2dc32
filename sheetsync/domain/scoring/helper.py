"""The `Helper` tab: type what you counted, see the points; for dimensions whose score follows from a count.

It is scratch paper for one response at a time. Nothing is read back from it.
"""

from __future__ import annotations

from collections.abc import Iterator

from sheetsync.domain.cells import TICKED_SPELLINGS, show
from sheetsync.domain.scoring.sheet import HELPER_TAB
from sheetsync.domain.study import Dimension, Rubric
from sheetsync.domain.text_layout import count_lines, row_height
from sheetsync.domain.workbook import (
    Cell,
    CellSpec,
    ColumnSpec,
    Formula,
    FreeText,
    NamedList,
    ReadOnly,
    TabSpec,
)

_TICKED = "says_yes"
_WHAT_WIDTH = 80.0
_FIRST_ROW = 2
_PROMPT = "For this response: how many you counted, or x where the item is met. Clear it before the next one."

Line = tuple[CellSpec, ...]


def draw_helper(rubric: Rubric) -> tuple[tuple[TabSpec, ...], tuple[NamedList, ...]]:
    """Return the tab, if some score follows from a count, and the word list it needs."""
    rows: list[Line] = []
    for dimension in rubric.dimensions:
        rows += _checklist(dimension, len(rows)) if dimension.checklist else _counted(dimension)
    if not rows:
        return (), ()
    columns = (
        ColumnSpec("Dimension", 26, validation=ReadOnly()),
        ColumnSpec("What to count", _WHAT_WIDTH, validation=ReadOnly()),
        ColumnSpec("You found", 12, "input", "header_input", _PROMPT, FreeText("You found", _PROMPT)),
        ColumnSpec("Points", 12, "integer", validation=ReadOnly()),
    )
    tab = TabSpec(
        HELPER_TAB,
        columns,
        tuple(rows),
        input_rows=True,
        protected=True,
        frozen_rows=1,
        row_heights={
            number: row_height(count_lines(str(row[1]), _WHAT_WIDTH)) for number, row in enumerate(rows, 1)
        },
    )
    return (tab,), (NamedList(_TICKED, TICKED_SPELLINGS),)


def _counted(dimension: Dimension) -> Iterator[Line]:
    """Yield the row of a dimension whose levels are bands of a count; none for other dimensions."""
    bands = [(level.count_from, show(level.value)) for level in dimension.levels]
    if any(count is None for count, _ in bands):
        return
    points = ""
    for count, value in bands:
        points = f"IF($C{{row}}>={count},{value},{points})" if points else value
    # One question inside the other: a text must not reach INT, which has no answer to it.
    asked = (
        "IF(ISNUMBER($C{row}),IF(AND($C{row}>=0,$C{row}=INT($C{row})),"
        + points
        + ',"a number?"),"a number?")'
    )
    formula = f'IF($C{{row}}="","",{asked})'
    told = " ".join(part for part in (dimension.text, _bands_in_words(dimension)) if part)
    yield (dimension.name, told, None, Formula(formula, ""))


def _bands_in_words(dimension: Dimension) -> str:
    """Return which counts earn which points.

    >>> from sheetsync.domain.study import Level
    >>> levels = (Level(value=0, count_from=0), Level(value=2, count_from=1), Level(value=4, count_from=3))
    >>> _bands_in_words(Dimension(id="d", name="D", levels=levels))
    '0: 0 points. 1 to 2: 2 points. 3 or more: 4 points.'
    """
    starts = [level.count_from or 0 for level in dimension.levels]
    ends: list[int | None] = [start - 1 for start in starts[1:]]
    words = []
    for start, end, value in zip(starts, [*ends, None], dimension.scale, strict=True):
        counts = f"{start} or more" if end is None else f"{start}" if end == start else f"{start} to {end}"
        words.append(f"{counts}: {show(value)} points.")
    return " ".join(words)


def _checklist(dimension: Dimension, above: int) -> Iterator[Line]:
    """Yield a row for each item; the first shows the points, which are the items that are ticked."""
    first = _FIRST_ROW + above
    cells = f"$C${first}:$C${first + len(dimension.checklist) - 1}"
    points = Formula(f'IF(COUNTA({cells})=0,"",SUMPRODUCT(COUNTIF({cells},{_TICKED})))', "")
    for number, item in enumerate(dimension.checklist):
        yield (
            dimension.name if number == 0 else "",
            item,
            None,
            points if number == 0 else Cell(None, "text"),
        )
