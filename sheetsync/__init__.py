"""sheetsync runs human scoring studies in spreadsheets, and computes agreement of any ratings.

>>> import pandas as pd, sheetsync
>>> frame = pd.DataFrame({"unit": ["a", "b"], "Ann": [1, 3], "Ben": [2, 3]})
>>> sheetsync.agreement(frame, wide=True, scale=[1, 2, 3], resamples=0).to_frame()["exact"].tolist()
[0.5]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sheetsync.api import AgreementResult, RatingsError, agreement

__all__ = ["AgreementResult", "RatingsError", "agreement"]


def __getattr__(name: str) -> object:
    """Load the Python interface, and pandas with it, when somebody asks for it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sheetsync import api  # noqa: PLC0415 - the command line starts without pandas

    return getattr(api, name)


def __dir__() -> list[str]:
    """Return what there is, loaded or not."""
    return sorted({*globals(), *__all__})
