"""`agreement`: coefficients with intervals, on the study or on any ratings file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from sheetsync.domain.agreement import Options, assess_agreement
from sheetsync.domain.agreement_report import AgreementReport
from sheetsync.domain.study import MeasurementLevel
from sheetsync.errors import StudyError
from sheetsync.services.analyze import analyze, study_options
from sheetsync.services.ratings_file import load_ratings_file
from sheetsync.services.session import reading_session


class AgreementRequest(BaseModel):
    """What the command line asks for; None means "not given" and never overrides the study."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    level: MeasurementLevel | None = None
    scale: str | None = None
    by: tuple[str, ...] = ()
    na: tuple[str, ...] = ()
    resamples: int | None = None
    interval: Literal["bca", "percentile", "jackknife"] | None = None
    seed: int | None = None
    within: float = 1

    def options(self, base: Options) -> Options:
        """Return these options over those of the study or the defaults."""
        return Options(
            bands=base.bands,
            interval=self.interval or base.interval,
            confidence=base.confidence,
            resamples=base.resamples if self.resamples is None else self.resamples,
            seed=base.seed if self.seed is None else self.seed,
            within=int(self.within) if self.within.is_integer() else self.within,
        )


@dataclass(frozen=True)
class Agreed:
    """The report, and what to tell the reader about the data it rests on."""

    report: AgreementReport
    notes: Sequence[str] = ()
    as_of: str | None = None
    title: str = ""
    bands: str = "landis-koch"

    def to_dict(self) -> dict[str, object]:
        """Return what `agreement --json` prints."""
        return self.report.to_dict()


def agreement_of_file(path: Path, request: AgreementRequest) -> Agreed:
    """Return the agreement of a ratings file.

    Raises:
        StudyError: the file is unreadable or malformed; `faults` lists every line.
    """
    data, notes = load_ratings_file(path, request.level or "ordinal", request.scale, request.by, request.na)
    report = assess_agreement(data, (), request.options(Options()))
    return Agreed(report, notes, title=path.name)


def agreement_of_study(folder: Path, request: AgreementRequest) -> Agreed:
    """Return the agreement of a study, as of the last pull.

    Raises:
        StudyError: the study's files are invalid, or an option belongs to ratings files only.
        NotProvisionedError: there are no workbooks yet.
    """
    given = [f"--{name}" for name in ("level", "scale", "na") if getattr(request, name)]
    if given:
        raise StudyError(
            f"{', '.join(given)} goes with a ratings file; a study's scales stand in rubric.toml.",
            "Name a file, or leave the option out.",
        )
    with reading_session(folder) as session:
        analysis = analyze(session, request.options(study_options(session)), request.by or None)
        bands = study_options(session).bands
    return Agreed(analysis.agreement, as_of=analysis.as_of, title=analysis.study.title, bands=bands)
