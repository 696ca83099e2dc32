"""`demo`: a whole study with simulated people, through the real workbooks, up to the report.

Nothing is put into the archive by another way than in a real study: the simulated raters and the
simulated adjudicator type into cells of workbooks, and `run` reads them back.
"""

from __future__ import annotations

import csv
import os
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from sheetsync.config import STUDY_FILE
from sheetsync.domain.adjudication import ADJUDICATION_TAB, PEOPLE_COLUMNS, REASONS
from sheetsync.domain.assignment import UnitKey
from sheetsync.domain.cells import match_level, show
from sheetsync.domain.divergence import Divergence
from sheetsync.domain.ratings import Problem
from sheetsync.domain.scoring.columns import SCORING_TAB, scoring_columns
from sheetsync.domain.scoring.sheet import row_numbers
from sheetsync.domain.simulate import FIRST_ROUND, Profile, SimulatedUnit, simulate_ratings
from sheetsync.domain.simulated_rows import CellValue, Row
from sheetsync.domain.study import NOT_APPLICABLE, LevelValue
from sheetsync.domain.validation.records import Criterion
from sheetsync.domain.workbook import RawCell
from sheetsync.errors import StudyError
from sheetsync.services.demo_criteria import criteria_lines, judged_criteria, promise
from sheetsync.services.demo_judge import (
    certificate_lines,
    certify_simulated_judge,
    expect_verdicts,
    hidden_quality,
)
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
        judged: how many cases a simulated judge was certified with; `certificate` is its verdict in lines.
        criteria: what the study had to reach, and did; nothing in one without criteria.
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
    judged: int = 0
    certificate: tuple[str, ...] = ()
    criteria: tuple[Criterion, ...] = ()

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
            f"{_counted(self.problems, 'place')} {'needs' if self.problems == 1 else 'need'} a second look, "
            "as happens among people:"
            if self.problems
            else "No place needs a second look any more.",
        ]
        lines += [f"  {example}" for example in self.examples]
        lines += ["", "Agreement:", *(_figures_line(figures, width) for figures in self.dimensions), ""]
        lines += [
            self._divergences_line(),
            *self.certificate,
            *criteria_lines(self.criteria),
            "",
            f"Open, in {self.folder}:",
            *(f"  {name}" for name in self.files),
        ]
        return tuple(lines)

    def _divergences_line(self) -> str:
        total, apart = sum(self.states.values()), self.applicability
        states = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in self.states.items())
        about = f", {apart} of them about N/A" if apart else ""
        given = f"the simulated adjudicator gave {_counted(self.verdicts, 'verdict')}"
        return f"{_counted(total, 'divergence')}{about}; {given}: {states}." if total else "No divergences."


def _figures_line(figures: DimensionFigures, width: int) -> str:
    alpha = "undefined" if figures.alpha is None else f"{figures.alpha:.2f}"
    shares = (figures.exact, figures.within)
    exact, within = ("undefined" if share is None else f"{share:.1%}" for share in shares)
    return (
        f"  {figures.dimension:<{width}}  alpha {alpha}, exact {exact}, within one {within}, "
        f"{_counted(figures.divergences, 'divergence')}"
    )


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


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
    expect_verdicts(folder / STUDY_FILE)
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
    if promise(session, now):
        progress("the criteria are frozen")
    provision(session, now, progress=lambda location: progress(f"making {location}"))
    workbooks = _score(session, profile, progress)
    if session.study.settings.certification:
        progress("a simulated judge judges the cases of its certification")
    judged = certify_simulated_judge(session, now)
    progress("reading the workbooks, computing agreement, writing summary, adjudication and report")
    first = run(session, now)
    if session.study.settings.study.agreement_role == "criterion":
        progress("raters put right what the first reading found")
        _put_right(session, profile)
    progress("settling divergences")
    settled = _adjudicate(session, first)
    _change_one_score(session, settled, first)
    progress("reading the verdicts, writing everything again")
    last = run(session, now)
    result = _result(session, template, workbooks, (first, last), len(settled))
    cases = judged.cases if judged else 0
    return replace(
        result,
        judged=cases,
        certificate=certificate_lines(last.analysis.certificate, cases),
        criteria=judged_criteria(session),
    )


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
        cells = _cells(session, record, ratings[record.rater])
        progress(f"{record.rater} types {len(cells):,} cells into {location}")
        session.backend.type_cells(place, SCORING_TAB, cells)
        filled.append(FilledWorkbook(record.rater, record.batch, location, len(record.rows), len(cells)))
    return filled


