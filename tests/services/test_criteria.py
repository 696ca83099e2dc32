"""`freeze`, `criteria` and `unblind`: verdicts, promises, and what is said while the study is blind."""

from __future__ import annotations

import csv
import json
import random
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from sheetsync.cli.main import cli
from sheetsync.domain.validation.records import CriteriaReport
from sheetsync.errors import StudyError
from sheetsync.services.analyze import analyze, gather_standing
from sheetsync.templates_folder import templates_dir
from tests.services.pair_studies import PairDesk, csv_text, pair_desk, scores, study_toml
from tests.services.studies import QUICK

EARLY, LATER, LATEST = "2026-06-30T00:00:00Z", "2026-07-02T00:00:00Z", "2026-07-03T00:00:00Z"
RATERS = ("ann", "ben", "cy")


def outcomes(report: CriteriaReport) -> dict[str, str]:
    return {each.id: each.outcome for each in report.criteria}


def level(question: str, model: str) -> int:
    """A quality that differs from case to case, higher for improved."""
    return (int(question[1:]) * 7 + 3 * (model == "improved")) % 4


def agree(desk: PairDesk, raters: Sequence[str] = RATERS) -> None:
    """Everybody gives the same scores, improved more than baseline."""
    for rater in raters:
        desk.send(
            rater,
            desk.submission(
                rater,
                lambda q, m: scores((0, 2, 4, 5)[2 * (m == "improved") + int(q[1:]) % 2], int(q[1:]) % 3),
            ),
            now=LATER,
        )


# --- verdicts ---


def test_everything_met(tmp_path: Path) -> None:
    desk = pair_desk(tmp_path, 12)
    desk.freeze(EARLY)
    agree(desk)
    report = desk.criteria()
    assert report.all_met
    assert {each.id: each.value for each in report.criteria if each.id != "internal_spearman"} == {
        "alpha": 1.0, "direction": 1.0, "validators": 3,
    }  # fmt: skip
    assert report.promise.warnings == ()
    assert [(v.complete_rows, v.complete) for v in report.validators] == [(24, True)] * 3
    assert report.exploratory.identical_all == 1.0


def test_bars_are_compared_at_full_precision(tmp_path: Path) -> None:
    desk = pair_desk(tmp_path, 18)
    for rater in RATERS:
        # In the first five cases ben sees the other response ahead: 13 of 18 agree, as many as are needed.
        def score(question: str, model: str, rater: str = rater) -> dict[str, object]:
            turned = rater == "ben" and int(question[1:]) <= 5
            return scores(5 if (model == "improved") != turned else 0, 1)

        desk.send(rater, desk.submission(rater, score))
    direction = next(each for each in desk.criteria().criteria if each.id == "direction")
    assert (direction.detail, direction.outcome, direction.fragile) == (
        "13 of 18 cases; 13 needed",
        "met",
        True,
    )
    assert direction.value == 13 / 18


def test_partial_validators_count_in_alpha_but_not_as_complete(tmp_path: Path) -> None:
    desk = pair_desk(tmp_path, 12)
    agree(desk, RATERS[:2])
    desk.send(
        "cy",
        desk.submission(
            "cy", lambda q, m: scores(2, 1) if q != "T1" else scores(2, "") if m == "improved" else {}
        ),
    )
    report = desk.criteria()
    assert outcomes(report)["validators"] == "missed"
    third = report.validators[2]
    assert (third.rows, third.complete_rows, third.complete) == (24, 22, False)
    assert report.pooled is not None
    assert report.pooled.weights[0].n_ratings == 24 + 24 + 23


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "there are no internal scores"),
        ("constant", "undefined: all external or all internal totals are the same"),
    ],
)
def test_what_cannot_be_judged_is_not_met(tmp_path: Path, content: str | None, reason: str) -> None:
    cases = [f"T{number}" for number in range(1, 13)]
    rows = [(case, "", model, 7) for case in cases for model in ("baseline", "improved")]
    internal = content and csv_text([("question_id", "figure", "model", "total"), *rows])
    desk = pair_desk(tmp_path, 12, {"internal.csv": internal})
    agree(desk)
    report = desk.criteria()
    last = report.criteria[-1]
    assert (last.id, last.outcome, last.value, last.reason) == (
        "internal_spearman",
        "cannot_be_judged",
        None,
        reason,
    )
    assert not report.all_met


