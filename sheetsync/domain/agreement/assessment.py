"""Which coefficient for which dimension, slice and pair of raters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sheetsync.domain.agreement import all_raters, rater_pairs
from sheetsync.domain.agreement.coefficients import Coefficient, package_alpha, undefined
from sheetsync.domain.agreement.explanation import ExplanationOptions, explain_agreement
from sheetsync.domain.agreement.further_coefficients import further_coefficients
from sheetsync.domain.agreement.intervals import IntervalMethod, IntervalOptions, estimate, estimate_icc
from sheetsync.domain.agreement.rater_pairs import CrossTable, cross_table_of_positions
from sheetsync.domain.agreement.reliability import (
    Cells,
    DimensionData,
    RatedRows,
    Row,
    TagData,
    find_slices,
    reliability_data,
)
from sheetsync.domain.agreement.report import (
    AgreementReport,
    DimensionAgreement,
    PairAgreement,
    SliceAgreement,
    TagAgreement,
    TagPair,
)
from sheetsync.domain.agreement.statistic import IntArray, Statistic
from sheetsync.domain.agreement.unit_counts import UnitCounts, Weights, count_units
from sheetsync.domain.agreement.verdicts import MIN_PAIRABLE, BandSet, band_of, is_too_few
from sheetsync.domain.cells import show
from sheetsync.domain.study import LevelValue, MeasurementLevel

__all__ = [
    "AgreementReport",
    "DimensionAgreement",
    "DimensionData",
    "Options",
    "PairAgreement",
    "RatedRows",
    "Row",
    "SliceAgreement",
    "TagAgreement",
    "TagData",
    "TagPair",
    "assess_agreement",
    "cross_check_alpha",
]


@dataclass(frozen=True)
class Options:
    """Settings of the analysis; `within` is K, the rest is `[agreement]` of study.toml."""

    bands: BandSet = "landis-koch"
    interval: IntervalMethod = "bca"
    confidence: float = 0.95
    resamples: int = 10000
    seed: int = 1
    within: float = 1
    minimum_units: int = MIN_PAIRABLE

    @property
    def over_raters(self) -> IntervalOptions:
        """How coefficients over all raters get their interval."""
        return self._by(self.interval)

    @property
    def of_pairs(self) -> IntervalOptions:
        """How pairs get theirs: always by jackknife, for twenty raters are already 190 pairs."""
        return self._by("jackknife")

    def _by(self, method: IntervalMethod) -> IntervalOptions:
        return IntervalOptions(method, self.confidence, self.resamples, self.seed, self.minimum_units)


def assess_agreement(
    dimensions: Sequence[DimensionData], tags: Sequence[TagData], options: Options
) -> AgreementReport:
    """Compute every coefficient per dimension, slice and pair of raters, and what explains them."""
    assessed = tuple(_assess_dimension(data, options) for data in dimensions)
    explained = explain_agreement(
        dimensions,
        assessed,
        ExplanationOptions(options.bands, options.within, options.over_raters, options.of_pairs),
    )
    return AgreementReport(assessed, tuple(_assess_tag(data, options) for data in tags), *explained)


def cross_check_alpha(report: AgreementReport, dimensions: Sequence[DimensionData]) -> list[str]:
    """Return the dimensions whose alpha is not what the `krippendorff` package makes of the same data."""
    return [
        data.dimension
        for assessed, data in zip(report.dimensions, dimensions, strict=True)
        if _differ(assessed.coefficients["alpha"].value, _package_alpha(data))
    ]


def _differ(ours: float | None, theirs: float | None) -> bool:
    if ours is None or theirs is None:
        return ours is not theirs
    return abs(ours - theirs) > 1e-9


def _package_alpha(data: DimensionData) -> float | None:
    metric = data.level in {"interval", "ratio"}
    # The package sorts by value, but what counts for ordinal data is the declared order.
    numbers = data.numbers if metric else np.arange(len(data.scale), dtype=float)
    return package_alpha(reliability_data(data.positions, numbers), np.sort(numbers), data.level)


def _everybody(data: DimensionData) -> tuple[IntArray, IntArray]:
    return np.arange(len(data.raters)), np.arange(len(data.units))


def _assess_dimension(data: DimensionData, options: Options) -> DimensionAgreement:
    slices = []
    for by, value, keep in find_slices(data):
        part = data.cells.where(keep)
        here = np.unique(part.raters), np.unique(part.units)
        slices.append(SliceAgreement(by, value, _assess_cells(data, part, *here, options)))
    return _assess_cells(data, data.cells, *_everybody(data), options, tuple(slices))


def _assess_cells(
    data: DimensionData,
    cells: Cells,
    raters: IntArray,
    units: IntArray,
    options: Options,
    slices: tuple[SliceAgreement, ...] = (),
) -> DimensionAgreement:
    """Assess all rows of a dimension or those of one slice, by the raters and units given."""
    positions = cells.positions(raters, units)
    assigned = positions.size if data.full_grid else len(cells)
    n_ratings = len(cells.rated)
    pairs = _assess_pairs(data, positions, [data.raters[at] for at in raters], options)
    coefficients = _assess_raters(data, positions, pairs, options)
    n_pairable = int(((positions >= 0).sum(axis=0) >= 2).sum())
    return DimensionAgreement(
        data.dimension,
        data.level,
        data.scale,
        band=band_of(coefficients["alpha"].value, options.bands),
        n_units=len(units),
        n_pairable=n_pairable,
        n_raters=len(raters),
        n_ratings=n_ratings,
        n_missing=assigned - n_ratings - cells.n_not_applicable - cells.n_invalid,
        n_not_applicable=cells.n_not_applicable,
        n_invalid=cells.n_invalid,
        coefficients=coefficients,
        distribution=_distribution(data.scale, cells),
        pairs=pairs,
        slices=slices,
        too_few=is_too_few(n_pairable, options.minimum_units),
    )


def _distribution(scale: Sequence[LevelValue], cells: Cells) -> dict[str, int]:
    counts = np.bincount(cells.rated.codes, minlength=len(scale))
    return {show(level): int(count) for level, count in zip(scale, counts, strict=True)}


def _assess_raters(
    data: DimensionData, positions: IntArray, pairs: Sequence[PairAgreement], options: Options
) -> dict[str, Coefficient]:
    """Every coefficient over all raters, in the order of the report."""
    matrix = reliability_data(positions, data.numbers)
    units = count_units(matrix, data.numbers)
    found = estimate(_statistics(units, data.level, options), options.over_raters)
    correlations = [pair.spearman for pair in pairs]
    found |= further_coefficients(positions, units, data.level, correlations, options.over_raters)
    if data.level == "nominal":
        found |= {
            "icc": undefined("undefined_for_values"),
            "within": undefined("undefined_for_values", options.within),
            "within_all": undefined("undefined_for_values", options.within),
            "mean_abs_difference": undefined("undefined_for_values"),
        }
    else:
        found["icc"] = estimate_icc(matrix, options.over_raters)
    order = (
        "alpha", "ac", "brennan_prediger", "fleiss_kappa", "icc", "exact", "within", "mean_abs_difference",
        "conger_kappa", "mean_spearman", "mean_spearman_z", "within_all",
        "observed_disagreement", "expected_disagreement",
    )  # fmt: skip
    return {name: found[name] for name in order}


def _statistics(units: UnitCounts, level: MeasurementLevel, options: Options) -> dict[str, Statistic]:
    weights: Weights = "identity" if level == "nominal" else "quadratic"
    statistics = {
        "alpha": all_raters.alpha(units, level),
        "ac": all_raters.gwet_ac(units, weights),
        "brennan_prediger": all_raters.brennan_prediger(units, weights),
        "fleiss_kappa": all_raters.fleiss_kappa(units, "identity"),
        "exact": all_raters.exact(units),
    }
    if level == "nominal":
        return statistics
    return statistics | {
        "within": all_raters.within(units, options.within),
        "within_all": all_raters.within_all(units, options.within),
        "mean_abs_difference": all_raters.mean_abs_difference(units),
    }


_PAIR_STATISTICS: Mapping[str, Callable[[CrossTable], Statistic]] = {
    "kappa": lambda table: rater_pairs.cohen_kappa(table, "none"),
    "kappa_linear": lambda table: rater_pairs.cohen_kappa(table, "linear"),
    "kappa_quadratic": lambda table: rater_pairs.cohen_kappa(table, "quadratic"),
    "spearman": rater_pairs.spearman,
    "exact": rater_pairs.exact,
    "mean_difference": rater_pairs.mean_difference,
}


def _assess_pairs(
    data: DimensionData, positions: IntArray, raters: Sequence[str], options: Options
) -> tuple[PairAgreement, ...]:
    return tuple(
        _assess_pair(
            (raters[a], raters[b]),
            cross_table_of_positions(positions[a], positions[b], data.numbers),
            data.level,
            options,
        )
        for a, b in combinations(range(len(raters)), 2)
    )


def _assess_pair(
    raters: tuple[str, str], table: CrossTable, level: MeasurementLevel, options: Options
) -> PairAgreement:
    wanted = ("kappa", "exact") if level == "nominal" else tuple(_PAIR_STATISTICS)
    found = estimate({name: _PAIR_STATISTICS[name](table) for name in wanted}, options.of_pairs)
    none = undefined("undefined_for_values")
    return PairAgreement(raters, table.n_units, **{name: found.get(name, none) for name in _PAIR_STATISTICS})


def _assess_tag(data: TagData, options: Options) -> TagAgreement:
    ticked = {rater: sum(yes for (by, _), yes in data.values.items() if by == rater) for rater in data.raters}
    units = sorted({unit for _, unit in data.values})
    answers = {
        rater: np.array([data.values.get((rater, unit), -1) for unit in units], dtype=np.int64)
        for rater in data.raters
    }
    pairs = []
    for raters in combinations(data.raters, 2):
        table = cross_table_of_positions(answers[raters[0]], answers[raters[1]], np.arange(2.0))
        statistics = {name: _PAIR_STATISTICS[name](table) for name in ("kappa", "exact")}
        pairs.append(TagPair(raters, table.n_units, **estimate(statistics, options.of_pairs)))
    return TagAgreement(data.tag, data.of, ticked, tuple(pairs))
