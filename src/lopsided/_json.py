"""JSON values and text."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def plain(value: Any) -> Any:
    """Convert a value to lists, dicts, numbers and strings; NaN and infinity become None."""
    if hasattr(value, "tolist"):  # NumPy
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def as_json(value: Any) -> str:
    """Return a value as JSON text."""
    return json.dumps(plain(value), ensure_ascii=False, indent=2)
