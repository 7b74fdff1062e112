"""Two commands at the same time in one folder: the outcome is that of one after the other."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

from fire.scenarios import SCENARIOS, Commands, Scenario, said
from lopsided.persist import load_run

# Not those that start from different models.
PAIRS = [
    (one, other)
    for one, other in itertools.combinations_with_replacement(SCENARIOS, 2)
    if not (one.before and other.before) or one.before[0] == other.before[0]
]
Outcome = tuple[tuple[str, object], ...]


class Together:
    """A pair of commands, with what they leave behind one after the other, in either order."""

    def __init__(self, commands: Commands, folder: Path, one: Scenario, other: Scenario) -> None:
        self._commands, self._folder, self._pair = commands, folder, (one, other)
        self._start = folder / "start"
        self._start.mkdir()
        self._words = [one.words, other.words]
        self._outputs = sorted({"m", *one.outputs, *other.outputs})
        max(self._pair, key=lambda s: len(s.before)).prepare(commands, self._start)
        orders = ([0], [1], [0, 1], [1, 0])
        self._serial = [self._one_by_one(at, order) for at, order in enumerate(orders)]

    def _one_by_one(self, at: int, order: list[int]) -> Outcome:
        place = self._folder / f"serial {at}"
        shutil.copytree(self._start, place)
        for k in order:
            self._commands.at_once(place, [self._words[k]])
        return self._outcome(place)

    def _outcome(self, place: Path) -> Outcome:
        return tuple(self._pair[0].read(place, self._outputs).items())

    def run(self) -> list[int]:
        """Run both at once; return their exit codes."""
        place = self._folder / "both"
        shutil.copytree(self._start, place)
        codes = self._commands.at_once(place, self._words)
        about = (*(s.name for s in self._pair), codes, said(place, 0), said(place, 1))
        assert set(codes) <= {0, 1, 2}, about
        assert 0 in codes, about
        assert self._outcome(place) in self._serial, about
        if (place / "m").exists():
            load_run(place / "m")
        left = [p.name for p in place.iterdir() if p.name.startswith(".lopsided.")]
        assert left == [], about
        shutil.rmtree(place)
        return codes
