"""An error that says where and what to do, after which a model is as it was.

It is as it was to the last byte of its file, and a fresh one has learned nothing.
"""

from __future__ import annotations

import numpy as np
import pytest

from lopsided import progressive as run_progressive
from lopsided.persist import to_bytes

X = np.array([[1.0, 2, 3], [0, 1, 0], [2, 0, 1], [1, 1, 1]])
Y = np.array([0, 1, 0, 1])
NAN, INF = float("nan"), float("inf")
EVENT = {"a": 1.0, "b": 2.0}
LEARN = {
    "fit": lambda m, x, y, w=None: m.fit(x, y, sample_weight=w),
    "partial_fit": lambda m, x, y, w=None: m.partial_fit(x, y, sample_weight=w),
    "progressive": lambda m, x, y, w=None: run_progressive(m, x, y, sample_weight=w),
    "resumed": lambda m, x, y, w=None: run_progressive(m, x, y, sample_weight=w, resume=True),
}


def refuses(call, model, error, words):
    """Check that a call raises the error with the words and leaves the model as it was."""
    fitted = hasattr(model, "coef_")
    before = to_bytes(model) if fitted else None
    with pytest.raises(error) as caught:
        call(model)
    message = str(caught.value)
    for word in ", ".join(words).split(", "):
        assert word.lower() in message.lower(), message
    assert "incompatible function" not in message, message
    assert not message.startswith("("), message  # the core's raw tuple
    assert hasattr(model, "coef_") == fitted
    if fitted:
        assert to_bytes(model) == before


def frame(**columns):
    import pandas as pd  # most of the tests that import this module make no frame

    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], **columns})
