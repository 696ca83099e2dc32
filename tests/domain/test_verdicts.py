"""Bands are half-open, compared at full precision, and below zero stands apart."""

from __future__ import annotations

import pytest

from sheetsync.domain.agreement.verdicts import BandSet, band_of, describe_band


@pytest.mark.parametrize(
    ("value", "band"),
    [
        (1.0, "near_perfect"),
        (0.8, "near_perfect"),
        (0.7999999, "substantial"),
        (0.6, "substantial"),
        (0.4, "moderate"),
        (0.2, "fair"),
        (0.1999999, "slight"),
        (0.0, "slight"),
        (-1e-9, "below_zero"),
        (-1.0, "below_zero"),
        (None, None),
    ],
)
def test_landis_koch(value: float | None, band: str | None) -> None:
    assert band_of(value, "landis-koch") == band


@pytest.mark.parametrize(
    ("value", "band"),
    [
        (0.8, "high"),
        (0.795, "acceptable"),
        (0.7, "acceptable"),
        (0.695, "marginal"),
        (0.6, "marginal"),
        (0.5999, "low"),
        (0.0, "low"),
        (-0.1, "below_zero"),
        (None, None),
    ],
)
def test_acceptance(value: float | None, band: str | None) -> None:
    assert band_of(value, "acceptance") == band


@pytest.mark.parametrize("bands", ["landis-koch", "acceptance"])
def test_every_band_has_words(bands: BandSet) -> None:
    found = {band_of(value / 100, bands) for value in range(-100, 101)}
    assert all(describe_band(band) for band in found)
    assert describe_band(None) == "undefined"
