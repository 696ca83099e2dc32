"""What must hold within one row: one source for the live `Check` formula and for the check on pull.

A `Check` is a `Predicate` over the cells of a row with a message. A predicate knows two things: whether
it holds for cells that were read (`holds`), and the spreadsheet formula that says the same (`formula`).
Formulas use plain functions that Excel 2010, LibreOffice and Google Sheets all have, refer to cells of
their own row and to named word lists only, and never to a position that sorting could change.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sheetsync.domain.cells import (
    BLANK,
    NOT_APPLICABLE_SPELLINGS,
    TICKED_SPELLINGS,
    UNTICKED_SPELLINGS,
    CellState,
    allowed_levels,
    level_spellings,
)
from sheetsync.domain.ratings import Severity
from sheetsync.domain.study import CONFIDENCE_LEVELS, Dimension, LevelValue, Rubric, Rule
from sheetsync.domain.workbook import NamedList

DONE = "✓"

CellKey = tuple[str, str]
"""Which input cell of a row: kind ("score", "confidence", "tag", "remark", "sum") and id."""

RowStates = Mapping[CellKey, CellState]

ERROR_IN_ROW = "A cell of this row shows a spreadsheet error: type its value again."

MAX_FORMULA_CHARACTERS = 8_192
"""Excel's limit for the text of one formula ("Excel specifications and limits")."""

_NBSP = "\u00a0"
_QUOTATION_MARKS = ('"', "“", "„", "«")


@dataclass
class FormulaScope:
    """Where cells stand in the row, and the word lists that the formulas have asked for so far."""

    columns: Mapping[CellKey, str]
    lists: dict[str, NamedList] = field(default_factory=dict)

    def cell(self, key: CellKey) -> str:
        """Return the address of a cell in the formula's own row."""
        return f"${self.columns[key]}{{row}}"

    def text(self, key: CellKey) -> str:
        """Return an expression for what a cell shows, without outer or doubled blanks."""
        return f'TRIM(SUBSTITUTE({self.cell(key)},"{_NBSP}"," "))'

    def says(self, key: CellKey, name: str, words: Sequence[str | float]) -> str:
        """Return a condition: the cell shows one of the words of a named list, in any case.

        Numbers in the list are compared with the cell itself.
        """
        self.lists.setdefault(name, NamedList(name, tuple(words)))
        if all(isinstance(word, str) for word in words):
            return f"SUMPRODUCT(--({name}={self.text(key)}))>0"
        return f"SUMPRODUCT(({name}={self.cell(key)})+({name}={self.text(key)}))>0"


class Predicate(Protocol):
    """A condition on one row."""

    def holds(self, row: RowStates) -> bool:
        """Return whether it holds for cells that were read."""

    def formula(self, scope: FormulaScope) -> str:
        """Return the formula (without `=`) that says the same."""


@dataclass(frozen=True)
class Blank:
    """The cell is empty."""

    key: CellKey

    def holds(self, row: RowStates) -> bool:  # noqa: D102
        return not row.get(self.key, BLANK).is_filled

    def formula(self, scope: FormulaScope) -> str:  # noqa: D102
        return f'{scope.text(self.key)}=""'


@dataclass(frozen=True)
class HasLevel:
    """The score is one of these levels; `list_name` names the word list of just these."""

    key: CellKey
    levels: tuple[LevelValue, ...]
    list_name: str

    def holds(self, row: RowStates) -> bool:  # noqa: D102
        state = row.get(self.key, BLANK)
        return state.status == "value" and state.value in self.levels

    def formula(self, scope: FormulaScope) -> str:  # noqa: D102
        if not self.levels:
            return "FALSE"
        return scope.says(self.key, self.list_name, level_spellings(self.levels))


