"""A table of ratings -> the data of each dimension: what its values mean, and what contradicts what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sheetsync.config_faults import Faults, listed, quoted
from sheetsync.domain.agreement.ratings_cells import Meaning, build_dimension, looks_turned
from sheetsync.domain.agreement.ratings_table import RatingsTable
from sheetsync.domain.agreement.reliability import DimensionData
from sheetsync.services.ratings_scale import Reader, Scale, allowed_values
from sheetsync.services.ratings_source import Source

UNNAMED = "value"
"""What the only dimension of a table without that column is called."""


@dataclass(frozen=True)
class Scales:
    """Declared scales: one for every dimension, or one each; None where the observed numbers are it."""

    of_all: Scale | None = None
    of_dimension: Mapping[str, Scale] = field(default_factory=dict)

    def of(self, dimension: str) -> Scale | None:
        """Return the scale that is declared for a dimension."""
        return self.of_dimension.get(dimension, self.of_all)


@dataclass(frozen=True)
class Assembly:
    """How a table becomes dimensions.

    Attributes:
        source: what places are called.
        reader: how values are read.
        scales: the declared scales.
        wide: whether every rater has a column, and a row holds several ratings.
    """

    source: Source
    reader: Reader
    scales: Scales
    wide: bool

    def dimensions(self, table: RatingsTable, faults: Faults, notes: list[str]) -> list[DimensionData]:
        """Return each dimension, sorted by name.

        Args:
            table: the ratings.
            faults: collects what cannot be used.
            notes: collects what was left out, and what looks odd.
        """
        if self.wide:
            table = self._without_other_columns(table, faults)
        parts = dict(table.by_dimension(UNNAMED))
        for name in [each for each in self.scales.of_dimension if each not in parts]:
            shown = listed([quoted(each) for each in parts] or ["none"], "and")
            faults.error(
                self.reader.wording.scale, f"there is no dimension {quoted(name)}; there are {shown}"
            )
        return [self._dimension(name, part, faults, notes) for name, part in parts.items()]

    def _dimension(self, name: str, table: RatingsTable, faults: Faults, notes: list[str]) -> DimensionData:
        texts = table.first_rows()
        scale = self.scales.of(name)
        if scale is None:
            places = {text: self._cell(table, row) for text, row in texts.items()}
            meaning = self.reader.observed(places, self.source.name or "value", faults)
        else:
            meaning = self.reader.on_scale(texts, scale)
            self._note_off_scale(table, meaning, notes)
        twice = _Twice(self, table, faults, notes)
        data = build_dimension(name, table, meaning, twice.values, twice.slices)
        if looks_turned(data):
            notes.append(
                f"{f'{name}: ' if table.dimensions else ''}{len(data.raters):,} raters but only "
                f"{len(data.units):,} units: where units and raters are the wrong way round, turn the table, "
                "for these figures would mean nothing"
            )
        return data

    def _cell(self, table: RatingsTable, row: int) -> str:
        column = table.raters.text(row) if self.wide else UNNAMED
        return self.source.cell(int(table.numbers[row]), column, only=not self.wide)

    def _note_off_scale(self, table: RatingsTable, meaning: Meaning, notes: list[str]) -> None:
        if not meaning.scale:
            return
        allowed = allowed_values(meaning.scale)
        for row in table.rows_without(meaning.values):
            text = quoted(table.values.text(row))
            notes.append(f"{self._cell(table, row)}: {text} is not on the scale {allowed}; left out")

    def _without_other_columns(self, table: RatingsTable, faults: Faults) -> RatingsTable:
        """Leave out columns of a wide table in which nothing can be a rating, with a fault each."""
        if self.reader.level == "nominal" and self.scales.of_all is None:
            return table
        others = []
        for rater, part in table.by_rater():
            texts = [text for text in part.first_rows() if not self.reader.na.matches(text)]
            if texts and not self._holds_levels(texts):
                shown = listed([quoted(text) for text in texts[:3]], "and")
                faults.error(
                    self.source.name or "columns",
                    f"column {quoted(rater)} holds no level at all, but {shown}; where it is no rater, leave "
                    f"it out or name it with {self.reader.wording.by}",
                )
                others.append(rater)
        return table.without([table.raters.rows_of(rater) for rater in others])

    def _holds_levels(self, texts: Sequence[str]) -> bool:
        declared = [self.scales.of_all, *self.scales.of_dimension.values()]
        meanings = [self.reader.on_scale(texts, scale) for scale in declared if scale is not None]
        if self.scales.of_all is None:
            meanings.append(self.reader.observed(dict.fromkeys(texts, ""), "", Faults()))
        return any(meaning.values for meaning in meanings)


@dataclass(frozen=True)
class _Twice:
    """Says what it means that two rows hold the same rating."""

    assembly: Assembly
    table: RatingsTable
    faults: Faults
    notes: list[str]

    def values(self, one: int, other: int) -> None:
        """Two different values cannot both be used."""
        found = [quoted(self.table.values.text(row)) for row in (one, other)]
        self.faults.error(
            self._rows(one, other), f"rate {self._rating(one)} twice, as {found[0]} and {found[1]}; keep one"
        )

    def slices(self, one: int, other: int) -> None:
        """The same value in two slices counts once, in the first slice of the alphabet."""
        for by, column in self.table.slices.items():
            found = [quoted(column.text(row)) for row in (one, other)]
            if found[0] != found[1]:
                self.notes.append(
                    f"{self._rows(one, other)}: hold the rating of {self._rating(one)} with {by} {found[0]} "
                    f"and {found[1]}; it counts once, under {found[0]}"
                )

    def _rows(self, one: int, other: int) -> str:
        first, second = sorted(int(self.table.numbers[row]) for row in (one, other))
        return self.assembly.source.rows(first, second)

    def _rating(self, row: int) -> str:
        return f"unit {quoted(self.table.units.text(row))} by {quoted(self.table.raters.text(row))}"
