"""The command line: exit codes, JSON on stdout and nothing else, sentences on stderr, one command at a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sheetsync.cli.main import cli
from tests.builders import RESPONSES_CSV, RUBRIC_TOML
from tests.services.studies import QUICK_STUDY, Desk, quick_study, tree, xlsx_desk

COMMANDS = ("check", "doctor", "provision", "status", "pull", "agreement", "divergences", "publish", "run")
"""Every command on a study that ends by itself."""

ON_WORKBOOKS = ("status", "pull", "agreement", "divergences", "publish", "run")
WRITING = ("provision", "pull", "publish", "run")

SCHEMAS = {
    "check": "sheetsync.check/1",
    "doctor": "sheetsync.doctor/1",
    "provision": "sheetsync.provision/1",
    "status": "sheetsync.status/1",
    "pull": "sheetsync.pull/1",
    "agreement": "sheetsync.agreement/1",
    "divergences": "sheetsync.divergences/1",
    "publish": "sheetsync.publish/1",
    "run": "sheetsync.run/1",
}


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def sheetsync(folder: Path, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "sheetsync.cli.main", "-C", str(folder), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )


def assert_one_sentence(result: Result, code: int) -> str:
    """Check that a command failed as people can understand it, and return what it said."""
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    last = result.stderr.splitlines()[-1]
    assert last.startswith("Error: ")
    assert last.endswith(".")
    return last


@pytest.fixture
def files(tmp_path: Path) -> Desk:
    """A study that was provisioned, filled in, and run once."""
    desk = xlsx_desk(tmp_path)
    desk.provision()
    desk.fill("ann", [(5, 4), (5, 4), (4, 4)])
    desk.fill("ben", [(4, 4), (4, 2), (4, 4)])
    desk.run()
    return desk


# --- exit codes and JSON ---


@pytest.mark.parametrize("command", COMMANDS)
def test_json_is_all_that_stands_on_stdout(files: Desk, command: str) -> None:
    result = invoke("-C", files.root, command, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    printed: dict[str, Any] = json.loads(result.stdout)
    assert next(iter(printed)) == "schema"
    assert printed["schema"] == SCHEMAS[command]
    assert "NaN" not in result.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_people_get_words(files: Desk, command: str) -> None:
    result = invoke("-C", files.root, command)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.strip()
    assert "{" not in result.stdout


@pytest.mark.parametrize("command", ON_WORKBOOKS)
@pytest.mark.parametrize("options", [(), ("--json",)], ids=["words", "json"])
def test_before_provision_commands_fail_with_the_next_step(
    tmp_path: Path, command: str, options: tuple[str, ...]
) -> None:
    quick_study(tmp_path)
    said = assert_one_sentence(invoke("-C", tmp_path, command, *options), 1)
    assert "sheetsync provision" in said


@pytest.mark.parametrize("command", [*COMMANDS[1:], "watch"])
def test_every_command_lists_all_faults_of_a_broken_study(tmp_path: Path, command: str) -> None:
    quick_study(
        tmp_path,
        {
            "study.toml": QUICK_STUDY + '[design]\nlayuot = "single"\n',
            "rubric.toml": RUBRIC_TOML.replace('tag = "evasion"', 'tag = "evation"'),
            "responses.csv": RESPONSES_CSV + "Q9,Macrina,Alder,alder-2026-03-14,To an unknown question.\n",
        },
    )
    result = invoke("-C", tmp_path, command)
    assert_one_sentence(result, 2)
    for word in ("layuot", "evation", "Q9"):
        assert word in result.stderr
    assert not (tmp_path / ".sheetsync").exists()


def test_check_lists_faults_and_warnings(tmp_path: Path) -> None:
    quick_study(tmp_path, {"rubric.toml": RUBRIC_TOML.replace('tag = "evasion"', 'tag = "evation"')})
    result = invoke("-C", tmp_path, "check", "--json")
    assert result.exit_code == 2
    faults = json.loads(result.stdout)["faults"]
    assert {fault["severity"] for fault in faults} == {"error"}
    words = invoke("-C", tmp_path, "check")
    assert words.exit_code == 2
    assert "evation" in words.stdout
    quick_study(tmp_path, {"responses.csv": "\n".join(RESPONSES_CSV.splitlines()[:-1]) + "\n"})
    result = invoke("-C", tmp_path, "check", "--json")
    assert result.exit_code == 0
    assert {fault["severity"] for fault in json.loads(result.stdout)["faults"]} == {"warning"}


@pytest.mark.parametrize("command", [*COMMANDS, "watch"])
def test_a_folder_without_a_study_is_exit_2(tmp_path: Path, command: str) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        result = invoke("-C", folder, command)
        assert result.exit_code == 2, result.output
        assert "study.toml" in result.output or "nowhere" in result.output
        assert "Traceback" not in result.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("pull", "--nonsense"),
        ("pull", "surplus"),
        ("provision", "ABCDEF"),
        ("provision", "--rescore"),
        ("provision", "--rescore", "NOSUCH"),
        ("agreement", "no-such-file.csv"),
        ("agreement", "--level", "ordinary"),
        ("agreement", "--resamples", "-1"),
        ("agreement", "--scale", "1,2"),
        ("agreement", "--level", "nominal"),
        ("agreement", "--by", "model"),
        ("init", "new-study"),
        ("demo", "demo-study", "--backend", "paper"),
    ],
    ids=" ".join,
)
def test_usage_errors_are_exit_2(files: Desk, arguments: tuple[str, ...]) -> None:
    result = invoke("-C", files.root, *arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert "Error: " in result.stderr
    assert "Traceback" not in result.stderr


def test_codes_follow_the_option(files: Desk) -> None:
    first, second = files.codes()["Q1", "Alder"], files.codes()["Q2", "Alder"]
    result = invoke("-C", files.root, "provision", "--json", "--rescore", first, second)
    assert result.exit_code == 0
    made = json.loads(result.stdout)["made"]
    assert [(m["rater"], m["batch"], m["units"]) for m in made] == [
        ("ann", "rescore-1", 2),
        ("ben", "rescore-1", 2),
    ]


def test_an_incomplete_pull_is_exit_3_and_still_json(files: Desk) -> None:
    (files.root / "sheets/raters/ann/main.xlsx").unlink()
    result = invoke("-C", files.root, "pull", "--json")
    assert result.exit_code == 3
    assert json.loads(result.stdout)["workbooks"][0]["state"] == "missing"
    (line,) = result.stderr.splitlines()
    assert line.startswith("sheets/raters/ann/main.xlsx: ")


def test_problems_in_cells_are_exit_0(files: Desk) -> None:
    files.type_into("ann", "main", {files.codes()["Q1", "Alder"]: {"Accuracy": "[bold]seven[/bold]"}})
    result = invoke("-C", files.root, "pull")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "[bold]seven[/bold]" in " ".join(result.stdout.split())


def test_an_error_nobody_foresaw_is_a_sentence_too(files: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(*_: object, **__: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("sheetsync.services.pull.pull", explode)
    said = assert_one_sentence(invoke("-C", files.root, "pull", "--json"), 1)
    assert "ZeroDivisionError" in said
    monkeypatch.setenv("SHEETSYNC_DEBUG", "1")
    assert isinstance(invoke("-C", files.root, "pull").exception, ZeroDivisionError)


def test_a_damaged_archive_is_a_sentence(files: Desk) -> None:
    (files.root / ".sheetsync/archive.sqlite").write_bytes(b"not a database" * 100)
    for command in ON_WORKBOOKS:
        assert "damaged" in assert_one_sentence(invoke("-C", files.root, command, "--json"), 1)


def test_somebody_elses_file_in_the_way_is_a_sentence(tmp_path: Path) -> None:
    quick_study(tmp_path)
    path = tmp_path / "sheets/raters/ann/main.xlsx"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"holiday pictures")
    done = invoke("-C", tmp_path, "provision", "--json")
    assert done.exit_code == 3
    assert done.stderr.startswith("sheets/raters/ann/main.xlsx: ")
    assert [made["rater"] for made in json.loads(done.stdout)["made"]] == ["ben"]
    assert path.read_bytes() == b"holiday pictures"
    path.unlink()
    assert invoke("-C", tmp_path, "provision").exit_code == 0


# --- the folder ---


def test_the_current_folder_is_the_default(files: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files.root)
    assert invoke("status", "--json").stdout == invoke("-C", files.root, "status", "--json").stdout


def test_paths_do_not_depend_on_where_the_command_runs(files: Desk) -> None:
    files.type_into("ann", "main", {files.codes()["Q1", "Briar"]: {"Accuracy": 3}})
    done = sheetsync(Path(files.root.name), "run", "--json", cwd=files.root.parent)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["pull"]["workbooks"][0]["ratings"]["changed"] == 1


# --- dry runs ---


def content(folder: Path) -> dict[str, object]:
    """Return every file but the lock, whose time says when it was last held."""
    return {name: found for name, found in tree(folder).items() if not name.endswith("/lock")}


def test_a_dry_run_before_the_first_provision_writes_nothing(tmp_path: Path) -> None:
    quick_study(tmp_path)
    before = tree(tmp_path)
    result = invoke("-C", tmp_path, "provision", "--dry-run", "--json")
    assert result.exit_code == 0
    printed = json.loads(result.stdout)
    assert (printed["dry_run"], len(printed["made"])) == (True, 2)
    assert tree(tmp_path) == before
    assert invoke("-C", tmp_path, "publish", "--dry-run").exit_code == 1
    assert invoke("-C", tmp_path, "run", "--dry-run").exit_code == 1
    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    "arguments",
    [("provision",), ("provision", "--rescore", "changed"), ("publish",), ("publish", "--force"), ("run",)],
    ids=" ".join,
)
def test_a_dry_run_writes_nothing(files: Desk, arguments: tuple[str, ...]) -> None:
    quick_study(files.root, {"responses.csv": RESPONSES_CSV.replace("She was not.", "Never.") + (
        "Q1,Macrina,Cedar,cedar-2026-05-01,She led.\n"
    )})  # fmt: skip
    (files.root / "sheets/raters/ben/main.xlsx").unlink()
    files.type_into("ann", "main", {files.codes()["Q1", "Briar"]: {"Accuracy": 3}})
    before = content(files.root)
    result = invoke("-C", files.root, *arguments, "--dry-run", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout)
    assert content(files.root) == before


# --- one command at a time ---


@contextmanager
def held_lock(folder: Path) -> Iterator[None]:
    """Hold the study's lock in another process."""
    script = (
        "import sys; from pathlib import Path; from sheetsync.store.lock import study_lock\n"
        "with study_lock(Path(sys.argv[1]), 'pull', '2026-07-01T02:00:00Z'):\n"
        "    print('held', flush=True); sys.stdin.read()\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(folder / ".sheetsync")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "held\n"
        yield
    finally:
        child.kill()
        child.communicate()


def test_a_second_command_is_exit_4_until_the_first_has_died(files: Desk) -> None:
    before = content(files.root)
    with held_lock(files.root):
        for command in WRITING:
            said = assert_one_sentence(invoke("-C", files.root, command, "--json"), 4)
            assert "pull" in said
        assert {k: v for k, v in content(files.root).items() if k in before} == before
        for command in ("check", "status", "agreement", "divergences"):
            assert invoke("-C", files.root, command, "--json").exit_code == 0
    for command in WRITING:
        assert invoke("-C", files.root, command, "--json").exit_code == 0


# --- ratings files ---


def ratings(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_ratings_file_needs_no_study(tmp_path: Path) -> None:
    path = ratings(tmp_path, "unit,rater,value", "u1,A,1", "u1,B,2", "u2,A,3", "u2,B,3", "u3,A,n/a", "u3,B,1")
    result = invoke("agreement", path, "--json", "--resamples", 0)
    assert (result.exit_code, result.stderr) == (0, "")
    (found,) = json.loads(result.stdout)["dimensions"]
    assert (found["dimension"], found["scale"], found["n_units"]) == ("value", [1, 2, 3], 3)
    assert (found["n_ratings"], found["n_not_applicable"], found["n_missing"]) == (5, 1, 0)
    assert found["coefficients"]["exact"]["value"] == 0.5
    assert found["coefficients"]["exact"]["interval_reason"] == "not_requested"


def test_a_value_off_the_scale_is_named_and_counted(tmp_path: Path) -> None:
    path = ratings(tmp_path, "unit,rater,value", "u1,A,1", "u1,B,7", "u2,A,2", "u2,B,2")
    result = invoke("agreement", path, "--json", "--scale", "1,2,3", "--resamples", 0)
    assert result.exit_code == 0
    assert "line 3" in result.stderr
    (found,) = json.loads(result.stdout)["dimensions"]
    assert (found["n_invalid"], found["n_ratings"]) == (1, 3)


@pytest.mark.parametrize(
    ("lines", "options", "says"),
    [
        (["unit,rater", "u1,A"], [], "value"),
        (["unit,rater,value", "u1,A,1", "u1,A,2"], [], "lines 2 and 3"),
        (["unit,rater,value", "u1,A,low", "u1,B,high"], [], "scale"),
        (["unit,rater,value", "u1,A,low"], ["--level", "interval", "--scale", "low,high"], "interval"),
        (["unit,rater,value", "u1,A,1"], ["--by", "colour"], "colour"),
        ([""], [], ""),
    ],
    ids=["no value", "twice", "words", "words for interval", "no slice", "empty"],
)
def test_a_malformed_ratings_file_is_exit_2(
    tmp_path: Path, lines: list[str], options: list[str], says: str
) -> None:
    path = ratings(tmp_path, *lines)
    result = invoke("agreement", path, "--json", *options)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert says in result.stderr
    assert "Traceback" not in result.stderr


def test_a_file_that_is_no_text_is_exit_2(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_bytes(b"PK\x03\x04\x00\xff\xfe")
    assert invoke("agreement", path).exit_code == 2


def test_k_and_n_a_spellings_are_options(tmp_path: Path) -> None:
    path = ratings(tmp_path, "unit,rater,value", "u1,A,1", "u1,B,3", "u2,A,skipped: no text", "u2,B,3")
    arguments = ("agreement", path, "--json", "--resamples", 0, "--within", 2, "--na", "skipped*")
    (found,) = json.loads(invoke(*arguments).stdout)["dimensions"]
    within = found["coefficients"]["within"]
    assert (within["value"], within["k"], found["n_not_applicable"]) == (1.0, 2, 1)


# --- a new study, all the way ---


@pytest.mark.parametrize("closed", ["stdout"])
def test_a_closed_pipe_is_no_traceback(files: Desk, closed: str) -> None:
    command = f"{sys.executable} -m sheetsync.cli.main -C {files.root} status --json | true"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False, timeout=60)
    assert "Traceback" not in done.stderr
