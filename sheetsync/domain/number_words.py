"""How a number is written in a sentence or a table, the same everywhere."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Literal

from sheetsync.domain.agreement.verdicts import BandSet, band_of

NumberStyle = Literal["number", "signed", "percent"]


def shown_number(value: float, style: NumberStyle = "number", digits: int = 2) -> str:
    """Return a number as people read it, with a true minus sign and never a negative zero.

    Halves are rounded away from zero, as spreadsheets do, so that the report and the summary workbook
    show the same figure.

    >>> shown_number(-0.001), shown_number(4.125), shown_number(-0.125, "signed"), shown_number(0.7415, "percent")
    ('0.00', '4.13', '−0.13', '74.2%')
    """
    scaled = Decimal(repr(float(value))) * (100 if style == "percent" else 1)
    places = 1 if style == "percent" else digits
    rounded = scaled.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    text = f"{abs(rounded):.{places}f}{'%' if style == 'percent' else ''}"
    sign = "" if not rounded else "−" if rounded < 0 else "+" if style == "signed" else ""
    return sign + text


def shown_apart(value: float, other: float = 0.0) -> tuple[str, str]:
    """Return two numbers with as many decimals as it takes to see that they differ (two to six).

    >>> shown_apart(0.4249, 0.4201), shown_apart(0.001), shown_apart(0.5, 0.5)
    (('0.425', '0.420'), ('0.001', '0.000'), ('0.50', '0.50'))
    """
    wanted = range(2, 7) if value != other else ()
    digits = next((d for d in wanted if shown_number(value, digits=d) != shown_number(other, digits=d)), 2)
    return shown_number(value, digits=digits), shown_number(other, digits=digits)


def shown_limits(low: float, high: float, digits: int = 2) -> str:
    """Return an interval; a limit gets as many decimals as it takes to see on which side of 0 it is (to six).

    >>> shown_limits(-0.0036, 0.278), shown_limits(0.0, 1.0), shown_limits(0.031, 0.2, digits=3)
    ('−0.004 to 0.28', '0.00 to 1.00', '0.031 to 0.200')
    """
    return f"{_off_zero(low, digits)} to {_off_zero(high, digits)}"


def _off_zero(value: float, digits: int) -> str:
    zero = shown_number(0.0, digits=digits)
    shown = (shown_number(value, digits=places) for places in range(digits, 7))
    return next((text for text in shown if text.strip("0.")), zero)


def shown_alpha(value: float, bands: BandSet, least: int = 2) -> str:
    """Return alpha with as many decimals as its band needs (X2), `least` at least.

    >>> shown_alpha(0.19996, "landis-koch"), shown_alpha(0.21, "landis-koch")
    ('0.19996', '0.21')
    """
    band = band_of(value, bands)
    digits = next((d for d in range(least, 12) if band_of(round(value, d), bands) == band), 12)
    return shown_number(value, digits=digits)


def shown_share(value: float) -> str:
    """Return a share in whole per cent; what is not all or nothing never reads as if it were.

    >>> shown_share(0.835), shown_share(0.998), shown_share(1.0), shown_share(0.002)
    ('84%', 'over 99%', '100%', 'under 1%')
    """
    if 0 < value < 0.005:
        return "under 1%"
    if 0.995 <= value < 1:
        return "over 99%"
    return f"{(Decimal(repr(float(value))) * 100).quantize(Decimal(1), ROUND_HALF_UP):.0f}%"
