"""The bars of `python -m benchmarks.google_calls`, at the smallest size."""

from __future__ import annotations

import pytest

from benchmarks.google_calls import bars_of, measure, rows_of


@pytest.mark.slow
def test_three_annotators_keep_to_every_bar() -> None:
    ours, theirs = measure(3)
    assert [bar for bar in bars_of(3, ours) if not bar.is_met] == []
    rows = list(rows_of(3, ours, theirs))
    assert [row.what.split(":")[0] for row in rows if "calls" in row.what] == [
        "3 annotators, provision",
        "3 annotators, pull, nothing changed",
        "3 annotators, pull, all changed",
        "3 annotators, publish",
    ]
    assert all(row.ratio.median < 0.5 for row in rows)
    assert theirs.provision.refused > 0, "the plain script runs into the quota and waits"