def _units(session: Session) -> list[SimulatedUnit]:
    sheets, counts = session.sheets(), _known_counts(session)
    return [
        SimulatedUnit(
            code,
            sheets.newest_text(code).response,
            unit.has_false_premise,
            unit.model,
            counts.get(unit.key, {}),
        )
        for code, unit in sheets.units.items()
    ]


def _known_counts(session: Session) -> dict[UnitKey, dict[str, LevelValue]]:
    """Return what careful raters come to: the internal scores of a study that has some, or what its judge goes by.

    A practice unit, which has none, is taken to deserve the middle of every scale.
    """
    criteria, dimensions = session.study.settings.criteria, session.study.rubric.dimensions
    if quality := hidden_quality(session.study):
        return quality
    path = session.root / criteria.internal if criteria else None
    if path is None or not path.is_file():
        return {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    found = {unit.key: {d.id: d.scale[len(d.scale) // 2] for d in dimensions} for unit in session.study.units}
    for row in rows:
        key = (row.get("question_id") or "", row.get("figure") or "", row.get("model") or "")
        levels = {d.id: match_level(row.get(d.id) or "", d.scale) for d in dimensions}
        if key in found:
            found[key] |= {name: level for name, level in levels.items() if level is not None}
    return found


def _cells(session: Session, record: WorkbookRecord, rows: Mapping[str, Row]) -> Cells:
    """Return where each value goes in a workbook: rows by their code, columns by their key."""
    sheet = session.sheets().sheet(record)
    columns = scoring_columns(sheet.rubric, pairs=sheet.pairs)
    places = {column.key: index for index, column in enumerate(columns)}
    return {
        (number, places[key]): value
        for code, number in row_numbers(sheet).items()
        for key, value in rows.get(code, {}).items()
    }


def _put_right(session: Session, profile: Profile) -> None:
    """Have raters finish the rows that the coordinator asks them about: the study needs them complete."""
    rubric, seed = session.study.rubric, session.study.design.seed
    units, raters = _units(session), session.roster()
    typed = simulate_ratings(rubric, units, raters, seed, profile)
    meant = simulate_ratings(rubric, units, raters, seed, replace(profile, slips=0))
    for record in session.workbooks():
        before = typed[record.rater]
        rows = {code: row for code, row in meant[record.rater].items() if row != before[code]}
        cells = _cells(session, record, rows)
        if cells:
            session.backend.type_cells(place_of(record), SCORING_TAB, cells)


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
    rows = [(at, divergences.get(_row_key(row, places))) for at, row in enumerate(grid.rows[1:], 1)]
    found = [(number, divergence) for number, divergence in rows if divergence is not None]
    cells: Cells = {}
    settled: list[_Settled] = []
    for number, divergence in sorted(rng.sample(found, round(_SETTLED * len(found))), key=lambda row: row[0]):
        typed = _verdict(divergence, adjudicator, rng)
        cells |= {(number, places[header]): value for header, value in typed.items()}
        settled.append((divergence, typed["Verdict"]))
    if cells:
        session.backend.type_cells(ADJUDICATION, ADJUDICATION_TAB, cells)
    return settled


def _change_one_score(session: Session, settled: Sequence[_Settled], ran: Ran) -> None:
    """Have one rater raise a score to the verdict, too late for the adjudicator to know.

    It is one on the dimension with most divergences, in a row without tags, which may ask for a low score.
    """
    rubric, ticks = session.study.rubric, ran.analysis.current.ticks
    most = Counter(divergence.dimension for divergence in ran.analysis.divergences)
    for divergence, verdict in sorted(settled, key=lambda each: -most[each[0].dimension]):
        scale = rubric.by_id[divergence.dimension].scale
        lower = [
            rater
            for rater, value in divergence.values.items()
            if value in scale and value != verdict and not ticks.get((rater, divergence.code))
        ]
        if divergence.kind != "score" or verdict != scale[-1] or not lower:
            continue
        row = {("score", divergence.dimension): verdict}
        for record in session.workbooks():
            if record.rater == lower[0] and divergence.code in {each.code for each in record.rows}:
                cells = _cells(session, record, {divergence.code: row})
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
