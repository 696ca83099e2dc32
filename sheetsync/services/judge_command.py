"""A program as the judge of a run: case by case, with every answer kept before the next question."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sheetsync.domain.certification.cases import FINAL_STATES, Case, Presentation
from sheetsync.domain.protocols import Judge
from sheetsync.errors import SheetsyncError
from sheetsync.services.certify_prepare import run_folder
from sheetsync.services.judge_process import GRACE, JudgeProcess
from sheetsync.services.judged import Judged, refuse_other_judge, result_of
from sheetsync.services.session import Session
from sheetsync.store.certifications import CertificationRun, Judging

OUTPUT = "output.txt"
LOG = "judge.log"

MAX_SILENT = 3
"""So many cases in a row without a word from the judge stop a run: it is the judge that fails, not the cases."""

Clock = Callable[[], str]
"""Returns the time, UTC ISO 8601."""

Counting = Callable[[int, int], None]
"""Is told how many cases of how many have been judged."""


@dataclass(frozen=True)
class Way:
    """How a program is run.

    Attributes:
        clock: tells the time.
        fresh: start it anew before the second looks.
        counting: told after every case.
        grace: see `judge_process.GRACE`.
    """

    clock: Clock
    fresh: bool = False
    counting: Counting = lambda _done, _all: None
    grace: float = GRACE


def judge_by_command(session: Session, run: CertificationRun, judging: Judging, way: Way) -> Judged:
    """Have a program judge what is left of a run.

    Raises:
        StudyError: the run belongs to another judge.
        SheetsyncError: the program does not work; what it said so far is kept.
    """
    settings = session.study.settings.judge or Judge()
    refuse_other_judge(run, judging)
    presentation = session.archive.certification_presentation(run.number)
    spoken = {
        verdict.id
        for verdict in session.archive.certification_verdicts(run.number)
        if verdict.state in FINAL_STATES
    }
    if len(spoken) == len(presentation.cases):
        return result_of(
            session, run, judging, 0, [f"Run {run.number} is complete already; nothing was asked."]
        )
    folder = run_folder(session.root, run.number)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (
        _append(folder / OUTPUT) as output,
        _append(folder / LOG) as log,
        JudgeProcess(settings.command, session.root, output, log, grace=way.grace) as process,
    ):
        number = session.archive.start_judging(run.number, judging)
        asking = _Asking(session, number, process, settings.timeout, way)
        try:
            asking.go(presentation, spoken)
        except BaseException as error:
            detail = str(error) or type(error).__name__
            session.archive.end_judging(number, way.clock(), "stopped", detail)
            raise
    state = "complete" if asking.spoken == len(presentation.cases) else "incomplete"
    session.archive.end_judging(number, way.clock(), state)
    return result_of(session, run, judging, asking.asked)


class _Asking:
    """Asks case by case, and keeps every answer before the next question."""

    def __init__(
        self, session: Session, judging: int, process: JudgeProcess, timeout: float, way: Way
    ) -> None:
        self._archive = session.archive
        self._judging = judging
        self._process = process
        self._timeout = timeout
        self._way = way
        self.asked = 0
        self.spoken = 0

    def go(self, presentation: Presentation, spoken: set[str]) -> None:
        """Ask whatever the judge has not spoken on yet, in the order of the presentation.

        Raises:
            SheetsyncError: the judge does not answer any more.
        """
        self.spoken = len(spoken)
        silent = 0
        for place, case in enumerate(presentation.cases):
            if self._way.fresh and place == presentation.second_look:
                self._process.close()
            if case.id in spoken:
                continue
            silent = 0 if self._ask(case) else silent + 1
            self._way.counting(self.spoken, len(presentation.cases))
            if silent == MAX_SILENT:
                raise SheetsyncError(
                    f"The judge gave no answer to {MAX_SILENT} cases in a row, {case.id} the last; "
                    f"{self.spoken} of {len(presentation.cases)} cases are judged.",
                    f"See {LOG} in the run's private folder, set right what the judge needs (does it flush "
                    "every line?), and run the command again: it goes on from there.",
                )

    def _ask(self, case: Case) -> bool:
        """Ask one case; return whether the judge said anything."""
        answer = self._process.ask(case, self._timeout)
        self._archive.add_judged(self._judging, self._way.clock(), [*answer.late, answer.verdict])
        self.asked += 1
        said = answer.verdict.state in FINAL_STATES
        self.spoken += said
        return said


def _append(path: Path) -> BinaryIO:
    """Open a private file that only grows."""
    return os.fdopen(os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600), "ab")
