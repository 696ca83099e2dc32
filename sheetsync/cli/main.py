"""Every command: parse, call one service, print. Heavy imports stay inside the commands."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import click

from sheetsync.cli.certify import certify
from sheetsync.cli.options import (
    BACKENDS,
    TEMPLATES,
    StudyGroup,
    dry_run_option,
    force_option,
    json_option,
    now_text,
    study_folder,
)
from sheetsync.cli.validation import criteria, export_command, freeze, import_command, unblind

_FOLDER = click.Path(path_type=Path, file_okay=False)
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False, allow_dash=True)
_HTML = click.Path(path_type=Path, dir_okay=False)


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        from importlib.metadata import version

        click.echo(f"sheetsync {version('sheetsync-study')}")
        ctx.exit()


@click.group(
    cls=StudyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.option(
    "-C", "folder", type=_FOLDER, default=".", metavar="DIR", help="Study folder (default: this one)."
)
@click.option(
    "--version", is_flag=True, callback=_version, expose_value=False, is_eager=True, help="Show the version."
)
def cli(folder: Path) -> None:
    """Run human scoring studies in spreadsheets.

    Makes one scoring workbook per rater, collects and checks completed ratings, computes agreement, lists
    divergences for adjudication, and writes summaries and a report.

    \b
    Exit codes: 0 done, 1 failed, 2 usage or invalid study files, 3 done but incomplete,
    4 another command is running, 5 a criterion is not met.
    """


@cli.command()
@click.argument("directory", type=_FOLDER)
@click.option("--template", required=True, metavar="NAME", help=f"One of: {', '.join(TEMPLATES)}.")
@click.option(
    "--backend", type=click.Choice(BACKENDS), default="xlsx", show_default=True, help="Where workbooks live."
)
@json_option
def init(directory: Path, template: str, backend: str, as_json: bool) -> None:
    """Make a new study folder from a template.

    \b
    Example: sheetsync init my-study --template historical-figures
    """
    from sheetsync.cli import output
    from sheetsync.services.init import init as make

    output.emit(make(directory, template, backend), as_json, output.show_init)


@cli.command()
@click.argument("directory", type=_FOLDER)
@click.option(
    "--template", default="historical-figures", show_default=True, metavar="NAME", help="Which template."
)
@click.option(
    "--backend", type=click.Choice(BACKENDS), default="xlsx", show_default=True, help="Where workbooks live."
)
@json_option
@click.pass_context
def demo(ctx: click.Context, directory: Path, template: str, backend: str, as_json: bool) -> None:
    """Make a study with simulated raters and take it all the way to the report.

    \b
    Example: sheetsync demo demo-study
    """
    from sheetsync.cli import output
    from sheetsync.services.demo import demo as play

    result = play(directory, template, backend, now_text(), output.progress)
    output.emit(result, as_json, output.show_demo)
    ctx.exit(result.exit_code)


@cli.command()
@json_option
@click.pass_context
def check(ctx: click.Context, as_json: bool) -> None:
    """Check every file of the study and list all faults at once.

    Errors must be corrected before anything is made (exit 2); warnings are worth a look (exit 0).
    """
    from sheetsync.cli import output
    from sheetsync.services.check import check as look

    result = look(study_folder(ctx))
    output.emit(result, as_json, output.show_check)
    ctx.exit(2 if result.errors else 0)


@cli.command()
@json_option
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Try every step with the study's workbooks, and name the fix of each that fails.

    On Google it signs in and makes, fills, shares and removes a throw-away spreadsheet; a failed step is exit 1.
    """
    from sheetsync.cli import output, output_doctor
    from sheetsync.services.doctor import doctor as diagnose

    result = diagnose(study_folder(ctx), output.progress)
    output.emit(result, as_json, output_doctor.show_doctor)
    ctx.exit(output_doctor.tell_failed(result.failed))


