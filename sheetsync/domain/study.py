"""What a study says: units, raters, the rubric, the design and the policies.

Everything here is written by a human in `study.toml`, `rubric.toml`, `questions.csv` and
`responses.csv`; `config.load_study` is the only reader. The records are frozen and refuse unknown
keys. Nothing here opens a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import ConfigDict, Field, StrictFloat, StrictInt, StrictStr

from sheetsync.domain.protocols import Certification, Criteria, Judge, Resource, SelfCheck, TimeBudget
from sheetsync.domain.written import Written

if TYPE_CHECKING:
    from sheetsync.domain.certification.material import CertificationMaterial

NOT_APPLICABLE = "N/A"
"""How a rating without a value is written in JSON, tables and workbooks."""

CONFIDENCE_LEVELS = ("Low", "Medium", "High")

LevelValue = int | float | str
"""A declared level of a scale: a number, or a word."""

ScaleValue = StrictInt | StrictFloat | StrictStr
"""A level as written in TOML: `1`, `2.5` or `"low"`; never a boolean."""

MeasurementLevel = Literal["nominal", "ordinal", "interval", "ratio"]


class Level(Written):
    """One level of a scale."""

    value: ScaleValue
    text: str = ""
    count_from: Annotated[int, Field(ge=0, strict=True)] | None = None
    """The smallest count that earns this level, in a dimension where raters count something."""


class Tag(Written):
    """A yes/no mark, of the response or of a dimension."""

    id: str
    text: str = ""
    claim: bool = False
    """The cell takes the quoted claim, and the quote ticks the tag."""


class Dimension(Written):
    """One scale on which every unit is scored; `levels` are declared from low to high."""

    id: str
    name: str
    text: str = ""
    level: MeasurementLevel = "ordinal"
    not_applicable: bool = False
    confidence: bool = False
    levels: tuple[Level, ...]
    tags: tuple[Tag, ...] = ()
    checklist: tuple[str, ...] = ()
    """What earns one point each, in a dimension that adds up such points."""

    @property
    def scale(self) -> tuple[LevelValue, ...]:
        """The declared level values, from low to high."""
        return tuple(level.value for level in self.levels)

    @property
    def is_numeric(self) -> bool:
        """Whether every level is a number."""
        return all(not isinstance(value, str) for value in self.scale)

    @property
    def is_counted(self) -> bool:
        """Whether the score follows from a count: of things found, or of points of the checklist."""
        return bool(self.checklist) or any(level.count_from is not None for level in self.levels)

    @property
    def has_consecutive_levels(self) -> bool:
        """Whether the levels are whole numbers one apart (1, 2, 3 ...)."""
        scale = self.scale
        return self.is_numeric and all(b - a == 1 for a, b in pairwise(scale))  # type: ignore[operator]


class Remark(Written):
    """A free-text column."""

    id: str
    name: str


class Condition(Written):
    """When a rule looks: exactly one of the forms in the contract."""

    tag: str | None = None
    false_premise: bool | None = None
    dimension: str | None = None
    at_most: ScaleValue | None = None
    equals: ScaleValue | None = None
    not_applicable: Literal[True] | None = None


class Consequence(Written):
    """What must then hold: exactly one of the forms in the contract."""

    dimension: str | None = None
    equals: ScaleValue | None = None
    tag: str | None = None
    no_tag_of: str | None = None
    any_tag_of: str | None = None
    claim_for_tags_of: str | None = None
    column: str | None = None
    sum_of: tuple[str, ...] | None = None


class Rule(Written):
    """A condition across the cells of one row.

    Without `when` it looks at every row; without `then` it fires whenever `when` holds.
    """

    id: str
    when: Condition | None = None
    then: Consequence | None = None
    severity: Literal["error", "warning"] = "error"
    message: str = ""


class Rubric(Written):
    """Dimensions, tags of the response, remarks and rules; written as `rubric.toml`."""

    model_config = ConfigDict(populate_by_name=True)

    version: str
    tags: tuple[Tag, ...] = Field(default=(), alias="tag")
    dimensions: tuple[Dimension, ...] = Field(alias="dimension")
    remarks: tuple[Remark, ...] = Field(default=(), alias="remark")
    rules: tuple[Rule, ...] = Field(default=(), alias="rule")

    @cached_property
    def by_id(self) -> Mapping[str, Dimension]:
        """Dimensions by their id."""
        return {dimension.id: dimension for dimension in self.dimensions}


class Person(Written):
    """Somebody who is not a rater: an adjudicator or a coordinator."""

    id: str
    name: str = ""
    email: str = ""


class Rater(Written):
    """One rater of the roster."""

    id: str
    name: str = ""
    email: str = ""
    kind: Literal["annotator", "judge"] = "annotator"


class About(Written):
    """`[study]`: who and what for."""

    id: str
    title: str = ""
    contact: str = ""
    version: str = ""
    """Version and date of the instructions, as raters see them."""
    resources: tuple[Resource, ...] = ()
    agreement_role: Literal["calibrate", "criterion", "gate"] = "calibrate"
    judge_policy: Literal["forbidden", "certify"] = "forbidden"


class Files(Written):
    """`[files]`: where the study's own files lie, relative to `study.toml`."""

    questions: str = "questions.csv"
    responses: str = "responses.csv"
    rubric: str = "rubric.toml"
    reference: str = "reference"


