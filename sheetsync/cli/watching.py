"""What `watch` needs of the process: signals, the real clock, and the log on stderr."""

from __future__ import annotations

import signal
import threading
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
    stop = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stop.set())
    settings = load_study(folder).settings.schedule
    watch(
        settings,
        lambda now: nightly(folder, now, blind=blind),
        lambda line: click.echo(line, err=True),
        clock=lambda: datetime.now(UTC),
        wait=stop.wait,
    )


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
