"""The contract every backend keeps, in words. `tests/backends/contract.py` is the same in code.

Terminology:

PLACE
    Which workbook of the study: one rater's batch, the summary, or the adjudication workbook.
    Services speak of places only; a backend knows where they are.
VERSION
    An opaque text that changes whenever a workbook's content may have changed. Equal versions
    mean equal content; different versions may still mean equal content.

A backend draws a `WorkbookSpec` and hands back a `Reading`. It decides no layout and knows nothing
of scoring. Every write either happens as a whole or not at all, and is safe to repeat.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sheetsync.domain.workbook import Grid, Reading, WorkbookSpec


@dataclass(frozen=True, order=True)
class Place:
    """One workbook of the study.

    `Place("raters", "A1", "main")`, `Place("summary")` or `Place("adjudication")`.
    """

    audience: str
    rater: str = ""
    batch: str = ""

    def __str__(self) -> str:
        return "/".join(part for part in (self.audience, self.rater, self.batch) if part)


@dataclass(frozen=True)
class Known:
    """What was last written into a workbook, so that what people added since can be told apart.

    Attributes:
        tabs: the tabs as last written.
        people_columns: per tab title the headers whose cells belong to people.
        version: the version of the workbook right after it was written ("" = never written).
    """

    tabs: Sequence[Grid] = ()
    people_columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    version: str = ""


@dataclass(frozen=True)
class Replaced:
    """What became of a rewrite.

    Attributes:
        location: where the result now is, as people would name it (path relative to the study, or address).
        version: the version of the workbook afterwards ("" when it was not replaced).
        obstacle: why the workbook itself was not replaced and the result lies beside it; empty when it was.
    """

    location: str
    version: str = ""
    obstacle: str = ""


class SheetBackend(Protocol):
    """Where workbooks live."""

    announcement: str
    """What people should be told once about where that is; empty where nothing is unusual."""

    def location(self, place: Place) -> str:
        """Return where people find the workbook: a path relative to the study, or an address."""

    def create(self, place: Place, spec: WorkbookSpec) -> str:
        """Make the workbook and return its version; never touch one that exists.

        A workbook already at the place with the same marker is left as it is (an earlier run made
        it) and its version returned.

        Raises:
            BackendError: something else is in the way, or the workbook cannot be written.
        """

    def missing(self, places: Sequence[Place]) -> Sequence[Place]:
        """Return the places whose workbook is known to be gone, without asking anybody far away.

        A backend that keeps workbooks elsewhere learns of it when it is asked for versions.
        """

    def share(self, place: Place) -> str:
        """Let its people in, and return what stood in the way ("" where nothing did); safe to repeat."""

    def exposures(self, places: Sequence[Place]) -> Sequence[str]:
        """Return in sentences who can see a workbook and should not, or should and cannot.

        Raises:
            BackendError: it cannot be told now.
        """

    def versions(self, places: Sequence[Place]) -> Mapping[Place, str | None]:
        """Return the version of each workbook, None for one that is missing."""

    def read(self, place: Place) -> Reading:
        """Return every tab and the marker.

        Raises:
            WorkbookMissingError: there is no such workbook.
            WorkbookUnreadableError: it is no workbook (the message says what it seems to be).
        """

    def replace(
        self, place: Place, spec: WorkbookSpec, known: Known, *, version_read: str | None, force: bool = False
    ) -> Replaced:
        """Rewrite the tabs of `spec`; what people added elsewhere is never lost.

        `version_read` is the version the caller read before building `spec` (None: it was missing).
        Where the workbook cannot be replaced safely, the result is put beside it and
        `Replaced.obstacle` says why. `force` replaces after a backup.
        """

    def type_cells(
        self, place: Place, tab: str, cells: Mapping[tuple[int, int], str | int | float | bool | None]
    ) -> None:
        """Enter values as a person would (0-based row and column): for demonstrations and tests."""

    def strangers(self, places: Sequence[Place]) -> Sequence[str]:
        """Return what lies where workbooks are shared and is none of `places`: locations, sorted.

        Owner and lock files of spreadsheet programs, dot files and `.new` results are not strangers.
        """


class WorkbooksAtHand(ABC):
    """What a backend answers whose workbooks lie where people share them as they like."""

    announcement = ""

    @abstractmethod
    def versions(self, places: Sequence[Place]) -> Mapping[Place, str | None]:
        """See `SheetBackend`."""

    def missing(self, places: Sequence[Place]) -> Sequence[Place]:
        """Return the places where there is nothing."""
        versions = self.versions(places)
        return [place for place in places if versions[place] is None]

    def share(self, place: Place) -> str:  # noqa: ARG002
        """Do nothing."""
        return ""

    def exposures(self, places: Sequence[Place]) -> Sequence[str]:  # noqa: ARG002
        """Know nothing."""
        return ()
