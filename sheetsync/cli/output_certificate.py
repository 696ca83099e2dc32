"""What `certify` prints: the block of four lines first, then what it rests on and what to put right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sheetsync.cli.tables import print_lines, print_table, print_wrapped
from sheetsync.domain.certification import words
from sheetsync.domain.certification.judge_metrics import MAJORITY
from sheetsync.domain.number_words import shown_number

if TYPE_CHECKING:
    from sheetsync.domain.agreement.proportions import Proportion
    from sheetsync.domain.certification.certificate import Certificate
    from sheetsync.domain.certification.judge_metrics import JudgeComparison
    from sheetsync.services.certify import Certified

_SHOWN_CASES = 10
_SHOWN_REASONING = 300


def show_certificate(result: Certified) -> None:
    """Print the verdict on a judge."""
    certificate = result.certificate
    print_lines(*words.block(certificate), "")
    for line in words.about(certificate):
        print_wrapped(plain(line))
    _show_metrics(certificate)
    for name, figures in words.part_lines(certificate):
        print_wrapped(plain(f"{name.strip()}: {figures}"), "  " if name.startswith(" ") else "")
    _show_list("Disclosures, to stand in the publication:", words.disclosure_lines(certificate))
    _show_fixes(certificate)
    _show_failed(certificate)
    show_judges(certificate.humans)
    if len(certificate.history) > 1:
        _show_list("Runs so far:", [words.history_words(run) for run in certificate.history])
    print_lines("", f"Wrote {result.written}")


def plain(text: str) -> str:
    """Return text of a stranger with the keyboard's minus sign and nothing that could steer a terminal."""
    shown = text.replace("\u2212", "-")
    return "".join(character if character.isprintable() else " " for character in shown)


def _show_metrics(certificate: Certificate) -> None:
    rows = [
        (
            plain(each.name),
            each.n,
            plain(words.coefficient_words(each.kappa)),
            plain(words.coefficient_words(each.kappa_quadratic)),
            plain(words.coefficient_words(each.ac1)),
            plain(words.coefficient_words(each.exact)),
            each.status,
            words.metric_note(each),
        )
        for each in certificate.outcome.consistency.metrics
    ]
    if rows:
        columns = (
            *(("Metric", "left"), ("n", "right"), ("Kappa", "right"), ("Quadratic", "right")),
            *(("AC1", "right"), ("Exact", "right"), ("Status", "left"), ("", "left")),
        )
        print_lines("")
        print_table(f"{words.PART_NAMES['consistency']} ({words.FRAGILE_KAPPA})", columns, rows)
        print_lines("")


def _show_fixes(certificate: Certificate) -> None:
    for severity, heading in (("blocks", "To fix before the next run:"), ("advice", "Worth a look:")):
        fixes = [
            f"{words.PART_NAMES[fix.part]}. {fix.what} {fix.fix}"
            for fix in certificate.outcome.fixes
            if fix.severity == severity
        ]
        _show_list(heading, fixes)


def _show_failed(certificate: Certificate) -> None:
    """List wrong answers before scores that differ, and of those the cases of parts that fail before others."""
    statuses = certificate.outcome.statuses
    failed = sorted(
        certificate.outcome.failed,
        key=lambda each: (each.part == "consistency", statuses[each.part] != "FAIL"),
    )
    shown = [words.failed_words(each, _SHOWN_REASONING) for each in failed[:_SHOWN_CASES]]
    more = len(failed) - len(shown)
    if more:
        shown.append(f"{more} more in the certificate.")
    _show_list(f"{words.failed_heading(certificate)}:", shown)


def show_judges(beside: Sequence[JudgeComparison]) -> None:
    """Print every judge beside the people's majority; beside single people it stands in JSON and the report."""
    rows = [
        (
            plain(each.judge),
            plain(each.dimension or "all dimensions"),
            each.figures.n,
            each.n_unreadable + each.n_missing,
            _percent(each.figures.accuracy),
            _percent(each.figures.precision),
            _percent(each.figures.recall),
            *(
                "-" if figure.value is None else plain(shown_number(figure.value))
                for figure in (each.figures.f1, each.figures.balanced_accuracy, each.figures.phi)
            ),
            plain(words.coefficient_words(each.figures.kappa)),
            plain(words.coefficient_words(each.figures.ac)),
        )
        for each in beside
        if each.against == MAJORITY
    ]
    if rows:
        columns = (
            *(("Judge", "left"), ("Dimension", "left"), ("n", "right"), ("No answer", "right")),
            *(
                (name, "right")
                for name in ("Accuracy", "Precision", "Recall", "F1", "Balanced", "Phi", "Kappa", "AC")
            ),
        )
        print_lines("")
        told = [at for at in range(len(columns)) if any(row[at] != "-" for row in rows)]
        print_table(
            "Judges beside the people's majority; no answer is not right",
            [columns[at] for at in told],
            [[row[at] for at in told] for row in rows],
        )


def _percent(share: Proportion | None) -> str:
    return "-" if share is None or share.value is None else shown_number(share.value, "percent")


def _show_list(heading: str, items: list[str]) -> None:
    if items:
        print_lines("", heading)
        for item in items:
            print_wrapped(plain(f"- {item}"), "  ")
