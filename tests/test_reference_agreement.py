"""Published and cross-checked figures: reference/agreement, seq2seq-eval and pdpa-ab.

Needs the folder SHEETSYNC_TEST_DATA; the small published tables are typed into the tests of
`domain.agreement.coefficients`, which run everywhere.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sheetsync.domain.agreement import all_raters, unit_counts
from sheetsync.domain.agreement import coefficients as c
from sheetsync.domain.agreement.assessment import (
    AgreementReport,
    DimensionData,
    Options,
    RatedRows,
    assess_agreement,
    cross_check_alpha,
)
from sheetsync.domain.agreement.coefficients import Coefficient
from sheetsync.domain.agreement.conger import conger_kappa
from sheetsync.domain.agreement.icc import icc, icc_interval
from sheetsync.domain.agreement.interval_comparison import pair_bootstrap
from sheetsync.domain.agreement.intervals import IntervalOptions, estimate
from sheetsync.domain.agreement.pair_means import mean_spearman
from sheetsync.domain.agreement.rater_pairs import KappaWeights
from sheetsync.domain.agreement.standard_errors import (
    Name,
    PairName,
    analytic_interval,
    analytic_interval_of_pair,
    kappa_standard_error,
    standard_error,
)
from sheetsync.domain.agreement.statistic import FloatArray
from sheetsync.domain.agreement.unit_counts import count_units

DATA = Path(os.environ.get("SHEETSYNC_TEST_DATA", "no such folder"))
REFERENCE = DATA / "reference" / "agreement"
pytestmark = pytest.mark.skipif(
    not (REFERENCE / "expected.json").is_file(), reason="SHEETSYNC_TEST_DATA has no reference/agreement"
)

EXPECTED: dict[str, Any] = (
    json.loads((REFERENCE / "expected.json").read_text(encoding="utf-8"))
    if (REFERENCE / "expected.json").is_file()
    else {"datasets": {}, "edge_cases": {"cases": {}}}
)

WEIGHTS: dict[str, unit_counts.Weights] = {
    "unweighted": "identity",
    "linear": "linear",
    "quadratic": "quadratic",
    "ordinal": "ordinal",
}
KAPPA_WEIGHTS: dict[str, KappaWeights] = {"unweighted": "none", "linear": "linear", "quadratic": "quadratic"}
REASONS = {
    "no_variation_among_pairable_ratings": "no_variation",
    "single_category_domain": "single_category",
    "ratio_metric_undefined_for_values_summing_to_zero": "undefined_for_values",
}
"""Longer names in the reference -> those of the contract; the others are the same."""

ERRORS: dict[str, Name] = {
    "percent_agreement": "exact",
    "gwet_ac": "ac",
    "fleiss_kappa": "fleiss_kappa",
    "brennan_prediger": "brennan_prediger",
    "conger_kappa": "conger_kappa",
}
KAPPAS: dict[str, PairName] = {
    "unweighted": "kappa",
    "linear": "kappa_linear",
    "quadratic": "kappa_quadratic",
}
"""The reference's names -> those of our standard errors."""

Domain = list[int | float | str]


class Table:
    """A reference table: raw cells by rater, and the domain they are read on."""

    def __init__(self, cells: dict[str, list[str]]) -> None:
        self.cells = cells
        self.texts = [text for column in cells.values() for text in column if text]

    def observed(self) -> Domain:
        """The values that occur: numbers sorted, labels in alphabetical order."""
        numbers = [_number(text) for text in self.texts]
        if any(number is None for number in numbers):
            return sorted(set(self.texts))
        return sorted({number for number in numbers if number is not None})

    def read(self, domain: Domain | None = None) -> tuple[FloatArray, FloatArray]:
        """Reliability data and scale: the numbers themselves, or positions of labels."""
        levels = self.observed() if domain is None else domain
        words = any(isinstance(level, str) for level in levels)
        codes = {str(level): float(at) for at, level in enumerate(levels)}
        rows = [[_code(text, codes if words else None) for text in column] for column in self.cells.values()]
        scale = np.arange(float(len(levels))) if words else np.array(levels, dtype=float)
        return np.array(rows), scale


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _code(text: str, codes: dict[str, float] | None) -> float:
    if not text:
        return np.nan
    return float(text) if codes is None else codes[text]


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read_dataset(name: str) -> Table:
    dataset = EXPECTED["datasets"][name]
    rows = rows_of(REFERENCE / dataset["file"])
    columns = list(rows[0])[1:]
    if dataset["format"] == "wide":
        return Table({column: [row[column] for row in rows] for column in columns})
    given = [
        [str(at + 1) for at, column in enumerate(columns) for _ in range(int(row[column]))] for row in rows
    ]
    slots = max(map(len, given))
    return Table({f"r{at}": [unit[at] if at < len(unit) else "" for unit in given] for at in range(slots)})


