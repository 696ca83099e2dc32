from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sheetsync.config import Fault, check_study, load_study
from sheetsync.errors import StudyError
from tests.builders import RUBRIC_TOML, STUDY_FILES, write_study

TEMPLATES = Path(__file__).parent.parent / "templates"

Edit = tuple[str, str, str]
"""A file, a text in it, and what replaces the text; an empty text appends."""


def edited(*edits: Edit) -> dict[str, str | bytes | None]:
    files: dict[str, str | bytes | None] = {}
    for name, old, new in edits:
        content = files.get(name, STUDY_FILES[name])
        assert isinstance(content, str)
        assert old in content, f"{old!r} is not in {name}"
        files[name] = content.replace(old, new, 1) if old else content + new
    return files


def faults_of(folder: Path, *edits: Edit) -> list[Fault]:
    return check_study(write_study(folder, edited(*edits)))[1]


def assert_one(faults: Sequence[Fault], severity: str, where: str, words: str) -> None:
    """Assert that exactly one fault stands at that place, and that it holds the words (by `...`)."""
    shown = "\n".join(f"{fault.severity}: {fault}" for fault in faults)
    first, *others = words.split("...")
    found = [fault for fault in faults if fault.where == where and first in fault.message]
    assert len(found) == 1, shown
    assert found[0].severity == severity
    for word in others:
        assert word in found[0].message, shown


def study(old: str, new: str) -> Edit:
    return ("study.toml", old, new)


def rubric(old: str, new: str) -> Edit:
    return ("rubric.toml", old, new)


def questions(old: str, new: str) -> Edit:
    return ("questions.csv", old, new)


def responses(old: str, new: str) -> Edit:
    return ("responses.csv", old, new)


def rater(text: str) -> Edit:
    return study('id = "ben"', text)


def dimension(text: str) -> Edit:
    """A third dimension."""
    return rubric("[[remark]]", f"[[dimension]]\n{text}\n\n[[remark]]")


def levels(text: str, level: str = "ordinal") -> Edit:
    return dimension(f'id = "d3"\nname = "Third"\nlevel = "{level}"\nlevels = [{text}]')


def rule(text: str) -> Edit:
    """A third rule."""
    return rubric("", f'\n[[rule]]\nid = "r3"\n{text}\n')


def section(text: str) -> Edit:
    return study("", f"\n{text}\n")


LEVELS = "levels = [{ value = 1 }, { value = 2 }]"
DIMENSION_3 = "rubric.toml [[dimension]] 3 (d3)"
RULE_3 = "rubric.toml [[rule]] 3 (r3)"
BEN = "study.toml [[raters]] 2 (ben)"

