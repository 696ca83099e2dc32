from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

import pytest

from sheetsync.domain.agreement.intervals import IntervalOptions
from sheetsync.domain.certification.judge_metrics import (
    MISSING,
    UNREADABLE,
    JudgeComparison,
    JudgedDimension,
    compare_judges,
)

POINTS = IntervalOptions("jackknife", resamples=0)


def by_number(*values: int | None) -> dict[str, int]:
    return {f"U{at:03}": value for at, value in enumerate(values) if value is not None}


def compare(
    judge: Mapping[str, int], people: Mapping[str, Mapping[str, int]], n_levels: int = 2
) -> dict[str, JudgeComparison]:
    data = JudgedDimension("Care", "ordinal", tuple(range(n_levels)), {"J": judge}, people)
    return {each.against: each for each in compare_judges([data], POINTS)}


def test_two_levels_by_hand() -> None:
    """30 right yes, 10 missed, 20 wrong yes, 40 right no."""
    truth = by_number(*[1] * 40, *[0] * 60)
    judge = by_number(*[1] * 30, *[0] * 10, *[1] * 20, *[0] * 40)
    found = compare(judge, {"H": truth})["H"].figures
    assert found.precision
    assert found.recall
    assert (found.precision.value, found.recall.value, found.accuracy.value) == (0.6, 0.75, 0.7)
    assert found.f1.value == pytest.approx(2 * 0.6 * 0.75 / 1.35)
    assert found.balanced_accuracy.value == pytest.approx((0.75 + 40 / 60) / 2)
    # Chance 0.4 x 0.5 + 0.6 x 0.5 = 0.5.
    assert found.kappa.value == pytest.approx(0.4)
    assert found.phi.value == pytest.approx((30 * 40 - 10 * 20) / (40 * 60 * 50 * 50) ** 0.5)


def test_a_majority_needs_more_than_half() -> None:
    people = {"A": by_number(1, 1, 0, 1), "B": by_number(1, 0, 0, None), "C": by_number(0, None, 0, None)}
    found = compare(by_number(1, 1, 0, 1), people)
    majority = found["majority"]
    assert (majority.figures.n, majority.n_without_majority) == (2, 1)
    assert list(found) == ["majority", "A", "B", "C"]
    assert found["A"].figures.n == 4


def test_one_person_has_no_majority() -> None:
    assert list(compare(by_number(1, 0), {"A": by_number(1, 0)})) == ["A"]


def test_no_answer_is_a_class_of_its_own_or_the_lowest_level() -> None:
    truth = by_number(1, 1, 0, 0, 1, 0)
    judge = by_number(1, UNREADABLE, 0, MISSING, 1)
    found = compare(judge, {"H": truth})["H"]
    assert (found.n_unreadable, found.n_missing) == (1, 1)
    assert (found.figures.accuracy.count, found.figures.n) == (3, 5)
    assert (found.answered.accuracy.count, found.answered.n) == (3, 3)
    assert (found.as_lowest.accuracy.count, found.as_lowest.n) == (4, 5)
    assert found.figures.phi.reason == "undefined_for_values"
    # Observed 3/5; chance: yes 3/5 x 2/5, no 2/5 x 1/5.
    assert found.figures.kappa.value == pytest.approx((0.6 - 0.32) / (1 - 0.32))


def test_longer_scales_have_no_precision() -> None:
    people = {"A": by_number(0, 1, 2, 2)}
    found = compare(by_number(0, 1, 2, 1), people, 3)["A"].figures
    assert (found.precision, found.f1.reason) == (None, "undefined_for_values")
    assert found.balanced_accuracy.value == pytest.approx((1 + 1 + 0.5) / 3)
    # Observed squared distance 1 in 4.
    rows, columns = (1, 1, 2), (1, 2, 1)
    chance = sum(rows[a] * columns[b] * (a - b) ** 2 for a in range(3) for b in range(3)) / 16
    assert found.kappa_quadratic.value == pytest.approx(1 - 0.25 / chance)


def test_a_judge_that_says_one_thing_is_undefined_not_nought() -> None:
    found = compare(by_number(1, 1, 1, 1), {"A": by_number(1, 0, 1, 1)})["A"].figures
    assert (found.phi.value, found.phi.reason) == (None, "constant_rater")
    assert found.kappa.value == 0.0
    assert found.balanced_accuracy.value == 0.5


@pytest.mark.parametrize(
    ("judge", "published"),
    [
        ("claude3-opus", (0.58, 0.39, 0.83, 0.53, 0.18)),
        ("gpt4", (0.54, 0.36, 0.85, 0.51, 0.10)),
        ("claudev13", (0.53, 0.36, 0.73, 0.48, 0.06)),
        ("claudev21", (0.52, 0.35, 0.86, 0.50, 0.06)),
        ("claudev2", (0.50, 0.34, 0.79, 0.47, -0.00)),
        ("cgpt", (0.49, 0.33, 0.66, 0.44, -0.02)),
        ("gemini-pro", (0.46, 0.32, 0.83, 0.46, -0.12)),
    ],
)
def test_seven_judges_of_published_data(test_data: Path, judge: str, published: tuple[float, ...]) -> None:
    """Chakrabarty et al. (CHI 2024): 672 gates, three experts each; no answer counts as No there."""
    folder = test_data / "data/ttcw-judges"
    people: dict[str, dict[str, int]] = {}
    for row in rows_of(folder / "expert_verdicts.csv"):
        people.setdefault(row["rater"], {})[f"{row['story_id']} {row['test_id']}"] = int(row["pass"])
    given = dict.fromkeys(people_units(people), MISSING) | {
        f"{row['story_id']} {row['test_id']}": int(row["pass"]) if row["pass"] else UNREADABLE
        for row in rows_of(folder / "judge_verdicts.csv")
        if row["rater"] == judge
    }
    (expected,) = [r for r in rows_of(folder / "judge_vs_majority.csv") if r["judge"] == judge]
    found = compare(given, people)["majority"]
    assert found.n_without_majority == 0
    assert found.n_missing == 672 - int(expected["rows"])
    lowest, answered = found.as_lowest, found.answered
    assert (lowest.n, answered.n) == (672, int(expected["answered"]))
    shares = (lowest.balanced_accuracy, lowest.precision, lowest.recall, lowest.f1, lowest.phi)
    values = [each.value if each else None for each in shares]
    assert [round(value or 0.0, 2) for value in values] == list(published)
    columns = ("bal_acc", "precision", "recall", "f1", "phi")
    assert [round(value or 0.0, 4) for value in values] == [float(expected[c]) for c in columns]
    assert round(lowest.kappa.value or 0.0, 4) == float(expected["kappa"])
    assert answered.recall
    assert round(answered.recall.value or 0.0, 4) == float(expected["recall_answered"])
    assert round(answered.kappa.value or 0.0, 4) == float(expected["kappa_answered"])


def people_units(people: Mapping[str, Mapping[str, int]]) -> list[str]:
    return [unit for values in people.values() for unit in values]


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
