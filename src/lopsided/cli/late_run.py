"""Labels that come late in `lopsided run`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import click

from ..algorithms.active import Active
from ..data.block import BadLines, Block
from ..errors import ModelFileError
from ..estimator import state as entry
from ..estimator.base import OnlineClassifier
from ..estimator.schema import Schema
from ..evaluation.late import (
    MAX_PENDING,
    LateLabels,
    waiting_events,
    waiting_model,
    without_waiting,
)
from .label_times import LabelTimes
from .run_options import RunOptions

WHEN = (
    click.option(
        "--delay",
        type=click.IntRange(0),
        metavar="EVENTS",
        help="Learn each label only after this many further events.",
    ),
    click.option(
        "--label-time",
        metavar="COLUMN",
        help="Column of the time from which on a label is known; needs --time.",
    ),
)
_MOST = click.option(
    "--max-pending",
    type=click.IntRange(1, 2**31),
    metavar="NUMBER",
    help=f"Events that may wait for their labels. [{MAX_PENDING:,}]",
)
_FIELDS = {"delay", "label_time", "time", "most", "count", "labels", "events"}


def late_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say when labels come."""
    for option in (_MOST, *reversed(WHEN)):
        command = option(command)
    return command


def late_of(model: OnlineClassifier, run: Any, path: str) -> dict[str, Any] | None:
    """Return what a run with late labels left in a model file, None if it was no such run.

    Parameters
    ----------
    model : OnlineClassifier
        The model of the file.
    run : dict, optional
        What the file says about its run.
    path : str
        The file, for errors.
    """
    if not isinstance(run, dict) or "late" not in run:
        return None
    try:
        _check(model, run["late"])
    except ModelFileError as error:
        raise ModelFileError(error.what, path) from None
    late: dict[str, Any] = run["late"]
    return late


def _check(model: OnlineClassifier, late: Any) -> None:
    """Raise unless this is what a run leaves in the file of a model."""
    if not isinstance(late, dict) or set(late) != _FIELDS:
        raise ModelFileError("its late labels have not the fields they should have")
    delay, column, most = late["delay"], late["label_time"], late["most"]
    whole = type(delay) is int and delay >= 0 and column is None
    if not whole and not (
        delay is None and isinstance(column, str) and isinstance(late["time"], str)
    ):
        raise ModelFileError("it does not say when its late labels come")
    if not isinstance(late["time"], str | None) or type(most) is not int or most < 1:
        raise ModelFileError("the rule of its late labels is not sound")
    events = LateLabels(state=late["labels"]).events()
    if type(late["count"]) is not int or late["count"] != len(events):
        raise ModelFileError(f"{len(events):,} of its labels wait, not {late['count']}")
    if events and events[-1] >= _met(model, late["events"]):
        raise ModelFileError("a label waits for an event that was not met")


def _met(model: OnlineClassifier, kept: Any) -> int:
    """Return how many events were met by a model, or by one that was made to wait."""
    if kept is None:
        return model.events_ if isinstance(model, Active) else 0
    try:
        met = kept["counts"][entry.BUDGET_EVENTS]
    except (KeyError, TypeError):
        met = None
    if isinstance(model, Active) or type(met) is not int:
        raise ModelFileError("its events that wait are not sound")
    return met


def late_option(late: dict[str, Any]) -> str:
    """Return the option by which labels come late."""
    by_time = late["label_time"] is not None
    return f"--label-time {late['label_time']}" if by_time else f"--delay {late['delay']}"


def what_waits(late: dict[str, Any]) -> str:
    """Say how many events wait for their labels, and by which option these come."""
    count, option = late["count"], late_option(late)
    if count == 1:
        return f"1 event waits for its label, which comes by {option}"
    return f"{f'{count:,}' if count else 'no'} events wait for their labels, which come by {option}"


def forget_waiting(model: OnlineClassifier, late: dict[str, Any]) -> None:
    """Let a model that asks no longer wait for late labels; another one holds no such events."""
    if isinstance(model, Active):
        for event in {*model.pending_} & {*LateLabels(state=late["labels"]).events()}:
            model.forget(event)


class LateRun:
    """When the labels of a run come, and what waits for them.

    Parameters
    ----------
    options : RunOptions
        What the command line says.
    before : dict, optional
        What an earlier run left in the model: the rule, and what waits.
    """

    def __init__(self, options: RunOptions, before: dict[str, Any] | None = None) -> None:
        before = before or {}
        given = options.delay is not None or options.label_time is not None
        self.delay = options.delay if given else before.get("delay")
        self.column = options.label_time if given else before.get("label_time")
        other = before and (self.column is None) != (before["label_time"] is None)
        if other and before["count"]:
            raise click.UsageError(f"{what_waits(before)}: give the same option")
        self.time = options.time or before.get("time")
        self.most = options.max_pending or before.get("most", MAX_PENDING)
        self.times = None if self.column is None else LabelTimes(self.column, options)
        if self.column is not None and self.time is None:
            raise click.UsageError("--label-time needs --time COLUMN: when the events happened")
        self.labels = LateLabels(self.delay, most=self.most, state=before.get("labels"))
        self._events = before.get("events")
        self._wraps = False

    @classmethod
    def of(cls, options: RunOptions, before: dict[str, Any] | None) -> LateRun | None:
        """Return the rule that is given or was left by an earlier run, None if there is none."""
        if options.delay is None and options.label_time is None and before is None:
            if options.max_pending is not None:
                raise click.UsageError("--max-pending is for --delay or --label-time")
            return None
        return cls(options, before)

    def model(self, model: OnlineClassifier) -> Active:
        """Return a model that lets events wait; one that asks does so by itself."""
        if isinstance(model, Active):
            return model.set_params(max_pending=self.most)
        self._wraps = True
        try:
            return waiting_model(model, self.most, self._events)
        except (KeyError, TypeError, ValueError, RuntimeError, OverflowError) as error:
            if self._events is None:
                raise
            first = str(error).partition("\n")[0]
            raise ModelFileError(f"its events that wait do not fit together ({first})") from None

    def reading(self, options: RunOptions) -> RunOptions:
        """Return options by which label times are read too."""
        return options if self.times is None else self.times.reading(options, self.time)

    def opening(self) -> AbstractContextManager[None]:
        """Return what words errors about the column of label times, while data is opened."""
        return nullcontext() if self.times is None else self.times.opening()

    def blocks(self, reader: Iterable[Block]) -> Iterable[Block]:
        """Return the blocks of a reader."""
        return reader if self.times is None else self.times.blocks(reader)

    def schema(self, schema: Schema | None) -> Schema | None:
        """Return how the data were read, without what was read for label times only."""
        if schema is None or self.times is None or self.times.keeps:
            return schema
        keep = tuple(name for name in schema.keep if name != self.column)
        return dataclasses.replace(schema, keep=keep)

    def timed(self, block: Block, bad: BadLines) -> Block:
        """Return a block with its label times."""
        return block if self.times is None else self.times.timed(block, bad)

    def record(self, model: Any) -> dict[str, Any]:
        """Return what the next run needs, for a model file."""
        return {
            "delay": self.delay,
            "label_time": self.column,
            "time": self.time,
            "most": self.most,
            "count": len(self.labels),
            "labels": self.labels.state(),
            "events": waiting_events(model) if self._wraps else None,
        }

    def plain(self, model: Any) -> OnlineClassifier:
        """Return the model that is saved: one that was made to wait no longer does."""
        return without_waiting(model) if self._wraps else model