SETTINGS_ERRORS = [
    (study('title = "A small study"', "title = A"), "study.toml line 3, column 9", "not valid TOML"),
    (study("[study]", "[stduy]"), "study.toml", '"stduy" is not a known key; did you mean "study"'),
    (study("[study]", "[stduy]"), "study.toml", "[study] is missing"),
    (study("contact", "contct"), "study.toml [study]", 'did you mean "contact"'),
    (study("contact", "xyzzy"), "study.toml [study]", "known are: id, title, contact"),
    (study('id = "demo"', ""), "study.toml [study]", "id is missing"),
    (study('id = "demo"', 'id = "a/b"'), "study.toml [study] id", "holds /"),
    (study('id = "demo"', "id = 3"), "study.toml [study] id", "found 3... text in quotation marks"),
    (study('contact = "coordinator@', 'contact = "a b@'), "study.toml [study] contact", "no e-mail address"),
    (section("[design]\nsed = 1"), "study.toml [design]", 'did you mean "seed"'),
    (section("[design]\nseed = '1'"), "study.toml [design] seed", 'found "1"... whole number'),
    (section("[design]\nseed = -1"), "study.toml [design] seed", "found -1... 0 or more"),
    (
        section("[design]\nlayout = 'pair'"),
        "study.toml [design] layout",
        '"single" or "pairs"... did you mean',
    ),
    (
        section("[design]\nraters_per_unit = 0"),
        "study.toml [design] raters_per_unit",
        '"all" or a whole number',
    ),
    (section("[design]\nraters_per_unit = true"), "study.toml [design] raters_per_unit", "found true"),
    (
        section("[design]\ncalibration_units = 7"),
        "study.toml [design] calibration_units",
        "there are 6 units",
    ),
    (section("[divergence]\nthreshold = 0"), "study.toml [divergence] threshold", "more than 0"),
    (section("[divergence]\nthreshold = inf"), "study.toml [divergence] threshold", "finite number"),
    (section("[divergence]\nthreshold = '2'"), "study.toml [divergence] threshold", "a number"),
    (section("[agreement]\nconfidence = 95"), "study.toml [agreement] confidence", "found 95... less than 1"),
    (
        section("[agreement]\nminimum_units = 1"),
        "study.toml [agreement] minimum_units",
        "found 1... 2 or more",
    ),
    (
        section("[agreement]\nminimum_units = 10.5"),
        "study.toml [agreement] minimum_units",
        "found 10.5... whole number",
    ),
    (section("[publish]\nmodels = 'no'"), "study.toml [publish] models", "true or false"),
    (section("[backend.google]\nfoldr = ''"), "study.toml [backend.google]", 'did you mean "folder"'),
    (section("[backend.google]\nadopt = 3"), "study.toml [backend.google] adopt", "a table"),
    (
        section("[backend.google]\nadopt = { s = 1 }"),
        "study.toml [backend.google.adopt] s",
        "text in quotation",
    ),
    (section("[schedule]\nat = ['2:00']"), "study.toml [schedule] at", '"2:00"... HH:MM'),
    (section("[schedule]\nat = ['24:00']"), "study.toml [schedule] at", "HH:MM"),
    (section("[schedule]\nat = '02:00'"), "study.toml [schedule] at", "a list in square brackets"),
    (section("[schedule]\nat = []"), "study.toml [schedule] at", "no time"),
    (section("[schedule]\ntimezone = 'Berlin'"), "study.toml [schedule] timezone", 'mean "Europe/Berlin"'),
    (section("[schedule]\ntimezone = '../x'"), "study.toml [schedule] timezone", "no known time zone"),
    (section("[files]\nrubric = ''"), "study.toml [files] rubric", "is blank"),
    (section("[files]\nrubric = 'reference'"), "reference", "is not a file"),
    (section(f"[files]\nrubric = '{'r' * 400}'"), "r" * 400, "cannot be read"),
    (section(f"[files]\nreference = '{'r' * 400}'"), "r" * 400, "cannot be read"),
    (section("[files]\nresponses = '.'"), ".", "is not a file"),
    (rater('name = "B"'), "study.toml [[raters]] 2", "id is missing"),
    (rater('id = ""'), "study.toml [[raters]] 2 id", "is blank"),
    (rater('id = "a:b"'), "study.toml [[raters]] 2 (a:b) id", "holds :"),
    (rater('id = "ben."'), "study.toml [[raters]] 2 (ben.) id", "dot or a space"),
    (rater('id = "nul.txt"'), "study.toml [[raters]] 2 (nul.txt) id", "device name"),
    (rater('id = "COM1"'), "study.toml [[raters]] 2 (COM1) id", "device name"),
    (rater('id = "a\\u200bb"'), "study.toml [[raters]] 2 (a\N{REPLACEMENT CHARACTER}b) id", "U+200B"),
    (rater(f'id = "{"b" * 65}"'), f"study.toml [[raters]] 2 ({'b' * 65}) id", "longer than 64"),
    (rater('id = "ANN"'), "study.toml [[raters]] 2 (ANN) id", "the same as... [[raters]] 1 (ann)"),
    (rater('id = "ａnn"'), "study.toml [[raters]] 2 (ａnn) id", "the same as"),
    (rater('id = "Verdict"'), "study.toml [[raters]] 2 (Verdict) id", 'the column "Verdict"'),
    (rater('id = "ann notes"'), "study.toml [[raters]] 2 (ann notes) id", 'the column "ann Notes"'),
    (rater('id = "ben"\nemail = "ben"'), f"{BEN} email", "no e-mail address"),
    (rater('id = "ben"\nkind = "judge"'), f"{BEN} kind", 'judge_policy is "forbidden"'),
    (rater('id = "ben"\nkind = "juge"'), f"{BEN} kind", 'did you mean "judge"'),
    (study('id = "eve"', 'id = "e|e"'), "study.toml [people] adjudicators 1 (e|e) id", "holds |"),
    (study('id = "eve"', 'id = "eve", mail = ""'), "study.toml [people] adjudicators 1 (eve)", '"email"'),
    (study('id = "demo"', 'id = "demo\\u0001"'), "study.toml [study] id", "U+0001 at position 5"),
]

