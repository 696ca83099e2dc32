"""Verdicts of a judge from a file: JSON lines as a judge writes them, or a CSV table with a column per metric."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from sheetsync.config_faults import Faults, quoted
from sheetsync.config_files import Row, read_table, read_text
from sheetsync.domain.cells import match_level
from sheetsync.domain.certification.cases import Case, Presentation, Verdict
from sheetsync.domain.certification.verdict_lines import id_of_line, parse_verdict_line
from sheetsync.errors import StudyError


def read_verdict_file(path: Path, name: str, presentation: Presentation) -> tuple[list[Verdict], list[str]]:
    """Return the verdicts of a file, and notes about its lines that belong to no case.

    A case that the file does not name, or whose cells are all blank, has no verdict.

    Raises:
        StudyError: the file cannot be read, names a case twice, or names none of this presentation.
    """
    faults = Faults()
    cases = {case.id: case for case in presentation.cases}
    is_table = path.suffix.lower() == ".csv"
    lines = list((_table_lines if is_table else _lines)(path, name, cases, faults))
    _raise(faults, name)
    first: dict[str, str] = {}
    strange = [place for place, line in lines if id_of_line(line) not in cases]
    verdicts = []
    for place, line in lines:
        case = cases.get(id_of_line(line) or "")
        if case is None:
            continue
        if case.id in first:
            faults.error(place, f"is a second verdict on {case.id}, after {first[case.id]}; delete one")
        first.setdefault(case.id, place)
        verdicts.append(parse_verdict_line(line, case))
    if not verdicts:
        faults.error(
            name,
            "holds no verdict on a case of this run; ids are those of presentation.jsonl, and every run has its own",
        )
    _raise(faults, name)
    notes = (
        [f"{len(strange)} lines name no case of this run and are left out: {strange[0]}"] if strange else []
    )
    return verdicts, notes


def _raise(faults: Faults, name: str) -> None:
    if errors := [fault for fault in faults if fault.severity == "error"]:
        raise StudyError(f"{name} cannot be taken as verdicts.", "Correct the file.", faults=errors)


def _lines(
    path: Path,
    name: str,
    cases: Mapping[str, Case],  # noqa: ARG001 - as `_table_lines`
    faults: Faults,
) -> Iterator[tuple[str, str]]:
    """Yield the place and the text of every line that says anything."""
    for number, line in enumerate((read_text(path, name, faults) or "").split("\n"), 1):
        if line.strip():
            yield f"{name} line {number}", line


def _table_lines(
    path: Path, name: str, cases: Mapping[str, Case], faults: Faults
) -> Iterator[tuple[str, str]]:
    """Yield every row as the line that a judge would have written."""
    metrics = {metric.id: metric.id for case in cases.values() for metric in case.metrics}
    table = read_table(path, name, ("id",), (*metrics, "verdict", "reasoning"), faults)
    for row in table.rows if table else ():
        case = cases.get(row.text("id"))
        if case is None or any(row.text(column) for column in (*metrics, "verdict", "reasoning")):
            yield row.place, json.dumps(_answer(row, case))


def _answer(row: Row, case: Case | None) -> dict[str, object]:
    answer: dict[str, object] = {"id": row.text("id"), "reasoning": row.text("reasoning")}
    if case is None:
        return answer
    if case.task == "verdict":
        return answer | {"verdict": row.text("verdict") or None}
    scores: dict[str, object] = {}
    for metric in case.metrics:
        if text := row.text(metric.id):
            level = match_level(text, metric.scale)
            scores[metric.id] = quoted(text) if level is None else level
    return answer | {"scores": scores or None}
