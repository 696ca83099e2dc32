"""How raters work: figures by hand, planted habits that are seen, and honest raters that are left alone."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from sheetsync.domain.assignment import Batch
from sheetsync.domain.current import CurrentRatings
from sheetsync.domain.habits.habits import RaterHabits, ScaleUse, describe_habits
from sheetsync.domain.habits.pace import FirstScores, describe_pace
from sheetsync.domain.habits.severity import Severity
from sheetsync.domain.habits.words import rare_sheets
from sheetsync.domain.ratings import Rating
from sheetsync.domain.simulate import FIRST_ROUND, SimulatedUnit, simulate_ratings
from sheetsync.domain.study import LevelValue, Rubric
from tests.builders import make_ratings, make_rubric

LEVELS = [{"value": value} for value in range(1, 6)]


def rubric_of(*names: str, level: str = "ordinal") -> Rubric:
    dimensions = [{"id": name, "name": name.capitalize(), "level": level, "levels": LEVELS} for name in names]
    return make_rubric(dimension=dimensions, tag=[], rule=[], remark=[])


FOUR = rubric_of("accuracy", "coverage", "framing", "quality")
ONE = rubric_of("coverage")


def habits_of(*lines: str, rubric: Rubric = ONE) -> RaterHabits:
    """Return the habits of raters written as `"ann: 4 3 -"` on one dimension, all in the same order."""
    ratings = make_ratings(*lines, dimension="coverage")
    raters = [line.partition(":")[0] for line in lines]
    n = max(len(line.partition(":")[2].split()) for line in lines)
    codes = tuple(f"u{at}" for at in range(1, n + 1))
    batches = [Batch(rater, "main", "production", codes) for rater in raters]
    return describe_habits(rubric, raters, batches, CurrentRatings(tuple(ratings)))


def severity(found: RaterHabits, rater: str) -> Severity:
    return next(each for each in found.severity if each.rater == rater)


# --- figures ---


def test_severity_is_the_mean_distance_from_the_others() -> None:
    found = habits_of("ann: 4 3 5 - na", "ben: 5 3 4 2 4", "cy: 5 5 - 2 1")
    ann = severity(found, "ann")
    # 4 - 5, 3 - 4, 5 - 4
    assert ann.n == 3
    assert ann.difference.value == pytest.approx(-1 / 3)
    assert ann.difference.interval_reason == "too_few_units"
    assert ann.drift.reason == "too_few_units"
    # 5 - 4.5, 3 - 4, 4 - 5, 2 - 2, 4 - 1
    assert severity(found, "ben").n == 5
    assert severity(found, "ben").difference.value == pytest.approx(0.3)


def test_intervals_and_drift_are_those_of_scipy() -> None:
    rng = random.Random(4)
    ann = [rng.randint(1, 5) for _ in range(40)]
    ben = [rng.randint(1, 5) for _ in range(40)]
    found = severity(habits_of(f"ann: {' '.join(map(str, ann))}", f"ben: {' '.join(map(str, ben))}"), "ann")
    off = np.array(ann) - np.array(ben)
    limits = stats.ttest_1samp(off, 0).confidence_interval(1 - 0.05 / 2)  # two raters, one dimension
    assert found.difference.low == pytest.approx(limits.low)
    assert found.difference.high == pytest.approx(limits.high)
    line = stats.linregress(range(40), off)
    reach = stats.t.ppf(1 - 0.05 / 4, 38) * line.stderr
    assert found.drift.value == pytest.approx(line.slope * 39)
    assert found.drift.low == pytest.approx((line.slope - reach) * 39)
    assert found.drift.high == pytest.approx((line.slope + reach) * 39)


def test_one_rater_has_nobody_to_be_compared_with() -> None:
    found = habits_of("ann: 4 3 5")
    assert (severity(found, "ann").n, severity(found, "ann").difference.reason) == (0, "no_common_units")
    assert found.equal == ()
    assert found.scale_use[0].others_share is None
    assert list(rare_sheets(found, ONE)) == []


def test_nominal_levels_have_no_severity() -> None:
    found = habits_of("ann: 4 3 5", "ben: 4 4 4", rubric=rubric_of("coverage", level="nominal"))
    assert severity(found, "ann").difference.reason == "undefined_for_values"


def test_use_of_the_scale() -> None:
    found = habits_of("ann: 5 5 4 5 na", "ben: 5 4 4 - 5")
    ann = found.scale_use[0]
    assert (ann.n, ann.levels_used, ann.most_used, ann.share) == (4, 2, 5, 0.75)
    assert dict(ann.distribution) == {1: 0, 2: 0, 3: 0, 4: 1, 5: 3}
    assert ann.others_share == pytest.approx(1 / 3)
    nobody = describe_habits(ONE, ["ann"], [], CurrentRatings()).scale_use[0]
    assert (nobody.n, nobody.most_used, nobody.share) == (0, None, None)


def test_a_rating_counts_in_the_workbook_where_it_stands() -> None:
    ratings = [
        Rating("ann", "main", "production", "u1", "coverage", 5),
        Rating("ann", "rescore-1", "rescore", "u2", "coverage", 5),
        Rating("ann", "main", "production", "u3", "coverage", 5),
    ]
    batch = Batch("ann", "main", "production", ("u1", "u2", "u3"))
    (run,) = describe_habits(ONE, ["ann"], [batch], CurrentRatings(tuple(ratings))).runs
    assert (run.n, run.length, run.first, run.last) == (2, 2, 1, 3)


def test_pace_is_the_fastest_stretch_between_pulls() -> None:
    day = "2026-07-0{}T02:00:00Z"
    found = describe_pace(
        [
            FirstScores("ann", "main", day.format(1), day.format(2), 12),
            FirstScores("ann", "main", day.format(2), "2026-07-02T04:00:00Z", 20),
            FirstScores("ben", "main", day.format(1), "2026-07-01T02:01:00Z", 6),  # a minute says nothing
            FirstScores("cy", "main", None, day.format(1), 3),
        ]
    )
    ann, ben, cy = found
    assert (ann.n_rows, ann.n_stretches, ann.rows, ann.hours, ann.per_hour) == (32, 2, 20, 2.0, 10.0)
    assert (ben.n_rows, ben.rows, ben.per_hour) == (6, None, None)
    assert (cy.n_rows, cy.hours) == (3, None)


# --- simulated raters ---

Table = dict[str, dict[str, list[LevelValue]]]
"""Per rater and code a value per dimension."""


def simulated(
    seed: int, raters: Sequence[str] = ("A1", "A2", "A3"), n: int = 105
) -> tuple[Table, list[Batch]]:
    """Return honest raters as the demonstration has them, equally severe, each in an order of their own."""
    units = [SimulatedUnit(f"u{at}", source=f"M{at % 6}") for at in range(n)]
    profile = replace(FIRST_ROUND, severity=0.0, slips=0, draws=1)
    rows = simulate_ratings(FOUR, units, raters, seed, profile)
    table: Table = {}
    for rater, by_code in rows.items():
        table[rater] = {}
        for code, row in by_code.items():
            values = [row["score", dimension.id] for dimension in FOUR.dimensions]
            table[rater][code] = [value for value in values if not isinstance(value, bool)]
    batches = []
    for rater in raters:
        codes = [unit.code for unit in units]
        random.Random(f"{seed} {rater}").shuffle(codes)
        batches.append(Batch(rater, "main", "production", tuple(codes)))
    return table, batches


def describe(table: Table, batches: Sequence[Batch]) -> RaterHabits:
    ratings = tuple(
        Rating(rater, "main", "production", code, dimension.id, value)
        for rater, by_code in table.items()
        for code, values in by_code.items()
        for dimension, value in zip(FOUR.dimensions, values, strict=True)
    )
    return describe_habits(FOUR, list(table), batches, CurrentRatings(ratings))


def marks(found: RaterHabits) -> dict[str, int]:
    """Return how many facts of each kind are worth a look."""
    return {
        "severity": sum(found.is_rare(each) for each in found.severity),
        "drift": sum(found.drifts(each) for each in found.severity),
        "scale": sum(found.is_rare(each) for each in found.scale_use),
        "runs": sum(found.is_rare(each) for each in found.runs),
        "blocks": sum(found.is_rare(each) for each in found.blocks),
        "equal": sum(found.is_rare(each) for each in found.equal),
    }


def test_honest_raters_are_mostly_left_alone() -> None:
    """Over 40 studies each kind of mark stays rare; 5 % are meant, and 6 of 40 would be a fault at 1 %."""
    seen = {"severity": 0, "drift": 0, "scale": 0, "runs": 0, "blocks": 0, "equal": 0}
    for seed in range(40):
        for kind, count in marks(describe(*simulated(seed, n=70))).items():
            seen[kind] += count > 0
    assert max(seen.values()) <= 6
    assert seen["equal"] == seen["scale"] == 0


def overwrite(table: Table, batch: Batch, first: int, rows: Sequence[Sequence[LevelValue]]) -> None:
    """Put rows into a rater's sheet from a row on (counted from 0)."""
    for code, row in zip(batch.codes[first:], rows, strict=False):
        table[batch.rater][code] = list(row)


