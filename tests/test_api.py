"""`sheetsync.agreement`: a DataFrame in, a result out."""

from __future__ import annotations

import builtins
import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pandas as pd
import pytest

import sheetsync
from sheetsync.errors import StudyError


def long(*rows: tuple[object, object, object], **columns: Any) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=["unit", "rater", "value"], dtype=object).assign(**columns)


SOME = long(
    ("u1", "ann", 1), ("u1", "ben", 2), ("u2", "ann", 3), ("u2", "ben", 3), ("u3", "ann", 1), ("u3", "ben", 1)
)


def agree(frame: pd.DataFrame, **options: Any) -> dict[str, Any]:
    result = sheetsync.agreement(frame, **{"resamples": 0, **options})
    (found,) = json.loads(json.dumps(result.to_dict(), allow_nan=False))["dimensions"]
    assert isinstance(found, dict)
    return found


def faults_of(frame: pd.DataFrame, **options: Any) -> list[str]:
    with pytest.raises(sheetsync.RatingsError) as caught:
        sheetsync.agreement(frame, **options)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, StudyError)
    faults = [str(fault) for fault in caught.value.faults]
    assert all(fault in str(caught.value) for fault in faults[:20])
    return faults


def test_the_public_names_are_sorted_documented_and_there() -> None:
    assert sheetsync.__all__ == sorted(sheetsync.__all__) == ["AgreementResult", "RatingsError", "agreement"]
    assert all(getattr(sheetsync, name).__doc__ for name in sheetsync.__all__)
    assert set(sheetsync.__all__) <= set(dir(sheetsync))
    with pytest.raises(AttributeError, match="no attribute 'agreements'"):
        sheetsync.agreements  # noqa: B018


def test_importing_the_package_loads_no_pandas() -> None:
    said = "print('pandas' in sys.modules)"
    script = f"import sys, sheetsync; {said}; sheetsync.agreement; {said}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_whatever_pandas_takes_for_missing_is_a_blank() -> None:
    frame = long(
        *(("u", f"r{at}", each) for at, each in enumerate([None, float("nan"), pd.NA, pd.NaT, "", 2]))
    )
    found = agree(frame)
    assert (found["n_ratings"], found["n_missing"], found["n_not_applicable"], found["scale"]) == (
        1,
        5,
        0,
        [2],
    )


@pytest.mark.parametrize(
    "dtype", ["int64", "float64", "float32", "Int64", "Float64", "string", "object", "category"]
)
def test_the_type_of_a_column_means_nothing(dtype: Any) -> None:
    frame = SOME.assign(value=SOME["value"].astype("int64").astype(dtype))
    assert agree(frame) == agree(SOME)


def test_fractions_are_read_as_they_are_written() -> None:
    frame = SOME.assign(value=pd.Series([0.1, 0.2, 1e-5, 1e-5, 0.3, 2.0]).astype("float32"))
    assert agree(frame, level="interval")["scale"] == [1e-05, 0.1, 0.2, 0.3, 2]


def test_spellings_of_not_applicable() -> None:
    frame = long(("u1", "ann", "N/A"), ("u1", "ben", "skip: late"), ("u2", "ann", " n.a. "), ("u2", "ben", 1))
    assert agree(frame, na=["skip*"])["n_not_applicable"] == 3


def test_ordered_categories_are_the_scale() -> None:
    words = pd.Categorical(
        ["low", "high", "low", "low", None, "high"], categories=["low", "mid", "high"], ordered=True
    )
    assert agree(SOME.assign(value=words))["distribution"] == {"low": 3, "mid": 0, "high": 2}
    numbers = pd.Categorical([1.0, 2.0, 3.0, 3.0, 1.0, 1.0], categories=[1.0, 2.0, 3.0, 4.0], ordered=True)
    assert agree(SOME.assign(value=numbers))["scale"] == [1, 2, 3, 4]
    assert agree(SOME.assign(value=numbers), scale=[1, 2, 3])["scale"] == [1, 2, 3]


def test_categories_without_an_order_are_a_nominal_scale_only() -> None:
    frame = SOME.assign(value=pd.Categorical(list("aabbab"), categories=["b", "a", "c"]))
    assert agree(frame, level="nominal")["scale"] == ["b", "a", "c"]
    assert '"a" is no number' in faults_of(frame)[0]


def test_a_scale_per_dimension() -> None:
    frame = pd.concat([SOME.assign(dimension="Tone"), SOME.assign(dimension="Fit")])
    result = sheetsync.agreement(frame, scale={"Tone": [1, 2, 3, 4], "Fit": [1, 2, 3]}, resamples=0)
    assert [each.scale for each in result.report.dimensions] == [(1, 2, 3), (1, 2, 3, 4)]
    assert faults_of(frame, scale={"Tone": [1, 2, 3], "Fitt": [1]}) == [
        'scale: there is no dimension "Fitt"; there are "Fit" and "Tone"'
    ]


def test_columns_go_by_the_names_given() -> None:
    named = {"unit": "item", "rater": 7, "value": "score", "dimension": "about"}
    frame = SOME.assign(dimension="Tone").rename(columns=named)
    result = sheetsync.agreement(frame, unit="item", rater=7, value="score", dimension="about", resamples=0)
    assert result.report == sheetsync.agreement(SOME.assign(dimension="Tone"), resamples=0).report
    assert (
        sheetsync.agreement(SOME.set_index("unit"), resamples=0).report
        == sheetsync.agreement(SOME, resamples=0).report
    )


