"""What each answer costs: for all events, or for each its own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadRowError, InputError, ParameterError
from .batch import is_events
from .parameters import is_number, nearest

KINDS = ("miss", "alarm", "hit", "pass")  # in the order of the core
_KNOWN = frozenset(KINDS)
_NUMBERS = frozenset((int, float))
Table = NDArray[np.float64]
Prices = tuple[float, float, float, float]
_FREE = (None, None, 0.0, 0.0)  # what an answer costs if nothing is said


def check_costs(costs: Any) -> None:
    """Raise a ValueError unless these can be the costs of answers, for all events or for each."""
    if costs is None:
        return
    if not isinstance(costs, Mapping):
        raise ParameterError(
            "costs", "is invalid: it must be a dict such as {'miss': 60, 'alarm': 3}", value=costs
        )
    for name in costs:
        if name not in KINDS:
            raise ParameterError("costs", f"has no entry {name!r}: {nearest(str(name), KINDS)}")
    for name in ("miss", "alarm"):
        if name not in costs:
            raise ParameterError("costs", f"says nothing of {name!r}", value=dict(costs))
    for name, value in costs.items():
        array = isinstance(value, (np.ndarray, list, tuple)) or hasattr(value, "to_numpy")
        if not (is_number(value) or isinstance(value, str) or callable(value) or array):
            raise ParameterError(
                "costs",
                f"has the value {value!r} for {name!r}: it must be a number, the name of a "
                "feature, a function of the event or an array",
            )
    for wrong, right in (("miss", "hit"), ("alarm", "pass")):
        both = costs[wrong], costs.get(right, 0)
        if all(map(is_number, both)) and not both[0] > both[1]:
            raise ParameterError(
                "costs", f"must be higher for {wrong!r} than for {right!r}", value=dict(costs)
            )


def price_table(costs: Any, X: Any, rows: int) -> Table | None:
    """Return the prices of events, a row for each or one for all; None without costs.

    Parameters
    ----------
    costs : dict or None
        As the parameter of the estimators; values may also be arrays.
    X : rows as users give them
        Where the names of features and functions look.
    rows : int
        How many there are.
    """
    if costs is None:
        return None
    if (fixed := _fixed(costs)) is not None:
        return fixed
    check_costs(costs)
    found = [_prices(name, costs.get(name, 0.0), X, rows) for name in KINDS]
    size = max(len(each) for each in found)
    table = np.empty((size, len(KINDS)))
    for k, each in enumerate(found):
        table[:, k] = each
    if not np.isfinite(table).all():
        row, k = np.argwhere(~np.isfinite(table))[0].tolist()
        raise BadRowError(f"costs: {KINDS[k]!r} of row {row} is {table[row, k]}", row)
    return table


def _fixed(costs: Any) -> Table | None:
    """Return the prices of all events where they are plainly valid numbers; else None."""
    if type(costs) is not dict or not costs.keys() <= _KNOWN:
        return None
    found = miss, alarm, hit, passed = tuple(map(costs.get, KINDS, _FREE))
    if not (_NUMBERS.issuperset(map(type, found)) and all(map(math.isfinite, found))):
        return None
    return np.array([found], dtype=np.float64) if miss > hit and alarm > passed else None


def event_prices(costs: Any, x: Any) -> Prices | None:
    """Return the prices of one event, in the order of KINDS; None without costs."""
    if costs is None:
        return None
    found: Any = tuple(map(costs.get, KINDS, _FREE))
    if type(x) is dict and str in map(type, found):  # the common cases without NumPy
        found = tuple(x.get(price) if type(price) is str else price for price in found)
    if _NUMBERS.issuperset(map(type, found)) and all(map(math.isfinite, found)):
        return found  # type: ignore[no-any-return]
    table = price_table(costs, [x] if isinstance(x, dict) else np.asarray(x)[None], 1)
    assert table is not None
    return tuple(table[0].tolist())


def is_per_event(costs: Any) -> bool:
    """Say whether events have prices of their own."""
    return costs is not None and not all(map(is_number, costs.values()))


def _prices(name: str, value: Any, X: Any, rows: int) -> Table:
    if is_number(value):
        return np.array([float(value)])
    if isinstance(value, str):
        return _column(name, value, X, rows)
    if callable(value):
        return np.array([_number(name, value(x), row) for row, x in enumerate(_events(X))])
    array = np.asarray(value, dtype=np.float64)
    if array.shape != (rows,):
        raise InputError(f"costs: there must be one {name!r} for each of the {rows} rows")
    return array


def _number(name: str, value: Any, row: int) -> float:
    if not is_number(value):
        raise BadRowError(f"costs: {name!r} of row {row} is {value!r}, which is not a number", row)
    return float(value)


def _column(name: str, feature: str, X: Any, rows: int) -> Table:
    """Return the values of a feature; events and sparse rows that lack it have 0."""
    if is_events(X):
        return np.array([_number(name, x.get(feature, 0.0), row) for row, x in enumerate(X)])
    found = (getattr(X, name, None) for name in ("column_names", "columns", "names"))
    names = next((each for each in found if each is not None), None)
    if names is None:
        raise InputError(
            f"costs: the columns of X have no names, so there is no {feature!r}: "
            "give the prices as an array or a function"
        )
    names = [str(each) for each in names]
    if feature not in names:
        raise InputError(f"costs: there is no column {feature!r}: {nearest(feature, names)}")
    at = names.index(feature)
    if hasattr(X, "indptr"):
        column = np.zeros(rows)
        here = np.asarray(X.indices) == at
        row_of = np.repeat(np.arange(rows), np.diff(X.indptr))
        np.add.at(column, row_of[here], np.asarray(X.data)[here])
        return column
    values = X.array[:, at] if hasattr(X, "array") else X[feature]
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"costs: the column {feature!r} has values that are not numbers") from None


def _events(X: Any) -> Any:
    """Return the events of X one by one, for a function: dicts, or rows of numbers."""
    if hasattr(X, "to_dict") and hasattr(X, "columns"):
        return X.to_dict("records")
    if hasattr(X, "to_dicts"):
        return X.to_dicts()
    if hasattr(X, "to_pylist"):
        return X.to_pylist()
    return X.toarray() if hasattr(X, "toarray") else X