@dataclass(frozen=True)
class IsNoAnswer:
    """The score cell holds something that is neither a level nor an allowed N/A.

    LibreOffice shows a true or false as 1 or 0 to other functions, so these are asked for by themselves.
    """

    key: CellKey
    dimension: Dimension
    list_name: str

    def holds(self, row: RowStates) -> bool:  # noqa: D102
        return row.get(self.key, BLANK).status == "invalid"

    def formula(self, scope: FormulaScope) -> str:  # noqa: D102
        words = level_spellings(self.dimension.scale)
        if self.dimension.not_applicable:
            words += NOT_APPLICABLE_SPELLINGS
        answers = f"{Blank(self.key).formula(scope)},{scope.says(self.key, self.list_name, words)}"
        return f"OR(ISLOGICAL({scope.cell(self.key)}),NOT(OR({answers})))"


@dataclass(frozen=True)
class IsNotApplicable:
    """The score says N/A."""

    key: CellKey

    def holds(self, row: RowStates) -> bool:  # noqa: D102
        return row.get(self.key, BLANK).status == "not_applicable"

    def formula(self, scope: FormulaScope) -> str:  # noqa: D102
        return scope.says(self.key, "says_na", NOT_APPLICABLE_SPELLINGS)


@dataclass(frozen=True)
class IsTicked:
    """The tag is ticked; in a claim column any text that does not say "no" ticks it."""

    key: CellKey
    claim: bool

    def holds(self, row: RowStates) -> bool:  # noqa: D102
        return row.get(self.key, BLANK).status == "value"

    def formula(self, scope: FormulaScope) -> str:  # noqa: D102
        return f"NOT({_says_no(self.key, scope)})" if self.claim else _says_yes(self.key, scope)


@dataclass(frozen=True)
class IsBareTick:
    """A claim cell is ticked without quoting anything."""

    key: CellKey

    def holds(self, row: RowStates) -> bool:  # noqa: D102
        return row.get(self.key, BLANK).value is True

    def formula(self, scope: FormulaScope) -> str:  # noqa: D102
        return _says_yes(self.key, scope)


@dataclass(frozen=True)
class IsNoTick:
    """A tag cell holds something that is neither yes nor no."""

    key: CellKey

    def holds(self, row: RowStates) -> bool:  # noqa: D102
        return row.get(self.key, BLANK).status == "invalid"

    def formula(self, scope: FormulaScope) -> str:  # noqa: D102
        return f"NOT(OR({_says_yes(self.key, scope)},{_says_no(self.key, scope)}))"


def _says_yes(key: CellKey, scope: FormulaScope) -> str:
    """A checkbox is compared with TRUE itself: its text differs from language to language."""
    return f"OR({scope.cell(key)}=TRUE,{scope.says(key, 'says_yes', TICKED_SPELLINGS)})"


def _says_no(key: CellKey, scope: FormulaScope) -> str:
    says = scope.says(key, "says_no", UNTICKED_SPELLINGS)
    return f"OR({scope.cell(key)}=FALSE,{Blank(key).formula(scope)},{says})"


@dataclass(frozen=True)
class ReadsCell:
    """Never holds; makes the formula look at a cell, so that a spreadsheet error in it is seen."""

    key: CellKey

    def holds(self, row: RowStates) -> bool:  # noqa: ARG002, D102
        return False

    def formula(self, scope: FormulaScope) -> str:  # noqa: D102
        return f"{scope.cell(self.key)}<>{scope.cell(self.key)}"


@dataclass(frozen=True)
class HasQuotation:
    """Some remark holds a quotation mark."""

    keys: tuple[CellKey, ...]

    def holds(self, row: RowStates) -> bool:  # noqa: D102
        texts = [str(row[key].value) for key in self.keys if key in row and row[key].is_filled]
        return any(mark in text for text in texts for mark in _QUOTATION_MARKS)

    def formula(self, scope: FormulaScope) -> str:  # noqa: D102
        if not self.keys:
            return "FALSE"
        cells = [scope.cell(key) for key in self.keys]
        finds = [f"ISNUMBER(FIND({literal(m)},{cell}))" for cell in cells for m in _QUOTATION_MARKS]
        return f"OR({','.join(finds)})"


