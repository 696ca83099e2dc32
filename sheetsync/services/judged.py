"""What a run of a certification has come to, and the rules by which verdicts are taken into it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from sheetsync.domain.certification.cases import FINAL_STATES, NOT_ASKED, Verdict
from sheetsync.errors import StudyError
from sheetsync.services.certification_judge import is_same_judge
from sheetsync.services.session import Session
from sheetsync.store.certifications import CertificationRun, Judging


@dataclass(frozen=True)
class Judged:
    """What a run has come to.

    Attributes:
        run: its number.
        judge: its judge.
        source: `command`, `file` or `workbook`.
        cases: how many there are.
        states: how many of them are answered, malformed, refused, missing, timeout.
        now: how many verdicts came in now.
        problems: per class other than answered the words for its first cases.
        notes: what the coordinator should know.
    """

    run: int
    judge: str
    source: str
    cases: int
    states: Mapping[str, int]
    now: int
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether the judge has spoken on every case."""
        return sum(self.states.get(state, 0) for state in FINAL_STATES) == self.cases

    def to_dict(self) -> dict[str, object]:
        """Return what `certify run --json` prints."""
        return {"schema": "sheetsync.certify.run/1", **asdict(self), "complete": self.is_complete}


def refuse_other_judge(run: CertificationRun, judging: Judging) -> None:
    """Refuse a judge in whose run another one has begun: verdicts of two judges are never mixed.

    Raises:
        StudyError: the run belongs to another judge, or to this one as it was before it was changed.
    """
    for before in run.judgings[:1]:
        if not is_same_judge(before, judging):
            same_name = (before.source, before.judge) == (judging.source, judging.judge)
            begun = f"it was begun by {before.judge} ({before.source})"
            raise StudyError(
                f"Run {run.number} belongs to another judge: "
                f"{'the program has changed since' if same_name else begun}.",
                "Run `sheetsync certify prepare` for a new run.",
            )


def take(
    session: Session,
    run: CertificationRun,
    judging: Judging,
    verdicts: Sequence[Verdict],
    notes: Sequence[str],
) -> Judged:
    """Keep verdicts that came all at once, where they differ from what is kept.

    Raises:
        StudyError: the run belongs to another judge.
    """
    refuse_other_judge(run, judging)
    kept = {verdict.id: verdict for verdict in session.archive.certification_verdicts(run.number)}
    new = [verdict for verdict in verdicts if kept[verdict.id] != verdict]
    if new:
        number = session.archive.start_judging(run.number, judging)
        session.archive.add_judged(number, judging.at, new)
        now = kept | {verdict.id: verdict for verdict in new}
        state = "complete" if all(each.state in FINAL_STATES for each in now.values()) else "incomplete"
        session.archive.end_judging(number, judging.at, state)
    return result_of(session, run, judging, len(new), notes)


def result_of(
    session: Session, run: CertificationRun, judging: Judging, now: int, notes: Sequence[str] = ()
) -> Judged:
    """Return how a run stands, `now` being how many verdicts came in."""
    verdicts = session.archive.certification_verdicts(run.number)
    states = Counter(verdict.state for verdict in verdicts)
    problems = []
    for state in ("malformed", "refused", "timeout", "missing"):
        found = [
            f"{verdict.id} {verdict.why}"
            for verdict in verdicts
            if verdict.state == state and verdict.why != NOT_ASKED
        ]
        problems += [f"{state}: {words}" for words in found[:3]]
    return Judged(
        run.number,
        judging.judge,
        judging.source,
        len(verdicts),
        {str(state): count for state, count in states.items()},
        now,
        tuple(problems),
        tuple(notes),
    )
