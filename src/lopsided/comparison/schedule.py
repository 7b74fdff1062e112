"""All runs of a comparison, on all cores, and what a journal keeps of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

import numpy as np

from .. import _core
from ..estimator.parameters import is_number
from ..evaluation.bank import may_share
from ..metrics import Counts
from .grids import Learner
from .journal import Journal, Task, digest
from .measures import measure
from .runs import Job, Run, best_of

_STRIDES = (4, 2, 1)  # of a coarse search
_BANK = 12  # models
_KEPT = ("choice", "value", "seconds", "nnz", "sparsity")  # of a run in a journal, as it is


def run_all(
    job: Job,
    learners: Sequence[Learner],
    jobs: int | None,
    progress: Callable[[int, int], None] | None,
    journal: Journal | None,
    coarse: bool,
) -> list[Run]:
    """Return the runs by learner, point and split, whatever the order in which they end.

    A coarse search runs every fourth value of each parameter, then goes to the neighbours of the
    best of each split, two steps and one step away.
    """
    at_all = range(len(job.splits.all))
    if coarse:
        tasks = {
            (k, p, at)
            for at in at_all
            for k, one in enumerate(learners)
            for p in one.around(None, _STRIDES[0])
        }
    else:
        tasks = {
            (k, p, at)
            for at in at_all
            for k, one in enumerate(learners)
            for p in range(len(one.points))
        }
    known = {} if journal is None else journal.runs
    try:
        done = {task: _from_journal(learners[task[0]], task, run) for task, run in known.items()}
    except (IndexError, KeyError, TypeError, ValueError):
        raise ValueError("the journal has a run that cannot be read: start another one") from None
    threads = jobs or _core.threads_allowed()
    pool = ThreadPoolExecutor(threads)
    try:
        for stride in _STRIDES if coarse else _STRIDES[:1]:
            if stride != _STRIDES[0]:
                tasks |= _closer(job, learners, [done[task] for task in sorted(tasks)], stride)
            coming = {
                pool.submit(job.run, learners[k], points, at): (k, points, at)
                for k, points, at in _banks(job, learners, tasks - done.keys(), threads)
            }
            for future in as_completed(coming):
                k, points, at = coming[future]
                for point, run in zip(points, future.result(), strict=True):
                    done[k, point, at] = run
                    if journal is not None:
                        journal.add((k, point, at), _to_journal(run))
                    if progress is not None:
                        progress(len(done), len(tasks))
    finally:  # after a fault or an interruption: no waiting for what is under way
        pool.shutdown(wait=False, cancel_futures=True)
    return [done[task] for task in sorted(tasks)]


def _banks(
    job: Job, learners: Sequence[Learner], tasks: set[Task], jobs: int
) -> Iterator[tuple[int, list[int], int]]:
    """Yield tasks that can share a pass together, so that there is work for all threads."""
    groups: dict[Any, list[int]] = {}
    for k, point, at in sorted(tasks, key=lambda task: (task[2], *task[:2])):
        learner = learners[k]
        alone = None if may_share(learner.make(point), job.data.X) else point
        other = [v for v in learner.points[point].items() if not is_number(v[1])]
        groups.setdefault((at, k, alone, repr(other)), []).append(point)
    for (at, k, *_), points in groups.items():
        banks = max(-(-len(points) // _BANK), min(len(points), jobs // len(groups)))
        for b in range(banks):
            yield k, points[b::banks], at


def _closer(job: Job, learners: Sequence[Learner], runs: list[Run], stride: int) -> set[Task]:
    """Return the runs next to the best so far of each learner and split."""
    larger = measure(job.metric).larger_is_better
    tasks = set()
    for k, learner in enumerate(learners):
        for at in range(len(job.splits.all)):
            mine = [run for run in runs if run.learner == learner.name and run.split == at]
            best = best_of(mine, larger)
            tasks |= {(k, point, at) for point in learner.around(best.point, stride)}
    return tasks


def _to_journal(run: Run) -> dict[str, Any]:
    return {
        **{name: getattr(run, name) for name in _KEPT},
        "counts": dataclasses.astuple(run.counts),
        "curve": [dataclasses.astuple(counts) for counts in run.curve],
    }


def _from_journal(learner: Learner, task: Task, kept: dict[str, Any]) -> Run:
    names = [f.name for f in dataclasses.fields(Counts)]
    counts, *curve = (
        Counts(**dict(zip(names, values, strict=True)))
        for values in (kept["counts"], *kept["curve"])
    )
    return Run(
        learner=learner.name,
        point=task[1],
        parameters=learner.points[task[1]],
        split=task[2],
        counts=counts,
        curve=tuple(curve),
        **{name: kept[name] for name in _KEPT},
    )


def _arrays(learner: Learner) -> list[Any]:
    """Return the parameters that are arrays, which NumPy shortens in a text."""
    given = [learner.model.get_params(), *learner.points]
    return [
        [name, value]
        for parameters in given
        for name, value in parameters.items()
        if isinstance(value, np.ndarray)
    ]


def facts_of(job: Job, learners: Sequence[Learner], X: Any, held_out: Any) -> dict[str, str]:
    """Return what a journal must have in common with the comparison that goes on with it."""
    from .. import __version__  # slow to find out, seldom needed

    orders = [(split.train, split.test, split.inner) for split in job.splits.all]
    return {
        "version of lopsided": __version__,
        "data": digest(X),
        "labels": digest(job.data.y),
        "weights": digest(job.data.weights),
        "held-out data": digest(held_out),
        "learners": ", ".join(f"{learner.name} = {learner.model!r}" for learner in learners),
        "arrays": digest([_arrays(learner) for learner in learners]),
        "grids": "; ".join(str(learner.points) for learner in learners),
        "kind of runs": job.splits.words,
        "runs": digest(orders),
        "metric": job.metric,
        "prices": repr(job.prices),
        "points": repr(job.points),
        "known_counts": repr(job.known_counts),
    }
