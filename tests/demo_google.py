"""The demonstration in files and on Google's interface, compared: `python -m tests.demo_google`, `make demo-google`.

Google is the emulator, in a process of its own, and the commands are those that people type. Both studies have the
same codes and the same simulated people, so all that can be seen afterwards has to be the same.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sheetsync.services.session import PRIVATE_FOLDER
from sheetsync.store.archive import Archive
from tests.sheets_emulator.process import CHECKOUT, emulator_process

BACKENDS = ("xlsx", "google")
TEMPLATE = "historical-figures"
WHERE = ("folder", "files", "workbooks")
"""What `demo` tells of where things are, which differs."""


@dataclass(frozen=True)
class Seen:
    """What is left of one demonstration.

    Attributes:
        story: what `demo` told, but for where things are.
        ratings: every archived cell: rater, batch, code, kind, column, value.
        verdicts: every archived verdict.
        problems: what `pull` lists.
        divergences: what `divergences` lists.
        agreement: `reports/agreement.json`, byte for byte.
    """

    story: dict[str, Any]
    ratings: list[tuple[object, ...]]
    verdicts: list[tuple[object, ...]]
    problems: list[Any]
    divergences: list[Any]
    agreement: bytes


@dataclass(frozen=True)
class Compared:
    """One thing that both have: what, how much of it, and whether it is the same."""

    what: str
    is_same: bool


def demonstrate(folder: Path) -> tuple[Seen, Seen]:
    """Run both demonstrations in new folders under `folder`, and then look at them with commands.

    Raises:
        subprocess.CalledProcessError: a command did not end with 0; what it said is on stderr.
    """
    with emulator_process() as address:
        files, google = (_demonstrate(folder / backend, backend, address) for backend in BACKENDS)
    return files, google


def _demonstrate(study: Path, backend: str, address: str) -> Seen:
    environment = {**os.environ, "SHEETS_EMULATOR_HOST": address.removeprefix("http://")}

    def sheetsync(*arguments: str) -> dict[str, Any]:
        command = [sys.executable, "-m", "sheetsync.cli.main", *arguments, "--json"]
        made = subprocess.run(command, env=environment, cwd=CHECKOUT, stdout=subprocess.PIPE, check=True)
        return dict(json.loads(made.stdout))

    story = sheetsync("demo", str(study), "--template", TEMPLATE, "--backend", backend)
    pulled, listed = sheetsync("-C", str(study), "pull"), sheetsync("-C", str(study), "divergences")
    archive = Archive.open(study / PRIVATE_FOLDER)
    try:
        entries, verdicts = archive.current_entries(), archive.current_verdicts()
    finally:
        archive.close()
    return Seen(
        {key: value for key, value in story.items() if key not in WHERE},
        sorted(((*key, *astuple(entry)) for key, rows in entries.items() for entry in rows), key=repr),
        sorted((astuple(verdict) for verdict in verdicts), key=repr),
        pulled["problems"],
        listed["divergences"],
        (study / "reports" / "agreement.json").read_bytes(),
    )


def compare(one: Seen, other: Seen) -> list[Compared]:
    """Compare thing by thing."""
    return [
        Compared(f"{len(one.ratings):,} archived cells", one.ratings == other.ratings),
        Compared(f"{len(one.verdicts)} verdicts", one.verdicts == other.verdicts),
        Compared(f"{len(one.problems)} problems", one.problems == other.problems),
        Compared(f"{len(one.divergences)} divergences", one.divergences == other.divergences),
        Compared(
            f"{sum(_coefficients(json.loads(one.agreement))):,} coefficients and reasons in agreement.json, "
            f"{len(one.agreement):,} bytes",
            one.agreement == other.agreement,
        ),
        Compared("what `demo` told", one.story == other.story),
    ]


def _coefficients(report: Any) -> Iterator[bool]:
    if isinstance(report, dict):
        yield "interval_reason" in report
    for part in report.values() if isinstance(report, dict) else report if isinstance(report, list) else ():
        yield from _coefficients(part)


def main() -> int:
    """Print what was compared; 1 where something differs."""
    argparse.ArgumentParser(prog="python -m tests.demo_google", description=main.__doc__).parse_args()
    with TemporaryDirectory() as folder:
        compared = compare(*demonstrate(Path(folder)))
    sys.stdout.write("The demonstration in files and on an emulated Google:\n")
    for each in compared:
        sys.stdout.write(f"  {'same' if each.is_same else 'DIFFERENT':9}  {each.what}\n")
    return 0 if all(each.is_same for each in compared) else 1


if __name__ == "__main__":
    sys.exit(main())