def read_edge_case(name: str) -> Table:
    rows = [row for row in rows_of(REFERENCE / "edge_cases.csv") if row["case"] == name]
    raters, units = (list(dict.fromkeys(row[key] for row in rows)) for key in ("rater", "unit"))
    messy = name == "string_labels_messy"  # labels are trimmed and case-folded by the reader of files
    cells = {
        (row["rater"], row["unit"]): row["value"].strip().lower() if messy else row["value"] for row in rows
    }
    return Table({rater: [cells.get((rater, unit), "") for unit in units] for rater in raters})


def observed_agreement(data: FloatArray, scale: FloatArray, weights: unit_counts.Weights) -> Coefficient:
    units = count_units(data, scale)
    statistic = all_raters.mean_over_pairs(
        units, unit_counts.agreement_weights(scale, weights), perfect=1.0, bounds=(-np.inf, 1.0)
    )
    return c.without_interval(statistic)


def compute(name: str, check: dict[str, Any]) -> list[float | None]:
    params = check["params"]
    table = read_dataset(name)
    domain = params.get("value_domain")
    dataset_domain = EXPECTED["datasets"][name]["value_domain"]
    if check["coefficient"] in {"cohen_kappa", "krippendorff_alpha"} and domain is None:
        domain = dataset_domain
    if isinstance(domain, str):
        domain = Table({rater: table.cells[rater] for rater in params["raters"]}).observed()
    if "raters" in params:
        table = Table({rater: table.cells[rater] for rater in params["raters"]})
    data, scale = table.read(domain)
    coefficient, quantity = check["coefficient"], check["quantity"]
    if quantity in {"se", "ci95"} and coefficient != "icc":
        return _analytic(coefficient, data, scale, params["weights"], quantity)
    return COMPUTE[coefficient](data, scale, params, quantity)


def _alpha_interval(
    data: FloatArray, scale: FloatArray, params: dict[str, Any], _: str
) -> list[float | None]:
    options, units = IntervalOptions(method="percentile", seed=7), count_units(data, scale)
    if "pairs" in str(params.get("resample")):
        found = pair_bootstrap(units, params["level"], options)
        return [found.low, found.high]
    if params.get("expected_disagreement") == "held fixed":
        observed = all_raters.observed_disagreement(units, params["level"])
        expected = all_raters.expected_disagreement(units, params["level"]).value or np.nan
        found = estimate({"observed": observed}, options)["observed"]
        return [1 - (found.high or np.nan) / expected, 1 - (found.low or np.nan) / expected]
    found = estimate({"alpha": all_raters.alpha(units, params["level"])}, options)["alpha"]
    return [found.low, found.high]


def _icc(data: FloatArray, _: FloatArray, params: dict[str, Any], quantity: str) -> list[float | None]:
    if quantity == "value":
        return [icc(data, params["form"]).value]
    interval = icc_interval(data, params["form"])
    return [interval.low, interval.high]


def _within(
    data: FloatArray, scale: FloatArray, params: dict[str, Any], _: str = "value"
) -> list[float | None]:
    if params.get("definition") == "all raters of the unit":
        return [c.within_k_of_all(data, scale, params["k"]).value]
    return [c.within_k(data, scale, params["k"]).value]


