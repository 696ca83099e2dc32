"""`[criteria]` against the rest of the study, and the file of internal scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sheetsync.config_faults import Faults, listed, quoted, suggestion
from sheetsync.config_files import Row, Table, read_table
from sheetsync.config_records import Document
from sheetsync.domain.cells import match_level, normalise, read_number
from sheetsync.domain.protocols import Criteria
from sheetsync.domain.study import Design, Rubric, Unit
from sheetsync.domain.validation.totals import total_parts

UnitKey = tuple[str, str, str]

TOTAL = "total"
_COLUMNS = ("question_id", "model")
_OPTIONAL = ("figure",)


@dataclass(frozen=True)
class Internal:
    """The internal total of every response that the file names."""

    totals: Mapping[UnitKey, float]


def check_criteria(
    document: Document, folder: Path, rubric: Rubric | None, units: Sequence[Unit], faults: Faults
) -> None:
    """Check `[criteria]` where the study has it, and the internal scores where the file is there."""
    if "criteria" not in document.data:
        return
    criteria, design = document.section("criteria", Criteria), document.section("design", Design)
    if criteria is None:
        return
    if design is not None and design.layout != "pairs":
        faults.error(
            document.place(("design", "layout")),
            'is "single" but [criteria] compares two responses per case; set layout = "pairs", or delete [criteria]',
        )
    _check_models(document, criteria, units, faults)
    if not criteria.internal:
        return
    if not (folder / criteria.internal).exists():
        faults.warn(
            document.place(("criteria", "internal")),
            f"there is no file {criteria.internal}: the rank correlation with internal scores cannot be judged, "
            "which is not a pass; add the file",
        )
    elif rubric is not None and units:
        read_internal(folder, criteria, rubric, units, faults)


def _check_models(document: Document, criteria: Criteria, units: Sequence[Unit], faults: Faults) -> None:
    models = sorted({unit.model for unit in units})
    for key in ("baseline", "improved"):
        name = getattr(criteria, key)
        if models and name not in models:
            faults.error(
                document.place(("criteria", key)),
                f"{quoted(name)} is no model of the responses; {suggestion(name, models)}",
            )
    if criteria.baseline == criteria.improved:
        faults.error(
            document.place(("criteria", "improved")), "is the same model as baseline; name the other one"
        )


def read_internal(
    folder: Path, criteria: Criteria, rubric: Rubric, units: Iterable[Unit], faults: Faults
) -> Internal | None:
    """Return the internal totals; None where the file is missing or its columns are wrong.

    Args:
        folder: the study's.
        criteria: name the file.
        rubric: scores are checked against its scales, totals against their sum.
        units: the study's.
        faults: collects what is wrong.
    """
    name = criteria.internal
    if not name or not (folder / name).is_file():
        return None
    dimensions = {normalise(dimension.id): dimension for dimension in rubric.dimensions}
    table = read_table(folder / name, name, _COLUMNS, [*_OPTIONAL, *dimensions, TOTAL], faults)
    if table is None:
        return None
    parts = [normalise(part) for part in total_parts(rubric)]
    missing = [part for part in parts if part not in table.columns]
    if TOTAL not in table.columns and missing:
        faults.error(
            f"{name} line 1",
            f"has no column {TOTAL} and lacks {listed(missing, 'and')} to add it up; add one",
        )
        return None
    known = {unit.key: unit for unit in units}
    reader = _Reader(table, rubric, parts, known, faults)
    return reader.read()


class _Reader:
    """Reads the rows of the file, one after another."""

    def __init__(
        self,
        table: Table,
        rubric: Rubric,
        parts: Sequence[str],
        known: Mapping[UnitKey, Unit],
        faults: Faults,
    ) -> None:
        self.table, self.parts, self.known, self.faults = table, parts, known, faults
        self.dimensions = {normalise(dimension.id): dimension for dimension in rubric.dimensions}

    def read(self) -> Internal:
        """Return the totals; rows with faults are left out."""
        totals: dict[UnitKey, float] = {}
        lines: dict[UnitKey, int] = {}
        for row in self.table.rows:
            key = (row.text("question_id"), row.text("figure"), row.text("model"))
            if key in lines:
                self.faults.error(row.place, f"repeats the response of line {lines[key]}; delete one")
                continue
            lines[key] = row.line
            if key not in self.known:
                said = " ".join(filter(None, key))
                self.faults.error(row.place, f"{quoted(said)} is no response of this study")
                continue
            total = self._total(row)
            if total is not None:
                totals[key] = total
        lacking = [unit for unit in self.known.values() if not unit.calibration and unit.key not in lines]
        if lacking:
            self.faults.warn(
                self.table.name,
                f"has no row for {len(lacking)} responses (first: {' '.join(filter(None, lacking[0].key))}); "
                "they stay out of the rank correlation",
            )
        return Internal(totals)

    def _total(self, row: Row) -> float | None:
        columns = [part for part in self.dimensions if part in self.table.columns]
        numbers = {part: self._score(row, part) for part in columns}
        parts = [numbers.get(part) for part in self.parts]
        given = [part for part in parts if part is not None]
        added = math.fsum(given) if len(given) == len(parts) else None
        stated = row.text(TOTAL)
        if not stated:
            if added is None:
                self.faults.warn(row.place, f"has no {TOTAL}; the response stays out of the rank correlation")
            return added
        number = read_number(stated)
        if number is None:
            self.faults.error(row.at(TOTAL), f"found {quoted(stated)}; write a number")
            return None
        total = float(number)
        if added is not None and not math.isclose(added, total, rel_tol=1e-9):
            self.faults.error(
                row.at(TOTAL), f"found {stated} but the scores add up to {added:g}; correct one"
            )
        return total

    def _score(self, row: Row, part: str) -> float | None:
        text, dimension = row.text(part), self.dimensions[part]
        if not text:
            return None
        level = match_level(text, dimension.scale)
        if level is None:
            self.faults.error(
                row.at(part),
                f"found {quoted(text)}; the levels are {listed(str(v) for v in dimension.scale)}",
            )
        return None if level is None or isinstance(level, str) else float(level)
