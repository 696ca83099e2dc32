"""An emulator of Google Sheets v4 and Drive v3: test code, never shipped.

What it answers is held to the recordings of the real API (tests/emulator/test_replay.py) and to the
discovery documents; what neither knows is a choice, named in the module that makes it.
"""

from tests.sheets_emulator import faults
from tests.sheets_emulator.adapter import HOSTS, EmulatorAdapter
from tests.sheets_emulator.clock import SystemClock, VirtualClock
from tests.sheets_emulator.emulator import Emulator, Logged
from tests.sheets_emulator.http_front import Server
from tests.sheets_emulator.oauth import make_service_account_key
from tests.sheets_emulator.person import Person, Refused

__all__ = [
    "HOSTS",
    "Emulator",
    "EmulatorAdapter",
    "Logged",
    "Person",
    "Refused",
    "Server",
    "SystemClock",
    "VirtualClock",
    "faults",
    "make_service_account_key",
]
