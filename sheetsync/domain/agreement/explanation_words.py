"""The two sentences that say what made alpha what it is, and which question it answers.

For people who know no statistics; every figure in them stands in the explanation too.
"""

from __future__ import annotations

from sheetsync.domain.agreement.explanation_question import Facts
from sheetsync.domain.agreement.explanation_records import Boundary, PairShift, Question
from sheetsync.domain.cells import show
from sheetsync.domain.number_words import shown_alpha, shown_number, shown_share

WHY_ALPHA = (
    "Why alpha and not percent agreement: percent agreement is high wherever most scores are alike, with or "
    "without reading. Why not kappa: it takes two raters, and every unit from both. Why not the ICC: it takes "
    "complete data and levels that are equally far apart. Alpha takes any number of raters, missing ratings and "
    "ordered levels, and corrects for chance; the others stand beside it because each answers a question of "
    "its own."
)
"""S1.21; printed once per report."""


def write_sentences(question: Question, facts: Facts) -> tuple[str, str]:
    """Return what made alpha what it is, and which question it answers here."""
    return {
        "separates": _separates,
        "narrow_band": _narrow_band,
        "bias": _bias,
        "scatter": _scatter,
        "below_zero": _below_zero,
        "too_few": _too_few,
        "no_variation": _no_variation,
        "not_comparable": _not_comparable,
        "undefined": _undefined,
    }[question](facts)


def _alpha(facts: Facts) -> str:
    return shown_alpha(facts.alpha.value or 0.0, facts.bands)


def _mostly_used(facts: Facts) -> str:
    """Say how the ratings crowd, as in: 84% of the ratings are 5, the highest level."""
    most = facts.most_used
    if most is None:
        return ""
    place = {facts.top: ", the highest level", facts.bottom: ", the lowest level"}.get(most.level, "")
    return f"{shown_share(most.share)} of the ratings are {show(most.level)}{place}"


def _crowded(facts: Facts) -> str:
    """Say that ratings crowd, where they do, and what that does to alpha; for the end of a sentence."""
    return (
        f"; {_mostly_used(facts)}, so that little disagreement is expected and single differences move alpha far"
        if facts.is_narrow
        else ""
    )


def _disagreements(facts: Facts) -> str:
    if facts.observed is None or facts.expected is None:
        return "their disagreement stands beside that of ratings drawn at random"
    observed, expected = shown_number(facts.observed, digits=3), shown_number(facts.expected, digits=3)
    return (
        f"observed disagreement is {observed}, and {expected} would be expected of ratings drawn at random "
        "(on alpha's own measure, where 1 is the whole scale apart)"
    )


def _separates(facts: Facts) -> tuple[str, str]:
    start = f"Although {_mostly_used(facts)}, raters" if facts.is_narrow else "Raters"
    shifted = "" if facts.shift is None else f", although {_shift_words(facts.shift)}"
    return (
        (
            f"{start} differ far less on the same response than ratings of any two responses do: "
            f"{_disagreements(facts)}, which makes alpha {_alpha(facts)}{shifted}."
        ),
        (
            "Alpha answers here what it is meant to: do scores tell responses apart in the same way, whichever of "
            "these raters gives them?"
        ),
    )


def _narrow_band(facts: Facts) -> tuple[str, str]:
    guessed, exact = facts.null.exact, facts.exact.value
    if guessed is not None and exact is not None:
        why = (
            "raters who ignored the text but used the scale as these raters do would give equal values on "
            f"{shown_share(guessed.mean)} of the responses, and these raters do on {shown_share(exact)}"
        )
    else:
        why = "hardly any disagreement is expected by chance"
    return (
        (
            f"{_mostly_used(facts)}, so that {why}: alpha, which credits only what goes beyond chance, is "
            f"{_alpha(facts)}."
        ),
        (
            "Alpha answers here whether raters can tell responses apart inside a narrow band of the scale, not "
            f"whether they understand the rubric alike; read it beside exact agreement{_and_ac(facts)}."
        ),
    )


def _and_ac(facts: Facts) -> str:
    return "" if facts.ac.value is None else f" and AC ({shown_number(facts.ac.value)})"


