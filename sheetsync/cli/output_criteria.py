"""What `criteria` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sheetsync.cli.tables import print_lines, print_table, print_wrapped
from sheetsync.domain.agreement.verdicts import REASON_WORDS
from sheetsync.domain.number_words import shown_alpha

if TYPE_CHECKING:
    from sheetsync.domain.agreement.coefficients import Coefficient
    from sheetsync.domain.validation.pitfalls import Trend
    from sheetsync.domain.validation.records import CriteriaReport, Criterion

_OUTCOMES = {"met": "MET", "missed": "MISSED", "cannot_be_judged": "CANNOT BE JUDGED"}


def show_criteria(result: CriteriaReport) -> None:
    """Print the verdict table, then what stands beside it."""
    _show_verdicts(result)
    _show_pooled(result)
    _show_validators(result)
    _show_exploratory(result)
    _show_pitfalls(result)


def _show_verdicts(result: CriteriaReport) -> None:
    heads = ("", "Criterion", "Reached", "Needed", "Interval", "Outcome", "")
    rows = [
        (
            each.role, each.name, _reached(each), _bar(each), _limits(each.low, each.high, each.needed),
            _OUTCOMES[each.outcome] + (", fragile" if each.fragile else ""), each.reason or each.detail,
        )
        for each in result.criteria
    ]  # fmt: skip
    print_table("", [(head, "right" if head in ("Reached", "Needed") else "left") for head in heads], rows)
    frozen = result.promise.frozen_at
    print_lines(f"Criteria frozen at {frozen}." if frozen else "Criteria were never frozen.")
    if any(each.fragile for each in result.criteria):
        print_lines("Fragile: met, but the interval reaches below the bar.")
    ties, pairwise = result.direction.unanimous_ties, result.direction.mean_pairwise
    if pairwise is not None:
        print_lines(
            f"Direction: two raters say the same in {pairwise:.0%} of cases on average; in {ties} cases all see a tie."
        )
    if (higher := result.improved_higher) is not None:
        print_lines(
            f"Unblinded: where raters agree on a direction, the improved response is ahead in {higher.count} of "
            f"{higher.n} cases. A result, not an agreement."
        )
    if (without := result.without_disclosed) is not None:
        print_lines(
            f"Without {without.rows} rows whose rater disclosed broken blinding: alpha {_value(without.alpha)}, "
            f"direction {without.direction.count} of {without.direction.n} cases."
        )


def _show_pooled(result: CriteriaReport) -> None:
    if result.pooled is None:
        return
    print_table(
        "What each dimension brings into the stratified alpha",
        [
            ("Dimension", "left"),
            ("Weight", "right"),
            ("Alpha", "right"),
            ("Band", "left"),
            ("Exact", "right"),
        ],
        [
            (each.dimension, f"{weight.weight:.0%}", _value(each.alpha), each.band or "", _value(each.exact))
            for weight, each in zip(result.pooled.weights, result.exploratory.dimensions, strict=True)
        ],
    )
    naive = result.pooled.naive
    if naive.value is not None:
        null = naive.null
        said = (
            f"; raters who ignore the text get {null.mean:.2f} ({null.low:.2f} to {null.high:.2f})"
            if null
            else ""
        )
        print_wrapped(
            f"Footnote, not a result: all ratings stacked, whichever dimension they belong to, give alpha "
            f"{naive.value:.2f}{said}."
        )


def _show_validators(result: CriteriaReport) -> None:
    heads = (
        "Validator",
        "Complete rows",
        "Spearman with internal",
        "Medium/High",
        "Unusual totals",
        "Disclosed",
    )
    rows = [
        (
            each.rater,
            f"{each.complete_rows} of {each.rows}",
            _value(each.internal_spearman),
            "" if each.confident_share is None else f"{each.confident_share:.0%}",
            "" if each.unusual_totals is None else f"{each.unusual_totals} ({each.usual_from})",
            each.disclosed_rows,
        )
        for each in result.validators
    ]
    print_table("", [(head, "left" if head == "Validator" else "right") for head in heads], rows)


def _show_exploratory(result: CriteriaReport) -> None:
    found = result.exploratory
    columns = [
        ("", "left"),
        ("Cases", "right"),
        ("Alpha", "right"),
        ("Same score", "right"),
        ("Same direction", "right"),
    ]
    rows = [
        (
            each.value,
            each.cases,
            _value(each.alpha),
            _percent(each.identical),
            f"{each.direction.count}/{each.direction.n}",
        )
        for each in found.slices
    ]
    if rows:
        print_table("By slice", columns, rows)
    if found.confidence:
        print_table(
            "Do High confidence scores agree more?"
            + {True: " Yes.", False: " No.", None: ""}[found.high_agrees_more],
            [("Two scores", "left"), ("Pairs", "right"), ("Same score", "right"), ("Steps apart", "right")],
            [
                (
                    each.confidence.replace("_", " "),
                    each.pairs,
                    _percent(each.identical),
                    _mean(each.steps_apart),
                )
                for each in found.confidence
            ],
        )
    notes = {found.best_pair: "agree most", found.worst_pair: "agree least"} if len(found.pairs) > 1 else {}
    print_lines("Cohen's kappa of two validators, unweighted, within dimensions")
    print_table(
        "",
        [("Validators", "left"), ("Kappa", "right"), ("", "left")],
        [(" and ".join(each.raters), _value(each.kappa), notes.get(each.raters, "")) for each in found.pairs],
    )
    if found.identical_pairs is not None:
        print_lines(
            f"Identical scores: {found.identical_pairs:.0%} of rater pairs, {_percent(found.identical_all)} of cells "
            "over all raters. Descriptive only: chance alone makes many scores the same."
        )


def _show_pitfalls(result: CriteriaReport) -> None:
    heads = (
        "Validator",
        "Halo",
        "Straight rows",
        "Drift",
        "Length",
        "A minus B",
        "p (sign)",
        "Notes",
        "Domain",
    )
    rows = [
        (
            each.rater,
            "" if each.halo.mean_rho is None else f"{each.halo.mean_rho:.2f}",
            _percent(each.halo.straight_rows),
            _trend(each.drift),
            _trend(each.length),
            "" if each.side.mean_difference is None else f"{each.side.mean_difference:+.2f}",
            "" if each.side.test.p is None else f"{each.side.test.p:.3f}",
            _percent(each.notes_share),
            "" if each.domain is None else f"{each.domain.domain} {each.domain.difference:+.1f}",
        )
        for each in result.pitfalls
    ]
    print_table(
        "Guards", [(head, "left" if head in ("Validator", "Domain") else "right") for head in heads], rows
    )
    print_wrapped(
        "Halo: mean rank correlation of two dimensions. Drift, length: of the total with the position of the row "
        "and with the words of the response; * where chance rarely leaves as much. Domain: where a validator "
        "differs most from the others, in points of the total."
    )


# --- cells ---


def _reached(each: Criterion) -> str:
    if each.value is None:
        return ""
    if each.id == "validators":
        return f"{each.value:.0f}"
    return f"{each.value:.1%}" if each.id == "direction" else _close_to_bar(each.value, each.needed)


def _close_to_bar(value: float, needed: float) -> str:
    """Show as many digits as it takes to see on which side of the bar a value lies."""
    for digits in range(2, 17):
        shown = f"{value:.{digits}f}"
        if (float(shown) >= needed) == (value >= needed):
            return shown
    return repr(value)


def _bar(each: Criterion) -> str:
    if each.id == "validators":
        return f"{each.needed:.0f}"
    return f"{each.needed:.0%}" if each.id == "direction" else f"{each.needed:.2f}"


def _limits(low: float | None, high: float | None, needed: float) -> str:
    """Show an interval so that it is seen on which side of the bar it begins.

    >>> _limits(0.6991, 0.82, 0.70), _limits(0.71, 0.82, 0.70), _limits(None, None, 0.70)
    ('0.699 to 0.82', '0.71 to 0.82', '')
    """
    return "" if low is None or high is None else f"{_close_to_bar(low, needed)} to {high:.2f}"


def _value(found: Coefficient) -> str:
    if found.value is None:
        return REASON_WORDS.get(found.reason or "", (found.reason or "").replace("_", " "))
    return shown_alpha(found.value, "acceptance")


def _trend(found: Trend) -> str:
    return "" if found.rho.value is None else f"{found.rho.value:+.2f}{'*' * found.notable}"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.0%}"


def _mean(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
