"""What `watch` needs of the process: signals, the real clock, and the log on stderr."""

from __future__ import annotations

import signal
import time
from datetime import UTC, datetime
from pathlib import Path

import click

from sheetsync.config import load_study
from sheetsync.errors import SheetsyncError
from sheetsync.services.run import failure_line, log_line, run
from sheetsync.services.session import writing_session
from sheetsync.services.watch import stamp, watch


def watch_until_stopped(folder: Path, *, blind: bool) -> None:
    """Run nightly until SIGTERM or Ctrl-C; a run that is under way is finished first."""
    stop = _Stop()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, stop.ask)
    settings = load_study(folder).settings.schedule
    watch(
        settings,
        lambda now: nightly(folder, now, blind=blind),
        lambda line: click.echo(line, err=True),
        clock=lambda: datetime.now(UTC),
        wait=stop.wait,
    )


class _Stop:
    """A wish to stop, made by a signal.

    It is a plain flag that is looked at twice a second: a handler that runs inside an `Event.wait`
    may not take the lock that the wait holds.
    """

    def __init__(self) -> None:
        self._asked = False

    def ask(self, *_: object) -> None:
        """Wish to stop."""
        self._asked = True

    def wait(self, seconds: float) -> bool:
        """Sleep so long, or until somebody wishes to stop; say whether somebody does."""
        end = time.monotonic() + seconds
        while not self._asked and (left := end - time.monotonic()) > 0:
            time.sleep(min(0.5, left))
        return self._asked


def nightly(folder: Path, now: datetime, *, blind: bool = False) -> str:
    """Run once and return the log line; an operation that fails is a line too."""
    try:
        with writing_session(folder, "watch", stamp(now)) as session:
            ran = run(session, stamp(now), blind=blind)
    except SheetsyncError as error:
        faults = "; ".join(str(fault) for fault in getattr(error, "faults", ()))
        return failure_line(error) + (f" ({faults})" if faults else "")
    for each in ran.incomplete:
        click.echo(f"{each.path}: {each.message}", err=True)
    return log_line(ran)
