"""`init`: make a new study folder from a template, ready to `provision`."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import get_args

from sheetsync.config import STUDY_FILE
from sheetsync.domain.study import BackendSettings
from sheetsync.errors import SheetsyncError, StudyError
from sheetsync.templates_folder import templates_dir

GITIGNORE = """\
# Never share or commit these: the key from code to model with the archive of ratings, and credentials.
.sheetsync/
credentials.json
token.json
"""


@dataclass(frozen=True)
class InitResult:
    """A new study folder; `files` are relative to it, with forward slashes, sorted."""

    folder: Path
    template: str
    files: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """Return what `init --json` prints."""
        return {
            "schema": "sheetsync.init/1",
            "folder": str(self.folder),
            "template": self.template,
            "files": list(self.files),
        }


def template_names() -> list[str]:
    """Return the templates there are, sorted.

    Raises:
        SheetsyncError: the installation lacks its templates.
    """
    return sorted(path.parent.name for path in templates_dir().glob(f"*/{STUDY_FILE}"))


def init(folder: Path, template: str, backend: str = "xlsx") -> InitResult:
    """Copy a template into a new or empty folder.

    `study.toml` is written last: a folder without it is no study, should the copying be interrupted.

    Args:
        folder: where the study is to live; made where there is none.
        template: one of `template_names()`.
        backend: where the study's workbooks are to live.

    Raises:
        StudyError: there is no such template or backend, or something is in the folder already.
        SheetsyncError: the folder cannot be written, or the installation lacks its templates.
    """
    _require_known("template", template, template_names())
    _require_known("backend", backend, _backends())
    source = templates_dir() / template
    names = sorted(path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file())
    names = [name for name in names if name != STUDY_FILE]
    try:
        _require_empty(folder)
        for name in names:
            _write(folder / name, (source / name).read_bytes())
        _write(folder / ".gitignore", GITIGNORE.encode())
        text = (source / STUDY_FILE).read_text(encoding="utf-8")
        _write(folder / STUDY_FILE, set_backend(text, backend).encode())
    except OSError as error:
        raise SheetsyncError(
            f"{folder} cannot be made into a study: {error.strerror or error}.",
            "Check free space and who may write there, delete what was copied, and run the command again.",
        ) from error
    return InitResult(folder, template, tuple(sorted([*names, ".gitignore", STUDY_FILE])))


def _backends() -> list[str]:
    return list(get_args(BackendSettings.model_fields["kind"].annotation))


def _require_known(what: str, name: str, known: list[str]) -> None:
    if name in known:
        return
    near = get_close_matches(name.casefold(), known, n=1)
    guess = f" Did you mean {near[0]}?" if near else ""
    raise StudyError(f"There is no {what} called {name!r}.{guess}", f"There are: {', '.join(known)}.")


def _require_empty(folder: Path) -> None:
    """Refuse a folder with anything in it, also hidden files: nothing is ever overwritten."""
    if folder.exists() and not folder.is_dir():
        raise StudyError(f"{folder} is a file.", "Name a new folder.")
    held = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
    if held:
        raise StudyError(
            f"{folder} is not empty: it holds {held[0]}.", "Name a new folder, or empty this one."
        )


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def set_backend(text: str, backend: str) -> str:
    r"""Return the text of a `study.toml` with another backend; comments and order stay.

    >>> print(set_backend('[backend]\nkind = "xlsx"  # files\n', "google"), end="")
    [backend]
    kind = "google"  # files
    """
    if tomllib.loads(text).get("backend", {}).get("kind", "xlsx") == backend:
        return text
    kind = re.compile(r'(^\[backend\][^\[]*?^kind\s*=\s*)(["\'])\w*\2', re.MULTILINE)
    changed, count = kind.subn(rf'\g<1>"{backend}"', text, count=1)
    if count:
        return changed
    line = f'kind = "{backend}"\n'
    changed, count = re.subn(r"^\[backend\][^\n]*\n", rf"\g<0>{line}", text, count=1, flags=re.MULTILINE)
    return changed if count else f"{text.rstrip()}\n\n[backend]\n{line}"
