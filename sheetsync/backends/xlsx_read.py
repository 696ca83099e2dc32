"""An xlsx file -> `Reading`: values by calamine, the rest by `xlsx_package`."""

from __future__ import annotations

import datetime as dt
import io
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import python_calamine

from sheetsync.backends.xlsx_package import DamagedError, Package, SheetScan
from sheetsync.domain.workbook import (
    DateCell,
    ErrorCell,
    FormulaCell,
    Grid,
    RawCell,
    Reading,
    trimmed,
)
from sheetsync.errors import WorkbookMissingError, WorkbookUnreadableError

LISTS_TAB = "Lists"
"""Title of the tab that holds the lists of drop-downs; never part of a `Reading`."""

LISTS_SIGN = "sheetsync lists"
"""Text of its first cell; the marker stands below, where it survives whatever drops document properties."""

_MOST_CELLS = 10_000_000
"""calamine fills the rectangle around all values; above this a stray cell would cost gigabytes."""

_PLAIN = frozenset({str, int, float, bool, type(None)})
"""Types that calamine and openpyxl give for what is no date, time or duration."""

_EPOCH = dt.datetime(1899, 12, 30)

_RESTORE = "Have it saved again as .xlsx, or take an earlier version from the shared folder's history."

_HALF = "is incomplete or damaged, probably half-synced or half-copied"
_WAIT = "Wait until the folder has synced and try again; else take an earlier version of the file."
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    ValueError,
    KeyError,
    OSError,
    NotImplementedError,
    RuntimeError,
)
"""What zipfile, zlib and openpyxl raise about broken files."""

Rows = Iterable[Sequence[Any]]


def read_workbook(path: Path, name: str = "") -> Reading:
    """Read every tab; `name` is what messages call the file.

    Raises:
        WorkbookMissingError: there is no such file.
        WorkbookUnreadableError: it is no workbook; the message says what it seems to be.
    """
    name = name or path.name
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise WorkbookMissingError(f"{name} is missing.", "Put it back, or provision it again.") from None
    except PermissionError:
        raise WorkbookUnreadableError(
            f"{name} may not be read (permission denied).", "Give this account the right to read it."
        ) from None
    except OSError as error:
        raise WorkbookUnreadableError(
            f"{name} cannot be read ({error.strerror}).", "Check the folder and the connection to it."
        ) from error
    return parse_workbook(content, name)


def parse_workbook(content: bytes, name: str) -> Reading:
    """Read a workbook's bytes; see `read_workbook`."""
    cause = _no_zip(content)
    try:
        if cause is None:
            package = Package(content)
            cause = _no_workbook(package)
            if cause is None:
                return _parse(package, content)
    except DamagedError as error:
        raise WorkbookUnreadableError(f"{name} {error}.", _RESTORE) from error
    except _DAMAGE as error:
        raise WorkbookUnreadableError(f"{name} {_HALF}.", _WAIT) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # what a bug in calamine's Rust code looks like
            raise
        raise WorkbookUnreadableError(f"{name} {_HALF}.", _WAIT) from error
    raise WorkbookUnreadableError(f"{name} {cause[0]}.", cause[1])


def _parse(package: Package, content: bytes) -> Reading:
    scans = {title: (part, package.scan(part)) for title, part in package.sheets().items()}
    grids = []
    with _calamine(content) as book:
        for title in book.sheet_names:
            if title not in scans:
                grids.append(Grid(title, ()))  # a chart or dialog sheet
                continue
            part, scan = scans[title]
            if _is_sparse(package, part, scan.rows):
                rows = _read_sparsely(content, title)
            else:
                rows = _read_densely(book, title)
            grids.append(Grid(title, _finish(rows, scan, package, part)))
    lists = next((grid for grid in grids if grid.cell(0, 0) == LISTS_SIGN), None)
    below = lists.cell(1, 0) if lists else None
    marker = package.marker() or (below if isinstance(below, str) else "")
    return Reading(tuple(grid for grid in grids if grid is not lists), marker)


def _is_sparse(package: Package, part: str, rows: int) -> bool:
    """Say whether the rectangle around all values may be too large."""
    return rows * 702 > _MOST_CELLS or (rows * 16_384 > _MOST_CELLS and package.is_wide(part))


def _calamine(content: bytes) -> python_calamine.CalamineWorkbook:
    try:
        return python_calamine.load_workbook(io.BytesIO(content))
    except python_calamine.CalamineError as error:
        raise DamagedError(f"is damaged ({error})") from error


def _read_densely(book: python_calamine.CalamineWorkbook, title: str) -> list[list[Any]]:
    try:
        return book.get_sheet_by_name(title).to_python(skip_empty_area=False)
    except python_calamine.CalamineError as error:
        raise DamagedError(f"is damaged (tab {title!r}: {error})") from error


def _read_sparsely(content: bytes, title: str) -> Rows:
    """Read row by row, for a tab with values far down or far right."""
    import openpyxl  # noqa: PLC0415 - rarely needed, slow to load

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about styles and extensions that are no concern of reading
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        sheet: Any = book[title]
        sheet.reset_dimensions()  # what the file claims about its size
        rows: list[Sequence[Any]] = [row if any(row) else () for row in sheet.iter_rows(values_only=True)]
        book.close()
    return rows


