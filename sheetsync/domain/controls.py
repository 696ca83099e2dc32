"""Which controls a study applied and which it did not (S0.46): said plainly beside the results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sheetsync.domain.assignment import CodedUnit, DesignReport
from sheetsync.domain.current import CurrentRatings
from sheetsync.domain.divergence import Divergence
from sheetsync.domain.study import Study


@dataclass(frozen=True)
class Control:
    """One control: whether it was applied, and the fact that shows it."""

    name: str
    applied: bool
    fact: str


def list_controls(
    study: Study,
    units: Sequence[CodedUnit],
    current: CurrentRatings,
    design: DesignReport,
    divergences: Sequence[Divergence],
    practice: CurrentRatings,
) -> list[Control]:
    """Return every control with what the study's own data say about it."""
    order = study.design.order
    return [
        Control(
            "Blinded model identity", True, "Sheets hold random codes; the key stays with the coordinator."
        ),
        Control(
            "Randomised order",
            order == "random",
            f"Each rater has an order of their own (seed {study.design.seed})."
            if order == "random"
            else "Every rater scored in the order of the bank.",
        ),
        _double_rating(units, current),
        _third_rater(units, current),
        _calibration(practice),
        _adjudication(study, divergences),
        Control(
            "Connected design",
            design.is_connected,
            "Shared units connect all raters."
            if design.is_connected
            else f"{len(design.islands)} groups of raters share no unit: they cannot be compared.",
        ),
        _human_raters(study),
    ]


def _raters_per_unit(units: Sequence[CodedUnit], current: CurrentRatings) -> list[int]:
    raters: dict[str, set[str]] = {unit.code: set() for unit in units}
    for rating in current.ratings:
        if rating.code in raters:
            raters[rating.code].add(rating.rater)
    return [len(each) for each in raters.values()]


def _double_rating(units: Sequence[CodedUnit], current: CurrentRatings) -> Control:
    twice = sum(count >= 2 for count in _raters_per_unit(units, current))
    return Control(
        "Every response rated twice",
        bool(units) and twice == len(units),
        f"{twice} of {len(units)} responses have ratings of two or more raters.",
    )


def _third_rater(units: Sequence[CodedUnit], current: CurrentRatings) -> Control:
    three = sum(count >= 3 for count in _raters_per_unit(units, current))
    return Control(
        "Third rater",
        bool(units) and three == len(units),
        f"{three} of {len(units)} responses have ratings of three or more raters.",
    )


def _calibration(practice: CurrentRatings) -> Control:
    rated = len({rating.code for rating in practice.ratings})
    raters = len({rating.rater for rating in practice.ratings})
    return Control(
        "Calibration round",
        raters >= 2 and rated > 0,
        f"{rated} practice responses were scored by {raters} raters; they enter no result."
        if rated
        else "No shared practice set was scored before production.",
    )


def _adjudication(study: Study, divergences: Sequence[Divergence]) -> Control:
    scores = [divergence for divergence in divergences if divergence.kind == "score"]
    open_ones = sum(divergence.state == "open" for divergence in divergences)
    settled = sum(divergence.state != "open" for divergence in divergences)
    named = len(study.settings.people.adjudicators)
    return Control(
        "Adjudicated divergences",
        bool(divergences) and not open_ones,
        f"{len(scores)} score divergences, {len(divergences) - len(scores)} on applicability; "
        f"{settled} with a verdict, {open_ones} open; {named} adjudicator{'s' if named != 1 else ''} named.",
    )


def _human_raters(study: Study) -> Control:
    judges = [rater.id for rater in study.raters if rater.kind == "judge"]
    return Control(
        "All ratings by people",
        not judges,
        f"Ratings of judge programs: {', '.join(judges)}." if judges else "No model judges in the roster.",
    )
