"""Submissions in the archive: two sources for one cell, append-only, and nothing stored of a preview."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sheetsync.domain.ratings import Entry, Problem
from sheetsync.errors import ArchiveError
from sheetsync.store.archive import Archive
from sheetsync.store.records import Changes, Freeze, Submission, WorkbookReading
from tests.store.samples import AT, make_archive, score

PROBLEM = Problem("not_a_level", "no level", "A1", "main", "s.csv", "C2", "u1", "Coverage")


def submitted(
    *entries: Entry, codes: tuple[str, ...] = ("u0", "u1"), problems: tuple[Problem, ...] = ()
) -> Submission:
    return Submission("A1", "main", "s.csv", "0" * 64, codes, entries, problems)


def read(*entries: Entry) -> WorkbookReading:
    return WorkbookReading("A1", "main", "read", "v1", entries)


def values(archive: Archive, *, imported: bool = True) -> dict[str, object]:
    found = archive.current_entries("A1", imported=imported)["A1", "main"]
    return {entry.code: entry.value for entry in found}


def test_each_source_keeps_its_own_word(tmp_path: Path) -> None:
    with make_archive(tmp_path) as archive:
        archive.record_pull(AT, [read(score("u0", 1), score("u2", 5))])
        stored = archive.record_import(AT, [submitted(score("u0", 2), score("u1", 3))])
        assert stored.changes == {("A1", "main"): Changes(new=1, changed=1)}
        assert values(archive) == {"u0": 2, "u1": 3, "u2": 5}
        assert values(archive, imported=False) == {"u0": 1, "u2": 5}
        archive.record_pull(AT, [read(score("u0", 4))])
        assert values(archive) == {"u0": 4, "u1": 3}
        archive.record_import(AT, [submitted(score("u0", 2))])
        assert values(archive) == {"u0": 2}


def test_a_preview_stores_nothing(tmp_path: Path) -> None:
    with make_archive(tmp_path) as archive:
        stored = archive.preview_import(AT, [submitted(score("u0", 2), problems=(PROBLEM,))])
        assert stored.changes["A1", "main"].new == 1
        assert (archive.last_pull(), values(archive), archive.current_problems()) == (None, {}, [])
        archive.record_import(AT, [submitted(score("u0", 3))])  # the transaction is over
        assert values(archive) == {"u0": 3}


def test_problems_stand_until_their_row_is_sent_or_typed_again(tmp_path: Path) -> None:
    with make_archive(tmp_path) as archive:
        archive.record_import(AT, [submitted(problems=(PROBLEM,))])
        archive.record_import(AT, [submitted(score("u0", 3), codes=("u0",))])
        archive.record_pull(AT, [read(score("u0", 3))])
        assert archive.current_problems() == [PROBLEM]
        assert archive.current_problems(imported=False) == []
        archive.record_pull(AT, [read(score("u0", 3), score("u1", 3))])
        assert archive.current_problems() == []


def test_scores_are_timed_and_freezes_kept(tmp_path: Path) -> None:
    with make_archive(tmp_path) as archive:
        archive.record_import("2026-01-01", [submitted(score("u0", 2), score("u1", 2))])
        archive.record_pull("2026-01-02", [read(score("u0", 4), Entry("u0", "remark", "notes", "x"))])
        assert archive.score_times() == [("2026-01-01", 2), ("2026-01-02", 1)]
        assert archive.last_freeze() is None
        archive.record_freeze(Freeze("2026-01-03", "h", "{}"))
        assert archive.last_freeze() == Freeze("2026-01-03", "h", "{}")


@pytest.mark.parametrize("table", ["imports", "imported", "import_problems", "freezes"])
@pytest.mark.parametrize("verb", ["UPDATE {} SET rowid = rowid", "DELETE FROM {}"])
def test_tables_are_append_only(tmp_path: Path, table: str, verb: str) -> None:
    with make_archive(tmp_path) as archive:
        archive.record_import(AT, [submitted(score("u0", 2), problems=(PROBLEM,))])
        archive.record_freeze(Freeze(AT, "h", "{}"))
        column = {"imported": "value", "import_problems": "kind", "freezes": "at"}.get(table, "file")
        statement = verb.format(table).replace("rowid", column)
        with pytest.raises(ArchiveError, match=f"{table} is append-only"), archive._writing() as connection:
            connection.exec_driver_sql(statement)


STEPS = st.lists(
    st.tuples(st.booleans(), st.dictionaries(st.sampled_from(["u0", "u1"]), st.integers(1, 3))), max_size=8
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(STEPS)
def test_what_is_in_force_is_what_the_rule_says(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[bool, dict[str, int]]]
) -> None:
    """A blank yields to a value; of two values the one that came, or was sent again, later counts.

    A file that confirms what was typed keeps it, as old as it is, should the cell be emptied.
    """
    typed: dict[str, tuple[int, int]] = {}
    sent: dict[str, tuple[int, int]] = {}
    ever_sent: set[str] = set()
    with make_archive(tmp_path_factory.mktemp("archive")) as archive:
        for at, (is_import, cells) in enumerate(steps):
            entries = [score(code, value) for code, value in cells.items()]
            if is_import:
                force = values(archive)
                archive.record_import(AT, [submitted(*entries)])
                new = {c: (at, v) for c, v in cells.items()}
                new |= {
                    c: (typed[c][0], v) for c, v in cells.items() if force.get(c) == v and c not in ever_sent
                }
                new |= {
                    c: sent[c] for c, v in cells.items() if force.get(c) == v and sent.get(c, (0, 0))[1] == v
                }
                sent, ever_sent = new, ever_sent | set(cells)
            else:
                archive.record_pull(AT, [read(*entries)])
                typed = {
                    c: typed[c] if c in typed and typed[c][1] == v else (at, v) for c, v in cells.items()
                }
            expected = {
                code: max(each for each in (typed.get(code), sent.get(code)) if each)[1]
                for code in typed.keys() | sent.keys()
            }
            assert values(archive) == expected
