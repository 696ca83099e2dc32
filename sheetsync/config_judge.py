"""`[judge]` and the order of its cases: what can be said before any file of the certification is read, or after all."""

from __future__ import annotations

from sheetsync.config_faults import Faults
from sheetsync.config_records import Document
from sheetsync.domain.certification.material import CertificationMaterial
from sheetsync.domain.certification.presentation import gap_fault
from sheetsync.domain.protocols import Certification, Judge
from sheetsync.domain.study import About


def check_judge(document: Document, faults: Faults) -> None:
    """Check `[judge]` and `[certification]` against the study's policy."""
    about = document.section("study", About)
    if about and about.judge_policy == "forbidden":
        for key in ("judge", "certification"):
            if key in document.data:
                faults.error(
                    document.place((key,)),
                    'is here but [study] judge_policy is "forbidden": all scoring is human, and no rating of a judge '
                    'is taken; delete the section, or set judge_policy = "certify"',
                )
    judge = document.section("judge", Judge)
    if judge and judge.command and judge.verdicts:
        faults.error(
            document.place(("judge", "verdicts")),
            "is here beside a command; verdicts come from one of them: delete the other",
        )
    if judge and judge.command and not judge.command[0].strip():
        faults.error(document.place(("judge", "command")), "begins with a blank; name the program first")


def check_gap(
    document: Document, material: CertificationMaterial | None, responses: int, faults: Faults
) -> None:
    """Check that there are enough cases for the distance between two looks at one response."""
    settings = document.section("certification", Certification)
    fault = gap_fault(settings, material, responses) if settings and material and responses else None
    if fault:
        faults.error(document.place(("certification", "minimum_gap")), fault)
