"""The study's lock: one command at a time writes the archive and the sheets.

The lock is the operating system's, on the file `lock`: it is gone with the process that holds it,
however that process ends, so nobody ever has to remove a stale one. Who holds it stands in a file
beside it, which serves the message only and is believed only while the lock is taken.
"""

from __future__ import annotations

import errno
import json
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from sheetsync.errors import ArchiveError, LockedError

LOCK_NAME = "lock"
HOLDER_NAME = "lock.holder"

_NO_LOCKS = {errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL}


@contextmanager
def study_lock(private: Path, command: str = "", at: str = "") -> Iterator[None]:
    """Hold the lock of the study whose private folder is given; never wait for it.

    Args:
        private: the study's `.sheetsync` folder; made where there is none.
        command: what is being run, for the message that others get.
        at: since when.

    Raises:
        LockedError: another command holds it.
        ArchiveError: the folder cannot be written, or its file system has no locks.
    """
    holder = private / HOLDER_NAME
    lock = _acquire(private)
    try:
        with suppress(OSError):  # without it the message says less; the lock is what counts
            _write_holder(holder, command, at)
        yield
    finally:
        with suppress(OSError):
            holder.unlink(missing_ok=True)
        lock.release()


def _acquire(private: Path) -> BaseFileLock:
    try:
        if not private.exists():
            private.mkdir(mode=0o700, parents=True)
        with warnings.catch_warnings():
            warnings.simplefilter(
                "error"
            )  # newer filelocks warn and go on with a lock that outlives its process
            lock = FileLock(private / LOCK_NAME, timeout=0, mode=0o600)
            lock.acquire()
    except Timeout as error:
        raise LockedError(
            f"Another command is writing to this study{_describe_holder(private / HOLDER_NAME)}.",
            "Wait until it has finished, or stop it, and run the command again.",
        ) from error
    except (NotImplementedError, UserWarning) as error:
        raise _without_locks(private) from error
    except OSError as error:
        if error.errno in _NO_LOCKS:
            raise _without_locks(private) from error
        raise ArchiveError(
            f"The study cannot be locked: {error.strerror or error} ({private / LOCK_NAME}).",
            "Make the folder writable for you, with space left on the disk, and run the command again.",
        ) from error
    return lock


def _without_locks(private: Path) -> ArchiveError:
    return ArchiveError(
        f"The file system of {private} has no file locks, so two commands could write at once.",
        "Move the study to a local disk, or switch locking on for this network share.",
    )


def _write_holder(holder: Path, command: str, at: str) -> None:
    """Write the file in one step, so that nobody reads half of it."""
    draft = holder.with_name(f"{holder.name}.{os.getpid()}")
    draft.write_text(json.dumps({"pid": os.getpid(), "command": command, "since": at}), encoding="utf-8")
    draft.replace(holder)


def _describe_holder(holder: Path) -> str:
    try:
        found = json.loads(holder.read_text(encoding="utf-8"))
        parts = [f"pid {found['pid']}"]
        if found["command"]:
            parts.append(f"`{found['command']}`")
        if found["since"]:
            parts.append(f"since {found['since']}")
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return f" ({', '.join(parts)})"
