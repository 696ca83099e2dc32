"""Named bands of agreement: the only place where a number meets a threshold.

Bands are half-open, [from, to), the top one closed, compared at full precision; below zero is a
band of its own in both sets (X2, X3).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

BandSet = Literal["landis-koch", "acceptance"]

BELOW_ZERO = "below_zero"

_BANDS: Mapping[BandSet, tuple[tuple[float, str], ...]] = {
    # Landis and Koch (1977) Biometrics 33, 159-174, as S0.50 cuts it.
    "landis-koch": (
        (0.8, "near_perfect"),
        (0.6, "substantial"),
        (0.4, "moderate"),
        (0.2, "fair"),
        (0.0, "slight"),
    ),
    # S1.20.
    "acceptance": ((0.8, "high"), (0.7, "acceptable"), (0.6, "marginal"), (0.0, "low")),
}

_WORDS: Mapping[str, str] = {
    BELOW_ZERO: "below zero: less than chance",
    "slight": "slight agreement",
    "fair": "fair agreement",
    "moderate": "moderate agreement",
    "substantial": "substantial agreement",
    "near_perfect": "near-perfect agreement",
    "low": "low: not acceptable",
    "marginal": "marginal: below the acceptable range",
    "acceptable": "acceptable agreement",
    "high": "high agreement",
}

_GOOD = frozenset({"substantial", "near_perfect", "acceptable", "high"})

REASON_WORDS = {
    "no_variation": "undefined: no variation",
    "no_pairable_units": "undefined: no unit with two ratings",
    "no_common_units": "undefined: no common units",
    "constant_rater": "undefined: a rater gives one value only",
    "single_category": "undefined: one category only",
    "no_complete_units": "undefined: no complete unit",
    "too_few_units": "too few units",
    "undefined_for_values": "not defined for this scale",
    "no_disagreement": "no disagreement observed",
    "not_requested": "not requested",
    "cross_check_failed": "withheld: cross-check failed",
    "too_many_ratings": "not computed: too many ratings",
}
"""Why a coefficient or an interval is missing, as people read it."""


MIN_PAIRABLE = 10
"""With fewer pairable units there is no interval, and a slice shows raw agreement only: alpha and a band
would be noise (X20). A study may say otherwise: `[agreement] minimum_units`."""


def is_too_few(n_pairable: int, minimum: int = MIN_PAIRABLE) -> bool:
    """Return whether a slice has too few units for a chance-corrected figure to say anything."""
    return n_pairable < minimum


def interval_reason_words(reason: str | None) -> str:
    """Return in words why a figure that has a value has no interval.

    >>> interval_reason_words("no_variation"), interval_reason_words("too_few_units")
    ('none: resamples hardly vary', 'too few units')
    """
    return "none: resamples hardly vary" if reason == "no_variation" else REASON_WORDS.get(reason or "", "")


def band_of(value: float | None, bands: BandSet) -> str | None:
    """Return the band a coefficient falls into, None for an undefined one.

    >>> band_of(0.2, "landis-koch"), band_of(0.1999, "landis-koch"), band_of(-0.01, "landis-koch")
    ('fair', 'slight', 'below_zero')
    >>> band_of(0.695, "acceptance")
    'marginal'
    """
    if value is None:
        return None
    return next((band for lowest, band in _BANDS[bands] if value >= lowest), BELOW_ZERO)


def describe_band(band: str | None) -> str:
    """Return a band in words.

    >>> describe_band("near_perfect")
    'near-perfect agreement'
    """
    return "undefined" if band is None else _WORDS[band]


def is_good(band: str | None) -> bool:
    """Return whether a band names agreement that is good enough to build on."""
    return band in _GOOD