RUBRIC_ERRORS = [
    (rubric("[[remark]]", "[remark]"), "rubric.toml [remark]", "[[remark]]"),
    (rubric("[[tag]]", "[[tags]]"), "rubric.toml", '"tags" is not a known key; did you mean "tag"'),
    (rubric('version = "2026-07"', ""), "rubric.toml", "version is missing"),
    (rubric('version = "2026-07"', 'version = ""'), "rubric.toml version", "is blank"),
    (rubric('id = "notes"', 'id = "no tes"'), "rubric.toml [[remark]] 1 (no tes) id", "letters a-z"),
    (
        rubric('id = "coverage"', 'id = "accuracy"'),
        "rubric.toml [[dimension]] 2 (accuracy) id",
        "stands already",
    ),
    (rubric('name = "Notes"', 'name = " code "'), "rubric.toml [[remark]] 1 (notes) name", "own column Code"),
    (
        rubric('name = "Notes"', 'name = "COVERAGE"'),
        "rubric.toml [[remark]] 1 (notes) name",
        "2 (coverage) name",
    ),
    (rubric('name = "Coverage"', 'name = ""'), "rubric.toml [[dimension]] 2 (coverage) name", "is blank"),
    (
        rubric('name = "Coverage"', 'name = "a\\nb"'),
        "rubric.toml [[dimension]] 2 (coverage) name",
        "line break",
    ),
    (
        rubric('id = "imprecision"', 'id = "Evasion"'),
        "rubric.toml [[dimension]] 1 (accuracy) tags 2 (Evasion) id",
        "taken in the scoring tab by rubric.toml [[tag]] 1 (evasion)",
    ),
    (
        dimension(f'id = "d3"\nname = "Third"\n{LEVELS}\ntags = [{{ id = "imprecision" }}]'),
        f"{DIMENSION_3} tags 1 (imprecision) id",
        "taken in the scoring tab",
    ),
    (
        rubric(
            'name = "Notes"\n',
            'name = "Third CONFIDENCE"\n'
            f'[[dimension]]\nid = "d3"\nname = "Third"\nconfidence = true\n{LEVELS}\n',
        ),
        "rubric.toml [[remark]] 1 (notes) name",
        "taken in the scoring tab by rubric.toml [[dimension]] 3 (d3) confidence",
    ),
    (dimension(f'id = "d3"\nname = "Model"\n{LEVELS}'), f"{DIMENSION_3} name", "Results tab"),
    (
        dimension(f'id = "d3"\nname = "Accuracy from"\n{LEVELS}'),
        "rubric.toml [[dimension]] 1 (accuracy) name",
        "Results tab by rubric.toml [[dimension]] 3",
    ),
    (levels("{ value = 1 }"), f"{DIMENSION_3} levels", "at least two"),
    (levels("{ value = 1 }, { value = 1.0 }"), f"{DIMENSION_3} levels", "stands twice"),
    (levels("{ value = 'Low' }, { value = 'low ' }"), f"{DIMENSION_3} levels", "stands twice"),
    (levels("{ value = 2 }, { value = 1 }"), f"{DIMENSION_3} levels", "ascending"),
    (levels("{ value = 1 }, { value = 'high' }"), f"{DIMENSION_3} levels", "mixes"),
    (levels("{ value = 'a' }, { value = 'b' }", "ratio"), f"{DIMENSION_3} levels", "takes numbers"),
    (levels("{ value = 1 }, { value = 'n.a.' }"), f"{DIMENSION_3} levels 2", "not applicable"),
    (levels("{ value = 'low' }, { value = '3' }"), f"{DIMENSION_3} levels 2", "remove the marks"),
    (levels("{ value = 'low' }, { value = '' }"), f"{DIMENSION_3} levels 2", "is blank"),
    (levels("{ value = 1 }, { value = true }"), f"{DIMENSION_3} levels 2 value", "found true"),
    (levels("{ value = 1 }, { value = nan }"), f"{DIMENSION_3} levels 2 value", "finite"),
    (levels("{ value = 1 }, { value = inf }"), f"{DIMENSION_3} levels 2 value", "finite"),
    (levels("{ value = 1 }, { value = 10_000_000_000_000_000 }"), f"{DIMENSION_3} levels 2", "15 digits"),
    (levels("{ value = 1 }, { valu = 2 }"), f"{DIMENSION_3} levels 2", '"valu"... "value"'),
    (levels("{ value = 1 }, { value = 2 }", "ordnal"), f"{DIMENSION_3} level", 'mean "ordinal"'),
    (
        rubric('text = "An invented', 'text = "\\u0000An invented'),
        "rubric.toml [[dimension]] 1 (accuracy) tags 1 (hallucination) text",
        "U+0000 at position 1",
    ),
    (rule('severity = "warning"'), RULE_3, "neither when nor then"),
    (rule('severity = "fatal"\nthen = { tag = "evasion" }'), f"{RULE_3} severity", '"error" or "warning"'),
    (rule("when = { }"), f"{RULE_3} when", "found nothing... exactly one of these"),
    (rule('when = { tag = "evasion", at_most = 3 }'), f"{RULE_3} when", "at_most with tag"),
    (rule('when = { dimension = "coverage" }'), f"{RULE_3} when", "exactly one of these"),
    (rule('when = { tag = "evason" }'), f"{RULE_3} when tag", 'no tag... did you mean "evasion"'),
    (rule('when = { dimension = "covrage", equals = 1 }'), f"{RULE_3} when dimension", 'mean "coverage"'),
    (
        rule('when = { dimension = "coverage", at_most = 9 }'),
        f"{RULE_3} when",
        "9 is not on the scale... 1, 2, 3",
    ),
    (rule('when = { dimension = "coverage", equals = "1" }'), f"{RULE_3} when", '"1" is not on the scale'),
    (
        rule('when = { dimension = "coverage", not_applicable = true }'),
        f"{RULE_3} when not_applicable",
        "has no N/A",
    ),
    (
        rule('when = { dimension = "accuracy", not_applicable = false }'),
        f"{RULE_3} when not_applicable",
        "true",
    ),
    (rule('then = { tag = "evasion", no_tag_of = "accuracy" }'), f"{RULE_3} then", "exactly one of these"),
    (rule('then = { dimension = "coverage", equals = 7 }'), f"{RULE_3} then", "7 is not on the scale"),
    (rule('then = { any_tag_of = "coverage" }'), f"{RULE_3} then any_tag_of", "has no tags"),
    (rule('then = { no_tag_of = "scope" }'), f"{RULE_3} then no_tag_of", "no dimension"),
    (rule('then = { column = "Total", sum_of = [] }'), f"{RULE_3} then sum_of", "is empty"),
    (rule('then = { column = "", sum_of = ["coverage"] }'), f"{RULE_3} then column", "is blank"),
    (rule('then = { column = "notes", sum_of = ["coverage"] }'), f"{RULE_3} then column", "taken"),
    (rule('then = { column = "T", sum_of = ["coverage", "coverage"] }'), f"{RULE_3} then sum_of", "twice"),
    (rule('then = { column = "T", sum_of = ["cov"] }'), f"{RULE_3} then sum_of", '"cov" is no dimension'),
]

