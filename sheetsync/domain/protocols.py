"""What a study says about its protocol: time budget, self-check, success criteria, judge and certification.

Sections of `study.toml` that only some protocols have; `domain.study.StudyFile` holds them. The thresholds
are those of the two protocols the templates `blinded-pairs` and `judge-certification` carry out.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StrictFloat, StrictInt

from sheetsync.domain.written import Written

Share = Annotated[float, Field(ge=0, le=1)]
"""A proportion from 0 to 1."""

Minutes = tuple[Annotated[int, Field(ge=0, strict=True)], Annotated[int, Field(ge=0, strict=True)]]
"""From and to."""


BLINDING_TAG = "blinding-broken"
"""The tag of a response by which raters report that its text gives away how it was made (S1.39)."""


class Resource(Written):
    """`[study] resources`: something raters read besides the workbook."""

    title: str
    address: str
    """Where it lies: a web address, or the name of a file that raters were given."""


class TimeBudget(Written):
    """`[time]`: how many minutes a rater should expect to need, shown beside the progress."""

    familiarise: Minutes | None = None
    score: Minutes | None = None
    self_check: Minutes | None = None


class SelfCheck(Written):
    """`[self_check]`: what raters look at again before they are done."""

    confident_share: Share = 0.70
    """Wanted share of Medium and High among the answered scores."""
    typical_total: tuple[StrictInt | StrictFloat, StrictInt | StrictFloat] | Literal["literal"] | None = None
    """Totals outside are worth a second look. None: Tukey's fences of the rater's own totals; "literal":
    every total but the middle of the scale, as the instructions of the protocol have it."""


class Criteria(Written):
    """`[criteria]`: what the study has to reach; frozen before anybody scores (`sheetsync freeze`)."""

    alpha: Annotated[float, Field(ge=-1, le=1)] = 0.70
    """Primary: stratified alpha over all dimensions."""
    direction: Share = 0.70
    """Secondary: share of cases whose raters agree which response is the better one."""
    validators: Annotated[int, Field(ge=1, strict=True)] = 3
    """Secondary: raters who completed every row."""
    internal_spearman: Annotated[float, Field(ge=-1, le=1)] = 0.60
    """Secondary: rank correlation of external with internal totals."""
    internal: str = "internal.csv"
    """The file of internal scores."""
    baseline: str = "baseline"
    """The model that `improved` is compared with, once the study is unblinded."""
    improved: str = "improved"


class Judge(Written):
    """`[judge]`: the program whose verdicts are certified; sheetsync itself calls no model."""

    name: str = "judge"
    command: tuple[str, ...] = ()
    """Reads one case a line on stdin, writes one verdict a line on stdout, both JSON."""
    timeout: Annotated[float, Field(gt=0)] = 120
    """Seconds a case may take."""
    verdicts: str = ""
    """A file with verdicts, instead of a command."""


class Disclosure(Written):
    """`[[certification.disclosure]]`: a metric that may stay below the bar, and why that is harmless."""

    metric: str
    sentence: str
    weights: tuple[Share, Share]
    """Lowest and highest weight over the columns of `weights.csv`."""


class Certification(Written):
    """`[certification]`: the four parts and what each has to reach."""

    model_config = ConfigDict(populate_by_name=True)

    folder: str = "certification"
    """Holds `anchors.csv`, `adversarial.csv`, `gates.csv` and `weights.csv`."""
    kappa: Annotated[float, Field(ge=-1, le=1)] = 0.70
    anchors: Share = 0.90
    discrimination: Share = 0.90
    gates: Share = 0.90
    minimum_gap: Annotated[int, Field(ge=0, strict=True)] = 20
    """How many cases lie at least between the two looks at one response."""
    seed: Annotated[int, Field(ge=0)] = 1
    strict: bool = False
    """Whether the lower limit of the interval has to reach the bar too."""
    disclosures: tuple[Disclosure, ...] = Field(default=(), alias="disclosure")
