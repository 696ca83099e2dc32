"""The emulator as a process of its own, for what measures it or talks to it as a command does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]


@contextmanager
def emulator_process(*options: str) -> Iterator[str]:
    """Run `python -m tests.sheets_emulator` on a free port; gives its address and always stops it."""
    command = [sys.executable, "-m", "tests.sheets_emulator", "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=CHECKOUT) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert address, "the emulator did not start"
            yield address
        finally:
            process.terminate()
            process.wait()
