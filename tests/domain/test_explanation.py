"""Why alpha is what it is: the two sentences case by case, and the fixture of a first round (S0.53)."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import ArrayLike

from sheetsync.domain.agreement.assessment import Options, assess_agreement
from sheetsync.domain.agreement.explanation_records import Explanation
from sheetsync.domain.agreement.reliability import Cells, DimensionData, RatedRows
from sheetsync.domain.agreement.report import AgreementReport
from sheetsync.domain.agreement.statistic import IntArray
from sheetsync.domain.study import LevelValue, MeasurementLevel

FIVE: tuple[LevelValue, ...] = (1, 2, 3, 4, 5)

# S0.53: 210 responses, two raters, 83% fives, exact agreement 74%; pairs of scores and how often.
FIRST_ROUND = {
    (5, 5): 149, (4, 4): 5, (3, 3): 1, (5, 4): 19, (4, 5): 18, (5, 3): 7, (3, 5): 6,
    (4, 3): 2, (3, 4): 1, (5, 2): 1, (2, 5): 1,
}  # fmt: skip


def rated(
    positions: ArrayLike,
    level: MeasurementLevel = "ordinal",
    scale: tuple[LevelValue, ...] = FIVE,
    name: str = "Coverage",
) -> DimensionData:
    """Raters x units, as positions on the scale; -1 is a blank."""
    matrix = np.array(positions)
    raters, units = (axis.ravel() for axis in np.indices(matrix.shape))
    cells = Cells(raters, units, matrix.ravel().astype(np.int64))
    names = tuple("ABCDEF"[: len(matrix)])
    return DimensionData(
        name, level, scale, names, tuple(f"u{at:03}" for at in range(matrix.shape[1])), cells, True
    )


def explain(data: DimensionData, resamples: int = 200) -> Explanation:
    return assess_agreement([data], (), Options(resamples=resamples)).explanations[0]


def from_pairs(pairs: Mapping[tuple[int, int], int]) -> DimensionData:
    first, second = zip(*(pair for pair, n in pairs.items() for _ in range(n)), strict=True)
    return rated(np.array([first, second]) - 1)


@pytest.fixture(scope="module")
def first_round() -> Explanation:
    return explain(from_pairs(FIRST_ROUND))


class TestFirstRound:
    def test_has_the_shape_of_the_requirement(self, first_round: Explanation) -> None:
        assert sum(FIRST_ROUND.values()) == 210
        assert first_round.top_level is not None
        assert first_round.top_level.share == pytest.approx(0.83, abs=0.005)
        assert first_round.exact.value == pytest.approx(0.74, abs=0.005)
        assert first_round.alpha.value == pytest.approx(0.1, abs=0.05)

    def test_sentences_say_narrow_band(self, first_round: Explanation) -> None:
        assert first_round.question == "narrow_band"
        assert first_round.is_narrow
        first, second = first_round.sentences
        assert first.startswith(
            "83% of the ratings are 5, the highest level, so that raters who ignored the text"
        )
        assert "and these raters do on 74%" in first
        assert "inside a narrow band of the scale, not whether they understand the rubric alike" in second
        assert f"AC ({first_round.ac.value:.2f})" in second

    def test_guessers_agree_nearly_as_often(self, first_round: Explanation) -> None:
        null = first_round.null_raters
        assert null.exact is not None
        assert null.alpha is not None
        assert null.exact.mean == pytest.approx(0.83**2 + 0.12**2 + 0.04**2, abs=0.01)
        assert null.alpha.mean == pytest.approx(0, abs=0.01)

    def test_the_boundary_is_4_5_and_bias_is_no_part_of_it(self, first_round: Explanation) -> None:
        assert first_round.boundaries[0].between == (4, 5)
        assert first_round.boundaries[0].differing_pairs == pytest.approx(52 / 55)
        assert first_round.bias is not None
        assert (first_round.bias.bias_share or 0) < 0.01
        assert first_round.units.n_differing == 55
        assert first_round.units.n_half < 28

    def test_everything_is_finite_in_json(self, first_round: Explanation) -> None:
        found = json.loads(json.dumps(first_round.to_dict(), allow_nan=False))
        assert found["dimension"] == "Coverage"
        assert found["null_raters"]["n"] == 1000
        assert found["intervals"]["default"]["value"] == first_round.alpha.value

    def test_interval_comparison_is_that_of_the_report(self, first_round: Explanation) -> None:
        default = first_round.intervals.default
        assert (default.low, default.high) == (first_round.alpha.low, first_round.alpha.high)
        assert not first_round.intervals.is_narrow


def spread(seed: int = 1, n: int = 60) -> IntArray:
    return np.random.default_rng(seed).integers(0, 5, n)


def test_constant_shift() -> None:
    truth = np.random.default_rng(3).integers(0, 3, 60)
    found = explain(rated([truth + 1, truth]))
    assert found.question == "bias"
    assert found.bias is not None
    assert found.bias.bias_share == 1
    assert (
        "A gives 1.00 more than B on average, and such shifts make up 100% of the squared"
        in found.sentences[0]
    )
    assert "whether one rater's scores can stand in for another's" in found.sentences[1]
    assert "equal it would be 1.00 instead of" in found.sentences[1]


def test_below_zero_at_the_ceiling_is_a_narrow_band_and_no_contradiction() -> None:
    """S0.52: few real differences, none shared, make alpha slightly negative; raters still agree on most."""
    found = explain(from_pairs({(5, 5): 160, (4, 5): 15, (5, 4): 15, (3, 5): 10, (5, 3): 10}))
    assert found.alpha.value is not None
    assert found.alpha.value < 0
    assert found.null_raters.holds_alpha
    assert found.question == "narrow_band"
    assert found.sentences[0].startswith("88% of the ratings are 5, the highest level, so that raters who")


def test_a_shift_at_the_ceiling_names_both() -> None:
    found = explain(from_pairs({(5, 5): 120, (5, 4): 60, (5, 3): 20}))
    assert found.question in {"bias", "below_zero"}
    assert "80% of the ratings are 5, the highest level, so that little disagreement is" in found.sentences[0]


def test_a_ratio_scale_whose_ends_have_no_ratio_gets_no_scaled_disagreement() -> None:
    positions = np.random.default_rng(1).integers(0, 2, (3, 30))
    found = explain(rated(positions, "ratio", (-1, 0, 1)))
    assert found.alpha.value is not None
    assert (found.observed_scaled, found.expected_scaled) == (None, None)
    assert "0.000" not in " ".join(found.sentences)
    assert found.null_raters.alpha is not None


def test_where_alpha_is_not_defined_for_the_values_null_raters_get_none_either() -> None:
    found = explain(rated(np.random.default_rng(1).integers(0, 3, (3, 30)), "ratio", (-1, 0, 1)))
    assert found.question == "undefined"
    assert (found.null_raters.alpha, found.null_raters.reason) == (None, "undefined_for_values")


def test_scatter() -> None:
    rng = np.random.default_rng(4)
    truth = spread()
    found = explain(rated([truth, np.clip(truth + rng.integers(-3, 4, 60), 0, 4)]))
    assert 0 <= (found.alpha.value or -1) < 0.6
    assert found.question == "scatter"
    assert "Raters differ up and down on single responses" in found.sentences[0]
    assert "they do only in part" in found.sentences[1]


def test_scatter_no_better_than_guessing() -> None:
    truth = spread(1)
    found = explain(rated([truth, np.random.default_rng(9).permutation(truth)]))
    if (found.alpha.value or -1) < 0:
        found = explain(rated([truth, np.random.default_rng(11).permutation(truth)]))
    assert found.question == "scatter"
    assert found.null_raters.holds_alpha
    assert "no more than raters who ignore the text" in found.sentences[1]


def test_raters_who_tell_responses_apart() -> None:
    truth = spread()
    near = truth.copy()
    near[:6] = np.where(near[:6] < 4, near[:6] + 1, 3)
    found = explain(rated([truth, near]))
    assert found.question == "separates"
    assert found.sentences[0].startswith("Raters differ far less on the same response")
    assert "Alpha answers here what it is meant to" in found.sentences[1]


def test_good_agreement_in_a_narrow_band_says_both() -> None:
    truth = np.full(60, 4)
    truth[:8] = [0, 1, 0, 1, 2, 0, 1, 0]
    found = explain(rated([truth, truth]))
    assert found.question == "separates"
    assert found.sentences[0].startswith(
        "Although 87% of the ratings are 5, the highest level, raters differ"
    )


def test_good_agreement_beside_a_shift_names_the_shift() -> None:
    truth = np.tile(np.arange(5), 20)
    found = explain(rated([np.minimum(truth + 1, 4), truth]))
    assert found.question == "separates"
    assert found.sentences[0].endswith("although A gives 0.80 more than B on average.")


def test_nothing_varies() -> None:
    found = explain(rated(np.full((2, 20), 4)))
    assert found.question == "no_variation"
    assert (found.observed_scaled, found.expected_scaled, found.alpha.value) == (0, 0, None)
    assert found.sentences[0].startswith("Every rating that can be compared is 5:")
    assert "neither 0 nor 1" in found.sentences[1]
    assert found.null_raters.alpha is None


def test_systematic_disagreement() -> None:
    truth = spread()
    found = explain(rated([truth, 4 - truth]))
    assert found.question == "below_zero"
    assert not found.null_raters.holds_alpha
    assert "systematic disagreement" in found.sentences[1]
    assert "−" in found.sentences[0]


def test_hardly_any_difference_on_a_skewed_scale_is_no_contradiction() -> None:
    # 19 of 20 identical on a skewed scale (F27), with a second difference: alpha is just below 0.
    first, second = np.full(30, 4), np.full(30, 4)
    first[0], second[1] = 3, 3
    found = explain(rated([first, second]))
    assert -0.1 < (found.alpha.value or 0) < 0
    assert found.question == "narrow_band"
    assert "would give equal values on 94% of the responses, and these raters do on 93%" in found.sentences[0]


def test_slightly_below_zero_is_chance() -> None:
    found = explain(rated([np.tile(np.arange(5), 6), np.tile([2, 4, 0, 3, 1], 6)]))
    assert -0.35 < (found.alpha.value or 0) < 0
    assert found.question == "below_zero"
    assert found.null_raters.holds_alpha
    assert "Raters who ignore the text get such figures by chance" in found.sentences[1]


def test_too_few_responses() -> None:
    found = explain(rated([[0, 4, 3], [1, 4, 2]]))
    assert found.question == "too_few"
    assert found.sentences[0].startswith("Only 3 responses have ratings of two or more raters")


def test_nothing_comparable_yet() -> None:
    found = explain(rated([[0, -1, 3], [-1, 4, -1]]))
    assert found.question == "not_comparable"
    assert found.observed_scaled is None
    assert found.null_raters.reason == "no_pairable_units"
    assert found.hardest == ()


def test_no_rating_at_all() -> None:
    found = explain(rated(np.full((2, 5), -1)))
    assert (found.top_level, found.most_used, found.question) == (None, None, "not_comparable")
    nothing = RatedRows("x", "ordinal", (), (), (), frozenset(), True, {}).index()
    assert explain(nothing).question == "not_comparable"


def test_values_without_a_ratio() -> None:
    positions = np.random.default_rng(1).integers(0, 3, (2, 20))
    found = explain(rated(positions, "ratio", (-1, 0, 1)))
    assert found.question == "undefined"
    assert (found.observed_scaled, found.expected_scaled) == (None, None)


def test_categories_have_no_top_and_no_bias() -> None:
    positions = np.random.default_rng(1).integers(0, 3, (3, 40))
    found = explain(rated(positions, "nominal", ("a", "b", "c")))
    assert (found.top_level, found.bias) == (None, None)
    assert found.most_used is not None
    assert len(found.without_raters) == 3
    assert found.null_raters.within is None


def test_words_are_levels_too() -> None:
    truth = np.tile([2, 2, 2, 2, 1], 20)
    found = explain(rated([truth, np.roll(truth, 1)], "ordinal", ("low", "medium", "high")))
    assert found.top_level is not None
    assert found.top_level.level == "high"
    assert found.boundaries[0].between == ("medium", "high")


def test_small_and_crowded_data_are_warned_of() -> None:
    truth = np.full(30, 4)
    truth[:4] = [0, 1, 2, 3]
    other = truth.copy()
    other[3:6] = [4, 3, 3]
    assert explain(rated([truth, other])).intervals.is_narrow


def test_no_sentence_depends_on_the_order_of_units() -> None:
    rng = np.random.default_rng(6)
    positions = rng.integers(-1, 5, (3, 50))
    shuffled = positions[:, rng.permutation(50)]
    first, second = explain(rated(positions), 0), explain(rated(shuffled), 0)
    assert first.sentences == second.sentences
    assert first.null_raters == second.null_raters
    assert [each.alpha for each in first.without_raters] == pytest.approx(
        [each.alpha for each in second.without_raters]
    )
    assert first.boundaries[0].disagreement == pytest.approx(second.boundaries[0].disagreement)


def test_figures_agree_with_the_coefficients() -> None:
    report: AgreementReport = assess_agreement(
        [rated(np.random.default_rng(2).integers(-1, 5, (3, 40)))], (), Options(resamples=0)
    )
    found, each = report.explanations[0], report.dimensions[0].coefficients
    assert found.observed_scaled is not None
    assert found.expected_scaled is not None
    assert 1 - found.observed_scaled / found.expected_scaled == pytest.approx(each["alpha"].value)
    assert (found.exact, found.ac) == (each["exact"], each["ac"])
    assert report.pooled is None
    raw = each["observed_disagreement"].value, each["expected_disagreement"].value
    assert None not in raw
    assert found.observed_scaled / found.expected_scaled == pytest.approx((raw[0] or 0) / (raw[1] or 1))
