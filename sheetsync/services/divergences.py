"""`divergences`: units and dimensions where raters differ by the threshold, with their state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sheetsync.domain.divergence import Divergence
from sheetsync.services.analyze import gather_standing
from sheetsync.services.session import Session


@dataclass(frozen=True)
class Divergences:
    """All divergences; `names` are the dimensions' names by id."""

    divergences: tuple[Divergence, ...]
    names: Mapping[str, str]
    as_of: str | None

    def to_dict(self) -> dict[str, object]:
        """Return what `divergences --json` prints."""
        return divergences_dict(self.divergences, self.names)


def divergences_dict(divergences: Sequence[Divergence], names: Mapping[str, str]) -> dict[str, object]:
    """Return divergences as they stand in JSON."""
    return {
        "schema": "sheetsync.divergences/1",
        "divergences": [
            {
                "code": each.code,
                "dimension": names[each.dimension],
                "kind": each.kind,
                "values": dict(each.values),
                "range": each.range,
                "state": each.state,
                "verdict": each.verdict.verdict if each.verdict else None,
                "reason": (each.verdict.reason or None) if each.verdict else None,
            }
            for each in divergences
        ],
    }


def divergences(session: Session) -> Divergences:
    """Return every divergence of the study, as of the last pull.

    Raises:
        NotProvisionedError: there are no workbooks yet.
    """
    standing = gather_standing(session)
    last = session.archive.last_pull()
    names = {dimension.id: dimension.name for dimension in session.study.rubric.dimensions}
    return Divergences(standing.divergences, names, last.at if last else None)
