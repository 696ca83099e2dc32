"""A certificate in words: the block of four lines, and the sentences that go with it."""

from __future__ import annotations

from collections.abc import Iterator

from sheetsync.domain.agreement.coefficients import Coefficient
from sheetsync.domain.agreement.proportions import Proportion
from sheetsync.domain.agreement.verdicts import REASON_WORDS
from sheetsync.domain.cells import show
from sheetsync.domain.certification.cases import Part
from sheetsync.domain.certification.certificate import Certificate, PastRun, changed_words
from sheetsync.domain.certification.consistency import MetricConsistency
from sheetsync.domain.certification.decision_figures import Accuracy
from sheetsync.domain.certification.failed_cases import FailedCase
from sheetsync.domain.certification.parts import GateFigures
from sheetsync.domain.number_words import shown_number
from sheetsync.domain.protocols import Certification

RULE = "--------"

PART_NAMES: dict[Part, str] = {
    "consistency": "Part 1, the same score twice",
    "anchors": "Part 2, known scores",
    "discrimination": "Part 3, firm or giving way",
    "gates": "Part 4, gates",
}

FRAGILE_KAPPA = "fragile: the lower limit of kappa does not reach the bar"
FRAGILE = "fragile: the lower limit of the interval does not reach the bar"


def block(certificate: Certificate) -> list[str]:
    """Return the four lines with thresholds and verdicts, the rule, and what follows (S2.15)."""
    outcome = certificate.outcome
    bars = {
        "consistency": f"kappa >= {outcome.consistency.threshold:.2f} on all metrics",
        "anchors": f"anchor calibration >= {_bar(outcome.anchors.threshold)}",
        "discrimination": f"adversarial invariance >= {_bar(outcome.discrimination.threshold)}",
        "gates": f"cap gate precision >= {_bar(outcome.gates.threshold)}",
    }
    lines = [
        f"Part {number} ({bars[part]}) {status}"
        for number, (part, status) in enumerate(outcome.statuses.items(), 1)
    ]
    return [*lines, RULE, "CLEARED" if certificate.publication_ready else "NOT CLEARED"]


def _bar(share: float) -> str:
    return f"{share:.0%}" if round(share * 100, 9).is_integer() else f"{share * 100:g}%"


def about(certificate: Certificate) -> list[str]:
    """Return who was judged on what, and whether that still holds."""
    latest, conditions = certificate.latest, certificate.conditions
    gap = "no repeats" if conditions.gap is None else f"{conditions.gap} cases between repeats at least"
    fresh = "a fresh session" if conditions.fresh_session else "no fresh session"
    who = f"Run {latest.run}, judge {latest.judge}, rubric {latest.rubric_version}"
    lines = [f"{who}; order seed {conditions.seed}, {gap}, {fresh} for the second looks."]
    lines += _unfinished(certificate)
    lines += _disclosed(certificate)
    if lowered := _lowered(certificate):
        lines.append(
            f"Lower bars than the protocol's: {', '.join(lowered)}. Say so wherever scores are published."
        )
    if certificate.strict:
        lines.append("Strict: the lower limits of the intervals have to reach the bars too.")
    if certificate.changed:
        lines.append(
            f"Not valid: since this run the {changed_words(certificate)} changed. "
            "Run `sheetsync certify prepare` and `sheetsync certify run`."
        )
    if certificate.waiting is not None:
        lines.append(f"Run {certificate.waiting} is prepared and not judged yet.")
    return lines


def _unfinished(certificate: Certificate) -> list[str]:
    outcome = certificate.outcome
    parts = (outcome.consistency, outcome.anchors, outcome.discrimination, outcome.gates)
    silent = sum(part.answers.missing + part.answers.timeout for part in parts)
    if not silent:
        return []
    n = sum(part.answers.n for part in parts)
    return [
        f"Not judged through: on {silent} of {n} cases the judge has not spoken. Run `sheetsync certify run` again."
    ]


def _disclosed(certificate: Certificate) -> list[str]:
    if certificate.outcome.statuses["consistency"] != "PASS_WITH_DISCLOSURE":
        return []
    names = ", ".join(each.name for each in certificate.outcome.accepted)
    why = "no score there could change any ranking; what the publication has to say of it stands below."
    return [f"PASS_WITH_DISCLOSURE: below the bar and let pass is {names}, because {why}"]


def _lowered(certificate: Certificate) -> list[str]:
    """Return the bars that this study has put lower than the protocol does."""
    outcome, protocol = certificate.outcome, Certification()
    bars = (
        (1, outcome.consistency.threshold, protocol.kappa),
        (2, outcome.anchors.threshold, protocol.anchors),
        (3, outcome.discrimination.threshold, protocol.discrimination),
        (4, outcome.gates.threshold, protocol.gates),
    )
    return [f"part {part} {bar:g}, not {usual:g}" for part, bar, usual in bars if bar < usual]


def accuracy_words(figures: Accuracy, threshold: float) -> str:
    """Return a share with its interval, and what a constant answer would score."""
    words = share_words(figures.accuracy)
    if figures.n_unanswered:
        words += f"; {figures.n_unanswered} without an answer"
    if figures.constant is not None:
        words += f"; a constant answer would score {shown_number(figures.constant, 'percent')}"
        if not figures.beats_constant:
            words += ", no less: that is no pass"
    return f"{words}; {FRAGILE}" if _is_fragile(figures, threshold) else words