@dataclass(frozen=True)
class SumDiffers:
    """The computed column does not hold the sum of the scores, though every score is there.

    A score typed as text counts as a score, and the sheet cannot add it up: then the column is blank,
    and the row says so until the score is typed as a number (not even a total typed over the formula
    satisfies the sheet, though it satisfies pull).
    """

    key: CellKey
    scores: tuple[CellKey, ...]
    are_levels: tuple[Predicate, ...]

    def holds(self, row: RowStates) -> bool:  # noqa: D102
        total = sum_of_scores(row, self.scores)
        state = row.get(self.key, BLANK)
        if total is None:
            return False
        value = state.value
        return isinstance(value, bool | str) or value is None or not math.isclose(value, total, rel_tol=1e-12)

    def formula(self, scope: FormulaScope) -> str:  # noqa: D102
        cells = ",".join(scope.cell(key) for key in self.scores)
        differs = f"OR(COUNT({cells})<{len(self.scores)},{scope.cell(self.key)}<>SUM({cells}))"
        return f"AND({','.join(level.formula(scope) for level in self.are_levels)},{differs})"


def sum_of_scores(row: RowStates, scores: Sequence[CellKey]) -> int | float | None:
    """Return the sum of the scores, or None while one of them has no number."""
    values = [row.get(key, BLANK).value for key in scores]
    if any(isinstance(value, bool | str) or value is None for value in values):
        return None
    return sum(value for value in values if isinstance(value, int | float))


@dataclass(frozen=True)
class Not:
    """The condition does not hold."""

    condition: Predicate

    def holds(self, row: RowStates) -> bool:  # noqa: D102
        return not self.condition.holds(row)

    def formula(self, scope: FormulaScope) -> str:  # noqa: D102
        return f"NOT({self.condition.formula(scope)})"


@dataclass(frozen=True)
class AllOf:
    """Every condition holds."""

    conditions: tuple[Predicate, ...]

    def holds(self, row: RowStates) -> bool:  # noqa: D102
        return all(condition.holds(row) for condition in self.conditions)

    def formula(self, scope: FormulaScope) -> str:  # noqa: D102
        parts = [condition.formula(scope) for condition in self.conditions]
        return parts[0] if len(parts) == 1 else f"AND({','.join(parts)})" if parts else "TRUE"


@dataclass(frozen=True)
class AnyOf:
    """At least one condition holds."""

    conditions: tuple[Predicate, ...]

    def holds(self, row: RowStates) -> bool:  # noqa: D102
        return any(condition.holds(row) for condition in self.conditions)

    def formula(self, scope: FormulaScope) -> str:  # noqa: D102
        parts = [condition.formula(scope) for condition in self.conditions]
        return parts[0] if len(parts) == 1 else f"OR({','.join(parts)})" if parts else "FALSE"


@dataclass(frozen=True)
class RowCheck:
    """Something a row can get wrong.

    `kind` is the problem kind reported on pull (empty where the cell itself is reported already),
    `at` the cell that the problem points to.
    """

    kind: str
    fires: Predicate
    message: str
    severity: Severity
    at: CellKey


def literal(text: str) -> str:
    """Return a text as a formula literal; Excel takes at most 255 characters in one piece.

    >>> print(literal('a "b" c'))
    "a ""b"" c"
    """
    size = 250 if text.isascii() else 125  # an emoji counts twice
    pieces = [text[start : start + size] for start in range(0, len(text), size)] or [""]
    quoted = ['"' + piece.replace('"', '""').replace("{row}", '{ro"&"w}') + '"' for piece in pieces]
    return "&".join(quoted)


def row_checks(rubric: Rubric, *, has_false_premise: bool) -> list[RowCheck]:
    """Return what a row of this rubric is checked for besides missing cells, cells before rules."""
    compiler = _RuleCompiler(rubric, has_false_premise)
    return [*_cell_checks(rubric), *(check for rule in rubric.rules for check in compiler.compile(rule))]


def _cell_checks(rubric: Rubric) -> Iterable[RowCheck]:
    for tag in rubric.tags:
        yield _tick_check(tag.id, tag.claim)
    for index, dimension in enumerate(rubric.dimensions, 1):
        key = ("score", dimension.id)
        message = f"{dimension.name}: choose {allowed_levels(dimension)}."
        yield RowCheck("", IsNoAnswer(key, dimension, f"answer_{index}"), message, "error", key)
        if dimension.confidence:
            key = ("confidence", dimension.id)
            known = AnyOf((Blank(key), HasLevel(key, CONFIDENCE_LEVELS, "says_confidence")))
            message = f"{dimension.name} confidence: choose Low, Medium or High."
            yield RowCheck("", Not(known), message, "error", key)
        for tag in dimension.tags:
            yield _tick_check(tag.id, tag.claim)


