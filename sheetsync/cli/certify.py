"""The commands that certify a judge: `certify prepare`, `certify run`, and `certify` for the verdict."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from sheetsync.cli.options import json_option, now_text, study_folder


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def certify(ctx: click.Context, as_json: bool) -> None:
    """Test whether a judge may be trusted, before any of its scores is published.

    `prepare` makes the cases, `run` has them judged. Without either: the verdict on the newest run that was
    judged, also written to reports/certificate.json. Exit 5: the judge is not cleared.

    \b
    Example: sheetsync certify
    """
    if ctx.invoked_subcommand:
        if as_json:
            raise click.UsageError(f"--json goes behind {ctx.invoked_subcommand}.")
        return
    from sheetsync.cli import output, output_certificate
    from sheetsync.services.certify import certify as judge_the_judge

    result = judge_the_judge(study_folder(ctx))
    output.emit(result, as_json, output_certificate.show_certificate)
    ctx.exit(result.exit_code)


@certify.command()
@click.option(
    "--workbook", metavar="RATER", default="", help="Make the cases a workbook, for a human to judge."
)
@json_option
@click.pass_context
def prepare(ctx: click.Context, workbook: str, as_json: bool) -> None:
    """Put the cases of the next run into their order, and keep their key apart.

    Written are certification/presentation.jsonl, one case a line without any key, and for sheetsync alone the
    key in .sheetsync/certification. A new run is made once the last one is judged, or files or judge have changed.

    \b
    Example: sheetsync certify prepare
             sheetsync certify prepare --workbook H1
    """
    from sheetsync.cli import output, output_certify
    from sheetsync.services.certify_prepare import prepare as make
    from sheetsync.services.session import writing_session

    with writing_session(study_folder(ctx), "certify prepare", now_text()) as session:
        result = make(session, now_text(), workbook=workbook)
    output.emit(result, as_json, output_certify.show_prepared)


@certify.command()
@click.option("--workbook", metavar="RATER", default="", help="Read the workbook that this rater judged in.")
@click.option(
    "--fresh", is_flag=True, help="Start the judge anew before it sees responses for the second time."
)
@json_option
@click.pass_context
def run(ctx: click.Context, workbook: str, fresh: bool, as_json: bool) -> None:
    """Have the prepared cases judged, or what is left of them.

    The judge is [judge] command, a program that reads a case a line and writes a verdict a line, or [judge]
    verdicts, a file. Run it again after an interruption: no case that was judged is asked twice.

    \b
    Example: sheetsync certify run --fresh
    """
    from sheetsync.cli import output, output_certify
    from sheetsync.services.judge import judge
    from sheetsync.services.judge_command import Way
    from sheetsync.services.session import judging_session

    with judging_session(study_folder(ctx), now_text()) as session, _counting() as counting:
        try:
            result = judge(session, Way(now_text, fresh, counting), workbook=workbook)
        except KeyboardInterrupt:
            kept = "Stopped. What is judged is kept; `sheetsync certify run` goes on from there."
            click.echo(f"\n{kept}", err=True)
            raise
    output.emit(result, as_json, output_certify.show_judged)
    output.tell_warnings(result.notes)
    ctx.exit(output_certify.tell_unjudged(result))


@contextmanager
def _counting() -> Iterator[Callable[[int, int], None]]:
    """Show a bar that fills with the cases judged, on a terminal only."""
    if not sys.stderr.isatty():
        yield lambda _done, _all: None
        return
    with click.progressbar(length=1, label="Judging", show_pos=True, file=sys.stderr) as bar:

        def count(done: int, every: int) -> None:
            bar.length = every
            bar.update(done - bar.pos)

        yield count
