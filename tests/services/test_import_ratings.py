"""`import` and `export --wide`: files that raters send, good and bad, beside their workbooks."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from openpyxl import Workbook

from sheetsync.cli.main import cli
from sheetsync.domain.scoring.wide_format import escape_formula, unescape_formula
from sheetsync.errors import StudyError
from sheetsync.services.import_ratings import import_ratings
from tests.services.pair_studies import HEADER, PairDesk, csv_text, pair_desk, scores

LATER = "2026-07-02T02:00:00Z"
LATEST = "2026-07-03T02:00:00Z"

SEED_HEADER = (
    "Test_Case | Response | Depth_Score | Depth_Confidence | Evidence_Score | Evidence_Confidence | "
    "Alternatives_Score | Alternatives_Confidence | Structure_Score | Structure_Confidence | "
    "Actionability_Score | Actionability_Confidence | Total_Score | Notes"
)
SEED_ROW = (
    "TC-001 | A | 4 | High | 2 | Medium | 4 | High | 3 | High | 2 | Medium | 15 | "
    "Strong alternatives, but evidence sources not assessed"
)


def test_the_example_row_of_the_instructions_validates(tmp_path: Path) -> None:
    root = str(tmp_path / "study")
    runner = CliRunner()
    assert runner.invoke(cli, ["init", root, "--template", "blinded-pairs"]).exit_code == 0
    assert runner.invoke(cli, ["-C", root, "provision"]).exit_code == 0
    file = tmp_path / "scores.txt"
    file.write_text(f"{SEED_HEADER}\n{SEED_ROW}\n", encoding="utf-8")
    result = runner.invoke(cli, ["-C", root, "import", str(file), "--rater", "V1"])
    assert (result.exit_code, result.stderr) == (0, "")
    assert "taken in as pull 1 for V1" in result.stdout
    written = runner.invoke(cli, ["-C", root, "export", "--wide", "-", "--rater", "V1"]).stdout
    rows = list(csv.reader(io.StringIO(written)))
    assert rows[0] == SEED_HEADER.split(" | ")
    assert len(rows) == 37
    assert SEED_ROW.split(" | ") in rows
    again = runner.invoke(cli, ["-C", root, "import", "-", "--rater", "V1", "--json"], input=written)
    (batch,) = json.loads(again.stdout)["batches"]
    assert batch == {
        "batch": "main",
        "rows": 36,
        "ratings": {"new": 0, "changed": 0, "cleared": 0},
        "problems": 0,
    }


@pytest.fixture
def desk(tmp_path: Path) -> PairDesk:
    return pair_desk(tmp_path)


def header_and(*rows: str) -> str:
    return "\n".join([",".join(HEADER), *rows, ""])


MALFORMED = {
    "no such case": (header_and("T9,A,4,High,2,6,"), ['line 2, Test_Case: "T9" is no case of ann']),
    "no side": (header_and("T1,C,4,High,2,6,"), ['line 2, Response: found "C"; write A or B']),
    "blank": (
        header_and(",,4,High,2,6,"),
        ['line 2, Response: found ""', 'line 2, Test_Case: "" is no case'],
    ),
    "twice": (
        header_and("T1,A,4,High,2,6,", "T2,A,4,High,2,6,", "001,a,4,High,2,6,"),
        ["line 4: is about the same response as line 2"],
    ),
    "missing column": (
        "Test_Case,Response,Depth_Score,Evidence_Use_Score,Total_Score,Notes\nT1,A,4,2,6,\n",
        ["line 1: has no column Depth_Confidence; the 7 columns are Test_Case, Response"],
    ),
    "unknown column": (
        ",".join([*HEADER, "Judge"]) + "\nT1,A,4,High,2,6,,x\n",
        ['line 1: column "Judge" is not known'],
    ),
    "misspelt column": (
        ",".join(HEADER).replace("Notes", "Note") + "\nT1,A,4,High,2,6,\n",
        ['column "Note" is not known; did you mean "Notes"?', "has no column Notes"],
    ),
    "repeated column": (
        ",".join([*HEADER, "Notes"]) + "\nT1,A,4,High,2,6,,\n",
        ['column "Notes" stands twice'],
    ),
    "a comma too many": (
        header_and("T1,A,4,High,2,6,deep, but thin"),
        ['line 2: field 8 holds " but thin"'.replace('" but', '"but'), "quotation marks"],
    ),
    "open quotation mark": (header_and('T1,A,4,High,2,6,"deep'), ["never closed"]),
    "no rows": (header_and(), ["holds no row below its header"]),
    "empty": ("", ["is empty; its first line must name the columns"]),
    "no header": (
        "T1,A,4,High,2,6,fine\n",
        [
            "line 1: names none of the columns; they come first, in any order: Test_Case, Response, Depth_Score"
        ],
    ),
}


@pytest.mark.parametrize(("text", "said"), MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_file_is_refused_as_a_whole(desk: PairDesk, text: str, said: list[str]) -> None:
    with pytest.raises(StudyError, match="nothing of it was taken") as caught:
        desk.send("ann", text)
    faults = "\n".join(map(str, caught.value.faults))
    assert [each for each in said if each not in faults] == [], faults
    with desk.session() as session:
        assert session.archive.last_pull() is None


def test_all_faults_are_named_at_once(desk: PairDesk) -> None:
    with pytest.raises(StudyError) as caught:
        desk.send(
            "ann", header_and("T9,A,4,High,2,6,", "T1,C,4,High,2,6,", "T1,A,4,High,2,6,", "1,A,4,High,2,6,")
        )
    assert len(caught.value.faults) == 3


CELLS = {
    "off the scale": ("T1,A,3,High,2,5,", "Depth", "not_a_level"),
    "words": ("T1,A,four,High,2,,", "Depth", "not_a_level"),
    "two picks": ("T1,A,2 or 4,High,2,,", "Depth", "not_a_level"),
    "no confidence level": ("T1,A,4,Sure,2,6,", "Depth confidence", "not_a_level"),
    "not applicable here": ("T1,A,N/A,High,2,,", "Depth", "not_applicable_here"),
    "wrong total": ("T1,A,4,High,2,7,", "Total_Score", "rule:total"),
}


@pytest.mark.parametrize(("row", "column", "kind"), CELLS.values(), ids=CELLS.keys())
def test_a_wrong_cell_is_a_problem_and_the_rest_counts(
    desk: PairDesk, row: str, column: str, kind: str
) -> None:
    result = desk.send("ann", header_and("T2,B,4,High,2,6,fine", row))
    (problem,) = result.problems
    assert (problem.kind, problem.column, problem.tab, problem.rater) == (kind, column, "scores.csv", "ann")
    assert problem.message.startswith("scores.csv line 3: ")
    with desk.session() as session:
        assert problem in session.archive.current_problems()
    assert "T2,B,4,High,2,6,fine" in desk.export("ann")
    desk.pull(LATER)  # reading the workbook, in which nothing stands, settles nothing
    with desk.session() as session:
        assert problem in session.archive.current_problems()
    desk.send("ann", header_and("T1,A,4,High,2,6,"), now=LATEST)
    with desk.session() as session:
        assert session.archive.current_problems() == []


@pytest.mark.parametrize(
    "text",
    [
        "Notes\tTotal_Score\tResponse\tTest_Case\tEvidence_Use_Score\tDepth_Confidence\tDepth_Score\nfine\t6\tA\tT1\t2\thigh\t4.0\n",
        ";".join(HEADER) + "\nT1;A;4;High;2;6;fine\n",
        "\ufeff" + ",".join(HEADER).upper() + "\r\n\r\n001,a,4,HIGH,2,6.0,fine\r\n",
        "| "
        + " | ".join(HEADER)
        + " |\n|---|:-:|---|---|---|---|---|\n| 1 | Response A | 4 | High | 2 | 6 | fine |\n",
        " | ".join(HEADER) + "\n\nt1 | A | 4 | High | 2 | 6 | fine |\n",
    ],
    ids=["tsv", "semicolons", "capitals", "framed", "pipes"],
)
def test_the_same_row_in_other_clothes(desk: PairDesk, text: str) -> None:
    result = desk.send("ann", text)
    assert result.problems == ()
    assert result.not_in_file == 5
    assert "T1,A,4,High,2,6,fine" in desk.export("ann")


def test_a_workbook_with_a_title_above_the_table(desk: PairDesk) -> None:
    book = Workbook()
    book.active.append(["Notes of mine"])  # type: ignore[union-attr]
    tab = book.create_sheet("Scores")
    tab.append(["My scores"])
    tab.append([])
    tab.append(list(HEADER))
    tab.append([1, "B", 4, "High", 2, 6, "=1+1"])
    target = io.BytesIO()
    book.save(target)
    result = desk.send("ann", target.getvalue(), "scores.xlsx")
    assert result.batches[0].changes.new == 2
    assert "T1,B,4,High,2,6,'=1+1" in desk.export("ann")


def sent_workbook(desk: PairDesk, *tabs: tuple[str, list[list[object]]]) -> list[str]:
    """Return what is said of a workbook with these tabs; nothing where it is taken."""
    book = Workbook()
    for title, rows in tabs:
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    target = io.BytesIO()
    book.save(target)
    return refusal(desk, target.getvalue(), "scores.xlsx")


def refusal(desk: PairDesk, data: bytes, name: str) -> list[str]:
    file = desk.root / name
    file.write_bytes(data)
    with desk.session() as session:
        try:
            import_ratings(session, file, "ann", LATER)
        except StudyError as error:
            return [str(fault) for fault in error.faults]
    return []


ROW: list[object] = ["T1", "A", 4, "High", 2, 6, "fine"]


def test_scores_on_two_tabs_are_refused_not_half_read(desk: PairDesk) -> None:
    other: list[object] = ["T2", *ROW[1:]]
    (said,) = sent_workbook(desk, ("One", [[*HEADER], ROW]), ("Two", [["Mine"], [*HEADER], other]))
    assert said.endswith("scores.xlsx: holds scores on the tabs One and Two; bring them together on one tab")
    assert sent_workbook(desk, ("Empty form", [[*HEADER]]), ("Two", [[*HEADER], other])) == []
    assert "T2,A,4,High,2,6,fine" in desk.export("ann")


def test_other_workbooks_are_told_apart(desk: PairDesk, tmp_path: Path) -> None:
    (said,) = refusal(desk, b"\xd0\xcf\x11\xe0" + bytes(600), "scores.xls")
    assert "is an old Excel file (.xls)" in said
    (said,) = sent_workbook(desk, ("Notes", [["Hello"]]))
    assert "has no tab with a row that names the columns: Test_Case, Response, Depth_Score" in said
    root = str(tmp_path / "other")
    runner = CliRunner()
    runner.invoke(cli, ["init", root, "--template", "blinded-pairs"])
    runner.invoke(cli, ["-C", root, "provision"])
    (said,) = refusal(desk, (Path(root) / "sheets/raters/V1/main.xlsx").read_bytes(), "main.xlsx")
    assert "is a workbook of a study (blinded-pairs/V1/main)" in said


def test_a_wrong_total_says_what_was_found_and_what_it_should_be(desk: PairDesk) -> None:
    result = desk.send("ann", header_and("T1,A,4,High,2,7,", "T1,B,4,High,2,,"))
    assert [problem.message.partition(": ")[2] for problem in result.problems] == [
        "The total is the sum of the scores. Total_Score holds '7'; the scores add up to 6.",
        "The total is the sum of the scores. Total_Score is blank; the scores add up to 6.",
    ]


def test_the_rater_must_be_on_the_roster(desk: PairDesk) -> None:
    with pytest.raises(
        StudyError, match=r"not on the roster.*judge cannot be taken: judge_policy is forbidden"
    ):
        desk.send("gpt", header_and("T1,A,4,High,2,6,"))


def test_ratings_of_a_judge_are_an_error_where_judges_are_forbidden(desk: PairDesk) -> None:
    toml = (desk.root / "study.toml").read_text(encoding="utf-8")
    (desk.root / "study.toml").write_text(
        toml.replace('id = "cy"', 'id = "cy"\nkind = "judge"'), encoding="utf-8"
    )
    file = desk.root / "scores.csv"
    file.write_text(header_and("T1,A,4,High,2,6,"), encoding="utf-8")
    result = CliRunner().invoke(cli, ["-C", str(desk.root), "import", str(file), "--rater", "cy"])
    assert result.exit_code == 2
    assert 'judge_policy is "forbidden"' in result.stderr


def test_sides_are_those_that_the_rater_saw(tmp_path: Path) -> None:
    desk = pair_desk(tmp_path, 12, design='sides = "rater"')
    views = [desk.sides(rater) for rater in ("ann", "ben")]
    assert views[0] != views[1]  # with twelve cases two draws agree once in 4096
    for rater in ("ann", "ben"):
        desk.send(rater, desk.submission(rater, lambda _, model: scores(5 if model == "improved" else 0, 1)))
    with desk.session() as session:
        models = {unit.code: unit.model for unit in session.archive.units()}
        found = session.archive.current_entries()
    for rater in ("ann", "ben"):
        entries = [e for e in found[rater, "main"] if (e.kind, e.column) == ("score", "depth")]
        assert {(models[e.code], e.value) for e in entries} == {("improved", 5), ("baseline", 0)}


# --- beside the workbook ---


def code_of(desk: PairDesk, case: str, model: str) -> str:
    return desk.codes()[case, model]


def depth_of(desk: PairDesk, code: str) -> object:
    with desk.session() as session:
        entries = session.archive.current_entries("ann", "main")["ann", "main"]
    return next((e.value for e in entries if (e.code, e.column, e.kind) == (code, "depth", "score")), None)


def everything(desk: PairDesk, depth: int) -> str:
    return desk.submission("ann", lambda _, __: scores(depth, 1))


def test_a_pull_of_the_untouched_workbook_clears_nothing(desk: PairDesk) -> None:
    desk.pull()
    desk.send("ann", everything(desk, 4))
    pulled = desk.pull(LATER)
    assert [w.state for w in pulled.workbooks] == ["unchanged"] * 3
    assert pulled.incomplete == ()
    code = code_of(desk, "T1", "baseline")
    assert depth_of(desk, code) == 4


def test_one_row_typed_into_the_workbook_leaves_the_others_alone(desk: PairDesk) -> None:
    desk.send("ann", everything(desk, 4))
    first, other = code_of(desk, "T1", "baseline"), code_of(desk, "T2", "baseline")
    desk.type_into("ann", "main", {first: {"Depth": 2}})
    pulled = desk.pull(LATER)
    assert next(w.state for w in pulled.workbooks) == "read"
    assert pulled.incomplete == ()
    assert (depth_of(desk, first), depth_of(desk, other)) == (2, 4)  # what came later counts


def test_of_two_values_the_later_counts_and_blanks_yield(desk: PairDesk) -> None:
    code = code_of(desk, "T1", "baseline")
    desk.type_into("ann", "main", {code: {"Depth": 2}})
    desk.pull()
    assert desk.send("ann", everything(desk, 4), now=LATER).batches[0].changes.changed == 1
    assert depth_of(desk, code) == 4
    desk.pull(LATER, force=True)  # reading the same 2 again is no news
    assert depth_of(desk, code) == 4
    desk.type_into("ann", "main", {code: {"Depth": None}})
    desk.pull(LATEST, force=True)
    assert depth_of(desk, code) == 4
    desk.type_into("ann", "main", {code: {"Depth": 5}})
    desk.pull(LATEST)
    assert depth_of(desk, code) == 5
    blank = desk.submission(
        "ann", lambda case, model: scores("", "") if (case, model) == ("T1", "baseline") else {}
    )
    desk.send("ann", blank, now=LATEST)
    assert depth_of(desk, code) == 5


def test_a_blank_in_a_file_takes_back_what_an_earlier_file_said(desk: PairDesk) -> None:
    desk.send("ann", everything(desk, 4))
    blank = desk.submission(
        "ann", lambda case, model: scores("", 1) if (case, model) == ("T1", "baseline") else {}
    )
    changes = desk.send("ann", blank, now=LATER).batches[0].changes
    assert (changes.new, changes.changed, changes.cleared) == (0, 0, 1)
    code = code_of(desk, "T1", "baseline")
    assert depth_of(desk, code) is None
    with desk.session() as session:
        steps = session.archive.history("ann", code, "score", "depth")
    assert [(step.value, step.pull) for step in steps] == [(4, 1), (None, 2)]


def test_the_history_names_both_sources(desk: PairDesk) -> None:
    code = code_of(desk, "T1", "baseline")
    desk.type_into("ann", "main", {code: {"Depth": 2}})
    desk.pull()
    desk.send("ann", everything(desk, 4), now=LATER)
    with desk.session() as session:
        assert [step.value for step in session.archive.history("ann", code, "score", "depth")] == [2, 4]
        assert session.archive.last_change("ann", "main") == LATER


def test_a_workbook_made_again_holds_what_was_imported(desk: PairDesk) -> None:
    desk.send("ann", everything(desk, 4))
    with desk.session() as session:
        record = next(r for r in session.workbooks() if r.rater == "ann")
        sheet = session.sheets().sheet(record, session.archive.current_entries()[record.key])
    assert {row.typed["score", "depth"] for row in sheet.rows} == {4}


def test_a_dry_run_changes_nothing(desk: PairDesk) -> None:
    result = desk.send("ann", everything(desk, 4), dry_run=True)
    assert (result.pull, result.batches[0].changes.new) == (None, 12)
    with desk.session() as session:
        assert session.archive.last_pull() is None
        assert session.archive.current_entries("ann")["ann", "main"] == []


def test_a_file_that_repeats_what_is_in_force_is_no_rescore(desk: PairDesk) -> None:
    desk.send("ann", everything(desk, 4))
    code = code_of(desk, "T1", "baseline")
    desk.provision(code)
    result = desk.send("ann", desk.export("ann"), now=LATER)
    assert all(each.changes.new == each.changes.changed == 0 for each in result.batches)
    desk.send("ann", everything(desk, 5), now=LATEST)
    with desk.session() as session:
        entries = session.archive.current_entries("ann")
    assert [e.value for e in entries["ann", "rescore-1"] if e.column == "depth" and e.kind == "score"] == [5]
    assert (
        next(
            e.value for e in entries["ann", "main"] if (e.code, e.column, e.kind) == (code, "depth", "score")
        )
        == 4
    )


# --- there and back ---

NOTES = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n=+-@'\"|,;"), max_size=12
)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([0, 2, 4, 5, ""]), st.sampled_from([0, 1, 3, "N/A", ""]), NOTES),
        min_size=6,
        max_size=6,
    )
)
def test_importing_what_was_exported_changes_nothing(
    desk: PairDesk, rows: list[tuple[object, object, str]]
) -> None:
    codes = list(desk.codes().values())
    typed = {
        code: {
            "Depth": depth if depth != "" else None,
            "Evidence": evidence if evidence != "" else None,
            "Notes": notes or None,
        }
        for code, (depth, evidence, notes) in zip(codes, rows, strict=True)
    }
    desk.type_into("ann", "main", typed)  # type: ignore[arg-type]
    desk.pull(force=True)
    with desk.session() as session:
        before = session.archive.current_entries("ann")
    text = desk.export("ann")
    result = desk.send("ann", text, now=LATER)
    changes = result.batches[0].changes
    assert (changes.new, changes.changed, changes.cleared) == (0, 0, 0)
    with desk.session() as session:
        assert session.archive.current_entries("ann") == before
    assert desk.export("ann") == text


@given(st.text())
def test_no_text_is_a_formula_and_all_come_back(text: str) -> None:
    escaped = escape_formula(text)
    assert not escaped.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert unescape_formula(escaped) == text


def test_export_without_a_file_writes_one_for_each(tmp_path: Path) -> None:
    root = str(tmp_path / "study")
    runner = CliRunner()
    runner.invoke(cli, ["init", root, "--template", "blinded-pairs"])
    runner.invoke(cli, ["-C", root, "provision"])
    refused = runner.invoke(cli, ["-C", root, "export", "--wide", str(tmp_path / "all.csv")])
    assert (refused.exit_code, "Add --rater V1, V2 or V3" in refused.stderr) == (2, True)
    result = runner.invoke(cli, ["-C", root, "export", "--wide"])
    assert result.exit_code == 0, result.output
    assert sorted(p.name for p in (tmp_path / "study/exports").iterdir()) == ["V1.csv", "V2.csv", "V3.csv"]


def test_a_single_layout_goes_by_code(tmp_path: Path) -> None:
    from tests.services.studies import memory_desk

    plain = memory_desk(tmp_path / "study")
    plain.provision()
    desk = PairDesk(plain.root, plain.backend)
    code = next(iter(desk.codes().values()))
    text = csv_text([("Code", "Accuracy_Score", "Coverage_Score", "Notes"), (code.lower(), "N/A", 4, "fine")])
    assert desk.send("ann", text).batches[0].changes.new == 2
    assert f"{code},N/A,4,fine" in desk.export("ann")
    with pytest.raises(StudyError) as caught:
        desk.send("ann", text.replace(code.lower(), "XYZ"))
    assert "is no code of ann" in str(caught.value.faults[0])


def test_what_a_file_repeats_outlives_the_workbook(desk: PairDesk) -> None:
    code = code_of(desk, "T1", "baseline")
    desk.type_into("ann", "main", {code: {"Depth": 4}})
    desk.pull()
    desk.send("ann", everything(desk, 4), now=LATER)
    desk.type_into("ann", "main", {code: {"Depth": None}})
    desk.pull(LATEST, force=True)
    assert depth_of(desk, code) == 4  # the file says so still: a blank yields to a value
    with desk.session() as session:
        steps = session.archive.history("ann", code, "score", "depth")
        assert sum(count for at, count in session.archive.score_times() if at == LATER) == 11
    assert [step.value for step in steps] == [4, None]


def one_row(desk: PairDesk, depth: int | None) -> str:
    row = scores("" if depth is None else depth, "")
    return desk.submission("ann", lambda case, model: row if (case, model) == ("T1", "baseline") else {})


STEPS = st.lists(
    st.tuples(st.sampled_from(["typed", "file"]), st.sampled_from([0, 2, 4, None])), min_size=1, max_size=7
)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(STEPS)
@example([("typed", 4), ("file", 4), ("typed", None)])
@example([("typed", 2), ("file", 4), ("file", 2), ("typed", None), ("file", 2), ("file", None)])
@example([("typed", 4), ("file", 4), ("file", None), ("file", 4), ("typed", None)])
def test_of_any_order_of_files_and_pulls_the_last_value_said_counts(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int | None]]
) -> None:
    desk = pair_desk(tmp_path_factory.mktemp("study"))
    code = code_of(desk, "T1", "baseline")
    said: dict[str, int | None] = {"typed": None, "file": None}
    order = ["typed", "file"]  # who said something new last stands last
    for source, value in steps:
        in_force = next((said[each] for each in reversed(order) if said[each] is not None), None)
        is_news = value is not None and value != (said["typed"] if source == "typed" else in_force)
        said[source] = value
        if is_news:
            order.sort(key=lambda each: each == source)
        if source == "typed":
            desk.type_into("ann", "main", {code: {"Depth": value}})
            desk.pull(force=True)
        else:
            desk.send("ann", one_row(desk, value))
        expected = next((said[each] for each in reversed(order) if said[each] is not None), None)
        assert depth_of(desk, code) == expected
