"""`watch`: repeat `run` on the study's schedule until stopped.

`schedule` keeps the job and says when it is pending; when the next slot is, we compute ourselves, because
its own arithmetic is on local wall time and goes wrong around clock changes (dbader/schedule issues 579
and 598). Slots are wall times in an explicit zone, turned into UTC one by one:

- a slot that a clock change skips (02:30 in spring) runs at the first moment after the gap;
- a slot that happens twice (02:30 in autumn) runs once, the first time;
- after a sleep of the machine one run catches up, however many slots were missed; they are logged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import schedule

from sheetsync.domain.study import ScheduleSettings

Clock = Callable[[], datetime]
"""Returns the time now, in UTC."""

Wait = Callable[[float], bool]
"""Waits so many seconds; True means: stop."""

_LONGEST_WAIT = 60.0
"""Seconds; a machine that wakes up is noticed within a minute."""


def slot_on(day: datetime, at: str, zone: ZoneInfo) -> datetime:
    """Return a wall time of a day in UTC.

    >>> berlin = ZoneInfo("Europe/Berlin")
    >>> slot_on(datetime(2026, 3, 29), "02:30", berlin).isoformat()  # the clock jumps from 2 to 3
    '2026-03-29T01:00:00+00:00'
    >>> slot_on(datetime(2026, 10, 25), "02:30", berlin).isoformat()  # happens twice: the first one
    '2026-10-25T00:30:00+00:00'
    """
    wall = datetime.combine(day.date(), time.fromisoformat(at), tzinfo=zone)
    moment = wall.astimezone(UTC)
    if moment.astimezone(zone).replace(tzinfo=None) == wall.replace(tzinfo=None):
        return moment
    return _end_of_gap(wall, zone)


def _end_of_gap(wall: datetime, zone: ZoneInfo) -> datetime:
    """Return the first moment after a gap in wall time, found by halving the hours around it."""
    before = (wall - timedelta(hours=6)).astimezone(UTC)
    after = (wall + timedelta(hours=6)).astimezone(UTC)
    offset = before.astimezone(zone).utcoffset()
    while after - before > timedelta(seconds=1):
        middle = before + (after - before) / 2
        if middle.astimezone(zone).utcoffset() == offset:
            before = middle
        else:
            after = middle
    return after.replace(microsecond=0)


def slots_between(first: datetime, last: datetime, settings: ScheduleSettings) -> list[datetime]:
    """Return the slots after `first` up to and including `last`, in UTC and in order."""
    zone = ZoneInfo(settings.timezone)
    day = first.astimezone(zone) - timedelta(days=1)
    days = (last - first).days + 3
    found = {
        slot_on(day.replace(tzinfo=None) + timedelta(days=number), at, zone)
        for number in range(days + 1)
        for at in settings.at
    }
    return sorted(slot for slot in found if first < slot <= last)


def next_slot(after: datetime, settings: ScheduleSettings) -> datetime:
    """Return the first slot after a moment, in UTC."""
    return slots_between(after, after + timedelta(days=2), settings)[0]


class _SlotJob(schedule.Job):
    """A job whose times are slots in a zone, on a clock that tests can turn."""

    def __init__(self, settings: ScheduleSettings, clock: Clock, scheduler: schedule.Scheduler) -> None:
        super().__init__(1, scheduler)
        self._settings, self._clock = settings, clock
        self.started = self.due = clock()  # `do` asks for the first slot

    @property
    def should_run(self) -> bool:
        return self._clock() >= self.due

    def _schedule_next_run(self) -> None:
        """Take the first slot after the run began: one that passed while it ran is due at once.

        Never the same slot again, even where the clock was set back meanwhile.
        """
        self.next_run = self.due = next_slot(max(self.started, self.due), self._settings)


def watch(
    settings: ScheduleSettings,
    job: Callable[[datetime], str],
    log: Callable[[str], None],
    *,
    clock: Clock,
    wait: Wait,
) -> None:
    """Run the job at every slot until `wait` says stop.

    Args:
        settings: wall times and zone.
        job: what to run; given the time, returns its log line. An exception is logged, never raised.
        log: takes one line per run, one per missed slots, one at start and one at the end.
        clock: the time now, in UTC.
        wait: sleeps; injected so that tests need no time and SIGTERM ends the loop.
    """
    scheduler = schedule.Scheduler()
    slots = _SlotJob(settings, clock, scheduler)

    def run_once() -> None:
        now = slots.started = clock()
        missed = slots_between(slots.due, now, settings)
        if missed:
            log(f"{stamp(now)} missed {len(missed)} slots, last {stamp(missed[-1])}: one run catches up")
        log(f"{stamp(now)} run {_line_of(job, now)}")

    slots.do(run_once)
    log(f"{stamp(clock())} watching: {_words(settings)}; next run {stamp(slots.due)}")
    while not wait(_pause(slots.due, clock())):
        scheduler.run_pending()
    log(f"{stamp(clock())} stopped")


def _line_of(job: Callable[[datetime], str], now: datetime) -> str:
    try:
        return job(now)
    except Exception as error:
        return f"failed exit=1: {type(error).__name__}: {error}"


def _pause(due: datetime, now: datetime) -> float:
    return min(_LONGEST_WAIT, max(0.0, (due - now).total_seconds()))


def _words(settings: ScheduleSettings) -> str:
    times: Sequence[str] = settings.at
    return f"daily at {', '.join(times)} {settings.timezone}"


def stamp(moment: datetime) -> str:
    """Return a moment as it stands in logs and the archive: UTC, ISO 8601, whole seconds.

    >>> stamp(datetime(2026, 11, 30, 2, 0, tzinfo=UTC))
    '2026-11-30T02:00:00Z'
    """
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