def _tick_check(tag: str, claim: bool) -> RowCheck:
    key = ("tag", tag)
    fires: Predicate = ReadsCell(key) if claim else IsNoTick(key)
    return RowCheck("", fires, f"{tag}: put x to tick it, or leave it empty.", "error", key)


def missing_cells(rubric: Rubric) -> list[tuple[str, Predicate]]:
    """Return what every row needs: the header of the cell, and the condition that it is missing."""
    needed: list[tuple[str, Predicate]] = []
    for index, dimension in enumerate(rubric.dimensions, 1):
        key = ("score", dimension.id)
        needed.append((dimension.name, Blank(key)))
        if dimension.confidence:
            scored = HasLevel(key, dimension.scale, f"scale_{index}")
            blank = Blank(("confidence", dimension.id))
            needed.append((f"{dimension.name} confidence", AllOf((scored, blank))))
    return needed


class _RuleCompiler:
    """Turns the rules of one rubric into checks; knows which tag belongs where."""

    def __init__(self, rubric: Rubric, has_false_premise: bool) -> None:
        self._rubric = rubric
        self._has_false_premise = has_false_premise
        self._claims = {tag.id: tag.claim for tag in rubric.tags} | {
            tag.id: tag.claim for dimension in rubric.dimensions for tag in dimension.tags
        }
        self._index = {dimension.id: index for index, dimension in enumerate(rubric.dimensions, 1)}

    def compile(self, rule: Rule) -> Iterable[RowCheck]:
        """Yield the checks of one rule; none where it cannot apply to this row."""
        when = self._when(rule)
        if when is None:
            return
        message = rule.message.replace(DONE, "").strip() or f"Rule {rule.id} is not met."
        kind = f"rule:{rule.id}"
        if rule.then is not None and rule.then.claim_for_tags_of:
            yield from self._claim_checks(rule, when, message)
            return
        broken, at = self._broken(rule)
        yield RowCheck(kind, AllOf((*when, *broken)), message, rule.severity, at)

    def _when(self, rule: Rule) -> tuple[Predicate, ...] | None:
        """Return the conditions under which the rule looks, or None where it never does."""
        condition = rule.when
        if condition is None:
            return ()
        if condition.tag is not None:
            if condition.false_premise is not None and condition.false_premise != self._has_false_premise:
                return None
            return (self._ticked(condition.tag),)
        assert condition.dimension is not None  # noqa: S101 - config refuses a condition of no form
        key = ("score", condition.dimension)
        if condition.not_applicable:
            return (IsNotApplicable(key),)
        if condition.at_most is not None:
            return (
                self._has_level(condition.dimension, self._up_to(condition.dimension, condition.at_most)),
            )
        assert condition.equals is not None  # noqa: S101
        return (self._has_level(condition.dimension, (condition.equals,)),)

    def _broken(self, rule: Rule) -> tuple[tuple[Predicate, ...], CellKey]:
        """Return the conditions under which the consequence fails, and the cell to point to."""
        then = rule.then
        if then is None:
            return (), self._place_of_condition(rule)
        if then.dimension is not None and then.equals is not None:
            return (Not(self._has_level(then.dimension, (then.equals,))),), ("score", then.dimension)
        if then.tag is not None:
            return (Not(self._ticked(then.tag)),), self._place_of_condition(rule)
        if then.column is not None:
            key = ("sum", then.column)
            parts = then.sum_of or ()
            levels = tuple(self._has_level(part, self._rubric.by_id[part].scale) for part in parts)
            return (SumDiffers(key, tuple(("score", part) for part in parts), levels),), key
        if then.no_tag_of is not None:
            return (self._any_tag(then.no_tag_of),), ("score", then.no_tag_of)
        assert then.any_tag_of is not None  # noqa: S101
        return (Not(self._any_tag(then.any_tag_of)),), ("score", then.any_tag_of)

    def _claim_checks(self, rule: Rule, when: tuple[Predicate, ...], message: str) -> Iterable[RowCheck]:
        """A bare tick is a fault, unless a remark holds a quotation: then it is a hint (X17)."""
        assert rule.then is not None  # noqa: S101
        dimension = self._rubric.by_id[rule.then.claim_for_tags_of or ""]
        keys: list[CellKey] = [("tag", tag.id) for tag in dimension.tags if tag.claim]
        bare = AnyOf(tuple(IsBareTick(key) for key in keys))
        quoted = HasQuotation(tuple(("remark", remark.id) for remark in self._rubric.remarks))
        kind, at = f"rule:{rule.id}", keys[0]
        yield RowCheck(kind, AllOf((*when, bare, Not(quoted))), message, rule.severity, at)
        hint = f"{dimension.name}: better quote the claim in its own tag's cell than in the remarks."
        yield RowCheck(kind, AllOf((*when, bare, quoted)), hint, "warning", at)

    def _place_of_condition(self, rule: Rule) -> CellKey:
        condition = rule.when
        if condition is not None and condition.tag is not None:
            return ("tag", condition.tag)
        return (
            "score",
            condition.dimension if condition and condition.dimension else next(iter(self._index)),
        )

    def _ticked(self, tag: str) -> Predicate:
        return IsTicked(("tag", tag), self._claims[tag])

    def _any_tag(self, dimension: str) -> Predicate:
        return AnyOf(tuple(self._ticked(tag.id) for tag in self._rubric.by_id[dimension].tags))

    def _up_to(self, dimension: str, level: LevelValue) -> tuple[LevelValue, ...]:
        scale = self._rubric.by_id[dimension].scale
        return scale[: scale.index(level) + 1]

    def _has_level(self, dimension: str, levels: tuple[LevelValue, ...]) -> Predicate:
        scale = self._rubric.by_id[dimension].scale
        first, last = scale.index(levels[0]) + 1, scale.index(levels[-1]) + 1
        return HasLevel(
            ("score", dimension), levels, f"scale_{self._index[dimension]}_from_{first}_to_{last}"
        )