QUESTION_ERRORS = [
    (questions("question_id", "id"), "questions.csv line 1", "no column question_id; found: id, figure"),
    (
        questions("tier,type", "tier,"),
        "questions.csv line 2",
        'field 4 holds "fact" but its column has no name',
    ),
    (questions("tier,type", "tier,Tier "), "questions.csv line 1", "stands twice, as column 3 and 4"),
    (questions("Q2,", ","), "questions.csv line 3, column question_id", "is blank"),
    (questions("Who was {figure}?", " "), "questions.csv line 2, column text", "is blank"),
    (questions("", "Q1,,,,Again?,,\n"), "questions.csv line 5, column question_id", "already in line 2"),
    (
        questions("Who was {figure}?", "Who, then, then, was {figure}?"),
        "questions.csv line 2",
        "10 fields... quotation marks",
    ),
    (questions("Who was", '"Who was'), "questions.csv line 2", "never closed"),
    (questions("Who was {figure}?", '"Who" was {figure}?'), "questions.csv line 2", "inside a quoted field"),
    (questions("Who was", "Who\x07was"), "questions.csv line 2, column text", "U+0007 at position 4"),
    (questions("Who was", "W" * 32_767), "questions.csv line 2, column text", "at most 32,767"),
    (questions("Q1,", '"Q\n1",'), "questions.csv line 2, column question_id", "line break"),
    (questions("\nQ1", '\n\n"",,,,,,\nQ4,,,"a\nb",,,\nQ1'), "questions.csv line 4, column text", "is blank"),
    (
        questions("{figure}?,,\nQ2", "{figure}?,,Basil.md\nQ2"),
        "questions.csv line 2, column reference",
        '"Basil.md"',
    ),
]

RESPONSE_ERRORS = [
    (responses("version,", ""), "responses.csv line 1", "no column version"),
    (
        responses("Q1,", "QQ1,"),
        "responses.csv line 2, column question_id",
        '"QQ1" is not in the questions... did you',
    ),
    (
        responses("Q3,Macrina", "Q3,Olympias"),
        "responses.csv line 6, column figure",
        'asked of "Macrina" only',
    ),
    (responses("Q1,Macrina", "Q1,"), "responses.csv line 2, column figure", "write one of: Macrina"),
    (responses("Alder,", '"Al\nder",'), "responses.csv line 2, column model", "line break"),
    (responses("Alder,", ","), "responses.csv line 2, column model", "is blank"),
    (responses("The eldest of nine.", " "), "responses.csv line 2, column response", "is blank"),
    (
        responses("", "Q1,Macrina,Alder,v-2026-01,Again.\n"),
        "responses.csv line 8",
        "a second response... line 2",
    ),
    (
        responses("The eldest", "The\x0beldest"),
        "responses.csv line 2, column response",
        "U+000B at position 4",
    ),
    (responses("The eldest", "The\ufffeeldest"), "responses.csv line 2, column response", "U+FFFE"),
    (responses("The eldest", "x" * 200_001), "responses.csv line 2, column response", "at most 200,000"),
    (responses("The eldest of nine.\n", "The eldest, of nine.\n"), "responses.csv line 2", "6 fields"),
]

WARNINGS = [
    (study('[[raters]]\nid = "ben"\n', ""), "study.toml [[raters]]", "one rater"),
    (section("[design]\nraters_per_unit = 3"), "study.toml [design] raters_per_unit", "the roster has 2"),
    (section("[design]\nraters_per_unit = 1"), "study.toml [design] raters_per_unit", "agreement"),
    (section("[design]\ncalibration_units = 6"), "study.toml [design] calibration_units", "none is left"),
    (
        questions("false_premise,reference", "false-premise,reference"),
        "questions.csv line 1",
        "did you mean false_premise",
    ),
    (questions("type,text", "version,text"), "questions.csv line 1", "column version is left out"),
    (questions("{figure}?", "{Figure}?"), "questions.csv line 2, column text", "write {figure}"),
    (
        questions("{figure}?,,", "{figure}?,no,"),
        "questions.csv line 2, column false_premise",
        "leave it blank",
    ),
    (
        responses("", "Q1,Macrena,Alder,a-2026-03-14,She.\n"),
        "responses.csv line 8, column figure",
        'mean "Macrina"',
    ),
    (responses("alder-2026-03-14", "alder-latest"), "responses.csv line 2, column version", "holds no date"),
    (responses("briar-2026-04-02", ""), "responses.csv line 3, column version", "Briar is blank"),
    (
        responses("Q3,Macrina,Briar,briar-2026-04-02,Because of her vows.\n", ""),
        "responses.csv",
        "Briar... 1 of the... Q3",
    ),
    (
        responses("The eldest", "I am alder; I say the eldest"),
        "responses.csv line 2, column response",
        '"Alder"',
    ),
    (
        responses("The eldest", "alder-2026-03-14 the eldest"),
        "responses.csv line 2, column response",
        "alder-2026",
    ),
    (
        responses("The eldest", "Trained by openai. The eldest"),
        "responses.csv line 2, column response",
        '"openai"',
    ),
    (
        responses("The eldest", "Speaking as Claude: the eldest"),
        "responses.csv line 2, column response",
        '"Claude"',
    ),
]

ERRORS = [*SETTINGS_ERRORS, *RUBRIC_ERRORS, *QUESTION_ERRORS, *RESPONSE_ERRORS]


@pytest.mark.parametrize(("edit", "where", "words"), ERRORS)
def test_each_error_is_named_with_place_and_words(tmp_path: Path, edit: Edit, where: str, words: str) -> None:
    assert_one(faults_of(tmp_path, edit), "error", where, words)


@pytest.mark.parametrize(("edit", "where", "words"), WARNINGS)
def test_each_warning_leaves_the_study_usable(tmp_path: Path, edit: Edit, where: str, words: str) -> None:
    loaded, faults = check_study(write_study(tmp_path, edited(edit)))
    assert_one(faults, "warning", where, words)
    assert loaded is not None


# --- whole studies -----------------------------------------------------------------------------