class GoogleSettings(Written):
    """`[backend.google]`."""

    credentials: str = "credentials.json"
    folder: str = ""
    notify: bool = False
    adopt: dict[str, str] = Field(default_factory=dict)


class BackendSettings(Written):
    """`[backend]`: where workbooks live."""

    kind: Literal["xlsx", "google"] = "xlsx"
    google: GoogleSettings = GoogleSettings()


class People(Written):
    """`[people]`: adjudicators and coordinators."""

    adjudicators: tuple[Person, ...] = ()
    coordinators: tuple[Person, ...] = ()


class Design(Written):
    """`[design]`: who scores what, in which order."""

    layout: Literal["single", "pairs"] = "single"
    sides: Literal["case", "rater"] = "case"
    """Whether the two responses of a case have the same sides for all raters, or sides drawn per rater."""
    raters_per_unit: Literal["all"] | Annotated[int, Field(ge=1, strict=True)] = "all"
    order: Literal["random", "bank"] = "random"
    calibration_units: Annotated[int, Field(ge=0, strict=True)] = 0
    seed: Annotated[int, Field(ge=0)] = 1


class DivergenceSettings(Written):
    """`[divergence]`: from which distance on two ratings diverge."""

    threshold: Annotated[float, Field(gt=0)] = 2
    unit: Literal["points", "steps", "auto"] = "auto"


class AgreementSettings(Written):
    """`[agreement]`: bands and intervals; with fewer pairable units than `minimum_units` both are left out."""

    bands: Literal["landis-koch", "acceptance"] = "landis-koch"
    interval: Literal["bca", "percentile", "jackknife"] = "bca"
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    resamples: Annotated[int, Field(ge=0, strict=True)] = 10000
    seed: Annotated[int, Field(ge=0)] = 1
    minimum_units: Annotated[int, Field(ge=2, strict=True)] = 10


class PublishSettings(Written):
    """`[publish]`: whether results name models."""

    models: bool = True


class ScheduleSettings(Written):
    """`[schedule]`: when `watch` runs."""

    at: tuple[str, ...] = ("02:00",)
    timezone: str = "UTC"


class StudyFile(Written):
    """The whole of `study.toml`."""

    study: About
    files: Files = Files()
    backend: BackendSettings = BackendSettings()
    raters: tuple[Rater, ...]
    people: People = People()
    design: Design = Design()
    divergence: DivergenceSettings = DivergenceSettings()
    agreement: AgreementSettings = AgreementSettings()
    publish: PublishSettings = PublishSettings()
    schedule: ScheduleSettings = ScheduleSettings()
    time: TimeBudget = TimeBudget()
    self_check: SelfCheck = SelfCheck()
    criteria: Criteria | None = None
    judge: Judge | None = None
    certification: Certification | None = None


@dataclass(frozen=True)
class Unit:
    """One response to be scored: question x figure x model.

    `question` is the text with the figure's name substituted. `slices` holds every further
    question column with its value, for reports.
    """

    question_id: str
    figure: str
    model: str
    version: str
    question: str
    response: str
    tier: str = ""
    type: str = ""
    false_premise: str = ""
    reference: str = ""
    calibration: bool = False
    slices: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, str]:
        """What identifies the unit in the study's files."""
        return (self.question_id, self.figure, self.model)


@dataclass(frozen=True)
class Study:
    """A whole study, valid and loaded; `units` in the order of the bank.

    Attributes:
        settings: `study.toml`.
        rubric: `rubric.toml`.
        units: every question x figure x model that has a response, in bank order.
        references: the text of each reference sheet by its file name (`<figure>.md`).
        certification: what a judge is certified with; None without `[certification]`.
    """

    settings: StudyFile
    rubric: Rubric
    units: tuple[Unit, ...]
    references: Mapping[str, str]
    certification: CertificationMaterial | None = None

    @property
    def id(self) -> str:
        """The study's id."""
        return self.settings.study.id

    @property
    def title(self) -> str:
        """The study's title, or its id where it has none."""
        return self.settings.study.title or self.settings.study.id

    @property
    def raters(self) -> tuple[Rater, ...]:
        """The roster, in the order of the file."""
        return self.settings.raters

    @property
    def design(self) -> Design:
        """Who scores what."""
        return self.settings.design