def _finish(rows: Rows, scan: SheetScan, package: Package, part: str) -> tuple[tuple[RawCell, ...], ...]:
    """Turn values into cells, and lay formulas, errors and exact dates over them."""
    dates: dict[tuple[int, int], Any] = {}
    table: list[list[RawCell]] = []
    for row in rows:
        # This comprehension is the larger part of reading.
        cells: list[Any] = [
            (it or None)
            if it.__class__ is str
            else (int(it) if it.__class__ is float and it.is_integer() else it)
            for it in row
        ]
        if not _PLAIN.issuperset(map(type, cells)):
            dates |= {(len(table), column): it for column, it in enumerate(cells) if type(it) not in _PLAIN}
        table.append(cells)
    stored = package.numbers(part, set(dates)) if dates else {}
    for place, value in dates.items():
        _put(table, place, DateCell(_serial(stored.get(place), value), _iso(value)))
    for place, error in scan.errors.items():
        _put(table, place, ErrorCell(error))
    for place, (text, has_result) in scan.formulas.items():
        value = _at(table, place)
        if value is None or isinstance(value, DateCell | ErrorCell):
            _put(table, place, FormulaCell(text, _cached(value, has_result)))
        elif not isinstance(value, FormulaCell):
            table[place[0]][place[1]] = FormulaCell(text, value)
    return trimmed(table)


def _cached(value: DateCell | ErrorCell | None, has_result: bool) -> str | int | float | None:
    if isinstance(value, DateCell):
        return int(value.serial) if value.serial.is_integer() else value.serial
    if isinstance(value, ErrorCell):
        return value.text
    return "" if has_result else None


def _serial(stored: str | None, value: Any) -> float:
    """Return the stored number; a file may also store a date as text, which is then counted."""
    try:
        return float(stored or "")
    except ValueError:
        if isinstance(value, dt.timedelta):
            return value / dt.timedelta(days=1)
        day = value if isinstance(value, dt.datetime) else _EPOCH
        if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
            day = dt.datetime(value.year, value.month, value.day)
        return (day - _EPOCH) / dt.timedelta(days=1)


def _iso(value: Any) -> str:
    if isinstance(value, dt.timedelta):
        hours, rest = divmod(round(value.total_seconds()), 3600)
        return f"PT{hours}H{rest // 60}M{rest % 60}S"
    return str(value.isoformat())


def _at(table: list[list[RawCell]], place: tuple[int, int]) -> RawCell:
    row, column = place
    return table[row][column] if row < len(table) and column < len(table[row]) else None


def _put(table: list[list[RawCell]], place: tuple[int, int], cell: RawCell) -> None:
    """Set a cell; a formula or error without a value may lie outside of what calamine returned."""
    row, column = place
    table.extend([] for _ in range(row + 1 - len(table)))
    table[row].extend([None] * (column + 1 - len(table[row])))
    table[row][column] = cell


# --- what a file that is no workbook seems to be --------------------------------------------------

_SAVE_AS = "Open it in the program that made it, save it as .xlsx under the same name, and try again."


def _no_zip(content: bytes) -> tuple[str, str] | None:
    """Return likely cause and remedy for a file that is not even a zip file."""
    if content.startswith(b"PK"):
        return None
    if not content.strip(b"\0"):
        return "is empty, probably because it has not finished syncing", _RESTORE
    if content.startswith(b"\xd0\xcf\x11\xe0"):
        if "EncryptedPackage".encode("utf-16-le") in content:
            return "is protected with a password", "Save it without a password (File > Info) and try again."
        return "is an old Excel file (.xls) that was renamed", _SAVE_AS
    start = content[:2048].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html", b"<table", b"<head", b"<meta")):
        return "is a web page, probably a sign-in page or an export, not a workbook", _SAVE_AS
    if start.startswith((b"<?xml", b"<")):
        return "is an XML file that was renamed, not a workbook", _SAVE_AS
    if b"\0" not in start or content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "is a text file, probably CSV that was renamed, not a workbook", _SAVE_AS
    return "is not an Excel workbook", _SAVE_AS


def _no_workbook(package: Package) -> tuple[str, str] | None:
    """Return likely cause and remedy for a zip file that is not an xlsx workbook."""
    names = package.names()
    if "xl/workbook.xml" in names:
        return None
    if "xl/workbook.bin" in names:
        return "is a binary Excel workbook (.xlsb) that was renamed", _SAVE_AS
    if "opendocument" in package.text_start("mimetype"):
        return "is an OpenDocument file (.ods) that was renamed", _SAVE_AS
    if any(name.startswith("word/") for name in names):
        return "is a Word document, not a workbook", _SAVE_AS
    if any(name.startswith("index/") for name in names):
        return "is an Apple Numbers file that was renamed", _SAVE_AS
    return "is a zip file of something else, not a workbook", _RESTORE
