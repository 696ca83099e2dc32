"""Conditions of validation and conditional formats: which kinds take how many values, and where they may stand."""

from __future__ import annotations

from typing import Any

from tests.sheets_emulator.errors import Invalid

MANY = 10**9
COUNTS: dict[str, tuple[int, int]] = {
    "NUMBER_GREATER": (1, 1), "NUMBER_GREATER_THAN_EQ": (1, 1), "NUMBER_LESS": (1, 1),
    "NUMBER_LESS_THAN_EQ": (1, 1), "NUMBER_EQ": (1, 1), "NUMBER_NOT_EQ": (1, 1), "NUMBER_BETWEEN": (2, 2),
    "NUMBER_NOT_BETWEEN": (2, 2), "TEXT_CONTAINS": (1, 1), "TEXT_NOT_CONTAINS": (1, 1), "TEXT_STARTS_WITH": (1, 1),
    "TEXT_ENDS_WITH": (1, 1), "TEXT_EQ": (1, MANY), "TEXT_NOT_EQ": (1, MANY), "TEXT_IS_EMAIL": (0, 0),
    "TEXT_IS_URL": (0, 0), "DATE_EQ": (1, MANY), "DATE_NOT_EQ": (1, MANY), "DATE_BEFORE": (1, 1),
    "DATE_AFTER": (1, 1), "DATE_ON_OR_BEFORE": (1, 1), "DATE_ON_OR_AFTER": (1, 1), "DATE_BETWEEN": (2, 2),
    "DATE_NOT_BETWEEN": (2, 2), "DATE_IS_VALID": (0, 0), "ONE_OF_RANGE": (1, 1), "ONE_OF_LIST": (1, MANY),
    "BLANK": (0, 0), "NOT_BLANK": (0, 0), "CUSTOM_FORMULA": (1, 1), "BOOLEAN": (0, 2), "FILTER_EXPRESSION": (1, 1),
}  # fmt: skip
NOT_FOR_VALIDATION = frozenset({
    "TEXT_STARTS_WITH", "TEXT_ENDS_WITH", "BLANK", "NOT_BLANK", "TEXT_NOT_EQ", "DATE_NOT_EQ", "FILTER_EXPRESSION",
})  # fmt: skip
NOT_FOR_FORMATS = frozenset({"ONE_OF_LIST", "ONE_OF_RANGE", "BOOLEAN", "TEXT_IS_EMAIL", "TEXT_IS_URL",
                             "FILTER_EXPRESSION", "DATE_IS_VALID"})  # fmt: skip


def check_condition(condition: dict[str, Any] | None, refused: frozenset[str], what: str) -> None:
    """Refuse a kind that cannot stand here, or a wrong number of values."""
    kind = (condition or {}).get("type")
    if not condition or kind is None or kind not in COUNTS:
        raise Invalid(f"{what} must have a condition type.")
    if kind in refused:
        raise Invalid(f"Condition type {kind} is not supported in {what}.")
    least, most = COUNTS[kind]
    values = condition.get("values", [])
    if not least <= len(values) <= most:
        wanted = str(least) if least == most else f"{least} to {most}" if most < MANY else f"at least {least}"
        raise Invalid(f"Condition type {kind} requires {wanted} values, but {len(values)} were provided.")
    for value in values:
        text = value.get("userEnteredValue")
        if text is None and "relativeDate" not in value:
            raise Invalid(f"Condition type {kind} has an empty value.")
        _check_value(kind, text)


def _check_value(kind: str, text: str | None) -> None:
    if kind == "ONE_OF_LIST" and text is not None and text.startswith("="):
        raise Invalid("Formulas are not supported in ONE_OF_LIST conditions.")
    if kind in ("CUSTOM_FORMULA", "ONE_OF_RANGE") and text is not None and not text.startswith("="):
        raise Invalid(f"{kind} requires a formula or range that begins with =.")


def check_validation(rule: dict[str, Any]) -> None:
    check_condition(rule.get("condition"), NOT_FOR_VALIDATION, "data validation")


def check_format_rule(rule: dict[str, Any]) -> None:
    """A conditional format has ranges and either a boolean or a gradient rule."""
    if not rule.get("ranges"):
        raise Invalid("Conditional format rules must have at least one range.")
    if ("booleanRule" in rule) == ("gradientRule" in rule):
        raise Invalid("Exactly one of booleanRule and gradientRule must be set.")
    if "booleanRule" in rule:
        check_condition(rule["booleanRule"].get("condition"), NOT_FOR_FORMATS, "conditional formatting")
        _check_look(rule["booleanRule"].get("format", {}))
        return
    gradient = rule["gradientRule"]
    for name in ("minpoint", "maxpoint"):
        if "type" not in gradient.get(name, {}):
            raise Invalid(f"Gradient rules must have a {name} with a type.")


def _check_look(look: dict[str, Any]) -> None:
    allowed = {"backgroundColor", "backgroundColorStyle", "textFormat"}
    text_allowed = {"bold", "italic", "strikethrough", "underline", "foregroundColor", "foregroundColorStyle"}
    odd = set(look) - allowed | set(look.get("textFormat", {})) - text_allowed
    if odd:
        raise Invalid(f"ConditionalFormatRule.format does not support the field {sorted(odd)[0]}.")
