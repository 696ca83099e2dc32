"""A certificate: the verdict on a run, what it was made from, and whether it still holds.

It stops to hold when the rubric, the prompts, the judge's command or the cases are no longer those that were judged.
No model is named in it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from sheetsync.domain.certification.assessment import Outcome
from sheetsync.domain.certification.cases import Part, Presentation
from sheetsync.domain.certification.consistency import PartStatus
from sheetsync.domain.certification.judge_metrics import JudgeComparison
from sheetsync.domain.record import Record

SCHEMA = "sheetsync.certificate/1"

RELIABILITY_UNKNOWN = "reliability unknown"
"""How scores are marked that no valid certificate stands behind (S2.19)."""


@dataclass(frozen=True)
class PartFigure(Record):
    """A part in one number: the lowest kappa of part 1, None where one is undefined; elsewhere accuracy."""

    status: PartStatus
    value: float | None


@dataclass(frozen=True)
class PastRun(Record):
    """One judged run, by the bars as they are now.

    Attributes:
        run: its number.
        at: when the judge was done, UTC.
        judge: its name.
        rubric_version: of the rubric that it read.
        rubric: the hash of that rubric.
        cleared: whether all four parts passed.
        parts: each in one number.
    """

    run: int
    at: str
    judge: str
    rubric_version: str
    rubric: str
    cleared: bool
    parts: Mapping[str, PartFigure]


@dataclass(frozen=True)
class Conditions(Record):
    """How the run was carried out (X25)."""

    seed: int
    minimum_gap: int
    gap: int | None
    fresh_session: bool
    source: str
    judgings: int


@dataclass(frozen=True)
class Certificate:
    """The verdict on the newest run that was judged.

    Attributes:
        study: its id.
        latest: that run, as in the history.
        strict: whether lower limits had to reach the bars.
        outcome: the four parts.
        conditions: how the run was carried out.
        hashes: of what was judged, by whom, and by which rubric.
        changed: what is no longer so, in the words of `hashes`.
        waiting: a newer run that is prepared and not judged, or None.
        history: every judged run, oldest first.
        humans: the judge beside people who scored the same responses.
    """

    study: str
    latest: PastRun
    strict: bool
    outcome: Outcome
    conditions: Conditions
    hashes: Mapping[str, str]
    changed: tuple[str, ...]
    waiting: int | None
    history: tuple[PastRun, ...]
    humans: tuple[JudgeComparison, ...] = ()

    @property
    def publication_ready(self) -> bool:
        """Whether scores of this judge may be published: cleared, and nothing changed since."""
        return self.outcome.cleared and not self.changed

    def to_dict(self) -> dict[str, object]:
        """Return the JSON object of `reports/certificate.json`."""
        outcome = self.outcome.to_dict()
        return {
            "schema": SCHEMA,
            "study": self.study,
            "publication_ready": self.publication_ready,
            "cleared": self.outcome.cleared,
            "changed": list(self.changed),
            "run": self.latest.run,
            "waiting": self.waiting,
            "at": self.latest.at,
            "judge": self.latest.judge,
            "rubric_version": self.latest.rubric_version,
            "strict": self.strict,
            "conditions": self.conditions.to_dict(),
            "parts": {part: outcome[part] for part in self.outcome.statuses},
            "disclosures": outcome["disclosures"],
            "fix": outcome["fixes"],
            "failed_cases": outcome["failed"],
            "hashes": dict(self.hashes),
            "history": [run.to_dict() for run in self.history],
            "humans": [each.to_dict() for each in self.humans],
        }


def figures_of(outcome: Outcome) -> dict[str, PartFigure]:
    """Return every part in one number."""
    kappas = [each.kappa.value for each in outcome.consistency.metrics]
    known = [kappa for kappa in kappas if kappa is not None]
    values: dict[Part, float | None] = {
        "consistency": min(known) if known and len(known) == len(kappas) else None,
        "anchors": outcome.anchors.figures.accuracy.value,
        "discrimination": outcome.discrimination.figures.accuracy.value,
        "gates": outcome.gates.figures.accuracy.value,
    }
    return {part: PartFigure(status, values[part]) for part, status in outcome.statuses.items()}


def fingerprints(presentation: Presentation, rubric: str) -> dict[str, str]:
    """Return hashes that two runs share exactly if the same was judged, in whatever order and under whatever ids.

    `prompts` is what the judge is shown, `cases` that together with what is right and where it comes from.

    Args:
        presentation: cases and key.
        rubric: the rubric as JSON.
    """
    shown = {case.id: case.to_dict() | {"id": ""} for case in presentation.cases}
    keyed = [[shown[entry.id], entry.to_dict() | {"id": ""}] for entry in presentation.key]
    return {
        "rubric": hash_of(rubric),
        "prompts": hash_of(*(json.dumps(case, sort_keys=True) for case in shown.values())),
        "cases": hash_of(*(json.dumps(case, sort_keys=True) for case in keyed)),
    }


def hash_of(*texts: str) -> str:
    """Return the SHA-256 of some texts, whatever their order."""
    return hashlib.sha256("\n".join(sorted(texts)).encode()).hexdigest()


def changes(then: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """Return what is no longer so; a key that is known of one side only has changed.

    Cases are named only where they changed by themselves: new prompts are new cases anyway.

    >>> changes({"rubric": "1", "prompts": "2", "cases": "3"}, {"rubric": "1", "prompts": "4", "cases": "5"})
    ('prompts',)
    """
    found = [name for name in dict.fromkeys((*then, *now)) if then.get(name) != now.get(name)]
    if {"cases", "prompts"} <= set(found):
        found.remove("cases")
    if {"prompts", "rubric"} <= set(found):
        found.remove("prompts")
    return tuple(found)


def changed_words(certificate: Certificate) -> str:
    """Return what is no longer as it was judged."""
    return ", the ".join(name.replace("_", " ") for name in certificate.changed)


def why_unknown(certificate: Certificate | None) -> str:
    """Return why scores are of unknown reliability; blank where a valid certificate stands behind them."""
    if certificate is None:
        return "no judge of this study has been certified"
    if not certificate.outcome.cleared:
        failing = [part for part, status in certificate.outcome.statuses.items() if status == "FAIL"]
        return f"the judge is not certified: run {certificate.latest.run} missed {', '.join(failing)}"
    if certificate.changed:
        return (
            f"the certificate of run {certificate.latest.run} holds no longer: since then the "
            f"{changed_words(certificate)} changed"
        )
    return ""
