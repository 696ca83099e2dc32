"""`weights.csv`: how much each metric counts under each authority, and the disclosures that lean on it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sheetsync.config_faults import Faults, listed, quoted, suggestion
from sheetsync.config_files import Row, Table, read_table
from sheetsync.config_records import Document
from sheetsync.domain.protocols import Certification
from sheetsync.domain.study import Rubric

_ROUNDING = 1e-6
"""How far the sum of a column may be from 1: what adding decimal fractions loses."""


@dataclass(frozen=True)
class Weights:
    """The weights of each metric, in the order of the authorities; `name` is the file's."""

    name: str
    authorities: tuple[str, ...]
    by_metric: Mapping[str, tuple[float, ...]]


def read_weights(path: Path, name: str, rubric: Rubric, faults: Faults) -> Weights | None:
    """Return the weights; None after errors."""
    table = read_table(path, name, ("metric",), (), faults)
    if table is None:
        return None
    before = len(faults)
    columns = {folded: written for folded, written in table.columns.items() if folded != "metric"}
    if not columns:
        faults.error(f"{name} line 1", "names no authority; write a column of weights for each beside metric")
    found: dict[str, tuple[float, ...]] = {}
    for row in table.rows:
        metric = row.text("metric")
        if metric not in rubric.by_id:
            faults.error(
                row.at("metric"),
                f"{quoted(metric)} is no dimension of the rubric; {suggestion(metric, rubric.by_id)}",
            )
        elif metric in found:
            faults.error(row.at("metric"), f"{quoted(metric)} stands twice; delete one")
        else:
            found[metric] = tuple(_weight(row, column, faults) for column in columns)
    if missing := [metric for metric in rubric.by_id if metric not in found]:
        faults.error(name, f"has no weights of {listed(missing, 'and')}; add a row for each")
    if len(faults) == before:
        _check_sums(table, columns, found, faults)
    return Weights(name, tuple(columns.values()), found) if len(faults) == before else None


def _weight(row: Row, column: str, faults: Faults) -> float:
    text = row.text(column)
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not 0 <= weight <= 1:
        faults.error(row.at(column), f"found {quoted(text)}; a weight is a number from 0 to 1, such as 0.05")
        return 0.0
    return weight


def _check_sums(
    table: Table, columns: Mapping[str, str], found: Mapping[str, tuple[float, ...]], faults: Faults
) -> None:
    for index, written in enumerate(columns.values()):
        total = math.fsum(weights[index] for weights in found.values())
        if abs(total - 1) > _ROUNDING:
            faults.error(
                f"{table.name}, column {written}", f"sums to {total:.6g}; weights of one authority sum to 1"
            )


def check_disclosures(
    document: Document, settings: Certification, weights: Weights, rubric: Rubric, faults: Faults
) -> None:
    """Check that each disclosure names a metric, once, with its weights as they are in the file."""
    seen: set[str] = set()
    for index, disclosure in enumerate(settings.disclosures):
        where = document.place(("certification", "disclosure", index))
        metric = disclosure.metric
        if metric not in rubric.by_id:
            faults.error(
                f"{where} metric",
                f"{quoted(metric)} is no dimension of the rubric; {suggestion(metric, rubric.by_id)}",
            )
            continue
        if metric in seen:
            faults.error(f"{where} metric", f"{quoted(metric)} is disclosed twice; delete one")
        seen.add(metric)
        if not disclosure.sentence.strip():
            faults.error(f"{where} sentence", "is blank; write the sentence that the publication will hold")
        lowest, highest = min(weights.by_metric[metric]), max(weights.by_metric[metric])
        if any(abs(a - b) > _ROUNDING for a, b in zip(disclosure.weights, (lowest, highest), strict=True)):
            faults.error(
                f"{where} weights",
                f"found {list(disclosure.weights)} but in {weights.name} the weights of {metric} go from {lowest:g} "
                f"to {highest:g}: write [{lowest:g}, {highest:g}], or correct the file",
            )
