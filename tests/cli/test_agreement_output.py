"""How `agreement` prints what its figures mean."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sheetsync.cli.main import cli

PAIRS = {(5, 5): 30, (4, 4): 2, (5, 4): 4, (4, 5): 3, (5, 2): 1}


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    """Two dimensions of forty responses: one crowded at 5, one on which nothing varies."""
    lines = ["unit,rater,value,dimension,figure"]
    scores = [pair for pair, n in PAIRS.items() for _ in range(n)]
    for at, (first, second) in enumerate(scores):
        figure = "Macrina" if at % 2 else "Olympias"
        lines += [f"u{at},A,{first},Accuracy,{figure}", f"u{at},B,{second},Accuracy,{figure}"]
        lines += [f"u{at},A,3,Same,{figure}", f"u{at},B,3,Same,{figure}"]
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_every_dimension_is_explained_in_lines_that_fit(ratings: Path) -> None:
    result = invoke("agreement", ratings, "--scale", "1,2,3,4,5", "--by", "figure", "--resamples", 200)
    assert result.exit_code == 0, result.output
    why = result.stdout[
        result.stdout.index("Why, on Accuracy") : result.stdout.rindex("Alpha: Krippendorff's")
    ]
    assert max(len(line) for line in why.splitlines()) <= 100
    words = " ".join(why.split())
    assert "of the ratings are 5, the highest level" in words
    assert "Raters who ignore the text, each keeping the scores they gave, get alpha" in words
    assert "of alpha's disagreement lies across 4 and 5; " in words
    assert "Hardest to score alike: figure " in words
    assert "it is too narrow; the jackknife gives" in words
    assert "Every rating that can be compared is 3" in words
    assert "Nothing varies on Same, which adds nothing." in words
    assert "Footnote, not a result: all ratings stacked give" in words
    assert "\u2212" not in result.stdout


def test_json_holds_the_explanations_after_the_contract(ratings: Path) -> None:
    found = json.loads(
        invoke("agreement", ratings, "--json", "--scale", "1,2,3,4,5", "--resamples", 0).stdout
    )
    assert list(found) == ["schema", "dimensions", "tags", "explanations", "pooled"]
    assert [each["dimension"] for each in found["explanations"]] == ["Accuracy", "Same"]
    assert found["explanations"][0]["intervals"]["default"]["interval_reason"] == "not_requested"
    assert found["pooled"]["without_variation"] == ["Same"]
    assert "explanations" not in found["dimensions"][0]


def test_what_stands_in_the_file_never_steers_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    rows = [f"u{at}\x1b[31m,{rater},{1 + (at + (rater == 'B')) % 3}" for at in range(12) for rater in "AB"]
    path.write_text("unit,rater,value\n" + "\n".join(rows) + "\n", encoding="utf-8")
    out = invoke("agreement", path, "--resamples", 0).stdout
    assert "most of all u" in " ".join(out.split())
    assert "\x1b" not in out


def test_one_dimension_is_not_pooled(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("unit,rater,value\nu1,A,1\nu1,B,2\n", encoding="utf-8")
    result = invoke("agreement", path, "--json", "--resamples", 0)
    assert json.loads(result.stdout)["pooled"] is None
    assert "All dimensions together" not in invoke("agreement", path, "--resamples", 0).stdout


def test_rounding_never_moves_a_verdict(tmp_path: Path) -> None:
    """An alpha just under a border is printed with the decimals that show it."""
    from sheetsync.cli.output_agreement import agreement_row
    from sheetsync.domain.agreement.assessment import Options, assess_agreement
    from sheetsync.domain.agreement.coefficients import Coefficient
    from tests.domain.test_explanation import FIRST_ROUND, from_pairs

    assessed = assess_agreement([from_pairs(FIRST_ROUND)], (), Options(resamples=0)).dimensions[0]
    figures = {**assessed.coefficients, "alpha": Coefficient(0.19996, interval_reason="not_requested")}
    row = agreement_row(
        "Accuracy", assessed.__class__(**{**vars(assessed), "coefficients": figures}), "landis-koch"
    )
    assert row[2] == "0.19996"


def test_a_limit_beside_0_shows_on_which_side_it_is() -> None:
    """X2: whether alpha's bound is above 0 decides a claim, so -0.004 is neither 0.00 nor -0.00."""
    from sheetsync.api_result import _interval as of_frames
    from sheetsync.cli.output_agreement import _interval as of_terminal
    from sheetsync.cli.output_agreement import _number as of_terminal_number
    from sheetsync.domain.agreement.coefficients import Coefficient
    from sheetsync.report_cells import interval as of_report

    found = Coefficient(0.1, -0.0036, 0.278)
    assert of_terminal(found) == "-0.004 to 0.28"
    assert of_terminal_number(Coefficient(-0.0001)) == "0.000"  # and never -0.000
    assert of_report(found).text == "−0.004 to 0.28"
    assert of_frames(Coefficient(0.1, 0.0003, 0.278)) == "0.0003 to 0.278"
