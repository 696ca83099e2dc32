"""Where ratings come from, and what messages call the places in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from sheetsync.config_faults import quoted


@dataclass(frozen=True)
class Source:
    """What messages call the rows and cells of a table.

    Attributes:
        name: the file, with the tab of a workbook.
        word: what one row of it is called.
        labels: names of the rows where these are not their numbers (an index); by row number.
        letters: by folded header, the letter of its column in a spreadsheet.
    """

    name: str
    word: str = "line"
    labels: Sequence[object] | None = None
    letters: Mapping[str, str] = field(default_factory=dict)

    def row(self, number: int) -> str:
        """Return the place of a row.

        >>> Source("ratings.csv").row(3), Source("", "row", ["a", "b"]).row(1)
        ('ratings.csv line 3', 'row "b"')
        """
        return f"{self._beginning}{self.word} {self._label(number)}"

    def rows(self, one: int, other: int) -> str:
        """Return the place of two rows."""
        return f"{self._beginning}{self.word}s {self._label(one)} and {self._label(other)}"

    def cell(self, number: int, column: str, *, only: bool) -> str:
        """Return the place of a value; `only` where no other cell of its row holds one."""
        if letter := self.letters.get(column):
            return f"{self._beginning}cell {letter}{number}"
        return self.row(number) if only else f"{self.row(number)}, column {quoted(column)}"

    @property
    def _beginning(self) -> str:
        return f"{self.name} " if self.name else ""

    def _label(self, number: int) -> object:
        if self.labels is None:
            return number
        label = self.labels[number]
        return quoted(label) if isinstance(label, str) else str(label)


@dataclass(frozen=True)
class RawTable:
    """A table as it stands in a file: texts, read block by block.

    Attributes:
        source: what its places are called.
        header: the names of the columns as written.
        header_place: where they stand.
        records: each row that is not blank, with its number; a short one lacks its last cells.
        decimal_comma: whether a comma may be a decimal sign: it parts no cells.
    """

    source: Source
    header: Sequence[str]
    header_place: str
    records: Iterator[tuple[int, Sequence[str]]]
    decimal_comma: bool = False

    def blocks(self, size: int = 200) -> Iterator[tuple[Sequence[int], Sequence[Sequence[str]]]]:
        """Yield numbers and rows of so many records at a time: few, so that they stay in fast memory."""
        while block := list(islice(self.records, size)):
            numbers, rows = zip(*block, strict=True)
            yield numbers, rows
