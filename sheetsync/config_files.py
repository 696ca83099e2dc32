"""Reading the study's files: text, TOML, and tables (CSV or JSON lines) with line numbers."""

from __future__ import annotations

import csv
import io
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sheetsync.config_faults import Faults, listed, nearest, quoted
from sheetsync.domain.cells import normalise

# --- text --------------------------------------------------------------------------------------


def read_text(path: Path, name: str, faults: Faults) -> str | None:
    """Read a UTF-8 file, with or without byte order mark; None after a fault."""
    try:
        if not path.exists():
            faults.error(name, "there is no such file; create it, or correct its name in study.toml")
            return None
        if not path.is_file():
            faults.error(name, "is not a file; correct its name in study.toml [files]")
            return None
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        faults.error(
            name, f"cannot be read ({getattr(error, 'strerror', None) or error}); check its name and rights"
        )
        return None
    return decode_text(data, name, faults)


def decode_text(data: bytes, name: str, faults: Faults) -> str | None:
    """Decode UTF-8, with or without byte order mark; None after a fault."""
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"} or data.count(0) > len(data) // 4:
        faults.error(name, "is not UTF-8 but probably UTF-16 (“Unicode text”); save it again as UTF-8")
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        faults.error(
            f"{name} line {line}",
            f"is not UTF-8 (byte 0x{error.object[error.start]:02X}), probably Windows-1252; "
            "save the file again as UTF-8 (in Excel: “CSV UTF-8”)",
        )
        return None


_TOML_PLACE = re.compile(r" \(at (?:(line \d+, column \d+)|end of document)\)$")


def read_toml(path: Path, name: str, faults: Faults) -> dict[str, object] | None:
    """Read a TOML file as plain data; None after a fault."""
    text = read_text(path, name, faults)
    if text is None:
        return None
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        said = str(error)
        place = _TOML_PLACE.search(said)
        where = f"{name} {(place and place[1]) or 'at its end' if place else ''}".strip()
        problem = _TOML_PLACE.sub("", said)
        faults.error(
            where,
            f"is not valid TOML ({problem}); texts need quotation marks, lists and tables their brackets",
        )
        return None


# --- tables ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One record of a table; `values` by folded column name, with plain line feeds."""

    place: str
    line: int
    values: Mapping[str, str]
    word: str = "column"

    def text(self, column: str) -> str:
        """Return a value without outer blanks; empty where there is none."""
        return self.values.get(column, "").strip()

    def at(self, column: str) -> str:
        """Return the place of a value in words."""
        return f"{self.place}, {self.word} {column}"


@dataclass(frozen=True)
class Table:
    """A table with its columns: folded name to name as written."""

    name: str
    columns: Mapping[str, str]
    rows: Sequence[Row]


def read_table(
    path: Path, name: str, required: Sequence[str], optional: Sequence[str], faults: Faults
) -> Table | None:
    """Read a CSV file, or JSON lines by the file's ending; None where it cannot be understood."""
    text = read_text(path, name, faults)
    if text is None:
        return None
    read = _read_json_lines if path.suffix.lower() in {".jsonl", ".ndjson"} else _read_csv
    table = read(text, name, {*required, *optional}, faults)
    if table is None or not _has_columns(table, required, faults):
        return None
    _warn_of_misspelt_columns(table, [*required, *optional], faults)
    return table


def _has_columns(table: Table, required: Sequence[str], faults: Faults) -> bool:
    missing = [column for column in required if column not in table.columns]
    if missing:
        found = ", ".join(table.columns.values()) or "none"
        faults.error(
            f"{table.name} line 1",
            f"has no column {listed(missing, 'and')}; found: {found}. "
            f"The first line must name at least {listed(required, 'and')}",
        )
    return not missing


def _warn_of_misspelt_columns(table: Table, known: Sequence[str], faults: Faults) -> None:
    for folded, written in table.columns.items():
        match = None if folded in known else nearest(folded, known, 0.85)
        if match and match not in table.columns:
            faults.warn(
                f"{table.name} line 1", f"column {quoted(written)} is not known; did you mean {match}?"
            )


def _read_csv(text: str, name: str, known: set[str], faults: Faults) -> Table | None:
    before = len(faults)
    records = list(number_records(text, find_delimiter(text, known), name, faults))
    if len(faults) > before:
        return None
    if not records:
        faults.error(name, "is empty; its first line must name the columns")
        return None
    (line, header), body = records[0], records[1:]
    columns = _read_header(f"{name} line {line}", header, faults)
    rows = [_read_record(name, line, columns, record, faults) for line, record in body]
    named = {normalise(cell): " ".join(cell.split()) for cell in reversed(header) if cell.strip()}
    return Table(name, dict(reversed(named.items())), rows)


