"""Reading what a judge wrote: one line, one verdict, or the reason why it is none.

The line is the word of a program that nobody here wrote, often of a language model behind it: whatever is not valid
in every respect is malformed as a whole. A score is never rounded, clipped or guessed, and one metric that is
missing leaves no half answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from sheetsync.domain.certification.cases import Case, Decision, Verdict, VerdictState
from sheetsync.domain.study import LevelValue

MAX_LINE = 1_000_000
"""Characters of a line from a judge; a longer one is malformed."""

MAX_RAW = 20_000
"""Characters of it that are kept with the verdict; the judge's output as a whole lies beside the run."""

_REFUSAL = re.compile(
    r"\W*(?:(?:I(?:'|’)?m|I am) (?:sorry|unable|not able|afraid)\b|sorry\b|as an ai\b|"
    r"(?:I|we) (?:cannot|can(?:'|’)?t|can not|could not|couldn(?:'|’)?t|will not|won(?:'|’)?t|"
    r"must decline|decline|refuse|am not able|do not feel comfortable)\b)",
    re.IGNORECASE,
)
"""How a text begins that declines to judge."""


def parse_verdict_line(line: str, case: Case) -> Verdict:
    """Return what a line says of a case.

    >>> case = Case("K7", "verdict", "Q?", "", "", "R.", criterion="PASS: right.")
    >>> parse_verdict_line('{"id": "K7", "verdict": "PASS"}', case).verdict
    'PASS'
    >>> parse_verdict_line("I cannot judge this.", case).state
    'refused'
    """
    raw = line.strip("\r\n")
    if len(raw) > MAX_LINE:
        return _no_answer(case, "malformed", raw, f"is longer than {MAX_LINE:,} characters")
    try:
        data = json.loads(raw, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        if _REFUSAL.match(raw):
            return _no_answer(case, "refused", raw, "declines in words")
        return _no_answer(case, "malformed", raw, "is not JSON" if raw.strip() else "is blank")
    if not isinstance(data, dict):
        return _no_answer(case, "malformed", raw, "is not a JSON object")
    if data.get("id") != case.id:
        return _no_answer(case, "malformed", raw, f"has not the id {case.id}")
    return _read_answer(data, case, raw)


def id_of_line(line: str) -> str | None:
    """Return the id that a line of JSON names, None where it names none.

    >>> id_of_line('{"id": "K7"}'), id_of_line("thinking ...")
    ('K7', None)
    """
    if len(line) > MAX_LINE:
        return None
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return None
    found = data.get("id") if isinstance(data, dict) else None
    return found if isinstance(found, str) else None


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON number")


def _no_answer(case: Case, state: VerdictState, raw: str, why: str, reasoning: str = "") -> Verdict:
    return Verdict(case.id, state, raw=raw[:MAX_RAW], why=why, reasoning=reasoning)


def _read_answer(data: Mapping[str, object], case: Case, raw: str) -> Verdict:
    said = data.get("reasoning")
    reasoning = _whole(said[:MAX_RAW]) if isinstance(said, str) else ""
    wanted = "scores" if case.task == "score" else "verdict"
    if data.get("refused") or (data.get(wanted) is None and _REFUSAL.match(reasoning)):
        return _no_answer(case, "refused", raw, "declines", reasoning)
    if case.task == "score":
        scores, why = _read_scores(data.get("scores"), case)
        if scores is not None:
            return Verdict(case.id, "answered", scores=scores, reasoning=reasoning, raw=raw[:MAX_RAW])
    else:
        verdict, why = _read_decision(data.get("verdict"))
        if verdict is not None:
            return Verdict(case.id, "answered", verdict=verdict, reasoning=reasoning, raw=raw[:MAX_RAW])
    return _no_answer(case, "malformed", raw, why, reasoning)


def _whole(text: str) -> str:
    """Return a text without halves of characters, which JSON can spell and no file can hold."""
    return text.encode("utf-8", "replace").decode()


def _read_scores(found: object, case: Case) -> tuple[dict[str, LevelValue] | None, str]:
    """Return the score of every metric, or None with what is wrong."""
    if not isinstance(found, dict):
        return None, "has no scores"
    scores: dict[str, LevelValue] = {}
    for metric in case.metrics:
        if metric.id not in found:
            return None, f"has no score of {metric.id}"
        level = level_of(found[metric.id], metric.scale)
        if level is None:
            return None, f"scores {metric.id} with a value that is no level of its scale"
        scores[metric.id] = level
    return scores, ""


def level_of(found: object, scale: tuple[LevelValue, ...]) -> LevelValue | None:
    """Return the level that a JSON value is, None where it is none; true is not 1, and "3" is not 3.

    >>> level_of(3.0, (1, 2, 3)), level_of("3", (1, 2, 3)), level_of(True, (0, 1))
    (3, None, None)
    """
    if isinstance(found, bool) or not isinstance(found, int | float | str):
        return None
    same_kind = (level for level in scale if isinstance(level, str) == isinstance(found, str))
    return next((level for level in same_kind if level == found), None)


def _read_decision(found: object) -> tuple[Decision | None, str]:
    if found is None:
        return None, "has no verdict"
    word = found.strip().upper() if isinstance(found, str) else ""
    if word == "PASS":
        return "PASS", ""
    if word == "FAIL":
        return "FAIL", ""
    return None, "has a verdict that is neither PASS nor FAIL"
