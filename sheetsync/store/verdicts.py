"""What adjudicators decided: every revision of it, and how it stands now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select

from sheetsync.domain.divergence import Verdict
from sheetsync.store import tables
from sheetsync.store.values import decode_object, decode_verdict, encode_object, encode_verdict


def append_verdicts(connection: Connection, pull: int, verdicts: Sequence[Verdict]) -> None:
    """Append a revision of every verdict in which anything differs from its latest revision."""
    latest = {verdict.key: _verdict_values(verdict) for verdict in _latest_verdicts(connection)}
    new: list[dict[str, object]] = []
    for verdict in {verdict.key: verdict for verdict in verdicts}.values():
        values = _verdict_values(verdict)
        before = latest.get(verdict.key)
        if values != before and not (before is None and verdict.is_empty):
            new.append(values | {"pull": pull})
    if new:
        connection.execute(insert(tables.verdicts), new)


def _verdict_values(verdict: Verdict) -> dict[str, object]:
    return {
        "code": verdict.code,
        "dimension": verdict.dimension,
        "kind": verdict.kind,
        "verdict": encode_verdict(verdict.verdict),
        "reason": verdict.reason,
        "comment": verdict.comment,
        "adjudicator": verdict.adjudicator,
        "basis": encode_object(verdict.basis),
        "text": verdict.text,
    }


def _latest_verdicts(connection: Connection) -> list[Verdict]:
    c = tables.verdicts.c
    latest = select(func.max(c.id)).group_by(c.code, c.dimension, c.kind)
    found = connection.execute(select(tables.verdicts).where(c.id.in_(latest)).order_by(c.id))
    return [_verdict(row) for row in found]


def current_verdicts(connection: Connection) -> list[Verdict]:
    """Return the latest of each verdict, without those that were cleared."""
    return [verdict for verdict in _latest_verdicts(connection) if not verdict.is_empty]


def verdict_history(connection: Connection, code: str, dimension: str, kind: str) -> list[Verdict]:
    """Return every revision of one verdict, oldest first."""
    query = select(tables.verdicts).filter_by(code=code, dimension=dimension, kind=kind)
    return [_verdict(row) for row in connection.execute(query.order_by(tables.verdicts.c.id))]


def _verdict(row: Row[Any]) -> Verdict:
    return Verdict(
        code=row.code,
        dimension=row.dimension,
        kind=row.kind,
        verdict=decode_verdict(row.verdict),
        reason=row.reason,
        comment=row.comment,
        adjudicator=row.adjudicator,
        basis=decode_object(row.basis),
        text=row.text,
    )
