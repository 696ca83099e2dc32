"""Checks across `rubric.toml`: ids, column headers and scales; the rules are in `config_rules`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from sheetsync.config_faults import Faults, quoted
from sheetsync.config_records import Document
from sheetsync.config_rules import check_rules
from sheetsync.domain.cells import (
    is_not_applicable,
    normalise,
    read_number,
)
from sheetsync.domain.scoring.columns import CHECK_COLUMN, FIXED_COLUMNS, PAIR_COLUMNS
from sheetsync.domain.study import Dimension, Level, LevelValue, Remark, Rubric, Rule, Tag

SCORING_HEADERS = (*FIXED_COLUMNS, *PAIR_COLUMNS, CHECK_COLUMN)
"""Headers of a scoring tab that no rubric may use."""

RESULT_HEADERS = ("Code", "Question_ID", "Figure", "Model")
"""Headers of the `Results` tab, which stand beside dimension names."""

MAX_LEVEL = 10**15
"""Spreadsheets keep 15 digits of a number."""

_ID = re.compile(r"[A-Za-z0-9_-]+")

Placed = Sequence[tuple[str, Dimension]]
"""Dimensions with their places."""


def check_rubric(document: Document, faults: Faults) -> Rubric | None:
    """Check `rubric.toml` on its own; the rubric is returned when its form is valid."""
    rubric = document.read(Rubric, faults)
    tags = document.entries("tag", Tag)
    dimensions = document.entries("dimension", Dimension)
    remarks = document.entries("remark", Remark)
    rules = document.entries("rule", Rule)
    if rubric and not rubric.version:
        faults.error(document.place(("version",)), "is blank; write one such as the month, 2026-07")
    if document.data.get("dimension") == []:
        faults.error(f"{document.name} [[dimension]]", "there is none; a rubric needs at least one")
    _check_ids([(f"{where} id", dimension.id) for where, dimension in dimensions], faults)
    _check_ids([(f"{where} id", remark.id) for where, remark in remarks], faults)
    _check_ids([(f"{where} id", rule.id) for where, rule in rules], faults)
    for where, tag in [*tags, *(pair for placed in dimensions for pair in _tags_of(*placed))]:
        _check_id_form(f"{where} id", tag.id, faults)
    _check_names([(f"{where} name", dimension.name) for where, dimension in dimensions], faults)
    _check_names([(f"{where} name", remark.name) for where, remark in remarks], faults)
    headers = [*_scoring_headers(tags, dimensions, remarks), *_sum_headers(rules)]
    _check_headers(SCORING_HEADERS, headers, "scoring tab", faults)
    _check_headers(RESULT_HEADERS, _result_headers(dimensions), "Results tab", faults)
    for where, dimension in dimensions:
        _check_levels(where, dimension, faults)
        _check_counts(where, dimension, faults)
        _check_checklist(where, dimension, faults)
    check_rules(document, dimensions, faults)
    return rubric


# --- ids, names, headers -----------------------------------------------------------------------


def _tags_of(where: str, dimension: Dimension) -> list[tuple[str, Tag]]:
    return [(f"{where} tags {number} ({tag.id})", tag) for number, tag in enumerate(dimension.tags, 1)]


def _check_id_form(where: str, text: str, faults: Faults) -> None:
    if not _ID.fullmatch(text):
        found = quoted(text) if text else "nothing"
        faults.error(where, f"found {found}; an id is made of letters a-z, digits, _ and -")


def _check_ids(ids: Sequence[tuple[str, str]], faults: Faults) -> None:
    first: dict[str, str] = {}
    for where, text in ids:
        _check_id_form(where, text, faults)
        if text and text.casefold() in first:
            faults.error(
                where, f"{quoted(text)} stands already at {first[text.casefold()]}; choose another id"
            )
        first.setdefault(text.casefold(), where)


def _check_names(names: Sequence[tuple[str, str]], faults: Faults) -> None:
    for where, name in names:
        if not name:
            faults.error(where, "is blank; it is the column header, so write one")
        elif "\n" in name or "\r" in name or "\t" in name:
            faults.error(where, "holds a line break or tab; it is a column header, so write it in one line")


Headers = Iterator[tuple[str, str]]
"""Places with the header that stands there."""


def _scoring_headers(
    tags: Sequence[tuple[str, Tag]], dimensions: Placed, remarks: Sequence[tuple[str, Remark]]
) -> Headers:
    yield from ((f"{where} id", tag.id) for where, tag in tags)
    for where, dimension in dimensions:
        yield f"{where} name", dimension.name
        if dimension.confidence:
            yield f"{where} confidence", f"{dimension.name} confidence"
        yield from ((f"{place} id", tag.id) for place, tag in _tags_of(where, dimension))
    yield from ((f"{where} name", remark.name) for where, remark in remarks)


def _sum_headers(rules: Sequence[tuple[str, Rule]]) -> Headers:
    for where, rule in rules:
        if rule.then and rule.then.column is not None:
            yield f"{where} then column", rule.then.column


def _result_headers(dimensions: Placed) -> Headers:
    for where, dimension in dimensions:
        yield f"{where} name", dimension.name
    for where, dimension in dimensions:
        yield f"{where} name", f"{dimension.name} from"


def _check_headers(
    reserved: Sequence[str], headers: Sequence[tuple[str, str]] | Headers, tab: str, faults: Faults
) -> None:
    first = {normalise(header): f"sheetsync's own column {header}" for header in reserved}
    for where, header in headers:
        folded = normalise(header)
        clash = first.get(folded) if folded else None
        said = {fault.where for fault in faults}
        if clash and where not in said:
            faults.error(
                where, f"the column header {quoted(header)} is taken in the {tab} by {clash}; rename one"
            )
        first.setdefault(folded, where)


# --- scales ------------------------------------------------------------------------------------


def _check_levels(where: str, dimension: Dimension, faults: Faults) -> None:
    values = dimension.scale
    if len(values) < 2:
        faults.error(f"{where} levels", f"found {len(values)}; a scale needs at least two levels")
    for number, level in enumerate(dimension.levels, 1):
        fault = _level_fault(level)
        if fault:
            faults.error(f"{where} levels {number}", fault)
    _check_repeats(f"{where} levels", values, faults)
    words = [value for value in values if isinstance(value, str)]
    numbers = [value for value in values if not isinstance(value, str)]
    if words and numbers:
        faults.error(f"{where} levels", "mixes numbers and words; use only numbers, or only words")
    elif words and dimension.level in {"interval", "ratio"}:
        faults.error(f"{where} levels", f"are words, but level = {quoted(dimension.level)} takes numbers")
    elif numbers != sorted(numbers) and dimension.level != "nominal":
        faults.error(f"{where} levels", "are not in ascending order; declare them from low to high")


def _check_counts(where: str, dimension: Dimension, faults: Faults) -> None:
    """Check that the counts of a dimension lead to exactly one level each."""
    counts = [level.count_from for level in dimension.levels]
    given = [count for count in counts if count is not None]
    if not given:
        return
    if not dimension.is_numeric:
        faults.error(f"{where} levels", "have count_from, which gives points, but are words; use numbers")
    if len(given) < len(counts):
        faults.error(
            f"{where} levels",
            f"have count_from in {len(given)} of {len(counts)} levels; write it in all, or in none",
        )
    elif given[0] != 0 or any(b <= a for a, b in pairwise(given)):
        shown = ", ".join(map(str, given))
        faults.error(
            f"{where} levels",
            f"have count_from {shown}; it starts at 0 and grows from level to level, so that every count has "
            "one level",
        )


def _check_checklist(where: str, dimension: Dimension, faults: Faults) -> None:
    """Check that a checklist can be added up to the levels, one point for each item."""
    items = dimension.checklist
    if not items:
        return
    for number, item in enumerate(items, 1):
        if not item:
            faults.error(f"{where} checklist {number}", "is blank; say what earns the point, or delete it")
    if any(level.count_from is not None for level in dimension.levels):
        faults.error(f"{where} checklist", "stands beside count_from; a score follows from one of them")
    points = list(range(len(items) + 1))
    if list(dimension.scale) != points:
        faults.error(
            f"{where} checklist",
            f"has {len(items)} items, one point each, so the levels are {', '.join(map(str, points))}; "
            f"found {', '.join(map(str, dimension.scale))}",
        )


def _level_fault(level: Level) -> str | None:
    value = level.value
    if not isinstance(value, str):
        return f"found {value}; a number has at most 15 digits" if abs(value) >= MAX_LEVEL else None
    if not value:
        return "is blank; write a number or a word"
    if is_not_applicable(value):
        return f"{quoted(value)} means “not applicable” in a cell; use not_applicable = true instead"
    if read_number(value) is not None:
        return f"{quoted(value)} is a number in quotation marks; remove the marks"
    return None


def _check_repeats(where: str, values: Sequence[LevelValue], faults: Faults) -> None:
    seen: set[LevelValue] = set()
    for value in values:
        folded = normalise(value) if isinstance(value, str) else value
        if folded in seen:
            faults.error(where, f"{quoted(value)} stands twice; each level must differ")
        seen.add(folded)
