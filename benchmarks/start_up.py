"""Starting up: `sheetsync --help` as a whole process: `python -m benchmarks.start_up`.

The limit is against an interpreter that does nothing. How long two well-known commands take to show
their help is measured in the same rounds, for information.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

from benchmarks.measure import Row, beside, print_rows

LIMIT = 6.0
WHAT = "sheetsync --help"
BARE = "python -c pass"
OTHERS = ("pip --help", "flask --help")


def run(rounds: int = 7) -> list[Row]:
    """Measure `sheetsync --help` beside each peer that is installed."""
    peers = [BARE, *(other for other in OTHERS if _script(other).exists())]
    ratios = beside(_process(WHAT), [_process(peer) for peer in peers], rounds)
    return [
        Row(WHAT, peer, ratio, LIMIT if peer == BARE else None)
        for peer, ratio in zip(peers, ratios, strict=True)
    ]


def _script(command: str) -> Path:
    return Path(sys.executable).with_name(command.split(maxsplit=1)[0])


def _process(command: str) -> partial[object]:
    program, *arguments = command.split()
    path = sys.executable if program == "python" else str(_script(command))
    return partial(subprocess.run, [path, *arguments], check=True, capture_output=True)


if __name__ == "__main__":
    print_rows(run(int(sys.argv[1]) if len(sys.argv) > 1 else 7))
