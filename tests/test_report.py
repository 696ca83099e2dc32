"""The HTML report: what it says, what it never shows, and how Chromium reads it back."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from sheetsync.domain.agreement.assessment import Options, assess_agreement
from sheetsync.domain.agreement.report import AgreementReport
from sheetsync.domain.analysis import Analysis, dimension_data, slice_columns, tag_data
from sheetsync.domain.assignment import Batch, CodedUnit, assign_units, code_units, describe_design
from sheetsync.domain.claims.words import claim_sentence, count_words, rule_words
from sheetsync.domain.controls import list_controls
from sheetsync.domain.current import BatchEntries, CurrentRatings, gather_current
from sheetsync.domain.divergence import Verdict, find_divergences
from sheetsync.domain.habits.habits import describe_habits
from sheetsync.domain.habits.pace import FirstScores
from sheetsync.domain.number_words import shown_alpha, shown_number
from sheetsync.domain.progress import UnitCoverage, batch_progress
from sheetsync.domain.ratings import Entry, Problem
from sheetsync.domain.results import summarise_groups, unit_results
from sheetsync.domain.study import NOT_APPLICABLE, LevelValue, Study
from sheetsync.errors import SheetsyncError
from sheetsync.report import render_report
from sheetsync.report_ratings import render_agreement_page
from sheetsync.templates_folder import templates_dir
from tests.builders import make_rubric, make_study, make_units
from tests.domain.test_explanation import FIRST_ROUND, from_pairs

HOSTILE = "<script>alert(1)</script>{{ 7*7 }}"
FORMULA = "=1+1"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def make_analysis(
    scores: Mapping[str, Mapping[str, Sequence[str]]],
    study: Study | None = None,
    *,
    verdict: LevelValue | None = None,
    reason: str = "rubric ambiguity",
    problems: Sequence[Problem] = (),
    resamples: int = 200,
) -> Analysis:
    """Return the analysis of scores per rater and dimension id, in bank order; `-` is a blank, `n` is N/A.

    `verdict` settles the first divergence. Every score below 4 on accuracy ticks `imprecision`.
    """
    study = study or make_study(units=make_units(6))
    coded = code_units(study, ())
    practice = tuple(unit for unit in coded if unit.calibration)
    units = tuple(unit for unit in coded if not unit.calibration)
    batches = [batch for batch in assign_units(study, coded, ()) if batch.kind == "production"]
    sheets = [
        BatchEntries(
            batch.rater,
            batch.name,
            batch.kind,
            dict.fromkeys(batch.codes, 1),
            _entries(units, scores[batch.rater]),
        )
        for batch in batches
    ]
    current = gather_current(sheets)
    order = {unit.code: at for at, unit in enumerate(units)} | {r.id: at for at, r in enumerate(study.raters)}
    settings = study.settings.divergence
    verdicts: list[Verdict] = []
    if verdict is not None:
        first = find_divergences(current, study.rubric, settings, (), order)[0]
        verdicts = [
            Verdict(first.code, first.dimension, first.kind, verdict, reason, basis=dict(first.values))
        ]
    divergences = find_divergences(current, study.rubric, settings, verdicts, order)
    data = dimension_data(study, units, batches, current, problems, slice_columns(study))
    agreement = assess_agreement(data, tag_data(study, units, batches, current), Options(resamples=resamples))
    by_key = {unit.key: unit for unit in study.units}
    return Analysis(
        study=study,
        as_of="2026-11-30T02:00:07Z",
        pull=7,
        units=units,
        current=current,
        agreement=agreement,
        practice=_practice(study, practice),
        divergences=tuple(divergences),
        results=tuple(unit_results(units, current, study.rubric, divergences)),
        progress=tuple(
            batch_progress(sheet, study.rubric, problems, "2026-11-29T21:14:00Z") for sheet in sheets
        ),
        coverage=UnitCoverage(len(units), 3, (), (units[0].code,), ()),
        problems=tuple(problems),
        controls=tuple(
            list_controls(
                study,
                units,
                current,
                describe_design([r.id for r in study.raters], batches),
                divergences,
                CurrentRatings(),
            )
        ),
        questions={unit.code: by_key[unit.key] for unit in units},
    )


def _entries(units: Sequence[CodedUnit], scores: Mapping[str, Sequence[str]]) -> list[Entry]:
    found = []
    for dimension, texts in scores.items():
        for unit, text in zip(units, texts, strict=False):
            if text == "-":
                continue
            value = NOT_APPLICABLE if text == "n" else int(text)
            found.append(Entry(unit.code, "score", dimension, value))
            if dimension == "accuracy" and isinstance(value, int) and value < 4:
                found.append(Entry(unit.code, "tag", "imprecision", True))
    return found


def _practice(study: Study, units: Sequence[CodedUnit]) -> AgreementReport | None:
    if not units:
        return None
    batches = [batch for batch in assign_units(study, units, ()) if batch.kind == "calibration"]
    data = dimension_data(study, units, batches, CurrentRatings(), (), ())
    return assess_agreement(data, (), Options(resamples=0))


def small_analysis(**changes: object) -> Analysis:
    """Two raters, twelve responses, two score divergences of which one is settled, one on N/A."""
    scores = {
        "ann": {"accuracy": list("55435n542554"), "coverage": ["5"] * 12},
        "ben": {"accuracy": list("5445545125-4"), "coverage": ["5"] * 12},
    }
    units = tuple(
        replace(unit, type="adversarial" if at % 3 == 0 else "fact") for at, unit in enumerate(make_units(6))
    )
    analysis = make_analysis(
        scores,
        make_study(units=units),
        verdict=4,
        problems=[
            Problem("not_a_level", "ben's main, Scoring!D4 holds '3 or 4'.", "ben", "main", "Scoring", "D4",
                    "QX", "Accuracy", "3 or 4"),
        ],
    )  # fmt: skip
    return replace(analysis, **changes)  # type: ignore[arg-type]


# --- Reading the page ---


class Page(HTMLParser):
    """What a page holds: cells by table, row and column; texts; tags."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.cells: dict[tuple[str, str, str], dict[str, str]] = {}
        self.tags: list[str] = []
        self.bars: list[tuple[str, int]] = []
        self.words: list[str] = []
        self._table = self._row = ""
        self._cell: dict[str, str] | None = None
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        self._table = found.get("data-table", self._table)
        self._row = found.get("data-row", self._row)
        if tag == "td" and "data-column" in found:
            self._cell = found
            self.cells[(self._table, self._row, found["data-column"])] = found
        if "data-level" in found:
            self.bars.append((found["data-level"], int(found["data-value"])))

    def handle_endtag(self, tag: str) -> None:
        if tag == "td":
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell["text"] = self._cell.get("text", "") + data
        if self.tags and self.tags[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def value(self, table: str, row: str, column: str) -> float:
        return float(self.cells[(table, row, column)]["data-value"])

    def shown(self, table: str, row: str, column: str) -> str:
        return self.cells[(table, row, column)]["text"]


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return small_analysis()


@pytest.fixture(scope="module")
def page(analysis: Analysis) -> Page:
    return Page(render_report(analysis, name_models=True))


def test_the_headline_carries_what_the_analysis_holds(analysis: Analysis, page: Page) -> None:
    accuracy = analysis.agreement.dimensions[0]
    found = accuracy.coefficients
    assert page.value("headline", "Accuracy", "alpha") == found["alpha"].value
    assert float(page.cells[("headline", "Accuracy", "interval")]["data-low"]) == found["alpha"].low
    assert float(page.cells[("headline", "Accuracy", "interval")]["data-high"]) == found["alpha"].high
    assert "(95%, BCa)" in page.shown("headline", "Accuracy", "interval")
    assert page.value("headline", "Accuracy", "pairable") == accuracy.n_pairable
    for column, name in [
        ("exact", "exact"),
        ("within", "within"),
        ("mean-difference", "mean_abs_difference"),
        ("ac", "ac"),
    ]:
        assert page.value("headline", "Accuracy", column) == found[name].value
    assert page.cells[("headline", "Accuracy", "band")]["data-value"] == accuracy.band


def test_an_undefined_coefficient_shows_its_reason_and_nan_never_appears(page: Page) -> None:
    cell = page.cells[("headline", "Coverage", "alpha")]
    assert cell["text"] == "undefined: no variation"
    assert "data-value" not in cell
    assert not re.search(r"\bnan\b|\bNone\b|\binf\b", page.text)


def test_the_sections_stand_in_their_order(analysis: Analysis) -> None:
    source = render_report(analysis, name_models=True)
    headings = re.findall(r"<h2[^>]*>([^<]+)</h2>", source)
    assert headings == [
        "Agreement between raters",
        "Alpha and its bounds",
        "What the numbers mean",
        "Spread of the ratings",
        "Pairs of raters",
        "Tags",
        "Parts of the study",
        "Divergences",
        "Results",
        "Which differences between models hold",
        "How raters use the sheet",
        "Progress and coverage",
        "Controls",
        "Problems",
        "How the numbers were computed",
    ]
    levels = [int(level) for level in re.findall(r"<h([1-6])", source)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_the_ceiling_is_said_where_the_top_level_holds_most(page: Page) -> None:
    """S0.52, in one place: among the sentences on what made alpha what it is."""
    assert page.text.count("Every rating that can be compared is 5") == 1
    options = Options(resamples=0)
    report = assess_agreement([from_pairs(FIRST_ROUND)], (), options)
    found = Page(render_agreement_page(report, options, title="First round"))
    assert found.text.count("83% of the ratings are 5, the highest level") == 1
    assert found.text.count("inside a narrow band of the scale") == 1


def test_bars_hold_the_counts_of_the_distribution(analysis: Analysis, page: Page) -> None:
    expected = [
        (level, count)
        for dimension in analysis.agreement.dimensions
        for level, count in dimension.distribution.items()
        if count
    ]
    assert page.bars == expected


def test_pairs_tags_and_slices_are_listed(analysis: Analysis, page: Page) -> None:
    pair = analysis.agreement.dimensions[0].pairs[0]
    row = "Accuracy | ann and ben"
    assert page.value("pairs", row, "kappa") == pair.kappa.value
    assert page.value("pairs", row, "linear-kappa") == pair.kappa_linear.value
    assert page.value("pairs", row, "quadratic-kappa") == pair.kappa_quadratic.value
    assert page.value("pairs", row, "spearman") == pair.spearman.value
    assert page.value("pairs", row, "signed-difference") == pair.mean_difference.value
    tag = next(tag for tag in analysis.agreement.tags if tag.tag == "imprecision")
    assert (
        page.value("tag-pairs", "imprecision | Accuracy | ann and ben", "kappa") == tag.pairs[0].kappa.value
    )
    assert page.value("tag-raters", "imprecision | Accuracy", "ben") == tag.n_ticked["ben"]
    assert page.value("tag-models", "rows rated", "Briar") == 12
    part = next(s for s in analysis.agreement.dimensions[0].slices if s.value == "adversarial")
    row = "Accuracy | adversarial"
    assert page.shown("slice-type", row, "alpha") == "too few units"
    assert page.value("slice-type", row, "exact") == part.agreement.coefficients["exact"].value
    assert page.value("slice-type", row, "pairable") == part.agreement.n_pairable


def test_divergences_are_counted_and_listed_with_state_and_verdict(analysis: Analysis, page: Page) -> None:
    assert [d.state for d in analysis.divergences] == ["settled", "open", "open"]
    assert page.value("divergence-counts", "Accuracy", "score") == 2
    assert page.value("divergence-counts", "Accuracy", "score-open") == 1
    assert page.value("divergence-counts", "Accuracy", "with-verdict") == 1
    assert page.value("divergence-counts", "Accuracy", "applicability-open") == 1
    settled = analysis.divergences[0]
    row = f"{settled.code} | Accuracy | score"
    assert page.shown("divergences", row, "values") == "ann\u00a03, ben\u00a05"
    assert page.value("divergences", row, "range") == 2
    assert page.shown("divergences", row, "state") == "settled"
    assert page.shown("divergences", row, "verdict") == "4"
    assert page.shown("divergences", row, "reason") == "rubric ambiguity"


def test_results_per_model_are_those_of_the_domain(analysis: Analysis, page: Page) -> None:
    groups = {unit.code: unit.model for unit in analysis.units}
    for summary in summarise_groups(analysis.results, groups, analysis.rubric):
        name = analysis.rubric.by_id[summary.dimension].name
        table, row = f"results-{summary.dimension}-model", f"{name} | {summary.group}"
        assert page.value(table, row, "mean") == summary.mean
        assert page.value(table, row, "median") == summary.median
        assert page.value(table, row, "from-unresolved") == summary.sources["unresolved"]
        assert page.value(table, row, "final-5") == summary.distribution["5"]


def test_every_claim_stands_beside_its_rule_and_with_a_sentence(analysis: Analysis, page: Page) -> None:
    assert len(analysis.claims.claims) == 2
    for claim in analysis.claims.claims:
        name = analysis.rubric.by_id[claim.dimension].name
        table, row = f"claims-{claim.dimension}", f"{name} | Alder | Briar"
        assert page.value(table, row, "difference") == claim.difference.value
        assert page.value(table, row, "questions") == claim.n
        sentence = claim_sentence(claim, analysis.claims, analysis.rubric.by_id[claim.dimension])
        assert page.shown(table, row, "to-paste") == sentence
    assert page.text.count(rule_words(analysis.claims)) == 2
    assert count_words(analysis.claims) in page.text


def test_habits_of_raters_are_those_of_the_domain(analysis: Analysis) -> None:
    units = analysis.units
    batches = [Batch(r.id, "main", "production", tuple(u.code for u in units)) for r in analysis.study.raters]
    pace = [FirstScores("ann", "main", "2026-07-01T02:00:00Z", "2026-07-01T04:00:00Z", 12)]
    shown = replace(analysis, batches=tuple(batches), first_scores=tuple(pace))
    habits = describe_habits(analysis.rubric, ["ann", "ben"], batches, analysis.current, pace)
    page = Page(render_report(shown, name_models=False))
    for severity in habits.severity:
        row = f"{severity.rater} | {severity.dimension}"
        assert page.value("rater-severity", row, "n") == severity.n
        assert page.value("rater-severity", row, "difference") == severity.difference.value
    for use in habits.scale_use:
        assert page.value("rater-scale", f"{use.rater} | {use.dimension}", "share") == use.share
    run = next(run for run in habits.runs if run.rater == "ann" and run.dimension == 1)
    assert page.value("rater-runs", "ann | main | Coverage", "longest-run") == run.length == 12
    assert page.value("rater-equal", "ann | ben", "n") == habits.equal[0].n
    assert page.value("rater-pace", "ann | main", "per-hour") == 6
    assert "They say nothing about why" in page.text


def test_a_blind_report_contains_no_model(analysis: Analysis) -> None:
    source = render_report(analysis, name_models=False)
    for name in ("Alder", "Briar", "alder-2026", "briar-2026"):
        assert name not in source
    page = Page(source)
    assert "Models are not named here." in page.text
    assert "Claims compare models, and models are not named here." in page.text
    assert page.value("results-coverage-all", "Coverage | all responses", "mean") == 5
    assert ("results-coverage-type", "Coverage | fact", "mean") in page.cells
    assert not [key for key in page.cells if key[0] == "tag-models"]


def test_coverage_controls_problems_and_settings_are_said(page: Page) -> None:
    assert "As of pull 7, 30 November 2026, 02:00:07 UTC." in page.text
    assert page.value("progress", "ann | main", "assigned") == 12
    assert page.value("progress", "ben | main", "complete") == 11
    assert "Text changed in the study's files since it was issued (1)" in page.text
    assert page.text.index("Not applied") < page.text.index("Third rater") < page.text.index("Blinded model")
    assert page.shown("problems", "ben | main | D4 | not_a_level", "found") == "3 or 4"
    for setting, value in [
        ("Rubric version", "2026-07"),
        ("Interval over raters", "BCa, 0.95 confidence"),
        ("Resamples", "10,000"),
        ("Seed of resampling", "1"),
        ("Within", "1"),
        ("Scale of Accuracy", "ordinal: 1, 2, 3, 4, 5 or N/A"),
        ("Divergence threshold", "2, unit auto"),
        ("Bands", "landis-koch"),
    ]:
        assert page.shown("settings", setting, "value") == value


def test_hostile_text_is_shown_as_text_everywhere() -> None:
    rubric = make_rubric(version=HOSTILE)
    units = make_units(6, models=(HOSTILE, FORMULA))
    units = tuple(
        replace(u, figure=HOSTILE if at % 2 else FORMULA, type=f'"{HOSTILE}' if at % 2 else FORMULA)
        for at, u in enumerate(units)
    )
    study = make_study(units=units, rubric=rubric, study={"id": "demo", "title": HOSTILE, "contact": HOSTILE})
    scores = {
        rater: {"accuracy": ["1", "5"] * 6 if rater == "ann" else ["5"] * 12} for rater in ("ann", "ben")
    }
    problem = Problem("formula", HOSTILE, "ann", HOSTILE, HOSTILE, "A1", HOSTILE, HOSTILE, FORMULA)
    analysis = make_analysis(scores, study, verdict=3, reason=HOSTILE, problems=[problem])
    source = render_report(analysis, name_models=True)
    page = Page(source)
    assert "script" not in page.tags
    assert "<script" not in source
    assert page.text.count(HOSTILE) > 10
    assert "49" not in page.text
    assert page.shown("problems", "ann | " + HOSTILE + " | A1 | formula", "found") == FORMULA


def test_calibration_stands_apart(analysis: Analysis) -> None:
    study = make_study(units=make_units(6), design={"calibration_units": 4})
    scores = {rater: {"accuracy": ["5", "4", "3", "4"] * 2} for rater in ("ann", "ben")}
    practised = make_analysis(scores, study, resamples=0)
    page = Page(render_report(practised, name_models=True))
    assert page.shown("practice", "Accuracy", "alpha") == "undefined: no unit with two ratings"
    assert page.text.rindex("Calibration round") > page.text.index("How the numbers were computed")
    assert page.shown("headline", "Accuracy", "interval") == "not requested"


def test_before_the_first_pull_everything_has_a_reason() -> None:
    blank = {rater: {"accuracy": ["-"] * 12} for rater in ("ann", "ben")}
    study = make_study(units=make_units(6))
    page = Page(
        render_report(
            replace(make_analysis(blank, study), as_of=None, pull=None, problems=()), name_models=True
        )
    )
    assert "No pull yet: no rating has been collected." in page.text
    assert page.shown("headline", "Accuracy", "alpha") == "undefined: no unit with two ratings"
    assert "No problem stands now." in page.text
    assert (
        page.shown("tag-pairs", "evasion | response | ann and ben", "kappa") == "undefined: no common units"
    )
    assert "nan" not in page.text.casefold().split()


def test_the_file_needs_nothing_from_outside(analysis: Analysis) -> None:
    source = render_report(analysis, name_models=True)
    assert not re.search(r"(src|href)=\"(?!#)|url\(|@import|<link|<script|https?://", source)
    assert '<html lang="en">' in source
    assert source.count("<caption") == source.count("<table")


def test_ids_are_unique(analysis: Analysis) -> None:
    ids = re.findall(r'\bid="([^"]+)"', render_report(analysis, name_models=True))
    assert len(ids) == len(set(ids))


def test_five_thousand_rows_are_quick(analysis: Analysis) -> None:
    many = replace(analysis, divergences=analysis.divergences[1:2] * 5000)
    assert render_report(many, name_models=True).count('data-column="range"') == 5000


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.2, "0.20"), (0.1999, "0.1999"), (-0.001, "−0.001"), (0.0, "0.00"), (-0.31, "−0.31"), (1.0, "1.00")],
)
def test_alpha_shows_the_decimals_its_band_needs(value: float, words: str) -> None:
    assert shown_alpha(value, "landis-koch") == words


