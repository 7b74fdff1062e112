"""Timing on a machine that others use too.

Contenders take turns (ours, peer, ours, peer, ...), so that a slow spell hits all of them. Before
and after each turn a sentinel, a piece of work that never changes, is timed and compared with its
best within the group: a clock that is slower for all contenders changes no ratio. And a turn in
which the processor was given to somebody else takes more wall time than processor time. Turns
disturbed in either way are discarded, and how much disturbance there was is reported.
"""

from __future__ import annotations

import dataclasses
import gc
import statistics
import time
from collections.abc import Callable

TOLERANCE = 0.15  # a turn disturbed by more is discarded
PATIENCE = 3  # so many times the rounds asked for, until there are enough undisturbed turns


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
class Turn:
    """One run of one contender."""

    value: float  # per unit of work
    disturbance: float  # as a fraction

    @property
    def calm(self) -> bool:
        return self.disturbance <= TOLERANCE


@dataclasses.dataclass
class Result:
    """The measurements of a group."""

    group: Group
    turns: dict[str, list[Turn]]

    def kept(self, name: str) -> list[float]:
        """Return the undisturbed measurements; without any, those disturbed least."""
        turns = sorted(self.turns[name], key=lambda turn: turn.disturbance)
        calm = sum(turn.calm for turn in turns)
        return [turn.value for turn in turns[: max(calm, len(turns) // PATIENCE, 1)]]

    def best(self, name: str) -> float:
        return min(self.kept(name))

    def median(self, name: str) -> float:
        return statistics.median(self.kept(name))

    def trusted(self, name: str) -> bool:
        """Say whether the ratio to the baseline is one of undisturbed turns on both sides."""
        both = (name, self.group.baseline)
        return all(sum(turn.calm for turn in self.turns[n]) >= 2 for n in both if n is not None)

    def ratio(self, name: str) -> float | None:
        """Return how many times better than the baseline it is.

        Bests are compared only if both sides had undisturbed turns: the lucky turn of one against
        the unlucky turns of the other says nothing. Otherwise it is the median over the rounds of
        the ratio within a round, where both were disturbed alike.
        """
        base = self.group.baseline
        if base is None or base not in self.turns:
            return None
        if self.trusted(name):
            return self.best(base) / self.best(name)
        return statistics.median(self._rounds(name))

    def verdict(self, name: str, goal: float) -> str:
        """Say whether the ratio reaches a goal: undisturbed, or else the same in every round."""
        ratio = self.ratio(name)
        ratios = [ratio] if ratio is not None and self.trusted(name) else self._rounds(name)
        reached = [one >= goal for one in ratios]
        if all(reached) or not any(reached):
            always = "" if self.trusted(name) else " in every round"
            return f"{'reached' if reached[0] else 'MISSED'}{always}"
        return f"undecided, reached in {sum(reached)} of {len(reached)} rounds, all disturbed"

    def _rounds(self, name: str) -> list[float]:
        base = self.turns[self.group.baseline or name]
        pairs = zip(base, self.turns[name], strict=True)
        return [theirs.value / own.value for theirs, own in pairs]


class Sentinel:
    """Work that never changes, about 2 ms."""

    def __init__(self) -> None:
        self.usual = min(self._piece() for _ in range(50))

    def slowdown(self) -> float:
        seconds = statistics.median(self._piece() for _ in range(5))
        self.usual = min(self.usual, seconds)
        return seconds / self.usual - 1

    @staticmethod
    def _piece() -> float:
        start = time.perf_counter()
        for _ in range(15_000):
            pass
        return time.perf_counter() - start


def measure(group: Group, rounds: int) -> Result:
    """Let contenders take turns until each has had `rounds` undisturbed ones, or patience ends."""
    for contender in group.contenders:  # caches, lazy imports, first allocations
        contender.run()
    sentinel = Sentinel()
    turns: dict[str, list[Turn]] = {c.name: [] for c in group.contenders}
    gc.collect()
    gc.disable()
    try:
        for _ in range(PATIENCE * rounds):
            for contender in group.contenders:
                turns[contender.name].append(_turn(contender, sentinel))
            if all(sum(t.calm for t in taken) >= rounds for taken in turns.values()):
                break
    finally:
        gc.enable()
    return Result(group, turns)


def _turn(contender: Contender, sentinel: Sentinel) -> Turn:
    before = sentinel.slowdown()
    wall, processor = time.perf_counter(), time.thread_time()
    value = contender.run()
    wall, processor = time.perf_counter() - wall, time.thread_time() - processor
    after = sentinel.slowdown()
    if isinstance(value, float):  # measured in a process of its own
        return Turn(value / contender.work, max(before, after))
    return Turn(wall / contender.work, max(before, after, wall / processor - 1))
