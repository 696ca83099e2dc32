"""Checks across what raters are told: time budget, self-check, resources, sides."""

from __future__ import annotations

from sheetsync.config_faults import Faults
from sheetsync.config_records import Document
from sheetsync.domain.protocols import SelfCheck, TimeBudget
from sheetsync.domain.scoring.self_check import middle_total, total_column
from sheetsync.domain.study import About, Design, Rubric


def check_guidance(document: Document, rubric: Rubric | None, faults: Faults) -> None:
    """Check the sections of `study.toml` that only raters read, and `[design] sides`."""
    time = document.section("time", TimeBudget)
    for key, minutes in time.model_dump().items() if time else ():
        if minutes and minutes[0] > minutes[1]:
            faults.error(
                document.place(("time", key)),
                f"goes from {minutes[0]} to {minutes[1]} minutes; write the smaller number first",
            )
    about = document.section("study", About)
    for number, resource in enumerate(about.resources if about else (), 1):
        for key in ("title", "address"):
            if not getattr(resource, key):
                faults.error(
                    f"{document.place(('study', 'resources'))} {number} {key}",
                    "is blank; write it, or delete the entry",
                )
    design = document.section("design", Design)
    if design and design.sides == "rater" and design.layout != "pairs":
        faults.error(
            document.place(("design", "sides")),
            'found "rater", but only pairs have sides; set layout = "pairs", or delete the line',
        )
    _check_totals(document, rubric, faults)


def _check_totals(document: Document, rubric: Rubric | None, faults: Faults) -> None:
    settings = document.section("self_check", SelfCheck)
    wanted = settings.typical_total if settings else None
    if wanted is None:
        return
    where = document.place(("self_check", "typical_total"))
    if isinstance(wanted, tuple) and wanted[0] > wanted[1]:
        faults.error(where, f"goes from {wanted[0]} to {wanted[1]}; write the smaller total first")
    if rubric is None:
        return
    if total_column(rubric) is None:
        faults.error(
            where, "asks for totals, but no rule of the rubric adds up a column; add one, or delete the line"
        )
    elif wanted == "literal" and middle_total(rubric) is None:
        faults.error(
            where, 'found "literal", but the scores of the total are words, so its scale has no middle'
        )
