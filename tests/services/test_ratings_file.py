"""Ratings files: what is read, what is left out, and every fault with its line."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from sheetsync.domain.agreement.assessment import Options, assess_agreement
from sheetsync.domain.agreement.reliability import RatedRows
from sheetsync.domain.study import MeasurementLevel
from sheetsync.errors import StudyError
from sheetsync.services.ratings_file import RatingsOptions, load_ratings_file
from tests.builders import rated_rows


class Loader:
    """Writes a file and reads it back."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(
        self,
        text: str | bytes,
        *,
        level: MeasurementLevel = "ordinal",
        scale: str | None = None,
        by: Sequence[str] = (),
        na: Sequence[str] = (),
    ) -> tuple[list[RatedRows], list[str]]:
        self.path.write_bytes(text if isinstance(text, bytes) else text.encode())
        dimensions, notes = load_ratings_file(self.path, RatingsOptions(level, scale, tuple(by), tuple(na)))
        return [rated_rows(each) for each in dimensions], notes

    def values(self, *cells: str, level: MeasurementLevel = "ordinal", scale: str | None = None,
               na: Sequence[str] = ()) -> RatedRows:  # fmt: skip
        """One rater, one unit per cell."""
        lines = [f'u{at},ann,"{cell}"' for at, cell in enumerate(cells, 1)]
        return self.load("\n".join(["unit,rater,value", *lines]), level=level, scale=scale, na=na)[0][0]

    def faults(
        self,
        text: str | bytes,
        *,
        level: MeasurementLevel = "ordinal",
        scale: str | None = None,
        by: Sequence[str] = (),
    ) -> list[str]:
        with pytest.raises(StudyError) as caught:
            self.load(text, level=level, scale=scale, by=by)
        assert caught.value.exit_code == 2
        assert str(self.path) in str(caught.value)
        return [str(fault) for fault in caught.value.faults]


@pytest.fixture
def file(tmp_path: Path) -> Loader:
    return Loader(tmp_path / "ratings.csv")


def test_a_small_file(file: Loader) -> None:
    (data,), notes = file.load("unit,rater,value\nq2,ben,4\nq1,ben,5\nq1,ann,3\n007,ann,3.0\n")
    assert (data.dimension, data.level, data.scale) == ("value", "ordinal", (3, 4, 5))
    assert (data.raters, data.units) == (("ann", "ben"), ("007", "q1", "q2"))
    assert data.values == {("ben", "q2"): 4, ("ben", "q1"): 5, ("ann", "q1"): 3, ("ann", "007"): 3}
    assert data.full_grid
    assert notes == []


def test_headers_are_matched_without_regard_to_case_blanks_and_form(file: Loader) -> None:
    text = "\ufeff Rater , VALUE,Unit,Ｄimension, Zuſatz \nann,4,u1,Coverage,x\nben,5,u1,Coverage,y\n"
    (data,), _ = file.load(text, by=["zusatz"])
    assert (data.dimension, data.raters) == ("Coverage", ("ann", "ben"))
    assert data.row_slices == {"Zuſatz": {("ann", "u1"): "x", ("ben", "u1"): "y"}}


def test_other_columns_dimensions_and_blank_lines(file: Loader) -> None:
    text = 'dimension,unit,rater,value,note\nTone,u1,ann,1,"a\nb"\n\n,,,,\nCoverage,u1,ann,5,\n'
    dimensions, _ = file.load(text)
    assert [(each.dimension, each.scale) for each in dimensions] == [("Coverage", (5,)), ("Tone", (1,))]


def test_blank_and_not_applicable_are_told_apart(file: Loader) -> None:
    data = file.values("", " ", "N/A", "na", "N.A.", "Not  Applicable", "none", scale="1,2,none")
    assert list(data.values.values()) == ["N/A"] * 4 + ["none"]
    assert len(data.rows) == 7
    assert data.invalid == frozenset()


def test_further_spellings_of_not_applicable(file: Loader) -> None:
    data = file.values("Cannot judge", "skip: no time", "SKIP", "99", "3", na=["cannot JUDGE", "skip*", "99"])
    assert list(data.values.values()) == ["N/A"] * 4 + [3]
    assert data.scale == (3,)


