"""A ratings file (`unit,rater,value[,dimension][,slices]`) -> what was rated, for `agreement FILE`.

Read as text with the csv module: empty is a blank, "NA" is a rating without a value, and nothing
else is ever taken for missing. All faults are reported at once, each with its line.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sheetsync.config_faults import Faults, listed, quoted
from sheetsync.domain.cells import normalise
from sheetsync.domain.reliability import DimensionData, Row
from sheetsync.domain.study import LevelValue, MeasurementLevel
from sheetsync.errors import StudyError
from sheetsync.services.ratings_scale import (
    Meaning,
    NotApplicable,
    allowed_values,
    comparable,
    parse_scale,
    read_observed,
    read_on_scale,
)

_REQUIRED = ("unit", "rater", "value")
_UNNAMED = "value"


@dataclass(frozen=True, slots=True)
class _Record:
    """What is used of one line, trimmed."""

    line: int
    unit: str
    rater: str
    value: str
    dimension: str
    slices: tuple[str, ...]


def load_ratings_file(
    path: Path,
    level: MeasurementLevel = "ordinal",
    scale_text: str | None = None,
    by: Sequence[str] = (),
    na: Sequence[str] = (),
) -> tuple[list[DimensionData], list[str]]:
    """Read a ratings file.

    Args:
        path: the CSV file, UTF-8.
        level: the level of measurement of every dimension.
        scale_text: the levels from low to high as one CSV row; None takes the observed numbers.
        by: columns to slice by.
        na: further spellings of "not applicable"; a trailing `*` matches any ending.

    Returns:
        Each dimension, sorted by name, and a note per rating that was left out.

    Raises:
        StudyError: the file or an option is at fault; `faults` lists everything found.
    """
    faults = Faults()
    notes: list[str] = []
    declared = None if scale_text is None else parse_scale(scale_text, level, faults)
    columns, records = _read_records(path, by, faults)
    spellings = NotApplicable(na)
    dimensions = []
    for name, group in _by_dimension(columns, records):
        texts = {record.value: record.line for record in reversed(group) if record.value}
        if declared is None:
            meaning = read_observed(texts, level, spellings, path.name, faults)
        else:
            meaning = read_on_scale(texts, declared, spellings)
        sheet = _Sheet(path.name, meaning, faults, notes)
        for record in group:
            sheet.add(record)
        dimensions.append(sheet.build(name, level, columns.slices))
    if faults:
        n = len(faults)
        raise StudyError(
            f"{path} cannot be used: {n} fault{'s' if n > 1 else ''}.", "Correct and run again.", faults
        )
    return dimensions, notes


@dataclass(frozen=True)
class _Columns:
    """Where the columns stand: the known ones by name, and those to slice by by header."""

    places: Mapping[str, int]
    slices: Mapping[str, int]
    width: int


def _read_records(path: Path, by: Sequence[str], faults: Faults) -> tuple[_Columns, list[_Record]]:
    columns, records = _Columns({}, {}, 0), []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = _number_lines(file, path.name, faults)
            columns = _find_columns(path.name, next(lines, (1, []))[1], by, faults)
            for line, cells in lines if columns.width else ():
                place = f"{path.name} line {line}"
                if record := _read_record(place, line, cells, columns, faults):
                    records.append(record)
    except OSError as error:
        faults.error(str(path), f"cannot be read ({error.strerror}); check the path")
    except UnicodeDecodeError:
        faults.error(path.name, "is not UTF-8 text; save it as CSV UTF-8")
    return columns, records


def _number_lines(file: Iterable[str], name: str, faults: Faults) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that is not empty, with the line it starts on."""
    reader = csv.reader(file, strict=True)
    start = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield start, cells
            start = reader.line_num + 1
    except csv.Error as error:
        faults.error(f"{name} line {start}", f"is no valid CSV ({error}); check its quotes")