def test_no_scores_yet(tmp_path: Path) -> None:
    report = pair_desk(tmp_path, 12).criteria()
    assert outcomes(report) == {
        "alpha": "cannot_be_judged", "direction": "cannot_be_judged", "validators": "missed",
        "internal_spearman": "cannot_be_judged",
    }  # fmt: skip
    json.dumps(report.to_dict(), allow_nan=False)


def test_a_study_without_criteria(tmp_path: Path) -> None:
    toml = study_toml(RATERS).replace("[criteria]\n", "")
    desk = pair_desk(tmp_path, 2, {"study.toml": toml})
    with pytest.raises(StudyError, match="has no criteria"):
        desk.criteria()
    with pytest.raises(StudyError, match="has no criteria"):
        desk.freeze()


# --- simulated validators on the protocol's own rubric ---


def template_desk(folder: Path) -> PairDesk:
    """Return the template's study: 18 cases, five dimensions, three validators."""
    root = folder / "study"
    shutil.copytree(templates_dir() / "blinded-pairs", root)
    toml = (root / "study.toml").read_text(encoding="utf-8").replace("[agreement]\n", QUICK.lstrip(), 1)
    (root / "study.toml").write_text(toml.replace("resamples = 0", "resamples = 200"), encoding="utf-8")
    desk = PairDesk(root)
    desk.provision()
    return desk


SCALES: Mapping[str, Sequence[int]] = {
    "Depth": (0, 2, 4, 5), "Evidence": (0, 1, 2, 3), "Alternatives": (0, 2, 4, 5), "Structure": (0, 1, 2, 3),
    "Actionability": (0, 2, 4),
}  # fmt: skip
HEADER = (
    "Test_Case", "Response", *(f"{name}_{part}" for name in SCALES for part in ("Score", "Confidence")),
    "Total_Score", "Notes",
)  # fmt: skip


def send_random(desk: PairDesk, weights: Mapping[str, Sequence[int]] | None = None, seed: int = 1) -> None:
    """Three validators who ignore the texts; `weights` say how often they use each level."""
    for rater in ("V1", "V2", "V3"):
        rng = random.Random(f"{rater}{seed}")

        def score(_question: str, _model: str, rng: random.Random = rng) -> dict[str, object]:
            drawn = {
                name: rng.choices(scale, weights[name] if weights else None)[0]
                for name, scale in SCALES.items()
            }
            cells: dict[str, object] = {f"{name}_Score": value for name, value in drawn.items()}
            cells |= {f"{name}_Confidence": rng.choice(["Low", "Medium", "High"]) for name in SCALES}
            return {**cells, "Total_Score": sum(drawn.values())}

        assert desk.send(rater, desk.submission(rater, score, HEADER)).problems == ()


def test_random_validators_fail_the_primary_criterion(tmp_path: Path) -> None:
    desk = template_desk(tmp_path)
    send_random(desk)
    report = desk.criteria()
    alpha = report.criteria[0]
    assert (alpha.role, alpha.outcome) == ("primary", "missed")
    assert alpha.value is not None
    assert abs(alpha.value) < 0.2
    assert report.validators[0].complete


def test_what_dimensions_differ_by_is_no_agreement(tmp_path: Path) -> None:
    """X4: where answers cluster per dimension the naive pooled alpha passes, though nobody read a text."""
    clusters = {
        "Depth": (0, 0, 2, 8), "Evidence": (8, 1, 0, 0), "Alternatives": (0, 0, 8, 1), "Structure": (1, 9, 0, 0),
        "Actionability": (0, 1, 9),
    }  # fmt: skip
    desk = template_desk(tmp_path)
    send_random(desk, clusters)
    report = desk.criteria()
    assert report.pooled is not None
    naive = report.pooled.naive
    assert naive.value is not None
    assert naive.null is not None
    assert naive.value >= 0.70
    assert naive.null.low <= naive.value <= naive.null.high  # null raters reach as much
    alpha = report.criteria[0]
    assert alpha.outcome == "missed"
    assert alpha.value is not None
    assert abs(alpha.value) < 0.25


def test_the_stratified_alpha_is_that_of_the_agreement_report(tmp_path: Path) -> None:
    desk = template_desk(tmp_path)
    send_random(desk, seed=4)
    report = desk.criteria()
    assert report.pooled is not None
    assert report.criteria[0].value == pytest.approx(report.pooled.stratified.value, abs=1e-12)


# --- promises ---


