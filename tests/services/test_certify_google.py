"""A human certified in a workbook on Google Sheets, as emulated: the same cases, the same verdicts."""

from __future__ import annotations

from pathlib import Path

from sheetsync.backends.base import Place
from sheetsync.config import load_study
from sheetsync.services.certify_prepare import prepare
from sheetsync.services.judge import judge
from sheetsync.services.judge_command import Way
from sheetsync.services.session import PRIVATE_FOLDER, Session
from sheetsync.store.archive import Archive
from tests.backends.google_worlds import marks, world
from tests.certification_study import CASES, FILES, METRICS, write
from tests.services.studies import NOW, Typed, type_into

STUDY = FILES["study.toml"].replace('id = "ann"\n', 'id = "ann"\nemail = "ann@example.org"\n')
HEADERS = [metric.replace("_", " ").title() for metric in METRICS]


def test_a_rater_judges_on_google(tmp_path: Path) -> None:
    write(tmp_path, {"study.toml": f'{STUDY}\n[backend]\nkind = "google"\n'})
    place, study = world(tmp_path), load_study(tmp_path)
    place.study = study.settings
    with Session(tmp_path, study, Archive.open(tmp_path / PRIVATE_FOLDER), place.backend) as session:
        made = prepare(session, NOW, workbook="ann")
        assert made.files[0].startswith("https://")
        assert marks(place.emulator) == ["raters/ann/certification-1"]
        typed: dict[str, dict[str, Typed]] = {
            case.id: dict.fromkeys(HEADERS, 1) if case.task == "score" else {"PASS or FAIL": "PASS"}
            for case in session.archive.certification_presentation(1).cases
        }
        type_into(session.backend, Place("raters", "ann", "certification-1"), "Scoring", typed)
        result = judge(session, Way(lambda: NOW), workbook="ann")
        assert result.states == {"answered": CASES}
        assert prepare(session, NOW, workbook="ann").run == 2
