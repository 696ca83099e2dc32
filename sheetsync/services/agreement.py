"""`agreement`: coefficients with intervals, on the study or on any ratings file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from sheetsync.domain.agreement.assessment import Options, assess_agreement
from sheetsync.domain.agreement.report import AgreementReport
from sheetsync.domain.agreement.verdicts import BandSet
from sheetsync.domain.study import MeasurementLevel
from sheetsync.errors import StudyError
from sheetsync.report_ratings import render_agreement_page
from sheetsync.services.analyze import analyze, study_options
from sheetsync.services.publish import write_atomically
from sheetsync.services.ratings_file import RatingsOptions, load_ratings_file
from sheetsync.services.ratings_tables import STDIN
from sheetsync.services.session import reading_session

_OF_FILES = ("level", "scale", "na", "wide", "sheet", "html")
"""Options that say nothing about a study."""


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
    wide: bool = False
    sheet: str | None = None
    html: Path | None = None

    def options(self, base: Options) -> Options:
        """Return these options over those of the study or the defaults."""
        return Options(
            bands=base.bands,
            interval=self.interval or base.interval,
            confidence=base.confidence,
            resamples=base.resamples if self.resamples is None else self.resamples,
            seed=base.seed if self.seed is None else self.seed,
            minimum_units=base.minimum_units,
            within=int(self.within) if self.within.is_integer() else self.within,
        )


@dataclass(frozen=True)
class Agreed:
    """The report, and what to tell the reader about the data it rests on."""

    report: AgreementReport
    notes: Sequence[str] = ()
    as_of: str | None = None
    title: str = ""
    bands: BandSet = "landis-koch"

    def to_dict(self) -> dict[str, object]:
        """Return what `agreement --json` prints."""
        return self.report.to_dict()


def agreement_of_file(path: Path, request: AgreementRequest) -> Agreed:
    """Return the agreement of a ratings file, and write it as a web page where that is asked for.

    Raises:
        StudyError: the file is unreadable or malformed; `faults` lists every line.
    """
    if request.html and request.html.suffix.lower() not in {".html", ".htm"}:
        raise StudyError(
            f"--html {request.html} is no name of a web page, and might be a file of yours.",
            "Let it end in .html.",
        )
    options = RatingsOptions(
        request.level or "ordinal", request.scale, request.by, request.na, request.wide, request.sheet
    )
    data, notes = load_ratings_file(path, options)
    chosen = request.options(Options())
    report = assess_agreement(data, (), chosen)
    title = "Ratings from standard input" if path == STDIN else path.name
    if request.html:
        page = render_agreement_page(report, chosen, title=title, notes=notes)
        write_atomically(request.html, page, workshop=request.html.parent)
        notes.append(f"Wrote {request.html}")
    return Agreed(report, notes, title=title, bands=chosen.bands)


def agreement_of_study(folder: Path, request: AgreementRequest) -> Agreed:
    """Return the agreement of a study, as of the last pull.

    Raises:
        StudyError: the study's files are invalid, or an option belongs to ratings files only.
        NotProvisionedError: there are no workbooks yet.
    """
    given = [f"--{name}" for name in _OF_FILES if getattr(request, name)]
    if given:
        raise StudyError(
            f"{', '.join(given)} goes with a ratings file; a study's scales stand in rubric.toml, "
            "and `publish` writes its report.",
            "Name a file, or leave the option out.",
        )
    with reading_session(folder) as session:
        analysis = analyze(session, request.options(study_options(session)), request.by or None)
        bands = study_options(session).bands
    return Agreed(analysis.agreement, as_of=analysis.as_of, title=analysis.study.title, bands=bands)
