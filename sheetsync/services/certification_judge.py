"""Who judges a run of a certification: a program, a file, or a rater with a workbook; one of them all through."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from sheetsync.domain.protocols import Judge
from sheetsync.services.session import Session
from sheetsync.store.certifications import CertificationRun, Judging


def newest_run(session: Session, workbook: str = "") -> CertificationRun | None:
    """Return the newest run for a rater's workbook, or with a blank name for a program or a file."""
    runs = [run for run in session.archive.certification_runs() if _workbook_of(run) == workbook]
    return runs[-1] if runs else None


def _workbook_of(run: CertificationRun) -> str:
    return next((each.judge for each in run.judgings if each.source == "workbook"), "")


def named_judge(session: Session, now: str, workbook: str = "", *, fresh: bool = False) -> Judging | None:
    """Return the judge that a workbook or `[judge]` names, None where there is none."""
    if workbook:
        return Judging(now, "workbook", workbook, f"certification workbook of {workbook}", "")
    settings = session.study.settings.judge or Judge()
    if settings.verdicts:
        path = session.root / settings.verdicts
        content = _digest(path).hex() if path.is_file() else ""
        return Judging(now, "file", settings.name, settings.verdicts, content)
    if settings.command:
        called, content = json.dumps(settings.command), hash_of_command(settings.command, session.root)
        return Judging(now, "command", settings.name, called, content, fresh)
    return None


def hash_of_command(command: Sequence[str], root: Path) -> str:
    """Return a hash of the words of a command, and of the study's own files that they name."""
    content = hashlib.sha256(json.dumps(command).encode())
    for word in command:
        path = root / word
        if path.is_file():
            content.update(_digest(path))
    return content.hexdigest()


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def is_same_judge(first: Judging, second: Judging) -> bool:
    """Return whether two judgings are one judge's; a program that was changed is another judge."""
    names = (first.source, first.judge) == (second.source, second.judge)
    return names and (first.source != "command" or first.hash == second.hash)