def test_valid_study(tmp_path: Path) -> None:
    loaded, faults = check_study(write_study(tmp_path))
    assert faults == []
    assert loaded is not None
    assert [unit.key for unit in loaded.units] == [
        ("Q1", "Macrina", "Alder"),
        ("Q1", "Macrina", "Briar"),
        ("Q2", "Macrina", "Alder"),
        ("Q2", "Macrina", "Briar"),
        ("Q3", "Macrina", "Alder"),
        ("Q3", "Macrina", "Briar"),
    ]
    first = loaded.units[0]
    assert (first.question, first.version, first.reference) == (
        "Who was Macrina?",
        "alder-2026-03-14",
        "Macrina.md",
    )
    assert loaded.units[4].false_premise == "She was never in Rome."
    assert list(loaded.references) == ["Macrina.md"]


def test_load_study_lists_every_error_of_every_file(tmp_path: Path) -> None:
    edits = [
        section("[design]\nsed = 1"),
        rater('id = "ANN"'),
        rubric('id = "coverage"', 'id = "cov erage"'),
        questions("Q2,", ","),
        responses("Alder,", ","),
    ]
    with pytest.raises(StudyError) as raised:
        load_study(write_study(tmp_path, edited(*edits)))
    wheres = [str(fault).partition(":")[0] for fault in raised.value.faults]
    assert {"study.toml [design]", "study.toml [[raters]] 2 (ANN) id"} < set(wheres)
    assert "rubric.toml [[dimension]] 2 (cov erage) id" in wheres
    assert {"questions.csv line 3, column question_id", "responses.csv line 2, column model"} < set(wheres)
    assert raised.value.exit_code == 2


def test_an_entry_with_a_fault_hides_no_other_and_is_not_called_unknown(tmp_path: Path) -> None:
    faults = faults_of(
        tmp_path, rubric('name = "Coverage"', "name = 3"), rule('then = { no_tag_of = "scope" }')
    )
    assert [fault.where for fault in faults] == [
        "rubric.toml [[dimension]] 2 (coverage) name",
        f"{RULE_3} then no_tag_of",
    ]


def test_a_study_file_that_cannot_be_parsed_hides_no_other_file(tmp_path: Path) -> None:
    faults = faults_of(tmp_path, study("[study]", "[study"), questions("Q2,", ","))
    assert_one(faults, "error", "study.toml line 1, column 7", "not valid TOML")
    assert_one(faults, "error", "questions.csv line 3, column question_id", "is blank")


def test_no_study_folder(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"not a study folder.*-C DIR.*sheetsync init"):
        check_study(tmp_path)


@pytest.mark.parametrize("name", ["rubric.toml", "questions.csv", "responses.csv"])
def test_missing_file(tmp_path: Path, name: str) -> None:
    _, faults = check_study(write_study(tmp_path, {name: None}))
    assert_one(faults, "error", name, "there is no such file")
    assert len(faults) == 1


def test_named_files_relative_to_the_study(tmp_path: Path) -> None:
    files = edited(section('[files]\nquestions = "data/q.csv"\nreference = "sheets"'))
    write_study(tmp_path, files | {"data/q.csv": STUDY_FILES["questions.csv"].replace("Q1", "", 1)})
    _, faults = check_study(tmp_path)
    assert_one(faults, "error", "data/q.csv line 2, column question_id", "is blank")
    assert_one(faults, "error", "sheets", "no such folder")


def test_figure_without_reference_sheet(tmp_path: Path) -> None:
    _, faults = check_study(write_study(tmp_path, {"reference/Macrina.md": None}))
    assert_one(faults, "warning", "reference/", '"Macrina.md"')


def test_control_character_in_a_reference_sheet(tmp_path: Path) -> None:
    _, faults = check_study(write_study(tmp_path, {"reference/Macrina.md": "a\nb\x00"}))
    assert_one(faults, "error", "reference/Macrina.md line 2", "U+0000 at position 2")


def test_no_rater_and_no_dimension(tmp_path: Path) -> None:
    files: dict[str, str | bytes | None] = {
        "study.toml": 'raters = []\n[study]\nid = "demo"\n',
        "rubric.toml": 'version = "1"\ndimension = []\n',
    }
    _, faults = check_study(write_study(tmp_path, files))
    assert_one(faults, "error", "study.toml [[raters]]", "names nobody")
    assert_one(faults, "error", "rubric.toml [[dimension]]", "at least one")


@pytest.mark.parametrize(
    "then",
    ['{ claim_for_tags_of = "d3" }', '{ column = "Total", sum_of = ["d3"] }'],
)
def test_rules_that_a_dimension_cannot_bear(tmp_path: Path, then: str) -> None:
    words = dimension(
        'id = "d3"\nname = "Third"\nlevels = [{ value = "a" }, { value = "b" }]\ntags = [{ id = "t" }]'
    )
    faults = faults_of(tmp_path, words, rule(f"then = {then}"))
    assert [fault.where for fault in faults] == [
        f"{RULE_3} then {then.split()[1]}".replace("column", "sum_of")
    ]


def test_at_most_on_a_nominal_scale(tmp_path: Path) -> None:
    nominal = levels("{ value = 'b' }, { value = 'a' }", "nominal")
    faults = faults_of(tmp_path, nominal, rule('when = { dimension = "d3", at_most = "a" }'))
    assert_one(faults, "error", f"{RULE_3} when at_most", "nominal")


@pytest.mark.parametrize(
    "text",
    [
        'when = { tag = "evasion", false_premise = false }',
        'when = { tag = "hallucination" }\nthen = { dimension = "coverage", equals = 2 }',
        'when = { dimension = "accuracy", not_applicable = true }\nthen = { no_tag_of = "accuracy" }',
        'then = { claim_for_tags_of = "accuracy" }',
        'then = { column = "Total_Score", sum_of = ["accuracy", "coverage"] }',
    ],
)
def test_every_form_of_rule_is_accepted(tmp_path: Path, text: str) -> None:
    assert faults_of(tmp_path, rule(text)) == []