def _is_fragile(figures: Accuracy, threshold: float) -> bool:
    return figures.passes(threshold, strict=False) and figures.is_fragile(threshold)


def share_words(share: Proportion) -> str:
    """Return a share with its counts and interval.

    >>> from sheetsync.domain.agreement.proportions import proportion
    >>> share_words(proportion(27, 30))
    '27 of 30, 90.0% (74.4% to 96.5%)'
    """
    if share.value is None:
        return "no case"
    words = f"{share.count} of {share.n}, {shown_number(share.value, 'percent')}"
    if share.low is None or share.high is None:
        return words
    return f"{words} ({shown_number(share.low, 'percent')} to {shown_number(share.high, 'percent')})"


def coefficient_words(found: Coefficient) -> str:
    """Return a coefficient with its interval, or why there is none."""
    if found.value is None:
        return REASON_WORDS.get(found.reason or "", found.reason or "")
    words = shown_number(found.value)
    if found.low is None or found.high is None:
        return words
    return f"{words} ({shown_number(found.low)} to {shown_number(found.high)})"


def metric_note(each: MetricConsistency) -> str:
    """Return what is to be said of a metric's kappa."""
    if each.kappa.value is None:
        return "undefined is no pass"
    return "fragile" if each.fragile and each.status == "PASS" else ""


def part_lines(certificate: Certificate) -> Iterator[tuple[str, str]]:
    """Yield what parts 2 to 4 rest on: a name and its figures."""
    outcome = certificate.outcome
    anchors, firm, gates = outcome.anchors, outcome.discrimination, outcome.gates
    yield PART_NAMES["anchors"], accuracy_words(anchors.figures, anchors.threshold)
    if anchors.worst is not None and anchors.figures.accuracy.count < anchors.figures.accuracy.n:
        worst = next(each for each in anchors.metrics if each.metric == anchors.worst)
        yield "  worst metric", f"{worst.name}: {share_words(worst.figures.accuracy)}"
    if anchors.boundary:
        yield "  boundary", anchors.boundary.sentence
    yield PART_NAMES["discrimination"], accuracy_words(firm.figures, firm.threshold)
    for figures in firm.figures.classes:
        name = "held firm" if figures.answer == "PASS" else "gave way"
        yield f"  {name}", share_words(figures.recall)
    yield "  pairs with both right", share_words(firm.pairs_right)
    yield PART_NAMES["gates"], share_words(gates.figures.accuracy)
    for gate in gates.gates:
        yield f"  {gate.name}", gate_words(gate, gates.threshold)


def gate_words(gate: GateFigures, threshold: float) -> str:
    """Return the figures of a gate."""
    return (
        f"{accuracy_words(gate.figures, threshold)}; precision {share_words(gate.precision)}; "
        f"recall {share_words(gate.recall)}"
    )


def disclosure_lines(certificate: Certificate) -> list[str]:
    """Return the sentences that have to stand in the publication, each with its proof."""
    lines = []
    for each in certificate.outcome.accepted:
        low, high = each.weights_found or each.weights
        n = max((column.n_models for column in each.proof.columns), default=0) if each.proof else 0
        lines.append(
            f"{each.name}: {each.sentence} (Weight {low:g} to {high:g}. Proven: at its worst and its best for each of "
            f"{n} models no rank changes in any ranking.)"
        )
    return lines


def history_words(run: PastRun) -> str:
    """Return one run in a line: what each part came to."""
    parts = []
    for part, figure in run.parts.items():
        style = "number" if part == "consistency" else "percent"
        shown = "undefined" if figure.value is None else shown_number(figure.value, style)  # type: ignore[arg-type]
        parts.append(f"{'lowest kappa' if part == 'consistency' else part} {shown}")
    verdict = "cleared" if run.cleared else "not cleared"
    return (
        f"Run {run.run} ({run.at}, rubric {run.rubric_version}, {run.judge}): {', '.join(parts)}; {verdict}."
    )


def failed_heading(certificate: Certificate) -> str:
    """Return how many cases failed, and why there may be many although every part passes."""
    failed = certificate.outcome.failed
    differing = sum(case.part == "consistency" for case in failed)
    wrong = len(failed) - differing
    return (
        f"Failed cases: {wrong} wrong answer{'' if wrong == 1 else 's'} in parts 2 to 4; in part 1, "
        f"{differing} score{'' if differing == 1 else 's'} not the same on both looks, which kappa counts"
    )


def failed_words(case: FailedCase, longest: int) -> str:
    """Return a failed case in a sentence, with the judge's words cut to so many characters."""
    where = " ".join(filter(None, (case.source or "/".join(case.cases), case.question_id, case.metric)))
    wanted = "" if case.expected is None else f", right is {show(case.expected)}"
    said = " / ".join(filter(None, case.reasoning))
    cut = said if len(said) <= longest else f"{said[:longest]} ..."
    return f"{where}: {given_words(case)}{wanted}." + (f" {cut}" if cut else "")


def given_words(case: FailedCase) -> str:
    """Return what was given, look by look; the state where nothing was."""
    return " then ".join(
        show(value) if value is not None else state
        for value, state in zip(case.given, case.states, strict=True)
    )