def in_order(table: Table, batch: Batch) -> list[list[LevelValue]]:
    return [table[batch.rater][code] for code in batch.codes]


@pytest.mark.parametrize("seed", range(5))
def test_a_long_run_of_equal_rows_is_seen(seed: int) -> None:
    table, batches = simulated(seed)
    overwrite(table, batches[1], 60, [[4, 4, 4, 4]] * 15)
    found = describe(table, batches)
    rare = [run for run in found.runs if found.is_rare(run) and run.dimension is None]
    assert [(run.rater, run.first <= 61, run.last >= 75) for run in rare] == [("A2", True, True)]
    assert any(
        "A2 main: 15 rows in a row hold 4, 4, 4, 4" in words for words in rare_sheets(found, FOUR)
    ) or (rare[0].length > 15)


@pytest.mark.parametrize("seed", range(5))
def test_a_block_pasted_from_another_sheet_is_seen(seed: int) -> None:
    table, batches = simulated(seed)
    overwrite(table, batches[2], 40, in_order(table, batches[0])[10:35])
    found = describe(table, batches)
    (block,) = [block for block in found.blocks if found.is_rare(block)]
    assert block.raters == ("A1", "A3")
    # Rows on the same response are agreement, and cut the block where they fall into it.
    assert block.length >= 8
    assert block.starts[0] <= 35 < block.starts[0] + block.length + 25
    assert block.starts[1] - block.starts[0] == 30
    (words,) = rare_sheets(found, FOUR)
    assert words.startswith("A1 main rows ")
    assert "hold the same values as A3 main rows" in words


