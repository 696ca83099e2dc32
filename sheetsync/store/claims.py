"""What was claimed about models: the class of every comparison, appended when it changes."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, insert, select

from sheetsync.store import tables

ClaimKey = tuple[str, str, str]
"""Dimension id and the two models, in the order of their names."""


def last_claims(connection: Connection) -> dict[ClaimKey, str]:
    """Return the last class of every comparison."""
    found = connection.execute(select(tables.claims).order_by(tables.claims.c.id))
    return {(row.dimension, row.first, row.second): row.strength for row in found}


def record_claims(connection: Connection, at: str, strengths: Mapping[ClaimKey, str]) -> None:
    """Append the classes that differ from the last ones."""
    before = last_claims(connection)
    rows = [
        {"at": at, "dimension": key[0], "first": key[1], "second": key[2], "strength": strength}
        for key, strength in strengths.items()
        if before.get(key) != strength
    ]
    if rows:
        connection.execute(insert(tables.claims), rows)
