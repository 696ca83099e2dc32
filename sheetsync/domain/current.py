"""What is in force now: per rater, unit and dimension the rating that counts, out of all batches."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sheetsync.domain.ratings import BatchKind, Entry, Rating
from sheetsync.domain.study import LevelValue


@dataclass(frozen=True)
class BatchEntries:
    """One workbook of one rater: which text each row was issued with, and what is typed there."""

    rater: str
    batch: str
    kind: BatchKind
    texts: Mapping[str, int]
    entries: Sequence[Entry]


@dataclass(frozen=True)
class CurrentRatings:
    """The ratings that enter analysis.

    Attributes:
        ratings: at most one per rater, unit and dimension, all of a unit on the same text.
        ticks: per (rater, unit) with at least one score the ids of the ticked tags.
        remarks: per (rater, unit, remark id) the newest text.
        left_out: (rater, unit) whose ratings are on an older text than the newest anybody rated.
    """

    ratings: tuple[Rating, ...] = ()
    ticks: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    remarks: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    left_out: tuple[tuple[str, str], ...] = ()

    def of_raters(self, raters: Collection[str]) -> CurrentRatings:
        """Return what only these raters gave; itself where that is everything."""
        kept = CurrentRatings(
            tuple(rating for rating in self.ratings if rating.rater in raters),
            {key: tags for key, tags in self.ticks.items() if key[0] in raters},
            {key: text for key, text in self.remarks.items() if key[0] in raters},
            tuple(row for row in self.left_out if row[0] in raters),
        )
        return self if kept == self else kept

    def values(self, dimension: str) -> dict[tuple[str, str], LevelValue]:
        """Return (rater, unit) -> value of one dimension."""
        return {(r.rater, r.code): r.value for r in self.ratings if r.dimension == dimension}


def gather_current(batches: Iterable[BatchEntries]) -> CurrentRatings:
    """Return what is in force; batches come in the order in which they were issued.

    A rating typed into a later batch (a re-score) supersedes the earlier one of the same rater, unit
    and dimension. Per unit only ratings on the newest text that anybody rated are kept.
    """
    ratings: dict[tuple[str, str, str], Rating] = {}
    ticks: dict[tuple[str, str], tuple[int, frozenset[str]]] = {}
    remarks: dict[tuple[str, str, str], str] = {}
    for batch in batches:
        scored = set()
        for entry in batch.entries:
            text = batch.texts.get(entry.code, 1)
            if entry.kind == "score" and not isinstance(entry.value, bool):
                scored.add(entry.code)
                key = (batch.rater, entry.code, entry.column)
                ratings[key] = Rating(
                    batch.rater, batch.batch, batch.kind, entry.code, entry.column, entry.value, text
                )
            elif entry.kind == "remark":
                remarks[(batch.rater, entry.code, entry.column)] = str(entry.value)
        ticks.update(_ticks(batch, scored))
    newest: dict[str, int] = {}
    for rating in ratings.values():
        newest[rating.code] = max(newest.get(rating.code, 0), rating.text)
    old = {(r.rater, r.code): None for r in ratings.values() if r.text < newest[r.code]}
    return CurrentRatings(
        tuple(r for r in ratings.values() if r.text == newest[r.code]),
        {key: tags for key, (text, tags) in ticks.items() if text == newest[key[1]]},
        remarks,
        tuple(old),
    )


def _ticks(batch: BatchEntries, scored: set[str]) -> dict[tuple[str, str], tuple[int, frozenset[str]]]:
    """An unticked tag means "no" only in a row that has at least one score."""
    ticked: dict[str, set[str]] = {code: set() for code in scored}
    for entry in batch.entries:
        if entry.kind == "tag" and entry.code in ticked:
            ticked[entry.code].add(entry.column)
    return {(batch.rater, code): (batch.texts.get(code, 1), frozenset(tags)) for code, tags in ticked.items()}
