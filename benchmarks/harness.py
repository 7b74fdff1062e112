"""Timing on a machine that others use too.

Contenders take turns (ours, peer, ours, peer, ...), so that a slow spell hits all of them. Around
each turn a sentinel, a piece of work that never changes, is timed; and a turn in which the processor
was given to somebody else takes more wall time than processor time. Rounds disturbed in either way
are discarded, and how much disturbance there was is reported.
"""

from __future__ import annotations

import dataclasses
import gc
import statistics
import time
from collections.abc import Callable

import numpy as np

TOLERANCE = 0.10  # a round disturbed by more is discarded


@dataclasses.dataclass
class Contender:
    """One way of doing the work of a group."""

    name: str
    run: Callable[[], object]  # a number it returns is the measurement; else its time is
    work: int = 1  # rows, updates or events in one run
    ours: bool = True
    goal: float | None = None  # how many times the speed of the baseline it should reach


@dataclasses.dataclass
class Group:
    """Contenders for the same work."""

    title: str
    unit: str  # one of UNITS
    contenders: list[Contender]
    baseline: str | None = None  # the contender that ratios refer to
    note: str = ""


@dataclasses.dataclass
class Result:
    """The measurements of a group, those of disturbed rounds left out."""

    group: Group
    values: dict[str, list[float]]  # per unit of work
    rounds: int
    disturbance: list[float]  # of every round, as a fraction

    @property
    def kept(self) -> int:
        return len(next(iter(self.values.values())))

    def best(self, name: str) -> float:
        return min(self.values[name])

    def median(self, name: str) -> float:
        return statistics.median(self.values[name])

    def ratio(self, name: str, of: Callable[[Result, str], float] | None = None) -> float | None:
        """How many times better than the baseline."""
        base = self.group.baseline
        if base not in self.values:
            return None
        of = of or Result.best
        return of(self, base) / of(self, name)


class Sentinel:
    """Fixed work for the processor and for memory, about 4 ms."""

    def __init__(self) -> None:
        self.memory = np.ones(1 << 21)
        self.usual = min(self.run() for _ in range(20))

    def run(self) -> float:
        start = time.perf_counter()
        for _ in range(50_000):
            pass
        self.memory.sum()
        return time.perf_counter() - start

    def slowdown(self) -> float:
        seconds = self.run()
        self.usual = min(self.usual, seconds)
        return seconds / self.usual - 1


def measure(group: Group, rounds: int, sentinel: Sentinel) -> Result:
    for contender in group.contenders:  # caches, lazy imports, first allocations
        contender.run()
    taken: list[dict[str, float]] = []
    disturbance = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            values = {}
            worst = sentinel.slowdown()
            for contender in group.contenders:
                values[contender.name], lost = _turn(contender)
                worst = max(worst, lost, sentinel.slowdown())
            taken.append(values)
            disturbance.append(worst)
    finally:
        gc.enable()
    kept = [v for v, worst in zip(taken, disturbance, strict=True) if worst <= TOLERANCE]
    if len(kept) < 2:  # nothing but disturbed rounds: the better half, and the table says so
        calm = sorted(range(rounds), key=disturbance.__getitem__)
        kept = [taken[k] for k in calm[: max(2, rounds // 2)]]
    values = {c.name: [v[c.name] for v in kept] for c in group.contenders}
    return Result(group, values, rounds, disturbance)


def _turn(contender: Contender) -> tuple[float, float]:
    """Return the measurement and the share of time the processor was elsewhere."""
    wall, processor = time.perf_counter(), time.thread_time()
    value = contender.run()
    wall, processor = time.perf_counter() - wall, time.thread_time() - processor
    if isinstance(value, float):
        return value / contender.work, 0.0
    return wall / contender.work, wall / processor - 1
