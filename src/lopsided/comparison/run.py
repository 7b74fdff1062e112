"""Running a plan: all runs, on all cores, resumable from a journal."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, nullcontext
from typing import Any, Protocol

import numpy as np

from .. import _core
from ..errors import InputError, ParameterError
from ..estimator.bank import may_share
from ..estimator.base import OnlineClassifier
from ..estimator.parameters import is_number
from ..metrics import Counts
from .grids import Learner
from .journal import Journal, Task
from .one_run import Run, best_run, run_split
from .plan import Plan

_STRIDES = (4, 2, 1)  # of a coarse search
_BANK = 12  # models that share a pass
_PROCESSOR = "processor seconds"
_COPIED = ("choice", "value", "seconds", "nnz", "sparsity")  # fields a journal stores unchanged


class Finished(Protocol):
    """Runs that need not be run again, and where to put those that are run."""

    @property
    def runs(self) -> dict[Task, dict[str, Any]]:
        """The finished runs of a plan, as :meth:`add` got them."""

    def add(self, task: Task, run: dict[str, Any]) -> None:
        """Put a finished run."""


@dataclasses.dataclass(frozen=True)
class Results:
    """A plan and all its runs, by learner, grid point and split.

    `earlier` is the processor time of those that were finished before, in seconds.
    """

    plan: Plan
    runs: list[Run]
    earlier: float = 0.0


def run_plan(
    plan: Plan,
    *,
    jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    resume: str | os.PathLike[str] | None = None,
    finished: Finished | None = None,
) -> Results:
    """Run every learner, grid point and split of a plan.

    Parameters
    ----------
    plan : Plan
        What to run.
    jobs, progress, resume
        As for `compare`.
    finished : Finished, optional
        Instead of `resume`: runs by what they depend on.

    Returns
    -------
    Results
        The same runs in the same order, however many threads there are.
    """
    if jobs is not None and (not isinstance(jobs, (int, np.integer)) or jobs < 1):
        raise ParameterError(
            "jobs", "is invalid: it must be a whole number of at least 1", value=jobs
        )
    threads = jobs or _core.threads_allowed()
    opened: Any = nullcontext(finished)
    if resume is not None:
        opened = closing(Journal(resume, plan.facts()))
    with opened as journal:
        return _run_all(plan, threads, progress, journal)


def _run_all(
    plan: Plan,
    threads: int,
    progress: Callable[[int, int], None] | None,
    journal: Finished | None,
) -> Results:
    """Run all tasks.

    A coarse search runs every fourth value of each parameter, then the neighbours of the best of
    each split, two steps and one step away.
    """
    coarse = plan.search == "coarse"
    tasks = _first_tasks(plan, coarse)
    stored = {} if journal is None else journal.runs
    done = _read_journal(plan, stored)
    pool = ThreadPoolExecutor(threads)
    try:
        for stride in _STRIDES if coarse else _STRIDES[:1]:
            if stride != _STRIDES[0]:
                tasks |= _neighbours(plan, [done[task] for task in sorted(tasks)], stride)
            futures = {
                pool.submit(_timed_split, plan, plan.learners[k], points, at): (k, points, at)
                for k, points, at in _banks(plan, tasks - done.keys(), threads)
            }
            for future in as_completed(futures):
                k, points, at = futures[future]
                runs, seconds = future.result()
                for point, run in zip(points, runs, strict=True):
                    done[k, point, at] = run
                    if journal is not None:
                        journal.add((k, point, at), _to_journal(run) | {_PROCESSOR: seconds})
                    if progress is not None:
                        progress(len(done), len(tasks))
    finally:  # after an error or an interrupt: do not wait for runs in progress
        pool.shutdown(wait=False, cancel_futures=True)
    earlier = sum(stored.get(task, {}).get(_PROCESSOR, 0.0) for task in tasks)
    return Results(plan, [done[task] for task in sorted(tasks)], earlier)


def _timed_split(
    plan: Plan, learner: Learner, points: list[int], at: int
) -> tuple[list[Run], float]:
    """Run some points on one split; return with them the processor time of each."""
    start = time.thread_time()
    runs = run_split(plan, learner, points, at)
    return runs, (time.thread_time() - start) / len(points)


def _first_tasks(plan: Plan, coarse: bool) -> set[Task]:
    return {
        (k, point, at)
        for at in range(len(plan.splits.all))
        for k, one in enumerate(plan.learners)
        for point in (one.around(None, _STRIDES[0]) if coarse else range(len(one.points)))
    }


def _neighbours(plan: Plan, runs: list[Run], stride: int) -> set[Task]:
    """Return the tasks next to the best run so far of each learner and split."""
    tasks = set()
    for k, learner in enumerate(plan.learners):
        for at in range(len(plan.splits.all)):
            own = [run for run in runs if run.learner == learner.name and run.split == at]
            best = best_run(own, plan.larger_is_better)
            tasks |= {(k, point, at) for point in learner.around(best.point, stride)}
    return tasks


def _banks(plan: Plan, tasks: set[Task], threads: int) -> Iterator[tuple[int, list[int], int]]:
    """Yield tasks grouped by what can share a pass, with enough groups for all threads."""
    groups: dict[Any, list[int]] = {}
    for k, point, at in sorted(tasks, key=lambda task: (task[2], *task[:2])):
        learner = plan.learners[k]
        model = learner.make(point)
        shared = isinstance(model, OnlineClassifier) and may_share(model, plan.data.X)
        alone = None if shared else point
        other = [v for v in learner.points[point].items() if not is_number(v[1])]
        groups.setdefault((at, k, alone, repr(other)), []).append(point)
    for (at, k, *_), points in groups.items():
        banks = max(-(-len(points) // _BANK), min(len(points), threads // len(groups)))
        for b in range(banks):
            yield k, points[b::banks], at


def _read_journal(plan: Plan, finished: dict[Task, dict[str, Any]]) -> dict[Task, Run]:
    try:
        return {
            task: _from_journal(plan.learners[task[0]], task, stored)
            for task, stored in finished.items()
        }
    except (IndexError, KeyError, TypeError, ValueError):
        raise InputError("the journal has a run that cannot be read: start another one") from None


def _to_journal(run: Run) -> dict[str, Any]:
    return {
        **{name: getattr(run, name) for name in _COPIED},
        "counts": dataclasses.astuple(run.counts),
        "curve": [dataclasses.astuple(counts) for counts in run.curve],
    }


def _from_journal(learner: Learner, task: Task, stored: dict[str, Any]) -> Run:
    names = [f.name for f in dataclasses.fields(Counts)]
    counts, *curve = (
        Counts.of(dict(zip(names, values, strict=True)))
        for values in (stored["counts"], *stored["curve"])
    )
    return Run(
        learner=learner.name,
        point=task[1],
        parameters=learner.points[task[1]],
        split=task[2],
        counts=counts,
        curve=tuple(curve),
        **{name: stored[name] for name in _COPIED},
    )
