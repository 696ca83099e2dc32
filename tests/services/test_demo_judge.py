"""The demonstration of the certification template: a judge's verdicts take the way of a real judge's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sheetsync.domain.certification.judge_metrics import MAJORITY
from sheetsync.services.analyze import analyze
from sheetsync.services.certificate import certificate_of
from sheetsync.services.demo import DemoResult, demo
from sheetsync.services.judge import judge
from sheetsync.services.judge_command import Way
from sheetsync.services.session import judging_session, reading_session

NOW = "2026-07-01T02:00:00Z"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> DemoResult:
    return demo(tmp_path_factory.mktemp("demo") / "study", "judge-certification", "xlsx", NOW)


def test_humans_score_and_a_simulated_judge_is_judged(shown: DemoResult) -> None:
    assert (shown.units, shown.raters, shown.exit_code, shown.judged) == (48, ("H1", "H2"), 0, 240)
    assert shown.ratings > 800


def test_the_story_ends_with_the_verdict_on_the_judge(shown: DemoResult) -> None:
    story = shown.story()
    start = story.index("A simulated judge judged 240 cases:")
    assert story[start + 1 : start + 8] == (
        "  Part 1 (kappa >= 0.70 on all metrics) PASS_WITH_DISCLOSURE",
        "  Part 2 (anchor calibration >= 90%) PASS",
        "  Part 3 (adversarial invariance >= 90%) PASS",
        "  Part 4 (cap gate precision >= 90%) PASS",
        "  --------",
        "  CLEARED",
        "The whole certificate: sheetsync certify",
    )


def test_judge_and_people_see_the_same_quality(shown: DemoResult) -> None:
    """Unrelated scores would put every kappa of the judge and the people about 0."""
    with reading_session(shown.folder) as session:
        certificate = certificate_of(session, analyze(session).current)
    assert certificate is not None
    kappas = [
        each.figures.kappa.value for each in certificate.humans if each.dimension and each.against == MAJORITY
    ]
    assert len(kappas) == 9
    assert all(kappa is not None and 0.3 < kappa < 0.95 for kappa in kappas), kappas
    alphas = [figures.alpha for figures in shown.dimensions]
    assert all(alpha is not None and 0.4 < alpha < 0.95 for alpha in alphas), alphas


def test_its_verdicts_lie_where_a_judge_would_put_them(shown: DemoResult) -> None:
    lines = (shown.folder / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    cases = (shown.folder / "certification/presentation.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["id"] for line in lines] == [json.loads(case)["id"] for case in cases]
    assert '\nverdicts = "verdicts.jsonl"\n' in (shown.folder / "study.toml").read_text(encoding="utf-8")
    with judging_session(shown.folder, NOW) as session:
        again = judge(session, Way(lambda: NOW))
        (run,) = session.archive.certification_runs()
    assert (again.now, again.is_complete) == (0, True)
    assert [(each.source, each.called, each.state) for each in run.judgings] == [
        ("file", "verdicts.jsonl", "complete")
    ]


def test_a_template_without_certification_has_no_judge(tmp_path: Path) -> None:
    from sheetsync.services.demo_judge import expect_verdicts

    file = tmp_path / "study.toml"
    file.write_text("[study]\n", encoding="utf-8")
    expect_verdicts(file)
    assert file.read_text(encoding="utf-8") == "[study]\n"
