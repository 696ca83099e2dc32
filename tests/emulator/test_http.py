"""The HTTP front: keep-alive, lost answers, the command line."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.sheets_emulator import Emulator, Server, faults

BOT = {"Authorization": "Bearer bot@example.org"}


@pytest.fixture
def server() -> Iterator[Server]:
    started = Server(Emulator(), hang_seconds=5).start()
    yield started
    started.stop()


def make_book(address: str) -> str:
    body = {"name": "x", "mimeType": "application/vnd.google-apps.spreadsheet"}
    with requests.post(f"{address}/drive/v3/files", json=body, headers=BOT, timeout=10) as answer:
        return str(answer.json()["id"])


def test_one_connection_serves_many_calls(server: Server) -> None:
    book = make_book(server.address)
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=10)
    for number in range(50):
        body = json.dumps({"values": [[number]]})
        connection.request("PUT", f"/v4/spreadsheets/{book}/values/A1?valueInputOption=RAW", body, BOT)
        assert connection.getresponse().read()
    socket_before = connection.sock
    connection.request("GET", f"/v4/spreadsheets/{book}/values/A1", headers=BOT)
    answer = connection.getresponse()
    assert json.loads(answer.read())["values"] == [["49"]]
    assert answer.getheader("Content-Type") == "application/json; charset=UTF-8"
    assert connection.sock is socket_before
    connection.close()


def test_lost_answers_are_lost_over_http_too(server: Server) -> None:
    book = make_book(server.address)
    url = f"{server.address}/v4/spreadsheets/{book}"
    server.emulator.faults.add(faults.dropped())
    with pytest.raises(requests.exceptions.ConnectionError):
        requests.get(url, headers=BOT, timeout=5)
    server.emulator.faults.add(faults.timeout())
    with pytest.raises(requests.exceptions.ReadTimeout):
        requests.get(url, headers=BOT, timeout=0.2)


def test_tools_see_the_log_and_move_the_clock(server: Server) -> None:
    make_book(server.address)
    with requests.get(f"{server.address}/_emulator/calls", timeout=5) as answer:
        assert [call["kind"] for call in answer.json()] == ["drive.files.create"]
    before = server.emulator.clock.now()
    requests.post(f"{server.address}/_emulator/advance", json={"seconds": 60}, timeout=5).close()
    assert server.emulator.clock.now() == before + 60


def test_the_command_prints_its_address_and_keeps_its_state(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "tests.sheets_emulator",
        "--port",
        "0",
        "--state",
        str(tmp_path / "state"),
    ]
    ids = []
    for _ in range(2):
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2], env=os.environ
        ) as run:
            assert run.stdout is not None
            address = run.stdout.readline().strip()
            ids.append(make_book(address))
            with requests.get(f"{address}/drive/v3/files", headers=BOT, timeout=10) as answer:
                listed = {file["id"] for file in answer.json()["files"]}
            run.send_signal(signal.SIGTERM)
            assert run.wait(10) == 0
    assert listed == set(ids)
    assert len(set(ids)) == 2
