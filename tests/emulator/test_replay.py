"""The recorded traffic of the real API, answered to the last leaf."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.sheets_emulator import Emulator, Server


def test_the_recordings_are_answered_exactly(test_data: Path) -> None:
    emulator = Emulator()
    emulator.check_answers = True
    server = Server(emulator).start()
    tool = test_data / "tools" / "replay-recordings"
    try:
        run = subprocess.run(
            [sys.executable, str(tool), server.address, "--min-exact", "100"],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    finally:
        server.stop()
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr
    assert "exact 1278 of 1278 (100.0%)" in run.stdout