def _analytic(
    name: str, data: FloatArray, scale: FloatArray, weights: str, quantity: str
) -> list[float | None]:
    """Return a standard error, or the limits that follow from it."""
    if name == "cohen_kappa":
        pair = (KAPPAS[weights], data[0], data[1], scale)
        if quantity == "se":
            return [kappa_standard_error(*pair).error]
        interval = analytic_interval_of_pair(*pair)
    else:
        everybody = (ERRORS[name], data, scale, WEIGHTS[weights])
        if quantity == "se":
            return [standard_error(*everybody).error]
        interval = analytic_interval(*everybody)
    assert interval.method == "analytic"
    return [interval.low, interval.high]


Compute = Callable[[FloatArray, FloatArray, dict[str, Any], str], list[float | None]]


def _one(function: Callable[[FloatArray, FloatArray, dict[str, Any]], Coefficient]) -> Compute:
    return lambda data, scale, params, _: [function(data, scale, params).value]


COMPUTE: dict[str, Compute] = {
    "krippendorff_alpha": _one(lambda d, s, p: c.krippendorff_alpha(d, s, p["level"])),
    "krippendorff_alpha_bootstrap_ci95": _alpha_interval,
    "percent_agreement": _one(lambda d, s, p: observed_agreement(d, s, WEIGHTS[p["weights"]])),
    "gwet_ac": _one(lambda d, s, p: c.gwet_ac(d, s, WEIGHTS[p["weights"]])),
    "fleiss_kappa": _one(lambda d, s, p: c.fleiss_kappa(d, s, WEIGHTS[p["weights"]])),
    "brennan_prediger": _one(lambda d, s, p: c.brennan_prediger(d, s, WEIGHTS[p["weights"]])),
    "cohen_kappa": _one(lambda d, s, p: c.cohen_kappa(d[0], d[1], s, KAPPA_WEIGHTS[p["weights"]])),
    "icc": _icc,
    "conger_kappa": _one(lambda d, s, p: conger_kappa(d, s, WEIGHTS[p["weights"]])),
    "within_k": _within,
    "spearman": _one(lambda d, s, _: c.spearman(d[0], d[1], s)),
    "mean_pairwise_spearman": _one(lambda d, s, p: mean_spearman(d, s, p["average"])),
}


def checks() -> Iterator[Any]:
    for name, dataset in EXPECTED["datasets"].items():
        for at, check in enumerate(dataset["checks"]):
            label = f"{name}-{at}-{check['coefficient']}-{check['quantity']}"
            yield pytest.param(name, check, id=label)


@pytest.mark.parametrize(("name", "check"), list(checks()))
def test_every_check_of_the_reference(name: str, check: dict[str, Any]) -> None:
    ours = compute(name, check)
    bootstrap = check["quantity"] == "bootstrap_ci95"
    exactly = 1e-8 if check["quantity"] == "ci95" else 1e-9  # statsmodels takes a normal quantile of 9 digits
    if check["coefficient"] == "icc" and check["quantity"] == "ci95":
        exactly = check["spread_between_packages"]  # the reference of ICC(2,k) has two decimals
    tolerance = check["tolerance_to_published"] if bootstrap else max(exactly, 1e-9)
    assert ours == pytest.approx(np.atleast_1d(check["reference"]).tolist(), rel=0, abs=tolerance)
    published = check["published"]
    if published and check["tolerance_to_published"]:
        wanted = np.atleast_1d(published["value"]).tolist()
        assert ours == pytest.approx(wanted, rel=0, abs=check["tolerance_to_published"])


