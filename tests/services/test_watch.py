"""`watch`: slots in a zone, clock changes, sleep, failures, and how it stops."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from sheetsync.cli.watching import nightly
from sheetsync.domain.study import ScheduleSettings
from sheetsync.services.watch import next_slot, slots_between, watch
from sheetsync.store.lock import study_lock
from tests.services.studies import QUICK_STUDY, quick_study, xlsx_desk

Job = Callable[[datetime], str]


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def settings(*times: str, zone: str = "UTC") -> ScheduleSettings:
    return ScheduleSettings(at=tuple(times or ("02:00",)), timezone=zone)


class World:
    """A clock that only `wait` moves, and a machine that sleeps when the test says so."""

    def __init__(self, start: str, until: str) -> None:
        self.now, self.until = at(start), at(until)
        self.runs: list[str] = []
        self.log: list[str] = []
        self.sleeps: dict[datetime, timedelta] = {}
        self.waits: list[float] = []

    def watch(self, schedule: ScheduleSettings, job: Job | None = None) -> list[str]:
        """Watch until the end; return when runs began."""

        def record(moment: datetime) -> str:
            self.runs.append(moment.strftime("%m-%d %H:%M"))
            if len(self.runs) > 20:
                self.until = self.now  # something repeats; let the test say so instead of running for ever
            return job(moment) if job else "exit=0"

        watch(schedule, record, self.log.append, clock=lambda: self.now, wait=self.wait)
        return self.runs

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        self.now += timedelta(seconds=max(seconds, 0.001))
        for moment in [m for m in self.sleeps if m <= self.now]:
            self.now += self.sleeps.pop(moment)
        return self.now >= self.until


# --- slots ---


def test_every_slot_of_every_day_runs_once() -> None:
    world = World("2026-06-01T00:00", "2026-06-03T12:00")
    assert world.watch(settings("02:00", "14:30")) == [
        "06-01 02:00", "06-01 14:30", "06-02 02:00", "06-02 14:30", "06-03 02:00",
    ]  # fmt: skip
    assert max(world.waits) <= 60


def test_a_slot_of_this_very_moment_is_past() -> None:
    assert World("2026-06-01T02:00", "2026-06-02T03:00").watch(settings()) == ["06-02 02:00"]


def test_slots_are_wall_times_in_the_zone_of_the_study() -> None:
    world = World("2026-06-01T00:00", "2026-06-02T00:00")
    assert world.watch(settings(zone="America/New_York")) == ["06-01 06:00"]


def test_a_slot_that_spring_skips_runs_at_the_end_of_the_gap() -> None:
    world = World("2026-03-28T00:00", "2026-03-31T00:00")
    assert world.watch(settings("02:30", zone="Europe/Berlin")) == [
        "03-28 01:30",
        "03-29 01:00",
        "03-30 00:30",
    ]


def test_two_slots_in_the_gap_run_once() -> None:
    world = World("2026-03-28T12:00", "2026-03-29T12:00")
    assert world.watch(settings("02:10", "02:30", zone="Europe/Berlin")) == ["03-29 01:00"]


def test_a_slot_that_autumn_repeats_runs_the_first_time_only() -> None:
    world = World("2026-10-24T00:00", "2026-10-27T00:00")
    assert world.watch(settings("02:30", zone="Europe/Berlin")) == [
        "10-24 00:30",
        "10-25 00:30",
        "10-26 01:30",
    ]


def test_a_zone_that_moves_half_an_hour() -> None:
    world = World("2026-10-03T00:00", "2026-10-05T00:00")
    assert world.watch(settings("02:15", zone="Australia/Lord_Howe")) == ["10-03 15:30", "10-04 15:15"]


def test_a_year_of_slots_is_365_runs_an_average_day_apart() -> None:
    found = slots_between(
        at("2026-01-01T00:00"), at("2027-01-01T00:00"), settings("02:30", zone="Europe/Berlin")
    )
    assert len(found) == 365
    gaps = {(later - earlier) for earlier, later in pairwise(found)}
    assert gaps <= {timedelta(hours=h) for h in (22.5, 23, 23.5, 24, 24.5, 25)}
    assert next_slot(found[0], settings("02:30", zone="Europe/Berlin")) == found[1]


# --- when things do not go as planned ---


def test_after_a_sleep_one_run_catches_up_and_the_missed_slots_are_logged() -> None:
    world = World("2026-06-01T00:00", "2026-06-05T01:00")
    world.sleeps[at("2026-06-01T20:00")] = timedelta(days=2, hours=15)
    assert world.watch(settings()) == ["06-01 02:00", "06-04 11:00"]
    missed = [line for line in world.log if "missed" in line]
    assert len(missed) == 1
    assert "missed 2 slots, last 2026-06-04T02:00:00Z" in missed[0]
    assert world.log.index(missed[0]) == world.log.index("2026-06-04T11:00:00Z run exit=0") - 1


def test_a_late_slot_is_no_missed_slot() -> None:
    world = World("2026-06-01T00:00", "2026-06-02T01:00")
    world.sleeps[at("2026-06-01T01:00")] = timedelta(hours=3)
    assert world.watch(settings()) == ["06-01 04:00"]
    assert [line for line in world.log if "missed" in line] == []


def test_a_slot_that_passes_during_a_run_is_not_swallowed() -> None:
    world = World("2026-06-01T01:00", "2026-06-01T12:00")

    def slow(moment: datetime) -> str:
        world.now += timedelta(minutes=90)
        return "exit=0"

    assert world.watch(settings("02:00", "03:00", "09:00"), slow) == [
        "06-01 02:00",
        "06-01 03:30",
        "06-01 09:00",
    ]


def test_a_clock_that_is_set_back_repeats_no_slot() -> None:
    world = World("2026-06-01T01:00", "2026-06-01T12:00")

    def correcting(moment: datetime) -> str:
        world.now -= timedelta(minutes=2)
        return "exit=0"

    assert world.watch(settings(), correcting) == ["06-01 02:00"]


def test_a_run_that_raises_is_logged_and_the_next_one_comes() -> None:
    world = World("2026-06-01T00:00", "2026-06-03T12:00")

    def broken(moment: datetime) -> str:
        if moment.day == 2:
            raise RuntimeError("the disk went away")
        return "exit=0"

    assert len(world.watch(settings(), broken)) == 3
    assert world.log == [
        "2026-06-01T00:00:00Z watching: daily at 02:00 UTC; next run 2026-06-01T02:00:00Z",
        "2026-06-01T02:00:00Z run exit=0",
        "2026-06-02T02:00:00Z run failed exit=1: RuntimeError: the disk went away",
        "2026-06-03T02:00:00Z run exit=0",
        "2026-06-03T12:00:00Z stopped",
    ]


# --- what a night does ---


def test_a_night_is_one_line_with_counts_and_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = xlsx_desk(tmp_path)
    desk.provision()
    desk.fill("ann")
    line = nightly(tmp_path, at("2026-06-01T02:00"))
    assert "\n" not in line
    assert "pull=1 read=2 unchanged=0 failed=0 new=12" in line
    assert line.endswith("exit=0")
    assert (tmp_path / "reports/report.html").exists()
    (tmp_path / "sheets/raters/ben/main.xlsx").write_bytes(b"broken")
    line = nightly(tmp_path, at("2026-06-02T02:00"))
    assert "failed=1" in line
    assert line.endswith("exit=3")
    assert capsys.readouterr().err.startswith("sheets/raters/ben/main.xlsx: ")


def test_a_night_that_cannot_run_says_why(tmp_path: Path) -> None:
    quick_study(tmp_path)
    assert "failed exit=1: This study has no workbooks yet" in nightly(tmp_path, at("2026-06-01T02:00"))
    with study_lock(tmp_path / ".sheetsync", "pull"):
        assert "failed exit=4: " in nightly(tmp_path, at("2026-06-01T02:00"))
    quick_study(tmp_path, {"rubric.toml": "version = 3\nnonsense = true\n"})
    line = nightly(tmp_path, at("2026-06-01T02:00"))
    assert "failed exit=2: " in line
    assert "nonsense" in line
    assert "\n" not in line


# --- the process ---


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGTERM")
@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_process_cleanly(tmp_path: Path, sign: signal.Signals) -> None:
    soon = (datetime.now(UTC) + timedelta(hours=3)).strftime("%H:%M")
    desk = xlsx_desk(tmp_path, {"study.toml": QUICK_STUDY + f'[schedule]\nat = ["{soon}"]\n'})
    desk.provision()
    child = subprocess.Popen(
        [sys.executable, "-m", "sheetsync.cli.main", "-C", str(tmp_path), "watch"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert child.stderr is not None
    first = child.stderr.readline()
    assert "watching: daily at" in first
    time.sleep(0.1)
    child.send_signal(sign)
    out, err = child.communicate(timeout=20)
    assert child.returncode == 0
    assert out == ""
    assert err.endswith(" stopped\n")
    assert json.dumps(err).count("Traceback") == 0


def test_watch_refuses_a_broken_study_at_once(tmp_path: Path) -> None:
    quick_study(
        tmp_path, {"study.toml": QUICK_STUDY + '[schedule]\nat = ["25:00"]\ntimezone = "Mars/Base"\n'}
    )
    done = subprocess.run(
        [sys.executable, "-m", "sheetsync.cli.main", "-C", str(tmp_path), "watch"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2
    assert "25:00" in done.stderr
    assert "Mars/Base" in done.stderr
    assert "Traceback" not in done.stderr
