"""Certifications of a judge: what it was shown, who judged when, and every word that came back.

A **run** is one presentation with its key. A **judging** is one time that a judge worked on it: a run that was
interrupted has several. The latest word on a case counts, and the earlier ones stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import Connection, Row, func, insert, select

from sheetsync.domain.certification.cases import Presentation, Verdict, complete_verdicts
from sheetsync.errors import ArchiveError
from sheetsync.store import tables
from sheetsync.store.values import decode_object, encode_object

Source = Literal["command", "file", "workbook"]


@dataclass(frozen=True)
class Judging:
    """One time that a judge worked on a run.

    Attributes:
        at: when it began.
        source: where the verdicts come from.
        judge: its name.
        called: the command, the file or the workbook.
        hash: of the command with the files it names, or of the file's bytes.
        fresh_session: whether the second looks were judged by a process that knew nothing of the first.
        ended: when; blank where it broke off without a word.
        state: how: `complete`, `stopped`; blank where it broke off.
        detail: why it stopped.
        verdicts: how many verdicts came in.
    """

    at: str
    source: Source
    judge: str
    called: str
    hash: str
    fresh_session: bool = False
    ended: str = ""
    state: str = ""
    detail: str = ""
    verdicts: int = 0


@dataclass(frozen=True)
class CertificationRun:
    """One presentation and who judged it.

    Attributes:
        number: counts from 1.
        at: when it was prepared.
        rubric: hash of the rubric, which the archive keeps.
        seed: of the order.
        minimum_gap: cases between two looks at one response, as asked for; `gap` is what the order has.
        gap: see there; None without repeats.
        hashes: of the rubric, of the cases, and of their texts alone (`prompts`), whatever their order.
        judgings: oldest first.
    """

    number: int
    at: str
    rubric: str
    seed: int
    minimum_gap: int
    gap: int | None
    hashes: Mapping[str, str] = field(default_factory=dict)
    judgings: tuple[Judging, ...] = ()


def add_certification(
    connection: Connection, at: str, rubric: str, presentation: Presentation, hashes: Mapping[str, str]
) -> int:
    """Append a presentation with its key, and return the number of that run."""
    last: int | None = connection.execute(select(func.max(tables.certifications.c.number))).scalar()
    number = (last or 0) + 1
    connection.execute(
        insert(tables.certifications).values(
            number=number,
            at=at,
            rubric=rubric,
            cases=presentation.lines(),
            key=presentation.key_json(),
            hashes=encode_object(dict(hashes)),
        )
    )
    return number


def read_runs(connection: Connection) -> list[CertificationRun]:
    """Return every run, oldest first."""
    judgings = _read_judgings(connection)
    found = connection.execute(select(tables.certifications).order_by(tables.certifications.c.number))
    return [_run(row, tuple(judgings.get(row.number, ()))) for row in found]


def _run(row: Row[Any], judgings: tuple[Judging, ...]) -> CertificationRun:
    key = decode_object(row.key)
    return CertificationRun(
        number=row.number,
        at=row.at,
        rubric=row.rubric,
        seed=key["seed"],
        minimum_gap=key["minimum_gap"],
        gap=key["gap"],
        hashes=decode_object(row.hashes),
        judgings=judgings,
    )


def _read_judgings(connection: Connection) -> dict[int, list[Judging]]:
    c, ends = tables.judgings.c, tables.judging_ends.c
    counts = (
        select(tables.judged.c.judging, func.count().label("verdicts"))
        .group_by(tables.judged.c.judging)
        .subquery()
    )
    query = (
        select(tables.judgings, ends.at.label("ended"), ends.state, ends.detail, counts.c.verdicts)
        .outerjoin(tables.judging_ends, ends.judging == c.id)
        .outerjoin(counts, counts.c.judging == c.id)
        .order_by(c.id)
    )
    judgings: dict[int, list[Judging]] = {}
    for row in connection.execute(query):
        judgings.setdefault(row.run, []).append(
            Judging(
                row.at,
                row.source,
                row.judge,
                row.called,
                row.hash,
                row.fresh,
                row.ended or "",
                row.state or "",
                row.detail or "",
                row.verdicts or 0,
            )
        )
    return judgings


def read_presentation(connection: Connection, number: int) -> Presentation:
    """Return what a run shows, with its key.

    Raises:
        ArchiveError: there is no such run.
    """
    row = connection.execute(select(tables.certifications).filter_by(number=number)).first()
    if row is None:
        raise ArchiveError(f"There is no certification run {number}.", "Run `sheetsync certify prepare`.")
    return Presentation.from_texts(row.cases, row.key)


def start_judging(connection: Connection, number: int, judging: Judging) -> int:
    """Append that a judge begins, or goes on, with a run; return the id to name it by."""
    done = connection.execute(
        insert(tables.judgings).values(
            run=number,
            at=judging.at,
            source=judging.source,
            judge=judging.judge,
            called=judging.called,
            hash=judging.hash,
            fresh=judging.fresh_session,
        )
    )
    (made,) = done.inserted_primary_key or (0,)
    return int(made)


def end_judging(connection: Connection, judging: int, at: str, state: str, detail: str) -> None:
    """Append how a judging ended."""
    values = {"judging": judging, "at": at, "state": state, "detail": detail}
    connection.execute(insert(tables.judging_ends).values(values))


def add_judged(connection: Connection, judging: int, at: str, verdicts: Sequence[Verdict]) -> None:
    """Append what came back for some cases."""
    rows = [
        {
            "judging": judging,
            "at": at,
            "case": verdict.id,
            "state": verdict.state,
            "verdict": encode_object(verdict.to_dict()),
        }
        for verdict in verdicts
    ]
    if rows:
        connection.execute(insert(tables.judged), rows)


def _latest(connection: Connection, number: int) -> dict[str, Verdict]:
    """Return the latest word on each case, in the order of the words."""
    query = (
        select(tables.judged.c.verdict)
        .join(tables.judgings, tables.judgings.c.id == tables.judged.c.judging)
        .where(tables.judgings.c.run == number)
        .order_by(tables.judged.c.id)
    )
    latest: dict[str, Verdict] = {}
    for text in connection.execute(query).scalars():
        verdict = Verdict(**decode_object(text))
        latest.pop(verdict.id, None)
        latest[verdict.id] = verdict
    return latest


def read_verdicts(connection: Connection, number: int) -> list[Verdict]:
    """Return one verdict per case of a run, `missing` where there is none."""
    return list(complete_verdicts(read_presentation(connection, number).cases, _latest(connection, number)))


def read_order(connection: Connection, number: int) -> list[str]:
    """Return the cases in the order of the word that counts."""
    return list(_latest(connection, number))