def test_freezing_twice_is_idempotent_and_something_else_is_refused(tmp_path: Path) -> None:
    desk = pair_desk(tmp_path, 12)
    first = desk.freeze(EARLY)
    again = desk.freeze(LATER)
    assert (first.is_new, again.is_new, again.at, again.hash) == (True, False, EARLY, first.hash)
    toml = desk.root / "study.toml"
    toml.write_text(
        toml.read_text(encoding="utf-8").replace("[criteria]", "[criteria]\nalpha = 0.6"), encoding="utf-8"
    )
    with pytest.raises(StudyError, match="frozen at 2026-06-30") as caught:
        desk.freeze(LATER)
    assert [str(each) for each in caught.value.faults] == ["criteria.alpha: frozen 0.7, now 0.6"]
    assert [str(each) for each in desk.criteria().promise.deviations] == [
        "criteria.alpha: frozen 0.7, now 0.6"
    ]


def test_the_frozen_bar_decides_whatever_the_file_says_since(tmp_path: Path) -> None:
    desk = pair_desk(tmp_path, 12)
    desk.freeze(EARLY)
    toml = desk.root / "study.toml"
    lowered = toml.read_text(encoding="utf-8").replace("[criteria]", "[criteria]\nvalidators = 1")
    toml.write_text(lowered, encoding="utf-8")
    assert {each.needed for each in desk.criteria().criteria if each.id == "validators"} == {3}


def test_a_freeze_after_the_first_score_says_so(tmp_path: Path) -> None:
    desk = pair_desk(tmp_path, 12)
    assert desk.criteria().promise.warnings == (
        "The criteria were never frozen: nothing shows that they were set before the scores.",
    )
    agree(desk)
    late = desk.freeze(LATEST)
    assert late.scores_before == 3 * 24 * 2
    (warning,) = desk.criteria().promise.warnings
    assert "after 144 scores had come in (the first at 2026-07-02T00:00:00Z)" in warning


def test_changed_rubric_and_internal_scores_are_deviations(tmp_path: Path) -> None:
    desk = pair_desk(tmp_path, 12)
    desk.freeze(EARLY)
    for name, old, new in (
        ("rubric.toml", '"1"', '"2"'),
        ("internal.csv", "T1,,baseline,2", "T1,,baseline,3"),
    ):
        path = desk.root / name
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    terms = [each.term for each in desk.criteria().promise.deviations]
    assert sorted(terms) == ["internal scores", "rubric.hash", "rubric.version"]


# --- blinding ---


def test_criteria_name_no_model_while_the_study_is_blind(tmp_path: Path) -> None:
    desk = pair_desk(tmp_path, 12)
    agree(desk)
    report = desk.criteria()
    said = json.dumps(report.to_dict())
    assert report.improved_higher is None
    assert '"baseline"' not in said
    assert "improved" not in said.replace('"improved_higher": null', "")
    result = CliRunner().invoke(cli, ["-C", str(desk.root), "criteria"])
    assert result.exit_code in (0, 5), result.output
    assert "improved" not in result.output
    assert "baseline" not in result.output


def test_nothing_that_is_published_names_a_model_before_the_study_is_unblinded(tmp_path: Path) -> None:
    desk = pair_desk(tmp_path, 12)
    desk.freeze(EARLY)
    agree(desk)
    desk.publish()
    report = (desk.root / "reports/report.html").read_text(encoding="utf-8")
    assert "4 of 4 criteria are met. They were frozen at 2026-06-30T00:00:00Z." in report
    assert 'data-value="met"' in report
    models = {"baseline", "improved"}
    assert not models & {str(cell) for row in desk.summary("Results") for cell in row.values()}
    assert "improved" not in report
    desk.unblind(LATEST)
    desk.publish()
    assert models <= {str(cell) for row in desk.summary("Results") for cell in row.values()}
    assert "the improved response is ahead in 12 of 12 cases" in (
        desk.root / "reports/report.html"
    ).read_text(encoding="utf-8")


