"""A large file with ratings: `python -m benchmarks.ratings_file`.

Reading it, up to arrays, beside a loop of `csv.reader` that does nothing with the rows; and the whole
command with intervals as a process of its own, for its time beside that loop and its peak of memory.
"""

from __future__ import annotations

import csv
import random
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.measure import Bar, Row, paired, print_bars, print_rows
from sheetsync.services.ratings_file import RatingsOptions, load_ratings_file

RATERS, DIMENSIONS = 5, ("Accuracy", "Coverage", "Depth", "Tone")
ROWS = 1_000_000
MOST_MEMORY = 2_000.0

_COMMAND = """
import resource, sys
from sheetsync.cli.main import cli
cli.main(["agreement", sys.argv[1], "--json"], standalone_mode=False)
# kilobytes on Linux, bytes on macOS
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3), file=sys.stderr)
"""


def run(rounds: int = 3, *, quick: bool = False) -> tuple[list[Row], list[Bar]]:
    """Measure a file of a million rows; `quick` takes a twentieth."""
    rows = ROWS // 20 if quick else ROWS
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ratings.csv")
        _write(path, rows)
        loop = partial(_loop, path)
        reading = paired(partial(load_ratings_file, path, RatingsOptions()), loop, rounds)
        whole = paired(partial(_process, path), loop, max(1, rounds // 3))
        memory = _process(path)
    return (
        [
            Row(f"ratings file, {rows:,} rows: reading", "csv.reader loop", reading),
            Row(f"ratings file, {rows:,} rows: the command, with intervals", "csv.reader loop", whole),
        ],
        [Bar(f"agreement of a file of {rows:,} rows: MB at the peak", memory, MOST_MEMORY)],
    )


def _write(path: Path, rows: int) -> None:
    chance = random.Random(1)
    with path.open("w", encoding="utf-8") as file:
        file.write("unit,rater,dimension,value,system\n")
        for unit in range(rows // RATERS // len(DIMENSIONS)):
            for dimension in DIMENSIONS:
                quality = chance.choice([1, 2, 3, 4, 5, 5, 5])
                for rater in range(RATERS):
                    value = min(5, max(1, quality + chance.choice([-1, 0, 0, 0, 1])))
                    file.write(f"unit-{unit},rater-{rater},{dimension},{value},system-{unit % 4}\n")


def _loop(path: Path) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        for _ in csv.reader(file):
            pass


def _process(path: Path) -> float:
    """Run the command and return its peak of memory in MB."""
    command = [sys.executable, "-c", _COMMAND, str(path)]
    done = subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return float(done.stderr.split()[-1])


if __name__ == "__main__":
    measured, counted = run(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
    print_rows(measured)
    print_bars(counted)
