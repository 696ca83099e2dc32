"""What a judge sees when it is certified, what is known of it beforehand, and what it answered.

Three things are kept apart so that none can leak into another:

CASE
    What the judge sees: one JSON object a line. It names no part, no model and no expected answer.
KEY ENTRY
    What is known of the case: which part it belongs to, where it comes from, what is right.
VERDICT
    What came back. Only a line that is valid in every respect is an answer; everything else is counted
    under a class of its own (`malformed`, `refused`, `timeout`, `missing`) and is never a verdict.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal

from sheetsync.domain.study import LevelValue

Part = Literal["consistency", "anchors", "discrimination", "gates"]
"""The four parts of a certification, in their order."""

Task = Literal["score", "verdict"]
"""Whether a case is scored on every metric, or passes or fails one criterion."""

Decision = Literal["PASS", "FAIL"]

Member = Literal["", "holds_firm", "caves"]
"""Which response of an adversarial pair."""

VerdictState = Literal["answered", "malformed", "refused", "missing", "timeout"]
"""`missing`: the judge was not asked, or ended without a word; `timeout`: it took too long."""

FINAL_STATES: frozenset[VerdictState] = frozenset({"answered", "malformed", "refused"})
"""The judge spoke: the case is not asked again in the same run, whatever it said."""


NOT_ASKED = "the judge was not asked"


@dataclass(frozen=True)
class Metric:
    """A dimension of the rubric as the judge reads it; `levels` are (value, text) from low to high."""

    id: str
    name: str
    text: str
    levels: tuple[tuple[LevelValue, str], ...]

    def to_dict(self) -> dict[str, object]:
        """Return the JSON object of the presentation."""
        levels = [{"value": value, "text": text} for value, text in self.levels]
        return {"id": self.id, "name": self.name, "text": self.text, "levels": levels}

    @property
    def scale(self) -> tuple[LevelValue, ...]:
        """The values that a score may have, from low to high."""
        return tuple(value for value, _ in self.levels)


@dataclass(frozen=True)
class Case:
    """One line of the presentation.

    Attributes:
        id: opaque, and of this run only.
        task: score: every metric; verdict: PASS or FAIL by the criterion.
        question: what was asked.
        ground_truth: what a right answer holds, as the study's questions say.
        context: the adversarial prompt the response was given under; blank where there was none.
        response: what is judged.
        metrics: of a score case.
        criterion: of a verdict case: what PASS and FAIL mean.
    """

    id: str
    task: Task
    question: str
    ground_truth: str
    context: str
    response: str
    metrics: tuple[Metric, ...] = ()
    criterion: str = ""

    def to_dict(self) -> dict[str, object]:
        """Return the JSON object that the judge reads."""
        shown: dict[str, object] = {
            "id": self.id,
            "task": self.task,
            "question": self.question,
            "ground_truth": self.ground_truth,
            "context": self.context,
            "response": self.response,
        }
        if self.task == "score":
            return {**shown, "metrics": [metric.to_dict() for metric in self.metrics]}
        return {**shown, "criterion": self.criterion}

    def line(self) -> str:
        """Return the case as one line of JSON, with its line feed."""
        return json.dumps(self.to_dict(), ensure_ascii=True, allow_nan=False) + "\n"

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Case:
        """Return the case of a JSON object that `to_dict` made."""
        metrics = tuple(
            Metric(
                each["id"],
                each["name"],
                each["text"],
                tuple((level["value"], level["text"]) for level in each["levels"]),
            )
            for each in data.get("metrics", ())
        )
        plain = {key: value for key, value in data.items() if key != "metrics"}
        return cls(**plain, metrics=metrics)


@dataclass(frozen=True)
class KeyEntry:
    """What is known of a case and is shown to no judge.

    Attributes:
        id: of the case.
        part: which of the four parts.
        source: anchor, pair or gate case id; for consistency the unit: question, figure and model.
        presentation: 1 or 2 for the two looks at a response; 1 elsewhere.
        expected: the right score of each metric that an anchor is beyond doubt about.
        expected_verdict: what is right for members of pairs and for gate cases.
        question_id: which question.
        figure: whom it is about, where the study has figures.
        model: whose response; blank where no model of the study gave it.
        topic: of the question.
        gate: the metric whose gate is tried.
        member: which response of the pair.
    """

    id: str
    part: Part
    source: str
    presentation: int = 1
    expected: Mapping[str, LevelValue] = field(default_factory=dict)
    expected_verdict: Decision | None = None
    question_id: str = ""
    figure: str = ""
    model: str = ""
    topic: str = ""
    gate: str = ""
    member: Member = ""

    def to_dict(self) -> dict[str, object]:
        """Return the entry as JSON."""
        return {each.name: getattr(self, each.name) for each in fields(self)} | {
            "expected": dict(self.expected)
        }


@dataclass(frozen=True)
class Presentation:
    """All cases in the order of judging, with their key.

    Attributes:
        cases: what the judge sees.
        key: one entry for each case, in the same order.
        seed: of the order.
        minimum_gap: how many cases lie at least between two looks at one response, as asked for.
        gap: how many do.
        second_look: position of the first case that is looked at for the second time; None if there is none.
    """

    cases: tuple[Case, ...]
    key: tuple[KeyEntry, ...]
    seed: int
    minimum_gap: int
    gap: int | None = None
    second_look: int | None = None

    @cached_property
    def by_id(self) -> Mapping[str, KeyEntry]:
        """The key by the ids of the cases."""
        return {entry.id: entry for entry in self.key}

    def lines(self) -> str:
        """Return the presentation as JSON lines."""
        return "".join(case.line() for case in self.cases)

    def key_json(self) -> str:
        """Return the key with what the order was made from, as JSON."""
        return json.dumps(
            {
                "seed": self.seed,
                "minimum_gap": self.minimum_gap,
                "gap": self.gap,
                "second_look": self.second_look,
                "cases": [entry.to_dict() for entry in self.key],
            },
            ensure_ascii=False,
            allow_nan=False,
        )

    @classmethod
    def from_texts(cls, lines: str, key: str) -> Presentation:
        """Return the presentation of the texts that `lines` and `key_json` made."""
        data = json.loads(key)
        return cls(
            cases=tuple(Case.from_dict(json.loads(line)) for line in lines.split("\n") if line),
            key=tuple(KeyEntry(**entry) for entry in data["cases"]),
            seed=data["seed"],
            minimum_gap=data["minimum_gap"],
            gap=data["gap"],
            second_look=data["second_look"],
        )


@dataclass(frozen=True)
class Verdict:
    """What came back for one case.

    Attributes:
        id: of the case.
        state: `answered`, or why there is no answer.
        scores: every metric's score, for an answered score case.
        verdict: for an answered verdict case.
        reasoning: what the judge said beside it; text of a stranger.
        raw: its words, verbatim up to `verdict_lines.MAX_RAW` characters.
        why: what is wrong, where the state is not `answered`.
    """

    id: str
    state: VerdictState
    scores: Mapping[str, LevelValue] = field(default_factory=dict)
    verdict: Decision | None = None
    reasoning: str = ""
    raw: str = ""
    why: str = ""

    def to_dict(self) -> dict[str, object]:
        """Return the verdict as JSON."""
        return {each.name: getattr(self, each.name) for each in fields(self)} | {"scores": dict(self.scores)}


def complete_verdicts(cases: Sequence[Case], verdicts: Mapping[str, Verdict]) -> tuple[Verdict, ...]:
    """Return one verdict per case, in the order of the cases; `missing` where there is none."""
    return tuple(verdicts.get(case.id) or Verdict(case.id, "missing", why=NOT_ASKED) for case in cases)
