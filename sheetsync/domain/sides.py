"""Which response of a case is A and which is B, and what a case is called in a workbook.

Sides fall by lot: once per case, the same for all raters, or anew for each rater (X10). The side that
the key keeps with a unit is the one per case. A rater's own sides stand in the workbooks alone: of the
two rows of a case the first that was issued is A, so what was issued never moves, whatever becomes of
the study's files.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

SIDES = "AB"

Case = tuple[str, str]
"""Question id and figure: what the two sides have in common."""


def draw_sides(codes: Iterable[str], *seed: object) -> dict[str, str]:
    """Return the side of each code of one case, by lot.

    >>> sorted(draw_sides(["X2", "X1"], 1, "study", "side", "Q1").values())
    ['A', 'B']
    """
    shuffled = sorted(codes)
    random.Random("|".join(map(str, seed))).shuffle(shuffled)  # noqa: S311 - reproducible, not secret
    return dict(zip(shuffled, SIDES, strict=False))


def issued_sides(cases: Mapping[str, Case], workbooks: Iterable[Sequence[str]]) -> dict[str, str]:
    """Return the sides that one rater saw, by code: the first workbook that holds both rows decides.

    A code whose other side this rater never got is not in the result.

    Args:
        cases: the case of every code that has sides.
        workbooks: the codes of the rater's workbooks in the order of their rows, oldest first.

    >>> issued_sides({"X1": ("Q", ""), "X2": ("Q", "")}, [["X2", "X1"], ["X1", "X2"]])
    {'X2': 'A', 'X1': 'B'}
    """
    sides: dict[str, str] = {}
    for codes in workbooks:
        together: dict[Case, list[str]] = {}
        for code in codes:
            if code in cases:
                together.setdefault(cases[code], []).append(code)
        for pair in together.values():
            if len(pair) == len(SIDES) and not sides.keys() & set(pair):
                sides.update(zip(pair, SIDES, strict=True))
    return sides


def case_names(cases: Iterable[tuple[Case, bool]]) -> dict[Case, str]:
    """Return what each case is called in every workbook, practice cases apart.

    The number is the place in the bank: it says nothing about either response.

    Args:
        cases: each case, maybe repeated, with whether it is for practice; oldest first.

    >>> case_names([(("TC-000", ""), True), (("TC-001", ""), False), (("TC-001", ""), False)])
    {('TC-000', ''): 'P01', ('TC-001', ''): '001'}
    """
    names: dict[Case, str] = {}
    counts = {True: 0, False: 0}
    for case, is_practice in cases:
        if case not in names:
            counts[is_practice] += 1
            names[case] = f"P{counts[True]:02d}" if is_practice else f"{counts[False]:03d}"
    return names
