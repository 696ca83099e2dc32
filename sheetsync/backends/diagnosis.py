"""What `doctor` looks at, one step after the other, and what it finds.

Terminology:

STEP
    One thing that can be wrong by itself. A step that needs another one is not tried where that one was not done.
FINDING
    What was seen, and the exact fix; a step may have several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sheetsync.errors import SheetsyncError

State = Literal["ok", "warning", "failed", "skipped"]


@dataclass(frozen=True)
class Finding:
    """What a step found.

    Attributes:
        state: `skipped` was not tried, `warning` works and deserves a look, `failed` does not work.
        found: what was seen, in words.
        fix: what to do about it; empty where nothing has to be done.
        step: the step's name; set as the step is done.
    """

    state: State
    found: str
    fix: str = ""
    step: str = ""


@dataclass(frozen=True)
class Step:
    """One step: what it is called, how to look, and the steps without which looking makes no sense."""

    name: str
    look: Callable[[], Iterable[Finding]]
    needs: Sequence[str] = ()


def examine(steps: Iterable[Step], progress: Callable[[str], None] = lambda _: None) -> Iterator[Finding]:
    """Yield what each step finds; a failed operation is a finding too.

    Args:
        steps: in the order of their needs.
        progress: told the name of a step before it is tried.
    """
    undone: dict[str, str] = {}
    for step in steps:
        cause = next((undone[need] for need in step.needs if need in undone), "")
        if cause:
            undone[step.name] = cause
            yield Finding("skipped", f"Not tried, because {cause} comes first.", step=step.name)
            continue
        progress(step.name)
        for finding in _looked(step):
            if finding.state in ("failed", "skipped"):
                undone[step.name] = step.name
            yield replace(finding, step=step.name)


def _looked(step: Step) -> Iterator[Finding]:
    try:
        yield from step.look()
    except SheetsyncError as error:
        yield Finding("failed", error.message, error.remedy)
