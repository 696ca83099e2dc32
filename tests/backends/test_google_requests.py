"""What is sent to Google: valid by the official schema, small, in order, and safe to cut and repeat."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sheetsync.backends.google_cells import CellWriter
from sheetsync.backends.google_present import (
    NEW_FILE,
    READ_AND_PRESENT_FIELDS,
    Present,
    PresentTab,
    object_id,
    present_in,
    tab_id,
)
from sheetsync.backends.google_read import READ_FIELDS, parse_spreadsheet
from sheetsync.backends.google_requests import FILTER_VIEW, draw_requests, payload_size, split_requests
from sheetsync.config import load_study
from sheetsync.domain.scoring.sheet import ScoringRow, ScoringSheet
from sheetsync.domain.scoring.workbook import build_scoring_workbook
from sheetsync.domain.workbook import (
    Cell,
    ChartSpec,
    Choice,
    ColumnSpec,
    Formula,
    FreeText,
    Highlight,
    Link,
    NamedList,
    ReadOnly,
    TabSpec,
    Tick,
    Value,
    WorkbookSpec,
    expected_reading,
)
from sheetsync.templates_folder import templates_dir
from tests.backends.contract import HOSTILE, scoring_spec, summary_spec
from tests.builders import make_rubric
from tests.discovery import faults_of_requests

Json = dict[str, Any]
GOLDEN = Path(__file__).parent.parent / "golden" / "google_scoring_requests.json"

# --- workbooks ---


def small_scoring() -> WorkbookSpec:
    rows = (
        ScoringRow("00001E", "Macrina", "Who was she?", "=the eldest of nine", reference="Macrina.md"),
        ScoringRow("AB12CD", "Macrina", "Why Rome?", "She was not.", has_false_premise=True),
    )
    texts = {"Macrina.md": "# Macrina\n\nBorn about 327.\n"}
    sheet = ScoringSheet(
        "demo", "A study", "ann", "Ann", "main", "production", make_rubric(), rows, "c@example.org"
    )
    return build_scoring_workbook(replace(sheet, references=texts))


def pairs_scoring() -> WorkbookSpec:
    """The tabs that only pairs have: checklist, self-check with merged lines, helper, reminders in the table."""
    rubric = load_study(templates_dir() / "blinded-pairs").rubric
    rows = tuple(
        ScoringRow(f"K{case:02}{side}", "", "Q?", "R.", case=f"{case:03}", side=side, domain="D")
        for case in range(8)
        for side in "AB"
    )
    return build_scoring_workbook(
        ScoringSheet("demo", "Pairs", "ann", "Ann", "main", "production", rubric, rows, pairs=True)
    )


def page_with_charts() -> WorkbookSpec:
    columns = (
        ColumnSpec("Dimension", 20),
        *(ColumnSpec(name, 9, "number") for name in ("alpha", "lo", "hi")),
    )
    rows = (("Coverage", 0.5, 0.1, 0.2), ("Accuracy", None, None, None), ("Framing", 1, None, None))
    charts = (
        ChartSpec("points", "Alpha", 0, (1,), 1, 3, "A6", 2, 3, y_title="alpha", value_range=(-0.2, 1.0)),
        ChartSpec("stacked", "Spread", 0, (1, 2), 1, 3, "B9"),
        ChartSpec("bar", "", 0, (1,), 1, 3, "C12", x_title="value"),
    )
    tab = TabSpec("Page", columns, rows, frozen_rows=1, charts=charts, merged=((4, 0, 4, 2), (5, 1, 5, 1)))
    return WorkbookSpec("Page", (tab, TabSpec("Words", (ColumnSpec("w"),), hidden=True)), marker="s/summary")


def odd_columns() -> WorkbookSpec:
    columns = (
        ColumnSpec("Number", style="code", validation=ReadOnly("not here")),
        ColumnSpec("Pick", style="input", validation=Choice("words", "Pick", extra_allowed=True)),
        ColumnSpec("Tick", style="input", validation=Tick("Tick")),
        ColumnSpec("Free", style="input_text", validation=FreeText()),
    )
    rows = ((7, "a", "x", "t"), ("007", 1, True, 5), ("N/A", None, None))
    highlight = Highlight(0, 3, '$B2="a"', "input_text"), Highlight(1, 1, "$A2=7", "title")
    tab = TabSpec("Odd", columns, rows, table=True, input_rows=True, highlights=highlight)
    return WorkbookSpec("Odd", (tab,), (NamedList("words", ("a", "b, c"), ("A",)),))


SPECS = {
    "contract": scoring_spec,
    "scoring": small_scoring,
    "pairs": pairs_scoring,
    "summary": summary_spec,
    "charts": page_with_charts,
    "odd": odd_columns,
}

# --- looking into requests ---


def of_kind(requests: Sequence[Json], kind: str) -> list[Any]:
    return [request[kind] for request in requests if kind in request]


def redrawn(spec: WorkbookSpec) -> Present:
    """A spreadsheet in which the spec was drawn before, with everything that a drawing leaves."""
    titles = [*(tab.title for tab in spec.tabs), "Lists"]
    tabs = [
        PresentTab(
            tab_id(title),
            title,
            mark=title,
            protections=(index * 10 + 1, index * 10 + 2),
            format_rules=2,
            charts=(object_id("chart", title, 0), 99),
            filter_views=(object_id("filter", title), 98),
            has_merges=True,
            has_filter=True,
        )
        for index, title in enumerate(titles)
    ]
    names = {"levels": ("n1", tab_id("Lists")), "gone": ("n2", tab_id("Lists")), "theirs": ("n3", 5)}
    return Present((PresentTab(5, "Mine", charts=(97,)), *tabs), names, (31,))


# --- the schema ---


@pytest.mark.parametrize("name", SPECS)
def test_a_new_file_is_drawn_by_the_schema(name: str) -> None:
    assert not faults_of_requests(draw_requests(SPECS[name](), NEW_FILE, editors=["c@example.org"]))


@pytest.mark.parametrize("name", SPECS)
def test_a_rewrite_is_drawn_by_the_schema(name: str) -> None:
    spec = SPECS[name]()
    assert not faults_of_requests(draw_requests(spec, redrawn(spec)))


def test_the_validator_finds_faults() -> None:
    wrong: list[Json] = [
        {"addSheet": {"properties": {"sheetid": 1, "index": "2", "sheetType": "GRIDS"}}},
        {
            "repeatCell": {
                "cell": {"effectiveValue": {}},
                "range": [],
                "fields": "note,userEnteredFormat.bold",
            }
        },
        {"updateCells": {"rows": []}, "addSheet": {}},
    ]
    assert len(faults_of_requests(wrong)) == 8


def test_golden(update_golden: bool) -> None:
    drawn = json.dumps(draw_requests(small_scoring(), NEW_FILE), indent=1, ensure_ascii=False) + "\n"
    if update_golden:
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(drawn, encoding="utf-8", newline="\n")
    assert drawn == GOLDEN.read_text(encoding="utf-8")


# --- tabs ---


def test_ids_are_in_range_and_differ() -> None:
    ids = {tab_id(f"Tab {number}") for number in range(500)}
    assert len(ids) == 500
    assert all(0 < each < 2**31 for each in ids)


def test_an_id_outweighs_mark_and_title() -> None:
    spec = WorkbookSpec("T", (TabSpec("A", (ColumnSpec("a"),)), TabSpec("B", (ColumnSpec("b"),))))
    both = Present((PresentTab(tab_id("B"), "A", mark="A"), PresentTab(tab_id("A"), "B", mark="B")))
    resized = of_kind(draw_requests(spec, both), "updateSheetProperties")
    assert [each["properties"]["sheetId"] for each in resized] == [tab_id("A"), tab_id("B")]


def test_the_initial_tab_gives_way_after_the_others_are_there() -> None:
    kinds = [next(iter(request)) for request in draw_requests(scoring_spec(), NEW_FILE)]
    assert kinds.count("deleteSheet") == 1
    assert kinds.index("deleteSheet") > max(i for i, kind in enumerate(kinds) if kind == "addSheet")
    added = of_kind(draw_requests(scoring_spec(), NEW_FILE), "addSheet")
    assert [each["properties"]["index"] for each in added] == [0, 1, 2]
    assert [each["properties"]["title"] for each in added] == ["Start here", "Scoring", "Lists"]


def test_foreign_tabs_are_not_named_by_any_request() -> None:
    text = json.dumps(draw_requests(scoring_spec(), redrawn(scoring_spec())))
    assert '"sheetId": 5,' not in text
    assert '"sheetId": 5}' not in text
    for foreign in (97, 98, 99, '"n3"'):
        assert f": {foreign}" not in text


def test_a_rewrite_keeps_tabs_and_takes_away_what_is_old() -> None:
    requests = draw_requests(scoring_spec(), redrawn(scoring_spec()))
    assert not of_kind(requests, "addSheet")
    assert not of_kind(requests, "deleteSheet")
    assert len(of_kind(requests, "deleteConditionalFormatRule")) == 6
    assert len(of_kind(requests, "updateProtectedRange")) == 3
    assert len(of_kind(requests, "deleteProtectedRange")) == 3
    assert len(of_kind(requests, "unmergeCells")) == len(of_kind(requests, "clearBasicFilter")) == 3
    assert of_kind(requests, "deleteNamedRange") == [{"namedRangeId": "n2"}]
    assert [each["namedRange"]["name"] for each in of_kind(requests, "updateNamedRange")] == ["levels"]
    assert [each["filter"]["filterViewId"] for each in of_kind(requests, "updateFilterView")] == [
        object_id("filter", "Scoring")
    ]
    marks = [
        each["developerMetadata"]["metadataKey"] for each in of_kind(requests, "createDeveloperMetadata")
    ]
    assert marks == ["sheetsync"]


def test_a_tab_that_was_remade_or_renamed_is_ours() -> None:
    tabs = (
        PresentTab(7, "scoring"),  # made anew by somebody
        PresentTab(8, "Intro", mark="Start here"),  # copied back and renamed
        PresentTab(9, "Lists"),  # somebody's own
    )
    requests = draw_requests(scoring_spec(), Present(tabs))
    titles = {
        each["properties"]["sheetId"]: each["properties"]["title"]
        for each in of_kind(requests, "updateSheetProperties")
    }
    assert titles == {7: "Scoring", 8: "Start here"}
    assert [each["properties"]["title"] for each in of_kind(requests, "addSheet")] == ["Lists_"]
    assert "='Lists_'!$B$2:$B$7" in json.dumps(requests)


def test_the_tab_of_lists_is_found_under_any_title() -> None:
    tabs = (PresentTab(tab_id("Lists"), "It's", mark="Lists"), PresentTab(9, "Lists"))
    requests = draw_requests(scoring_spec(), Present(tabs))
    assert of_kind(requests, "updateSheetProperties")[0]["properties"]["title"] == "It's"
    assert "='It''s'!$B$2:$B$7" in json.dumps(requests)
    assert "'Lists'!" not in json.dumps(requests)


def test_a_title_that_a_foreign_tab_took_is_left_to_it() -> None:
    tabs = (PresentTab(tab_id("Agreement"), "Old", mark="Agreement"), PresentTab(3, "agreement"))
    change = of_kind(draw_requests(summary_spec(), Present(tabs)), "updateSheetProperties")[0]
    assert "title" not in change["properties"]
    assert not change["fields"].startswith("title")


def test_a_tab_of_ours_that_the_spec_no_longer_has_is_removed() -> None:
    gone = PresentTab(tab_id("Responses"), "Responses", mark="Responses")
    copied = PresentTab(4, "Copy of Responses", mark="Responses")
    present = Present((*redrawn(summary_spec()).tabs, gone, copied))
    assert of_kind(draw_requests(summary_spec(), present), "deleteSheet") == [{"sheetId": gone.sheet_id}]


# --- cells ---


def cells_of(requests: Sequence[Json], title: str) -> list[list[Json]]:
    rows = [
        row
        for each in of_kind(requests, "updateCells")
        if each.get("start", {}).get("sheetId") == tab_id(title) and each["fields"] == "userEnteredValue"
        for row in each["rows"]
    ]
    return [[cell.get("userEnteredValue", {}) for cell in row.get("values", [])] for row in rows]


def test_every_text_is_sent_as_text() -> None:
    tab = TabSpec("T", (ColumnSpec("=1+1"),), tuple((text,) for text in HOSTILE))
    rows = cells_of(draw_requests(WorkbookSpec("T", (tab,)), NEW_FILE), "T")
    assert rows == [[{"stringValue": "=1+1"}], *([{"stringValue": text}] for text in HOSTILE)]


def test_values_of_every_kind() -> None:
    link = Link('say "go"', "T", "B7")
    row = (0, 2.5, True, False, "", None, Formula("A1+{row}", 3), link, "0")
    tab = TabSpec("T", (ColumnSpec("a"),) * len(row), (row,), header=False)
    assert cells_of(draw_requests(WorkbookSpec("T", (tab,)), NEW_FILE), "T") == [
        [
            {"numberValue": 0},
            {"numberValue": 2.5},
            {"boolValue": True},
            {"boolValue": False},
            {},
            {},
            {"formulaValue": "=A1+1"},
            {"formulaValue": f'=HYPERLINK("#gid={tab_id("T")}&range=B7","say ""go""")'},
            {"stringValue": "0"},
        ]
    ]


