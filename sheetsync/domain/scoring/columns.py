"""Which columns a scoring tab has: the one layout that building and parsing share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sheetsync.domain.scoring.conditions import CellKey
from sheetsync.domain.study import Dimension, Remark, Rubric, Tag

SCORING_TAB = "Scoring"

FIXED_COLUMNS = ("Code", "Figure", "Question", "Response")
PAIR_COLUMNS = ("Case", "Side")
CHECK_COLUMN = "Check"


@dataclass(frozen=True)
class ScoringColumn:
    """One column of the scoring tab.

    `key` is ("fixed", header) for what sheetsync fills in, otherwise the key of an input cell.
    `about` is the dimension, tag or remark the column belongs to.
    """

    key: CellKey
    header: str
    about: Dimension | Tag | Remark | None = None

    @property
    def is_input(self) -> bool:
        """Whether people fill the column in."""
        return self.key[0] not in ("fixed", "sum")


def scoring_columns(rubric: Rubric, *, pairs: bool = False) -> tuple[ScoringColumn, ...]:
    """Return the columns in order: what is scored, response tags, dimensions, remarks, `Check`."""
    code, *rest = FIXED_COLUMNS
    headers = [code, *(PAIR_COLUMNS if pairs else ()), *rest]
    columns = [ScoringColumn(("fixed", header), header) for header in headers]
    columns += _tag_columns(rubric.tags)
    for dimension in rubric.dimensions:
        columns.append(ScoringColumn(("score", dimension.id), dimension.name, dimension))
        if dimension.confidence:
            header = f"{dimension.name} confidence"
            columns.append(ScoringColumn(("confidence", dimension.id), header, dimension))
        columns += _tag_columns(dimension.tags)
    columns += [ScoringColumn(("sum", name), name) for name in sum_columns(rubric)]
    columns += [ScoringColumn(("remark", remark.id), remark.name, remark) for remark in rubric.remarks]
    return (*columns, ScoringColumn(("fixed", CHECK_COLUMN), CHECK_COLUMN))


def _tag_columns(tags: Sequence[Tag]) -> list[ScoringColumn]:
    return [ScoringColumn(("tag", tag.id), tag.id, tag) for tag in tags]


_SUM = re.compile(r'IF\(COUNT\(([^()]+)\)=(\d+)[,;]SUM\(\1\)[,;]""\)')


def sum_formula(cells: Sequence[str]) -> str:
    """Return the formula of a computed column: blank until every cell holds a number.

    >>> sum_formula(["$C{row}", "$D{row}"])
    'IF(COUNT($C{row},$D{row})=2,SUM($C{row},$D{row}),"")'
    """
    joined = ",".join(cells)
    return f'IF(COUNT({joined})={len(cells)},SUM({joined}),"")'


def recalculated_sum(formula: str, scores: Sequence[int | float | None]) -> int | float | None:
    """Return what our formula would show if a spreadsheet calculated it; None for blank or another formula.

    Programs that fill in a file without calculating leave a computed column as blank as it was drawn.

    >>> ours = 'IF(COUNT($C7,$D7)=2,SUM($C7,$D7),"")'
    >>> recalculated_sum(ours, [3, 4]), recalculated_sum(ours, [3, None]), recalculated_sum("3+4", [3, 4])
    (7, None, None)
    """
    found = _SUM.fullmatch(formula.replace(" ", ""))
    numbers = [score for score in scores if score is not None]
    if not found or int(found[2]) != len(scores) or len(numbers) < len(scores):
        return None
    return sum(numbers)


def sum_columns(rubric: Rubric) -> dict[str, tuple[CellKey, ...]]:
    """Return the computed columns by header, each with the score cells it adds up."""
    return {
        rule.then.column: tuple(("score", part) for part in rule.then.sum_of or ())
        for rule in rubric.rules
        if rule.then is not None and rule.then.column is not None
    }
