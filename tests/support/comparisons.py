"""What the tests of comparisons share."""

from __future__ import annotations

from streams import stream

RATES = {"learning_rate": [0.01, 1.0, 100.0]}


def small(rows=120, seed=0):
    return stream(seed, rows)


def timeless(result):
    """A comparison as a dict, without what the clock says."""

    def without(value):
        if isinstance(value, dict):
            return {k: without(v) for k, v in value.items() if k != "seconds"}
        return [without(v) for v in value] if isinstance(value, list) else value

    return without(result.to_dict())
