"""How many lines a text takes in a cell, and how a long one is cut into blocks that fit a row."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from sheetsync.domain.workbook import MAX_ROW_POINTS

POINTS_PER_LINE = 15.0
"""Height of one line of 11 point Calibri, Excel's default row height."""

MAX_LINES = int(MAX_ROW_POINTS // POINTS_PER_LINE)

_PIECES = re.compile(r"\n|[^\S\n]+|\S+")


def _width(piece: str) -> int:
    """Return the width in columns; East Asian wide characters and emoji take two."""
    if piece.isascii():
        return len(piece)
    return sum(2 if unicodedata.east_asian_width(ch) in "WF" else 1 for ch in piece)


def _flow(text: str, width: float) -> Iterator[tuple[int, int]]:
    """Yield for each piece of the text its end position and the number of the line it ends on."""
    room = max(1, int(width * 0.93))  # proportional type varies; leave some air
    line, used = 1, 0
    for match in _PIECES.finditer(text.replace("\r\n", "\n")):
        piece = match.group()
        if piece == "\n":
            line, used = line + 1, 0
        elif piece.isspace():
            used = min(room, used + len(piece))
        else:
            size = _width(piece)
            if used and used + size > room:
                line, used = line + 1, 0
            line += (size - 1) // room
            used += size if size <= room else size % room or room
        yield match.end(), line


@lru_cache(maxsize=10_000)  # every rater's workbook shows the same questions and responses
def count_lines(text: str, width: float) -> int:
    r"""Return how many lines a wrapped text takes in a column of this width (in characters).

    >>> count_lines("one two three", 100), count_lines("a\nb\n\nc", 100), count_lines("", 10)
    (1, 4, 1)
    """
    return max((line for _, line in _flow(text, width)), default=1)


def row_height(lines: int) -> float:
    """Return the height in points of a row with this many lines, at most Excel's limit.

    >>> row_height(1), row_height(500)
    (19.0, 409.0)
    """
    return min(float(MAX_ROW_POINTS), lines * POINTS_PER_LINE + 4)


def split_blocks(text: str, width: float, max_lines: int = MAX_LINES - 2) -> list[str]:
    r"""Cut a text into pieces that fit one row each; joined they are the text again.

    Cuts fall after a paragraph where one ends in the last third, else after a sentence, else after
    a word.

    >>> split_blocks("short", 80)
    ['short']
    >>> "".join(split_blocks("word " * 5000, 80)) == "word " * 5000
    True
    """
    text = text.replace("\r\n", "\n")
    blocks = []
    while count_lines(text, width) > max_lines:
        end = max([at for at, line in _flow(text, width) if line <= max_lines], default=0)
        end = _good_cut(text, end) if end else _force_cut(width, max_lines)
        blocks.append(text[:end])
        text = text[end:]
    return [*blocks, text]


def _good_cut(text: str, end: int) -> int:
    for pattern in (r"\n+", r"[.!?…][\"'”’)]*\s+", r"\s+"):
        cuts = [m.end() for m in re.finditer(pattern, text[:end]) if m.end() > end * 2 // 3]
        if cuts:
            return cuts[-1]
    return end


def _force_cut(width: float, max_lines: int) -> int:
    """One unbroken run of characters longer than a block is cut in the middle."""
    return max(1, int(width * 0.93) * max_lines // 2)
