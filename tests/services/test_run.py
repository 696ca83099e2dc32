"""`run`: pull, agreement, divergences and publish once, with a second opinion on every alpha."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sheetsync.cli.main import cli
from sheetsync.domain.agreement.assessment import cross_check_alpha
from sheetsync.errors import NotProvisionedError
from sheetsync.services import run as run_module
from sheetsync.services.run import preview
from tests.services.studies import Desk, memory_desk, tree, xlsx_desk


@pytest.fixture
def files(tmp_path: Path) -> Desk:
    made = xlsx_desk(tmp_path)
    made.provision()
    made.fill("ann", [(5, 4), (5, 5), (4, 4), (4, 4)])
    made.fill("ben", [(4, 4), (5, 4), (4, 4), (5, 2)])
    return made


def invoke(desk: Desk, *arguments: str) -> Any:
    return CliRunner().invoke(cli, ["-C", str(desk.root), *arguments])


def test_a_run_says_everything_in_one_object(files: Desk) -> None:
    done = invoke(files, "run", "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert list(result) == ["schema", "pull", "agreement", "divergences", "written", "incomplete"]
    assert result["schema"] == "sheetsync.run/1"
    assert result["pull"]["schema"] == "sheetsync.pull/1"
    assert [w["ratings"]["new"] for w in result["pull"]["workbooks"]] == [8, 8]
    assert result["agreement"] == json.loads(
        (files.root / "reports/agreement.json").read_text(encoding="utf-8")
    )
    assert result["agreement"] == json.loads(invoke(files, "agreement", "--json").stdout)
    assert result["divergences"] == json.loads(invoke(files, "divergences", "--json").stdout)
    assert [d["dimension"] for d in result["divergences"]["divergences"]] == ["Coverage"]
    assert all((files.root / path).exists() for path in result["written"])
    assert result["incomplete"] == []


def test_every_incomplete_workbook_is_a_line_that_starts_with_its_path(files: Desk) -> None:
    (files.root / "sheets/raters/ben/main.xlsx").write_bytes(b"")
    (files.root / "sheets/summary").mkdir()
    (files.root / "sheets/summary/summary.xlsx").write_bytes(b"not ours")
    done = invoke(files, "run", "--json")
    assert done.exit_code == 3
    result = json.loads(done.stdout)
    paths = ["sheets/raters/ben/main.xlsx", "sheets/summary/summary.xlsx"]
    assert [each["path"] for each in result["incomplete"]] == paths
    lines = done.stderr.splitlines()
    assert [line.split(": ")[0] for line in lines] == paths
    messages = [each["message"].removeprefix(each["path"]).strip() for each in result["incomplete"]]
    assert [line.split(": ", 1)[1] for line in lines] == messages
    assert "sheets/summary/summary.new.xlsx" in result["written"]


def test_every_run_is_an_event(files: Desk) -> None:
    files.run("2026-07-01T02:00:00Z")
    files.run("2026-07-02T02:00:00Z")
    with files.session() as session:
        events = session.archive.events()
    events = [event for event in events if event.command == "run"]
    assert [(event.at, event.command) for event in events] == [
        ("2026-07-01T02:00:00Z", "run"),
        ("2026-07-02T02:00:00Z", "run"),
    ]
    assert "new=16 changed=0 cleared=0" in events[0].outcome
    assert "read=0 unchanged=2 failed=0 new=0" in events[1].outcome
    assert events[1].outcome.endswith("incomplete=0 exit=0")


def test_before_provision_there_is_nothing_to_run(tmp_path: Path) -> None:
    with pytest.raises(NotProvisionedError):
        memory_desk(tmp_path).run()


def test_a_dry_run_reads_no_cell_and_writes_nothing(files: Desk) -> None:
    before = {k: v for k, v in tree(files.root).items() if not k.startswith(".sheetsync")}
    (files.root / "sheets/raters/ben/main.xlsx").unlink()
    with files.session() as session:
        found = preview(session)
    assert found.changed == ("sheets/raters/ann/main.xlsx",)
    assert found.missing == ("sheets/raters/ben/main.xlsx",)
    assert "sheets/summary/summary.xlsx" in found.would_write
    done = invoke(files, "run", "--dry-run", "--json")
    assert json.loads(done.stdout) == found.to_dict()
    after = {k: v for k, v in tree(files.root).items() if not k.startswith(".sheetsync")}
    del before["sheets/raters/ben/main.xlsx"]
    assert after == before


# --- the second opinion ---


def test_two_implementations_agree_on_every_alpha(files: Desk) -> None:
    ran = files.run()
    assert (ran.withheld, ran.exit_code) == ((), 0)


def test_an_alpha_they_disagree_on_is_withheld_and_the_rest_is_published(
    files: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth = files.run().analysis.agreement.to_dict()
    monkeypatch.setattr(run_module, "cross_check_alpha", lambda *_: ["Accuracy"])
    done = invoke(files, "run", "--json")
    assert done.exit_code == 1
    assert [line.split(":")[0] for line in done.stderr.splitlines()] == ["Accuracy"]
    result = json.loads(done.stdout)
    written = json.loads((files.root / "reports/agreement.json").read_text(encoding="utf-8"))
    assert written == result["agreement"]
    assert [each["dimension"] for each in result["agreement"]["explanations"]] == ["Coverage"]
    assert result["agreement"]["pooled"] is None
    accuracy, coverage = result["agreement"]["dimensions"]
    expected_accuracy, expected_coverage = json.loads(json.dumps(truth["dimensions"]))
    assert coverage == expected_coverage
    parts = [
        (accuracy, expected_accuracy),
        *zip(accuracy["slices"], expected_accuracy["slices"], strict=True),
    ]
    assert len(parts) > 1
    for withheld, true in parts:
        assert withheld["band"] is None
        for name in ("alpha", "observed_disagreement", "expected_disagreement"):  # two of them give the third
            taken = withheld["coefficients"].pop(name)
            assert {taken[key] for key in ("value", "low", "high")} == {None}
            assert (taken["reason"], taken["interval_reason"]) == ("cross_check_failed", "cross_check_failed")
            del true["coefficients"][name]
        assert withheld["coefficients"] == true["coefficients"]
    rows = {row["Dimension"]: row["Alpha"] for row in files.summary("Agreement") if row["By"] == "all"}
    assert not isinstance(rows["Accuracy"], float)
    assert isinstance(rows["Coverage"], float)
    with files.session() as session:
        assert session.archive.events()[-1].outcome.endswith("withheld=1 incomplete=0 exit=1")


def test_the_check_is_not_fooled_by_a_wrong_figure(files: Desk) -> None:
    from dataclasses import replace

    from sheetsync.domain.analysis import dimension_data
    from sheetsync.services.analyze import gather_standing

    analysis = files.run().analysis
    with files.session() as session:
        standing = gather_standing(session)
        data = dimension_data(
            session.study,
            standing.units,
            standing.production_batches,
            standing.current,
            standing.problems,
            (),
        )
    first, *others = analysis.agreement.dimensions
    alpha = first.coefficients["alpha"]
    assert alpha.value is not None
    wrong = replace(
        first, coefficients={**first.coefficients, "alpha": replace(alpha, value=alpha.value + 1e-4)}
    )
    report = replace(analysis.agreement, dimensions=(wrong, *others))
    assert cross_check_alpha(report, data) == [first.dimension]


# --- the fewest units ---


def test_a_study_says_from_how_many_units_on_alpha_stands_alone(files: Desk) -> None:
    """X20, in the terminal, the summary workbook and the report alike."""
    default = (files.root / "study.toml").read_text(encoding="utf-8")
    n_hidden = []
    for minimum in (2, 5):
        (files.root / "study.toml").write_text(f"{default}minimum_units = {minimum}\n", encoding="utf-8")
        parts = [part for d in files.run().analysis.agreement.dimensions for part in d.slices]
        hidden = [part for part in parts if part.agreement.n_pairable < minimum]
        n_hidden.append(len(hidden))
        rows = [row for row in files.summary("Agreement") if row["Alpha"] == "too few units"]
        assert [(row["By"], row["Value"]) for row in rows if row["By"] != "all"] == [
            (part.by, part.value) for part in hidden
        ]
        assert invoke(files, "agreement").stdout.count("too few") == len(hidden)
        page = (files.root / "reports/report.html").read_text(encoding="utf-8")
        assert ">Fewest pairable responses</th>" in page
        assert f'"value">{minimum}</td>' in page
    assert n_hidden[0] < n_hidden[1] == len(parts)