def leads(value: Value, tab: str = "T", cell: str = "A1") -> Cell:
    return Cell(value, "code", Link("", tab, cell))


def test_texts_that_lead_somewhere_stay_texts() -> None:
    """The way there is a part of the format: no formula is made of a text, and reading does not see it."""
    rows = (
        ("plain", leads("=1+1", "U", "A7")),
        (leads("a"), leads('"b"', "U", "B2")),
        ("no way", "no way"),
        (leads(3), leads("")),  # neither a number nor a blank leads anywhere
        ("end", leads("covered")),
    )
    tab = TabSpec("T", (ColumnSpec("a"), ColumnSpec("b")), rows, merged=((5, 0, 5, 1),))
    requests = draw_requests(WorkbookSpec("T", (tab, TabSpec("U", (ColumnSpec("u"),)))), NEW_FILE)
    assert not faults_of_requests(requests)
    found = [each for each in of_kind(requests, "updateCells") if "link" in each["fields"]]
    uris = [
        (
            each["start"]["rowIndex"],
            each["start"]["columnIndex"],
            [row["values"][0]["userEnteredFormat"]["textFormat"]["link"]["uri"] for row in each["rows"]],
        )
        for each in found
    ]
    there = f"#gid={tab_id('U')}&range="
    assert uris == [(2, 0, [f"#gid={tab_id('T')}&range=A1"]), (1, 1, [f"{there}A7", f"{there}B2"])]
    assert {each["fields"] for each in found} == {"userEnteredFormat.textFormat.link"}
    values = json.dumps(cells_of(requests, "T"))
    assert "formulaValue" not in values
    assert json.dumps({"stringValue": "=1+1"}) in values
    here = [request for request in requests if f'"sheetId": {tab_id("T")},' in json.dumps(request)]
    first = next(at for at, request in enumerate(here) if request.get("updateCells") in found)
    others = [
        at
        for at, each in enumerate(here)
        if "repeatCell" in each or each.get("updateCells") not in (None, *found)
    ]
    assert first > max(others)


