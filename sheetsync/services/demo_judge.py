"""The part of a demonstration in which a simulated judge is certified, by the way of a real one: a file of verdicts."""

from __future__ import annotations

from pathlib import Path

from sheetsync.domain.protocols import Judge
from sheetsync.domain.simulate_judge import simulate_verdicts
from sheetsync.services.certify_prepare import prepare
from sheetsync.services.judge import judge
from sheetsync.services.judge_command import Way
from sheetsync.services.judged import Judged
from sheetsync.services.session import Session

_EXAMPLE = '# verdicts = "verdicts.jsonl"'


def expect_verdicts(study_file: Path) -> None:
    """Switch on the line of a template's `study.toml` that names a file of verdicts, where there is one."""
    text = study_file.read_text(encoding="utf-8")
    if _EXAMPLE in text:
        study_file.write_text(text.replace(_EXAMPLE, _EXAMPLE.removeprefix("# "), 1), encoding="utf-8")


def certify_simulated_judge(session: Session, now: str) -> Judged | None:
    """Have a simulated judge judge the cases; None in a study that certifies none, or names no file."""
    settings = session.study.settings
    verdicts = (settings.judge or Judge()).verdicts
    if settings.certification is None or not verdicts:
        return None
    made = prepare(session, now)
    presentation = session.archive.certification_presentation(made.run)
    lines = simulate_verdicts(presentation, settings.certification.seed)
    (session.root / verdicts).write_text("\n".join([*lines, ""]), encoding="utf-8")
    return judge(session, Way(lambda: now))
