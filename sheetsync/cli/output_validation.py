"""What the commands of an external validation print."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from sheetsync.cli.tables import print_lines, print_table

if TYPE_CHECKING:
    from sheetsync.domain.agreement.proportions import SignTest
    from sheetsync.services.export_ratings import Exported
    from sheetsync.services.freeze import Frozen
    from sheetsync.services.import_ratings import Imported
    from sheetsync.services.unblind import Unblinded

_SHOWN_PROBLEMS = 20


def show_import(result: Imported) -> None:
    """Print what a file brought, and every problem in it."""
    rows = [
        (each.batch, each.rows, each.changes.new, each.changes.changed, each.changes.cleared, each.problems)
        for each in result.batches
    ]
    heads = ("Batch", "Rows", "New", "Changed", "Cleared", "Problems")
    print_table("", [(head, "left" if head == "Batch" else "right") for head in heads], rows)
    for problem in result.problems[:_SHOWN_PROBLEMS]:
        print_lines(f"  {problem.message}")
    if len(result.problems) > _SHOWN_PROBLEMS:
        print_lines(f"  ... and {len(result.problems) - _SHOWN_PROBLEMS} more; --json lists all.")
    if result.not_in_file:
        print_lines(
            f"{result.not_in_file} rows of {result.rater} are not in the file; they stay as they were."
        )
    done = "would be taken in" if result.dry_run else f"taken in as pull {result.pull}"
    print_lines(f"{result.file}: {done} for {result.rater}.")


def show_export(result: Exported) -> None:
    """Print the file, or where the files lie."""
    if result.to_stdout is not None:
        click.echo(result.to_stdout, nl=False)
        return
    verb = "Would write" if result.dry_run else "Wrote"
    print_lines(*(f"{verb} {each.path}: {each.rows} rows of {each.rater}." for each in result.exports))


def show_freeze(result: Frozen) -> None:
    """Print what is frozen since when."""
    if not result.is_new:
        print_lines(f"Frozen already at {result.at}, the same ({result.hash[:12]}). Nothing to do.")
    elif result.dry_run:
        print_lines(f"Would freeze the criteria ({result.hash[:12]}).")
    else:
        print_lines(
            f"Frozen at {result.at}: {result.hash[:12]}. Whatever deviates later is listed by `criteria`."
        )


def confirmation(yes: bool) -> Callable[[str], bool]:
    """Return what asks whether something is meant; without a terminal only --yes is an answer."""

    def ask(question: str) -> bool:
        if yes:
            return True
        if not sys.stdin.isatty():
            raise click.UsageError(f"{question} Nobody can be asked here: give --yes.")
        return click.confirm(question, err=True)

    return ask


def show_unblind(result: Unblinded) -> None:
    """Print improved against baseline: over cases, then who saw it ahead how often."""
    verb = "Unblinded" if result.is_first else "Unblinded before,"
    print_lines(
        f"{verb} at {result.unblinded_at}: {result.improved} against {result.baseline}, paired per case."
    )
    rows = []
    for each in result.comparisons:
        found = each.difference
        between = f"{found.low:+.2f} to {found.high:+.2f}" if found.low is not None else "no interval"
        mean = f"{found.value:+.2f}" if found.value is not None else "undefined"
        rank_p = p_value(each.signed_rank.p)
        rows.append(
            (
                each.measure, each.cases, _mean(each.baseline), _mean(each.improved), mean, between,
                sign_words(each.sign), p_value(each.sign.p), rank_p,
            )
        )  # fmt: skip
    heads = (
        "Measure", "Cases", result.baseline, result.improved, "Difference", "Interval", "Higher/lower/same",
        "p (sign)", "p (Wilcoxon)",
    )  # fmt: skip
    print_table("", [(head, "left" if head == "Measure" else "right") for head in heads], rows)
    print_table(
        f"How often {result.improved} has the higher total",
        [("Rater", "left"), ("Higher/lower/same", "right"), ("p (sign)", "right")],
        [
            (each.rater or "all judgements", sign_words(each.test), p_value(each.test.p))
            for each in result.wins
        ],
    )
    print_lines(
        "Judgements of one case depend on each other; the tests over cases are the ones to report.",
        f"{result.improved} is ahead in {result.direction.count} of the {result.direction.n} cases on whose "
        "direction all raters agree. That is a result, not an agreement.",
    )


def sign_words(test: SignTest) -> str:
    """Return wins, losses and ties."""
    return f"{test.wins}/{test.losses}/{test.ties}"


def p_value(p: float | None) -> str:
    """Return a p value as people read it.

    >>> p_value(0.000202), p_value(0.2962), p_value(None)
    ('0.0002', '0.296', '')
    """
    if p is None:
        return ""
    if p < 0.0001:
        return "< 0.0001"
    return f"{p:.4f}" if p < 0.01 else f"{p:.3f}"


def _mean(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
