"""Checks of the rubric's rules: allowed forms, and names and values that exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sheetsync.config_faults import Faults, listed, quoted, suggestion
from sheetsync.config_records import Document
from sheetsync.domain.study import Condition, Consequence, Dimension, LevelValue, Rubric, Rule

CONDITIONS = (
    {"tag"},
    {"tag", "false_premise"},
    {"dimension", "at_most"},
    {"dimension", "equals"},
    {"dimension", "not_applicable"},
)
CONSEQUENCES = (
    {"dimension", "equals"},
    {"tag"},
    {"no_tag_of"},
    {"any_tag_of"},
    {"claim_for_tags_of"},
    {"column", "sum_of"},
)
"""The keys that may stand together in `when` and in `then`."""


def check_rules(document: Document, dimensions: Sequence[tuple[str, Dimension]], faults: Faults) -> None:
    """Check every rule against the rubric it stands in.

    Where a heading of the rubric is misspelt, nothing can be said about the names in rules.
    """
    if not all(isinstance(document.data.get(key, []), list) for key in ("dimension", "tag")):
        return
    if document.data.keys() - {field.alias or name for name, field in Rubric.model_fields.items()}:
        return
    checker = _RuleCheck(document, {dimension.id: dimension for _, dimension in reversed(dimensions)}, faults)
    for where, rule in document.entries("rule", Rule):
        if rule.when is None and rule.then is None:
            faults.error(where, "has neither when nor then; say what must hold")
        if rule.when:
            checker.check_condition(f"{where} when", rule.when)
        if rule.then:
            checker.check_consequence(f"{where} then", rule.then)


class _RuleCheck:
    """One rubric's names, and where to put faults.

    Names are taken from the raw file, so that an entry with another fault is not called unknown.
    """

    def __init__(self, document: Document, dimensions: Mapping[str, Dimension], faults: Faults) -> None:
        entries = document.data.get("dimension")
        self.dimensions = dimensions
        self.dimension_ids = _ids(entries)
        self.tag_ids = _ids(document.data.get("tag"))
        for entry in entries if isinstance(entries, list) else ():
            self.tag_ids |= _ids(entry.get("tags")) if isinstance(entry, Mapping) else {}
        self.faults = faults

    def check_condition(self, where: str, when: Condition) -> None:
        """Check `when`: its form, its names, and its level."""
        if not self._has_form(where, when.model_fields_set, CONDITIONS):
            return
        if when.tag is not None:
            self._check_tag(where, when.tag)
        dimension = self._dimension(where, "dimension", when.dimension)
        if dimension is None:
            return
        level = when.equals if when.at_most is None else when.at_most
        if level is not None:
            self._check_level(where, dimension, level)
        if when.at_most is not None and dimension.level == "nominal":
            self.faults.error(
                f"{where} at_most", f"{dimension.id} is nominal, so nothing is “at most”; use equals"
            )
        if when.not_applicable and not dimension.not_applicable:
            self.faults.error(
                f"{where} not_applicable",
                f"{dimension.id} has no N/A; set not_applicable = true there, or delete the rule",
            )

    def check_consequence(self, where: str, then: Consequence) -> None:
        """Check `then`: its form, its names, and its level."""
        if not self._has_form(where, then.model_fields_set, CONSEQUENCES):
            return
        if then.tag is not None:
            self._check_tag(where, then.tag)
        dimension = self._dimension(where, "dimension", then.dimension)
        if dimension and then.equals is not None:
            self._check_level(where, dimension, then.equals)
        for key in ("no_tag_of", "any_tag_of", "claim_for_tags_of"):
            self._check_tags_of(where, key, getattr(then, key))
        if then.column is not None:
            self._check_sum(where, then.column, then.sum_of or ())

    def _has_form(self, where: str, keys: set[str], forms: Sequence[set[str]]) -> bool:
        if keys in forms:
            return True
        allowed = "; ".join(listed(sorted(form), "with") for form in forms)
        found = listed(sorted(keys), "with") if keys else "nothing"
        self.faults.error(where, f"found {found}; exactly one of these is allowed: {allowed}")
        return False

    def _check_tag(self, where: str, tag: str) -> None:
        if tag not in self.tag_ids:
            self.faults.error(
                f"{where} tag", f"{quoted(tag)} is no tag of the rubric; {suggestion(tag, self.tag_ids)}"
            )

    def _dimension(self, where: str, key: str, name: str | None) -> Dimension | None:
        """Return the dimension named; None after a fault, or when it is not valid itself."""
        if name is not None and name not in self.dimension_ids:
            self.faults.error(
                f"{where} {key}",
                f"{quoted(name)} is no dimension of the rubric; {suggestion(name, self.dimension_ids)}",
            )
        return self.dimensions.get(name or "")

    def _check_level(self, where: str, dimension: Dimension, level: LevelValue) -> None:
        if dimension.levels and level not in dimension.scale:
            allowed = listed([quoted(value) for value in dimension.scale])
            self.faults.error(
                where, f"{quoted(level)} is not on the scale of {dimension.id}; allowed: {allowed}"
            )

    def _check_tags_of(self, where: str, key: str, name: str | None) -> None:
        dimension = self._dimension(where, key, name)
        if dimension is None:
            return
        if not dimension.tags:
            self.faults.error(f"{where} {key}", f"{dimension.id} has no tags; add some, or delete the rule")
        elif key == "claim_for_tags_of" and not any(tag.claim for tag in dimension.tags):
            self.faults.error(
                f"{where} {key}", f"no tag of {dimension.id} takes a claim; set claim = true on a tag"
            )

    def _check_sum(self, where: str, column: str, names: Sequence[str]) -> None:
        if not column:
            self.faults.error(f"{where} column", "is blank; write the header of the column")
        if not names:
            self.faults.error(f"{where} sum_of", "is empty; name the dimensions to add up")
        if len(set(names)) < len(names):
            self.faults.error(f"{where} sum_of", "names a dimension twice; name each once")
        for name in dict.fromkeys(names):
            dimension = self._dimension(where, "sum_of", name)
            if dimension and not dimension.is_numeric:
                self.faults.error(f"{where} sum_of", f"{name} has words as levels; only numbers can be added")


def _ids(entries: object) -> dict[str, None]:
    """Return the ids of raw entries in their order, as keys."""
    found = (
        [entry.get("id") for entry in entries if isinstance(entry, Mapping)]
        if isinstance(entries, list)
        else []
    )
    return {text.strip(): None for text in found if isinstance(text, str)}
