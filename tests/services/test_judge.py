"""`certify run`: every word kept, nothing asked twice, judges never mixed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from sheetsync.backends.base import Place
from sheetsync.domain.certification.cases import Case
from sheetsync.errors import LockedError, SheetsyncError, StudyError
from sheetsync.services.session import judging_session
from tests.certification_study import CASES, METRICS, judge_script, with_judge
from tests.services.certifying import NOW, Bench, bench
from tests.services.studies import type_into

COMMAND = f'["{Path(sys.executable).as_posix()}", "judge.py"]'


def with_command(folder: Path, before: str = "pass", after: str = "pass", timeout: str = "30") -> Bench:
    """Return a prepared study whose judge does something before or after it answers."""
    at_work = bench(folder, {"study.toml": with_judge(command=COMMAND, timeout=timeout)})
    judge_script(folder, before, after)
    at_work.prepare()
    return at_work


# --- a program ---


def test_a_good_judge_judges_every_case_once_in_the_order_of_the_presentation(tmp_path: Path) -> None:
    at_work = with_command(tmp_path)
    result = at_work.judge()
    assert (result.states, result.now, result.is_complete) == ({"answered": CASES}, CASES, True)
    presentation = at_work.presentation()
    assert at_work.asked() == [case.id for case in presentation.cases]
    for entry in presentation.key:
        verdict = at_work.verdicts()[entry.id]
        assert verdict.verdict == entry.expected_verdict
        assert verdict.scores == ({} if entry.expected_verdict else dict.fromkeys(METRICS, 3))
    output = (tmp_path / ".sheetsync/certification/1/output.txt").read_text()
    assert [json.loads(line)["id"] for line in output.splitlines()] == at_work.asked()


def test_what_is_recorded_of_a_run(tmp_path: Path) -> None:
    at_work = with_command(tmp_path)
    at_work.judge(fresh=True)
    with at_work.session() as session:
        (run,) = session.archive.certification_runs()
        order = session.archive.certification_order(1)
    (judging,) = run.judgings
    assert (run.seed, run.minimum_gap, set(run.hashes)) == (1, 5, {"rubric", "cases", "prompts"})
    assert (judging.source, judging.judge, judging.fresh_session) == ("command", "judge-1", True)
    assert (judging.at, judging.ended, judging.state, judging.verdicts) == (NOW, NOW, "complete", CASES)
    assert json.loads(judging.called)[1] == "judge.py"
    assert order == at_work.asked()


def test_fresh_starts_a_new_process_for_the_second_looks(tmp_path: Path) -> None:
    note = 'open("pids.txt", "a").write(f"{os.getpid()}\\n")'
    at_work = with_command(tmp_path, note)
    at_work.judge(fresh=True)
    pids = (tmp_path / "pids.txt").read_text().split()
    half = at_work.presentation().second_look
    assert half is not None
    assert len(set(pids[:half])) == len(set(pids[half:])) == 1
    assert pids[0] != pids[-1]


def test_a_complete_run_asks_nothing_more(tmp_path: Path) -> None:
    at_work = with_command(tmp_path)
    at_work.judge()
    again = at_work.judge()
    assert (again.now, again.is_complete, len(at_work.asked())) == (0, True, CASES)
    assert again.notes == ("Run 1 is complete already; nothing was asked.",)


def test_refused_and_malformed_cases_are_counted_and_never_asked_again(tmp_path: Path) -> None:
    before = """if count == 3: print("I cannot judge this.", flush=True); continue
    if count == 5: answer["scores" if "scores" in answer else "verdict"] = {"tone": 9}"""
    at_work = with_command(tmp_path, before)
    result = at_work.judge()
    assert result.states == {"answered": CASES - 2, "refused": 1, "malformed": 1}
    assert result.is_complete
    assert len(result.problems) == 2
    assert at_work.judge().now == 0
    refused = next(each for each in at_work.verdicts().values() if each.state == "refused")
    assert (refused.raw, refused.verdict, refused.scores) == ("I cannot judge this.", None, {})


def test_timeouts_are_counted_and_asked_again_in_the_next_command(tmp_path: Path) -> None:
    before = 'if count == 4 and not os.path.exists("slow"): open("slow", "w").close(); time.sleep(60)'
    at_work = with_command(tmp_path, before, timeout="2.5")
    first = at_work.judge()
    assert first.states == {"answered": CASES - 1, "timeout": 1}
    assert not first.is_complete
    second = at_work.judge()
    assert (second.states, second.now) == ({"answered": CASES}, 1)
    assert Counter(at_work.asked()).most_common(1)[0][1] == 2


def test_a_judge_that_is_out_of_order_stops_the_run_which_goes_on_later(tmp_path: Path) -> None:
    at_work = with_command(
        tmp_path, 'if os.path.exists("broken") and count > 2: print("no key", file=sys.stderr); sys.exit(3)'
    )
    (tmp_path / "broken").touch()
    (tmp_path / "judge.py").write_text(
        (tmp_path / "judge.py").read_text().replace("count > 2", 'len(open("asked.txt").readlines()) > 10')
    )
    with pytest.raises(SheetsyncError, match="no answer to 3 cases in a row") as caught:
        at_work.judge()
    assert f"10 of {CASES}" in caught.value.message
    assert "no key" in (tmp_path / ".sheetsync/certification/1/judge.log").read_text()
    with at_work.session() as session:
        (judging,) = session.archive.certification_runs()[0].judgings
    assert (judging.state, judging.verdicts) == ("stopped", 13)
    (tmp_path / "broken").unlink()
    result = at_work.judge()
    assert (result.states, result.now) == ({"answered": CASES}, CASES - 10)


def test_ctrl_c_leaves_a_run_that_goes_on(tmp_path: Path) -> None:
    at_work = with_command(tmp_path)

    def stop(done: int, _every: int) -> None:
        if done == 7:
            raise KeyboardInterrupt

    from sheetsync.services.judge import judge
    from sheetsync.services.judge_command import Way

    with judging_session(tmp_path, NOW) as session, pytest.raises(KeyboardInterrupt):
        judge(session, Way(lambda: NOW, counting=stop))
    result = at_work.judge()
    assert (result.now, result.is_complete) == (CASES - 7, True)
    assert len(at_work.asked()) == CASES


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_kill_9_loses_no_verdict_and_asks_none_twice(tmp_path: Path) -> None:
    at_work = with_command(tmp_path, "time.sleep(0.05)")
    kept = 0
    for wanted in (5, 17):
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.services.certifying", str(tmp_path)], cwd=Path(__file__).parents[2]
        )
        end = time.monotonic() + 60
        while len(at_work.asked()) < wanted and time.monotonic() < end:
            time.sleep(0.01)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        states = Counter(verdict.state for verdict in at_work.verdicts().values())
        assert kept < states["answered"] <= len(at_work.asked())
        assert states["answered"] + states["missing"] == CASES
        kept = states["answered"]
    result = at_work.judge()
    assert (result.now, result.is_complete) == (CASES - kept, True)
    assert set(at_work.asked()) == {case.id for case in at_work.presentation().cases}
    assert len(at_work.asked()) <= CASES + 2  # at most the one that was out when sheetsync died
    with at_work.session() as session:
        judgings = session.archive.certification_runs()[0].judgings
    assert [each.state for each in judgings] == ["", "", "complete"]


def test_a_judge_that_changes_in_the_middle_of_a_run_is_another_judge(tmp_path: Path) -> None:
    at_work = with_command(tmp_path, 'if [case["id"]] == open("asked.txt").read().split()[4:5]: sys.exit(1)')
    assert at_work.judge().states == {"answered": CASES - 1, "missing": 1}
    judge_script(tmp_path)
    with pytest.raises(StudyError, match="the program has changed since"):
        at_work.judge()
    assert at_work.prepare().run == 2
    assert at_work.judge().is_complete


def test_a_run_of_other_files_is_refused(tmp_path: Path) -> None:
    at_work = with_command(tmp_path)
    at_work.change("certification/anchors.csv", "Anchor on Q1.", "Another anchor on Q1.")
    with pytest.raises(StudyError, match="changed since run 1 was prepared"):
        at_work.judge()
    assert at_work.asked() == []


def test_nothing_prepared_no_judge_and_two_judges_at_once(tmp_path: Path) -> None:
    at_work = bench(tmp_path)
    with pytest.raises(SheetsyncError, match="Nothing is prepared"):
        at_work.judge()
    at_work.prepare()
    with pytest.raises(StudyError, match="There is no judge"):
        at_work.judge()
    with judging_session(tmp_path, NOW), pytest.raises(LockedError):
        at_work.judge()


def test_other_commands_go_on_while_a_judge_is_at_work(tmp_path: Path) -> None:
    at_work = bench(tmp_path)
    at_work.prepare()
    with judging_session(tmp_path, NOW) as judging, at_work.session() as session:
        session.archive.add_event(NOW, "pull", "done")
        assert judging.archive.certification_runs()


# --- a file ---


def answers(cases: Iterable[Case], word: Callable[[Case], str] = lambda _: "PASS") -> list[dict[str, object]]:
    return [
        {"id": case.id, "scores": dict.fromkeys(METRICS, 2)}
        if case.task == "score"
        else {"id": case.id, "verdict": word(case)}
        for case in cases
    ]


def with_file(folder: Path, name: str) -> Bench:
    at_work = bench(folder, {"study.toml": with_judge(verdicts=f'"{name}"')})
    at_work.prepare()
    return at_work


def write_lines(folder: Path, name: str, lines: Iterable[object]) -> None:
    (folder / name).write_text(
        "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    )


def test_verdicts_from_a_file_in_any_order(tmp_path: Path) -> None:
    at_work = with_file(tmp_path, "verdicts.jsonl")
    rows = answers(at_work.presentation().cases)
    write_lines(tmp_path, "verdicts.jsonl", ["chatter", *reversed(rows)])
    result = at_work.judge()
    assert (result.states, result.source) == ({"answered": CASES}, "file")
    assert result.notes == ("1 lines name no case of this run and are left out: verdicts.jsonl line 1",)
    assert at_work.judge().now == 0


def test_a_file_that_grows_is_read_again_and_history_stays(tmp_path: Path) -> None:
    at_work = with_file(tmp_path, "verdicts.jsonl")
    rows = answers(at_work.presentation().cases)
    write_lines(tmp_path, "verdicts.jsonl", rows[:10])
    first = at_work.judge()
    assert (first.states, first.is_complete) == ({"answered": 10, "missing": CASES - 10}, False)
    assert first.problems == ()
    write_lines(tmp_path, "verdicts.jsonl", rows)
    assert (at_work.judge().now, at_work.judge().is_complete) == (CASES - 10, True)
    with at_work.session() as session:
        judgings = session.archive.certification_runs()[0].judgings
    assert [(each.state, each.verdicts) for each in judgings] == [
        ("incomplete", 10),
        ("complete", CASES - 10),
    ]


def test_verdicts_from_a_table(tmp_path: Path) -> None:
    at_work = with_file(tmp_path, "verdicts.csv")
    cases = at_work.presentation().cases
    lines = [f"id,{','.join(METRICS)},verdict,reasoning"]
    lines += [f"{case.id},3,2,1,,so" if case.task == "score" else f"{case.id},,,,fail,so" for case in cases]
    scored = [n for n, case in enumerate(cases, 1) if case.task == "score"]
    lines[scored[0]] = lines[scored[0]].replace("3,2,1", "3,2,7")
    lines[scored[1]] = lines[scored[1]].replace("3,2,1", "3,2,")
    lines[scored[2]] = lines[scored[2]].replace("3,2,1,,so", ",,,,")
    write_lines(tmp_path, "verdicts.csv", lines)
    result = at_work.judge()
    assert result.states == {"answered": CASES - 3, "malformed": 2, "missing": 1}
    found = at_work.verdicts()
    assert found[cases[scored[3] - 1].id].scores == dict(zip(METRICS, (3, 2, 1), strict=True))
    assert found[cases[scored[0] - 1].id].why.startswith("scores tone with a value")


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (['{"id": "ZZZZZZ", "verdict": "PASS"}'], "holds no verdict on a case of this run"),
        ([], "holds no verdict"),
    ],
)
def test_a_file_of_another_run_is_refused(tmp_path: Path, lines: list[str], words: str) -> None:
    at_work = with_file(tmp_path, "verdicts.jsonl")
    write_lines(tmp_path, "verdicts.jsonl", lines)
    with pytest.raises(StudyError) as caught:
        at_work.judge()
    assert words in str(caught.value.faults[0])


def test_two_verdicts_on_one_case_are_refused(tmp_path: Path) -> None:
    at_work = with_file(tmp_path, "verdicts.jsonl")
    rows = answers(at_work.presentation().cases)
    write_lines(tmp_path, "verdicts.jsonl", [*rows, rows[0]])
    with pytest.raises(StudyError) as caught:
        at_work.judge()
    (fault,) = caught.value.faults
    assert f"verdicts.jsonl line {CASES + 1}: is a second verdict on {rows[0]['id']}" in str(fault)
    assert Counter(each.state for each in at_work.verdicts().values()) == {"missing": CASES}


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"There is no file verdicts\.jsonl"):
        with_file(tmp_path, "verdicts.jsonl").judge()


# --- a workbook ---


def test_a_human_is_judged_by_the_same_protocol(tmp_path: Path) -> None:
    at_work = bench(tmp_path)
    at_work.prepare("ann")
    cases = at_work.presentation().cases
    names = [name.replace("_", " ").title() for name in METRICS]
    typed: dict[str, dict[str, str | int | float | bool | None]] = {
        case.id: dict.fromkeys(names, 2) if case.task == "score" else {"PASS or FAIL": "FAIL", "Why": "so"}
        for case in cases
    }
    scored = [case.id for case in cases if case.task == "score"]
    typed[scored[0]] = {names[0]: 3}
    typed[scored[1]] = {**dict.fromkeys(names, 2), names[1]: 7}
    typed[scored[2]] = {**dict.fromkeys(names, 2), names[1]: "N/A"}
    del typed[scored[3]]
    with at_work.session() as session:
        type_into(session.backend, Place("raters", "ann", "certification-1"), "Scoring", typed)
    result = at_work.judge(workbook="ann")
    assert (result.source, result.judge) == ("workbook", "ann")
    assert result.states == {"answered": CASES - 4, "malformed": 2, "missing": 2}
    verdicts = at_work.verdicts()
    assert verdicts[scored[4]].scores == dict.fromkeys(METRICS, 2)
    assert verdicts[scored[0]].why == "the row is not complete"
    assert {each.verdict for each in verdicts.values() if not each.scores and each.state == "answered"} == {
        "FAIL"
    }
    with at_work.session() as session:
        type_into(
            session.backend,
            Place("raters", "ann", "certification-1"),
            "Scoring",
            {name: dict.fromkeys(names, 1) for name in scored[:4]},
        )
    assert (at_work.judge(workbook="ann").is_complete, at_work.judge(workbook="ann").now) == (True, 0)


def test_a_workbook_and_a_program_have_runs_of_their_own(tmp_path: Path) -> None:
    at_work = with_command(tmp_path)
    at_work.prepare("ann")
    at_work.judge()
    with pytest.raises(SheetsyncError, match="Nothing is prepared") as caught:
        at_work.judge(workbook="ben")
    assert "--workbook ben" in caught.value.remedy
    assert {each.state for each in at_work.verdicts(1).values()} == {"answered"}
    assert {each.state for each in at_work.verdicts(2).values()} == {"missing"}
