"""The agreement report: what was computed, in the shape of its JSON.

The fields of a record, in order, are the keys of its JSON object.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from sheetsync.domain.coefficients import Coefficient
from sheetsync.domain.study import LevelValue, MeasurementLevel

SCHEMA = "sheetsync.agreement/1"


@dataclass(frozen=True)
class Record:
    """Base of everything in a report."""

    def to_dict(self) -> dict[str, object]:
        """Return the JSON object of the contract."""
        return {field.name: _to_json(getattr(self, field.name)) for field in fields(self)}


def _to_json(value: object) -> object:
    if isinstance(value, Record | Coefficient):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: _to_json(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return [_to_json(each) for each in value]
    return value


@dataclass(frozen=True)
class PairAgreement(Record):
    """Two raters on one dimension; `n` counts the units both rated."""

    raters: tuple[str, str]
    n: int
    kappa: Coefficient
    kappa_linear: Coefficient
    kappa_quadratic: Coefficient
    spearman: Coefficient
    exact: Coefficient
    mean_difference: Coefficient


@dataclass(frozen=True)
class DimensionAgreement(Record):
    """One dimension over all raters, with its pairs and slices."""

    dimension: str
    level: MeasurementLevel
    scale: tuple[LevelValue, ...]
    band: str | None
    n_units: int
    n_pairable: int
    n_raters: int
    n_ratings: int
    n_missing: int
    n_not_applicable: int
    n_invalid: int
    coefficients: Mapping[str, Coefficient]
    distribution: Mapping[str, int]
    pairs: tuple[PairAgreement, ...]
    slices: tuple[SliceAgreement, ...] = ()


@dataclass(frozen=True)
class SliceAgreement(Record):
    """The rows of a dimension that share a value, such as a figure; holds no slices itself."""

    by: str
    value: str
    agreement: DimensionAgreement

    def to_dict(self) -> dict[str, object]:
        """Return the JSON object of the contract: the keys of a dimension beside `by` and `value`."""
        return {"by": self.by, "value": self.value} | self.agreement.to_dict()


@dataclass(frozen=True)
class TagPair(Record):
    """Two raters on one tag; `n` counts the units on which both said yes or no."""

    raters: tuple[str, str]
    n: int
    kappa: Coefficient
    exact: Coefficient


@dataclass(frozen=True)
class TagAgreement(Record):
    """One tag, of a response or of a dimension."""

    tag: str
    of: str | None
    n_ticked: Mapping[str, int]
    pairs: tuple[TagPair, ...]


@dataclass(frozen=True)
class AgreementReport(Record):
    """Agreement of a study or of a ratings file."""

    dimensions: tuple[DimensionAgreement, ...]
    tags: tuple[TagAgreement, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return what `sheetsync agreement --json` prints."""
        return {"schema": SCHEMA} | super().to_dict()
