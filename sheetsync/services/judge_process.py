"""The judge as a process: one case on its standard input, one verdict line on its standard output.

The program is anybody's, and often talks to a service that fails. So:

- It gets one case at a time and never the next one before the last is settled; a case has a time limit, after which
  the process and all its children are killed and the next case goes to a new one.
- Whatever it writes goes to a file byte by byte, and its standard error to a log.
- A line that is no verdict on the case may be chatter before the verdict, or be all there is. It counts once nothing
  better has come for `GRACE` seconds; a verdict on an earlier case that comes late still counts for that case.
- No shell is involved: the command is a list of words.
"""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from sheetsync.domain.certification.cases import Case, Verdict
from sheetsync.domain.certification.verdict_lines import MAX_LINE, id_of_line, parse_verdict_line
from sheetsync.errors import SheetsyncError

GRACE = 5.0
"""Seconds in which a verdict may follow a line that is none."""

_LAST_WORDS = 2.0
"""Seconds a judge has to end by itself when there are no more cases."""


def find_program(command: Sequence[str], root: Path) -> list[str]:
    """Return the command with its program found: in the study folder, else where programs are.

    Raises:
        SheetsyncError: there is no such program, or it may not be run.
    """
    name = command[0]
    own = root / name
    found = str(own.resolve()) if own.is_file() and shutil.which(str(own)) else shutil.which(name)
    if found is None:
        what = (
            "may not be run"
            if own.is_file()
            else "is neither in the study folder nor a program on this machine"
        )
        raise SheetsyncError(
            f"The judge cannot be started: {name} {what}.",
            "Correct [judge] command in study.toml; a script needs its program before it, as in "
            '["python", "my_judge.py"].',
        )
    return [found, *command[1:]]


_HELD_LINES = 100
"""Lines that wait to be read; a judge that floods its output waits for them."""


@dataclass(frozen=True)
class Answer:
    """What one turn brought: the verdict on the case that was asked, and late ones on earlier cases."""

    verdict: Verdict
    late: tuple[Verdict, ...] = ()


class JudgeProcess:
    """Runs the judge, and starts it anew whenever it is gone; use it as a context manager."""

    def __init__(
        self, command: Sequence[str], root: Path, output: BinaryIO, log: BinaryIO, *, grace: float = GRACE
    ) -> None:
        self._command = find_program(command, root)
        self._root = root
        self._output = output
        self._log = log
        self._grace = grace
        self._talk: _Talk | None = None
        self._open: dict[str, Case] = {}

    def __enter__(self) -> JudgeProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(patient=kind is None)

    def close(self, *, patient: bool = True) -> None:
        """End the process; the next case goes to a new one."""
        if self._talk is not None:
            self._talk.end(_LAST_WORDS if patient else 0)
        self._talk = None
        self._open.clear()

    def ask(self, case: Case, timeout: float) -> Answer:
        """Show the judge a case and return what it says within `timeout` seconds.

        Raises:
            SheetsyncError: the program cannot be started.
        """
        answer, is_first = self._turn(case, timeout)
        if answer.verdict.state == "missing" and not is_first:
            again, _ = self._turn(case, timeout)
            answer = Answer(again.verdict, (*answer.late, *again.late))
        return answer

    def _turn(self, case: Case, timeout: float) -> tuple[Answer, bool]:
        """Return what one process says of a case, and whether it was the first case of that process.

        A process that ends after some cases may have ended because of those: the next one gets the case again.
        """
        is_first = self._talk is None
        if self._talk is None:
            self._talk = _Talk(self._command, self._root, self._output, self._log)
        self._talk.say(case.line())
        answer = self._listen(self._talk, case, timeout)
        if answer.verdict.state in ("timeout", "missing"):
            self.close(patient=False)
        elif answer.verdict.state != "answered":
            self._open[case.id] = case
        return answer, is_first

    def _listen(self, talk: _Talk, case: Case, timeout: float) -> Answer:
        end = time.monotonic() + timeout
        held: Verdict | None = None
        late: list[Verdict] = []
        while True:
            try:
                line = talk.lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                why = f"no verdict within {timeout:g} seconds"
                return Answer(held or Verdict(case.id, "timeout", why=why), tuple(late))
            if line is None:
                why = f"the judge ended ({talk.how_it_ended()}) before it answered"
                return Answer(held or Verdict(case.id, "missing", why=why), tuple(late))
            named = id_of_line(line)
            if named == case.id:
                return Answer(parse_verdict_line(line, case), tuple(late))
            if named in self._open:
                verdict = parse_verdict_line(line, self._open.pop(named))
                late.append(verdict)
            elif line.strip():
                held = _better(held, parse_verdict_line(line, case))
                end = min(end, time.monotonic() + self._grace)


