"""`demo`: a whole study with simulated people, through workbooks, to the report."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from sheetsync.backends.memory import MemoryBackend
from sheetsync.domain.simulate import FIRST_ROUND, Profile
from sheetsync.errors import StudyError
from sheetsync.services.analyze import analyze
from sheetsync.services.criteria import criteria
from sheetsync.services.demo import DemoResult, demo, play
from sheetsync.services.session import reading_session, writing_session
from tests.builders import RUBRIC_TOML, STUDY_TOML, write_study

NOW = "2026-07-01T02:00:00Z"
FEW_RESAMPLES = "\n[agreement]\nresamples = 100\n"


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> DemoResult:
    return demo(tmp_path_factory.mktemp("demo") / "study", "historical-figures", "xlsx", NOW)


def test_the_shipped_template_goes_all_the_way(shipped: DemoResult) -> None:
    assert (shipped.units, shipped.raters, shipped.exit_code) == (210, ("A1", "A2"), 0)
    assert [workbook.rows for workbook in shipped.workbooks] == [210, 210]
    assert shipped.cells > 1680
    for name in shipped.files:
        assert (shipped.folder / name).stat().st_size > 0, name
    assert shipped.files[0] == "reports/report.html"


def test_what_was_typed_is_what_was_read(shipped: DemoResult) -> None:
    # All but the doubtful score and the two that were left out.
    assert shipped.ratings == 210 * 2 * 4 - 3


def test_the_published_figures_come_out(shipped: DemoResult) -> None:
    for figures in shipped.dimensions:
        assert figures.alpha is not None
        assert figures.exact is not None
        assert figures.within is not None
        assert 0.09 <= figures.alpha <= 0.24, figures
        assert 0.52 <= figures.exact <= 0.75, figures
        assert 0.87 <= figures.within <= 0.92, figures
        assert 16 <= figures.divergences <= 27, figures
    report = json.loads((shipped.folder / "reports" / "agreement.json").read_text(encoding="utf-8"))
    printed = [each["coefficients"]["alpha"]["value"] for each in report["dimensions"]]
    assert printed == [figures.alpha for figures in shipped.dimensions]


def test_states_of_divergences_are_visible(shipped: DemoResult) -> None:
    assert shipped.states["settled"] > 10
    assert shipped.states["open"] > 10
    assert shipped.states["changed_since_verdict"] == 1
    assert shipped.states["settled"] + 1 == shipped.verdicts
    assert shipped.applicability > 0
    with reading_session(shipped.folder) as session:
        analysis = analyze(session)
    assert Counter(d.state for d in analysis.divergences) == Counter(shipped.states)
    verdicts = [d.verdict for d in analysis.divergences if d.state == "settled"]
    assert all(verdict and verdict.adjudicator == "E1" and verdict.reason for verdict in verdicts)


def test_problems_are_shown_with_their_place(shipped: DemoResult) -> None:
    assert 4 <= shipped.problems <= 12
    assert any("'4?'" in example for example in shipped.examples)
    assert all(example.startswith(("A1 ", "A2 ")) for example in shipped.examples)


def test_the_story_is_short_and_says_where_to_look(shipped: DemoResult) -> None:
    story = shipped.story()
    assert len(story) < 30
    text = "\n".join(story)
    assert "simulated" in text
    assert all(name in text for name in shipped.files)
    assert all(figures.dimension in text for figures in shipped.dimensions)


def test_json(shipped: DemoResult) -> None:
    made = json.loads(json.dumps(shipped.to_dict(), allow_nan=False))
    assert made["schema"] == "sheetsync.demo/1"
    assert (made["units"], made["ratings"], made["cells"]) == (210, shipped.ratings, shipped.cells)


def test_google_needs_an_emulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHEETS_EMULATOR_HOST", raising=False)
    with pytest.raises(StudyError, match="SHEETS_EMULATOR_HOST") as caught:
        demo(tmp_path / "study", "historical-figures", "google", NOW)
    assert caught.value.exit_code == 2
    assert not (tmp_path / "study").exists()


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    write_study(tmp_path)
    with pytest.raises(StudyError, match="not empty"):
        demo(tmp_path, "historical-figures", "xlsx", NOW)
    assert not (tmp_path / ".sheetsync").exists()


def play_in_memory(folder: Path, profile: Profile = FIRST_ROUND) -> tuple[DemoResult, list[str]]:
    told: list[str] = []
    with writing_session(folder, "demo", NOW) as opened:
        session = replace(opened, backend=MemoryBackend())
        return play(session, "small", NOW, told.append, profile), told


def test_a_small_study_in_memory_twice_gives_the_same(tmp_path: Path) -> None:
    results = []
    for name in ("one", "two"):
        folder = write_study(tmp_path / name, {"study.toml": STUDY_TOML + FEW_RESAMPLES})
        result, told = play_in_memory(folder)
        assert any("ann types" in line for line in told)
        results.append(replace(result, folder=tmp_path))
    assert results[0] == results[1]
    assert results[0].units == 6


@pytest.mark.parametrize("layout", ["single", "pairs"])
def test_words_confidence_practice_and_raters_who_share_the_units(tmp_path: Path, layout: str) -> None:
    study = STUDY_TOML.replace('[[raters]]\nid = "ben"', '[[raters]]\nid = "ben"\n\n[[raters]]\nid = "cy"')
    design = f'\n[design]\nlayout = "{layout}"\nraters_per_unit = 2\ncalibration_units = 2\n'
    tone = '\n[[dimension]]\nid = "tone"\nname = "Tone"\nconfidence = true\n'
    levels = 'levels = [{ value = "poor" }, { value = "fair" }, { value = "good" }]\n'
    files = {
        "study.toml": study + design + FEW_RESAMPLES,
        "rubric.toml": RUBRIC_TOML.replace("\n[[remark]]", tone + levels + "\n[[remark]]"),
    }
    faultless = Profile(FIRST_ROUND.judgements, slips=0)
    result, _ = play_in_memory(write_study(tmp_path, files), faultless)
    assert result.units == 4
    assert {workbook.batch for workbook in result.workbooks} == {"calibration", "main"}
    assert result.ratings == 3 * (4 * 2 + 2 * 3)
    assert result.problems == 0
    assert result.incomplete == ()


# --- blinded pairs ---


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> DemoResult:
    return demo(tmp_path_factory.mktemp("pairs") / "study", "blinded-pairs", "xlsx", NOW)


def test_blinded_pairs_go_all_the_way_and_end_complete(pairs: DemoResult) -> None:
    assert (pairs.units, pairs.raters, pairs.exit_code) == (36, ("V1", "V2", "V3"), 0)
    assert [workbook.rows for workbook in pairs.workbooks] == [2, 2, 2, 36, 36, 36]
    assert pairs.problems == 0
    assert "No place needs a second look" in "\n".join(pairs.story())
    with reading_session(pairs.folder) as session:
        analysis = analyze(session)
    assert {(each.assigned, each.complete) for each in analysis.progress} == {(36, 36), (2, 2)}
    broken = [tags for tags in analysis.current.ticks.values() if "blinding-broken" in tags]
    assert 1 <= len(broken) <= 3
    assert len(analysis.current.remarks) > 3
    assert {rater: found.answered for rater, found in analysis.self_checks.items()} == dict.fromkeys(
        pairs.raters, 180
    )
    assert all(found.share and found.share > 0.7 and found.low for found in analysis.self_checks.values())
    report = (pairs.folder / "reports" / "report.html").read_text(encoding="utf-8")
    assert "rater-self-check" in report


def test_criteria_are_frozen_before_anybody_scores_and_judged_at_the_end(pairs: DemoResult) -> None:
    with reading_session(pairs.folder) as session:
        promise = criteria(session).promise
    assert (promise.frozen_at, promise.scores_before, promise.deviations) == (NOW, 0, ())
    assert [(each.id, each.outcome) for each in pairs.criteria] == [
        ("alpha", "met"),
        ("direction", "met"),
        ("validators", "met"),
        ("internal_spearman", "met"),
    ]
    story = pairs.story()
    at = story.index("Criteria, frozen before anybody scored: 4 of 4 met.")
    assert "Validators who completed every row: 3, needed 3: met" in story[at + 3]
    assert story[at + 5] == "The whole table: sheetsync criteria"
    assert not any(line.endswith(" 1 divergences") for line in story)


def test_six_of_ten_divergences_are_settled(pairs: DemoResult, shipped: DemoResult) -> None:
    for result in (pairs, shipped):
        assert result.verdicts == round(0.6 * sum(result.states.values())), result.states


def test_careful_counts_agree_and_follow_what_was_counted_before(pairs: DemoResult) -> None:
    for figures in pairs.dimensions:
        assert figures.alpha is not None
        assert 0.55 <= figures.alpha <= 0.95, figures


def test_what_slipped_was_read_as_such_before_it_was_put_right(pairs: DemoResult) -> None:
    """The first pull lacks the doubtful score and the second half of a row that was left; nothing is lost."""
    assert pairs.ratings == 38 * 3 * 5 - 1 - 3
    with reading_session(pairs.folder) as session:
        entries = session.archive.current_entries()
    assert sum(entry.kind == "score" for rows in entries.values() for entry in rows) == 38 * 3 * 5


def test_sides_per_rater_stand_in_their_workbooks_and_change_nothing_else(tmp_path: Path) -> None:
    files = {"study.toml": STUDY_TOML + '\n[design]\nlayout = "pairs"\nsides = "rater"\n' + FEW_RESAMPLES}
    folder = write_study(tmp_path, files)
    result, _ = play_in_memory(folder, Profile(FIRST_ROUND.judgements, slips=0))
    assert (result.units, result.problems, result.incomplete) == (6, 0, ())
    with reading_session(folder) as session:
        sheets = session.sheets()
        seen = {record.rater: sheets.sheet(record).rows for record in session.workbooks()}
    for rows in seen.values():
        assert [row.side for row in rows] == ["A", "B"] * 3
        assert sorted({row.case for row in rows}) == ["001", "002", "003"]
    sides = [{row.code: row.side for row in rows} for rows in seen.values()]
    assert sides[0] != sides[1]
