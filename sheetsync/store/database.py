"""The SQLite file: opening it, its transactions, and what its errors mean to people.

SQLite runs in WAL mode, so reading commands never wait for a pull; `synchronous=FULL` syncs the log
at every commit, because a rating that was reported as archived must survive a power cut. Python's
own transaction handling is off (`isolation_level=None`): transactions begin where we say so, and
those that write begin with the write lock, never by upgrading a read.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool

from sheetsync.errors import ArchiveError
from sheetsync.store.migrations import migrate

BUSY_SECONDS = 30
"""How long a write waits for another one; a command that holds the study's lock meets none."""

_LOG_LIMIT = 64 * 2**20
"""Bytes of write-ahead log kept on disk after a large pull."""


def open_database(path: Path) -> Engine:
    """Return an engine on the archive at `path`, made and migrated where necessary.

    Making a new one is not safe against another process doing the same: hold the study's lock.

    Raises:
        ArchiveError: the archive cannot be opened, or is none.
    """
    with translated_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _keep_private(path.parent, 0o700)
        if not path.exists():
            _create(path)
        elif not path.stat().st_size:
            raise _damaged(path)
        _keep_private(path, 0o600)
        engine = _engine(path, "wal")
        try:
            migrate(writing(engine))
        except BaseException:
            engine.dispose()
            raise
        return engine


def writing(engine: Engine) -> Engine:
    """Return the engine whose transactions may write."""
    return engine.execution_options(begin="BEGIN IMMEDIATE")


def driver(connection: Connection) -> sqlite3.Connection:
    """Return the driver's connection, for statements over very many rows."""
    raw = connection.connection.driver_connection
    assert isinstance(raw, sqlite3.Connection)  # noqa: S101 - `_engine` opens nothing else
    return raw


def _create(path: Path) -> None:
    """Make an archive beside its place and move it there whole.

    So an empty `archive.sqlite` is always a damaged one and never taken for a new study.
    """
    unfinished = path.with_name(path.name + ".unfinished")
    for leftover in (unfinished, unfinished.with_name(unfinished.name + "-journal")):
        leftover.unlink(missing_ok=True)
    os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    engine = _engine(unfinished, "delete")
    try:
        migrate(writing(engine))
    finally:
        engine.dispose()
    unfinished.replace(path)
    _sync_folder(path.parent)


def _engine(path: Path, journal: str) -> Engine:
    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute(f"PRAGMA journal_mode = {journal}")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA fullfsync = ON")  # macOS: through the drive's cache as well
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute(f"PRAGMA journal_size_limit = {_LOG_LIMIT}")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    engine = create_engine("sqlite+pysqlite://", creator=connect, poolclass=StaticPool)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))

    return engine


def _keep_private(path: Path, mode: int) -> None:
    if path.stat().st_mode & 0o077:
        with suppress(PermissionError):  # somebody else's folder: the archive itself decides
            path.chmod(mode)


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def translated_errors(path: Path) -> Iterator[None]:
    """Turn errors of the database and the file system into `ArchiveError` with a next step."""
    try:
        yield
    except DBAPIError as error:
        raise _explain(error.orig, path) from error
    except (sqlite3.Error, OSError, UnicodeEncodeError) as error:
        raise _explain(error, path) from error


def _damaged(path: Path) -> ArchiveError:
    return ArchiveError(
        f"The archive {path} is damaged, or is no archive.",
        "Keep the file, put the last good copy of the folder in its place, and run the command again.",
    )


_MEANINGS = {
    sqlite3.SQLITE_FULL: ("cannot grow: the disk is full", "Free some space and run the command again"),
    sqlite3.SQLITE_IOERR: (
        "could not be read or written: the disk is full or failing",
        "Free some space, check the disk, and run the command again",
    ),
    sqlite3.SQLITE_BUSY: ("is in use by another program", "Close that program and run the command again"),
    sqlite3.SQLITE_LOCKED: ("is in use by another program", "Close that program and run the command again"),
    sqlite3.SQLITE_READONLY: ("is read-only", "Make the file and its folder writable for you"),
    sqlite3.SQLITE_PERM: ("may not be opened", "Make the file and its folder writable for you"),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened", "Make the file and its folder writable for you"),
}


def _explain(error: BaseException | None, path: Path) -> ArchiveError:
    if isinstance(error, UnicodeEncodeError):
        return ArchiveError(
            f"The archive cannot hold the text {error.object[:60]!a}: it is not valid Unicode.",
            "Correct the text in the study's files and run the command again.",
        )
    if isinstance(error, OSError):
        return ArchiveError(
            f"The archive {path} cannot be opened: {error.strerror or error}.",
            "Make the file and its folder writable for you, with space left on the disk.",
        )
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return _damaged(path)
    if code in _MEANINGS:
        meaning, remedy = _MEANINGS[code]
        return ArchiveError(f"The archive {path} {meaning}; nothing was changed.", f"{remedy}.")
    return ArchiveError(
        f"The archive {path} refused a record ({error}); nothing was changed.",
        "This is a fault of sheetsync: please report it with this message.",
    )
