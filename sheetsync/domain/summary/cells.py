"""How figures stand in cells of the summary: a number, or the reason why there is none."""

from __future__ import annotations

from sheetsync.domain.agreement.coefficients import Coefficient
from sheetsync.domain.agreement.verdicts import REASON_WORDS
from sheetsync.domain.workbook import Cell, CellSpec, Style

_BAND_STYLES: dict[str, Style] = {
    "below_zero": "poor",
    "slight": "poor",
    "low": "poor",
    "fair": "fair",
    "marginal": "fair",
    "moderate": "fair",
    "substantial": "good",
    "acceptable": "good",
    "near_perfect": "good",
    "high": "good",
}


def shown_coefficient(coefficient: Coefficient | None, style: Style = "number") -> CellSpec:
    """Return a coefficient as a number, or the reason why there is none."""
    if coefficient is None:
        return None
    if coefficient.value is None:
        return Cell(REASON_WORDS.get(coefficient.reason or "", coefficient.reason or ""), "note")
    return Cell(coefficient.value, style)


def shown_band(band: str | None) -> CellSpec:
    """Return the name of a band in its colour."""
    return Cell(band.replace("_", " "), _BAND_STYLES[band]) if band else None
