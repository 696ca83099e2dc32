"""`demo` through files and through Google's interface, as `make demo-google` runs it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.demo_google import compare, demonstrate


@pytest.mark.slow
def test_files_and_google_give_the_same(tmp_path: Path) -> None:
    files, google = demonstrate(tmp_path)
    assert [each.what for each in compare(files, google) if not each.is_same] == []
    assert (len(files.problems), files.story["units"], files.story["incomplete"]) == (6, 210, [])
    assert len(files.ratings) > files.story["ratings"] == 1677
    changed = replace(
        google, ratings=google.ratings[1:], agreement=google.agreement.replace(b"0.17", b"0.18", 1)
    )
    differing = [each.what for each in compare(files, changed) if not each.is_same]
    assert [what.split()[1] for what in differing] == ["archived", "coefficients"]