@cli.command()
@click.option("--rescore", multiple=True, metavar="CODE...", help="Issue units again: codes, or `changed`.")
@click.argument("codes", nargs=-1, metavar="")
@dry_run_option
@json_option
@click.pass_context
def provision(
    ctx: click.Context, rescore: tuple[str, ...], codes: tuple[str, ...], dry_run: bool, as_json: bool
) -> None:
    """Make the workbooks that are missing; touch none that exists.

    Run it again after an interruption, or after adding units, raters, models or figures.

    \b
    Example: sheetsync provision
             sheetsync provision --rescore changed
    """
    from sheetsync.cli import output
    from sheetsync.services.provision import provision as make
    from sheetsync.services.session import preview_session, writing_session

    if codes and not rescore:
        raise click.UsageError(f"Got unexpected extra argument ({codes[0]}); codes go with --rescore.")
    folder, again = study_folder(ctx), (*rescore, *codes)
    opened = preview_session(folder) if dry_run else writing_session(folder, "provision", now_text())
    with opened as session:
        result = make(session, now_text(), rescore=again, dry_run=dry_run, progress=output.progress)
    output.emit(result, as_json, output.show_provision)
    ctx.exit(output.tell_incomplete(result.incomplete))


@cli.command()
@json_option
@click.pass_context
def status(ctx: click.Context, as_json: bool) -> None:
    """Show how far every rater is, and which units lack raters."""
    from sheetsync.cli import output
    from sheetsync.services.session import reading_session
    from sheetsync.services.status import status as look

    with reading_session(study_folder(ctx)) as session:
        output.emit(look(session), as_json, output.show_status)


@cli.command()
@force_option("Take workbooks that came back emptied or without a column as they are.")
@json_option
@click.pass_context
def pull(ctx: click.Context, force: bool, as_json: bool) -> None:
    """Read what changed and archive every rating and problem.

    Never writes into a rater's workbook. Problems in cells are listed and do not stop anything.
    """
    from sheetsync.cli import output
    from sheetsync.services.pull import pull as collect
    from sheetsync.services.session import writing_session

    with writing_session(study_folder(ctx), "pull", now_text()) as session:
        result = collect(session, now_text(), force=force)
    output.emit(result, as_json, output.show_pull)
    output.tell_warnings(result.notes)
    ctx.exit(output.tell_incomplete(result.incomplete))


@cli.command()
@click.argument("ratings", type=_FILE, required=False)
@click.option(
    "--level",
    type=click.Choice(["nominal", "ordinal", "interval", "ratio"]),
    help="Level of measurement of a file's values.  [default: ordinal]",
)
@click.option("--wide", is_flag=True, help="The file has a column per rater: unit,ann,ben,...")
@click.option("--sheet", metavar="NAME", help="Tab of an .xlsx workbook.  [default: the first]")
@click.option(
    "--scale", metavar="LEVELS", help="The file's levels from low to high: 1,2,3,4,5 or low,medium,high."
)
@click.option("--by", multiple=True, metavar="COLUMN", help="Slice by a column; may be repeated.")
@click.option(
    "--na",
    multiple=True,
    metavar="TEXT",
    help="Further spelling of N/A in the file; a trailing * matches any ending.",
)
@click.option(
    "--resamples", type=click.IntRange(min=0), metavar="N", help="Resamples of the intervals; 0 for none."
)
@click.option(
    "--interval", type=click.Choice(["bca", "percentile", "jackknife"]), help="How intervals are made."
)
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the resampling.")
@click.option(
    "--within",
    type=click.FloatRange(min=0, max=1e9),
    default=1,
    show_default=True,
    metavar="K",
    help="Distance that counts as agreement for `within`.",
)
@click.option("--html", type=_HTML, metavar="FILE", help="Also write a ratings file's figures as a web page.")
@json_option
@click.pass_context
def agreement(ctx: click.Context, /, ratings: Path | None, as_json: bool, **given: object) -> None:
    """Compute agreement, on the study or on any ratings file.

    RATINGS is a CSV, .xlsx or .jsonl file with the columns unit, rater, value and optionally dimension and
    slices, or with --wide a column per rater; - is standard input.

    \b
    Example: sheetsync agreement
             sheetsync agreement ratings.csv --scale 1,2,3,4,5 --by system
             sheetsync agreement table.xlsx --wide --html agreement.html
    """
    from sheetsync.cli import output, output_agreement
    from sheetsync.services.agreement import AgreementRequest, agreement_of_file, agreement_of_study

    request = AgreementRequest.model_validate(given)
    result = (
        agreement_of_file(ratings, request) if ratings else agreement_of_study(study_folder(ctx), request)
    )
    output.emit(result, as_json, output_agreement.show_agreement)
    output.tell_notes(result.notes)