def test_all_faults_at_once_with_the_labels_of_rows() -> None:
    frame = long(
        ("u1", "ann", 1), ("u1", "ann", 2), (None, "ann", 1), ("u2", "ben", "three"), ("u3", "ben", ["a"])
    )
    frame.index = pd.Index(["a", "b", "c", "d", "e"])
    places = [fault.split(":")[0] for fault in faults_of(frame)]
    assert places == ['row "e"', 'row "c"', 'row "d"', 'row "e"', 'rows "a" and "b"']
    wide = pd.DataFrame({"unit": ["u1", "u2"], "ann": [1, 2], "ben": [1, "x"]})
    assert faults_of(wide, wide=True)[0].startswith('row 1, column "ben": "x" is no number')


@pytest.mark.parametrize(
    ("frame", "options", "says"),
    [
        (SOME.drop(columns="rater"), {}, 'has no column "rater", but "unit" and "value"'),
        (SOME, {"wide": True}, "it is long; leave out wide=True"),
        (pd.DataFrame({"unit": ["u"], "ann": [1], "ben": [2]}), {}, "add wide=True"),
        (pd.DataFrame([["u", 1, 2]], columns=["unit", "ann", "ann"]), {"wide": True}, 'several columns called "ann"'),
        (pd.DataFrame({"unit": ["u"]}), {"wide": True}, "no column for a rater"),
        (SOME, {"by": ["system"]}, 'has no column "system"'),
        (SOME, {"level": "ordinary"}, "choose nominal, ordinal, interval or ratio"),
        (SOME, {"interval": "magic"}, "choose bca, percentile or jackknife"),
        (SOME, {"resamples": -1}, "no whole number"),
        (SOME, {"seed": 1.5}, "no whole number"),
        (SOME, {"within": -1}, "no distance"),
        (SOME, {"scale": []}, "empty level"),
        (SOME, {"scale": [1, 1.0]}, "stands there twice"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_said(frame: pd.DataFrame, options: Mapping[str, Any], says: str) -> None:
    faults = faults_of(frame, **options)
    assert len(faults) == 1
    assert says in faults[0]


def test_only_frames_are_taken() -> None:
    with pytest.raises(TypeError, match="DataFrame, not list"):
        sheetsync.agreement([[1, 2]])  # type: ignore[arg-type]


def test_a_value_off_the_scale_is_a_note() -> None:
    result = sheetsync.agreement(SOME, scale=[1, 2], resamples=0)
    assert result.notes[0] == 'row 2: "3" is not on the scale 1, 2; left out'
    assert "row 2" in repr(result)


def test_a_frame_of_results_is_tidy_and_holds_no_nan() -> None:
    frame = SOME.assign(system=["x", "x", "x", "x", "y", "y"])
    result = sheetsync.agreement(frame, by=["system"], resamples=50)
    table = result.to_frame()
    assert table[["dimension", "by", "slice"]].fillna("-").values.tolist() == [
        ["value", "-", "-"], ["value", "system", "x"], ["value", "system", "y"]
    ]  # fmt: skip
    alpha = result.report.dimensions[0].coefficients["alpha"].value
    assert table["alpha"][0] == alpha
    assert table["alpha"][2] is pd.NA
    assert table["alpha_reason"][2] == "no_variation"
    assert table["n_units"].tolist() == [3, 2, 1]
    pairs = result.to_frame("pairs")
    assert pairs[["first", "second", "n"]].values.tolist() == [
        ["ann", "ben", 3],
        ["ann", "ben", 2],
        ["ann", "ben", 1],
    ]
    for name in [*table.columns, *pairs.columns]:
        assert str((table if name in table else pairs)[name].dtype) in {"string", "Int64", "Float64"}
    with pytest.raises(ValueError, match="dimensions"):
        result.to_frame("raters")  # type: ignore[arg-type]


def test_what_people_read() -> None:
    frame = SOME.assign(dimension="<b>Tone</b>")
    result = sheetsync.agreement(frame, resamples=50)
    shown = repr(result).splitlines()
    assert shown[0].split() == ["Dimension", "n", "Alpha", "Interval", "Band", "Exact"]
    assert shown[1].startswith("<b>Tone</b>  3  0.")
    assert "too few units" in shown[1]
    assert "&lt;b&gt;Tone" in result._repr_html_()
    assert "<b>" not in result._repr_html_()
    assert result.explain().startswith("<b>Tone</b>\nOnly 3")
    assert "&lt;b&gt;Tone" in result.to_html("Mine")


def test_no_ratings_yet() -> None:
    result = sheetsync.agreement(SOME.iloc[:0])
    assert result.to_frame()["alpha_reason"][0] == "no_pairable_units"
    assert "undefined" in repr(result)


def test_the_picture() -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib, the extra `plot`, is not installed")
    matplotlib.use("Agg")
    frame = pd.concat([SOME.assign(dimension="$cost$"), SOME.assign(dimension="Same", value=1)])
    axes = sheetsync.agreement(frame, resamples=0).plot()
    axes.figure.canvas.draw()
    assert [label.get_text() for label in axes.get_yticklabels()] == [r"\$cost\$", "Same"]
    assert [text.get_text() for text in axes.texts] == ["undefined: no variation"]


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ModuleNotFoundError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"sheetsync-study\[plot\]"):
        sheetsync.agreement(SOME, resamples=0).plot()


def test_the_frame_itself_is_left_alone() -> None:
    frame = SOME.copy()
    sheetsync.agreement(frame, resamples=0)
    pd.testing.assert_frame_equal(frame, SOME)
