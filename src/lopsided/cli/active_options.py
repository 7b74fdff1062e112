"""Models that ask for labels, as the options of commands describe them."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from ..algorithms.active import Active
from ..algorithms.budget import Budget
from ..algorithms.query import NEEDS, RULE_PARAMETERS
from ..catalog import find, make
from ..estimator.base import OnlineClassifier
from .options import parse_label, parse_settings

DEFAULT_LEARNER = "Recommended"

_ASKING = (
    click.option("--budget", help="Labels to buy: 1000, 5%, 20/1000, 50/day or 300EUR@1.5."),
    click.option("--saving", is_flag=True, help="Carry over what a period of the budget leaves."),
    click.option("--query", help="Query rule: always, random, margin, asymmetric or confidence."),
)
time_option = click.option("--time", help="Column or key of times, for a daily budget.")


def asking_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say which labels are bought."""
    for option in reversed(_ASKING):
        command = option(command)
    return command


@dataclasses.dataclass(frozen=True, kw_only=True)
class LearnerOptions:
    """Which learner is made and which labels it buys, as the options of a command say it."""

    learner: str | None
    settings: tuple[str, ...]
    positive: str | None
    budget: str | None
    saving: bool
    query: str | None

    def asking(self) -> dict[str, Any]:
        """Return what says which labels are bought, as parameters of Active."""
        if self.saving and self.budget is None:
            raise click.UsageError("--saving needs --budget")
        if self.budget is not None and self.saving and "/" not in self.budget:
            raise click.UsageError("--saving needs a budget with a period, like 20/1000 or 50/day")
        found: dict[str, Any] = {} if self.query is None else {"query": self.query}
        if self.budget is not None:
            try:
                found["budget"] = Budget.parse(self.budget, saving=self.saving)
            except ValueError as error:
                raise click.UsageError(f"--budget: {error}") from None
        return found

    def make(self) -> OnlineClassifier:
        """Return the learner, one that asks if that is wanted."""
        name, wanted = self.learner or DEFAULT_LEARNER, self.asking()
        settings = parse_settings(self.settings)
        if self.positive is not None:
            settings["positive"] = parse_label(self.positive)
        if not wanted:
            return make(name, **settings)
        if not issubclass(find(name).cls, Active):
            return Active.made(learner=name, **wanted, **settings)
        model: Any = make(name)
        query = wanted.get("query", model.query)
        others = [n for n in RULE_PARAMETERS if n not in NEEDS.get(query, RULE_PARAMETERS)]
        # No longer the rule of that name: parameters of other rules have no effect.
        asker: OnlineClassifier = model.set_params(
            **{**dict.fromkeys(others), **wanted, **settings}
        )
        return asker


def check_time(model: OnlineClassifier, time: str | None) -> None:
    """Raise unless times are given when, and only when, the budget wants them."""
    daily = isinstance(model, Active) and model.needs_time
    if daily and time is None:
        raise click.UsageError("a daily budget needs --time COLUMN")
    if time is not None and not daily:
        raise click.UsageError(
            "--time has an effect only with a daily budget; --drop leaves a column out"
        )


@contextlib.contextmanager
def only_one(path: str) -> Iterator[None]:
    """Keep other commands from changing the models of a folder for the time being."""
    folder = os.open(Path(path).resolve().parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


@contextlib.contextmanager
def asking_alone(path: str, events: str) -> Iterator[None]:
    """Refuse to ask while another `ask` runs with the same model.

    The lock is on a file beside the model, FILE.asking. A process that is killed leaves the file
    but not the lock.
    """
    place = f"{os.path.realpath(path)}.asking"
    lock = _locked(place)
    if lock is None:
        raise click.UsageError(
            f"{path}: {Path(place).read_text().strip() or 'another ask'} with it"
        )
    try:
        os.truncate(lock, 0)
        os.write(lock, f"process {os.getpid()} is asking about {events}".encode())
        yield
    finally:
        os.unlink(place)
        os.close(lock)


def _locked(place: str) -> int | None:
    """Return a locked file, None if another process has locked it."""
    while True:
        file = os.open(place, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(file).st_ino == os.stat(place).st_ino:
                return file
        except BlockingIOError:
            os.close(file)
            return None
        except FileNotFoundError:  # whoever had locked it has removed it
            pass
        os.close(file)
