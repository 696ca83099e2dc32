"""A1 notation: reading ranges as people and clients write them, echoing them as Google does."""

from __future__ import annotations

import re

from tests.sheets_emulator.errors import ApiError, plain_bad_request
from tests.sheets_emulator.state import Area, Sheet, Spreadsheet

CELLS = re.compile(r"\$?([A-Za-z]{1,3})?\$?(\d{1,8})?(?:(:)\$?([A-Za-z]{1,3})?\$?(\d{1,8})?)?")
LOOKS_LIKE_CELL = re.compile(r"[A-Za-z]{1,3}\d+|[rR]\d*[cC]\d*")


def column_name(index: int) -> str:
    """0 is A, 26 is AA."""
    name = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        name = chr(65 + rest) + name
    return name


def column_index(name: str) -> int:
    """A is 0, AA is 26."""
    index = 0
    for letter in name.upper():
        index = index * 26 + ord(letter) - 64
    return index - 1


def quote_title(title: str) -> str:
    """Quote a title in an echo: anything but letters, digits and _, or what looks like a cell."""
    plain = re.fullmatch(r"[^\W\d]\w*", title) and not LOOKS_LIKE_CELL.fullmatch(title)
    return title if plain else "'" + title.replace("'", "''") + "'"


def echo(sheet: Sheet, area: Area) -> str:
    """`Sheet1!A1:Z1000`, or `Sheet1!A1` for one cell."""
    first = f"{column_name(area.left)}{area.top + 1}"
    last = f"{column_name(area.right - 1)}{area.bottom}"
    return f"{quote_title(sheet.title)}!{first}" + ("" if first == last else f":{last}")


def split_title(text: str) -> tuple[str | None, str]:
    """Take `'My tab'!A1` apart; a quoted title alone gives an empty range. Raises ValueError."""
    if text.startswith("'"):
        found = re.fullmatch(r"'((?:[^']|'')+)'(?:!(.+))?", text, re.DOTALL)
        if not found:
            raise ValueError(text)
        return found[1].replace("''", "'"), found[2] or ""
    title, bang, cells = text.rpartition("!")
    if not bang:
        return None, text
    if not title or "!" in title or "'" in title:
        raise ValueError(text)
    return title, cells


def _span(
    start: str | None, end: str | None, colon: bool, count: int, letters: bool
) -> tuple[int, int, bool]:
    """One axis as [first, last), and whether the end was given (so that it may lie outside)."""

    def number(text: str) -> int:
        return column_index(text) if letters else int(text) - 1

    first = number(start) if start else 0
    if not colon:
        return first, first + 1, True
    if end is None:
        return first, count, False
    last = number(end)
    first, last = (last, first) if start and last < first else (first, last)
    return first, last + 1, True


def is_cell_range(text: str) -> bool:
    """Whether a text can be a range of cells: `A1`, `A1:B`, `A:C`, `2:5`."""
    found = CELLS.fullmatch(text)
    if not found or not text:
        return False
    column, row, colon, end_column, end_row = found.groups()
    if not colon:
        return bool(column and row) and row != "0"
    return bool((column or row) and (end_column or end_row))


def cells_area(sheet: Sheet, text: str, *, clip: bool = True) -> Area:
    """The area that `A1:B2` means on a sheet; its start must be inside, its end is clipped."""
    found = CELLS.fullmatch(text)
    if found is None:
        raise ValueError(text)
    column, row, colon, end_column, end_row = found.groups()
    if "0" in (row, end_row):
        raise ValueError(text)
    left, right, _ = _span(column, end_column, bool(colon), sheet.column_count, letters=True)
    top, bottom, _ = _span(row, end_row, bool(colon), sheet.row_count, letters=False)
    area = Area(sheet.sheet_id, top, left, max(bottom, top + 1), max(right, left + 1))
    outside = top >= sheet.row_count or left >= sheet.column_count
    outside |= not clip and (bottom > sheet.row_count or right > sheet.column_count)
    if outside:
        raise exceeds(sheet, area)
    return Area(
        sheet.sheet_id, top, left, min(area.bottom, sheet.row_count), min(area.right, sheet.column_count)
    )


def exceeds(sheet: Sheet, area: Area) -> ApiError:
    limits = f"Max rows: {sheet.row_count}, max columns: {sheet.column_count}"
    return plain_bad_request(f"Range ({echo(sheet, area)}) exceeds grid limits. {limits}")


def _named(book: Spreadsheet, name: str) -> Area | None:
    for entry in book.named_ranges:
        if entry["name"].casefold() == name.casefold():
            return book.area_of(entry["range"])
    return None


def resolve(book: Spreadsheet, text: str, *, clip: bool = True) -> Area:
    """The area a client's range text means: cells first, then named ranges, then titles."""
    try:
        return _resolve(book, text, clip)
    except ValueError:
        raise plain_bad_request(f"Unable to parse range: {text}") from None


def _resolve(book: Spreadsheet, text: str, clip: bool) -> Area:
    title, cells = split_title(text)
    if title is None:
        if is_cell_range(cells):
            return cells_area(book.sheets[0], cells, clip=clip)
        sheet = book.sheet_by_title(cells)
        named = _named(book, cells)
        if named or sheet:
            return named or (sheet.area if sheet else book.sheets[0].area)
        raise ValueError(text)
    sheet = book.sheet_by_title(title)
    if sheet is None:
        raise ValueError(text)
    if not cells:
        return sheet.area
    if is_cell_range(cells):
        return cells_area(sheet, cells, clip=clip)
    named = _named(book, cells)
    if named is None:
        raise ValueError(text)
    return named
