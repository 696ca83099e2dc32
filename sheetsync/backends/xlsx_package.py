"""An xlsx file as a zip of XML: what calamine does not tell, found without parsing every cell.

calamine is fast, but it shows a formula as its result, an error as a blank, and a date rounded. Here
the sheet XML is searched (not parsed) for just those cells, in pieces of whole rows, so that memory
stays small whatever the file claims about its size.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from xml.etree import ElementTree as ET

MAX_UNCOMPRESSED = 512 * 1024 * 1024
"""Larger workbooks are refused: 100 times the largest scoring workbook, and still fits in memory."""

MARKER_PROPERTY = "sheetsync"
"""The custom document property that holds the marker."""

_MOST_DEFLATE_CAN_DO = 1032  # zlib.net/zlib_tech.html: the largest possible compression ratio
_PIECE = 1 << 20
_TAIL = 256


class DamagedError(Exception):
    """The package is not what it should be; the message completes "the file ..."."""


@dataclass
class SheetScan:
    """Special cells of one sheet by 0-based (row, column), and how far its values reach.

    Attributes:
        formulas: text of each formula cell, and whether it has a result.
        errors: text of each error cell, of formulas too.
        rows: number of the last row that may hold a value.
    """

    formulas: dict[tuple[int, int], tuple[str, bool]] = field(default_factory=dict)
    errors: dict[tuple[int, int], str] = field(default_factory=dict)
    rows: int = 0


class Package:
    """An opened xlsx file.

    Raises:
        DamagedError: it cannot be opened, or is absurdly large.
        zipfile.BadZipFile: it is no zip file, or a part is damaged.
    """

    def __init__(self, content: bytes) -> None:
        self._zip = zipfile.ZipFile(io.BytesIO(content))
        self._parts = {info.filename.lower().lstrip("/"): info for info in self._zip.infolist()}
        if sum(info.file_size for info in self._parts.values()) > MAX_UNCOMPRESSED:
            raise DamagedError(f"unpacks to more than {MAX_UNCOMPRESSED >> 20} MB")
        for info in self._parts.values():
            if info.compress_size * _MOST_DEFLATE_CAN_DO > MAX_UNCOMPRESSED:
                self._check_size(info)

    def names(self) -> set[str]:
        """Return the lower-case names of all parts."""
        return set(self._parts)

    def text_start(self, name: str, length: int = 100) -> str:
        """Return the beginning of a part, "" if there is none."""
        info = self._parts.get(name)
        if info is None:
            return ""
        with self._zip.open(info) as stream:
            return stream.read(length).decode("utf-8", "replace")

    def sheets(self) -> dict[str, str]:
        """Return the part of each worksheet by the tab's title."""
        book = self._xml("xl/workbook.xml")
        relations = self._xml("xl/_rels/workbook.xml.rels")
        if book is None or relations is None:
            raise DamagedError("lacks the list of its tabs")
        targets = {it.get("Id"): it for it in relations if _local(it.tag) == "Relationship"}
        found = {}
        for sheet in (it for it in book.iter() if _local(it.tag) == "sheet"):
            key = next((value for name, value in sheet.attrib.items() if _local(name) == "id"), None)
            target = targets.get(key)
            if target is not None and target.get("Type", "").endswith("/worksheet"):
                path = posixpath.normpath(posixpath.join("/xl", target.get("Target", "")))
                found[sheet.get("name", "")] = path.lstrip("/").lower()
        return found

    def marker(self) -> str:
        """Return the marker of the document properties, "" if there is none."""
        properties = self._xml("docprops/custom.xml")
        for item in () if properties is None else properties:
            if item.get("name") == MARKER_PROPERTY:
                return "".join(item.itertext())
        return ""

    def scan(self, part: str) -> SheetScan:
        """Find formulas and errors of a sheet; a `DamagedError` where it breaks off."""
        scan = SheetScan()
        for piece in self._pieces(part):
            _scan_piece(piece, scan)
        return scan

    def is_wide(self, part: str) -> bool:
        """Say whether some cell of a sheet lies right of column ZZ."""
        return any(_WIDE.search(piece) for piece in self._pieces(part))

    def numbers(self, part: str, cells: set[tuple[int, int]]) -> dict[tuple[int, int], str]:
        """Return what is stored in cells, as text."""
        found = {}
        for piece in self._pieces(part):
            for place, cell in _cells(piece):
                if place in cells and (value := _VALUE.search(cell)):
                    found[place] = value[1].decode()
        return found

    def _check_size(self, info: zipfile.ZipInfo) -> None:
        """Unpack once: zipfile raises when there is more (or else) than the directory says."""
        with self._zip.open(info) as stream:
            while stream.read(_PIECE):
                pass

    def _xml(self, name: str) -> ET.Element | None:
        info = self._parts.get(name)
        if info is None:
            return None
        content = self._zip.read(info)
        if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
            raise DamagedError("defines XML entities, which no spreadsheet program does")
        try:
            return ET.fromstring(content)  # noqa: S314 - entities were refused just above
        except ET.ParseError as error:
            raise DamagedError(f"is damaged ({name} breaks off)") from error

    def _pieces(self, part: str) -> Iterator[bytes]:
        """Yield the rows of a sheet in pieces; each but the last ends where a row begins.

        A sheet without cell references stays in one piece, because its cells must be counted.
        """
        info = self._parts.get(part)
        if info is None:
            raise DamagedError(f"is damaged ({part} is missing)")
        rest, tail = b"", b""
        with self._zip.open(info) as stream:
            while piece := stream.read(_PIECE):
                tail = (tail + piece[-_TAIL:])[-_TAIL:]
                rest += piece
                starts = rest.rfind(b"<row")
                if starts < 0:
                    starts = max(rest.rfind(b":row "), rest.rfind(b":row>"))
                cut = rest.rfind(b"<", 0, starts + 1) if starts > 0 and b" r=" in rest else -1
                if cut > 0 and _ROW_START.match(rest, cut):
                    yield _plain(rest[:cut])
                    rest = rest[cut:]
        if not _END.search(tail):
            raise DamagedError(f"is damaged ({part} breaks off)")
        yield _plain(rest[: rest.rfind(b"sheetData>") + 1])


