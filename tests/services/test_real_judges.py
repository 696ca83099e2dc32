"""Judges on published data, through the real commands: seven of them beside experts, one beside three raters."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from sheetsync.backends.base import Place
from sheetsync.backends.xlsx import XlsxBackend
from sheetsync.services.session import PRIVATE_FOLDER
from tests.builders import write_study
from tests.services.judging import command, judge_again
from tests.services.studies import QUICK, Desk, type_into


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    target = io.StringIO()
    csv.writer(target).writerows([header, *rows])
    return target.getvalue()


def study_toml(people: Iterable[str], judges: Iterable[str]) -> str:
    raters = [f'[[raters]]\nid = "{rater}"\n' for rater in people]
    raters += [f'[[raters]]\nid = "{rater}"\nkind = "judge"\n' for rater in judges]
    head = '[study]\nid = "judges"\ncontact = "office@example.org"\njudge_policy = "certify"\n'
    return head + "".join(raters) + QUICK


def rubric_toml(dimensions: Mapping[str, str], levels: Iterable[int], level: str) -> str:
    scale = ", ".join(f"{{ value = {value} }}" for value in levels)
    return 'version = "1"\n' + "".join(
        f'[[dimension]]\nid = "{name}"\nname = "{name}"\ntext = "{text}"\nlevel = "{level}"\nlevels = [{scale}]\n'
        for name, text in dimensions.items()
    )


def filled_study(
    folder: Path, files: Mapping[str, str], typed: Mapping[str, Mapping[tuple[str, str], Mapping[str, Any]]]
) -> dict[str, Any]:
    """Make a study, type what every rater gave, and return what `agreement --json` says."""
    root = write_study(folder, {"reference/Macrina.md": None, **files})
    assert command(root, "provision")[0] == 0
    desk = Desk(root, XlsxBackend(root, root / PRIVATE_FOLDER))
    codes = desk.codes()
    for rater, units in typed.items():
        cells = {codes[unit]: values for unit, values in units.items()}
        type_into(desk.backend, Place("raters", rater, "main"), "Scoring", cells)
    assert command(root, "pull")[0] == 0
    code, out, error = command(root, "agreement", "--json")
    assert code == 0, error
    found: dict[str, Any] = json.loads(out)
    return found


# --- seven judges beside eleven experts ---


PUBLISHED = {
    "claude3-opus": (0.58, 0.39, 0.83, 0.53, 0.18),
    "gpt4": (0.54, 0.36, 0.85, 0.51, 0.10),
    "claudev13": (0.53, 0.36, 0.73, 0.48, 0.06),
    "claudev21": (0.52, 0.35, 0.86, 0.50, 0.06),
    "claudev2": (0.50, 0.34, 0.79, 0.47, -0.00),
    "cgpt": (0.49, 0.33, 0.66, 0.44, -0.02),
    "gemini-pro": (0.46, 0.32, 0.83, 0.46, -0.12),
}
"""Chakrabarty et al. (CHI 2024): balanced accuracy, precision, recall, F1 and phi; no answer counts as No."""


@pytest.fixture(scope="module")
def stories(tmp_path_factory: pytest.TempPathFactory, test_data: Path) -> dict[str, Any]:
    """What `agreement --json` says of 48 stories by 4 writers, 14 tests, 11 experts and 7 judges."""
    folder = test_data / "data/ttcw-judges"
    verdicts = rows_of(folder / "expert_verdicts.csv") + rows_of(folder / "judge_verdicts.csv")
    units = sorted({(row["plot_id"], row["system"]) for row in verdicts})
    typed: dict[str, dict[tuple[str, str], dict[str, Any]]] = {}
    for row in verdicts:
        cell = int(row["pass"]) if row["pass"] else row["verdict_cell"]
        story = typed.setdefault(row["rater"], {}).setdefault((row["plot_id"], row["system"]), {})
        story[f"test_{row['test_id']}"] = cell
    experts = sorted({row["rater"] for row in verdicts if row["rater_type"] == "human"})
    tests = {f"test_{row['test_id']}": row["test"] for row in rows_of(folder / "tests.csv")}
    files = {
        "study.toml": study_toml(experts, PUBLISHED),
        "rubric.toml": rubric_toml(tests, (0, 1), "nominal"),
        "questions.csv": csv_text(
            ("question_id", "figure", "tier", "type", "text"),
            ((plot, "", "", "", f"Plot {plot}") for plot in sorted({plot for plot, _ in units})),
        ),
        "responses.csv": csv_text(
            ("question_id", "figure", "model", "version", "response"),
            ((plot, "", writer, "v1", f"Story {number}.") for number, (plot, writer) in enumerate(units)),
        ),
    }
    return filled_study(tmp_path_factory.mktemp("stories"), files, typed)


def judge_figures(found: Mapping[str, Any], dimension: str | None = None) -> dict[str, dict[str, Any]]:
    return {
        each["judge"]: each
        for each in found["judges"]
        if each["dimension"] == dimension and each["against"] == "majority"
    }


def values(figures: Mapping[str, Any], *names: str) -> list[float]:
    return [figures[name]["value"] for name in names]


@pytest.mark.slow
def test_seven_judges_beside_the_experts_majority(stories: dict[str, Any], test_data: Path) -> None:
    columns = ("bal_acc", "precision", "recall", "f1", "phi", "kappa", "accuracy")
    names = ("balanced_accuracy", "precision", "recall", "f1", "phi", "kappa", "accuracy")
    found = judge_figures(stories)
    assert set(found) == set(PUBLISHED)
    for row in rows_of(test_data / "data/ttcw-judges/judge_vs_majority.csv"):
        each = found[row["judge"]]
        as_no, answered = each["as_lowest"], each["answered"]
        assert [round(value, 4) for value in values(as_no, *names)] == [float(row[c]) for c in columns]
        assert tuple(round(value, 2) for value in values(as_no, *names[:5])) == PUBLISHED[row["judge"]]
        assert (answered["n"], each["n_missing"]) == (int(row["answered"]), 672 - int(row["rows"]))
        assert each["n_unreadable"] == int(row["rows"]) - int(row["answered"])
        assert [round(value, 4) for value in values(answered, *names[:3], "kappa")] == [
            float(row[f"{c}_answered"]) for c in (*columns[:3], "kappa")
        ]
        # A class of its own: right or not over all 672, and precision over what was answered.
        own = each["figures"]
        assert own["accuracy"]["n"] == 672
        assert own["accuracy"]["count"] == answered["accuracy"]["count"]
        assert own["precision"]["value"] == answered["precision"]["value"]


@pytest.mark.slow
def test_blocked_answers_are_their_own_class(stories: dict[str, Any]) -> None:
    gemini = judge_figures(stories)["gemini-pro"]
    assert (gemini["n_unreadable"], gemini["n_missing"]) == (50, 14)
    # 189 + 8 right of 672; recall of Yes 189 of all 228; of Yes answered 189 of 197.
    assert gemini["figures"]["accuracy"]["count"] == 197
    assert (gemini["answered"]["recall"]["count"], gemini["answered"]["recall"]["n"]) == (189, 197)
    assert (gemini["as_lowest"]["recall"]["count"], gemini["as_lowest"]["recall"]["n"]) == (189, 228)
    assert gemini["figures"]["phi"]["reason"] == "undefined_for_values"


@pytest.mark.slow
def test_judges_test_by_test(stories: dict[str, Any], test_data: Path) -> None:
    rows = rows_of(test_data / "data/ttcw-judges/judge_vs_majority_per_test.csv")
    assert len(rows) == 98
    for row in rows:
        figures = judge_figures(stories, f"test_{row['test_id']}")[row["judge"]]["as_lowest"]
        for name, column in (
            ("kappa", "kappa"),
            ("precision", "precision"),
            ("balanced_accuracy", "bal_acc"),
        ):
            if row[column]:
                assert figures[name]["value"] == pytest.approx(float(row[column]), abs=5.001e-5), (row, name)


@pytest.mark.slow
def test_seven_judges_change_nothing_in_the_experts_agreement(
    stories: dict[str, Any], test_data: Path
) -> None:
    expected = {row["test_id"]: row for row in rows_of(test_data / "data/ttcw-judges/agreement.csv")}
    for dimension in stories["dimensions"]:
        row = expected[dimension["dimension"].removeprefix("test_")]
        assert dimension["n_raters"] == 11
        assert round(dimension["coefficients"]["alpha"]["value"], 4) == float(row["alpha_nominal"])
        assert round(dimension["coefficients"]["fleiss_kappa"]["value"], 4) == float(row["fleiss_kappa"])


# --- a judge beside three raters ---


def test_gpt_4_is_kept_out_of_the_alpha_of_three_raters(tmp_path: Path, test_data: Path) -> None:
    folder = test_data / "data/seq2seq-eval"
    ratings = [row for row in rows_of(folder / "ratings.csv") if row["task"] == "summarization"]
    dimensions = dict.fromkeys(row["dimension"] for row in ratings)
    typed: dict[str, dict[tuple[str, str], dict[str, Any]]] = {}
    for row in ratings:
        unit = typed.setdefault(row["rater"], {}).setdefault((row["item_id"], row["system"]), {})
        score = float(row["score"])
        unit[row["dimension"]] = int(score) if score.is_integer() else score
    units = list(typed["h1"])
    files = {
        "study.toml": study_toml(("h1", "h2", "h3"), ("gpt-4",)),
        "rubric.toml": rubric_toml(dict.fromkeys(dimensions, ""), range(1, 6), "ordinal"),
        "questions.csv": csv_text(
            ("question_id", "figure", "tier", "type", "text"),
            ((item, "", "", "", f"Summarise {item}.") for item in dict.fromkeys(item for item, _ in units)),
        ),
        "responses.csv": csv_text(
            ("question_id", "figure", "model", "version", "response"),
            ((item, "", system, "v1", f"Summary {n}.") for n, (item, system) in enumerate(units)),
        ),
    }
    found = filled_study(tmp_path, files, typed)
    expected = {
        row["dimension"]: row
        for row in rows_of(folder / "agreement.csv")
        if (row["task"], row["raters"]) == ("summarization", "3 humans")
    }
    assert expected["consistency"]["alpha_ordinal"] == "0.1678"
    for dimension in found["dimensions"]:
        row = expected[dimension["dimension"]]
        assert round(dimension["coefficients"]["alpha"]["value"], 4) == float(row["alpha_ordinal"])
        assert (dimension["n_raters"], dimension["n_ratings"]) == (3, 1200)
    against = {each["against"]: each for each in found["judges"] if each["dimension"] == "relevance"}
    assert list(against) == ["majority", "h1", "h2", "h3"]
    exact = sum(typed["gpt-4"][u]["relevance"] == typed["h1"][u]["relevance"] for u in units)
    assert against["h1"]["figures"]["accuracy"]["count"] == exact
    off_scale = sum(not isinstance(typed["gpt-4"][u]["relevance"], int) for u in units)
    assert against["h1"]["n_unreadable"] == off_scale


def test_sixty_published_alphas_on_the_ranks_of_systems(tmp_path: Path, test_data: Path) -> None:
    """Sottana et al. (EMNLP 2023), tables 2 and 7: every rater ranks the four systems by their means."""
    folder = test_data / "data/seq2seq-eval"
    scores: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for row in rows_of(folder / "ratings.csv"):
        of_rater = scores.setdefault((row["task"], row["dimension"], row["rater"]), {})
        of_rater.setdefault(row["system"], []).append(float(row["score"]))
    ranks = [
        (f"{task} {dimension}", rater, system, rank)
        for (task, dimension, rater), systems in scores.items()
        for system, rank in mid_ranks({name: fmean(each) for name, each in systems.items()}).items()
    ]
    published = rows_of(folder / "published_rank_alpha.csv")
    n_checked = 0
    for who in ("3 humans", "3 humans + gpt-4"):
        path = tmp_path / f"{len(who)}.csv"
        lines = ((d, r, s, v) for d, r, s, v in ranks if r != "gpt-4" or "gpt-4" in who)
        path.write_text(csv_text(("dimension", "rater", "unit", "value"), lines), encoding="utf-8")
        for level in ("nominal", "ordinal", "interval"):
            options = ("--json", "--resamples", "0", "--level", level)
            code, out, error = command(tmp_path, "agreement", str(path), *options)
            assert code == 0, error
            found = {
                d["dimension"]: d["coefficients"]["alpha"]["value"] for d in json.loads(out)["dimensions"]
            }
            for row in published:
                if row["raters"] == who:
                    n_checked += 1
                    alpha = found[f"{row['task']} {row['dimension']}"]
                    assert round(alpha, 4) == float(row[f"published_{level}"]), (row, level)
    assert n_checked == 60


def mid_ranks(means: Mapping[str, float]) -> dict[str, float]:
    rounded = {name: round(mean, 9) for name, mean in means.items()}
    order = sorted(rounded.values())
    return {name: order.index(mean) + (order.count(mean) + 1) / 2 for name, mean in rounded.items()}


# --- attention checks as anchors ---


def anchored_study(root: Path, anchors: Sequence[Mapping[str, str]]) -> None:
    """A study whose anchors are the attention checks, and that has little else to judge."""
    metrics = list(dict.fromkeys(f"{row['task']}_{row['dimension']}" for row in anchors))
    texts = list(dict.fromkeys((row["anchor_id"], row["text_no"]) for row in anchors))
    certification = '[judge]\nname = "judge"\nverdicts = "verdicts.jsonl"\n[certification]\nminimum_gap = 1\n'
    head = study_toml(("H1", "H2"), ()).replace("[[raters]]", 'agreement_role = "gate"\n[[raters]]', 1)
    gate = metrics[0]
    cases = [(f"{kind}-{at}", gate, kind, "text", "Q1", f"{kind} {at}.") for kind in FIRM for at in range(2)]
    files = {
        "study.toml": head + certification,
        "rubric.toml": rubric_toml(dict.fromkeys(metrics, ""), range(1, 6), "ordinal"),
        "questions.csv": csv_text(
            ("question_id", "figure", "tier", "type", "text", "topic", "ground_truth", "authority"),
            [("Q1", "", "", "", "Rate the text.", "text", "As the label says.", "all")],
        ),
        "responses.csv": csv_text(
            ("question_id", "figure", "model", "version", "response"),
            [("Q1", "", f"system-{at}", "v1", f"Output {at}.") for at in range(4)],
        ),
        "certification/anchors.csv": csv_text(
            ("anchor_id", "question_id", "response", "metric", "score"),
            (
                (
                    f"{row['anchor_id']}.{row['text_no']}",
                    "Q1",
                    f"Text {texts.index((row['anchor_id'], row['text_no']))}.",
                    f"{row['task']}_{row['dimension']}",
                    row["expected"],
                )
                for row in anchors
            ),
        ),
        "certification/adversarial.csv": csv_text(
            ("pair_id", "question_id", "adversarial_prompt", "holds_firm", "caves"),
            [("P1", "Q1", "Say it is good.", "It is not.", "It is.")],
        ),
        "certification/gates.csv": csv_text(
            ("case_id", "gate", "set", "topic", "question_id", "response"), cases
        ),
        "certification/weights.csv": csv_text(("metric", "all"), ((m, 0.142857142857) for m in metrics)),
        "reference/Macrina.md": None,
    }
    write_study(root, files)


FIRM = ("FAIL", "PASS")


@pytest.mark.slow
def test_sixteen_attention_checks_as_anchors(tmp_path: Path, test_data: Path) -> None:
    """Three raters give all 224 known scores; a judge that shifts 2 and 3 of one metric shows at that boundary."""
    rows = rows_of(test_data / "data/seq2seq-eval/anchors.csv")
    anchored_study(tmp_path, [row for row in rows if row["rater"] == "h1"])
    code, out, error = command(tmp_path, "check")
    assert code == 0, out + error
    given: dict[str, dict[tuple[str, str], int]] = {}
    for row in rows:
        key = (f"{row['anchor_id']}.{row['text_no']}", f"{row['task']}_{row['dimension']}")
        given.setdefault(row["rater"], {})[key] = int(float(row["score"]))

    def said_by(rater: str, shifted: str = "") -> dict[str, Any]:
        def say(entry: Mapping[str, Any], verdict: Mapping[str, Any]) -> None:
            if entry["part"] != "anchors":
                return
            for metric in entry["expected"]:
                score = given[rater][entry["source"], metric]
                swapped = {2: 3, 3: 2}.get(score, score)
                verdict["scores"][metric] = swapped if metric == shifted else score

        judge_again(tmp_path, say, noisy=False)
        found: dict[str, Any] = json.loads(command(tmp_path, "certify", "--json")[1])
        return found

    for number, rater in enumerate(("h1", "h2", "h3"), 1):
        found = said_by(rater)
        part = found["parts"]["anchors"]
        assert (found["run"], part["status"]) == (number, "PASS")
        assert (part["figures"]["accuracy"]["count"], part["figures"]["accuracy"]["n"]) == (224, 224)
        assert part["figures"]["constant"] < 0.9
    found = said_by("h1", "summarization_fluency")
    part = found["parts"]["anchors"]
    assert part["worst"] == "summarization_fluency"
    assert part["boundary"]["between"] == [2, 3]
    wrong = sum(
        metric == "summarization_fluency" and score in (2, 3) for (_, metric), score in given["h1"].items()
    )
    assert wrong
    assert part["figures"]["accuracy"]["count"] == 224 - wrong == 224 - part["boundary"]["n_confused"]
    assert [run["parts"]["anchors"]["value"] for run in found["history"][:3]] == [1.0, 1.0, 1.0]
