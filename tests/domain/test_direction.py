"""Agreement on which response of a case is the better one: ties, and two to four raters (X10)."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from sheetsync.domain.validation.direction import (
    TIE,
    CaseDirection,
    DirectionAgreement,
    Pair,
    assess_directions,
    find_directions,
)

X, Y = "x", "y"
RATERS = ("ann", "ben", "cy", "dot")


def said(*answers: str | None) -> CaseDirection:
    """Return a case with the answers of ann, ben ...; None is a rater who cannot be compared."""
    return CaseDirection(("Q", ""), {r: a for r, a in zip(RATERS, answers, strict=False) if a is not None})


def agreed(*cases: CaseDirection) -> DirectionAgreement:
    return assess_directions(cases, 0.7)


@pytest.mark.parametrize(
    ("answers", "unanimous", "ties", "pairwise"),
    [
        ((X, X), 1, 0, 1.0),
        ((X, Y), 0, 0, 0.0),
        ((X, TIE), 0, 0, 0.0),
        ((TIE, TIE), 0, 1, 1.0),
        ((X, X, X), 1, 0, 1.0),
        ((X, X, Y), 0, 0, 1 / 3),
        ((X, X, TIE), 0, 0, 1 / 3),
        ((X, Y, TIE), 0, 0, 0.0),
        ((Y, Y, Y, Y), 1, 0, 1.0),
        ((X, X, X, Y), 0, 0, 1 / 2),
        ((X, X, Y, Y), 0, 0, 1 / 3),
        ((X, X, TIE, TIE), 0, 0, 1 / 3),
        ((Y, None, Y), 1, 0, 1.0),
    ],
)
def test_one_case(answers: Sequence[str | None], unanimous: int, ties: int, pairwise: float) -> None:
    found = agreed(said(*answers))
    assert (found.unanimous.count, found.unanimous.n, found.unanimous_ties) == (unanimous, 1, ties)
    assert found.mean_pairwise == pytest.approx(pairwise)


def test_a_case_with_one_rater_is_not_judged() -> None:
    found = agreed(said(X), said(None, Y), said())
    assert (found.cases, found.unanimous.n, found.unanimous.value) == (3, 0, None)
    assert (found.mean_pairwise, found.needed) == (None, 0)


def test_the_count_needed_is_of_the_cases_that_can_be_judged() -> None:
    found = agreed(*[said(X, X, Y)] * 5, *[said(X, X, X)] * 13, said(X))
    assert (found.unanimous.count, found.unanimous.n, found.needed) == (13, 18, 13)


def test_directions_come_from_models_and_ties_from_equal_totals() -> None:
    pairs = [Pair(("Q1", ""), ("c1", "c2"), ("Alder", "Briar"))]
    totals = {("ann", "c1"): 4.0, ("ann", "c2"): 9.0, ("ben", "c1"): 9.0, ("ben", "c2"): 9.0}
    totals |= {("cy", "c1"): 5.0}
    (case,) = find_directions(pairs, totals, RATERS)
    assert case.by_rater == {"ann": "Briar", "ben": TIE}


# --- real preferences: four raters, fifty cases, sides drawn per rater ---


def preferences(test_data: Path) -> list[Mapping[str, str]]:
    with (test_data / "data/pdpa-ab/preferences.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def cases_of(rows: Sequence[Mapping[str, str]], answer: str) -> list[CaseDirection]:
    by_case: dict[str, dict[str, str]] = {}
    for row in rows:
        by_case.setdefault(row["prompt_id"], {})[row["rater"]] = row[answer]
    return [CaseDirection((case, ""), answers) for case, answers in by_case.items()]


def test_real_preferences_by_system_and_not_by_side(test_data: Path) -> None:
    rows = preferences(test_data)
    by_system = agreed(*cases_of(rows, "preferred"))
    assert by_system.fleiss_kappa.value == pytest.approx(0.1302, abs=5e-5)
    assert by_system.mean_pairwise == pytest.approx(0.507, abs=5e-4)
    # The mistake: sides mean different systems to different raters.
    by_side = agreed(*cases_of(rows, "preferred_cell"))
    assert by_side.fleiss_kappa.value == pytest.approx(-0.0340, abs=5e-5)
    assert by_side.mean_pairwise == pytest.approx(0.390, abs=5e-4)
