"""Documents that cannot lie: the command reference is what `--help` prints, and examples are valid."""

from __future__ import annotations

import doctest
import re
import tomllib
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

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
                for inner, each in command.commands.items() if isinstance(command, click.Group) else ():
                    with click.Context(each, info_name=inner, parent=context, terminal_width=100) as within:
                        parts.append(f"### {name} {inner}\n\n```\n{each.get_help(within)}\n```\n")
    return "\n".join(parts)


def test_the_command_reference_is_current(update_golden: bool) -> None:
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    current = f"{before}{BEGIN}{command_reference()}{END}{after}"
    if update_golden:
        README.write_text(current, encoding="utf-8")
    assert README.read_text(encoding="utf-8") == current, "run: pytest tests/test_readme.py --update-golden"


def test_the_thirty_seconds_print_what_they_print(
    update_golden: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = README.read_text(encoding="utf-8")
    before, rest = text.split("<!-- begin thirty seconds -->\n")
    _, after = rest.split("<!-- end thirty seconds -->\n")
    (ratings,) = re.findall(r"```csv\n(.*?)```", text, re.DOTALL)
    (tmp_path / "ratings.csv").write_text(ratings, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    command = "agreement ratings.csv --wide --scale 1,2,3,4,5"
    done = CliRunner().invoke(cli, command.split())
    assert (done.exit_code, done.stderr) == (0, "")
    shown = "\n".join(line.rstrip() for line in done.stdout.splitlines())
    block = f"```\n$ sheetsync {command}\n{shown}\n```\n"
    current = f"{before}<!-- begin thirty seconds -->\n{block}<!-- end thirty seconds -->\n{after}"
    if update_golden:
        README.write_text(current, encoding="utf-8")
    assert README.read_text(encoding="utf-8") == current, "run: pytest tests/test_readme.py --update-golden"


def test_the_python_examples_run() -> None:
    found = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    for source in found:
        test = doctest.DocTestParser().get_doctest(source, {}, "README.md", None, None)
        assert doctest.DocTestRunner().run(test) == (0, len(test.examples))


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