def test_many_texts_that_lead_somewhere_can_be_cut_between_requests() -> None:
    rows = tuple((leads(f"{number:06X}", "T", f"A{number + 2}"),) for number in range(5_000))
    requests = CellWriter(TabSpec("T", (ColumnSpec("a"),), rows), 1, {"T": 1}).requests()
    ways = [each for each in of_kind(requests, "updateCells") if "link" in each["fields"]]
    assert len(ways) > 1
    assert max(len(json.dumps(each)) for each in ways) < 450_000
    starts = [each["start"]["rowIndex"] for each in ways]
    assert starts == [1 + sum(len(each["rows"]) for each in ways[:at]) for at in range(len(ways))]
    assert sum(len(each["rows"]) for each in ways) == 5_000


@pytest.mark.parametrize(
    "value", [float("inf"), "x" * 50_001, "\ud800", Link("there", "Nowhere"), leads("there", "Nowhere")]
)
def test_what_no_cell_can_hold(value: Any) -> None:
    tab = TabSpec("T", (ColumnSpec("a"),), ((value,),))
    with pytest.raises(ValueError):
        draw_requests(WorkbookSpec("T", (tab,)), NEW_FILE)


def test_a_tab_may_not_be_called_as_the_hidden_one() -> None:
    with pytest.raises(ValueError, match="Lists"):
        draw_requests(WorkbookSpec("T", (TabSpec("lists", (ColumnSpec("a"),)),)), NEW_FILE)


