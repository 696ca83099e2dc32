"""The simulated judge: the published figures, and no answer that a real judge could not give."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from sheetsync.config import load_study
from sheetsync.domain.agreement.coefficients import cohen_kappa
from sheetsync.domain.certification.cases import Presentation
from sheetsync.domain.certification.presentation import present
from sheetsync.domain.certification.simulate_judge import ANCHORS, CONSISTENCY, simulate_verdicts
from sheetsync.domain.certification.verdict_lines import parse_verdict_line
from sheetsync.templates_folder import templates_dir


@pytest.fixture(scope="module")
def shown() -> Presentation:
    return present(load_study(templates_dir() / "judge-certification"), 1)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_its_figures_are_those_that_were_published(shown: Presentation, seed: int) -> None:
    """S2.5, S2.9, S2.11 and S2.13."""
    lines = simulate_verdicts(shown, seed)
    found = {case.id: parse_verdict_line(line, case) for case, line in zip(shown.cases, lines, strict=True)}
    assert {verdict.state for verdict in found.values()} == {"answered"}
    looks: list[dict[str, str]] = [{}, {}]
    for entry in shown.key:
        if entry.part == "consistency":
            looks[entry.presentation - 1][entry.source] = entry.id
    for metric, wanted in CONSISTENCY.items():
        first, second = (
            np.array([found[look[source]].scores[metric] for source in sorted(look)], float) for look in looks
        )
        kappa = cohen_kappa(first, second, range(4), "none").value
        assert kappa == pytest.approx(wanted, abs=0.04), metric
    known = [
        found[entry.id].scores[metric] == score
        for entry in shown.key
        for metric, score in entry.expected.items()
    ]
    assert np.mean(known) == pytest.approx(ANCHORS, abs=0.005)
    told = [
        found[entry.id].verdict == entry.expected_verdict for entry in shown.key if entry.expected_verdict
    ]
    assert (len(told), all(told)) == (96, True)


def test_it_is_repeatable(shown: Presentation) -> None:
    assert simulate_verdicts(shown, 5) == simulate_verdicts(shown, 5) != simulate_verdicts(shown, 6)


def test_models_differ(shown: Presentation) -> None:
    """So that there is a ranking which a disclosed metric cannot change."""
    lines = {json.loads(line)["id"]: json.loads(line) for line in simulate_verdicts(shown, 1)}
    totals: Counter[str] = Counter()
    for entry in shown.key:
        if entry.part == "consistency":
            totals[entry.model] += sum(lines[entry.id]["scores"].values())
    (_, best), (_, middle), (_, worst) = totals.most_common()
    assert best > middle * 1.1 > worst * 1.2
