"""Files with ratings -> tables of texts: CSV, JSON lines, or a tab of an .xlsx workbook."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path

from sheetsync.config_faults import Faults, listed, quoted
from sheetsync.config_files import decode_text, find_delimiter, number_records, read_json_record
from sheetsync.domain.cells import normalise, show
from sheetsync.domain.workbook import FormulaCell, Grid, RawCell
from sheetsync.errors import BackendError
from sheetsync.services.ratings_scale import text_of_number
from sheetsync.services.ratings_source import RawTable, Source

STDIN = Path("-")

_WORKBOOKS = {".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".numbers"}
_JSON_LINES = {".jsonl", ".ndjson"}


def read_raw_table(
    path: Path, known: Iterable[str], sheet: str | None, faults: Faults, notes: list[str]
) -> RawTable | None:
    """Read a file with ratings; None where it cannot be understood.

    Args:
        path: the file, by its ending and its first bytes; `-` is standard input.
        known: names of columns, by which the delimiter of a CSV file is found.
        sheet: the tab of a workbook; None takes the first.
        faults: collects what is wrong.
        notes: collects what the reader should know.
    """
    name = "stdin" if path == STDIN else path.name
    try:
        data = sys.stdin.buffer.read() if path == STDIN else path.read_bytes()
    except OSError as error:
        faults.error(str(path), f"cannot be read ({error.strerror}); check the path")
        return None
    suffix = path.suffix.lower()
    if suffix in _WORKBOOKS or data.startswith(b"PK\x03\x04"):
        return _read_workbook(data, name, sheet, faults, notes)
    if sheet is not None:
        faults.error("--sheet", f"{name} is no workbook and has no tabs; leave it out")
    text = decode_text(data, name, faults)
    if text is None:
        return None
    if suffix in _JSON_LINES or (path == STDIN and text.lstrip().startswith("{")):
        return _read_json_lines(text, name, faults)
    return _read_csv(text, name, set(known), faults)


def _read_csv(text: str, name: str, known: set[str], faults: Faults) -> RawTable:
    delimiter = find_delimiter(text, known)
    records = number_records(text, delimiter, name, faults)
    line, header = next(records, (1, []))
    return RawTable(Source(name), header, f"{name} line {line}", records, decimal_comma=delimiter != ",")


# --- JSON lines --------------------------------------------------------------------------------


def _read_json_lines(text: str, name: str, faults: Faults) -> RawTable:
    """Read all lines: only the last one may name the last column."""
    columns: dict[str, int] = {}
    shared: dict[str, str] = {}
    rows = []
    for line, source in enumerate(text.split("\n"), 1):
        if source.strip() and (record := read_json_record(f"{name} line {line}", source, faults)):
            rows.append((line, _json_row(f"{name} line {line}", record, columns, shared, faults)))
    return RawTable(Source(name), list(columns), name, iter(rows))


def _json_row(
    place: str, record: dict[str, object], columns: dict[str, int], shared: dict[str, str], faults: Faults
) -> list[str]:
    row = [""] * max(len(columns), len(record))
    for key, value in record.items():
        at = columns.setdefault(key, len(columns))
        if at >= len(row):
            row.extend([""] * (at + 1 - len(row)))
        text = _json_text(value)
        if text is None:
            faults.error(f"{place}, key {key}", f"found {quoted(value)}; it takes a text, a number or null")
        else:
            row[at] = shared.setdefault(text, text)
    return row


def _json_text(value: object) -> str | None:
    if value is None:
        return ""
    if isinstance(value, bool | str):
        return show(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and abs(value) < float("inf"):
        return text_of_number(value)
    return None


# --- workbooks ---------------------------------------------------------------------------------


def _read_workbook(
    data: bytes, name: str, sheet: str | None, faults: Faults, notes: list[str]
) -> RawTable | None:
    from sheetsync.backends.xlsx_read import parse_workbook  # noqa: PLC0415 - only workbooks need it

    try:
        reading = parse_workbook(data, name)
    except BackendError as error:
        faults.error(name, f"{error.message.removeprefix(name).strip()} {error.remedy}")
        return None
    tab = reading.tab(sheet) if sheet is not None else next(iter(reading.tabs), None)
    titles = [quoted(each.title) for each in reading.tabs]
    if tab is None:
        faults.error("--sheet", f"there is no tab {quoted(sheet)} in {name}; it has {listed(titles, 'and')}")
        return None
    if sheet is None and len(titles) > 1:
        notes.append(f"{name}: read its first tab, {titles[0]}; --sheet takes {listed(titles[1:])}")
    return _read_grid(tab, name)


def _read_grid(tab: Grid, name: str) -> RawTable:
    place = f"{name}, tab {quoted(tab.title)},"
    records = _grid_records(tab)
    row, header = next(records, (1, []))
    letters = {normalise(cell): _letters(at) for at, cell in reversed(list(enumerate(header)))}
    return RawTable(Source(place, "row", letters=letters), header, f"{place} row {row}", records)


def _grid_records(tab: Grid) -> Iterator[tuple[int, Sequence[str]]]:
    for number, cells in zip(count(1), tab.rows, strict=False):
        texts = [cell if isinstance(cell, str) else _cell_text(cell) for cell in cells]
        if any(map(str.strip, texts)):
            yield number, texts


def _cell_text(cell: RawCell) -> str:
    """Return what a cell shows: of a formula its result, of a formula without one the formula."""
    if isinstance(cell, FormulaCell) and cell.cached is not None:
        return _cell_text(cell.cached)
    if isinstance(cell, float):
        return text_of_number(cell)
    return show(cell)


def _letters(column: int) -> str:
    """Return the letters of a 0-based column.

    >>> _letters(0), _letters(26), _letters(701)
    ('A', 'AA', 'ZZ')
    """
    rest, last = divmod(column, 26)
    return (_letters(rest - 1) if rest else "") + chr(65 + last)
