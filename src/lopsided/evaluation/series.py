"""Changes of means: of inputs and of probabilities, whatever cycles they have.

The stream is cut into blocks of 512 events. The mean of a series over a block is compared with the
blocks before it, in units of how much these differ among each other (at least as much as chance
within a block would make them), so that what comes and goes by the hour or day is no change. Large
differences add up (Page's CUSUM, both ways): a block adds its distance, at most 4, less 0.75; from
10 on the mean has changed. Nothing is said before 8 blocks are known, and what has jumped once
must stay as far away for longer to be told again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_BLOCK, _LEAST = 512, 8  # events of a block, blocks to compare with
_MOST, _SLACK, _LIMIT = 4.0, 0.75, 10.0
_SUMS = ("known", "mean", "spread", "floor", "up", "down")


class SeriesWatch:
    """Watches the means of several series; a new series was 0 before it appeared.

    An undefined value (NaN) leaves its block out.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> values = rng.normal(size=(20_000, 2))
    >>> values[10_000:, 1] += 0.5
    >>> [(at, name, round(before, 1), round(after, 1)) for at, name, before, after in
    ...  SeriesWatch().add(["a", "b"], values)]
    [(11263, 'b', 0.0, 0.5)]
    """

    def __init__(self) -> None:
        self._names: list[str] = []
        self._buffer = np.zeros((0, 0))
        self._events = 0  # before the buffer
        self._sums: dict[str, Floats] = {name: np.zeros(0) for name in _SUMS}

    def add(self, names: list[str], values: Floats) -> list[tuple[int, str, float, float]]:
        """Take in rows of values, a column for each name; names are never taken away.

        Returns
        -------
        list of tuple
            Of each change: the row after which it was found, the name of the series, its mean
            before and in the latest block.
        """
        before = len(self._buffer)
        self._grow(names)
        rows = np.concatenate([self._buffer, values])
        found: list[tuple[int, str, float, float]] = []
        whole = len(rows) - len(rows) % _BLOCK
        # A series after the other, so that a mean has the same bits however rows are cut.
        blocks = np.ascontiguousarray(rows[:whole].T).reshape(len(names), whole // _BLOCK, _BLOCK)
        with np.errstate(all="ignore"):
            means, chances = blocks.mean(axis=2).T, blocks.var(axis=2).T / _BLOCK
            use = np.isfinite(means) & np.isfinite(chances)
        for b in range(len(means)):
            for k, was, now in self._compare(means[b], chances[b], use[b]):
                found.append(((b + 1) * _BLOCK - 1 - before, names[k], was, now))
            self._events += _BLOCK
        self._buffer = rows[whole:].copy()
        return found

    def _grow(self, names: list[str]) -> None:
        new = len(names) - len(self._names)
        self._names = list(names)
        if not new:
            return
        self._buffer = np.pad(self._buffer, ((0, 0), (0, new)))
        for name, held in self._sums.items():
            self._sums[name] = np.pad(held, (0, new))
        if self._events:  # it was 0 all the time
            self._sums["known"][-new:] = self._events / _BLOCK

    def _compare(
        self, mean: Floats, chance: Floats, use: NDArray[np.bool_]
    ) -> list[tuple[int, float, float]]:
        s = self._sums
        with np.errstate(all="ignore"):
            between = s["spread"] / np.maximum(s["known"] - 1, 1)
            unit = np.maximum(np.maximum(between, chance), s["floor"]) * (1 + 1 / s["known"])
            away = np.where(mean == s["mean"], 0.0, (mean - s["mean"]) / np.sqrt(unit))
            away[np.isnan(away)] = _MOST
            away = np.minimum(np.maximum(away, -_MOST), _MOST)
        judged = use & (s["known"] >= _LEAST)
        found: list[tuple[int, float, float]] = []
        for way, sign in (("up", 1.0), ("down", -1.0)):
            total = np.maximum(0.0, s[way] + sign * away - _SLACK)
            s[way] = np.where(judged, total, s[way])
            over = np.flatnonzero(judged & (s[way] > _LIMIT)).tolist()
            found += [(k, float(s["mean"][k]), float(mean[k])) for k in over]
        changed = np.zeros(len(use), bool)
        for k, was, now in found:
            changed[k] = True
            # A mean that has changed is learned anew; its variance is kept.
            s["floor"][k] = max(s["floor"][k], between[k], 0.5 * (now - was) ** 2)
        for name in ("known", "spread", *_SUMS[4:]) if found else ():
            s[name] = np.where(changed, 0.0, s[name])
        quiet = use & ~(judged & ((s["up"] > _LIMIT / 2) | (s["down"] > _LIMIT / 2)))
        known = s["known"] + quiet
        step = np.where(quiet, mean - s["mean"], 0.0)
        with np.errstate(all="ignore"):
            moved = np.where(known > 0, s["mean"] + step / np.maximum(known, 1), mean)
        moved = np.where(changed & quiet, mean, moved)
        s["spread"] = s["spread"] + np.where(quiet & ~changed, step * (mean - moved), 0.0)
        s["mean"], s["known"] = np.where(quiet, moved, s["mean"]), known
        return found

    def state(self) -> dict[str, Any]:
        """Return what a resumed run needs."""
        return {
            "names": self._names,
            "buffer": self._buffer.ravel().tolist(),
            "events": self._events,
            "sums": {name: held.tolist() for name, held in self._sums.items()},
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state."""
        self._names, self._events = list(state["names"]), state["events"]
        self._buffer = np.array(state["buffer"]).reshape(-1, max(1, len(self._names)))
        self._buffer = self._buffer[:, : len(self._names)]
        self._sums = {name: np.array(held, np.float64) for name, held in state["sums"].items()}
