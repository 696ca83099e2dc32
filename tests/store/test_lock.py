from __future__ import annotations

import errno
import json
import os
import signal
import stat
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from sheetsync.errors import ArchiveError, LockedError
from sheetsync.store.lock import HOLDER_NAME, study_lock

HOLD = """
import sys, time
from pathlib import Path
from sheetsync.store.lock import study_lock
with study_lock(Path(sys.argv[1]), "pull", "2026-07-01T02:00:00Z"):
    print("held", flush=True)
    time.sleep(60)
"""


def start_holder(folder: Path) -> subprocess.Popen[str]:
    """Return a process that holds the lock."""
    root = Path(__file__).parents[2]
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE, text=True, cwd=root
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    return child


def stop(child: subprocess.Popen[str]) -> None:
    child.send_signal(signal.SIGKILL)
    child.communicate()


def test_another_command_is_named_in_the_message(tmp_path: Path) -> None:
    child = start_holder(tmp_path)
    try:
        with pytest.raises(LockedError) as caught, study_lock(tmp_path, "publish"):
            pass
    finally:
        stop(child)
    assert f"(pid {child.pid}, `pull`, since 2026-07-01T02:00:00Z)" in caught.value.message
    assert "Wait" in caught.value.remedy
    assert caught.value.exit_code == 4


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    child = start_holder(tmp_path)
    stop(child)
    assert (tmp_path / HOLDER_NAME).exists()
    with study_lock(tmp_path, "run", "later"):
        assert json.loads((tmp_path / HOLDER_NAME).read_text()) == {
            "pid": os.getpid(),
            "command": "run",
            "since": "later",
        }
    assert not (tmp_path / HOLDER_NAME).exists()


def test_the_lock_is_free_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), study_lock(tmp_path):
        raise RuntimeError
    with study_lock(tmp_path):
        pass


@pytest.mark.parametrize("content", [None, "", "[]", '{"pid": 1}', "\0"])
def test_a_spoilt_holder_file_spoils_the_message_only(tmp_path: Path, content: str | None) -> None:
    with study_lock(tmp_path, "pull"):
        if content is None:
            (tmp_path / HOLDER_NAME).unlink()
        else:
            (tmp_path / HOLDER_NAME).write_text(content)
        with (
            pytest.raises(LockedError, match=r"^Another command is writing to this study\. "),
            study_lock(tmp_path),
        ):
            pass


def test_the_folder_is_made_private(tmp_path: Path) -> None:
    with study_lock(tmp_path / ".sheetsync"):
        assert stat.S_IMODE((tmp_path / ".sheetsync").stat().st_mode) == 0o700


def test_a_folder_that_cannot_be_used_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ArchiveError, match="cannot be locked"), study_lock(tmp_path / "file"):
        pass


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    fcntl = pytest.importorskip("fcntl")

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ArchiveError, match="has no file locks"), study_lock(tmp_path):
            pass
