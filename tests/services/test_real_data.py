"""Studies made of real question banks and real ratings, through real workbooks."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sheetsync.backends.base import Place
from sheetsync.backends.xlsx import XlsxBackend
from sheetsync.cli.main import cli
from sheetsync.services.check import check
from sheetsync.services.session import PRIVATE_FOLDER
from sheetsync.templates_folder import templates_dir
from tests.builders import write_study
from tests.services.studies import QUICK, Desk, type_into


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def csv_text(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    target = io.StringIO()
    csv.writer(target).writerows([header, *rows])
    return target.getvalue()


def invoke(*arguments: object) -> Any:
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def study_toml(title: str, raters: Sequence[str]) -> str:
    blocks = "".join(f'[[raters]]\nid = "{rater}"\n' for rater in raters)
    return f'[study]\nid = "real"\ntitle = "{title}"\ncontact = "office@example.org"\n{blocks}{QUICK}'


# --- the bank of the project whose method this tool follows ---

FIGURES = {"M": "Macrina the Younger", "O": "Olympias of Constantinople"}
PREMISES = ("M11", "M16", "O11", "O16", "O17")


def test_a_study_of_the_real_question_bank(tmp_path: Path, test_data: Path) -> None:
    bank = rows_of(test_data / "data/matristics-bank/question_bank.csv")
    assert len(bank) == 35
    questions = csv_text(
        ("question_id", "figure", "tier", "type", "text", "false_premise"),
        (
            (
                row["Q#"],
                FIGURES[row["Q#"][0]],
                row["Difficulty"],
                row["Category"],
                row["Question"],
                "What the question takes for granted is not so." if row["Q#"] in PREMISES else "",
            )
            for row in bank
        ),
    )
    responses = csv_text(
        ("question_id", "figure", "model", "version", "response"),
        (
            (
                row["Q#"],
                FIGURES[row["Q#"][0]],
                f"Model {number}",
                f"m{number}-2026-05-01",
                f"In manner {number}: {row['Question']}",
            )
            for row in bank
            for number in range(1, 7)
        ),
    )
    rubric = (templates_dir() / "historical-figures/rubric.toml").read_text(encoding="utf-8")
    files = {f"reference/{name}.md": f"# {name}\n\nFacts.\n" for name in FIGURES.values()}
    root = write_study(
        tmp_path,
        {
            **files,
            "reference/Macrina.md": None,
            "study.toml": study_toml("The real bank", ["A1", "A2"]),
            "rubric.toml": rubric,
            "questions.csv": questions,
            "responses.csv": responses,
        },
    )
    assert check(root).errors == ()
    made = invoke("-C", root, "provision", "--json")["made"]
    assert [(m["rater"], m["batch"], m["units"]) for m in made] == [("A1", "main", 210), ("A2", "main", 210)]
    desk = Desk(root, XlsxBackend(root, root / PRIVATE_FOLDER))
    codes = desk.codes()
    assert len(set(codes.values())) == 210
    orders = [list(desk.cells(rater, "main")) for rater in ("A1", "A2")]
    assert set(orders[0]) == set(orders[1]) == set(codes.values())
    assert orders[0] != orders[1]
    cells = desk.cells("A1", "main")[codes["O16", "Model 3"]]
    row = next(row for row in bank if row["Q#"] == "O16")
    assert (cells["Question"], cells["Figure"]) == (row["Question"], FIGURES["O"])
    assert cells["Response"] == f"In manner 3: {row['Question']}"
    status = invoke("-C", root, "status", "--json")
    assert status["units"]["total"] == 210
    assert [w["untouched"] for w in status["workbooks"]] == [210, 210]


# --- four raters, a hundred responses, two dimensions ---

PDPA_RUBRIC = """\
version = "1"
[[dimension]]
id = "factuality"
name = "factuality"
levels = [{ value = 1 }, { value = 2 }, { value = 3 }, { value = 4 }, { value = 5 }]
[[dimension]]
id = "usefulness"
name = "usefulness"
levels = [{ value = 1 }, { value = 2 }, { value = 3 }, { value = 4 }, { value = 5 }]
"""


def test_a_study_rebuilt_from_real_ratings_gives_its_figures(tmp_path: Path, test_data: Path) -> None:
    folder = test_data / "data/pdpa-ab"
    texts, ratings = rows_of(folder / "responses.csv"), rows_of(folder / "ratings.csv")
    raters = sorted({row["rater"] for row in ratings})
    root = write_study(
        tmp_path,
        {
            "reference/Macrina.md": None,
            "study.toml": study_toml("Data protection", raters),
            "rubric.toml": PDPA_RUBRIC,
            "questions.csv": csv_text(
                ("question_id", "figure", "tier", "type", "text"),
                ((row["prompt_id"], "", "", "", row["prompt"]) for row in texts),
            ),
            "responses.csv": csv_text(
                ("question_id", "figure", "model", "version", "response"),
                (
                    (row["prompt_id"], "", system, f"{system}-2025-11-17", row[f"{system}_response"])
                    for row in texts
                    for system in ("rag", "base")
                ),
            ),
        },
    )
    assert check(root).errors == ()
    desk = Desk(root, XlsxBackend(root, root / PRIVATE_FOLDER))
    desk.provision()
    codes = desk.codes()
    orders = {rater: tuple(desk.cells(rater, "main")) for rater in raters}
    assert len(set(orders.values())) == 4
    for rater in raters:
        typed: dict[str, dict[str, int]] = {}
        for row in ratings:
            if row["rater"] == rater:
                code = codes[row["prompt_id"], row["system"]]
                typed.setdefault(code, {})[row["dimension"]] = int(row["score"])
        type_into(desk.backend, Place("raters", rater, "main"), "Scoring", typed)
    result = invoke("-C", root, "run", "--json")
    assert sum(w["ratings"]["new"] for w in result["pull"]["workbooks"]) == 800
    assert result["pull"]["problems"] == []
    dimensions = {d["dimension"]: d for d in result["agreement"]["dimensions"]}
    expected = {
        row["dimension"]: row for row in rows_of(folder / "agreement.csv") if row["raters"] == "4 raters"
    }
    assert expected["factuality"]["alpha_ordinal"] == "0.0379"
    for name, row in expected.items():
        found = dimensions[name]
        assert round(found["coefficients"]["alpha"]["value"], 4) == float(row["alpha_ordinal"])
        assert round(found["coefficients"]["exact"]["value"] * 100, 4) == float(row["exact_pct"])
        assert round(found["coefficients"]["within"]["value"] * 100, 4) == float(row["within1_pct"])
        assert (found["n_units"], found["n_pairable"], found["n_ratings"]) == (100, 100, 400)
        wide = [d for d in result["divergences"]["divergences"] if d["dimension"] == name]
        assert len(wide) == int(row["items_range_ge2"])
    assert [len(dimensions[name]["pairs"]) for name in expected] == [6, 6]


# --- any ratings file ---


def check_figures(found: Mapping[str, Any], row: Mapping[str, str]) -> None:
    coefficients = found["coefficients"]
    for name, column, scale in (
        ("alpha", "alpha_ordinal", 1),
        ("exact", "exact_pct", 100),
        ("within", "within1_pct", 100),
        ("mean_abs_difference", "mean_abs_diff", 1),
    ):
        value = coefficients[name]["value"] * scale
        assert value == pytest.approx(float(row[column]), abs=5.001e-5), (name, row)
    assert (found["n_units"], found["n_pairable"]) == (int(row["items"]), int(row["items_2plus"]))
    assert found["n_ratings"] == int(row["ratings"])


@pytest.mark.parametrize(("who", "models"), [("3 humans", False), ("3 humans + gpt-4", True)])
def test_agreement_of_a_large_ratings_file(tmp_path: Path, test_data: Path, who: str, models: bool) -> None:
    folder = test_data / "data/seq2seq-eval"
    path = tmp_path / "ratings.csv"
    path.write_text(
        csv_text(
            ("unit", "rater", "dimension", "value"),
            (
                (
                    f"{row['task']}/{row['item_id']}/{row['system']}",
                    row["rater"],
                    f"{row['task']} {row['dimension']}",
                    row["score"],
                )
                for row in rows_of(folder / "ratings.csv")
                if models or row["rater_type"] == "human"
            ),
        ),
        encoding="utf-8",
    )
    report = invoke("agreement", path, "--json", "--resamples", 0)
    found = {d["dimension"]: d for d in report["dimensions"]}
    expected = [row for row in rows_of(folder / "agreement.csv") if row["raters"] == who]
    assert len(expected) == len(found) == 10
    for row in expected:
        check_figures(found[f"{row['task']} {row['dimension']}"], row)