def test_ticks_are_true_in_checkbox_columns_only() -> None:
    rows = cells_of(draw_requests(odd_columns(), NEW_FILE), "Odd")
    assert rows[1] == [{"numberValue": 7}, {"stringValue": "a"}, {"boolValue": True}, {"stringValue": "t"}]
    assert rows[2][2] == {"boolValue": True}


def test_formulas_are_counted_up_where_only_the_row_differs() -> None:
    texts = ["$A{row}", "$A{row}", "-$A{row}", "$A{row}", "A1+$A{row}", None, "$A{row}"]
    rows = tuple((Formula(text) if text else None,) for text in texts)
    writer = CellWriter(TabSpec("T", (ColumnSpec("f"),), rows), 1, {})
    found = [
        (each["range"]["startRowIndex"], each["range"]["endRowIndex"], each["cell"]["userEnteredValue"])
        for each in of_kind(writer.requests(), "repeatCell")
    ]
    assert found == [
        (1, 5, {"formulaValue": "=$A2"}),
        (3, 4, {"formulaValue": "=-$A4"}),
        (7, 8, {"formulaValue": "=$A8"}),
    ]
    cells = writer.requests()[0]["updateCells"]["rows"]
    assert cells[5] == {"values": [{"userEnteredValue": {"formulaValue": "=A1+$A6"}}]}


