"""Colours are stored as eight bits per channel and shown as floats, twice: `x` and `xStyle.rgbColor`."""

from __future__ import annotations

import struct
from functools import cache
from typing import Any


@cache
def eight_bit(channel: float) -> float | int:
    """Store a channel as Google does: 0.5 becomes 127/255, shown as 0.49803922."""
    bits = int(min(max(channel, 0.0), 1.0) * 255 + 1e-6)
    if bits in (0, 255):
        return bits // 255
    single = struct.unpack("f", struct.pack("f", bits / 255))[0]
    for digits in range(6, 10):
        short = float(f"{single:.{digits}g}")
        if struct.unpack("f", struct.pack("f", short))[0] == single:
            return short
    return float(single)


def stored_colour(colour: dict[str, Any]) -> dict[str, Any]:
    """Quantise a Color and leave its zero channels out."""
    return {name: eight_bit(colour[name]) for name in ("red", "green", "blue") if colour.get(name)}


def mirror_colours(value: dict[str, Any], properties: dict[str, Any]) -> None:
    """Where a message has both `x: Color` and `xStyle: ColorStyle`, make one follow the other (style wins)."""
    for name, schema in properties.items():
        style = name + "Style"
        if schema.get("$ref") != "Color" or style not in properties:
            continue
        if "rgbColor" in value.get(style, {}):
            value[name] = value[style]["rgbColor"]
        elif name in value and style not in value:
            value[style] = {"rgbColor": value[name]}
