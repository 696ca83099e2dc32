"""Claims in a study: in `Results`, in the report, and as news of the nightly run; never where models are hidden."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from sheetsync.cli.main import cli
from sheetsync.services.run import run
from sheetsync.services.session import SUMMARY
from tests.services.studies import QUICK_STUDY, Desk, memory_desk, xlsx_desk

LATER = "2026-07-02T02:00:00Z"
APART = [(5, 4), (3, 4), (5, 4), (3, 4), (5, 4), (3, 4)]
"""Alder scores 5 and Briar 3 on Accuracy, on Coverage both score 4."""


def both(desk: Desk, scores: list[tuple[int, int]]) -> None:
    for rater in ("ann", "ben"):
        desk.fill(rater, scores)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = memory_desk(tmp_path)
    made.provision()
    both(made, APART)
    return made


def test_the_first_run_has_nothing_to_compare_with(desk: Desk) -> None:
    news = desk.run().claims
    assert (news.compared, news.changes) == (False, ())
    assert news.lines == [
        (
            "Of 2 comparisons of two models on one dimension, 0 came out as finding, 1 as provisional, "
            "1 as not separable."
        )
    ]


def test_a_run_lists_what_changed_class(desk: Desk) -> None:
    desk.run()
    assert desk.run(LATER).claims.lines[1:] == ["No claim changed class since the last run."]
    both(desk, [(4, 5), (4, 4), (4, 5), (4, 4), (4, 5), (4, 4)])
    ran = desk.run("2026-07-03T02:00:00Z")
    assert ran.claims.lines[1:] == [
        "Changed since the last run:",
        "  Accuracy: Alder vs Briar was provisional, now not separable",
        "  Coverage: Alder vs Briar was not separable, now provisional",
    ]
    with desk.session() as session:
        line = [event.outcome for event in session.archive.events() if event.command == "run"][-1]
    assert "claims_changed=2 " in line
    assert "Alder" not in line
    assert "Alder" not in str(ran.to_dict())
    assert desk.run("2026-07-04T02:00:00Z").claims.changes == ()


def test_what_cannot_be_compared_any_more_is_a_change(desk: Desk) -> None:
    desk.run()
    desk.fill("ann", [(5, 4), (5, 4), (5, 4), (5, 4), (5, 4), (5, 4)])  # every Briar diverges now
    assert [str(change) for change in desk.run(LATER).claims.changes] == [
        "Accuracy: Alder vs Briar was provisional, now not comparable"
    ]


def test_a_blind_run_names_no_model_and_forgets_nothing(desk: Desk) -> None:
    desk.run()
    both(desk, [(4, 4)] * 6)
    with desk.session() as session:
        blind = run(session, LATER, blind=True)
    assert blind.claims.lines == ["Claims compare models, and models are not named here."]
    results = str(desk.grid(SUMMARY, "Results").rows)
    assert "Claims compare models, and models are not named here." in results
    assert "Alder" not in results
    changed = [str(change) for change in desk.run("2026-07-03T02:00:00Z").claims.changes]
    assert changed == ["Accuracy: Alder vs Briar was provisional, now not separable"]


def test_a_study_may_never_name_models(tmp_path: Path) -> None:
    desk = memory_desk(tmp_path, {"study.toml": QUICK_STUDY + "\n[publish]\nmodels = false\n"})
    desk.provision()
    both(desk, APART)
    assert not desk.run().claims.compared
    assert not desk.run(LATER).claims.compared
    with desk.session() as session:
        assert session.archive.last_claims() == {}


def test_results_hold_the_rule_and_every_claim_between_summary_and_units(desk: Desk) -> None:
    desk.run()
    rows = [list(row) for row in desk.grid(SUMMARY, "Results").rows]
    first = [row[0] if row else None for row in rows]
    at = first.index("Claims")
    assert str(rows[at][2]).startswith(
        "Of 2 comparisons of two models on one dimension, 0 came out as finding"
    )
    assert "is a finding if three conditions hold" in str(rows[at][2])
    header = rows[at + 1]
    claims = [dict(zip(header, row, strict=False)) for row in rows[at + 2 : first.index("Code")] if row]
    assert [(c["Claim"], c["Models"], c["Dimension"], c["Questions"], c["Difference"]) for c in claims] == [
        ("provisional", "Alder minus Briar", "Accuracy", 3, 2),
        ("not separable", "Alder minus Briar", "Coverage", 3, 0),
    ]
    assert str(claims[0]["To paste"]).startswith("On Accuracy, Alder scored 2.00 points higher than Briar")
    assert at < first.index("Code")
    assert len(rows[first.index("Code") :]) == 7


def test_the_command_prints_changes_and_json_names_no_model(tmp_path: Path) -> None:
    desk = xlsx_desk(tmp_path)
    desk.provision()
    both(desk, APART)

    def invoke(*arguments: str) -> str:
        done = CliRunner().invoke(cli, ["-C", str(desk.root), "run", *arguments])
        assert (done.exit_code, done.stderr) == (0, "")
        return done.stdout

    assert "1 as provisional, 1 as not separable." in invoke()
    both(desk, [(4, 4)] * 6)
    assert "\n  Accuracy: Alder vs Briar was provisional, now not separable\n" in invoke()
    assert "Alder" not in invoke("--json")
    assert "Alder" not in invoke("--blind")


def test_status_says_what_is_worth_a_look(tmp_path: Path) -> None:
    """Two raters with equal rows throughout, over more units than the small study has."""
    questions = "question_id,figure,tier,type,text\n" + "".join(
        f"Q{n},,a,b,What of {{figure}}?\n" for n in range(12)
    )
    responses = "question_id,figure,model,version,response\n" + "".join(
        f"Q{n},Macrina,Alder,alder-1,Answer {n}.\n" for n in range(12)
    )
    desk = xlsx_desk(tmp_path, {"questions.csv": questions, "responses.csv": responses})
    desk.provision()
    both(desk, [(1 + n % 5, 1 + n // 3) for n in range(12)])
    desk.pull()
    done = CliRunner().invoke(cli, ["-C", str(desk.root), "status"])
    assert done.exit_code == 0
    said = " ".join((done.stdout + done.stderr).split())
    assert "Worth a look: ann and ben have the same values in all 12 rows that both filled in." in said
    desk.fill("ben", [(5 - n % 5, 4 - n // 3) for n in range(12)])
    desk.pull(LATER)
    assert "Worth a look" not in CliRunner().invoke(cli, ["-C", str(desk.root), "status"]).output
