"""Every comparison, one table: `python -m benchmarks`.

The figures are ratios to named peers, so they mean the same on another machine; a second table holds what is
counted, such as calls to Google, against its bars. They are figures and no verdict: the exit code is 0 whatever
they are.
"""

from __future__ import annotations

import argparse
import os
import platform
import sqlite3
import sys
from importlib.metadata import PackageNotFoundError, version

from benchmarks import agreement_speed, archive, google_calls, ratings_file, start_up, workbooks
from benchmarks.measure import print_bars, print_rows

PEERS = ("pip", "flask", "xlsxwriter", "python-calamine", "gspread", "krippendorff", "pandas", "numpy")


def main() -> None:
    """Run everything and print it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Speed, as ratios to peers.")
    parser.add_argument("--rounds", type=int, default=7, help="timed rounds, after one to warm up (7)")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, for a first impression")
    given = parser.parse_args()
    rounds, quick = given.rounds, given.quick
    rows = []
    _tell("start-up")
    rows += start_up.run(rounds)
    _tell("workbooks")
    rows += workbooks.run(rounds, quick=quick)
    _tell("the archive")
    rows += archive.run(rounds, quick=quick)
    _tell("agreement")
    rows += agreement_speed.run(rounds, quick=quick)
    _tell("a file with ratings")
    reading, memory = ratings_file.run(min(rounds, 3), quick=quick)
    rows += reading
    _tell("calls to Google")
    counted, bars = google_calls.run(quick=quick)
    print_rows(rows + counted)
    print()
    print_bars([*bars, *memory])
    print(f"\n{rounds} rounds after a warm-up, medians of the ratios within rounds. {_machine()}")


def _tell(what: str) -> None:
    print(f"measuring {what} ...", file=sys.stderr, flush=True)


def _machine() -> str:
    peers = ", ".join(f"{name} {_version(name)}" for name in PEERS)
    return (
        f"{os.cpu_count()} CPUs, {platform.machine()}, {platform.system()}; "
        f"Python {platform.python_version()}, {peers}, SQLite {sqlite3.sqlite_version}."
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


if __name__ == "__main__":
    main()