@cli.command()
@json_option
@click.pass_context
def divergences(ctx: click.Context, as_json: bool) -> None:
    """List units and dimensions where raters differ by the threshold, with their state."""
    from sheetsync.cli import output
    from sheetsync.services.divergences import divergences as find
    from sheetsync.services.session import reading_session

    with reading_session(study_folder(ctx)) as session:
        output.emit(find(session), as_json, output.show_divergences)


@cli.command()
@click.option("--blind", is_flag=True, help="Codes only: name no model.")
@force_option("Replace a workbook that holds something foreign or is open, after a backup.")
@dry_run_option
@json_option
@click.pass_context
def publish(ctx: click.Context, blind: bool, force: bool, dry_run: bool, as_json: bool) -> None:
    """Rewrite summary, adjudication and report; keep what people typed."""
    from sheetsync.cli import output
    from sheetsync.services.publish import publish as write
    from sheetsync.services.session import reading_session, writing_session

    folder = study_folder(ctx)
    opened = reading_session(folder) if dry_run else writing_session(folder, "publish", now_text())
    with opened as session:
        result = write(session, blind=blind, force=force, dry_run=dry_run)
    output.emit(result, as_json, output.show_publish)
    output.tell_warnings(result.notes)
    ctx.exit(output.tell_incomplete(result.incomplete))


@cli.command()
@click.option("--blind", is_flag=True, help="Codes only: name no model.")
@dry_run_option
@json_option
@click.pass_context
def run(ctx: click.Context, blind: bool, dry_run: bool, as_json: bool) -> None:
    """Pull, compute, publish once: the nightly job."""
    from sheetsync.cli import output
    from sheetsync.services.run import preview
    from sheetsync.services.run import run as do_all
    from sheetsync.services.session import reading_session, writing_session

    if dry_run:
        with reading_session(study_folder(ctx)) as session:
            output.emit(preview(session), as_json, output.show_preview)
        ctx.exit(0)
    with writing_session(study_folder(ctx), "run", now_text()) as session:
        result = do_all(session, now_text(), blind=blind)
    output.emit(result, as_json, output.show_run)
    output.tell_warnings((*result.pulled.notes, *result.published.notes))
    output.tell_incomplete(result.incomplete)
    ctx.exit(output.tell_withheld(result.withheld) or result.exit_code)


@cli.command()
@click.option("--blind", is_flag=True, help="Codes only: name no model.")
@click.pass_context
def watch(ctx: click.Context, blind: bool) -> None:
    """Repeat `run` on the study's schedule until stopped (Ctrl-C or SIGTERM).

    Prints one log line per run on stderr.
    """
    from sheetsync.cli.watching import watch_until_stopped

    watch_until_stopped(study_folder(ctx), blind=blind)


for _command in (import_command, export_command, freeze, criteria, unblind, certify):
    cli.add_command(_command)


def main() -> None:
    """Run the command line; what a terminal cannot show is written as its escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and "utf" not in stream.encoding.lower():
            stream.reconfigure(errors="backslashreplace")
    cli(prog_name="sheetsync")


if __name__ == "__main__":
    main()
