"""What is worth a look in how raters work, in neutral words."""

from __future__ import annotations

from collections.abc import Iterator

from sheetsync.domain.cells import show
from sheetsync.domain.habits.blocks import Block
from sheetsync.domain.habits.habits import RaterHabits
from sheetsync.domain.habits.sheets import RowValues, Run
from sheetsync.domain.study import LevelValue, Rubric

WORTH_A_LOOK = "worth a look"


def shown_values(values: RowValues) -> str:
    """Return the values of a row as people read them.

    >>> shown_values((5, 4, "N/A"))
    '5, 4, N/A'
    """
    return ", ".join(show(value) if isinstance(value, int | float | str) else str(value) for value in values)


def what_repeats(run: Run, rubric: Rubric) -> str:
    """Return what a run is a run of: whole rows, or the values of one dimension."""
    if run.dimension is None or len(rubric.dimensions) == 1:
        return "whole rows"
    return rubric.dimensions[run.dimension].name


def rare_sheets(habits: RaterHabits, rubric: Rubric) -> Iterator[str]:
    """Yield a sentence for equal sheets, long runs, repeated blocks and single levels that are rare (F35).

    Severity and drift are left to the report: people differ, and that is what agreement measures.
    """
    for pair in habits.equal:
        if habits.is_rare(pair):
            yield (
                f"{pair.raters[0]} and {pair.raters[1]} have the same values in all {pair.n} rows that both "
                "filled in."
            )
    for run in habits.runs:
        if habits.is_rare(run):
            yield (
                f"{run.rater} {run.batch}: {run.length} rows in a row hold {shown_values(run.repeated)} "
                f"({what_repeats(run, rubric)}, rows {run.first} to {run.last} as issued, n = {run.n}); in "
                f"random order the longest such run would be about {run.usual}."
            )
    for block in habits.blocks:
        if habits.is_rare(block):
            yield block_words(block)
    for use in habits.scale_use:
        if habits.is_rare(use):
            yield (
                f"{use.rater} gives {_level(use.most_used)} throughout on {rubric.by_id[use.dimension].name} "
                f"(n = {use.n}); the other raters give it to {use.others_share or 0:.0%} of the same responses."
            )


def block_words(block: Block) -> str:
    """Return where a block stands twice."""
    (first, second), (one, two) = block.raters, block.batches
    length = block.length
    places = [f"{start} to {start + length - 1}" for start in block.starts]
    if (first, one) == (second, two):
        where = f"{first} {one}: rows {places[0]} hold the same values as rows {places[1]}"
    else:
        where = f"{first} {one} rows {places[0]} hold the same values as {second} {two} rows {places[1]}"
    return f"{where}, on other responses ({length} rows as issued, n = {block.n[0]} and {block.n[1]})."


def _level(value: LevelValue | None) -> str:
    return "" if value is None else show(value)
