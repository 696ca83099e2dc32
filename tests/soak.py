"""Many bad nights, one after the other: `python -m tests.soak --nights 200`, or `make soak`."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.backends.bad_nights import Figures, bad_night


def main() -> int:
    """Go through many nights and print what was met; 1 where something came out wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=main.__doc__)
    parser.add_argument("--nights", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="the seed of the first night")
    given = parser.parse_args()
    total, wrong = Figures(), 0
    for number, seed in enumerate(range(given.first, given.first + given.nights)):
        if number % 10 == 0:
            sys.stderr.write(f"{number} of {given.nights} nights, {wrong} came out wrong\n")
        with TemporaryDirectory() as folder:
            try:
                total.add(bad_night(Path(folder), seed))
            except Exception:  # whatever it is: it is told, and the other nights are gone through
                wrong += 1
                sys.stdout.write(f"night {seed}: {traceback.format_exc(limit=-3)}\n")
                sys.stdout.flush()
    sys.stdout.write("\n".join(_story(given.nights, wrong, total)) + "\n")
    return 1 if wrong else 0


def _story(nights: int, wrong: int, total: Figures) -> Iterator[str]:
    steps = ", ".join(
        f"{total.steps[name]} {name}" for name in ("complete", "incomplete", "failed", "killed")
    )
    yield f"{nights} nights, {sum(total.steps.values())} provisions and runs under faults: {steps}."
    yield f"{sum(total.faults.values())} calls met a fault:"
    yield from (f"  {times:6} {name}" for name, times in total.faults.most_common())
    yield f"{total.ratings:,} scores and {total.verdicts:,} verdicts compared with what was typed."
    yield f"{total.workbooks:,} workbooks compared with what was to be drawn, {total.unfinished} left to the next run."
    yield (
        f"{wrong} nights came out wrong."
        if wrong
        else "Nothing lost, invented, doubled or half drawn in any night."
    )


if __name__ == "__main__":
    sys.exit(main())
