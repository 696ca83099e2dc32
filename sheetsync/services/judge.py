"""`certify run`: a judge works through the cases of a run, and every word it says is kept.

The judge is a program, a file of verdicts, or a rater with a workbook; what becomes of their words is the same. A run
belongs to one judge from its first case to its last. Every verdict is in the archive before the next case is asked, so
whatever breaks off, however it breaks off, is gone on with where it was: a case on which the judge has spoken is not
asked again, be it to its credit or not.
"""

from __future__ import annotations

from dataclasses import replace

from sheetsync.domain.certification.presentation import needed
from sheetsync.domain.certification.sheet import certification_sheet, read_certification_sheet
from sheetsync.domain.scoring.reading import parse_scoring_workbook
from sheetsync.errors import SheetsyncError, StudyError
from sheetsync.services.certification_judge import named_judge, newest_run
from sheetsync.services.certify_prepare import is_current
from sheetsync.services.judge_command import Way, judge_by_command
from sheetsync.services.judged import Judged, take
from sheetsync.services.session import Session, certification_place
from sheetsync.services.verdict_file import read_verdict_file
from sheetsync.store.certifications import CertificationRun, Judging


def judge(session: Session, way: Way, *, workbook: str = "") -> Judged:
    """Have the newest run judged, or what is left of it.

    Args:
        session: the study; commands that write to it at the same time do no harm.
        way: the clock, and how a program is run.
        workbook: the rater whose certification workbook is read; blank for `[judge]`.

    Raises:
        StudyError: there is no judge, the files have changed since, or the run belongs to another judge.
        SheetsyncError: nothing is prepared, or the judge does not work; what it said so far is kept.
    """
    needed(session.study)
    run = _run(session, workbook)
    judging = named_judge(session, way.clock(), workbook, fresh=way.fresh)
    if judging is None:
        raise StudyError(
            "There is no judge: study.toml has neither [judge] command nor [judge] verdicts.",
            "Name one, or have a rater judge with `sheetsync certify prepare --workbook RATER`.",
        )
    if judging.source == "workbook":
        return _judge_workbook(session, run, judging)
    if judging.source == "file":
        return _judge_file(session, run, judging)
    return judge_by_command(session, run, judging, way)


# --- which run ---


def _run(session: Session, workbook: str) -> CertificationRun:
    """Return the newest run of this kind of judge."""
    run = newest_run(session, workbook)
    prepare = f"sheetsync certify prepare{f' --workbook {workbook}' if workbook else ''}"
    if run is None:
        raise SheetsyncError("Nothing is prepared to be judged.", f"Run `{prepare}` first.")
    if not is_current(session, run):
        raise StudyError(
            f"The study's files have changed since run {run.number} was prepared.",
            f"Run `{prepare}` for a new run; what was judged so far is kept.",
        )
    return run


# --- a file ---


def _judge_file(session: Session, run: CertificationRun, judging: Judging) -> Judged:
    path = session.root / judging.called
    if not path.is_file():
        raise StudyError(
            f"There is no file {judging.called}.",
            "Write the verdicts there, one for each case of presentation.jsonl, or correct [judge] verdicts.",
        )
    presentation = session.archive.certification_presentation(run.number)
    verdicts, notes = read_verdict_file(path, judging.called, presentation)
    return take(session, run, judging, verdicts, notes)


# --- a workbook ---


def _judge_workbook(session: Session, run: CertificationRun, judging: Judging) -> Judged:
    rater = judging.judge
    place = certification_place(rater, run.number)
    presentation = session.archive.certification_presentation(run.number)
    sheet = certification_sheet(session.study, rater, run.number, presentation)
    version = session.backend.versions([place])[place] or ""
    parsed = parse_scoring_workbook(session.backend.read(place), sheet)
    location = session.backend.location(place)
    if not parsed.is_ours:
        raise SheetsyncError(
            f"{location} is not the certification workbook of {rater}.",
            f"Put it back, or move it away and run `sheetsync certify prepare --workbook {rater}`.",
        )
    lost = len(parsed.lost_codes)
    notes = [f"{lost} rows are gone from {location}; their cases count as missing."] if lost else []
    read = replace(judging, called=location, hash=version)
    return take(session, run, read, read_certification_sheet(parsed, presentation), notes)
