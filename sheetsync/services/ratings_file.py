"""A file with ratings (`unit,rater,value[,dimension][,slices]`) -> what was rated, for `agreement FILE`.

Everything is read as text: empty is a blank, "NA" is a rating without a value, and nothing else is
ever taken for missing. All faults are reported at once, each with its line, row or cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sheetsync.config_faults import Faults
from sheetsync.domain.agreement.reliability import DimensionData
from sheetsync.domain.cells import normalise
from sheetsync.domain.study import MeasurementLevel
from sheetsync.errors import StudyError
from sheetsync.services.ratings_columns import DIMENSION, LONG, find_columns, gather_ratings
from sheetsync.services.ratings_dimensions import Assembly, Scales
from sheetsync.services.ratings_scale import COMMAND_LINE, NotApplicable, Reader, parse_scale
from sheetsync.services.ratings_tables import read_raw_table


@dataclass(frozen=True)
class RatingsOptions:
    """How a file with ratings is read.

    Attributes:
        level: the level of measurement of every dimension.
        scale: the levels from low to high as one CSV row; None takes the observed numbers.
        by: columns to slice by.
        na: further spellings of "not applicable"; a trailing `*` matches any ending.
        wide: whether every rater has a column, rather than `rater` and `value`.
        sheet: the tab of a workbook; None takes the first.
    """

    level: MeasurementLevel = "ordinal"
    scale: str | None = None
    by: tuple[str, ...] = ()
    na: tuple[str, ...] = ()
    wide: bool = False
    sheet: str | None = None


def load_ratings_file(path: Path, options: RatingsOptions) -> tuple[list[DimensionData], list[str]]:
    """Read a file with ratings: CSV in UTF-8, JSON lines, or an .xlsx workbook; `-` is standard input.

    Returns:
        Each dimension, sorted by name; and a note per rating that was left out, and on what looks odd.

    Raises:
        StudyError: the file or an option is at fault; `faults` lists everything found.
    """
    faults = Faults()
    notes: list[str] = []
    scale = None if options.scale is None else parse_scale(options.scale, options.level, faults)
    known = {*LONG, DIMENSION, *map(normalise, options.by)}
    dimensions: list[DimensionData] = []
    raw = read_raw_table(path, known, options.sheet, faults, notes)
    columns = raw and find_columns(raw, options.by, COMMAND_LINE, faults, wide=options.wide)
    if raw and columns:
        table = gather_ratings(raw, columns, faults)
        reader = Reader(options.level, NotApplicable(options.na), raw.decimal_comma, COMMAND_LINE)
        assembly = Assembly(raw.source, reader, Scales(scale), options.wide)
        dimensions = assembly.dimensions(table, faults, notes)
    if faults:
        raise unusable(str(path), faults)
    return dimensions, notes


def unusable(what: str, faults: Faults) -> StudyError:
    """Return the error that lists all faults."""
    n = len(faults)
    return StudyError(
        f"{what} cannot be used: {n} fault{'s' if n > 1 else ''}.", "Correct and run again.", faults
    )
