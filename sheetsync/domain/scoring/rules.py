"""What must hold within one row: one source for the live `Check` formula and for the check on pull.

A rule of the rubric becomes a `RowCheck`: a condition (`conditions`) with a message. `check_text` says
what is wrong with cells that were read; `check_formula` is the formula that shows the same words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sheetsync.domain.cells import allowed_levels
from sheetsync.domain.ratings import Severity
from sheetsync.domain.scoring.conditions import (
    AllOf,
    AnyOf,
    Blank,
    CellKey,
    FormulaScope,
    HasLevel,
    HasQuotation,
    IsBareTick,
    IsNoAnswer,
    IsNotApplicable,
    IsNoTick,
    IsTicked,
    Not,
    Predicate,
    ReadsCell,
    RowStates,
    SumDiffers,
    literal,
)
from sheetsync.domain.study import CONFIDENCE_LEVELS, LevelValue, Rubric, Rule

DONE = "✓"

ERROR_IN_ROW = "A cell of this row shows a spreadsheet error: type its value again."

MAX_FORMULA_CHARACTERS = 8_192
"""Excel's limit for the text of one formula ("Excel specifications and limits")."""


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
            key = ("score", then.dimension)
            return (Not(Blank(key)), Not(self._has_level(then.dimension, (then.equals,)))), key
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
