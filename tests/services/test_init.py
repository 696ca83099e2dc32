"""`init`: a new folder from a template, never over anything that is there."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from sheetsync.config import check_study, load_study
from sheetsync.errors import SheetsyncError, StudyError
from sheetsync.services.init import init, set_backend, template_names
from sheetsync.templates_folder import templates_dir

TEMPLATE = "historical-figures"


def test_a_new_study_is_ready_to_provision(tmp_path: Path) -> None:
    result = init(tmp_path / "a" / "study", TEMPLATE)
    study, faults = check_study(result.folder)
    assert study is not None
    assert [fault for fault in faults if fault.severity == "error"] == []
    assert len(study.units) == 210


def test_the_files_are_those_of_the_template_and_a_gitignore(tmp_path: Path) -> None:
    result = init(tmp_path / "study", TEMPLATE)
    there = {
        path.relative_to(result.folder).as_posix() for path in result.folder.rglob("*") if path.is_file()
    }
    assert there == set(result.files)
    assert {".gitignore", "study.toml", "rubric.toml", "questions.csv", "responses.csv"} <= there
    source = templates_dir() / TEMPLATE
    for name in there - {".gitignore"}:
        assert (result.folder / name).read_bytes() == (source / name).read_bytes(), name


def test_key_and_credentials_are_kept_out_of_git(tmp_path: Path) -> None:
    folder = init(tmp_path / "study", TEMPLATE).folder
    lines = (folder / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {".sheetsync/", "credentials.json", "token.json"} <= set(lines)


def test_an_empty_folder_will_do(tmp_path: Path) -> None:
    assert init(tmp_path, TEMPLATE).files


@pytest.mark.parametrize("name", ["notes.txt", ".hidden", "study.toml"])
def test_a_folder_with_anything_in_it_is_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine", encoding="utf-8")
    with pytest.raises(StudyError, match="not empty"):
        init(tmp_path, TEMPLATE)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text(encoding="utf-8") == "mine"


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "study").write_text("mine", encoding="utf-8")
    with pytest.raises(StudyError, match="is a file"):
        init(tmp_path / "study", TEMPLATE)


def test_an_unknown_template_names_the_nearest_and_all(tmp_path: Path) -> None:
    with pytest.raises(StudyError) as caught:
        init(tmp_path / "study", "historic-figures")
    assert "Did you mean historical-figures?" in str(caught.value)
    assert all(name in caught.value.remedy for name in template_names())
    assert caught.value.exit_code == 2
    assert not (tmp_path / "study").exists()


def test_an_unknown_backend_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="Did you mean xlsx"):
        init(tmp_path / "study", TEMPLATE, "xlxs")


def test_the_backend_goes_into_the_settings(tmp_path: Path) -> None:
    folder = init(tmp_path / "study", TEMPLATE, "google").folder
    text = (folder / "study.toml").read_text(encoding="utf-8")
    assert 'kind = "google"' in text
    assert text.count("\n") == (templates_dir() / TEMPLATE / "study.toml").read_text("utf-8").count("\n")


def test_without_room_or_permission_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, content: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", refuse)
    with pytest.raises(SheetsyncError, match="No space left") as caught:
        init(tmp_path / "study", TEMPLATE)
    assert caught.value.exit_code == 1


def test_files_can_be_changed_although_those_of_the_template_cannot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "templates"
    init(source / "mine", TEMPLATE)
    for path in (source / "mine").rglob("*"):
        path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    monkeypatch.setattr("sheetsync.services.init.templates_dir", lambda: source)
    folder = init(tmp_path / "study", "mine").folder
    assert all(path.stat().st_mode & stat.S_IWUSR for path in folder.rglob("*"))
    assert load_study(folder).id == TEMPLATE
    for path in (source / "mine").rglob("*"):
        path.chmod(path.stat().st_mode | stat.S_IWUSR)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('[backend]\nkind = "xlsx"\n', '[backend]\nkind = "google"\n'),
        ("[backend]\n# where\nkind='xlsx' # files\n", "[backend]\n# where\nkind=\"google\" # files\n"),
        ('[backend]\n[backend.google]\nfolder = "f"\n', '[backend]\nkind = "google"\n[backend.google]\nfolder = "f"\n'),
        ('[study]\nid = "s"\n', '[study]\nid = "s"\n\n[backend]\nkind = "google"\n'),
        ('[backend]\nkind = "google"\n', '[backend]\nkind = "google"\n'),
    ],
)  # fmt: skip
def test_setting_the_backend_changes_one_line(before: str, after: str) -> None:
    assert set_backend(before, "google") == after