def _find_columns(name: str, header: Sequence[str], by: Sequence[str], faults: Faults) -> _Columns:
    """Find the columns by header; without faults in the header, `width` is the number of columns."""
    place = f"{name} line 1"
    before = len(faults)
    folded = [normalise(cell) for cell in header]
    shown = listed([quoted(cell.strip()) for cell in header if cell.strip()] or ["no columns"], "and")
    wanted = dict.fromkeys(normalise(column) for column in by)
    for column in dict.fromkeys((*_REQUIRED, "dimension", *wanted)):
        if column not in folded and column in _REQUIRED:
            faults.error(place, f"has no column {column}, but {shown}; needed are unit,rater,value")
        elif column not in folded and column in wanted:
            faults.error("--by", f"there is no column {quoted(column)} in {name}, which has {shown}")
        elif folded.count(column) > 1:
            faults.error(place, f"has the column {column} {folded.count(column)} times; keep one")
    if len(faults) > before:
        return _Columns({}, {}, 0)
    places = {column: folded.index(column) for column in (*_REQUIRED, "dimension") if column in folded}
    slices = {header[folded.index(column)].strip(): folded.index(column) for column in wanted}
    return _Columns(places, slices, len(header))


def _read_record(
    place: str, line: int, cells: Sequence[str], columns: _Columns, faults: Faults
) -> _Record | None:
    if len(cells) > columns.width:
        faults.error(place, f"has {len(cells)} cells, the header {columns.width}; quote cells with commas")
        return None
    padded = [cell.strip() for cell in cells] + [""] * (columns.width - len(cells))
    fields = {column: padded[at] for column, at in columns.places.items()}
    empty = [column for column in fields if column != "value" and not fields[column]]
    for column in empty:
        faults.error(place, f"has no {column}; fill it in or delete the line")
    if empty:
        return None
    return _Record(
        line,
        fields["unit"],
        fields["rater"],
        fields["value"],
        fields.get("dimension", _UNNAMED),
        tuple(padded[at] for at in columns.slices.values()),
    )


def _by_dimension(columns: _Columns, records: Sequence[_Record]) -> list[tuple[str, list[_Record]]]:
    """Group the records; a file without that column has one dimension, even without a line."""
    groups: dict[str, list[_Record]] = {}
    if columns.width and "dimension" not in columns.places:
        groups[_UNNAMED] = []
    for record in records:
        groups.setdefault(record.dimension, []).append(record)
    return sorted(groups.items())


@dataclass
class _Sheet:
    """One dimension while its lines are gathered; `first` keeps the line that counts per cell."""

    file: str
    meaning: Meaning
    faults: Faults
    notes: list[str]
    first: dict[Row, _Record] = field(default_factory=dict)

    def add(self, record: _Record) -> None:
        """Take a line in: equal duplicates count once, a blank yields, different ones are a fault."""
        row = (record.rater, record.unit)
        if record.value and record.value not in self.meaning.values and self.meaning.scale:
            self.notes.append(
                f"{self.file} line {record.line}: {quoted(record.value)} is not on the scale "
                f"{allowed_values(self.meaning.scale)}; left out"
            )
        before = self.first.setdefault(row, record)
        if not before.value:
            self.first[row] = record
        elif record.value and self._content(record) != self._content(before):
            self.faults.error(
                f"{self.file} lines {before.line} and {record.line}",
                f"rate unit {quoted(record.unit)} by {quoted(record.rater)} twice, as {quoted(before.value)} "
                f"and {quoted(record.value)}; keep one",
            )

    def _content(self, record: _Record) -> LevelValue:
        return self.meaning.values.get(record.value, comparable(record.value))

    def build(self, name: str, level: MeasurementLevel, slices: Iterable[str]) -> DimensionData:
        """Return what was gathered, with raters, units and slices sorted."""
        known = self.meaning.values
        filled = {row: record.value for row, record in self.first.items() if record.value}
        return DimensionData(
            dimension=name,
            level=level,
            scale=self.meaning.scale,
            raters=tuple(sorted({rater for rater, _ in self.first})),
            units=tuple(sorted({unit for _, unit in self.first})),
            rows=frozenset(self.first),
            full_grid=True,
            values={row: known[text] for row, text in filled.items() if text in known},
            invalid=frozenset(row for row, text in filled.items() if text not in known),
            row_slices={
                by: dict(
                    sorted(
                        ((row, record.slices[at]) for row, record in self.first.items()),
                        key=lambda item: item[1],
                    )
                )
                for at, by in enumerate(slices)
            },
        )