def test_no_order_of_rows_tells_the_models_apart(tmp_path: Path) -> None:
    """The files list baseline first in every case; nothing that is written may."""
    desk = pair_desk(tmp_path, 8)
    for rater in ("ann", "ben", "cy"):
        low = 0 if rater == "ann" else 4
        desk.send(rater, desk.submission(rater, lambda _, __, low=low: scores(low, 1)))  # type: ignore[misc]
    desk.run()
    models = {code: model for (_, model), code in desk.codes().items()}
    with desk.session() as session:
        tables = {
            "adjudication": [str(row["Code"]) for row in desk.adjudication()],
            "divergences": [each.code for each in gather_standing(session).divergences],
            "results": [each.unit.code for each in analyze(session).results],
        }
    for name, codes in tables.items():
        order = list(dict.fromkeys(codes))
        firsts = {models[code] for code in order[::2]}
        assert len(order) == 16, name
        assert firsts == {"baseline", "improved"}, name
        assert order == [code for at in range(0, 16, 2) for code in sorted(order[at : at + 2])], name


def test_unblinding_asks_once_and_is_written_down(tmp_path: Path) -> None:
    desk = pair_desk(tmp_path, 12)
    agree(desk)
    with pytest.raises(StudyError, match="Nothing was unblinded"):
        desk.unblind(confirmed=False)
    assert desk.criteria().promise.unblinded_at is None
    first = desk.unblind(LATEST)
    again = desk.unblind("2026-08-01T00:00:00Z", confirmed=False)
    assert (first.is_first, again.is_first, again.unblinded_at) == (True, False, LATEST)
    with desk.session() as session:
        assert [(e.at, e.outcome) for e in session.archive.events() if e.command == "unblind"] == [
            (LATEST, "first"), ("2026-08-01T00:00:00Z", "again"),
        ]  # fmt: skip
    higher = desk.criteria().improved_higher
    assert higher is not None
    assert (higher.count, higher.n) == (12, 12)


def test_scores_that_change_after_unblinding_are_counted(tmp_path: Path) -> None:
    desk = pair_desk(tmp_path, 12)
    desk.freeze(EARLY)
    agree(desk)
    desk.unblind(LATER)
    desk.send("ann", desk.submission("ann", lambda q, _: scores(0, 0) if q == "T1" else {}), now=LATEST)
    promise = desk.criteria().promise
    assert promise.scores_since > 0
    assert (
        f"{promise.scores_since} scores came in or changed after the study was unblinded"
        in promise.warnings[0]
    )


def test_without_a_terminal_unblinding_needs_yes(tmp_path: Path) -> None:
    root = str(tmp_path / "study")
    runner = CliRunner()
    runner.invoke(cli, ["init", root, "--template", "blinded-pairs"])
    runner.invoke(cli, ["-C", root, "provision"])
    refused = runner.invoke(cli, ["-C", root, "unblind"])
    assert (refused.exit_code, "give --yes" in refused.stderr) == (2, True)
    assert runner.invoke(cli, ["-C", root, "unblind", "--yes"]).exit_code == 0
    assert runner.invoke(cli, ["-C", root, "criteria"]).exit_code == 5


def test_the_comparison_is_paired_by_case(tmp_path: Path) -> None:
    desk = pair_desk(tmp_path, 12)
    agree(desk)
    found = desk.unblind(LATEST)
    total = found.comparisons[0]
    # Improved gets 4 instead of 0, or 5 instead of 2, on depth, and the same on evidence.
    assert total.difference.value == pytest.approx(3.5)
    assert (total.sign.wins, total.sign.losses, total.sign.ties) == (12, 0, 0)
    assert total.sign.p == 2 / 2**12
    evidence = found.comparisons[2]
    assert (evidence.measure, evidence.sign.ties, evidence.signed_rank.p) == ("Evidence", 12, None)


# --- exploration and guards ---


def test_rows_with_disclosed_blinding_are_shown_with_and_without(tmp_path: Path) -> None:
    desk = pair_desk(tmp_path, 12)
    agree(desk)
    assert desk.criteria().without_disclosed is None
    code = desk.codes()["T1", "improved"]
    desk.type_into("ann", "main", {code: {"Depth": 0, "blinding-broken": "as the scaffold says"}})
    desk.pull(LATEST)
    report = desk.criteria()
    without = report.without_disclosed
    assert without is not None
    assert (without.rows, without.alpha.value, without.direction.n) == (1, 1.0, 12)
    assert report.criteria[0].value is not None
    assert report.criteria[0].value < 1
    assert [each.disclosed_rows for each in report.validators] == [1, 0, 0]


