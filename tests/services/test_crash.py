"""`kill -9` and full disks: no rating lost, none doubled, nothing half-written, and the next run completes."""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sheetsync.backends import xlsx
from sheetsync.backends.base import Place, Replaced
from sheetsync.backends.xlsx import XlsxBackend
from sheetsync.services.session import PRIVATE_FOLDER
from tests.services.killing import Killer, killer
from tests.services.studies import Desk, xlsx_desk

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork, SIGKILL and RLIMIT_FSIZE")

SHARED = ("sheets/summary/summary.xlsx", "sheets/adjudication/adjudication.xlsx")


@pytest.fixture(scope="module")
def kill() -> Iterator[Killer]:
    with killer() as ready:
        yield ready


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that two raters have filled in, published once, with a verdict typed in."""
    desk = xlsx_desk(tmp_path_factory.mktemp("filled"))
    desk.provision()
    desk.fill("ann", [(5, 4), (5, 4), (4, 4), (4, 4), (4, 4), (5, 5)])
    desk.fill("ben", [(1, 4), (2, 4), (4, 4), (4, 4), (4, 4), (2, 5)])
    desk.run()
    desk.decide(desk.codes()["Q1", "Alder"], Verdict=3, Reason="rater slip", Comment="by phone")
    return desk.root


def copy_of(template: Path, folder: Path) -> Desk:
    shutil.copytree(template, folder)
    return Desk(folder, XlsxBackend(folder, folder / PRIVATE_FOLDER))


def values(desk: Desk, rater: str) -> list[list[object]]:
    """Return every revision of every score of Accuracy, in bank order."""
    with desk.session() as session:
        return [
            [revision.value for revision in session.archive.history(rater, code, "score", "accuracy")]
            for code in (unit.code for unit in session.archive.units())
        ]


def assert_whole_files(desk: Desk) -> None:
    for path in desk.root.glob("sheets/**/*.xlsx"):
        with zipfile.ZipFile(path) as package:
            assert package.testzip() is None
    for path in desk.root.glob("reports/*"):
        assert not path.name.startswith("."), "a half-written report lies in a shared folder"
        content = path.read_text(encoding="utf-8").rstrip()
        assert content.endswith(("}", "</html>"))


def test_a_killed_pull_takes_all_or_nothing(tmp_path: Path, template: Path, kill: Killer) -> None:
    desk = copy_of(template, tmp_path / "study")
    expected = values(desk, "ann")
    moment = random.Random(3)
    outcomes = []
    for number in range(12):
        score = 5 - number % 2
        desk.fill("ann", [(score, 4)] * 6)
        outcomes.append(kill(desk.root, "pull", moment.uniform(0.002, 0.05)))
        seen = values(desk, "ann")
        grown = [[*each, score] if each[-1] != score else each for each in expected]
        assert seen in (expected, grown)
        desk.pull()
        assert values(desk, "ann") == grown
        expected = grown
    assert "killed" in outcomes
    assert "failed" not in outcomes


@pytest.mark.parametrize("action", ["publish", pytest.param("run", marks=pytest.mark.slow)])
def test_a_killed_publish_is_completed_by_the_next(
    tmp_path: Path, template: Path, kill: Killer, action: str
) -> None:
    moment = random.Random(5)
    outcomes = []
    for number in range(4):
        desk = copy_of(template, tmp_path / str(number))
        code = desk.codes()["Q1", "Alder"]
        for score in (4, 3, 5):
            desk.fill("ann", [(score, 4), (5, 5)])
            outcomes.append(kill(desk.root, action, moment.uniform(0.005, 0.15)))
            assert_whole_files(desk)
            rows = {row["Code"]: row for row in desk.adjudication()}
            assert (rows[code]["Verdict"], rows[code]["Comment"]) == (3, "by phone")
        assert kill(desk.root, "run", 60) == "done"
        again = desk.run()
        assert (again.incomplete, again.exit_code) == ((), 0)
        assert [w.state for w in again.pulled.workbooks] == ["unchanged", "unchanged"]
        assert list(desk.root.glob("sheets/**/*.new.xlsx")) == []
        assert [history[-1] for history in values(desk, "ann")] == [5, 5, 4, 4, 4, 5]
        assert {row["Code"]: row["ann"] for row in desk.summary("Divergences")}[code] == 5
        with desk.session() as session:
            (verdict,) = session.archive.current_verdicts()
        assert (verdict.code, verdict.verdict, verdict.reason) == (code, 3, "rater slip")
    assert outcomes.count("killed") > 4
    assert "failed" not in outcomes


LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
sys.argv[1:2] = []
from sheetsync.cli.main import main
main()
"""


@pytest.mark.parametrize("kilobytes", [0, 4, 9, 20, 45, 90, 150])
def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path, template: Path, kilobytes: int) -> None:
    desk = copy_of(template, tmp_path / "study")
    desk.fill("ann", [(4, 4)] * 6)
    desk.pull()
    before = {path: (desk.root / path).read_bytes() for path in SHARED}
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(kilobytes * 1024), "-C", str(desk.root), "publish", "--json"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode in (0, 1, 3), done.stderr
    assert "Traceback" not in done.stderr
    if done.returncode:
        assert done.stderr.strip()
        assert done.stderr.strip().endswith(".")
    assert_whole_files(desk)
    changed = [path for path in SHARED if (desk.root / path).read_bytes() != before[path]]
    assert done.returncode != 3 or len(changed) < 2
    assert list((desk.root / PRIVATE_FOLDER / "tmp").glob("*.xlsx")) == []
    assert desk.publish().incomplete == ()
    code = desk.codes()["Q1", "Alder"]
    assert {row["Code"]: row["Verdict"] for row in desk.adjudication()}[code] == 3


@pytest.mark.parametrize("place", ["summary", "adjudication"])
def test_a_workbook_that_does_not_fit_on_the_disk_stops_no_other(
    tmp_path: Path, template: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    desk = copy_of(template, tmp_path / "study")
    desk.fill("ann", [(4, 4)] * 6)
    desk.pull()
    path = f"sheets/{place}/{place}.xlsx"
    before = (desk.root / path).read_bytes()
    with monkeypatch.context() as patch:
        real = XlsxBackend.replace

        def replace(backend: XlsxBackend, where: Place, *rest: Any, **options: Any) -> Replaced:
            if where.audience == place:
                patch.setattr(xlsx, "_write", no_space)
            try:
                return real(backend, where, *rest, **options)
            finally:
                patch.setattr(xlsx, "_write", write)

        def no_space(target: Path, content: bytes) -> None:
            target.write_bytes(content[: len(content) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        write = xlsx._write
        patch.setattr(XlsxBackend, "replace", replace)
        result = desk.publish()
    assert [each.path for each in result.incomplete] == [path]
    assert "No space left" in result.incomplete[0].message
    assert (desk.root / path).read_bytes() == before
    assert len(result.written) == 3
    assert_whole_files(desk)
    assert list((desk.root / PRIVATE_FOLDER / "tmp").glob("*.xlsx")) == []
    assert desk.publish().incomplete == ()