def test_a_declared_level_is_no_spelling_of_not_applicable(file: Loader) -> None:
    assert file.values("NA", scale="NA,EU").values == {("ann", "u1"): "NA"}


def test_numbers_in_text_are_numbers(file: Loader) -> None:
    data = file.values("3.0", "10", "9", "-1", "2.5")
    assert data.scale == (-1, 2.5, 3, 9, 10)


@pytest.mark.parametrize("word", ["nan", "inf", "-inf", "1_000", "3 or 4", "TRUE"])
def test_what_is_not_a_number(file: Loader, word: str) -> None:
    faults = file.faults(f"unit,rater,value\nu1,ann,3\nu2,ann,{word}\n")
    assert len(faults) == 1
    assert faults[0].startswith(f'ratings.csv line 3: "{word}" is no number')
    assert "--scale" in faults[0]
    assert "--na" in faults[0]


@pytest.mark.parametrize("level", ["interval", "ratio"])
def test_words_are_no_interval_or_ratio_ratings(file: Loader, level: MeasurementLevel) -> None:
    assert "line 2" in file.faults("unit,rater,value\nu1,ann,low\n", level=level)[0]
    faults = file.faults("unit,rater,value\nu1,ann,low\n", level=level, scale="low,high")
    assert faults[0].startswith('--scale: "low" is no number')


def test_labels_are_shown_as_declared(file: Loader) -> None:
    data = file.values(" LOW", "mid", "High ", scale="low,Mid,high")
    assert data.scale == ("low", "Mid", "high")
    assert list(data.values.values()) == ["low", "Mid", "high"]


def test_a_scale_with_one_word_is_a_scale_of_words(file: Loader) -> None:
    data = file.values("2 or more", "1", scale="0,1,2 or more")
    assert data.scale == ("0", "1", "2 or more")
    assert list(data.values.values()) == ["2 or more", "1"]


def test_nominal_words_need_no_scale(file: Loader) -> None:
    data = file.values("yes", "No", "no ", "YES", level="nominal")
    assert data.scale == ("No", "YES")
    assert list(data.values.values()) == ["YES", "No", "No", "YES"]


def test_a_level_may_hold_a_comma(file: Loader) -> None:
    assert file.values("so, so", scale='low,"so, so",high').scale == ("low", "so, so", "high")


def test_values_off_the_scale_are_left_out_and_named(file: Loader) -> None:
    (data,), notes = file.load(
        "unit,rater,value\nu1,ann,3\nu2,ann,6\nu3,ann,4.5\nu1,ben,x\n", scale="1,2,3,4,5"
    )
    assert data.values == {("ann", "u1"): 3}
    assert data.invalid == {("ann", "u2"), ("ann", "u3"), ("ben", "u1")}
    assert notes[0] == 'ratings.csv line 3: "6" is not on the scale 1, 2, 3, 4, 5; left out'
    assert [note.split(":")[0] for note in notes] == [f"ratings.csv line {line}" for line in (3, 4, 5)]


def test_equal_duplicates_count_once_and_a_blank_yields(file: Loader) -> None:
    text = "unit,rater,value\nu1,ann,3\nu1,ann,3.0\nu2,ann,\nu2,ann,4\nu2,ann,\nu3,ann,na\nu3,ann,N/A\n"
    (data,), _ = file.load(text)
    assert data.values == {("ann", "u1"): 3, ("ann", "u2"): 4, ("ann", "u3"): "N/A"}


def test_equal_values_off_the_scale_count_once(file: Loader) -> None:
    (data,), _ = file.load("unit,rater,value\nu1,ann,6\nu1,ann,6.0\n", scale="1,2")
    assert data.invalid == {("ann", "u1")}


def test_different_duplicates_name_both_lines(file: Loader) -> None:
    faults = file.faults("unit,rater,value\nu1,ann,3\nu2,ann,1\nu1,ann,4\n")
    assert faults == ['ratings.csv lines 2 and 4: rate unit "u1" by "ann" twice, as "3" and "4"; keep one']


def test_the_same_unit_in_two_dimensions_is_no_duplicate(file: Loader) -> None:
    assert len(file.load("unit,rater,value,dimension\nu1,ann,3,A\nu1,ann,4,B\n")[0]) == 2


