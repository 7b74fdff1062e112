"""Models that ask for labels, as the options of commands describe them."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from ..algorithms.active import Active
from ..algorithms.budget import Budget
from ..algorithms.query import NEEDS, RULE_PARAMETERS
from ..catalog import make
from ..estimator.base import OnlineClassifier

_ASKING = (
    click.option("--budget", help="Labels to buy: 1000, 5%, 20/1000, 50/day or 300EUR@1.5."),
    click.option("--saving", is_flag=True, help="Keep what a period of the budget leaves over."),
    click.option("--query", help="How to choose: always, random, margin, asymmetric, confidence."),
)
time_option = click.option("--time", help="Column or key of times, for a budget that is daily.")


def asking_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say which labels are bought."""
    for option in reversed(_ASKING):
        command = option(command)
    return command


def asking(options: dict[str, Any]) -> dict[str, Any]:
    """Take those options out of a command's options, as parameters of Active."""
    budget, saving, query = (options.pop(name) for name in ("budget", "saving", "query"))
    if saving and budget is None:
        raise click.UsageError("--saving needs --budget")
    if saving and "/" not in budget:
        raise click.UsageError("--saving needs a budget with a period, like 20/1000 or 50/day")
    found = {} if query is None else {"query": query}
    if budget is not None:
        try:
            found["budget"] = Budget.parse(budget, saving=saving)
        except ValueError as error:
            raise click.UsageError(f"--budget: {error}") from None
    return found


def made(name: str, wanted: dict[str, Any], settings: dict[str, Any]) -> OnlineClassifier:
    """Return a learner by its name, one that asks if that is wanted."""
    model = make(name)
    if not wanted:
        return make(name, **settings)
    if isinstance(model, Active):
        query = wanted.get("query", model.query)
        others = [n for n in RULE_PARAMETERS if n not in NEEDS.get(query, RULE_PARAMETERS)]
        return make(name, **{**dict.fromkeys(others), **wanted, **settings})  # no more its own rule
    return Active.made(learner=name, **wanted, **settings)


def check_time(model: OnlineClassifier, time: str | None) -> None:
    """Raise unless times are given when, and only when, the budget wants them."""
    daily = isinstance(model, Active) and model.needs_time
    if daily and time is None:
        raise click.UsageError("a budget that is daily needs --time COLUMN")
    if time is not None and not daily:
        raise click.UsageError(
            "--time has an effect only with a budget that is daily; --drop leaves a column out"
        )


@contextlib.contextmanager
def only_one(path: str) -> Iterator[None]:
    """Keep other commands from changing the models in a folder meanwhile."""
    folder = os.open(Path(path).resolve().parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def is_asking(process: int | None) -> bool:
    """Say whether a process is an ask that runs."""
    if process in (None, os.getpid()):
        return False
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return b"ask" in words