def number_records(text: str, delimiter: str, name: str, faults: Faults) -> Iterator[tuple[int, list[str]]]:
    """Yield each CSV record that is not blank with the line it starts on, up to a first fault."""
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for record in reader:
            if record and (record[0].strip() or any(map(str.strip, record))):
                yield line, record
            line = reader.line_num + 1
    except csv.Error as error:
        faults.error(f"{name} line {line}", _csv_problem(str(error)))


def _csv_problem(said: str) -> str:
    if "unexpected end" in said:
        return 'a quotation mark (") opened in this row is never closed; close it, or delete it'
    if "expected after" in said:
        return 'a quotation mark (") stands inside a quoted field; write it twice ("")'
    return f"cannot be read as CSV ({said}); save the file again as “CSV UTF-8”"


_FIRST_LINE = re.compile(r"\s*([^\r\n]*)")


def find_delimiter(text: str, known: set[str]) -> str:
    """Return what parts the cells: comma, semicolon or tab.

    The one under which the header holds most known names; where none does, a comma if there is any,
    else the more frequent of the others.

    >>> find_delimiter("unit;rater;value", {"unit"}), find_delimiter("item;ann;ben", {"unit"})
    (';', ';')
    """
    found = _FIRST_LINE.match(text)
    header = found[1] if found else ""

    def hits(delimiter: str) -> int:
        return sum(normalise(cell.strip().strip('"')) in known for cell in header.split(delimiter))

    return max(",;\t", key=lambda one: (hits(one), one == "," and "," in header, header.count(one)))


def _read_header(where: str, header: Sequence[str], faults: Faults) -> list[str]:
    columns: list[str] = []
    for position, cell in enumerate(header, 1):
        folded = normalise(cell)
        if folded and folded in columns:
            first = columns.index(folded) + 1
            faults.error(
                where, f"column {quoted(cell)} stands twice, as column {first} and {position}; rename one"
            )
        columns.append(folded)
    return columns


def _read_record(name: str, line: int, columns: Sequence[str], record: Sequence[str], faults: Faults) -> Row:
    place = f"{name} line {line}"
    values: dict[str, str] = {}
    for position, cell in enumerate(record):
        column = columns[position] if position < len(columns) else None
        if column:
            values.setdefault(column, _unix_lines(cell))
        elif cell.strip():
            faults.error(place, _stray_field(position, cell, len(record), columns))
            break
    return Row(place, line, values)


def _stray_field(position: int, cell: str, fields: int, columns: Sequence[str]) -> str:
    if position < len(columns):
        return f"field {position + 1} holds {quoted(cell)} but its column has no name; name the column"
    return (
        f"has {fields} fields but there are {len(columns)} columns; "
        'a text with a comma needs quotation marks (") around it'
    )


def _unix_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _read_json_lines(text: str, name: str, known: set[str], faults: Faults) -> Table | None:
    rows: list[Row] = []
    columns: dict[str, str] = {}
    for line, source in enumerate(text.split("\n"), 1):
        record = read_json_record(f"{name} line {line}", source, faults) if source.strip() else None
        if record is None:
            continue
        columns |= {normalise(key): key for key in record if normalise(key) not in columns}
        rows.append(_json_row(f"{name} line {line}", line, record, known, faults))
    return Table(name, columns, rows)


def read_json_record(place: str, source: str, faults: Faults) -> dict[str, object] | None:
    """Read one line of a JSON lines file; None after a fault."""
    try:
        record = json.loads(source)
    except json.JSONDecodeError as error:
        faults.error(
            f"{place}, character {error.colno}", f"is not valid JSON ({error.msg}); one object per line"
        )
    except (ValueError, RecursionError) as error:
        faults.error(place, f"cannot be read as JSON ({error}); one object per line")
    else:
        if isinstance(record, dict):
            return record
        faults.error(place, f"holds {quoted(record)}; each line must be one object in braces")
    return None


def _json_row(place: str, line: int, record: Mapping[str, object], known: set[str], faults: Faults) -> Row:
    values: dict[str, str] = {}
    for key, value in record.items():
        column = normalise(key)
        if column not in known or value is None:
            continue
        if isinstance(value, str):
            values[column] = _unix_lines(value)
        elif isinstance(value, int) and not isinstance(value, bool):
            values[column] = str(value)
        else:
            faults.error(f"{place}, key {column}", f"found {quoted(value)}; it takes text in quotation marks")
    return Row(place, line, values, word="key")
