"""What is frozen before scoring, and how it differs from what the files say later."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sheetsync.domain.record import Record
from sheetsync.domain.study import Study

Terms = Mapping[str, object]

ABSENT = "not set"
"""What is said of a term that one side does not have."""


@dataclass(frozen=True)
class Deviation(Record):
    """One term that is not what was frozen; values as JSON text."""

    term: str
    frozen: str
    now: str

    def __str__(self) -> str:
        return f"{self.term}: frozen {self.frozen}, now {self.now}"


def terms_of(study: Study, internal: bytes | None) -> Terms:
    """Return what counts: criteria, rubric, design, the bands, and hashes of texts and internal scores.

    Of rubric and design only what is not the default, so that a later version with further keys finds the
    same in the same files.

    Args:
        study: as its files say.
        internal: the bytes of the file of internal scores, None where there is none.
    """
    settings = study.settings
    return {
        "criteria": settings.criteria.model_dump(mode="json") if settings.criteria else {},
        "internal scores": _hash(internal) if internal is not None else ABSENT,
        "rubric": {
            "version": study.rubric.version,
            "hash": _hash(study.rubric.model_dump_json(exclude_defaults=True).encode()),
            "dimensions": {
                each.id: [level.value for level in each.levels] for each in study.rubric.dimensions
            },
        },
        "design": settings.design.model_dump(mode="json", exclude_defaults=True),
        "agreement": {"bands": settings.agreement.bands, "confidence": settings.agreement.confidence},
        "texts": {
            "responses": len(study.units),
            "hash": _hash(
                json.dumps([[*u.key, u.question, u.response, u.calibration] for u in study.units]).encode()
            ),
        },
    }


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def encode_terms(terms: Terms) -> str:
    """Return terms as JSON text, the same text for the same terms."""
    return json.dumps(terms, sort_keys=True, ensure_ascii=False, allow_nan=False)


def decode_terms(text: str) -> Terms:
    """Return terms from their JSON text."""
    terms: Terms = json.loads(text)
    return terms


def hash_terms(text: str) -> str:
    """Return the hash of terms in JSON text."""
    return _hash(text.encode())


def compare_frozen(frozen: Terms, now: Terms) -> list[Deviation]:
    """Return every term that differs, by its path.

    >>> [str(each) for each in compare_frozen({"criteria": {"alpha": 0.7}}, {"criteria": {"alpha": 0.6}})]
    ['criteria.alpha: frozen 0.7, now 0.6']
    """
    before, after = dict(_leaves(frozen)), dict(_leaves(now))
    return [
        Deviation(term, _shown(term, before), _shown(term, after))
        for term in dict.fromkeys([*before, *after])
        if before.get(term, ABSENT) != after.get(term, ABSENT)
    ]


def _leaves(node: Mapping[str, object], path: str = "") -> Iterator[tuple[str, object]]:
    for key, value in node.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


def _shown(term: str, leaves: Mapping[str, object]) -> str:
    value = leaves.get(term, ABSENT)
    is_hash = isinstance(value, str) and len(value) == 64
    return f"{str(value)[:12]}..." if is_hash else json.dumps(value, ensure_ascii=False)
