"""Records of a report: frozen values whose fields, in order, are the keys of their JSON object.

A field with `INTERNAL` as its metadata is for tables and texts alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from sheetsync.domain.agreement.coefficients import Coefficient

INTERNAL: Mapping[str, bool] = {"json": False}


@dataclass(frozen=True)
class Record:
    """Base of everything in a report."""

    def to_dict(self) -> dict[str, object]:
        """Return the JSON object of the contract."""
        shown = [field.name for field in fields(self) if field.metadata.get("json", True)]
        return {name: _to_json(getattr(self, name)) for name in shown}


def _to_json(value: object) -> object:
    if isinstance(value, Record | Coefficient):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: _to_json(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return [_to_json(each) for each in value]
    return value
