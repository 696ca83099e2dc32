"""What commands print: tables out of results, deciding nothing. Results on stdout, the rest on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sheetsync.domain.verdicts import REASON_WORDS, describe_band, is_too_few

if TYPE_CHECKING:
    from sheetsync.domain.agreement_report import DimensionAgreement
    from sheetsync.domain.coefficients import Coefficient
    from sheetsync.services.agreement import Agreed
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

_PIPE_WIDTH = 160
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


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH, highlight=False, soft_wrap=False)


def _print(*lines: str) -> None:
    for line in lines:
        click.echo(line)


def _table(title: str, columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[object]]) -> None:
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


# --- making ---


def show_init(result: InitResult) -> None:
    """Say what was made and what comes next."""
    _print(
        f"Made {result.folder} from the template {result.template}: {', '.join(result.files)}.",
        f"Next: edit study.toml, rubric.toml, questions.csv and responses.csv in {result.folder}; then run there: "
        "sheetsync check, and sheetsync provision.",
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
            f"{study.title}: {len(study.units)} responses, {len(study.raters)} raters, "
            f"{len(study.rubric.dimensions)} dimensions, {len(study.rubric.rules)} rules."
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


def show_agreement(result: Agreed) -> None:
    """Show coefficients per dimension, then slices, pairs and tags."""
    report = result.report
    head = f"{result.title}" + (f", as of {result.as_of}" if result.as_of else "")
    rows = [_agreement_row(d.dimension, d) for d in report.dimensions]
    _table(head, _AGREEMENT_COLUMNS, rows)
    slices = [(d.dimension, s) for d in report.dimensions for s in d.slices]
    if slices:
        _print("")
        _table(
            "By slice",
            _AGREEMENT_COLUMNS,
            [_slice_row(f"{n} · {s.by} {s.value}", s.agreement) for n, s in slices],
        )
    _show_pairs(result)
    _print("", _method(report.dimensions, result.bands))


_AGREEMENT_COLUMNS = [
    ("Dimension", "left"),
    ("n", "right"),
    ("Alpha", "right"),
    ("Interval", "left"),
    ("Band", "left"),
    ("Exact", "right"),
    ("Within", "right"),
    ("Mean diff.", "right"),
    ("AC", "right"),
]


def _agreement_row(name: str, agreement: DimensionAgreement) -> tuple[str, ...]:
    each = agreement.coefficients
    alpha = each["alpha"]
    return (
        name,
        str(agreement.n_pairable),
        _number(alpha),
        _interval(alpha),
        describe_band(agreement.band) if agreement.band else _reason(alpha),
        _number(each.get("exact"), percent=True),
        _number(each.get("within"), percent=True),
        _number(each.get("mean_abs_difference")),
        _number(each.get("ac")),
    )


def _slice_row(name: str, agreement: DimensionAgreement) -> tuple[str, ...]:
    row = _agreement_row(name, agreement)
    if is_too_few(agreement.n_pairable):
        return (*row[:2], "-", "", REASON_WORDS["too_few_units"], *row[5:8], "-")
    return row


def _number(coefficient: Coefficient | None, *, percent: bool = False) -> str:
    if coefficient is None or coefficient.value is None:
        return "-"
    return f"{coefficient.value:.1%}" if percent else f"{coefficient.value:.3f}"


def _interval(coefficient: Coefficient) -> str:
    if coefficient.low is None or coefficient.high is None:
        return (
            REASON_WORDS.get(coefficient.interval_reason or "", "") if coefficient.value is not None else ""
        )
    return f"{coefficient.low:.2f} to {coefficient.high:.2f}"


def _reason(coefficient: Coefficient) -> str:
    return REASON_WORDS.get(coefficient.reason or "", coefficient.reason or "")


def _show_pairs(result: Agreed) -> None:
    pairs = [
        (
            d.dimension,
            " and ".join(p.raters),
            p.n,
            _number(p.kappa),
            _number(p.kappa_quadratic),
            _number(p.spearman),
            _signed(p.mean_difference),
        )
        for d in result.report.dimensions
        for p in d.pairs
    ]
    if pairs:
        columns = [
            ("Dimension", "left"),
            ("Pair", "left"),
            ("n", "right"),
            ("Kappa", "right"),
            ("Quadratic", "right"),
            ("Spearman", "right"),
            ("Mean difference", "right"),
        ]
        _print("")
        _table("By pair of raters", columns, pairs)
    tags = [
        (
            f"{t.tag} ({t.of})" if t.of else t.tag,
            " and ".join(p.raters),
            p.n,
            _number(p.kappa),
            _number(p.exact, percent=True),
        )
        for t in result.report.tags
        for p in t.pairs
    ]
    if tags:
        _print("")
        _table(
            "Tags",
            [("Tag", "left"), ("Pair", "left"), ("n", "right"), ("Kappa", "right"), ("Exact", "right")],
            tags,
        )


def _signed(coefficient: Coefficient) -> str:
    return "-" if coefficient.value is None else f"{coefficient.value:+.3f}"


def _method(dimensions: Sequence[DimensionAgreement], bands: str) -> str:
    """Say how alpha and its interval were computed."""
    levels = ", ".join(dict.fromkeys(d.level for d in dimensions)) or "no"
    alphas = [d.coefficients["alpha"] for d in dimensions]
    methods = ", ".join(
        dict.fromkeys(f"{a.method}, {a.confidence:.0%}" for a in alphas if a.method and a.confidence)
    )
    within = next((d.coefficients["within"].k for d in dimensions if "within" in d.coefficients), None)
    words = f"Alpha: Krippendorff's, {levels} level; n: units with two or more ratings."
    words += f" Intervals over units ({methods}), for these raters." if methods else ""
    words += f" Bands: {bands}."
    return words + (f" Within: at most {within:g} apart." if within is not None else "")


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
    """Show the pull, headline agreement and what was written."""
    show_pull(result.pulled)
    _print("")
    rows = [_agreement_row(d.dimension, d) for d in result.analysis.agreement.dimensions]
    _table("Agreement", _AGREEMENT_COLUMNS, rows)
    open_ones = sum(d.state == "open" for d in result.analysis.divergences)
    _print(f"{_count(len(result.analysis.divergences), 'divergence')}, {open_ones} open.")
    show_publish(result.published)


def show_preview(result: Preview) -> None:
    """Say what a run would do."""
    _print(*(f"Would read {path}" for path in result.changed))
    _print(*(f"Missing {path}" for path in result.missing))
    _print(*(f"Would write {path}" for path in result.would_write))
