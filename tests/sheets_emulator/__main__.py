"""Run the emulator over HTTP: `python -m tests.sheets_emulator --port 8765`."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from tests.sheets_emulator.clock import SystemClock, VirtualClock
from tests.sheets_emulator.emulator import Emulator
from tests.sheets_emulator.http_front import Server


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.sheets_emulator", description=__doc__)
    parser.add_argument("--port", type=int, default=8765, help="0 takes a free one")
    parser.add_argument(
        "--quota", choices=["real"], help="refuse what Google's per-minute quotas would refuse"
    )
    parser.add_argument("--state", type=Path, metavar="FILE", help="keep the files from run to run")
    parser.add_argument("--clock", choices=["system", "virtual"], default="system")
    parser.add_argument("--seed", type=int, default=0, help="ids are made from it")
    parser.add_argument("--service-accounts-have-storage", action="store_true", help="behave as before 2025")
    given = parser.parse_args()
    clock = SystemClock() if given.clock == "system" else VirtualClock()
    storage = given.service_accounts_have_storage
    emulator = Emulator(clock, given.seed, given.quota, service_accounts_have_storage=storage)
    server = Server(emulator, given.port, state=given.state)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    sys.stdout.write(server.address + "\n")
    sys.stdout.flush()
    try:
        server.serve_forever(poll_interval=0.05)
    except (KeyboardInterrupt, SystemExit):
        pass
    finally:
        server.save()
        server.server_close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
