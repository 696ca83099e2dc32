from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Connection

from sheetsync.errors import ArchiveError
from sheetsync.store import database, migrations, tables
from sheetsync.store.archive import Archive
from sheetsync.store.migrations import MIGRATIONS, Migration
from tests.store.samples import AT, make_archive, read, score


def test_a_blank_database_gets_the_tables_that_the_code_expects(tmp_path: Path) -> None:
    with Archive.open(tmp_path) as archive, archive._reading() as connection:
        names = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'").scalars()
        found = {
            name: [row[1] for row in connection.exec_driver_sql(f"PRAGMA table_info({name})")]
            for name in names.all()
        }
    assert found == {
        name: [column.name for column in t.columns] for name, t in tables.metadata.tables.items()
    }


def test_every_migration_is_recorded_with_its_number(tmp_path: Path) -> None:
    with Archive.open(tmp_path) as archive, archive._reading() as connection:
        found = connection.exec_driver_sql("SELECT number, name FROM migrations ORDER BY number").all()
    assert [tuple(row) for row in found] == [(n, m.__name__) for n, m in enumerate(MIGRATIONS, start=1)]
    assert [name[:5] for _, name in found] == [f"m{number:03}_" for number, _ in found]


def test_opening_again_migrates_nothing(tmp_path: Path) -> None:
    make_archive(tmp_path).close()
    before = (tmp_path / "archive.sqlite").read_bytes()
    Archive.open(tmp_path).close()
    assert (tmp_path / "archive.sqlite").read_bytes() == before


def m_next(connection: Connection) -> None:
    connection.exec_driver_sql("ALTER TABLE events ADD COLUMN duration REAL")


def m_half(connection: Connection) -> None:
    connection.exec_driver_sql("CREATE TABLE extra (id INTEGER)")
    connection.exec_driver_sql("INSERT INTO extra VALUES (1)")
    connection.exec_driver_sql("CREATE TABLE events (id INTEGER)")


def use(monkeypatch: pytest.MonkeyPatch, *steps: Migration) -> None:
    monkeypatch.setattr(database, "migrate", lambda engine: migrations.migrate(engine, steps))


@pytest.mark.parametrize("first", range(1, len(MIGRATIONS) + 1))
def test_an_archive_of_an_earlier_schema_is_upgraded_with_its_ratings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    use(monkeypatch, *MIGRATIONS[:first])
    with make_archive(tmp_path) as archive:
        archive.record_pull(AT, [read("A1", score("u0", 3))])
    use(monkeypatch, *MIGRATIONS, m_next)
    with Archive.open(tmp_path) as archive:
        assert archive.current_entries("A1")["A1", "main"] == [score("u0", 3)]
        with archive._writing() as connection:
            connection.exec_driver_sql(
                "INSERT INTO events (at, command, outcome, duration) VALUES ('','','',1.5)"
            )


def test_a_newer_schema_is_refused_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, *MIGRATIONS, m_next)
    make_archive(tmp_path).close()
    before = (tmp_path / "archive.sqlite").read_bytes()
    use(monkeypatch, *MIGRATIONS)
    with pytest.raises(ArchiveError, match="newer sheetsync") as caught:
        Archive.open(tmp_path)
    assert "upgrade" in caught.value.remedy
    assert (tmp_path / "archive.sqlite").read_bytes() == before


def test_a_half_applied_migration_rolls_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with make_archive(tmp_path) as archive:
        archive.record_pull(AT, [read("A1", score("u0", 3))])
    use(monkeypatch, *MIGRATIONS, m_half)
    with pytest.raises(ArchiveError, match="events already exists"):
        Archive.open(tmp_path)
    use(monkeypatch, *MIGRATIONS)
    with Archive.open(tmp_path) as archive:
        assert archive.current_entries("A1")["A1", "main"] == [score("u0", 3)]
        with archive._reading() as connection:
            names = connection.exec_driver_sql("SELECT name FROM sqlite_master").scalars().all()
    assert "extra" not in names


def test_a_creation_that_fails_leaves_no_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, *MIGRATIONS, m_half)
    with pytest.raises(ArchiveError):
        Archive.open(tmp_path)
    assert not Archive.exists(tmp_path)
    use(monkeypatch, *MIGRATIONS)
    make_archive(tmp_path).close()