def test_numbers_never_stand_under_a_text_format() -> None:
    formats = {
        (each["range"]["startColumnIndex"], each["range"]["startRowIndex"]): each["cell"]["userEnteredFormat"]
        for each in of_kind(draw_requests(odd_columns(), NEW_FILE), "repeatCell")
        if each["range"]["sheetId"] == tab_id("Odd") and each["range"]["startRowIndex"]
    }
    assert not any("numberFormat" in each for each in formats.values())
    codes = of_kind(draw_requests(scoring_spec(), NEW_FILE), "repeatCell")
    assert any(
        each["cell"].get("userEnteredFormat", {}).get("numberFormat", {}).get("type") == "TEXT"
        for each in codes
    )


# --- what lies over the cells ---


def test_protection_leaves_the_input_columns_open() -> None:
    requests = draw_requests(scoring_spec(), NEW_FILE, editors=["c@example.org"])
    protections = {
        p["range"]["sheetId"]: p
        for p in (e["protectedRange"] for e in of_kind(requests, "addProtectedRange"))
    }
    scoring = protections[tab_id("Scoring")]
    assert scoring["unprotectedRanges"] == [
        {
            "sheetId": tab_id("Scoring"),
            "startRowIndex": 1,
            "endRowIndex": 3,
            "startColumnIndex": 2,
            "endColumnIndex": 5,
        }
    ]
    assert scoring["editors"] == {"users": ["c@example.org"]}
    assert protections[tab_id("Start here")]["unprotectedRanges"] == []
    assert tab_id("Lists") in protections


