"""How `agreement` prints its figures, and what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sheetsync.cli.tables import print_lines, print_table, print_wrapped
from sheetsync.domain.agreement.verdicts import REASON_WORDS, BandSet, describe_band, interval_reason_words
from sheetsync.domain.number_words import NumberStyle, shown_alpha, shown_limits, shown_number, shown_share

if TYPE_CHECKING:
    from sheetsync.domain.agreement.coefficients import Coefficient
    from sheetsync.domain.agreement.explanation_records import Explanation, HardPart
    from sheetsync.domain.agreement.pooled import Pooled
    from sheetsync.domain.agreement.report import DimensionAgreement
    from sheetsync.services.agreement import Agreed

AGREEMENT_COLUMNS = [
    ("Dimension", "left"),
    ("n", "right"),
    ("Alpha", "right"),
    ("Interval", "left"),
    ("Band", "left"),
    ("Exact", "right"),
    ("Within", "right"),
    ("Mean diff.", "right"),
    ("AC", "right"),
]


def show_agreement(result: Agreed) -> None:
    """Show coefficients per dimension, then slices, pairs and tags, and what made alpha what it is."""
    report = result.report
    head = f"{result.title}" + (f", as of {result.as_of}" if result.as_of else "")
    rows = [agreement_row(d.dimension, d, result.bands) for d in report.dimensions]
    print_table(head, AGREEMENT_COLUMNS, rows)
    slices = [(d.dimension, s) for d in report.dimensions for s in d.slices]
    if slices:
        print_lines("")
        print_table(
            "By slice",
            AGREEMENT_COLUMNS,
            [_slice_row(f"{n} · {s.by} {s.value}", s.agreement, result.bands) for n, s in slices],
        )
    _show_pairs(result)
    for explanation in report.explanations:
        _explain(explanation, result.bands)
    if report.pooled is not None:
        _show_pooled(report.pooled, result.bands)
    if report.judges:
        from sheetsync.cli.output_certificate import show_judges

        show_judges(report.judges)
    print_lines("", _method(report.dimensions, result.bands))


def agreement_row(name: str, agreement: DimensionAgreement, bands: BandSet) -> tuple[str, ...]:
    """Return the figures of one dimension, with as many decimals of alpha as its band needs."""
    each = agreement.coefficients
    alpha = each["alpha"]
    return (
        name,
        str(agreement.n_pairable),
        "-" if alpha.value is None else _plain(shown_alpha(alpha.value, bands, least=3)),
        _interval(alpha),
        describe_band(agreement.band) if agreement.band else _reason(alpha),
        _number(each.get("exact"), percent=True),
        _number(each.get("within"), percent=True),
        _number(each.get("mean_abs_difference")),
        _number(each.get("ac")),
    )


def _slice_row(name: str, agreement: DimensionAgreement, bands: BandSet) -> tuple[str, ...]:
    row = agreement_row(name, agreement, bands)
    if agreement.too_few:
        return (*row[:2], "-", "", REASON_WORDS["too_few_units"], *row[5:8], "-")
    return row


def _number(coefficient: Coefficient | None, *, percent: bool = False) -> str:
    if coefficient is None or coefficient.value is None:
        return "-"
    style: NumberStyle = "percent" if percent else "number"
    return _plain(shown_number(coefficient.value, style, digits=3))


def _interval(coefficient: Coefficient) -> str:
    if coefficient.low is None or coefficient.high is None:
        return "" if coefficient.value is None else interval_reason_words(coefficient.interval_reason)
    return _plain(shown_limits(coefficient.low, coefficient.high))


def _reason(coefficient: Coefficient) -> str:
    return REASON_WORDS.get(coefficient.reason or "", coefficient.reason or "")


def _show_pairs(result: Agreed) -> None:
    pairs = [
        (
            d.dimension,
            " and ".join(p.raters),
            p.n,
            _number(p.kappa),
            _number(p.kappa_quadratic),
            _number(p.spearman),
            _signed(p.mean_difference),
        )
        for d in result.report.dimensions
        for p in d.pairs
    ]
    if pairs:
        columns = [
            ("Dimension", "left"),
            ("Pair", "left"),
            ("n", "right"),
            ("Kappa", "right"),
            ("Quadratic", "right"),
            ("Spearman", "right"),
            ("Mean difference", "right"),
        ]
        print_lines("")
        print_table("By pair of raters", columns, pairs)
    tags = [
        (
            f"{t.tag} ({t.of})" if t.of else t.tag,
            " and ".join(p.raters),
            p.n,
            _number(p.kappa),
            _number(p.exact, percent=True),
        )
        for t in result.report.tags
        for p in t.pairs
    ]
    if tags:
        print_lines("")
        print_table(
            "Tags",
            [("Tag", "left"), ("Pair", "left"), ("n", "right"), ("Kappa", "right"), ("Exact", "right")],
            tags,
        )


def _signed(coefficient: Coefficient) -> str:
    return "-" if coefficient.value is None else _plain(shown_number(coefficient.value, "signed", digits=3))


def _method(dimensions: Sequence[DimensionAgreement], bands: str) -> str:
    """Say how alpha and its interval were computed."""
    levels = ", ".join(dict.fromkeys(d.level for d in dimensions)) or "no"
    alphas = [d.coefficients["alpha"] for d in dimensions]
    methods = ", ".join(
        dict.fromkeys(f"{a.method}, {a.confidence:.0%}" for a in alphas if a.method and a.confidence)
    )
    within = next((d.coefficients["within"].k for d in dimensions if "within" in d.coefficients), None)
    words = f"Alpha: Krippendorff's, {levels} level; n: units with two or more ratings."
    words += f" Intervals over units ({methods}), for these raters." if methods else ""
    words += f" Bands: {bands}."
    return words + (f" Within: at most {within:g} apart." if within is not None else "")


# --- why ---


def _explain(explanation: Explanation, bands: BandSet) -> None:
    """Say of one dimension why alpha is what it is."""
    from sheetsync.domain.agreement.null_raters import describe_null_raters

    print_lines("", _plain(f"Why, on {explanation.dimension}"))
    null = describe_null_raters(explanation.null_raters, explanation.alpha, bands)
    where, hardest = _where(explanation), _hardest(explanation.hardest)
    for words in (*explanation.sentences, null, where, hardest, _narrow(explanation)):
        if words:
            print_wrapped(_plain(words), "  ")


def _plain(words: str) -> str:
    """Return words with the minus sign of the keyboard, and nothing that could steer a terminal."""
    shown = words.replace("\u2212", "-")
    return "".join(character if character.isprintable() else " " for character in shown)


def _where(explanation: Explanation) -> str:
    """Say between which levels, and on which units, the disagreement lies."""
    units = explanation.units
    if explanation.alpha.value is None or not explanation.boundaries or not units.heaviest:
        return ""
    boundary, heaviest = explanation.boundaries[0], units.heaviest[0]
    low, high = boundary.between
    values = ", ".join(f"{rater} {value}" for rater, value in heaviest.values.items())
    carry = "carries" if units.n_half == 1 else "carry"
    return (
        f"Where: {shown_share(boundary.disagreement)} of alpha's disagreement lies across {low} and {high}; "
        f"{units.n_half} of {units.n_pairable} responses {carry} half of it, most of all {heaviest.unit} ({values})."
    )


def _narrow(explanation: Explanation) -> str:
    """Warn of an interval that is known to be too narrow."""
    found = explanation.intervals
    if not found.is_narrow or found.default.low is None:
        return ""
    return (
        f"Interval: with {found.n_pairable} responses and {shown_share(found.top_share or 0.0)} of the ratings at the "
        f"top it is too narrow; the jackknife gives {_interval(found.jackknife)}."
    )


def _hardest(parts: Sequence[HardPart]) -> str:
    """Name the hardest part of each kind; those with too few units only in figures of their own."""
    named = []
    for by in dict.fromkeys(part.by for part in parts):
        of_kind = [part for part in parts if part.by == by]
        if len(of_kind) > 1 and of_kind[0].rank == 1:
            named.append(f"{by} {of_kind[0].value} ({_apart(of_kind[0])})")
    return f"Hardest to score alike: {'; '.join(named)}." if named else ""


def _apart(part: HardPart) -> str:
    mean = part.mean_abs_difference.value
    if mean is None:
        return f"disagreement {shown_number(part.observed_scaled)}, n {part.n_pairable}"
    found = part.mean_abs_difference
    limits = f", {_interval(found)}" if found.low is not None else ""
    return f"{shown_number(mean)} apart on average{limits}, n {part.n_pairable}"


def _show_pooled(pooled: Pooled, bands: BandSet) -> None:
    """Show alpha over all dimensions, and what the naive figure is worth."""
    from sheetsync.domain.agreement.pooled import describe_nothing

    print_lines("", "All dimensions together")
    figure = pooled.stratified
    if figure.value is None:
        print_wrapped(f"Stratified alpha {REASON_WORDS.get(figure.reason or '', '')}.", "  ")
        return
    weights = ", ".join(f"{each.dimension} {shown_share(each.weight)}" for each in pooled.weights)
    words = f"Stratified alpha {shown_alpha(figure.value, bands)}, {describe_band(figure.band)}; weights: {weights}."
    if pooled.without_variation:
        words += f" {describe_nothing(pooled)}"
    print_wrapped(_plain(words), "  ")
    if pooled.naive.value is not None:
        null = pooled.naive.null
        guessed = (
            f"; raters who ignore the text get {shown_number(null.mean)} in the same way" if null else ""
        )
        print_wrapped(
            _plain(
                f"Footnote, not a result: all ratings stacked give {shown_number(pooled.naive.value)}{guessed}, as "
                "the dimensions' own levels count as agreement there."
            ),
            "  ",
        )
