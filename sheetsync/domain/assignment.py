"""Who scores what, under which blind code, in which order: pure functions, seeded, repeatable.

Whatever was issued once never moves: codes, orders and workbooks that the archive knows are taken as
they are, and only what is missing is added in new batches.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from sheetsync.domain.ratings import BatchKind
from sheetsync.domain.sides import draw_sides, issued_sides
from sheetsync.domain.study import Study

UnitKey = tuple[str, str, str]
"""Question id, figure, model."""

_CODE_LETTERS = "BCDFGHJKMNPQRSTVWXZ"
_CODE_CHARACTERS = _CODE_LETTERS + "23456789"
_CODE_LENGTH = 6


@dataclass(frozen=True)
class CodedUnit:
    """A unit under its blind code, as the key keeps it.

    The code is a run of consonants and digits that starts with a letter: no spreadsheet takes it
    for a number, a date or a word. `side` is A or B in a pairs layout.
    """

    code: str
    question_id: str
    figure: str
    model: str
    calibration: bool = False
    side: str = ""
    has_false_premise: bool = False

    @property
    def key(self) -> UnitKey:
        """What identifies the unit in the study's files."""
        return (self.question_id, self.figure, self.model)

    @property
    def case(self) -> tuple[str, str]:
        """What two sides of a pair have in common."""
        return (self.question_id, self.figure)


@dataclass(frozen=True)
class Batch:
    """What one rater gets in one workbook: the codes in the order of its rows."""

    rater: str
    name: str
    kind: BatchKind
    codes: tuple[str, ...]


def code_secret(study: Study) -> str:
    """Return what codes are derived from besides the unit: all that the coordinator's files say.

    It needs no random number, so an interrupted first run is repeated alike; and it cannot be told from
    a workbook, which holds neither models nor their versions. Codes that were given out are kept in the
    archive and outlive every change of the files.
    """
    content = hashlib.sha256()
    for unit in study.units:
        content.update("\x1f".join([*unit.key, unit.version, unit.response]).encode())
    return content.hexdigest()


def make_code(study: Study, secret: str, key: UnitKey, taken: Iterable[str]) -> str:
    """Return the blind code of a unit, unlike all taken ones."""
    used = set(taken)
    attempt = 0
    while True:
        text = "\x1f".join([secret, study.id, str(study.design.seed), *key, str(attempt)])
        number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:12], "big")
        number, first = divmod(number, len(_CODE_LETTERS))
        code = _CODE_LETTERS[first]
        for _ in range(_CODE_LENGTH - 1):
            number, rest = divmod(number, len(_CODE_CHARACTERS))
            code += _CODE_CHARACTERS[rest]
        if code not in used:
            return code
        attempt += 1


def code_units(study: Study, known: Sequence[CodedUnit]) -> list[CodedUnit]:
    """Return codes for the units that have none yet, in bank order.

    Practice units are those marked in the responses; where none is marked, `calibration_units` are
    drawn once, when the first codes are given out (X13).
    """
    taken = {unit.code for unit in known}
    known_keys = {unit.key for unit in known}
    new = [unit for unit in study.units if unit.key not in known_keys]
    practice = {unit.key for unit in new if unit.calibration}
    if not known and not practice:
        practice = _drawn_practice(study)
    coded = []
    secret = code_secret(study)
    for unit in new:
        code = make_code(study, secret, unit.key, taken)
        taken.add(code)
        coded.append(
            CodedUnit(
                code,
                *unit.key,
                calibration=unit.key in practice,
                has_false_premise=bool(unit.false_premise),
            )
        )
    return _with_sides(study, coded) if study.design.layout == "pairs" else coded


