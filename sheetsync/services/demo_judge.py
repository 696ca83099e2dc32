"""The part of a demonstration in which a simulated judge is certified, by the way of a real one: a file of verdicts.

Judge and people go by the same hidden quality of each response, each with slips of their own: compared, they agree
about as well as a fair judge and people do.
"""

from __future__ import annotations

from pathlib import Path

from sheetsync.domain.assignment import UnitKey
from sheetsync.domain.certification import words
from sheetsync.domain.certification.certificate import Certificate
from sheetsync.domain.certification.presentation import source_of
from sheetsync.domain.certification.simulate_judge import deserved, simulate_verdicts
from sheetsync.domain.protocols import Judge
from sheetsync.domain.study import LevelValue, Study
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


def hidden_quality(study: Study) -> dict[UnitKey, dict[str, LevelValue]]:
    """Return the level that every response deserves by dimension; nothing in a study that certifies no judge."""
    if study.settings.certification is None:
        return {}
    models, seed = {source_of(unit): unit.model for unit in study.units}, study.settings.certification.seed
    found: dict[UnitKey, dict[str, LevelValue]] = {unit.key: {} for unit in study.units}
    for dimension in study.rubric.dimensions:
        places = deserved(models, dimension.id, len(dimension.levels), seed)
        for unit in study.units:
            found[unit.key][dimension.id] = dimension.scale[places[source_of(unit)]]
    return found


def certificate_lines(certificate: Certificate | None, judged: int) -> tuple[str, ...]:
    """Return the end of the story: the four lines and what follows; nothing where no judge was tried."""
    if certificate is None:
        return ()
    return (
        "",
        f"A simulated judge judged {judged} cases:",
        *(f"  {line}" for line in words.block(certificate)),
        "The whole certificate: sheetsync certify",
    )
