"""What we last wrote into a workbook of ours, also where a crash kept us from noting that it was done.

A workbook is replaced first and noted afterwards. A process that dies in between leaves a workbook that
would look as if somebody else had written it. So what is about to be written is noted before, and counts
as ours once the workbook holds nothing else.
"""

from __future__ import annotations

from dataclasses import replace

from sheetsync.backends.base import Known, Place
from sheetsync.backends.known import foreign_cells
from sheetsync.errors import BackendError
from sheetsync.services.session import Session
from sheetsync.store.records import Published


def _intention(place: Place) -> str:
    return f"{place} (being written)"


def about_to_write(session: Session, place: Place, before: Published, content: Published) -> None:
    """Note what will stand in a workbook, before it is replaced; `before` is what stands there of ours."""
    if before != session.archive.published(str(place)):
        session.archive.record_published(str(place), before)
    session.archive.record_published(_intention(place), replace(content, version=""))


def not_written(session: Session, place: Place) -> None:
    """Forget what was to be written: the workbook was left as it was."""
    session.archive.record_published(_intention(place), Published())


def wrote(session: Session, place: Place, content: Published) -> None:
    """Note what stands in a workbook after it was replaced."""
    session.archive.record_published(str(place), content)
    session.archive.record_published(_intention(place), Published())


def written_before(session: Session, place: Place) -> Published:
    """Return what we last wrote into a workbook; without a version where a crash came in between."""
    intended = session.archive.published(_intention(place))
    if intended.tabs:
        known = Known(intended.tabs, intended.people_columns)
        try:
            if not foreign_cells(session.backend.read(place), known):
                return intended
        except BackendError:
            pass  # nothing can be said about it; whoever replaces it will say why
    return session.archive.published(str(place))
