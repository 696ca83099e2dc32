"""What is in force: re-scores supersede, only the newest text anybody rated counts."""

from __future__ import annotations

from collections.abc import Mapping

from sheetsync.domain.current import BatchEntries, CurrentRatings, gather_current
from sheetsync.domain.ratings import BatchKind, Entry


def batch(
    rater: str,
    name: str,
    *entries: Entry,
    kind: BatchKind = "production",
    texts: Mapping[str, int] | None = None,
) -> BatchEntries:
    return BatchEntries(rater, name, kind, texts or {"u1": 1, "u2": 1}, entries)


def score(code: str, value: int | str, dimension: str = "a") -> Entry:
    return Entry(code, "score", dimension, value)


def tick(code: str, tag: str, value: bool | str = True) -> Entry:
    return Entry(code, "tag", tag, value)


def test_a_rescore_supersedes_per_dimension() -> None:
    current = gather_current(
        [
            batch("ann", "main", score("u1", 1), score("u1", 2, "b"), score("u2", 3)),
            batch("ann", "rescore-1", score("u1", 5), kind="rescore"),
        ]
    )
    assert current.values("a") == {("ann", "u1"): 5, ("ann", "u2"): 3}
    assert current.values("b") == {("ann", "u1"): 2}
    assert {r.batch for r in current.ratings if r.code == "u1"} == {"main", "rescore-1"}


def test_a_blank_rescore_changes_nothing() -> None:
    main = batch("ann", "main", score("u1", 1), tick("u1", "t"))
    assert gather_current([main, batch("ann", "rescore-1", kind="rescore")]) == gather_current([main])


def test_only_ratings_on_the_newest_text_anybody_rated() -> None:
    current = gather_current(
        [
            batch("ann", "main", score("u1", 1), score("u2", 1), tick("u1", "t")),
            batch("ben", "main", score("u1", 2)),
            batch("ben", "rescore-1", score("u1", 4), kind="rescore", texts={"u1": 2}),
        ]
    )
    assert current.values("a") == {("ben", "u1"): 4, ("ann", "u2"): 1}
    assert current.left_out == (("ann", "u1"),)
    assert ("ann", "u1") not in current.ticks


def test_a_new_text_that_nobody_rated_yet_leaves_the_old_ratings_in_force() -> None:
    current = gather_current(
        [
            batch("ann", "main", score("u1", 1)),
            batch("ann", "rescore-1", kind="rescore", texts={"u1": 2}),
        ]
    )
    assert current.values("a") == {("ann", "u1"): 1}
    assert current.left_out == ()


def test_half_a_rescore_on_a_new_text_leaves_the_rest_out() -> None:
    current = gather_current(
        [
            batch("ann", "main", score("u1", 1), score("u1", 2, "b")),
            batch("ann", "rescore-1", score("u1", 3), kind="rescore", texts={"u1": 2}),
        ]
    )
    assert [(r.dimension, r.value, r.text) for r in current.ratings] == [("a", 3, 2)]
    assert current.left_out == (("ann", "u1"),)


def test_an_unticked_tag_is_no_only_where_there_is_a_score() -> None:
    current = gather_current(
        [
            batch(
                "ann",
                "main",
                score("u1", "N/A"),
                tick("u1", "t"),
                tick("u1", "claim", "She flew."),
                tick("u2", "t"),
            )
        ]
    )
    assert current.ticks == {("ann", "u1"): frozenset({"t", "claim"})}


def test_ticks_of_a_rescore_replace_those_of_the_row() -> None:
    current = gather_current(
        [
            batch("ann", "main", score("u1", 1), tick("u1", "old")),
            batch("ann", "rescore-1", score("u1", 2), tick("u1", "new"), kind="rescore"),
        ]
    )
    assert current.ticks == {("ann", "u1"): frozenset({"new"})}


def test_the_newest_remark() -> None:
    current = gather_current(
        [
            batch("ann", "main", Entry("u1", "remark", "notes", "First.")),
            batch("ann", "rescore-1", Entry("u1", "remark", "notes", "Second."), kind="rescore"),
        ]
    )
    assert current.remarks == {("ann", "u1", "notes"): "Second."}
    assert gather_current([]) == CurrentRatings()