def test_validations() -> None:
    rules = [each["rule"] for each in of_kind(draw_requests(scoring_spec(), NEW_FILE), "setDataValidation")]
    assert rules == [
        {
            "condition": {"type": "ONE_OF_RANGE", "values": [{"userEnteredValue": "='Lists'!$B$2:$B$7"}]},
            "strict": True,
            "showCustomUi": True,
            "inputMessage": "1 to 5",
        },
        {"condition": {"type": "BOOLEAN"}, "strict": False, "showCustomUi": True},
        {
            "condition": {"type": "CUSTOM_FORMULA", "values": [{"userEnteredValue": "=TRUE"}]},
            "strict": False,
            "inputMessage": "Anything",
        },
    ]
    odd = of_kind(draw_requests(odd_columns(), NEW_FILE), "setDataValidation")
    assert [each["rule"]["strict"] for each in odd] == [True, False, False]


def test_scoring_tabs_have_a_filter_view_and_other_tables_a_filter() -> None:
    scoring = draw_requests(scoring_spec(), NEW_FILE)
    assert [each["filter"]["title"] for each in of_kind(scoring, "addFilterView")] == [FILTER_VIEW]
    assert not of_kind(scoring, "setBasicFilter")
    summary = draw_requests(summary_spec(), NEW_FILE)
    assert len(of_kind(summary, "setBasicFilter")) == 1
    assert not of_kind(summary, "addFilterView")


def test_points_are_drawn_with_their_bounds() -> None:
    requests = draw_requests(page_with_charts(), NEW_FILE)
    charts = [each["chart"] for each in of_kind(requests, "addChart")]
    assert [chart["spec"]["basicChart"]["chartType"] for chart in charts] == ["LINE", "BAR", "BAR"]
    assert len({chart["chartId"] for chart in charts}) == 3
    points = charts[0]["spec"]["basicChart"]
    window = {"viewWindowMode": "EXPLICIT", "viewWindowMin": -0.2, "viewWindowMax": 1.0}
    assert points["axis"][1] == {"position": "LEFT_AXIS", "title": "alpha", "viewWindowOptions": window}
    sources = [each["series"]["sourceRange"]["sources"][0] for each in points["series"]]
    assert {each["sheetId"] for each in sources} == {tab_id("Lists")}
    domain = points["domains"][0]["domain"]["sourceRange"]["sources"][0]
    assert {each["endRowIndex"] - each["startRowIndex"] for each in (domain, *sources)} == {4}
    assert [row[1:] for row in cells_of(requests, "Lists")[:4]] == [
        [{"stringValue": "alpha"}, {"stringValue": "lower bound"}, {"stringValue": "upper bound"}],
        [{"numberValue": 0.5}, {"numberValue": 0.4}, {"numberValue": 0.7}],
        [],
        [{"numberValue": 1}],
    ]


def test_sizes_and_merges() -> None:
    requests = draw_requests(page_with_charts(), NEW_FILE)
    page = of_kind(requests, "addSheet")[0]["properties"]["gridProperties"]
    assert (page["rowCount"], page["columnCount"]) == (12, 4)  # the last chart stands in C12
    assert len(of_kind(requests, "mergeCells")) == 1
    widths = [
        (each["range"]["startIndex"], each["range"]["endIndex"], each["properties"]["pixelSize"])
        for each in of_kind(requests, "updateDimensionProperties")
        if each["range"]["sheetId"] == tab_id("Page")
    ]
    assert widths == [(0, 1, 145), (1, 4, 68)]


