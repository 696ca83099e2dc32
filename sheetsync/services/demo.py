"""`demo`: a whole study with simulated people, through the real workbooks, up to the report.

Nothing is put into the archive by another way than in a real study: the simulated raters and the
simulated adjudicator type into cells of workbooks, and `run` reads them back.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from sheetsync.domain.adjudication import ADJUDICATION_TAB, PEOPLE_COLUMNS, REASONS
from sheetsync.domain.cells import show
from sheetsync.domain.divergence import Divergence
from sheetsync.domain.ratings import Problem
from sheetsync.domain.scoring_columns import SCORING_TAB, scoring_columns
from sheetsync.domain.simulate import FIRST_ROUND, Profile, SimulatedUnit, simulate_ratings
from sheetsync.domain.simulated_rows import CellValue, Row
from sheetsync.domain.study import NOT_APPLICABLE, Study
from sheetsync.domain.workbook import RawCell
from sheetsync.errors import StudyError
from sheetsync.services.incomplete import Incomplete
from sheetsync.services.init import init
from sheetsync.services.provision import Progress, provision
from sheetsync.services.run import Ran, run
from sheetsync.services.session import ADJUDICATION, Session, place_of, writing_session
from sheetsync.store.records import WorkbookRecord

EMULATOR = "SHEETS_EMULATOR_HOST"
"""Where a demonstration on Google's interface has to run: never on anybody's account."""

_SETTLED = 0.6
"""The share of divergences that the simulated adjudicator settles."""

Cells = dict[tuple[int, int], CellValue]
"""What is typed, by 0-based row and column."""


@dataclass(frozen=True)
class FilledWorkbook:
    """A workbook that a simulated rater filled in."""

    rater: str
    batch: str
    location: str
    rows: int
    cells: int


@dataclass(frozen=True)
class DimensionFigures:
    """The headline figures of one dimension; None where a coefficient is undefined.

    `divergences` are those between scores, not those about N/A.
    """

    dimension: str
    alpha: float | None
    exact: float | None
    within: float | None
    divergences: int


@dataclass(frozen=True)
class DemoResult:
    """What a demonstration made.

    Attributes:
        folder: the study.
        template: what it was made from.
        units: how many responses were scored.
        raters: who scored them.
        workbooks: what the raters filled in.
        ratings: how many scores the first pull archived.
        problems: how many problems stand; `examples` are some of them in words.
        dimensions: agreement per dimension.
        states: all divergences by state; `applicability` is how many of them are about N/A.
        verdicts: how many the adjudicator typed.
        files: what to open, most worthwhile first; relative to the folder, or addresses.
        incomplete: what could not be read or written.
    """

    folder: Path
    template: str
    units: int
    raters: tuple[str, ...]
    workbooks: tuple[FilledWorkbook, ...]
    ratings: int
    problems: int
    examples: tuple[str, ...]
    dimensions: tuple[DimensionFigures, ...]
    states: Mapping[str, int]
    applicability: int
    verdicts: int
    files: tuple[str, ...]
    incomplete: tuple[Incomplete, ...] = ()

    @property
    def cells(self) -> int:
        """How many cells the raters typed."""
        return sum(workbook.cells for workbook in self.workbooks)

    @property
    def exit_code(self) -> int:
        """0 done, 3 something is incomplete."""
        return 3 if self.incomplete else 0

    def to_dict(self) -> dict[str, object]:
        """Return what `demo --json` prints."""
        fields = asdict(self) | {"folder": str(self.folder), "cells": self.cells}
        return {"schema": "sheetsync.demo/1", **fields}

    def story(self) -> tuple[str, ...]:
        """Return what happened and where to look, line by line."""
        width = max((len(figures.dimension) for figures in self.dimensions), default=0)
        lines = [
            f"{self.folder}: {self.units} responses, scored by {len(self.raters)} simulated raters.",
            "The scores are made up to show the product at work; they say nothing about any model.",
            "",
            f"Cells typed into {len(self.workbooks)} workbooks: {self.cells:,}. Scores read back: {self.ratings:,}.",
            f"{self.problems} places need a second look, as they do among people:",
        ]
        lines += [f"  {example}" for example in self.examples]
        lines += ["", "Agreement:", *(_figures_line(figures, width) for figures in self.dimensions), ""]
        lines += [
            self._divergences_line(),
            "",
            f"Open, in {self.folder}:",
            *(f"  {name}" for name in self.files),
        ]
        return tuple(lines)

    def _divergences_line(self) -> str:
        total, apart = sum(self.states.values()), self.applicability
        states = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in self.states.items())
        about = f", {apart} of them about N/A" if apart else ""
        given = f"the simulated adjudicator gave {self.verdicts} verdicts"
        return f"{total} divergences{about}; {given}: {states}." if total else "No divergences."


def _figures_line(figures: DimensionFigures, width: int) -> str:
    alpha = "undefined" if figures.alpha is None else f"{figures.alpha:.2f}"
    shares = (figures.exact, figures.within)
    exact, within = ("undefined" if share is None else f"{share:.1%}" for share in shares)
    return (
        f"  {figures.dimension:<{width}}  alpha {alpha}, exact {exact}, within one {within}, "
        f"{figures.divergences} divergences"
    )


def demo(
    folder: Path,
    template: str,
    backend: str,
    now: str,
    progress: Progress = lambda _: None,
) -> DemoResult:
    """Make a study from a template and take it all the way with simulated people.

    Args:
        folder: a new or empty folder.
        template: which template.
        backend: where its workbooks live.
        now: the time, UTC ISO 8601.
        progress: told of every step before it is taken.

    Raises:
        StudyError: the folder, the template or the backend cannot be used.
        SheetsyncError: something could not be made.
    """
    if backend == "google" and not os.environ.get(EMULATOR):
        raise StudyError(
            f"A demonstration on Google Sheets needs an emulator: {EMULATOR} is not set.",
            "Set it, or use --backend xlsx.",
        )
    progress(f"copying the template {template}")
    init(folder, template, backend)
    with writing_session(folder, "demo", now) as session:
        return replace(play(session, template, now, progress), folder=folder)


def play(
    session: Session,
    template: str,
    now: str,
    progress: Progress = lambda _: None,
    profile: Profile = FIRST_ROUND,
) -> DemoResult:
    """Provision an open study, have it scored and adjudicated by simulated people, and publish it."""
    provision(session, now, progress=lambda location: progress(f"making {location}"))
    workbooks = _score(session, profile, progress)
    progress("reading the workbooks, computing agreement, writing summary, adjudication and report")
    first = run(session, now)
    progress("settling divergences")
    settled = _adjudicate(session, first)
    _change_one_score(session, settled)
    progress("reading the verdicts, writing everything again")
    return _result(session, template, workbooks, (first, run(session, now)), len(settled))


# --- raters ---


def _score(session: Session, profile: Profile, progress: Progress) -> list[FilledWorkbook]:
    """Have every rater fill in every workbook of theirs."""
    records = session.workbooks()
    ratings = simulate_ratings(
        session.study.rubric, _units(session), session.roster(), session.study.design.seed, profile
    )
    filled = []
    for record in records:
        place = place_of(record)
        location = session.backend.location(place)
        cells = _cells(record, ratings[record.rater], session.study)
        progress(f"{record.rater} types {len(cells):,} cells into {location}")
        session.backend.type_cells(place, SCORING_TAB, cells)
        filled.append(FilledWorkbook(record.rater, record.batch, location, len(record.rows), len(cells)))
    return filled


def _units(session: Session) -> list[SimulatedUnit]:
    sheets = session.sheets()
    return [
        SimulatedUnit(code, sheets.newest_text(code).response, unit.has_false_premise, unit.model)
        for code, unit in sheets.units.items()
    ]


def _cells(record: WorkbookRecord, rows: Mapping[str, Row], study: Study) -> Cells:
    """Return where each value goes: rows in the order of the workbook, columns by their key."""
    columns = scoring_columns(study.rubric, pairs=study.design.layout == "pairs")
    places = {column.key: index for index, column in enumerate(columns)}
    return {
        (number, places[key]): value
        for number, row in enumerate(record.rows, 1)
        for key, value in rows.get(row.code, {}).items()
    }


# --- adjudicator ---

_Settled = tuple[Divergence, CellValue]
"""What was settled, and how."""


def _adjudicate(session: Session, ran: Ran) -> list[_Settled]:
    """Settle some divergences in the adjudication workbook."""
    grid = session.backend.read(ADJUDICATION).tab(ADJUDICATION_TAB)
    if grid is None or not grid.rows:
        return []
    places = {show(raw): column for column, raw in enumerate(grid.rows[0])}
    names = {dimension.id: dimension.name for dimension in session.study.rubric.dimensions}
    divergences = {(d.code, names[d.dimension], str(d.kind)): d for d in ran.analysis.divergences}
    people = session.study.settings.people.adjudicators
    adjudicator = people[0].id if people else "adjudicator"
    rng = random.Random(f"{session.study.design.seed}|simulation|adjudicator")  # noqa: S311 - repeatable, not secret
    cells: Cells = {}
    settled: list[_Settled] = []
    for number, row in enumerate(grid.rows[1:], 1):
        divergence = divergences.get(_row_key(row, places))
        if divergence is None or rng.random() >= _SETTLED:
            continue
        typed = _verdict(divergence, adjudicator, rng)
        cells |= {(number, places[header]): value for header, value in typed.items()}
        settled.append((divergence, typed["Verdict"]))
    if cells:
        session.backend.type_cells(ADJUDICATION, ADJUDICATION_TAB, cells)
    return settled


def _change_one_score(session: Session, settled: Sequence[_Settled]) -> None:
    """Have one rater raise a score to the verdict, too late for the adjudicator to know."""
    rubric = session.study.rubric
    for divergence, verdict in settled:
        scale = rubric.by_id[divergence.dimension].scale
        lower = [r for r, value in divergence.values.items() if value in scale and value != verdict]
        if divergence.kind != "score" or verdict != scale[-1] or not lower:
            continue
        row = {("score", divergence.dimension): verdict}
        for record in session.workbooks():
            if record.rater == lower[0] and divergence.code in {each.code for each in record.rows}:
                cells = _cells(record, {divergence.code: row}, session.study)
                session.backend.type_cells(place_of(record), SCORING_TAB, cells)
                return


def _row_key(row: Sequence[RawCell], places: Mapping[str, int]) -> tuple[str, str, str]:
    code, dimension, kind = (show(row[places[header]]) for header in ("Code", "Dimension", "Kind"))
    return code, dimension, kind


_COMMENTS: Mapping[str, str] = {
    "rubric ambiguity": "The boundary between the two levels needs an example in the rubric.",
    "rater slip": "One of the scores was meant for another dimension.",
    "sources disagree": "Both readings have a source; the reference sheet should say so.",
    "response ambiguous": "The sentence can be read either way.",
}


def _verdict(divergence: Divergence, adjudicator: str, rng: random.Random) -> dict[str, CellValue]:
    """Return what the adjudicator types: one of the raters' own values, N/A where somebody said so."""
    values = list(divergence.values.values())
    chosen = NOT_APPLICABLE if divergence.kind == "applicability" else rng.choice(values)
    reason = rng.choices(REASONS[:4], (5, 3, 2, 2))[0]
    typed = dict(zip(PEOPLE_COLUMNS, (chosen, reason, _COMMENTS[reason], adjudicator), strict=True))
    if rng.random() < 0.5:
        del typed["Comment"]
    return typed


