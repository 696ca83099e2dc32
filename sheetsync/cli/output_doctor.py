"""How `doctor` prints what it found."""

from __future__ import annotations

import shutil
import sys
import textwrap
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from sheetsync.services.doctor import Diagnosis

_SIGNS = {"ok": "ok", "warning": "warning", "failed": "FAILED", "skipped": "-"}
_PIPE_WIDTH, _LEAST_WIDTH = 120, 60


def show_doctor(result: Diagnosis) -> None:
    """List every step with what was seen, and under it the fix; addresses stay in one piece."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _PIPE_WIDTH
    widest = max(len(each.step) for each in result.findings)
    for each in result.findings:
        head = f"{each.step.ljust(widest)}  {_SIGNS[each.state].ljust(7)}  "
        blank = " " * len(head)
        _wrapped(each.found, head, blank, width)
        if each.fix:
            _wrapped(f"-> {each.fix}", blank, blank, width)


def _wrapped(text: str, first: str, others: str, width: int) -> None:
    """Print a sentence in lines; names of files may hold anything, so what is no text is shown as such."""
    shown = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
    wrapped = textwrap.fill(
        shown,
        max(width, _LEAST_WIDTH),
        initial_indent=first,
        subsequent_indent=others,
        break_long_words=False,
        break_on_hyphens=False,
    )
    click.echo(wrapped)


def tell_failed(failed: tuple[str, ...]) -> int:
    """Name the steps that failed in one sentence on stderr; return the exit code."""
    if not failed:
        return 0
    steps = f"{', '.join(failed[:-1])} and {failed[-1]}" if len(failed) > 1 else failed[0]
    said = f"Error: {steps} failed. Do what `sheetsync doctor` says beside it, and run it again."
    click.echo(said, err=True)
    return 1
