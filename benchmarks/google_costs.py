"""What the tasks of a study cost at Google, and what people do there between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from gspread.utils import rowcol_to_a1

from sheetsync.domain.scoring.columns import SCORING_TAB, ScoringColumn
from sheetsync.domain.workbook import Reading
from tests.sheets_emulator import Emulator, Person
from tests.sheets_emulator.quotas import Quotas

UNITS = 210


@dataclass(frozen=True)
class Spent:
    """What one task cost: calls of each kind, minutes of the clock, calls that the quotas refused."""

    calls: int
    reads: int
    lists: int
    minutes: float
    refused: int


def spent(emulator: Emulator, task: Callable[[], object]) -> Spent:
    """Do a task and return what it cost; it begins with nothing used up."""
    emulator.clock.advance(600)
    first, start = len(emulator.calls), emulator.clock.now()
    task()
    made = emulator.calls[first:]
    return Spent(
        len(made),
        sum(call.cost == "read" for call in made),
        sum(call.kind == "drive.files.list" for call in made),
        (emulator.clock.now() - start) / 60,
        sum(call.status == 429 for call in made),
    )


@contextmanager
def people(emulator: Emulator) -> Iterator[None]:
    """Let people work in the meantime: who types into a browser uses up no quota of the API."""
    quotas, emulator.quotas = emulator.quotas, Quotas(emulator.clock)
    try:
        yield
    finally:
        emulator.quotas = quotas


def type_scores(person: Person, book: str, column: int) -> None:
    """Score every unit in one dimension."""
    cell = f"{SCORING_TAB}!{rowcol_to_a1(2, column)}"
    person.paste(book, cell, [[number % 5 + 1] for number in range(UNITS)])


@dataclass(frozen=True)
class Costs:
    """The tasks of a study.

    Attributes:
        provision: making every annotator's workbook.
        again: the same when everything is there; None where nobody would.
        pull_all: reading when everybody has scored.
        pull_none: reading when nobody has since.
        publish: rewriting summary and adjudication; None where it was not measured.
    """

    provision: Spent
    again: Spent | None
    pull_all: Spent
    pull_none: Spent
    publish: Spent | None


@dataclass(frozen=True)
class Contents:
    """What the plain script writes: a rater's workbook, and those that are published."""

    scoring: Reading
    published: tuple[Reading, ...]


def first_score(columns: Sequence[ScoringColumn]) -> int:
    """Return the first dimension's column, counted from 1."""
    return next(number for number, column in enumerate(columns, 1) if column.key[0] == "score")