# --- the story ---


def _result(
    session: Session,
    template: str,
    workbooks: Sequence[FilledWorkbook],
    runs: tuple[Ran, Ran],
    verdicts: int,
) -> DemoResult:
    first, last = runs
    analysis = last.analysis
    report = "reports/report.html"
    written = [name for name in last.published.written if not name.startswith("reports/")]
    return DemoResult(
        folder=session.root,
        template=template,
        units=len(analysis.units),
        raters=tuple(session.roster()),
        workbooks=tuple(workbooks),
        ratings=sum(workbook.changes.new for workbook in first.pulled.workbooks),
        problems=len(last.pulled.problems),
        examples=tuple(_examples(last.pulled.problems)),
        dimensions=tuple(_figures(last)),
        states=dict(Counter(divergence.state for divergence in analysis.divergences)),
        applicability=sum(divergence.kind == "applicability" for divergence in analysis.divergences),
        verdicts=verdicts,
        files=(report, *written, *(workbook.location for workbook in workbooks)),
        incomplete=last.incomplete,
    )


def _figures(ran: Ran) -> list[DimensionFigures]:
    diverging = Counter(d.dimension for d in ran.analysis.divergences if d.kind == "score")
    ids = {dimension.name: dimension.id for dimension in ran.analysis.rubric.dimensions}
    figures = []
    for each in ran.analysis.agreement.dimensions:
        alpha, exact, within = (each.coefficients[name].value for name in ("alpha", "exact", "within"))
        figures.append(DimensionFigures(each.dimension, alpha, exact, within, diverging[ids[each.dimension]]))
    return figures


def _examples(problems: Sequence[Problem], most: int = 3) -> list[str]:
    """Return some problems in words, errors first, each of another kind."""
    by_kind: dict[str, Problem] = {}
    for problem in sorted(problems, key=lambda each: each.severity != "error"):
        by_kind.setdefault(problem.kind, problem)
    return [
        f"{problem.rater or ''} {problem.cell or ''}: {problem.message}".strip()
        for problem in list(by_kind.values())[:most]
    ]
