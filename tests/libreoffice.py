"""LibreOffice for tests: opens what we draw, saves it again, prints it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest


def soffice_convert(path: Path, to_format: str, outdir: Path, timeout: float = 60) -> Path:
    """Convert a file (recalculating on the way) and return the result; skips where there is no LibreOffice.

    `to_format` is an ending that LibreOffice knows, with an optional filter: `xlsx`, `pdf`, `csv`.
    """
    program = shutil.which("soffice") or shutil.which("libreoffice")
    if program is None:
        pytest.skip("LibreOffice (soffice) is not installed")
    with tempfile.TemporaryDirectory(prefix="soffice-", ignore_cleanup_errors=True) as profile:
        command = [program, f"-env:UserInstallation={Path(profile).as_uri()}", "--headless", "--convert-to"]
        command += [to_format, "--outdir", str(outdir), str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    made = outdir / f"{path.stem}.{to_format.partition(':')[0]}"
    if done.returncode or not made.exists():
        pytest.fail(f"LibreOffice did not convert {path.name}: {done.stdout} {done.stderr}")
    return made
