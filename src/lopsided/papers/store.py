"""Finished runs in files, found again by what they depend on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..comparison.journal import Task, digest, sealed, sound
from ..comparison.plan import Plan

_KEY = "run"


def key_of(*facts: Any) -> str:
    """Return the key of what depends on these facts and on the version of the library."""
    from .. import __version__  # slow to look up

    return digest([__version__, *map(repr, facts)])


class Store:
    """A file of finished runs on one data set, one per line.

    A run is found by its rows, its learner with all parameters, and the rows that it learned from
    and was tested on. So tables and figures, short and full protocols have the runs in common that
    are the same. Several processes may write to a file; a line that was cut off is run again.

    Parameters
    ----------
    path : path
        An existing file is continued.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._found: dict[str, dict[str, Any]] = {}
        if not self._path.exists():
            return
        for line in self._path.read_bytes().splitlines():
            with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
                value = sound(line)  # unless it is empty, or cut off by a kill
                self._found[value.pop(_KEY)] = value

    def get(self, key: str) -> dict[str, Any] | None:
        """Return what was put under a key."""
        return self._found.get(key)

    def put(self, key: str, value: Mapping[str, Any]) -> None:
        """Append a value. One write, begun by a line break: it ends what a kill cut off."""
        self._found[key] = dict(value)
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(file, b"\n" + sealed({_KEY: key, **value}))
        finally:
            os.close(file)

    def of(self, plan: Plan, rows: str) -> RunsOf:
        """Return the finished runs of a plan; `rows` is the fingerprint of its rows and labels."""
        return RunsOf(self, plan, rows)


class RunsOf:
    """The part of a store that belongs to a plan."""

    def __init__(self, store: Store, plan: Plan, rows: str) -> None:
        self._store = store
        splits = plan.splits.all
        # Where the pass itself is reported its counts are stored, of which every metric is made.
        passes = all(s.test is None and not s.inner and not s.start for s in splits)
        metric = () if passes else (plan.metric, plan.prices)
        common = key_of(rows, plan.points, plan.known_counts, metric)
        self._splits = [digest([s.train, s.test, s.start, s.inner, s.seed]) for s in splits]
        self._models = [
            [digest([common, repr(one.make(point))]) for point in range(len(one.points))]
            for one in plan.learners
        ]

    @property
    def runs(self) -> dict[Task, dict[str, Any]]:
        """The finished runs by task."""
        tasks = (
            (k, point, at)
            for at in range(len(self._splits))
            for k, models in enumerate(self._models)
            for point in range(len(models))
        )
        found = ((task, self._store.get(self._key(task))) for task in tasks)
        return {task: run for task, run in found if run is not None}

    def add(self, task: Task, run: Mapping[str, Any]) -> None:
        """Put a finished run."""
        self._store.put(self._key(task), run)

    def _key(self, task: Task) -> str:
        k, point, at = task
        return f"{self._models[k][point]} {self._splits[at]}"
