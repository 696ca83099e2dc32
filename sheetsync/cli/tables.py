"""Lines and tables on the terminal."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

_PIPE_WIDTH = 160
_LINE = 100


def print_lines(*lines: str) -> None:
    """Print lines as they are."""
    for line in lines:
        click.echo(line)


def print_wrapped(text: str, indent: str = "") -> None:
    """Print a paragraph, broken to be read on a terminal."""
    width = min(_console().width, _LINE) if sys.stdout.isatty() else _LINE
    click.echo(textwrap.fill(text, max(width, 40), initial_indent=indent, subsequent_indent=indent))


def print_table(title: str, columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[object]]) -> None:
    """Print a table; columns are (header, "left" | "right"). Cells are text, never markup."""
    table = Table(
        title=Text(title) if title else None,
        title_justify="left",
        header_style="bold",
        box=None,
        pad_edge=False,
    )
    for header, side in columns:
        table.add_column(Text(header), justify="right" if side == "right" else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text("" if cell is None else str(cell)) for cell in row))
    _console().print(table)


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH, highlight=False, soft_wrap=False)