@pytest.mark.parametrize(
    ("name", "level", "limits", "tolerance"),
    [
        # expected.json, disputed: resampling units, expected disagreement recomputed.
        ("hayes_krippendorff2007", "ordinal", [0.621, 0.844], 0.02),
        ("hughes2021_cartilage", "interval", [0.800, 0.867], 0.005),
        ("krippendorff2011_c", "nominal", [0.42, 1.0], 0.03),
    ],
)
def test_unit_resampling_intervals(name: str, level: str, limits: list[float], tolerance: float) -> None:
    data, scale = read_dataset(name).read()
    assert _alpha_interval(data, scale, {"level": level}, "") == pytest.approx(limits, abs=tolerance)


DECIDED: dict[tuple[str, str, str, str], str] = {
    ("krippendorff2011_c", "krippendorff_alpha", "value", "nominal"): "Krippendorff 2011 /",
    ("krippendorff2011_c", "krippendorff_alpha", "value", "ordinal"): "Krippendorff 2011",
    ("krippendorff2011_c", "krippendorff_alpha", "se and ci95", "nominal"): "unit-resampling bootstrap",
    ("krippendorff2011_c", "gwet_ac", "p_value", "unweighted"): "",
    ("hayes_krippendorff2007", "krippendorff_alpha", "value", "ratio"): "krippendorff / irr / direct",
    ("hayes_krippendorff2007", "krippendorff_alpha", "ci95", "ordinal"): "resampling units",
    ("hayes_krippendorff2007", "krippendorff_alpha", "value", "ordinal"): "correct",
    ("gwet_abstractors3x3", "gwet_ac", "se", "unweighted"): "irrCAC raw function",
    ("gwet_abstractors3x3", "cohen_kappa", "value", "quadratic"): "order Ectopic<AIU<NIU",
    ("fleiss1971_diagnoses", "krippendorff_alpha", "value", "nominal"): "krippendorff /",
    ("fleiss_counts15", "krippendorff_alpha", "se", "nominal"): "",
    ("shrout_fleiss1979", "krippendorff_alpha", "value", "interval"): "correct",
    ("shrout_fleiss1979", "icc", "ci95", "ICC(2,k)"): "psych 2.2.9 / pingouin",
    ("irr_anxiety", "cohen_kappa", "value", "quadratic"): "declared scale",
    ("irr_anxiety", "mean_pairwise_spearman", "value", ""): "arithmetic mean",
    ("irr_anxiety", "krippendorff_alpha", "value", "ordinal"): "correct",
    ("hughes2021_cartilage", "krippendorff_alpha", "ci95", "interval"): "same resampling",
}
"""Every disputed figure -> how the one we side with is labelled; docs/statistics.md says why. Empty: we give none."""


def disputes() -> Iterator[Any]:
    for name, dataset in EXPECTED["datasets"].items():
        for dispute in dataset["disputed"]:
            params = dispute["params"]
            of = str(next((params[key] for key in ("level", "weights", "form") if key in params), ""))
            key = (name, dispute["coefficient"], dispute["quantity"], of)
            yield pytest.param(key, dispute, id="-".join(key))


@pytest.mark.parametrize(("key", "dispute"), list(disputes()))
def test_every_dispute_is_decided(key: tuple[str, str, str, str], dispute: dict[str, Any]) -> None:
    name, coefficient, quantity, _ = key
    if not DECIDED[key]:
        assert coefficient not in ERRORS or quantity not in c.undefined("").to_dict()
        return
    ours, others = [
        [value for label, value in dispute["values"].items() if label.startswith(DECIDED[key]) is wanted]
        for wanted in (True, False)
    ]
    params, tolerance = dispute["params"], 1e-6
    if coefficient == "krippendorff_alpha" and quantity != "value":
        params, quantity, tolerance = {**params, "resample": "units"}, "bootstrap_ci95", 0.03
        coefficient = "krippendorff_alpha_bootstrap_ci95"
    if coefficient == "mean_pairwise_spearman":
        params = {"average": "arithmetic"}
    found = compute(name, {"coefficient": coefficient, "quantity": quantity, "params": params})
    wanted = ours[0].get("ci95", ours[0]) if isinstance(ours[0], dict) else ours[0]
    if isinstance(wanted, float):
        tolerance = max(tolerance, 0.5 * 10.0 ** -len(str(wanted).partition(".")[2]))  # as it is printed
    assert found == pytest.approx(np.atleast_1d(wanted).tolist(), rel=0, abs=tolerance)
    if quantity == "value":
        for other in others:
            assert found != pytest.approx([other], rel=0, abs=1e-4)
    if coefficient == "mean_pairwise_spearman":
        z = compute(
            name, {"coefficient": coefficient, "quantity": quantity, "params": {"average": "fisher_z"}}
        )
        assert z == pytest.approx(others, rel=0, abs=1e-6)