# --- order and payloads ---


@pytest.mark.parametrize("present", [NEW_FILE, redrawn(scoring_spec())])
def test_the_marker_goes_first_and_comes_last(present: Present) -> None:
    requests = draw_requests(scoring_spec(), present)
    assert requests[-1]["createDeveloperMetadata"]["developerMetadata"] == {
        "metadataKey": "sheetsync",
        "metadataValue": "study/A1/main",
        "location": {"spreadsheet": True},
        "visibility": "DOCUMENT",
    }
    assert "study/A1/main" not in json.dumps(requests[:-2])
    if present.marks:
        assert next(iter(requests[1])) == "deleteDeveloperMetadata"


@pytest.mark.parametrize("limit", [1, 3_000, 9_000, 10**9])
def test_splitting_keeps_order_and_keeps_tabs_together(limit: int) -> None:
    requests = draw_requests(small_scoring(), NEW_FILE)
    payloads = split_requests(requests, limit)
    assert [request for payload in payloads for request in payload] == requests
    assert all(payload_size(payload) <= limit or len(payload) == 1 for payload in payloads)
    if limit == 10**9:
        assert len(payloads) == 1


def test_a_tab_that_fits_is_not_cut() -> None:
    tabs = tuple(TabSpec(f"T{n}", (ColumnSpec("a"),), (("x" * 3_000,),)) for n in range(4))
    payloads = split_requests(draw_requests(WorkbookSpec("T", tabs), NEW_FILE), 6_000)
    held = [{n for n in range(4) if f'"sheetId": {tab_id(f"T{n}")}, "row' in json.dumps(p)} for p in payloads]
    assert held == [{0}, {1}, {2}, {3}]


def test_the_template_fits_into_one_payload() -> None:
    study = load_study(templates_dir() / "historical-figures")
    units = list(study.units)
    assert len(units) == 210
    random.Random(1).shuffle(units)  # as raters get them
    rows = tuple(
        ScoringRow(
            f"{number:06X}",
            unit.figure,
            unit.question,
            unit.response,
            bool(unit.false_premise),
            reference=unit.reference,
        )
        for number, unit in enumerate(units)
    )
    sheet = ScoringSheet(
        study.id, study.title, "A1", "", "main", "production", study.rubric, rows, references=study.references
    )
    requests = draw_requests(build_scoring_workbook(sheet), NEW_FILE)
    size = payload_size(requests)
    print(f"210 rows: {size:,} bytes in {len(requests)} requests")
    assert size < 2_000_000
    ways = [each for each in of_kind(requests, "updateCells") if each["fields"].endswith("link")]
    assert sum(len(each["rows"]) for each in ways) == 210
    assert payload_size(ways) < 30_000
    assert len(split_requests(requests)) == 1
    assert not faults_of_requests(requests)


# --- through the emulator ---


class Spreadsheet:
    """One spreadsheet in the emulator."""

    def __init__(self) -> None:
        emulator = pytest.importorskip("tests.sheets_emulator", reason="the emulator is not there")
        self.session = emulator.Emulator().session("bot@example.org")
        body = {"name": "T", "mimeType": "application/vnd.google-apps.spreadsheet"}
        answer = self.session.post("https://www.googleapis.com/drive/v3/files", json=body).json()
        self.address = f"https://sheets.googleapis.com/v4/spreadsheets/{answer['id']}"

    def draw(self, spec: WorkbookSpec, present: Present, limit: int = 2_000_000) -> None:
        for payload in split_requests(draw_requests(spec, present), limit):
            answer = self.session.post(f"{self.address}:batchUpdate", json={"requests": payload})
            assert answer.status_code == 200, answer.text

    def get(self, fields: str) -> Json:
        answer = self.session.get(self.address, params={"fields": fields})
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def present(self) -> Present:
        return present_in(self.get(READ_AND_PRESENT_FIELDS))


