"""Where the templates lie: beside the package in a checkout, inside it once installed from a wheel."""

from __future__ import annotations

from pathlib import Path

from sheetsync.errors import SheetsyncError


def templates_dir(package: Path | None = None) -> Path:
    """Return the folder that holds the study templates and the report's template.

    Args:
        package: the folder of the package; the one that is running where None.

    Raises:
        SheetsyncError: the installation lacks its templates.
    """
    home = package or Path(__file__).resolve().parent
    for folder in (home / "_templates", home.parent / "templates"):
        if (folder / "report.html.j2").is_file():
            return folder
    raise SheetsyncError(
        f"The templates of sheetsync are missing: neither {home / '_templates'} nor "
        f"{home.parent / 'templates'} holds report.html.j2.",
        "Install sheetsync again.",
    )