def test_there_is_a_decision_for_each_dispute() -> None:
    assert {each.values[0] for each in disputes()} == set(DECIDED)


EDGE_CASES: dict[str, Any] = EXPECTED["edge_cases"]["cases"]


def expect(found: Coefficient, expected: dict[str, Any]) -> None:
    """Compare a coefficient with the value, or the reason, of an edge case."""
    if expected["value"] is None:
        assert found.value is None
        assert found.reason == REASONS.get(expected["reason"], expected["reason"])
        assert found.interval_reason == found.reason
    else:
        assert found.reason is None
        assert found.value == pytest.approx(expected["value"], rel=0, abs=1e-9)


def read_on(name: str, table: Table, key: str) -> tuple[FloatArray, FloatArray]:
    """Read an edge case on its declared domain, or on the levels observed."""
    domain = EDGE_CASES[name]["value_domain"] if key == "declared_domain" else table.observed()
    if name == "numeric_strings":
        # The reference reads these numbers as text where it takes the observed levels.
        domain = [float(each) for each in domain] if key == "declared_domain" else sorted(set(table.texts))
    return table.read(domain)


@pytest.mark.parametrize("name", list(EDGE_CASES))
def test_edge_cases_over_all_raters(name: str) -> None:
    table = read_edge_case(name)
    expected = EDGE_CASES[name]["expected"]
    data, scale = read_on(name, table, "declared_domain")
    for level, wanted in expected["krippendorff_alpha"].items():
        expect(c.krippendorff_alpha(data, scale, level), wanted)
    expect(c.exact(data, scale), expected["percent_agreement"])
    expect(c.fleiss_kappa(data, scale), expected["fleiss_kappa"])
    if "within_1" in expected:
        expect(c.within_k(data, scale, 1), {"value": expected["within_1"]["pairs_mean_over_units"]})
        expect(c.within_k_of_all(data, scale, 1), {"value": expected["within_1"]["all_raters"]})


@pytest.mark.parametrize("name", list(EDGE_CASES))
def test_edge_cases_that_depend_on_the_domain(name: str) -> None:
    table = read_edge_case(name)
    expected = EDGE_CASES[name]["expected"]
    for key, by_weights in expected["gwet_ac"].items():
        data, scale = read_on(name, table, key)
        for weights, wanted in by_weights.items():
            expect(c.gwet_ac(data, scale, WEIGHTS[weights]), wanted)
    for weights, by_domain in expected.get("cohen_kappa", {}).items():
        for key, wanted in by_domain.items():
            data, scale = read_on(name, table, key)
            expect(c.cohen_kappa(data[0], data[1], scale, KAPPA_WEIGHTS[weights]), wanted)
    if "spearman" in expected:
        data, scale = read_on(name, table, "declared_domain")
        expect(c.spearman(data[0], data[1], scale), expected["spearman"])


def dimension(name: str, cells: dict[tuple[str, str], float]) -> DimensionData:
    return RatedRows(
        dimension=name,
        level="ordinal",
        scale=tuple(sorted(set(cells.values()))),
        raters=tuple(sorted({rater for rater, _ in cells})),
        units=tuple(sorted({unit for _, unit in cells})),
        rows=frozenset(cells),
        full_grid=True,
        values=cells,
    ).index()


def group(rows: Iterable[tuple[str, str, str, str]], raters: set[str]) -> list[DimensionData]:
    found: dict[str, dict[tuple[str, str], float]] = {}
    for name, rater, unit, score in rows:
        if rater in raters:
            found.setdefault(name, {})[rater, unit] = float(score)
    return [dimension(name, cells) for name, cells in found.items()]


