"""The doctor on workbooks in a folder, on the command line, and against an emulator behind a port."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sheetsync.backends.diagnosis import Finding, Step, examine
from sheetsync.cli.main import cli
from sheetsync.errors import ArchiveError, BackendError
from sheetsync.services.doctor import Diagnosis, doctor
from sheetsync.store.lock import HOLDER_NAME, study_lock
from tests.services.studies import QUICK_STUDY, Desk, quick_study, tree, xlsx_desk
from tests.sheets_emulator import Emulator, Server, SystemClock, faults

GOOGLE_STUDY = (
    QUICK_STUDY.replace("[[raters]]", '[backend]\nkind = "google"\n\n[[raters]]', 1)
    .replace('id = "ann"', 'id = "ann"\nemail = "ann@example.org"')
    .replace('id = "ben"', 'id = "ben"\nemail = "ben@example.org"')
)
XLSX_STEPS = ["study folder", "private folder", "lock", "archive", "sheets folder", "workbooks", "strangers"]


def invoke(folder: Path, *options: str) -> Result:
    return CliRunner().invoke(cli, ["-C", str(folder), "doctor", *options])


def step(result: Diagnosis, name: str) -> Finding:
    (found,) = (each for each in result.findings if each.step == name)
    return found


def states(result: Diagnosis) -> Mapping[str, str]:
    return {each.step: each.state for each in result.findings}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A study that was provisioned."""
    made = xlsx_desk(tmp_path)
    made.provision()
    return made


# --- the steps ---


def test_a_step_whose_need_failed_is_not_tried() -> None:
    tried: list[str] = []

    def fine(name: str) -> Iterator[Finding]:
        yield Finding("ok", name)

    def refuse() -> Iterator[Finding]:
        yield Finding("ok", "so far")
        raise BackendError("It is broken.", "Mend it.")

    steps = (
        Step("a", refuse),
        Step("b", lambda: fine("b"), ["a"]),
        Step("c", lambda: fine("c"), ["b"]),
        Step("d", lambda: fine("d")),
    )
    assert list(examine(steps, tried.append)) == [
        Finding("ok", "so far", "", "a"),
        Finding("failed", "It is broken.", "Mend it.", "a"),
        Finding("skipped", "Not tried, because a comes first.", "", "b"),
        Finding("skipped", "Not tried, because a comes first.", "", "c"),
        Finding("ok", "d", "", "d"),
    ]
    assert tried == ["a", "d"]


# --- workbooks in a folder ---


def test_before_provision_everything_is_in_order_and_nothing_is_left(tmp_path: Path) -> None:
    quick_study(tmp_path)
    before = tree(tmp_path)
    result = doctor(tmp_path)
    assert [each.step for each in result.findings] == XLSX_STEPS
    assert set(states(result).values()) == {"ok"}
    assert tree(tmp_path) == before


def test_a_study_in_order(desk: Desk) -> None:
    before = tree(desk.root)
    result = doctor(desk.root)
    assert list(states(result).items()) == [(name, "ok") for name in XLSX_STEPS]
    assert step(result, "archive").found == "The archive opens: 2 workbooks, not pulled yet."
    assert step(result, "workbooks").found == "Workbooks that are there and can be read: 2."
    assert tree(desk.root) == before
    desk.run()
    assert "last pulled at 2026-07-01" in step(doctor(desk.root), "archive").found


def test_a_private_folder_that_others_may_read(desk: Desk) -> None:
    (desk.root / ".sheetsync").chmod(0o755)
    found = step(doctor(desk.root), "private folder")
    assert (found.state, "mode 0755" in found.found) == ("warning", True)
    assert found.fix == f"Run `chmod 700 {desk.root.resolve() / '.sheetsync'}`."


def test_a_damaged_archive(desk: Desk) -> None:
    (desk.root / ".sheetsync/archive.sqlite").write_bytes(b"not a database" * 100)
    result = doctor(desk.root)
    assert result.failed == ("archive",)
    assert "damaged" in step(result, "archive").found
    assert step(result, "archive").fix


def test_a_command_at_work_is_named_and_not_disturbed(desk: Desk) -> None:
    private = desk.root / ".sheetsync"
    with study_lock(private, "pull", "2026-07-01T02:00:00Z"):
        found = step(doctor(desk.root), "lock")
        assert (found.state, "`pull`" in found.found) == ("warning", True)
        assert found.fix.startswith("Wait until it has finished")
        assert (private / HOLDER_NAME).exists()
    assert step(doctor(desk.root), "lock").state == "ok"


def test_a_command_that_died_is_not_at_work(desk: Desk) -> None:
    (desk.root / ".sheetsync" / HOLDER_NAME).write_text('{"pid": 1, "command": "pull", "since": "then"}')
    assert step(doctor(desk.root), "lock").state == "ok"