# --- tables ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "write",
    [
        lambda text: text.encode("utf-8-sig"),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.replace(",", ";").encode(),
        lambda text: text.replace(",", "\t").encode(),
        lambda text: text.replace("question_id", " Question_ID ").encode(),
        lambda text: text.replace("\n", ",,\n").encode(),
        lambda text: ("\n" + text.replace("\n", "\n,,,\n\n")).encode(),
    ],
    ids=["bom", "crlf", "semicolon", "tab", "header", "trailing commas", "blank rows"],
)
def test_accepted_spellings_of_csv(tmp_path: Path, write: Callable[[str], bytes]) -> None:
    plain, faults = check_study(write_study(tmp_path / "plain"))
    names = ("questions.csv", "responses.csv")
    other, faults = check_study(
        write_study(tmp_path / "other", {name: write(STUDY_FILES[name]) for name in names})
    )
    assert faults == []
    assert other == plain


@pytest.mark.parametrize(
    ("encoding", "where", "words"),
    [("cp1252", "questions.csv line 2", "0xE9... Windows-1252"), ("utf-16", "questions.csv", "UTF-16")],
)
def test_other_encodings_are_one_fault(tmp_path: Path, encoding: str, where: str, words: str) -> None:
    content = STUDY_FILES["questions.csv"].replace("Who", "Café, who").encode(encoding)
    _, faults = check_study(write_study(tmp_path, {"questions.csv": content}))
    assert_one(faults, "error", where, words)
    assert len(faults) == 1


@pytest.mark.parametrize("content", ["", "\n\n", "question_id,text\n"])
def test_empty_bank(tmp_path: Path, content: str) -> None:
    _, faults = check_study(write_study(tmp_path, {"questions.csv": content}))
    assert_one(faults, "error", "questions.csv", "is empty" if not content.strip() else "holds no question")


def test_lines_are_physical_lines(tmp_path: Path) -> None:
    faults = faults_of(
        tmp_path, responses("The eldest of nine.", '"The eldest\r\nof\nnine."'), responses("Q2,", "Q7,")
    )
    assert_one(faults, "error", "responses.csv line 6, column question_id", '"Q7"')


def test_json_lines(tmp_path: Path) -> None:
    lines = [
        '{"question_id": "Q1", "figure": "Macrina", "model": "Alder", "version": 20260314, "response": "a\\r\\nb"}',
        "",
        '{"question_id": "Q2", "Model": "Alder", "figure": "Macrina", "version": null, "response": "c", "n": [1]}',
    ]
    write_study(tmp_path, {"responses.csv": None, "responses.jsonl": "\n".join(lines)})
    loaded, faults = check_study(tmp_path)
    assert loaded is not None
    assert [(unit.version, unit.response) for unit in loaded.units] == [("20260314", "a\nb"), ("", "c")]
    assert_one(faults, "warning", "responses.jsonl", "1 of the questions: Q3 (Macrina)")


def test_faults_in_json_lines(tmp_path: Path) -> None:
    start = '{"question_id": "Q1", "figure": "Macrina", "model": "M1", "version": "m-2026-01", "response": '
    lines = [
        f"{start}true}}",
        f'{start}"\\ud800"}}',
        '{"question_id": "Q1"',
        "[1]",
        "[" * 100_000,
        f'{start.replace("M1", "M2")}"x"}}',
    ]
    write_study(tmp_path, {"responses.csv": None, "responses.jsonl": "\n".join(lines)})
    _, faults = check_study(tmp_path)
    assert_one(faults, "error", "responses.jsonl line 1, key response", "found true")
    assert_one(faults, "error", "responses.jsonl line 2, key response", "U+D800 at position 1")
    assert_one(faults, "error", "responses.jsonl line 3, character 21", "not valid JSON")
    assert_one(faults, "error", "responses.jsonl line 4", "one object")
    assert_one(faults, "error", "responses.jsonl line 5", "cannot be read as JSON")


# --- bank --------------------------------------------------------------------------------------


def test_ids_are_text_and_missing_words_are_words(tmp_path: Path) -> None:
    files: dict[str, str | bytes | None] = {
        "questions.csv": "question_id,text\n007,None\n7,N/A\nNA,null\n",
        "responses.csv": "question_id,model,version,response\n"
        + "".join(f"{question},None,v-2026-01,NA\n" for question in ("007", " 7 ", "NA")),
    }
    loaded, faults = check_study(write_study(tmp_path, files | {"reference/Macrina.md": None}))
    assert faults == []
    assert loaded is not None
    assert [(unit.key, unit.question, unit.response) for unit in loaded.units] == [
        (("007", "", "None"), "None", "NA"),
        (("7", "", "None"), "N/A", "NA"),
        (("NA", "", "None"), "null", "NA"),
    ]


def test_figures_of_questions_then_responses_then_references(tmp_path: Path) -> None:
    files = edited(
        responses(
            "", "Q1,Olympias,Alder,alder-2026-03-14,A deaconess.\nQ1,Thecla,Alder,alder-2026-03-14,A saint.\n"
        )
    )
    files |= {"reference/Thecla.md": "T", "reference/Olympias.md": "O", "reference/Paula.md": "P"}
    loaded, faults = check_study(write_study(tmp_path, files))
    assert loaded is not None
    assert [unit.key for unit in loaded.units[:4]] == [
        ("Q1", "Macrina", "Alder"),
        ("Q1", "Macrina", "Briar"),
        ("Q1", "Olympias", "Alder"),
        ("Q1", "Thecla", "Alder"),
    ]
    assert_one(
        faults, "warning", "responses.csv", "model Alder has no response to 4... Q1 (Paula), Q2 (Olympias)"
    )


