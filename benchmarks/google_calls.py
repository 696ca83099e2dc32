"""Calls to Google, and the minutes its quotas make of them: `python -m benchmarks.google_calls`.

Everything runs against the emulator of `tests/`, with Google's quotas (60 reads and 60 writes a minute and
user) and a clock that only moves when somebody waits. Calls are answered at once, so minutes are what quotas
and retries cost and nothing else. These figures are exact: the same on every machine.

Three annotators score the shipped study of 210 long responses, more of them 210 short ones.

The peer is a plain script with gspread, `benchmarks.google_plain`.
"""

from __future__ import annotations

import argparse
import http.client
import json
import math
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

from benchmarks.google_costs import UNITS, Contents, Costs, Spent, first_score, people, spent, type_scores
from benchmarks.google_plain import measure_plain
from benchmarks.measure import Bar, Ratio, Row, print_bars, print_rows
from sheetsync.config import load_study
from sheetsync.domain.scoring.columns import scoring_columns
from sheetsync.domain.workbook import Reading
from sheetsync.services.analyze import analyze
from sheetsync.services.publish import publish
from sheetsync.services.session import ADJUDICATION, SUMMARY, place_of
from sheetsync.templates_folder import templates_dir
from tests.backends.google_worlds import BOT, World, world
from tests.builders import QUESTIONS_CSV, RESPONSES_CSV, write_study
from tests.services.studies import Desk
from tests.sheets_emulator.process import emulator_process

SIZES = (3, 50, 500)
QUICK_SIZES = (3, 50)

MOST_WITH_LONG_ROWS = 3
"""More annotators get rows of a few words and a rubric of two dimensions: the same calls, and less to compute.

The plain script needs fewer calls for the smaller rubric, so its ratios are the milder ones.
"""

MOST_PUBLISHED = 50
"""Publishing takes the same calls for any number of annotators, but lists every pair of them: 124,750 for 500."""

MOST_CALLS_PER_ANNOTATOR = 3
FILES_PER_LIST = 1_000
MOST_MINUTES_TO_PROVISION = 20.0
MOST_MINUTES_TO_PULL = 9.0
"""For 500 annotators, and so for fewer."""

LEAST_READS_PER_SECOND = 1_000
PLAIN = "plain gspread"

STUDY = """
[study]
id = "women"
title = "Women of the early church"
contact = "coordinator@example.org"
[backend]
kind = "google"
{raters}
[people]
adjudicators = [{{ id = "E1", email = "e1@example.org" }}]
[agreement]
resamples = 0
"""
"""No intervals: they cost time of the machine and no call."""


# --- sheetsync ------------------------------------------------------------------------------------


def measure_sheetsync(folder: Path, annotators: int) -> tuple[Costs, Contents]:
    """Take a study through its tasks, each in a process of its own."""
    place = _study(folder, annotators)
    emulator = place.emulator
    column = first_score(scoring_columns(load_study(folder).rubric))

    def desk() -> Desk:
        return Desk(folder, place.backend)

    provision = spent(emulator, lambda: desk().provision())
    again = spent(emulator, lambda: desk().provision())
    with desk().session() as session, people(emulator):
        books = [session.backend.location(place_of(record)).split("/")[-2] for record in session.workbooks()]
        scoring = session.backend.read(place_of(session.workbooks()[0]))
        for rater, book in zip(session.roster(), books, strict=True):
            type_scores(place.person(f"{rater.lower()}@example.org"), book, column)
    pull_all = spent(emulator, lambda: desk().pull())
    pull_none = spent(emulator, lambda: desk().pull())
    rewrite, published = _publish(desk(), place) if annotators <= MOST_PUBLISHED else (None, ())
    return Costs(provision, again, pull_all, pull_none, rewrite), Contents(scoring, published)


def _publish(desk: Desk, place: World) -> tuple[Spent, tuple[Reading, ...]]:
    """Publish what stands twice: the first time, once in the life of a study, makes the two workbooks."""
    with desk.session() as session:
        analysis = analyze(session)
        nights = [replace(session, backend=place.backend) for _ in range(2)]  # each as a process of its own
        costs = [spent(place.emulator, partial(publish, night, analysis)) for night in nights]
    with people(place.emulator):
        return costs[-1], tuple(place.backend.read(each) for each in (SUMMARY, ADJUDICATION))


def _study(folder: Path, annotators: int) -> World:
    place = world(folder, quota="real")
    if annotators <= MOST_WITH_LONG_ROWS:
        shutil.copytree(templates_dir() / "historical-figures", folder, dirs_exist_ok=True)
    else:
        write_study(folder, _short_rows())
    rater = '[[raters]]\nid = "A{0}"\nemail = "a{0}@example.org"\n'
    raters = "".join(rater.format(number) for number in range(1, annotators + 1))
    (folder / "study.toml").write_text(STUDY.format(raters=raters), encoding="utf-8")
    study = load_study(folder)
    assert len(study.units) == UNITS
    place.study = study.settings
    return place


