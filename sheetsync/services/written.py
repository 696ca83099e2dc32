"""What we last wrote into a workbook of ours, also where a crash kept us from noting that it was done.

A workbook is replaced first and noted afterwards. A process that dies in between leaves a workbook that
would look as if somebody else had written it. So what is about to be written is noted before, and counts
as ours once the workbook holds it.

Terminology:

INTENTION
    What was to be written by a run that never noted that it was. It is kept until the workbook shows
    whether it was written, or is replaced: while it cannot be read, or holds something of people's as well,
    a second intention stands beside the first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sheetsync.backends.base import Known, Place
from sheetsync.backends.known import foreign_cells
from sheetsync.domain.workbook import Reading
from sheetsync.errors import BackendError, WorkbookMissingError
from sheetsync.services.session import Session
from sheetsync.store.records import Published


@dataclass(frozen=True)
class Standing:
    """What stands in a workbook of ours.

    Attributes:
        content: what we wrote, as far as can be told; without a version where a crash came in between.
        is_certain: whether nothing else can have been written since.
        doubt: why that cannot be told at all, in a sentence; empty where it can.
    """

    content: Published
    is_certain: bool = True
    doubt: str = ""


def _intention(place: Place, number: int = 1) -> str:
    return f"{place} (being written)" if number == 1 else f"{place} (being written, {number})"


def about_to_write(session: Session, place: Place, before: Standing, content: Published) -> None:
    """Note what will stand in a workbook, before it is replaced; `before` is what stands there of ours."""
    intended = replace(content, version="")
    if not before.is_certain:
        session.archive.record_published(_intention(place, 2), intended)
        return
    if before.content != session.archive.published(str(place)):
        session.archive.record_published(str(place), before.content)
    session.archive.record_published(_intention(place), intended)
    _forget(session, place, 2)


def not_written(session: Session, place: Place, before: Standing) -> None:
    """Forget what was to be written: the workbook was left as it was, and so was all doubt about it."""
    session.archive.record_published(_intention(place, 1 if before.is_certain else 2), Published())


def wrote(session: Session, place: Place, content: Published) -> None:
    """Note what stands in a workbook after it was replaced."""
    session.archive.record_published(str(place), content)
    session.archive.record_published(_intention(place), Published())
    _forget(session, place, 2)


def _forget(session: Session, place: Place, number: int) -> None:
    if session.archive.published(_intention(place, number)).tabs:
        session.archive.record_published(_intention(place, number), Published())


def written_before(session: Session, place: Place, reading: Reading | None = None) -> Standing:
    """Return what we last wrote into a workbook; it is read only where a crash left that open.

    Args:
        session: the study.
        place: the workbook.
        reading: what stands in it, where that was read already.
    """
    noted = session.archive.published(str(place))
    intended = [session.archive.published(_intention(place, number)) for number in (2, 1)]
    candidates = [each for each in (*intended, noted) if each.tabs]
    if not any(each.tabs for each in intended):
        return Standing(noted)
    try:
        reading = reading or session.backend.read(place)
    except WorkbookMissingError:
        return Standing(noted)  # whatever was written is gone
    except BackendError as error:
        doubt = f"An earlier run was interrupted while it wrote this workbook, and what it left cannot be read: {error}"
        return Standing(noted, is_certain=False, doubt=doubt)
    foreign = [len(foreign_cells(reading, Known(each.tabs, each.people_columns))) for each in candidates]
    fewest = min(foreign)  # the newest of equals
    return Standing(candidates[foreign.index(fewest)], is_certain=fewest == 0)
