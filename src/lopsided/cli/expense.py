"""What a run will cost in memory and time, where that is much."""

from __future__ import annotations

from typing import Any

from ..catalog import matrix_bytes
from ..estimator.base import OnlineClassifier
from ..estimator.batch import as_batch, is_events

_MANY_BYTES = 1 << 30
_SECONDS_PER_BYTE = 1e-10  # of the matrix, which every row goes through: about 10 GB/s
_SLOW_ROW = 2e-3  # seconds
_INSTEAD = {
    "opauc": "OPAUCr keeps covariances of low rank, in memory that grows with the features only",
    "arow-full": "AROW-diag, or SACOG-II with a sketch, has no such matrix",
    "acog-full": "ACOG-II-diag, or SACOG-II with a sketch, has no such matrix",
}
_OTHERWISE = "a learner with a diagonal or sketched covariance has no such matrix"


def expense_note(model: OnlineClassifier, X: Any) -> str | None:
    """Return what to say before a model learns from the first rows, None if it costs little."""
    if matrix_bytes(model, 1) == 0:
        return None
    width = len(set().union(*X)) if is_events(X) else as_batch(X).rows.columns
    size = matrix_bytes(model, width)
    seconds = size * _SECONDS_PER_BYTE
    if size < _MANY_BYTES and seconds < _SLOW_ROW:
        return None
    much = f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
    kind = model.core_kind().removesuffix("-float32")
    return (
        f"this learner keeps a matrix of {width:,} by {width:,} features or more: {much}, and each "
        f"row takes about {1000 * seconds:,.0f} ms; {_INSTEAD.get(kind, _OTHERWISE)}"
    )
