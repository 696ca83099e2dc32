"""The agreement report: what was computed, in the shape of its JSON.

The fields of a record, in order, are the keys of its JSON object.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sheetsync.domain.agreement.coefficients import Coefficient
from sheetsync.domain.agreement.explanation_records import Explanation
from sheetsync.domain.agreement.pooled import Pooled
from sheetsync.domain.certification.judge_metrics import JudgeComparison
from sheetsync.domain.record import INTERNAL, Record
from sheetsync.domain.study import LevelValue, MeasurementLevel

SCHEMA = "sheetsync.agreement/1"


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
    """One dimension over all raters, with its pairs and slices.

    `too_few`: whether it has fewer pairable units than alpha needs to say anything (X20).
    """

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
    too_few: bool = field(default=False, metadata=INTERNAL)


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
    """Agreement of a study or of a ratings file.

    `explanations` says of each dimension why alpha is what it is; `pooled` is alpha over several. `judges` are the
    judges of a study beside its people, who alone are in everything else.
    """

    dimensions: tuple[DimensionAgreement, ...]
    tags: tuple[TagAgreement, ...] = ()
    explanations: tuple[Explanation, ...] = ()
    pooled: Pooled | None = None
    judges: tuple[JudgeComparison, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return what `sheetsync agreement --json` prints."""
        found = {"schema": SCHEMA} | super().to_dict()
        if not self.judges:
            del found["judges"]
        return found