def check_text(rubric: Rubric, row: RowStates, checks: Sequence[RowCheck]) -> str:
    """Return what the `Check` cell of a row says: what is wrong, else `✓`; hints stand behind."""
    if any(state.status == "error" for state in row.values()):
        return ERROR_IN_ROW
    missing = [header for header, is_missing in missing_cells(rubric) if is_missing.holds(row)]
    errors = [f"Missing: {', '.join(missing)}."] if missing else []
    errors += [check.message for check in checks if check.severity == "error" and check.fires.holds(row)]
    hints = [check.message for check in checks if check.severity == "warning" and check.fires.holds(row)]
    return " ".join([" ".join(errors) or DONE, *hints])


def check_formula(rubric: Rubric, scope: FormulaScope, checks: Sequence[RowCheck]) -> str:
    """Return the formula (without `=`) that shows what `check_text` says.

    Every message ends with a blank and the tick comes last, so that " ✓" is taken off again
    wherever a message stands before it: nothing has to be computed twice.
    """
    missing = missing_cells(rubric)
    names = "&".join(f'IF({c.formula(scope)},{literal(f", {header}")},"")' for header, c in missing)
    errors = [f'SUBSTITUTE(SUBSTITUTE("Missing: "&{names}&". ","Missing: . ",""),"Missing: , ","Missing: ")']
    hints = []
    for check in checks:
        condition = check.fires.formula(scope)
        if condition == "FALSE":
            continue
        if check.severity == "error":
            errors.append(f'IF({condition},{literal(check.message + " ")},"")')
        else:
            hints.append(f'IF({condition},{literal(" " + check.message)},"")')
    text = f'SUBSTITUTE({"&".join(errors)}&"{DONE}"," {DONE}","")'
    return f"IFERROR({'&'.join([text, *hints])},{literal(ERROR_IN_ROW)})"
