"""What commands print: tables out of results, deciding nothing. Results on stdout, the rest on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

import click

from sheetsync.cli.output_agreement import AGREEMENT_COLUMNS, agreement_row
from sheetsync.cli.tables import print_lines as _print
from sheetsync.cli.tables import print_table as _table

if TYPE_CHECKING:
    from sheetsync.services.check import Checked
    from sheetsync.services.demo import DemoResult
    from sheetsync.services.divergences import Divergences
    from sheetsync.services.incomplete import Incomplete
    from sheetsync.services.init import InitResult
    from sheetsync.services.provision import Provisioned
    from sheetsync.services.publish import Published
    from sheetsync.services.pull import Pulled
    from sheetsync.services.run import Preview, Ran
    from sheetsync.services.status import Status

_SHOWN_PROBLEMS = 20


class Reported(Protocol):
    """A result that can be printed as JSON."""

    def to_dict(self) -> dict[str, object]:
        """Return the JSON object of the contract."""


Result = TypeVar("Result", bound=Reported)


def emit(result: Result, as_json: bool, show: Callable[[Result], None]) -> None:
    """Print a result as JSON, or as people read it."""
    if as_json:
        plain = "utf" not in (sys.stdout.encoding or "").lower()
        click.echo(json.dumps(result.to_dict(), ensure_ascii=plain, allow_nan=False, indent=1))
    else:
        show(result)


def progress(what: str) -> None:
    """Say on a terminal what is being done; nothing elsewhere."""
    if sys.stderr.isatty():
        click.echo(f"  {what}", err=True)


def tell_incomplete(incomplete: Sequence[Incomplete]) -> int:
    """Print one line on stderr for every incomplete workbook; return the exit code."""
    for each in incomplete:
        message = each.message.removeprefix(each.path).lstrip(": ")
        click.echo(f"{each.path}: {message}", err=True)
    return 3 if incomplete else 0


def tell_notes(notes: Sequence[str]) -> None:
    """Print what the reader should know about the data, on stderr."""
    for note in notes:
        click.echo(note, err=True)


def tell_warnings(notes: Sequence[str]) -> None:
    """Print what the coordinator should know on stderr, one line each."""
    for note in notes:
        click.echo(f"Warning: {note}", err=True)


def tell_withheld(names: Sequence[str]) -> int:
    """Print one line on stderr for every alpha that two implementations disagree on."""
    for name in names:
        click.echo(f"{name}: alpha withheld, two implementations disagree. Please report this.", err=True)
    return 1 if names else 0


# --- making ---


def show_init(result: InitResult) -> None:
    """Say what was made and what comes next."""
    _print(
        f"Made {result.folder} from the template {result.template}: {', '.join(result.files)}.",
        f"Next: edit study.toml, rubric.toml, questions.csv and responses.csv in {result.folder}; then run there: "
        "sheetsync check, and sheetsync provision."
        + " Its README.md says what else belongs to such a study."
        * ("README.md" in result.files),
    )


def show_demo(result: DemoResult) -> None:
    """Tell the story of the demonstration."""
    _print(*result.story())


def show_check(result: Checked) -> None:
    """List faults, errors first."""
    for fault in (*result.errors, *result.warnings):
        _print(f"{fault.severity}: {fault}")
    if result.study is not None:
        study = result.study
        _print(
            f"{study.title}: {_count(len(study.units), 'response')}, {_count(len(study.raters), 'rater')}, "
            f"{_count(len(study.rubric.dimensions), 'dimension')}, {_count(len(study.rubric.rules), 'rule')}."
        )
    _print(f"{_count(len(result.errors), 'error')}, {_count(len(result.warnings), 'warning')}.")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def show_provision(result: Provisioned) -> None:
    """List new workbooks with where they are, and say how balanced the design is."""
    if result.made:
        title = "Would make" if result.dry_run else "Made"
        rows = [
            (m.rater, m.batch, m.units, m.location, "restored" if m.restored else "") for m in result.made
        ]
        columns = [
            ("Rater", "left"),
            ("Batch", "left"),
            ("Responses", "right"),
            ("Workbook", "left"),
            ("", "left"),
        ]
        _table(title, columns, rows)
    else:
        _print("Nothing to make.")
    if result.existing:
        _print(f"{_count(result.existing, 'workbook')} there already and left alone.")
    if result.made and not result.dry_run:
        _print("Share each rater's folder or workbook with that rater, and nothing else.")
    design = result.design
    loads = ", ".join(f"{rater} {load}" for rater, load in design.load.items())
    shared = min(design.shared.values(), default=0)
    _print(f"Responses per rater: {loads}. Any two raters share at least {shared}.")
    if not design.is_connected:
        _print(f"Warning: no shared response connects {' / '.join(', '.join(i) for i in design.islands)}.")
    for note in result.notes:
        _print(f"Note: {note}")


# --- collecting ---


def show_status(result: Status) -> None:
    """Show the progress of every workbook."""
    rows = [
        (
            p.rater,
            p.batch,
            p.assigned,
            p.complete,
            p.partial,
            p.untouched,
            p.invalid,
            p.last_change or "never",
        )
        for p in result.progress
    ]
    numbers = ("Assigned", "Complete", "Partial", "Untouched", "Invalid")
    columns = [
        ("Rater", "left"),
        ("Batch", "left"),
        *((name, "right") for name in numbers),
        ("Last change", "left"),
    ]
    _table(f"As of {result.as_of}" if result.as_of else "Before the first pull", columns, rows)
    units = result.coverage
    _print(f"{units.fully_rated} of {units.total} responses are fully rated.")
    for name, codes in (
        ("short of raters", units.short_of_raters),
        ("with a changed text", units.changed_text),
    ):
        if codes:
            _print(f"{len(codes)} {name}: {', '.join(codes)}")
    if units.older_text:
        pairs = ", ".join(f"{rater} {code}" for rater, code in units.older_text)
        _print(f"{len(units.older_text)} left out, rated on an older text: {pairs}")
    for note in result.notes:
        _print(f"Note: {note}")


def show_pull(result: Pulled) -> None:
    """Show what every workbook brought, and the problems that stand now."""
    rows = [
        (w.rater, w.batch, w.state, w.changes.new, w.changes.changed, w.changes.cleared, w.problems)
        for w in result.workbooks
    ]
    numbers = ("New", "Changed", "Cleared", "Problems")
    columns = [
        ("Rater", "left"),
        ("Batch", "left"),
        ("State", "left"),
        *((name, "right") for name in numbers),
    ]
    _table(f"Pull {result.pull}, {result.at}", columns, rows)
    if result.problems:
        shown = result.problems[:_SHOWN_PROBLEMS]
        _print("")
        _table(
            "Problems that stand now",
            [("Rater", "left"), ("Batch", "left"), ("Cell", "left"), ("Code", "left"), ("What", "left")],
            [(p.rater, p.batch, p.cell, p.code, p.message) for p in shown],
        )
        if len(result.problems) > len(shown):
            _print(
                f"... and {len(result.problems) - len(shown)} more: see the tab Problems after `sheetsync publish`."
            )


# --- analysis ---


def show_divergences(result: Divergences) -> None:
    """List divergences with their state."""
    if not result.divergences:
        _print("No divergences." if result.as_of else "No divergences: nothing has been pulled yet.")
        return
    rows = [
        (
            d.code,
            result.names[d.dimension],
            d.kind,
            "  ".join(f"{rater} {value}" for rater, value in d.values.items()),
            "" if d.range is None else f"{d.range:g}",
            d.state.replace("_", " "),
            d.verdict.verdict if d.verdict else None,
            d.verdict.reason if d.verdict else None,
        )
        for d in result.divergences
    ]
    names = ("Code", "Dimension", "Kind", "Values", "Range", "State", "Verdict", "Reason")
    _table(f"As of {result.as_of}", [(n, "right" if n == "Range" else "left") for n in names], rows)
    open_ones = sum(d.state == "open" for d in result.divergences)
    _print(f"{_count(len(rows), 'divergence')}, {open_ones} open.")
    if open_ones:
        _print("Settle them in the adjudication workbook, which `sheetsync publish` writes.")


# --- publishing ---


def show_publish(result: Published) -> None:
    """List what was written."""
    verb = "Would write" if result.dry_run else "Wrote"
    _print(*(f"{verb} {path}" for path in result.written))


def show_run(result: Ran) -> None:
    """Show the pull, headline agreement, claims that changed and what was written."""
    show_pull(result.pulled)
    _print("")
    bands = result.analysis.study.settings.agreement.bands
    rows = [agreement_row(d.dimension, d, bands) for d in result.analysis.agreement.dimensions]
    _table("Agreement", AGREEMENT_COLUMNS, rows)
    open_ones = sum(d.state == "open" for d in result.analysis.divergences)
    _print(f"{_count(len(result.analysis.divergences), 'divergence')}, {open_ones} open.")
    _print(*result.claims.lines)
    show_publish(result.published)


def show_preview(result: Preview) -> None:
    """Say what a run would do."""
    _print(*(f"Would read {path}" for path in result.changed))
    _print(*(f"Missing {path}" for path in result.missing))
    _print(*(f"Would write {path}" for path in result.would_write))
