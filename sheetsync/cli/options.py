"""Options that several commands share, and how an error becomes a message and an exit code."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from sheetsync.errors import SheetsyncError, StudyError

Command = TypeVar("Command", bound=Callable[..., Any])

TEMPLATES = ("blinded-pairs", "historical-figures", "judge-certification")
BACKENDS = ("xlsx", "google")


class StudyGroup(click.Group):
    """The one place where an error of ours becomes a sentence on stderr and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the commands in the order of a study, not of the alphabet."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a `SheetsyncError` never shows a traceback."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except SheetsyncError as error:
            tell_error(error)
            ctx.exit(error.exit_code)
        except (OSError, MemoryError) as error:
            click.echo(f"Error: {error}. Free space or permissions may be lacking; then run again.", err=True)
            ctx.exit(1)
        except Exception as error:
            if os.environ.get("SHEETSYNC_DEBUG"):
                raise
            click.echo(
                f"Error: sheetsync failed in a way it does not know ({type(error).__name__}: {error}). Nothing "
                "archived is lost. Run again with SHEETSYNC_DEBUG=1 and report what it prints.",
                err=True,
            )
            ctx.exit(1)


def tell_error(error: SheetsyncError) -> None:
    """Print an error: every fault on a line of its own, then the sentence and the next step."""
    if isinstance(error, StudyError):
        for fault in error.faults:
            click.echo(f"  {fault}", err=True)
    click.echo(f"Error: {error}", err=True)


def json_option(command: Command) -> Command:
    """Add `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else on stdout.")(
        command
    )


def force_option(text: str) -> Callable[[Command], Command]:
    """Add `--force`, saying what it forces."""
    return click.option("--force", is_flag=True, help=text)


def dry_run_option(command: Command) -> Command:
    """Add `--dry-run`."""
    return click.option("--dry-run", is_flag=True, help="Say what would be written, and write nothing.")(
        command
    )


def study_folder(ctx: click.Context) -> Path:
    """Return the study folder: `-C`, or the current one."""
    folder: Path = ctx.find_root().params["folder"]
    return folder


def now_text() -> str:
    """Return the time now as the archive keeps it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