def _shift_words(shift: PairShift) -> str:
    mean = shift.mean_difference.value or 0.0
    first, second = shift.raters if mean > 0 else shift.raters[::-1]
    return f"{first} gives {shown_number(abs(mean))} more than {second} on average"


def _bias(facts: Facts) -> tuple[str, str]:
    shift, bias = facts.shift, facts.bias
    if shift is None or bias is None:
        return _scatter(facts)
    equal, as_is = bias.interval_alpha_equal_means, bias.interval_alpha
    if equal is not None and as_is is not None:
        otherwise = (
            f"; with the raters' mean levels made equal it would be {shown_number(equal)} instead of "
            f"{shown_number(as_is)} (both on the interval metric)"
        )
    else:
        otherwise = ""
    return (
        (
            f"Raters mostly differ by a constant shift: {_shift_words(shift)}, and such shifts make up "
            f"{shown_share(bias.bias_share or 0.0)} of the squared differences, so alpha is {_alpha(facts)}"
            f"{_crowded(facts)}."
        ),
        (
            "Alpha answers here whether one rater's scores can stand in for another's, not whether raters put the "
            f"responses in the same order{otherwise}."
        ),
    )


def _scatter(facts: Facts) -> tuple[str, str]:
    bias = facts.bias
    if bias is None or bias.bias_share is None:
        first = f"Raters choose differently on single responses: {_disagreements(facts)}"
    else:
        first = (
            f"Raters differ up and down on single responses ({shown_share(1 - bias.bias_share)} of the squared "
            f"differences are scatter, the rest constant shifts): {_disagreements(facts)}"
        )
    return (
        f"{first}, which makes alpha {_alpha(facts)}.",
        (
            "Alpha answers here whether raters see the same differences between responses: so far they do "
            f"{_how_far(facts)}{_parting(facts.boundary)}."
        ),
    )


def _how_far(facts: Facts) -> str:
    return "no more than raters who ignore the text" if facts.null.holds_alpha else "only in part"


def _parting(boundary: Boundary | None) -> str:
    if boundary is None:
        return ""
    low, high = (show(level) for level in boundary.between)
    return f", and {shown_share(boundary.differing_pairs)} of the differing pairs lie across {low} and {high}"


def _below_zero(facts: Facts) -> tuple[str, str]:
    shift = facts.shift
    cause = f"; {_shift_words(shift)}" if shift is not None else ""
    if facts.null.holds_alpha:
        means = (
            "Raters who ignore the text get such figures by chance, so alpha answers here no more than that these "
            "scores do not tell the responses apart."
        )
    else:
        means = (
            "Alpha answers here whether raters contradict each other: this is systematic disagreement, as from a "
            "scale read the other way round or a constant shift, and no matter of chance."
        )
        if facts.null.holds_alpha is None:
            means = (
                "Alpha answers here whether raters contradict each other: figures far below zero point to a scale "
                "read the other way round or a constant shift, small ones to chance."
            )
    return (
        (
            f"Raters differ more on the same response than ratings of any two responses do: {_disagreements(facts)}, "
            f"which makes alpha {_alpha(facts)}{cause}{_crowded(facts)}."
        ),
        means,
    )


def _too_few(facts: Facts) -> tuple[str, str]:
    n = facts.n_pairable
    have = "response has" if n == 1 else "responses have"
    return (
        f"Only {n} {have} ratings of two or more raters, so that a single one moves alpha ({_alpha(facts)}) far.",
        "Alpha answers no question reliably here: look at the ratings themselves.",
    )


def _no_variation(facts: Facts) -> tuple[str, str]:
    level = "the same" if facts.only_level is None else show(facts.only_level)
    return (
        f"Every rating that can be compared is {level}: raters agree on all of them, and nothing varies.",
        (
            "Alpha has no value here, neither 0 nor 1: it asks whether raters tell responses apart, and no response "
            "was told apart from another."
        ),
    )


def _not_comparable(_facts: Facts) -> tuple[str, str]:
    return (
        "No response has ratings of two raters.",
        "Alpha answers nothing until two raters have scored the same responses.",
    )


def _undefined(_facts: Facts) -> tuple[str, str]:
    return (
        "Alpha is not defined for these values at this level of measurement.",
        "It answers nothing here; look at the exact agreement.",
    )
