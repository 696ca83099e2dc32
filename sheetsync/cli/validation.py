"""The commands of an external validation: import, export, freeze, criteria, unblind."""

from __future__ import annotations

from pathlib import Path

import click

from sheetsync.cli.options import dry_run_option, json_option, now_text, study_folder

_SUBMISSION = click.Path(path_type=Path, exists=True, dir_okay=False, allow_dash=True)
_TARGET = click.Path(path_type=Path, dir_okay=False, allow_dash=True)


@click.command("import")
@click.argument("file", type=_SUBMISSION)
@click.option("--rater", required=True, metavar="R", help="Whose ratings these are.")
@dry_run_option
@json_option
@click.pass_context
def import_command(ctx: click.Context, file: Path, rater: str, dry_run: bool, as_json: bool) -> None:
    """Take in ratings that came as a file: CSV, TSV, pipe text or .xlsx.

    FILE has one row per response and exactly the columns of the wide format, in any order: Test_Case,
    Response, a <Id>_Score and <Id>_Confidence per dimension, Total_Score, Notes. `export --wide` writes it.
    Where the form is wrong nothing is taken; a cell that cannot be read is a problem, as in a workbook.

    \b
    Example: sheetsync import scores.csv --rater V3
    """
    from sheetsync.cli import output, output_validation
    from sheetsync.services.import_ratings import import_ratings
    from sheetsync.services.session import preview_session, writing_session

    folder = study_folder(ctx)
    opened = preview_session(folder) if dry_run else writing_session(folder, "import", now_text())
    with opened as session:
        result = import_ratings(session, file, rater, now_text(), dry_run=dry_run)
    output.emit(result, as_json, output_validation.show_import)


@click.command("export")
@click.argument("file", type=_TARGET, required=False)
@click.option("--wide", is_flag=True, required=True, help="One row per response, a column per score.")
@click.option("--rater", metavar="R", help="Whose ratings; needed with FILE where there are several raters.")
@dry_run_option
@json_option
@click.pass_context
def export_command(
    ctx: click.Context, file: Path | None, wide: bool, rater: str | None, dry_run: bool, as_json: bool
) -> None:
    """Write ratings in the format that `import` takes, as CSV.

    Without FILE every rater's go to exports/<rater>.csv; - is standard output. Texts that a spreadsheet
    would take for a formula begin with an apostrophe, which `import` takes away again.

    \b
    Example: sheetsync export --wide
             sheetsync export --wide - --rater V1
    """
    from sheetsync.cli import output, output_validation
    from sheetsync.services.export_ratings import export_wide
    from sheetsync.services.session import reading_session

    assert wide  # noqa: S101 - the only format there is, and the option is required
    with reading_session(study_folder(ctx)) as session:
        result = export_wide(session, file, rater, dry_run=dry_run)
    output.emit(result, as_json, output_validation.show_export)


@click.command()
@dry_run_option
@json_option
@click.pass_context
def freeze(ctx: click.Context, dry_run: bool, as_json: bool) -> None:
    """Store the criteria for good, before anybody scores.

    Kept are [criteria], rubric, design, and hashes of all texts and of the internal scores. `criteria` lists
    whatever deviates from them later. Freezing the same again changes nothing, other criteria are refused.
    """
    from sheetsync.cli import output, output_validation
    from sheetsync.services.freeze import freeze as store
    from sheetsync.services.session import preview_session, writing_session

    folder = study_folder(ctx)
    opened = preview_session(folder) if dry_run else writing_session(folder, "freeze", now_text())
    with opened as session:
        result = store(session, now_text(), dry_run=dry_run)
    output.emit(result, as_json, output_validation.show_freeze)
    output.tell_warnings(result.notes)


@click.command()
@json_option
@click.pass_context
def criteria(ctx: click.Context, as_json: bool) -> None:
    """Judge the study by its criteria; exit 5 where one is not met.

    Shows the verdict table, what was frozen and what deviates from it, what is explored without a bar, and
    guards against the usual pitfalls. Names no model and no side, so it may be read while the study is blind.
    """
    from sheetsync.cli import output, output_criteria
    from sheetsync.services.criteria import criteria as judge
    from sheetsync.services.session import reading_session

    with reading_session(study_folder(ctx)) as session:
        result = judge(session)
    output.emit(result, as_json, output_criteria.show_criteria)
    output.tell_warnings(result.promise.warnings)
    ctx.exit(0 if result.all_met else 5)


@click.command()
@click.option("--yes", is_flag=True, help="Do not ask; needed where nobody can be asked.")
@json_option
@click.pass_context
def unblind(ctx: click.Context, yes: bool, as_json: bool) -> None:
    """Say which response is which, and compare the two, paired per case.

    Asks first, and writes the time into the archive; `criteria` counts scores that change afterwards. Run
    again it shows the comparison without asking.
    """
    from sheetsync.cli import output, output_validation
    from sheetsync.services.session import writing_session
    from sheetsync.services.unblind import unblind as compare

    with writing_session(study_folder(ctx), "unblind", now_text()) as session:
        result = compare(session, now_text(), output_validation.confirmation(yes))
    output.emit(result, as_json, output_validation.show_unblind)