def expect_rows(report: AgreementReport, published: dict[str, dict[str, str]]) -> None:
    assert {each.dimension for each in report.dimensions} == set(published)
    for each in report.dimensions:
        row = published[each.dimension]
        assert each.coefficients["alpha"].value == pytest.approx(float(row["alpha_ordinal"]), abs=5.1e-5)
        assert each.coefficients["exact"].value == pytest.approx(float(row["exact_pct"]) / 100, abs=5.1e-7)
        assert each.coefficients["within"].value == pytest.approx(float(row["within1_pct"]) / 100, abs=5.1e-7)
        assert (each.n_units, each.n_pairable) == (int(row["items"]), int(row["items_2plus"]))
        assert each.n_ratings == int(row["ratings"])
        if "mean_abs_diff" in row:
            difference = each.coefficients["mean_abs_difference"].value
            assert difference == pytest.approx(float(row["mean_abs_diff"]), abs=5.1e-5)


SEQ2SEQ_RATERS = {
    "3 humans": {"h1", "h2", "h3"},
    "3 humans + gpt-4": {"h1", "h2", "h3", "gpt-4"},
    "h1 vs h2": {"h1", "h2"},
    "h1 vs h3": {"h1", "h3"},
    "h2 vs h3": {"h2", "h3"},
}


@pytest.mark.parametrize("who", list(SEQ2SEQ_RATERS))
def test_seq2seq_eval(who: str) -> None:
    folder = DATA / "data" / "seq2seq-eval"
    rows = (
        (f"{row['task']} {row['dimension']}", row["rater"], f"{row['item_id']} {row['system']}", row["score"])
        for row in rows_of(folder / "ratings.csv")
    )
    data = group(rows, SEQ2SEQ_RATERS[who])
    report = assess_agreement(data, [], Options(resamples=0))
    published = {
        f"{row['task']} {row['dimension']}": row
        for row in rows_of(folder / "agreement.csv")
        if row["raters"] == who
    }
    expect_rows(report, published)
    assert cross_check_alpha(report, data) == []


def test_pdpa_ab() -> None:
    folder = DATA / "data" / "pdpa-ab"
    rows = [
        (row["dimension"], row["rater"], f"{row['prompt_id']} {row['system']}", row["score"])
        for row in rows_of(folder / "ratings.csv")
    ]
    published = rows_of(folder / "agreement.csv")
    everybody = {rater for _, rater, _, _ in rows}
    assert len(published) == 14
    for who in {row["raters"] for row in published}:
        data = group(rows, everybody if who == "4 raters" else set(who.split(" vs ")))
        report = assess_agreement(data, [], Options(resamples=0))
        expect_rows(report, {row["dimension"]: row for row in published if row["raters"] == who})


def test_pdpa_ab_preferences() -> None:
    """README: Fleiss .1302, alpha .1345, observed .507; kappa of raters 1 and 2 .3011."""
    rows = rows_of(DATA / "data" / "pdpa-ab" / "preferences.csv")
    scale = ("base", "tie", "rag")
    values = {(row["rater"], row["prompt_id"]): row["preferred"] for row in rows}
    units = tuple(sorted({unit for _, unit in values}))
    raters = tuple(sorted({rater for rater, _ in values}))
    data = RatedRows("preference", "nominal", scale, raters, units, frozenset(values), True, values).index()
    found = assess_agreement([data], [], Options(resamples=0)).dimensions[0]
    assert found.coefficients["fleiss_kappa"].value == pytest.approx(0.1302, abs=5.1e-5)
    assert found.coefficients["alpha"].value == pytest.approx(0.1345, abs=5.1e-5)
    assert found.coefficients["exact"].value == pytest.approx(0.507, abs=5.1e-4)
    assert found.pairs[0].kappa.value == pytest.approx(0.3011, abs=5.1e-5)
