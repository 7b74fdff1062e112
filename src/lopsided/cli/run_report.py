"""What `lopsided run` prints at its end."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import click

from .._text import visible
from ..algorithms.active import Active
from .output import bad_lines, heading, left_out, measures, print_json, print_result
from .period_table import periods_of, print_periods

if TYPE_CHECKING:
    from .run import Job

_MOST_BAD = 1000  # bad lines in the JSON
_MOST_CHANGES = 5  # printed
# Labels that need no word when they are taken for the positive one.
_PLAINLY_POSITIVE = ("yes", "y", "true", "t", "positive", "pos")


def print_run(job: Job, interrupted: bool) -> None:
    """Print the result of a run."""
    counts, seconds = job.run.counts, job.run.seconds
    if job.options.as_json:
        print_json(
            {
                "learner": job.name,
                "parameters": job.model.get_params(),
                "scaling": getattr(job.model, "scaling_", None),
                "data": job.options.data,
                "positive": job.model.labels.positive,
                **measures(counts, job.bill),
                "auc": job.run.auc.value,
                "auc_error": job.run.auc.error,
                "average_precision": job.run.auc.levels.average_precision,
                "log_loss": job.run.reliability.log_loss,
                "calibration_error": job.run.reliability.error,
                "periods": _periods(job),
                "changes": [dataclasses.asdict(one) for one in job.run.watch.changes],
                "budget_left": _left(job),
                "waiting": job.waiting,
                "seconds": seconds,
                "bad_lines": bad_lines(job.reader, _MOST_BAD),
                "bad_lines_found": len(job.reader.bad.found),
                "dropped": getattr(job.reader, "dropped", 0),
                "interrupted": interrupted,
                "saved": job.options.save_path if job.saved else None,
                "report": job.page.path if job.page else None,
            }
        )
        return
    for text in left_out(job.reader, most=5):
        click.echo(f"left out: {text}", err=True)
    positive = job.model.labels.positive
    guessed = job.is_new and job.model.positive is None and isinstance(positive, str)
    if guessed and positive.lower() not in _PLAINLY_POSITIVE:
        click.echo(
            f'"{visible(positive)}" is taken for the positive label, as the last in order: '
            "--positive chooses",
            err=True,
        )
    state = "interrupted after" if interrupted else "over"
    speed = f", {counts.events / seconds:,.0f} rows/s in the core" if seconds > 0 else ""
    heading(f"{job.name} {state} {counts.events:,} events of {job.options.data}{speed}")
    used = getattr(job.model, "scaling_", None)
    scaling = (job.model.scaling, used) if used else None
    print_result(
        counts,
        job.bill,
        auc=job.run.auc,
        left=_left(job),
        scaling=scaling,
        waiting=job.waiting - job.waited,
    )
    for change in _changes(job):
        click.echo(f"changed: {change}")
    if job.options.period is not None and job.run.periods:
        print_periods(job.run.periods, job.bill)
    if job.late is not None:
        one = job.waiting == 1
        whose = "event for its label" if one else "events for their labels"
        click.echo(f"waiting: {job.waiting:,} {whose}")
    if job.saved:
        click.echo(f"saved to {visible(job.options.save_path or '')}")
    if job.page and job.page.path != "-":
        click.echo(f"report in {visible(job.page.path)}")


def _changes(job: Job) -> list[str]:
    """Return the latest changes of the stream as text."""
    found = job.run.watch.changes
    more = [f"{len(found) - _MOST_CHANGES} times before (--json lists all)"]
    return (more if len(found) > _MOST_CHANGES else []) + [
        str(one) for one in found[-_MOST_CHANGES:]
    ]


def _periods(job: Job) -> list[dict[str, Any]] | None:
    """Return the measures of each period, if they were asked for."""
    if job.options.period is None or job.run.periods is None:
        return None
    return periods_of(job.run.periods, job.bill).records()


def _left(job: Job) -> float | None:
    """Return how many labels may still be bought, None without a budget."""
    if not isinstance(job.model, Active) or job.model.budget is None:
        return None
    return job.model.budget_left_ if job.model.__sklearn_is_fitted__() else None
