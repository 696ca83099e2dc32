"""The part of the report that says whether the judge may be trusted, and how judges stand beside people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sheetsync.domain.agreement.proportions import Proportion
from sheetsync.domain.analysis import Analysis
from sheetsync.domain.certification import words
from sheetsync.domain.certification.certificate import Certificate
from sheetsync.domain.certification.consistency import PartStatus
from sheetsync.domain.certification.judge_metrics import JudgeComparison, JudgeFigures
from sheetsync.report_cells import Kind, Shown, Table, coefficient, columns, count, number, rows_of, text

MOST_CASES = 100
"""More failed cases than this stand in `reports/certificate.json` only."""

_KINDS: dict[PartStatus, Kind] = {"PASS": "good", "PASS_WITH_DISCLOSURE": "fair", "FAIL": "poor"}


@dataclass(frozen=True)
class CertificateSection:
    """The block of four lines, sentences, and tables with a heading each."""

    block: tuple[str, ...]
    about: tuple[str, ...]
    disclosures: tuple[str, ...]
    fixes: tuple[str, ...]
    tables: tuple[Table, ...]
    history: tuple[str, ...]


def certificate_section(analysis: Analysis) -> CertificateSection | None:
    """Return the section; None in a study without judges."""
    certificate, beside = analysis.certificate, analysis.agreement.judges
    if certificate is None:
        if not beside and not analysis.reliability_unknown:
            return None
        return CertificateSection((), (), (), (), _people_tables(beside), ())
    outcome = certificate.outcome
    return CertificateSection(
        tuple(words.block(certificate)),
        tuple(words.about(certificate)),
        tuple(words.disclosure_lines(certificate)),
        tuple(f"{words.PART_NAMES[fix.part]}. {fix.what} {fix.fix}" for fix in outcome.fixes),
        (
            _metrics_table(certificate),
            _parts_table(certificate),
            _failed_table(certificate),
            *_people_tables([*certificate.humans, *beside]),
        ),
        tuple(words.history_words(run) for run in certificate.history),
    )


def _metrics_table(certificate: Certificate) -> Table:
    heads = columns("Metric", "#n", "Kappa", "Quadratic", "AC1", "Exact", "Status", "Remark")
    rows = [
        (
            each.name,
            [
                text(each.name),
                count(each.n),
                *(text(words.coefficient_words(figure)) for figure in (each.kappa, each.kappa_quadratic)),
                *(text(words.coefficient_words(figure)) for figure in (each.ac1, each.exact)),
                Shown(each.status.replace("_", " "), _KINDS[each.status], {"value": each.status}),
                text(words.metric_note(each), "note"),
            ],
        )
        for each in certificate.outcome.consistency.metrics
    ]
    caption = (
        f"{words.PART_NAMES['consistency']}: kappa of the two looks, with its interval; {words.FRAGILE_KAPPA}"
    )
    return Table("certificate-metrics", caption, heads, rows_of(rows))


def _parts_table(certificate: Certificate) -> Table:
    rows = [
        (f"{at} {name.strip()}", [text(name.strip()), text(figures, "long")])
        for at, (name, figures) in enumerate(words.part_lines(certificate))
    ]
    return Table("certificate-parts", "Parts 2 to 4", columns("What", "Figures"), rows_of(rows))


def _failed_table(certificate: Certificate) -> Table:
    heads = columns("Part", "Case", "Question", "Metric", "Right", "Given", "What the judge said")
    failed = certificate.outcome.failed
    rows = [
        (
            f"{each.part} | {' '.join(each.cases)} | {each.metric}",
            [
                text(words.PART_NAMES[each.part]),
                text(each.source or " ".join(each.cases), "code"),
                text(each.question_id),
                text(each.metric),
                text(each.expected),
                text(words.given_words(each)),
                text(" / ".join(filter(None, each.reasoning))[:1000], "long"),
            ],
        )
        for each in failed[:MOST_CASES]
    ]
    more = f" (the first {MOST_CASES:,} of {len(failed):,})" if len(failed) > MOST_CASES else ""
    return Table("certificate-failed", f"{words.failed_heading(certificate)}{more}", heads, rows_of(rows))


def _people_tables(beside: Sequence[JudgeComparison]) -> tuple[Table, ...]:
    """Return judges beside people; a judge's answers that are none are a class of their own, and not right."""
    if not beside:
        return ()
    heads = columns(
        *(
            "Judge",
            "Dimension",
            "Against",
            "#n",
            "#No answer",
            "#No majority",
            "#Accuracy",
            "#Precision",
            "#Recall",
        ),
        *("#F1", "#Balanced accuracy", "#Phi", "#Kappa", "#Quadratic", "#AC"),
    )
    rows = []
    for each in beside:
        no_answer = each.n_unreadable + each.n_missing
        kinds = [("", each.figures)]
        if no_answer:
            kinds += [(", answered", each.answered), (", no answer as the lowest level", each.as_lowest)]
        for kind, figures in kinds:
            name = each.dimension or "all dimensions"
            rows.append(
                (
                    f"{each.judge} | {name} | {each.against}{kind}",
                    [
                        text(each.judge),
                        text(name),
                        text(f"{each.against}{kind}"),
                        count(figures.n),
                        count(no_answer),
                        count(each.n_without_majority),
                        *_figures(figures),
                    ],
                )
            )
    return (Table("judges", "Judges beside people", heads, rows_of(rows)),)


def _figures(figures: JudgeFigures) -> list[Shown]:
    shares = (figures.accuracy, figures.precision, figures.recall)
    found = (
        figures.f1,
        figures.balanced_accuracy,
        figures.phi,
        figures.kappa,
        figures.kappa_quadratic,
        figures.ac,
    )
    return [*(_share(share) for share in shares), *(coefficient(each) for each in found)]


def _share(share: Proportion | None) -> Shown:
    return number(share.value if share else None, "percent")