def test_a_rounded_difference_is_never_a_negative_zero() -> None:
    assert [shown_number(value, "signed") for value in (-0.004, 0.25, -0.25)] == ["0.00", "+0.25", "−0.25"]


def test_templates_are_found_in_a_checkout_and_in_a_wheel(tmp_path: Path) -> None:
    assert (templates_dir() / "historical-figures" / "study.toml").is_file()
    installed = tmp_path / "site-packages" / "sheetsync"
    (installed / "_templates").mkdir(parents=True)
    with pytest.raises(SheetsyncError, match="templates of sheetsync are missing"):
        templates_dir(installed)
    (installed / "_templates" / "report.html.j2").write_text("x")
    assert templates_dir(installed) == installed / "_templates"


# --- In a browser ---

chromium = pytest.mark.chromium


@pytest.fixture
def browser(tmp_path: Path) -> Sequence[str]:
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    return [
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-default-apps",
        "--disable-extensions",
        "--disable-sync",
        "--no-first-run",
        "--no-pings",
        "--metrics-recording-only",
        f"--user-data-dir={tmp_path / 'profile'}",
    ]


def dump(browser: Sequence[str], path: Path) -> str:
    """Return the document as Chromium understood it."""
    done = subprocess.run(
        [*browser, "--virtual-time-budget=5000", "--dump-dom", path.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout


@chromium
def test_chromium_reads_the_numbers_back(browser: Sequence[str], tmp_path: Path, analysis: Analysis) -> None:
    path = tmp_path / "report.html"
    path.write_text(render_report(analysis, name_models=True), encoding="utf-8")
    page = Page(dump(browser, path))
    for dimension in analysis.agreement.dimensions:
        for column, name in [("alpha", "alpha"), ("exact", "exact"), ("within", "within"), ("ac", "ac")]:
            cell = page.cells[("headline", dimension.dimension, column)]
            found = dimension.coefficients[name]
            if found.value is None:
                assert cell["data-reason"] == found.reason
            else:
                assert float(cell["data-value"]) == found.value
    groups = {unit.code: unit.model for unit in analysis.units}
    for summary in summarise_groups(analysis.results, groups, analysis.rubric):
        name = analysis.rubric.by_id[summary.dimension].name
        shown = page.value(f"results-{summary.dimension}-model", f"{name} | {summary.group}", "mean")
        assert shown == summary.mean


@chromium
@pytest.mark.parametrize("width", [360, 768])
def test_no_page_scrolls_sideways(
    browser: Sequence[str], tmp_path: Path, analysis: Analysis, width: int
) -> None:
    long_name = "Theodora-of-a-very-long-name-without-any-place-to-break-it-at-all-in-the-bank"
    changed = replace(analysis, units=tuple(replace(u, figure=long_name) for u in analysis.units))
    inner = html.escape(render_report(changed, name_models=True), quote=True)
    wrapper = tmp_path / "wrapper.html"
    wrapper.write_text(
        f"""<!DOCTYPE html><meta charset="utf-8"><title>waiting</title>
        <iframe id="f" style="width:{width}px;height:800px;border:0" srcdoc="{inner}"></iframe>
        <script>
        document.getElementById("f").addEventListener("load", event => {{
          const view = event.target.contentWindow, page = view.document;
          document.title = JSON.stringify({{
            inner: view.innerWidth, scroll: page.documentElement.scrollWidth,
            font: view.getComputedStyle(page.body).fontSize, tables: page.querySelectorAll("table").length
          }});
        }});
        </script>""",
        encoding="utf-8",
    )
    title = re.search(r"<title>(\{.*?\})</title>", dump(browser, wrapper))
    assert title, "the report did not load"
    seen = json.loads(html.unescape(title[1]))
    assert seen["inner"] == width
    assert seen["scroll"] <= seen["inner"]
    assert seen["font"] == "16px"
    assert seen["tables"] > 10


# --- what the numbers mean ---


def test_what_alpha_compares_is_that_of_the_explanation(analysis: Analysis, page: Page) -> None:
    found = analysis.agreement.explanations[0]
    assert found.null_raters.alpha is not None
    assert page.value("why", "Accuracy", "observed") == found.observed_scaled
    assert page.value("why", "Accuracy", "expected") == found.expected_scaled
    assert page.value("why", "Accuracy", "alpha-of-null-raters") == found.null_raters.alpha.mean
    limits = page.cells[("why", "Accuracy", "their-range")]
    assert (float(limits["data-low"]), float(limits["data-high"])) == (
        found.null_raters.alpha.low,
        found.null_raters.alpha.high,
    )
    for sentence in (*found.sentences, *analysis.agreement.explanations[1].sentences):
        assert " ".join(sentence.split()) in page.text


def test_bias_boundaries_and_heavy_responses_are_listed(analysis: Analysis, page: Page) -> None:
    found = analysis.agreement.explanations[0]
    assert found.bias is not None
    assert page.value("bias", "Accuracy | ann and ben", "scatter") == found.bias.pairs[0].scatter
    boundary = found.boundaries[0]
    low, high = boundary.between
    row = f"Accuracy | {low} | {high}"
    assert page.value("boundaries", row, "differing-pairs-across") == boundary.differing_pairs
    heavy = found.units.heaviest[0]
    assert page.value("heavy-units", f"Accuracy | {heavy.unit}", "share-of-the-disagreement") == heavy.share
    assert page.shown("heavy-units", f"Accuracy | {heavy.unit}", "values").startswith("ann")


def test_pooled_alpha_names_what_brings_nothing_and_the_naive_figure_is_a_footnote(
    analysis: Analysis, page: Page
) -> None:
    pooled = analysis.agreement.pooled
    assert pooled is not None
    assert pooled.without_variation == ("Coverage",)
    assert "Nothing varies on Coverage, which adds nothing." in page.text
    assert page.value("weights", "Accuracy", "weight") == 1
    assert page.shown("weights", "Coverage", "note") == "undefined: no variation"
    assert "Footnote, not a result: all ratings stacked" in page.text


def test_hard_parts_have_a_rank_only_with_enough_responses(analysis: Analysis, page: Page) -> None:
    found = [part for part in analysis.agreement.explanations[0].hardest if part.by == "question"]
    assert all(part.too_few for part in found)
    row = f"Accuracy | question | {found[0].value}"
    assert page.shown("hardest", row, "rank") == "too few"
    assert page.value("hardest", row, "mean-difference") == found[0].mean_abs_difference.value


def test_the_interval_is_compared_on_the_same_figures(analysis: Analysis, page: Page) -> None:
    jackknife = analysis.agreement.explanations[0].intervals.jackknife
    cell = page.cells[("intervals", "Accuracy", "jackknife")]
    assert (float(cell["data-low"]), float(cell["data-high"])) == (jackknife.low, jackknife.high)


def test_explanations_name_no_model(analysis: Analysis) -> None:
    models = {unit.model for unit in analysis.units}
    told = json.dumps(analysis.agreement.to_dict())
    assert models
    assert not [model for model in models if model in told]