@pytest.mark.parametrize("limit", [2_000_000, 4_000])
@pytest.mark.parametrize("name", ["contract", "summary", "charts"])
def test_what_is_drawn_is_read(name: str, limit: int) -> None:
    spec, spreadsheet = SPECS[name](), Spreadsheet()
    spreadsheet.draw(spec, NEW_FILE, limit)
    assert parse_spreadsheet(spreadsheet.get(READ_FIELDS)) == expected_reading(spec)
    before = spreadsheet.present()
    spreadsheet.draw(spec, before, limit)
    assert parse_spreadsheet(spreadsheet.get(READ_FIELDS)) == expected_reading(spec)
    after = spreadsheet.present()
    assert [(tab.sheet_id, tab.title, tab.mark) for tab in after.tabs] == [
        (tab.sheet_id, tab.title, tab.mark) for tab in before.tabs
    ]
    assert after.named_ranges.keys() == before.named_ranges.keys()
    assert [replace(tab, protections=()) for tab in after.tabs] == [
        replace(tab, protections=()) for tab in before.tabs
    ]


def test_a_shorter_rewrite_leaves_nothing_behind() -> None:
    spreadsheet = Spreadsheet()
    spreadsheet.draw(summary_spec((0.5, 0.25, 0.1)), NEW_FILE)
    spreadsheet.draw(summary_spec((0.9,)), spreadsheet.present())
    assert parse_spreadsheet(spreadsheet.get(READ_FIELDS)) == expected_reading(summary_spec((0.9,)))


@pytest.mark.parametrize("sent", [1, 2, 3])
def test_what_was_cut_short_has_no_marker_and_is_completed(sent: int) -> None:
    spreadsheet, spec = Spreadsheet(), scoring_spec()
    payloads = split_requests(draw_requests(spec, NEW_FILE), 3_000)
    assert len(payloads) > 3
    for payload in payloads[:sent]:
        spreadsheet.session.post(f"{spreadsheet.address}:batchUpdate", json={"requests": payload})
    assert parse_spreadsheet(spreadsheet.get(READ_FIELDS)).marker == ""
    spreadsheet.draw(spec, spreadsheet.present())
    assert parse_spreadsheet(spreadsheet.get(READ_FIELDS)) == expected_reading(spec)


def test_sending_twice_is_refused_whole_or_changes_nothing() -> None:
    spreadsheet, spec = Spreadsheet(), scoring_spec()
    for present in (NEW_FILE, None):
        requests = draw_requests(spec, present or spreadsheet.present())
        for _ in range(2):
            spreadsheet.session.post(f"{spreadsheet.address}:batchUpdate", json={"requests": requests})
        assert parse_spreadsheet(spreadsheet.get(READ_FIELDS)) == expected_reading(spec)


def test_the_scoring_workbook_and_a_foreign_tab() -> None:
    spreadsheet, spec = Spreadsheet(), small_scoring()
    spreadsheet.draw(spec, NEW_FILE)
    body = {"requests": [{"addSheet": {"properties": {"title": "Mine", "sheetId": 77, "index": 0}}}]}
    spreadsheet.session.post(f"{spreadsheet.address}:batchUpdate", json=body)
    spreadsheet.draw(spec, spreadsheet.present())
    reading = parse_spreadsheet(spreadsheet.get(READ_FIELDS))
    assert [tab.title for tab in reading.tabs] == ["Mine", *(tab.title for tab in spec.tabs)]
    scoring, wanted = reading.tab("Scoring"), expected_reading(spec).tab("Scoring")
    assert scoring is not None
    assert wanted is not None
    texts = [[getattr(cell, "text", cell) for cell in row] for row in scoring.rows]
    assert texts == [[getattr(cell, "text", cell) for cell in row] for row in wanted.rows]
