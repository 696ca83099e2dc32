"""A judge for the study of the template: it knows the key, and errs where a test wants it to."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

from click.testing import CliRunner

from sheetsync.cli.main import cli
from sheetsync.services.init import init

NOISY = "pastoral_appropriateness"
LEVELS = {"model-north": 3, "model-east": 2, "model-south": 0}
"""What the judge gives a model on most metrics, so that the models lie far apart."""

Entry = Mapping[str, Any]
Say = Callable[[Entry, Mapping[str, Any]], None]
"""Is given a key entry and the verdict about to be written, and may change the verdict."""


def command(root: Path, *arguments: str) -> tuple[int, str, str]:
    """Return exit code, stdout and stderr of a command."""
    result = CliRunner().invoke(cli, ["-C", str(root), *arguments])
    return result.exit_code, result.stdout, result.stderr


def judged_study(folder: Path, say: Say | None = None, edits: Mapping[str, str] | None = None) -> Path:
    """Make the template's study and have it judged once; `edits` replace text of study.toml."""
    root = folder / "study"
    init(root, "judge-certification", "xlsx")
    replace_in(root / "study.toml", '# verdicts = "verdicts.jsonl"', 'verdicts = "verdicts.jsonl"')
    quick = "\n[agreement]\nresamples = 200\n\n[divergence]\n"
    replace_in(root / "study.toml", "\n[divergence]\n", quick)
    for old, new in (edits or {}).items():
        replace_in(root / "study.toml", old, new)
    judge_again(root, say)
    return root


def judge_again(root: Path, say: Say | None = None, *, noisy: bool = True) -> None:
    """Prepare a run and have it judged."""
    assert command(root, "certify", "prepare")[0] == 0
    numbers = [
        int(path.name) for path in (root / ".sheetsync/certification").iterdir() if path.name.isdigit()
    ]
    key = json.loads((root / f".sheetsync/certification/{max(numbers)}/key.json").read_text(encoding="utf-8"))
    presented = (root / "certification/presentation.jsonl").read_text(encoding="utf-8").splitlines()
    cases = {case["id"]: case for case in map(json.loads, presented)}
    lines = []
    for entry in key["cases"]:
        verdict = faithful(entry, cases[entry["id"]], noisy=noisy)
        if say:
            say(entry, verdict)
        lines.append(json.dumps(verdict))
    (root / "verdicts.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    code, _, error = command(root, "certify", "run")
    assert code == 0, error


def faithful(entry: Entry, case: Mapping[str, Any], *, noisy: bool = True) -> dict[str, Any]:
    """Return a verdict that is right; the noisy metric is drawn anew on every look."""
    said = {"id": entry["id"], "reasoning": f"As the rubric says of {entry['id']}."}
    if case["task"] == "verdict":
        return {**said, "verdict": entry["expected_verdict"]}
    rng = Random(entry["source"])
    base = LEVELS.get(entry["model"], 1)
    scores = {metric["id"]: min(max(base + rng.choice((-1, 0, 0, 0)), 0), 3) for metric in case["metrics"]}
    if noisy:
        scores[NOISY] = Random(entry["id"]).randrange(4)
    else:
        scores = dict.fromkeys(scores, 1 + rng.randrange(4))
    return {**said, "scores": scores | entry["expected"]}


def replace_in(path: Path, old: str, new: str) -> None:
    """Replace text that must be there once."""
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, (path.name, old, text.count(old))
    path.write_text(text.replace(old, new), encoding="utf-8")
