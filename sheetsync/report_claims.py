"""The tables of the report on differences between models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sheetsync.domain.analysis import Analysis
from sheetsync.domain.claims.claims import Claim, ClaimClass, Claims
from sheetsync.domain.claims.words import STRENGTH_WORDS, claim_sentence, count_words, marked, rule_words
from sheetsync.domain.number_words import shown_apart, shown_number
from sheetsync.domain.study import Dimension
from sheetsync.report_cells import (
    Kind,
    Shown,
    Table,
    coefficient,
    columns,
    count,
    reason_words,
    rows_of,
    text,
)

_KINDS: Mapping[ClaimClass | None, Kind] = {
    "finding": "good",
    "provisional": "fair",
    "not_separable": "note",
    None: "note",
}
_RANK: tuple[ClaimClass | None, ...] = ("finding", "provisional", "not_separable", None)


@dataclass(frozen=True)
class ClaimsSection:
    """What the section says first, the rule, and a table per dimension."""

    counts: str
    rule: str
    tables: tuple[Table, ...]


def claims_section(analysis: Analysis) -> ClaimsSection:
    """Return the section; strongest claims and largest differences first."""
    claims = analysis.claims
    unknown = analysis.reliability_unknown
    tables = tuple(_table(claims, dimension, unknown) for dimension in analysis.rubric.dimensions)
    return ClaimsSection(
        marked(count_words(claims), unknown), rule_words(claims), tables if claims.claims else ()
    )


def _table(claims: Claims, dimension: Dimension, unknown: str) -> Table:
    heads = columns("Models", "Claim", "#Questions", "#Difference", "#Interval", "To paste")
    here = sorted(claims.of(dimension.id), key=_order)
    rows = [
        (
            f"{dimension.name} | {' | '.join(claim.models)}",
            [
                text(" minus ".join(claim.models)),
                Shown(
                    STRENGTH_WORDS[claim.strength],
                    _KINDS[claim.strength],
                    {"value": claim.strength or "not_comparable"},
                ),
                count(claim.n),
                coefficient(claim.difference, "signed"),
                _interval(claim),
                text(marked(claim_sentence(claim, claims, dimension), unknown), "long"),
            ],
        )
        for claim in here
    ]
    caption = f"{dimension.name}: differences between models{_yardsticks(here[:1])}"
    return Table(f"claims-{dimension.id}", caption, heads, rows_of(rows))


def _yardsticks(claims: Sequence[Claim]) -> str:
    """Return what the differences on a dimension are held against; it is the same for all of them."""
    words = []
    for claim in claims:
        if claim.alpha.low is not None:
            words.append(f"lower bound of alpha {shown_apart(claim.alpha.low)[0]}")
        if claim.rater_difference.value is not None:
            words.append(f"two raters differ by {shown_number(claim.rater_difference.value)}")
    return f" ({', '.join(words)})" if words else ""


def _order(claim: Claim) -> tuple[int, float, tuple[str, str]]:
    return (_RANK.index(claim.strength), -abs(claim.difference.value or 0.0), claim.models)


def _interval(claim: Claim) -> Shown:
    low, high = claim.difference.low, claim.difference.high
    if low is None or high is None:
        reason = claim.difference.interval_reason if claim.difference.value is not None else None
        return Shown(reason_words(reason), "note", {"reason": reason} if reason else {})
    limits = f"{shown_number(low)} to {shown_number(high)}"
    return Shown(limits, "number", {"low": repr(low), "high": repr(high)})
