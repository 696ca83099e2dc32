"""What `sheetsync.agreement` returns: figures for people, for programs, as a table and as a picture."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from sheetsync.domain.agreement.assessment import Options
from sheetsync.domain.agreement.coefficients import Coefficient
from sheetsync.domain.agreement.report import AgreementReport, DimensionAgreement, PairAgreement
from sheetsync.domain.agreement.verdicts import REASON_WORDS, describe_band, interval_reason_words
from sheetsync.domain.number_words import shown_alpha, shown_limits, shown_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COUNTS = ("n_units", "n_pairable", "n_raters", "n_ratings", "n_missing", "n_not_applicable", "n_invalid")
_OF_PAIRS = ("kappa", "kappa_linear", "kappa_quadratic", "spearman", "exact", "mean_difference")
_HEADS = ("Dimension", "n", "Alpha", "Interval", "Band", "Exact")


@dataclass(frozen=True)
class AgreementResult:
    """Agreement per dimension, slice and pair of raters.

    Attributes:
        report: every figure, as records.
        options: how it was computed.
        notes: ratings that were left out, and what looks odd about the data.
    """

    report: AgreementReport = field(repr=False)
    options: Options
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return what `sheetsync agreement --json` prints."""
        return self.report.to_dict()

    def to_frame(self, rows: Literal["dimensions", "pairs"] = "dimensions") -> pd.DataFrame:
        """Return a tidy table: one row per dimension and, where there are any, per slice of it.

        Every coefficient has a column of its name, `<name>_low`, `<name>_high` for its interval and
        `<name>_reason` for why there is no value; what is undefined is NA.

        Args:
            rows: "pairs" for one row per pair of raters instead, within dimension and slice.
        """
        parts = list(self._parts())
        if rows == "dimensions":
            return _frame([_keys(*part) | _of_dimension(part[2]) for part in parts])
        if rows != "pairs":
            raise ValueError(f'rows is "dimensions" or "pairs", not {rows!r}')
        return _frame([_keys(*part) | _of_pair(pair) for part in parts for pair in part[2].pairs])

    def to_html(self, title: str = "Ratings") -> str:
        """Return everything, with what it means, as one HTML page that needs no network."""
        from sheetsync.report_ratings import render_agreement_page  # noqa: PLC0415 - jinja2 is slow to load

        return render_agreement_page(self.report, self.options, title=title, notes=self.notes)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw alpha with its interval, one line per dimension; needs matplotlib, the extra `plot`.

        Args:
            ax: where to draw; None makes a figure.
        """
        from sheetsync.api_plot import plot_alphas  # noqa: PLC0415 - matplotlib is optional and slow to load

        return plot_alphas(self.report, self.options.bands, ax)

    def explain(self) -> str:
        """Return in words, per dimension, what makes alpha what it is and what it answers."""
        return "\n\n".join("\n".join([each.dimension, *each.sentences]) for each in self.report.explanations)

    def __repr__(self) -> str:
        rows = [_HEADS, *self._rows()]
        widths = [max(len(row[at]) for row in rows) for at in range(len(_HEADS))]
        lines = ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
                 for row in rows]  # fmt: skip
        return "\n".join([*lines, self._method(), *self._few_notes()])

    def _repr_html_(self) -> str:
        """Return a small table, for notebooks."""
        head = "".join(f"<th>{each}</th>" for each in _HEADS)
        rows = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in self._rows()]
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        below = "".join(f"<p>{html.escape(line)}</p>" for line in (self._method(), *self._few_notes()))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"

    def _parts(self) -> Iterator[tuple[str | None, str | None, DimensionAgreement]]:
        for dimension in self.report.dimensions:
            yield None, None, dimension
            for part in dimension.slices:
                yield part.by, part.value, part.agreement

    def _rows(self) -> list[tuple[str, ...]]:
        return [self._row(by, value, agreement) for by, value, agreement in self._parts()]

    def _row(self, by: str | None, value: str | None, agreement: DimensionAgreement) -> tuple[str, ...]:
        alpha, exact = agreement.coefficients["alpha"], agreement.coefficients["exact"]
        return (
            agreement.dimension if by is None else f"{agreement.dimension} · {by} {value}",
            str(agreement.n_pairable),
            "-" if alpha.value is None else shown_alpha(alpha.value, self.options.bands, least=3),
            _interval(alpha),
            describe_band(agreement.band) if agreement.band else REASON_WORDS[alpha.reason or "no_variation"],
            "-" if exact.value is None else shown_number(exact.value, "percent"),
        )

    def _method(self) -> str:
        levels = ", ".join(dict.fromkeys(each.level for each in self.report.dimensions)) or "no"
        return f"Krippendorff's alpha, {levels} level; n: units with two or more ratings"

    def _few_notes(self) -> Sequence[str]:
        more = len(self.notes) - 3
        return [*self.notes[:3], *([f"... and {more} more in `notes`"] if more > 0 else [])]


def _interval(found: Coefficient) -> str:
    if found.low is None or found.high is None:
        return "" if found.value is None else interval_reason_words(found.interval_reason)
    return shown_limits(found.low, found.high, digits=3)


def _keys(by: str | None, value: str | None, agreement: DimensionAgreement) -> dict[str, object]:
    return {"dimension": agreement.dimension, "by": by, "slice": value}


def _of_dimension(agreement: DimensionAgreement) -> dict[str, object]:
    record: dict[str, object] = {"level": agreement.level, "band": agreement.band}
    record |= {name: getattr(agreement, name) for name in _COUNTS}
    for name, found in agreement.coefficients.items():
        record |= _of_coefficient(name, found)
    return record


def _of_pair(pair: PairAgreement) -> dict[str, object]:
    record: dict[str, object] = {"first": pair.raters[0], "second": pair.raters[1], "n": pair.n}
    for name in _OF_PAIRS:
        record |= _of_coefficient(name, getattr(pair, name))
    return record


def _of_coefficient(name: str, found: Coefficient) -> dict[str, object]:
    return {
        name: found.value,
        f"{name}_low": found.low,
        f"{name}_high": found.high,
        f"{name}_reason": found.reason,
    }


def _frame(records: Sequence[dict[str, object]]) -> pd.DataFrame:
    """Return a frame in which what is undefined is NA, never NaN."""
    names = dict.fromkeys(name for record in records for name in record)
    return pd.DataFrame({name: _series(name, [record.get(name) for record in records]) for name in names})


def _series(name: str, values: list[object]) -> pd.Series[Any]:
    is_text = name.endswith("_reason") or name in _TEXTS
    kind = "string" if is_text else "Int64" if name.startswith("n_") or name == "n" else "Float64"
    return pd.Series(values, dtype=kind)


_TEXTS = frozenset({"dimension", "by", "slice", "level", "band", "first", "second"})
