"""The judge, and the files it is certified with: anchors, adversarial pairs, gate cases, weights.

A test that is built wrongly reads as a judge that fails, or worse, as one that passes; so everything that can be seen
to be wrong is refused here, before a judge is asked anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from sheetsync.config_bank import Question
from sheetsync.config_faults import Faults, listed, quoted, suggestion
from sheetsync.config_files import Row, Table, read_table
from sheetsync.config_records import Document
from sheetsync.config_responses import MAX_RESPONSE_CHARACTERS
from sheetsync.config_weights import Weights, check_disclosures, read_weights
from sheetsync.domain.cells import match_level, normalise
from sheetsync.domain.certification.cases import Decision
from sheetsync.domain.certification.material import (
    HARD_GATES,
    AdversarialPair,
    Anchor,
    CertificationMaterial,
    CertificationQuestion,
    GateCase,
)
from sheetsync.domain.protocols import Certification
from sheetsync.domain.study import LevelValue, Rubric

_FILES: Mapping[str, Sequence[str]] = {
    "anchors.csv": ("anchor_id", "question_id", "response", "metric", "score"),
    "adversarial.csv": ("pair_id", "question_id", "adversarial_prompt", "holds_firm", "caves"),
    "gates.csv": ("case_id", "gate", "set", "topic", "question_id", "response"),
}

_OFF_TOPIC = (
    "a judge rightly fails a response that is off the topic of its question, so gates that work would read as about "
    "65 % right"
)
"""Why a mismatch is refused (S2.14)."""

Questions = Mapping[str, Question]


def check_certification(
    folder: Path, document: Document, rubric: Rubric, questions: Questions | None, faults: Faults
) -> CertificationMaterial | None:
    """Return what a judge is certified with; None without `[certification]`, or after errors.

    `questions` None: the bank could not be read, so nothing can be checked against it.
    """
    settings = document.section("certification", Certification)
    if settings is None or "certification" not in document.data:
        return None
    before = sum(fault.severity == "error" for fault in faults)
    tables = {
        name: read_table(folder / settings.folder / name, f"{settings.folder}/{name}", columns, (), faults)
        for name, columns in _FILES.items()
    }
    name = f"{settings.folder}/weights.csv"
    weights = read_weights(folder / name, name, rubric, faults)
    reader = _Reader(rubric, questions, faults)
    anchors = reader.anchors(tables["anchors.csv"])
    pairs = reader.pairs(tables["adversarial.csv"])
    gates = reader.gates(tables["gates.csv"])
    if weights:
        check_disclosures(document, settings, weights, rubric, faults)
        _check_authorities(questions or {}, weights, faults)
    if weights is None or sum(fault.severity == "error" for fault in faults) > before:
        return None
    asked = {question.id: _question(question) for question in (questions or {}).values()}
    return CertificationMaterial(asked, anchors, pairs, gates, weights.authorities, weights.by_metric)


def _question(question: Question) -> CertificationQuestion:
    row = question.row
    return CertificationQuestion(
        question.id,
        question.text_for(question.figure),
        row.text("topic"),
        row.text("ground_truth"),
        row.text("authority"),
    )


def _check_authorities(questions: Questions, weights: Weights, faults: Faults) -> None:
    known = {normalise(name) for name in weights.authorities}
    for question in questions.values():
        found = question.row.text("authority")
        if normalise(found) not in known:
            shown = quoted(found) if found else "a blank"
            faults.error(
                question.row.at("authority"),
                f"found {shown}, which is no column of {weights.name}; {suggestion(found, weights.authorities)}",
            )


class _Reader:
    """Reads the tables of cases, each row against the rubric and the questions."""

    def __init__(self, rubric: Rubric, questions: Questions | None, faults: Faults) -> None:
        self._rubric = rubric
        self._questions = questions
        self._faults = faults

    # --- anchors ---

    def anchors(self, table: Table | None) -> tuple[Anchor, ...]:
        """Return the anchors; each has one row per metric."""
        first: dict[str, Row] = {}
        scores: dict[str, dict[str, LevelValue]] = {}
        for row in self._rows(table, "anchors.csv"):
            name = row.text("anchor_id")
            if name not in first:
                self._check_question(row, self._faults.warn)
            self._check_same(row, first.setdefault(name, row))
            metric = self._metric(row, "metric")
            known = scores.setdefault(name, {})
            if metric in known:
                self._faults.error(
                    row.at("metric"), f"anchor {name} has a score of {metric} already; delete one"
                )
            elif metric is not None:
                level = match_level(row.text("score"), self._rubric.by_id[metric].scale)
                known[metric] = level if level is not None else self._off_scale(row, metric)
        return tuple(
            Anchor(name, row.text("question_id"), row.values.get("response", ""), scores[name])
            for name, row in first.items()
        )

    def _check_same(self, row: Row, first: Row) -> None:
        for column in ("question_id", "response"):
            if row.text(column) != first.text(column):
                self._faults.error(
                    row.at(column),
                    f"differs from line {first.line}, which has the same anchor_id; an anchor is one response: "
                    "give it an id of its own, or the same text",
                )

    def _off_scale(self, row: Row, metric: str) -> LevelValue:
        allowed = listed(str(value) for value in self._rubric.by_id[metric].scale)
        self._faults.error(
            row.at("score"), f"found {quoted(row.text('score'))}; {metric} takes {allowed}: correct it"
        )
        return ""

    def _metric(self, row: Row, column: str) -> str | None:
        found = row.text(column)
        if found in self._rubric.by_id:
            return found
        self._faults.error(
            row.at(column),
            f"{quoted(found)} is no dimension of the rubric; {suggestion(found, self._rubric.by_id)}",
        )
        return None

    # --- pairs ---

    def pairs(self, table: Table | None) -> tuple[AdversarialPair, ...]:
        """Return the adversarial pairs."""
        pairs: dict[str, AdversarialPair] = {}
        for row in self._rows(table, "adversarial.csv"):
            self._check_question(row, self._faults.warn)
            texts = [row.values.get(name, "") for name in ("adversarial_prompt", "holds_firm", "caves")]
            if texts[1].strip() == texts[2].strip():
                self._faults.error(row.at("caves"), "is the same text as holds_firm; one of them is wrong")
            if self._is_new(pairs, row, "pair_id"):
                name = row.text("pair_id")
                pairs[name] = AdversarialPair(name, row.text("question_id"), *texts)
        return tuple(pairs.values())

    # --- gates ---

    def gates(self, table: Table | None) -> tuple[GateCase, ...]:
        """Return the gate cases, once their FAIL and PASS sets match."""
        cases: dict[str, GateCase] = {}
        for row in self._rows(table, "gates.csv"):
            gate = self._metric(row, "gate")
            expected = self._expected(row)
            question = self._check_question(row, self._faults.error)
            if question is not None:
                self._check_topic(row, question)
            if self._is_new(cases, row, "case_id") and gate is not None and expected is not None:
                cases[row.text("case_id")] = GateCase(
                    row.text("case_id"),
                    gate,
                    expected,
                    row.text("topic"),
                    row.text("question_id"),
                    row.values.get("response", ""),
                )
        if table is not None and table.rows:
            self._check_sets(table.name, tuple(cases.values()))
        return tuple(cases.values())

    def _expected(self, row: Row) -> Decision | None:
        found = row.text("set")
        if found == "FAIL":
            return "FAIL"
        if found == "PASS":
            return "PASS"
        self._faults.error(
            row.at("set"), f"found {quoted(found)}; write FAIL (must trigger the gate) or PASS (must not)"
        )
        return None

    def _check_topic(self, row: Row, question: Question) -> None:
        topic, asked = row.text("topic"), question.row.text("topic")
        if not topic or normalise(topic) != normalise(asked):
            shown = quoted(topic) if topic else "a blank"
            of_question = quoted(asked) if asked else "none"
            self._faults.error(
                row.at("topic"),
                f"found {shown} but the topic of question {question.id} is {of_question}: {_OFF_TOPIC}; "
                "name a question of the response's topic",
            )

    def _check_sets(self, name: str, cases: Sequence[GateCase]) -> None:
        needed = [gate for gate in HARD_GATES if gate in self._rubric.by_id]
        for gate in dict.fromkeys([*needed, *(case.gate for case in cases)]):
            counts = Counter(case.expected for case in cases if case.gate == gate)
            if counts["FAIL"] != counts["PASS"] or not counts["FAIL"]:
                self._faults.error(
                    name,
                    f"gate {gate} has {counts['FAIL']} cases of set FAIL and {counts['PASS']} of set PASS; the sets "
                    "match one to one: add what is missing",
                )

    # --- what all have in common ---

    def _rows(self, table: Table | None, file: str) -> list[Row]:
        """Return the rows, after a look at what every one of them needs."""
        if table is None:
            return []
        if not table.rows:
            self._faults.error(
                table.name, "holds no row; this part of the certification cannot be run without"
            )
        for row in table.rows:
            for column in (name for name in _FILES[file] if name != "topic"):
                if not row.text(column):
                    self._faults.error(row.at(column), "is blank; write it")
                self._faults.check_text(row.at(column), row.values.get(column, ""), MAX_RESPONSE_CHARACTERS)
        return list(table.rows)

    def _check_question(self, row: Row, tell: Callable[[str, str], None]) -> Question | None:
        """Return the question of a row, after faults; one without ground truth is told to `tell`."""
        name = row.text("question_id")
        if self._questions is None or not name:
            return None
        question = self._questions.get(name)
        if question is None:
            self._faults.error(
                row.at("question_id"),
                f"{quoted(name)} is not in the questions file; {suggestion(name, self._questions)}",
            )
            return None
        if "{figure}" in question.text and not question.figure:
            self._faults.error(
                row.at("question_id"), f"question {name} is asked of every figure; name one about one figure"
            )
        if not question.row.text("ground_truth"):
            tell(
                row.at("question_id"),
                f"question {name} has no ground_truth, which a judge needs; write it in {question.row.place}",
            )
        return question

    def _is_new(self, known: Mapping[str, object], row: Row, column: str) -> bool:
        """Return whether a row has an id of its own, after a fault for one that has not."""
        name = row.text(column)
        if name in known:
            self._faults.error(row.at(column), f"{quoted(name)} stands twice; each needs an id of its own")
        return name not in known
