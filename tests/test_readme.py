"""Documents that cannot lie: the command reference is what `--help` prints, and examples are valid."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import click
import pytest

from sheetsync.cli.main import cli
from sheetsync.domain.study import Rubric, StudyFile

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
BEGIN, END = "<!-- begin commands -->\n", "<!-- end commands -->"


def command_reference() -> str:
    """Return the help of every command as it stands in the README."""
    settings = {**cli.context_settings, "terminal_width": 100}
    with click.Context(cli, info_name="sheetsync", **settings) as root:
        parts = [f"```\n$ sheetsync --help\n{cli.get_help(root)}\n```\n"]
        for name in cli.list_commands(root):
            command = cli.commands[name]
            with click.Context(command, info_name=name, parent=root, terminal_width=100) as context:
                parts.append(f"### {name}\n\n```\n{command.get_help(context)}\n```\n")
    return "\n".join(parts)


def test_the_command_reference_is_current(update_golden: bool) -> None:
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    current = f"{before}{BEGIN}{command_reference()}{END}{after}"
    if update_golden:
        README.write_text(current, encoding="utf-8")
    assert README.read_text(encoding="utf-8") == current, "run: pytest tests/test_readme.py --update-golden"


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_every_command_has_help(name: str) -> None:
    assert cli.commands[name].help


def test_the_examples_are_valid() -> None:
    found = re.findall(r"```toml\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    study, rubric, google = map(tomllib.loads, found)
    StudyFile.model_validate(study)
    Rubric.model_validate(rubric)
    StudyFile.model_validate(study | google)


def test_every_file_that_the_readme_shows_is_there() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README.read_text(encoding="utf-8"))
    assert links
    assert not [link for link in links if not (ROOT / link).exists()]