def test_figure_placeholder_without_any_figure(tmp_path: Path) -> None:
    files: dict[str, str | bytes | None] = {
        "questions.csv": "question_id,text\nQ1,Who was {figure}?\n",
        "responses.csv": "question_id,model,version,response\nQ1,M1,m-2026-01,She.\n",
        "reference/Macrina.md": None,
    }
    _, faults = check_study(write_study(tmp_path, files))
    assert_one(faults, "error", "questions.csv line 2, column text", "no figure")


def test_placeholder_is_replaced_and_nothing_else_is_formatted(tmp_path: Path) -> None:
    loaded = load_study(
        write_study(tmp_path, edited(questions("Who was {figure}?", "{0} {x!r} %s {figure}: {figure}")))
    )
    assert loaded.units[0].question == "{0} {x!r} %s Macrina: Macrina"


def test_text_too_long_once_the_figure_is_in(tmp_path: Path) -> None:
    name = "Macrina the Younger"
    faults = faults_of(
        tmp_path, questions("Who was {figure}?", "{figure}" * 4_000), questions("Q3,Macrina", f"Q3,{name}")
    )
    assert_one(faults, "error", "questions.csv line 2, column text", f"once {{figure}} is {name}")


def test_further_columns_are_slices(tmp_path: Path) -> None:
    loaded = load_study(write_study(tmp_path, edited(questions("type,text", "Century ,text"))))
    assert loaded.units[0].slices == {"Century": "fact"}


def test_calibration_batch(tmp_path: Path) -> None:
    edits = [
        responses("version,response", "version,response,batch"),
        responses("The eldest of nine.", "The eldest of nine., Calibration"),
        responses("A teacher of her brothers.", "A teacher of her brothers.,practice"),
    ]
    faults = faults_of(tmp_path / "bad", *edits)
    assert_one(faults, "error", "responses.csv line 3, column batch", '"practice"')
    loaded = load_study(write_study(tmp_path / "good", edited(*edits[:2])))
    assert [unit.calibration for unit in loaded.units] == [True, False, False, False, False, False]


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (responses("Q3,Macrina,Briar,briar-2026-04-02,Because of her vows.\n", ""), "1 models (Alder)"),
        (responses("", "Q3,Macrina,Cedar,c-2026-01,No.\n"), "3 models (Alder, Briar and Cedar)"),
    ],
)
def test_pairs_need_two_models(tmp_path: Path, edit: Edit, words: str) -> None:
    faults = faults_of(tmp_path, section('[design]\nlayout = "pairs"'), edit)
    assert_one(faults, "error", "responses.csv, case Q3 (Macrina)", words)


def test_pairs_in_one_batch(tmp_path: Path) -> None:
    edits = [
        section('[design]\nlayout = "pairs"'),
        responses("version,response", "version,response,batch"),
        responses("The eldest of nine.", "The eldest of nine.,calibration"),
    ]
    assert_one(faults_of(tmp_path, *edits), "error", "responses.csv, case Q1 (Macrina)", "one side only")


@pytest.mark.parametrize(
    "edit",
    [
        responses("The eldest", "Alders grow there; Gemination; the eldest"),
        responses("The eldest", "Paul Claude wrote of the eldest"),
        questions("Who was {figure}?", "What would OpenAI say of {figure}?"),
    ],
)
def test_names_that_give_nothing_away(tmp_path: Path, edit: Edit) -> None:
    files = edited(
        edit, *([responses("The eldest", "OpenAI: the eldest")] if edit[0] == "questions.csv" else [])
    )
    assert check_study(write_study(tmp_path, files))[1] == []


def test_short_model_names_count_with_their_capitals(tmp_path: Path) -> None:
    files = {
        "responses.csv": STUDY_FILES["responses.csv"]
        .replace("Alder", "Ash")
        .replace("She was not", "ash; not Ashes")
    }
    assert check_study(write_study(tmp_path / "quiet", files))[1] == []
    files = {"responses.csv": files["responses.csv"].replace("ash; not", "Ash; not")}
    _, faults = check_study(write_study(tmp_path / "loud", files))
    assert_one(faults, "warning", "responses.csv line 6, column response", '"Ash"')


def test_google_rater_without_address(tmp_path: Path) -> None:
    faults = faults_of(tmp_path, section('[backend]\nkind = "google"'))
    assert_one(faults, "warning", f"{BEN} email", "will not be shared")


def test_calibration_units_beside_marked_responses(tmp_path: Path) -> None:
    marked = (
        STUDY_FILES["responses.csv"]
        .replace("\n", ",calibration\n")
        .replace("response,calibration", "response,batch")
    )
    files = edited(section("[design]\ncalibration_units = 2")) | {"responses.csv": marked}
    faults = check_study(write_study(tmp_path, files))[1]
    assert_one(faults, "warning", "study.toml [design] calibration_units", "is not used: 6 responses")
    assert_one(faults, "warning", "responses.csv", "none is left for production")


# --- everything else ---------------------------------------------------------------------------


