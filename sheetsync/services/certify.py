"""`certify`: the verdict on the judge, written to `reports/certificate.json`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from sheetsync.config import load_study
from sheetsync.domain.certification.certificate import Certificate
from sheetsync.domain.certification.presentation import needed
from sheetsync.domain.current import CurrentRatings
from sheetsync.errors import SheetsyncError
from sheetsync.services.analyze import gather_standing
from sheetsync.services.certificate import study_certificate
from sheetsync.services.publish import REPORTS_FOLDER, write_atomically
from sheetsync.services.session import PRIVATE_FOLDER, reading_session
from sheetsync.store.archive import Archive

CERTIFICATE = "certificate.json"


@dataclass(frozen=True)
class Certified:
    """The certificate, and where it was written, relative to the study folder."""

    certificate: Certificate
    written: str

    @property
    def exit_code(self) -> int:
        """0 where scores of this judge may be published, else 5."""
        return 0 if self.certificate.publication_ready else 5

    def to_dict(self) -> dict[str, object]:
        """Return what `certify --json` prints, which is what was written."""
        return self.certificate.to_dict()


def certify(root: Path) -> Certified:
    """Return the verdict on the newest judged run, and write it down.

    Raises:
        StudyError: the study's files are invalid, or it certifies no judge.
        SheetsyncError: nothing has been judged yet, or the file cannot be written.
    """
    needed(load_study(root))
    if not Archive.exists(root / PRIVATE_FOLDER):
        raise _nothing_judged()
    with reading_session(root) as session:
        people = gather_standing(session).current if session.archive.workbooks() else CurrentRatings()
        certificate = study_certificate(session, people)
    if certificate is None:
        raise _nothing_judged()
    text = json.dumps(certificate.to_dict(), ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    write_atomically(root / REPORTS_FOLDER / CERTIFICATE, text, root / PRIVATE_FOLDER / "tmp")
    return Certified(certificate, f"{REPORTS_FOLDER}/{CERTIFICATE}")


def _nothing_judged() -> SheetsyncError:
    return SheetsyncError(
        "No judge has been tried yet.", "Run `sheetsync certify prepare`, then `sheetsync certify run`."
    )
