"""A fresh world for each test: an emulator, a bot, and a spreadsheet of the bot's."""

from __future__ import annotations

import pytest

from tests.sheets_emulator import Emulator, Person, VirtualClock

START = 1_767_600_000.0  # 2026-01-05T08:00:00Z


@pytest.fixture
def emulator() -> Emulator:
    made = Emulator(VirtualClock(START), seed=1)
    made.check_answers = True
    return made


@pytest.fixture
def bot(emulator: Emulator) -> Person:
    return emulator.person("bot@example.org")


@pytest.fixture
def ann(emulator: Emulator) -> Person:
    return emulator.person("ann@example.org")


@pytest.fixture
def book(bot: Person) -> str:
    return bot.new_spreadsheet("Study")
