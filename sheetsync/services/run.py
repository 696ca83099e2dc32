"""`run`: pull, agreement, divergences and publish once; the job of the night."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sheetsync.domain.agreement.assessment import cross_check_alpha
from sheetsync.domain.agreement.coefficients import Coefficient
from sheetsync.domain.agreement.report import AgreementReport, DimensionAgreement
from sheetsync.domain.analysis import Analysis, dimension_data
from sheetsync.errors import SheetsyncError
from sheetsync.services.analyze import Standing, analyze, gather_standing
from sheetsync.services.claims import ClaimsNews, claims_news
from sheetsync.services.divergences import divergences_dict
from sheetsync.services.incomplete import Incomplete
from sheetsync.services.publish import Published, names_models, publish, publish_locations
from sheetsync.services.pull import Pulled, pull
from sheetsync.services.session import Session, place_of


@dataclass(frozen=True)
class Ran:
    """One nightly run; `withheld` names dimensions whose alpha two implementations disagree on.

    `claims` is for people alone: JSON holds codes and never models.
    """

    pulled: Pulled
    analysis: Analysis
    published: Published
    claims: ClaimsNews
    withheld: tuple[str, ...] = ()

    @property
    def incomplete(self) -> tuple[Incomplete, ...]:
        """Every workbook that could not be read or written."""
        return (*self.pulled.incomplete, *self.published.incomplete)

    @property
    def exit_code(self) -> int:
        """0 done, 1 a figure was withheld, 3 something is incomplete."""
        if self.withheld:
            return 1
        return 3 if self.incomplete else 0

    def to_dict(self) -> dict[str, object]:
        """Return what `run --json` prints."""
        names = {dimension.id: dimension.name for dimension in self.analysis.rubric.dimensions}
        return {
            "schema": "sheetsync.run/1",
            "pull": self.pulled.to_dict(),
            "agreement": self.analysis.agreement.to_dict(),
            "divergences": divergences_dict(self.analysis.divergences, names),
            "written": list(self.published.written),
            "incomplete": [{"path": each.path, "message": each.message} for each in self.incomplete],
        }


def run(session: Session, now: str, *, blind: bool = False, force: bool = False) -> Ran:
    """Pull, analyze and publish once.

    Before anything is published, the headline alphas are computed a second time by the
    `krippendorff` package; one that differs is withheld and the rest is published.

    Raises:
        NotProvisionedError: there are no workbooks yet.
        ArchiveError: the archive cannot be written.
    """
    pulled = pull(session, now, force=force)
    standing = gather_standing(session)
    analysis = analyze(session, standing=standing)
    withheld = _cross_check(standing, analysis)
    if withheld:
        analysis = replace(analysis, agreement=withhold(analysis.agreement, withheld))
    published = publish(session, analysis, blind=blind, force=force)
    named = names_models(session, blind=blind)
    news = claims_news(session, analysis, now, name_models=named)
    ran = Ran(pulled, analysis, published, news, tuple(withheld))
    session.archive.add_event(now, "run", log_line(ran))
    return ran


def _cross_check(standing: Standing, analysis: Analysis) -> list[str]:
    data = dimension_data(
        analysis.study, standing.units, standing.production_batches, standing.current, standing.problems, ()
    )
    return cross_check_alpha(analysis.agreement, data)


_ALPHA_AND_ITS_PARTS = ("alpha", "observed_disagreement", "expected_disagreement")


def withhold(report: AgreementReport, names: Sequence[str]) -> AgreementReport:
    """Return the report with the alphas of these dimensions taken out, and everything that rests on them.

    Those of slices go too, for the same code made them, and so do the two disagreements, which say alpha
    in other words.
    """

    def without_alpha(dimension: DimensionAgreement) -> DimensionAgreement:
        taken = Coefficient(None, reason="cross_check_failed", interval_reason="cross_check_failed")
        return replace(
            dimension,
            band=None,
            coefficients={**dimension.coefficients, **dict.fromkeys(_ALPHA_AND_ITS_PARTS, taken)},
            slices=tuple(replace(s, agreement=without_alpha(s.agreement)) for s in dimension.slices),
        )

    dimensions = (without_alpha(d) if d.dimension in names else d for d in report.dimensions)
    kept = tuple(each for each in report.explanations if each.dimension not in names)
    return replace(
        report,
        dimensions=tuple(dimensions),
        explanations=kept,
        pooled=None if names else report.pooled,
    )


def log_line(ran: Ran) -> str:
    """Return one line with the counts of a run and its exit code."""
    changes = [workbook.changes for workbook in ran.pulled.workbooks]
    states = [workbook.state for workbook in ran.pulled.workbooks]
    return (
        f"pull={ran.pulled.pull} read={states.count('read')} unchanged={states.count('unchanged')} "
        f"failed={len(states) - states.count('read') - states.count('unchanged')} "
        f"new={sum(c.new for c in changes)} changed={sum(c.changed for c in changes)} "
        f"cleared={sum(c.cleared for c in changes)} problems={len(ran.pulled.problems)} "
        f"divergences={len(ran.analysis.divergences)} claims_changed={len(ran.claims.changes)} "
        f"withheld={len(ran.withheld)} "
        f"incomplete={len(ran.incomplete)} exit={ran.exit_code}"
    )


def failure_line(error: SheetsyncError) -> str:
    """Return the log line of a run that failed altogether."""
    return f"failed exit={error.exit_code}: {error}"


@dataclass(frozen=True)
class Preview:
    """What a run would read and rewrite."""

    changed: tuple[str, ...]
    missing: tuple[str, ...]
    would_write: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """Return what `run --dry-run --json` prints."""
        return {
            "schema": "sheetsync.run-preview/1",
            "changed": list(self.changed),
            "missing": list(self.missing),
            "would_write": list(self.would_write),
        }


def preview(session: Session) -> Preview:
    """Return what a run would read and rewrite; nothing is written or archived.

    Raises:
        NotProvisionedError: there are no workbooks yet.
    """
    roster = set(session.roster())
    records = {place_of(record): record for record in session.workbooks() if record.rater in roster}
    known = session.archive.versions()
    found = session.backend.versions(list(records))
    location = session.backend.location
    return Preview(
        tuple(location(p) for p, r in records.items() if found[p] not in (None, known.get(r.key))),
        tuple(location(p) for p in records if found[p] is None),
        publish_locations(session),
    )
