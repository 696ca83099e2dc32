"""Judges that are slow, crash, chatter, refuse, flood or answer late: what comes back, and that nothing stays."""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sheetsync.domain.certification.cases import Case
from sheetsync.errors import SheetsyncError
from sheetsync.services.judge_process import Answer, JudgeProcess, find_program

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="the judges of these tests are POSIX programs"
)

CASES = tuple(
    Case(f"K{n}", "verdict", "Q?", "T.", "", "R.", criterion="PASS: yes. FAIL: no.") for n in range(6)
)

START = """
import json, os, subprocess, sys, time
def verdict(name, word="PASS"):
    print(json.dumps({"id": name, "verdict": word}), flush=True)
for n, line in enumerate(sys.stdin):
    name = json.loads(line)["id"]
"""


class Judging:
    """A judge at work, with what it wrote."""

    def __init__(self, process: JudgeProcess, output: io.BytesIO, log: Path) -> None:
        self.process = process
        self.output = output
        self.log = log

    def ask(self, number: int = 0, timeout: float = 20) -> Answer:
        return self.process.ask(CASES[number], timeout)

    def state(self, number: int = 0, timeout: float = 20) -> str:
        return self.ask(number, timeout).verdict.state


@contextmanager
def judging(folder: Path, body: str, *, grace: float = 0.3) -> Iterator[Judging]:
    script = folder / "judge.py"
    script.write_text(START + "".join(f"    {line}\n" for line in body.splitlines()), encoding="utf-8")
    output, log = io.BytesIO(), folder / "judge.log"
    with log.open("ab") as errors:
        command = [sys.executable, "judge.py"]
        with JudgeProcess(command, folder, output, errors, grace=grace) as process:
            yield Judging(process, output, log)


@contextmanager
def raw_judge(folder: Path, *command: str) -> Iterator[JudgeProcess]:
    log = folder / "judge.log"
    with log.open("ab") as errors, JudgeProcess(command, folder, io.BytesIO(), errors) as process:
        yield process


def test_one_process_judges_case_by_case(tmp_path: Path) -> None:
    with judging(tmp_path, 'verdict(name, "PASS" if n % 2 else "FAIL")') as judge:
        assert [judge.ask(n).verdict.verdict for n in range(4)] == ["FAIL", "PASS", "FAIL", "PASS"]
        assert judge.output.getvalue().count(b"\n") == 4


def test_a_crash_costs_one_case_and_a_new_process_goes_on(tmp_path: Path) -> None:
    with judging(tmp_path, 'sys.exit(7) if name == "K1" else verdict(name)') as judge:
        assert judge.state(0) == "answered"
        gone = judge.ask(1).verdict
        assert (gone.state, "exit code 7" in gone.why) == ("missing", True)
        assert judge.state(2) == "answered"


def test_a_judge_that_judges_one_case_and_ends_is_started_for_each(tmp_path: Path) -> None:
    with judging(tmp_path, "verdict(name); sys.exit(0)") as judge:
        assert [judge.state(n) for n in range(4)] == ["answered"] * 4


def test_the_words_without_a_line_feed_before_the_end_count(tmp_path: Path) -> None:
    with judging(
        tmp_path, 'sys.stdout.write(json.dumps({"id": name, "verdict": "FAIL"})); sys.exit(0)'
    ) as judge:
        assert judge.ask().verdict.verdict == "FAIL"


def test_a_slow_judge_is_killed_with_its_children(tmp_path: Path) -> None:
    body = (
        'child = subprocess.Popen(["sleep", "600"]); open("pid", "w").write(str(child.pid)); time.sleep(600)'
    )
    with judging(tmp_path, body) as judge:
        began = time.monotonic()
        slow = judge.ask(timeout=1.5).verdict
        assert (slow.state, slow.why) == ("timeout", "no verdict within 1.5 seconds")
        assert time.monotonic() - began < 15
        assert_gone(int((tmp_path / "pid").read_text()))


def assert_gone(pid: int) -> None:
    """Assert that a process has ended, or is a corpse that its new parent has not buried."""
    for _ in range(50):
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat")
            if state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z":
                return
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("the judge's child lives on")


def test_children_of_a_judge_that_ended_well_do_not_stay(tmp_path: Path) -> None:
    body = 'child = subprocess.Popen(["sleep", "600"]); open("pid", "w").write(str(child.pid)); verdict(name)'
    with judging(tmp_path, body) as judge:
        assert judge.state() == "answered"
    assert_gone(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ("I cannot judge this.", "refused"),
        ("Score: 3 out of 3", "malformed"),
        ('{"id": "K0", "verdict": "PERHAPS"}', "malformed"),
        ('{"id": "K0", "refused": true}', "refused"),
        ('{"verdict": "PASS"}', "malformed"),
    ],
)
def test_what_is_no_verdict_is_its_own_class_and_the_process_goes_on(
    tmp_path: Path, said: str, state: str
) -> None:
    body = f"print({said!r}, flush=True) if name == 'K0' else verdict(name)"
    with judging(tmp_path, body) as judge:
        first = judge.ask(0).verdict
        assert (first.state, first.verdict) == (state, None)
        assert first.raw == said
        assert judge.state(1) == "answered"
        assert judge.output.getvalue().startswith(said.encode())


