"""The report: counts, which coefficients for which level, pairs, slices, tags, and its JSON."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import replace

import pytest

from sheetsync.domain.agreement.assessment import (
    AgreementReport,
    DimensionAgreement,
    Options,
    RatedRows,
    TagData,
    assess_agreement,
    cross_check_alpha,
)
from sheetsync.domain.agreement.coefficients import Coefficient
from sheetsync.domain.agreement.reliability import Row
from sheetsync.domain.study import LevelValue, MeasurementLevel

QUICK = Options(resamples=200)
COEFFICIENTS = [
    "alpha",
    "ac",
    "brennan_prediger",
    "fleiss_kappa",
    "icc",
    "exact",
    "within",
    "mean_abs_difference",
    "conger_kappa",
    "mean_spearman",
    "mean_spearman_z",
    "within_all",
    "observed_disagreement",
    "expected_disagreement",
]


def dimension(
    *lines: str,
    level: MeasurementLevel = "ordinal",
    scale: tuple[LevelValue, ...] = (1, 2, 3, 4, 5),
    slices: Mapping[str, Mapping[str, str]] | None = None,
    full_grid: bool = False,
) -> RatedRows:
    """`dimension("ann: 4 3 -", "ben: 4 ? NA")`: units u1, u2 ...; - blank, ? invalid, . not assigned."""
    cells: dict[Row, str] = {}
    for line in lines:
        rater, _, row = line.partition(": ")
        cells |= {(rater, f"u{at + 1}"): text for at, text in enumerate(row.split()) if text != "."}
    values: dict[Row, LevelValue] = {}
    for at, text in cells.items():
        if text == "NA":
            values[at] = "N/A"
        elif text not in {"-", "?"}:
            values[at] = text if text in scale else int(text)
    return RatedRows(
        dimension="Coverage",
        level=level,
        scale=scale,
        raters=tuple(dict.fromkeys(rater for rater, _ in cells)),
        units=tuple(sorted({unit for _, unit in cells})),
        rows=frozenset(cells),
        full_grid=full_grid,
        values=values,
        invalid=frozenset(at for at, text in cells.items() if text == "?"),
        slices=slices or {},
    )


def assess(data: RatedRows, options: Options = QUICK) -> DimensionAgreement:
    return assess_agreement([data.index()], [], options).dimensions[0]


def test_blank_not_applicable_and_invalid_are_counted_apart() -> None:
    found = assess(dimension("ann: 4 3 - NA", "ben: 4 ? 2 ."))
    assert (found.n_units, found.n_raters, found.n_pairable) == (4, 2, 1)
    assert (found.n_ratings, found.n_missing, found.n_not_applicable, found.n_invalid) == (4, 1, 1, 1)
    assert found.distribution == {"1": 0, "2": 1, "3": 1, "4": 2, "5": 0}


def test_in_a_file_every_rater_is_expected_to_rate_every_unit() -> None:
    study = dimension("ann: 4 3 2", "ben: 4 . .")
    assert assess(study).n_missing == 0
    assert assess(replace(study, full_grid=True)).n_missing == 2


def test_a_blank_is_not_a_label() -> None:
    """F25: three raters who never differ, with gaps."""
    found = assess(dimension("a: 1 2 - 4", "b: 1 - 3 4", "c: - 2 3 4"))
    assert found.coefficients["alpha"].value == 1.0
    assert found.coefficients["exact"].value == 1.0


def test_the_ceiling_paradox_shows_both_sides() -> None:
    """F27: 19 of 20 alike: alpha about 0, agreement and AC2 high."""
    found = assess(dimension("a: " + "5 " * 20, "b: " + "5 " * 19 + "4"))
    assert found.coefficients["alpha"].value == pytest.approx(0, abs=1e-12)
    assert found.coefficients["exact"].value == 0.95
    assert (found.coefficients["ac"].value or 0) > 0.99
    assert found.band == "slight"


def test_nobody_has_rated_yet() -> None:
    found = assess(dimension("a: - - -", "b: - - -"))
    assert {each.reason for each in found.coefficients.values()} == {"no_pairable_units"}
    assert (found.band, found.n_missing, found.pairs[0].n) == (None, 6, 0)
    assert found.pairs[0].kappa.reason == "no_common_units"
    empty = RatedRows("Coverage", "ordinal", (), (), (), frozenset(), False, {})
    assert assess(empty).coefficients["alpha"].reason == "no_pairable_units"


def test_nominal_has_no_distances() -> None:
    found = assess(dimension("a: x y x z", "b: x y z z", level="nominal", scale=("x", "y", "z")))
    pair = found.pairs[0]
    undefined = [found.coefficients[name] for name in ("icc", "within", "mean_abs_difference")]
    undefined += [found.coefficients[name] for name in ("mean_spearman", "mean_spearman_z", "within_all")]
    undefined += [pair.kappa_linear, pair.kappa_quadratic, pair.spearman, pair.mean_difference]
    assert {(each.value, each.reason) for each in undefined} == {(None, "undefined_for_values")}
    assert (pair.exact.value, found.coefficients["exact"].value) == (0.75, 0.75)
    assert found.coefficients["within"].k == found.coefficients["within_all"].k == 1
    assert found.coefficients["conger_kappa"].value == pytest.approx(pair.kappa.value, abs=1e-12)


def test_ordered_words_count_by_position() -> None:
    words = assess(dimension("a: low mid high low", "b: mid mid low low", scale=("low", "mid", "high")))
    numbers = assess(dimension("a: 0 1 2 0", "b: 1 1 0 0", scale=(0, 1, 2)))
    assert words.coefficients == numbers.coefficients
    assert words.pairs == numbers.pairs
    assert words.distribution == {"low": 4, "mid": 3, "high": 1}
    assert words.pairs[0].mean_difference.value == 0.25


def test_a_value_of_an_older_scale_is_invalid() -> None:
    found = assess(dimension("a: 4 9", "b: 4 3"))
    assert (found.n_ratings, found.n_invalid) == (3, 1)


def test_every_pair_is_listed_in_rater_order() -> None:
    found = assess(dimension("z: 1 2", "a: 1 2", "m: . 2"))
    assert [pair.raters for pair in found.pairs] == [("z", "a"), ("z", "m"), ("a", "m")]
    assert [pair.n for pair in found.pairs] == [2, 1, 1]


def test_slices_have_their_own_units_and_raters() -> None:
    figure = {"u1": "Macrina", "u2": "Thecla", "u3": "Macrina", "u4": ""}
    data = dimension("a: 1 2 3 4", "b: 1 . 4 4", "c: . 2 . .", slices={"figure": figure})
    found = assess(data)
    assert [(part.by, part.value) for part in found.slices] == [("figure", "Macrina"), ("figure", "Thecla")]
    macrina, thecla = (part.agreement for part in found.slices)
    assert (macrina.n_units, macrina.n_raters, macrina.n_ratings) == (2, 2, 4)
    assert (thecla.n_units, thecla.n_raters, [pair.raters for pair in thecla.pairs]) == (1, 2, [("a", "c")])
    assert macrina.coefficients["exact"].value == 0.5
    assert macrina.scale == (1, 2, 3, 4, 5)
    assert macrina.coefficients["alpha"].interval_reason == "too_few_units"


@pytest.mark.parametrize(("minimum", "is_short"), [(12, False), (13, True)])
def test_the_fewest_units_are_those_of_the_settings(minimum: int, is_short: bool) -> None:
    """X20: below a configured number neither an interval nor a rank, and alpha answers nothing."""
    values = "1 2 3 4 5 1 2 3 4 5 1 2"
    figure = {f"u{at}": "Macrina" if at % 2 else "Thecla" for at in range(1, 13)}
    data = dimension(f"a: {values}", f"b: {values[:-1]}5", slices={"figure": figure})
    report = assess_agreement([data.index()], [], replace(QUICK, minimum_units=minimum))
    found, explained = report.dimensions[0], report.explanations[0]
    assert found.too_few is is_short
    assert [part.agreement.too_few for part in found.slices] == [True, True]
    assert (explained.question == "too_few") is is_short
    for coefficient in (
        found.coefficients["alpha"],
        found.coefficients["conger_kappa"],
        found.pairs[0].kappa,
    ):
        assert coefficient.value is not None
        assert (coefficient.interval_reason == "too_few_units") is is_short
    parts = assess_agreement([data.index()], [], replace(QUICK, minimum_units=6)).explanations[0].hardest
    assert [(part.by, part.too_few, part.rank) for part in parts if part.by == "figure"] == [
        ("figure", False, 1),
        ("figure", False, 2),
    ]


def test_a_slice_of_a_file_expects_its_own_grid() -> None:
    data = dimension("a: 1 2 3", "b: 1 . .", full_grid=True)
    data = replace(data, row_slices={"kind": {row: "x" if row[1] < "u3" else "y" for row in data.rows}})
    parts = {part.value: part.agreement for part in assess(data).slices}
    assert parts["x"].n_missing == 1
    assert (parts["y"].n_missing, parts["y"].n_raters) == (0, 1)


def test_rows_of_one_unit_can_lie_in_different_slices() -> None:
    data = dimension("ann: 1 2", "ben: 1 3", "gpt: 2 2", full_grid=True)
    kinds = {row: "judge" if row[0] == "gpt" else "human" for row in data.rows}
    parts = {part.value: part.agreement for part in assess(replace(data, row_slices={"kind": kinds})).slices}
    assert parts["human"].coefficients["exact"].value == 0.5
    assert (parts["judge"].n_raters, parts["judge"].n_units) == (1, 2)


def test_numbers_do_not_depend_on_the_order_of_anything() -> None:
    rng = random.Random(4)
    lines = [f"{rater}: " + " ".join(rng.choice("-23345555") for _ in range(40)) for rater in "abc"]
    data = dimension(*lines, slices={"half": {f"u{at}": str(at % 2) for at in range(1, 41)}})
    units, raters, values = list(data.units), list(data.raters), list(data.values.items())
    for each in (units, raters, values):
        rng.shuffle(each)
    shuffled = replace(data, units=tuple(units), raters=tuple(raters), values=dict(values))
    found, other = assess(data), assess(shuffled)
    summed_over_raters = {"icc", "conger_kappa", "mean_spearman", "mean_spearman_z"}
    for name in set(COEFFICIENTS) - summed_over_raters:
        assert found.coefficients[name] == other.coefficients[name]
        assert found.slices[0].agreement.coefficients[name] == other.slices[0].agreement.coefficients[name]
    for name in summed_over_raters:
        assert found.coefficients[name].value == pytest.approx(other.coefficients[name].value, abs=1e-12)


def test_pair_intervals_come_from_the_jackknife() -> None:
    rng = random.Random(1)
    found = assess(dimension(*[f"{r}: " + " ".join(rng.choice("12345") for _ in range(30)) for r in "ab"]))
    assert found.coefficients["alpha"].method == "bca"
    assert found.coefficients["icc"].method == "f"
    assert found.pairs[0].kappa.method == "jackknife"


def test_options_reach_the_coefficients() -> None:
    data = dimension("a: 1 2 3 4 5", "b: 3 2 5 4 3")
    options = Options(bands="acceptance", within=2, resamples=0)
    found = assess(data, options)
    assert (found.coefficients["within"].value, found.coefficients["within"].k) == (1.0, 2)
    assert found.coefficients["alpha"].interval_reason == "not_requested"
    assert found.pairs[0].kappa.interval_reason == "not_requested"
    assert found.band in {"low", "below_zero"}


class TestTags:
    def test_ticks_and_pairs(self) -> None:
        values = {("a", "u1"): True, ("b", "u1"): True, ("a", "u2"): False, ("b", "u2"): False}
        values |= {("a", "u3"): True, ("b", "u3"): False, ("a", "u4"): True}
        found = assess_agreement([], [TagData("evasion", None, ("a", "b", "c"), values)], QUICK).tags[0]
        assert found.n_ticked == {"a": 3, "b": 1, "c": 0}
        assert [(pair.raters, pair.n) for pair in found.pairs] == [
            (("a", "b"), 3),
            (("a", "c"), 0),
            (("b", "c"), 0),
        ]
        assert found.pairs[0].exact.value == pytest.approx(2 / 3)
        assert found.pairs[0].kappa.value == pytest.approx(0.4)
        assert found.pairs[1].kappa.reason == "no_common_units"

    def test_a_tag_nobody_ticks_has_no_kappa(self) -> None:
        values = {(rater, f"u{at}"): False for rater in "ab" for at in range(12)}
        pair = assess_agreement([], [TagData("t", "Coverage", ("a", "b"), values)], QUICK).tags[0].pairs[0]
        assert (pair.kappa.reason, pair.exact.value) == ("no_variation", 1.0)


def test_json_has_the_keys_of_the_contract() -> None:
    data = dimension("a: 1 2 3", "b: 1 2 4", slices={"figure": {"u1": "Macrina"}})
    tags = [TagData("evasion", None, ("a", "b"), {("a", "u1"): True, ("b", "u1"): False})]
    report = assess_agreement([data.index()], tags, QUICK).to_dict()
    assert list(report) == ["schema", "dimensions", "tags", "explanations", "pooled"]
    assert report["schema"] == "sheetsync.agreement/1"
    found = json.loads(json.dumps(report, allow_nan=False))
    keys = [
        "dimension",
        "level",
        "scale",
        "band",
        "n_units",
        "n_pairable",
        "n_raters",
        "n_ratings",
        "n_missing",
    ]
    keys += ["n_not_applicable", "n_invalid", "coefficients", "distribution", "pairs", "slices"]
    assert list(found["dimensions"][0]) == keys
    assert list(found["dimensions"][0]["coefficients"]) == COEFFICIENTS
    assert list(found["dimensions"][0]["pairs"][0]) == [
        "raters", "n", "kappa", "kappa_linear", "kappa_quadratic", "spearman", "exact", "mean_difference"
    ]  # fmt: skip
    part = found["dimensions"][0]["slices"][0]
    assert list(part) == ["by", "value", *keys]
    assert part["slices"] == []
    assert found["tags"][0] | {"pairs": []} == {
        "tag": "evasion",
        "of": None,
        "n_ticked": {"a": 1, "b": 0},
        "pairs": [],
    }
    assert list(found["tags"][0]["pairs"][0]) == ["raters", "n", "kappa", "exact"]
    assert found["dimensions"][0]["coefficients"]["within"]["k"] == 1
    assert "k" not in found["dimensions"][0]["coefficients"]["exact"]


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_the_krippendorff_package_confirms_alpha(level: MeasurementLevel) -> None:
    data = [
        dimension("a: 1 2 3 4 5 - 2", "b: 1 2 4 4 4 2 -", "c: 2 2 3 4 5 2 1", level=level),
        dimension("a: 3 3", "b: 3 3", level=level),
        dimension("a: 3 . ", "b: . 3", level=level),
        dimension("a: 1 5 2 4", "b: 2 5 2 5", level=level, scale=(5, 4, 3, 2, 1)),
    ]
    indexed = [each.index() for each in data]
    report = assess_agreement(indexed, [], Options(resamples=0))
    assert cross_check_alpha(report, indexed) == []


def test_the_cross_check_names_what_differs() -> None:
    data = [dimension("a: 1 2 3", "b: 1 2 4").index()]
    report = assess_agreement(data, [], Options(resamples=0))
    wrong = replace(report.dimensions[0], coefficients={"alpha": Coefficient(0.5)})
    assert cross_check_alpha(AgreementReport((wrong,)), data) == ["Coverage"]
    none = replace(report.dimensions[0], coefficients={"alpha": Coefficient(None, reason="no_variation")})
    assert cross_check_alpha(AgreementReport((none,)), data) == ["Coverage"]


def test_round_1_of_the_study() -> None:
    """S0.53: 210 items, 83 % fives, exact 74 %: ordinal alpha falls near 0.1."""
    both = ["5 5"] * 151 + ["4 4"] * 4 + ["5 4"] * 23 + ["4 5"] * 22 + ["5 3"] * 2 + ["3 5"] * 3 + ["4 3"] * 5
    rows = [line.split() for line in both]
    found = assess(dimension("a: " + " ".join(a for a, _ in rows), "b: " + " ".join(b for _, b in rows)))
    assert found.n_units == 210
    assert found.coefficients["exact"].value == pytest.approx(0.74, abs=0.005)
    assert found.distribution["5"] / 420 == pytest.approx(0.83, abs=0.01)
    alpha = found.coefficients["alpha"]
    assert alpha.value is not None
    assert alpha.low is not None
    assert alpha.high is not None
    assert 0 < alpha.value < 0.2
    assert alpha.low < alpha.value < alpha.high
    assert found.band == "slight"
    assert (found.coefficients["ac"].value or 0) > 0.9