def test_guards_catch_what_they_are_for(tmp_path: Path) -> None:
    desk = pair_desk(tmp_path, 18)
    lengths = {f"T{n}": n for n in range(1, 19)}
    with desk.session() as session:
        sides = {row: session.sheets().sides("ben") for row in ("ben",)}["ben"]
        codes = {(u.question_id, u.model): u.code for u in session.archive.units()}
    scale = (0, 2, 4, 5)
    # ann scores length, ben the side, cy both dimensions alike.
    desk.send("ann", desk.submission("ann", lambda q, _: scores(scale[(lengths[q] - 1) * 4 // 18], 1)))
    desk.send("ben", desk.submission("ben", lambda q, m: scores(5 if sides[codes[q, m]] == "A" else 2, 1)))
    desk.send("cy", desk.submission("cy", lambda q, m: scores(scale[level(q, m)], level(q, m))))
    by_rater = {each.rater: each for each in desk.criteria().pitfalls}
    assert by_rater["ann"].length.notable
    assert (by_rater["ann"].length.rho.value or 0) > 0.9
    assert by_rater["ann"].side.mean_difference == 0
    assert by_rater["ben"].side.mean_difference == 3
    assert (by_rater["ben"].side.test.p or 1) < 0.001
    assert by_rater["cy"].halo.mean_rho == pytest.approx(1)
    assert by_rater["cy"].halo.straight_rows == 1
    assert by_rater["ann"].halo.mean_rho is None  # one dimension is constant


def test_high_confidence_that_agrees_more(tmp_path: Path) -> None:
    desk = pair_desk(tmp_path, 12)
    for at, rater in enumerate(RATERS):

        def score(question: str, model: str, at: int = at) -> dict[str, object]:
            is_sure = int(question[1:]) % 2 == 0
            depth = (0, 2, 4, 5)[(level(question, model) + (0 if is_sure else at)) % 4]
            return {**scores(depth, 1), "Depth_Confidence": "High" if is_sure else "Low"}

        desk.send(rater, desk.submission(rater, score))
    found = desk.criteria().exploratory
    assert found.high_agrees_more is True
    assert [(c.confidence, c.pairs, c.identical) for c in found.confidence] == [
        ("both_high", 36, 1.0), ("one_high", 0, None), ("none_high", 36, 0.0),
    ]  # fmt: skip


# --- real data: four raters, fifty cases, two systems ---

PDPA_RUBRIC = """\
version = "1"
[[dimension]]
id = "preferred"
name = "Preferred"
levels = [{ value = 0 }, { value = 1 }]
"""


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("sides", ["case", "rater"])
def test_real_preferences_through_files(tmp_path: Path, test_data: Path, sides: str) -> None:
    folder = test_data / "data/pdpa-ab"
    texts, preferences = rows_of(folder / "responses.csv"), rows_of(folder / "preferences.csv")
    raters = sorted({row["rater"] for row in preferences})
    toml = study_toml(raters, 'baseline = "base"\nimproved = "rag"\ninternal = ""', f'sides = "{sides}"')
    files: dict[str, str | None] = {
        "internal.csv": None,
        "study.toml": toml,
        "rubric.toml": PDPA_RUBRIC,
        "questions.csv": csv_text(
            [("question_id", "figure", "tier", "type", "text")]
            + [(row["prompt_id"], "", "", "", row["prompt"]) for row in texts]
        ),
        "responses.csv": csv_text(
            [("question_id", "figure", "model", "version", "response")]
            + [
                (row["prompt_id"], "", system, "2025-11-17", row[f"{system}_response"])
                for row in texts
                for system in ("rag", "base")
            ]
        ),
    }
    desk = pair_desk(tmp_path, 1, files)
    preferred = {(row["rater"], row["prompt_id"]): row["preferred"] for row in preferences}
    for rater in raters:
        text = desk.submission(
            rater,
            lambda q, m, rater=rater: {"Preferred_Score": int(preferred[rater, q] == m)},  # type: ignore[misc]
            ("Test_Case", "Response", "Preferred_Score"),
        )
        assert desk.send(rater, text).problems == ()
    direction = desk.criteria().direction
    assert direction.fleiss_kappa.value == pytest.approx(0.1302, abs=5e-5)
    assert direction.mean_pairwise == pytest.approx(0.507, abs=5e-4)
    wins = [
        (each.test.wins, each.test.losses, each.test.ties, round(each.test.p or 0, 6))
        for each in desk.unblind().wins
    ]
    assert wins == [
        (13, 20, 17, 0.296206), (28, 15, 7, 0.065994), (36, 14, 0, 0.002602), (36, 14, 0, 0.002602),
        (113, 63, 24, 0.000202),
    ]  # fmt: skip
