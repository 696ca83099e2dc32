"""`certify prepare`: the cases of a certification in the order of judging, and their key apart from them.

A run is kept for good, with the rubric it was made from. Preparing again gives the same run until its judge is through
with it; once it is, or once the study's files or the judge have changed, there is a new run, and the old one stays.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_args

from sheetsync.domain.certification.cases import FINAL_STATES, Part, Presentation
from sheetsync.domain.certification.certificate import fingerprints
from sheetsync.domain.certification.presentation import needed, present
from sheetsync.domain.certification.sheet import certification_sheet
from sheetsync.domain.scoring.workbook import build_scoring_workbook
from sheetsync.errors import StudyError
from sheetsync.services.certification_judge import is_same_judge, named_judge, newest_run
from sheetsync.services.session import PRIVATE_FOLDER, Session, certification_place
from sheetsync.store.certifications import CertificationRun, Judging

PRESENTATION = "presentation.jsonl"
KEY = "key.json"


@dataclass(frozen=True)
class Prepared:
    """A run that can be judged.

    Attributes:
        run: its number.
        new: whether it was made now.
        parts: how many cases each part has.
        cases: how many there are.
        seed: of the order.
        minimum_gap: cases between two looks at one response, as asked for; `gap` is what there is.
        gap: see there.
        judged: on how many cases the judge has spoken already.
        files: what was written, relative to the study folder, or an address; what the judge may see first.
    """

    run: int
    new: bool
    parts: Mapping[str, int]
    cases: int
    seed: int
    minimum_gap: int
    gap: int | None
    judged: int
    files: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """Return what `certify prepare --json` prints."""
        return {"schema": "sheetsync.certify.prepare/1", **asdict(self), "files": list(self.files)}


def prepare(session: Session, now: str, *, workbook: str = "") -> Prepared:
    """Make the presentation of the next run, or of the one that waits to be judged.

    Args:
        session: the study, with its material.
        now: the time, UTC ISO 8601.
        workbook: the rater who is to judge in a workbook; blank for a program or a file.

    Raises:
        StudyError: the study certifies no judge, or there is no such rater.
        BackendError: the workbook cannot be made.
    """
    settings, _ = needed(session.study)
    if workbook:
        _refuse_stranger(session, workbook)
    judging = named_judge(session, now, workbook)
    run, new = _waiting_run(session, judging, workbook), False
    if run is None:
        run, new = _add_run(session, now), True
        if judging and workbook:  # a rater's run is theirs before the first verdict
            session.archive.start_judging(run, judging)
    presentation = session.archive.certification_presentation(run)
    files = _write(session.root, settings.folder, run, presentation)
    if workbook:
        files = (_make_workbook(session, run, presentation, workbook), *files)
    counts = Counter(entry.part for entry in presentation.key)
    return Prepared(
        run,
        new,
        {part: counts[part] for part in get_args(Part)},
        len(presentation.cases),
        presentation.seed,
        presentation.minimum_gap,
        presentation.gap,
        _judged(session, run),
        files,
    )


def run_folder(root: Path, run: int) -> Path:
    """Return the private folder of a run: its presentation, its key, and what the judge wrote."""
    return root / PRIVATE_FOLDER / "certification" / str(run)


def is_current(session: Session, run: CertificationRun) -> bool:
    """Return whether the study's files still say what a run was prepared from."""
    taken = [unit.code for unit in session.archive.units()]
    today = present(session.study, run.number, taken)
    kept = session.archive.certification_presentation(run.number)
    return (today.lines(), today.key_json()) == (kept.lines(), kept.key_json())


def _refuse_stranger(session: Session, rater: str) -> None:
    if rater not in session.roster():
        raise StudyError(
            f"There is no rater {rater!r} in study.toml.",
            f"Name one of [[raters]]: {', '.join(session.roster())}.",
        )


def _waiting_run(session: Session, judging: Judging | None, workbook: str) -> int | None:
    """Return the newest run if it waits for this judge, or was left in the middle, and is what the files say."""
    run = newest_run(session, workbook)
    if run is None:
        return None
    cases = len(session.archive.certification_presentation(run.number).cases)
    begun = run.judgings[:1]
    is_theirs = not begun or (judging is not None and is_same_judge(begun[0], judging))
    waits = is_theirs and _judged(session, run.number) < cases
    return run.number if waits and is_current(session, run) else None


def _judged(session: Session, run: int) -> int:
    """Return on how many cases the judge has spoken."""
    return sum(verdict.state in FINAL_STATES for verdict in session.archive.certification_verdicts(run))


def _add_run(session: Session, now: str) -> int:
    runs = session.archive.certification_runs()
    taken = [unit.code for unit in session.archive.units()]
    presentation = present(session.study, len(runs) + 1, taken)
    rubric = session.study.rubric.model_dump_json(by_alias=True)
    return session.archive.add_certification(now, rubric, presentation, fingerprints(presentation, rubric))


def _write(root: Path, folder: str, run: int, presentation: Presentation) -> tuple[str, ...]:
    private = run_folder(root, run)
    private.mkdir(mode=0o700, parents=True, exist_ok=True)
    shared = root / folder / PRESENTATION
    content = presentation.lines().encode()
    _replace(shared, content, 0o644)
    _replace(private / PRESENTATION, content, 0o600)
    _replace(private / KEY, f'{{"run": {run}, {presentation.key_json()[1:]}\n'.encode(), 0o600)
    return tuple(
        path.relative_to(root).as_posix() for path in (shared, private / PRESENTATION, private / KEY)
    )


def _replace(path: Path, content: bytes, mode: int) -> None:
    """Write a file whole or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, mode), "wb") as file:
            file.write(content)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _make_workbook(session: Session, run: int, presentation: Presentation, rater: str) -> str:
    """Make the workbook, unless it is there, and let its rater in."""
    place = certification_place(rater, run)
    sheet = certification_sheet(session.study, rater, run, presentation)
    session.backend.create(place, build_scoring_workbook(sheet))
    session.backend.share(place)
    return session.backend.location(place)
