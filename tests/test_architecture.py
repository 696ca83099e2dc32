"""Imports point one way, and every library has one home."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "sheetsync"
MODULES = sorted(PACKAGE.rglob("*.py"))

LAYERS = ("errors", "domain", "edges", "services", "cli")
"""From the ground up; `edges` are config, report, backends and store, which do not know each other."""

HOMES = {
    "xlsxwriter": ("backends/xlsx",),
    "openpyxl": ("backends/xlsx",),
    "python_calamine": ("backends/xlsx",),
    "sqlalchemy": ("store/",),
    "sqlite3": ("store/",),
    "filelock": ("store/lock",),
    "google": ("backends/google",),
    "gspread": ("backends/google",),
    "requests": ("backends/google",),
    "tenacity": ("backends/google",),
    "jinja2": ("report",),
    "click": ("cli/",),
    "rich": ("cli/",),
    "schedule": ("services/watch",),
    "krippendorff": ("domain/agreement/coefficients",),
    "scipy": ("domain/",),
    "numpy": ("domain/",),
    "pandas": ("api",),
    "matplotlib": ("api",),
    "pydantic": ("domain/study", "domain/protocols", "domain/written", "config", "services/agreement"),
    "tomllib": ("config", "services/init"),
}


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").as_posix()


def part_of(name: str) -> str:
    """Return the part of the house a module belongs to."""
    first = name.split("/", maxsplit=1)[0]
    for edge in ("config", "report", "api"):
        if first == edge or first.startswith(f"{edge}_"):
            return edge
    return "report" if first == "templates_folder" else first


def layer_of(part: str) -> int:
    if part == "api":
        return LAYERS.index("cli")
    return LAYERS.index("edges" if part in {"config", "report", "backends", "store"} else part)


def imports_of(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.lineno, node.module
            if node.module == "sheetsync":
                yield from ((node.lineno, f"sheetsync.{alias.name}") for alias in node.names)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_point_one_way(path: Path) -> None:
    name = name_of(path)
    if name == "__init__":
        return
    own = part_of(name)
    wrong = []
    for line, imported in imports_of(path):
        if not imported.startswith("sheetsync."):
            continue
        part = part_of(imported.removeprefix("sheetsync.").replace(".", "/"))
        upwards = layer_of(part) > layer_of(own)
        sideways = layer_of(part) == layer_of(own) and part != own
        if upwards or sideways:
            wrong.append(f"{path.name}:{line} imports {imported}")
    assert not wrong


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_every_library_has_one_home(path: Path) -> None:
    name = name_of(path)
    wrong = [
        f"{path.name}:{line} imports {imported}"
        for line, imported in imports_of(path)
        if (home := HOMES.get(imported.split(".")[0])) and not name.startswith(home)
    ]
    assert not wrong


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert not [path for path in MODULES if path.stem in {"utils", "helpers", "manager", "handler", "common"}]
