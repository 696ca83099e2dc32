"""Claims in words: the rule, and for every comparison a sentence that can be pasted into a paper."""

from __future__ import annotations

from collections.abc import Sequence

from sheetsync.domain.agreement.verdicts import REASON_WORDS
from sheetsync.domain.claims.claims import MIN_QUESTIONS, Claim, ClaimClass, Claims
from sheetsync.domain.number_words import shown_apart, shown_number
from sheetsync.domain.study import Dimension

STRENGTH_WORDS: dict[ClaimClass | None, str] = {
    "finding": "finding",
    "provisional": "provisional",
    "not_separable": "not separable",
    None: "not comparable",
}


def marked(sentence: str, reliability_unknown: str) -> str:
    """Return a sentence about models with the mark of scores that no certificate stands behind (S2.19).

    >>> marked("North is ahead.", "Reliability unknown: no judge of this study has been certified.")
    'North is ahead. (Reliability unknown: no judge of this study has been certified.)'
    """
    return f"{sentence} ({reliability_unknown})" if reliability_unknown else sentence


NOT_NAMED = "Claims compare models, and models are not named here."


def rule_words(claims: Claims) -> str:
    """Return the rule that is printed beside every claim (X8)."""
    confidence = f"{claims.confidence:.0%}"
    return (
        "A difference between two models on a dimension is a finding if three conditions hold: (1) the lower "
        f"bound of alpha’s {confidence} interval is above 0; (2) the difference is larger than the mean difference "
        f"between two raters of the same response; (3) the {confidence} interval of the difference"
        f"{adjustment(claims)} does not contain 0. If none of them holds, the two models are not separable; "
        "otherwise the difference is provisional. A condition that cannot be checked does not hold."
    )


def adjustment(claims: Claims) -> str:
    """Return for how many comparisons the intervals are adjusted; empty for one or none.

    >>> adjustment(Claims(n_compared=60)), adjustment(Claims(n_compared=1))
    (', adjusted for 60 comparisons,', '')
    """
    return f", adjusted for {claims.n_compared:,} comparisons," if claims.n_compared > 1 else ""


def count_words(claims: Claims) -> str:
    """Return how many comparisons came out how.

    >>> count_words(Claims())
    'There are no two models to compare.'
    """
    if not claims.claims:
        return "There are no two models to compare."
    n, none = len(claims.claims), claims.count(None)
    words = (
        f"Of {n:,} comparison{'s' if n != 1 else ''} of two models on one dimension, "
        f"{claims.count('finding'):,} came out as finding, {claims.count('provisional'):,} as provisional, "
        f"{claims.count('not_separable'):,} as not separable"
    )
    return f"{words}; {none:,} cannot be made." if none else f"{words}."


def claim_sentence(claim: Claim, claims: Claims, dimension: Dimension) -> str:
    """Return the claim as one or two sentences ready to paste."""
    first, second = claim.models
    difference = claim.difference
    if difference.value is None:
        why = (
            "its levels have no order, so there is no mean"
            if difference.reason == "undefined_for_values"
            else "no question has a final value for both"
        )
        return f"On {dimension.name}, {first} and {second} cannot be compared: {why}."
    unit = "points" if dimension.is_numeric else "steps"
    higher, lower = (first, second) if difference.value >= 0 else (second, first)
    apart = _difference(abs(difference.value), claim.rater_difference.value)
    head = (
        f"{higher} scored {apart} {unit} higher than {lower} on average"
        if difference.value
        else f"{first} and {second} have the same mean score"
    )
    return (
        f"On {dimension.name}, {head} ({_interval(claim, claims)}n = {claim.n:,} "
        f"question{'s' if claim.n != 1 else ''}): {_verdict(claim, unit)}"
    )


def _difference(value: float, raters: float | None) -> str:
    """Return a difference with decimals enough to tell it from 0, and from the raters' mean difference."""
    shown = shown_apart(value)[0]
    return shown if raters is None else max(shown, shown_apart(value, raters)[0], key=len)


def _interval(claim: Claim, claims: Claims) -> str:
    low, high, value = claim.difference.low, claim.difference.high, claim.difference.value
    if low is None or high is None or value is None:
        return ""
    if value < 0:  # the sentence names the higher model first
        low, high = -high, -low
    limits = f"{shown_apart(low)[0]} to {shown_apart(high)[0]}"
    return f"{claims.confidence:.0%} interval{adjustment(claims)} {limits}; "


def _verdict(claim: Claim, unit: str) -> str:
    if claim.strength == "finding":
        return (
            f"a finding. Raters agree beyond chance ({_alpha(claim)}), and the difference is larger than the mean "
            f"difference between two raters ({_raters(claim)} {unit})."
        )
    failing = [words for words in (_on_alpha(claim), _on_raters(claim, unit), _on_zero(claim)) if words]
    if claim.strength == "not_separable":
        return f"not separable, because {_listed(failing)}."
    return f"provisional: {_listed(_holding(claim, unit))}, but {_listed(failing)}."


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]


def _holding(claim: Claim, unit: str) -> list[str]:
    """Return the conditions that hold, in the order of the rule."""
    low = claim.alpha.low
    bound = (
        "raters never differed"
        if low is None
        else f"the lower bound of alpha ({shown_apart(low)[0]}) is above 0"
    )
    larger = f"the difference is larger than the mean difference between two raters ({_raters(claim)} {unit})"
    conditions = [
        (claim.agrees, bound),
        (claim.beyond_raters, larger),
        (claim.excludes_zero, "the interval does not contain 0"),
    ]
    return [words for holds, words in conditions if holds]


def _alpha(claim: Claim) -> str:
    value, low = claim.alpha.value or 0.0, claim.alpha.low
    bound = "no disagreement observed" if low is None else f"lower bound {shown_apart(low)[0]}"
    return f"alpha {shown_number(value)}, {bound}"


def _raters(claim: Claim) -> str:
    """Return the raters' mean difference, with decimals enough to tell it from the models'."""
    return shown_apart(claim.rater_difference.value or 0.0, abs(claim.difference.value or 0.0))[0]


def _on_alpha(claim: Claim) -> str:
    if claim.agrees:
        return ""
    if claim.alpha.low is None:
        reason = claim.alpha.reason or claim.alpha.interval_reason or ""
        return f"alpha has no lower bound ({REASON_WORDS.get(reason, reason)})"
    return f"the lower bound of alpha ({shown_apart(claim.alpha.low)[0]}) is not above 0"


def _on_raters(claim: Claim, unit: str) -> str:
    if claim.beyond_raters:
        return ""
    if claim.rater_difference.value is None:
        return "no two raters scored the same response"
    return (
        f"the difference is not larger than the mean difference between two raters ({_raters(claim)} {unit})"
    )


def _on_zero(claim: Claim) -> str:
    if claim.excludes_zero:
        return ""
    if claim.excludes_zero is None:
        few = claim.difference.interval_reason == "too_few_units"
        why = f"fewer than {MIN_QUESTIONS} questions" if few else "none was asked for"
        return f"the difference has no interval ({why})"
    return "the interval contains 0"
