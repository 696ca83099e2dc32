"""The rows of simulated raters: from scores to the cells a person types, and what people get wrong.

Tags, quotes, confidence and remarks follow from the scores and the rubric's own rules are kept, except
in the few rows where somebody slips.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sheetsync.domain.cells import normalise, read_claim, read_tick, show
from sheetsync.domain.scoring.columns import scoring_columns
from sheetsync.domain.scoring.conditions import CellKey
from sheetsync.domain.scoring.rules import RowCheck, row_checks
from sheetsync.domain.scoring.tab import read_state
from sheetsync.domain.study import CONFIDENCE_LEVELS, NOT_APPLICABLE, Dimension, LevelValue, Rubric, Rule, Tag

CellValue = str | int | float | bool
"""What is typed into a cell."""

Row = dict[CellKey, CellValue]
RowKey = tuple[str, str]
"""Rater, code."""

_MAX_QUOTE = 160


@dataclass(frozen=True)
class SimulatedUnit:
    """A unit as the simulated raters meet it.

    `response` is where quotes are taken from; units of the same `source` resemble each other. `counts` holds
    by dimension id the level that a careful rater comes to, where that is known.
    """

    code: str
    response: str = ""
    has_false_premise: bool = False
    source: str = ""
    counts: Mapping[str, LevelValue] = field(default_factory=dict)


def stream(seed: int, *parts: str) -> random.Random:
    """Return random numbers for one part of a simulation, so that parts do not disturb each other."""
    return random.Random("|".join([str(seed), "simulation", *parts]))  # noqa: S311 - repeatable, not secret


_NOTES = (
    "Checked against the reference sheet.",
    "Hesitated here between two levels.",
    "Read it twice; the second half decided it.",
    "Better than it looks at first.",
    "Short, but nothing that matters is missing.",
    "The wording is vague in one place.",
    "Reference sheet was not explicit on this.",
    "Would like to talk about this one.",
    "Good ending, weak opening.",
    "Compared with my earlier rows to stay consistent.",
    "Clear case.",
    "Scored before the break, looked at again after it.",
)
_COUNTING_NOTES = (
    "Counted again; two of the points are really one.",
    "Strong alternatives, but the sources are not assessed.",
    "The conclusion leans on a premise that is never stated.",
    "Hard call between two bands.",
    "Took notes while reading, that settled it.",
    "Long opening without anything to count.",
    "The recommendations are concrete, with dates.",
    "This one and its neighbour differ mostly in evidence.",
    "One alternative is only named and not examined.",
    "Clear case.",
)
_GENERIC_QUOTES = (
    "the claim in the second sentence",
    "the statement at the very end",
    "what is said about the dates",
    "the first claim in the middle part",
)


class RowWriter:
    """Turns the scores of a row into cells; `notes` is how often a remark is written."""

    def __init__(self, rubric: Rubric, seed: int, notes: float) -> None:
        self.rubric, self.seed, self.notes = rubric, seed, notes
        counts = any(dimension.is_counted for dimension in rubric.dimensions)
        self.remarks = _COUNTING_NOTES if counts else _NOTES
        self.columns = {column.key: column for column in scoring_columns(rubric) if column.is_input}
        self.rules = {f"rule:{rule.id}": rule for rule in rubric.rules}
        self.checks = {premise: self._errors(premise) for premise in (True, False)}
        self._tags = {tag.id: tag for d in rubric.dimensions for tag in d.tags}
        self._tags |= {tag.id: tag for tag in rubric.tags}

    def _errors(self, has_false_premise: bool) -> list[RowCheck]:
        """Return the rules that a person's typing can break; sums are the sheet's own affair."""
        checks = row_checks(self.rubric, has_false_premise=has_false_premise)
        return [c for c in checks if c.severity == "error" and c.kind and c.at[0] != "sum"]

    def write(
        self, unit: SimulatedUnit, rater: str, tags: Sequence[Tag], values: Mapping[str, LevelValue]
    ) -> Row:
        """Return the whole row of one rater."""
        rng = stream(self.seed, "row", rater, unit.code)
        row: Row = {("tag", tag.id): self._mark(tag, unit) for tag in tags}
        row |= {("score", name): value for name, value in values.items()}
        for dimension in self.rubric.dimensions:
            for tag in self._faults(dimension, values[dimension.id], unit, rng):
                row["tag", tag.id] = self._mark(tag, unit)
        self._keep_rules(row, unit, rng)
        for dimension in self.rubric.dimensions:
            if dimension.confidence and row["score", dimension.id] != NOT_APPLICABLE:
                row["confidence", dimension.id] = rng.choices(CONFIDENCE_LEVELS, (1, 3, 6))[0]
        for remark in self.rubric.remarks:
            if rng.random() < self.notes:
                row["remark", remark.id] = rng.choice(self.remarks)
        return row

    def broken(self, row: Row, unit: SimulatedUnit) -> list[RowCheck]:
        """Return the rules that the row breaks."""
        states = {key: read_state(raw, self.columns[key]) for key, raw in row.items()}
        return [check for check in self.checks[unit.has_false_premise] if check.fires.holds(states)]

    def _faults(
        self, dimension: Dimension, value: LevelValue, unit: SimulatedUnit, rng: random.Random
    ) -> list[Tag]:
        """Return the tags that explain a low score; raters mostly see the same fault."""
        if not dimension.tags or value not in dimension.scale:
            return []
        below = len(dimension.scale) - 1 - dimension.scale.index(value)
        is_low = below > 0 and below * 2 >= len(dimension.scale) - 1
        if rng.random() >= (0.95 if is_low else 0.03 if below else 0.0):
            return []
        own = rng.choice(dimension.tags)
        obvious = stream(self.seed, "fault", unit.code, dimension.id).choice(dimension.tags)
        tags = [obvious if rng.random() < 0.7 else own]
        return tags if own in tags or rng.random() >= 0.15 else [*tags, own]

    def _mark(self, tag: Tag, unit: SimulatedUnit) -> str:
        if not tag.claim:
            return "x"
        rng = stream(self.seed, "quote", unit.code, tag.id)
        return rng.choice(quotable(unit.response) or _GENERIC_QUOTES)

    # --- keeping the rules ---

    def _keep_rules(self, row: Row, unit: SimulatedUnit, rng: random.Random) -> None:
        """Change the row until it breaks no rule; rules that contradict each other stay broken."""
        for _ in range(2 * len(self.rules)):
            broken = self.broken(row, unit)
            if not broken:
                return
            self._remedy(row, self.rules[broken[0].kind], unit, rng)

    def _remedy(self, row: Row, rule: Rule, unit: SimulatedUnit, rng: random.Random) -> None:
        then = rule.then
        if then is None:
            self._undo(row, rule)
        elif then.dimension is not None and then.equals is not None:
            row["score", then.dimension] = then.equals
        elif then.tag is not None:
            row["tag", then.tag] = self._mark(self._tags[then.tag], unit)
        elif then.no_tag_of is not None:
            for tag in self.rubric.by_id[then.no_tag_of].tags:
                row.pop(("tag", tag.id), None)
        elif then.any_tag_of is not None:
            tag = rng.choice(self.rubric.by_id[then.any_tag_of].tags)
            row["tag", tag.id] = self._mark(tag, unit)

    def _undo(self, row: Row, rule: Rule) -> None:
        """Take away what a rule without consequence forbids."""
        when = rule.when
        if when is None:
            return
        if when.tag is not None:
            row.pop(("tag", when.tag), None)
        elif when.dimension is not None:
            scale = self.rubric.by_id[when.dimension].scale
            limit = when.at_most if when.at_most is not None else when.equals
            at = len(scale) - 1 if limit is None else (scale.index(limit) + 1) % len(scale)
            row["score", when.dimension] = scale[at]


def quotable(response: str) -> list[str]:
    """Return the pieces of a response that somebody might paste as the claim that is wrong.

    >>> quotable("She was born in 331. Yes. - She ruled a convent of 40 nuns!")
    ['She was born in 331.', 'She ruled a convent of 40 nuns!']
    """
    pieces = re.split(r"(?<=[.!?])\s+|\n+", response)
    cleaned = (" ".join(piece.split()).lstrip("-*•=+@#> ").strip() for piece in pieces)
    return [_shortened(piece) for piece in cleaned if len(piece) >= 12 and _is_quote(piece)]


def _is_quote(text: str) -> bool:
    """Whether a claim cell takes the text for a quote, and a spreadsheet takes it for text."""
    return read_claim(text).value == text and read_tick(text).status == "invalid" and normalise(text) != ""


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_QUOTE else text[:_MAX_QUOTE].rsplit(" ", 1)[0] + " ..."


# --- what people get wrong ---


@dataclass(frozen=True)
class Slips:
    """The few human traces: a doubtful `4?`, a row left half-finished, a missing quote, a broken rule."""

    writer: RowWriter
    units: tuple[SimulatedUnit, ...]
    raters: tuple[str, ...]
    rng: random.Random

    def make(self, rows: dict[RowKey, Row], times: int) -> None:
        """Put each slip into as many rows as asked for; never two into rows of the same unit."""
        kinds = (self._doubt, self._leave_half, self._forget_quote, self._break_rule) * times
        places = [(unit, rater) for unit in self.units for rater in self.raters]
        self.rng.shuffle(places)
        used: set[str] = set()
        for number, slip in enumerate(kinds):
            turn = self.raters[number % len(self.raters)] if self.raters else ""
            places.sort(key=lambda place: place[1] != turn)
            code = self._first(slip, rows, [place for place in places if place[0].code not in used])
            if code is not None:
                used.add(code)

    def _first(
        self,
        slip: Callable[[Row, SimulatedUnit], Row | None],
        rows: dict[RowKey, Row],
        places: Sequence[tuple[SimulatedUnit, str]],
    ) -> str | None:
        for unit, rater in places:
            row = rows[rater, unit.code]
            changed = None if self.writer.broken(row, unit) else slip(row, unit)
            if changed is not None:
                rows[rater, unit.code] = changed
                return unit.code
        return None

    def _doubt(self, row: Row, _unit: SimulatedUnit) -> Row | None:
        """A question mark behind the level next to the highest."""
        for dimension in self.writer.rubric.dimensions:
            value = row.get(("score", dimension.id))
            if len(dimension.scale) > 1 and value == dimension.scale[-2] and not isinstance(value, bool):
                return row | {("score", dimension.id): f"{show(value)}?"}
        return None

    def _leave_half(self, row: Row, _unit: SimulatedUnit) -> Row | None:
        """Nothing behind the first half of the scores."""
        scores = [key for key in self.writer.columns if key[0] == "score"]
        first_left = scores[len(scores) // 2]
        columns = list(self.writer.columns)
        return {key: value for key, value in row.items() if columns.index(key) < columns.index(first_left)}

    def _forget_quote(self, row: Row, _unit: SimulatedUnit) -> Row | None:
        """A bare tick where the claim belongs."""
        for dimension in self.writer.rubric.dimensions:
            for tag in dimension.tags:
                if tag.claim and ("tag", tag.id) in row:
                    return row | {("tag", tag.id): "x"}
        return None

    def _break_rule(self, row: Row, unit: SimulatedUnit) -> Row | None:
        """A tag that was forgotten, or a score that was not thought through."""
        changes: list[Row] = [
            {other: value for other, value in row.items() if other != key} for key in row if key[0] == "tag"
        ]
        for dimension in self.writer.rubric.dimensions:
            changes += [row | {("score", dimension.id): level} for level in dimension.scale[-2:]]
        return next((changed for changed in changes if self.writer.broken(changed, unit)), None)
