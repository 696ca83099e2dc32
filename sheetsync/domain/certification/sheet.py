"""The cases of a certification as a scoring workbook, for a human judged by the same protocol: both directions.

It is an ordinary scoring workbook with the rows in the order of the presentation, so the distance between two looks is
the same as for a program. What a row does not ask is filled in as N/A beforehand: the metrics in a verdict case, and
the verdict in a score case.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from sheetsync.domain.certification.cases import Case, Decision, Presentation, Verdict, VerdictState
from sheetsync.domain.scoring.conditions import CellKey
from sheetsync.domain.scoring.reading import ParsedSheet
from sheetsync.domain.scoring.sheet import ScoringRow, ScoringSheet
from sheetsync.domain.study import NOT_APPLICABLE, Dimension, Level, LevelValue, Remark, Rubric, Study
from sheetsync.domain.workbook import RawCell

_VERDICT = Dimension(
    id="certification_verdict",
    name="PASS or FAIL",
    text="Only in rows that say what PASS and FAIL mean.",
    level="nominal",
    not_applicable=True,
    levels=(Level(value="PASS"), Level(value="FAIL")),
)
_REASONING = Remark(id="certification_reasoning", name="Why")


def certification_batch(run: int) -> str:
    """Return the name of the workbook.

    >>> certification_batch(2)
    'certification-2'
    """
    return f"certification-{run}"


def certification_sheet(study: Study, rater: str, run: int, presentation: Presentation) -> ScoringSheet:
    """Return the sheet of a rater who is judged; it holds no key and no model."""
    names = {each.id: each.name for each in study.raters}
    return ScoringSheet(
        study_id=study.id,
        title=f"{study.title}: certification, run {run}",
        rater=rater,
        rater_name=names.get(rater, ""),
        batch=certification_batch(run),
        kind="production",
        rubric=_rubric(study.rubric),
        rows=tuple(_row(case, study.rubric) for case in presentation.cases),
        contact=study.settings.study.contact,
    )


def _rubric(rubric: Rubric) -> Rubric:
    """Return a rubric of the metrics and the verdict, each of them open to N/A, with a remark."""
    dimensions = [
        dimension.model_copy(update={"not_applicable": True, "confidence": False, "tags": ()})
        for dimension in rubric.dimensions
    ]
    return Rubric.model_validate(
        {"version": rubric.version, "dimension": (*dimensions, _VERDICT), "remark": (_REASONING,)}
    )


def _row(case: Case, rubric: Rubric) -> ScoringRow:
    not_asked = [_VERDICT] if case.task == "score" else rubric.dimensions
    typed: Mapping[CellKey, RawCell] = {("score", each.id): NOT_APPLICABLE for each in not_asked}
    parts = (
        ("", case.question),
        ("A right answer holds: ", case.ground_truth),
        ("It was asked like this: ", case.context),
        ("", case.criterion),
    )
    question = "\n\n".join(f"{words}{text}" for words, text in parts if text)
    return ScoringRow(case.id, "", question, case.response, typed=typed)


def read_certification_sheet(parsed: ParsedSheet, presentation: Presentation) -> list[Verdict]:
    """Return a verdict for every case whose row says anything; rows left blank have none."""
    scores: dict[str, dict[str, LevelValue]] = {}
    reasons: dict[str, str] = {}
    for entry in parsed.entries:
        if entry.kind == "score" and not isinstance(entry.value, bool):
            scores.setdefault(entry.code, {})[entry.column] = entry.value
        elif entry.kind == "remark":
            reasons[entry.code] = str(entry.value)
    faults = {p.code: p.message for p in reversed(parsed.problems) if p.code and p.severity == "error"}
    found = (
        _verdict(case, scores.get(case.id, {}), reasons.get(case.id, ""), faults.get(case.id, ""))
        for case in presentation.cases
    )
    return [verdict for verdict in found if verdict is not None]


def _verdict(case: Case, typed: Mapping[str, LevelValue], reasoning: str, fault: str) -> Verdict | None:
    """Return what a row says; None where nothing is typed that the case asks for."""
    asked = [metric.id for metric in case.metrics] or [_VERDICT.id]
    values = {name: typed[name] for name in asked if name in typed}
    raw = json.dumps(values, ensure_ascii=False)
    if not values and not fault:
        return None

    def without(state: VerdictState, why: str) -> Verdict:
        return Verdict(case.id, state, reasoning=reasoning, raw=raw, why=why)

    if fault:
        return without("malformed", fault)
    if NOT_APPLICABLE in values.values():
        return without("malformed", "N/A is no score")
    if len(values) < len(asked):
        return without("missing", "the row is not complete")
    if case.task == "score":
        return Verdict(case.id, "answered", scores=values, reasoning=reasoning, raw=raw)
    decision: Decision = "PASS" if values[_VERDICT.id] == "PASS" else "FAIL"
    return Verdict(case.id, "answered", verdict=decision, reasoning=reasoning, raw=raw)
