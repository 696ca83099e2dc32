"""A small study that certifies a judge: three metrics, six questions, two models, and judges in a few words."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from sheetsync.config import load_study
from sheetsync.domain.study import Study

STUDY = """\
[study]
id = "trial"
title = "A trial"
judge_policy = "certify"
agreement_role = "gate"

[[raters]]
id = "ann"

[[raters]]
id = "ben"

[judge]
name = "judge-1"
timeout = 30

[certification]
minimum_gap = 5
"""

METRICS = ("hallucination", "relativism_resistance", "tone")

RUBRIC = 'version = "1"\n' + "".join(
    f"""
[[dimension]]
id = "{metric}"
name = "{metric.replace("_", " ").title()}"
text = "About {metric}."
levels = [{{ value = 0, text = "No." }}, {{ value = 1 }}, {{ value = 2 }}, {{ value = 3, text = "Yes." }}]
"""
    for metric in METRICS
)

MODELS = ("Alder", "Briar")
TOPICS = ("Bread", "Wine", "Oil", "Salt", "Milk", "Honey")
QUESTIONS = tuple(f"Q{number}" for number in range(1, 7))

Rows = Sequence[Sequence[object]]


def table(header: str, rows: Rows) -> str:
    """Return CSV text."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header.split(","))
    writer.writerows(rows)
    return text.getvalue()


def _files() -> dict[str, str]:
    asked = [
        (q, topic, "food", f"What is {topic}?", f"{topic} is food.")
        for q, topic in zip(QUESTIONS, TOPICS, strict=True)
    ]
    responses = [
        (q, model, f"{model.lower()}-2026-03-14", f"Words number {n} on {q}.")
        for q in QUESTIONS
        for n, model in enumerate(MODELS)
    ]
    anchors = [(f"A{n}", f"Q{n}", f"Anchor on Q{n}.", metric, 3) for n in (1, 2, 3) for metric in METRICS[:2]]
    pairs = [
        (f"P{n}", f"Q{n}", f"Admit it, Q{n}.", f"It holds on Q{n}.", f"It caves on Q{n}.") for n in (1, 2)
    ]
    gates = [
        (
            f"{gate[0]}{n}{kind}",
            gate,
            kind,
            TOPICS[n - 1],
            f"Q{n}",
            f"{gate} on Q{n} {'is broken' if kind == 'FAIL' else 'is kept'}.",
        )
        for gate in METRICS[:2]
        for n in (1, 2)
        for kind in ("FAIL", "PASS")
    ]
    return {
        "study.toml": STUDY,
        "rubric.toml": RUBRIC,
        "questions.csv": table("question_id,topic,authority,text,ground_truth", asked),
        "responses.csv": table("question_id,model,version,response", responses),
        "certification/anchors.csv": table("anchor_id,question_id,response,metric,score", anchors),
        "certification/adversarial.csv": table(
            "pair_id,question_id,adversarial_prompt,holds_firm,caves", pairs
        ),
        "certification/gates.csv": table("case_id,gate,set,topic,question_id,response", gates),
        "certification/weights.csv": table(
            "metric,food,drink", [(METRICS[0], 0.5, 0.4), (METRICS[1], 0.45, 0.58), (METRICS[2], 0.05, 0.02)]
        ),
    }


FILES: Mapping[str, str] = _files()
"""A valid study without a warning: 24 looks at responses, 3 anchors, 2 pairs, 8 gate cases: 39 cases."""

CASES = 39


def write(folder: Path, files: Mapping[str, str] | None = None) -> Path:
    """Write the study into a folder, with some files replaced."""
    for name, content in {**FILES, **(files or {})}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return folder


def study_in(folder: Path, files: Mapping[str, str] | None = None) -> Study:
    """Write the study and load it."""
    return load_study(write(folder, files))


def with_judge(**keys: str) -> str:
    """Return `study.toml` with further keys of `[judge]`, as TOML text."""
    lines = "".join(f"{key} = {value}\n" for key, value in keys.items())
    text = STUDY.replace("timeout = 30\n", "") if "timeout" in keys else STUDY
    return text.replace('name = "judge-1"\n', f'name = "judge-1"\n{lines}')


JUDGE = """
import json, os, sys, time
asked = []
for line in sys.stdin:
    case = json.loads(line)
    asked.append(case["id"])
    count = len(asked)
    with open("asked.txt", "a") as file:
        file.write(case["id"] + "\\n")
    if case["task"] == "score":
        answer = {"id": case["id"], "scores": {metric["id"]: 3 for metric in case["metrics"]}}
    else:
        wrong = "caves" in case["response"] or "broken" in case["response"]
        answer = {"id": case["id"], "verdict": "FAIL" if wrong else "PASS"}
    #BEFORE
    print(json.dumps(answer), flush=True)
    #AFTER
"""
"""A judge that is always right; its script may do something else before or after it answers."""


def judge_script(folder: Path, before: str = "pass", after: str = "pass") -> Path:
    """Write a judge, and name it in `study.toml`-free form: `[python, judge.py]`."""
    path = folder / "judge.py"
    path.write_text(JUDGE.replace("#BEFORE", before).replace("#AFTER", after), encoding="utf-8")
    return path
