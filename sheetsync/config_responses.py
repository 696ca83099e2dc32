"""The responses file: what belongs to which question, and what would break the blinding."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sheetsync.config_faults import Faults, listed, nearest, quoted, suggestion
from sheetsync.config_files import Row, Table

REQUIRED = ("question_id", "model", "version", "response")
OPTIONAL = ("figure", "batch", "collected_at")
"""Columns of the responses file; further ones are left alone."""

MAX_RESPONSE_CHARACTERS = 200_000
"""Longer than one cell is fine (the `Responses` tab holds blocks); longer than a book chapter is not."""

_DATE = re.compile(r"(?<!\d)(\d{8}|\d{4}-\d{2}(-\d{2})?)(?!\d)", re.ASCII)

_MAKERS = re.compile(
    r"(?<!\w)(ChatGPT|GPT-?\d\w*|OpenAI|Anthropic|(?:Google )?DeepMind|(?:Google )?Gemini|Mistral|DeepSeek"
    r"|Grok|xAI|Meta AI|Meta Llama|Llama[ -]?\d\w*|Qwen\w*"
    r"|(?:(?<=I am )|(?<=I'm )|(?<=I’m )|(?<=as )|(?<=name is ))(?:Claude|Llama|Bard|Copilot))(?!\w)",
    re.IGNORECASE,
)
"""Makers and assistants; names that people also bear count only where the text speaks of itself."""


@dataclass(frozen=True)
class Response:
    """One response with the case it belongs to."""

    row: Row
    question_id: str
    figure: str
    model: str
    version: str
    text: str
    calibration: bool


class Asked(Protocol):
    """What responses need to know of a question."""

    @property
    def figure(self) -> str:
        """The only figure it is asked of; blank for all."""

    @property
    def text(self) -> str:
        """Its text."""


Questions = Mapping[str, Asked]


def read_responses(
    table: Table, questions: Questions | None, figures: Sequence[str], faults: Faults
) -> dict[tuple[str, str, str], Response]:
    """Return the responses by question, figure and model; `questions` None: they could not be read."""
    responses: dict[tuple[str, str, str], Response] = {}
    for row in table.rows:
        question = questions.get(row.text("question_id")) if questions is not None else None
        response = _read_response(row, question, faults)
        if questions is not None and response.question_id:
            _check_case(response, question, questions, figures, faults)
        key = (response.question_id, response.figure, response.model)
        if all((response.question_id, response.model)) and key in responses:
            faults.error(
                row.place,
                f"is a second response of model {response.model} to question {response.question_id}"
                f"{f' about {response.figure}' if response.figure else ''}; the first is in line "
                f"{responses[key].row.line}: delete one",
            )
        elif response.model:
            responses[key] = response
            _warn_of_names(response, question, faults)
    if not table.rows:
        faults.error(table.name, "holds no response; write one per row under the header")
    _warn_of_undated(responses.values(), faults)
    return responses


def _read_response(row: Row, question: Asked | None, faults: Faults) -> Response:
    for column in ("question_id", "model", "response"):
        if not row.text(column):
            faults.error(row.at(column), "is blank; every response needs it")
    for column in ("question_id", "figure", "model", "version"):
        faults.check_text(row.at(column), row.text(column))
        if any(char in row.text(column) for char in "\n\t"):
            faults.error(row.at(column), "holds a line break or tab; write it in one line")
    text = row.values.get("response", "")
    faults.check_text(row.at("response"), text, MAX_RESPONSE_CHARACTERS)
    batch = row.text("batch")
    if batch.casefold() not in {"", "calibration"}:
        faults.error(row.at("batch"), f'found {quoted(batch)}; leave it blank, or write "calibration"')
    return Response(
        row=row,
        question_id=row.text("question_id"),
        figure=row.text("figure") or (question.figure if question else ""),
        model=row.text("model"),
        version=row.text("version"),
        text=text,
        calibration=batch.casefold() == "calibration",
    )


def _check_case(
    response: Response, question: Asked | None, questions: Questions, figures: Sequence[str], faults: Faults
) -> None:
    row = response.row
    if question is None:
        hint = suggestion(response.question_id, questions)
        faults.error(
            row.at("question_id"),
            f"{quoted(response.question_id)} is not in the questions file; {hint}",
        )
    elif question.figure and response.figure != question.figure:
        faults.error(
            row.at("figure"),
            f"found {quoted(response.figure)} but question {response.question_id} is asked of "
            f"{quoted(question.figure)} only; correct the figure or the question_id",
        )
    elif figures and not response.figure:
        faults.error(
            row.at("figure"),
            f"is blank but question {response.question_id} is asked of every figure; "
            f"write one of: {listed(figures[:20])}",
        )


def warn_of_lone_figures(table: Table, known: Sequence[str], faults: Faults) -> None:
    """Warn of figures that only responses name when they look like one that is known."""
    seen: set[str] = set(known)
    for row in table.rows:
        figure = row.text("figure")
        if figure in seen or not figure:
            continue
        seen.add(figure)
        if match := nearest(figure, known, 0.8):
            faults.warn(
                row.at("figure"), f"{quoted(figure)} stands in no other file; did you mean {quoted(match)}?"
            )


def _warn_of_undated(responses: Iterable[Response], faults: Faults) -> None:
    warned: set[str] = set()
    for response in responses:
        if response.model in warned or _DATE.search(response.version):
            continue
        warned.add(response.model)
        found = (
            f"{quoted(response.version)} of model {response.model} holds no date"
            if response.version
            else (f"of model {response.model} is blank")
        )
        faults.warn(
            response.row.at("version"),
            f"{found}; write the pinned, dated version, such as name-2026-05-01, so that results can be compared",
        )


# --- blinding ----------------------------------------------------------------------------------


def _warn_of_names(response: Response, question: Asked | None, faults: Faults) -> None:
    asked = question.text.casefold() if question else ""
    found = [
        *_found(response.model, response.text),
        *(_found(response.version, response.text) if re.search(r"[^\W\d]", response.version) else ()),
        *(match[1] for match in _MAKERS.finditer(response.text)),
    ]
    names = list(dict.fromkeys(name for name in found if not _holds(asked, name.casefold())))
    if names:
        faults.warn(
            response.row.at("response"),
            f"names {listed([quoted(name) for name in names[:5]], 'and')}, so raters may guess the model; "
            "mask the name, or accept that this one is not blind",
        )


def _found(name: str, text: str) -> list[str]:
    """Return the name if the text holds it as a word; names under four letters with their case."""
    if len(name) < 2:
        return []
    return [name] if _holds(text, name, ignore_case=len(name) >= 4) else []


def _holds(text: str, word: str, *, ignore_case: bool = False) -> bool:
    flags = re.IGNORECASE if ignore_case else 0
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, flags) is not None
