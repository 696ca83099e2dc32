from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sheetsync.cli.main import cli
from tests.certification_study import CASES, FILES, judge_script, with_judge, write

COMMAND = f'["{Path(sys.executable).as_posix()}", "judge.py"]'


def run(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["-C", str(folder), *arguments])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, {"study.toml": with_judge(command=COMMAND)})
    judge_script(tmp_path)
    return tmp_path


def test_prepare_and_run(folder: Path) -> None:
    made = run(folder, "certify", "prepare")
    assert (made.exit_code, made.stderr) == (0, "")
    assert f"Run 1 is prepared: {CASES} cases." in made.stdout
    assert "certification/presentation.jsonl" in made.stdout
    judged = run(folder, "certify", "run", "--fresh")
    assert (judged.exit_code, judged.stderr) == (0, "")
    assert f"All {CASES} cases are judged." in judged.stdout
    again = run(folder, "certify", "run")
    assert (again.exit_code, again.stderr) == (0, "Warning: Run 1 is complete already; nothing was asked.\n")


def test_json(folder: Path) -> None:
    made = json.loads(run(folder, "certify", "prepare", "--json").stdout)
    assert (made["schema"], made["run"], made["cases"]) == ("sheetsync.certify.prepare/1", 1, CASES)
    judged = json.loads(run(folder, "certify", "run", "--json").stdout)
    assert judged == {
        "schema": "sheetsync.certify.run/1", "run": 1, "judge": "judge-1", "source": "command", "cases": CASES,
        "states": {"answered": CASES}, "now": CASES, "problems": [], "notes": [], "complete": True,
    }  # fmt: skip


def test_cases_without_a_word_are_exit_3(folder: Path) -> None:
    judge_script(folder, 'if [case["id"]] == open("asked.txt").read().split()[4:5]: sys.exit(1)')
    run(folder, "certify", "prepare")
    done = run(folder, "certify", "run")
    assert done.exit_code == 3
    assert f"1 of {CASES} cases have no word from the judge" in done.stderr
    assert "missing: " in done.stdout
    assert "the judge ended (exit code 1)" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"), [((), "Nothing is prepared"), (("--workbook", "ann"), "Nothing is prepared")]
)
def test_running_what_is_not_prepared_is_exit_1(folder: Path, arguments: tuple[str, ...], words: str) -> None:
    done = run(folder, "certify", "run", *arguments)
    assert (done.exit_code, words in done.stderr) == (1, True)


def test_a_judge_that_cannot_be_started_is_exit_1(folder: Path) -> None:
    write(folder, {"study.toml": with_judge(command='["no-such-judge"]')})
    run(folder, "certify", "prepare")
    done = run(folder, "certify", "run")
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: The judge cannot be started: no-such-judge is neither")


def test_wrong_files_are_exit_2_with_every_fault(folder: Path) -> None:
    gates = FILES["certification/gates.csv"].replace("Bread,Q1", "Bread,Q3")
    write(folder, {"certification/gates.csv": gates, "study.toml": with_judge(command=COMMAND)})
    done = run(folder, "certify", "prepare")
    assert done.exit_code == 2
    assert done.stderr.count("65 %") == 4


def test_judges_are_forbidden_where_the_study_says_so(folder: Path) -> None:
    write(folder, {"study.toml": FILES["study.toml"].replace('"certify"', '"forbidden"')})
    done = run(folder, "certify", "run")
    assert done.exit_code == 2
    assert "all scoring is human" in done.stderr


def test_the_judge_of_the_readme_works(folder: Path) -> None:
    text = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    (source,) = (each for each in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "sys.stdin" in each)
    (folder / "judge.py").write_text(source, encoding="utf-8")
    (folder / "my_model.py").write_text(MODEL, encoding="utf-8")
    run(folder, "certify", "prepare")
    judged = json.loads(run(folder, "certify", "run", "--json").stdout)
    assert judged["states"] == {"answered": CASES - 1, "refused": 1}


MODEL = """
import json
asked = []
def ask(prompt):
    case = json.loads(prompt[prompt.index('{"id"'):])
    asked.append(case)
    if len(asked) == 7:
        return "I cannot judge this."
    if case["task"] == "score":
        return json.dumps({"scores": {each["id"]: 3 for each in case["metrics"]}, "reasoning": "so"}, indent=1)
    return '{"verdict": "PASS", "reasoning": "so"}'
"""


@pytest.mark.parametrize("arguments", [(), ("prepare",)])
def test_a_study_that_takes_no_judge_sends_nobody_to_certify_one_in_it(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    root = tmp_path / "human"
    made = CliRunner().invoke(cli, ["init", str(root), "--template", "historical-figures"])
    assert made.exit_code == 0
    done = run(root, "certify", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert 'judge_policy in study.toml is "forbidden"' in done.stderr
    assert "Add the section" not in done.stderr


def test_a_run_that_is_not_judged_through_says_so_in_its_certificate(folder: Path) -> None:
    judge_script(folder, 'if [case["id"]] == open("asked.txt").read().split()[4:5]: sys.exit(1)')
    run(folder, "certify", "prepare")
    assert run(folder, "certify", "run").exit_code == 3
    said = " ".join(run(folder, "certify").stdout.split())
    assert f"Not judged through: on 1 of {CASES} cases the judge has not spoken." in said


def test_who_stops_the_judge_is_told_that_nothing_is_lost(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    run(folder, "certify", "prepare")
    monkeypatch.setattr("sheetsync.services.judge.judge", stopped)
    done = run(folder, "certify", "run")
    assert done.exit_code == 1
    assert "What is judged is kept; `sheetsync certify run` goes on from there." in done.stderr
