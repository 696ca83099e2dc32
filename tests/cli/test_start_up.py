"""`--help` and `--version` start fast: they load none of the heavy libraries."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = (
    "numpy",
    "pandas",
    "scipy",
    "gspread",
    "google",
    "requests",
    "openpyxl",
    "xlsxwriter",
    "sqlalchemy",
    "jinja2",
    "matplotlib",
    "pydantic",
)

COMMANDS = (
    "init",
    "demo",
    "check",
    "provision",
    "status",
    "pull",
    "agreement",
    "divergences",
    "publish",
    "run",
    "watch",
)


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], *([command, "--help"] for command in COMMANDS)]
)
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    script = (
        "import sys\n"
        "from sheetsync.cli.main import cli\n"
        f"code = cli.main({arguments!r}, standalone_mode=False)\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    assert done.stdout
