"""The live tests: skipped unless somebody names a sign-in and a folder, and always tidied up.

What was believed of Google and what was seen stands at the end of the run, point by point.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.live_google import (
    CREDENTIALS_VARIABLE,
    FOLDER_VARIABLE,
    RATER_VARIABLE,
    Live,
    Points,
    is_json,
)

_SEEN = pytest.StashKey[list[str]]()
_NEEDED = (
    f"runs against a Google account only when asked: set {CREDENTIALS_VARIABLE} (a file) and {FOLDER_VARIABLE} "
    "(a throw-away folder), see CONTRIBUTING.md"
)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_SEEN] = []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    lines = config.stash[_SEEN]
    if lines:
        terminalreporter.section("believed and seen")
        for line in lines:
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[Live]:
    """A folder of this run's own; it is taken away at the end, also after failures."""
    credentials, folder = os.environ.get(CREDENTIALS_VARIABLE, ""), os.environ.get(FOLDER_VARIABLE, "")
    if not credentials or not folder:
        pytest.skip(_NEEDED)
    path = Path(credentials).expanduser().resolve()
    if not is_json(path):
        pytest.fail(f"{CREDENTIALS_VARIABLE} names no JSON file")
    rater = os.environ.get(RATER_VARIABLE, "")
    made = Live(path, folder, rater, tmp_path_factory.mktemp("live") / ".sheetsync")
    try:
        made.begin()
        yield made
    finally:
        pytestconfig.stash[_SEEN].append(f"tidied up: {made.end()}")
        made.client.session.close()


@pytest.fixture
def points(request: pytest.FixtureRequest, live: Live) -> Points:
    return Points(request.node.name, request.config.stash[_SEEN], live.is_emulated)