_END = re.compile(rb"</(?:[\w.-]+:)?worksheet\s*>\s*(?:<!--.*-->\s*)?\Z", re.DOTALL)
_ROW_START = re.compile(rb"<(?:[\w.-]+:)?row[\s/>]")
_CELL = re.compile(
    rb"<(?:[\w.-]+:)?c(?=[\s/>])((?:[^>\"']|\"[^\"]*\"|'[^']*')*?)(?:/>|>(.*?)</(?:[\w.-]+:)?c\s*>)",
    re.DOTALL,
)
_SPECIAL = re.compile(rb"<(?:[\w.-]+:)?f[\s/>]|\st\s*=\s*[\"']e[\"']")
_USUAL = re.compile(
    rb'<c r="([A-Z]{1,3})(\d+)"([^>]*)><f(?: [^>]*)?>([^<]*)</f>(?:<v(?: [^>]*)?>([^<]*)</v>|<v ?/>)?</c>'
)
_UNUSUAL = (b"<f", b":f", b'"e"', b"'e'")
"""Where one of these stands outside of usual formula cells, there may be a formula or an error."""

_ERROR_KIND = re.compile(rb"\st\s*=\s*[\"']e[\"']")
_REFERENCE = re.compile(rb"\sr\s*=\s*[\"']([A-Za-z]{1,3})(\d+)[\"']")
_FORMULA = re.compile(rb"<(?:[\w.-]+:)?f(?:\s[^>]*?)?(?:/>|>(.*?)</(?:[\w.-]+:)?f\s*>)", re.DOTALL)
_VALUE = re.compile(rb"<(?:[\w.-]+:)?v(?:\s[^>]*)?>(.*?)</(?:[\w.-]+:)?v\s*>", re.DOTALL)
_KIND = re.compile(rb"\st\s*=\s*[\"'](\w+)[\"']")
_WIDE = re.compile(rb"\sr=[\"'][A-Z]{3}\d")
_NOT_MARKUP = re.compile(rb"<!--.*?-->|<!\[CDATA\[.*?\]\]>", re.DOTALL)


def _plain(piece: bytes) -> bytes:
    """Leave out comments and literal sections, in which tags are not tags."""
    # One character is found much faster than two, and in most sheets there is none.
    return _NOT_MARKUP.sub(b"", piece) if b"!" in piece and b"<!" in piece else piece


def _last_row(piece: bytes) -> int:
    """Return the number of the last row of a piece that may hold a value, 0 if none does."""
    end = max(piece.rfind(tag) for tag in (b"<v", b":v", b"<is", b":is"))
    if end < 0:
        return 0
    start = piece.rfind(b"<row", 0, end)
    if start < 0:
        start = max(piece.rfind(b":row", 0, end), 0)
    number = _NUMBER.search(piece, start, piece.find(b">", start) + 1)
    # Without row numbers every row start counts.
    return int(number[1]) if number else len(_ROW_START.findall(piece, 0, end))


