"""Results: one final value per unit and dimension, and what they add up to per model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from sheetsync.domain.assignment import CodedUnit
from sheetsync.domain.cells import show
from sheetsync.domain.current import CurrentRatings
from sheetsync.domain.divergence import Divergence, FinalValue, final_value
from sheetsync.domain.study import NOT_APPLICABLE, Rubric

FINAL_SOURCES = ("unanimous", "majority", "mean", "verdict", "unresolved")


@dataclass(frozen=True)
class UnitResult:
    """The final values of one unit by dimension id."""

    unit: CodedUnit
    finals: Mapping[str, FinalValue]


@dataclass(frozen=True)
class GroupSummary:
    """What the final values of a group of units (a model, or a model within a slice) add up to.

    `distribution` counts units per declared level from original and adjudicated values alike; a mean
    between two levels is counted under neither. `sources` counts where the values come from.
    """

    group: str
    dimension: str
    n: int
    mean: float | None
    median: float | None
    distribution: Mapping[str, int]
    sources: Mapping[str, int]
    n_not_applicable: int


@dataclass(frozen=True)
class TagCount:
    """How often a tag was ticked in a group: ticks by all raters, and units ticked by at least one."""

    group: str
    tag: str
    ticks: int
    units: int
    n_rated: int


def unit_results(
    units: Sequence[CodedUnit],
    current: CurrentRatings,
    rubric: Rubric,
    divergences: Sequence[Divergence],
) -> list[UnitResult]:
    """Return the final values of every unit, in the order of `units`."""
    listed: dict[tuple[str, str], list[Divergence]] = {}
    for divergence in divergences:
        listed.setdefault((divergence.code, divergence.dimension), []).append(divergence)
    values: dict[tuple[str, str], list[int | float | str]] = {}
    for rating in current.ratings:
        values.setdefault((rating.code, rating.dimension), []).append(rating.value)
    return [
        UnitResult(
            unit,
            {
                dimension.id: final_value(
                    values.get((unit.code, dimension.id), ()),
                    dimension,
                    listed.get((unit.code, dimension.id), ()),
                )
                for dimension in rubric.dimensions
            },
        )
        for unit in units
    ]


def summarise_groups(
    results: Sequence[UnitResult], groups: Mapping[str, str], rubric: Rubric
) -> list[GroupSummary]:
    """Return one summary per group and dimension; `groups` maps a code to the name of its group."""
    names = list(dict.fromkeys(groups[r.unit.code] for r in results if r.unit.code in groups))
    return [
        _summarise(name, [r for r in results if groups.get(r.unit.code) == name], dimension_index, rubric)
        for name in names
        for dimension_index in range(len(rubric.dimensions))
    ]


def _summarise(name: str, results: Sequence[UnitResult], index: int, rubric: Rubric) -> GroupSummary:
    dimension = rubric.dimensions[index]
    finals = [result.finals[dimension.id] for result in results]
    numbers = [final.number for final in finals if final.number is not None]
    return GroupSummary(
        group=name,
        dimension=dimension.id,
        n=sum(final.value not in (None, NOT_APPLICABLE) for final in finals),
        mean=fmean(numbers) if numbers else None,
        median=median(numbers) if numbers else None,
        distribution={show(level): sum(f.value == level for f in finals) for level in dimension.scale},
        sources={source: sum(f.source == source for f in finals) for source in FINAL_SOURCES},
        n_not_applicable=sum(final.value == NOT_APPLICABLE for final in finals),
    )


def count_tags(units: Sequence[CodedUnit], current: CurrentRatings, rubric: Rubric) -> list[TagCount]:
    """Return how often each tag was ticked, per model."""
    tags = [tag.id for tag in rubric.tags] + [tag.id for d in rubric.dimensions for tag in d.tags]
    counts = []
    for model in dict.fromkeys(unit.model for unit in units):
        codes = {unit.code for unit in units if unit.model == model}
        rows = [(code, ticked) for (_, code), ticked in current.ticks.items() if code in codes]
        for tag in tags:
            ticked_codes = [code for code, ticked in rows if tag in ticked]
            counts.append(TagCount(model, tag, len(ticked_codes), len(set(ticked_codes)), len(rows)))
    return counts