def test_chatter_around_a_verdict_does_no_harm(tmp_path: Path) -> None:
    body = 'print("loading ...\\n\\n[INFO] 3 %", flush=True); verdict(name); print("done", flush=True)'
    with judging(tmp_path, body, grace=5) as judge:
        assert [judge.state(n) for n in range(4)] == ["answered"] * 4


def test_a_verdict_that_comes_late_counts_for_its_case(tmp_path: Path) -> None:
    body = """print("thinking ...", flush=True)
if name == "K0":
    time.sleep(2.5)
verdict(name)"""
    with judging(tmp_path, body, grace=1) as judge:
        assert judge.state(0) == "malformed"
        answer = judge.ask(1)
        assert answer.verdict.id == "K1"
        states = [(late.id, late.verdict) for late in answer.late]
        later = judge.ask(2)
        states += [(late.id, late.verdict) for late in later.late]
        assert ("K0", "PASS") in states


def test_a_verdict_under_another_id_is_never_taken_for_this_case(tmp_path: Path) -> None:
    with judging(tmp_path, 'verdict("K5" if name == "K0" else name, "FAIL")') as judge:
        other = judge.ask(0).verdict
        assert (other.id, other.state, other.why) == ("K0", "malformed", "has not the id K0")
        assert judge.state(1) == "answered"


def test_a_line_beyond_all_measure_is_malformed_and_the_next_one_is_read(tmp_path: Path) -> None:
    body = 'print("x" * 12_000_000, flush=True) if name == "K0" else verdict(name)'
    with judging(tmp_path, body, grace=1) as judge:
        flood = judge.ask(0).verdict
        assert (flood.state, len(flood.raw)) == ("malformed", 20_000)
        assert "longer" in flood.why
        assert judge.state(1) == "answered"


def test_a_judge_that_floods_its_output_is_held_up_and_ended(tmp_path: Path) -> None:
    with judging(tmp_path, 'while True: print("x" * 1000, flush=True)') as judge:
        began = time.monotonic()
        assert judge.state() == "malformed"
    assert time.monotonic() - began < 15
    assert len(judge.output.getvalue()) < 50_000_000


def test_bytes_that_are_no_text_do_not_stop_anything(tmp_path: Path) -> None:
    body = 'sys.stdout.buffer.write(b"\\xff\\xfe\\x00\\n"); sys.stdout.flush(); verdict(name)'
    with judging(tmp_path, body, grace=5) as judge:
        assert judge.state() == "answered"
        assert judge.output.getvalue().startswith(b"\xff\xfe\x00\n")


def test_a_judge_that_never_reads_times_out_though_the_case_is_long(tmp_path: Path) -> None:
    (tmp_path / "deaf.py").write_text("import time; time.sleep(600)", encoding="utf-8")
    long = Case("K0", "verdict", "Q?", "T.", "", "R" * 1_000_000)
    with raw_judge(tmp_path, sys.executable, "deaf.py") as process:
        assert process.ask(long, 1).verdict.state == "timeout"


def test_a_python_judge_that_forgets_to_flush_is_heard(tmp_path: Path) -> None:
    with judging(tmp_path, 'print(json.dumps({"id": name, "verdict": "PASS"}))') as judge:
        assert judge.state(timeout=10) == "answered"


def test_its_standard_error_goes_to_the_log(tmp_path: Path) -> None:
    with judging(tmp_path, 'print("a warning", file=sys.stderr); verdict(name)') as judge:
        judge.ask()
    assert judge.log.read_text() == "a warning\n"


def test_it_runs_in_the_study_folder_with_the_environment_and_without_a_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_SETTING", "on")
    script = tmp_path / "judge.sh"
    script.write_text('#!/bin/sh\necho "$PWD $JUDGE_SETTING $1" > seen\nread line\n', encoding="utf-8")
    script.chmod(0o755)
    with raw_judge(tmp_path, "judge.sh", "$HOME;ls") as process:
        assert process.ask(CASES[0], 20).verdict.state == "missing"
    assert (tmp_path / "seen").read_text() == f"{tmp_path.resolve()} on $HOME;ls\n"


@pytest.mark.parametrize(
    ("name", "words"), [("no-such-judge", "neither in the study folder"), ("plain.txt", "may not be run")]
)
def test_a_program_that_cannot_be_run_is_named(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "plain.txt").write_text("text", encoding="utf-8")
    with pytest.raises(SheetsyncError, match=words) as caught:
        find_program([name], tmp_path)
    assert "[judge] command" in caught.value.remedy


def test_a_script_without_a_program_is_no_traceback(tmp_path: Path) -> None:
    script = tmp_path / "judge"
    script.write_text("print(1)", encoding="utf-8")
    script.chmod(0o755)
    with raw_judge(tmp_path, "judge") as process, pytest.raises(SheetsyncError, match="cannot be started"):
        process.ask(CASES[0], 5)
