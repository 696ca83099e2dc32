"""The same ratings in every form: long and wide, CSV in its dialects, JSON lines, workbook, standard input, frame."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sheetsync
from sheetsync.cli.main import cli

Record = Mapping[str, Any]

HOSTILE = ["=1+1", "<b>x</b>", "a,b", 'say "hi"', "line\nbreak", "semi;colon", "007", "Ärger", " NA "]

TABLE: Sequence[tuple[str, str, Mapping[str, Sequence[Any]]]] = [
    ("q1", "x", {"Tone": (1, 2, 2), "Fit": (2.5, 2.5, 3)}),
    ("q2", "x", {"Tone": (3, 3, 3), "Fit": (1, 1, 1)}),
    ("q3", "y", {"Tone": (5, None, 4), "Fit": ("N/A", 2.5, 2.5)}),
    ("007", "y", {"Tone": (2, 2, 1), "Fit": (3, None, 1)}),
]

RATINGS: list[Record] = [
    {"unit": unit, "rater": rater, "dimension": dimension, "value": value, "system": system}
    for unit, system, values in TABLE
    for dimension, row in values.items()
    for rater, value in zip(("ann", "ben", "cat"), row, strict=True)
]


def invoke(*arguments: object, stdin: str | bytes = "") -> Result:
    return CliRunner().invoke(cli, [str(each) for each in arguments], input=stdin)


def report_of(*arguments: object, stdin: str | bytes = "") -> dict[str, Any]:
    done = invoke("agreement", *arguments, "--json", "--resamples", 200, stdin=stdin)
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def faults_of(*arguments: object, stdin: str | bytes = "") -> list[str]:
    done = invoke("agreement", *arguments, stdin=stdin)
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    return [line.strip() for line in done.stderr.splitlines()[:-1]]


def widened(records: Sequence[Record]) -> list[Record]:
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    keys = [name for name in records[0] if name not in {"rater", "value"}]
    for record in records:
        row = rows.setdefault(tuple(record[key] for key in keys), {key: record[key] for key in keys})
        row[record["rater"]] = record["value"]
    return list(rows.values())


def as_csv(records: Sequence[Record], delimiter: str = ",", decimal: str = ".") -> str:
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, list(records[0]), delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    for record in records:
        writer.writerow(
            {k: str(v).replace(".", decimal) if isinstance(v, float) else v for k, v in record.items()}
        )
    return file.getvalue()


def as_json_lines(records: Sequence[Record]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def as_workbook(records: Sequence[Record], title: str = "Ratings") -> bytes:
    book = openpyxl.Workbook()
    book.create_sheet(title, 0)
    book[title].append(list(records[0]))
    for record in records:
        book[title].append([record.get(name) for name in records[0]])
    for row in book[title].iter_rows():
        for cell in row:
            if isinstance(cell.value, str):
                cell.data_type = "s"
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


Form = Callable[[Path], dict[str, Any]]


def from_file(name: str, content: str | bytes, *options: object) -> Form:
    def read(folder: Path) -> dict[str, Any]:
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return report_of(path, "--by", "system", *options)

    return read


def from_frame(records: Sequence[Record], **options: Any) -> Form:
    def read(_folder: Path) -> dict[str, Any]:
        frame = pd.DataFrame([dict(record) for record in records])
        result = sheetsync.agreement(frame, by=["system"], resamples=200, **options)
        assert result.notes == ()
        found: dict[str, Any] = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        return found

    return read


FORMS: Mapping[str, Form] = {
    "semicolons": from_file("r.csv", as_csv(RATINGS, ";")),
    "decimal commas": from_file("r.csv", as_csv(RATINGS, ";", ",")),
    "tabs": from_file("r.tsv", as_csv(RATINGS, "\t")),
    "byte order mark, CRLF": from_file("r.csv", "\ufeff" + as_csv(RATINGS).replace("\n", "\r\n")),
    "wide": from_file("r.csv", as_csv(widened(RATINGS)), "--wide"),
    "wide, decimal commas": from_file("r.csv", as_csv(widened(RATINGS), ";", ","), "--wide"),
    "JSON lines": from_file("r.jsonl", as_json_lines(RATINGS)),
    "wide JSON lines": from_file("r.jsonl", as_json_lines(widened(RATINGS)), "--wide"),
    "workbook": from_file("r.xlsx", as_workbook(RATINGS)),
    "wide workbook": from_file("r.xlsx", as_workbook(widened(RATINGS)), "--wide"),
    "a tab by name": from_file("r.xlsx", as_workbook(RATINGS, "Mine"), "--sheet", "mine"),
    "standard input": lambda _: report_of("-", "--by", "system", stdin=as_csv(RATINGS)),
    "JSON lines on standard input": lambda _: report_of("-", "--by", "system", stdin=as_json_lines(RATINGS)),
    "workbook on standard input": lambda _: report_of("-", "--by", "system", stdin=as_workbook(RATINGS)),
    "frame": from_frame(RATINGS),
    "wide frame": from_frame(widened(RATINGS), wide=True),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_form_of_the_same_ratings_gives_the_same_report(tmp_path: Path, form: Form) -> None:
    expected = from_file("long.csv", as_csv(RATINGS))(tmp_path)
    assert [each["dimension"] for each in expected["dimensions"]] == ["Fit", "Tone"]
    assert expected["dimensions"][0]["scale"] == [1, 2.5, 3]
    assert (expected["dimensions"][0]["n_missing"], expected["dimensions"][0]["n_not_applicable"]) == (1, 1)
    assert form(tmp_path) == expected


CELLS = st.sampled_from([None, 1, 2, 3, 4.5, "N/A"])


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cells=st.lists(CELLS, min_size=6, max_size=30), seed=st.integers(0, 1000), data=st.data())
def test_order_and_form_mean_nothing(
    tmp_path: Path, cells: list[Any], seed: int, data: st.DataObject
) -> None:
    names = data.draw(st.permutations(HOSTILE))[:3]
    records = [
        {"unit": f"{names[0]} {at // 3}", "rater": f"{names[1]}{at % 3}", "value": cell, "system": names[2]}
        for at, cell in enumerate(cells[: len(cells) // 3 * 3])
    ]
    expected = from_frame(records)(tmp_path)
    shuffled = random.Random(seed).sample(records, len(records))
    columns = random.Random(seed).sample(list(records[0]), 4)
    turned = [{name: record[name] for name in columns} for record in shuffled]
    for form in (
        from_file("r.csv", as_csv(turned)),
        from_file("r.csv", as_csv(turned, ";", ",")),
        from_file("r.jsonl", as_json_lines(turned)),
        from_file("r.csv", as_csv(widened(turned)), "--wide"),
        from_frame(turned),
        from_frame(widened(turned), wide=True),
    ):
        assert form(tmp_path) == expected


# --- faults ---


def put(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_a_wide_table_says_where_what_is_wrong(tmp_path: Path) -> None:
    path = put(tmp_path, "w.csv", "unit,ann,ben\nu1,3,4\n,1,2\nu2,x,3\nu3,1,2,9\nu1,3,5\n")
    assert [fault.split(": ")[0] for fault in faults_of(path, "--wide")] == [
        "w.csv line 3",
        "w.csv line 5",
        'w.csv line 4, column "ann"',
        "w.csv lines 2 and 6",
    ]


def test_a_workbook_names_rows_and_cells(tmp_path: Path) -> None:
    rows = [("u1", "ann", 3), (None, "ann", 1), ("u2", "ann", "three"), ("u1", "ann", 4)]
    records = [dict(zip(("unit", "rater", "value"), row, strict=True)) for row in rows]
    path = put(tmp_path, "r.xlsx", as_workbook(records))
    assert [fault.split(": ")[0] for fault in faults_of(path)] == [
        'r.xlsx, tab "Ratings", row 3',
        'r.xlsx, tab "Ratings", cell C4',
        'r.xlsx, tab "Ratings", rows 2 and 5',
    ]
    wide = put(
        tmp_path,
        "w.xlsx",
        as_workbook([{"unit": "u1", "ann": 1, "ben": 2}, {"unit": "u2", "ann": 1, "ben": "?"}]),
    )
    assert faults_of(wide, "--wide")[0].startswith('w.xlsx, tab "Ratings", cell C3: "?" is no number')


def test_json_lines_name_lines_and_keys(tmp_path: Path) -> None:
    lines = [
        '{"unit": "u1", "rater": "ann", "value": 3}',
        '{"unit": "u1", "rater": "ann", "value": [3]}',
        "",
        "not json",
        '["u1", "ann", 3]',
        '{"unit": "u2", "rater": "ann", "value": NaN}',
        '{"rater": "ann", "value": 3}',
        '{"unit": "u1", "rater": "ann", "value": "4"}',
    ]
    faults = faults_of(put(tmp_path, "r.jsonl", "\n".join(lines)))
    assert [fault.split(":")[0] for fault in faults] == [
        "r.jsonl line 2, key value",
        "r.jsonl line 4, character 1",
        "r.jsonl line 5",
        "r.jsonl line 6, key value",
        "r.jsonl line 7",
        "r.jsonl lines 1 and 8",
    ]


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        ("unit,ann,ben\nu1,1,2\n", [], 'no columns rater and value, but "ann" and "ben"'),
        ("unit;ann;ben\nu1;1;2\n", [], "add --wide"),
        ("unit,rater,value\nu1,ann,2\n", ["--wide"], "it is a long table; leave out --wide"),
        ("item,ann,ben\nu1,1,2\n", ["--wide"], 'no column unit, but "item", "ann" and "ben"'),
        ("unit\nu1\n", ["--wide"], "no column for a rater"),
        ("unit,ann,Ann\nu1,1,2\n", ["--wide"], "has the column ann 2 times"),
        ("unit,ann,\nu1,1,2\n", ["--wide"], "column 3 has no name"),
        ("unit,ann,ben,text\nu1,1,2,well\nu2,1,2,no\n", ["--wide"], 'column "text" holds no level at all'),
        ("unit,ann,ben,text\nu1,1,2,well\n", ["--wide", "--scale", "1,2"], 'column "text" holds no level'),
        ("unit,rater,value\nu1,ann,2\n", ["--sheet", "X"], "is no workbook"),
        ("unit;rater;value\nu1;ann;1,000\n", [], "may be a fraction or thousands"),
        ("unit;rater;value\nu1;ann;1,5\nu2;ann;1.5\n", [], "may be a fraction or thousands"),
        ('unit,rater,value\nu1,ann,"3,5"\n', [], '"3,5" is no number'),
    ],
)  # fmt: skip
def test_what_is_no_such_table_is_said(tmp_path: Path, text: str, options: list[str], says: str) -> None:
    faults = faults_of(put(tmp_path, "r.csv", text), *options)
    assert len(faults) == 1
    assert says in faults[0]


def test_tabs_of_a_workbook(tmp_path: Path) -> None:
    path = put(tmp_path, "r.xlsx", as_workbook(RATINGS))
    assert (
        'there is no tab "Other" in r.xlsx; it has "Ratings" and "Sheet"'
        in faults_of(path, "--sheet", "Other")[0]
    )
    assert 'read its first tab, "Ratings"' in invoke("agreement", path).stderr
    assert "leave it out" in faults_of(put(tmp_path, "r.csv", as_csv(RATINGS)), "--sheet", "Ratings")[0]
    assert "probably CSV that was renamed" in faults_of(put(tmp_path, "c.xlsx", as_csv(RATINGS)))[0]


def test_a_formula_counts_with_its_result_and_an_error_is_none(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for row in (["unit", "rater", "value"], ["u1", "ann", "=1+2"], ["u1", "ben", "#REF!"]):
        sheet.append(row)
    path = tmp_path / "r.xlsx"
    book.save(path)
    faults = faults_of(path)
    assert [fault.split(": ")[0] for fault in faults] == [
        'r.xlsx, tab "Sheet", cell C2',
        'r.xlsx, tab "Sheet", cell C3',
    ]


# --- what people do ---


def test_a_scale_given_from_high_to_low_changes_no_alpha(tmp_path: Path) -> None:
    path = put(tmp_path, "r.csv", as_csv([r for r in RATINGS if r["dimension"] == "Tone"]))
    up, down = (report_of(path, "--scale", scale)["dimensions"][0] for scale in ("1,2,3,4,5", "5,4,3,2,1"))
    assert down["scale"] == [5, 4, 3, 2, 1]
    for name in ("alpha", "ac", "exact", "within"):
        assert down["coefficients"][name]["value"] == pytest.approx(
            up["coefficients"][name]["value"], abs=1e-12
        )


def test_several_labels_per_unit_are_a_dimension_each(tmp_path: Path) -> None:
    chosen = {"ann": [{"a"}, {"a", "b"}, set()], "ben": [{"a"}, {"b"}, {"b"}]}
    records = [
        {"unit": f"u{at}", "rater": rater, "dimension": label, "value": int(label in labels)}
        for rater, rows in chosen.items()
        for at, labels in enumerate(rows)
        for label in ("a", "b")
    ]
    found = report_of(put(tmp_path, "r.csv", as_csv(records)), "--level", "nominal")["dimensions"]
    assert [(each["dimension"], each["coefficients"]["exact"]["value"]) for each in found] == [
        ("a", pytest.approx(2 / 3)),
        ("b", pytest.approx(2 / 3)),
    ]


def test_words_unused_levels_and_fractions(tmp_path: Path) -> None:
    words = put(tmp_path, "w.csv", "unit,rater,value\nu1,a,low\nu1,b,High\nu2,a,low\nu2,b,low\n")
    (found,) = report_of(words, "--scale", "low,medium,high")["dimensions"]
    assert found["distribution"] == {"low": 3, "medium": 0, "high": 1}
    numbers = put(tmp_path, "n.csv", "unit,rater,value\nu1,a,.5\nu1,b,1e-3\nu2,a,0.25\nu2,b,0.250\n")
    assert report_of(numbers, "--level", "interval")["dimensions"][0]["scale"] == [0.001, 0.25, 0.5]


def test_a_table_that_was_turned_is_doubted(tmp_path: Path) -> None:
    header = ",".join(["unit", *(f"q{at}" for at in range(20))])
    rows = [",".join([name, *(str(1 + at % 5) for at in range(20))]) for name in ("ann", "ben", "cat")]
    done = invoke("agreement", put(tmp_path, "t.csv", "\n".join([header, *rows])), "--wide")
    assert done.exit_code == 0
    assert "20 raters but only 3 units" in done.stderr
    crowd = [f"u{unit},r{unit * 3 + at},{at}" for unit in range(5) for at in range(3)]
    done = invoke("agreement", put(tmp_path, "c.csv", "\n".join(["unit,rater,value", *crowd])))
    assert done.stderr == ""


def test_one_rating_in_two_slices_counts_once_and_is_named(tmp_path: Path) -> None:
    lines = ["unit,rater,value,system", "u1,ann,3,b", "u1,ben,3,a", "u1,ann,3.0,a"]
    for order in (lines, [lines[0], *reversed(lines[1:])]):
        done = invoke("agreement", put(tmp_path, "r.csv", "\n".join(order)), "--by", "system", "--json")
        assert done.exit_code == 0
        assert 'with system "a" and "b"; it counts once, under "a"' in done.stderr
        slices = json.loads(done.stdout)["dimensions"][0]["slices"]
        assert [(each["value"], each["n_ratings"]) for each in slices] == [("a", 2)]


# --- the page ---


def test_the_page_holds_the_figures_and_no_markup_of_the_file(tmp_path: Path) -> None:
    records = [{**record, "rater": f"<script>{record['rater']}</script>"} for record in RATINGS]
    path, page = put(tmp_path, "<i>r.csv".replace("<i>", "x"), as_csv(records)), tmp_path / "page.html"
    done = invoke("agreement", path, "--by", "system", "--html", page, "--json", "--resamples", 200)
    assert done.exit_code == 0
    assert f"Wrote {page}" in done.stderr
    html = page.read_text(encoding="utf-8")
    alpha = json.loads(done.stdout)["dimensions"][0]["coefficients"]["alpha"]["value"]
    assert f'data-value="{alpha!r}"' in html
    assert "<script>" not in html
    assert "What the numbers mean" in html
    assert "Divergences" not in html
    assert list(tmp_path.glob("*.part")) == []


def test_a_page_overwrites_no_ratings(tmp_path: Path) -> None:
    path = put(tmp_path, "r.csv", as_csv(RATINGS))
    before = path.read_bytes()
    done = invoke("agreement", path, "--html", path)
    assert (done.exit_code, path.read_bytes()) == (2, before)


@pytest.mark.parametrize("options", [["--wide"], ["--sheet", "X"], ["--html", "x.html"]])
def test_options_of_files_say_nothing_about_a_study(tmp_path: Path, options: list[str]) -> None:
    done = invoke("-C", tmp_path, "agreement", *options)
    assert done.exit_code == 2
    assert f"{options[0]} goes with a ratings file" in done.stderr
