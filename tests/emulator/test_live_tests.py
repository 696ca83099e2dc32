"""The live tests run against the emulator, so that the first run with an account fails at Google and not at them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sheets_emulator import Emulator, Server, SystemClock, faults

ADDRESS, RATER = "bot@project.iam.gserviceaccount.com", "rater@example.org"
CHECKOUT = Path(__file__).parents[2]


def run_live(folder: Path, where: str, emulator: Emulator, *more: str) -> subprocess.CompletedProcess[str]:
    server = Server(emulator).start()
    key = folder / "key.json"
    key.write_text(json.dumps(emulator.service_account_key(ADDRESS)), encoding="utf-8")
    environment = {
        **os.environ,
        "SHEETS_EMULATOR_HOST": server.address,
        "SHEETSYNC_LIVE_CREDENTIALS": str(key),
        "SHEETSYNC_LIVE_FOLDER": where,
        "SHEETSYNC_LIVE_RATER": RATER,
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    environment.pop("SHEETSYNC_CREDENTIALS", None)
    command = [sys.executable, "-m", "pytest", "tests/live", "-q", "-p", "no:xdist", "-p", "no:cacheprovider"]
    try:
        return subprocess.run(
            [*command, *more], capture_output=True, text=True, check=False, env=environment, cwd=CHECKOUT
        )
    finally:
        server.stop()


def is_tidy(emulator: Emulator) -> bool:
    """Whether the bin holds all that was made: robots may not delete for good in a shared drive."""
    return all(emulator.files.in_trash(file) for file in emulator.spreadsheets())


def test_every_live_test_works_and_tidies_up(tmp_path: Path) -> None:
    emulator = Emulator(SystemClock())
    drive = emulator.shared_drive("Throw-away", {ADDRESS: "fileOrganizer"})
    done = run_live(tmp_path, drive, emulator)
    assert done.returncode == 0, done.stdout[-6000:]
    assert "skipped" not in done.stdout.splitlines()[-1], "nothing is left out where all is given"
    seen = done.stdout.partition("believed and seen")[2]
    assert seen.count(" (emulator): ") >= 25, seen
    assert "tidied up: folder" in seen
    assert len(emulator.spreadsheets()) > 10
    assert is_tidy(emulator)


@pytest.mark.slow
def test_it_is_tidied_up_after_a_failure_too(tmp_path: Path) -> None:
    emulator = Emulator(SystemClock())
    drive = emulator.shared_drive("Throw-away", {ADDRESS: "fileOrganizer"})
    emulator.faults.add(faults.refused("PERMISSION_DENIED"), kind="spreadsheets.batchUpdate")
    done = run_live(tmp_path, drive, emulator, "-k", "a_mask_on_a_batch")
    assert done.returncode == 1, done.stdout[-3000:]
    assert "tidied up: folder" in done.stdout
    assert len(emulator.spreadsheets()) == 1
    assert is_tidy(emulator)


@pytest.mark.slow
def test_in_a_drive_of_ones_own_all_is_deleted(tmp_path: Path) -> None:
    emulator = Emulator(SystemClock(), service_accounts_have_storage=True)
    folder = emulator.person(ADDRESS).new_folder("Throw-away")
    done = run_live(tmp_path, folder, emulator, "-k", "create_honours or shared_drive or editors")
    assert done.returncode == 0, done.stdout[-3000:]
    assert "believed and seen" in done.stdout
    assert "create honours: believed" in done.stdout
    assert "the folder lies in no shared drive" in done.stdout
    assert "was deleted" in done.stdout
    assert emulator.spreadsheets() == []


def test_nothing_is_asked_of_google_unless_it_is_wanted() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SHEETS")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "tests/live", "-q", "-p", "no:xdist", "-p", "no:cacheprovider"],
        capture_output=True,
        text=True,
        check=False,
        env={**environment, "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=CHECKOUT,
    )
    assert done.returncode == 0
    assert "set SHEETSYNC_LIVE_CREDENTIALS" in done.stdout
    assert "passed" not in done.stdout
