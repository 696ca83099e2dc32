"""Alpha with its interval as a picture. matplotlib comes with the extra `plot`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sheetsync.domain.agreement.report import AgreementReport
from sheetsync.domain.agreement.verdicts import REASON_WORDS, BandSet
from sheetsync.report_figures import band_borders

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_alphas(report: AgreementReport, bands: BandSet, ax: Axes | None = None) -> Axes:
    """Draw one line per dimension, the first on top: a point for alpha, a bar for its interval.

    Raises:
        ImportError: matplotlib is not installed.
    """
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise ImportError(
            "plot() needs matplotlib: install the extra, pip install 'sheetsync-study[plot]'."
        ) from error
    dimensions = report.dimensions
    if ax is None:
        _, ax = plt.subplots(figsize=(7, 1.2 + 0.4 * max(len(dimensions), 1)), layout="constrained")
    for border in (0.0, *band_borders(bands)):
        ax.axvline(border, color="0.85", linewidth=1, zorder=0)
    for row, dimension in enumerate(dimensions):
        alpha = dimension.coefficients["alpha"]
        if alpha.value is None:
            ax.text(0, row, REASON_WORDS[alpha.reason or "no_variation"], va="center", color="0.4")
            continue
        if alpha.low is not None and alpha.high is not None:
            ax.plot([alpha.low, alpha.high], [row, row], color="C0", linewidth=2, solid_capstyle="round")
        ax.plot(alpha.value, row, "o", color="C0")
    # Names are hostile text: a dollar sign would make them mathematics.
    ax.set_yticks(range(len(dimensions)), [d.dimension.replace("$", r"\$") for d in dimensions])
    ax.set_ylim(len(dimensions) - 0.5, -0.5)
    ax.set_xlabel("Krippendorff's alpha")
    return ax
