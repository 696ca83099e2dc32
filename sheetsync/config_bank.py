"""The bank: questions, figures and reference sheets, and the units they make with the responses."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sheetsync.config_faults import Faults, cell_length, listed, quoted
from sheetsync.config_files import Row, Table, read_text
from sheetsync.config_responses import Response
from sheetsync.domain.study import Unit
from sheetsync.domain.workbook import MAX_CELL_CHARACTERS

REQUIRED = ("question_id", "text")
OPTIONAL = ("figure", "tier", "type", "false_premise", "reference", "ground_truth")
"""Columns of the questions file; any further one is a slice for reports."""

NEVER_SLICES = ("model", "version")
"""Columns that would tell what the raters must not know."""

_NO_PREMISE = {"no", "n", "false", "0", "-", "none", "n/a", "na"}
_NEARLY_FIGURE = re.compile(r"\{\s*figure\s*\}", re.IGNORECASE)


@dataclass(frozen=True)
class Question:
    """One row of the bank as it was written."""

    row: Row
    id: str
    figure: str
    text: str
    slices: Mapping[str, str]

    @property
    def reference(self) -> str:
        """The reference sheet that the row names, if any."""
        return self.row.text("reference")

    def figures(self, every: Sequence[str]) -> Sequence[str]:
        """Return the figures it is asked of; one blank in a study without figures."""
        return [self.figure] if self.figure else every or [""]

    def text_for(self, figure: str) -> str:
        """Return the text as raters see it."""
        return self.text.replace("{figure}", figure)

    def reference_for(self, figure: str) -> str:
        """Return the file name of the reference sheet, blank where none is expected."""
        return self.reference or (f"{figure}.md" if figure else "")


Responses = Mapping[tuple[str, str, str], Response]
"""Responses by question, figure and model."""

Questions = Mapping[str, Question]
"""Questions by id, in the order of the file."""


# --- questions ---------------------------------------------------------------------------------


def read_questions(table: Table, faults: Faults) -> dict[str, Question]:
    """Return the questions by id, in the order of the file."""
    slices = _slice_columns(table, faults)
    questions: dict[str, Question] = {}
    for row in table.rows:
        question = _read_question(row, slices, faults)
        if question.id in questions:
            first = questions[question.id].row.line
            faults.error(
                row.at("question_id"),
                f"{quoted(question.id)} stands already in line {first}; each question needs an id of its own",
            )
        elif question.id:
            questions[question.id] = question
    if not table.rows:
        faults.error(table.name, "holds no question; write one per row under the header")
    return questions


def _slice_columns(table: Table, faults: Faults) -> dict[str, str]:
    further = {folded: name for folded, name in table.columns.items() if folded not in (*REQUIRED, *OPTIONAL)}
    for folded in further.keys() & set(NEVER_SLICES):
        del further[folded]
        faults.warn(
            f"{table.name} line 1", f"column {folded} is left out: it belongs to responses, not questions"
        )
    return further


def _read_question(row: Row, slices: Mapping[str, str], faults: Faults) -> Question:
    for column in ("question_id", "text"):
        if not row.text(column):
            faults.error(row.at(column), "is blank; every question needs one")
    for column in (*REQUIRED, *OPTIONAL, *slices):
        faults.check_text(row.at(column), row.text(column))
    _check_one_line(row, ("question_id", "figure"), faults)
    text = row.text("text")
    for found in set(_NEARLY_FIGURE.findall(text)) - {"{figure}"}:
        faults.warn(row.at("text"), f"{quoted(found)} is not replaced; write {{figure}}")
    if row.text("false_premise").casefold() in _NO_PREMISE:
        faults.warn(
            row.at("false_premise"),
            f"{quoted(row.text('false_premise'))} counts as the text of a premise; leave it blank if there is none",
        )
    values = {name: row.text(folded) for folded, name in slices.items()}
    return Question(row, row.text("question_id"), row.text("figure"), text, values)


def _check_one_line(row: Row, columns: Sequence[str], faults: Faults) -> None:
    for column in columns:
        if any(char in row.text(column) for char in "\n\t"):
            faults.error(row.at(column), "holds a line break or tab; an id is written in one line")


# --- figures -----------------------------------------------------------------------------------


def find_figures(questions: Questions, responses: Table | None, references: Mapping[str, str]) -> list[str]:
    """Return every figure: of questions, of responses, then of reference sheets; first seen first.

    A study whose questions and responses name none has no figures, whatever its reference sheets
    are called.
    """
    named = [question.figure for question in questions.values()]
    own = {question.id for question in questions.values() if question.figure}
    rows = responses.rows if responses else ()
    named += [row.text("figure") for row in rows if row.text("question_id") not in own]
    figures = dict.fromkeys(filter(None, named))
    if figures or any("{figure}" in question.text for question in questions.values()):
        taken = {_composed(figure) for figure in figures} | {"README"}
        taken |= {_composed(question.reference).removesuffix(".md") for question in questions.values()}
        stems = [name.removesuffix(".md") for name in references]
        figures |= dict.fromkeys(stem for stem in stems if stem not in taken)
    return list(figures)


def check_figures(questions: Questions, figures: Sequence[str], faults: Faults) -> None:
    """Check that `{figure}` has something to stand for, and that texts fit a cell once it is replaced."""
    for question in questions.values():
        if "{figure}" not in question.text:
            continue
        if not question.figures(figures)[0]:
            faults.error(
                question.row.at("text"),
                "asks about {figure} but the study names no figure; fill the figure column, or write the name",
            )
        longest = max(question.figures(figures), key=len)
        if cell_length(question.text) <= MAX_CELL_CHARACTERS < cell_length(question.text_for(longest)):
            faults.error(
                question.row.at("text"),
                f"is longer than {MAX_CELL_CHARACTERS:,} characters once {{figure}} is {longest}; shorten it",
            )


# --- reference sheets --------------------------------------------------------------------------


def read_references(folder: Path, name: str, faults: Faults) -> dict[str, str]:
    """Return the text of every Markdown file of the folder by file name."""
    try:
        if not folder.is_dir():
            if name != "reference":
                faults.error(
                    name, "there is no such folder; create it, or correct study.toml [files] reference"
                )
            return {}
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".md" and path.name[0] != ".")
    except (OSError, ValueError) as error:
        faults.error(name, f"cannot be read ({error}); check study.toml [files] reference")
        return {}
    references: dict[str, str] = {}
    for path in paths:
        place = f"{name}/{path.name}"
        text = read_text(path, place, faults)
        for number, line in enumerate((text or "").split("\n"), 1):
            faults.check_text(f"{place} line {number}", line)
        references[_composed(path.name)] = (text or "").replace("\r\n", "\n").replace("\r", "\n")
    return references


def _composed(text: str) -> str:
    """Return a name with composed letters: file systems differ in how they keep `é`."""
    return unicodedata.normalize("NFC", text)


def check_references(
    questions: Questions, figures: Sequence[str], references: Mapping[str, str], name: str, faults: Faults
) -> None:
    """Check that every sheet a question names is there, and warn of figures without one."""
    for question in questions.values():
        if question.reference and _composed(question.reference) not in references:
            faults.error(
                question.row.at("reference"),
                f"there is no {quoted(question.reference)} in {name}/; create it (a .md file), or leave this blank",
            )
    expected = [
        figure
        for question in questions.values()
        if not question.reference
        for figure in question.figures(figures)
    ]
    for figure in dict.fromkeys(expected):
        if figure and _composed(f"{figure}.md") not in references:
            faults.warn(
                f"{name}/",
                f"there is no {quoted(figure + '.md')}: raters score {figure} without a reference sheet",
            )


# --- units -------------------------------------------------------------------------------------


def build_units(
    questions: Questions, figures: Sequence[str], responses: Responses, references: Mapping[str, str]
) -> tuple[Unit, ...]:
    """Return every unit in bank order: by question, then figure, then model."""
    models = list(dict.fromkeys(response.model for response in responses.values()))
    return tuple(
        _build_unit(question, figure, responses[key], references)
        for question, figure in _cases(questions, figures)
        for model in models
        if (key := (question.id, figure, model)) in responses
    )


def _build_unit(question: Question, figure: str, response: Response, references: Mapping[str, str]) -> Unit:
    reference = _composed(question.reference_for(figure))
    return Unit(
        question_id=question.id,
        figure=figure,
        model=response.model,
        version=response.version,
        question=question.text_for(figure),
        response=response.text,
        tier=question.row.text("tier"),
        type=question.row.text("type"),
        false_premise=question.row.text("false_premise").replace("{figure}", figure),
        reference=reference if reference in references else "",
        calibration=response.calibration,
        slices=dict(question.slices),
    )


def _cases(questions: Questions, figures: Sequence[str]) -> Iterator[tuple[Question, str]]:
    for question in questions.values():
        for figure in question.figures(figures):
            yield question, figure


def case_name(question_id: str, figure: str) -> str:
    """Return a case in words.

    >>> case_name("G01", "Macrina"), case_name("7", "")
    ('G01 (Macrina)', '7')
    """
    return f"{question_id} ({figure})" if figure else question_id


def warn_of_missing(
    name: str, questions: Questions, figures: Sequence[str], responses: Responses, faults: Faults
) -> None:
    """Warn once per model of the cases that it has no response to."""
    for model in dict.fromkeys(response.model for response in responses.values()):
        missing = [
            case_name(question.id, figure)
            for question, figure in _cases(questions, figures)
            if (question.id, figure, model) not in responses
        ]
        if missing:
            shown = ", ".join(missing[:3]) + (" ..." if len(missing) > 3 else "")
            faults.warn(
                name,
                f"model {model} has no response to {len(missing)} of the questions: {shown}; no unit is made",
            )


def check_pairs(
    name: str, questions: Questions, figures: Sequence[str], responses: Responses, faults: Faults
) -> None:
    """Check that each case with responses has two of them, in the same batch; none is warned of elsewhere."""
    by_case: dict[tuple[str, str], list[Response]] = {}
    for (question_id, figure, _), response in responses.items():
        by_case.setdefault((question_id, figure), []).append(response)
    for question, figure in _cases(questions, figures):
        case = by_case.get((question.id, figure), [])
        where = f"{name}, case {case_name(question.id, figure)}"
        if case and len(case) != 2:
            models = listed([response.model for response in case], "and")
            faults.error(
                where, f'has {len(case)} models ({models}); [design] layout = "pairs" needs exactly two'
            )
        elif case and case[0].calibration != case[1].calibration:
            faults.error(where, "is marked calibration on one side only; mark both responses, or neither")
