"""Final values per unit, and what they add up to per group."""

from __future__ import annotations

from sheetsync.domain.assignment import CodedUnit
from sheetsync.domain.current import CurrentRatings
from sheetsync.domain.divergence import Verdict, find_divergences
from sheetsync.domain.ratings import Rating
from sheetsync.domain.results import TagCount, UnitResult, count_tags, summarise_groups, unit_results
from sheetsync.domain.study import DivergenceSettings, LevelValue
from tests.builders import make_rubric

RUBRIC = make_rubric()
UNITS = [CodedUnit(f"u{n}", f"Q{n}", "Macrina", "Alder" if n < 6 else "Briar") for n in range(1, 8)]
VALUES: dict[str, tuple[LevelValue, ...]] = {
    "u1": (5, 5),  # unanimous
    "u2": (4, 5),  # mean
    "u3": (5, 2),  # open
    "u4": (5, 1),  # verdict 3
    "u5": ("N/A", "N/A"),
    "u6": (4, 4, 3),  # majority
}


def current() -> CurrentRatings:
    ratings = tuple(
        Rating(rater, "main", "production", code, "accuracy", value)
        for code, values in VALUES.items()
        for rater, value in zip(("ann", "ben", "cy"), values, strict=False)
    )
    ticks = {
        ("ann", "u1"): frozenset({"evasion", "hallucination"}),
        ("ben", "u1"): frozenset({"evasion"}),
        ("ann", "u6"): frozenset[str](),
        ("ann", "elsewhere"): frozenset({"evasion"}),
    }
    return CurrentRatings(ratings, ticks)


def results() -> list[UnitResult]:
    verdict = Verdict("u4", "accuracy", "score", 3, basis={"ann": 5, "ben": 1})
    found = find_divergences(current(), RUBRIC, DivergenceSettings(), [verdict], {})
    return unit_results(UNITS, current(), RUBRIC, found)


def test_every_unit_in_order_with_its_source() -> None:
    finals = [result.finals["accuracy"] for result in results()]
    assert [(final.value, final.source) for final in finals] == [
        (5, "unanimous"),
        (4.5, "mean"),
        (None, "unresolved"),
        (3, "verdict"),
        ("N/A", "unanimous"),
        (4, "majority"),
        (None, ""),
    ]
    assert {result.finals["coverage"].source for result in results()} == {""}


def test_groups() -> None:
    groups = {unit.code: unit.model for unit in UNITS}
    summaries = summarise_groups(results(), groups, RUBRIC)
    assert [(s.group, s.dimension) for s in summaries] == [
        *(("Alder", "accuracy"), ("Alder", "coverage")),
        *(("Briar", "accuracy"), ("Briar", "coverage")),
    ]
    alder = summaries[0]
    assert (alder.n, alder.mean, alder.median, alder.n_not_applicable) == (3, 12.5 / 3, 4.5, 1)
    assert alder.distribution == {"1": 0, "2": 0, "3": 1, "4": 0, "5": 1}
    assert alder.sources == {"unanimous": 2, "majority": 0, "mean": 1, "verdict": 1, "unresolved": 1}
    nobody = summaries[3]
    assert (nobody.n, nobody.mean, nobody.median) == (0, None, None)


def test_units_without_a_group_are_left_out() -> None:
    assert {s.group for s in summarise_groups(results(), {"u6": "Briar"}, RUBRIC)} == {"Briar"}


def test_tags_per_model() -> None:
    counts = {(count.group, count.tag): count for count in count_tags(UNITS, current(), RUBRIC)}
    assert counts["Alder", "evasion"] == TagCount("Alder", "evasion", 2, 1, 2)
    assert counts["Alder", "hallucination"] == TagCount("Alder", "hallucination", 1, 1, 2)
    assert counts["Briar", "evasion"] == TagCount("Briar", "evasion", 0, 0, 1)
