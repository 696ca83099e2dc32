"""Commands that die of `kill -9` at a moment of the test's choice.

`python -m tests.services.killing` loads everything once and then, for every line on its standard input,
forks a child that runs a service on a study folder and kills it after so many seconds.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sheetsync.services.provision import provision
from sheetsync.services.publish import publish
from sheetsync.services.pull import pull
from sheetsync.services.run import run
from sheetsync.services.session import Session, writing_session
from tests.services.studies import NOW

ACTIONS: dict[str, Callable[[Session], object]] = {
    "provision": lambda session: provision(session, NOW),
    "pull": lambda session: pull(session, NOW),
    "publish": publish,
    "run": lambda session: run(session, NOW),
}

Killer = Callable[[Path, str, float], str]
"""Runs an action on a folder for at most so many seconds; returns `killed`, `done` or `failed`."""


@contextmanager
def killer() -> Iterator[Killer]:
    """Start the process that forks the children."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.services.killing"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert child.stdin is not None
    assert child.stdout is not None
    answers, orders = child.stdout, child.stdin

    def kill(folder: Path, action: str, delay: float) -> str:
        orders.write(json.dumps([str(folder), action, delay]) + "\n")
        orders.flush()
        return answers.readline().strip()

    try:
        yield kill
    finally:
        orders.close()
        child.wait(timeout=30)
        answers.close()


def _attempt(folder: Path, action: str, delay: float) -> str:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            with writing_session(folder, action, NOW) as session:
                ACTIONS[action](session)
            code = 0
        finally:
            os._exit(code)
    end = time.monotonic() + delay
    while time.monotonic() < end:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return "done" if status == 0 else "failed"
        time.sleep(0.0005)
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return "killed"
    return "done" if status == 0 else "failed"


if __name__ == "__main__":
    for line in sys.stdin:
        where, what, seconds = json.loads(line)
        print(_attempt(Path(where), what, seconds), flush=True)
