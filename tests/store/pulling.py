"""A process that records pulls until it is stopped: `python -m tests.store.pulling FOLDER`.

Pull number n finds in every workbook, in every cell that is filled in, the value n.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sheetsync.domain.divergence import Verdict
from sheetsync.domain.ratings import Entry, Problem
from sheetsync.store.archive import Archive
from sheetsync.store.records import AdjudicationReading, WorkbookReading
from tests.store.samples import score

N_UNITS = 40
RATERS = ("A1", "A2", "A3")


def expected_entries(pull: int) -> list[Entry]:
    """Return what pull number `pull` finds in every workbook; every tenth cell comes and goes."""
    units = (unit for unit in range(N_UNITS) if unit % 10 or pull % 2)
    return [score(f"u{unit}", pull, d) for unit in units for d in ("coverage", "style")]


def pull_once(archive: Archive) -> int:
    """Record the next pull and return its number."""
    last = archive.last_pull()
    number = last.number + 1 if last else 1
    problem = Problem("not_a_level", f"pull {number}")
    readings = [
        WorkbookReading(rater, "main", "read", f"v{number}", expected_entries(number), [problem])
        for rater in RATERS
    ]
    verdict = Verdict("u1", "coverage", "score", number)
    return archive.record_pull("t", readings, AdjudicationReading("read", "", [verdict])).number


def main() -> None:
    """Record pulls for ever, and say so after each."""
    with Archive.open(Path(sys.argv[1])) as archive:
        while True:
            print(pull_once(archive), flush=True)


if __name__ == "__main__":
    main()
