"""Models that ask for labels, as the options of commands describe them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

import click

from ..algorithms.active import Active
from ..algorithms.budget import Budget
from ..algorithms.query import NEEDS, RULE_PARAMETERS
from ..catalog import find, make
from ..estimator.base import OnlineClassifier
from .options import ReadingOptions, parse_label, parse_settings

DEFAULT_LEARNER = "Recommended"
Timed = TypeVar("Timed", bound=ReadingOptions)

_ASKING = (
    click.option("--budget", help="Labels to buy: 1000, 5%, 20/1000, 50/day or 300EUR@1.5."),
    click.option("--saving", is_flag=True, help="Carry over what a period of the budget leaves."),
    click.option("--pace", is_flag=True, help="Spread the budget of a period over the period."),
    click.option(
        "--query",
        help="Query rule: always, random, margin, asymmetric, confidence, uncertainty.",
    ),
)
time_option = click.option("--time", help="Column or key of times, for days.")


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
    pace: bool
    query: str | None

    def asking(self) -> dict[str, Any]:
        """Return what says which labels are bought, as parameters of Active."""
        if self.saving and self.budget is None:
            raise click.UsageError("--saving needs --budget")
        if self.budget is not None and self.saving and "/" not in self.budget:
            raise click.UsageError("--saving needs a budget with a period, like 20/1000 or 50/day")
        if self.pace and (self.budget is None or "/" not in self.budget):
            raise click.UsageError("--pace needs a budget with a period, like 20/1000 or 50/day")
        found: dict[str, Any] = {} if self.query is None else {"query": self.query}
        if self.pace:
            found["pace"] = True
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


def with_time(
    options: Timed, model: OnlineClassifier, *, needed: bool = False, useful: bool = False
) -> Timed:
    """Return options with the column of times, given or known; raise unless it is wanted.

    `needed` says that the result is by the day, `useful` that it would be if there are times.
    """
    time, schema = options.time, model.schema_
    needed = needed or model.needs_time
    if time is None and schema is not None and (needed or useful):
        time = schema.time
    if needed and time is None:
        kind = "capacity" if model.needs_time else "period"
        kind = "budget" if isinstance(model, Active) and model.daily_budget else kind
        raise click.UsageError(f"a daily {kind} needs --time COLUMN")
    if time is not None and not needed and not useful:
        raise click.UsageError(
            "--time has an effect only with a daily budget or capacity, or with --period day or "
            "--report; --drop leaves a column out"
        )
    return dataclasses.replace(options, time=time)