def _scan_piece(piece: bytes, scan: SheetScan) -> None:
    """Look at the cells that hold a formula or an error, and at no other; note how far values reach.

    Formulas are most of a scoring tab. They are taken out first, so that only the small rest has to be
    searched for anything else.
    """
    parts = _USUAL.split(piece)  # what lies between usual formula cells, and the five groups of each
    rest, columns, rows, attributes, texts, values = (parts[index::6] for index in range(6))
    between = b"".join(rest)
    if any(sign in between for sign in _UNUSUAL) or any(_ERROR_KIND.search(it) for it in attributes):
        scan.rows = max(scan.rows, _last_row(piece))
        _scan_any_piece(piece, scan)
        return
    scan.rows = max(scan.rows, _last_row(between), *map(int, rows))
    for letters, row, kind, text, value in zip(columns, rows, attributes, texts, values, strict=True):
        formula = text.decode("utf-8", "replace")
        scan.formulas[int(row) - 1, _column(letters)] = (
            _unescape(formula) if "&" in formula else formula,
            bool(value) or b't="str"' in kind,
        )


def _scan_any_piece(piece: bytes, scan: SheetScan) -> None:
    """Do the same for whatever a program may write: other prefixes, quotes, orders, errors."""
    done = 0
    for special in _SPECIAL.finditer(piece):
        if special.start() < done:
            continue
        start = _cell_start(piece, special.start())
        cell = _CELL.match(piece, start) if start >= 0 else None
        if cell is None:
            continue
        done = cell.end()
        reference = _REFERENCE.search(cell[1])
        if reference is None:  # then none has one, and every cell must be counted
            for place, counted in _cells(piece):
                if _SPECIAL.search(counted):
                    _note(place, counted, scan)
            return
        _note(_place(reference), cell[0], scan)


def _cell_start(piece: bytes, position: int) -> int:
    """Return where the cell around a position begins."""
    while True:
        position = piece.rfind(b"<", 0, position + 1)
        if position < 0 or _CELL_START.match(piece, position):
            return position
        position -= 1


_CELL_START = re.compile(rb"<(?:[\w.-]+:)?c[\s/>]")
_STEP = re.compile(rb"<(?:[\w.-]+:)?row(?=[\s/>])(?P<row>[^>]*)>|" + _CELL.pattern, re.DOTALL)
_NUMBER = re.compile(rb"\sr\s*=\s*[\"'](\d+)")


def _cells(piece: bytes) -> Iterator[tuple[tuple[int, int], bytes]]:
    """Yield place and XML of every cell of a piece."""
    row, column = -1, -1
    for step in _STEP.finditer(piece):
        if step["row"] is not None:
            number = _NUMBER.search(step["row"])
            row, column = (int(number[1]) - 1 if number else row + 1), -1
            continue
        reference = _REFERENCE.search(step[2])
        row, column = _place(reference) if reference else (row, column + 1)
        yield (row, column), step[0]


def _place(reference: re.Match[bytes]) -> tuple[int, int]:
    return int(reference[2]) - 1, _column(reference[1].upper())


@cache
def _column(letters: bytes) -> int:
    column = 0
    for letter in letters:
        column = column * 26 + letter - 64
    return column - 1


def _note(place: tuple[int, int], cell: bytes, scan: SheetScan) -> None:
    kind = _KIND.search(cell[: cell.find(b">")])
    value = _VALUE.search(cell)
    content = value[1] if value else b""
    formula = _FORMULA.search(cell)
    if formula:
        text = _unescape((formula[1] or b"").decode("utf-8", "replace"))
        scan.formulas[place] = (text, bool(content) or (kind is not None and kind[1] == b"str"))
    if kind and kind[1] == b"e":
        scan.errors[place] = content.decode("utf-8", "replace")


_ESCAPES = (("&quot;", '"'), ("&lt;", "<"), ("&gt;", ">"), ("&apos;", "'"), ("&amp;", "&"))


def _unescape(text: str) -> str:
    """Return text without XML escapes; numbered ones are too rare in formulas to be worth the time."""
    for escape, character in _ESCAPES:
        text = text.replace(escape, character)
    return text


def _local(name: str) -> str:
    return name.rpartition("}")[2]