def test_a_study_folder_without_locks(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ArchiveError("The file system has no file locks.", "Move the study to a local disk.")

    monkeypatch.setattr("sheetsync.services.doctor.study_lock", refuse)
    result = doctor(desk.root)
    assert result.failed == ("study folder",)
    assert step(result, "lock").state == "skipped"
    assert step(result, "workbooks").state == "ok"


def test_a_study_folder_that_cannot_be_written_to(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    found = step(doctor(desk.root), "study folder")
    assert found.state == "failed"
    assert "(Permission denied)" in found.found
    assert found.fix.startswith("Make the folder writable")


def test_a_sheets_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    quick_study(tmp_path, {"sheets": "a file"})
    result = doctor(tmp_path)
    assert result.failed == ("sheets folder",)
    assert "Nothing can be written to sheets" in step(result, "sheets folder").found


def test_workbooks_that_are_missing_and_unreadable(desk: Desk) -> None:
    (desk.root / "sheets/raters/ann/main.xlsx").unlink()
    (desk.root / "sheets/raters/ben/main.xlsx").write_bytes(b"holiday pictures")
    missing, unreadable = (each for each in doctor(desk.root).findings if each.step == "workbooks")
    assert (missing.state, unreadable.state) == ("failed", "failed")
    assert "1 of 2 workbooks are missing: sheets/raters/ann/main.xlsx" in missing.found
    assert "sheetsync provision" in missing.fix
    assert "sheets/raters/ben/main.xlsx" in unreadable.found
    assert unreadable.fix


def test_strangers(desk: Desk) -> None:
    for number in range(5):
        (desk.root / f"sheets/raters/ann/notes-{number}.docx").write_bytes(b"")
    found = step(doctor(desk.root), "strangers")
    assert found.state == "warning"
    assert "sheets/raters/ann/notes-0.docx" in found.found
    assert found.found.endswith("and 2 more.")
    assert found.fix.startswith("Move them out of sheets/")


# --- the command ---


def test_json(desk: Desk) -> None:
    result = invoke(desk.root, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    printed = json.loads(result.stdout)
    assert list(printed) == ["schema", "steps"]
    assert printed["schema"] == "sheetsync.doctor/1"
    assert [list(each) for each in printed["steps"]] == [["step", "state", "found", "fix"]] * len(XLSX_STEPS)
    assert {each["fix"] for each in printed["steps"]} == {""}


def test_a_failed_step_is_exit_1_with_one_sentence(desk: Desk) -> None:
    (desk.root / "sheets/raters/ann/main.xlsx").unlink()
    (desk.root / ".sheetsync/archive.sqlite").write_bytes(b"not a database" * 100)
    result = invoke(desk.root)
    assert result.exit_code == 1
    assert "archive         FAILED" in result.stdout
    assert "                        -> " in result.stdout
    assert result.stderr.splitlines() == [
        "Error: archive failed. Do what `sheetsync doctor` says beside it, and run it again."
    ]
    printed = invoke(desk.root, "--json")
    assert printed.exit_code == 1
    assert [each["state"] for each in json.loads(printed.stdout)["steps"]].count("failed") == 1


def test_lines_are_wrapped_and_names_cannot_draw(desk: Desk) -> None:
    (desk.root / f"sheets/raters/ann/\x1b[31m{'long' * 40}.docx").write_bytes(b"")
    printed = invoke(desk.root).stdout
    assert "\x1b" not in printed
    assert "\ufffd[31mlonglong" in printed
    assert [line for line in printed.splitlines() if len(line) > 120 and "long" not in line] == []


def test_warnings_are_exit_0(desk: Desk) -> None:
    (desk.root / "sheets/raters/ann/notes.docx").write_bytes(b"")
    result = invoke(desk.root)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "warning" in result.stdout


def test_invalid_study_files_are_exit_2(tmp_path: Path) -> None:
    quick_study(tmp_path, {"study.toml": QUICK_STUDY + '[design]\nlayuot = "single"\n'})
    result = invoke(tmp_path, "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "layuot" in result.stderr


def test_help() -> None:
    said = CliRunner().invoke(cli, ["doctor", "--help"]).output
    assert "throw-away" in said
    assert "--json" in said


# --- Google behind a port ---


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    made = Server(Emulator(SystemClock(), seed=1)).start()
    monkeypatch.setenv("SHEETS_EMULATOR_HOST", made.address)
    monkeypatch.delenv("SHEETSYNC_CREDENTIALS", raising=False)
    yield made
    made.stop()


def test_the_whole_command_against_an_emulator(tmp_path: Path, server: Server) -> None:
    quick_study(tmp_path, {"study.toml": GOOGLE_STUDY})
    result = invoke(tmp_path, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    found = {each["step"]: each["state"] for each in json.loads(result.stdout)["steps"]}
    assert found.pop("network") == "warning"  # it says that this is not Google
    assert found.pop("sharing") == "skipped"
    assert set(found.values()) == {"ok"}
    assert server.emulator.spreadsheets() == []
    assert CliRunner().invoke(cli, ["-C", str(tmp_path), "provision"]).exit_code == 0
    steps = json.loads(invoke(tmp_path, "--json").stdout)["steps"]
    assert [each["found"] for each in steps if each["step"] == "workbooks"] == [
        "Workbooks that are there: 2."
    ]
    server.emulator.disabled_apis.add("sheets")
    result = invoke(tmp_path)
    assert result.exit_code == 1
    assert "library/sheets.googleapis.com" in result.stdout
    assert len(server.emulator.spreadsheets()) == 2


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is sent as a signal")
def test_ctrl_c_takes_the_throwaway_file_away(tmp_path: Path, server: Server) -> None:
    quick_study(tmp_path, {"study.toml": GOOGLE_STUDY})
    server.emulator.faults.add(faults.slow(3.0), "batchUpdate")
    child = subprocess.Popen(
        [sys.executable, "-m", "sheetsync.cli.main", "-C", str(tmp_path), "doctor"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    deadline = time.monotonic() + 30
    while not server.emulator.count(kind="batchUpdate") and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(server.emulator.spreadsheets()) == 1
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=30)
    assert child.returncode == 1
    assert "Traceback" not in said
    assert server.emulator.spreadsheets() == []
