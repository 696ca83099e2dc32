"""Fixtures and options that every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

TEST_DATA_VARIABLE = "SHEETSYNC_TEST_DATA"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite golden files and generated parts of documents instead of comparing them",
    )


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder of real rating data; tests that need it are skipped elsewhere."""
    folder = os.environ.get(TEST_DATA_VARIABLE)
    if not folder or not Path(folder, "data").is_dir():
        pytest.skip(f"needs real rating data: set {TEST_DATA_VARIABLE}")
    return Path(folder)
