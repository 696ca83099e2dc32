"""The Python interface: `sheetsync.agreement`, for anybody who has ratings in a DataFrame."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import get_args

import pandas as pd

from sheetsync.api_frames import FrameColumns, FrameRatings, read_frame, text_of
from sheetsync.api_result import AgreementResult
from sheetsync.config_faults import Faults, listed, quoted
from sheetsync.domain.agreement.assessment import Options, assess_agreement
from sheetsync.domain.agreement.intervals import IntervalMethod
from sheetsync.domain.agreement.reliability import DimensionData
from sheetsync.domain.study import LevelValue, MeasurementLevel
from sheetsync.errors import RatingsError
from sheetsync.services.ratings_dimensions import Assembly, Scales
from sheetsync.services.ratings_scale import PYTHON, NotApplicable, Reader, build_scale

__all__ = ["AgreementResult", "RatingsError", "agreement"]

DeclaredScale = Sequence[LevelValue] | Mapping[str, Sequence[LevelValue]]


def agreement(  # noqa: PLR0913 - every option of the command line, by name
    data: pd.DataFrame,
    *,
    unit: Hashable = "unit",
    rater: Hashable = "rater",
    value: Hashable = "value",
    dimension: Hashable | None = "dimension",
    by: Sequence[Hashable] = (),
    wide: bool = False,
    level: MeasurementLevel = "ordinal",
    scale: DeclaredScale | None = None,
    na: Sequence[str] = (),
    interval: IntervalMethod = "bca",
    resamples: int = 10000,
    seed: int = 1,
    within: float = 1,
) -> AgreementResult:
    """Compute how far raters agree, with intervals, per dimension, slice and pair of raters.

    The same as `sheetsync agreement FILE`: a missing value (None, NaN, NA) is no rating, "N/A" is a
    rating without a value, 4.0 is 4, and rows are joined on units and raters, never by position.

    Args:
        data: one row per rating with the columns `unit`, `rater` and `value`; with `wide=True` one row
            per unit (and dimension) and one column per rater.
        unit: the column that says what was rated.
        rater: the column that says who rated; not used for wide data.
        value: the column of ratings; not used for wide data.
        dimension: the column that says on which dimension; None, or no such column: there is one only.
        by: columns to slice by.
        wide: whether every column but `unit`, `dimension` and those of `by` is a rater.
        level: nominal, ordinal, interval or ratio.
        scale: the levels from low to high, of all dimensions or of each by name. Without it, those of an
            ordered categorical; else the observed numbers, sorted. Words need it where they have an order.
        na: further spellings of "not applicable"; a trailing `*` matches any ending.
        interval: bca, percentile or jackknife.
        resamples: how many; 0 for no interval.
        seed: of the resampling.
        within: the distance that counts as agreement for `within`.

    Raises:
        RatingsError: the data or an option is at fault; a ValueError, whose `faults` lists everything.
        TypeError: `data` is no DataFrame.

    >>> frame = pd.DataFrame({"unit": ["a", "a", "b", "b"], "rater": ["Ann", "Ben"] * 2, "value": [1, 2, 3, 3]})
    >>> result = agreement(frame, scale=[1, 2, 3], resamples=0)
    >>> result.to_dict()["dimensions"][0]["coefficients"]["exact"]["value"]
    0.5
    """
    if not isinstance(data, pd.DataFrame):
        raise TypeError(f"data must be a pandas DataFrame, not {type(data).__name__}")
    faults = Faults()
    notes: list[str] = []
    options = Options(interval=interval, resamples=resamples, seed=seed, within=within)
    _check_options(options, level, faults)
    if dimension == "dimension" and dimension not in [*data.columns, *data.index.names]:
        dimension = None
    columns = FrameColumns(unit, rater, value, dimension, by, wide)
    found = None if faults else read_frame(data, columns, nominal=level == "nominal", faults=faults)
    dimensions: list[DimensionData] = []
    if found:
        reader = Reader(level, NotApplicable(na), wording=PYTHON)
        scales = _scales(scale, found, level, faults)
        dimensions = Assembly(found.source, reader, scales, wide).dimensions(found.table, faults, notes)
    if faults:
        n = len(faults)
        raise RatingsError(f"The ratings cannot be used: {n} fault{'s' if n > 1 else ''}.", "", faults)
    return AgreementResult(assess_agreement(dimensions, (), options), options, tuple(notes))


def _check_options(options: Options, level: str, faults: Faults) -> None:
    levels, methods = get_args(MeasurementLevel), get_args(IntervalMethod)
    for name, given, allowed in (("level", level, levels), ("interval", options.interval, methods)):
        if given not in allowed:
            faults.error(name, f"{quoted(given)} is not known; choose {listed(allowed)}")
    for name, number in (("resamples", options.resamples), ("seed", options.seed)):
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            faults.error(name, f"{quoted(number)} is no whole number from 0 on")
    if not 0 <= options.within <= 1e9:
        faults.error("within", f"{quoted(options.within)} is no distance from 0 on")


def _scales(
    declared: DeclaredScale | None, found: FrameRatings, level: MeasurementLevel, faults: Faults
) -> Scales:
    if isinstance(declared, Mapping):
        of_dimension = {
            str(name): build_scale([text_of(each) for each in levels], level, faults, PYTHON)
            for name, levels in declared.items()
        }
        return Scales(None, of_dimension)
    texts = found.categories if declared is None else [text_of(each) for each in declared]
    return Scales(None if texts is None else build_scale(texts, level, faults, PYTHON))