def _better(held: Verdict | None, verdict: Verdict) -> Verdict:
    """Return what stands if nothing else comes: the first line, unless a later one refuses."""
    return verdict if held is None or (held.state, verdict.state) == ("malformed", "refused") else held


class _Talk:
    """One running process, with a thread that writes to it and one that listens."""

    def __init__(self, command: Sequence[str], root: Path, output: BinaryIO, log: BinaryIO) -> None:
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the study's own program, and no shell
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=root,
                env={"PYTHONUNBUFFERED": "1", **os.environ},  # a line that waits in a buffer is a timeout
                start_new_session=sys.platform != "win32",
                bufsize=0,
            )
        except (OSError, ValueError) as error:
            raise SheetsyncError(
                f"The judge cannot be started: {command[0]}: {getattr(error, 'strerror', None) or error}.",
                "Correct [judge] command in study.toml; a script needs a first line that names its program, or the "
                "program before it in the command.",
            ) from error
        self._output = output
        self.lines: queue.Queue[str | None] = queue.Queue(_HELD_LINES)
        self._cases: queue.Queue[bytes | None] = queue.Queue()
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._write, self._hear)]
        for thread in self._threads:
            thread.start()

    def say(self, line: str) -> None:
        """Hand over a line; a judge that does not read holds up nobody but itself."""
        self._cases.put(line.encode("ascii"))

    def _write(self) -> None:
        stdin = self._process.stdin
        assert stdin is not None  # noqa: S101 - it is a pipe
        with contextlib.suppress(OSError, ValueError):
            while (line := self._cases.get()) is not None:
                stdin.write(line)
        with contextlib.suppress(OSError, ValueError):
            stdin.close()

    def _hear(self) -> None:
        """Pass on line by line what the judge writes; of a line beyond all measure only its beginning."""
        stdout = self._process.stdout
        assert stdout is not None  # noqa: S101 - it is a pipe
        rest = b""
        with contextlib.suppress(OSError, ValueError), stdout:
            while chunk := stdout.read(1 << 16):
                self._output.write(chunk)
                self._output.flush()
                *whole, rest = (rest + chunk).split(b"\n")
                for line in whole:
                    self.lines.put(line.decode("utf-8", "replace"))
                rest = rest[: 4 * MAX_LINE + 4]
        if rest.strip():
            self.lines.put(rest.decode("utf-8", "replace"))
        self.lines.put(None)

    def how_it_ended(self) -> str:
        """Return in words how a process ended whose output has ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=1)
        code = self._process.returncode
        if code is None:
            return "it closed its output"
        return f"exit code {code}" if code >= 0 else f"signal {-code}"

    def end(self, patience: float) -> None:
        """Close its input, wait a moment for it to end, and kill it with all its children."""
        self._cases.put(None)
        if patience:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=patience)
        self._kill()
        self._process.wait()
        end = time.monotonic() + _LAST_WORDS
        while any(thread.is_alive() for thread in self._threads) and time.monotonic() < end:
            with contextlib.suppress(queue.Empty):  # whoever listens may wait for room
                self.lines.get(timeout=0.01)

    def _kill(self) -> None:
        """Kill whatever is left, also children of a judge that has ended."""
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.SIGKILL)
