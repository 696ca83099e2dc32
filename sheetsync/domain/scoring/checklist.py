"""The `Checklist` tab: what to do before the first score and after the last, with boxes to tick."""

from __future__ import annotations

from sheetsync.domain.scoring.sheet import CHECKLIST_TAB, SELF_CHECK_TAB, ScoringSheet
from sheetsync.domain.text_layout import count_lines, row_height
from sheetsync.domain.workbook import ColumnSpec, ReadOnly, TabSpec, Tick

_ITEM_WIDTH = 90.0


def checklist_tab(sheet: ScoringSheet) -> tuple[TabSpec, ...]:
    """Return the tab of boxes to tick, for pairs only; what is ticked is nobody's business but the rater's."""
    if not sheet.pairs:
        return ()
    items = [("Get familiar", each) for each in _to_get_familiar(sheet)]
    if sheet.kind == "production":
        items += [("Check yourself", each) for each in _to_check(sheet)]
    columns = (
        ColumnSpec("Done", 9, "input", "header_input", "For yourself; nobody collects it.", Tick()),
        ColumnSpec("When", 18, validation=ReadOnly()),
        ColumnSpec("What", _ITEM_WIDTH, validation=ReadOnly()),
    )
    tab = TabSpec(
        CHECKLIST_TAB,
        columns,
        tuple((None, when, what) for when, what in items),
        input_rows=True,
        protected=True,
        frozen_rows=1,
        row_heights={n: row_height(count_lines(what, _ITEM_WIDTH)) for n, (_, what) in enumerate(items, 1)},
    )
    return (tab,)


def _to_get_familiar(sheet: ScoringSheet) -> list[str]:
    resources = sheet.guidance.resources
    named = f" ({', '.join(each.title for each in resources)})" if resources else ""
    items = [
        f"Read what the study is about: the question, the method, what will be done with the scores{named}.",
        "Read the Rubric tab from top to bottom: every dimension, every level.",
        "Read two or three questions without their responses: what would a good answer have to deal with?",
    ]
    if sheet.kind == "calibration":
        items.append("Score the practice pair in this workbook. It enters no result.")
    elif sheet.guidance.has_practice:
        items.append("Score the practice pair, which has a workbook of its own and enters no result.")
    return items


def _to_check(sheet: ScoringSheet) -> list[str]:
    share = f"{sheet.guidance.self_check.confident_share:.0%}".replace("%", " %")
    items = []
    if any(dimension.confidence for dimension in sheet.rubric.dimensions):
        items.append(
            f"Are you sure enough? Aim for Medium or High confidence in {share} of your scores (tab {SELF_CHECK_TAB})."
        )
        items.append("If you like, score two or three places again that you held with Low confidence.")
    items.append(
        "Compare your scores across the cases of a domain: is the same thing worth the same everywhere?"
    )
    items.append("Look again at totals that stand out. They may well be right.")
    return items