def test_all_faults_at_once(file: Loader) -> None:
    text = "unit,rater,value\n,ann,3\nu1,,3\nu2,ann,3,extra\nu3,ann,three\nu4,ann,1\nu4,ann,2\n"
    places = [fault.split(":")[0] for fault in file.faults(text)]
    assert places == [*[f"ratings.csv line {line}" for line in (2, 3, 4, 5)], "ratings.csv lines 6 and 7"]


def test_missing_and_repeated_columns_and_unknown_slices(file: Loader) -> None:
    faults = file.faults("unit,score,Unit\nu1,3,u1\n", by=["figure"])
    assert len(faults) == 4
    assert 'no column rater, but "unit", "score" and "Unit"' in faults[1]
    assert faults[3].startswith('--by: there is no column "figure"')
    assert '"score"' in faults[3]


def test_slices_by_rows(file: Loader) -> None:
    text = "unit,rater,value,kind,figure\nu1,gpt,3,judge,b\nu1,ann,3,human,a\nu2,ann,4,human,\n"
    (data,), _ = file.load(text, by=["Kind", "figure"])
    assert list(data.row_slices) == ["kind", "figure"]
    report = assess_agreement([data.index()], [], Options(resamples=0)).dimensions[0]
    slices = [(part.by, part.value) for part in report.slices]
    assert slices == [("kind", "human"), ("kind", "judge"), ("figure", "a"), ("figure", "b")]


@pytest.mark.parametrize("scale", ["", "1,,3", "1,2,1.0", "low,LOW", '1,"2'])
def test_a_scale_that_is_none(file: Loader, scale: str) -> None:
    faults = file.faults("unit,rater,value\nu1,ann,1\n", scale=scale)
    assert len(faults) == 1
    assert faults[0].startswith("--scale: ")


def test_files_that_cannot_be_read(file: Loader) -> None:
    assert "UTF-8" in file.faults("unit,rater,value\nu1,ann,é\n".encode("latin-1"))[0]
    assert "no columns" in file.faults("")[0]
    assert "line 3: a quotation mark" in file.faults('unit,rater,value\nu1,ann,3\nu2,ann,"4\nu3,ann,5\n')[0]
    with pytest.raises(StudyError, match="cannot be used") as caught:
        load_ratings_file(file.path.with_name("none.csv"), RatingsOptions())
    assert "check the path" in str(caught.value.faults[0])


def test_too_many_different_numbers(file: Loader) -> None:
    lines = [f"u{at},ann,{at / 8}" for at in range(2001)]
    assert (
        "2,001 different numbers" in file.faults("\n".join(["unit,rater,value", *lines]), level="interval")[0]
    )


def test_no_ratings_yet(file: Loader) -> None:
    for text in ("unit,rater,value\n", "unit,rater,value\nu1,ann,\nu1,ben,\n"):
        dimensions, _ = file.load(text)
        report = assess_agreement([each.index() for each in dimensions], [], Options()).dimensions[0]
        assert report.coefficients["alpha"].reason == "no_pairable_units"
    assert (report.n_missing, report.scale, report.distribution) == (2, (), {})


def test_the_order_of_lines_means_nothing(file: Loader) -> None:
    lines = [f"u{at % 40},r{at % 3},{1 + at * at % 5},{at % 2}" for at in range(120)]
    header = "unit,rater,value,half"
    one, _ = file.load("\n".join([header, *lines]), by=["half"])
    two, _ = file.load("\n".join([header, *reversed(lines)]), by=["half"])
    options = Options(resamples=500)
    reports = [assess_agreement([each.index() for each in read], [], options) for read in (one, two)]
    assert reports[0] == reports[1]


def test_two_hundred_thousand_lines_take_seconds(file: Loader) -> None:
    lines = [f"u{at % 20_000},r{at // 20_000 % 5},{at % 5 + 1},d{at // 100_000}" for at in range(200_000)]
    text = "\n".join(["unit,rater,value,dimension", *lines])
    start = time.perf_counter()
    dimensions, _ = file.load(text)
    assert len(dimensions) == 2
    assert sum(len(each.values) for each in dimensions) == 200_000
    assert time.perf_counter() - start < 8