@pytest.mark.parametrize("template", sorted(path.name for path in TEMPLATES.iterdir() if path.is_dir()))
def test_templates_are_valid(template: str) -> None:
    folder = TEMPLATES / template
    missing = [
        name for name in ("study.toml", "rubric.toml", "questions.csv") if not (folder / name).exists()
    ]
    missing += (
        [] if any((folder / f"responses.{ending}").exists() for ending in ("csv", "jsonl")) else ["responses"]
    )
    if missing:
        pytest.skip(f"{template} is not complete: {', '.join(missing)}")
    loaded, faults = check_study(folder)
    assert [str(fault) for fault in faults] == []
    assert loaded is not None


BYTES = st.binary(max_size=200) | st.text(max_size=100).map(
    lambda text: text.encode("utf-8", "surrogatepass")
)


JSON_LINE = (
    '{"question_id": "Q1", "figure": "Macrina", "model": "M1", "version": "m-2026-01", "response": "She."}\n'
)
FUZZED = {**STUDY_FILES, "responses.jsonl": JSON_LINE * 2}


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(sorted(FUZZED)), junk=BYTES, cut=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_arbitrary_bytes_raise_nothing_but_study_error(
    tmp_path: Path, name: str, junk: bytes, cut: tuple[float, float]
) -> None:
    """Put junk in place of a part of a file, or of all of it."""
    whole = FUZZED[name].encode()
    start, end = sorted(int(part * len(whole)) for part in cut)
    files = edited(section('[files]\nresponses = "responses.jsonl"')) if name == "responses.jsonl" else {}
    write_study(tmp_path, files | {name: whole[:start] + junk + whole[end:]})
    with suppress(StudyError):
        load_study(tmp_path)
    with suppress(StudyError):
        assert all(str(fault).isprintable() for fault in check_study(tmp_path)[1])


def test_a_check_formula_that_excel_would_refuse_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    rules = "".join(
        f'\n[[rule]]\nid = "r{number}"\nwhen = {{ dimension = "coverage", equals = 1 }}\n'
        f'then = {{ dimension = "accuracy", equals = 1 }}\nmessage = "{"A long sentence. " * 12}"\n'
        for number in range(40)
    )
    folder = write_study(tmp_path, {"rubric.toml": RUBRIC_TOML + rules})
    _, faults = check_study(folder)
    assert ["Check formula" in fault.message and "8,192" in fault.message for fault in faults] == [True]


def test_every_fault_of_one_rule_is_named(tmp_path: Path) -> None:
    rule = (
        '\n[[rule]]\nid = "odd"\nwhen = { tag = "nope" }\nthen = { dimension = "dept", equals = 1 }\n'
        'severity = "fatal"\n'
    )
    _, faults = check_study(write_study(tmp_path, {"rubric.toml": RUBRIC_TOML + rule}))
    assert [word for word in ("nope", "dept", "fatal") if any(word in fault.message for fault in faults)] == [
        "nope",
        "dept",
        "fatal",
    ]


# --- counts, checklists, guidance ---


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{ value = 0, count_from = 0 }, { value = 2 }", "count_from in 1 of 2 levels"),
        ("{ value = 0, count_from = 1 }, { value = 2, count_from = 2 }", "count_from 1, 2...starts at 0"),
        ("{ value = 0, count_from = 0 }, { value = 2, count_from = 0 }", "count_from 0, 0...grows"),
        ('{ value = "few", count_from = 0 }, { value = "many", count_from = 2 }', "are words; use numbers"),
    ],
)
def test_counts_lead_to_one_level_each(tmp_path: Path, text: str, words: str) -> None:
    assert_one(faults_of(tmp_path, levels(text)), "error", "rubric.toml [[dimension]] 3 (d3) levels", words)


@pytest.mark.parametrize(
    ("checklist", "text", "words"),
    [
        ('["a", "b"]', "{ value = 0 }, { value = 1 }", "2 items...0, 1, 2; found 0, 1"),
        ('["a"]', "{ value = 0, count_from = 0 }, { value = 1, count_from = 1 }", "beside count_from"),
    ],
)
def test_checklists_add_up_to_the_levels(tmp_path: Path, checklist: str, text: str, words: str) -> None:
    edit = dimension(f'id = "d3"\nname = "Third"\nchecklist = {checklist}\nlevels = [{text}]')
    assert_one(faults_of(tmp_path, edit), "error", "rubric.toml [[dimension]] 3 (d3) checklist", words)


def test_a_blank_item_of_a_checklist(tmp_path: Path) -> None:
    edit = dimension('id = "d3"\nname = "Third"\nchecklist = [""]\nlevels = [{ value = 0 }, { value = 1 }]')
    assert_one(faults_of(tmp_path, edit), "error", "rubric.toml [[dimension]] 3 (d3) checklist 1", "is blank")


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("[time]\nscore = [420, 300]", "study.toml [time] score", "420 to 300...smaller"),
        ("[self_check]\ntypical_total = [16, 6]", "study.toml [self_check] typical_total", "smaller total"),
        ('[self_check]\ntypical_total = "literal"', "study.toml [self_check] typical_total", "no rule"),
        ('[design]\nsides = "rater"', "study.toml [design] sides", "only pairs have sides"),
    ],
)
def test_what_raters_are_told(tmp_path: Path, text: str, where: str, words: str) -> None:
    found = [fault.message for fault in faults_of(tmp_path, section(text)) if fault.where == where]
    assert any(all(word in message for word in words.split("...")) for message in found), found


def test_a_resource_without_address(tmp_path: Path) -> None:
    edit = study('id = "demo"\n', 'id = "demo"\nresources = [{ title = "Context", address = "" }]\n')
    faults = faults_of(tmp_path, edit)
    assert any("resources" in fault.where and "is blank" in fault.message for fault in faults)