def _drawn_practice(study: Study) -> set[UnitKey]:
    rng = random.Random(f"{study.design.seed}|{study.id}|calibration")  # noqa: S311 - reproducible, not secret
    if study.design.layout == "pairs":
        cases = sorted({(unit.question_id, unit.figure) for unit in study.units})
        drawn = set(rng.sample(cases, min(len(cases), study.design.calibration_units // 2)))
        return {unit.key for unit in study.units if (unit.question_id, unit.figure) in drawn}
    keys = sorted(unit.key for unit in study.units)
    return set(rng.sample(keys, min(len(keys), study.design.calibration_units)))


def _with_sides(study: Study, coded: Sequence[CodedUnit]) -> list[CodedUnit]:
    """Give the two models of each case their sides by lot, the same for all raters (X10)."""
    sides: dict[str, str] = {}
    for case in dict.fromkeys(unit.case for unit in coded):
        codes = [unit.code for unit in coded if unit.case == case]
        sides |= draw_sides(codes, study.design.seed, study.id, "side", *case)
    return [replace(unit, side=sides.get(unit.code, "")) for unit in coded]


def sides_of(study: Study, rater: str, units: Sequence[CodedUnit], issued: Sequence[Batch]) -> dict[str, str]:
    """Return the side of every unit that has one, as this rater sees it.

    Args:
        study: the study as its files say now.
        rater: whose workbooks.
        units: every coded unit.
        issued: every batch ever issued; cases that the rater had before keep their sides.
    """
    sided = [unit for unit in units if unit.side]
    sides = {unit.code: unit.side for unit in sided}
    if study.design.sides == "rater":
        for block in _blocks(sided):
            codes = [unit.code for unit in block]
            sides |= draw_sides(codes, study.design.seed, study.id, "side", *block[0].case, rater)
    cases = {unit.code: unit.case for unit in sided}
    return sides | issued_sides(cases, [batch.codes for batch in issued if batch.rater == rater])


def assign_units(study: Study, units: Sequence[CodedUnit], issued: Sequence[Batch]) -> list[Batch]:
    """Return the batches that are still missing, so that every unit has the raters the design wants.

    Args:
        study: the study as its files say now.
        units: every coded unit; those that left the study's files are not issued any more.
        issued: every batch ever issued, also of raters who left the roster.
    """
    present = {unit.key: unit for unit in study.units}
    current = [unit for unit in units if unit.key in present]
    roster = [rater.id for rater in study.raters]
    holding = _codes_held(issued)
    batches = []
    practice = [unit.code for unit in current if unit.calibration]
    for rater in roster:
        lacking = [code for code in practice if code not in holding.get(rater, set())]
        if lacking:
            name = _next_name(rater, "calibration", issued)
            batches.append(
                Batch(rater, name, "calibration", _ordered(study, (rater, name), lacking, units, issued))
            )
    production = [unit for unit in current if not unit.calibration]
    wanted = _allot(study, roster, production, holding)
    for rater in roster:
        if wanted[rater]:
            name = _next_name(rater, "production", issued)
            codes = _ordered(study, (rater, name), wanted[rater], units, issued)
            batches.append(Batch(rater, name, "production", codes))
    return batches


def _codes_held(issued: Sequence[Batch]) -> dict[str, set[str]]:
    held: dict[str, set[str]] = {}
    for batch in issued:
        held.setdefault(batch.rater, set()).update(batch.codes)
    return held


def _next_name(rater: str, kind: BatchKind, issued: Sequence[Batch]) -> str:
    names = {batch.name for batch in issued if batch.rater == rater}
    first = {"calibration": "calibration", "production": "main"}.get(kind)
    if first and first not in names:
        return first
    stem = {"calibration": "calibration", "production": "add", "rescore": "rescore"}[kind]
    number = 2 if kind == "calibration" else 1
    while f"{stem}-{number}" in names:
        number += 1
    return f"{stem}-{number}"


def _allot(
    study: Study, roster: Sequence[str], units: Sequence[CodedUnit], holding: Mapping[str, set[str]]
) -> dict[str, list[str]]:
    """Choose who gets which units: least loaded first, then those who share least with the others.

    Sides of a case go together. Ties fall by lot, from the study's seed.
    """
    per_unit = study.design.raters_per_unit
    target = len(roster) if per_unit == "all" else min(per_unit, len(roster))
    load = {rater: len(holding.get(rater, ())) for rater in roster}
    shared: dict[tuple[str, str], int] = {}
    wanted: dict[str, list[str]] = {rater: [] for rater in roster}
    rng = random.Random(f"{study.design.seed}|{study.id}|allot")  # noqa: S311
    blocks = _blocks(units)
    rng.shuffle(blocks)
    for block in blocks:
        holders = [r for r in roster if block[0].code in holding.get(r, ())]
        free = [r for r in roster if r not in holders]
        if target == len(roster):  # nothing to choose, and choosing among hundreds takes an hour
            for rater in free:
                wanted[rater] += [unit.code for unit in block]
            continue
        while len(holders) < target and free:
            lot = {rater: rng.random() for rater in free}
            best = min(free, key=lambda r: (load[r], _shared_with(r, holders, shared), lot[r]))
            free.remove(best)
            holders.append(best)
            load[best] += len(block)
            wanted[best] += [unit.code for unit in block]
        for pair in combinations(sorted(holders), 2):
            shared[pair] = shared.get(pair, 0) + len(block)
    return wanted


def _shared_with(rater: str, holders: Sequence[str], shared: Mapping[tuple[str, str], int]) -> int:
    return sum(shared.get((min(rater, other), max(rater, other)), 0) for other in holders)


def _blocks(units: Sequence[CodedUnit]) -> list[list[CodedUnit]]:
    """Group what must stay together: both sides of a case, otherwise single units."""
    blocks: dict[object, list[CodedUnit]] = {}
    for unit in units:
        blocks.setdefault(unit.case if unit.side else unit.code, []).append(unit)
    return list(blocks.values())


def _ordered(
    study: Study,
    workbook: tuple[str, str],
    codes: Iterable[str],
    units: Sequence[CodedUnit],
    issued: Sequence[Batch],
) -> tuple[str, ...]:
    """Put codes in the order of the rows: the rater's own shuffle, or the questions as listed; A before B.

    Answers to one question never stand in the order of the files, which is that of their models: whoever
    reads down the rows could tell models apart by it.
    """
    rater, batch = workbook
    wanted = set(codes)
    sides = sides_of(study, rater, units, issued)
    position = {unit.key: index for index, unit in enumerate(study.units)}
    chosen = [unit for unit in units if unit.code in wanted]
    chosen.sort(key=lambda unit: (position.get(unit.key, len(position)), unit.code))
    blocks = [sorted(block, key=lambda unit: sides.get(unit.code, "")) for block in _blocks(chosen)]
    if study.design.order == "random":
        random.Random(f"{study.design.seed}|{study.id}|{rater}|{batch}").shuffle(blocks)  # noqa: S311
    else:
        case = {key[:2]: index for key, index in reversed(position.items())}
        blocks.sort(key=lambda block: (case.get(block[0].case, len(case)), min(unit.code for unit in block)))
    return tuple(unit.code for block in blocks for unit in block)


def rescore_batches(
    study: Study, units: Sequence[CodedUnit], issued: Sequence[Batch], wanted: Mapping[str, Iterable[str]]
) -> list[Batch]:
    """Return rescore batches: per rater of the roster the codes to score again.

    Args:
        study: the study as its files say now.
        units: every coded unit.
        issued: every batch ever issued.
        wanted: codes to issue again by rater id.
    """
    batches = []
    for rater in (rater.id for rater in study.raters):
        codes = list(wanted.get(rater, ()))
        if codes:
            name = _next_name(rater, "rescore", issued)
            batches.append(
                Batch(rater, name, "rescore", _ordered(study, (rater, name), codes, units, issued))
            )
    return batches


@dataclass(frozen=True)
class DesignReport:
    """How balanced and connected a design is.

    Attributes:
        load: production units per rater.
        shared: units that both raters of a pair have.
        islands: groups of raters that no unit connects; one group means connected.
    """

    load: Mapping[str, int]
    shared: Mapping[tuple[str, str], int]
    islands: tuple[tuple[str, ...], ...]

    @property
    def is_connected(self) -> bool:
        """Whether chains of shared units connect all raters."""
        return len(self.islands) <= 1


def describe_design(raters: Sequence[str], batches: Sequence[Batch]) -> DesignReport:
    """Return load, overlap and connectedness of the production batches of these raters."""
    held = _codes_held([batch for batch in batches if batch.kind == "production"])
    load = {rater: len(held.get(rater, ())) for rater in raters}
    shared = {
        pair: len(held.get(pair[0], set()) & held.get(pair[1], set())) for pair in combinations(raters, 2)
    }
    islands: list[set[str]] = [{rater} for rater in raters if load[rater]]
    for (first, second), count in shared.items():
        if count:
            touched = [island for island in islands if first in island or second in island]
            islands = [island for island in islands if island not in touched]
            islands.append(set().union(*touched))
    return DesignReport(load, shared, tuple(tuple(sorted(island)) for island in islands))
