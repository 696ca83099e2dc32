"""The archive against kill -9, a full disk and a file-size limit: whole pulls or none."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sheetsync.errors import ArchiveError
from sheetsync.store.archive import Archive
from tests.store.pulling import N_UNITS, RATERS, expected_entries, pull_once
from tests.store.samples import make_archive

ROOT = Path(__file__).parents[2]


def pull_until_it_fails(archive: Archive) -> None:
    """Record pulls for ever."""
    while True:
        pull_once(archive)


def assert_whole(folder: Path) -> int:
    """Check that the archive holds whole pulls only; return how many."""
    with Archive.open(folder) as archive:
        last = archive.last_pull()
        number = last.number if last else 0
        expected = expected_entries(number) if number else []
        assert archive.current_entries() == {(rater, "main"): expected for rater in RATERS}
        assert [v.verdict for v in archive.current_verdicts()] == ([number] if number else [])
        assert {p.message for p in archive.current_problems()} == ({f"pull {number}"} if number else set())
        values = [revision.value for revision in archive.history("A2", "u1", "score", "style")]
        assert values == list(range(1, number + 1))
    database = sqlite3.connect(folder / "archive.sqlite")
    try:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
        n_cells = len(RATERS) * N_UNITS * 2
        for pull, revisions in database.execute("SELECT pull, count(*) FROM entries GROUP BY pull"):
            # the first pull fills every cell, later ones change, clear or refill every cell
            assert revisions == n_cells, pull
        assert database.execute("SELECT count(*) FROM readings").fetchone() == (number * (len(RATERS) + 2),)
    finally:
        database.close()
    return number


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_killed_process_leaves_whole_pulls(tmp_path: Path) -> None:
    make_archive(tmp_path, RATERS, N_UNITS).close()
    moment = random.Random(7)
    announced = 0
    for _ in range(14):
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.store.pulling", str(tmp_path)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        assert child.stdout is not None
        announced = int(child.stdout.readline())
        time.sleep(moment.uniform(0, 0.15))
        child.send_signal(signal.SIGKILL)
        rest = child.communicate()[0].split()
        announced = int(rest[-1]) if rest else announced
        assert assert_whole(tmp_path) in (announced, announced + 1)  # the last may be in, but not announced
    assert announced > 14


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    with make_archive(tmp_path, RATERS, N_UNITS) as archive:
        pull_once(archive)
        with archive._reading() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(ArchiveError, match="disk is full") as caught:
            pull_until_it_fails(archive)
        assert "Free some space" in caught.value.remedy
        last = archive.last_pull()
        with archive._reading() as connection:
            connection.exec_driver_sql("PRAGMA max_page_count = 1000000")
        assert last is not None
        assert pull_once(archive) == last.number + 1
    assert assert_whole(tmp_path) == last.number + 1


LIMITED = """
import resource, sys
from pathlib import Path
from sheetsync.errors import ArchiveError
from sheetsync.store.archive import Archive
from tests.store.pulling import pull_once

folder = Path(sys.argv[1])
with Archive.open(folder) as archive:
    largest = max(path.stat().st_size for path in folder.iterdir())
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest + int(sys.argv[2]), resource.RLIM_INFINITY))
    try:
        while True:
            pull_once(archive)
    except ArchiveError as error:
        print(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(pull_once(archive))
"""


@pytest.mark.slow
@pytest.mark.parametrize("spare", [0, 5_000, 70_001, 200_000])
def test_writes_that_the_system_refuses_lose_nothing(tmp_path: Path, spare: int) -> None:
    pytest.importorskip("resource")
    with make_archive(tmp_path, RATERS, N_UNITS) as archive:
        pull_once(archive)
    found = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path), str(spare)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert found.stderr == ""
    message, last = found.stdout.splitlines()
    assert "nothing was changed" in message
    assert "Free some space" in message
    assert assert_whole(tmp_path) == int(last)


def test_a_failed_pull_is_stored_by_the_next_one(tmp_path: Path) -> None:
    with make_archive(tmp_path, RATERS, N_UNITS) as archive:
        with archive._reading() as connection:
            connection.exec_driver_sql("PRAGMA query_only = ON")
        with pytest.raises(ArchiveError, match="nothing was changed"):
            pull_once(archive)
        with archive._reading() as connection:
            connection.exec_driver_sql("PRAGMA query_only = OFF")
        assert pull_once(archive) == 1
    assert assert_whole(tmp_path) == 1