@pytest.mark.parametrize("seed", range(5))
def test_a_block_repeated_within_a_sheet_is_seen(seed: int) -> None:
    table, batches = simulated(seed)
    overwrite(table, batches[0], 70, in_order(table, batches[0])[20:40])
    found = describe(table, batches)
    (block,) = [block for block in found.blocks if found.is_rare(block)]
    assert (block.raters, block.batches) == (("A1", "A1"), ("main", "main"))
    assert block.length >= 20
    assert block.starts[1] - block.starts[0] == 50


def test_equal_sheets_are_seen() -> None:
    table, batches = simulated(1)
    table["A2"] = {code: list(row) for code, row in table["A1"].items()}
    found = describe(table, batches)
    rare = [pair for pair in found.equal if found.is_rare(pair)]
    assert [(pair.raters, pair.n, pair.equal) for pair in rare] == [(("A1", "A2"), 105, 105)]
    assert next(rare_sheets(found, FOUR)) == (
        "A1 and A2 have the same values in all 105 rows that both filled in."
    )


def test_one_level_throughout_is_seen() -> None:
    table, batches = simulated(1)
    for row in table["A3"].values():
        row[1] = 4
    found = describe(table, batches)
    rare: list[ScaleUse] = [use for use in found.scale_use if found.is_rare(use)]
    assert [(use.rater, use.dimension, use.most_used) for use in rare] == [("A3", "coverage", 4)]


@pytest.mark.parametrize("seed", range(3))
def test_severity_and_drift_are_seen(seed: int) -> None:
    table, batches = simulated(seed, n=210)
    for row in table["A1"].values():
        row[0] = max(1, int(row[0]) - 1) if row[0] != "N/A" else row[0]
    for at, code in enumerate(batches[1].codes):
        value = table["A2"][code][1]
        if value != "N/A" and at > 105:
            table["A2"][code][1] = max(1, int(value) - 2)
    found = describe(table, batches)
    severe = [each for each in found.severity if found.is_rare(each) and each.dimension == "accuracy"]
    assert severe[0].rater == "A1"
    assert severe[0].difference.value is not None
    assert severe[0].difference.value < -0.5
    drifting = [each for each in found.severity if found.drifts(each)]
    assert [(each.rater, each.dimension) for each in drifting] == [("A2", "coverage")]
    assert drifting[0].drift.value is not None
    assert drifting[0].drift.value < -1


def test_words_accuse_nobody() -> None:
    table, batches = simulated(2)
    overwrite(table, batches[1], 60, [[4, 4, 4, 4]] * 20)
    overwrite(table, batches[2], 40, in_order(table, batches[0])[10:35])
    words = " ".join(rare_sheets(describe(table, batches), FOUR)).casefold()
    assert words
    for judgement in (
        "cheat",
        "copied",
        "pasted",
        "lazy",
        "careless",
        "suspicious",
        "fraud",
        "fault",
        "wrong",
    ):
        assert judgement not in words
