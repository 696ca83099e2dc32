"""`certify`, and what `publish` makes of it, through the real commands on the template's study."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sheetsync.backends.base import Place
from sheetsync.backends.xlsx import XlsxBackend
from sheetsync.services.session import ADJUDICATION, PRIVATE_FOLDER, SUMMARY
from tests.services.judging import NOISY, Entry, command, judge_again, judged_study, replace_in
from tests.services.studies import table_of, type_in_folder

CLEARED = """\
Part 1 (kappa >= 0.70 on all metrics) PASS_WITH_DISCLOSURE
Part 2 (anchor calibration >= 90%) PASS
Part 3 (adversarial invariance >= 90%) PASS
Part 4 (cap gate precision >= 90%) PASS
--------
CLEARED
"""


def certificate_of(root: Path) -> tuple[int, dict[str, Any]]:
    code, out, error = command(root, "certify", "--json")
    assert out, error
    assert (root / "reports/certificate.json").read_text(encoding="utf-8") == out
    return code, json.loads(out)


def test_a_cleared_judge(tmp_path: Path) -> None:
    root = judged_study(tmp_path)
    code, out, error = command(root, "certify")
    assert (code, error) == (0, "")
    assert out.startswith(CLEARED)
    assert "Disclosures, to stand in the publication:" in out
    assert "PASS_WITH_DISCLOSURE: below the bar and let pass is Pastoral Appropriateness, because" in out
    assert "Failed cases: 0 wrong answers in parts 2 to 4; in part 1, " in out
    assert "Lower bars" not in out
    code, found = certificate_of(root)
    assert code == 0
    assert (found["schema"], found["publication_ready"]) == ("sheetsync.certificate/1", True)
    assert (found["judge"], found["run"], found["changed"], found["fix"]) == ("judge-1", 1, [], [])
    assert set(found["hashes"]) == {"rubric", "prompts", "cases", "judge_command"}
    assert found["conditions"]["gap"] >= found["conditions"]["minimum_gap"] == 20
    metrics = {each["metric"]: each for each in found["parts"]["consistency"]["metrics"]}
    assert len(metrics) == 9
    assert metrics[NOISY]["status"] == "PASS_WITH_DISCLOSURE"
    assert [(each["metric"], each["state"]) for each in found["disclosures"]] == [(NOISY, "accepted")]
    columns = [each["column"] for each in found["disclosures"][0]["proof"]["columns"]]
    assert columns == ["dogma", "doctrine", "discipline", "prudential", "overall"]
    assert {case["metric"] for case in found["failed_cases"]} == {NOISY}
    assert all(len(case["reasoning"]) == 2 for case in found["failed_cases"])
    assert "model-" not in json.dumps(found)


def test_nothing_judged_yet(tmp_path: Path) -> None:
    root = judged_study(tmp_path)
    (root / ".sheetsync/archive.sqlite").unlink()
    code, out, error = command(root, "certify")
    assert (code, out) == (1, "")
    assert "No judge has been tried yet. Run `sheetsync certify prepare`" in error
    assert command(root, "certify", "prepare")[0] == 0
    assert command(root, "certify")[0] == 1


def test_without_the_disclosure_the_judge_is_not_cleared(tmp_path: Path) -> None:
    root = judged_study(
        tmp_path, edits={f'metric = "{NOISY}"': 'metric = "stability"', "[0.02, 0.05]": "[0.08, 0.08]"}
    )
    code, out, _ = command(root, "certify")
    assert code == 5
    assert out.startswith("Part 1 (kappa >= 0.70 on all metrics) FAIL\n")
    assert "--------\nNOT CLEARED\n" in out
    assert "To fix before the next run:" in out
    code, found = certificate_of(root)
    assert (code, found["publication_ready"]) == (5, False)
    assert [(fix["part"], fix["severity"]) for fix in found["fix"]] == [("consistency", "blocks")]


def test_bars_that_a_study_lowers_are_said_beside_the_verdict(tmp_path: Path) -> None:
    root = judged_study(tmp_path)
    replace_in(root / "study.toml", "kappa = 0.70", "kappa = 0.2")
    replace_in(root / "study.toml", "gates = 0.90", "gates = 0.95")
    code, out, _ = command(root, "certify")
    assert (code, out.startswith("Part 1 (kappa >= 0.20 on all metrics) PASS")) == (0, True)
    assert "Lower bars than the protocol's: part 1 0.2, not 0.7. Say so wherever scores are published." in out


def test_a_judge_that_always_gives_the_same_answer(tmp_path: Path) -> None:
    def lazy(_: Entry, verdict: Mapping[str, Any]) -> None:
        if "verdict" in verdict:
            verdict["verdict"] = "PASS"  # type: ignore[index]
        else:
            verdict["scores"].update(dict.fromkeys(verdict["scores"], 3))

    code, found = certificate_of(judged_study(tmp_path, lazy))
    assert code == 5
    assert {part: each["status"] for part, each in found["parts"].items()} == dict.fromkeys(
        found["parts"], "FAIL"
    )
    kappas = [each["kappa"] for each in found["parts"]["consistency"]["metrics"]]
    assert {kappa["reason"] for kappa in kappas} == {"no_variation"}
    assert found["parts"]["gates"]["figures"]["constant"] == 0.5
    assert "no more than a constant answer" not in json.dumps(found["fix"])  # it is below the bar already


def test_words_of_strangers_steer_no_terminal(tmp_path: Path) -> None:
    def hostile(entry: Entry, verdict: Mapping[str, Any]) -> None:
        if entry["part"] == "gates":
            verdict["reasoning"] = "\x1b[2Jgone <script>alert(1)</script>"  # type: ignore[index]
            verdict["verdict"] = "PASS"  # type: ignore[index]

    root = judged_study(tmp_path, hostile)
    _, out, _ = command(root, "certify")
    assert "\x1b" not in out
    assert command(root, "provision")[0] == 0
    assert command(root, "publish")[0] == 0
    report = (root / "reports/report.html").read_text(encoding="utf-8")
    assert "<script>alert" not in report
    assert "&lt;script&gt;alert(1)" in report


# --- history and validity ---


def test_runs_are_kept_with_the_rubric_they_were_made_on(tmp_path: Path) -> None:
    """79.9 % before the rubric was revised, all of it afterwards."""

    def confused(entry: Entry, verdict: Mapping[str, Any]) -> None:
        if entry["part"] == "anchors":
            scores = verdict["scores"]
            scores.update({metric: 2 for metric, right in entry["expected"].items() if right == 3})

    root = judged_study(tmp_path, confused)
    code, before = certificate_of(root)
    assert code == 5
    boundary = before["parts"]["anchors"]["boundary"]
    assert boundary["between"] == [2, 3]
    assert all(text in json.dumps(before["fix"]) for text in ("2/3", *boundary["texts"]))
    replace_in(root / "rubric.toml", 'version = "2026-05"', 'version = "2026-06"')
    judge_again(root)
    code, after = certificate_of(root)
    assert (code, after["run"]) == (0, 2)
    history = [(run["run"], run["rubric_version"], run["cleared"]) for run in after["history"]]
    assert history == [(1, "2026-05", False), (2, "2026-06", True)]
    shares = [run["parts"]["anchors"]["value"] for run in after["history"]]
    assert shares[0] == before["parts"]["anchors"]["figures"]["accuracy"]["value"] < 0.9
    assert shares[1] == 1.0
    _, out, _ = command(root, "certify")
    assert "Run 1 (" in out
    assert "rubric 2026-05, judge-1)" in out


@pytest.mark.parametrize(
    ("file", "old", "new", "changed"),
    [
        ("rubric.toml", '"Mostly fitting, off in one place."', '"Mostly fitting."', ["rubric"]),
        ("study.toml", 'name = "judge-1"', 'name = "judge-2"', ["judge_command"]),
        ("responses.csv", "Somebody who finds this hard", "Anybody who finds this hard", ["prompts"]),
        ("certification/anchors.csv", ",hallucination,0\nAN-02", ",hallucination,1\nAN-02", ["cases"]),
    ],
)
def test_a_certificate_holds_as_long_as_what_was_judged(
    tmp_path: Path, file: str, old: str, new: str, changed: list[str]
) -> None:
    root = judged_study(tmp_path)
    text = (root / file).read_text(encoding="utf-8")
    assert old in text
    (root / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    code, found = certificate_of(root)
    assert (code, found["cleared"], found["publication_ready"]) == (5, True, False)
    assert found["changed"] == changed
    _, out, _ = command(root, "certify")
    assert "NOT CLEARED" in out
    assert f"Not valid: since this run the {changed[0].replace('_', ' ')} changed." in " ".join(out.split())
    (root / file).write_text(text, encoding="utf-8")
    assert certificate_of(root)[0] == 0


def test_a_prepared_run_that_waits_leaves_the_last_verdict(tmp_path: Path) -> None:
    root = judged_study(tmp_path)
    assert command(root, "certify", "prepare")[0] == 0
    code, found = certificate_of(root)
    assert (code, found["run"], found["waiting"]) == (0, 1, 2)


# --- what is published ---


def published(root: Path) -> tuple[str, str, list[dict[str, Any]]]:
    """Publish, and return stderr, the report and the rows of `Results`."""
    code, _, error = command(root, "publish")
    assert code == 0, error
    grid = XlsxBackend(root, root / PRIVATE_FOLDER).read(SUMMARY).tab("Results")
    assert grid
    report = (root / "reports/report.html").read_text(encoding="utf-8")
    return error, report, list(table_of(grid))


def test_rankings_are_marked_until_a_valid_certificate_stands(tmp_path: Path) -> None:
    root = judged_study(tmp_path)
    assert command(root, "provision")[0] == 0
    error, report, rows = published(root)
    assert error == ""
    assert "eliability unknown" not in report
    assert "Reliability" not in rows[0]
    assert "CLEARED" in report

    replace_in(root / "rubric.toml", 'version = "2026-05"', 'version = "2026-06"')
    error, report, rows = published(root)
    assert (
        "Reliability unknown: the certificate of run 1 holds no longer: since then the rubric changed."
        in error
    )
    assert report.count("reliability unknown") > 9  # every table by model
    groups = [row for row in rows if row["By"] == "model"]
    assert groups
    assert {row["Reliability"] for row in groups} == {"reliability unknown"}
    assert any("Reliability unknown" in str(value) for row in rows for value in row.values())


def test_a_study_whose_judge_was_never_tried_is_marked(tmp_path: Path) -> None:
    root = judged_study(tmp_path)
    (root / ".sheetsync/archive.sqlite").unlink()
    assert command(root, "provision")[0] == 0
    _, report, _ = published(root)
    assert "Reliability unknown: no judge of this study has been certified." in report


# --- judges beside people ---


def study_with_a_judge_in_the_roster(folder: Path) -> tuple[Path, list[str]]:
    """Two people who agree on two metrics, and a judge who scored one of these and another one."""
    judge = '[[raters]]\nid = "judge-1"\nkind = "judge"\n\n\n# The judge is any program'
    root = judged_study(folder, edits={"# The judge is any program": judge})
    assert command(root, "provision")[0] == 0
    grid = XlsxBackend(root, root / PRIVATE_FOLDER).read(Place("raters", "H1", "main")).tab("Scoring")
    assert grid
    codes = [str(row["Code"]) for row in table_of(grid)]
    scored = {code: {"Stability": at % 4, "Completeness": at % 4} for at, code in enumerate(codes)}
    type_in_folder(root, "H1", "main", scored)
    type_in_folder(root, "H2", "main", scored)
    type_in_folder(root, "judge-1", "main", {c: {"Stability": 3, "Source Citation": 2} for c in codes})
    assert command(root, "pull")[0] == 0
    return root, codes


def test_judges_are_kept_out_of_what_people_agree_on(tmp_path: Path) -> None:
    root, _ = study_with_a_judge_in_the_roster(tmp_path)
    code, out, error = command(root, "agreement", "--json")
    assert code == 0, error
    found = json.loads(out)
    stability = next(d for d in found["dimensions"] if d["dimension"] == "Stability")
    assert (stability["n_raters"], stability["n_ratings"]) == (2, 96)
    assert stability["coefficients"]["alpha"]["value"] == 1.0
    beside = {(each["dimension"], each["against"]): each for each in found["judges"]}
    majority = beside["Stability", "majority"]
    assert (majority["judge"], majority["figures"]["accuracy"]["count"]) == ("judge-1", 12)
    assert majority["figures"]["kappa"]["value"] == 0.0
    assert beside["Completeness", "H1"]["n_missing"] == 48
    # The first looks of the certification run stand beside the same people.
    _, certificate = certificate_of(root)
    assert {each["dimension"] for each in certificate["humans"]} == {"Stability", "Completeness", None}
    assert {each["against"] for each in certificate["humans"]} == {"majority", "H1", "H2"}


def test_a_certified_judge_gives_values_only_where_nobody_scored(tmp_path: Path) -> None:
    root, codes = study_with_a_judge_in_the_roster(tmp_path)

    def finals() -> tuple[Any, Any]:
        _, report, rows = published(root)
        assert "Judges beside people" in report
        names = next(row for row in rows if row["By"] == "Code").values()
        unit = next(row for row in rows if row["By"] == codes[0]).values()
        found = dict(zip(names, unit, strict=True))
        return found["Stability"], found["Source Citation"]

    assert finals() == (0, 2)
    backend = XlsxBackend(root, root / PRIVATE_FOLDER)
    for place, tab in ((ADJUDICATION, "Adjudication"), (SUMMARY, "Divergences")):
        grid = backend.read(place).tab(tab)
        assert grid
        assert {"H1", "H2"} <= set(grid.rows[0])
        assert "judge-1" not in grid.rows[0]
    replace_in(root / "rubric.toml", 'version = "2026-05"', 'version = "2026-06"')
    assert finals() == (0, None)


# --- documents ---


def test_the_demonstration_shows_what_the_readme_shows(tmp_path: Path) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert f"$ sheetsync -C judge-demo certify\n{CLEARED}" in readme
    root = tmp_path / "judge-demo"
    code, _, error = command(tmp_path, "demo", str(root), "--template", "judge-certification")
    assert code == 0, error
    code, out, error = command(root, "certify")
    assert (code, error) == (0, "")
    assert out.startswith(CLEARED)
    assert "Judges beside the people's majority" in out
