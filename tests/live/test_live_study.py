"""A whole study in somebody's own Google account: made, shared, typed into, read, published, and gone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sheetsync.backends import open_backend
from sheetsync.backends.base import Place
from sheetsync.backends.google import GoogleBackend
from sheetsync.backends.google_auth import TOKEN_FILE
from sheetsync.config import load_study
from sheetsync.services.session import ADJUDICATION, PRIVATE_FOLDER, SUMMARY
from sheetsync.services.written import written_before
from tests.live.live_google import Live, environment_of
from tests.services.studies import QUICK_STUDY, Desk, quick_study

PLACES = [Place("raters", "ann", "main"), Place("raters", "ben", "main")]


def written(live: Live, folder: Path) -> Path:
    """Write a study whose workbooks lie in the folder of the run."""
    google = f'\n[backend]\nkind = "google"\n\n[backend.google]\nfolder = "{live.folder}"\n'
    settings = QUICK_STUDY.replace('id = "ann"', f'id = "ann"\nemail = "{live.rater}"', 1)
    files = {"study.toml": (settings if live.rater else QUICK_STUDY) + google}
    return quick_study(folder, files)


@pytest.fixture
def desk(tmp_path: Path, live: Live, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    for name, value in environment_of(live.credentials).items():
        monkeypatch.setenv(name, value)
    root = written(live, tmp_path / "study")
    private = root / PRIVATE_FOLDER
    private.mkdir(exist_ok=True)
    token = live.private / TOKEN_FILE
    if token.is_file():
        (private / TOKEN_FILE).write_bytes(token.read_bytes())
    backend = open_backend(load_study(root).settings, root, private)
    assert isinstance(backend, GoogleBackend)
    yield Desk(root, backend)
    backend._places.client.session.close()


def test_a_study_from_provision_to_publish(desk: Desk, live: Live) -> None:
    provisioned = desk.provision()
    assert len(provisioned.made) == 2
    refused = [each.message for each in provisioned.incomplete if "no email" not in each.message]
    assert refused == []
    again = desk.provision()
    assert (len(again.made), again.existing) == (0, 2)

    desk.fill("ann", [(5, 4), (5, 4), (4, 4), ("N/A", 4), (4, 4), (5, 5)])
    desk.fill("ben", [(3, 4), (4, 4), (4, 4), (4, 4), (4, 4), (2, 5)])
    code = desk.codes()["Q1", "Alder"]
    desk.type_into("ben", "main", {code: {"evasion": "x", "Notes": "-5 is cold; 3,5 too"}})
    pulled = desk.pull()
    assert [workbook.state for workbook in pulled.workbooks] == ["read", "read"]
    assert [workbook.changes.new for workbook in pulled.workbooks] == [12, 12]

    ran = desk.run()
    left_out = [each.message for each in ran.incomplete if "no email" not in each.message]
    assert left_out == []
    states = {workbook.state for workbook in ran.pulled.workbooks}
    assert states <= {"unchanged", "read"}, "read again where reading itself moves the version"
    assert {row["ben"] for row in desk.summary("Divergences") if row["Code"] == code} == {3}
    for place in (SUMMARY, ADJUDICATION):
        with desk.session() as session:
            noted = written_before(session, place).content.tabs
        found = {grid.title: grid for grid in desk.backend.read(place).tabs}
        assert [found[grid.title] for grid in noted] == list(noted), "what was written is what stands there"

    desk.decide(code, Verdict=4, Reason="rater slip")
    assert [row["Verdict"] for row in desk.adjudication() if row["Code"] == code] == [4]
    ran = desk.run()
    assert [e.message for e in ran.incomplete if "no email" not in e.message] == []
    with desk.session() as session:
        assert [verdict.verdict for verdict in session.archive.current_verdicts()] == [4]
    assert desk.backend.strangers([*PLACES, SUMMARY, ADJUDICATION]) == []


def test_a_rater_is_let_in_and_nobody_else(desk: Desk, live: Live) -> None:
    if not live.rater:
        pytest.skip("set SHEETSYNC_LIVE_RATER to a second address to share with")
    desk.provision()
    for place, is_in in zip(PLACES, (True, False), strict=True):
        file_id = desk.backend.location(place).split("/")[-2]
        assert (live.rater.casefold() in live.permitted(file_id)) is is_in, place
    assert [each for each in desk.backend.exposures(PLACES) if live.rater in each] == []
