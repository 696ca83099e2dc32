"""What one cell that a person filled in says: spellings, and reading a raw cell.

The spellings are the single source for parsing here and for the word lists that the live `Check`
formula looks things up in (`rules`), so that a sheet and `pull` understand a cell alike.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from sheetsync.domain.ratings import Severity
from sheetsync.domain.study import CONFIDENCE_LEVELS, NOT_APPLICABLE, Dimension, LevelValue
from sheetsync.domain.workbook import DateCell, ErrorCell, FormulaCell, RawCell

NOT_APPLICABLE_SPELLINGS = ("n/a", "na", "n.a.", "not applicable")
TICKED_SPELLINGS = ("x", "✓", "✔", "true", "1", "yes", "y")
UNTICKED_SPELLINGS = ("false", "0", "no", "n", "-")

CellStatus = Literal["blank", "value", "not_applicable", "invalid", "error"]


@dataclass(frozen=True, slots=True)
class CellFault:
    """Something wrong in one cell; `detail` completes the sentence that starts with the place."""

    kind: str
    detail: str
    severity: Severity = "error"


@dataclass(frozen=True, slots=True)
class CellState:
    """What an input cell says.

    `value` is a declared level, a confidence word, True (ticked), a quoted claim or a remark;
    None for every status but "value". `found` is what stood in the cell, as text.
    """

    status: CellStatus
    value: LevelValue | bool | None = None
    found: str = ""
    faults: tuple[CellFault, ...] = ()

    @property
    def is_filled(self) -> bool:
        """Whether somebody put anything in."""
        return self.status != "blank"


BLANK = CellState("blank")


def normalise(text: str) -> str:
    r"""Return the text as it is compared: NFKC, single blanks, no outer blanks, case folded.

    >>> normalise("  Historical\u00a0 Accuracy ")
    'historical accuracy'
    """
    return " ".join(unicodedata.normalize("NFKC", text).split()).casefold()


def is_not_applicable(text: str) -> bool:
    """Return whether the text is one of the spellings of "not applicable".

    >>> is_not_applicable(" N/a "), is_not_applicable("none")
    (True, False)
    """
    return normalise(text) in NOT_APPLICABLE_SPELLINGS


_ERROR_VALUE = re.compile(r"#(N/A|NAME\?|NULL!|NUM!|REF!|VALUE!|DIV/0!|SPILL!|CALC!|ERROR!)|Err:\d+")
"""How the result of a formula that fails is read."""

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


def read_number(text: str) -> Decimal | None:
    r"""Return the plain decimal number a text holds, in any script's digits, or None.

    Decimal commas, exponents, lists and ranges are no numbers here: `3,5` might be meant as 3.5 or
    as two picks, so it is refused and never read as 35.

    >>> read_number(" 3.0 "), read_number("\u0663"), read_number("3,5"), read_number("4?")
    (Decimal('3.0'), Decimal('3'), None, None)
    """
    cleaned = unicodedata.normalize("NFKC", text).strip()
    return Decimal(cleaned) if _NUMBER.fullmatch(cleaned) else None


def match_level(value: str | int | float, scale: Sequence[LevelValue]) -> LevelValue | None:
    """Return the declared level a cell's value stands for, or None when it is off the scale.

    >>> match_level("3.0", (1, 2, 3)), match_level(4.0, (2, 4)), match_level("HIGH", ("low", "high"))
    (3, 4, 'high')
    >>> match_level("4?", (4, 5)) is None
    True
    """
    if isinstance(value, str):
        wanted = normalise(value)
        for level in scale:
            if isinstance(level, str) and normalise(level) == wanted:
                return level
        number: Decimal | float | None = read_number(value)
    else:
        number = value
    if number is None:
        return None
    return next(
        (lv for lv in scale if not isinstance(lv, str) and _same_number(lv, number)),
        None,
    )


def _same_number(level: int | float, number: Decimal | float) -> bool:
    """Compare as spreadsheets do: the result of a formula counts to 15 digits."""
    if isinstance(number, Decimal):
        return Decimal(str(level)) == number
    return level == number or f"{level:.15g}" == f"{number:.15g}"


_OTHER_DIGITS = tuple(
    str.maketrans("0123456789", "".join(chr(zero + digit) for digit in range(10)))
    for zero in (0xFF10, 0x0660, 0x06F0, 0x0966)  # full-width, Arabic-Indic, Persian, Devanagari
)


def level_spellings(levels: Iterable[LevelValue]) -> tuple[str | float, ...]:
    """Return what a cell may hold for these levels, for the word lists of formulas.

    A number with a fraction also stands there as a number: where its text shows a decimal comma, a
    formula cannot tell it from the text `2,5`, which is no level. Texts that pull also takes and a list
    cannot hold in full (`+3`, `03`, `3.00`, further scripts, full-width letters, tabs around a value) the
    sheet asks to retype; they count all the same.

    >>> level_spellings((2.5, "low"))[:3], level_spellings((1, "low"))[-1]
    ((2.5, '2.5', '２.５'), 'low')
    >>> level_spellings((1,))
    ('1', '1.0', '１', '١', '۱', '१')
    """
    spellings: list[str | float] = []
    for level in levels:
        if isinstance(level, str):
            spellings.append(level)
        else:
            whole = float(level).is_integer()
            text = str(int(level)) if whole else str(level)
            spellings += [text, f"{text}.0"] if whole else [float(level), text]
            spellings += [text.translate(digits) for digits in _OTHER_DIGITS]
    return tuple(spellings)


def show(raw: RawCell) -> str:
    """Return a raw cell as text for a message or a table.

    >>> show(4.0), show(True), show(FormulaCell("A1+1", 3)), show(None)
    ('4', 'TRUE', '=A1+1', '')
    """
    if raw is None:
        return ""
    if isinstance(raw, bool):
        return "TRUE" if raw else "FALSE"
    if isinstance(raw, float) and raw.is_integer():
        return str(int(raw))
    if isinstance(raw, FormulaCell):
        return f"={raw.text}" if raw.text else show(raw.cached)
    if isinstance(raw, DateCell | ErrorCell):
        return raw.text
    return str(raw)


def allowed_levels(dimension: Dimension) -> str:
    """Return the allowed answers in words.

    >>> from sheetsync.domain.study import Level
    >>> two = (Level(value=1), Level(value=2))
    >>> allowed_levels(Dimension(id="d", name="D", levels=two, not_applicable=True))
    '1, 2 or N/A'
    """
    shown = [show(value) for value in dimension.scale] + [NOT_APPLICABLE] * dimension.not_applicable
    return f"{', '.join(shown[:-1])} or {shown[-1]}"


def _reader_of_plain(
    raw: RawCell,
) -> tuple[str | int | float | bool | None, tuple[CellFault, ...], CellState | None]:
    """Unwrap formula and date cells: the plain value, faults to carry along, or the final state."""
    if isinstance(raw, ErrorCell):
        fault = CellFault("formula", f"shows the spreadsheet error {raw.text}; type the value itself")
        return None, (), CellState("error", found=raw.text, faults=(fault,))
    if isinstance(raw, FormulaCell):
        found = show(raw)
        if isinstance(raw.cached, str) and _ERROR_VALUE.fullmatch(raw.cached):
            fault = CellFault("formula", f"holds a formula that fails ({raw.cached}); type the value itself")
            return None, (), CellState("error", found=found, faults=(fault,))
        if raw.cached is None or raw.cached == "":
            # An empty text is what the sheet sees as blank too; without any result nobody can know.
            status: CellStatus = "invalid" if raw.cached is None else "blank"
            fault = CellFault("formula", "holds a formula without a result; type the value itself")
            return None, (), CellState(status, found=found, faults=(fault,))
        fault = CellFault(
            "formula", "holds a formula; its result was taken, type the value itself", "warning"
        )
        return raw.cached, (fault,), None
    if isinstance(raw, DateCell):
        return raw.serial, (CellFault("date_format", "is formatted as a date", "warning"),), None
    return raw, (), None


def read_score(raw: RawCell, dimension: Dimension) -> CellState:
    """Read a score cell: a declared level, N/A where the dimension has it, blank, or a fault."""
    plain, carried, state = _reader_of_plain(raw)
    if state:
        return state
    found = show(raw)
    if plain is None or (isinstance(plain, str) and not plain.strip()):
        return BLANK
    if not isinstance(plain, bool):
        level = match_level(plain, dimension.scale)
        if level is not None:
            return CellState("value", level, found, carried)
        if isinstance(plain, str) and is_not_applicable(plain):
            return _read_not_applicable(dimension, found, carried)
    fault = CellFault("not_a_level", _off_scale(raw, dimension))
    return CellState("invalid", found=found, faults=(fault,))


def _read_not_applicable(dimension: Dimension, found: str, carried: tuple[CellFault, ...]) -> CellState:
    if dimension.not_applicable:
        return CellState("not_applicable", NOT_APPLICABLE, found, carried)
    fault = CellFault(
        "not_applicable_here",
        f"says {found}, which {dimension.name} does not have; allowed: {allowed_levels(dimension)}",
    )
    return CellState("invalid", found=found, faults=(fault,))


def _off_scale(raw: RawCell, dimension: Dimension) -> str:
    allowed = f"allowed: {allowed_levels(dimension)}"
    if isinstance(raw, DateCell):
        return f"holds the date {raw.text}, which the spreadsheet made out of what was typed; {allowed}"
    return f"holds {show(raw)!r}; {allowed}"


def read_confidence(raw: RawCell) -> CellState:
    """Read a Low/Medium/High cell."""
    plain, carried, state = _reader_of_plain(raw)
    if state:
        return state
    if plain is None or (isinstance(plain, str) and not plain.strip()):
        return BLANK
    if isinstance(plain, str):
        level = match_level(plain, CONFIDENCE_LEVELS)
        if level is not None:
            return CellState("value", level, show(raw), carried)
    fault = CellFault("not_a_level", f"holds {show(raw)!r}; allowed: Low, Medium or High")
    return CellState("invalid", found=show(raw), faults=(fault,))


def _tick_of(plain: str | int | float | bool | None) -> bool | None:
    """Return True for ticked, False for not ticked, None for anything else."""
    word = normalise(show(plain))
    if word in TICKED_SPELLINGS:
        return True
    return False if word in UNTICKED_SPELLINGS or not word else None


def read_tick(raw: RawCell) -> CellState:
    """Read a yes/no cell: ticked is True; every spelling of "no" is blank."""
    plain, carried, state = _reader_of_plain(raw)
    if state:
        return state
    ticked = _tick_of(plain)
    if ticked is None:
        fault = CellFault("not_a_tick", f"holds {show(raw)!r}; put x to tick it, or leave it empty")
        return CellState("invalid", found=show(raw), faults=(fault,))
    return CellState("value", True, show(raw), carried) if ticked else BLANK


def read_claim(raw: RawCell) -> CellState:
    """Read a claim cell: the quote itself ticks the tag; a bare tick is True."""
    plain, carried, state = _reader_of_plain(raw)
    if state:
        return state
    ticked = _tick_of(plain)
    if ticked is None:
        quote = plain if isinstance(plain, str) else show(raw)
        return CellState("value", quote.strip(), show(raw), carried)
    return CellState("value", True, show(raw), carried) if ticked else BLANK


def read_remark(raw: RawCell) -> CellState:
    """Read free text; numbers and dates are taken as they look, and nothing is a fault."""
    if isinstance(raw, FormulaCell):
        raw = raw.cached if raw.cached is not None else show(raw)
    text = show(raw).strip()
    return CellState("value", text, text) if text else BLANK


def read_sum(raw: RawCell) -> CellState:
    """Read a computed column: its number, whatever else stands there as text."""
    plain, _, state = _reader_of_plain(raw)
    if state:
        return state
    if isinstance(plain, int | float) and not isinstance(plain, bool):
        return CellState("value", plain, show(raw))
    return read_remark(show(plain))


def merge_states(states: Sequence[CellState]) -> CellState | None:
    """Return what several cells for the same thing say together; None when they differ.

    Equal values count once and a blank yields to a value.

    >>> merge_states([BLANK, CellState("value", 4, "4"), CellState("value", 4, "4.0")]).value
    4
    >>> merge_states([CellState("value", 4), CellState("value", 5)]) is None
    True
    """
    filled = [state for state in states if state.is_filled] or [*states, BLANK]
    first = filled[0]
    if any((state.status, state.value) != (first.status, first.value) for state in filled[1:]):
        return None
    return replace(first, faults=tuple({fault: None for state in filled for fault in state.faults}))
