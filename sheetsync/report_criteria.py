"""The section of the report on the criteria of an external validation. Computes no statistic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sheetsync.domain.number_words import shown_apart, shown_number, shown_share
from sheetsync.domain.validation.pitfalls import Trend, ValidatorPitfalls
from sheetsync.domain.validation.records import CriteriaReport, Criterion, Outcome
from sheetsync.report_cells import (
    Kind,
    Shown,
    Table,
    coefficient,
    columns,
    count,
    interval,
    number,
    rows_of,
    text,
)

OUTCOME_WORDS: dict[Outcome, tuple[str, Kind]] = {
    "met": ("met", "good"),
    "missed": ("missed", "poor"),
    "cannot_be_judged": ("cannot be judged, so not met", "poor"),
}


@dataclass(frozen=True, slots=True)
class CriteriaSection:
    """The section: a sentence, what must be said beside every verdict, tables, notes."""

    verdict: str
    warnings: tuple[str, ...]
    criteria: Table
    notes: tuple[str, ...]
    tables: tuple[Table, ...]


def criteria_section(report: CriteriaReport | None) -> CriteriaSection | None:
    """Return the section, None for a study without criteria."""
    if report is None:
        return None
    met = sum(each.met for each in report.criteria)
    frozen = report.promise.frozen_at
    verdict = f"{met} of {len(report.criteria)} criteria are met."
    return CriteriaSection(
        verdict + (f" They were frozen at {frozen}." if frozen else ""),
        report.promise.warnings,
        _verdicts(report.criteria),
        tuple(_notes(report)),
        (_validators(report), _slices(report), _confidence(report), _pairs(report), _guards(report.pitfalls)),
    )


def _verdicts(criteria: Sequence[Criterion]) -> Table:
    heads = columns("Criterion", "Role", "#Reached", "#Needed", "#Interval", "Outcome", "Note")
    rows = [
        (
            each.id,
            [
                text(each.name),
                text(each.role),
                Shown(
                    _reached(each), "number", {"value": repr(each.value)} if each.value is not None else {}
                ),
                Shown(_bar(each), "number", {"value": repr(each.needed)}),
                text(_limits(each), "number"),
                _outcome(each),
                text(each.reason or each.detail, "note"),
            ],
        )
        for each in criteria
    ]
    return Table("criteria", "What was reached against what was promised", heads, rows_of(rows))


def _outcome(each: Criterion) -> Shown:
    words, kind = OUTCOME_WORDS[each.outcome]
    if each.fragile:
        words, kind = f"{words}; fragile, as the interval reaches below the bar", "fair"
    return Shown(words, kind, {"value": each.outcome})


def _reached(each: Criterion) -> str:
    if each.value is None:
        return ""
    if each.id == "validators":
        return f"{each.value:.0f}"
    return (
        shown_number(each.value, "percent")
        if each.id == "direction"
        else shown_apart(each.value, each.needed)[0]
    )


def _bar(each: Criterion) -> str:
    if each.id == "validators":
        return f"{each.needed:.0f}"
    return shown_number(each.needed, "percent") if each.id == "direction" else shown_number(each.needed)


def _limits(each: Criterion) -> str:
    """Show the interval so that it is seen on which side of the bar it begins.

    >>> _limits(Criterion("alpha", "primary", "", 0.77, 0.7, "met", 0.6991, 0.82, True, None, ""))
    '0.699 to 0.82'
    """
    if each.low is None or each.high is None:
        return ""
    return f"{shown_apart(each.low, each.needed)[0]} to {shown_number(each.high)}"


def _notes(report: CriteriaReport) -> list[str]:
    direction, found = report.direction, report.exploratory
    notes = []
    if direction.mean_pairwise is not None:
        notes.append(
            f"Direction: two raters say the same in {shown_share(direction.mean_pairwise)} of cases on average; "
            f"in {direction.unanimous_ties} cases all see a tie, which is no direction."
        )
    if (higher := report.improved_higher) is not None:
        notes.append(
            f"The study is unblinded: where raters agree on a direction, the improved response is ahead in "
            f"{higher.count} of {higher.n} cases. That is a result, not an agreement."
        )
    if (without := report.without_disclosed) is not None:
        alpha = without.alpha.value
        notes.append(
            f"Without the {without.rows} rows whose rater disclosed broken blinding, alpha is "
            f"{'undefined' if alpha is None else shown_number(alpha)} and raters agree on the direction of "
            f"{without.direction.count} of {without.direction.n} cases."
        )
    if found.identical_pairs is not None:
        notes.append(
            f"{shown_share(found.identical_pairs)} of rater pairs gave the same score. Descriptive only: chance alone "
            "makes many scores the same."
        )
    return notes


def _validators(report: CriteriaReport) -> Table:
    heads = columns(
        "Validator",
        "#Complete rows",
        "#Spearman with internal",
        "#Medium or High",
        "#Unusual totals",
        "#Disclosed",
    )
    rows = [
        (
            each.rater,
            [
                text(each.rater),
                count(each.complete_rows, each.rows),
                coefficient(each.internal_spearman),
                number(each.confident_share, "percent"),
                text("") if each.unusual_totals is None else count(each.unusual_totals),
                count(each.disclosed_rows),
            ],
        )
        for each in report.validators
    ]
    return Table("validators", "Validators", heads, rows_of(rows))


def _slices(report: CriteriaReport) -> Table:
    heads = columns("Part", "#Cases", "#Alpha", "#Interval", "#Same score", "#Same direction")
    rows = [
        (
            f"{each.by}:{each.value}",
            [
                text(each.value),
                count(each.cases),
                coefficient(each.alpha),
                interval(each.alpha),
                number(each.identical, "percent"),
                text(f"{each.direction.count} of {each.direction.n}", "number"),
            ],
        )
        for each in report.exploratory.slices
    ]
    return Table("criteria-parts", "Parts of the study, all dimensions together", heads, rows_of(rows))


def _confidence(report: CriteriaReport) -> Table:
    heads = columns("Two scores of one cell", "#Pairs", "#Same score", "#Steps apart")
    rows = [
        (
            each.confidence,
            [
                text(each.confidence.replace("_", " ")),
                count(each.pairs),
                number(each.identical, "percent"),
                number(each.steps_apart),
            ],
        )
        for each in report.exploratory.confidence
    ]
    words = {True: ": yes", False: ": no", None: ""}[report.exploratory.high_agrees_more]
    return Table("confidence", f"Whether scores of High confidence agree more{words}", heads, rows_of(rows))


def _pairs(report: CriteriaReport) -> Table:
    found = report.exploratory
    notes = {found.best_pair: "agree most", found.worst_pair: "agree least"} if len(found.pairs) > 1 else {}
    rows = [
        (
            "/".join(each.raters),
            [
                text(" and ".join(each.raters)),
                coefficient(each.kappa),
                text(notes.get(each.raters, ""), "note"),
            ],
        )
        for each in found.pairs
    ]
    caption = "Cohen’s kappa of two validators, unweighted, within dimensions"
    return Table("criteria-pairs", caption, columns("Validators", "#Kappa", "Note"), rows_of(rows))


def _guards(pitfalls: Sequence[ValidatorPitfalls]) -> Table:
    heads = columns(
        "Validator", "#Halo", "#Straight rows", "#Drift", "#Length", "#A minus B", "#p of that", "#Rows with notes",
        "Furthest domain",
    )  # fmt: skip
    rows = [
        (
            each.rater,
            [
                text(each.rater),
                number(each.halo.mean_rho),
                number(each.halo.straight_rows, "percent"),
                _trend(each.drift),
                _trend(each.length),
                number(each.side.mean_difference, "signed"),
                number(each.side.test.p),
                number(each.notes_share, "percent"),
                text("" if each.domain is None else _offset(each.domain.domain, each.domain.difference)),
            ],
        )
        for each in pitfalls
    ]
    caption = (
        "Guards. Halo: mean rank correlation of two dimensions. Drift and length: of the total with the place of "
        "the row and the words of the response; a star where chance rarely leaves as much"
    )
    return Table("guards", caption, heads, rows_of(rows))


def _trend(found: Trend) -> Shown:
    cell = coefficient(found.rho, "signed")
    return Shown(f"{cell.text}*", cell.kind, cell.data) if found.notable else cell


def _offset(domain: str, difference: float) -> str:
    return f"{domain} ({shown_number(difference, 'signed')})"