def _short_rows() -> dict[str, str]:
    """Return a question bank of as many units in few words; with it goes the small rubric of the tests."""
    ids = [f"Q{number:03}" for number in range(1, UNITS // 2 + 1)]
    questions = [f"{each},,general,fact,Who was {{figure}}?,," for each in ids]
    responses = [f"{each},Macrina,{model},1,The eldest." for each in ids for model in ("Alder", "Briar")]
    heads = (QUESTIONS_CSV.splitlines()[0], RESPONSES_CSV.splitlines()[0])
    return {
        "questions.csv": "\n".join((heads[0], *questions)) + "\n",
        "responses.csv": "\n".join((heads[1], *responses)) + "\n",
    }


# --- the emulator itself --------------------------------------------------------------------------


def reads_per_second(seconds: float) -> float:
    """Return how many small reads one connection gets from the emulator in a process of its own."""
    with emulator_process() as address:
        connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=10)
        headers = {"Authorization": f"Bearer {BOT}"}

        def call(method: str, path: str, body: object = None) -> Any:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            return json.loads(connection.getresponse().read())

        book = call(
            "POST",
            "/drive/v3/files",
            {"name": "small", "mimeType": "application/vnd.google-apps.spreadsheet"},
        )
        cell = f"/v4/spreadsheets/{book['id']}/values/A1"
        call("PUT", f"{cell}?valueInputOption=RAW", {"values": [[4]]})
        made, start = 0, perf_counter()
        while perf_counter() < start + seconds:
            assert call("GET", cell)["values"] == [["4"]]
            made += 1
        connection.close()
        return made / (perf_counter() - start)


# --- the table ------------------------------------------------------------------------------------


def run(*, quick: bool = False) -> tuple[list[Row], list[Bar]]:
    """Measure every size, and how fast the emulator is."""
    rows: list[Row] = []
    bars: list[Bar] = []
    for annotators in QUICK_SIZES if quick else SIZES:
        ours, theirs = measure(annotators)
        rows += rows_of(annotators, ours, theirs)
        bars += bars_of(annotators, ours)
    rate = max(reads_per_second(1.0) for _ in range(5))  # whatever else the machine does only slows it down
    bars.append(
        Bar(
            "emulator over HTTP, one connection: small reads a second",
            rate,
            LEAST_READS_PER_SECOND,
            is_least=True,
        )
    )
    return rows, bars


def measure(annotators: int) -> tuple[Costs, Costs]:
    """Return what sheetsync and the plain script spend on so many annotators."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        ours, contents = measure_sheetsync(folder, annotators)
        return ours, measure_plain(folder, annotators, contents)


TASKS = {
    "provision": "provision",
    "pull_none": "pull, nothing changed",
    "pull_all": "pull, all changed",
    "publish": "publish",
}


def rows_of(annotators: int, ours: Costs, theirs: Costs) -> Iterator[Row]:
    """Yield a ratio of calls for every task, and one of minutes where the plain script waits at all."""
    for name, task in TASKS.items():
        own, other = getattr(ours, name), getattr(theirs, name)
        if own is None or other is None:
            continue
        what = f"{annotators} annotators, {task}"
        yield _row(f"{what}: {own.calls:,} calls", f"{PLAIN}: {other.calls:,} calls", own.calls / other.calls)
        if other.minutes:
            peer = f"{PLAIN}: {other.minutes:,.1f} minutes"
            yield _row(f"{what}: {own.minutes:.1f} minutes", peer, own.minutes / other.minutes)


def _row(what: str, peer: str, ratio: float) -> Row:
    return Row(what, peer, Ratio(ratio, ratio, ratio))


def bars_of(annotators: int, ours: Costs) -> list[Bar]:
    """Return the bars of one size; every one of them is exact."""
    tasks = [task for task in vars(ours).values() if task]
    again = ours.again.calls if ours.again else math.inf
    lists = math.ceil((annotators + 2) / FILES_PER_LIST)
    bars = [
        Bar(
            "provision: calls per new annotator", ours.provision.calls / annotators, MOST_CALLS_PER_ANNOTATOR
        ),
        Bar("provision, nothing changed: calls", again, 0),
        Bar("pull, all changed: reads", ours.pull_all.reads, annotators),
        Bar("pull, all changed: calls, the listing among them", ours.pull_all.calls, annotators + lists),
        Bar("pull, nothing changed: calls, all of them listings", ours.pull_none.calls, lists),
        Bar("provision: minutes", ours.provision.minutes, MOST_MINUTES_TO_PROVISION),
        Bar("pull, all changed: minutes", ours.pull_all.minutes, MOST_MINUTES_TO_PULL),
        Bar("calls that the quotas refused", sum(task.refused for task in tasks), 0),
    ]
    return [replace(bar, what=f"{annotators} annotators, {bar.what}") for bar in bars]


def main() -> int:
    """Print the table; 1 where a bar is not met."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.google_calls")
    parser.add_argument("--quick", action="store_true", help="3 and 50 annotators only")
    rows, bars = run(quick=parser.parse_args().quick)
    print_rows(rows)
    print()
    print_bars(bars)
    return 0 if all(bar.is_met for bar in bars) else 1


if __name__ == "__main__":
    sys.exit(main())
